/* The table of the C interface. */
#include "interface/interface.h"

#include "numeric/unload.h"

/* Functions are added at the end, and WARPBAYES_VERSION is raised. Nothing is changed or removed. */
static const warpbayes_table table = {
    .version = WARPBAYES_VERSION,
    .size = sizeof(warpbayes_table),
    .key = wb_interface_key,
    .stream_open = wb_interface_stream_open,
    .stream_uniform = wb_interface_stream_uniform,
    .stream_normal = wb_interface_stream_normal,
    .stream_gamma = wb_interface_stream_gamma,
    .stream_beta = wb_interface_stream_beta,
    .stream_dirichlet = wb_interface_stream_dirichlet,
    .uniform_draw = wb_interface_uniform_draw,
    .normal_draw = wb_interface_normal_draw,
    .gamma_draw = wb_interface_gamma_draw,
    .beta_draw = wb_interface_beta_draw,
    .dirichlet_draw = wb_interface_dirichlet_draw,
    .polyagamma_draw = wb_interface_polyagamma_draw,
    .categorical_draw = wb_interface_categorical_draw,
    .pmf_convolve = wb_interface_pmf_convolve,
    .mixture_evaluate = wb_interface_mixture_evaluate,
    .mixture_allocate = wb_interface_mixture_allocate,
};

const warpbayes_table *wb_interface_table(void) {
  wb_unload_forbid("another package uses it");
  return &table;
}
