/* Warp functions: shuffles, votes, matches, reductions and __syncwarp. */
#ifndef WB_EMULATOR_WARP_H
#define WB_EMULATOR_WARP_H

#pragma GCC visibility push(hidden)
namespace wb_emulator {

enum Operation {
  SHUFFLE,
  SHUFFLE_UP,
  SHUFFLE_DOWN,
  SHUFFLE_XOR,
  BALLOT,
  ANY,
  ALL,
  SYNC,
  MATCH_ANY,
  MATCH_ALL,
  ADD,
  MIN,
  MAX,
  MIN_UNSIGNED,
  MAX_UNSIGNED,
  AND,
  OR,
  XOR,
  PRODUCT
};

/* Waits until all lanes of `mask` have arrived with the same operation. Returns this lane's result. `argument` is a
 * shuffle's lane, distance or lane mask. */
uint64_t collective(Operation operation, unsigned mask, uint64_t value, int argument, int width, Place place);
unsigned live_lanes(void);

/* A lane's part of a product of matrices: d += a b, where a is 16 x 4 and b is 4 x 8. With g = lane / 4 and
 * q = lane % 4 it has a[g, q], a[g + 8, q], b[q, g] and d[g, 2q], d[g, 2q + 1], d[g + 8, 2q], d[g + 8, 2q + 1]. */
struct Product {
  double a[2], b, d[4];
};
/* Inline PTX is not emulated: sources with the instruction mma.m16n8k4 of doubles call this in its place. */
static inline void multiply_add_16x8x4(double (&d)[4], double upper, double lower, double b, WB_EMULATOR_HERE) {
  Product own = {{upper, lower}, b, {d[0], d[1], d[2], d[3]}};
  collective(PRODUCT, 0xffffffffu, (uint64_t)(uintptr_t)&own, 0, 32, WB_EMULATOR_PLACE);
  memcpy(d, own.d, sizeof own.d);
}

template <typename T>
static inline T shuffle(Operation operation, unsigned mask, T value, int argument, int width, Place place) {
  static_assert(std::is_arithmetic<T>::value && (sizeof(T) == 4 || sizeof(T) == 8),
                "shuffles take 32-bit and 64-bit numbers");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  bits = collective(operation, mask, bits, argument, width, place);
  memcpy(&value, &bits, sizeof(T));
  return value;
}

} // namespace wb_emulator
#pragma GCC visibility pop

template <typename T>
static inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32, WB_EMULATOR_HERE) {
  return wb_emulator::shuffle(wb_emulator::SHUFFLE, mask, value, lane, width, WB_EMULATOR_PLACE);
}
template <typename T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, WB_EMULATOR_HERE) {
  return wb_emulator::shuffle(wb_emulator::SHUFFLE_UP, mask, value, (int)delta, width, WB_EMULATOR_PLACE);
}
template <typename T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, WB_EMULATOR_HERE) {
  return wb_emulator::shuffle(wb_emulator::SHUFFLE_DOWN, mask, value, (int)delta, width, WB_EMULATOR_PLACE);
}
template <typename T>
static inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, WB_EMULATOR_HERE) {
  return wb_emulator::shuffle(wb_emulator::SHUFFLE_XOR, mask, value, lane_mask, width, WB_EMULATOR_PLACE);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate, WB_EMULATOR_HERE) {
  return (unsigned)wb_emulator::collective(wb_emulator::BALLOT, mask, predicate != 0, 0, 32, WB_EMULATOR_PLACE);
}
static inline int __any_sync(unsigned mask, int predicate, WB_EMULATOR_HERE) {
  return (int)wb_emulator::collective(wb_emulator::ANY, mask, predicate != 0, 0, 32, WB_EMULATOR_PLACE);
}
static inline int __all_sync(unsigned mask, int predicate, WB_EMULATOR_HERE) {
  return (int)wb_emulator::collective(wb_emulator::ALL, mask, predicate != 0, 0, 32, WB_EMULATOR_PLACE);
}
static inline void __syncwarp(unsigned mask = 0xffffffffu, WB_EMULATOR_HERE) {
  wb_emulator::collective(wb_emulator::SYNC, mask, 0, 0, 32, WB_EMULATOR_PLACE);
}
/* On hardware any set of lanes may be converged. Here it is all lanes that still run. */
static inline unsigned __activemask(void) { return wb_emulator::live_lanes(); }

template <typename T>
static inline unsigned __match_any_sync(unsigned mask, T value, WB_EMULATOR_HERE) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  return (unsigned)wb_emulator::collective(wb_emulator::MATCH_ANY, mask, bits, 0, 32, WB_EMULATOR_PLACE);
}
template <typename T>
static inline unsigned __match_all_sync(unsigned mask, T value, int *predicate, WB_EMULATOR_HERE) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  const unsigned all = (unsigned)wb_emulator::collective(wb_emulator::MATCH_ALL, mask, bits, 0, 32, WB_EMULATOR_PLACE);
  *predicate = all != 0;
  return all;
}

#define WB_EMULATOR_REDUCE(type, name, operation) \
  static inline type __reduce_##name##_sync(unsigned mask, type value, WB_EMULATOR_HERE) { \
    return (type)(unsigned)wb_emulator::collective(wb_emulator::operation, mask, (unsigned)value, 0, 32, \
                                                   WB_EMULATOR_PLACE); \
  }
WB_EMULATOR_REDUCE(unsigned, add, ADD)
WB_EMULATOR_REDUCE(int, add, ADD)
WB_EMULATOR_REDUCE(unsigned, min, MIN_UNSIGNED)
WB_EMULATOR_REDUCE(int, min, MIN)
WB_EMULATOR_REDUCE(unsigned, max, MAX_UNSIGNED)
WB_EMULATOR_REDUCE(int, max, MAX)
WB_EMULATOR_REDUCE(unsigned, and, AND)
WB_EMULATOR_REDUCE(unsigned, or, OR)
WB_EMULATOR_REDUCE(unsigned, xor, XOR)
#undef WB_EMULATOR_REDUCE

#endif
