# The methods of a martingale posterior: continue(), summary(), predict() and draws for other packages.

#' @rdname continue
#' @export
continue.martingale_posterior <- function(fit, more, backend = NULL, threads = NULL, progress = NULL, ...) {
  check_method(fit, "fit", ...)
  more <- check_count(more, "more")
  if (is.infinite(fit$horizon)) stop_input("fit", "has an infinite horizon already")
  progress <- check_progress(progress)
  run <- resolve_run(backend, threads)
  fit$backend <- run$backend
  fit$threads <- run$threads
  start <- proc.time()[[3L]]
  fit <- advance_resamples(fit, more, run, progress)
  finish_resamples(fit, start)
}

#' Summary of a martingale posterior
#'
#' `print()` shows the model, the horizon and how much of the variance the horizon leaves out. For copulas it says what
#' the bandwidth does to the width of the posterior. For a density it adds the scale, the point masses and how much of
#' the distribution lies beyond `points`, and names quantities that tails decide of which the data show little. For a
#' normal mean it says if the data disagree with a given variance or prior mean. For a regression or classification it
#' adds what the covariates and the mean function do for the score, and if the mean function is too smooth for the data.
#' `summary()` has a table of the quantities, too. `quantile()` gives quantiles of the draws.
#'
#' @param object,x a fit from [predictive_resample()].
#' @param probs probabilities.
#' @param ... must be empty.
#' @return `summary()` gives a list of class `summary.martingale_posterior`: `table` is a data frame of `quantity`,
#'   `mean`, `sd` and the quantiles, `remaining` is the share of the variance that is left out, and `verdict`,
#'   `unsupported`, `scale`, `bandwidth`, `covariates`, `beyond` and `missing` are the sentences that are printed
#'   (`NULL` if there is nothing to say).
#'   `quantile()` gives a matrix, quantities x probabilities.
#' @examples
#' fit <- predictive_resample(precip, bayesian_bootstrap(),
#'   functional = c("mean", "sd"), draws = 500, seed = 1, threads = 2
#' )
#' summary(fit)
#' quantile(fit, c(0.025, 0.975))
#' @export
summary.martingale_posterior <- function(object, probs = c(0.05, 0.5, 0.95), ...) {
  check_method(object, "object", ...)
  check_summary_probs(probs)
  quantiles <- quantile(object, probs)
  table <- data.frame(
    quantity = colnames(object$draws), mean = colMeans(object$draws, na.rm = TRUE),
    sd = apply(object$draws, 2L, stats::sd, na.rm = TRUE),
    quantiles, row.names = NULL, check.names = FALSE
  )
  structure(
    c(list(words = resample_words(object), table = table, remaining = object$remaining), resample_verdicts(object)),
    class = c("summary.martingale_posterior", "warpbayes")
  )
}

# Intervals are too narrow if more than 5% of the variance is left out.
resample_usable <- function(fit) !has_stopped(fit) && isTRUE(fit$remaining <= 0.05)

resample_verdicts <- function(fit) {
  found <- list(
    verdict = horizon_verdict(fit), unsupported = unsupported_verdict(fit), bandwidth = bandwidth_verdict(fit),
    scale = scale_verdict(fit), covariates = covariates_verdict(fit), beyond = points_verdict(fit),
    missing = missing_verdict(fit)
  )
  reserved <- length(c(found$unsupported, found$beyond, found$missing)) > 0L || isTRUE(fit$capped > 0) ||
    any(grepl("too narrow|wider than|not calibrated", found$bandwidth))
  found$verdict <- paste(answer_words(resample_usable(fit), if (reserved) "with reservations"), found$verdict)
  found
}

# In the order of the console, of reports and of chunks.
resample_sentences <- function(x) {
  unlist(x[c("verdict", "unsupported", "scale", "bandwidth", "covariates", "beyond", "missing")], use.names = FALSE)
}

#' @rdname summary.martingale_posterior
#' @export
quantile.martingale_posterior <- function(x, probs = c(0.05, 0.25, 0.5, 0.75, 0.95), ...) {
  check_method(x, "x", ...)
  check_summary_probs(probs)
  value <- apply(x$draws, 2L, stats::quantile, probs = probs, names = FALSE, na.rm = TRUE)
  matrix(t(matrix(value, length(probs))), ncol(x$draws), length(probs),
    dimnames = list(colnames(x$draws), paste0(format(100 * probs, trim = TRUE, digits = 4), "%"))
  )
}

