# The generics continue(), which runs more sweeps of a fit, and drop_warmup(), which drops its first draws.

#' Continue a fit
#'
#' Runs more sweeps of every chain. The result is the same, to the last bit, as one run of the whole length gives.
#'
#' If a topic model has the default warm-up and you add at least as many sweeps as it has, all sweeps so far become
#' warm-up.
#'
#' @param fit a fit from [dp_mixture()], [topic_model()], [bayes_logit()] or [predictive_resample()].
#' @param more how many more sweeps each chain runs; steps of Bayesian EM or of a martingale posterior's horizon.
#' @param warmup for a topic model: sweeps not used: the present warm-up, or at least the number of sweeps so far.
#' @param ... must be empty.
#' @return The longer fit, of the same class. Errors are those of the function that made the fit.
#' @seealso [drop_warmup()], and [resume()] for a run that was killed.
#' @examples
#' x <- cbind(a = c(rnorm(200), rnorm(100, 6)), b = rnorm(300))
#' fit <- dp_mixture(x, components = 4, iter = 50, seed = 1, threads = 2)
#' longer <- continue(fit, 50, threads = 2)
#' @export
continue <- function(fit, more, ...) {
  check_present(!missing(more) || "iter" %in% names(list(...)), "more")
  UseMethod("continue")
}

#' @export
continue.default <- function(fit, more, ...) {
  check_present(!missing(fit), "fit")
  stop_input("fit", "must come from dp_mixture(), topic_model(), bayes_logit() or predictive_resample(), not ",
    show_value(fit))
}

#' Count more sweeps of a fit as warm-up
#'
#' Drops the first draws of a fit. Use it if `summary()` says that a quantity was still rising or falling.
#'
#' @param fit a fit from [dp_mixture()] or [bayes_logit()].
#' @param n how many more sweeps of each chain to drop, rounded up to whole draws. `NULL`: up to half of all.
#' @param ... must be empty.
#' @return The fit as if made with the longer warm-up, with the traces of all sweeps. Relabel a mixture anew.
#' @section Errors:
#' `warpbayes_error_input` if no draw would remain, and for other fits.
#' @examples
#' x <- cbind(a = c(rnorm(200), rnorm(100, 6)), b = rnorm(300))
#' fit <- dp_mixture(x, components = 4, iter = 100, seed = 1, threads = 2)
#' drop_warmup(fit, 20)$warmup
#' @export
drop_warmup <- function(fit, n = NULL, ...) UseMethod("drop_warmup")

#' @export
drop_warmup.default <- function(fit, n = NULL, ...) {
  check_present(!missing(fit), "fit")
  stop_input("fit", "must come from dp_mixture() or bayes_logit(), not ", show_value(fit),
    if (inherits(fit, "topic_model")) ": its averages hold all sweeps; fit again with a longer `warmup`")
}

lengthen_warmup <- function(fit, n) {
  after <- max(0, fit$iter - fit$warmup)
  n <- if (is.null(n)) max(0, floor(fit$iter / 2) - fit$warmup) else check_count(n, "n", min = 0)
  dropped <- ceiling(n / fit$thin)
  if (dropped * fit$thin + fit$thin > after) {
    follow <- if (after == 1) "one sweep follows" else sprintf("%.0f sweeps follow", after)
    stop_input("n", sprintf("is %.0f, but %s the warm-up: no draw would remain; continue(fit, more) adds sweeps", n,
      follow))
  }
  fit$draws <- lapply(fit$draws, without_first_draws, dropped)
  fit$warmup <- fit$warmup + dropped * fit$thin
  fit
}
