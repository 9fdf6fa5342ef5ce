# Differential state: markers within types, compared between groups of samples, integrated over grids.

#' Compare markers within cell types between groups of samples
#'
#' Says which markers are higher or lower in a cell type in one group of patients than in another, by the medians or
#' means of the type's cells in each sample.
#' @param types cell types from [cell_types()] of a fit of several samples. Or the cluster of each cell of `x`, or the
#'   name of its column.
#' @param formula,data,effect,level,fdr as in [differential_abundance()].
#' @param markers names of markers to compare. `NULL`: those of `x` that the fit lacks; without `x`, all.
#' @param statistic `"median"` or `"mean"` of the cells of a type in a sample.
#' @param min_cells a sample counts for a type if it has at least this many of its cells.
#' @param seed seed of the draws of the cells' types.
#' @param x the fit's cells with other markers, as [dp_mixture()] takes them, and transformed as the fit's. Samples are
#'   found by name. `NULL`: the cells of the fit.
#' @param sample for clusters: each cell's sample, as in [dp_mixture()].
#' @inheritParams differential_abundance
#' @inheritParams computing_arguments
#' @return A data frame of class `differential_state` with a row for each `type` (but no specks), `marker` and `effect`
#'   (coefficient). `samples`, `cells`: how many samples count, and the median number of their cells of the type.
#'   `estimate`, `lower`, `upper`: posterior median and interval of the change of the marker, in the units of the fit
#'   (after its transformation). `p`: the two-sided tail probability. `fdr`: the smallest false discovery rate at which
#'   the row is reported. `reported`: whether `fdr` is at most the argument `fdr`. `deviation`: the posterior mean of
#'   the standard deviation between samples.
#' @section Model:
#' The statistic of a type and marker in a sample is normal around the linear predictor of the formula. The variance
#' between samples is learned from all types and markers. Coefficients of predictors with standard deviation 1 are
#' normal with a standard deviation of 2.5 standard deviations of the marker. With `(1 | g)`, effects are told within
#' groups or, where they lie between groups, a learned part of the variance is between groups.
#' @references
#' Weber, L. M., Nowicka, M., Soneson, C. and Robinson, M. D. (2019). diffcyt: Differential discovery in
#' high-dimensional cytometry via high-resolution clustering. *Communications Biology* **2**, 183.
#' @examples
#' set.seed(1)
#' first <- rep(0:1, 150)
#' sample_of <- function(more) cbind(CD4 = rnorm(300) + 6 * first, pSTAT5 = rnorm(300) + more * first)
#' samples <- lapply(c(a1 = 0, a2 = 0.1, a3 = 0, b1 = 1, b2 = 1.1, b3 = 1), sample_of)
#' fit <- dp_mixture(samples, components = 8, iter = 200, seed = 1, threads = 2)
#' patients <- data.frame(group = rep(c("a", "b"), each = 3))
#' differential_state(cell_types(fit, threads = 2), ~ group, patients, markers = "pSTAT5", seed = 1)
#' @export
differential_state <- function(types, formula, data = NULL, effect = NULL, markers = NULL,
                               statistic = c("median", "mean"), level = 0.9, fdr = 0.1, min_cells = 10, ndraws = 10,
                               seed = NULL, backend = NULL, threads = NULL, ..., x = NULL, sample = NULL) {
  check_dots_empty(...)
  check_present(!missing(types), "types")
  statistic <- check_choice(statistic, "statistic", c("median", "mean"))
  level <- check_number(level, "level", min = 0, max = 1)
  fdr <- check_number(fdr, "fdr", min = 0, max = 1)
  min_cells <- check_count(min_cells, "min_cells", min = 2)
  ndraws <- check_count(ndraws, "ndraws", max = 1e4)
  seed <- check_seed(seed)
  run <- resolve_run(backend, threads)
  cells <- state_cells(types, x, sample, markers, run$threads)
  model <- abundance_model(formula, data, cells$samples, effect)
  if (is.null(cells$cluster)) cells$cluster <- types_in_draws(types, chosen_draws(types, ndraws), seed, run)
  found <- summarise_states(cells, statistic, min_cells, run$threads)
  kept <- function(part) part[cells$shown, model$kept, , drop = FALSE]
  compared <- compare_states(kept(found$value), kept(found$variance), model, cells$scale, level)
  sizes <- apply(found$cells[cells$shown, model$kept, drop = FALSE], 1L, function(n) {
    if (any(n >= min_cells)) stats::median(n[n >= min_cells]) else NA_real_
  })
  names <- cells$types[cells$shown]
  rows <- expand.grid(type = factor(names, names), marker = factor(cells$markers, cells$markers),
    effect = colnames(model$contrasts), stringsAsFactors = FALSE)
  tied <- rows$marker[which(compared$tied)]
  table <- data.frame(rows, samples = compared$samples, cells = sizes, compared$table)
  table$fdr <- stats::ave(table$p, table$effect, FUN = function(p) stats::p.adjust(p, "BH"))
  table$reported <- !is.na(table$fdr) & table$fdr <= fdr
  structure(table, level = level, limit = fdr, formula = formula, effect_labels = model$labels,
    design_reasons = c(design_reasons(model), if (length(tied)) {
      reason("tied_states", quantity = list_some(unique(tied), 3L), figure = length(tied), statistic = statistic)
    }, cells$skewed), rests_on = if (inherits(types, "cell_types")) list(verdict(types)),
    class = c("differential_state", "warpbayes", "data.frame"))
}

