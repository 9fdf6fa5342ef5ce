/* Runs a grid, one block after the other. Within a block, the fibers of one warp run as long as one of them is ready,
 * then those of another warp. Fibers wait only at barriers and in warp functions, so the order is the same in every
 * run. WB_EMULATOR_ORDER=reverse runs blocks, warps and lanes from the last to the first, which does not affect a
 * correct kernel. */
#include "grid.h"

#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "shared.h"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace wb_emulator {

Block block;
__thread Thread *current;

static bool reversed;

static unsigned pick_bit(unsigned bits) {
  return reversed ? 31u - (unsigned)__builtin_clz(bits) : (unsigned)__builtin_ctz(bits);
}

/* Takes the next ready fiber off its warp's list. NULL if there is none. */
static Thread *pick(void) {
  Warp *w = block.warp;
  if (w->ready == 0) {
    unsigned i = 0;
    for (; i < block.warp_count; i++) {
      w = &block.warps[reversed ? block.warp_count - 1 - i : i];
      if (w->ready != 0) break;
    }
    if (i == block.warp_count) return NULL;
    block.warp = w;
  }
  const unsigned lane = pick_bit(w->ready);
  w->ready &= ~(1u << lane);
  return &w->threads[lane];
}

static void run(Fiber *from, Thread *next) {
  current = next;
  threadIdx = next->index;
  fiber_switch(from, &next->fiber);
}

void wait_for_others(void) {
  Thread *const self = current;
  Thread *const next = pick();
  if (next == NULL) report_deadlock();
  run(&self->fiber, next);
}

static void finish(void) {
  Thread *const t = current;
  Warp *const w = t->warp;
  t->state = Thread::EXITED;
  w->exited |= 1u << t->lane;
  block.live--;
  for (const Collective *c : w->collectives)
    if (c->arrived != 0 && ((c->mask >> t->lane) & 1))
      fail(cudaErrorLaunchFailure, "lane %u exits while lanes 0x%08x wait for it in %s with mask 0x%08x", t->lane,
           c->arrived, operation_name(c->operation), c->mask);
  happens_before(&block);
  fiber_ended(&t->fiber);
  Thread *const next = pick();
  if (next != NULL) run(&t->fiber, next);
  else if (block.live == 0) fiber_switch(&t->fiber, &block.host);
  else report_deadlock();
}

static void entry(void) {
  fiber_entered();
  happens_after(&block.closure);
  block.closure->call(block.closure);
  finish();
  __builtin_unreachable();
}

int barrier(Barrier kind, int predicate, Place place) {
  Thread *const t = current;
  t->place = place;
  if (block.at_barrier == 0) {
    block.barrier = kind;
    block.barrier_place = place;
    block.true_predicates = 0;
  } else if (block.barrier != kind || block.barrier_place.line != place.line ||
             (block.barrier_place.file != place.file && strcmp(block.barrier_place.file, place.file) != 0)) {
    fail(cudaErrorLaunchFailure, "a thread is at the barrier at %s:%d while %u of %u threads wait at the one at %s:%d",
         place.file, place.line, block.at_barrier, block.thread_count, block.barrier_place.file,
         block.barrier_place.line);
  }
  block.at_barrier++;
  block.true_predicates += predicate != 0;
  void *const edge = block.barrier_edges.now();
  happens_before(edge);
  if (block.at_barrier != block.thread_count) {
    t->state = Thread::AT_BARRIER;
    wait_for_others();
    t->state = Thread::RUNNABLE;
  } else {
    switch (kind) {
      case BARRIER_AND: block.barrier_result = block.true_predicates == (int)block.thread_count; break;
      case BARRIER_OR: block.barrier_result = block.true_predicates != 0; break;
      default: block.barrier_result = block.true_predicates;
    }
    block.at_barrier = 0;
    block.barrier_edges.next();
    for (unsigned i = 0; i < block.warp_count; i++) block.warps[i].ready = block.warps[i].present;
    t->warp->ready &= ~(1u << t->lane);
  }
  happens_after(edge);
  return block.barrier_result;
}

