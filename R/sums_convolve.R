# The sum of two independent variables, or of many pairs.

#' The distribution of the sum of two independent variables
#'
#' Convolves two distributions, two vectors of weights, or two matrices of weights row by row.
#'
#' Every entry of the result has a small *relative* error, however small the entry is, and no entry is negative. All
#' terms are non-negative. They are either added directly or computed by the fast method, which proves its error
#' bound. `stats::convolve(x, rev(y), type = "open")` and other plain Fourier transforms have an *absolute* error of
#' about 1e-17 instead, so their tails are noise and partly negative.
#'
#' This holds for entries of at least 2.2e-308. Smaller entries have fewer digits in doubles, and entries below 5e-324
#' are zero. With `log = TRUE` they keep their accuracy, too. If weights are so large that an entry would exceed
#' 1.8e308, there is an error; `log = TRUE` gives the result.
#'
#' The result is the same to the last bit for any number of threads, any processor and any backend.
#'
#' @section The two methods:
#' The *direct sum* takes `length(x) * length(y)` multiply-adds. For long vectors it runs at 80% or more of the
#' machine's rate for them. Its relative error is below \eqn{(1024 + m / 1024) 2^{-53}}, where m is the length of the
#' shorter vector: about 1.2e-13 for a million values. Typically it is 1e-15.
#'
#' The *fast method* is used if `accuracy` is above 0 and the problem is large:
#' \itemize{
#'   \item From `length(x) * length(y)` = 2.6e5 on, one Fourier transform is tried, if a test of a few entries shows
#'     that it would compute most of them accurately enough.
#'   \item From 6.7e7 on, the result is computed in windows. Exponential tilting moves the mass of both distributions
#'     to the values that matter for a window. It is undone afterwards, so it does not change the result. What the
#'     tilt has made negligible is left out. The rest is convolved directly or by a Fourier transform.
#' }
#' For each window there are bounds on what was left out and on the rounding error of the transform. An entry is
#' accepted only if both together are below `accuracy` times that entry. Entries that no window accepts are summed
#' directly. So `accuracy` holds in any case. The method is fast where windows are accepted:
#' \itemize{
#'   \item log-concave and unimodal distributions: Poisson, binomial, negative binomial, geometric, normal-like,
#'     triangular, uniform, in any combination;
#'   \item weights without much structure, such as uniform random numbers;
#'   \item a heavy-tailed distribution with a narrow one, which is short once it is tilted.
#' }
#' It is no faster than the direct sum, and up to a fifth slower, for
#' \itemize{
#'   \item two heavy (power) tails;
#'   \item several distant modes with almost nothing between them;
#'   \item distributions with every second value impossible;
#'   \item entries that vary wildly from one to the next.
#' }
#' On a graphics card `accuracy = 0` is often the better choice: the direct sum of two vectors of 100,000 values takes 3
#' ms on an H200, and the fast method 9 to 30 ms beside 6 threads; of a million values 83 ms, and 28 to 207
#' (`bench/auto-convolution.R`). The method never depends on the device, so that results do not.
#'
#' @section Logarithms:
#' With `log = TRUE` entries keep their relative error down to log probabilities of -1e14, because each number is kept
#' as a mantissa and an exponent. For vectors and matrices `log = TRUE` means that logarithms are given and returned.
#'
#' @param x,y two distributions made by [pmf()]; or two vectors of non-negative weights; or two matrices of weights
#'   with the same number of rows, which are convolved row by row. A vector or a matrix of one row is convolved with
#'   every row of the other matrix. A vector given together with a distribution must sum to 1; it is the distribution
#'   of a variable on 0, 1, ...
#' @param log whether the result is on the log scale. For vectors and matrices it also says whether `x` and `y` are.
#'   The default is `TRUE` if `x` or `y` is a distribution on the log scale.
#' @param accuracy the relative error that the fast method may make in an entry; 0 for direct sums only. Below 1e-13
#'   the fast method uses no Fourier transform.
#' @param backend,threads where to compute: see [computing]. Direct sums run on this backend. Fourier transforms
#'   always run on the CPU.
#' @return A [pmf()] for distributions. For vectors a vector of length `length(x) + length(y) - 1`. For matrices a
#'   matrix with `ncol(x) + ncol(y) - 1` columns.
#' @section Errors:
#' `warpbayes_error_input` for weights that are negative, missing, infinite, empty or all zero (the message names the
#' position or row), for matrices whose numbers of rows differ, and for results longer than R allows.
#' `warpbayes_error_memory` for results that do not fit in memory (the message says how large they would be).
#' @references
#' Wilson, H. and Keich, U. (2016). Accurate pairwise convolutions of non-negative vectors via
#' FFT. *Computational Statistics & Data Analysis* 101, 300-315. \doi{10.1016/j.csda.2016.03.010}
#'
#' Keich, U. (2005). sFFT: a faster accurate computation of the p-value of the entropy score.
#' *Journal of Computational Biology* 12(4), 416-430. \doi{10.1089/cmb.2005.12.416}
#'
#' Brent, R., Percival, C. and Zimmermann, P. (2007). Error bounds on complex floating-point
#' multiplication. *Mathematics of Computation* 76, 1469-1481. \doi{10.1090/S0025-5718-07-01931-X}
#' @seealso [sum_pmf()] for many variables, [rep_sum_pmf()] for copies of one, [condition_on_sum_pmf()].
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
  require_arguments("x", "y")
  # For a short sum the checks below take longer than the sum itself. They are made only if the entry refuses its
  # arguments.
  if (is.null(log) && is.double(x) && is.double(y) && !is.object(x) && !is.object(y) &&
    as.double(length(x)) * length(y) <= short_work && (missing(accuracy) || is_accuracy(accuracy)) &&
    (is.null(threads) || is_thread_count(threads))) {
    result <- .Call(C_pmf_convolve, x, y, FALSE, accuracy, fourier_cache(), resolve_run(backend, work = 0))
    if (is.double(result)) return(result)
  }
  if (!is.null(log)) log <- check_flag(log, "log")
  accuracy <- check_accuracy(accuracy)
  if (inherits(x, "pmf") || inherits(y, "pmf")) {
    return(convolve_distributions(pmf_or_vector(x, "x"), pmf_or_vector(y, "y"), log, accuracy, backend, threads))
  }
  log <- isTRUE(log)
  if (is.matrix(x) || is.matrix(y)) {
    run <- resolve_run(backend, threads, cost = rows_cost(x, y))
    return(convolve_rows(x, y, log, accuracy, run))
  }
  x <- plain_weights(x, "x", log)
  y <- plain_weights(y, "y", log)
  convolve_vectors(x, y, log, accuracy, backend, threads)
}

