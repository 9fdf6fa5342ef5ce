/* CUDA's short vectors and dim3. */
#ifndef WB_EMULATOR_VECTOR_TYPES_H
#define WB_EMULATOR_VECTOR_TYPES_H

#define WB_EMULATOR_VECTORS(type, name, align2, align4) \
  struct name##1 { \
    type x; \
  }; \
  struct __attribute__((aligned(align2))) name##2 { \
    type x, y; \
  }; \
  struct name##3 { \
    type x, y, z; \
  }; \
  struct __attribute__((aligned(align4))) name##4 { \
    type x, y, z, w; \
  }; \
  static inline name##1 make_##name##1(type x) { \
    name##1 v = {x}; \
    return v; \
  } \
  static inline name##2 make_##name##2(type x, type y) { \
    name##2 v = {x, y}; \
    return v; \
  } \
  static inline name##3 make_##name##3(type x, type y, type z) { \
    name##3 v = {x, y, z}; \
    return v; \
  } \
  static inline name##4 make_##name##4(type x, type y, type z, type w) { \
    name##4 v = {x, y, z, w}; \
    return v; \
  }

WB_EMULATOR_VECTORS(signed char, char, 2, 4)
WB_EMULATOR_VECTORS(unsigned char, uchar, 2, 4)
WB_EMULATOR_VECTORS(short, short, 4, 8)
WB_EMULATOR_VECTORS(unsigned short, ushort, 4, 8)
WB_EMULATOR_VECTORS(int, int, 8, 16)
WB_EMULATOR_VECTORS(unsigned int, uint, 8, 16)
WB_EMULATOR_VECTORS(long int, long, 16, 16)
WB_EMULATOR_VECTORS(unsigned long int, ulong, 16, 16)
WB_EMULATOR_VECTORS(long long int, longlong, 16, 16)
WB_EMULATOR_VECTORS(unsigned long long int, ulonglong, 16, 16)
WB_EMULATOR_VECTORS(float, float, 8, 16)
WB_EMULATOR_VECTORS(double, double, 16, 16)
#undef WB_EMULATOR_VECTORS

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

#endif
