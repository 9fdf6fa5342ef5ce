# Proportions of cell types in the samples of a fit, differences between groups of samples, and a picture of both.

#' Proportions of cell types in several samples, and differences between groups
#'
#' For cell types of a fit of several samples (`sample` of [dp_mixture()]), `type_proportions()` gives the proportion
#' of each type in each sample, and `type_differences()` compares groups of samples, such as patients and controls.
#'
#' A type's proportion in a sample is the sum of that sample's weights over the components of the type, in each of the
#' draws that [cell_types()] used; its interval is that of these draws, 50 by default: give `cell_types()` more
#' `draws` for finer limits. It covers what is not known of the population from which the cells of the sample were
#' drawn, so it is wider where a sample has few cells, and these proportions are drawn towards those of the other
#' samples.
#'
#' A difference is that of two means over the samples of a group, each sample counting the same; with
#' `scale = "log_ratio"` that of the means of log proportions. Its interval and `above` refer to **these samples**.
#' They do not say how other patients would differ: for that, the spread between samples of a group counts too, which
#' is what `within` shows. If the difference is not well beyond it, the groups may differ by their patients alone.
#'
#' @param types cell types from [cell_types()] of a fit of several samples.
#' @param level probability of the intervals, between 0 and 1.
#' @param group the group of each sample: a vector or factor with an entry for each, in the order of
#'   `types$fit$samples` or with their names; `NA` leaves a sample out. The first group (or level) is what the others
#'   are compared with.
#' @param scale `"proportion"`, or `"log_ratio"` for natural logs of ratios.
#' @param ... not used.
#' @return `type_proportions()`: a data frame of class `type_proportions` with a row for each type and sample: `type`,
#'   `sample`, `cells` (of the sample), `proportion` (posterior mean), `lower` and `upper`. Its attribute `draws` has
#'   the proportions in each draw (draws x types x samples).
#'
#'   `type_differences()`: a data frame of class `type_differences` with a row for each type and group but the first:
#'   `type`, `group`, `against`, `mean` and `mean_against` (mean proportions of the two groups), `difference`
#'   (posterior mean), `lower`, `upper`, `above` (the posterior probability that the difference is above 0), `within`
#'   (the standard deviation of the samples within their groups, on the same scale; `NA` where each group has one
#'   sample).
#' @section Errors:
#' `warpbayes_error_input` for cell types of a fit of one sample, for a `group` that does not fit the samples or has
#' fewer than two groups, and for other arguments that cannot be used.
#' @references Teh, Y. W., Jordan, M. I., Beal, M. J. and Blei, D. M. (2006). Hierarchical Dirichlet processes.
#' *Journal of the American Statistical Association* **101**, 1566-1581.
#' @seealso [dp_mixture()], [cell_types()]
#' @examples
#' set.seed(1)
#' sample_with <- function(share, n = 400) {
#'   rare <- runif(n) < share
#'   cbind(CD4 = rnorm(n) + 5 * rare, CD8 = rnorm(n))
#' }
#' samples <- list(
#'   a1 = sample_with(0.1), a2 = sample_with(0.15),
#'   b1 = sample_with(0.4), b2 = sample_with(0.35)
#' )
#' fit <- dp_mixture(samples, components = 8, iter = 200, seed = 1, threads = 2)
#' types <- cell_types(fit, threads = 2)
#' type_proportions(types)
#' type_differences(types, group = c("A", "A", "B", "B"))
#' plot(type_proportions(types), group = c("A", "A", "B", "B"))
#' @export
type_proportions <- function(types, level = 0.9, ...) {
  check_dots_empty(...)
  draws <- sample_shares(types, sys.call())
  level <- check_number(level, "level", min = 0, max = 1)
  interval <- interval_over_draws(draws, level)
  names <- types$types$type
  samples <- types$fit$samples
  structure(
    data.frame(
      type = factor(rep(names, length(samples)), names), sample = factor(rep(samples, each = length(names)), samples),
      cells = rep(tabulate(types$fit$sample, length(samples)), each = length(names)),
      proportion = as.vector(interval$mean), lower = as.vector(interval$lower), upper = as.vector(interval$upper)
    ),
    draws = draws, level = level, class = c("type_proportions", "data.frame")
  )
}

