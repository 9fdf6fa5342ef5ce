/* Chains of fused multiply-adds, as lists of numbers: one wb_fma() for each number or pair after the first. */
#pragma once

#include "core/host_device.h"

/* A polynomial of x by Horner's rule, from 2 to 16 coefficients. The coefficient of the highest power comes first, and
 * may be such a polynomial itself. WB_HORNERF is in single precision. */
#define WB_HORNER(x, ...) WB_HORNER_BY(wb_fma, x, __VA_ARGS__)
#define WB_HORNERF(x, ...) WB_HORNER_BY(wb_fmaf, x, __VA_ARGS__)

/* sum + a b + c d + ..., from 1 to 11 pairs: WB_ADD_PRODUCTS(sum, (a, b), (c, d), ...). */
#define WB_ADD_PRODUCTS(sum, ...) \
  WB_PICK_16(__VA_ARGS__, , , , , , WB_ADD_11, WB_ADD_10, WB_ADD_9, WB_ADD_8, WB_ADD_7, WB_ADD_6, WB_ADD_5, WB_ADD_4, \
             WB_ADD_3, WB_ADD_2, WB_ADD_1, ) \
  (sum, __VA_ARGS__)

/* The macro for as many numbers as the list before the macros has. */
#define WB_PICK_16(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, macro, ...) macro

#define WB_HORNER_BY(multiply_add, x, ...) \
  WB_PICK_16(__VA_ARGS__, WB_HORNER_16, WB_HORNER_15, WB_HORNER_14, WB_HORNER_13, WB_HORNER_12, WB_HORNER_11, \
             WB_HORNER_10, WB_HORNER_9, WB_HORNER_8, WB_HORNER_7, WB_HORNER_6, WB_HORNER_5, WB_HORNER_4, WB_HORNER_3, \
             WB_HORNER_2, , ) \
  (multiply_add, x, __VA_ARGS__)
#define WB_HORNER_2(f, x, q, c) f(q, x, c)
#define WB_HORNER_3(f, x, q, c, ...) WB_HORNER_2(f, x, f(q, x, c), __VA_ARGS__)
#define WB_HORNER_4(f, x, q, c, ...) WB_HORNER_3(f, x, f(q, x, c), __VA_ARGS__)
#define WB_HORNER_5(f, x, q, c, ...) WB_HORNER_4(f, x, f(q, x, c), __VA_ARGS__)
#define WB_HORNER_6(f, x, q, c, ...) WB_HORNER_5(f, x, f(q, x, c), __VA_ARGS__)
#define WB_HORNER_7(f, x, q, c, ...) WB_HORNER_6(f, x, f(q, x, c), __VA_ARGS__)
#define WB_HORNER_8(f, x, q, c, ...) WB_HORNER_7(f, x, f(q, x, c), __VA_ARGS__)
#define WB_HORNER_9(f, x, q, c, ...) WB_HORNER_8(f, x, f(q, x, c), __VA_ARGS__)
#define WB_HORNER_10(f, x, q, c, ...) WB_HORNER_9(f, x, f(q, x, c), __VA_ARGS__)
#define WB_HORNER_11(f, x, q, c, ...) WB_HORNER_10(f, x, f(q, x, c), __VA_ARGS__)
#define WB_HORNER_12(f, x, q, c, ...) WB_HORNER_11(f, x, f(q, x, c), __VA_ARGS__)
#define WB_HORNER_13(f, x, q, c, ...) WB_HORNER_12(f, x, f(q, x, c), __VA_ARGS__)
#define WB_HORNER_14(f, x, q, c, ...) WB_HORNER_13(f, x, f(q, x, c), __VA_ARGS__)
#define WB_HORNER_15(f, x, q, c, ...) WB_HORNER_14(f, x, f(q, x, c), __VA_ARGS__)
#define WB_HORNER_16(f, x, q, c, ...) WB_HORNER_15(f, x, f(q, x, c), __VA_ARGS__)

#define WB_UNPACK(a, b) a, b
#define WB_ADD_1(sum, pair) wb_fma(WB_UNPACK pair, sum)
#define WB_ADD_2(sum, pair, ...) WB_ADD_1(WB_ADD_1(sum, pair), __VA_ARGS__)
#define WB_ADD_3(sum, pair, ...) WB_ADD_2(WB_ADD_1(sum, pair), __VA_ARGS__)
#define WB_ADD_4(sum, pair, ...) WB_ADD_3(WB_ADD_1(sum, pair), __VA_ARGS__)
#define WB_ADD_5(sum, pair, ...) WB_ADD_4(WB_ADD_1(sum, pair), __VA_ARGS__)
#define WB_ADD_6(sum, pair, ...) WB_ADD_5(WB_ADD_1(sum, pair), __VA_ARGS__)
#define WB_ADD_7(sum, pair, ...) WB_ADD_6(WB_ADD_1(sum, pair), __VA_ARGS__)
#define WB_ADD_8(sum, pair, ...) WB_ADD_7(WB_ADD_1(sum, pair), __VA_ARGS__)
#define WB_ADD_9(sum, pair, ...) WB_ADD_8(WB_ADD_1(sum, pair), __VA_ARGS__)
#define WB_ADD_10(sum, pair, ...) WB_ADD_9(WB_ADD_1(sum, pair), __VA_ARGS__)
#define WB_ADD_11(sum, pair, ...) WB_ADD_10(WB_ADD_1(sum, pair), __VA_ARGS__)