# Statistics and variances, types x samples x markers, NA for too few cells. `cells`: types x samples. Means over draws;
# the variance between draws is added (Rubin 1987, Multiple Imputation for Nonresponse in Surveys).
summarise_states <- function(cells, statistic, min_cells, threads) {
  draws <- ncol(cells$cluster)
  each <- c(length(cells$types), length(cells$samples))
  shape <- c(each, length(cells$columns))
  found <- group_statistics(cells$x, cells$columns, cells$sample, cells$cluster, each, statistic, min_cells, threads)
  by_draw <- function(part) matrix(aperm(array(part, c(prod(each), draws, shape[[3L]])), c(1L, 3L, 2L)), ncol = draws)
  value <- by_draw(found$value)
  mean <- rowMeans(value)
  between <- if (draws > 1L) rowSums((value - mean)^2) / (draws - 1) else 0
  total <- rowMeans(by_draw(found$variance)) + (1 + 1 / draws) * between
  place <- cells$cluster + (cells$sample - 1L) * each[[1L]]
  list(value = array(mean, shape), variance = array(total, shape),
    cells = matrix(tabulate(place, prod(each)), each[[1L]]) / draws)
}

# The prior of log(sigma), in standard deviations of the marker: a normal mean, and a half-normal spread.
state_prior <- list(coefficient = 2.5, intercept = 10, level = c(-2, 1.5), spread = 0.5)

