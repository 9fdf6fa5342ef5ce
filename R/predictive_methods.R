# The methods of a martingale posterior.

#' @rdname continue
#' @export
continue.martingale_posterior <- function(fit, more, backend = NULL, threads = NULL, progress = NULL, ...) {
  check_method(fit, "fit", ...)
  more <- check_count(more, "more")
  if (is.infinite(fit$horizon)) stop_input("fit", "has an infinite horizon already")
  progress <- check_progress(progress)
  run <- resolve_run(backend, threads)
  start <- proc.time()[[3L]]
  fit <- with_parts(fit, backend = run$backend, threads = run$threads)
  finish_resamples(advance_resamples(fit, more, run, progress), start)
}

#' Summary of a martingale posterior
#'
#' `summary()` adds a table of the quantities to what `print()` shows. `quantile()` gives quantiles of the draws.
#'
#' @param object,x a fit from [predictive_resample()].
#' @param probs probabilities.
#' @param ... must be empty.
#' @return `summary()` gives a list: `table` is a data frame of `quantity`, `mean`, `sd` and the quantiles, `remaining`
#'   the share of the variance that is left out, and `verdict` the [verdict()]. `quantile()` gives a matrix, quantities
#'   x probabilities.
#' @examples
#' fit <- predictive_resample(precip, bayesian_bootstrap(), functional = "mean", draws = 500,
#'   seed = 1, threads = 2)
#' summary(fit)
#' @export
summary.martingale_posterior <- function(object, probs = c(0.05, 0.5, 0.95), ...) {
  check_method(object, "object", ...)
  quantiles <- quantile(object, probs)
  table <- data.frame(quantity = colnames(object$draws), mean = stats::coef(object), sd = draw_deviations(object),
    quantiles, row.names = NULL, check.names = FALSE)
  structure(list(words = resample_words(object), table = table, remaining = object$remaining,
    verdict = verdict(object)), class = c("summary.martingale_posterior", "warpbayes"))
}

draw_deviations <- function(fit) apply(fit$draws, 2L, stats::sd, na.rm = TRUE)

#' @rdname summary.martingale_posterior
#' @export
quantile.martingale_posterior <- function(x, probs = c(0.05, 0.25, 0.5, 0.75, 0.95), ...) {
  check_method(x, "x", ...)
  check_probs(probs)
  value <- apply(x$draws, 2L, stats::quantile, probs = probs, names = FALSE, na.rm = TRUE)
  matrix(value, ncol(x$draws), length(probs), byrow = TRUE,
    dimnames = list(colnames(x$draws), paste0(format(100 * probs, trim = TRUE, digits = 4), "%")))
}

in_console.martingale_posterior <- function(x, ...) {
  check_method(x, "x", ...)
  print_lines(resample_words(x))
  print_quantities(summary.martingale_posterior(x, c(0.05, 0.95))$table, 6L)
  print_verdict(verdict(x))
}

print_quantities <- function(table, most) {
  shown <- utils::head(table, most)
  numbers <- t(vapply(seq_len(nrow(shown)), function(i) {
    values <- unlist(shown[i, -1L])
    if (isTRUE(shown$sd[[i]] > 0)) format_to_spread(values, shown$sd[[i]]) else format(values, digits = 4)
  }, character(ncol(shown) - 1L)))
  colnames(numbers) <- names(shown)[-1L]
  cat("\n")
  print(data.frame(quantity = shown$quantity, numbers, check.names = FALSE), row.names = FALSE)
  more <- nrow(table) - nrow(shown)
  if (more > 0L) cat(sprintf("and %s\n", count_words(more, "more quantity", "more quantities")))
}

in_console.summary.martingale_posterior <- function(x, ...) {
  check_dots_empty(...)
  print_lines(x$words)
  print_quantities(x$table, 20L)
  print_verdict(x$verdict)
}

in_chunk.summary.martingale_posterior <- function(x) {
  list(words = x$words, tables = list(x$table), verdict = x$verdict, rows = 20L)
}

