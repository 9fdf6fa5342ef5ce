# print() and summary() of a fitted mixture.

# The kept draw with the highest log posterior. It represents the fit wherever a single
# mixture is needed.
reference_draw <- function(fit, call = sys.call(-1L)) {
  need_draws(fit, c("weights", "means", "covariances"), call)
  log_posterior <- fit$log_posterior[kept_sweeps(fit), , drop = FALSE]
  best <- which.max(log_posterior)
  draw <- (best - 1L) %% nrow(log_posterior) + 1L
  chain <- (best - 1L) %/% nrow(log_posterior) + 1L
  c(list(draw = draw, chain = chain, log_posterior = log_posterior[[best]]), mixture_of_draw(fit, draw, chain))
}

# Sweeps whose draws were kept, in order.
kept_sweeps <- function(fit) {
  if (is_bem(fit)) {
    return(if (fit$iter > 0) fit$iter else integer())
  }
  fit$warmup + fit$thin * seq_len(dim(fit$draws$concentration)[[1L]])
}

# One draw: weights (k), means (k x p) and covariances (p x p x k); sample_weights (k x samples) where there are several.
mixture_of_draw <- function(fit, draw, chain) {
  k <- fit$components
  p <- length(fit$markers)
  list(
    weights = fit$draws$weights[, draw, chain],
    sample_weights = if (!is.null(fit$draws$sample_weights)) matrix(fit$draws$sample_weights[, , draw, chain], k),
    means = matrix(fit$draws$means[, , draw, chain], k, p, dimnames = list(NULL, fit$markers)),
    covariances = array(fit$draws$covariances[, , , draw, chain], c(p, p, k), dimnames = list(fit$markers, fit$markers, NULL))
  )
}

need_draws <- function(fit, parts, call = sys.call(-1L)) {
  absent <- parts[vapply(fit$draws[parts], is.null, TRUE)]
  if (length(absent)) {
    stop_warpbayes("input", sprintf(
      "this needs the draws of %s, which the fit did not keep; fit with keep = c(%s)",
      paste(absent, collapse = " and "), paste(dQuote(union(fit$keep, absent), FALSE), collapse = ", ")
    ), argument = "keep", call = call)
  }
  if (length(fit$draws[[parts[[1L]]]]) == 0L) {
    stop_warpbayes("input", sprintf(
      "the fit has no kept draws: it ended after %d sweeps, and the first draw is kept after %s; continue(fit, iter) adds sweeps",
      nrow(fit$log_likelihood), format(fit$warmup + fit$thin)
    ), argument = "iter", call = call)
  }
}

count_kept <- function(fit) {
  length(fit$draws$concentration)
}

count_words <- function(count, one, many = paste0(one, "s")) {
  paste(whole_words(count), if (count == 1) one else many)
}

whole_words <- function(count) format(count, big.mark = ",", decimal.mark = ".", scientific = FALSE, trim = TRUE)

elapsed_seconds <- function(elapsed) {
  if (is.list(elapsed) && !is.null(elapsed$total)) elapsed$total else sum(unlist(elapsed), na.rm = TRUE)
}

elapsed_words <- function(elapsed) {
  seconds <- elapsed_seconds(elapsed)
  if (seconds >= 120) sprintf("%.1f minutes", seconds / 60) else sprintf("%s s", format(signif(seconds, 3)))
}

backend_words <- function(fit) {
  if (is.null(fit$workers)) fit$backend else sprintf("%s (%s)", count_words(fit$workers, "worker"), fit$backend)
}

fit_words <- function(fit) {
  sweeps <- nrow(fit$log_likelihood)
  c(
    sprintf("Dirichlet-process mixture of Gaussians: %s%s x %s, up to %s",
      count_words(fit$rows, "cell"), if (is.null(fit$samples)) "" else paste(" of", count_words(length(fit$samples), "sample")),
      count_words(length(fit$markers), "marker"), count_words(fit$components, "component")),
    sprintf("%s of %s (%s warmup%s)%s: %s kept, %s on %s, %s precision, seed %s",
      count_words(fit$chains, "chain"), count_words(sweeps, "sweep"), whole_words(fit$warmup),
      if (fit$thin > 1) sprintf(", every %s. draw kept", whole_words(fit$thin)) else "",
      if (isTRUE(fit$interrupted)) ", interrupted" else "",
      count_words(count_kept(fit), "draw"), elapsed_words(fit$elapsed), backend_words(fit), fit$precision,
      format(fit$seed, digits = 16)
    )
  )
}