# Rows for types x markers x effects, in this order. value, variance: types x samples x markers; scale: of each marker.
compare_states <- function(value, variance, model, scale, level) {
  shape <- dim(value)
  unit <- rep(scale, each = shape[[1L]] * shape[[2L]])
  pairs <- function(part) matrix(aperm(array(part, shape), c(2L, 1L, 3L)), shape[[2L]])
  y <- pairs(value / unit)
  v <- pairs(variance / unit^2)
  x <- cbind(model$standard, model$of_group)
  groups <- ncol(model$of_group)
  contrasts <- rbind(model$contrasts / model$scale, matrix(0, groups, ncol(model$contrasts)))
  # Differences within groups tell all effects, or else a part of the variance is between groups.
  within <- are_told(x, contrasts)
  fixed <- seq_len(ncol(x) - if (within) 0L else groups)
  part <- if (within) 0 else c(0.02, 0.2, 0.4, 0.6, 0.8, 0.98)
  grid <- expand.grid(total = seq(log(0.002), log(5), length.out = 40L), part = part)
  deviation <- ifelse(c(model$is_intercept, rep(TRUE, groups)), state_prior$intercept, state_prior$coefficient)
  deviation <- matrix(deviation, ncol(x), nrow(grid))
  deviation[-fixed, ] <- rep(exp(grid$total) * sqrt(grid$part), each = ncol(x) - length(fixed))
  # The samples that count must tell each contrast, and differ.
  usable <- vapply(seq_len(ncol(y)), function(i) {
    known <- !is.na(y[, i])
    there <- x[known, fixed, drop = FALSE]
    most <- if (within) sum(known) else qr(x[known, ])$rank
    differs <- any(diff(y[known, i]) != 0)
    differs && qr(there)$rank < most && are_told(there, contrasts[fixed, , drop = FALSE])
  }, NA)
  effects <- ncol(contrasts)
  out <- array(NA_real_, c(ncol(y), effects, 5L))
  if (any(usable)) {
    fits <- fit_states(y[, usable, drop = FALSE], v[, usable, drop = FALSE], x, deviation, contrasts,
      grid$total + log1p(-grid$part) / 2)
    post <- learn_deviations(fits$evidence, grid$total, grid$part)
  }
  for (k in seq_len(sum(usable))) {
    for (j in seq_len(effects)) {
      part <- mixture_points(fits$mean[k, , j], sqrt(fits$variance[k, , j]), post[k, ], c(0.5, interval_ends(level)))
      out[which(usable)[[k]], j, ] <- c(part$points, part$p, sum(post[k, ] * exp(grid$total)))
    }
  }
  out[, , -4L] <- out[, , -4L] * rep(scale, each = shape[[1L]])
  list(samples = rep(colSums(!is.na(y)), effects), tied = colMeans(v == 0, na.rm = TRUE) >= 0.5,
    table = data.frame(estimate = c(out[, , 1L]), lower = c(out[, , 2L]), upper = c(out[, , 3L]), p = c(out[, , 4L]),
      fdr = NA_real_, reported = NA, deviation = c(out[, , 5L])))
}

# For each pair (column of y and v) and log(sigma): log density of the data, and each contrast's mean and variance.
fit_states <- function(y, v, x, deviation, contrasts, grid) {
  out <- list(evidence = matrix(0, ncol(y), length(grid)), mean = array(0, c(ncol(y), length(grid), ncol(contrasts))))
  out$variance <- out$mean
  for (some in row_slices(ncol(y), max(1, floor(4e6 / length(grid) / (nrow(x) + (ncol(x) + ncol(contrasts))^2))))) {
    part <- fit_some_states(y[, some, drop = FALSE], v[, some, drop = FALSE], x, deviation, contrasts, grid)
    out$evidence[some, ] <- part$evidence
    out$mean[some, , ] <- part$mean
    out$variance[some, , ] <- part$variance
  }
  out
}

fit_some_states <- function(y, v, x, deviation, contrasts, grid) {
  there <- !is.na(y)
  # Around its mean the prior of the intercept is wide in any unit.
  y <- y - rep(colMeans(y, na.rm = TRUE), each = nrow(y))
  y[!there] <- 0
  v[!there] <- 1
  # Pairs by grid. A sample that is missing has weight 0.
  at <- rep(seq_len(ncol(y)), length(grid))
  weight <- there[, at] / (rep(exp(2 * grid), each = length(y)) + v[, at])
  data <- crossprod(weight * y[, at], x)
  # The Cholesky factor of the precision of the coefficients, with a row for the data and for each contrast below it.
  q <- ncol(x)
  rows <- q + 1L + ncol(contrasts)
  factor <- matrix(list(), rows, q)
  for (j in seq_len(q)) {
    for (i in seq(j, rows)) {
      entry <- if (i <= q) {
        drop(crossprod(weight, x[, i] * x[, j])) + if (i == j) rep(deviation[j, ]^-2, each = ncol(y)) else 0
      } else if (i == q + 1L) data[, j] else contrasts[j, i - q - 1L]
      for (k in seq_len(j - 1L)) entry <- entry - factor[[i, k]] * factor[[j, k]]
      factor[[i, j]] <- if (i == j) sqrt(entry) else entry / factor[[j, j]]
    }
  }
  products <- function(a, b) Reduce(`+`, Map(`*`, factor[a, ], factor[b, ]))
  diagonal <- Reduce(`+`, lapply(seq_len(q), function(j) log(factor[[j, j]])))
  fit <- colSums(weight * y[, at]^2) - products(q + 1L, q + 1L)
  of_contrast <- seq_len(ncol(contrasts)) + q + 1L
  diagonal <- diagonal + rep(colSums(log(deviation)), each = ncol(y))
  list(evidence = 0.5 * colSums(log(weight + !there[, at])) - diagonal - 0.5 * fit,
    mean = vapply(of_contrast, function(i) products(i, q + 1L), numeric(length(at))),
    variance = vapply(of_contrast, function(i) products(i, i), numeric(length(at))))
}

