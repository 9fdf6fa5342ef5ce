/* Precision traits of kernels, for double and float. The twin of cpu/real.h. */
#pragma once

#include "core/block_draw.h"
#include "core/elementary.h"
#include "core/philox.h"
#include "core/scaled_value.h"

namespace wb {

/* A piece is what one load moves: 16 bytes. */
template <typename Real>
struct precise;

template <>
struct precise<double> {
  typedef double2 piece;
  static constexpr int in_piece = 2, uniforms = 2;
  static constexpr double nothing = WB_BLOCK_NOTHING, negligible = WB_BLOCK_NEGLIGIBLE;
  static __device__ __forceinline__ double of(piece values, int i) { return i == 0 ? values.x : values.y; }
  static __device__ __forceinline__ double fma(double a, double b, double c) { return wb_fma(a, b, c); }
  static __device__ __forceinline__ double exp_weight(double x) { return wb_exp_weight(x); }
  static __device__ __forceinline__ double log(double x) { return wb_log(x); }
  static __device__ __forceinline__ double narrow(double scaled) { return scaled; }
  static __device__ __forceinline__ double uniform(wb_bits bits, uint32_t which) {
    return wb_uniform(wb_bits64(bits, int(which)));
  }
  static __device__ __forceinline__ double position(double u, double before, double sum) {
    return wb_block_position(u, before, sum);
  }
};

template <>
struct precise<float> {
  typedef float4 piece;
  static constexpr int in_piece = 4, uniforms = 4;
  static constexpr float nothing = WB_BLOCK_NOTHINGF, negligible = WB_BLOCK_NEGLIGIBLEF;
  static __device__ __forceinline__ float of(piece values, int i) {
    return i == 0 ? values.x : i == 1 ? values.y : i == 2 ? values.z : values.w;
  }
  static __device__ __forceinline__ float fma(float a, float b, float c) { return wb_fmaf(a, b, c); }
  static __device__ __forceinline__ float exp_weight(float x) { return wb_exp_weightf(x); }
  static __device__ __forceinline__ float log(float x) { return wb_logf(x); }
  static __device__ __forceinline__ float narrow(double scaled) { return wb_scaled_valuef(scaled); }
  static __device__ __forceinline__ float uniform(wb_bits bits, uint32_t which) {
    const uint32_t low = which & 1 ? bits.word[1] : bits.word[0];
    const uint32_t high = which & 1 ? bits.word[3] : bits.word[2];
    return wb_uniformf(which & 2 ? high : low);
  }
  static __device__ __forceinline__ float position(float u, float before, float sum) {
    return wb_block_positionf(u, before, sum);
  }
};

/* Compiles a template of functions for both types. */
#define WB_BOTH_PRECISIONS(function) \
  template decltype(function<double>) function<double>; \
  template decltype(function<float>) function<float>;

} // namespace wb