#' Print or summarise a fitted mixture
#'
#' `print()` says in a few lines what was fitted and how many components hold
#' cells; `summary()` adds the largest components, statistics of the convergence of the
#' chains, and what these mean in words.
#'
#' @section Convergence:
#' Two chains that agree may give the same population different component numbers. So the
#' chains are compared by quantities that do not depend on the numbers: the log likelihood of the data, the number of occupied
#' components, the concentration \eqn{\alpha} and the log density of the mixture at
#' five fixed points of the data. For each, `rhat` is the rank-normalised split
#' \eqn{\hat R} (the larger of the one for location and the one for spread) and
#' `ess_bulk` the bulk effective sample size, both of Vehtari and others (2021),
#' computed from all sweeps after the warmup, whether or not their draws were kept.
#'
#' **The verdict.** Even draws that are independent give a high \eqn{\hat R} now and then if they are few. So
#' a fit has not converged where an \eqn{\hat R} exceeds 1.05 and chance does not explain it: where the means of the halves of the
#' chains differ more than the means of fifths of these halves let expect. Both are taken of normal scores, in place and
#' in spread; the ratio of the two variances, divided by what autocorrelation adds to it, is compared with an F distribution
#' at the level \eqn{0.03 / (2 q)} for \eqn{q} quantities. Several chains that drift in the same direction have not converged where
#' \eqn{\hat R} exceeds 1.5. In simulations of independent and
#' of autocorrelated draws, chains that have converged are called otherwise in at most 5% of the fits, as
#' long as a chain is worth at least ten independent draws. Of four chains each worth 100 (20) independent draws, one
#' that lies 1 (2) standard deviations off is found in at least 90% of the fits (`bench/convergence.R`). The verdict names the
#' quantity and the value, and the chain if a single one differs from all others.
#'
#' With an effective sample size below 20 per chain there is no verdict (`converged` is `NA`), with less than 100 per chain
#' intervals are called rough. The number of occupied components and the concentration do not
#' decide: they depend on components of a few cells, which come and go slowly and hardly change the density. Where they
#' move too slowly, the verdict says so. It also says where a truncation binds, that is, where all components hold cells
#' in more than 5% of the sweeps.
#'
#' **Bayesian EM.** A mode has no spread, so of a fit with `method = "bem"` there is no verdict on chains. Both functions say in words how many
#' steps were made and whether the last one changed the log posterior by less than the tolerance, which start has the highest log
#' posterior, and how far the others end below it. `summary()` has `starts`, a data frame with `start`, `steps`, `converged`, `log_posterior`, `log_likelihood` and
#' `occupied`, and `best`, in place of `learned`, `diagnostics` and `occupied`; `converged` is that of the best start.
#'
#' @param object,x a fit from [dp_mixture()], or its summary.
#' @param components how many of the largest components to show.
#' @param digits number of significant digits of the standard deviations in the table of
#'   convergence; other numbers there have as many decimals.
#' @param ... not used.
#' @return `summary()` gives a list of class `summary.dp_mixture`:
#' \describe{
#'   \item{`learned`}{a data frame of what was learned of the prior: `part`, `mean`, `q5`, `q95`
#'     over the kept draws, in the data's units; `sd[marker]` is the root of the diagonal of
#'     `scale`. `NULL` where nothing was learned.}
#'   \item{`diagnostics`}{a data frame with one row per quantity: `quantity`, `mean`,
#'     `sd`, `q5`, `median`, `q95`, `rhat`, `ess_bulk`. `NA` where a quantity does
#'     not vary or there are fewer than twelve sweeps.}
#'   \item{`converged`}{`TRUE`, `FALSE`, or `NA` where it cannot be judged.}
#'   \item{`verdict`}{sentences.}
#'   \item{`components`}{a data frame of the components of the reference draw, the
#'     kept draw with the highest log posterior, by decreasing weight: `component`,
#'     `weight`, and the mean of each marker; `NULL` where draws of weights, means
#'     or covariances were not kept.}
#'   \item{`reference`}{`draw` and `chain` of the reference draw.}
#'   \item{`occupied`}{draws of the number of components that hold cells, sweeps x
#'     chains, without the warmup.}
#' }
#' `print()` returns its argument invisibly.
#' @references
#' Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Buerkner, P.-C. (2021).
#' Rank-normalization, folding, and localization: an improved \eqn{\hat R} for
#' assessing convergence of MCMC. *Bayesian Analysis* **16**, 667-718.
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(600), ncol = 2), matrix(rnorm(400, mean = 4), ncol = 2))
#' fit <- dp_mixture(x, components = 10, iter = 200, chains = 2, seed = 1, threads = 2)
#' fit
#' summary(fit)
#' @name summary.dp_mixture
NULL

