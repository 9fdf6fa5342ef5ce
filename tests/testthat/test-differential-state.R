# differential_state(): closed forms, known changes, false discovery rates beside moderated t tests, words and errors.

# A made-up fit of six samples with three types, in which the second type has more of the second marker in samples 4-6.
state_types <- function(more = 3) {
  fit <- population_fit(n = 1200, kept = 4, seed = 9)
  n <- fit$rows
  fit$samples <- paste0("s", 1:6)
  fit$sample <- rep_len(1:6, n)
  types <- cell_types(fit, threads = 1)
  rows <- types$type == "2" & fit$sample > 3
  types$fit$x[rows, 2] <- types$fit$x[rows, 2] + more
  # Labels of the draws, so that the cells that were moved stay in their type.
  numbers <- attr(fit, "numbers")
  component <- rep(1:6, round(400 * 3 * c(0.3, 0.2, 0.15, 0.15, 0.12, 0.08)))
  types$fit$draws$labels <- array(vapply(1:2, function(chain) {
    vapply(1:4, function(draw) numbers[component, draw, chain], integer(n))
  }, matrix(0L, n, 4)), c(n, 4, 2))
  types
}
of_six <- data.frame(group = rep(c("a", "b"), each = 3), batch = c(1, 2, 3, 1, 2, 3))

test_that("a change of one marker in one type is found, and no other", {
  types <- state_types()
  result <- differential_state(types, ~ group, of_six, seed = 1, threads = 1)
  expect_s3_class(result, "data.frame")
  expect_identical(nrow(result), 6L)
  found <- which(result$fdr < 0.001)
  expect_identical(as.character(result$type[found]), "2")
  expect_identical(as.character(result$marker[found]), "CD8")
  expect_lt(result$lower[found], 3)
  expect_gt(result$upper[found], 3)
  expect_gt(result$lower[found], 2)
  expect_identical(result, differential_state(types, ~ group, of_six, seed = 1, threads = 2))
  means <- differential_state(types, ~ group, of_six, statistic = "mean", markers = "CD8", seed = 1, threads = 1)
  expect_identical(nrow(means), 3L)
  expect_equal(means$estimate, result$estimate[result$marker == "CD8"], tolerance = 0.1)
  # In other units.
  wide <- types
  wide$fit$x <- 1000 * wide$fit$x
  wide$fit$scale <- 1000 * wide$fit$scale
  larger <- differential_state(wide, ~ group, of_six, seed = 1, threads = 1)
  expect_equal(larger$p, result$p, tolerance = 1e-6)
  expect_equal(larger$estimate / 1000, result$estimate, tolerance = 1e-6)
  # Batches, pairs and contrasts.
  batch <- differential_state(types, ~ group + batch, of_six, effect = c("group", "batch"), seed = 1, threads = 1)
  expect_identical(unique(batch$effect), c("groupb", "batch"))
  expect_lt(batch$fdr[found], 0.01)
  pairs <- differential_state(types, ~ group + (1 | batch), of_six, seed = 1, threads = 1)
  expect_lt(pairs$fdr[found], 0.01)
  three <- differential_state(types, ~ g, data.frame(g = c("a", "a", "b", "b", "c", "c")), seed = 1, threads = 1,
    effect = c(all = "(gb + gc) / 2"))
  expect_identical(unique(three$effect), "all")
})

# Three types in six samples with CD4 and CD8, and the same cells with pS6 and pERK. In the stimulated samples pS6 of
# the second type is higher by 2.
stimulated <- function() {
  set.seed(12)
  population <- rep(rep(1:3, c(150, 100, 50)), 6)
  sample <- rep(1:6, each = 300)
  x <- cbind(CD4 = rnorm(1800, c(0, 6, 6)[population]), CD8 = rnorm(1800, c(0, 0, 6)[population]))
  state <- cbind(pS6 = rnorm(1800) + rnorm(6, 0, 0.1)[sample] + 2 * (population == 2 & sample > 3), pERK = rnorm(1800))
  of_samples <- function(x) lapply(split(seq_len(1800), paste0("s", sample)), function(rows) x[rows, , drop = FALSE])
  fit <- dp_mixture(of_samples(x), components = 6, iter = 120, chains = 1, seed = 1, threads = 1)
  list(types = cell_types(fit, threads = 1), population = population, sample = sample, state = state,
    by_sample = of_samples(state), data = cbind(of_six, sample = paste0("s", 1:6)))
}

