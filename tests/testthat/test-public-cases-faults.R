# Faults that users of other packages reported in public, rebuilt small: what went wrong there must not go wrong here.

skip_where_repeated()
skip_if(resolve_run()$backend != "cpu", "what R does")

test_that("weights whose sum is next to nothing are drawn from by their ratios (metaprob issue 157)", {
  draw <- function(weights, ...) rcategorical(weights, 2000, seed = 1, threads = 1, ...)
  expect_identical(unique(as.vector(draw(c(1e-323, 0)))), 1L)
  expect_identical(draw(c(0.5e-323, 1e-323)), draw(c(1, 2)))
  expect_identical(draw(rbind(c(1e-323, 1e-323, 2e-323), c(1, 1, 2))), draw(rbind(c(1, 1, 2), c(1, 1, 2))))
  expect_identical(draw(c(-3000, -3000 + log(2)), log = TRUE), draw(c(0, log(2)), log = TRUE))
})

# R's compiler of functions catches every error, and so an error about a limit that ends while it compiles.
said_at_limit <- function(code) {
  level <- compiler::enableJIT(0)
  started <- proc.time()[["elapsed"]]
  on.exit({
    setTimeLimit()
    compiler::enableJIT(level)
    expect_lt(proc.time()[["elapsed"]] - started, 5)
  })
  tryCatch({
    setTimeLimit(elapsed = 0.3, transient = TRUE)
    code
    "ended"
  }, warning = conditionMessage, error = conditionMessage)
}

test_that("a fit to data without a maximum is stopped by a limit of time (stan issue 82, stanli issue 327)", {
  rows <- data.frame(x = 1:40, y = rep(0:1, each = 20))
  expect_match(said_at_limit(bayes_logit(y ~ x, rows, chains = 2, iter = 1e7, warmup = 10, seed = 1, threads = 1,
    control = warp_control(thin = 1e4), progress = FALSE)), "interrupted|time limit")
})

test_that("some draws of many rows are stopped by a limit of time", {
  expect_match(said_at_limit(rcategorical(matrix(1, 1e6, 4), 150, seed = 1, threads = 1)), "time limit")
})

test_that("differences of times in several units are one variable (plyr issue 193, dplyr issue 2059)", {
  set.seed(1)
  minutes <- runif(60, 10, 200)
  rows <- data.frame(wait = as.difftime(minutes, units = "mins"), y = rbinom(60, 1, plogis(minutes / 60 - 1.5)))
  fit <- bayes_logit(y ~ wait, rows, chains = 1, iter = 60, seed = 1, threads = 1, progress = FALSE)
  expected <- predict(fit, data.frame(wait = as.difftime(c(30, 90), units = "mins")))
  for (unit in c("secs", "hours", "days")) {
    new <- as.difftime(c(30, 90), units = "mins")
    units(new) <- unit
    expect_equal(predict(fit, data.frame(wait = new)), expected, tolerance = 1e-12, label = unit)
  }
  starts <- as.POSIXct("2012-01-01 12:00:00", tz = "UTC") + c(0, 0)
  ends <- starts + 60 * c(30, 90)
  expect_equal(predict(fit, data.frame(wait = ends - starts)), expected, tolerance = 1e-12)
  expect_error(predict(fit, data.frame(wait = c(30, 90))), "has \"wait\" as numbers, but the fit had", fixed = TRUE)
  expect_error(predict(fit, data.frame(wait = ends)), "but the fit had", class = "warpbayes_error_input")
})
