/* Warp functions. The last lane of a mask to arrive checks that all lanes mean the same operation, and computes every
 * lane's result. The others wait for it. */
#include "grid.h"

namespace wb_emulator {

const char *operation_name(Operation operation) {
  static const char *const names[] = {
      "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",    "__ballot_sync",
      "__any_sync",        "__all_sync",        "__syncwarp",        "__match_any_sync",   "__match_all_sync",
      "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_min_sync",  "__reduce_max_sync",
      "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync", "multiply_add_16x8x4"};
  return names[operation];
}

unsigned live_lanes(void) { return current->warp->present & ~current->warp->exited; }

/* The lane whose value `lane` receives. A lane outside the segment of `width` lanes means the lane's own value (PTX
 * ISA, instruction shfl). */
static int source_lane(Operation operation, int lane, int argument, int width) {
  const int first = lane & ~(width - 1), last = first + width - 1;
  int source;
  switch (operation) {
    case SHUFFLE: return first | (argument & (width - 1));
    case SHUFFLE_UP: source = lane - argument; return source < first ? lane : source;
    case SHUFFLE_DOWN: source = lane + argument; return source > last ? lane : source;
    default: source = lane ^ argument; return source > last || source < 0 ? lane : source;
  }
}

static void compute_shuffle(Collective *c) {
  for (unsigned rest = c->mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const int source = source_lane(c->operation, lane, c->argument[lane], c->width);
    if (((c->mask >> source) & 1) == 0)
      fail(cudaErrorLaunchFailure, "%s at %s:%d: lane %d reads lane %d, which is not in the mask 0x%08x",
           operation_name(c->operation), current->place.file, current->place.line, lane, source, c->mask);
    c->result[lane] = c->value[source];
  }
}

/* Each number is a chain of four multiply-adds. */
static void compute_product(Collective *c) {
  Product *lanes[32];
  for (int lane = 0; lane < 32; lane++) lanes[lane] = (Product *)(uintptr_t)c->value[lane];
  for (int lane = 0; lane < 32; lane++)
    for (int i = 0; i < 4; i++) {
      double sum = lanes[lane]->d[i];
      for (int k = 0; k < 4; k++)
        sum = fma(lanes[lane / 4 * 4 + k]->a[i / 2], lanes[4 * (lane % 4 * 2 + i % 2) + k]->b, sum);
      lanes[lane]->d[i] = sum;
    }
}

static uint64_t reduce(Operation operation, uint64_t a, uint64_t b) {
  const unsigned ua = (unsigned)a, ub = (unsigned)b;
  const int ia = (int)ua, ib = (int)ub;
  switch (operation) {
    case BALLOT:
    case ANY:
    case OR: return ua | ub;
    case ALL:
    case AND: return ua & ub;
    case ADD: return ua + ub;
    case MIN: return (unsigned)(ib < ia ? ib : ia);
    case MAX: return (unsigned)(ib > ia ? ib : ia);
    case MIN_UNSIGNED: return ub < ua ? ub : ua;
    case MAX_UNSIGNED: return ub > ua ? ub : ua;
    case XOR: return ua ^ ub;
    default: return 0;
  }
}

static void compute(Collective *c) {
  if (c->operation <= SHUFFLE_XOR) return compute_shuffle(c);
  if (c->operation == SYNC) return;
  if (c->operation == PRODUCT) return compute_product(c);
  if (c->operation == MATCH_ANY || c->operation == MATCH_ALL) {
    for (unsigned rest = c->mask; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      unsigned same = 0;
      for (unsigned other = c->mask; other != 0; other &= other - 1) {
        const int o = __builtin_ctz(other);
        if (c->value[o] == c->value[lane]) same |= 1u << o;
      }
      c->result[lane] = c->operation == MATCH_ANY || same == c->mask ? same : 0;
    }
    return;
  }
  uint64_t total = 0;
  bool first = true;
  for (unsigned rest = c->mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const uint64_t value = c->operation == BALLOT ? c->value[lane] << lane : c->value[lane];
    total = first ? value : reduce(c->operation, total, value);
    first = false;
  }
  for (unsigned rest = c->mask; rest != 0; rest &= rest - 1) c->result[__builtin_ctz(rest)] = total;
}

/* The record of `mask`. The record that was used last comes first. */
static Collective *find(Warp *warp, unsigned mask) {
  std::vector<Collective *> &all = warp->collectives;
  for (size_t i = 0; i < all.size(); i++)
    if (all[i]->mask == mask) {
      if (i != 0) std::swap(all[0], all[i]);
      return all[0];
    }
  const OwnBusiness own;
  Collective *const c = new Collective();
  c->mask = mask;
  c->edges.renew();
  all.push_back(c);
  std::swap(all.front(), all.back());
  return c;
}

/* Finds the faults of a lane's arrival that do not need the other lanes. */
static void check_arrival(const Thread *t, const Collective *c, int width) {
  const Warp *const w = t->warp;
  const char *const name = operation_name(t->operation);
  const Place at = t->place;
  const unsigned self = 1u << t->lane;
  if ((t->mask & self) == 0)
    fail(cudaErrorLaunchFailure, "%s at %s:%d: lane %u calls it with mask 0x%08x, in which it is not", name, at.file,
         at.line, t->lane, t->mask);
  if (t->mask & ~w->present)
    fail(cudaErrorLaunchFailure, "%s at %s:%d: lane %u names lanes 0x%08x, which the block does not have (mask 0x%08x)",
         name, at.file, at.line, t->lane, t->mask & ~w->present, t->mask);
  if (t->mask & w->exited)
    fail(cudaErrorLaunchFailure, "%s at %s:%d: lane %u waits for lanes 0x%08x, which have exited (mask 0x%08x)", name,
         at.file, at.line, t->lane, t->mask & w->exited, t->mask);
  if (width < 1 || width > 32 || (width & (width - 1)) != 0)
    fail(cudaErrorLaunchFailure, "%s at %s:%d: lane %u gives the width %d, not a power of two up to 32", name, at.file,
         at.line, t->lane, width);
  if (c->arrived != 0 && (c->operation != t->operation || c->width != width))
    fail(cudaErrorLaunchFailure,
         "%s (width %d) at %s:%d: lane %u comes to it while lanes 0x%08x of its mask are in %s (width %d)", name, width,
         at.file, at.line, t->lane, c->arrived, operation_name(c->operation), c->width);
  for (const Collective *other : w->collectives)
    if (other != c && (other->arrived & t->mask) != 0 && (other->mask & self) != 0)
      fail(cudaErrorLaunchFailure,
           "%s at %s:%d: lane %u comes with mask 0x%08x; lanes 0x%08x of it wait for lane %u in %s with "
           "mask 0x%08x",
           name, at.file, at.line, t->lane, t->mask, other->arrived & t->mask, t->lane,
           operation_name(other->operation), other->mask);
}

uint64_t collective(Operation operation, unsigned mask, uint64_t value, int argument, int width, Place place) {
  Thread *const t = current;
  Warp *const w = t->warp;
  t->operation = operation;
  t->mask = mask;
  t->place = place;
  Collective *const c = find(w, mask);
  check_arrival(t, c, width);
  c->operation = operation;
  c->width = width;
  c->value[t->lane] = value;
  c->argument[t->lane] = argument;
  c->arrived |= 1u << t->lane;
  /* Of the warp functions only __syncwarp orders memory (CUDA C++ Programming Guide). */
  void *const edge = c->edges.now();
  if (operation == SYNC) happens_before(edge);
  if (c->arrived != mask) {
    t->state = Thread::IN_COLLECTIVE;
    wait_for_others();
    t->state = Thread::RUNNABLE;
  } else {
    compute(c);
    c->arrived = 0;
    c->edges.next();
    w->ready |= mask & ~(1u << t->lane);
  }
  if (operation == SYNC) happens_after(edge);
  return c->result[t->lane];
}

} // namespace wb_emulator
