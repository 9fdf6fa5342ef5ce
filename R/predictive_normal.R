# Normal means and the Bayesian bootstrap: the data as the compiled loops read them, and the quantities that are
# computed from a resample.

check_numeric_vector <- function(y, argument = "y", least = 1L) {
  if (!is.numeric(y) || !is.null(dim(y))) stop_input(argument, "must be a numeric vector, not ", show_value(y))
  if (length(y) < least) {
    stop_input(argument,
      sprintf("must have at least %d value%s, not %d", least, if (least > 1L) "s" else "", length(y)))
  }
  bad <- which(!is.finite(y))
  if (length(bad)) {
    stop_input(argument, "has the value ", format(y[[bad[[1L]]]]), " at position ", bad[[1L]],
      "; values must be finite")
  }
  as.double(y)
}

start_normal_mean <- function(fit, y) {
  y <- check_numeric_vector(y)
  n <- length(y)
  model <- fit$model
  prior <- as.list(model$prior)
  if (is.null(model$variance)) {
    weight <- prior$weight + n
    shape <- prior$shape + n / 2
    mean <- (prior$weight * prior$mean + sum(y)) / weight
    scale <- prior$rate + sum((y - mean(y))^2) / 2 + prior$weight * n / weight * (mean(y) - prior$mean)^2 / 2
    if (!is.finite(mean) || !is.finite(scale) || (scale <= 0 && diff(range(y)) > 0)) {
      stop_input("y", "has values whose squares are ", if (is.finite(scale)) "0" else "not finite",
        " in double precision: use other units")
    }
    if (shape <= 0 || scale <= 0) {
      stop_input("y", if (n < 2L) "has one value" else "is constant",
        ": its variance is unknown, and the prior says nothing of it; give `variance`, or a `prior` with a shape and ",
        "a rate")
    }
    fit$start <- list(mean = mean, weight = weight, shape = shape, scale = scale, sd = 0)
  } else {
    # The prior counts as much as variance / prior variance observations.
    worth <- model$variance / prior$variance
    fit$start <- list(
      mean = (worth * prior$mean + sum(y)) / (worth + n), weight = worth + n, shape = 0, scale = NULL,
      sd = sqrt(model$variance)
    )
  }
  if (!is.finite(fit$start$mean)) stop_input("y", "has a sum that is not finite in double precision: use other units")
  fit$n <- n
  fit$y <- y
  fit$state <- list(
    mean = rep(fit$start$mean, fit$count), scale = if (is.null(model$variance)) rep(fit$start$scale, fit$count)
  )
  fit
}

advance_normal_mean <- function(fit, steps, run, progress) {
  if (fit$every > 0) check_result_size(fit$count * steps / fit$every, "trajectories", "points of trajectories")
  kept <- list()
  outcome <- in_slices(steps, 4e6 / fit$count, progress, function(done, steps) {
    slice <- native(C_predictive_normal, fit$start, fit$state, fit$seed, 0, fit$horizon, steps, fit$every, run)
    fit$state <<- slice[c("mean", "scale")]
    fit$horizon <<- fit$horizon + steps
    if (ncol(slice$trajectory)) kept[[length(kept) + 1L]] <<- slice$trajectory
  })
  fit <- ended(fit, outcome)
  if (fit$every > 0) {
    if (is.null(fit$trajectories)) kept <- c(list(matrix(fit$start$mean, fit$count, 1L)), kept)
    fit$trajectories <- do.call(cbind, c(list(fit$trajectories), kept))
    fit$times <- (seq_len(ncol(fit$trajectories)) - 1) * fit$every
  }
  fit
}

# After `horizon` steps the variance is inverse gamma. Its mean, a martingale, is the estimate.
normal_variance <- function(fit) {
  shape <- fit$start$shape + fit$horizon / 2
  if (shape > 1) fit$state$scale / (shape - 1) else fit$state$scale / shape
}

