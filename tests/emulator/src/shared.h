/* Shared memory: static variables and the dynamic array of a launch. */
#ifndef WB_EMULATOR_SHARED_H
#define WB_EMULATOR_SHARED_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)
namespace wb_emulator {

/* The pattern of unwritten memory: NaN as double and as float; as an integer, an index far outside any array. */
static const uint32_t POISON = 0xfff7a5a5u;
void poison_fill(void *memory, size_t size);
bool poison_intact(const void *memory, size_t size);

/* Called before a launch: takes the kernel's static variables and a dynamic array of exactly this size. */
void shared_open(const void *kernel, size_t dynamic_size);
/* Called before a block: fills all with the pattern. */
void shared_fill(void);
/* Called after a block: reports writes outside a variable. */
void shared_check(void);
/* The bytes of a kernel's own static variables. */
size_t shared_static_size(const void *kernel);

} // namespace wb_emulator
#pragma GCC visibility pop

#endif
