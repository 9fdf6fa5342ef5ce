# Calls whose results no machine can hold are refused at once, by an error that names the argument.

refused <- function(call, argument, class = "memory") {
  error <- tryCatch(eval.parent(substitute(call)), warpbayes_error = identity)
  expect_s3_class(error, paste0("warpbayes_error_", class))
  expect_true(argument %in% error$argument, label = paste(deparse1(substitute(call)), "names", argument))
  expect_match(conditionMessage(error), "[0-9]")
}
most <- .Machine$integer.max

test_that("distributions and draws beyond memory are refused", {
  skip_where_repeated()
  die <- pmf_uniform(1, 6)
  refused(rep(die, 1e15), "times")
  refused(rep(die, each = 1e15), "each")
  refused(rep(die, length.out = 1e15), "length.out")
  refused(rpmf(die, 1e15), "n")
  refused(rep_sum_pmf(die, 1e14), "times")
  refused(pmf_uniform(0, 1e15), "to")
  refused(pmf_geometric(1e-12), "prob")
  refused(pmf_geometric(1e-15), "prob", "input")
  refused(pmf_poisson(1e20), "lambda", "input")
  refused(compound_pmf("poisson", die, lambda = 1e15), "tail")
  refused(rcategorical(1:3, 1e15), "draws")
  refused(rcategorical(matrix(1, 1e6, 2), most), "draws")
  refused(rcategorical(matrix(1, 2, 2), 1e12), "draws", "input")
  refused(rpolyagamma(1e15), "n")
  refused(predictive_resample(rnorm(1e5), copula_density(), draws = most, threads = 2), "draws")
  refused(predictive_resample(rnorm(9), normal_mean(), draws = 1e6, horizon = most, trajectories = 1e6, threads = 2),
    "trajectories")
})

test_that("fits beyond memory are refused before they start", {
  skip_where_repeated()
  x <- matrix(rnorm(60), 20)
  words <- matrix(2, 6, 4)
  data <- data.frame(x = 1:8, y = 0:1)
  seconds <- system.time({
    refused(dp_mixture(x, chains = 1e4, iter = most, warmup = 0, threads = 2), "chains")
    refused(dp_mixture(x, method = "bem", chains = 1e4, iter = most, threads = 2), "iter")
    refused(bayes_logit(y ~ x, data, chains = 1e4, iter = most, threads = 2), "iter")
    refused(topic_model(words, 4, chains = 1e4, iter = most, threads = 2), "chains")
  })
  # The starts of as many chains would take minutes.
  expect_lt(seconds[["user.self"]], 10)
  refused(topic_model(words, 1e6), "topics", "input")
  refused(compare_topics(words, 1:1e5), "topics", "input")
  refused(dp_mixture(x, components = 1e15), "components", "input")
  fit <- bayes_logit(y ~ x, data.frame(x = 1:8000, y = 0:1), chains = 1, iter = 10, seed = 1, threads = 2)
  refused(simulate(fit, most), "nsim")
})

test_that("the states of chains count", {
  fit <- list(chains = 2, iter = 0, warmup = 0, thin = 1)
  plan <- list(traces = list(), draws = list(), state_bytes = 1e17)
  expect_error(warpbayes:::check_store_memory(plan, fit, 1), "the states of chains 200 PB, but only",
    class = "warpbayes_error_memory")
})