in_console.martingale_posterior <- function(x, ...) {
  check_method(x, "x", ...)
  cat(resample_words(x), sep = "\n")
  shown <- utils::head(seq_len(ncol(x$draws)), 6L)
  cat("\n")
  for (j in shown) {
    cat(sprintf("%s: mean %s, sd %s\n", colnames(x$draws)[[j]], format(mean(x$draws[, j], na.rm = TRUE), digits = 5),
      format(stats::sd(x$draws[, j], na.rm = TRUE), digits = 3)))
  }
  if (ncol(x$draws) > length(shown)) cat(sprintf("and %d more quantities\n", ncol(x$draws) - length(shown)))
  cat("", resample_sentences(resample_verdicts(x)), sep = "\n")
}

in_console.summary.martingale_posterior <- function(x, ...) {
  check_dots_empty(...)
  cat(x$words, sep = "\n")
  cat("\n")
  print(utils::head(x$table, 20L), digits = 4, row.names = FALSE)
  if (nrow(x$table) > 20L) cat(sprintf("and %d more quantities\n", nrow(x$table) - 20L))
  cat("", resample_sentences(x), sep = "\n")
}

check_summary_probs <- function(probs) {
  if (!is.numeric(probs) || length(probs) == 0L || anyNA(probs) || any(probs < 0 | probs > 1)) {
    stop_input("probs", "must be probabilities between 0 and 1, not ", show_value(probs))
  }
}

resample_words <- function(fit) {
  count <- whole_words
  lines <- c(
    "Martingale posterior by predictive resampling",
    model_words(fit$model),
    sprintf("%s observations, %s resamples, %s, seed %s", count(fit$n), count(fit$count),
      if (is.infinite(fit$horizon)) "infinite horizon" else paste("horizon", count(fit$horizon)),
      format(fit$seed, digits = 16))
  )
  if (!is.null(fit$score)) {
    rho <- function(value) paste(format(signif(utils::head(value, 6L), 3)), collapse = ", ")
    lines <- c(lines, sprintf("rho %s%s%s; prequential log score %s per observation%s", rho(unique(fit$rho)),
      if (length(fit$rho_x)) paste0(", covariates ", rho(unique(unname(fit$rho_x)))) else "",
      if (length(unique(fit$rho_x)) > 6L) ", ..." else "", format(fit$score, digits = 4),
      if (fit$data$binary) "" else " (standardised)"))
  }
  lines
}

# How much of the variance the horizon leaves out, in a sentence.
horizon_verdict <- function(fit) {
  stopped <- if (is_text(fit$failure, 1L)) sprintf("Stopped by an error (%s)", fit$failure) else "Interrupted"
  if (has_stopped(fit) && is_urn(fit$model)) {
    return(sprintf("%s after %s of %s resamples, which are kept.", stopped, whole_words(fit$count),
      whole_words(fit$asked)))
  }
  if (has_stopped(fit)) {
    steps <- format(fit$horizon, big.mark = ",")
    return(sprintf("%s after %s steps: continue(fit, more) runs more steps.", stopped, steps))
  }
  if (isTRUE(fit$capped > 0)) {
    return(sprintf(paste("In %s of %s resamples 2,000 new values stand for more new types than that.",
      "The data hardly speak for finitely many types."), whole_words(fit$capped), whole_words(fit$count)))
  }
  if (fit$remaining == 0) return("The draws are from the limit: nothing is missing.")
  share <- format(100 * signif(fit$remaining, 2), trim = TRUE)
  if (fit$horizon == 0) {
    return(if (is_placed(fit)) {
      "Horizon 0: the resamples are the prediction after the data, with location and scale drawn."
    } else if (!is.null(fit$trend)) {
      "Horizon 0: the resamples are the prediction after the data, with slopes drawn."
    } else {
      "Horizon 0: all resamples are the prediction after the data."
    })
  }
  if (fit$remaining <= 0.05) {
    return(sprintf(
      "The horizon leaves out about %s%% of the posterior variance: long enough for most purposes.", share
    ))
  }
  paste(
    sprintf("The horizon leaves out about %s%% of the posterior variance: intervals are too narrow.", share),
    "continue(fit, more) runs more steps."
  )
}

