# Tables of a fitted mixture, and its draws for packages posterior and coda.

#' Tables of a fitted mixture
#'
#' Methods for package generics. `tidy()` has a row per component and marker of the reference draw (see
#' [predict.dp_mixture()]), `glance()` one row, and `augment()` a row per cell.
#' @param x a fit from [dp_mixture()]; for `augment()` also cell types from [cell_types()].
#' @param data the cells, as `newdata` of [predict.dp_mixture()]; `NULL`: those that were fitted.
#' @param ndraws number of draws that the density is averaged over; `NULL`: all.
#' @inheritParams computing_arguments
#' @return `tidy()`: `component`, `weight`, `marker`, `mean` and `sd`, heaviest component first. `glance()`: among
#'   others `occupied` (median), `concentration` and `log_likelihood` (means), `rhat` (largest) and `ess_bulk`
#'   (smallest) of the quantities in [summary.dp_mixture()]. `augment()`: all columns of `data`, or the fitted markers
#'   in the data's units, and `.class`, `.prob` (of that class) and `.log_density`, or for cell types `.type`, `.prob`.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(400), 200, dimnames = list(NULL, c("CD4", "CD8")))
#' fit <- dp_mixture(x, components = 5, iter = 100, seed = 1, threads = 2)
#' if (requireNamespace("generics", quietly = TRUE)) {
#'   generics::glance(fit)
#'   head(generics::tidy(fit))
#'   head(generics::augment(fit, x, threads = 2))
#' }
#' @name tidy.dp_mixture
NULL

#' @rdname tidy.dp_mixture
#' @method tidy dp_mixture
#' @exportS3Method generics::tidy dp_mixture
tidy.dp_mixture <- function(x, ...) {
  check_dots_empty(...)
  reference <- reference_draw(x)
  order <- order(-reference$weights)
  p <- length(x$markers)
  deviation <- sqrt(matrix(apply(reference$covariances, 3L, function(own) diag(as.matrix(own))), p))
  as_table(data.frame(
    component = rep(order, each = p), weight = rep(reference$weights[order], each = p),
    marker = rep(x$markers, length(order)),
    mean = as.vector(t(reference$means[order, , drop = FALSE])), sd = as.vector(deviation[, order])
  ))
}

glance_of.dp_mixture <- function(x) {
  check_mixture_fit(x, "x")
  own <- method_of(x)$glance(x)
  data.frame(rows = x$rows, markers = length(x$markers), components = x$components, own[1:3], chains = x$chains,
    own[-(1:3)], seconds = elapsed_seconds(x$elapsed))
}

#' @rdname tidy.dp_mixture
#' @method augment dp_mixture
#' @exportS3Method generics::augment dp_mixture
augment.dp_mixture <- function(x, data = NULL, ndraws = NULL, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  need_draws(x)
  ndraws <- check_ndraws(ndraws)
  cells <- cells_of(x, data, argument = "data")
  run <- resolve_run(backend, threads)
  reference <- reference_draw(x)
  class <- integer(nrow(cells))
  probability <- numeric(nrow(cells))
  density <- mean_log_density(x, spaced_draws(x, ndraws), cells, run, if (is.null(data)) x$sample)
  # 2^24 probabilities at a time: 128 MB.
  for (slice in row_slices(nrow(cells), max(1, floor(2^24 / x$components)))) {
    part <- evaluate_mixture(x, reference, cells_in(cells, slice), "prob", run, if (is.null(data)) x$sample[slice])
    class[slice] <- max.col(part, "first")
    probability[slice] <- part[cbind(seq_along(slice), class[slice])]
  }
  as_table(cbind(all_columns(x, data, cells), .class = class, .prob = probability, .log_density = density))
}

#' @rdname tidy.dp_mixture
#' @method augment relabelled_mixture
#' @exportS3Method generics::augment relabelled_mixture
augment.relabelled_mixture <- function(x, data = NULL, ndraws = NULL, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  cells <- cells_of(x, data, argument = "data")
  get <- function(type, ...) unname(predict(x, data, type = type, ..., backend = backend, threads = threads))
  as_table(cbind(all_columns(x, data, cells),
    .class = get("class"), .prob = 1 - get("uncertainty"), .log_density = get("log_density", ndraws = ndraws)
  ))
}

#' @rdname tidy.dp_mixture
#' @method augment cell_types
#' @exportS3Method generics::augment cell_types
augment.cell_types <- function(x, data = NULL, backend = NULL, threads = NULL, ...) {
  check_method(x, "x", ...)
  cells <- cells_of(x$fit, data, argument = "data")
  get <- function(type) unname(predict(x, data, type = type, backend = backend, threads = threads))
  if (is.null(data)) {
    samples <- x$fit$samples
    added <- data.frame(.type = x$type, .prob = x$probability)
    if (!is.null(samples)) added <- cbind(.sample = factor(samples[x$fit$sample], samples), added)
    return(as_table(cbind(all_columns(x$fit, data, cells), added)))
  }
  as_table(cbind(all_columns(x$fit, data, cells), .type = get("type"), .prob = 1 - get("uncertainty")))
}

all_columns <- function(fit, data, cells) {
  if (is.null(data)) return(as.data.frame(in_data_units(fit, cells)))
  if (is.data.frame(data)) return(data)
  values <- expression_matrix(data, NULL, "data", assay = fit$assay)
  if (is.null(colnames(values))) colnames(values) <- fit$markers
  as.data.frame(values)
}

array_of_draws.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  components <- check_flag(components, "components")
  need_sampler(x, "there is nothing to make a table of")
  sweeps <- method_of(x)$kept(x)
  parts <- lapply(trace_quantities(x, warmup = TRUE), function(draws) draws[sweeps, , drop = FALSE])
  parts <- c(append(parts, list(log_posterior = x$log_posterior[sweeps, , drop = FALSE]), after = 1L), learned_draws(x))
  if (components) {
    need_draws(x, c("weights", "means"))
    all <- seq_len(x$components)
    parts[sprintf("weight[%d]", all)] <- lapply(all, function(j) x$draws$weights[j, , ])
    for (marker in x$markers) {
      parts[sprintf("mean[%d,%s]", all, marker)] <- lapply(all, function(j) x$draws$means[j, marker, , ])
    }
  }
  bind_draws(parts, length(sweeps), x$chains)
}

#' @rdname summary.dp_mixture
#' @method prior_summary dp_mixture
#' @exportS3Method rstantools::prior_summary dp_mixture
prior_summary.dp_mixture <- function(object, ...) {
  check_method(object, "object", ...)
  object$prior
}