# The tables for Fourier transforms, up to 2 MB, which all sums of the session share.
fourier_cache <- function() {
  if (is.null(fourier_state$cache)) fourier_state$cache <- .Call(C_pmf_cache)
  fourier_state$cache
}
fourier_state <- keep_until_unload(new.env(parent = emptyenv()))

is_accuracy <- function(accuracy) {
  is.numeric(accuracy) && length(accuracy) == 1L && !is.na(accuracy) && accuracy >= 0 && accuracy <= 0.01
}

# The measured peak memory of a sum, as a multiple of the result's size. Direct sums copy both vectors. Windows need
# several more copies, and a Fourier transform of up to twice the result's length with its tables.
result_copies <- function(log, accuracy) {
  if (log) 18 else if (accuracy > 0) 16 else 3
}

check_accuracy <- function(accuracy) {
  if (!is_accuracy(accuracy)) stop_input("accuracy", "must be one number from 0 to 0.01, not ", show_value(accuracy))
  as.double(accuracy)
}

# A vector given together with a distribution is the distribution of a variable on 0, 1, ..., unless it has its values
# with it, as a table has.
pmf_or_vector <- function(x, argument) {
  if (inherits(x, "pmf")) return(check_pmf(x, argument))
  read <- read_weights(x, FALSE, argument)
  x <- check_weights(read$weights, read$argument, FALSE)
  total <- total_weight(x, FALSE)
  if (abs(total - 1) > sum_tolerance) {
    stop_input(argument, "is a vector that sums to ", format(total, digits = 10),
      ", not 1: together with a distribution it must be one")
  }
  if (is.null(read$values)) return(new_pmf(x, 0, FALSE))
  found <- lattice_of_values(check_pmf_values(read$values, length(x), read$source), argument = read$source)
  pmf_at(x, found$at, found$lattice, FALSE)
}

