# Every message of dp_mixture() and continue() about their arguments, once each. Messages about the data matrix, the
# prior and the backend are in the tests of these.

input <- "warpbayes_error_input"
small <- cbind(a = c(1, 2, 4, 8, 3), b = c(5, 3, 1, 4, 1))

refuse <- function(message, ..., x = small) {
  expect_error(fit_mixture(x, ..., threads = 2), message, class = input)
}

test_that("a misspelt or superfluous argument is an error", {
  refuse("unused argument: `componets` is not known here", componets = 3)
  expect_error(
    dp_mixture(small, 2, "gibbs", dp_prior(), 1, 2, 0, NULL, NULL, "none", 1, "cpu", 2, FALSE, warp_control(), 7),
    "unused argument: an unnamed argument", class = input
  )
  fit <- dp_mixture(small, components = 2, iter = 4, seed = 1, threads = 2)
  expect_error(continue(fit, 2, seed = 3), "unused argument: `seed` is not known here", class = input)
})

test_that("an argument by another package's name is answered with the right one", {
  advise <- function(name, meant, call = quote(dp_mixture(small))) {
    call[[name]] <- 2
    expect_error(eval(call), sprintf("`%s` is not known here: did you mean `%s`?", name, meant), fixed = TRUE,
      class = input)
  }
  advise("niter", "iter")
  advise("cores", "threads")
  advise("k", "components")
  advise("burnin", "warmup")
  advise("init", "control = warp_control(start = )")
  advise("thin", "control = warp_control(thin = )")
  advise("K", "topics", quote(topic_model(diag(3))))
  expect_error(dp_mixture(small, number_of_things = 3), "`number_of_things` is not known here; is it misspelt?",
    fixed = TRUE, class = input)
})

test_that("counts must be whole numbers in range", {
  refuse("`components` must be one whole number from 1 to 100000, not 0", components = 0)
  refuse("`components` must be one whole number .*, not 2.5", components = 2.5)
  refuse("`components` must be one whole number .*, not NA", components = NA_real_)
  refuse("`components` must be one whole number .*, not a numeric of length 2", components = c(2, 3))
  refuse("`components` must be one whole number .*, not 100001", components = 100001)
  refuse("`chains` must be one whole number from 1 to 10000, not -1", chains = -1)
  refuse("`chains` must be one whole number .*, not \"two\"", chains = "two")
  refuse("`iter` must be one whole number from 1 to 2147483647, not 0", iter = 0)
  refuse("`iter` must be one whole number .*, not NULL", iter = NULL, warmup = 0)
  refuse("`iter` must be one whole number .*, not Inf", iter = Inf, warmup = 0)
  refuse("`warmup` must be one whole number from 0 to 2147483647, not -1", warmup = -1)
  refuse("`thin` must be one whole number from 1 to 2147483647, not 0", thin = 0)
  refuse("`seed` must be one whole number from 0 to 9007199254740991, not -1", seed = -1)
  refuse("`seed` must be one whole number .*, not 9007199254740992", seed = 2^53)
  refuse("`seed` must be one whole number .*, not 0.5", seed = 0.5)
  # Whole numbers of any type and the ends of the ranges are accepted.
  whole <- dp_mixture(
    small, components = 2L, chains = 1L, iter = 1L, warmup = 0L, seed = 0L, threads = 2L,
    control = warp_control(thin = 1L)
  )
  expect_s3_class(whole, "dp_mixture")
})

test_that("a run must keep a draw", {
  refuse("`warmup` is 10, but must be less than `iter`, which is 10", iter = 10, warmup = 10)
  refuse("`thin` is 6, but only 5 sweeps follow the warm-up: no draw would be kept", iter = 10, thin = 6)
})

