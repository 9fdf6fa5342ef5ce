/* Slice sampling of one number (Neal 2003, "Slice sampling", Annals of Statistics 31, 705-767, figures 3 and 5). */
#pragma once

#include "core/philox.h"

/* The next value of a chain that leaves the density invariant. It steps out by `width`, which must not depend on
 * `current`, up to `steps` times on both sides together, and stays within `most` of 0. A density of NaN rejects. */
double wb_slice_draw(double (*log_density)(const void *of, double at), const void *of, double width, int steps,
                     double most, double current, wb_stream *stream);
