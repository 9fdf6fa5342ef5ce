# Proportions of cell types in the samples of a fit, and differences between groups of samples.

#' Proportions of cell types in several samples, and differences between groups
#'
#' For cell types of a fit of [several samples][mixture_samples], `type_proportions()` gives the proportion of each
#' type in each sample. `type_differences()` compares groups of samples, such as patients and controls.
#'
#' @param types cell types from [cell_types()] of a fit of several samples.
#' @param level probability of the intervals, between 0 and 1.
#' @param group the group of each sample: a vector or factor with an entry for each, in the order of
#'   `types$fit$samples` or with their names. `NA` leaves a sample out. The other groups are compared with the first
#'   group (or level).
#' @param scale `"proportion"`, or `"log_ratio"` for differences of natural logs of proportions.
#' @param ... not used.
#' @return `type_proportions()`: a data frame of class `type_proportions` with a row for each type and sample: `type`,
#'   `sample`, `cells` (of the sample), `proportion` (posterior mean), `lower` and `upper`. Its attribute `draws` has
#'   the proportions in each draw (draws x types x samples).
#'
#'   `type_differences()`: a data frame of class `type_differences` with a row for each type and each group but the
#'   first:
#'   \describe{
#'     \item{`type`, `group`, `against`}{the type, and the two groups;}
#'     \item{`mean`, `mean_against`}{the mean proportions of the two groups;}
#'     \item{`difference`, `lower`, `upper`}{the posterior mean of the difference, and its interval;}
#'     \item{`above`}{the posterior probability that the difference is above 0;}
#'     \item{`within`}{the standard deviation of the samples within their groups, on the same scale; `NA` if each
#'       group has one sample.}
#'   }
#'
#' @section What the intervals mean:
#' The proportion of a type in a sample is the sum of that sample's weights over the components of the type, in each
#' draw that [cell_types()] used, each with its own cut. These are 50 by default: give `cell_types()` more `ndraws` for
#' more exact limits. The interval includes the uncertainty about which types there are. It is about the population from
#' which the cells of the sample were drawn. It is therefore wider if a sample has few cells. The proportions of such a
#' sample are drawn towards the other samples.
#'
#' A difference is between the means of two groups, and each sample counts the same in the mean of its group. Its
#' interval and `above` are about **these samples**. They do not say how other patients would differ. For that, the
#' spread between the samples of a group counts too, which `within` shows. If the difference is not well beyond
#' `within`, the groups may differ only because their patients do.
#' @section Errors:
#' `warpbayes_error_input` for cell types of a fit of one sample, for a `group` that does not fit the samples or has
#' fewer than two groups, and for other arguments that cannot be used.
#' @references
#' Teh, Y. W., Jordan, M. I., Beal, M. J. and Blei, D. M. (2006). Hierarchical Dirichlet processes.
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
  draws <- sample_shares(types)
  level <- check_number(level, "level", min = 0, max = 1)
  interval <- interval_over_draws(draws, level)
  names <- types$types$type
  samples <- types$fit$samples
  structure(
    data.frame(
      type = factor(rep(names, length(samples)), names),
      sample = factor(rep(samples, each = length(names)), samples),
      cells = rep(tabulate(types$fit$sample, length(samples)), each = length(names)),
      proportion = zap_share(as.vector(interval$mean)), lower = zap_share(as.vector(interval$lower)),
      upper = zap_share(as.vector(interval$upper))
    ),
    draws = draws, level = level, class = c("type_proportions", "warpbayes", "data.frame")
  )
}

in_console.type_proportions <- function(x, ...) {
  parts <- c("type", "sample", "cells", "proportion", "lower", "upper")
  if (!identical(names(x), parts)) return(print(plain_frame(x), ...))
  level <- attr(x, "level")
  shown <- data.frame(type = x$type, sample = x$sample, cells = x$cells, proportion = percent(x$proportion, 2),
    interval = interval_words(x, 2))
  names(shown)[[5L]] <- if (is.null(level)) "interval" else paste0(format(100 * level), "% interval")
  print(shown, row.names = FALSE)
}

