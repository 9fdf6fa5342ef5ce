/* The C interface for other packages: the functions behind the table of inst/include/warpbayes.h. They check arguments
 * and never call R. Their structs must not change. */
#pragma once

#define WARPBAYES_WITHOUT_R
#include <warpbayes.h>

#include "backend/backend.h"

/* The table. R's registry gives it to other packages. */
const warpbayes_table *wb_interface_table(void);

/* What a call needs: its message, which is the caller's or `own`, and where it runs. */
typedef struct wb_interface_call {
  wb_message own, *message;
  wb_call call;
} wb_interface_call;

/* Begin a call, with an empty message and one thread. Returns the message. */
wb_message *wb_interface_begin(wb_interface_call *call, warpbayes_message *message);

/* Checks. Each returns WB_OK, or WB_ERROR_INPUT with a message. `name`: of the argument. */
int wb_interface_threads(wb_interface_call *call, int32_t threads);
int wb_interface_source(wb_interface_call *call, const warpbayes_source *from, int64_t count);
int wb_interface_size(const char *name, int64_t size, int64_t least, int64_t most, wb_message *message);
int wb_interface_pointer(const char *name, const void *pointer, wb_message *message);
/* Whether the matrix fits into memory that a size_t can count. */
int wb_interface_matrix(const char *name, int64_t rows, int64_t columns, wb_message *message);
/* `length` numbers, at least `least` and at most `most`; NaN is refused. A length below 1 is, too. */
int wb_interface_numbers(const char *name, const double *values, int64_t length, double least, double most,
                         wb_message *message);

/* The key of categorical draws, which have no iteration of their own. */
uint64_t wb_interface_iterated_key(const warpbayes_source *from);

/* All functions of the table: wb_interface_<name>() has the type of its entry <name>. */
/* clang-format off */
#define WB_INTERFACE(FUNCTION) \
  FUNCTION(key) FUNCTION(stream_open) FUNCTION(polyagamma_draw) FUNCTION(categorical_draw) \
  FUNCTION(pmf_convolve) FUNCTION(mixture_evaluate) FUNCTION(mixture_allocate) \
  FUNCTION(stream_uniform) FUNCTION(uniform_draw) \
  FUNCTION(stream_normal) FUNCTION(normal_draw) \
  FUNCTION(stream_exponential) FUNCTION(exponential_draw) \
  FUNCTION(stream_gumbel) FUNCTION(gumbel_draw) \
  FUNCTION(stream_gamma) FUNCTION(gamma_draw) \
  FUNCTION(stream_beta) FUNCTION(beta_draw) \
  FUNCTION(stream_truncated_normal) FUNCTION(truncated_normal_draw) \
  FUNCTION(stream_binomial) FUNCTION(binomial_draw) \
  FUNCTION(stream_dirichlet) FUNCTION(dirichlet_draw) \
  FUNCTION(stream_multinomial) FUNCTION(multinomial_draw) \
  FUNCTION(stream_multivariate_normal) FUNCTION(multivariate_normal_draw) \
  FUNCTION(stream_wishart) FUNCTION(wishart_draw)
/* clang-format on */
#define WB_DECLARE(name) __typeof__(*((warpbayes_table *)0)->name) wb_interface_##name;
WB_INTERFACE(WB_DECLARE)
