#' One Gibbs step of a logistic regression
#'
#' Draws new coefficients of a logistic regression, given the present ones, as [bayes_logit()] does in each sweep, for
#' your own sampler. Keep one seed and count steps by `iteration`, so that each step has random numbers of its own.
#'
#' The step draws the Polya-Gamma variable of every row, \eqn{\omega_i \sim PG(n_i, x_i'\beta + o_i)}{omega_i ~ PG(n_i,
#' x_i'beta + o_i)}. Then it draws new coefficients from \eqn{N(Q^{-1}b, Q^{-1})}{N(Q^-1 b, Q^-1)} with \eqn{Q =
#' X'\Omega X + P}{Q = X' Omega X + P} and \eqn{b = X'(y - n/2 - \Omega o) + P m}{b = X'(y - n/2 - Omega o) + P m}.
#'
#' @param x the design, rows by coefficients: a numeric matrix, or a sparse one of package Matrix, which stays sparse.
#' @param y successes of each row, from 0 to `trials`; they need not be whole. Or a logical vector.
#' @param beta the present coefficients.
#' @param trials,offset number of trials (0 or positive) and offset of each row, or one number for all rows.
#' @param prior_mean \eqn{m}: one number for each coefficient, or one for all.
#' @param prior_precision \eqn{P}: a symmetric matrix, its diagonal, or one number. 0 if the data suffice.
#' @param iteration the number of this step, a whole number from 1 to \eqn{2^{32} - 1}{2^32 - 1}.
#' @inheritParams computing_arguments
#' @param ... must be empty.
#' @return A list of `beta`, the new coefficients; `precision`, \eqn{Q}; and `linear`, \eqn{b}.
#' @examples
#' x <- cbind(1, scale(mtcars$wt))
#' beta <- c(0, 0)
#' for (i in 1:500) {
#'   beta <- polyagamma_step(x, mtcars$am, beta, prior_precision = 0.16, iteration = i, seed = 1,
#'     threads = 2)$beta
#' }
#' beta
#' @export
polyagamma_step <- function(x, y, beta, trials = 1, offset = 0, prior_mean = 0, prior_precision = 0, iteration = 1,
                            seed = NULL, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  require_arguments("x", "y", "beta")
  x <- given_data(x, "x")
  is_sparse <- is_sparse_matrix(x)
  must_be((is_sparse || is.numeric(x) && is.matrix(x)) && nrow(x) && ncol(x), "x",
    "a numeric matrix with rows and columns", x)
  if (is_sparse) x <- as_sparse_columns(x) else storage.mode(x) <- "double"
  if (if (is_sparse) any(!is.finite(x@x)) else native(C_matrix_scan, x, 1L)$count > 0) {
    stop_input("x", "has values that are not finite")
  }
  n <- nrow(x)
  p <- ncol(x)
  rows <- list("row", rownames(x))
  columns <- list("column", colnames(x))
  y <- check_finite(if (is.logical(y)) stats::setNames(as.double(y), names(y)) else y, "y", n, rows)
  trials <- check_finite(trials, "trials", n, rows, recycle = TRUE)
  if (any(trials < 0)) stop_input("trials", "must not be negative")
  bad <- which(y < 0 | y > trials)
  if (length(bad)) {
    stop_input("y", sprintf("has %s in row %d, but must be from 0 to the trials, %s there", format(y[[bad[[1L]]]]),
      bad[[1L]], format(trials[[bad[[1L]]]])))
  }
  offset <- check_finite(offset, "offset", n, rows, recycle = TRUE)
  beta <- check_finite(beta, "beta", p, columns)
  mean <- check_finite(prior_mean, "prior_mean", p, columns, recycle = TRUE)
  precision <- check_prior_precision(prior_precision, p, columns)
  iteration <- check_count(iteration, "iteration", max = 2^32 - 1)
  seed <- check_seed(seed)
  run <- resolve_run(backend, threads)
  data <- c(if (is_sparse) sparse_rows(x, rep(1, p)), list(
    x = if (!is_sparse) x, center = numeric(p), inverse_scale = rep(1, p), offset = if (any(offset != 0)) offset,
    shape = trials, kappa = matrix(y - trials / 2)
  ))
  prior <- list(mean = mean, precision = pack(precision), law = NULL, df = numeric(p), scale = numeric(p),
    global_scale = 1, slab = c(0, 1), group_scale = 1, dispersion = c(1, 1), dispersion_scale = 0)
  step <- native(C_regression_step, data, prior, beta, chain_key(seed, 0), iteration, run)
  triangle <- seq_len(p * (p + 1) / 2)
  posterior <- unpack(step$statistics[triangle], p) + precision
  # Of dependent columns: the reciprocal condition of the precision, columns scaled to 1, must be above rounding errors.
  size <- sqrt(diag(posterior))
  if (rcond(posterior / outer(size, size)) < 1e-14) {
    stop_input("x", "has columns that depend on each other, and `prior_precision` does not determine their ",
      "coefficients")
  }
  list(beta = stats::setNames(step$coefficients, colnames(x)), precision = posterior,
    linear = step$statistics[-triangle] + colSums(precision * mean))
}

check_finite <- function(values, argument, length, of, recycle = FALSE) {
  if (is.numeric(values)) values <- by_names(values, of[[2L]], argument, of[[1L]])
  fits <- is.numeric(values) && (length(values) == length || recycle && length(values) == 1L)
  must_be(fits && all(is.finite(values)), argument,
    paste0(format(length), " finite numbers", if (recycle) ", or one for all"), values)
  rep_len(as.double(values), length)
}

check_prior_precision <- function(values, p, columns) {
  if (!is.matrix(values)) {
    diagonal <- check_finite(values, "prior_precision", p, columns, recycle = TRUE)
    if (any(diagonal < 0)) {
      stop_input("prior_precision", "must not be negative, but has ", format(min(diagonal), digits = 3))
    }
    return(diag(diagonal, p))
  }
  must_be(is.numeric(values) && identical(dim(values), c(p, p)) && all(is.finite(values)) &&
    isSymmetric(unname(values)), "prior_precision",
  sprintf("a symmetric %d x %d matrix of finite numbers, its diagonal or one number", p, p), values)
  values <- by_dimnames(values, columns[[2L]], "prior_precision", "column") + 0
  least <- min(eigen(values, symmetric = TRUE, only.values = TRUE)$values)
  # Rounding may make it so by 1e-12 of its largest entry.
  if (least < -1e-12 * max(abs(values))) {
    stop_input("prior_precision", "must not be negative in any direction, but its smallest eigenvalue is ",
      format(least, digits = 3))
  }
  values
}
