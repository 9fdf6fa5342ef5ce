/* The state of a launch: its threads, its warps and the running block. */
#ifndef WB_EMULATOR_GRID_H
#define WB_EMULATOR_GRID_H

#include <cuda_runtime.h>

#include <vector>

#include "fiber.h"
#include "order.h"

#pragma GCC visibility push(hidden)
namespace wb_emulator {

struct Warp;

struct Thread {
  Fiber fiber;
  uint3 index;
  unsigned lane;
  Warp *warp;
  enum State { RUNNABLE, AT_BARRIER, IN_COLLECTIVE, EXITED } state;
  Operation operation; /* IN_COLLECTIVE: the operation in which it waits, and for which lanes */
  unsigned mask;
  Place place; /* AT_BARRIER, IN_COLLECTIVE */
};

/* One operation that the lanes of one mask are carrying out or carried out last. A lane that returns has read its
 * result before it can arrive at the next operation with the same mask. So one record serves all operations of a mask
 * in turn. */
struct Collective {
  unsigned mask;
  unsigned arrived;
  Operation operation;
  int width;
  uint64_t value[32];
  int argument[32];
  uint64_t result[32];
  Edges edges;
};

struct Warp {
  unsigned index;
  unsigned present; /* lanes that exist; the last warp of a block may be short */
  unsigned ready;   /* lanes that can run */
  unsigned exited;
  Thread *threads;
  std::vector<Collective *> collectives;
};

struct Block {
  ~Block();
  std::vector<Thread> threads; /* reused from block to block */
  std::vector<Warp> warps;
  unsigned thread_count, warp_count;
  unsigned live;
  Warp *warp; /* of the running fiber */

  unsigned at_barrier;
  Barrier barrier;
  Place barrier_place;
  int true_predicates;
  int barrier_result;
  Edges barrier_edges;

  const char *kernel;
  const Closure *closure;
  Fiber host;
};

extern Block block;
/* NULL while this thread of the system runs host code. In contrast to thread_local, __thread needs no function that
 * initialises it. */
extern __thread Thread *current;

/* Runs all blocks, or up to the first block that fails. */
void grid_run(dim3 grid, dim3 threads, const char *kernel, const Closure *closure);
/* Drops the copies that threads began and did not wait for. In pipeline.cpp. */
void forget_copies(void);
/* Runs other fibers until this one is ready again. */
void wait_for_others(void);
/* Reports why a wait cannot end when no fiber is ready. */
[[noreturn]] void report_deadlock(void);

/* Ends the launch with an error and never returns to the kernel. */
[[noreturn]] void fail(cudaError_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *operation_name(Operation operation);

} // namespace wb_emulator
#pragma GCC visibility pop

#endif