#' @rdname summary.dp_mixture
#' @export
print.dp_mixture <- function(x, ...) {
  if (is_bem(x)) {
    print_bem(x)
    return(invisible(x))
  }
  cat(fit_words(x), sep = "\n")
  table <- diagnose(x)
  occupied <- table[table$quantity == "occupied", ]
  number <- function(value) format(value, scientific = FALSE)
  if (!is.na(occupied$median)) {
    cat(sprintf("Components that hold cells: %s (90%% of draws: %s to %s)\n",
      number(occupied$median), number(floor(occupied$q5)), number(ceiling(occupied$q95))))
  }
  largest <- sort(x$sizes[, 1L], decreasing = TRUE)
  largest <- utils::head(largest[largest > 0], 8L)
  if (length(largest)) {
    cat(sprintf("Largest, in the last sweep%s: %s of the cells\n", if (x$chains > 1) " of chain 1" else "",
      paste0(format(round(100 * largest / x$rows, 1), trim = TRUE), "%", collapse = ", ")))
  }
  print_sentences(c(convergence_verdict(x, table)$sentences, truncation_words(x), df_at_edge(x)))
  invisible(x)
}

# What was learned of the prior: for each number its mean and the middle 90% of its draws.
# NULL where nothing was learned, or no draw was kept.
learned_table <- function(fit) {
  if (!count_kept(fit)) {
    return(NULL)
  }
  draws <- fit$draws
  parts <- list(mean_scale = draws$prior_mean_scale, df = draws$prior_df, sample_concentration = draws$sample_concentration)
  for (j in seq_along(fit$markers)) {
    if (!is.null(draws$prior_mean)) {
      parts[[sprintf("mean[%s]", fit$markers[[j]])]] <- draws$prior_mean[j, , ]
    }
  }
  for (j in seq_along(fit$markers)) {
    if (!is.null(draws$prior_scale)) {
      parts[[sprintf("sd[%s]", fit$markers[[j]])]] <- sqrt(draws$prior_scale[j, j, , ])
    }
  }
  parts <- Filter(Negate(is.null), parts)
  if (!length(parts)) {
    return(NULL)
  }
  rows <- lapply(parts, function(values) {
    data.frame(mean = mean(values), q5 = stats::quantile(values, 0.05, names = FALSE), q95 = stats::quantile(values, 0.95, names = FALSE))
  })
  cbind(part = names(parts), do.call(rbind, rows), row.names = NULL)
}

# Says when the draws of df lie at an end of the values that it can take.
df_at_edge <- function(fit) {
  df <- fit$draws$prior_df
  if (is.null(df) || length(df) < 2L) {
    return(NULL)
  }
  ends <- range(fit$prior$df_grid)
  share <- c(mean(df <= ends[[1L]] * (1 + 1e-9)), mean(df >= ends[[2L]] * (1 - 1e-9)))
  if (max(share) < 0.9) {
    return(NULL)
  }
  end <- which.max(share)
  sprintf("The prior's df is at the %s end of the values that it can take, %s, in %.0f%% of the draws: %s values are not excluded; dp_prior(df = %s, learn = \"df\") tries more.",
    c("lower", "upper")[[end]], format(signif(ends[[end]], 3)), 100 * share[[end]], c("lower", "higher")[[end]],
    format(signif(ends[[end]], 3)))
}

