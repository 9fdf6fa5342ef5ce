/* Data in the units that a mixture computes in: (x - center) * inverse_scale, held
 * within bounds so that no squared distance overflows. A row that lies further out
 * goes to the component nearest to the bound. */
#ifndef WB_SCALED_VALUE_H
#define WB_SCALED_VALUE_H

#include "core/host_device.h"

#define WB_SCALED_MOST 1e100
#define WB_SCALED_MOSTF 1e12f

WB_HD double wb_scaled_value(double x, double center, double inverse_scale) {
  const double scaled = (x - center) * inverse_scale;
  const double below = scaled > WB_SCALED_MOST ? WB_SCALED_MOST : scaled;
  return below < -WB_SCALED_MOST ? -WB_SCALED_MOST : below;
}

/* A scaled value in single precision. */
WB_HD float wb_scaled_valuef(double scaled) {
  const double most = (double)WB_SCALED_MOSTF;
  const double below = scaled > most ? most : scaled;
  return (float)(below < -most ? -most : below);
}

#endif
