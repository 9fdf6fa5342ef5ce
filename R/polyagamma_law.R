#' Mean, variance and cumulants of Polya-Gamma distributions
#'
#' Gives the moments of \eqn{PG(b, c)} in closed form, with relative errors below \eqn{10^{-14}}{1e-14} at every tilt.
#' The cumulant of order \eqn{r} is \eqn{b (r-1)! \sum_{k \ge 1} (2 \pi^2 (k - 1/2)^2 + c^2/2)^{-r}}{b (r-1)! times
#' the sum over k >= 1 of (2 pi^2 (k - 1/2)^2 + c^2/2)^-r}. The first cumulant is the mean \eqn{b \tanh(c/2)/(2c)},
#' the second the variance. The third and fourth give skewness and kurtosis.
#'
#' @param shape,tilt the parameters \eqn{b > 0} and \eqn{c}. Arguments are recycled to the length of the longest.
#' @param order whole numbers from 1 to 20.
#' @return A numeric vector: `NA` where an argument is missing, `NaN` where the shape is infinite, 0 where the tilt is.
#' @examples
#' polyagamma_mean(1, c(0, 1, 1000))
#' # Skewness at shape 10:
#' polyagamma_cumulant(10, 0, 3) / polyagamma_var(10, 0)^1.5
#' @export
polyagamma_mean <- function(shape, tilt = 0) polyagamma_cumulant(shape, tilt, 1)

#' @rdname polyagamma_mean
#' @export
polyagamma_var <- function(shape, tilt = 0) polyagamma_cumulant(shape, tilt, 2)

#' @rdname polyagamma_mean
#' @export
polyagamma_cumulant <- function(shape, tilt = 0, order = 1) {
  shape <- check_polyagamma_shape(shape, "shape")
  tilt <- check_values(tilt, "tilt")
  order <- check_values(order, "order")
  bad <- which(order != floor(order) | order < 1 | order > 20)
  if (length(bad) > 0L) {
    stop_input("order", "has the entry ", exact_words(order[[bad[[1L]]]]), ": orders are whole numbers from 1 to 20")
  }
  recycled(C_polyagamma_cumulant, list(shape, tilt, order))
}

# The result of an entry for three recycled vectors: NA where one is NA. The entry gives NaN for both.
recycled <- function(entry, arguments, ...) {
  all <- lapply(arguments, rep_len, if (any(lengths(arguments) == 0L)) 0 else max(lengths(arguments)))
  value <- native(entry, all[[1L]], all[[2L]], all[[3L]], ...)
  if (anyNA(all, recursive = TRUE)) value[Reduce(`|`, lapply(all, function(x) is.na(x) & !is.nan(x)))] <- NA_real_
  value
}

#' Density, probabilities and quantiles of Polya-Gamma distributions
#'
#' `dpolyagamma()` gives densities, `ppolyagamma()` probabilities and `qpolyagamma()` quantiles, for every real shape
#' \eqn{b > 0} and tilt \eqn{c}. For shapes from 0.001 to \eqn{10^6}{1e6} and tilts up to \eqn{10^4}{1e4}, the error of
#' a logarithm \eqn{l} is at most \eqn{2 \cdot 10^{-11} \max(1, |l|)}{2e-11 max(1, |l|)}. Density and tails are inverse
#' Laplace transforms by the trapezoidal rule (Trefethen and Weideman 2014, *SIAM Review* 56, 385-458).
#'
#' @param x,q,p values, or probabilities.
#' @inheritParams polyagamma_mean
#' @param log,log.p whether densities or probabilities are natural logarithms.
#' @param lower.tail `TRUE` for the probabilities \eqn{P(X \le x)}{P(X <= x)}, `FALSE` for \eqn{P(X > x)}.
#' @inheritParams computing_arguments
#' @return A numeric vector of the length of the longest argument: `NA` for missing ones, `NaN` for infinite ones.
#' @examples
#' dpolyagamma(c(0.1, 0.25, 1), shape = 1, threads = 2)
#' ppolyagamma(20, shape = 4.5, tilt = 2, lower.tail = FALSE, log.p = TRUE, threads = 2)
#' qpolyagamma(c(0.05, 0.5, 0.95), shape = 0.3, threads = 2)
#' @export
dpolyagamma <- function(x, shape = 1, tilt = 0, log = FALSE, backend = NULL, threads = NULL) {
  polyagamma_law(check_values(x, "x"), shape, tilt, 0L, check_flag(log, "log"), backend, threads)
}

#' @rdname dpolyagamma
#' @export
ppolyagamma <- function(q, shape = 1, tilt = 0, lower.tail = TRUE, log.p = FALSE, backend = NULL, threads = NULL) {
  quantity <- if (check_flag(lower.tail, "lower.tail")) 1L else 2L
  polyagamma_law(check_values(q, "q"), shape, tilt, quantity, check_flag(log.p, "log.p"), backend, threads)
}

#' @rdname dpolyagamma
#' @export
qpolyagamma <- function(p, shape = 1, tilt = 0, lower.tail = TRUE, log.p = FALSE, backend = NULL, threads = NULL) {
  quantity <- if (check_flag(lower.tail, "lower.tail")) 3L else 4L
  log.p <- check_flag(log.p, "log.p")
  polyagamma_law(check_probabilities(p, "p", log.p), shape, tilt, quantity, log.p, backend, threads)
}

polyagamma_law <- function(x, shape, tilt, quantity, log, backend, threads) {
  all <- list(x, check_polyagamma_shape(shape, "shape"), check_values(tilt, "tilt"))
  run <- resolve_run(backend, threads, cost = polyagamma_law_cost(max(lengths(all))))
  recycled(C_polyagamma_law, all, quantity, log, run)
}

polyagamma_law_cost <- function(points) {
  call_cost(serial = 1e-4, parallel = points * 3.2e-5, fixed = 1.5e-3, up = 24 * points,
    down = 8 * points, compute = points * 2e-8)
}
