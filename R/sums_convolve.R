#' Convolutions of vectors and of rows of matrices
#'
#' Convolves two vectors of weights, or two matrices of weights row by row. Of two distributions it gives the sum, as
#' `x + y` and [sum_pmf()] do.
#'
#' Every entry of the result has a small *relative* error, down to 2.2e-308, or with `log = TRUE` to log probabilities
#' of -1e14, and no entry is negative. Plain Fourier transforms such as [stats::convolve()] have an *absolute* error of
#' about 1e-17, so their tails are noise.
#'
#' @section The two methods:
#' The *direct sum* has a relative error below \eqn{(1024 + m / 1024) 2^{-53}}, where m is the length of the shorter
#' vector, and typically 1e-15. The *fast method* is used if `accuracy` is above 0 and the problem is large. It tilts
#' the distributions exponentially in windows and convolves them by a Fourier transform. Entries whose error bound
#' exceeds `accuracy` are summed directly. The method is fast for log-concave and unimodal distributions, and no faster
#' than the direct sum for two power tails or distant modes. On a graphics card `accuracy = 0` is often better.
#'
#' @param x,y two vectors of non-negative weights, two matrices of weights with the same number of rows, or two
#'   distributions made by [pmf()]. A vector is convolved with every row of a matrix; next to a distribution it must sum
#'   to 1.
#' @param log whether the result (and vectors and matrices) is on the log scale; by default as a given distribution is.
#' @param accuracy the relative error that the fast method may make in an entry; 0 for direct sums only.
#' @param backend,threads where direct sums run: see [computing]. Fourier transforms always run on the CPU.
#' @return A [pmf()] for distributions, a vector of length `length(x) + length(y) - 1` for vectors, and a matrix with
#'   `ncol(x) + ncol(y) - 1` columns for matrices.
#' @inheritSection pmf_functions Errors
#' @references
#' Wilson, H. and Keich, U. (2016). Accurate pairwise convolutions of non-negative vectors via FFT. *Computational
#' Statistics & Data Analysis* 101, 300-315. \doi{10.1016/j.csda.2016.03.010}
#'
#' Brent, R., Percival, C. and Zimmermann, P. (2007). Error bounds on complex floating-point multiplication.
#' *Mathematics of Computation* 76, 1469-1481. \doi{10.1090/S0025-5718-07-01931-X}
#' @examples
#' x <- dbinom(0:1000, 1000, 0.5)
#' s <- convolve_pmf(x, x, threads = 2)
#' exact <- dbinom(0:2000, 2000, 0.5)
#' range((s / exact - 1)[exact > 1e-300])
#' convolve_pmf(c(1, 2, 1), c(1, 1), threads = 2)
#' @export
convolve_pmf <- function(x, y, log = NULL, accuracy = 1e-12, backend = NULL, threads = NULL) {
  require_arguments("x", "y")
  # The checks below take longer than a short sum. They are made only if the entry refuses its arguments.
  if (is.null(log) && is.double(x) && is.double(y) && !is.object(x) && !is.object(y) &&
    as.double(length(x)) * length(y) <= short_work && (missing(accuracy) || is_accuracy(accuracy)) &&
    (is.null(threads) || is_thread_count(threads))) {
    result <- .Call(C_pmf_convolve, x, y, FALSE, accuracy, fourier_cache(), resolve_run(backend, work = 0))
    if (is.double(result)) return(result)
  }
  if (!is.null(log)) log <- check_flag(log, "log")
  accuracy <- check_accuracy(accuracy)
  if (inherits(x, "pmf") || inherits(y, "pmf")) {
    both <- list(pmf_or_vector(x, "x"), pmf_or_vector(y, "y"))
    run <- pair_run(size_of(both[[1L]]), size_of(both[[2L]]), isTRUE(log), backend, threads)
    return(add_distributions(both, log, accuracy, 0, run))
  }
  log <- isTRUE(log)
  if (is.matrix(x) || is.matrix(y)) {
    return(convolve_rows(x, y, log, accuracy, resolve_run(backend, threads, cost = rows_cost(x, y))))
  }
  x <- plain_weights(x, "x", log)
  y <- plain_weights(y, "y", log)
  sum_vectors(list(x, y), log, accuracy, pair_run(length(x), length(y), log, backend, threads), c("x", "y"))
}

convolve_rows <- function(x, y, log, accuracy, run) {
  given <- list(x = x, y = y)
  x <- plain_weight_rows(x, "x", log)
  y <- plain_weight_rows(y, "y", log)
  if (nrow(x) != nrow(y) && nrow(x) != 1L && nrow(y) != 1L) {
    stop_input("y", sprintf("has %d rows and `x` has %d: rows are convolved in pairs", nrow(y), nrow(x)))
  }
  columns <- as.double(ncol(x)) + ncol(y) - 1
  if (columns > .Machine$integer.max) {
    stop_input("x", sprintf("and `y` would give a matrix with %.0f columns, more than R allows", columns))
  }
  check_result_size(columns * max(nrow(x), nrow(y)), NULL, "probabilities")
  check_operations(max(nrow(x), nrow(y)) * (if (accuracy == 0) as.double(ncol(x)) * ncol(y) else columns), NULL)
  check <- function(x, argument) (if (is.matrix(x)) check_weight_rows else check_weights)(x, argument, log)
  usable_sum(.Call(C_pmf_convolve, x, y, log, accuracy, fourier_cache(), run), Map(check, given, names(given)))
}

pair_run <- function(m, n, log, backend, threads) {
  products <- as.double(m) * n
  resolve_run(backend, threads, work = if (log) Inf else products, cost = convolution_cost(products, m + n))
}

convolution_cost <- function(products, length) {
  call_cost(serial = 3e-4, parallel = products * 8e-11, fixed = 2e-3, up = 8 * length, down = 8 * length,
    compute = products * 1e-13)
}

# On a processor most time goes into clearing the memory of the sums. On a card, rows travel while sums come back.
rows_cost <- function(x, y) {
  n <- as.double(max(NROW(x), NROW(y)))
  bytes <- 8 * n * (NCOL(x) + NCOL(y))
  products <- n * NCOL(x) * NCOL(y)
  call_cost(serial = 3e-4 + 5e-11 * bytes, parallel = products * 8e-11, fixed = 1e-3, down = bytes,
    compute = products * 1e-13)
}
