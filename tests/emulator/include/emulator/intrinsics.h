/* Device functions on single numbers. Functions with a rounding suffix exist here for round to nearest only, which is
 * the host's default mode. */
#ifndef WB_EMULATOR_INTRINSICS_H
#define WB_EMULATOR_INTRINSICS_H

namespace wb_emulator {
template <typename To, typename From>
static inline To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}
} // namespace wb_emulator

/* A load or store with a cache hint is a plain one. */
template <typename T>
static inline T __ldg(const T *address) {
  return *address;
}
template <typename T>
static inline T __ldcg(const T *address) {
  return *address;
}
template <typename T>
static inline T __ldca(const T *address) {
  return *address;
}
template <typename T>
static inline T __ldcs(const T *address) {
  return *address;
}
template <typename T>
static inline void __stcg(T *address, T value) {
  *address = value;
}
template <typename T>
static inline void __stcs(T *address, T value) {
  *address = value;
}

/* Integers */
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
static inline unsigned __brev(unsigned x) {
  x = (x >> 16) | (x << 16);
  x = ((x >> 8) & 0x00ff00ffu) | ((x & 0x00ff00ffu) << 8);
  x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
  x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
  return ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
}
static inline unsigned long long __brevll(unsigned long long x) {
  return ((unsigned long long)__brev((unsigned)x) << 32) | __brev((unsigned)(x >> 32));
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((uint64_t)a * b) >> 32); }
static inline int __mulhi(int a, int b) { return (int)(((int64_t)a * b) >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
static inline long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((((uint64_t)high << 32) | low) << (shift & 31)) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)((((uint64_t)high << 32) | low) >> (shift & 31));
}

/* Floating point */
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __drcp_rn(double a) { return 1.0 / a; }
static inline double __dsqrt_rn(double a) { return sqrt(a); }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __frcp_rn(float a) { return 1.0f / a; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }

/* Bit patterns */
static inline long long __double_as_longlong(double x) { return wb_emulator::bit_cast<long long>(x); }
static inline double __longlong_as_double(long long x) { return wb_emulator::bit_cast<double>(x); }
static inline int __float_as_int(float x) { return wb_emulator::bit_cast<int>(x); }
static inline unsigned __float_as_uint(float x) { return wb_emulator::bit_cast<unsigned>(x); }
static inline float __int_as_float(int x) { return wb_emulator::bit_cast<float>(x); }
static inline float __uint_as_float(unsigned x) { return wb_emulator::bit_cast<float>(x); }
static inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
static inline int __double2loint(double x) { return (int)(__double_as_longlong(x)); }
static inline double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)(((uint64_t)(unsigned)high << 32) | (unsigned)low));
}

/* Conversions, to nearest with ties to even, for values within the range of the result */
static inline int __double2int_rn(double x) { return (int)nearbyint(x); }
static inline long long __double2ll_rn(double x) { return (long long)nearbyint(x); }
static inline int __float2int_rn(float x) { return (int)nearbyintf(x); }
static inline float __double2float_rn(double x) { return (float)x; }
static inline double __int2double_rn(int x) { return (double)x; }
static inline double __uint2double_rn(unsigned x) { return (double)x; }
static inline double __ll2double_rn(long long x) { return (double)x; }
static inline double __ull2double_rn(unsigned long long x) { return (double)x; }
static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }

/* CUDA has min() and max() without std::. */
#define WB_EMULATOR_EXTREMES(type, less, greater) \
  static inline type min(type a, type b) { return less; } \
  static inline type max(type a, type b) { return greater; }
#define WB_EMULATOR_EXTREMES_INTEGER(type) WB_EMULATOR_EXTREMES(type, b < a ? b : a, a < b ? b : a)
WB_EMULATOR_EXTREMES_INTEGER(int)
WB_EMULATOR_EXTREMES_INTEGER(unsigned int)
WB_EMULATOR_EXTREMES_INTEGER(long int)
WB_EMULATOR_EXTREMES_INTEGER(unsigned long int)
WB_EMULATOR_EXTREMES_INTEGER(long long int)
WB_EMULATOR_EXTREMES_INTEGER(unsigned long long int)
WB_EMULATOR_EXTREMES(float, fminf(a, b), fmaxf(a, b))
WB_EMULATOR_EXTREMES(double, fmin(a, b), fmax(a, b))
#undef WB_EMULATOR_EXTREMES_INTEGER
#undef WB_EMULATOR_EXTREMES

#endif
