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
    .stream_exponential = wb_interface_stream_exponential,
    .stream_gumbel = wb_interface_stream_gumbel,
    .stream_truncated_normal = wb_interface_stream_truncated_normal,
    .stream_binomial = wb_interface_stream_binomial,
    .stream_multinomial = wb_interface_stream_multinomial,
    .stream_multivariate_normal = wb_interface_stream_multivariate_normal,
    .stream_wishart = wb_interface_stream_wishart,
    .exponential_draw = wb_interface_exponential_draw,
    .gumbel_draw = wb_interface_gumbel_draw,
    .truncated_normal_draw = wb_interface_truncated_normal_draw,
    .binomial_draw = wb_interface_binomial_draw,
    .multinomial_draw = wb_interface_multinomial_draw,
    .multivariate_normal_draw = wb_interface_multivariate_normal_draw,
    .wishart_draw = wb_interface_wishart_draw,
};

const warpbayes_table *wb_interface_table(void) {
  wb_unload_forbid("another package uses it");
  return &table;
}
