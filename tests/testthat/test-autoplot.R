# autoplot(): every picture of plot() is a ggplot object that can be drawn and shows the same numbers.

draws <- function(plot) {
  expect_s3_class(plot, "ggplot")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  # Drawing finds errors of scales and facets, and warnings about values that are left out.
  expect_silent({
    built <- ggplot2::ggplot_build(plot)
    ggplot2::ggplot_gtable(built)
  })
  invisible(built)
}

test_that("every picture of mixtures and cell types is drawn", {
  skip_if_not_installed("ggplot2", "3.4.0")
  skip_where_repeated()
  autoplot <- ggplot2::autoplot
  fit <- population_fit()
  for (type in c("pairs", "trace", "weights", "heatmap")) draws(autoplot(fit, type = type, threads = 2, main = "A"))
  fit$transform <- list(type = "arcsinh", cofactor = c(5, 150))
  draws(autoplot(fit, markers = 1, threads = 2))
  long <- simulate_fit(n = 60, sweeps = 700, warmup = 100, chains = 7)
  draws(autoplot(long, type = "trace"))
  long$x <- NULL
  draws(autoplot(long))
  fit$transform <- NULL
  relabelled <- relabel(fit, threads = 2)
  components <- draws(autoplot(relabelled))
  # Each panel shows the components from the heaviest, and the weights with percent signs.
  axis <- components$layout$panel_params[[1L]]$y$get_labels()
  expect_identical(axis, rev(as.character(utils::head(relabelled$component_weights$component, length(axis)))))
  weights <- components$layout$panel_params[[3L]]$x$get_labels()
  expect_true(all(grepl("%$", vapply(weights, function(one) as.character(one), ""))))
  types <- cell_types(fit, threads = 2)
  for (type in c("tree", "cells", "heatmap", "proportions")) draws(autoplot(types, type))
  # The limit at which types join is a dashed line.
  tree <- draws(autoplot(types, "tree"))
  limit <- Find(function(layer) "yintercept" %in% names(layer), tree$data)
  expect_equal(limit$yintercept, -log10(types$limit))
  expect_identical(as.integer(limit$linetype), 2L)
  shares <- draws(autoplot(types, "proportions"))
  expect_equal(10^shares$data[[2L]]$x, types$types$proportion)
})

test_that("the regions of a mixture hold their share", {
  # With one standard normal component, the density at the edge of the region of mass m is 1 - m of its maximum.
  reference <- list(weights = 1, means = matrix(0, 1, 2), covariances = array(diag(2), c(2, 2, 1)))
  region <- region_layer(reference, 1:2, list(c(-4, 4), c(-4, 4)))$data
  expect_equal(-region$z, 1 - exp(-(region$x^2 + region$y^2) / 2), tolerance = 0.02)
  expect_identical(region$x[1:2], seq(-4, 4, length.out = 100)[1:2])
})

