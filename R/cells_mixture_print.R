# print() and summary() of a fitted mixture. Quantities of convergence do not depend on numbering.

where_words <- function(fit) {
  sprintf("%s on %s, %s precision, seed %s", elapsed_words(fit$elapsed), backend_words(fit), fit$precision,
    format(fit$seed, digits = 16))
}

fit_words <- function(fit) c(size_words(fit), chain_words(fit, count_kept(fit), where_words(fit)))

#' Print or summarise a fitted mixture
#'
#' `print()` says what was fitted, how many components hold cells, and its [verdict()]. `summary()` adds statistics of
#' [convergence] or, if chains do not agree, the shares of [cell types][cell_types()] in each chain.
#' `print(summary(fit), all = TRUE)` shows the prior, the largest components and all reasons, too.
#' @param object a fit from [dp_mixture()].
#' @inheritParams computing_arguments
#' @return `summary()` gives a list of class `summary.dp_mixture`:
#' * `learned`: the learned parts of the prior: `part`, `mean`, `q5`, `q95`, in the data's units.
#' * `diagnostics`: a row for each quantity: `quantity`, `mean`, `sd`, `q5`, `median`, `q95`, `rhat`, `ess_bulk`.
#' * `converged`, `verdict`: `TRUE`, `FALSE`, or `NA` if it cannot be judged; and the [verdict()].
#' * `populations`: if chains do not agree: for each type of `cell_types(fit)` with 1% of the cells or more, `type`,
#'   `share`, `rhat`, `common` (see [cell_types_method]), `differs` (by more than chance explains), the share in each
#'   chain, the Monte Carlo `error` of the share, and `means`.
#' * `components`, `reference`: the components of the reference draw by decreasing weight, and its `draw` and `chain`.
#' * `occupied`: how many components hold cells, sweeps x chains without warm-up. `piled`: see [piled_values].
#'
#' For [Bayesian EM][bayesian_em], `starts` and `best` replace `learned`, `diagnostics` and `occupied`.
#' @name summary.dp_mixture
NULL

in_console.dp_mixture <- function(x, ...) {
  check_mixture_fit(x, "x")
  method <- method_of(x)
  print_lines(c(method$words(x), method$held(x)))
  print_verdict(verdict(x))
}

held_words <- function(fit) {
  table <- diagnose(fit)
  occupied <- table[table$quantity == "occupied", ]
  number <- function(value) format(value, scientific = FALSE)
  c(if (!is.na(occupied$median)) {
    sprintf("Components that hold cells: %s (90%% of draws: %s to %s)",
      number(occupied$median), number(floor(occupied$q5)), number(ceiling(occupied$q95)))
  }, largest_words(paste0("Largest, in the last sweep", if (fit$chains > 1) " of chain 1"), fit$sizes[, 1L], fit$rows))
}

largest_words <- function(title, sizes, rows) {
  largest <- utils::head(sort(sizes[sizes > 0], decreasing = TRUE), 8L)
  shares <- paste0(format(round(100 * largest / rows, 1), trim = TRUE), "%", collapse = ", ")
  if (length(largest)) sprintf("%s: %s of the cells", title, shares)
}

learned_table <- function(fit) {
  if (!count_kept(fit)) return(NULL)
  parts <- learned_draws(fit)
  names(parts) <- sub("^prior_", "", names(parts))
  for (j in seq_len(NROW(fit$draws$prior_scale))) {
    parts[[sprintf("sd[%s]", fit$markers[[j]])]] <- sqrt(fit$draws$prior_scale[j, j, , ])
  }
  if (!length(parts)) return(NULL)
  draws <- matrix(unlist(parts), ncol = length(parts))
  points <- column_quantiles(draws, c(0.05, 0.95))
  data.frame(part = names(parts), mean = colMeans(draws), q5 = points[, 1L], q95 = points[, 2L])
}

