# Missing values: dp_mixture(missing = "model").

# Cells of two populations. `share` of all values are missing at random.
gappy <- function(n, p = 3, share = 0.2, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(n * p), n, dimnames = list(NULL, paste0("CD", seq_len(p))))
  x[seq_len(n %/% 2), ] <- x[seq_len(n %/% 2), ] %*% (diag(p) / 2 + 0.4) + 3
  x[runif(n * p) < share] <- NA
  empty <- rowSums(!is.na(x)) == 0
  x[empty, 1] <- 0.5
  x
}

fit_gappy <- function(x, components = 5, iter = 16, warmup = 6, seed = 3, threads = 2, ...) {
  fit_mixture(x, components = components, iter = iter, warmup = warmup, seed = seed, threads = threads,
    missing = "model", ...
  )
}

draws_of <- function(fit) fit[c("draws", "log_likelihood", "log_posterior", "probe_density", "sizes")]

# Log weight plus log density of the observed values of each cell: rows x components.
known_joint <- function(x, mixture) {
  joint <- matrix(rep(log(mixture$weights), each = nrow(x)), nrow(x))
  for (i in seq_len(nrow(x))) {
    known <- which(!is.na(x[i, ]))
    if (length(known)) {
      joint[i, ] <- reference_joint(
        x[i, known, drop = FALSE], mixture$weights, mixture$means[, known, drop = FALSE],
        mixture$covariances[known, known, , drop = FALSE]
      )
    }
  }
  joint
}

test_that("NA is an error unless `missing` allows it, and infinite values always are", {
  error <- "warpbayes_error_input"
  x <- gappy(50)
  x[1, ] <- 1:3
  x[2, 2] <- NA
  expect_error(dp_mixture(x),
    "`x` has NA in row 2, column 2 \\(\"CD2\"\\).*; warp_control\\(missing = \"model\"\\) takes NA as missing",
    class = error
  )
  expect_error(dp_mixture(x, control = warp_control(missing = "drop")),
    "`missing` must be one of \"error\", \"model\", not \"drop\"", class = error
  )
  y <- x
  y[7, 3] <- Inf
  y[9, 1] <- -Inf
  expect_error(dp_mixture(y, control = warp_control(missing = "model")),
    "`x` has Inf in row 7, column 3 \\(\"CD3\"\\), the first of 2 values that are not finite$", class = error
  )
  y <- x
  y[, 2] <- NA
  expect_error(dp_mixture(
    y, control = warp_control(missing = "model")
  ), "`x` has no value in column 2 \\(\"CD2\"\\)", class = error)
  expect_error(dp_mixture(
    cbind(x, z = x[, 1] * 1e-160), control = warp_control(missing = "model")
  ), "too little to be squared", class = error)

  whole <- ifelse(is.na(x), 0, x)
  fit <- dp_mixture(whole, components = 3, iter = 4, seed = 1, threads = 2)
  expect_identical(fit$missing, "error")
  expect_error(predict(fit, x),
    "`newdata` has NA in row 2, .*; a fit with warp_control\\(missing = \"model\"\\) takes cells with missing values",
    class = error
  )
  fit <- fit_gappy(x, iter = 4, warmup = 2)
  expect_error(predict(fit, y * Inf), "`newdata` has Inf in row 1", class = error)
})

test_that("without missing values the fit is the same", {
  x <- gappy(200, share = 0)
  one <- dp_mixture(x, components = 5, iter = 12, seed = 1, threads = 2)
  other <- dp_mixture(x, components = 5, iter = 12, seed = 1, threads = 2, control = warp_control(missing = "model"))
  expect_identical(draws_of(one), draws_of(other))
})

test_that("cells without any value are kept with a warning", {
  x <- gappy(60)
  x[c(5, 9), ] <- NA
  expect_warning(fit <- fit_gappy(x),
    "`x` has 2 rows without any value, the first of them row 5: nothing is learned from them"
  )
  expect_identical(sum(fit$sizes), 60L)
  reference <- reference_draw(fit)
  expect_equal(predict(fit, type = "prob", threads = 2)[5, ], reference$weights, tolerance = 1e-12, ignore_attr = TRUE)
  expect_equal(log_lik(fit, ndraws = 1, threads = 2)[1, c(5, 9)], c(0, 0), tolerance = 1e-9)
  x <- gappy(60)
  x[5, ] <- NaN
  expect_warning(fit_gappy(x), "`x` has 1 row without any value, row 5: nothing is learned from it")
})

