# The conjugate model of normal observations.

#' Normal observations as a predictive model
#'
#' The conjugate model of independent normal observations, for [predictive_resample()]. By default the variance s2 is
#' inverse gamma with the `shape` and the `rate`, and given s2 the mean is normal about `mean` with variance
#' s2/`weight`. The default, `c(mean = 0, weight = 0, shape = -0.5, rate = 0)`, is the reference prior 1/s2, whose
#' interval of the mean is the t interval. With a known `variance` the mean's normal prior is by default the flat
#' `c(mean = 0, variance = Inf)`.
#'
#' @param variance the variance of an observation; `NULL`: it is unknown.
#' @param prior a named numeric vector, as above. Entries that are not named keep their defaults.
#' @return A list of class `predictive_model`.
#' @examples
#' normal_mean(variance = 4, prior = c(mean = 10, variance = 100))
#' @export
normal_mean <- function(variance = NULL, prior = NULL) {
  if (is.null(variance)) {
    if ("variance" %in% names(prior)) {
      stop_input("prior", "has the entry \"variance\", the variance of the prior of the mean, which needs a known ",
        "`variance` of an observation; if that is unknown, `weight` says how many observations the prior mean counts")
    }
    prior <- check_prior(prior, c(mean = 0, weight = 0, shape = -0.5, rate = 0), "weight", 0)
    if (prior[["weight"]] < 0 || prior[["rate"]] < 0 || prior[["shape"]] < -0.5) {
      stop_input("prior", "must have a weight and a rate of at least 0 and a shape of at least -0.5")
    }
  } else {
    variance <- check_number(variance, "variance", min = 0)
    prior <- check_prior(prior, c(mean = 0, variance = Inf), "variance", Inf)
    if (prior[["variance"]] <= 0) stop_input("prior", "must have a positive variance, not ", prior[["variance"]])
  }
  new_predictive_model("normal_mean", variance = variance, prior = prior)
}

# Entries that are not named keep their defaults. Without `strength` other than `none` the prior mean counts nothing.
check_prior <- function(prior, default, strength, none) {
  if (is.null(prior)) return(default)
  named <- is.numeric(prior) && length(prior) && length(names(prior)) && !anyDuplicated(names(prior)) &&
    all(names(prior) %in% names(default))
  must_be(named, "prior", paste("a numeric vector with names among",
    paste(dQuote(names(default), FALSE), collapse = ", ")), prior)
  # A prior of infinite weight would leave nothing to learn. One of infinite variance is flat.
  bad <- !is.finite(prior) & !(names(prior) == "variance" & prior %in% Inf)
  if (any(bad)) stop_input("prior", "must be finite; `", names(prior)[bad][[1L]], "` is not")
  default[names(prior)] <- as.double(prior)
  if (default[["mean"]] != 0 && default[[strength]] == none) {
    stop_input("prior", "has a mean, which counts nothing with the ", strength, " ", format(none), ": give the ",
      strength, ", too")
  }
  default
}

normal_words <- function(model) {
  filled <- function(words) do.call(sprintf, c(words, lapply(as.list(model$prior), four_digits)))
  if (is.null(model$variance)) {
    paste0("normal mean, unknown variance; ", if (identical(model$prior, normal_mean()$prior)) {
      "reference prior 1/variance"
    } else filled("prior: mean %s with weight %s, inverse gamma shape %s, rate %s"))
  } else {
    paste0("normal mean, variance ", four_digits(model$variance), "; ",
      if (is.infinite(model$prior[["variance"]])) "flat prior" else filled("prior N(%s, %s)"))
  }
}

add_kind("normal_mean", function() list(
  words = normal_words, limit = "never", has_prior = TRUE, arguments = NULL, leading = 1L,
  cost = function(model, y, draws, steps) {
    call_cost(serial = 1e-3, parallel = draws * steps * 4.6e-9, fixed = 2e-3, down = 16 * draws,
      compute = draws * steps * 3e-11)
  },
  start = start_normal_mean, advance = advance_normal_mean,
  quantities = function(fit, run, progress) list(draws = normal_mean_quantities(fit, run)),
  left = function(fit) function(horizon) fit$start$weight / (fit$start$weight + horizon),
  simulate = simulate_normal, types = "mean", predict = predict_normal, picture = normal_mean_picture,
  reasons = list(variance_reason, prior_mean_reason, degrees_reason, values_checks)
))