# The table as printed: the standard deviation of a quantity decides how many decimals
# its row has.
diagnostics_words <- function(table, digits) {
  shown <- c("mean", "sd", "q5", "q95")
  numbers <- t(vapply(seq_len(nrow(table)), function(i) {
    values <- unlist(table[i, shown])
    ifelse(is.na(values), "-", format_to_spread(values, table$sd[[i]], digits))
  }, character(length(shown))))
  colnames(numbers) <- shown
  data.frame(
    quantity = sub("^the ", "", quantity_words(table$quantity)), numbers,
    Rhat = ifelse(is.na(table$rhat), "-", format_rhat(table$rhat)),
    ESS = ifelse(is.na(table$ess_bulk), "-", formatC(table$ess_bulk, format = "f", digits = 0)),
    check.names = FALSE
  )
}

# Values with so many decimals that `spread` would have `digits` significant digits.
format_to_spread <- function(values, spread, digits = 2) {
  decimals <- if (isTRUE(spread > 0)) max(0, digits - 1 - floor(log10(spread))) else 0
  formatC(values, format = "f", digits = min(decimals, 12), big.mark = ",", decimal.mark = ".")
}

print_sentences <- function(sentences) {
  cat(strwrap(paste(sentences, collapse = " "), width = 0.95 * getOption("width")), sep = "\n")
}

#' @rdname summary.dp_mixture
#' @export
summary.dp_mixture <- function(object, ...) {
  check_dots_empty(...)
  if (is_bem(object)) {
    return(summarise_bem(object))
  }
  table <- diagnose(object)
  verdict <- convergence_verdict(object, table)
  reference <- NULL
  components <- NULL
  complete <- !vapply(object$draws[c("weights", "means", "covariances")], is.null, TRUE)
  if (all(complete) && count_kept(object) > 0L) {
    reference <- reference_draw(object)
    components <- reference_components(reference)
  }
  structure(
    list(
      words = fit_words(object), prior = object$prior, learned = learned_table(object), diagnostics = table,
      converged = verdict$converged, verdict = c(verdict$sentences, truncation_words(object), df_at_edge(object)),
      components = components, reference = reference[c("draw", "chain")],
      occupied = trace_quantities(object)$occupied, rows = object$rows, transform = object$transform
    ),
    class = "summary.dp_mixture"
  )
}

#' @rdname summary.dp_mixture
#' @export
print.summary.dp_mixture <- function(x, components = 12, digits = 2, ...) {
  components <- check_count(components, "components", min = 0)
  digits <- check_count(digits, "digits", max = 15)
  cat(x$words, sep = "\n")
  cat("\n")
  print(x$prior)
  if (!is.null(x$learned)) {
    cat("\nLearned of the prior (mean, and 90% of the draws):\n")
    numbers <- lapply(x$learned[-1L], function(values) formatC(signif(values, digits + 1), format = "fg", digits = digits + 1, big.mark = ","))
    print(data.frame(part = x$learned$part, numbers), row.names = FALSE, right = TRUE)
  }
  print_components(x, sprintf("draw %d of chain %d", x$reference$draw, x$reference$chain), components, digits)
  cat("\nConvergence, over the sweeps after the warmup:\n")
  print(diagnostics_words(x$diagnostics, digits), row.names = FALSE, right = TRUE)
  print_sentences(x$verdict)
  invisible(x)
}

# The first `components` components of the reference, `where` it was found.
print_components <- function(x, where, components, digits) {
  if (!is.null(x$components) && components > 0) {
    shown <- x$components[seq_len(min(nrow(x$components), components)), ]
    cat(sprintf("\nLargest components of %s (highest log posterior)", where))
    cat(if (is.null(x$transform)) ", in the data's units:\n" else ", on the arcsinh scale:\n")
    shown$weight <- paste0(formatC(100 * shown$weight, format = "f", digits = 1), "%")
    print(format(shown, digits = digits + 1), row.names = FALSE)
    rest <- x$components$weight[-seq_len(nrow(shown))]
    if (length(rest)) {
      cat(sprintf("and %s with %s%% of the weight together\n", count_words(length(rest), "more component", "more components"),
        formatC(100 * sum(rest), format = "f", digits = 1)))
    }
  }
}
