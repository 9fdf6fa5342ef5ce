# The components of a mixture under the same number in all draws.

#' Give the components of a mixture the same numbers in all draws
#'
#' Component numbers differ between draws. `relabel()` renumbers the components of every kept draw as in the reference
#' draw (see [predict.dp_mixture()]), so that averages of components over draws have a meaning.
#' @param fit,object,x a fit from [dp_mixture()] that kept weights, means and covariances; the methods take the
#'   relabelled fit.
#' @param type for `plot()`: `"components"` for means by marker and weights with 90% intervals, or see
#'   [plot.dp_mixture()]. For `predict()`: `"prob"`: average probabilities over draws; `"class"`: the most probable
#'   component; `"uncertainty"`: one minus its probability; or see [predict.dp_mixture()].
#' @param components how many of the heaviest components to plot.
#' @param newdata the cells, as in [predict.dp_mixture()]; `NULL`: those that were fitted.
#' @param ndraws number of kept draws to average over, evenly spaced over all chains; `NULL`: all.
#' @inheritParams computing_arguments
#' @return `relabel()` gives the fit, also of class `relabelled_mixture`, with its draws renumbered, and with
#'   \item{match}{components x draws x chains: the number that each component had.}
#'   \item{agreement}{draws x chains: the share of the cells in the same component as in the reference draw.}
#'   \item{component_weights}{a data frame, the heaviest component first: `component`, `present`, `stability`, and of
#'     the weight the posterior `mean` and the 90% interval, `lower` and `upper`.}
#'   \item{component_means}{the same for the means: a row for each component and `marker`.}
#' @section How draws are matched:
#' Components are matched one to one, so that as many cells as possible have the same component in both draws (Cron and
#' West 2011). `present` is the share of the draws in which a component has a counterpart; averages are over these
#' draws. `stability` is the mean Jaccard index over all draws: cells in both by cells in either.
#' @references
#' Cron, A. J. and West, M. (2011). Efficient classification-based relabeling in mixture models. *The American
#' Statistician* **65**, 16-20.
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(600), ncol = 2), matrix(rnorm(400, mean = 5), ncol = 2))
#' fit <- dp_mixture(x, components = 6, iter = 200, chains = 2, seed = 1, threads = 2)
#' matched <- relabel(fit, threads = 2)
#' matched
#' plot(matched)
#' @export
relabel.dp_mixture <- function(fit, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  need_sampler(fit, "there is nothing to match")
  need_draws(fit)
  if (is.null(fit$x)) stop_input("fit", "has lost its data, `fit$x`: draws are matched by the components of cells")
  run <- resolve_run(backend, threads)
  reference <- reference_draw(fit)
  all <- spaced_draws(fit)
  class <- if (is.null(fit$draws$labels)) compared_classes(fit, fit$x, all, run) else {
    matrix(fit$draws$labels[compared_rows(fit$rows), , ], ncol = nrow(all))
  }
  home <- class[, all$draw == reference$draw & all$chain == reference$chain]
  matched <- match_draws(class, home, fit$components)
  shape <- c(fit$components, nrow(fit$draws$concentration), fit$chains)
  fit$draws <- renumber_draws(fit$draws, matched$match)
  fit$match <- array(matched$match, shape)
  fit$agreement <- matrix(colSums(matched$shared) / nrow(class), shape[[2L]])
  fit$reference <- reference[c("draw", "chain")]
  heaviest <- order(-reference$weights)
  present <- array(matched$shared, shape) > 0
  draws <- fit$draws
  weights <- data.frame(component = heaviest, present = apply(present, 1L, mean)[heaviest],
    stability = apply(matched$jaccard, 1L, mean)[heaviest])
  means <- expand.grid(marker = fit$markers, component = heaviest, stringsAsFactors = FALSE)[2:1]
  fit$component_weights <- with_intervals(weights, present, function(row) draws$weights[row$component, , ])
  fit$component_means <- with_intervals(means, present, function(row) {
    draws$means[row$component, match(row$marker, fit$markers), , ]
  })
  class(fit) <- union("relabelled_mixture", class(fit))
  fit
}

# Matches the components of all draws, columns of `class` (cells x draws), to the components `home`. Returns `match`
# (the number that each had), `shared` (its cells in both) and the `jaccard` index: components x draws.
match_draws <- function(class, home, k) {
  home_size <- tabulate(home, k)
  match <- matrix(0L, k, ncol(class))
  shared <- jaccard <- matrix(0, k, ncol(class))
  diagonal <- (seq_len(k) - 1L) * k
  for (i in seq_len(ncol(class))) {
    count <- matrix(tabulate(home + (class[, i] - 1L) * k, k * k), k)
    order <- solve_assignment(-count)
    both <- count[seq_len(k) + diagonal[order]]
    match[, i] <- order
    shared[, i] <- both
    jaccard[, i] <- both / pmax(1, home_size + tabulate(class[, i], k)[order] - both)
  }
  list(match = match, shared = shared, jaccard = jaccard)
}