test_that("every picture of regressions, tables and topics is drawn", {
  skip_if_not_installed("ggplot2", "3.4.0")
  skip_where_repeated()
  autoplot <- ggplot2::autoplot
  fit <- bayes_logit(am ~ wt + hp, mtcars, chains = 2, iter = 200, seed = 1, threads = 2)
  for (type in c("coefficients", "trace", "calibration")) draws(autoplot(fit, type))
  shown <- draws(autoplot(fit, standardize = FALSE))
  expect_equal(shown$data[[4L]]$x, unname(coef(fit)[-1L]))
  expect_error(autoplot(fit, parameters = "zz"), "`parameters` must be", class = "warpbayes_error_input")
  expect_error(autoplot(fit, colour = 1), "`colour` is not known here", class = "warpbayes_error_input")
  for (wrong in list(list(argument = "x"), list(x = 3), list(markrs = "a"))) {
    expect_error(do.call(autoplot, c(list(population_fit(), type = "weights"), wrong)),
      sprintf("`%s` is not known here", names(wrong)), class = "warpbayes_error_input")
  }
  counts <- rbind(T = c(510, 480, 450, 400), B = c(40, 52, 160, 120), NK = c(12, 0, 4, 11))
  result <- differential_abundance(counts, ~group, data.frame(group = c("a", "a", "b", "b")),
    totals = rep(1000, 4), iter = 200, seed = 1)
  effects <- draws(autoplot(result))
  expect_setequal(effects$data[[3L]]$x, result$effects$estimate)
  x <- t(sapply(1:40, function(d) stats::rmultinom(1, 30, c(3, 3, 0, 1, 2, 1) + 2 * (1:6 == d %% 4))))
  colnames(x) <- c("goal", "team", "price", "trade", "vote", "law")
  topics <- topic_model(x, topics = 4, iter = 40, chains = 2, seed = 1, threads = 2)
  for (type in c("terms", "prevalence", "log_likelihood", "correlation", "map")) draws(autoplot(topics, type))
  table <- structure(
    data.frame(type = factor(rep(c("T", "B"), 2)), sample = factor(rep(c("s1", "s2"), each = 2)), cells = 10L,
      proportion = c(0.4, 0.6, 0.3, 0.7), lower = c(0.3, 0.5, 0.2, 0.6), upper = c(0.5, 0.7, 0.4, 0.8)),
    class = c("type_proportions", "warpbayes", "data.frame")
  )
  draws(autoplot(table))
  draws(autoplot(table, group = c("a", "b")))
})

test_that("every picture of distributions and martingale posteriors is drawn", {
  skip_if_not_installed("ggplot2", "3.4.0")
  skip_where_repeated()
  autoplot <- ggplot2::autoplot
  die <- pmf(rep(1 / 6, 6), from = 1)
  bars <- draws(autoplot(die + die, 2 * die, legend = c("two dice", "doubled")))
  expect_equal(bars$data[[1L]]$ymax[1:11], dpmf(die + die, 2:12))
  for (type in c("line", "distribution", "quantile", "lorenz", "stop_loss")) {
    draws(autoplot(die, if (type != "line") die + 1, type = type))
  }
  draws(autoplot(die, type = "quantile"))
  draws(autoplot(rep_sum_pmf(die, 50), log = TRUE))
  draws(autoplot(die, log = TRUE))
  expect_error(autoplot(die, type = "quantile", log = TRUE), "`log` is TRUE", class = "warpbayes_error_input")
  fit <- predictive_resample(c(1.2, 2.5, 2.2, 3), normal_mean(), horizon = 20, draws = 40, trajectories = 10, seed = 1,
    threads = 2)
  for (type in c("model", "draws", "trajectories")) draws(autoplot(fit, type))
  curve <- predictive_resample(cars[1:20, ], copula_regression(dist ~ speed), horizon = 10, draws = 10, seed = 1,
    threads = 2)
  band <- draws(autoplot(curve))
  expect_equal(sort(band$data[[3L]]$y), sort(curve$mean0))
  # Base graphics can add to a band, because its region is the device's own.
  grDevices::pdf(NULL)
  graphics::plot.new()
  before <- graphics::par("plt")
  plot(curve)
  expect_identical(graphics::par("plt"), before)
  expect_true(all(range(curve$mean0) > graphics::par("usr")[[3L]] & range(curve$mean0) < graphics::par("usr")[[4L]]))
  grDevices::dev.off()
  grid <- expand.grid(wt = c(2, 3, 4), hp = c(80, 150, 250))
  cars <- transform(mtcars[c("am", "wt", "hp")], am = factor(am))
  plane <- predictive_resample(cars, copula_classification(am ~ wt + hp, points = grid), horizon = 10, draws = 10,
    seed = 1, threads = 2)
  plane$probability0[] <- seq(0.1, 0.9, length.out = 9)
  plane$probability[] <- rep(plane$probability0, each = nrow(plane$probability))
  draws(autoplot(plane))
})
