/* Polya-Gamma draws for other packages. */
#include "interface/interface.h"

#include <float.h>

int wb_interface_polyagamma_draw(const warpbayes_source *from, int64_t count, const double *shape, int64_t shapes,
                                 const double *tilt, int64_t tilts, double *draws, warpbayes_message *message) {
  wb_interface_call call;
  wb_message *const text = wb_interface_begin(&call, message);
  WB_TRY(wb_interface_size("count", count, 0, 0, text));
  WB_TRY(wb_interface_source(&call, from, count));
  if (count > 0) WB_TRY(wb_interface_pointer("draws", draws, text));
  WB_TRY(wb_interface_numbers("shape", shape, shapes, DBL_MIN, DBL_MAX, text));
  WB_TRY(wb_interface_numbers("tilt", tilt, tilts, -DBL_MAX, DBL_MAX, text));
  if (count == 0) return WB_OK;
  const wb_polyagamma_work work = {
      .count = count,
      .shape = shape,
      .shapes = shapes,
      .tilt = tilt,
      .tilts = tilts,
      .key = from->key,
      .iteration = from->iteration,
      .first = from->first,
      .draws = draws,
  };
  return call.call.backend->polyagamma->draw(&work, &call.call.run, text);
}