# `draws`: arrays whose last dimensions are draws and chains. `match`: the number that each component had in each draw.
renumber_draws <- function(draws, match) {
  k <- nrow(match)
  count <- ncol(match)
  renumber <- function(values, before, after) {
    parts <- array(values, c(before, k, after, count))
    for (i in seq_len(count)) parts[, , , i] <- parts[, match[, i], , i]
    values[] <- parts
    values
  }
  draws$weights <- renumber(draws$weights, 1, 1)
  for (part in intersect(c("sample_weights", "sample_sizes"), names(draws))) {
    draws[[part]] <- renumber(draws[[part]], 1, dim(draws[[part]])[[2L]])
  }
  draws$means <- renumber(draws$means, 1, dim(draws$means)[[2L]])
  draws$covariances <- renumber(draws$covariances, prod(dim(draws$covariances)[1:2]), 1)
  if (!is.null(draws$labels)) {
    labels <- matrix(draws$labels, ncol = count)
    for (i in seq_len(count)) labels[, i] <- order(match[, i])[labels[, i]]
    draws$labels[] <- labels
  }
  draws
}

with_intervals <- function(table, present, values_of) {
  summary <- vapply(seq_len(nrow(table)), function(i) {
    values <- values_of(table[i, ])[present[table$component[[i]], , ]]
    if (length(values)) c(mean(values), column_quantiles(cbind(values), c(0.05, 0.95))) else rep(NA_real_, 3L)
  }, numeric(3L))
  data.frame(table, mean = summary[1L, ], lower = summary[2L, ], upper = summary[3L, ])
}

in_console.relabelled_mixture <- function(x, components = 12, ...) {
  components <- check_count(components, "components", min = 0)
  print_lines(c(fit_words(x), relabelled_words(x)))
  held <- relabelled_table(x, components)
  if (nrow(held$table)) print(held$table, row.names = FALSE)
  if (held$rest) cat(sprintf("and %s\n", count_words(held$rest, "more component")))
  print_verdict(verdict(x))
}

relabelled_words <- function(x) {
  paste(sprintf("Components numbered as in draw %d of chain %d;", x$reference$draw, x$reference$chain),
    percent(mean(x$agreement)), "of the cells are in the same component, on average over draws")
}

relabelled_table <- function(x, components) {
  held <- x$component_weights[x$component_weights$present > 0, ]
  shown <- held[seq_len(min(components, nrow(held))), ]
  means <- matrix(x$component_means$mean, ncol = length(x$markers), byrow = TRUE, dimnames = list(NULL, x$markers))
  means <- means[match(shown$component, unique(x$component_means$component)), , drop = FALSE]
  list(rest = nrow(held) - nrow(shown), table = data.frame(
    component = shown$component, present = percent(shown$present, 0),
    stability = formatC(shown$stability, format = "f", digits = 2), weight = percent(shown$mean),
    `90% interval` = paste(percent(shown$lower), rep("to", nrow(shown)), percent(shown$upper)), signif(means, 3),
    check.names = FALSE
  ))
}

in_chunk.relabelled_mixture <- function(x) {
  summary <- summary.dp_mixture(x)
  list(words = c(summary$words, relabelled_words(x)), tables = list(relabelled_table(x, Inf)$table),
    verdict = summary$verdict, rows = 12L)
}

#' @rdname relabel.dp_mixture
#' @export
predict.relabelled_mixture <- function(object, newdata = NULL,
                                       type = c("class", "type", "prob", "uncertainty", "log_density"), ndraws = 50,
                                       backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  type <- check_choice(type, "type", c("class", "type", "prob", "uncertainty", "log_density"))
  if (type %in% c("type", "log_density")) {
    ndraws <- if (type == "log_density") ndraws
    return(predict.dp_mixture(object, newdata, type, ndraws, backend = backend, threads = threads))
  }
  ndraws <- check_ndraws(ndraws)
  cells <- cells_of(object, newdata)
  run <- resolve_run(backend, threads)
  prob <- type == "prob"
  if (prob) check_result_size(as.double(nrow(cells)) * object$components, NULL, "probabilities", copies = 2)
  result <- if (prob) matrix(0, nrow(cells), object$components) else numeric(nrow(cells))
  used <- spaced_draws(object, ndraws)
  # 2^24 probabilities at a time.
  for (slice in row_slices(nrow(cells), max(1, floor(2^24 / object$components)))) {
    mean <- evaluate_cells(object, cells_in(cells, slice), run, function(evaluate) {
      sum <- 0
      for (i in seq_len(nrow(used))) {
        sum <- sum + evaluate(mixture_of_draw(object, used$draw[[i]], used$chain[[i]]), "prob")$prob
      }
      sum / nrow(used)
    })
    best <- max.col(mean, "first")
    top <- mean[cbind(seq_along(slice), best)]
    if (prob) result[slice, ] <- mean else result[slice] <- if (type == "class") best else 1 - pmin(top, 1)
  }
  if (type == "class") storage.mode(result) <- "integer"
  if (!prob) return(stats::setNames(result, rownames(cells)))
  dimnames(result) <- list(rownames(cells), seq_len(object$components))
  result
}