resample_words <- function(fit) {
  lines <- c("Martingale posterior by predictive resampling", record(fit)$words(fit$model),
    sprintf("%s observations, %s resamples, %s, seed %s", whole_words(fit$n), whole_words(fit$count),
      if (is.infinite(fit$horizon)) "infinite horizon" else paste("horizon", whole_words(fit$horizon)),
      format(fit$seed, digits = 16)))
  if (is.null(fit$score)) return(lines)
  rho <- function(value) paste(format(signif(utils::head(value, 6L), 3)), collapse = ", ")
  c(lines, sprintf("rho %s%s%s; prequential log score %s per observation%s", rho(unique(fit$rho)),
    if (length(fit$rho_x)) paste0(", covariates ", rho(unique(unname(fit$rho_x)))) else "",
    if (length(unique(fit$rho_x)) > 6L) ", ..." else "", format(fit$score, digits = 4),
    if (is.null(fit$classes)) " (standardised)" else ""))
}

#' Predictions at new points
#'
#' Predicts at new points, with bands from the resamples, which are repeated there.
#'
#' @param object a fit from [predictive_resample()] with a copula model or [normal_mean()].
#' @param newdata the points: as `points` of [copula_density()], or a data frame with the covariates (for densities also
#'   the response). `NULL`: those of the fit.
#' @param type `"density"`, `"cdf"`, `"mean"` of the response, `"probability"` of the second class, `"class"`, or
#'   `"log_density"`, the log density (log probability) of each row. `NULL`: density, mean or probability.
#' @param level the probability of the band. `NULL` gives no band, which saves the resampling.
#' @inheritParams computing_arguments
#' @param ... must be empty.
#' @return A data frame with a row for each point: `estimate` (what the data predict), `lower` and `upper`, with a
#'   verdict. For `"class"` a factor, and for `"log_density"` a numeric vector.
#' @examples
#' fit <- predictive_resample(cars, copula_regression(dist ~ speed, rho = 0.7, rho_x = 0.6),
#'   draws = 50, horizon = 200, seed = 1, threads = 2)
#' predict(fit, data.frame(speed = c(10, 20)), threads = 2)
#' @export
predict.martingale_posterior <- function(object, newdata = NULL, type = NULL, level = 0.9, backend = NULL,
                                         threads = NULL, ...) {
  check_method(object, "object", ...)
  kind <- record(object)
  if (is.null(kind$types)) stop_input("object", kind$no_prediction)
  type <- if (is.null(type)) kind$types[[1L]] else check_choice(type, "type", kind$types)
  if (!is.null(level)) level <- check_number(level, "level", min = 0, max = 1, open = FALSE)
  kind$predict(object, newdata, type, level, resolve_run(backend, threads))
}

#' Future observations from a martingale posterior
#'
#' `simulate()` draws each new data set from what another resample predicts. `update()` fits again with some arguments
#' changed. `coef()`, `vcov()` and `confint()` give posterior means, covariances and credible intervals.
#'
#' @param object a fit from [predictive_resample()].
#' @param nsim number of data sets.
#' @param seed passed to [set.seed()] if not `NULL`.
#' @param ... must be empty; for `update()` the arguments of [predictive_resample()] to change.
#' @return `simulate()` gives a data frame with a column for each data set of n values, of a regression or
#'   classification for its `points`; a list for a bootstrap of a table. A density of several variables is an error.
#' @examples
#' fit <- predictive_resample(precip, copula_density(), horizon = 300, draws = 100, seed = 1,
#'   threads = 2)
#' quantile(unlist(simulate(fit, nsim = 20, seed = 1)), c(0.05, 0.95))
#' @export
simulate.martingale_posterior <- function(object, nsim = 1, seed = NULL, ...) {
  check_method(object, "object", ...)
  nsim <- check_count(nsim, "nsim")
  draw <- record(object)$simulate
  if (is.null(draw)) stop_input("object", "is a density of several variables, of which no observations are drawn")
  check_result_size(nsim * max(object$n, NROW(object$points)), "nsim", "simulated values")
  draw_with_seed(seed, {
    simulated <- lapply(rep_len(sample.int(object$count), nsim), function(r) draw(object, r))
    names(simulated) <- paste0("sim_", seq_len(nsim))
    if (is.null(dim(simulated[[1L]]))) as.data.frame(simulated, optional = TRUE) else simulated
  })
}

#' @rdname simulate.martingale_posterior
#' @export
coef.martingale_posterior <- function(object, ...) {
  check_method(object, "object", ...)
  colMeans(object$draws, na.rm = TRUE)
}

