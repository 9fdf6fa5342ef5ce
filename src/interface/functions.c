/* The table of the C interface. */
#include "interface/interface.h"

#include "numeric/unload.h"

/* Functions are added at the end, and WARPBAYES_VERSION is raised. Nothing is changed or removed. */
#define ENTRIES(name, kind, nanoseconds, parameters, law) \
  .stream_##name = wb_interface_stream_##name, .name##_draw = wb_interface_##name##_draw,
static const warpbayes_table table = {
    WB_NUMBER_LAWS(ENTRIES).version = WARPBAYES_VERSION,
    .size = sizeof(warpbayes_table),
    .key = wb_interface_key,
    .stream_open = wb_interface_stream_open,
    .stream_dirichlet = wb_interface_stream_dirichlet,
    .dirichlet_draw = wb_interface_dirichlet_draw,
    .polyagamma_draw = wb_interface_polyagamma_draw,
    .categorical_draw = wb_interface_categorical_draw,
    .pmf_convolve = wb_interface_pmf_convolve,
    .mixture_evaluate = wb_interface_mixture_evaluate,
    .mixture_allocate = wb_interface_mixture_allocate,
    .stream_multinomial = wb_interface_stream_multinomial,
    .stream_multivariate_normal = wb_interface_stream_multivariate_normal,
    .stream_wishart = wb_interface_stream_wishart,
    .multinomial_draw = wb_interface_multinomial_draw,
    .multivariate_normal_draw = wb_interface_multivariate_normal_draw,
    .wishart_draw = wb_interface_wishart_draw,
};

const warpbayes_table *wb_interface_table(void) {
  wb_unload_forbid("another package uses it");
  return &table;
}