# The posterior of log(sigma) of each row of `evidence` (pairs x grid), given all rows. They have the same `part`.
learn_deviations <- function(evidence, grid, part) {
  law <- expand.grid(level = seq(log(0.003), log(3), length.out = 30L), spread = c(0.05, 0.1, 0.2, 0.35, 0.6, 1),
    part = unique(part))
  log_prior <- stats::dnorm(law$level, state_prior$level[[1L]], state_prior$level[[2L]], log = TRUE) +
    stats::dnorm(law$spread, 0, state_prior$spread, log = TRUE) +
    log(c(0.05, 0.075, 0.125, 0.2, 0.325, 0.4))[match(law$spread, unique(law$spread))]
  density <- exp(-0.5 * ((outer(grid, law$level, "-")) / rep(law$spread, each = length(grid)))^2)
  density <- t(density * outer(part, law$part, "=="))
  density <- density / rowSums(density)
  top <- apply(evidence, 1L, max)
  given <- exp(evidence - top)
  total <- given %*% t(density)
  weight <- normalised(log_prior + colSums(log(pmax(total, 1e-300))))
  post <- given * ((1 / pmax(total, 1e-300)) * rep(weight, each = nrow(given))) %*% density
  post / rowSums(post)
}

mixture_points <- function(mean, sd, weight, at) {
  below <- function(q) sum(weight * stats::pnorm(q, mean, sd))
  ends <- range(mean - 12 * sd, mean + 12 * sd)
  points <- vapply(at, function(p) stats::uniroot(function(q) below(q) - p, ends, tol = 1e-9 * diff(ends))$root, 0)
  list(points = points, p = 2 * min(below(0), sum(weight * stats::pnorm(0, mean, sd, lower.tail = FALSE))))
}

# A column or some columns of the table are a plain data frame.
state_table_part <- function() {
  columns <- part_table("samples p fdr estimate lower upper", type = is.factor, marker = is.factor,
    effect = is.character, reported = is.logical)
  part_is(columns$words(), function(value) {
    columns$test(value) && is.numeric(attr(value, "level")) && is.numeric(attr(value, "limit"))
  })
}

in_console.differential_state <- function(x, types = 12, ...) {
  if (!state_table_part()$test(x)) return(print(plain_frame(x), ...))
  print_changes(x, state_words(x), state_table(x), types)
}

state_words <- function(x) {
  names <- unique(x$effect)
  effect <- if (length(names) == 1L) paste0(effect_words(attr(x, "effect_labels"), names), ": ") else ""
  found <- sum(x$reported)
  c(sprintf("Differential state of %s in %s: %s", count_words(length(unique(x$marker)), "marker"),
      count_words(length(unique(x$type)), "type"), deparse1(attr(x, "formula"))),
    sprintf("%s%s %s reported at a false discovery rate of %s.", effect,
      if (found) count_words(found, "change") else if (nzchar(effect)) "no change" else "No change",
      if (found > 1L) "are" else "is", percent(attr(x, "limit"), 0)))
}

