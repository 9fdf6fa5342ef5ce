/* Reads the ELF symbol table from the file, because kernels and shared variables are local and hidden symbols, which
 * dladdr() does not know. */
#include "symbols.h"

#include <cuda_runtime.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>

namespace wb_emulator {

/* This variable's offset in the symbol table and its address give the address of the block. */
static thread_local char storage_anchor;

struct Symbols {
  std::vector<SharedVariable> shared;
  std::vector<SharedGap> gaps;
  size_t anchor_offset;
  std::map<uintptr_t, std::string> functions; /* by address in memory */
};

static std::string demangled(const std::string &symbol) {
  int status;
  char *const text = abi::__cxa_demangle(symbol.c_str(), NULL, NULL, &status);
  const std::string result = status == 0 ? text : symbol;
  free(text);
  return result;
}

/* Whether a thread-local variable belongs to no kernel: the variables of a sanitizer that is linked into the program,
 * the emulator's, and those of host code, which have host_thread in their names. */
static bool is_runtime_symbol(const char *symbol) {
  static const char *const parts[] = {"11wb_emulator", "host_thread", "__sanitizer", "__asan",        "__tsan",
                                      "__lsan",        "__ubsan",     "__msan",      "__interception"};
  for (const char *part : parts)
    if (strstr(symbol, part) != NULL) return true;
  return false;
}

static void add_symbol(Symbols *symbols, const ElfW(Sym) * symbol, const char *name, uintptr_t base) {
  const int type = ELF64_ST_TYPE(symbol->st_info);
  const size_t offset = symbol->st_value, size = symbol->st_size;
  if (symbol->st_shndx == SHN_UNDEF) return;
  if (type == STT_FUNC) symbols->functions[base + offset] = name;
  if (type != STT_TLS || size == 0) return;
  if (strncmp(name, "wb_emulator_gap_", 16) == 0) symbols->gaps.push_back(SharedGap{offset, size});
  else if (strstr(name, "storage_anchor") != NULL) symbols->anchor_offset = offset;
  else if (!is_runtime_symbol(name))
    symbols->shared.push_back(SharedVariable{name, demangled(name), NULL, offset, size});
}

static void read_file(Symbols *symbols, const char *path, uintptr_t base) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) return;
  char *const image = (char *)mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (image == MAP_FAILED) return;
  const ElfW(Ehdr) *const header = (const ElfW(Ehdr) *)image;
  const ElfW(Shdr) *const sections = (const ElfW(Shdr) *)(image + header->e_shoff);
  for (int i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char *const names = image + sections[sections[i].sh_link].sh_offset;
    const ElfW(Sym) *const table = (const ElfW(Sym) *)(image + sections[i].sh_offset);
    for (size_t s = 0; s < sections[i].sh_size / sizeof *table; s++)
      add_symbol(symbols, &table[s], names + table[s].st_name, base);
  }
  munmap(image, (size_t)status.st_size);
}

/* A static variable of function f is called _ZZ<f without its _Z>E<name>. */
static void find_owners(Symbols *symbols) {
  for (const auto &function : symbols->functions) {
    if (function.first % WB_EMULATOR_KERNEL_ALIGNMENT != 0 || function.second.compare(0, 2, "_Z") != 0) continue;
    const std::string prefix = "_ZZ" + function.second.substr(2) + "E";
    for (SharedVariable &v : symbols->shared)
      if (v.symbol.compare(0, prefix.size(), prefix) == 0) v.owner = (const void *)function.first;
  }
}

/* A gap reaches up to the next variable, including the bytes added for that variable's alignment. */
static void extend_gaps(Symbols *symbols) {
  for (SharedGap &gap : symbols->gaps) {
    const size_t end = gap.offset + gap.size;
    for (const SharedVariable &v : symbols->shared)
      if (v.offset > end && v.offset - end < 64) gap.size = v.offset - gap.offset;
  }
}

static const Symbols &symbols(void) {
  static const Symbols *const all = [] {
    Symbols *const s = new Symbols();
    Dl_info object;
    dladdr((void *)&thread_local_storage, &object);
    /* A program's name is as it was typed and may be relative. */
    const bool is_program = (uintptr_t)object.dli_fbase == (uintptr_t)(getauxval(AT_PHDR) & ~(unsigned long)4095);
    const ElfW(Ehdr) *const header = (const ElfW(Ehdr) *)object.dli_fbase;
    const uintptr_t base = header->e_type == ET_DYN ? (uintptr_t)object.dli_fbase : 0;
    read_file(s, is_program ? "/proc/self/exe" : object.dli_fname, base);
    find_owners(s);
    extend_gaps(s);
    return s;
  }();
  return *all;
}

const std::vector<SharedVariable> &shared_variables(void) { return symbols().shared; }
const std::vector<SharedVariable> &shared_variables(const void *kernel) {
  static std::map<const void *, std::vector<SharedVariable>> *const cache =
      new std::map<const void *, std::vector<SharedVariable>>();
  const auto found = cache->find(kernel);
  if (found != cache->end()) return found->second;
  std::vector<SharedVariable> &reachable = (*cache)[kernel];
  for (const SharedVariable &v : symbols().shared)
    if (v.owner == kernel || v.owner == NULL) reachable.push_back(v);
  return reachable;
}
const std::vector<SharedGap> &shared_gaps(void) { return symbols().gaps; }

char *thread_local_storage(void) { return &storage_anchor - symbols().anchor_offset; }

const std::string &function_symbol(const void *function) {
  static const std::string unknown = "unknown";
  const auto found = symbols().functions.find((uintptr_t)function);
  return found == symbols().functions.end() ? unknown : found->second;
}

const std::string &function_name(const void *function) {
  static std::map<const void *, std::string> *const names = new std::map<const void *, std::string>();
  const auto found = names->find(function);
  if (found != names->end()) return found->second;
  std::string name = demangled(function_symbol(function));
  const size_t parenthesis = name.rfind('(');
  if (parenthesis != std::string::npos) name.resize(parenthesis);
  if (name.compare(0, 5, "void ") == 0) name.erase(0, 5);
  return (*names)[function] = name;
}

} // namespace wb_emulator
