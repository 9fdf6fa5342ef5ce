# warp_control(): what few users set, for all samplers.

test_that("settings are checked where they are made and where they are read", {
  refused <- function(code, message) expect_error(code, message, class = "warpbayes_error_input")
  cells <- cbind(a = rnorm(20), b = rnorm(20))
  fit <- function(control) dp_mixture(cells, 2, iter = 4, seed = 1, threads = 1, control = control)
  refused(warp_control(thn = 2), "`thn` is not known here")
  refused(warp_control(moves = 2), "`moves` must be")
  refused(fit(list(thin = 2)), "`control` must be made by warp_control\\(\\), not a list")
  refused(fit(warp_control(sparse = TRUE)), "sets `sparse`, which this sampler does not have")
  # A list that was changed by hand is checked again, and a default is no setting.
  changed <- warp_control()
  changed$moves <- "a"
  refused(fit(changed), "`moves` must be")
  changed <- warp_control()
  changed$unknown <- 1
  refused(fit(changed), "`unknown` is not known here")
  expect_identical(fit(warp_control(sparse = FALSE))$draws, fit(warp_control())$draws)
  expect_identical(fit(NULL)$draws, fit(warp_control())$draws)
})

test_that("an argument that stands in the control, or has another name elsewhere, is pointed to", {
  cells <- cbind(a = rnorm(20), b = rnorm(20))
  refused <- function(code, message) expect_error(code, message, class = "warpbayes_error_input", fixed = TRUE)
  for (setting in setdiff(names(formals(warp_control)), "...")) {
    expect_error(do.call(dp_mixture, c(list(cells, 2), stats::setNames(list(1), setting))),
      sprintf("warp_control(%s = )", setting), class = "warpbayes_error_input", fixed = TRUE)
  }
  refused(dp_mixture(cells, k = 2), "did you mean `components`?")
  refused(bayes_logit(am ~ wt, mtcars, niter = 10), "did you mean `iter`?")
})
