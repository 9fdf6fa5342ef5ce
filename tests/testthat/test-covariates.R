# One front end reads tables of covariates for all models: what holds for one door holds for each.

input <- "warpbayes_error_input"

set.seed(1)
covariates <- data.frame(x = as.double(1:24), f = rep(c("a", "b", "c"), 8), day = as.double(rep(1:12, 2)))
covariates$y <- covariates$x / 24 + (covariates$f == "b") + rnorm(24)
covariates$up <- as.integer(covariates$y > median(covariates$y))
words <- matrix(rpois(24 * 8, 3), 24, dimnames = list(NULL, letters[1:8]))
cells <- matrix(rpois(2 * 24, 60), 2, dimnames = list(c("t1", "t2"), paste0("s", 1:24)))
rownames(covariates) <- colnames(cells)

with_response <- function(formula, response) {
  stats::as.formula(call("~", as.name(response), formula[[2L]]), environment(formula))
}

copula_door <- function(maker, response, of_mean = FALSE) {
  list(
    fit = function(formula, data) {
      whole <- with_response(if (of_mean) ~ x + f + day else formula, response)
      model <- maker(whole, rho = 0.5, rho_x = 0.5, mean = if (of_mean) formula else "none")
      predictive_resample(data, model, 2, 2, seed = 1, threads = 1)
    },
    answer = function(fit) unname(if (is.null(fit$cdf0)) fit$probability0 else fit$cdf0),
    rows = function(fit, new) unlist(predict(fit, new, threads = 1), use.names = FALSE),
    terms = list(~ x + (1 | f), ~ s(x), ~ x + offset(day)), argument = if (of_mean) "mean" else "formula"
  )
}

# Of each door: `fit` for the right-hand side of a formula and data, the `answer` of a fit, the predictions of `rows`,
# the `terms` that it does not take, and the `argument` that has the formula. `by_name`: rows of data have names.
doors <- function() {
  markers <- lapply(stats::setNames(1:24, colnames(cells)), function(i) {
    cbind(m = rnorm(40) + 6 * (runif(40) < 0.5), n = rnorm(40) + covariates$up[[i]])
  })
  types <- cell_types(dp_mixture(markers, components = 4, iter = 60, chains = 1, seed = 1, threads = 1), threads = 1)
  topics <- topic_model(words, 2, iter = 20, chains = 1, seed = 1, threads = 1)
  list(
    bayes_logit = list(
      fit = function(formula, data) {
        bayes_logit(with_response(formula, "up"), data, chains = 1, iter = 40, seed = 1, threads = 1)
      },
      answer = function(fit) unname(coef(fit)), rows = function(fit, new) unname(predict(fit, new)[, "mean"]),
      terms = list(~ x:s(day), ~ x * (1 | f)), argument = "formula"
    ),
    differential_abundance = list(
      fit = function(formula, data) {
        differential_abundance(cells, formula, data, chains = 1, iter = 60, warmup = 20, seed = 1, threads = 1)
      },
      answer = function(fit) fit$effects$estimate, by_name = TRUE,
      terms = list(~ s(x), ~ x + (x | f), ~ x + offset(day)), argument = "formula"
    ),
    differential_state = list(
      fit = function(formula, data) differential_state(types, formula, data, markers = "n", seed = 1, threads = 1),
      answer = function(fit) fit$estimate, by_name = TRUE,
      terms = list(~ s(x), ~ x + (x | f), ~ x + offset(day)), argument = "formula"
    ),
    copula_regression = copula_door(copula_regression, "y"),
    copula_classification = copula_door(copula_classification, "up"),
    mean_function = copula_door(copula_regression, "y", of_mean = TRUE),
    prevalence = list(
      fit = function(formula, data) {
        topic_model(words, 2, prevalence = formula, data = data, iter = 20, chains = 1, seed = 1, threads = 1)
      },
      answer = function(fit) topic_effects(fit)$estimate,
      rows = function(fit, new) topic_effects(fit, at = new, topics = 1)$estimate,
      terms = list(~ x + (1 | f), ~ x + offset(day)), argument = "prevalence"
    ),
    topic_effects = list(
      fit = function(formula, data) topic_effects(topics, formula, data, ndraws = 5, seed = 1, threads = 1),
      answer = function(fit) fit$estimate, terms = list(~ x + (1 | f), ~ x + offset(day)), argument = "formula"
    )
  )
}