diagnostics_words <- function(table, digits) {
  shown <- c("mean", "sd", "q5", "q95")
  error <- table$sd / sqrt(table$ess_bulk)
  spread <- pmax(table$sd, ifelse(error > 0, 10^(digits - 1 + ceiling(log10(error))), 0), na.rm = TRUE)
  numbers <- t(vapply(seq_len(nrow(table)), function(i) {
    values <- unlist(table[i, shown])
    ifelse(is.na(values), "-", format_to_spread(values, spread[[i]], digits))
  }, character(length(shown))))
  colnames(numbers) <- shown
  data.frame(quantity = sub("^the ", "", quantity_words(table$quantity)), numbers, Rhat = rhat_words(table$rhat),
    ESS = ess_words(table$ess_bulk), check.names = FALSE)
}

#' @rdname summary.dp_mixture
#' @export
summary.dp_mixture <- function(object, ...) {
  check_method(object, "object", ...)
  method <- method_of(object)
  reference <- if (has_mixtures(object)) reference_draw(object)
  components <- if (!is.null(reference)) {
    order <- order(-reference$weights)
    data.frame(component = order, weight = reference$weights[order], reference$means[order, , drop = FALSE],
      check.names = FALSE)
  }
  structure(c(list(words = c(method$words(object), method$held(object)[1L]), prior = object$prior),
    method$summary(object, reference), list(components = components, reference = reference[c("draw", "chain")],
      piled = object$piled, rows = object$rows, transform = object$transform)
  ), class = c("summary.dp_mixture", "warpbayes"))
}

gibbs_summary <- function(fit, reference) {
  table <- diagnose(fit)
  said <- verdict(fit)
  agreement <- if (any(said$reasons$code %in% c("chains_differ", "modes_alike", "modes_unlike"))) fit_agreement(fit)
  list(learned = learned_table(fit), diagnostics = table, converged = is_usable(said),
    verdict = if (is.null(agreement)) said else method_of(fit)$verdict(fit, table, agreement),
    populations = if (!is.null(agreement)) populations_by_chain(fit, agreement),
    occupied = trace_quantities(fit)$occupied)
}

gibbs_glance <- function(fit) {
  table <- diagnose(fit)
  value <- function(quantity, column) table[[column]][[match(quantity, table$quantity)]]
  said <- verdict(fit)
  list(occupied = value("occupied", "median"), concentration = value("concentration", "mean"),
    log_likelihood = mean(trace_quantities(fit)$log_likelihood), draws = count_kept(fit),
    rhat = extreme(table$rhat, max), ess_bulk = extreme(table$ess_bulk, min), converged = is_usable(said),
    verdict = said$answer)
}

in_console.summary.dp_mixture <- function(x, all = FALSE, components = 12, digits = 2, ...) {
  all <- check_flag(all, "all")
  components <- check_count(components, "components", min = 0)
  digits <- check_count(digits, "digits", max = 15)
  print_lines(x$words)
  tables <- summary_tables(x, components, digits)
  if (all) {
    cat("\n")
    print(x$prior)
  } else if (is.null(x$populations)) {
    tables <- tables[length(tables)]
    if (is.null(x$starts)) names(tables) <- "Convergence"
  } else {
    tables <- list()
  }
  print_tables(tables)
  if (!is.null(x$populations)) print_chain_shares(x$populations, if (all) Inf else 6L)
  differing <- x$populations[x$populations$differs, ]
  if (all && NROW(differing)) {
    means <- data.frame(type = differing$type, signif(differing$means, digits + 1), check.names = FALSE)
    print_tables(stats::setNames(list(means),
      paste0("Means of the types in which chains differ, ", scale_words(x$transform))))
  }
  cat("\n")
  print_verdict(x$verdict, if (all) Inf else 3L)
  if (!all) cat("More: print(summary(fit), all = TRUE).\n")
}