#' @rdname continue
#' @usage NULL
#' @export
continue.relabelled_mixture <- function(fit, more, ...) continue(without_numbers(fit), more, ...)

without_numbers <- function(fit) {
  fit[c("match", "agreement", "component_weights", "component_means", "reference")] <- NULL
  class(fit) <- setdiff(class(fit), "relabelled_mixture")
  fit
}

#' @rdname tidiers
#' @method tidy relabelled_mixture
#' @exportS3Method generics::tidy relabelled_mixture
tidy.relabelled_mixture <- function(x, ...) {
  check_method(x, "x", ...)
  check_component_tables(x)
  weights <- x$component_weights
  means <- x$component_means
  own <- match(means$component, weights$component)
  table <- data.frame(
    component = c(weights$component, means$component), term = c(rep("weight", nrow(weights)), means$marker),
    estimate = c(weights$mean, means$mean), conf.low = c(weights$lower, means$lower),
    conf.high = c(weights$upper, means$upper), present = weights$present[c(seq_len(nrow(weights)), own)],
    stability = weights$stability[c(seq_len(nrow(weights)), own)]
  )
  table <- table[order(match(table$component, weights$component)), ]
  rownames(table) <- NULL
  as_table(table)
}

#' @export
drop_warmup.relabelled_mixture <- function(fit, n = NULL, ...) {
  check_method(fit, "fit", ...)
  lengthen_warmup(without_numbers(fit), n)
}

#' @rdname relabel.dp_mixture
#' @param markers for `"components"`: names or numbers of markers, as in [plot.dp_mixture()].
#' @param ... for `plot()`: further arguments of [plot.dp_mixture()].
#' @export
plot.relabelled_mixture <- function(x, type = c("components", "pairs", "trace", "weights", "heatmap"), components = 12,
                                    markers = NULL, main = NULL, ...) {
  paint_picture(picture_of(x, type, components, markers, main, ..., argument = "x"))
  invisible(x)
}

picture_of.relabelled_mixture <- function(x, type = types, components = 12, markers = NULL, main = NULL, ...) {
  types <- c("components", "pairs", "trace", "weights", "heatmap")
  type <- check_choice(type, "type", types)
  if (type != "components") return(picture_of.dp_mixture(x, type = type, markers = markers, main = main, ...))
  component_picture(x, components, markers, main, ...)
}

check_component_tables <- function(x) {
  check_described(x, "x", list(component_weights = part_table("component mean lower upper present stability"),
    component_means = part_table("component mean lower upper", marker = is.character)))
}

component_picture <- function(x, components, markers, main, ..., argument) {
  check_dots_empty(...)
  components <- check_count(components, "components")
  check_component_tables(x)
  held <- x$component_weights[x$component_weights$present > 0, ]
  shown <- held[seq_len(min(components, nrow(held))), ]
  chosen <- choose_markers(x, markers, reference_draw(x))
  rows <- nrow(shown)
  at <- rev(seq_len(rows))
  colours <- type_colours(rows)
  intervals <- function(values, title, axis) {
    xlim <- around(unlist(values[c("lower", "upper")]), 0.06)
    panel(xlim, c(0.4, rows + 0.6), list(
      layer("segments", x = values$lower, y = at, xend = values$upper, yend = at, colour = colours, width = 3),
      layer("points", x = values$mean, y = at, fill = colours)
    ), axis(xlim), name_axis(shown$component), short_names(title))
  }
  panels <- lapply(chosen, function(marker) {
    means <- x$component_means[x$component_means$marker == x$markers[[marker]], ]
    intervals(means[match(shown$component, means$component), ], x$markers[[marker]],
      function(ends) marker_axis(x, marker, ends))
  })
  weights <- intervals(shown, "Weight", function(ends) axis_of(ends, percent_labels, 3L))
  picture(c(panels, list(weights)), main, NULL, "Component", columns = length(chosen) + 1L)
}
