/* Data in the units of a mixture's computation: (x - center) * inverse_scale, clipped so that no squared distance
 * overflows. A row further out goes to the component nearest to the bound. */
#pragma once

#include "core/host_device.h"

#define WB_SCALED_MOST 1e100
#define WB_SCALED_MOSTF 1e12f

/* Scaled and clipped to [-most, most]; NaN stays. With a constant `most` GCC makes no single instruction. */
WB_HD double wb_scaled_within(double x, double center, double inverse_scale, double most) {
  const double scaled = (x - center) * inverse_scale;
  const double below = most < scaled ? most : scaled;
  return -most > below ? -most : below;
}
WB_HD double wb_scaled_value(double x, double center, double inverse_scale) {
  return wb_scaled_within(x, center, inverse_scale, WB_SCALED_MOST);
}

/* A scaled value in single precision. */
WB_HD float wb_scaled_valuef(double scaled) {
  const double most = (double)WB_SCALED_MOSTF;
  const double below = scaled > most ? most : scaled;
  return (float)(below < -most ? -most : below);
}
