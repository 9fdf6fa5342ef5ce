# Plots: they work for all sorts of fits, restore the graphics device, are small for a million cells, and refuse bad
# input.

draw <- function(code, ...) {
  file <- tempfile(fileext = ".png")
  png(file, width = 7, height = 7, units = "in", res = 75, ...)
  device <- dev.cur()
  before <- par(no.readonly = TRUE)
  on.exit({
    dev.off(device)
    unlink(file)
  })
  force(code)
  after <- par(no.readonly = TRUE)
  same <- c("mar", "oma", "mfrow", "las", "mgp", "tcl", "xaxs", "yaxs", "cex")
  expect_identical(after[same], before[same])
  invisible(file)
}

picture_size <- function(code) {
  file <- scratch(fileext = ".png")
  png(file, width = 7, height = 7, units = "in", res = 300)
  force(code)
  dev.off()
  file.size(file)
}

test_that("every plot works for fits of all shapes", {
  skip_where_repeated()
  for (p in c(1, 2, 4, 7)) {
    fit <- simulate_fit(n = 400, k = if (p == 2) 1 else 12, p = p, chains = p %/% 2 + 1)
    x <- fit$x
    draw(expect_identical(expect_invisible(plot(fit, x, threads = 2)), fit))
    fit$x <- NULL
    draw(plot(fit, main = "A title"))
    draw(plot(fit, type = "trace", main = "A title"))
    draw(plot(fit, type = "weights", main = "A title"))
    draw(plot(fit, type = "heatmap", main = "A title"))
  }
})

test_that("short, interrupted and constant chains have a trace plot", {
  fit <- simulate_fit(sweeps = 51)
  fit$iter <- 20
  fit$draws <- list()
  fit$log_posterior <- fit$log_posterior[1:20, ]
  fit$log_likelihood <- fit$log_likelihood[1:20, ]
  fit$score <- fit$score[1:20, ]
  fit$occupied <- fit$occupied[1:20, ]
  fit$occupied[] <- 1
  fit$concentration_trace <- fit$concentration_trace[1:20, ]
  fit$probe_density <- fit$probe_density[1:20, , , drop = FALSE]
  fit$log_likelihood[1, ] <- -Inf
  draw(plot(fit, type = "trace"))
})

test_that("long chains are drawn as bands", {
  skip_where_repeated()
  draw(plot(simulate_fit(n = 100, sweeps = 700, warmup = 100, chains = 7), type = "trace"))
})

test_that("cells outside the frame, constant markers and a single cell can be shown", {
  fit <- simulate_fit(n = 300, p = 3)
  x <- fit$x
  x[1, ] <- 1e6
  x[, 2] <- 10
  draw(plot(fit, x, threads = 2))
  draw(plot(fit, x[5, , drop = FALSE], threads = 2))
})

test_that("markers can be chosen; the default is those on which components differ most", {
  fit <- simulate_fit(n = 300, p = 7)
  reference <- reference_draw(fit)
  expect_length(choose_markers(fit, NULL, reference), 5)
  expect_identical(choose_markers(fit, c("CD7", "CD2"), reference), c(7L, 2L))
  flat <- reference
  flat$means[, 3:4] <- 0
  expect_identical(choose_markers(fit, NULL, flat), c(1L, 2L, 5L, 6L, 7L))
  error <- "warpbayes_error_input"
  expect_error(plot(fit, markers = "CD9"), "`markers` must be different names or numbers among.*\"CD9\"", class = error)
  expect_error(plot(fit, markers = c(1, 1)), "`markers` must be different", class = error)
  expect_error(plot(fit, markers = list()), "`markers` must be different", class = error)
  expect_error(plot(fit, type = "pair"), "`type` must be one of", class = error)
  expect_error(plot(fit, min_weight = 2), "`min_weight` must be one number between 0 and 1", class = error)
  expect_error(plot(fit, "a"), "`data` must be a numeric matrix", class = error)
  expect_error(plot(fit, colour = 1), "`colour` is not known here", class = error)
})

test_that("the shaded regions hold the stated share of the density", {
  # With one standard normal component the region of mass m is the disc of radius sqrt(-2 log(1 - m)). Areas in the
  # image are compared with the areas of the discs.
  reference <- list(weights = 1, means = matrix(0, 1, 2), covariances = array(diag(2), c(2, 2, 1)))
  regions <- region_layer(reference, 1:2, list(c(-4, 4), c(-4, 4)), size = 400)
  draw({
    plot.new()
    plot.window(c(-4, 4), c(-4, 4), xaxs = "i", yaxs = "i")
    paint_layer(regions)
  })
  shade <- findInterval(regions$data$z, -region_mass)
  area <- rev(cumsum(rev(tabulate(shade + 1L, 5))))[-1] * 64 / 400^2
  expect_equal(area, -2 * pi * log(1 - region_mass), tolerance = 0.01)
})

