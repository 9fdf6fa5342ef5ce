/* Halves: numbers of 16 bits (IEEE 754 binary16), as bits. */
#pragma once

#include "core/elementary.h"

/* The half nearest to x, ties to even; |x| < 65520. */
WB_HD uint32_t wb_half(float x) {
  const uint32_t bits = wb_float_bits(x), size = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
  /* Below 2^-14 halves are multiples of 2^-24, as floats are from 0.5 to 1. */
  if (size < 0x38800000u) return sign | (wb_float_bits(wb_bits_float(size) + 0.5f) - 0x3f000000u);
  return sign | (((size + 0xfffu + (size >> 13 & 1u)) >> 13) - (112u << 10));
}

WB_HD float wb_half_value(uint32_t half) {
  const uint32_t size = half & 0x7fffu;
  const float value = size < 0x400u ? (float)size * 0x1p-24f : wb_bits_float((size << 13) + (112u << 23));
  return half & 0x8000u ? -value : value;
}

/* The halves nearest to x and to what is left of it: together they differ from x by at most 2^-22 |x| + 2^-25. */
WB_HD void wb_split_half(float x, uint32_t *high, uint32_t *low) {
  *high = wb_half(x);
  *low = wb_half(x - wb_half_value(*high));
}