test_that("densities and probabilities use the observed values of a cell", {
  for (k in c(1, 6, 18)) {
    for (p in c(1, 3, 6)) {
      fit <- simulate_fit(n = 40, k = k, p = p, sweeps = 3, warmup = 2, chains = 1, seed = 10 * k + p)
      fit$missing <- "model"
      # All patterns of missing values. The first ones occur in so many cells that their tables are made in advance.
      lacks <- as.matrix(expand.grid(rep(list(c(FALSE, TRUE)), p)))
      rows <- if (p == 6) c(1:64, rep(c(2, 30), 6)) else rep(seq_len(nrow(lacks)), 6)
      set.seed(p)
      x <- fit$x[sample(40, length(rows), replace = TRUE), , drop = FALSE]
      x[lacks[rows, ]] <- NA
      mixture <- reference_draw(fit)
      joint <- known_joint(x, mixture)
      top <- apply(joint, 1, max)
      log_density <- top + log(rowSums(exp(joint - top)))
      for (precision in c("double", "single")) {
        fit$precision <- precision
        tolerance <- if (precision == "double") 1e-10 else 1e-4
        expect_equal(predict(fit, x, type = "log_density", threads = 2), log_density, tolerance = tolerance)
        prob <- predict(fit, x, type = "prob", threads = 2)
        expect_equal(prob, exp(joint - log_density), tolerance = tolerance, ignore_attr = TRUE)
        expect_identical(predict(fit, x, threads = 2), max.col(prob, ties.method = "first"))
      }
    }
  }
})

test_that("threads, instruction sets, slices and backends change no bit", {
  skip_on_cran()
  # On the processor, two leaves and a table for frequent patterns.
  x <- gappy(if (on_cuda()) 130 else 2500, p = 4, share = 0.1)
  for (precision in c("double", "single")) {
    reference <- draws_of(fit_gappy(x, components = 18, iter = 8, warmup = 2, precision = precision))
    expect_true(all(is.finite(reference$log_likelihood)))
    expect_identical(draws_of(fit_gappy(x, components = 18, iter = 8, warmup = 2, precision = precision, threads = 1)),
      reference
    )
    if (on_cuda() && precision == "double") {
      on_cpu <- fit_gappy(x, components = 18, iter = 8, warmup = 2, precision = precision, backend = "cpu")
      expect_identical(draws_of(on_cpu), reference)
    }
    if (!on_cuda()) {
      for (isa in instruction_sets()) {
        old <- options(warpbayes.isa = isa)
        expect_identical(draws_of(fit_gappy(x, components = 18, iter = 8, warmup = 2, precision = precision)),
          reference
        )
        options(old)
      }
    }
    fit <- continue(fit_gappy(x, components = 18, iter = 5, warmup = 2, precision = precision), 3)
    expect_identical(draws_of(fit), reference)
  }
})

test_that("every cell may have a pattern of its own", {
  p <- 8
  lacks <- as.matrix(expand.grid(rep(list(c(FALSE, TRUE)), p)))[2:100, ]
  x <- gappy(99, p, share = 0)
  x[lacks] <- NA
  fit <- fit_gappy(x)
  expect_true(all(is.finite(fit$log_likelihood)))
  mixture <- reference_draw(fit)
  joint <- known_joint(x, mixture)
  expect_equal(as.numeric(logLik(fit, threads = 2)), sum(log(rowSums(exp(joint)))), tolerance = 1e-9)
  # If no cell is complete, means replace the missing values of a probe.
  expect_false(anyNA(fit$probe))
  expect_true(all(is.finite(fit$probe_density)))
})

# The posterior of one component given a bivariate sample with gaps, by data augmentation in plain R.
augmentation <- function(x, sweeps, m, gamma, nu, phi) {
  n <- nrow(x)
  lacks <- is.na(x)
  x[lacks] <- 0
  means <- matrix(0, sweeps, 5)
  for (s in seq_len(sweeps)) {
    average <- colMeans(x)
    scatter <- crossprod(sweep(x, 2, average))
    scale <- nu * phi + scatter + n / (1 + gamma * n) * tcrossprod(average - m)
    sigma <- solve(stats::rWishart(1, nu + 3 + n, solve(scale))[, , 1])
    shrink <- gamma / (1 + gamma * n)
    mu <- (m + gamma * n * average) / (1 + gamma * n) + drop(crossprod(chol(sigma), rnorm(2))) * sqrt(shrink)
    for (c in 1:2) {
      other <- 3 - c
      rows <- which(lacks[, c])
      slope <- sigma[c, other] / sigma[other, other]
      # No row lacks both values.
      x[rows, c] <- mu[[c]] + slope * (x[rows, other] - mu[[other]]) +
        rnorm(length(rows), sd = sqrt(sigma[c, c] - slope * sigma[c, other]))
    }
    means[s, ] <- c(mu, sigma[1, 1], sigma[1, 2], sigma[2, 2])
  }
  means
}

