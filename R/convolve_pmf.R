# The sum of two independent variables, or of many pairs.

#' The distribution of the sum of two independent variables
#'
#' Convolves two distributions, two vectors of weights, or the rows of two matrices.
#'
#' Every entry has a small *relative* error, however small it is, and none is negative: all terms are
#' non-negative and are added directly, or the fast method proves its error. `stats::convolve(x, rev(y),
#' type = "open")` and other plain Fourier transforms have an absolute error of about 1e-17 instead, so that
#' tails are noise, partly negative.
#'
#' @section The two methods:
#' The *direct sum* takes `length(x) * length(y)` multiply-adds, long vectors at 80% or more of the machine's
#' rate. Its relative error is below \eqn{(1024 + m / 1024) 2^{-53}}, about 1.2e-13 for a
#' million values in the shorter vector, and typically 1e-15.
#'
#' The *fast method* is for `accuracy` above 0. From 2.6e5 products on, and where a few entries say that most
#' would be accepted, it is one Fourier transform. From 6.7e7 products on windows of outputs are tried: exponential tilting, which does not
#' change the result, moves the mass of both factors to where it matters for the window, what has become
#' negligible is left out, and the rest is convolved directly or by a Fourier transform. Bounds on what was left out and on the transform's
#' rounding are computed for each window, and each entry is accepted only if they stay below `accuracy` times that entry. What is
#' not accepted in any window is summed directly. So `accuracy` holds in any case, and the method is fast
#' where windows are accepted:
#' \itemize{
#'   \item log-concave and unimodal distributions: Poisson, binomial, negative binomial, geometric,
#'     normal-like, triangular, uniform, in any combination;
#'   \item weights without much structure, such as uniform random numbers;
#'   \item a heavy tail with a narrow distribution: the narrow one is short once it is tilted.
#' }
#' It is no faster than the direct sum, and up to a fifth slower, for two heavy (power) tails, several far
#' modes with almost nothing between, every second value impossible, or entries that vary wildly from one to the next.
#'
#' Neither the number of threads nor the processor nor the backend changes a bit of
#' the result.
#'
#' @section Logarithms:
#' With `log = TRUE` entries keep their relative error down to log probabilities of
#' -1e14: mantissas and exponents are kept apart. For vectors and matrices `log = TRUE` means that
#' logarithms are given and returned.
#'
#' @param x,y two distributions made by [pmf()]; or two vectors of non-negative weights; or two
#'   matrices of weights with the same number of rows, which are convolved row by row (a vector or a
#'   single row serves all rows of the other). A vector together with a distribution must itself
#'   be one, from 0.
#' @param log whether the result is on the log scale, and for vectors and matrices the arguments too. By default
#'   it is if `x` or `y` is a distribution on the log scale.
#' @param accuracy relative error in each entry that is allowed to the fast method; 0 for direct sums throughout. The fast method
#'   uses no transform below 1e-13.
#' @param backend `"cpu"`, `"cuda"`, `"auto"`, or `NULL` for
#'   `getOption("warpbayes.backend", "auto")`. See [warp_info()]. Direct sums run there; transforms run on the CPU.
#' @param threads CPU threads for direct sums; `NULL` for all that this process may use.
#' @return A [pmf()] for distributions, a vector of length `length(x) + length(y) - 1` for vectors, a matrix with `ncol(x) +
#'   ncol(y) - 1` columns for matrices.
#' @section Errors:
#' `warpbayes_error_input` for weights that are negative, missing, infinite, empty or all zero
#' (position or row named), for matrices whose shapes do not fit, for results longer than R
#' allows; `warpbayes_error_memory` for results larger than memory, with their size.
#' @references
#' Wilson, H. and Keich, U. (2016). Accurate pairwise convolutions of non-negative vectors via
#' FFT. *Computational Statistics & Data Analysis* 101, 300-315. \doi{10.1016/j.csda.2016.03.010}
#'
#' Keich, U. (2005). sFFT: a faster accurate computation of the p-value of the entropy score.
#' *Journal of Computational Biology* 12(4), 416-430. \doi{10.1089/cmb.2005.12.416}
#'
#' Brent, R., Percival, C. and Zimmermann, P. (2007). Error bounds on complex floating-point
#' multiplication. *Mathematics of Computation* 76, 1469-1481. \doi{10.1090/S0025-5718-07-01931-X}
#' @seealso [sum_pmf()] for many variables, [rep_sum()] for copies of one, [condition_on_sum()].
#' @examples
#' x <- pmf(dbinom(0:1000, 1000, 0.5))
#' s <- convolve_pmf(x, x, threads = 2)
#' exact <- dbinom(0:2000, 2000, 0.5)
#' range((dpmf(0:2000, s) / exact - 1)[exact > 1e-300])
#'
#' # Weights, and many pairs at once.
#' convolve_pmf(c(1, 2, 1), c(1, 1), threads = 2)
#' many <- matrix(rexp(30), 10, 3)
#' dim(convolve_pmf(many, many, threads = 2))
#' @export
convolve_pmf <- function(x, y, log = NULL, accuracy = 1e-12, backend = NULL, threads = NULL) {
  # Short sums take less time than the checks below, which are made only if the entry refuses
  # what it was given.
  if (is.null(log) && is.double(x) && is.double(y) && as.double(length(x)) * length(y) <= short_work &&
    (missing(accuracy) || is_accuracy(accuracy)) && (is.null(threads) || is_thread_count(threads))) {
    result <- .Call(C_pmf_convolve, x, y, FALSE, accuracy, short_run(backend))
    if (is.double(result)) {
      return(result)
    }
  }
  if (!is.null(log)) {
    log <- check_flag(log, "log")
  }
  accuracy <- check_accuracy(accuracy)
  if (inherits(x, "pmf") || inherits(y, "pmf")) {
    return(convolve_distributions(as_pmf(x, "x"), as_pmf(y, "y"), log, accuracy, backend, threads, sys.call()))
  }
  log <- isTRUE(log)
  if (is.matrix(x) || is.matrix(y)) {
    return(convolve_rows(x, y, log, accuracy, known_run(backend, threads), sys.call()))
  }
  x <- plain_weights(x, "x", log)
  y <- plain_weights(y, "y", log)
  convolve_vectors(x, y, log, accuracy, backend, threads, sys.call())
}