test_that("markers outside the fit are compared within its types", {
  some <- stimulated()
  compare <- function(..., types = some$types, x = some$by_sample) {
    result <- suppressMessages(differential_state(types, ~ group, some$data, x = x, seed = 1, threads = 1, ...))
    attr(result, "formula") <- NULL
    result
  }
  result <- compare()
  second <- as.character(some$types$type[which(some$population == 2)[[1L]]])
  expect_identical(levels(result$marker), c("pS6", "pERK"))
  found <- which(result$reported)
  expect_identical(paste(result$type, result$marker)[found], paste(second, "pS6"))
  expect_true(result$lower[found] < 2 && result$upper[found] > 2)
  only <- compare(markers = "pS6")
  expect_identical(levels(only$marker), "pS6")
  expect_equal(only$estimate, result$estimate[result$marker == "pS6"], tolerance = 0.05)
  # Samples in another order, one matrix, a data frame beside the fitted markers: the same cells.
  expect_equal(compare(x = rev(some$by_sample)), result, tolerance = 1e-12)
  expect_identical(compare(x = some$state), result)
  expect_identical(compare(x = unname(some$by_sample)), result)
  all <- data.frame(some$types$fit$x, some$state, file = some$sample)
  expect_identical(compare(x = all[1:4]), result)
  expect_error(compare(x = all, sample = "file"), NA)
  # As the fit's, values are transformed.
  raw <- some
  raw$types$fit$transform <- list(type = "arcsinh", cofactor = c(CD4 = 5, CD8 = 5))
  expect_equal(compare(types = raw$types, x = lapply(some$by_sample, function(x) 5 * sinh(x)))$p, result$p,
    tolerance = 1e-6)
  # Clusters that others made, by cell.
  clusters <- factor(some$population, labels = c("A", "B", "C"))
  given <- compare(types = clusters)
  expect_identical(paste(given$type, given$marker)[given$reported], "B pS6")
  expect_no_match(paste(as.character(verdict(given)), collapse = " "), "rests on")
  expect_identical(compare(types = clusters, x = some$state, sample = paste0("s", some$sample)), given)
  both <- data.frame(some$state, cluster = clusters, file = paste0("s", some$sample))
  expect_identical(compare(types = "cluster", x = both, sample = "file"), given)
  wrong <- function(argument, words, ...) {
    error <- expect_error(compare(...), words, class = "warpbayes_error_input")
    expect_identical(error$argument, argument)
  }
  wrong("x", "has 1,799 cells, but the fit has 1,800", x = some$state[-1, ])
  one_less <- some$by_sample
  one_less$s2 <- one_less$s2[-1, ]
  one_less$s3 <- rbind(one_less$s3, 0)
  wrong("x", "has 299 cells in sample \"s2\", but the fit has 300", x = one_less)
  wrong("x", "names other than the samples", x = stats::setNames(some$by_sample, letters[1:6]))
  wrong("markers", "names \"pS7\", which is not there", markers = "pS7")
  wrong("markers", "`x` takes other markers", markers = "pS6", x = NULL)
  wrong("x", "clusters have no markers", types = clusters, x = NULL)
  wrong("sample", "which sample is each cell of", types = clusters, x = some$state)
  wrong("types", "has 1,799 values for 1,800 cells", types = clusters[-1])
  wrong("types", "names \"clust\", which is no column of `x`", types = "clust", x = both, sample = "file")
  timed <- compare(x = cbind(some$state, Time = seq_len(1800)))
  expect_match(as.character(verdict(timed)), "By its name, \"Time\" is no marker", all = FALSE)
  expect_no_match(as.character(verdict(result)), "no marker")
})