test_that("the plot of a million cells takes less than a megabyte", {
  skip_where_repeated()
  skip_on_other_days(3L)
  fit <- simulate_fit(n = 1e6, k = 30, p = 5, sweeps = 2000, warmup = 1900, chains = 4)
  x <- fit$x
  for (type in c("pairs", "trace", "weights", "heatmap")) {
    expect_lt(picture_size(plot(fit, x, type = type, backend = "cpu", threads = 2)), 1e6)
  }
})

test_that("plots that cannot be drawn are refused with a message", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fit <- simulate_fit()
  expect_error(plot(fit, fit$x[0, ]), "`data` has no rows", class = "warpbayes_error_input")
  expect_error(plot(fit, "trace"),
    "`data` must be cells, not \"trace\"; the kind of picture is `type`", class = "warpbayes_error_input"
  )
  expect_error(plot(fit, markers = mean),
    "`markers` must be different names or numbers", class = "warpbayes_error_input"
  )
  expect_error(plot(fit, markers = structure(NA_integer_, class = "factor")),
    "not a factor of length 1", class = "warpbayes_error_input"
  )
})

test_that("a heat map without room gives an error and restores the device", {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file, width = 2, height = 1)
  on.exit({
    grDevices::dev.off()
    unlink(file)
  })
  before <- graphics::par(c("mfrow", "mar", "oma"))
  expect_error(plot(simulate_fit(), type = "heatmap"), "figure margins too large")
  expect_identical(graphics::par(c("mfrow", "mar", "oma")), before)
})

test_that("a fit stopped before its first sweep has an empty trace plot", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fit <- simulate_fit()
  fit$iter <- 0
  fit$draws <- list()
  for (name in c("log_likelihood", "log_posterior", "score", "concentration_trace", "occupied")) {
    fit[[name]] <- fit[[name]][0, , drop = FALSE]
  }
  fit$probe_density <- fit$probe_density[0, , , drop = FALSE]
  expect_identical(plot(fit, type = "trace"), fit)
})

test_that("arcsinh axes are labelled in the data's units", {
  arcsinh_ticks <- function(ends, cofactor) {
    transformed_ticks(ends, list(type = "arcsinh", cofactor = cofactor), 1)
  }
  ticks <- arcsinh_ticks(asinh(c(-2000, 30000) / 150), 150)
  expect_identical(vapply(ticks$labels, function(label) paste(deparse(label), collapse = ""), ""),
    c("\"-1000\"", "\"0\"", "\"1000\"", "10^4")
  )
  expect_equal(sinh(ticks$at) * 150, c(-1000, 0, 1000, 10000))
  # A range that contains no power of ten has plain numbers.
  ticks <- arcsinh_ticks(asinh(c(20, 60) / 150), 150)
  expect_equal(sinh(ticks$at) * 150, as.numeric(unlist(ticks$labels)))
  # From -10 to 100, as in mass cytometry.
  expect_equal(sinh(arcsinh_ticks(asinh(c(-12, 150) / 5), 5)$at) * 5, c(-10, 0, 10, 100))
  fit <- simulate_fit(p = 3)
  fit$transform <- list(type = "arcsinh", cofactor = c(5, 150, 1))
  fit$x <- NULL
  draw(plot(fit))
  draw(plot(fit, markers = 2))
  # Logicle: zero and powers of ten lie where the scale has them.
  logicles <- matrix(c(262144, 0.5, 4.5, 0), 1, dimnames = list("CD3", c("t", "w", "m", "a")))
  scale <- list(type = "logicle", cofactor = NA, logicle = logicles)
  ticks <- transformed_ticks(transform_values(c(-500, 2e5), scale, 1), scale, 1)
  expect_equal(data_values(ticks$at, scale, 1), c(-100, 0, 100, 1000, 10000, 1e5), tolerance = 1e-8)
})

test_that("plots have room for long names and many chains", {
  fit <- simulate_fit(p = 3, chains = 8)
  fit$markers <- c("CD3", strrep("long ", 10), strrep("x", 70))
  colnames(fit$x) <- dimnames(fit$draws$means)[[2]] <- colnames(fit$probe) <- fit$markers
  for (type in c("pairs", "heatmap", "trace")) {
    draw(plot(fit, type = type, threads = 2))
  }
  draw(expect_lte(names_in_margin(fit$markers, 5, 1)$lines, 0.4 * 5 / 0.2 + 2))
})