# Means and their errors by batches.
batches <- function(values, count = 50) {
  batch <- rep(seq_len(count), each = nrow(values) %/% count)
  means <- rowsum(values[seq_along(batch), ], batch) / (nrow(values) %/% count)
  list(mean = colMeans(means), error = apply(means, 2, stats::sd) / sqrt(count))
}

test_that("one component has the same posterior as data augmentation in plain R", {
  skip_where_repeated()
  sweeps <- if (on_cuda()) 1500 else 8000
  set.seed(5)
  x <- matrix(rnorm(60), 30) %*% matrix(c(1, 0.8, 0, 0.6), 2)
  x[1:10, 1] <- NA
  x[11:18, 2] <- NA
  # The sampler's units come from the observed values.
  center <- colMeans(x, na.rm = TRUE)
  prior <- dp_prior(mean = c(0.3, -0.2), mean_scale = 3, df = 4, scale = matrix(c(1, 0.2, 0.2, 0.8), 2), floor = 0,
    learn = character()
  )
  fit <- dp_mixture(
    x, components = 1, iter = sweeps + 100, warmup = 100, prior = prior, seed = 1, threads = 2,
    control = warp_control(missing = "model")
  )
  expect_equal(fit$center, center)
  ours <- cbind(
    t(fit$draws$means[1, , , 1]), fit$draws$covariances[1, 1, 1, , 1], fit$draws$covariances[1, 2, 1, , 1],
    fit$draws$covariances[2, 2, 1, , 1]
  )
  theirs <- augmentation(x, 4000, c(0.3, -0.2), 3, 4, matrix(c(1, 0.2, 0.2, 0.8), 2))[-(1:100), ]
  a <- batches(ours)
  b <- batches(theirs)
  # Student's t with about 60 degrees of freedom and 10 comparisons: false alarms 1e-6.
  expect_lt(max(abs(a$mean - b$mean) / sqrt(a$error^2 + b$error^2)), 6)
  a <- batches(sweep(ours, 2, a$mean)^2)
  b <- batches(sweep(theirs, 2, b$mean)^2)
  expect_lt(max(abs(a$mean - b$mean) / sqrt(a$error^2 + b$error^2)), 6)
})

test_that("means are right when the means of complete cells are biased", {
  skip_where_repeated()
  skip_if(on_cuda(), "4,000 cells take too long on the emulator")
  set.seed(2)
  n <- 4000
  population <- rep(1:2, each = n / 2)
  a <- rnorm(n)
  x <- cbind(a = a + 6 * (population == 2), b = 0.9 * a + sqrt(1 - 0.81) * rnorm(n))
  # Whether b is missing depends on a, which is always observed. Above its population's mean of a, a cell lacks b with
  # probability 0.8.
  x[a > 0 & runif(n) < 0.8, "b"] <- NA
  fit <- dp_mixture(
    x, components = 6, iter = 300, warmup = 100, seed = 1, threads = 2,
    control = warp_control(missing = "model")
  )
  # The mean of b in each population, averaged over draws. Several components may share a population.
  d <- fit$draws
  b <- vapply(1:2, function(which) {
    mean(vapply(seq_len(dim(d$weights)[[2]]), function(i) {
      own <- (d$means[, "a", i, 1] > 3) == (which == 2)
      sum(d$weights[own, i, 1] * d$means[own, "b", i, 1]) / sum(d$weights[own, i, 1])
    }, 0))
  }, 0)
  # The posterior's sd is 0.03: false alarms below 1e-6.
  expect_lt(max(abs(b)), 0.2)
  complete <- !is.na(x[, "b"])
  expect_lt(mean(x[complete & population == 1, "b"]), -0.3)
  expect_gt(mean(predict(fit, threads = 2)[population == 1] == predict(fit, threads = 2)[[1]]), 0.95)
})

