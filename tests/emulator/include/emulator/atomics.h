/* Atomic functions on device and shared memory. Each returns the old value. They order memory more strongly than CUDA's
 * relaxed atomics, so the race driver does not find a missing __threadfence() between an atomic and plain accesses. */
#ifndef WB_EMULATOR_ATOMICS_H
#define WB_EMULATOR_ATOMICS_H

namespace wb_emulator {

/* Replaces *address by combine(*address) in one step, through its bit pattern. */
template <typename T, typename Combine>
static inline T atomic_update(T *address, Combine combine) {
  typedef typename std::conditional<sizeof(T) == 8, uint64_t, uint32_t>::type Bits;
  static_assert(sizeof(T) == sizeof(Bits), "atomics take 32-bit and 64-bit numbers");
  Bits *const bits = reinterpret_cast<Bits *>(address);
  Bits before = __atomic_load_n(bits, __ATOMIC_ACQUIRE);
  for (;;) {
    T old, updated;
    memcpy(&old, &before, sizeof(T));
    updated = combine(old);
    Bits after;
    memcpy(&after, &updated, sizeof(T));
    if (__atomic_compare_exchange_n(bits, &before, after, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return old;
  }
}

} // namespace wb_emulator

#define WB_EMULATOR_ATOMIC(type, name, expression) \
  static inline type name(type *address, type value) { \
    return wb_emulator::atomic_update(address, [value](type old) -> type { return expression; }); \
  }
#define WB_EMULATOR_ATOMIC_INTEGER(type) \
  WB_EMULATOR_ATOMIC(type, atomicMin, old < value ? old : value) \
  WB_EMULATOR_ATOMIC(type, atomicMax, old > value ? old : value) \
  WB_EMULATOR_ATOMIC(type, atomicAnd, old &value) \
  WB_EMULATOR_ATOMIC(type, atomicOr, old | value) \
  WB_EMULATOR_ATOMIC(type, atomicXor, old ^ value) \
  WB_EMULATOR_ATOMIC(type, atomicExch, ((void)old, value)) \
  static inline type atomicCAS(type *address, type compare, type value) { \
    return wb_emulator::atomic_update(address, \
                                      [compare, value](type old) -> type { return old == compare ? value : old; }); \
  }

WB_EMULATOR_ATOMIC_INTEGER(int)
WB_EMULATOR_ATOMIC_INTEGER(unsigned int)
WB_EMULATOR_ATOMIC_INTEGER(unsigned long long int)
WB_EMULATOR_ATOMIC(int, atomicAdd, (int)((unsigned)old + (unsigned)value))
WB_EMULATOR_ATOMIC(unsigned int, atomicAdd, old + value)
WB_EMULATOR_ATOMIC(unsigned long long int, atomicAdd, old + value)
WB_EMULATOR_ATOMIC(float, atomicAdd, old + value)
WB_EMULATOR_ATOMIC(double, atomicAdd, old + value)
WB_EMULATOR_ATOMIC(int, atomicSub, (int)((unsigned)old - (unsigned)value))
WB_EMULATOR_ATOMIC(unsigned int, atomicSub, old - value)
WB_EMULATOR_ATOMIC(float, atomicExch, ((void)old, value))
WB_EMULATOR_ATOMIC(unsigned int, atomicInc, old >= value ? 0u : old + 1u)
WB_EMULATOR_ATOMIC(unsigned int, atomicDec, old == 0u || old > value ? value : old - 1u)
#undef WB_EMULATOR_ATOMIC_INTEGER
#undef WB_EMULATOR_ATOMIC

#endif
