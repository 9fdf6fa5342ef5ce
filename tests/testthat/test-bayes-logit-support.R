# Words where the data leave the answer to the prior, and none where they do not.

said <- function(...) {
  fit <- suppressMessages(bayes_logit(..., chains = 1, iter = 60, seed = 1))
  support_said(fit)
}

test_that("nothing is said of data that answer", {
  skip_where_repeated()
  expect_identical(said(am ~ wt, mtcars), character())
  expect_identical(said(cbind(ncases, ncontrols) ~ alcgp + agegp, esoph), character())
  expect_identical(said(cyl ~ hp, transform(mtcars, cyl = factor(cyl)), "multinomial"), character())
  expect_identical(said(carb ~ wt + (1 | gear), mtcars, "negbinomial"), character())
  # The rows are separated but for one.
  expect_identical(said(y ~ x, data.frame(x = 1:8, y = c(0, 0, 0, 1, 0, 1, 1, 1))), character())
  expect_identical(said(y ~ x, data.frame(x = 1:4, y = c(0, 0, 0, 0)), control = warp_control(prior_only = TRUE)),
    character())
})

test_that("equal responses, absent classes and groupings of one level are named", {
  skip_where_repeated()
  expect_identical(said(y ~ x, data.frame(x = 1:6, y = 0)),
    "All responses are failures: the prior decides how far the coefficients lie from 0.")
  expect_match(said(cbind(y, 0) ~ x, data.frame(x = 1:6, y = 3)), "All responses are successes")
  expect_match(said(y ~ x, data.frame(x = 1:6, y = 0), "negbinomial"), "All counts are 0")
  expect_match(said(y ~ x, data.frame(x = 1:6, y = factor("yes", levels = c("no", "yes")))),
    "(`yes` is the first level, which counts as failure.)", fixed = TRUE)
  expect_identical(said(cbind(a = c(3, 2, 4), b = c(1, 2, 2), c = 0) ~ 1, NULL, "multinomial"),
    "No response is of class `c`: the prior decides what is said of it.")
  for (term in c("(1 | g)", "(x | g)")) {
    data <- data.frame(x = 1:8, y = c(0, 0, 1, 0, 1, 0, 1, 1), g = "only")
    expect_match(said(stats::as.formula(paste("y ~ x +", term)), data), "The grouping `g` has one level", fixed = TRUE)
  }
})

test_that("few events are counted where they are rare", {
  skip_where_repeated()
  rare <- data.frame(y = rep(0:1, c(193, 7)), x = sin(1:200), class = rep(c("a", "b", "c"), c(5, 100, 95)))
  expect_identical(said(y ~ x, rare), paste("The estimates rest on only 7 successes in 200 responses: that number, not",
    "the number of rows, makes intervals as wide as they are."))
  expect_match(said(1 - y ~ x, rare), "only 7 failures in 200 responses")
  expect_match(said(cbind(y, 400 - y) ~ 1, data.frame(y = 3)), "only 3 successes in 400 responses")
  expect_match(said(y ~ x, rare, "poisson"), "only 7 counted events in 200 counts")
  expect_match(said(class ~ x, rare, "multinomial"), "only 5 of class `a` in 200 responses")
  fit <- bayes_logit(y ~ x, rare, chains = 2, iter = 1500, seed = 1, threads = 1, progress = FALSE)
  for (shown in list(fit, summary(fit))) expect_output(print(shown), "only 7\\s+successes\\s+in\\s+200")
  # Ten events, or many among the responses.
  expect_identical(said(y ~ x, transform(rare, y = rep(0:1, c(190, 10)))), character())
  expect_identical(said(y ~ x, rare[101:200, ]), character())
  expect_identical(said(y ~ x, rare, control = warp_control(prior_only = TRUE)), character())
})