test_that("all functions of fits accept cells with missing values", {
  x <- gappy(if (on_cuda()) 80 else 300)
  fit <- fit_gappy(x, chains = 2, iter = 30, warmup = 10)
  expect_identical(fit$missing, "model")
  expect_false(anyNA(log_lik(fit, ndraws = 3, threads = 2)))
  expect_false(anyNA(unlist(simulate(fit, seed = 1))))
  expect_false(anyNA(predict(fit, x[, 3:1], type = "log_density", threads = 2)))
  expect_identical(predict(fit, x[1:20, ], threads = 2), predict(fit, threads = 2)[1:20])
  expect_identical(dim(relabel(fit, threads = 2)$draws$means), dim(fit$draws$means))
  types <- cell_types(fit, threads = 2)
  expect_identical(length(types$type), nrow(x))
  expect_false(anyNA(types$medians))
  expect_false(anyNA(predict(types, x, threads = 2)))
  expect_output(print(summary(fit)))
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  pictures <- list(
    function() plot(fit, threads = 2), function() plot(fit, data = x, markers = 1, threads = 2),
    function() plot(types, type = "cells"), function() plot(types)
  )
  for (draw in pictures) {
    expect_error(draw(), NA)
  }
  grDevices::dev.off()
  unlink(file)
  again <- update(dp_mixture(
    x, components = 5, iter = 4, warmup = 2, seed = 1, threads = 2, control = warp_control(missing = "model")
  ),
    components = 3
  )
  expect_identical(again[c("missing", "components")], list(missing = "model", components = 3))
  # The fit is saved without the data, which are added again.
  lost <- fit
  lost$x <- NULL
  lost$x <- x
  expect_identical(draws_of(continue(lost, 4, threads = 2)), draws_of(continue(fit, 4, threads = 2)))
})

test_that("starts from labels, transformed data and rounded channels accept missing values", {
  x <- gappy(120)
  fit <- fit_gappy(x, start = rep(1:3, 40))
  expect_true(all(is.finite(fit$log_posterior)))
  raw <- 5 * sinh(x)
  fit <- fit_gappy(raw, transform = "arcsinh")
  expect_equal(fit$x, x, tolerance = 1e-12)
  # Half of the values are zeros. Starts and splits find this atom.
  x[seq(1, 120, 2), 2] <- 0
  x[seq(1, 120, 5), 2] <- NA
  x[is.na(x[, 1]), 3] <- 0.4
  fit <- fit_gappy(round(x, 1))
  expect_true(all(is.finite(fit$log_posterior)))
  expect_true(any(find_atoms(fit)[1, ] == 1))
  expect_false(anyNA(find_atoms(fit)))
  expect_true(all(fit$prior$floor > 0))
})

test_that("a card with little memory makes a few tables at a time, and refuses rows that do not fit", {
  skip_if(!on_cuda(), "not a graphics card")
  x <- gappy(500, p = 6)
  fit <- function(backend) draws_of(fit_gappy(x, components = 20, iter = 3, warmup = 1, backend = backend))
  reference <- fit("cpu")
  expect_identical(fit("cuda"), reference)
  old <- options(warpbayes.device_memory = 6e5)
  on.exit(options(old))
  expect_identical(fit("cuda"), reference)
  options(warpbayes.device_memory = 1.85e5)
  x <- gappy(6 * 2048, p = 2)
  expect_error(fit_gappy(x, components = 2, iter = 3, warmup = 1),
    "with missing values all rows have to stay on the graphics card, and 0.20 MB for them cannot be had",
    class = "warpbayes_error_memory"
  )
})

test_that("samples and missing values can be combined", {
  x <- gappy(if (on_cuda()) 90 else 400)
  sample <- rep(c("one", "two", "two"), length.out = nrow(x))
  fit <- fit_gappy(x, sample = sample, components = 17)
  expect_true(all(is.finite(fit$log_posterior)))
  expect_identical(draws_of(fit_gappy(x, sample = sample, components = 17, threads = 1)), draws_of(fit))
  if (on_cuda()) {
    expect_identical(draws_of(fit_gappy(x, sample = sample, components = 17, backend = "cpu")), draws_of(fit))
  }
  expect_false(anyNA(predict(fit, x, type = "prob", sample = sample, threads = 2)))
})
