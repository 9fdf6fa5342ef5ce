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
  fit <- function(iter, thin) {
    bayes_logit(y ~ x, rows, chains = 2, iter = iter, warmup = 10, seed = 1, threads = 1, progress = FALSE,
      control = warp_control(thin = thin))
  }
  # What R loads or compiles at a first fit sets its limits back.
  fit(20, 1)
  expect_match(said_at_limit(fit(1e6, 1e4)), "interrupted|time limit")
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
  expect_error(bayes_logit(y ~ 1, rows, weights = structure(rep(1, 60), class = "ITime")),
    "`weights` must be finite numbers of at least 0, one for each row, not", class = "warpbayes_error_input")
})

test_that("workers stop soon after a fit that a limit of time has stopped (brms issue 101)", {
  skip_on_cran()
  skip_if_not_installed("future")
  skip_if_not_installed("future.apply")
  plan <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(plan))
  rows <- data.frame(x = 1:40, y = rep(0:1, 20))
  fit <- function(iter) {
    bayes_logit(y ~ x, rows, chains = 2, iter = iter, warmup = 10, seed = 1, threads = 1, progress = FALSE,
      control = warp_control(thin = iter / 20))
  }
  fit(20)
  expect_match(said_at_limit(fit(2e7)), "interrupted|time limit")
  expect_lt(system.time(fit(20))[["elapsed"]], 20)
})

test_that("a fit that a limit of time has stopped goes on from its checkpoint (brms issue 408)", {
  rows <- data.frame(x = 1:40, y = rep(0:1, 20))
  file <- tempfile()
  on.exit(unlink(file))
  fit <- function(...) {
    bayes_logit(y ~ x, rows, chains = 2, iter = 1e5, warmup = 10, seed = 1, threads = 1, progress = FALSE,
      control = warp_control(thin = 100, ...))
  }
  expect_match(said_at_limit(fit(checkpoint = file, checkpoint_every = 0)), "interrupted|time limit")
  expect_identical(resume(file, rows, threads = 1, progress = FALSE)$draws, fit()$draws)
})

test_that("a child that was forked after the use of threads ends (data.table issue 2418)", {
  skip_on_os("windows")
  draw <- function() rcategorical(matrix(1:4, 1000, 4, byrow = TRUE), 50, seed = 1, threads = 2)
  here <- draw()
  child <- parallel::mcparallel(draw())
  on.exit(tools::pskill(child$pid))
  expect_identical(parallel::mccollect(child, wait = FALSE, timeout = 30)[[1L]], here)
})

test_that("tables with compact, spare or assigned columns are read, and stay (data.table issues 970, 4734, 6734)", {
  skip_if_not_installed("data.table")
  of_package <- function(name) getExportedValue("data.table", name)
  plain <- data.frame(x = 1:40, y = rep(0:1, 20))
  assigned <- of_package("as.data.table")(plain)
  assigned[["y"]] <- plain$y
  tables <- list(compact = of_package("setDT")(list(x = 1:40, y = rep(0:1, 20))), assigned = assigned,
    spare = of_package("setalloccol")(of_package("as.data.table")(plain), 3000L))
  read <- function(rows) {
    fit <- bayes_logit(y ~ x, rows, chains = 1, iter = 20, seed = 1, threads = 1, progress = FALSE)
    list(fit$draws, predict(fit, rows), dp_mixture(rows, components = 2, iter = 10, seed = 1, threads = 1)$draws)
  }
  expected <- read(plain)
  for (name in names(tables)) {
    before <- serialize(tables[[name]], NULL)
    expect_identical(read(tables[[name]]), expected, label = name)
    expect_identical(serialize(tables[[name]], NULL), before, label = name)
  }
  expect_named(of_package("set")(tables$spare, j = "z", value = 1), c("x", "y", "z"))
})

test_that("waiting times are one variable if R chose another unit for each animal (amt issue 1)", {
  start <- as.POSIXct("2018-04-18 12:00:00", tz = "UTC")
  wait <- list(mins = diff(start + 60 * cumsum(c(0, 5:24))), hours = diff(start + 3600 * cumsum(c(0, 1:20) / 10 + 1)))
  expect_identical(vapply(wait, units, ""), c(mins = "mins", hours = "hours"))
  fit <- function(wait) {
    rows <- data.frame(wait = wait, y = rep(0:1, 10))
    bayes_logit(y ~ wait, rows, chains = 1, iter = 60, seed = 1, threads = 1, progress = FALSE)
  }
  in_minutes <- data.frame(wait = as.difftime(6 * 1:20 + 60, units = "mins"))
  expect_equal(predict(fit(wait$mins), data.frame(wait = wait$hours)), predict(fit(wait$mins), in_minutes))
  expect_equal(predict(fit(c(wait$mins, wait$hours)[21:40]), in_minutes), predict(fit(in_minutes$wait), in_minutes))
})
