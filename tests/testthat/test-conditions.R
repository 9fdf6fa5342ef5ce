# Errors name the call of the user, by whatever way the package came to them.

# The call in the error of `code`. It runs as if typed at the console: functions of a test would count as functions of
# the package, because testthat puts tests into its namespace.
call_of <- function(code, values = list()) {
  code <- substitute(code)
  error <- tryCatch(eval(code, list2env(values, parent = globalenv())), error = identity)
  expect_s3_class(error, "warpbayes_error")
  conditionCall(error)
}
environment(call_of) <- globalenv()

die <- pmf(rep(1 / 6, 6), from = 1)
wrong <- matrix(-1, 2, 2)

test_that("errors name the call that the user made", {
  skip_where_repeated()
  values <- list(die = die, wrong = wrong)
  expect_identical(call_of(rcategorical(wrong), values), quote(rcategorical(wrong)))
  expect_identical(call_of(warpbayes::rcategorical(wrong), values), quote(warpbayes::rcategorical(wrong)))
  expect_identical(call_of(value_at_risk(pmf(c(0.5, 0.5)), 2)), quote(value_at_risk(pmf(c(0.5, 0.5)), 2)))
  # An argument was called by the user, too.
  expect_identical(call_of(pmf(rcategorical(wrong)), values), quote(rcategorical(wrong)))
  # In a loop of the package, and in a handler of an error.
  expect_identical(call_of(sum_pmf(list(die, NULL)), values), quote(sum_pmf(list(die, NULL))))
  expect_identical(call_of(condition_on_sum_pmf(die, die, 90), values), quote(condition_on_sum_pmf(die, die, 90)))
})

test_that("errors name the call within functions of the user and of R", {
  skip_where_repeated()
  values <- list(die = die, wrong = wrong, as_user = function(x) rcategorical(x))
  environment(values$as_user) <- globalenv()
  expect_identical(call_of(as_user(wrong), values), quote(rcategorical(x)))
  expect_identical(call_of(lapply(list(wrong), function(w) rcategorical(w)), values), quote(rcategorical(w)))
  expect_identical(call_of(lapply(list(wrong), rcategorical), values), quote(lapply(list(wrong), rcategorical)))
  expect_identical(call_of(Reduce(rep_sum_pmf, list(die, -1)), values), quote(Reduce(rep_sum_pmf, list(die, -1))))
  expect_identical(call_of(do.call(rcategorical, list(wrong)), values), quote(do.call(rcategorical, list(wrong))))
  expect_identical(call_of(do.call("rpmf", list(-1, die)), values), call("rpmf", -1, quote(...)))
  expect_identical(call_of(suppressWarnings(rcategorical(wrong)), values), quote(rcategorical(wrong)))
  expect_identical(call_of(local(rcategorical(wrong)), values), quote(rcategorical(wrong)))
  expect_identical(call_of(eval(quote(rcategorical(wrong))), values), quote(rcategorical(wrong)))
  # Functions that the user gives to the package.
  expect_identical(call_of(map_pmf(die, function(v) rcategorical(wrong)), values), quote(rcategorical(wrong)))
  expect_identical(call_of(mix_over_pmf(die, function(v) rpmf(die, -1)), values), quote(rpmf(die, -1)))
  expect_identical(call_of(mix_over_pmf(die, sqrt), values), quote(mix_over_pmf(die, sqrt)))
})

test_that("errors of methods name their generics and operators", {
  skip_where_repeated()
  values <- list(die = die)
  expect_identical(call_of(mean(die, 3), values), quote(mean(die, 3)))
  expect_identical(call_of(print(die, digits = "a"), values), quote(print(die, digits = "a")))
  expect_identical(call_of(die + 2^52, values), quote(die + 2^52))
  expect_identical(call_of(cumsum(die), values), quote(cumsum(die)))
  expect_identical(call_of(die[2], values), quote(die[2]))
  # R calls these methods with values.
  expect_identical(call_of(round(die, 0), values), quote(round(..., 0)))
  # Generics that are refused.
  expect_identical(call_of(coef(die), values), quote(coef(die)))
  if (requireNamespace("posterior", quietly = TRUE)) {
    expect_identical(call_of(posterior::summarise_draws(die), values), quote(summarise_draws(die)))
  }
})