test_that("choices must be known", {
  refuse("`method` must be one of \"gibbs\".*, not \"em\"", method = "em")
  refuse("`method` must be one of .*, not 1", method = 1)
  refuse("`precision` must be one of \"double\", \"single\", not \"half\"", precision = "half")
  refuse("`precision` must be one of .*, not NA", precision = NA_character_)
  refuse("`transform` must be one of .*\"logicle\" or a cofactor of arcsinh, not \"log\"", transform = "log")
  refuse("`transform` has the cofactor 0; a cofactor must be positive and finite", transform = c(arcsinh = 0))
  refuse("`moves` must be TRUE or FALSE, not NA", moves = NA)
  refuse("`moves` must be TRUE or FALSE, not \"yes\"", moves = "yes")
  refuse("`progress` must be TRUE or FALSE, not a logical of length 2", progress = c(TRUE, FALSE))
  refuse("`backend` must be one of .*, not \"gpu\"", backend = "gpu")
  expect_error(dp_mixture(small, threads = 0),
    "`threads` must be one whole number from 1 to 4096, not 0", class = input
  )
})

test_that("`keep` must name known quantities", {
  refuse("`keep` must be some of \"weights\", \"means\", \"covariances\", \"labels\", not \"sigma\"",
    keep = c("means", "sigma")
  )
  refuse("`keep` must be some of .*, not a character of length 0", keep = character())
  refuse("`keep` must be some of .*, not TRUE", keep = TRUE)
})

test_that("a start must give each row a component", {
  choices <- "`start` must be NULL, a fit from dp_mixture\\(\\), or one component for each of the 5 rows, not "
  refuse(paste0(choices, "an? integer of length 4"), start = 1:4)
  refuse(paste0(choices, "a character of length 5"), start = letters[1:5])
  refuse(paste0(choices, "a factor of length 5"), start = factor(1:5))
  refuse("`start` has the component 4 at row 5; components are 1 to 3", components = 3, start = c(1, 2, 3, NA, 4))
  refuse("`start` has the component 0 at row 1; components are 1 to 3", components = 3, start = c(0, 2, 3, NA, 4))
  refuse("`start` has the component 1.5 at row 2", components = 3, start = c(1, 1.5, 3, NA, 3))
})

test_that("the prior must be a dp_prior() that fits the data", {
  refuse("`prior` must come from dp_prior\\(\\), not a list of length 1", prior = list(df = 3))
  refuse("`prior\\$mean` has length 3; there are 2 markers", prior = dp_prior(mean = 1:3))
  refuse("`prior\\$scale` is 3 x 3; there are 2 markers", prior = dp_prior(scale = diag(3)))
})

test_that("messages about the data name them", {
  refuse("`x` is NULL", x = NULL)
  refuse("`x` has only one row", x = small[1, , drop = FALSE])
  refuse("`x` has NaN in row 2, column 1 \\(\"a\"\\)", x = replace(small, 2, NaN))
  refuse("`markers` names \"c\"", markers = "c")
})

test_that("draws that memory cannot hold are refused with advice", {
  # The draws would take petabytes.
  expect_error(
    dp_mixture(small, components = 1e5, iter = 2e9, warmup = 0, threads = 2),
    "the 2,000,000,000 draws to keep take [0-9.]+ [GTP]B and the traces of all sweeps [0-9.]+ GB, but only",
    class = "warpbayes_error_memory"
  )
})

test_that("continue() needs a fit with its data", {
  fit <- dp_mixture(small, components = 2, iter = 4, seed = 1, threads = 2)
  expect_error(continue(small, 5), "`fit` must come from dp_mixture\\(\\).*, not a 5 x 2 matrix", class = input)
  expect_error(continue(NULL, 5), "`fit` must come from dp_mixture\\(\\).*, not NULL", class = input)
  expect_error(continue(fit, 0), "`more` must be one whole number from 1 to 2147483647, not 0", class = input)
  expect_error(continue(fit, 5, progress = 1), "`progress` must be TRUE or FALSE, not 1", class = input)
  expect_error(continue(fit, 5, threads = -1),
    "`threads` must be one whole number from 1 to 4096, not -1", class = input
  )
  expect_error(continue(fit, 5, backend = "metal"), "`backend` must be one of .*, not \"metal\"", class = input)
  fit$x <- NULL
  expect_error(continue(fit, 5), "`fit` has lost its data, `fit\\$x`: more sweeps need them", class = input)
})

