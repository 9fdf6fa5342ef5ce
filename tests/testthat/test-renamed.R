# Old names of functions and arguments: each works, with one message a session, and gives what the new name gives.

# The value of `code`, which must give one message about `old`, and none when it is evaluated again.
renamed <- function(code, old) {
  code <- substitute(code)
  frame <- parent.frame()
  rm(list = ls(told_names), envir = told_names)
  expect_message(eval(code, frame), paste0("`", old, "` is called"), class = "warpbayes_renamed", fixed = TRUE)
  expect_no_message(value <- eval(code, frame))
  value
}

test_that("old names of functions work", {
  die <- pmf(rep(1 / 6, 6), from = 1)
  expect_identical(renamed(rep_sum(die, 3), "rep_sum()"), rep_sum_pmf(die, 3))
  expect_identical(renamed(condition_on_sum(die, die, total = 5), "condition_on_sum()"),
    condition_on_sum_pmf(die, die, total = 5))
  expect_identical(renamed(mix_over(die, pmf_poisson), "mix_over()"), mix_over_pmf(die, pmf_poisson))
  expect_identical(renamed(zero_modify(die, 0.2), "zero_modify()"), zero_modify_pmf(die, 0.2))
  expect_identical(renamed(pmf_binomial(size = 3, prob = 0.5), "size"), pmf_binomial(trials = 3, prob = 0.5))
  expect_identical(suppressMessages(pmf_negative_binomial(size = 3, mu = 2)), pmf_negative_binomial(3, mu = 2))
  expect_input_error(pmf_binomial(3, 0.5, size = 2), "`size` is the earlier name of `trials`, which is given, too")
  expect_input_error(pmf_binomial(prob = 0.5), "`trials` is missing")
  loss <- function(method) discretize_pmf(c(120, 455, 460, 2300), by = 100, method = method)
  expect_identical(renamed(loss("lower"), 'method = "lower"'), loss("up"))
  expect_identical(renamed(loss("upper"), 'method = "upper"'), loss("down"))
  expect_input_error(suppressMessages(rep_sum(die, -1)), "`times` must be one whole number")
})

test_that("old names of arguments work", {
  skip_where_repeated()
  fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 40, warmup = 10, seed = 1, progress = FALSE)
  new <- data.frame(wt = 3, am = 1)
  expect_identical(renamed(predict(fit, new, draws = 7), "draws"), predict(fit, new, ndraws = 7))
  expect_identical(renamed(predict(fit, new, interval = 0.5), "interval"), predict(fit, new, level = 0.5))
  expect_identical(renamed(log_lik(fit, new, draws = 7), "draws"), log_lik(fit, new, ndraws = 7))
  draws <- function(fit) fit$draws
  expect_identical(draws(renamed(continue(fit, iter = 10), "iter")), draws(continue(fit, more = 10)))
  expect_identical(draws(renamed(continue(iter = 10, fit = fit), "iter")), draws(continue(fit, 10)))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(renamed(plot(fit, standardise = FALSE), "standardise"), fit)
  expect_input_error(predict(fit, new, draws = 7, ndraws = 7), "`draws` is the earlier name of `ndraws`")
  expect_input_error(predict(fit, new, drews = 7), "`drews` is not known here")
  expect_input_error(coef(fit, draws = 7), "`draws` is not known here")
  skip_if_not_installed("loo")
  expect_equal(renamed(suppressWarnings(loo::loo(fit, draws = 40)), "draws")$estimates,
    suppressWarnings(loo::loo(fit, ndraws = 40))$estimates)
  skip_if_not_installed("bayesplot")
  picture <- renamed(bayesplot::pp_check(fit, draws = 3, seed = 1), "draws")
  expect_identical(picture$data, bayesplot::pp_check(fit, ndraws = 3, seed = 1)$data)
  skip_if_not_installed("rstantools")
  expect_identical(renamed(rstantools::posterior_epred(fit, new, draws = 4), "draws"),
    rstantools::posterior_epred(fit, new, ndraws = 4))
})

test_that("old names of arguments of mixtures and of topic models work", {
  skip_where_repeated()
  x <- cbind(a = rnorm(40), b = rnorm(40))
  fit <- dp_mixture(x, components = 3, iter = 20, seed = 1, threads = 2, progress = FALSE)
  expect_identical(renamed(predict(fit, type = "log_density", draws = 3), "draws"),
    predict(fit, type = "log_density", ndraws = 3))
  expect_identical(renamed(log_lik(fit, draws = 3), "draws"), log_lik(fit, ndraws = 3))
  expect_identical(renamed(co_clustering(fit, 1:4, draws = 3), "draws"), co_clustering(fit, 1:4, ndraws = 3))
  expect_identical(renamed(cell_types(fit, draws = 3), "draws")$type, cell_types(fit, ndraws = 3)$type)
  relabelled <- relabel(fit)
  expect_identical(renamed(predict(relabelled, draws = 3), "draws"), predict(relabelled, ndraws = 3))
  longer <- renamed(continue(relabelled, iter = 4), "iter")
  expect_identical(longer$draws, continue(relabelled, 4)$draws)
  words <- matrix(1:12, 3, dimnames = list(NULL, letters[1:4]))
  topics <- topic_model(words, 2, iter = 4, seed = 1, progress = FALSE)
  expect_identical(renamed(capture.output(print(topics, topics = 1)), "topics"), capture.output(print(topics, n = 1)))
  expect_identical(renamed(update(topics, words, iter = 4, seed = 2), "update()")$phi,
    add_documents(topics, words, iter = 4, seed = 2)$phi)
})

test_that("negative_binomial is the family negbinomial, and sum_pmf() takes distributions", {
  skip_where_repeated()
  counts <- data.frame(y = c(0, 3, 1, 4, 2, 6), x = 1:6)
  fit <- function(family) bayes_logit(y ~ x, counts, family, chains = 1, iter = 10, warmup = 5, seed = 1)
  expect_identical(fit("negative_binomial")[c("family", "draws")], fit("negbinomial")[c("family", "draws")])
  laws <- list(pmf_poisson(3), pmf_binomial(10, 0.3), pmf_uniform(1, 6))
  expect_identical(do.call(sum_pmf, laws), sum_pmf(laws))
  expect_identical(sum_pmf(laws[[1]], laws[[2]], log = TRUE), sum_pmf(laws[1:2], log = TRUE))
  expect_identical(sum_pmf(c(0.5, 0.5), c(0.2, 0.8)), sum_pmf(list(c(0.5, 0.5), c(0.2, 0.8))))
  expect_equal(sum_pmf(laws[[3]])$prob, laws[[3]]$prob)
  expect_identical(renamed(sum_pmf(laws, TRUE, 0), "sum_pmf(x, log)"), sum_pmf(laws, log = TRUE, accuracy = 0))
  expect_input_error(sum_pmf(laws, laws[[1]]), "is a list, which must hold all distributions")
  expect_input_error(sum_pmf(laws[[1]], accurcy = 1), "`accurcy` is not known here")
})

test_that("intervals have a width of 0.9", {
  skip_where_repeated()
  fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 40, warmup = 10, seed = 1, progress = FALSE)
  expect_identical(confint(fit), confint(fit, level = 0.9))
  expect_identical(colnames(confint(fit)), c("5%", "95%"))
  skip_if_not_installed("generics")
  expect_identical(generics::tidy(fit), generics::tidy(fit, conf.level = 0.9))
})
