/* Vectors of Polya-Gamma variables, in slices between which a user can interrupt. */
#include "core/rounding.h"

#include "polyagamma/polyagamma.h"

#include "core/philox.h"

/* Elements of a slice: a second of one thread with the slowest method, and enough for a
 * graphics card. */
#define POLYAGAMMA_SLICE ((int64_t)1 << 22)

int wb_polyagamma_fill(const wb_polyagamma_context *context, int64_t count, const double *shape, int64_t shapes,
                       const double *tilt, int64_t tilts, int method, uint64_t seed, double *draws, wb_message *message) {
  const wb_polyagamma_functions *functions = context->backend->polyagamma;
  int status = wb_backend_has(context->backend, functions, "Polya-Gamma variables", message);
  wb_polyagamma_work work = {
    .shape = shape, .shapes = shapes, .tilt = tilt, .tilts = tilts, .method = method, .key = wb_chain_key(seed, 0),
  };
  for (int64_t done = 0; done < count && status == WB_OK; done += POLYAGAMMA_SLICE) {
    if (done > 0 && context->interrupted && context->interrupted()) {
      wb_message_write(message, "interrupted");
      return WB_INTERRUPTED;
    }
    work.count = count - done < POLYAGAMMA_SLICE ? count - done : POLYAGAMMA_SLICE;
    work.begin = done;
    work.first = (uint64_t)done;
    work.draws = draws + done;
    status = functions->draw(&work, &context->run, message);
  }
  return status;
}