#' @rdname type_proportions
#' @export
type_differences <- function(types, group, level = 0.9, scale = c("proportion", "log_ratio"), ...) {
  check_dots_empty(...)
  draws <- sample_shares(types, sys.call())
  level <- check_number(level, "level", min = 0, max = 1)
  scale <- check_choice(scale, "scale", c("proportion", "log_ratio"))
  group <- check_groups(group, types$fit$samples, sys.call())
  values <- if (scale == "proportion") draws else log(pmax(draws, 1e-300))
  # draws x types
  mean_of <- function(values, level) apply(values[, , which(group == level), drop = FALSE], c(1L, 2L), mean)
  within <- spread_within(apply(values, c(2L, 3L), mean), group)
  names <- types$types$type
  against <- levels(group)[[1L]]
  rows <- lapply(levels(group)[-1L], function(other) {
    difference <- mean_of(values, other) - mean_of(values, against)
    interval <- interval_over_draws(difference, level)
    data.frame(
      type = factor(names, names), group = other, against = against,
      mean = colMeans(mean_of(draws, other)), mean_against = colMeans(mean_of(draws, against)),
      difference = interval$mean, lower = interval$lower, upper = interval$upper, above = colMeans(difference > 0), within = within
    )
  })
  table <- do.call(rbind, rows)
  rownames(table) <- NULL
  structure(table, scale = scale, level = level, class = c("type_differences", "data.frame"))
}

# Proportions of the types in each draw and sample: draws x types x samples.
sample_shares <- function(types, call) {
  if (!inherits(types, "cell_types")) {
    stop_input("types", "must come from cell_types(), not ", show_value(types), call = call)
  }
  fit <- types$fit
  if (is.null(fit$samples)) {
    stop_input("types", "are of a fit of one sample; give dp_mixture() a list of samples or `sample`", call = call)
  }
  used <- types$map$used
  count <- types$map$count
  shares <- vapply(seq_len(nrow(used)), function(i) {
    weights <- matrix(fit$draws$sample_weights[, , used$draw[[i]], used$chain[[i]]], fit$components)
    in_types <- matrix(0, count, ncol(weights))
    sums <- rowsum(weights, types$map$type_of[, i])
    in_types[as.integer(rownames(sums)), ] <- sums
    in_types / rep(colSums(in_types), each = count)
  }, matrix(0, count, length(fit$samples)))
  shares <- array(shares, c(count, length(fit$samples), nrow(used)), list(types$types$type, fit$samples, NULL))
  aperm(shares, c(3L, 1L, 2L))
}

# Mean and interval over the first dimension.
interval_over_draws <- function(draws, level) {
  over <- seq_along(dim(draws))[-1L]
  ends <- function(probability) apply(draws, over, stats::quantile, probability, names = FALSE)
  list(mean = apply(draws, over, mean), lower = ends((1 - level) / 2), upper = ends((1 + level) / 2))
}

# The standard deviation of posterior means (types x samples) about the means of their groups.
spread_within <- function(means, group) {
  kept <- which(!is.na(group))
  freedom <- length(kept) - nlevels(group)
  if (freedom < 1L) {
    return(rep(NA_real_, nrow(means)))
  }
  apply(means[, kept, drop = FALSE], 1L, function(values) {
    sqrt(sum((values - stats::ave(values, group[kept]))^2) / freedom)
  })
}

check_groups <- function(group, samples, call) {
  if (!is.atomic(group) || is.null(group) || length(group) != length(samples)) {
    stop_input("group", sprintf("must have a group for each of the %s, not ", count_words(length(samples), "sample")), show_value(group), call = call)
  }
  if (!is.null(names(group))) {
    if (!setequal(names(group), samples)) {
      stop_input("group", "has names other than the samples ", list_some(samples), ": ", list_some(setdiff(names(group), samples)), call = call)
    }
    group <- group[samples]
  }
  group <- droplevels(if (is.factor(group)) group else factor(group, unique(group[!is.na(group)])))
  if (nlevels(group) < 2L) {
    stop_input("group", "has ", if (nlevels(group)) paste("only the group", dQuote(levels(group), FALSE)) else "no group", "; two are needed for a difference",
      call = call)
  }
  group
}