#' @rdname simulate.martingale_posterior
#' @export
vcov.martingale_posterior <- function(object, ...) {
  check_method(object, "object", ...)
  stats::var(object$draws[rowSums(is.na(object$draws)) == 0, , drop = FALSE])
}
#' @rdname simulate.martingale_posterior
#' @param parm,level which quantities, by name or number, `NULL` for all; and the probability of `confint()`.
#' @importFrom stats confint
#' @export
confint.martingale_posterior <- function(object, parm = NULL, level = 0.9, ...) {
  check_method(object, "object", ...)
  level <- check_number(level, "level", min = 0, max = 1)
  names <- colnames(object$draws)
  chosen <- if (is.null(parm)) seq_along(names) else if (is.character(parm)) match(parm, names) else parm
  if (!is.numeric(chosen) || anyNA(chosen) || !all(chosen %in% seq_along(names))) {
    stop_input("parm", "must be names or numbers of the quantities ", list_some(names), ", not ", show_value(parm))
  }
  quantile(object, c((1 - level) / 2, (1 + level) / 2))[chosen, , drop = FALSE]
}

#' @rdname simulate.martingale_posterior
#' @param evaluate for `update()`: whether to evaluate the changed call, or to return it.
#' @importFrom stats update
#' @export
update.martingale_posterior <- function(object, ..., evaluate = TRUE) {
  evaluate <- check_flag(evaluate, "evaluate")
  call <- match.call(predictive_resample, object$call)
  changed <- match.call(expand.dots = FALSE)$...
  if (sum(nzchar(names(changed))) < length(changed)) {
    stop_input("...", "must be arguments of predictive_resample() with their names")
  }
  call[names(changed)] <- changed
  if (!evaluate) return(call)
  # A function that made the fit may have ended, and its variables with it.
  known <- list(y = object$given, model = object$model, functional = object$functional)
  known <- known[setdiff(intersect(names(known), names(call)), names(changed))]
  with_parts(eval(replace(call, names(known), known), parent.frame()), call = call)
}

array_of_draws.martingale_posterior <- function(x, ...) {
  check_method(x, "x", ...)
  array(x$draws, c(nrow(x$draws), 1L, ncol(x$draws)), list(NULL, NULL, colnames(x$draws)))
}

#' @rdname tidiers
#' @method tidy martingale_posterior
#' @exportS3Method generics::tidy martingale_posterior
tidy.martingale_posterior <- function(x, conf.level = 0.9, ...) {
  check_method(x, "x", ...)
  ends <- quantile(x, interval_ends(check_number(conf.level, "conf.level", min = 0, max = 1)))
  as_table(data.frame(term = colnames(x$draws), estimate = stats::coef(x), std.error = draw_deviations(x),
    conf.low = ends[, 1L], conf.high = ends[, 2L], row.names = NULL))
}

glance_of.martingale_posterior <- function(x) {
  check_intact(x, "x")
  data.frame(nobs = x$n, quantities = ncol(x$draws), draws = nrow(x$draws), horizon = as.double(x$horizon),
    remaining = x$remaining, verdict = verdict(x)$answer, seconds = elapsed_seconds(x$elapsed))
}

report_content.martingale_posterior <- function(fit, ...) {
  check_method(fit, "fit", ...)
  summary <- summary.martingale_posterior(fit)
  kind <- record(fit)
  model <- kind$words(fit$model)
  draw <- function(...) function() plot.martingale_posterior(fit, ...)
  several <- ncol(fit$draws) > 1L
  result <- function() {
    list(title = "Result", parts = list(
      picture_part("What the resamples say, with pointwise 90% bands where there are curves.", draw("model"),
        c(0.62, 0.95)),
      table_part(summary$table, "Mean, standard deviation and quantiles of the draws")))
  }
  draws <- function() {
    list(title = "Draws", parts = list(
      picture_part(if (several) "Draws of the first quantities." else "Draws.", draw("draws"),
        if (several) c(0.8, 1.2) else c(0.5, 0.8)),
      if (length(dim(fit$trajectories)) == 3L) picture_part("Paths of the resamples.", draw("trajectories"))))
  }
  list(title = "Martingale posterior", words = summary$words, verdict = summary$verdict,
    main = function() summary$table, sections = function() list(result(), if (kind$limit == "never") draws()),
    made = made_words(fit, c(Model = model)),
    prior = if (kind$has_prior) model else paste("There is no prior and no likelihood: the predictions of the model",
      "take their place. The quantities are computed from populations that the model predicts."),
    code = c(needed_words(needed_objects(fit$call, "y")),
      repeating_code(fit$call, "predictive_resample", "fit", list(seed = fit$seed))), rows = 20L)
}
