# relabel(): the generic.

#' Give components the same numbers in all draws
#'
#' Draws and chains may number the same components or topics differently. `relabel()` gives them the numbers of a
#' reference, so that averages over draws have a meaning.
#'
#' @param fit a fit from [dp_mixture()] or [topic_model()].
#' @param ... further arguments of the methods.
#' @return The fit with its draws renumbered; see [relabel.dp_mixture()] and [relabel.topic_model()].
#' @section Errors:
#' `warpbayes_error_input` for other objects, and for a mixture without the draws or data that it needs.
#' @examples
#' x <- cbind(a = c(rnorm(200), rnorm(100, 6)), b = rnorm(300))
#' fit <- dp_mixture(x, components = 4, chains = 2, iter = 100, seed = 1, threads = 2)
#' relabel(fit, threads = 2)
#' @export
relabel <- function(fit, ...) UseMethod("relabel")

#' @export
relabel.default <- function(fit, ...) {
  check_present(!missing(fit), "fit")
  stop_input("fit", "must come from dp_mixture() or topic_model(), not ", show_value(fit))
}
