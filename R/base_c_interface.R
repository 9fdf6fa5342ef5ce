# The C interface for other packages: a help page without code of its own.

#' Call the draws of this package from C
#'
#' Other packages can call the random draws, the Polya-Gamma variables, the convolutions and the mixtures of this
#' package from their C or C++ code, on several threads if they like. A sampler in C then makes its draws without going
#' through R.
#'
#' @section How to use it:
#' In your package's `DESCRIPTION`, name warpbayes in `LinkingTo` and in `Imports`. In its `NAMESPACE`, import one
#' function, such as `importFrom(warpbayes, warp_info)`. Otherwise `R CMD check` reports an unused import. In C:
#' \preformatted{
#' #include <warpbayes.h>
#'
#' const warpbayes_table *wb;
#'
#' void R_init_yours(DllInfo *dll) {
#'   warpbayes_message message;
#'   if (warpbayes_open(&wb, WARPBAYES_VERSION, &message)) Rf_error("\%s", message.text);
#' }}
#' There is nothing to link. `warpbayes_seed()` of the header reads a seed from R and refuses `NA`, negative numbers and
#' fractions. The header is the manual: `system.file("include", "warpbayes.h", package = "warpbayes")`.
#' The vignette `c-interface` has a whole sampler in C, and one in C++.
#'
#' @section What it offers:
#' \tabular{ll}{
#'   member of the table \tab what it does\cr
#'   `key` \tab a key from a seed and a number: one for each chain or use\cr
#'   `stream_open` \tab opens the stream of one element\cr
#'   `stream_uniform`, `stream_normal` \tab draws from a stream, one after the other, on any thread\cr
#'   `stream_gamma`, `stream_beta`, `stream_dirichlet` \tab the same\cr
#'   `stream_exponential`, `stream_gumbel`, `stream_truncated_normal`, `stream_binomial`, `stream_multinomial`,
#'     `stream_multivariate_normal`, `stream_wishart` \tab the same, since version 2\cr
#'   `uniform_draw`, `normal_draw` \tab draws of many elements\cr
#'   `gamma_draw`, `beta_draw`, `dirichlet_draw` \tab the same\cr
#'   `exponential_draw`, `gumbel_draw`, `truncated_normal_draw`, `binomial_draw`, `multinomial_draw`,
#'     `multivariate_normal_draw`, `wishart_draw` \tab the same, since version 2\cr
#'   `polyagamma_draw` \tab [rpolyagamma()]\cr
#'   `categorical_draw` \tab [rcategorical()]\cr
#'   `pmf_convolve` \tab [convolve_pmf()]\cr
#'   `mixture_evaluate` \tab density and probabilities of a Gaussian mixture\cr
#'   `mixture_allocate` \tab a component for each row, drawn from its probabilities
#' }
#' A draw depends only on its key, the iteration, the number of its element and its own parameters: not on the number of
#' threads, the machine or the other elements. A function that R has too, such as `rpolyagamma()`, gives the same
#' numbers for the same seed. All functions of the table run on the processor.
#'
#' @section Errors:
#' Functions return a status and a sentence. They do not jump, print or call R, so they may be called from threads.
#'
#' @section Versions:
#' The table only grows. A package that was compiled with an older version of the header works with every newer
#' warpbayes without being installed again. If warpbayes is older than the header, `warpbayes_open()` fails and says so.
#'
#' @name c_interface
#' @aliases warpbayes.h
#' @seealso [computing] for seeds and threads in R.
#' @examples
#' header <- readLines(system.file("include", "warpbayes.h", package = "warpbayes"))
#' writeLines(header[1:35])
NULL