start_normal_mean <- function(fit, y, run) {
  check_result_size(fit$count, "draws", "resamples", copies = 12)
  y <- check_numeric_vector(y)
  check_gini(y, fit$functional)
  n <- length(y)
  variance <- fit$model$variance
  prior <- as.list(fit$model$prior)
  if (is.null(variance)) {
    weight <- prior$weight + n
    shape <- prior$shape + n / 2
    mean <- (prior$weight * prior$mean + sum(y)) / weight
    scale <- prior$rate + sum((y - mean(y))^2) / 2 + prior$weight * n / weight * (mean(y) - prior$mean)^2 / 2
    if (!is.finite(mean + scale) || (scale <= 0 && diff(range(y)) > 0)) {
      stop_input("y", "has values whose squares are ", if (is.finite(scale)) "0" else "not finite",
        " in double precision: use other units")
    }
    if (shape <= 0 || scale <= 0) {
      stop_input("y", if (n < 2L) "has one value" else "is constant",
        ": its variance is unknown, and the prior says nothing of it; give `variance`, or a `prior` with a shape and ",
        "a rate")
    }
    start <- list(mean = mean, weight = weight, shape = shape, scale = scale, sd = 0)
  } else {
    # The prior counts as much as variance / prior variance observations.
    worth <- variance / prior$variance
    start <- list(mean = (worth * prior$mean + sum(y)) / (worth + n), weight = worth + n, shape = 0, scale = NULL,
      sd = sqrt(variance))
  }
  if (!is.finite(start$mean)) stop_input("y", "has a sum that is not finite in double precision: use other units")
  with_parts(fit, n = n, y = y, start = start, state = first_means(start, fit$count))
}

first_means <- function(start, count) {
  list(mean = rep(start$mean, count), scale = if (!is.null(start$scale)) rep(start$scale, count))
}

advance_normal_mean <- function(fit, steps, run, progress) {
  if (fit$every > 0) check_result_size(fit$count * steps / fit$every, "trajectories", "points of trajectories")
  kept <- list()
  outcome <- in_slices(steps, 4e6 / fit$count, progress, function(done, steps) {
    slice <- native(C_predictive_normal, fit$start, fit$state, fit$seed, 0, fit$horizon, steps, fit$every, run)
    fit <<- with_parts(fit, state = slice[c("mean", "scale")], horizon = fit$horizon + steps)
    if (ncol(slice$trajectory)) kept[[length(kept) + 1L]] <<- slice$trajectory
  })
  fit <- with_parts(fit, parts = outcome)
  if (fit$every == 0) return(fit)
  if (is.null(fit$trajectories)) kept <- c(list(matrix(fit$start$mean, fit$count, 1L)), kept)
  paths <- do.call(cbind, c(list(fit$trajectories), kept))
  with_parts(fit, trajectories = paths, times = (seq_len(ncol(paths)) - 1) * fit$every)
}

# The mean and an unknown variance are the model's; median, quantiles and probabilities describe the population.
normal_mean_quantities <- function(fit, run) {
  functional <- fit$functional
  if (is.function(functional)) return(population_quantities(fit, functional, run))
  quantities <- cbind(mean = fit$state$mean)
  if (!is.null(fit$state$scale)) {
    # After `horizon` steps the variance is inverse gamma. Its mean, a martingale, is the estimate.
    shape <- fit$start$shape + fit$horizon / 2
    quantities <- cbind(quantities, variance = fit$state$scale / (if (shape > 1) shape - 1 else shape))
  }
  if (is.null(functional)) return(quantities)
  refuse_kinds(functional)
  kinds <- kinds_of(functional)
  lacking <- intersect(kinds, c("variance", "sd"))
  if (length(lacking) && is.null(fit$state$scale)) {
    stop_input("functional", "is ", dQuote(lacking[[1L]], FALSE),
      ": this model has \"mean\"; a function of the population can compute others")
  }
  if ("sd" %in% kinds) quantities <- cbind(quantities, sd = sqrt(quantities[, "variance"]))
  others <- functional[!kinds %in% colnames(quantities)]
  if (length(others)) {
    quantities <- cbind(quantities, population_quantities(fit, function(y) {
      y <- sort(y)
      unlist(lapply(others, equal_functional, y))
    }, run))
  }
  quantities[, match(unlist(lapply(functional, functional_labels)), colnames(quantities)), drop = FALSE]
}