#' Plot proportions of cell types by sample, or their differences between groups
#'
#' A panel for each type with a line for each sample, its proportion and interval; samples of a group have the same
#' colour. For differences, a line for each type and group, with a line at zero.
#'
#' @param x from [type_proportions()] or [type_differences()].
#' @param group the group of each sample, as in [type_differences()]; `NULL` for one colour.
#' @param types which types: names or numbers; `NULL` for the twelve most frequent.
#' @param main title, `NULL` for none.
#' @param ... not used.
#' @return `x`, invisibly.
#' @section Errors:
#' `warpbayes_error_input` for an argument that cannot be used.
#' @examples
#' set.seed(1)
#' x <- list(a = matrix(rnorm(400), 200), b = matrix(rnorm(400, mean = rep(c(0, 5), 100)), 200))
#' types <- cell_types(dp_mixture(x, components = 6, iter = 200, seed = 1, threads = 2), threads = 2)
#' plot(type_proportions(types))
#' plot(type_differences(types, group = c("control", "patient")))
#' @export
plot.type_proportions <- function(x, group = NULL, types = NULL, main = NULL, ...) {
  check_dots_empty(...)
  samples <- levels(x$sample)
  if (!is.null(group)) {
    group <- check_groups(group, samples, sys.call())
  }
  shown <- chosen_types(types, levels(x$type))
  colours <- rep_len(chain_colours, max(1L, nlevels(group)))
  colour <- if (is.null(group)) rep(colours[[1L]], length(samples)) else ifelse(is.na(group), other_colour, colours[as.integer(group)])
  columns <- ceiling(sqrt(length(shown)))
  cex <- min(0.9, 16 / length(samples))
  names <- names_in_margin(samples, graphics::par("din")[[1L]] / columns, cex)
  old <- graphics::par(
    mfrow = c(ceiling(length(shown) / columns), columns), mar = c(2.6, 0.6 + names$lines, 1.8, 0.8), las = 1, mgp = c(1.6, 0.4, 0), tcl = -0.25,
    oma = c(if (is.null(group)) 0 else 1.6, 0, if (is.null(main)) 0 else 2, 0)
  )
  on.exit(graphics::par(old))
  at <- seq_along(samples)
  for (type in shown) {
    rows <- x[x$type == type, ]
    graphics::plot.new()
    graphics::plot.window(c(0, max(rows$upper)), c(length(samples) + 0.5, 0.5))
    graphics::abline(v = graphics::axTicks(1L), col = "#EEEEEE")
    graphics::segments(rows$lower, at, rows$upper, at, col = colour, lwd = 3)
    graphics::points(rows$proportion, at, pch = 21, bg = colour, col = "black")
    graphics::axis(1L, at = graphics::axTicks(1L), labels = paste0(format(100 * graphics::axTicks(1L), trim = TRUE), "%"), cex.axis = 0.8)
    graphics::axis(2L, at = at, labels = names$names, tick = FALSE, cex.axis = names$cex, gap.axis = -1)
    graphics::title(short_names(type), cex.main = 1, line = 0.5)
  }
  if (!is.null(group)) {
    # Names in the colours of their groups: not every device has a character for a dot.
    graphics::mtext(levels(group), side = 1L, outer = TRUE, line = 0.3, col = colours[seq_len(nlevels(group))],
      at = (seq_len(nlevels(group)) - 0.5) / nlevels(group), cex = 0.8, font = 2L)
  }
  if (!is.null(main)) {
    graphics::mtext(main, side = 3L, outer = TRUE, line = 0.5, font = 2L)
  }
  invisible(x)
}

#' @rdname plot.type_proportions
#' @export
plot.type_differences <- function(x, types = NULL, main = NULL, ...) {
  check_dots_empty(...)
  shown <- chosen_types(types, levels(x$type))
  groups <- unique(x$group)
  rows <- x[x$type %in% shown, ]
  rows <- rows[order(match(rows$type, shown)), ]
  count <- nrow(rows)
  text <- if (length(groups) > 1L) paste(rows$type, rows$group, sep = ", ") else as.character(rows$type)
  names <- names_in_margin(text, graphics::par("din")[[1L]], min(0.9, 22 / count))
  old <- graphics::par(mar = c(3.6, 0.6 + names$lines, if (is.null(main)) 1 else 2.6, 4), las = 1, mgp = c(2.2, 0.5, 0), tcl = -0.25)
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::plot.window(range(0, rows$lower, rows$upper), c(count + 0.5, 0.5))
  graphics::abline(v = 0, col = "#888888")
  at <- seq_len(count)
  colour <- chain_colours[1L + (match(rows$group, groups) - 1L) %% length(chain_colours)]
  graphics::segments(rows$lower, at, rows$upper, at, col = colour, lwd = 3)
  graphics::points(rows$difference, at, pch = 21, bg = colour, col = "black")
  graphics::axis(1L)
  graphics::axis(2L, at = at, labels = names$names, tick = FALSE, cex.axis = names$cex, gap.axis = -1)
  graphics::axis(4L, at = at, labels = percent(rows$above, 0), tick = FALSE, cex.axis = min(0.8, 20 / count), gap.axis = -1)
  graphics::title(xlab = sprintf("%s, %s minus %s (right: probability of being above 0)",
    if (attr(x, "scale") == "log_ratio") "Log proportion" else "Proportion", paste(groups, collapse = ", "), x$against[[1L]]))
  if (!is.null(main)) {
    graphics::mtext(main, side = 3L, line = 1, font = 2L, adj = 0)
  }
  invisible(x)
}

chosen_types <- function(types, known, call = sys.call(-1L)) {
  if (is.null(types)) {
    return(utils::head(known, 12L))
  }
  if (is.numeric(types)) {
    types <- known[types]
  }
  if (!is.character(types) || !length(types) || !all(types %in% known)) {
    stop_input("types", "must be some of ", list_some(known), call = call)
  }
  types
}