test_that("words say what is reported and what cannot be tested", {
  types <- state_types()
  result <- differential_state(types, ~ group, of_six, seed = 1, threads = 1)
  text <- paste(capture.output(print(result)), collapse = " ")
  expect_match(text, "Differential state of 2 markers in 3 types: ~group")
  expect_match(text, "reported at a false discovery rate of 10%")
  expect_match(state_words(result)[[2]], "^b against a: .* reported at")
  none <- result
  none$p <- NA_real_
  none$reported <- FALSE
  expect_match(as.character(verdict(none))[1:2], "^Cannot tell\\.|No change can be tested")
  expect_match(state_words(none)[[2]], "^b against a: no change is reported")
  expect_no_match(capture.output(print(summary(none))), "Changes:")
  # Comparisons of one design have the same reservations.
  counts <- table(types$type, factor(types$fit$sample, labels = types$fit$samples))
  other <- differential_abundance(unclass(counts), ~ group, of_six, iter = 60, warmup = 9, seed = 1, threads = 2)
  of_design <- function(x) {
    words <- as.character(verdict(x))
    words[grepl("in their order|of freedom", words)]
  }
  expect_gt(length(of_design(result)), 0)
  expect_identical(of_design(result), of_design(other))
  expect_match(text, "rows are +in +their +order: +s1 +is +a")
  expect_no_match(text, "cannot be tested|had not converged")
  named <- differential_state(types, ~ group, cbind(of_six, sample = types$fit$samples), seed = 1, threads = 1)
  expect_no_match(paste(capture.output(print(named)), collapse = " "), "in their order")
  # The third type has 240 cells, 40 in each sample.
  few <- differential_state(types, ~ group, of_six, min_cells = 45, seed = 1, threads = 1)
  third <- few$type == "3"
  expect_true(all(is.na(few$p[third])) && !anyNA(few$p[!third]))
  expect_identical(few$reported[third], c(FALSE, FALSE))
  expect_match(as.character(verdict(few)), "2 changes cannot be tested", all = FALSE)
  expect_output(print(result[1:2]), "type")
  for (part in list(result[, c("type", "p")], subset(result, select = c(type, marker)))) {
    expect_identical(capture.output(print(part)), capture.output(print(plain_frame(part))))
  }
  expect_output(print(summary(result)), "Changes:.*CD8")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(result), result)
  expect_identical(plot(result, types = "2", main = "Two"), result)
  expect_error(plot(result, types = "9"), class = "warpbayes_error_input")
  expect_error(plot(result, effect = "c"), class = "warpbayes_error_input")
  row <- glance_of(result)
  expect_identical(c(row$tested, row$reported), c(sum(!is.na(result$p)), sum(result$reported)))
  expect_identical(row$verdict, verdict(result)$answer)
  skip_if_not_installed("generics")
  expect_identical(generics::tidy(result)$p.value, result$p)
  expect_error(generics::tidy(result[1:3]), class = "warpbayes_error_input")
})

# The median or mean of values and its variance, by R's own functions.
reference_state <- function(values, statistic, least) {
  values <- values[!is.na(values)]
  n <- length(values)
  if (n < least) return(c(NA, NA))
  if (statistic == "mean") return(c(mean(values), stats::var(values) / n))
  ends <- pmin(pmax((n + 1) / 2 + c(-1, 1) * sqrt(n) / 2, 1), n)
  points <- stats::quantile(values, c(0.5, (ends - 1) / (n - 1)), names = FALSE)
  c(points[[1L]], ((points[[3L]] - points[[2L]]) / 2)^2)
}

test_that("statistics of types in samples are those of R's functions", {
  set.seed(5)
  n <- 1500L
  x <- cbind(rexp(n), pmax(rnorm(n), 0), 1e6 + rnorm(n), rep(5, n))
  x[sample(length(x), 300)] <- NA
  # Samples that are mixed, of which the third has no row and the second one row of group 2. No row is in group 3.
  sample <- sample(c(1L, 2L, 4L), n, TRUE)
  group <- cbind(sample(c(1L, 2L, 4L), n, TRUE), rep(c(1L, 4L), n / 2))
  group[sample == 2L & group == 2L] <- 4L
  group[which(sample == 2L)[[1L]], ] <- 2L
  for (statistic in c("median", "mean")) {
    found <- group_statistics(x, 4:1, sample, group, c(4L, 4L), statistic, 3, 1L)
    expect_identical(group_statistics(x, 4:1, sample, group, c(4L, 4L), statistic, 3, 2L), found)
    each <- expand.grid(group = 1:4, sample = 1:4, draw = 1:2, column = 4:1)
    expected <- mapply(function(g, part, draw, column) {
      reference_state(x[sample == part & group[, draw] == g, column], statistic, 3)
    }, each$group, each$sample, each$draw, each$column)
    expect_identical(is.na(found$value), is.na(expected[1, ]))
    expect_equal(found$value, expected[1, ], tolerance = 1e-14)
    expect_equal(found$variance, expected[2, ], tolerance = 1e-10)
    expect_true(all(found$variance[each$column == 4] == 0, na.rm = TRUE))
  }
})