convolve_distributions <- function(x, y, log, accuracy, backend, threads) {
  inside <- is_log(x) || is_log(y) || isTRUE(log)
  log <- if (is.null(log)) inside else log
  shared <- lattice_of_sum(list(x, y))
  if (is_sparse(x) || is_sparse(y) || any(shared$times != 1)) {
    return(as_log(add_positions(x, y, inside, accuracy, resolve_run(backend, threads)), log))
  }
  result <- convolve_vectors(prob_of(x, inside), prob_of(y, inside), inside, accuracy, backend, threads)
  leave_out(on_lattice(if (inside && !log) exp_of(result) else result, shared$lattice, log),
    left_out_together(list(x, y)))
}

# Two vectors of weights or of logarithms. The entry checks whether they can be used.
convolve_vectors <- function(x, y, log, accuracy, backend, threads) {
  m <- as.double(length(x))
  n <- as.double(length(y))
  run <- resolve_run(backend, threads, work = if (log) Inf else m * n, cost = convolution_cost(m * n, m + n))
  check_result_size(m + n - 1, NULL, "probabilities", copies = result_copies(log, accuracy))
  check_operations(if (accuracy == 0) m * n else m + n, NULL)
  result <- .Call(C_pmf_convolve, x, y, log, accuracy, fourier_cache(), run)
  if (is_failure(result)) {
    # The entry says only that weights cannot be used. These checks say which, and why.
    check_weights(x, "x", log)
    check_weights(y, "y", log)
    stop_failure(result)
  }
  result
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
  result <- .Call(C_pmf_convolve, x, y, log, accuracy, fourier_cache(), run)
  if (is_failure(result)) {
    for (argument in c("x", "y")) {
      check <- if (is.matrix(given[[argument]])) check_weight_rows else check_weights
      check(given[[argument]], argument, log)
    }
    stop_failure(result)
  }
  result
}

# A double matrix; a vector is a single row. The entry finds weights that cannot be used, and check_weight_rows() then
# says what is wrong.
plain_weight_rows <- function(x, argument, log) {
  if (!is.matrix(x)) {
    x <- plain_weights(x, argument, log)
    dim(x) <- c(1L, length(x))
  }
  if (is.double(x) && !is.object(x) && length(x) > 0L) x else check_weight_rows(x, argument, log)
}

# A double matrix of usable rows, or an error that names the first unusable weight or row.
check_weight_rows <- function(x, argument, log) {
  x <- without_integer64(x)
  if (!is.numeric(x)) stop_input(argument, "must be numeric, not ", show_value(x))
  if (length(x) == 0L) stop_input(argument, "is empty: a ", paste(dim(x), collapse = " x "), " matrix")
  dimensions <- dim(x)
  x <- as.double(x)
  bad <- bad_weight(x, log)
  if (bad > 0) {
    stop_input(argument, sprintf("has the entry %s in row %.0f, column %.0f; ", format(x[[bad]], digits = 15),
      (bad - 1) %% dimensions[[1L]] + 1, (bad - 1) %/% dimensions[[1L]] + 1
    ), weight_rule(log))
  }
  dim(x) <- dimensions
  positive <- if (log) rowSums(x > -Inf) else rowSums(x)
  if (any(positive == 0)) {
    stop_input(argument,
      sprintf("is all zero in row %d: at least one value must be possible", which(positive == 0)[[1L]]))
  }
  x
}

# Sums of two random variables, `products` multiply-adds in all if computed directly.
convolution_cost <- function(products, length) {
  call_cost(serial = 3e-4, parallel = products * 8e-11, fixed = 2e-3, up = 8 * length, down = 8 * length,
    compute = products * 1e-13)
}

# The sums of the rows of two matrices. On a processor most of the time goes into clearing the memory of the sums. On a
# card, rows travel there while sums come back.
rows_cost <- function(x, y) {
  n <- as.double(max(NROW(x), NROW(y)))
  bytes <- 8 * n * (NCOL(x) + NCOL(y))
  products <- n * NCOL(x) * NCOL(y)
  call_cost(serial = 3e-4 + 5e-11 * bytes, parallel = products * 8e-11, fixed = 1e-3, down = bytes,
    compute = products * 1e-13)
}