test_that("errors of fits name the call that the user made", {
  skip_where_repeated()
  fit <- bayes_logit(am ~ wt, mtcars, chains = 1, iter = 20, warmup = 5, seed = 1, progress = FALSE)
  topics <- topic_model(matrix(1:12, 3), 2, iter = 4, seed = 1, progress = FALSE)
  changed <- summary(fit)
  changed$coefficients <- "a"
  values <- list(fit = fit, topics = topics, changed = changed, wrong = wrong)
  expect_identical(call_of(predict(fit, ndraws = -1), values), quote(predict(fit, ndraws = -1)))
  expect_identical(call_of(print(changed), values), quote(print(changed)))
  # update() evaluates another call.
  expect_identical(call_of(update(fit, iter = -1), values), quote(update(fit, iter = -1)))
  expect_identical(call_of(bayes_logit(am ~ rcategorical(wrong), mtcars), values),
    quote(bayes_logit(am ~ rcategorical(wrong), mtcars)))
  expect_identical(call_of(topic_names(topics) <- 5, values), quote(`topic_names<-`(`*tmp*`, value = 5)))
  if (requireNamespace("generics", quietly = TRUE)) {
    expect_identical(call_of(generics::tidy(topics, matrix = 4), values), quote(tidy(topics, matrix = 4)))
  }
  expect_identical(
    call_of(predictive_resample(1:9, bayesian_bootstrap(), draws = 4, seed = 1,
      functional = function(y, weights) "a"))[[1L]],
    quote(predictive_resample)
  )
  skip_if_not_installed("emmeans")
  classes <- bayes_logit(factor(cyl) ~ wt, mtcars, "multinomial", chains = 1, iter = 20, warmup = 5, seed = 1)
  expect_identical(call_of(emmeans::emmeans(classes, ~ wt, mode = "a"), list(classes = classes)),
    quote(emmeans::emmeans(classes, ~ wt, mode = "a")))
})

test_that("errors of R about the session are not taken for errors about an argument", {
  fit <- bayes_logit(am ~ wt, mtcars, chains = 1, iter = 20, warmup = 5, seed = 1, progress = FALSE)
  raise <- function(kind) {
    translated <- function(message) gettext(message, domain = "R")
    switch(kind,
      time = stop(translated("reached elapsed time limit")),
      depth = stop(translated("evaluation nested too deeply: infinite recursion / options(expressions=)?")),
      memory = stop(sprintf(translated("cannot allocate vector of size %0.1f Gb"), 74.5)),
      stop("no such thing")
    )
  }
  doors <- expression(
    bayes_logit(am ~ wt + raise(kind), mtcars),
    bayes_logit(am ~ wt, mtcars, weights = raise(kind)),
    bayes_logit(am ~ (1 | raise(kind)), mtcars),
    bayes_logit(am ~ wt, mtcars, contrasts = list(wt = raise(kind))),
    predictive_resample(mtcars, copula_regression(mpg ~ raise(kind)), draws = 4),
    predictive_resample(1:9, bayesian_bootstrap(), functional = function(y, weights) raise(kind), draws = 4, seed = 1)
  )
  for (i in seq_along(doors)) {
    for (kind in c("time", "depth")) {
      error <- tryCatch(eval(doors[[i]]), error = identity)
      expect_false(inherits(error, "warpbayes_error"), info = doors[[i]])
      expect_match(conditionMessage(error), switch(kind, time = "^reached elapsed", depth = "^evaluation nested"))
    }
  }
  for (i in 1:3) {
    kind <- "memory"
    expect_error(eval(doors[[i]]), "cannot allocate vector of size 74.5 Gb", class = "warpbayes_error_memory")
    kind <- "other"
    expect_error(eval(doors[[i]]), "no such thing", class = "warpbayes_error_input")
  }
  # A print method that needs more depth than the user allows.
  allowed <- getOption("expressions")
  errors <- lapply(seq(200, 1000, 20), function(deep) {
    tryCatch({
      options(expressions = deep)
      utils::capture.output(print(fit))
    }, error = function(error) error, finally = options(expressions = allowed))
  })
  errors <- Filter(function(value) inherits(value, "error"), errors)
  expect_true(all(vapply(errors, is_too_deep, NA)))
  # A part that was changed is still named as such.
  changed <- summary(fit)
  changed$coefficients <- "a"
  expect_input_error(print(changed), "changed since it was made")
})

test_that("long names neither fill the screen nor raise errors of R", {
  skip_where_repeated()
  long <- strrep("a", 1e5)
  cells <- matrix(c(sin(1:38), 2, NA), 20, 2, dimnames = list(NULL, c("b", long)))
  error <- tryCatch(dp_mixture(cells, 3, iter = 4, seed = 1), error = identity)
  expect_s3_class(error, "warpbayes_error_input")
  expect_lt(nchar(conditionMessage(error)), 2000)
  expect_match(conditionMessage(error), "^`x` has NA in row 20, column 2")
  cells[20, 2] <- 1
  fit <- dp_mixture(cells, 3, iter = 10, seed = 1, threads = 2)
  expect_output(print(summary(fit), all = TRUE), "aaa")
  expect_true(file.exists(report(fit, tempfile(fileext = ".html"), open = FALSE)))
  expect_input_error(bayes_logit(y ~ ., setNames(data.frame(c(0, 1), 1:2), c("y", long))), "limited to 10000 bytes")
})