#' Predictions at new points
#'
#' Predicts at new points, with bands from the resamples. The resamples do not depend on the points. So they are
#' repeated at the new points with the seed and the horizon of the fit.
#'
#' @param object a fit from [predictive_resample()] with a copula model or [normal_mean()].
#' @param newdata the points: as `points` of [copula_density()], or a data frame with the covariates. For densities of
#'   a regression it must also have the response. `NULL` takes the points of the fit. It is not used for a normal
#'   mean, whose next observation is predicted.
#' @param type `"density"` or `"cdf"` at the points; `"mean"` of the response given covariates; `"probability"` of the
#'   second class; `"class"`; or `"log_density"`, the log density (or log probability of the class) of each row of
#'   `newdata` as predicted from the data, in the units of the data. The mean of these log densities is the test log
#'   score. `NULL` gives density, mean or probability.
#' @param probs ends of the band. `NULL` gives no band, which saves the resampling.
#' @inheritParams computing_arguments
#' @param ... must be empty.
#' @return A data frame with a row for each point: `estimate` (what the data predict), `lower` and `upper`. For
#'   `"class"` a factor, and for `"log_density"` a numeric vector.
#' @section Errors:
#' `warpbayes_error_input` for points that lack columns or have missing values, for a `type` that the model does not
#' have, and for a fit whose parts were changed by hand.
#' @examples
#' fit <- predictive_resample(cars, copula_regression(dist ~ speed, rho = 0.7, rho_x = 0.6),
#'   draws = 50, horizon = 200, seed = 1, threads = 2
#' )
#' predict(fit, data.frame(speed = c(10, 20)), threads = 2)
#' mean(predict(fit, cars, type = "log_density", threads = 2))
#' @export
predict.martingale_posterior <- function(object, newdata = NULL, type = NULL, probs = c(0.05, 0.95), backend = NULL,
                                         threads = NULL, ...) {
  check_method(object, "object", ...)
  kinds <- list(
    copula_density = c("density", "cdf", "log_density"), copula_regression = c("mean", "density", "cdf", "log_density"),
    copula_classification = c("probability", "class", "log_density"), normal_mean = "mean"
  )[[object$model$kind]]
  if (is.null(kinds)) {
    stop_input("object", if (has_base(object$model)) {
      "is the limit of an urn: simulate() draws what it predicts"
    } else {
      "is a Bayesian bootstrap, which predicts nothing but the data again"
    })
  }
  type <- if (is.null(type)) kinds[[1L]] else check_choice(type, "type", kinds)
  bands <- !is.null(probs)
  if (bands && (!is.numeric(probs) || length(probs) != 2L || anyNA(probs) || any(probs < 0 | probs > 1))) {
    stop_input("probs", "must be two probabilities or NULL, not ", show_value(probs))
  }
  if (object$model$kind == "normal_mean") {
    return(predict_normal(object, if (bands) probs else c(0.05, 0.95)))
  }
  run <- resolve_run(backend, threads)
  new <- prediction_points(object, newdata, type)
  start <- .Call(C_predictive_average, state_at(object, new$at, run))
  found <- response_state(object, start)
  last <- ncol(found$conditional)
  value <- function(conditional, gain, density, atoms) {
    if (type == "mean") {
      cut <- matrix(conditional, length(object$inner_at))
      return(unname(drop(grid_functional(object$inner_at, t(cut), list(new_functional("mean"))))) + new$at$trend)
    }
    if (type %in% c("density", "log_density") && !object$data$binary) {
      return(gain * density * (if (is.null(atoms)) 1 else atoms$density))
    }
    drop(complete_cdf(object, rbind(conditional), drop(new$points), atoms))
  }
  predicted <- predicted_atoms(object)
  estimate <- value(found$conditional[, last], found$gain[, last], new$at$density, predicted)
  if (type == "class") return(factor(object$classes[1L + (estimate > 0.5)], object$classes))
  if (type == "log_density") {
    return(if (object$data$binary) log(ifelse(new$outcome > 0.5, estimate, 1 - estimate)) else {
      log_density <- log(found$gain[, last]) + new$at$log_density
      if (is.null(predicted)) log_density else {
        at <- match(drop(new$points), predicted$value)
        ifelse(is.na(at), log_density + log(predicted$density), log(drop(predicted$weight))[at])
      }
    })
  }
  table <- data.frame(estimate = estimate)
  if (bands) {
    state <- response_state(object, resamples_at(object, new$at, start, run))
    base <- base_densities(object, new$at)
    draws <- vapply(seq_len(object$count), function(r) {
      value(state$conditional[, last, r], state$gain[, last, r], if (is.matrix(base)) base[, r] else base,
        atoms_of(object$atoms, r))
    }, numeric(length(estimate)))
    ends <- apply(matrix(draws, length(estimate)), 1L, stats::quantile, probs = sort(probs), names = FALSE)
    table$lower <- ends[1L, ]
    table$upper <- ends[2L, ]
  }
  table
}

