# Components of a mixture under the same number in all draws, and what this makes possible:
# posterior means and intervals of components, and uncertain memberships.

#' Give the components of a mixture the same numbers in all draws
#'
#' Every kept draw is matched to the reference draw, the one with the highest log posterior of all chains: its
#' components are renumbered one to one so that as many cells as possible have the same component in both (Cron and
#' West 2011), which the Hungarian method finds exactly. Cells are compared by the kept labels where the fit has them,
#' and by their most probable component otherwise; of more than 10,000 cells, by 10,000 that are spread evenly.
#'
#' A component of the reference may have no counterpart in a draw, for example where two are one there. What
#' the result says about a component is said of the draws in which it shares cells with its counterpart; `present` is
#' their share. `stability` is the mean over all draws of the Jaccard index: cells in both by cells in either. The
#' mean of a component with low stability is not to be relied on; [cell_types()] usually are more
#' stable than single components.
#'
#' After [continue()] the draws have their own numbers again, and the fit can be relabelled anew.
#'
#' @param fit,object,x a fit from [dp_mixture()] that kept weights, means and covariances; the methods take the
#'   relabelled fit.
#' @param type for `plot()`: `"components"` for means by marker and weights with the intervals that hold 90% of the
#'   draws, or a picture of [plot.dp_mixture()]. For `predict()`: `"class"`: the component with the highest
#'   probability, averaged over draws; `"prob"`: the averaged probabilities; `"uncertainty"`: one minus the highest of
#'   them; `"type"` and `"log_density"` as in [predict.dp_mixture()].
#' @param draws number of kept draws to average over, evenly spaced over all chains; `NULL` for all.
#' @param components how many of the heaviest components to show.
#' @inheritParams predict.dp_mixture
#' @return `relabel()` gives the fit, also of class `relabelled_mixture`, with the kept draws of weights, means,
#'   covariances and labels renumbered, and with
#'   \item{match}{components x draws x chains: the number that each component had in each draw.}
#'   \item{agreement}{draws x chains: the share of the cells that are in the same component as in the reference.}
#'   \item{component_weights}{a data frame, the heaviest component first: `component`, `present`, `stability`, and of
#'     the weight the posterior `mean`, `lower` and `upper` (the interval holds 90% of the draws). `NA` for components
#'     that hold no cells of the reference.}
#'   \item{component_means}{the same of the components' means: a row for each component and `marker`.}
#'   \item{reference}{`draw` and `chain` of the reference.}
#' `predict()` gives one entry or row per cell, as [predict.dp_mixture()] does.
#' @section Errors:
#' As in [predict.dp_mixture()].
#' @references Cron, A. J. and West, M. (2011). Efficient classification-based relabeling in mixture models. *The
#' American Statistician* **65**, 16-20.
#' @seealso [co_clustering()], [cell_types()]
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(600), ncol = 2), matrix(rnorm(400, mean = 5), ncol = 2))
#' fit <- dp_mixture(x, components = 6, iter = 200, chains = 2, seed = 1, threads = 2)
#' matched <- relabel(fit, threads = 2)
#' matched
#' plot(matched)
#' predict(matched, rbind(c(0, 0), c(5, 5), c(2.5, 2.5)), type = "uncertainty", threads = 2)
#' @export
relabel.dp_mixture <- function(fit, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  need_sampler(fit, "there is nothing to match")
  need_draws(fit, c("weights", "means", "covariances"))
  if (is.null(fit$x)) {
    stop_input("fit", "has lost its data, `fit$x`: draws are matched by the components of cells")
  }
  run <- resolve_run(backend, threads)
  k <- fit$components
  reference <- reference_draw(fit)
  all <- spaced_draws(fit)
  class <- compared_classes(fit, all, run)
  home <- class[, all$draw == reference$draw & all$chain == reference$chain]
  home_size <- tabulate(home, k)
  shape <- c(k, nrow(fit$draws$concentration), fit$chains)
  numbers <- seq_len(nrow(all))
  # Draws in the order of `all`, as the arrays hold them.
  match <- matrix(0L, k, length(numbers))
  shared <- matrix(0, k, length(numbers))
  jaccard <- matrix(0, k, length(numbers))
  diagonal <- (seq_len(k) - 1L) * k
  for (i in numbers) {
    count <- tabulate(home + (class[, i] - 1L) * k, k * k)
    dim(count) <- c(k, k)
    order <- solve_assignment(-count)
    both <- count[seq_len(k) + diagonal[order]]
    match[, i] <- order
    shared[, i] <- both
    jaccard[, i] <- both / pmax(1, home_size + tabulate(class[, i], k)[order] - both)
  }
  fit$draws <- renumber_draws(fit$draws, match)
  fit$match <- array(match, shape)
  fit$agreement <- matrix(colSums(shared) / nrow(class), shape[[2L]])
  shared <- array(shared, shape)
  jaccard <- array(jaccard, shape)
  fit$reference <- reference[c("draw", "chain")]
  heaviest <- order(-reference$weights)
  fit$component_weights <- weights_of_components(fit, shared > 0, jaccard)[heaviest, ]
  fit$component_means <- means_of_components(fit, shared > 0, heaviest)
  rownames(fit$component_weights) <- NULL
  class(fit) <- union("relabelled_mixture", class(fit))
  fit
}