# The mean, and an unknown variance, are parameters of the model. Median, quantiles and probabilities describe the
# population: the data and the drawn values.
normal_mean_quantities <- function(fit, run) {
  functional <- fit$functional
  if (is.function(functional)) return(population_quantities(fit, functional, run))
  quantities <- cbind(mean = fit$state$mean)
  if (!is.null(fit$state$scale)) quantities <- cbind(quantities, variance = normal_variance(fit))
  if (is.null(functional)) return(quantities)
  kinds <- kinds_of(functional)
  if (any(kinds %in% c("coefficients", "correlation"))) {
    stop_input("functional", "needs data with weights: use bayesian_bootstrap(), or a function")
  }
  if (any(kinds %in% c("variance", "sd")) && is.null(fit$state$scale)) {
    stop_input("functional", "is ", dQuote(intersect(kinds, c("variance", "sd"))[[1L]], FALSE),
      ": this model has \"mean\"; a function of the population can compute others")
  }
  if ("sd" %in% kinds) quantities <- cbind(quantities, sd = sqrt(quantities[, "variance"]))
  own <- kinds %in% colnames(quantities)
  if (!all(own)) {
    of <- lapply(functional[!own], population_functional)
    population <- population_quantities(fit, function(y) unlist(lapply(of, function(part) part(y))), run)
    quantities <- cbind(quantities, population)
  }
  names <- unlist(lapply(functional, function(part) {
    if (part$kind == "quantiles") quantile_names(part$probs) else functional_label(part)
  }))
  quantities[, match(names, colnames(quantities)), drop = FALSE]
}

population_functional <- function(part) {
  label <- functional_label(part)
  equal <- function(y) rep(1 / length(y), length(y))
  switch(part$kind,
    median = function(y) c(median = stats::median(y)),
    probability = function(y) c(probability = mean(y >= part$lower & y <= part$upper)),
    quantiles = function(y) {
      stats::setNames(stats::quantile(y, part$probs, names = FALSE, type = 1L), quantile_names(part$probs))
    },
    tail_mean = function(y) stats::setNames(weighted_tail_mean(sort(y), equal(y), part$prob), label),
    gini = function(y) {
      check_gini(y)
      c(gini = weighted_gini(sort(y), equal(y)))
    }
  )
}

# Computes a functional of whole populations, for a few resamples at a time. The values that a resample drew follow from
# the path of its means.
population_quantities <- function(fit, functional, run) {
  at_once <- max(1, floor(4e6 / (fit$horizon + 1)))
  all <- vector("list", ceiling(fit$count / at_once))
  for (i in seq_along(all)) {
    first <- (i - 1) * at_once
    members <- seq_len(min(at_once, fit$count - first)) + first
    state <- list(
      mean = rep(fit$start$mean, length(members)),
      scale = if (!is.null(fit$start$scale)) rep(fit$start$scale, length(members))
    )
    paths <- function(run) native(C_predictive_normal, fit$start, state, fit$seed, first, 0, fit$horizon, 1, run)
    slice <- tryCatch(paths(run), warpbayes_error = function(error) {
      if (run$backend == "cpu") stop(error)
      warning("quantities are computed on the processor, because the graphics card failed: ", conditionMessage(error),
        call. = FALSE)
      paths(run <<- on_processor(run))
    })
    path <- cbind(rep(fit$start$mean, length(members)), slice$trajectory)
    weight <- fit$start$weight + seq_len(fit$horizon)
    all[[i]] <- each_resample(members, function(r) {
      mean <- path[r - first, ]
      functional(c(fit$y, mean[-length(mean)] + diff(mean) * weight))
    })
  }
  bind_quantities(all)
}

# What the data say against the model. Differences that chance explains at the level 0.001 are left out, and so are
# those of less than 10% in the width of intervals.
normal_mean_verdict <- function(fit) {
  words <- c(variance_words(fit), prior_mean_words(fit), degrees_words(fit))
  if (length(words)) paste(words, collapse = " ")
}

# The standard deviation, without overflow of squares.
safe_sd <- function(y) {
  y <- y - mean(y)
  largest <- max(abs(y))
  if (largest == 0) 0 else largest * stats::sd(y / largest)
}

variance_words <- function(fit) {
  variance <- fit$model$variance
  if (is.null(variance) || fit$n < 2L) return(NULL)
  spread <- safe_sd(fit$y)
  ratio <- spread / sqrt(variance)
  one_sided <- stats::pchisq(ratio^2 * (fit$n - 1), fit$n - 1, lower.tail = ratio < 1)
  if (one_sided > 0.0005 || abs(log(ratio)) < log(1.1)) return(NULL)
  factor <- format(signif(max(ratio, 1 / ratio), 2))
  paste0(
    sprintf("The given variance is %s, and that of the %s values is %s: intervals of the mean are ",
      format(signif(variance, 3)), whole_words(fit$n), format(signif(spread^2, 3))),
    if (spread == 0) "wider than the data ask for." else {
      sprintf("about %s times too %s. variance = NULL estimates it.", factor, if (ratio > 1) "narrow" else "wide")
    }
  )
}

