# The C interface for other packages: a help page without code of its own.

#' Call the draws of this package from C
#'
#' Other packages can call the draws, convolutions and mixtures of this package from C or C++, on several threads.
#'
#' @section How to use it:
#' In your package's `DESCRIPTION`, name warpbayes in `LinkingTo` and in `Imports`. In its `NAMESPACE`, import one
#' function, such as `importFrom(warpbayes, warp_info)`. In C:
#' \preformatted{
#' #include <warpbayes.h>
#'
#' const warpbayes_table *wb;
#'
#' void R_init_yours(DllInfo *dll) {
#'   warpbayes_message message;
#'   if (warpbayes_open(&wb, WARPBAYES_VERSION, &message)) Rf_error("\%s", message.text);
#' }}
#' Nothing is linked. The header is the manual: `system.file("include", "warpbayes.h", package = "warpbayes")`. The
#' vignette `c-interface` has whole samplers.
#'
#' @section What it offers:
#' A draw depends only on its key, the iteration, the number of its element and its parameters. All functions run on the
#' processor. They return a status and a sentence, and may be called from threads. A compiled package works with every
#' newer warpbayes; `warpbayes_open()` refuses an older one.
#'
#' @name c_interface
#' @aliases warpbayes.h
#' @examples
#' header <- readLines(system.file("include", "warpbayes.h", package = "warpbayes"))
#' writeLines(header[1:35])
NULL