prediction_points <- function(fit, newdata, type) {
  if (fit$model$kind == "copula_density") {
    points <- if (is.null(newdata)) fit$points else newdata
    points <- as_columns(points, "newdata")
    if (ncol(points) != ncol(fit$data$y)) {
      stop_input("newdata", sprintf("has %d columns; the data have %d", ncol(points), ncol(fit$data$y)))
    }
    return(list(at = density_points(fit, points), points = points))
  }
  points <- if (is.null(newdata)) if (type %in% c("density", "cdf")) regression_points(fit) else fit$points else newdata
  covariates <- point_covariates(fit, points, "newdata")
  design <- mean_design(fit, covariates, points, "newdata")
  if (type == "mean") return(list(at = grid_points(fit, covariates, design, numeric())))
  if (type %in% c("probability", "class")) return(list(at = formula_points(fit, covariates, design)))
  response <- tryCatch(
    eval(fit$model$formula[[2L]], points, environment(fit$model$formula)),
    error = function(error) stop_input("newdata", "lacks the response: ", because = error)
  )
  if (fit$data$binary) {
    label <- as.character(response)
    known <- label %in% fit$classes
    if (length(label) != nrow(points) || !all(known)) {
      stop_input("newdata", "has a response in row ", which(!known)[[1L]], " that is none of the classes")
    }
    return(list(at = formula_points(fit, covariates, design), outcome = as.double(label == fit$classes[[2L]])))
  }
  response <- check_numeric_vector(response, "newdata")
  list(at = formula_points(fit, covariates, design, rbind(response)))
}

# Repeats the resamples of a fit at other points.
resamples_at <- function(fit, at, start, run) {
  check_result_size(fit$count * as.double(length(start$conditional)), "newdata", "values", copies = 4)
  again <- fit
  again$at <- at
  again$state <- start_states(fit, at, run, start)
  if (fit$data$binary) again$state$rows <- row_states(fit, run)
  in_slices(fit$horizon, max(1, 4e6 / length(again$state$conditional)), FALSE, function(done, steps) {
    again$state <<- resample_state(fit, at, again$state, done, steps, run)
  })
  again$state
}

predict_normal <- function(fit, probs) {
  start <- fit$start
  if (is.null(start$scale)) {
    spread <- start$sd * sqrt(1 + 1 / start$weight)
    ends <- stats::qnorm(sort(probs)) * spread
  } else {
    spread <- sqrt(start$scale * (1 + 1 / start$weight) / start$shape)
    ends <- stats::qt(sort(probs), 2 * start$shape) * spread
  }
  data.frame(estimate = start$mean, lower = start$mean + ends[[1L]], upper = start$mean + ends[[2L]])
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
  conf.level <- check_number(conf.level, "conf.level", min = 0, max = 1)
  ends <- quantile(x, c((1 - conf.level) / 2, (1 + conf.level) / 2))
  as_table(data.frame(term = colnames(x$draws), estimate = colMeans(x$draws, na.rm = TRUE),
    std.error = apply(x$draws, 2L, stats::sd, na.rm = TRUE),
    conf.low = ends[, 1L], conf.high = ends[, 2L], row.names = NULL))
}

glance_of.martingale_posterior <- function(x) {
  check_parts(x, "x")
  data.frame(
    nobs = x$n, quantities = ncol(x$draws), draws = nrow(x$draws), horizon = as.double(x$horizon),
    remaining = if (length(x$remaining)) max(x$remaining) else NA_real_, seconds = elapsed_seconds(x$elapsed)
  )
}