summary_tables <- function(x, components = 12L, digits = 2) {
  largest <- components_words(x, components, digits)
  if (!is.null(largest$rest)) attr(largest$table, "below") <- largest$rest
  bem <- !is.null(x$starts)
  tables <- list(learned_words(x$learned, digits), largest$table, piled_rows(x$piled),
    if (bem) starts_words(x$starts) else diagnostics_words(x$diagnostics, digits))
  stats::setNames(tables, c("Learned of the prior (mean, and 90% of the draws)", paste0("", largest$caption),
    "Values that many cells share at an end of a marker",
    if (bem) "Starts" else "Convergence, over the sweeps after the warmup"))
}

# The quantities that judge convergence: sweeps x chains each.
trace_quantities <- function(fit, warmup = FALSE) {
  sweeps <- seq_len(nrow(fit$log_likelihood))
  if (!warmup) sweeps <- sweeps[sweeps > fit$warmup]
  traces <- list(log_likelihood = fit$log_likelihood, occupied = fit$occupied, concentration = fit$concentration_trace)
  quantities <- lapply(traces, function(trace) trace[sweeps, , drop = FALSE])
  # Sweeps between two scores have the one before.
  scored <- if (!is.null(fit$score)) which(!is.na(fit$score[, 1L]))
  last <- scored[pmax(1L, findInterval(sweeps, scored))]
  if (any(scored %in% sweeps)) quantities$score <- fit$score[last, , drop = FALSE]
  for (point in seq_len(dim(fit$probe_density)[[3L]])) {
    values <- fit$probe_density[sweeps, , point, drop = FALSE]
    quantities[[sprintf("log_density[%d]", point)]] <- matrix(values, length(sweeps), fit$chains)
  }
  quantities
}

quantity_words <- function(name) {
  words <- c(score = "the score", occupied = "the number of occupied components", concentration = "the concentration")
  density <- sub("log_density\\[(\\d+)\\]", "the log density at point \\1", name)
  ifelse(name %in% names(words), words[name], density)
}

# The log likelihood does not rank modes, so it does not judge.
judged_quantities <- function(fit) trace_quantities(fit)[-1L]

diagnose <- function(fit) {
  table <- diagnose_quantities(judged_quantities(fit))
  if (is_bem(fit)) table[c("rhat", "ess_bulk")] <- NA_real_
  table
}

components_words <- function(summary, most, digits = 2) {
  table <- summary$components
  if (is.null(table) || most == 0) return(list())
  held <- max(1L, sum(table$weight * summary$rows >= 1))
  shown <- table[seq_len(min(held, most)), ]
  rest <- table$weight[-seq_len(nrow(shown))]
  shown$weight <- percent(shown$weight)
  shown[-(1:2)] <- lapply(shown[-(1:2)], column_words, digits + 1)
  at <- summary$reference
  place <- if (is.null(summary$starts)) sprintf("draw %d of chain %d", at$draw, at$chain) else paste("start", at$chain)
  list(table = shown,
    caption = sprintf("Largest components of %s (highest log posterior), %s", place, scale_words(summary$transform)),
    rest = if (length(rest)) {
      sprintf("and %s with %s of the weight together", count_words(length(rest), "more component"), percent(sum(rest)))
    })
}

learned_words <- function(table, digits = 2) {
  if (is.null(table)) return(NULL)
  numbers <- lapply(table[-1L], function(values) {
    formatC(signif(values, digits + 1), format = "fg", digits = digits + 1, big.mark = ",")
  })
  data.frame(part = table$part, numbers, check.names = FALSE)
}

starts_words <- function(starts) {
  for (part in c("log_posterior", "log_likelihood")) {
    starts[[part]] <- formatC(starts[[part]], format = "f", digits = 1, big.mark = ",", decimal.mark = ".")
  }
  starts$converged <- ifelse(starts$converged, "yes", "no")
  stats::setNames(starts, gsub("_", " ", names(starts)))
}