is_accuracy <- function(accuracy) {
  is.numeric(accuracy) && length(accuracy) == 1L && !is.na(accuracy) && accuracy >= 0 && accuracy <= 0.01
}

check_accuracy <- function(accuracy, call = sys.call(-1L)) {
  if (!is_accuracy(accuracy)) {
    stop_input("accuracy", "must be one number from 0 to 0.01, not ", show_value(accuracy), call = call)
  }
  as.double(accuracy)
}

# A vector among distributions is one whose first value is 0.
as_pmf <- function(x, argument, call = sys.call(-1L)) {
  if (inherits(x, "pmf")) {
    return(x)
  }
  x <- check_weights(x, argument, FALSE, call)
  total <- total_weight(x, FALSE)
  if (abs(total - 1) > 1e-8) {
    stop_input(argument, "is a vector that sums to ", format(total, digits = 10),
      ", not 1: together with a distribution it must be one", call = call
    )
  }
  new_pmf(x, 0, FALSE)
}

convolve_distributions <- function(x, y, log, accuracy, backend, threads, call) {
  inside <- is_log(x) || is_log(y) || isTRUE(log)
  log <- if (is.null(log)) inside else log
  from <- check_from(x$from + y$from, call)
  result <- convolve_vectors(prob_of(x, inside), prob_of(y, inside), inside, accuracy, backend, threads, call)
  new_pmf(if (inside && !log) exp(result) else result, from, log)
}

check_from <- function(from, call = sys.call(-1L)) {
  if (abs(from) > 2^52) {
    stop_warpbayes("input", paste0("the sum would begin at ", show_value(from), ", beyond 2^52"), call = call)
  }
  from
}

# Two vectors of weights or of logarithms. The entry looks whether they can be used.
convolve_vectors <- function(x, y, log, accuracy, backend, threads, call) {
  m <- as.double(length(x))
  n <- as.double(length(y))
  run <- run_for(if (log) Inf else m * n, backend, threads, call = call)
  check_result_size(m + n - 1, NULL, "probabilities", call, copies = if (log || accuracy > 0) 6 else 3)
  result <- .Call(C_pmf_convolve, x, y, log, accuracy, run)
  if (is_failure(result)) {
    # The entry says that weights cannot be used; these say which, and why.
    check_weights(x, "x", log, call)
    check_weights(y, "y", log, call)
    stop_failure(result, call)
  }
  result
}

convolve_rows <- function(x, y, log, accuracy, run, call) {
  given <- list(x = x, y = y)
  x <- plain_weight_rows(x, "x", log, call)
  y <- plain_weight_rows(y, "y", log, call)
  if (nrow(x) != nrow(y) && nrow(x) != 1L && nrow(y) != 1L) {
    stop_input("y", sprintf("has %d rows and `x` has %d: rows are convolved in pairs", nrow(y), nrow(x)), call = call)
  }
  columns <- as.double(ncol(x)) + ncol(y) - 1
  if (columns > .Machine$integer.max) {
    stop_input("x", sprintf("and `y` would give a matrix with %.0f columns, more than R allows", columns), call = call)
  }
  check_result_size(columns * max(nrow(x), nrow(y)), NULL, "probabilities", call)
  result <- .Call(C_pmf_convolve, x, y, log, accuracy, run)
  if (is_failure(result)) {
    for (argument in c("x", "y")) {
      check <- if (is.matrix(given[[argument]])) check_weight_rows else check_weights
      check(given[[argument]], argument, log, call)
    }
    stop_failure(result, call)
  }
  result
}

# A double matrix; a vector is a single row. Its weights are for the entry to look at, which
# leaves it to check_weight_rows() to say what is wrong with them.
plain_weight_rows <- function(x, argument, log, call) {
  if (!is.matrix(x)) {
    x <- plain_weights(x, argument, log, call)
    dim(x) <- c(1L, length(x))
  }
  if (is.double(x) && length(x) > 0L) x else check_weight_rows(x, argument, log, call)
}

# A double matrix whose rows can be used, or an error that names the first weight or row
# which cannot.
check_weight_rows <- function(x, argument, log, call) {
  if (!is.numeric(x)) {
    stop_input(argument, "must be numeric, not ", show_value(x), call = call)
  }
  if (length(x) == 0L) {
    stop_input(argument, "is empty: a ", paste(dim(x), collapse = " x "), " matrix", call = call)
  }
  dimensions <- dim(x)
  x <- as.double(x)
  bad <- bad_weight(x, log)
  if (bad > 0) {
    stop_input(argument, sprintf("has the entry %s in row %.0f, column %.0f; ", format(x[[bad]], digits = 15),
      (bad - 1) %% dimensions[[1L]] + 1, (bad - 1) %/% dimensions[[1L]] + 1
    ), weight_rule(log), call = call)
  }
  dim(x) <- dimensions
  positive <- if (log) rowSums(x > -Inf) else rowSums(x)
  if (any(positive == 0)) {
    stop_input(argument, sprintf("is all zero in row %d: at least one value must be possible", which(positive == 0)[[1L]]),
      call = call
    )
  }
  x
}