# The values that a resample drew follow from the path of its means.
population_quantities <- function(fit, functional, run) {
  weight <- fit$start$weight + seq_len(fit$horizon)
  bind_quantities(lapply(parts_of(fit$count, 4e6 / (fit$horizon + 1)), function(members) {
    first <- members[[1L]] - 1
    state <- first_means(fit$start, length(members))
    paths <- function(run) native(C_predictive_normal, fit$start, state, fit$seed, first, 0, fit$horizon, 1, run)
    slice <- tryCatch(paths(run), warpbayes_error = function(error) {
      if (run$backend == "cpu") stop(error)
      warning("quantities are computed on the processor, because the graphics card failed: ", conditionMessage(error),
        call. = FALSE)
      paths(run <<- on_processor(run))
    })
    path <- cbind(state$mean, slice$trajectory)
    each_resample(members, function(r) {
      mean <- path[r - first, ]
      functional(c(fit$y, mean[-length(mean)] + diff(mean) * weight))
    })
  }))
}

simulate_normal <- function(fit, r) {
  weight <- fit$start$weight + fit$horizon
  if (is.null(fit$state$scale)) return(stats::rnorm(fit$n, fit$state$mean[[r]], fit$start$sd * sqrt(1 + 1 / weight)))
  shape <- fit$start$shape + fit$horizon / 2
  spread <- sqrt(fit$state$scale[[r]] * (1 + 1 / weight) / shape)
  fit$state$mean[[r]] + spread * stats::rt(fit$n, 2 * shape)
}

predict_normal <- function(fit, newdata, type, level, run) {
  start <- fit$start
  ends <- interval_ends(if (is.null(level)) 0.9 else level)
  ends <- if (is.null(start$scale)) stats::qnorm(ends) * start$sd * sqrt(1 + 1 / start$weight) else {
    stats::qt(ends, 2 * start$shape) * sqrt(start$scale * (1 + 1 / start$weight) / start$shape)
  }
  predicted_rows(fit, start$mean, cbind(start$mean + ends))
}

# The standard deviation, without overflow of squares.
safe_sd <- function(y) {
  y <- y - mean(y)
  largest <- max(abs(y))
  if (largest == 0) 0 else largest * stats::sd(y / largest)
}

# What the data say against the model: differences beyond chance (0.001) and of at least 10% in the width of intervals.
variance_reason <- function(fit) {
  variance <- fit$model$variance
  if (is.null(variance) || fit$n < 2L) return(NULL)
  spread <- safe_sd(fit$y)
  ratio <- spread / sqrt(variance)
  one_sided <- stats::pchisq(ratio^2 * (fit$n - 1), fit$n - 1, lower.tail = ratio < 1)
  if (one_sided > 0.0005 || abs(log(ratio)) < log(1.1)) return(NULL)
  reason("unsupported_variance", figure = ratio, given = format(signif(variance, 3)), count = whole_words(fit$n),
    found = format(signif(spread^2, 3)), how = if (spread == 0) "wider than the data ask for." else {
      sprintf("about %s times too %s. variance = NULL estimates it.", format(signif(max(ratio, 1 / ratio), 2)),
        if (ratio > 1) "narrow" else "wide")
    })
}

# A prior mean that the data contradict: the estimate lies between the two, where neither says it is.
prior_mean_reason <- function(fit) {
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
  reason("unsupported_prior", figure = prior$mean, prior = four_digits(prior$mean), data = four_digits(mean(fit$y)),
    mean = four_digits(fit$start$mean))
}

# Student's t has a standard deviation from more than two degrees of freedom on.
degrees_reason <- function(fit) {
  degrees <- 2 * fit$start$shape
  if (is.null(fit$model$variance) && degrees <= 2) {
    reason("unsupported_moments", figure = degrees, count = count_words(fit$n, "value"),
      degrees = count_words(degrees, "degree of freedom", "degrees of freedom"))
  }
}