test_that("events are counted at rare levels and cells, and in rare classes of ordinal responses", {
  skip_where_repeated()
  rare <- data.frame(x = sin(1:400), g = rep(c("r", "p", "q"), c(4, 196, 200)), h = rep(c("u", "v"), 200))
  rare$y <- as.numeric(seq_len(400) %% 3 == 2)
  at <- function(words) paste0("^Estimates of rare levels rest on only ", words, " in [0-9]+ (responses|counts): ")
  one <- at("1 success where `g` is \"r\"")
  # Whether the level is the reference or not, in rows or aggregated, under any contrasts.
  expect_match(said(y ~ x + g, rare), one)
  expect_match(said(y ~ x + g, transform(rare, g = relevel(factor(g), "r"))), one)
  expect_match(said(y ~ x + g, rare, contrasts = list(g = "contr.sum")), one)
  expect_match(said(cbind(y, n - y) ~ g, aggregate(cbind(y, n = 1) ~ g, rare, sum)), one)
  expect_match(said(y ~ (g == "r"), rare), at("1 success where `g == \"r\"` is \"TRUE\""))
  expect_match(said(y ~ x + g, transform(rare, y = y * (g != "r"))), at("0 successes where `g` is \"r\""), all = FALSE)
  expect_match(said(y ~ g, rare, "poisson"), at("1 counted event where `g` is \"r\""))
  classes <- transform(rare, y = factor(rep(c("a", "b"), 200)))
  expect_match(said(y ~ x + g, classes, "multinomial"), at("2 of class `a` where `g` is \"r\""))
  classes$y <- factor(classes$y, ordered = TRUE)
  expect_match(said(y ~ x + g, classes, "cratio"), at("4 responses where `g` is \"r\""))
  cells <- transform(rare, g = ifelse(x > 0, "p", "q"), h = ifelse(seq_len(400) %% 60 == 0 | x < 0.2, "u", "v"))
  expect_match(said(y ~ g * h, transform(cells, h = replace(h, 1:9, "v"))), "and `h` is \"v\"")
  odd <- transform(rare, `a b` = g, `if` = h, check.names = FALSE)
  expect_match(said(y ~ x + (1 | `if`) + `a b`, odd), at("1 success where `a b` is \"r\""))
  # Cells within a level that is named are not.
  expect_match(said(y ~ g * h, rare), at("1 success where `g` is \"r\""), all = FALSE)
  steps <- data.frame(x = sin(1:400), y = factor(rep(c("a", "b", "c"), c(250, 149, 1)), ordered = TRUE))
  expect_match(said(y ~ x, steps, "cratio"), "^The estimates rest on only 1 of class `c` in 400 responses")
  # Levels with many rows, with ten of each kind, without weight, and numbers.
  expect_identical(said(y ~ x + h, rare), character())
  expect_identical(said(y ~ g, rare[5:400, ]), character())
  expect_identical(said(y ~ g, transform(rare, w = 10), weights = w), character())
  expect_no_match(said(y ~ g, transform(rare, w = as.numeric(g != "r")), weights = w), "rare levels")
  expect_identical(said(y ~ poly(x, 2), rare), character())
  expect_identical(said(y ~ z, transform(rare, z = rep(0:5, c(4, 100, 100, 100, 90, 6)))), character())
})