test_that("the condition holds the argument and the call", {
  wrong <- list(
    iter = 0, warmup = -1, seed = -1, components = 0, prior = 1, transform = "log", chains = 0, threads = -1,
    markers = "none", sample = 1
  )
  for (argument in names(wrong)) {
    error <- tryCatch(do.call("dp_mixture", c(list(small), wrong[argument])), error = identity)
    expect_s3_class(error, c("warpbayes_error_input", "warpbayes_error", "error", "condition"), exact = TRUE)
    expect_identical(error$argument, argument)
    expect_identical(conditionCall(error)[[1L]], quote(dp_mixture))
  }
})

test_that("failures of the compiled code become R conditions", {
  prior <- sampler_prior(2)
  key <- .Call(C_chain_key, 1, 1L)
  statistics <- numeric(2 * statistics_size(2))
  statistics[c(7, 10)] <- c(5, Inf)
  session <- native(C_mixture_open, small, c(0, 0), c(1, 1), 0L, FALSE, resolve_run(NULL, 1))
  failed <- "the covariance of component 2 could not be drawn: its scale matrix is not finite"
  expect_error(run_sweeps(session, prior, statistics, 1, key, 2), failed, class = input)
  .Call(C_session_close, session)
  # Closing twice does nothing.
  .Call(C_session_close, session)
  expect_error(
    run_sweeps(session, prior, 0 * statistics, 1, key, 2),
    "the mixture session is closed", class = input
  )
  expect_error(
    evaluate_cells(list(center = c(0, 0), scale = c(1, 1), precision = "double"), small, resolve_run("cpu", 1),
      function(evaluate) {
        evaluate(
          list(weights = c(0.5, 0.5), means = diag(2), covariances = array(c(1, 0, 0, 1, 1, 2, 2, 1), c(2, 2, 2))),
          "class"
        )
      }),
    "the covariance of component 2 is not positive definite", class = input
  )
})

test_that("fewer cells than markers are refused unless the prior has a scale", {
  set.seed(1)
  x <- matrix(rnorm(12), 3)
  refuse("`x` has 3 rows and 4 columns.*is t\\(x\\) meant\\?.*choose fewer `markers`", x = x)
  expect_silent(dp_mixture(x, components = 2, iter = 2, prior = dp_prior(scale = 1), seed = 1, threads = 2))
  expect_silent(dp_mixture(x, components = 2, iter = 2, markers = 1:3, seed = 1, threads = 2))
})

test_that("a fit that was changed by hand is refused before its parts are read", {
  fit <- dp_mixture(small, components = 3, iter = 8, seed = 1, threads = 2)
  refuse <- function(fit, pattern) {
    expect_error(continue(fit, 4, threads = 2), pattern, class = "warpbayes_error_input")
  }
  other <- function(name, value) {
    fit[[name]] <- value
    fit
  }
  refuse(other("x", fit$x[-1, ]), "`fit` has other data")
  refuse(other("x", fit$x[, 1, drop = FALSE]), "`fit` has other data")
  refuse(other("thin", 3), "changed since it was made")
  refuse(other("chains", 2), "changed since it was made")
  refuse(other("scale", fit$scale[1]), "changed since it was made")
  changed <- "the parts of the fit do not agree"
  state <- fit$state
  state[[1]]$statistics <- state[[1]]$statistics[-1]
  refuse(other("state", state), changed)
  state <- fit$state
  state[[1]]$prior <- 1
  refuse(other("state", state), changed)
  expect_error(
    evaluate_cells(fit, fit$x, resolve_run("cpu", 1), function(evaluate) {
      evaluate(list(weights = c(0.5, 0.5), means = numeric(3), covariances = numeric(3)), "class")
    }), changed, class = "warpbayes_error_input"
  )
})
