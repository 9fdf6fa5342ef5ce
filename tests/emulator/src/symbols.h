/* The symbol table of the object that the emulator is linked into. */
#ifndef WB_EMULATOR_SYMBOLS_H
#define WB_EMULATOR_SYMBOLS_H

#include <stddef.h>

#include <string>
#include <vector>

#pragma GCC visibility push(hidden)
namespace wb_emulator {

struct SharedVariable {
  std::string symbol;
  std::string name;  /* as in the source */
  const void *owner; /* the kernel that it is local to; NULL if a function's or nobody's */
  size_t offset;     /* in the object's block of thread-local storage */
  size_t size;
};

/* Bytes between variables. build.sh puts them there. */
struct SharedGap {
  size_t offset, size;
};

const std::vector<SharedGap> &shared_gaps(void);
const std::vector<SharedVariable> &shared_variables(void);
/* The variables that this kernel can reach: its own, and those that belong to no kernel. */
const std::vector<SharedVariable> &shared_variables(const void *kernel);
/* The start of the calling thread's block of thread-local storage. */
char *thread_local_storage(void);
/* Mangled and readable name of the function at this address. */
const std::string &function_symbol(const void *function);
const std::string &function_name(const void *function);

} // namespace wb_emulator
#pragma GCC visibility pop

#endif
