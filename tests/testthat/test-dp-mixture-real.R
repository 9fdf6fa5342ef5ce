# All functions of fits, on sampled rather than made-up fits.

everything <- function(fit, newdata) {
  expect_output(print(fit), "Dirichlet-process mixture")
  result <- summary(fit)
  expect_output(print(result, all = TRUE), "Convergence")
  expect_true(nzchar(result$verdict[[1]]))
  expect_equal(sum(result$components$weight), 1, tolerance = 1e-6)
  prob <- predict(fit, newdata, type = "prob", threads = 2)
  expect_equal(rowSums(prob), rep(1, nrow(prob)), tolerance = 1e-5, ignore_attr = TRUE)
  expect_true(all(is.finite(predict(fit, newdata, type = "log_density", threads = 2))))
  pdf(NULL)
  on.exit(dev.off())
  for (type in c("pairs", "trace", "weights", "heatmap")) plot(fit, type = type, threads = 2)
  plot(fit, newdata, threads = 2)
}

test_that("all functions work on a fit of the GvHD cells", {
  skip_where_repeated()
  skip_on_other_days(2L)
  skip_if_not_installed("mclust")
  data("GvHD", package = "mclust", envir = environment())
  # Few cells if every cell is slow.
  few <- if (resolve_run()$backend == "cpu") 1 else 40
  patient <- GvHD.pos[seq(1, nrow(GvHD.pos), by = few), ]
  fit <- dp_mixture(patient, components = 32, chains = 4, iter = if (few == 1) 120 else 40, seed = 1, threads = 2)
  everything(fit, GvHD.control[seq(1, nrow(GvHD.control), by = few), ])
  expect_identical(predict(fit, threads = 2), predict(fit, patient, threads = 2))
  # If chains differ by more than chance explains, the summary names the quantity and the difference.
  result <- summary(fit)
  table <- result$diagnostics[-(1:2), ]
  high <- table$rhat[differing(judged_quantities(fit)[-(1:2)], table)]
  if (length(high)) {
    expect_false(result$converged)
    expect_match(as.character(result$verdict), sprintf("(%.2f)", max(high)), fixed = TRUE, all = FALSE)
  }
})

test_that("densities agree with plain R, in the data's units, for either precision", {
  set.seed(60)
  x <- cbind(CD4 = c(rnorm(300, 200, 30), rnorm(200, 400, 50)), CD8 = c(rnorm(300, 2, 0.3), rnorm(200, 5, 0.4)))
  for (precision in c("double", "single")) {
    fit <- dp_mixture(
      x, components = 6, iter = 60, seed = 1, threads = 2,
      control = warp_control(thin = 5, precision = precision)
    )
    density <- 0
    for (draw in 1:6) {
      one <- mixture_of_draw(fit, draw, 1)
      density <- density + exp(reference_log_density(x, one$weights, one$means, one$covariances)) / 6
    }
    got <- predict(fit, x, type = "log_density", threads = 2)
    expect_lt(max(abs(got - log(density))), if (precision == "double") 1e-9 else 1e-3)
    expect_equal(fit$probe_density[60, 1, ], reference_log_density(fit$probe, one$weights, one$means, one$covariances),
      tolerance = if (precision == "double") 1e-9 else 1e-3)
    everything(fit, x[1:10, ])
  }
})

test_that("all functions work on fits of unusual data", {
  set.seed(61)
  x <- cbind(a = rnorm(60), constant = 3, copy = 0, whole = rpois(60, 5))
  x[, "copy"] <- x[, "a"]
  fit <- dp_mixture(x, components = 80, iter = 40, seed = 1, threads = 2)
  everything(fit, x)
  everything(dp_mixture(x[, "a", drop = FALSE], components = 1, iter = 30, seed = 1, threads = 2), x)
  everything(dp_mixture(
    data.frame(x), markers = c("whole", "a"), transform = c(5, 1), components = 4, iter = 30, seed = 1,
    threads = 2
  ), x)
})

test_that("markers of a flowFrame are chosen by what its channels measure", {
  setClass("annotation", representation(data = "data.frame"), where = globalenv())
  setClass("flowFrame", representation(exprs = "matrix", parameters = "ANY"), where = globalenv())
  set.seed(62)
  channels <- c("FSC-A", "FL1-H", "FL2-H")
  frame <- new("flowFrame", exprs = matrix(rexp(300, 0.01), 100, dimnames = list(NULL, channels)),
    parameters = new("annotation", data = data.frame(name = channels, desc = c(NA, "CD4", "CD8"))))
  fit <- dp_mixture(
    frame, markers = c("CD4", "CD8"), transform = c(arcsinh = 150), components = 4, iter = 30, seed = 1,
    threads = 2
  )
  expect_identical(fit$markers, c("CD4", "CD8"))
  expect_identical(unname(fit$x), unname(asinh(frame@exprs[, 2:3] / 150)))
  expect_identical(predict(fit, frame, threads = 2), predict(fit, threads = 2))
})
