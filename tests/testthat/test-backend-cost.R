# Where backend = "auto" runs a call. The cards are made up, and nothing is computed on them.

with_card <- function(major, minor, code) {
  state <- warpbayes:::backend_state
  saved <- as.list(state)
  on.exit({
    rm(list = ls(state), envir = state)
    list2env(saved, envir = state)
  })
  list2env(list(path = "made-up", reason = NULL, pid = Sys.getpid(), pointer = .Call(warpbayes:::C_backend_cpu),
    devices = data.frame(device = 0L, name = "made up", major = major, minor = minor)), envir = state)
  with_options(list(warpbayes.plugin = "made-up", warpbayes.device = NULL, warpbayes.backend = NULL,
    warpbayes.isa = NULL), code)
}

# 16 cores, as where the constants were measured.
chosen <- function(cost, backend = "auto") {
  run <- warpbayes:::resolve_run(backend, 2)
  run[c("threads", "isa")] <- list(16L, 2L)
  warpbayes:::faster_run(run, cost)$backend
}

test_that("with a data centre's card, small data stay on the processor and large data go to the card", {
  wb <- asNamespace("warpbayes")
  with_card(9L, 0L, {
    expect_identical(chosen(wb$mixture_cost(300, 2, 8, 200)), "cpu")
    expect_identical(chosen(wb$mixture_cost(1e6, 10, 64, 10)), "cuda")
    expect_identical(chosen(wb$regression_cost(40, 2, "binomial", 1, 1000)), "cpu")
    expect_identical(chosen(wb$regression_cost(1e5, 5, "negbinomial", 1, 50)), "cuda")
    expect_identical(chosen(wb$regression_cost(1e5, 5, "multinomial", 2, 50)), "cuda")
    expect_identical(chosen(wb$topic_cost(10, 100, 5, 100)), "cpu")
    expect_identical(chosen(wb$topic_cost(20000, 2e6, 500, 10)), "cuda")
    # Copies of the weights take longer than the draws.
    expect_identical(chosen(wb$categorical_cost(1e5, 100, 1)), "cpu")
    expect_identical(chosen(wb$categorical_cost(65536, 1000, 1)), "cpu")
    expect_identical(chosen(wb$categorical_cost(1e5, 100, 100)), "cuda")
    expect_identical(chosen(wb$categorical_cost(1, 1000, 1e7)), "cuda")
    expect_identical(chosen(wb$polyagamma_cost(1e3, 1, 1)), "cpu")
    expect_identical(chosen(wb$polyagamma_cost(1e7, 1, 1)), "cuda")
    expect_identical(chosen(wb$polyagamma_cost(1e6, 4.5, numeric(1e6))), "cuda")
    expect_identical(chosen(wb$polyagamma_law_cost(1e6)), "cuda")
    expect_identical(chosen(wb$convolution_cost(1e4, 200)), "cpu")
    rows <- function(n, m) matrix(0, n, m)
    expect_identical(chosen(wb$rows_cost(rows(1e3, 16), rows(1e3, 16))), "cpu")
    expect_identical(chosen(wb$rows_cost(rows(65536, 64), rows(65536, 64))), "cuda")
    expect_identical(chosen(wb$record(normal_mean())$cost(normal_mean(), 1:9, 1e6, 1000)), "cuda")
    expect_identical(chosen(wb$copula_cost(copula_density(), 1:500, 1000, 2000)), "cuda")
    expect_identical(chosen(wb$record(bayesian_bootstrap())$cost()), "cpu")
  })
})

test_that("cards with few multiply-adds in double precision get less of the work", {
  wb <- asNamespace("warpbayes")
  cost <- wb$regression_cost(1e6, 50, "binomial", 1, 1000)
  with_card(9L, 0L, expect_identical(chosen(cost), "cuda"))
  with_card(8L, 9L, expect_identical(chosen(cost), "cpu"))
  with_card(8L, 9L, expect_identical(chosen(wb$topic_cost(1000, 1e5, 20, 100)), "cpu"))
})

test_that("more threads fetch draws faster", {
  cost <- warpbayes:::call_cost(parallel = 0.02, fixed = 1e-3, down = 8e7)
  card <- data.frame(major = 9L, minor = 0L)
  expect_gt(warpbayes:::card_seconds(cost, card, 1), 0.02)
  expect_lt(warpbayes:::card_seconds(cost, card, 16), 0.02 / 2)
})

test_that("only \"auto\" leaves the choice to the package", {
  with_card(9L, 0L, {
    expect_identical(chosen(stop("computed"), "cuda"), "cuda")
    expect_identical(chosen(stop("computed"), "cpu"), "cpu")
    expect_identical(chosen(warpbayes:::call_cost()), "cpu")
    # Short sums are on the processor without any estimate.
    expect_identical(warpbayes:::resolve_run(NULL, 2, work = 1e3)$backend, "cpu")
    expect_identical(warpbayes:::resolve_run("cuda", 2, work = 1e3)$backend, "cuda")
    # A fit says where it ran.
    expect_identical(bayes_logit(cbind(1, 2) ~ 1, chains = 1, iter = 20, seed = 1)$backend, "cpu")
  })
})
