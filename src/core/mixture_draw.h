/* The draw of a component, block of components by block, in one pass over the
 * weights: neither the weights nor their prefix sums are ever stored for all
 * components. With `before` the sum of the blocks seen and `sum` that of the
 * current block, the current block takes over the draw with probability
 * sum / (before + sum), and the same uniform then has a uniform position inside
 * it; after the last block the choice has the law of one draw from all weights.
 */
#ifndef WB_MIXTURE_DRAW_H
#define WB_MIXTURE_DRAW_H

#include "core/host_device.h"

/* Components of a block; one uniform is spent on each. */
#define WB_MIXTURE_BLOCK 16

/* Scaled values are held within these bounds, so that no squared distance
 * overflows; a row that far out goes to the component nearest to it. */
#define WB_MIXTURE_FAR 1e100
#define WB_MIXTURE_FARF 1e12f

/* A block whose largest log weight lies this far below the largest seen changes
 * nothing in the last bit of any sum (16 exp(-42) < 2^-54, 16 exp(-21) < 2^-25),
 * nor can it take over a draw: leaving it out gives the same result. */
#define WB_MIXTURE_NEGLIGIBLE 42.0
#define WB_MIXTURE_NEGLIGIBLEF 21.0f

/* The log weight before the first block: below all others, yet finite. */
#define WB_MIXTURE_NOTHING (-0x1p1000)
#define WB_MIXTURE_NOTHINGF (-0x1p120f)

/* A value in the scaled units of the session. */
WB_HD double wb_mixture_scale(double x, double center, double inverse_scale) {
  const double scaled = (x - center) * inverse_scale;
  const double below = scaled > WB_MIXTURE_FAR ? WB_MIXTURE_FAR : scaled;
  return below < -WB_MIXTURE_FAR ? -WB_MIXTURE_FAR : below;
}
WB_HD float wb_mixture_narrow(double scaled) {
  const double far = (double)WB_MIXTURE_FARF;
  const double below = scaled > far ? far : scaled;
  return (float)(below < -far ? -far : below);
}

/* The next smaller number; x positive. */
WB_HD double wb_next_below(double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits -= 1;
  memcpy(&x, &bits, sizeof bits);
  return x;
}
WB_HD float wb_next_belowf(float x) {
  int32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits -= 1;
  memcpy(&x, &bits, sizeof bits);
  return x;
}

/* Position of the draw inside the current block: negative if the block does not
 * take over, else below `sum`, so that the first prefix sum above it belongs to
 * an item of positive weight. u in (0, 1) rounds u * before to less than
 * `before`: a block without weight never takes over, nor where no block before
 * had any either, since the number below 0, and so the position, is then NaN. */
WB_HD double wb_block_position(double u, double before, double sum) {
  const double position = u * (before + sum) - before;
  const double last = wb_next_below(sum);
  return position < last ? position : last;
}
WB_HD float wb_block_positionf(float u, float before, float sum) {
  const float position = u * (before + sum) - before;
  const float last = wb_next_belowf(sum);
  return position < last ? position : last;
}

#endif