test_that("separation is named, complete or at one value of a predictor", {
  skip_where_repeated()
  data <- data.frame(x = 1:6, y = c(0, 0, 0, 1, 1, 1))
  expect_match(said(y ~ x, data), "^The predictors separate all successes from all failures")
  expect_match(said(y ~ x, data, prior = logit_prior(scale = 100)), "separate all successes")
  # Rows without weight do not count.
  weighed <- cbind(rbind(data, data.frame(x = 6, y = 0)), w = c(1, 1, 1, 1, 1, 1, 0))
  fit <- suppressMessages(bayes_logit(y ~ x, weighed, weights = w, chains = 1, iter = 60, seed = 1))
  expect_match(support_said(fit), "separate all")
  # Two values of a factor, one of which has only successes.
  drug <- data.frame(drug = rep(c("old", "new"), c(6, 6)), y = c(0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1))
  expect_identical(said(y ~ drug, drug), paste(
    "The data do not limit the coefficient of `drugold` (only successes where `drug` is \"new\") in one direction: the",
    "prior decides how large it is."))
  three <- data.frame(g = rep(c("a", "b", "c"), each = 4), y = c(0, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0))
  expect_match(said(y ~ g, three), "of `gc` (only failures where `g` is \"c\") in one", fixed = TRUE)
  three$y <- c(1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0)
  expect_match(said(y ~ g, three), ", `gc` (only successes where `g` is not \"c\").", fixed = TRUE)
  # Without an intercept a predictor has no effect where it is 0.
  expect_identical(said(y ~ 0 + x, data.frame(x = rep(0:1, each = 4), y = c(0, 0, 0, 0, 0, 1, 0, 1))), character())
  expect_match(said(y ~ 0 + x, data.frame(x = rep(0:1, each = 4), y = c(0, 1, 0, 1, 0, 0, 0, 0))),
    "of `x` (only failures where `x` is 1)", fixed = TRUE)
  few <- data.frame(x = rep(c(FALSE, TRUE), each = 4), y = c(0, 0, 0, 0, 2, 0, 1, 3))
  expect_match(said(y ~ x, few, "negbinomial"), "`xTRUE` (only counts of 0 where `x` is \"FALSE\")", fixed = TRUE)
  expect_output(print(suppressMessages(bayes_logit(y ~ x, data, chains = 1, iter = 60, seed = 1))), "separate all")
})

test_that("separation of the classes of a multinomial and of the levels of a grouping is named", {
  skip_where_repeated()
  data <- data.frame(x = c(1:5, 101:105, 201:205), z = rep(c(0, 0, 1), 5), y = gl(3, 5, labels = c("p", "q", "r")))
  fit <- suppressMessages(bayes_logit(y ~ poly(x, 2), data, "multinomial", logit_prior(scale = 100), chains = 1,
    iter = 400, seed = 1))
  expect_match(support_said(fit), "separate the classes of all rows")
  data$y <- factor(ifelse(data$z == 1, "p", c("p", "q", "r")[1 + c(0, 1, 2, 1, 0) %% 3]))
  expect_match(said(y ~ z, data, "multinomial"), "`z` (no response of class `q` where `z` is 1)", fixed = TRUE)
  levels <- data.frame(g = rep(1:6, each = 3), x = c(1, 2, 3), y = rep(c(0, 1), each = 3))
  for (term in c("(1 | g)", "(x | g)")) {
    formula <- stats::as.formula(paste("y ~ x +", term))
    expect_match(said(formula, levels), "Each level of `g` has only successes or only failures", fixed = TRUE)
    # One failure more in a level of successes.
    expect_identical(said(formula, rbind(levels, data.frame(g = 2, x = 1, y = 0))), character())
  }
})

test_that("columns that depend on each other are named, and only they", {
  deficient <- function(...) grep("rank deficient", said(...), value = TRUE)
  d <- transform(mtcars, wt2 = 3 * wt - 1, one = 5, year = 2000 + cyl, stamp = 1.7e9 + 10 * hp)
  expect_match(deficient(am ~ wt + hp + wt2, d), "rank 3 of 4 columns\\): the data do not tell `wt2`")
  expect_match(deficient(am ~ one + wt, d), "`one`")
  expect_match(deficient(carb ~ one + wt, d, "poisson"), "`one`")
  expect_length(deficient(am ~ wt + year + stamp, d), 0L)
  expect_length(deficient(am ~ poly(wt, 3) * hp, d), 0L)
  cells <- subset(mtcars, !(cyl == 8 & gear == 5))
  expect_match(deficient(am ~ factor(cyl) * factor(gear), cells), "`factor\\(cyl\\)8:factor\\(gear\\)")
  expect_match(deficient(am ~ ., mtcars[1:6, ]), "rank 6 of 11 columns")
})