# A prior mean that the data contradict: the estimate lies between the two, where neither says it is.
prior_mean_words <- function(fit) {
  prior <- as.list(fit$model$prior)
  known <- !is.null(fit$model$variance)
  if (!known && (prior$weight == 0 || fit$n < 2L) || known && is.infinite(prior$variance)) return(NULL)
  distance <- mean(fit$y) - prior$mean
  chance <- if (known) {
    stats::pnorm(-abs(distance) / sqrt(fit$model$variance / fit$n + prior$variance))
  } else {
    stats::pt(-abs(distance) / (safe_sd(fit$y) * sqrt(1 / fit$n + 1 / prior$weight)), fit$n - 1)
  }
  if (is.na(chance) || 2 * chance > 0.001) return(NULL)
  sprintf("The prior expects a mean near %s, and the data have %s: the posterior mean, %s, is a compromise.",
    format(signif(prior$mean, 4)), format(signif(mean(fit$y), 4)), format(signif(fit$start$mean, 4)))
}

# Student's t has a standard deviation from more than two degrees of freedom on.
degrees_words <- function(fit) {
  degrees <- 2 * fit$start$shape
  if (!is.null(fit$model$variance) || degrees > 2) return(NULL)
  sprintf(paste("With %s the posterior of the mean is Student's t with %s: it has no standard deviation, and",
    "that of the variance no mean. Read the quantiles."), count_words(fit$n, "value"),
  count_words(degrees, "degree of freedom", "degrees of freedom"))
}

# Bayesian bootstrap -------------------------------------------------------------

start_bootstrap <- function(fit, y) {
  if (is.data.frame(y)) {
    bad <- which(vapply(y, function(column) anyNA(column) || (is.numeric(column) && any(is.infinite(column))), NA))
    if (length(bad)) {
      column <- y[[bad[[1L]]]]
      row <- which(is.na(column) | (if (is.numeric(column)) is.infinite(column) else FALSE))[[1L]]
      name <- names(y)[[bad[[1L]]]]
      stop_input("y", sprintf("has a missing or infinite value in row %d, column %s", row,
        if (is.na(name) || !nzchar(name)) bad[[1L]] else name))
    }
    fit$n <- nrow(y)
  } else if (is.matrix(y)) {
    y <- check_coordinates(y)
    fit$n <- nrow(y)
  } else {
    y <- check_numeric_vector(y)
    fit$n <- length(y)
  }
  if (fit$n < 1) stop_input("y", "has no rows")
  fit$y <- y
  check_bootstrap_functional(fit)
  fit
}

check_coordinates <- function(y, argument = "y") {
  if (!is.numeric(y)) stop_input(argument, "must be numeric, not ", show_value(y))
  bad <- which(!is.finite(y))
  if (length(bad)) {
    stop_input(argument, sprintf(
      "has the value %s in row %d, column %d; values must be finite", format(y[[bad[[1L]]]]),
      (bad[[1L]] - 1L) %% nrow(y) + 1L, (bad[[1L]] - 1L) %/% nrow(y) + 1L
    ))
  }
  storage.mode(y) <- "double"
  y
}

advance_bootstrap <- function(fit, steps) {
  fit$horizon <- fit$horizon + steps
  fit
}

bootstrap_quantities <- function(fit, run, progress) {
  compute <- weighted_functional(fit)
  all <- list()
  steps <- if (is.infinite(fit$horizon)) 0 else fit$horizon
  if (is.finite(fit$horizon) && fit$horizon == 0) {
    # Nothing is drawn, so every resample is the data.
    value <- bind_quantities(list(each_resample(1L, function(r) compute(rep(1 / fit$n, fit$n)))))
    return(list(draws = value[rep(1L, fit$count), , drop = FALSE], interrupted = FALSE))
  }
  outcome <- in_slices(fit$count, 1e6 / (fit$n + steps), progress, function(done, count) {
    weight <- native(C_predictive_bootstrap, fit$n, done, count, steps, fit$seed, run)
    keep <- function(found) all[[length(all) + 1L]] <<- found
    keep(each_resample(done + seq_len(count), function(r) compute(weight[, r - done]), keep))
  })
  if (length(all) == 0L) stop_warpbayes("input", "interrupted before the first resamples were complete")
  list(draws = bind_quantities(all), interrupted = outcome$interrupted, failure = outcome$failure)
}