void report_deadlock(void) {
  const unsigned exited = block.thread_count - block.live;
  for (unsigned i = 0; i < block.thread_count; i++) {
    const Thread *const t = &block.threads[i];
    if (t->state != Thread::IN_COLLECTIVE) continue;
    for (const Collective *c : t->warp->collectives)
      if (c->arrived != 0 && c->mask == t->mask)
        fail(cudaErrorLaunchFailure,
             "%s at %s:%d: lanes 0x%08x of warp %u wait, lanes 0x%08x of mask 0x%08x never come "
             "(%u threads at a barrier, %u exited, of %u)",
             operation_name(t->operation), t->place.file, t->place.line, c->arrived, t->warp->index,
             c->mask & ~c->arrived, c->mask, block.at_barrier, exited, block.thread_count);
  }
  fail(cudaErrorLaunchFailure, "barrier at %s:%d reached by %u of %u threads, %u have exited", block.barrier_place.file,
       block.barrier_place.line, block.at_barrier, block.thread_count, exited);
}

Block::~Block() {
  for (Thread &t : threads) fiber_close(&t.fiber);
}

/* Makes the threads and warps of a block of this size. Fibers are kept from launch to launch. */
static void shape(dim3 size) {
  const unsigned count = size.x * size.y * size.z;
  while (block.threads.size() < count) {
    Thread t;
    memset(&t, 0, sizeof t);
    fiber_open(&t.fiber, (unsigned)block.threads.size());
    block.threads.push_back(t);
  }
  block.thread_count = count;
  block.warp_count = (count + 31) / 32;
  if (block.warps.size() < block.warp_count) block.warps.resize(block.warp_count);
  for (unsigned i = 0; i < block.warp_count; i++) {
    Warp *const w = &block.warps[i];
    const unsigned lanes = count - 32 * i < 32 ? count - 32 * i : 32;
    w->index = i;
    w->present = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
    w->threads = &block.threads[32 * i];
    for (Collective *c : w->collectives) {
      c->edges.release();
      delete c;
    }
    w->collectives.clear();
  }
  for (unsigned i = 0; i < count; i++) {
    Thread *const t = &block.threads[i];
    t->index = make_uint3(i % size.x, i / size.x % size.y, i / (size.x * size.y));
    t->lane = i % 32;
    t->warp = &block.warps[i / 32];
  }
}

static void run_block(void) {
  shared_fill();
  forget_copies();
  block.barrier_edges.renew();
  happens_before(&block.closure);
  block.live = block.thread_count;
  block.at_barrier = 0;
  for (unsigned i = 0; i < block.warp_count; i++) {
    Warp *const w = &block.warps[i];
    w->ready = w->present;
    w->exited = 0;
    for (Collective *c : w->collectives) {
      c->arrived = 0;
      c->edges.renew();
    }
  }
  for (unsigned i = 0; i < block.thread_count; i++) {
    block.threads[i].state = Thread::RUNNABLE;
    fiber_prepare(&block.threads[i].fiber, entry);
  }
  block.warp = &block.warps[0];
  run(&block.host, pick());
  current = NULL;
}

void grid_run(dim3 grid, dim3 threads, const char *kernel, const Closure *closure) {
  const char *const order = getenv("WB_EMULATOR_ORDER");
  reversed = order != NULL && strcmp(order, "reverse") == 0;
  block.kernel = kernel;
  block.closure = closure;
  blockDim = threads;
  gridDim = grid;
  shape(threads);
  fiber_adopt(&block.host);
  const uint64_t blocks = (uint64_t)gridDim.x * gridDim.y * gridDim.z;
  for (uint64_t i = 0; i < blocks && !kernel_failed(); i++) {
    const uint64_t b = reversed ? blocks - 1 - i : i;
    blockIdx = make_uint3((unsigned)(b % gridDim.x), (unsigned)(b / gridDim.x % gridDim.y),
                          (unsigned)(b / gridDim.x / gridDim.y));
    run_block();
    shared_check();
  }
  happens_after(&block);
}

} // namespace wb_emulator