test_that("coefficients whose mean may not exist are shown by medians", {
  apart <- data.frame(x = 1:20, z = rep(1:2, 10), y = rep(0:1, each = 10))
  fit <- function(formula, ...) {
    bayes_logit(formula, apart, prior = logit_prior(...), chains = 2, iter = 200, seed = 1, threads = 1,
      progress = FALSE)
  }
  long <- fit(y ~ x, "cauchy")
  table <- summary(long)$coefficients
  expect_identical(is.na(table$mean), c(TRUE, TRUE, FALSE))
  expect_true(all(table$ess_tail > 0))
  expect_output(print(long), "5% 50%")
  expect_match(as.character(summary(long)$verdict), "mean or standard deviation may not exist", all = FALSE)
  for (other in list(fit(y ~ x), fit(y ~ z, "cauchy"), fit(y ~ x, "student_t", df = 3))) {
    expect_false(anyNA(summary(other)$coefficients$mean))
    expect_no_match(as.character(summary(other)$verdict), "may not exist")
  }
})

test_that("slow chains say how many sweeps are enough", {
  fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 100, seed = 1, threads = 1, progress = FALSE)
  words <- paste(as.character(summary(fit)$verdict), collapse = " ")
  expect_match(words, "continue\\(fit, [0-9]+\\) gives 200 effective draws")
  more <- as.numeric(sub(".*continue\\(fit, ([0-9]+)\\).*", "\\1", words))
  longer <- continue(fit, more, threads = 1, progress = FALSE)
  expect_gt(min(summary(longer)$coefficients$ess_bulk), 120)
  expect_no_match(as.character(summary(continue(longer, 1000, threads = 1, progress = FALSE))$verdict), "present rate")
})

# 0 of 400 sets of Poisson counts, of 5 to 500 rows and means of 0.01 to 1e4, had the sentence.
test_that("counts that vary far more than Poisson counts are named", {
  skip_where_repeated()
  words <- function(y, ...) {
    fit <- bayes_logit(y ~ x, data.frame(x = seq_along(y), y = y), "poisson", ..., chains = 1, iter = 60, seed = 1,
      threads = 1, progress = FALSE)
    vapply(misfit(fit), `[[`, "", "words")
  }
  set.seed(4)
  for (mean in c(0.05, 2, 1e3)) {
    expect_identical(words(rpois(60, mean)), character())
  }
  expect_identical(words(rep(0, 20)), character())
  expect_match(words(rnbinom(60, mu = 20, size = 1)), "^The counts vary [0-9]+ times as much as Poisson counts")
  expect_match(words(c(rpois(20, 3), 60)), "negbinomial")
  expect_identical(words(c(rpois(20, 3), 60), weights = rep(1:0, c(20, 1))), character())
  fit <- bayes_logit(count ~ spray, InsectSprays, "poisson", chains = 1, iter = 60, seed = 1, threads = 1)
  expect_false(any(grepl("as much as Poisson", as.character(summary(fit)$verdict))))
})

test_that("prints of many coefficients are short, and their verdicts are about all", {
  set.seed(3)
  d <- data.frame(y = rep(0:1, 40), g = gl(8, 10), matrix(rnorm(80 * 59), 80))
  formula <- reformulate(c(sprintf("X%d", 1:59), "(1 | g)"), "y")
  fit <- bayes_logit(formula, d, chains = 2, iter = 60, seed = 1, threads = 1, progress = FALSE)
  lines <- capture.output(print(fit))
  expect_match(lines, "^  and 10 more coefficients; print\\(fit, n = 60\\) shows all$", all = FALSE)
  expect_identical(sum(grepl("^ +X[0-9]+ ", lines)), 49L)
  expect_match(lines, "sd\\(g\\)", all = FALSE)
  expect_no_match(capture.output(print(fit, n = 60)), "more coefficient")
  short <- capture.output(print(summary(fit), n = 0))
  expect_match(short, "and 62 more rows; print\\(summary\\(fit\\), n = 60\\) shows all", all = FALSE)
  verdict <- function(lines, from) paste(lines[grep(from, lines):length(lines)], collapse = " ")
  expect_identical(verdict(short, "^Cannot tell|^Not yet|^Usable"),
    verdict(capture.output(print(summary(fit), n = 60)), "^Cannot tell|^Not yet|^Usable"))
  expect_error(print(fit, n = -1), "`n` must be one whole number", class = "warpbayes_error_input")
})
