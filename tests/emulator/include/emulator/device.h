/* The position of a thread in the grid, and the barriers of a block. */
#ifndef WB_EMULATOR_DEVICE_H
#define WB_EMULATOR_DEVICE_H

#pragma GCC visibility push(hidden)

/* The scheduler sets these whenever it switches to another fiber. */
extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;
static const int warpSize = 32;

namespace wb_emulator {

/* Where in the kernel's source a thread waits. */
struct Place {
  const char *file;
  int line;
};

enum Barrier { BARRIER_PLAIN, BARRIER_COUNT, BARRIER_AND, BARRIER_OR };
int barrier(Barrier kind, int predicate, Place place);
void *dynamic_shared(void);
[[noreturn]] void trap(void);

} // namespace wb_emulator

#pragma GCC visibility pop

/* The default arguments are evaluated in the caller: they give its file and line. */
#define WB_EMULATOR_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define WB_EMULATOR_PLACE (::wb_emulator::Place{file, line})

static inline void __syncthreads(WB_EMULATOR_HERE) {
  wb_emulator::barrier(wb_emulator::BARRIER_PLAIN, 0, WB_EMULATOR_PLACE);
}
static inline int __syncthreads_count(int predicate, WB_EMULATOR_HERE) {
  return wb_emulator::barrier(wb_emulator::BARRIER_COUNT, predicate, WB_EMULATOR_PLACE);
}
static inline int __syncthreads_and(int predicate, WB_EMULATOR_HERE) {
  return wb_emulator::barrier(wb_emulator::BARRIER_AND, predicate, WB_EMULATOR_PLACE);
}
static inline int __syncthreads_or(int predicate, WB_EMULATOR_HERE) {
  return wb_emulator::barrier(wb_emulator::BARRIER_OR, predicate, WB_EMULATOR_PLACE);
}

/* One operating system thread runs all fibers, so its stores are in order. Only the compiler must not reorder them. */
static inline void __threadfence(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
[[noreturn]] static inline void __trap(void) { wb_emulator::trap(); }

#endif