test_that("the standard error of a median, and mixtures of normals, are right", {
  state_of <- function(values, statistic = "median", least = 2) {
    of <- rep(1L, length(values))
    unlist(group_statistics(cbind(values), 1L, of, of, c(1L, 1L), statistic, least, 1L), use.names = FALSE)
  }
  set.seed(3)
  for (n in c(20, 200)) {
    states <- replicate(400, state_of(rexp(n)))
    # The estimate of the variance is right on average, within 30%.
    expect_equal(mean(states[2, ]), stats::var(states[1, ]), tolerance = 0.3)
  }
  expect_identical(state_of(c(1, NA, 3), "mean"), c(2, 1))
  expect_identical(state_of(c(1, 2, 3), "mean", 4), c(NaN, NaN))
  expect_identical(state_of(rep(5, 9)), c(5, 0))
  part <- mixture_points(c(1, 1), c(2, 2), c(0.3, 0.7), c(0.5, 0.05))
  expect_equal(part$points, stats::qnorm(c(0.5, 0.05), 1, 2), tolerance = 1e-6)
  expect_equal(part$p, 2 * stats::pnorm(-0.5), tolerance = 1e-9)
})

test_that("uncertain types of cells widen intervals", {
  types <- state_types()
  sure <- differential_state(types, ~ group, of_six, seed = 1, threads = 1)
  # In every other draw a third of the cells change places.
  labels <- types$fit$draws$labels
  set.seed(1)
  types$fit$draws$labels[, c(1, 3), ] <- apply(labels[, c(1, 3), ], 2:3, function(own) {
    some <- sample(length(own), length(own) / 3)
    replace(own, some, sample(own[some]))
  })
  unsure <- differential_state(types, ~ group, of_six, seed = 1, threads = 1)
  expect_gt(mean(unsure$upper - unsure$lower), 1.1 * mean(sure$upper - sure$lower))
})

test_that("evidence and contrasts are those of a multivariate normal", {
  set.seed(6)
  x <- cbind(1, rnorm(7), rep(0:1, c(3, 4)))
  y <- cbind(rnorm(7), replace(5 + rnorm(7), c(2, 6), NA))
  v <- matrix(rexp(14, 5), 7)
  v[is.na(y)] <- NA
  deviation <- c(10, 2.5, 1)
  contrasts <- cbind(c(0, 1, 0), c(0, -1, 1))
  grid <- log(c(0.1, 0.5, 2))
  found <- fit_states(y, v, x, matrix(deviation, 3, 3), contrasts, grid)
  for (pair in 1:2) {
    there <- !is.na(y[, pair])
    z <- y[there, pair] - mean(y[there, pair])
    own <- x[there, ]
    prior <- diag(deviation^2)
    exact <- lapply(grid, function(log_sigma) {
      s <- own %*% prior %*% t(own) + diag(exp(2 * log_sigma) + v[there, pair])
      along <- t(contrasts) %*% prior %*% t(own) %*% solve(s)
      list(-0.5 * c(determinant(s)$modulus) - 0.5 * c(z %*% solve(s, z)), c(along %*% z),
        diag(t(contrasts) %*% prior %*% contrasts - along %*% own %*% prior %*% contrasts))
    })
    evidence <- vapply(exact, `[[`, 0, 1L)
    expect_equal(diff(found$evidence[pair, ]), diff(evidence), tolerance = 1e-10)
    expect_equal(found$mean[pair, , ], t(vapply(exact, `[[`, c(0, 0), 2L)), tolerance = 1e-10)
    expect_equal(found$variance[pair, , ], t(vapply(exact, `[[`, c(0, 0), 3L)), tolerance = 1e-10)
  }
})