# `match`: for each draw the number that each component had.
renumber_draws <- function(draws, match) {
  k <- nrow(match)
  shape <- lapply(draws, dim)
  weights <- matrix(draws$weights, k)
  means <- array(draws$means, c(k, length(draws$means) / length(match), ncol(match)))
  covariances <- array(draws$covariances, c(length(draws$covariances) / length(match), k, ncol(match)))
  shares <- if (!is.null(draws$sample_weights)) array(draws$sample_weights, c(k, dim(draws$sample_weights)[[2L]], ncol(match)))
  labels <- if (!is.null(draws$labels)) matrix(draws$labels, ncol = ncol(match))
  for (i in seq_len(ncol(match))) {
    order <- match[, i]
    weights[, i] <- weights[order, i]
    if (!is.null(shares)) {
      shares[, , i] <- shares[order, , i]
    }
    means[, , i] <- means[order, , i]
    covariances[, , i] <- covariances[, order, i]
    if (!is.null(labels)) {
      labels[, i] <- order(order)[labels[, i]]
    }
  }
  draws$weights[] <- weights
  if (!is.null(shares)) {
    draws$sample_weights[] <- shares
  }
  draws$means[] <- means
  draws$covariances[] <- covariances
  if (!is.null(labels)) {
    draws$labels[] <- labels
  }
  draws
}

# The component of some cells (at most compared_cells) in each draw: cells x draws.
compared_classes <- function(fit, draws, run) {
  rows <- unique(round(seq(1, fit$rows, length.out = min(fit$rows, compared_cells))))
  if (!is.null(fit$draws$labels)) {
    return(matrix(fit$draws$labels[rows, , ], length(rows)))
  }
  evaluate_cells(fit, fit$x[rows, , drop = FALSE], run, function(evaluate) {
    vapply(seq_len(nrow(draws)), function(i) {
      evaluate(mixture_of_draw(fit, draws$draw[[i]], draws$chain[[i]]), "class")$class
    }, integer(length(rows)))
  })
}

# Mean and 90% interval of `values` (draws) where `present`.
interval_of <- function(values, present) {
  values <- values[present]
  if (!length(values)) {
    return(c(NA_real_, NA_real_, NA_real_))
  }
  # As stats::quantile(), which takes ten times as long; there are components x markers of these.
  sorted <- sort.int(values)
  at <- 1 + (length(sorted) - 1) * c(0.05, 0.95)
  below <- floor(at)
  above <- pmin(below + 1, length(sorted))
  c(mean(values), sorted[below] + (at - below) * (sorted[above] - sorted[below]))
}