state_table <- function(x) {
  rows <- plain_frame(x)[order(x$p), ]
  rows <- rows[!is.na(rows$p), ]
  spread <- (rows$upper - rows$lower) / diff(stats::qnorm(interval_ends(attr(x, "level"))))
  short <- function(values) as.character(mapply(format_to_spread, values, spread))
  interval <- paste(short(rows$lower), rep("to", nrow(rows)), short(rows$upper))
  table <- data.frame(type = as.character(rows$type), marker = as.character(rows$marker),
    effect = effect_words(attr(x, "effect_labels"), rows$effect), samples = rows$samples,
    change = short(rows$estimate), interval, fdr = probability_words(rows$fdr), check.names = FALSE)
  names(table)[[6L]] <- paste(percent(attr(x, "level"), 0), "interval")
  if (length(unique(x$effect)) == 1L) table$effect <- NULL
  table
}

#' @rdname differential_state
#' @export
summary.differential_state <- function(object, ...) {
  check_dots_empty(...)
  check_table(object, "object", state_table_part())
  structure(list(words = state_words(object), table = state_table(object), verdict = verdict(object)),
    class = c("summary.differential_state", "warpbayes"))
}

in_chunk.summary.differential_state <- function(x) {
  list(words = x$words, tables = list(Changes = x$table), verdict = x$verdict, rows = 200L)
}

glance_of.differential_state <- function(x) {
  check_table(x, "x", state_table_part())
  data.frame(types = nlevels(x$type), markers = nlevels(x$marker), samples = max(x$samples), tested = sum(!is.na(x$p)),
    reported = sum(x$reported), verdict = verdict(x)$answer)
}

#' @rdname differential_state
#' @param types for `plot()`, names or numbers of types; `NULL`: the twelve changes with the smallest tail probability.
#' @export
plot.differential_state <- plot.differential_abundance

picture_of.differential_state <- function(x, types = NULL, effect = NULL, main = NULL, ...) {
  check_dots_empty(...)
  check_table(x, "x", state_table_part())
  effect <- chosen_effect(effect, unique(x$effect), attr(x, "effect_labels"))
  rows <- plain_frame(x)[x$effect == effect & !is.na(x$p), ]
  if (!is.null(types)) rows <- rows[rows$type %in% chosen_types(types, levels(x$type)), ]
  if (!nrow(rows)) stop_input("x", "has no change that was tested")
  rows <- utils::head(rows[order(rows$p), ], 12L)
  rows$name <- paste0(picture_names(levels(rows$type), 24L)[rows$type], ", ", rows$marker)
  changes_picture(rows[order(-rows$estimate), ], attr(x, "limit"), main,
    paste("Change of the marker,", effect_words(attr(x, "effect_labels"), effect)))
}

#' @rdname differential_state
#' @param object a table of changes; also `x` of its methods.
#' @method tidy differential_state
#' @exportS3Method generics::tidy differential_state
tidy.differential_state <- function(x, ...) {
  check_dots_empty(...)
  check_table(x, "x", state_table_part())
  as_table(data.frame(type = x$type, marker = x$marker, term = x$effect, estimate = x$estimate, conf.low = x$lower,
    conf.high = x$upper, p.value = x$p, fdr = x$fdr))
}

report_content.differential_state <- function(fit, ...) {
  check_dots_empty(...)
  check_table(fit, "fit", state_table_part())
  table_content("Differential states of cell types", state_words(fit), state_table(fit),
    "Changes, the smallest tail probability first",
    if (!all(is.na(fit$p))) {
      picture_part("Changes with their intervals. Those that are reported are filled.",
        function() plot.differential_state(fit), c(0.6, 1))
    },
    note = "fdr: the smallest false discovery rate at which the change is reported.",
    verdict = verdict(fit))
}

in_chunk.differential_state <- function(x) {
  if (!state_table_part()$test(x)) return(list(tables = list(plain_frame(x))))
  list(words = state_words(x), tables = list(state_table(x)), verdict = verdict(x), rows = 200L)
}