test_that("each door reads the same covariates from tables of different kinds", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "nothing here depends on the backend")
  whole <- ~ x + f + day
  kinds <- list(
    columns = covariates[rev(names(covariates))],
    factor = transform(covariates, f = factor(f)),
    unused = transform(covariates, f = factor(f, c("a", "b", "z", "c"))),
    date = transform(covariates, day = as.Date("1970-01-01") + day),
    time = transform(covariates, day = as.POSIXct(day, origin = "1970-01-01", tz = "UTC")),
    duration = transform(covariates, day = as.difftime(day, units = "hours")),
    integer64 = replace(covariates, "day", list(int64(covariates$day)))
  )
  doors <- doors()
  for (name in names(doors)) {
    door <- doors[[name]]
    fit <- suppressMessages(door$fit(whole, covariates))
    answer <- door$answer(fit)
    expect_true(length(answer) > 0L && all(is.finite(answer)), label = name)
    for (kind in names(kinds)) {
      expect_equal(door$answer(suppressMessages(door$fit(whole, kinds[[kind]]))), answer,
        tolerance = 1e-8, label = paste(name, kind))
    }
    if (isTRUE(door$by_name)) {
      expect_identical(door$answer(door$fit(whole, covariates[sample(24), ])), answer, label = name)
    }
    if (is.null(door$rows)) next
    # Beyond the range of the data too.
    new <- data.frame(day = c(3, 40, 7), f = c("c", "a", "b"), x = c(-5, 3, 90))
    many <- door$rows(fit, new)
    expect_identical(length(many) %% 3L, 0L)
    many <- matrix(many, 3L)
    for (i in 1:3) expect_equal(matrix(door$rows(fit, new[i, ]), 1L), many[i, , drop = FALSE], label = name)
    expect_equal(matrix(door$rows(fit, new[3:1, 3:1]), 3L), many[3:1, , drop = FALSE], label = name)
    expect_equal(matrix(door$rows(fit, transform(new, f = factor(f))), 3L), many, label = name)
    expect_error(door$rows(fit, transform(new, f = "z")), "new level \"z\" of \"f\"", class = input, label = name)
    expect_error(door$rows(fit, new[c("f", "x")]), "lacks \"day\"", class = input, label = name)
    expect_error(door$rows(fit, transform(new, x = "1")), "\"x\" as text", class = input, label = name)
    dated <- suppressMessages(door$fit(whole, kinds$date))
    expect_error(door$rows(dated, new), "\"day\" as numbers, but the fit had an object of class Date", class = input,
      label = name)
    expect_equal(matrix(door$rows(dated, transform(new, day = as.Date("1970-01-01") + day)), 3L), many,
      tolerance = 1e-8, label = name)
  }
})

test_that("each door refuses by name what it cannot take", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "nothing here depends on the backend")
  doors <- doors()
  for (name in names(doors)) {
    door <- doors[[name]]
    for (term in door$terms) {
      refused <- expect_error(door$fit(term, covariates), class = input, label = paste(name, deparse1(term)))
      expect_identical(refused$argument, door$argument)
      expect_match(conditionMessage(refused), "\"s\\(|\\| f|offset\\(day\\)|\\| outside")
    }
    expect_error(door$fit(~ x + nowhere, covariates), "nowhere", class = input, label = name)
    one_level <- transform(covariates, f = factor("a", c("a", "b")))
    expect_error(door$fit(~ x + f, one_level), "only the level \"a\" of the predictor \"f\"", class = input,
      label = name)
  }
})

test_that("curves of ordinary and of extreme values have finite columns, or the error says why", {
  for (values in list(rexp(40)^4, c(rnorm(39), 1e6), rep(0:3, 10), c(rep(0, 30), 1:10), 1e9 + 1:40, 1:40 * 1e-9)) {
    expect_true(all(is.finite(natural_spline(values))))
  }
  for (far in c(1e12, 1e300)) expect_error(natural_spline(c(rnorm(39), far)), "too far apart")
  expect_error(natural_spline(rep(1, 5)), "does not vary")
})