weights_of_components <- function(fit, present, jaccard) {
  summary <- vapply(seq_len(fit$components), function(j) interval_of(fit$draws$weights[j, , ], present[j, , ]), numeric(3L))
  data.frame(component = seq_len(fit$components), present = apply(present, 1L, mean), stability = apply(jaccard, 1L, mean),
    mean = summary[1L, ], lower = summary[2L, ], upper = summary[3L, ])
}

means_of_components <- function(fit, present, heaviest) {
  p <- length(fit$markers)
  rows <- expand.grid(marker = seq_len(p), component = heaviest)
  summary <- vapply(seq_len(nrow(rows)), function(i) {
    interval_of(fit$draws$means[rows$component[[i]], rows$marker[[i]], , ], present[rows$component[[i]], , ])
  }, numeric(3L))
  data.frame(component = rows$component, marker = fit$markers[rows$marker], mean = summary[1L, ], lower = summary[2L, ], upper = summary[3L, ])
}

#' @rdname relabel.dp_mixture
#' @export
print.relabelled_mixture <- function(x, components = 12, ...) {
  components <- check_count(components, "components", min = 0)
  cat(fit_words(x), sep = "\n")
  cat(sprintf("Components numbered as in draw %d of chain %d; %s of the cells are in the same component, on average over draws\n",
    x$reference$draw, x$reference$chain, percent(mean(x$agreement))))
  held <- x$component_weights[x$component_weights$present > 0, ]
  shown <- held[seq_len(min(components, nrow(held))), ]
  if (nrow(shown)) {
    mean <- matrix(x$component_means$mean, ncol = length(x$markers), byrow = TRUE, dimnames = list(NULL, x$markers))
    mean <- mean[match(shown$component, unique(x$component_means$component)), , drop = FALSE]
    print(data.frame(component = shown$component, present = percent(shown$present, 0), stability = formatC(shown$stability, format = "f", digits = 2),
      weight = percent(shown$mean), `90% interval` = paste(percent(shown$lower), "to", percent(shown$upper)), signif(mean, 3),
      check.names = FALSE), row.names = FALSE)
  }
  if (nrow(held) > nrow(shown)) {
    cat(sprintf("and %s\n", count_words(nrow(held) - nrow(shown), "more component")))
  }
  invisible(x)
}

#' @rdname relabel.dp_mixture
#' @export
predict.relabelled_mixture <- function(object, newdata = NULL, type = c("class", "type", "prob", "uncertainty", "log_density"), draws = 50,
                                       backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  type <- check_choice(type, "type", c("class", "type", "prob", "uncertainty", "log_density"))
  if (type %in% c("type", "log_density")) {
    return(predict.dp_mixture(object, newdata, type, if (type == "log_density") draws, backend = backend, threads = threads))
  }
  if (!is.null(draws)) {
    draws <- check_count(draws, "draws")
  }
  call <- sys.call()
  cells <- cells_of(object, newdata, call = call)
  run <- resolve_run(backend, threads, call = call)
  k <- object$components
  # Every component is a type of its own.
  used <- spaced_draws(object, draws)
  map <- list(used = used, type_of = matrix(seq_len(k), k, nrow(used)), count = k)
  if (type == "prob") {
    check_result_size(as.double(nrow(cells)) * k, NULL, "probabilities", call, copies = 2)
    result <- matrix(0, nrow(cells), k, dimnames = list(rownames(cells), seq_len(k)))
    each_slice_of_types(object, map, cells, run, function(slice, prob) result[slice, ] <<- prob)
    return(result)
  }
  found <- most_probable_type(object, map, cells, run)
  result <- if (type == "class") found$type else 1 - found$probability
  names(result) <- rownames(cells)
  result
}