#' @rdname type_proportions
#' @export
type_differences <- function(types, group, level = 0.9, scale = c("proportion", "log_ratio"), ...) {
  check_dots_empty(...)
  check_present(!missing(group), "group")
  draws <- sample_shares(types)
  level <- check_number(level, "level", min = 0, max = 1)
  scale <- check_choice(scale, "scale", c("proportion", "log_ratio"))
  how <- if (is.null(names(group))) "group"
  group <- check_groups(group, types$fit$samples)
  words <- order_words(list(matched = list(how = how, values = as.character(group)), samples = types$fit$samples))
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
      difference = interval$mean, lower = interval$lower, upper = interval$upper,
      above = colMeans(difference > 0), within = within
    )
  })
  table <- do.call(rbind, rows)
  rownames(table) <- NULL
  structure(table, scale = scale, level = level, words = words,
    class = c("type_differences", "warpbayes", "data.frame"))
}

# Proportions of the types in each draw and sample: draws x types x samples.
sample_shares <- function(types) {
  check_cell_types(types)
  fit <- types$fit
  if (is.null(fit$samples)) {
    stop_input("types", "are of a fit of one sample; give dp_mixture() a list of samples or `sample`")
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

# The standard deviation of posterior means (types x samples) around the means of their groups.
spread_within <- function(means, group) {
  kept <- which(!is.na(group))
  freedom <- length(kept) - nlevels(group)
  if (freedom < 1L) return(rep(NA_real_, nrow(means)))
  apply(means[, kept, drop = FALSE], 1L, function(values) {
    sqrt(sum((values - stats::ave(values, group[kept]))^2) / freedom)
  })
}

check_groups <- function(group, samples) {
  if (!is.atomic(group) || is.null(group) || length(group) != length(samples)) {
    stop_input("group", sprintf("must have a group for each of the %s, not ", count_words(length(samples), "sample")),
      show_value(group))
  }
  if (!is.null(names(group))) {
    if (!setequal(names(group), samples)) {
      stop_input("group", "has names other than the samples ", list_some(samples), ": ",
        list_some(setdiff(names(group), samples)))
    }
    group <- group[samples]
  }
  group <- droplevels(if (is.factor(group)) group else factor(group, unique(group[!is.na(group)])))
  if (nlevels(group) < 2L) {
    found <- if (nlevels(group)) paste("only the group", dQuote(levels(group), FALSE)) else "no group"
    stop_input("group", "has ", found, "; two are needed for a difference")
  }
  group
}

#' @rdname tidiers
#' @method tidy type_proportions
#' @exportS3Method generics::tidy type_proportions
tidy.type_proportions <- function(x, conf.level = NULL, ...) {
  check_dots_empty(...)
  check_share_table(x)
  draws <- attr(x, "draws")
  ends <- unclass(x)[c("lower", "upper")]
  if (!is.null(conf.level)) {
    conf.level <- check_number(conf.level, "conf.level", min = 0, max = 1)
    if (!is.numeric(draws) || length(dim(draws)) != 3L || prod(dim(draws)[-1L]) != nrow(x)) {
      stop_input("conf.level", "cannot be changed: rows of the table were removed, so its draws do not fit")
    }
    interval <- interval_over_draws(draws, conf.level)
    ends <- list(zap_share(as.vector(interval$lower)), zap_share(as.vector(interval$upper)))
  }
  as_table(data.frame(
    type = x$type, sample = x$sample, cells = x$cells, estimate = x$proportion, conf.low = ends[[1L]],
    conf.high = ends[[2L]]
  ))
}

#' @rdname tidiers
#' @method tidy type_differences
#' @exportS3Method generics::tidy type_differences
tidy.type_differences <- function(x, ...) {
  check_dots_empty(...)
  check_share_table(x)
  as_table(data.frame(
    type = x$type, contrast = paste(x$group, x$against, sep = " - "), estimate = x$difference, conf.low = x$lower,
    conf.high = x$upper, above = x$above
  ))
}
