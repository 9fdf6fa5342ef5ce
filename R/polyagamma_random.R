#' Random Polya-Gamma variables
#'
#' Draws from the Polya-Gamma distributions \eqn{PG(b, c)}, for any real shape \eqn{b > 0} and any real tilt \eqn{c}.
#' This is the law of \eqn{\sum_{k \ge 1} G_k / (2 \pi^2 (k - 1/2)^2 + c^2/2)}{the sum over k >= 1 of G_k / (2 pi^2 (k
#' - 1/2)^2 + c^2/2)} with independent gamma variables \eqn{G_k} of shape \eqn{b}. Draw `i` depends only on the seed, on
#' `i` and on its own shape and tilt.
#' @section Methods:
#' `"auto"` chooses for each element the fastest way whose law is within a Kolmogorov distance of \eqn{10^{-6}}{1e-6} of
#' \eqn{PG(b, c)}. The other methods are for comparison: `"devroye"` for shape 1 and `"sum"` (of draws of shape 1) for
#' whole shapes up to \eqn{2^{20}}{2^20} are exact. `"alternate"`, for shapes up to 4, is the alternating series of
#' Windle, Polson and Scott (2014, arXiv 1405.0506), within \eqn{10^{-8}}{1e-8}. `"saddlepoint"`, for shapes from 1,
#' approximates the density; its distance is 2e-4 at shape 14. `"normal"`, for shapes above 170, has the same mean and
#' variance; its distance is 0.01 at shape 171.
#'
#' @param n number of draws. A vector of more than one entry stands for its length.
#' @param shape,tilt the parameters \eqn{b} and \eqn{c}, whose sign does not matter: vectors, recycled to `n` draws.
#' @param method `"auto"`, or another method for comparison: see below.
#' @inheritParams computing_arguments
#' @param ... must be empty.
#' @return A numeric vector of length `n`. Missing or infinite parameters give `NaN`, and parameters of length zero give
#'   `NA`, both with a warning.
#' @examples
#' rpolyagamma(5, seed = 1, threads = 2)
#' mean(rpolyagamma(1e5, shape = 20, tilt = 2, seed = 1, threads = 2)) / polyagamma_mean(20, 2)
#' @export
rpolyagamma <- function(n, shape = 1, tilt = 0,
                        method = c("auto", "devroye", "sum", "alternate", "saddlepoint", "normal"), seed = NULL,
                        backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  check_present(!missing(n), "n")
  # As R's own functions read it: a vector stands for its length, and fractions are dropped.
  if (length(n) > 1L) n <- length(n)
  must_be(is_one_number(n) && n >= 0 && n <= 2^52, "n", "a number of draws from 0 to 2^52", n)
  n <- floor(as.double(n))
  methods <- eval(formals(rpolyagamma)$method)
  method <- check_choice(method, "method", methods)
  shape <- check_polyagamma_shape(shape, "shape", method)
  tilt <- check_values(tilt, "tilt")
  seed <- check_seed(seed)
  run <- resolve_run(backend, threads, cost = polyagamma_cost(n, shape, tilt))
  check_result_size(n, "n", "draws", copies = 1)
  if (n == 0) return(numeric())
  if (length(shape) == 0L || length(tilt) == 0L) {
    warning("NAs produced")
    return(rep(NA_real_, n))
  }
  draws <- native(C_polyagamma_draw, n, shape, tilt, match(method, methods) - 1L, seed, run)
  if (native(C_polyagamma_any_nan, draws, run)) warning("NAs produced")
  draws
}

check_polyagamma_shape <- function(shape, argument, method = "auto") {
  shape <- check_values(shape, argument)
  refuse <- function(is_bad, ...) {
    bad <- which(is_bad)
    if (length(bad) > 0L) {
      stop_input(argument, "has the entry ", exact_words(shape[[bad[[1L]]]]), " at position ",
        format(bad[[1L]], digits = 17, scientific = FALSE), ": ", ...)
    }
  }
  if (isTRUE(min(shape, Inf, na.rm = TRUE) <= 0)) refuse(shape <= 0, "shapes are positive")
  draws <- sprintf("method \"%s\" draws ", method)
  switch(method,
    devroye = refuse(shape != 1, draws, "shape 1 only"),
    sum = refuse(shape != floor(shape) | shape > 2^20, draws, "whole shapes up to 2^20"),
    alternate = refuse(shape > 4, draws, "shapes up to 4"),
    saddlepoint = refuse(shape < 1, draws, "shapes from 1 on"),
    normal = refuse(shape <= 170, draws, "shapes above 170")
  )
  shape
}

# `shape` and `tilt` are recycled to `draws` elements. Whole shapes up to 13 are sums of draws of shape 1.
polyagamma_cost <- function(draws, shape, tilt) {
  first <- if (length(shape) > 0L) shape[[1L]] else 1
  each <- if (is.na(first) || first == floor(first) && first <= 13) 14e-9 * max(1, first, na.rm = TRUE) else 1.9e-7
  call_cost(serial = 2e-4 + 4e-10 * draws, parallel = draws * each, fixed = 8e-4,
    up = 8 * (length(shape) + length(tilt)), down = 8 * draws, compute = draws * 5e-11)
}