#' @rdname continue
#' @export
continue.relabelled_mixture <- function(fit, iter, backend = NULL, threads = NULL, checkpoint = NULL, checkpoint_every = 60, progress = NULL, ...) {
  check_dots_empty(...)
  continue(without_numbers(fit), iter,
    backend = backend, threads = threads, checkpoint = checkpoint, checkpoint_every = checkpoint_every, progress = progress
  )
}

# The fit without what relabel() added; its draws keep the numbers that they were given.
without_numbers <- function(fit) {
  fit[c("match", "agreement", "component_weights", "component_means", "reference")] <- NULL
  class(fit) <- setdiff(class(fit), "relabelled_mixture")
  fit
}

#' How probably pairs of cells belong together
#'
#' The probability that two cells are of the same component or, given [cell_types()], of the same type: the mean over
#' draws \eqn{d} of \eqn{\sum_j p_{dj}(x) p_{dj}(y)}, where \eqn{p_{dj}} are the probabilities of the components, or
#' types, of that draw. It does not depend on how components are numbered.
#'
#' @param fit a fit from [dp_mixture()] that kept weights, means and covariances, or cell types from [cell_types()].
#' @param cells rows of the fitted data, as numbers, or `NULL` for all of `newdata`.
#' @param newdata other cells, as in [predict.dp_mixture()]; `NULL` for those that were fitted.
#' @param draws number of kept draws to average over, evenly spaced over all chains; `NULL` for all. Cell types have
#'   their own.
#' @inheritParams predict.dp_mixture
#' @return A symmetric matrix with a row and a column for each of the cells, and 1 on the diagonal.
#' @section Errors:
#' `warpbayes_error_input` for cells that there are not, and as in [predict.dp_mixture()];
#' `warpbayes_error_memory` where the matrix needs more memory than there is.
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(600), ncol = 2), matrix(rnorm(400, mean = 5), ncol = 2))
#' fit <- dp_mixture(x, components = 6, iter = 200, seed = 1, threads = 2)
#' round(co_clustering(fit, cells = c(1, 2, 301, 302), threads = 2), 2)
#' @export
co_clustering <- function(fit, cells = NULL, newdata = NULL, draws = 50, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  call <- sys.call()
  types <- if (inherits(fit, "cell_types")) fit
  if (!is.null(types)) {
    fit <- types$fit
  } else if (!inherits(fit, "dp_mixture")) {
    stop_input("fit", "must come from dp_mixture() or cell_types(), not ", show_value(fit))
  }
  need_sampler(fit, "there is nothing to average over", call)
  need_draws(fit, c("weights", "means", "covariances"))
  if (!is.null(draws)) {
    draws <- check_count(draws, "draws")
  }
  x <- cells_of(fit, newdata, call = call)
  if (!is.null(cells)) {
    if (!is.numeric(cells) || anyNA(cells) || any(cells < 1 | cells > nrow(x) | cells != floor(cells))) {
      stop_input("cells", sprintf("must be rows from 1 to %s, not ", format(nrow(x))), show_value(cells))
    }
    x <- x[cells, , drop = FALSE]
  }
  check_result_size(as.double(nrow(x))^2, NULL, "probabilities", call, copies = 3)
  run <- resolve_run(backend, threads, call = call)
  used <- if (is.null(types)) spaced_draws(fit, draws) else types$map$used
  names <- if (is.null(rownames(x))) cells else rownames(x)
  same <- matrix(0, nrow(x), nrow(x), dimnames = if (!is.null(names)) list(names, names))
  evaluate_cells(fit, x, run, function(evaluate) {
    for (i in seq_len(nrow(used))) {
      prob <- evaluate(mixture_of_draw(fit, used$draw[[i]], used$chain[[i]]), "prob")$prob
      if (!is.null(types)) {
        prob <- t(rowsum(t(prob), types$map$type_of[, i]))
      }
      same[] <<- same + tcrossprod(prob) / nrow(used)
    }
  })
  diag(same) <- 1
  pmin(same, 1)
}