# Medians of 15 types and 4 markers, of which 15% change by half a standard deviation.
state_set <- function(seed, each, changed) {
  set.seed(seed)
  group <- rep(0:1, each = each)
  shape <- c(15, 2 * each, 4)
  sigma <- array(rep(0.15 * exp(rnorm(60, 0, 0.3)), each = 2 * each), shape[c(2, 1, 3)])
  by <- ifelse(runif(60) < changed, sample(c(-0.5, 0.5), 60, TRUE), 0)
  value <- array(rnorm(prod(shape), 3 + outer(group, by), sigma), shape[c(2, 1, 3)])
  variance <- array(rexp(prod(shape), 400), shape)
  value <- aperm(value, c(2, 1, 3)) + rnorm(prod(shape), 0, sqrt(variance))
  model <- abundance_model(~ group, data.frame(group), as.character(seq_along(group)), NULL)
  list(truth = by, table = compare_states(value, variance, model, rep(1, 4), 0.9)$table)
}

test_that("tail probabilities are uniform without a change, and the false discovery rate is kept", {
  skip_where_repeated()
  sets <- if (extended()) 200 else 12
  null <- vapply(seq_len(sets), function(i) state_set(i, 3, 0)$table$p, numeric(60))
  # 200 sets: 0.049 of the p are below 0.05. False alarms 1e-6, if the types of a set have a design effect of 2.
  expect_lt(abs(mean(null < 0.05) - 0.05), 4.9 * sqrt(2 * 0.05 * 0.95 / length(null)))
  found <- vapply(seq_len(sets), function(i) {
    set <- state_set(1000 + i, 3, 0.15)
    reported <- stats::p.adjust(set$table$p, "BH") <= 0.1
    c(if (any(reported)) mean(set$truth[reported] == 0) else 0, mean(reported[set$truth != 0]),
      mean(set$table$lower < set$truth & set$table$upper > set$truth))
  }, numeric(3))
  # 200 sets: false discovery rate 0.096, power 0.83, coverage 0.90. limma's moderated t tests of the same medians have
  # 0.101 and 0.84. Each rate has a standard deviation of at most 0.17 over sets; false alarms 1e-6.
  expect_lt(mean(found[1, ]), 0.1 + 4.9 * 0.17 / sqrt(sets))
  expect_gt(mean(found[2, ]), 0.83 - 4.9 * 0.17 / sqrt(sets))
  expect_equal(mean(found[3, ]), 0.9, tolerance = 0.05)
})

test_that("bad input is refused in words", {
  types <- state_types()
  wrong <- function(argument, ...) {
    error <- expect_error(differential_state(..., threads = 1), class = "warpbayes_error_input")
    expect_identical(error$argument, argument)
  }
  wrong("types", matrix(1:4, 2), ~ group, of_six)
  wrong("types", cell_types(population_fit(), threads = 1), ~ group, of_six)
  wrong("markers", types, ~ group, of_six, markers = "CD9")
  wrong("markers", types, ~ group, of_six, markers = 1)
  wrong("statistic", types, ~ group, of_six, statistic = "mode")
  wrong("min_cells", types, ~ group, of_six, min_cells = 1)
  wrong("level", types, ~ group, of_six, level = 1)
  wrong("fdr", types, ~ group, of_six, fdr = 0)
  wrong("formula", types, y ~ group, of_six)
  wrong("data", types, ~ group, of_six[1:5, ])
  wrong("effect", types, ~ group, of_six, effect = "groupc - groupb")
  expect_error(differential_state(types, ~ group, of_six, nonsense = 1), "`nonsense`", class = "warpbayes_error_input")
  lost <- types
  lost$fit$x <- NULL
  expect_error(differential_state(lost, ~ group, of_six), class = "warpbayes_error_input")
})

test_that("a card draws the types of cells as the processor does", {
  skip_without_cuda()
  set.seed(5)
  samples <- lapply(1:3, function(i) cbind(CD4 = rnorm(900) + 5 * (runif(900) < i / 4), CD8 = rnorm(900)))
  fit <- dp_mixture(samples, components = 12, iter = 20, seed = 1, threads = 1, progress = FALSE)
  types <- cell_types(fit, threads = 1)
  drawn <- function(types, backend) types_in_draws(types, c(2, 5, 9), 7, resolve_run(backend, 1))
  expect_identical(drawn(types, "cuda"), drawn(types, "cpu"))
  # Cells of samples that lie in turn.
  turn <- rep(1:3, 900)
  types$fit$x <- types$fit$x[order(order(turn)), ]
  types$fit$sample <- turn
  expect_identical(drawn(types, "cuda"), drawn(types, "cpu"))
})
