# Three chains that keep all draws, with a prior that is learned.
fit_chains <- function(...) {
  set.seed(1)
  x <- matrix(rnorm(1200), ncol = 3)
  fit_mixture(x,
    components = 5, chains = 3, iter = 30, seed = 4, threads = 1, progress = FALSE,
    keep = c("weights", "means", "covariances", "labels"),
    prior = dp_prior(learn = c("mean", "mean_scale", "df", "scale")), ...
  )
}

same <- function(a, b) {
  parts <- setdiff(names(a), c("elapsed", "call"))
  expect_identical(names(a), names(b))
  expect_identical(a[parts], b[parts])
}

test_that("a fit taken apart into chains and joined again is the same", {
  fit <- fit_chains()
  same(join_chains(fit, separate_chains(fit, mixture_sampler), mixture_sampler), fit)
  slow <- start_chains(list(seed = 1, chains = 2, elapsed = list()), function(key) Sys.sleep(0.1))
  expect_gt(slow$elapsed[["start"]], 0.15)
})

test_that("chains on the workers of a future plan give the same draws", {
  skip_where_repeated()
  skip_if_not_installed("future")
  skip_if_not_installed("future.apply")
  skip_on_cran()
  here <- fit_chains(backend = "cpu")
  plan <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(plan))
  same(fit_chains(backend = "cpu"), here)
  longer <- continue(here, 7, backend = "cpu", threads = 1)
  future::plan(plan)
  same(continue(here, 7, backend = "cpu", threads = 1), longer)
})

# A sampler of a made-up model. Its draws are functions of the chain's key and the sweep.
toy_sampler <- function(fit) {
  value <- function(state, sweep) as.integer(state$key[[1L]]) + sweep / 1000
  list(
    traces = list(level = stored(), both = stored(2), count = stored(type = "integer")),
    draws = list(
      number = stored(), grid = stored(c(2, 3), names = list(c("a", "b"), NULL)), label = stored(4, "integer")
    ),
    open = function(run) {
      fit$log$open <- fit$log$open + 1
      run$threads
    },
    close = function(session) fit$log$closed <- fit$log$closed + 1,
    step = function(sessions, states, sweeps, keep) {
      fit$log$at_once <- max(fit$log$at_once, length(sessions))
      lapply(states, function(state) {
        level <- value(state, state$sweep + seq_len(sweeps))
        state$last <- level[[sweeps]]
        if (identical(fit$fails_at, state$sweep)) stop("the step failed")
        list(
          state = state,
          traces = list(
            level = level, both = cbind(level + 1, level + 2), count = as.integer(state$sweep) + seq_len(sweeps)
          ),
          draw = if (keep) {
            list(number = state$last, grid = state$last + 1:6, label = 1:4 + as.integer(state$sweep + sweeps))
          }
        )
      })
    },
    together = fit$together,
    finish = function(fit) {
      fit$lasts <- vapply(fit$state, `[[`, 0, "last")
      fit
    }
  )
}

toy_fit <- function(iter, warmup = 2, thin = 3, chains = 2, threads = 1, ...) {
  log <- new.env()
  log$open <- log$closed <- 0
  fit <- list(
    draws = NULL, chains = chains, iter = 0, warmup = warmup, thin = thin, seed = 5, interrupted = FALSE,
    elapsed = c(start = 0, sweeps = 0), log = log, ...
  )
  fit <- start_chains(fit, function(key) list(last = 0))
  advance_chains(fit, iter, toy_sampler, resolve_run("cpu", threads), FALSE, threads)
}

test_that("any sampler that keeps the contract runs on the chains", {
  fit <- toy_fit(12)
  keys <- vapply(1:2, function(chain) as.double(chain_key(5, chain)[[1L]]), 0)
  level <- outer(1:12 / 1000, keys, `+`)
  kept <- c(5, 8, 11)
  expect_equal(fit$level, level, tolerance = 1e-15)
  expect_identical(fit$both, array(c(fit$level + 1, fit$level + 2), c(12, 2, 2)))
  expect_identical(fit$count, matrix(1:12, 12, 2))
  expect_identical(fit$draws$number, fit$level[kept, ])
  expect_identical(dimnames(fit$draws$grid), list(c("a", "b"), NULL, NULL, NULL))
  expect_identical(fit$draws$grid[2, 3, , ], fit$level[kept, ] + 6)
  expect_identical(fit$draws$label[4, , ], matrix(4L + c(5L, 8L, 11L), 3, 2))
  expect_identical(fit$lasts, fit$level[12, ])
  expect_identical(c(fit$log$open, fit$log$closed), c(1, 1))
})

test_that("a toy fit is continued, taken apart and joined without a difference", {
  whole <- toy_fit(20)
  part <- toy_fit(1)
  expect_identical(dim(part$draws$grid), c(2L, 3L, 0L, 2L))
  for (more in c(3, 1, 15)) {
    part <- continue_chains(part, more, toy_sampler, "cpu", 1, FALSE)
  }
  parts <- setdiff(names(whole), c("elapsed", "log"))
  expect_identical(part[parts], whole[parts])
  expect_identical(join_chains(whole, separate_chains(whole, toy_sampler), toy_sampler)[parts], whole[parts])
})

test_that("chains that run at the same time give the same draws, with any number of threads", {
  alone <- toy_fit(60, chains = 5)
  expect_identical(alone$log$at_once, 1L)
  parts <- setdiff(names(alone), c("elapsed", "log", "together"))
  for (threads in c(2, 3, 8)) {
    together <- toy_fit(60, chains = 5, threads = threads, together = TRUE)
    expect_identical(together[parts], alone[parts])
    # R CMD check allows two threads.
    at_once <- min(5L, resolve_run("cpu", threads)$threads)
    expect_identical(together$log$at_once, at_once)
    # A session for chains that run alone, and one for each of those that run at the same time.
    expect_identical(c(together$log$open, together$log$closed), rep(1 + at_once, 2))
  }
  expect_error(toy_fit(4, fails_at = 0, threads = 2, together = TRUE), "the step failed")
})

test_that("the faster of the two ways is taken, and long sweeps run alone", {
  plan <- list(open = function(run) run$threads, close = function(session) NULL, together = TRUE)
  run <- list(backend = "cpu", threads = 6L)
  chosen <- function(alone, side) {
    ways <- chain_ways(plan, run, 4)
    names <- vapply(1:6, function(i) {
      way <- ways$next_way()
      ways$note(way, if (way$name == "alone") alone else side)
      way$name
    }, "")
    list(names = names, last = ways$next_way())
  }
  faster <- chosen(alone = 0.004, side = 0.002)
  expect_identical(faster$names, c("alone", "alone", "side", "side", "side", "side"))
  expect_identical(faster$last$sessions, rep(list(1L), 4))
  expect_identical(faster$last$chains, list(1:4))
  slower <- chosen(alone = 0.002, side = 0.004)
  expect_identical(slower$names, c("alone", "alone", "side", "side", "alone", "alone"))
  expect_identical(slower$last$sessions, list(6L))
  expect_identical(slower$last$chains, as.list(1:4))
  expect_identical(chosen(alone = 1, side = 0.1)$names, rep("alone", 6))
  # A card is busy with less.
  run$backend <- "cuda"
  expect_identical(chosen(alone = 0.004, side = 0.002), faster)
  expect_identical(chosen(alone = 0.04, side = 0.02)$names, rep("alone", 6))
  run$backend <- "cpu"
  run$threads <- 3L
  # Rounds are even.
  expect_identical(chosen(0.004, 0.002)$last$chains, list(1:2, 3:4))
  for (not in list(list(threads = 1L), list(cluster = "workers"))) {
    run[names(not)] <- not
    expect_identical(chosen(0.004, 0.002)$names, rep("alone", 6))
    run <- list(backend = "cpu", threads = 6L)
  }
})

test_that("chains run alone if there is no memory for more sessions", {
  still_open <- 0
  plan <- list(
    open = function(run) {
      if (still_open == 3) stop(structure(class = c("warpbayes_error_memory", "error", "condition"), list()))
      still_open <<- still_open + 1
    },
    close = function(session) still_open <<- still_open - 1, together = TRUE
  )
  ways <- chain_ways(plan, list(backend = "cuda", threads = 6L), 4)
  names <- vapply(1:4, function(i) {
    way <- ways$next_way()
    ways$note(way, 0.001)
    way$name
  }, "")
  expect_identical(names, rep("alone", 4))
  expect_identical(still_open, 1)
  ways$close()
  expect_identical(still_open, 0)
})

test_that("real samplers give the same draws whether chains run at the same time or not", {
  skip_where_repeated()
  set.seed(3)
  x <- matrix(rnorm(300), 100)
  y <- rbinom(100, 1, 0.4)
  counts <- matrix(rpois(400, 1), 20)
  fits <- list(
    function(threads) dp_mixture(
      x, 4, chains = 3, iter = 60, seed = 1, threads = threads, control = warp_control(moves = TRUE)
    ),
    function(threads) bayes_logit(y ~ x, chains = 3, iter = 60, seed = 1, threads = threads),
    function(threads) topic_model(counts, 4, chains = 3, iter = 60, seed = 1, threads = threads)
  )
  for (fit in fits) {
    alone <- fit(1)
    together <- fit(3)
    parts <- intersect(names(alone), c("draws", "log_likelihood", "coefficients", "sizes", "theta", "phi"))
    expect_identical(together[parts], alone[parts])
  }
})

test_that("sessions can be driven by several threads at the same time", {
  set.seed(3)
  x <- matrix(rnorm(90), 30)
  fits <- list(
    list(mixture_sampler, dp_mixture(
      x, 3, chains = 3, iter = 2, seed = 1, threads = 1, control = warp_control(moves = TRUE)
    )),
    list(logit_sampler, bayes_logit(x[, 1] > 0 ~ x[, 2], chains = 3, iter = 2, seed = 1, threads = 1)),
    list(topic_sampler, topic_model(matrix(rpois(60, 1), 6), 3, chains = 3, iter = 2, seed = 1, threads = 1))
  )
  run <- resolve_run(NULL, 1)
  for (case in fits) {
    fit <- case[[2L]]
    plan <- case[[1L]](fit)
    traces <- function(sessions, chains) {
      lapply(plan$step(sessions, fit$state[chains], 3, FALSE), function(slice) slice[["traces"]])
    }
    sessions <- lapply(1:3, function(chain) plan$open(run))
    alone <- do.call(c, lapply(1:3, function(chain) traces(sessions[1L], chain)))
    expect_length(alone, 3L)
    for (i in 1:3) expect_identical(traces(sessions, 1:3), alone)
    for (session in sessions) plan$close(session)
  }
})

test_that("the default is four chains of small data and one of large data, by sizes alone", {
  skip_where_repeated()
  with_options(list(warpbayes.chains = NULL), {
    set.seed(1)
    x <- matrix(rnorm(60), 30)
    counts <- matrix(rpois(60, 1), 6)
    fit <- dp_mixture(x, 3, iter = 4, seed = 1, threads = 1)
    expect_identical(fit$chains, 4)
    expect_identical(dp_mixture(x, 3, iter = 4, chains = 4, seed = 1, threads = 2)$draws, fit$draws)
    expect_identical(dp_mixture(x, 3, "bem", iter = 4, seed = 1, threads = 1)$chains, 1)
    topics <- topic_model(counts, 2, iter = 4, seed = 1, threads = 1)
    expect_identical(topics$chains, 4)
    expect_identical(add_documents(topics, counts, iter = 4, seed = 1, threads = 1)$chains, 4)
    # What one chain cannot tell is said, whatever the verdict.
    expect_false(any(grepl("One chain was run", as.character(verdict(topics)))))
    for (estimate in c("mode", "mean")) {
      alone <- fit_topics(counts, 2, estimate = estimate, iter = 40, chains = 1, seed = 1, threads = 1)
      expect_match(as.character(verdict(alone)), "One chain was run", all = FALSE)
    }
    # The number does not depend on the machine, and large data and many draws have one.
    cells <- function(rows) list(rows = rows, markers = letters[1:10])
    number <- function(rows, iter = 1000, keep = "means") {
      mixture_chains(NULL, cells(rows), 64, iter, list(warmup = 0, thin = 1), keep)
    }
    expect_identical(vapply(c(1e3, 23000, 24000, 3e7), number, 0), c(4, 4, 1, 1))
    expect_identical(number(1e3, iter = 2000), 1)
    expect_identical(number(1e4, 600, c("means", "labels")), 1)
    expect_identical(check_chains(NULL, topic_cost(1500, 90000, 20, 1), 0), 4)
    expect_identical(check_chains(NULL, topic_cost(1600, 96000, 20, 1), 0), 1)
  })
  with_options(list(warpbayes.chains = 2), expect_identical(check_chains(NULL, call_cost(), 0), 2))
  with_options(list(warpbayes.chains = "four"), {
    expect_error(check_chains(NULL, call_cost(), 0), "`options(warpbayes.chains)` must be one whole number",
      fixed = TRUE, class = "warpbayes_error_input")
  })
})

test_that("a session is closed when a step fails, and changed fits are refused", {
  log <- new.env()
  expect_error(toy_fit(4, fails_at = 0), "the step failed")
  fit <- toy_fit(8)
  fit$fails_at <- 8
  expect_error(continue_chains(fit, 1, toy_sampler, "cpu", 1, FALSE), "the step failed")
  expect_identical(c(fit$log$open, fit$log$closed), c(2, 2))
  fit <- toy_fit(8)
  for (name in c("level", "both", "count")) {
    changed <- fit
    changed[[name]] <- fit[[name]][-1]
    expect_error(continue_chains(changed, 1, toy_sampler, "cpu", 1, FALSE),
      "its chains, sweeps and draws do not agree", class = "warpbayes_error_input"
    )
  }
  changed <- fit
  changed$draws$label <- NULL
  expect_error(continue_chains(changed, 1, toy_sampler, "cpu", 1, FALSE),
    "its chains, sweeps and draws do not agree", class = "warpbayes_error_input"
  )
  changed <- fit
  storage.mode(changed$count) <- "double"
  expect_error(continue_chains(changed, 1, toy_sampler, "cpu", 1, FALSE),
    "do not have the size or type", class = "warpbayes_error_input"
  )
})

test_that("values are kept only if all of them fit", {
  array <- list(pointer = native(C_store_open, list(a = 0), list(4), list(NULL)))
  refuse <- function(...) {
    expect_error(fill_store(...), "do not have the size or type", class = "warpbayes_error_input")
  }
  refuse(array, 3, 2, list(c(1, 2)), 2, 2)
  refuse(array, 0, 3, list(1:4 + 0), 2, 2)
  refuse(array, 0, 2, list(1:2), 2, 2)
  refuse(array, -1, 2, list(c(1, 2)), 2, 2)
  refuse(array, 0, 2, list(c(1, 2)), 1, 2)
  refuse(array, 0, 2, list(1, 2), 1, 1)
  before <- native(C_store_copy, array$pointer)
  expect_identical(before, list(a = numeric(4)))
  fill_store(array, 1, 2, list(c(7, 8, 9, 10)), 2, 1)
  expect_identical(before, list(a = numeric(4)))
  expect_identical(native(C_store_close, array$pointer), list(a = c(0, 7, 0, 9)))
  closed <- function(code) {
    expect_error(code, "the store of draws and traces is closed", class = "warpbayes_error_input")
  }
  closed(fill_store(array, 0, 1, list(1), 1, 1))
  closed(native(C_store_copy, array$pointer))
  closed(native(C_store_close, array$pointer))
  closed(native(C_store_close, NULL))
})

test_that("after a failed sweep the sweeps before it are kept", {
  set.seed(2)
  x <- matrix(rnorm(400), 200)
  fit <- dp_mixture(x, components = 3, iter = 20, warmup = 10, chains = 2, seed = 1, threads = 2)
  fails_at <- function(sweep) {
    function(fit) {
      plan <- mixture_sampler(fit)
      right <- plan$step
      plan$step <- function(sessions, states, sweeps, keep) {
        if (states[[1L]]$sweep + sweeps >= sweep) stop_warpbayes("input", "a planted failure")
        right(sessions, states, sweeps, keep)
      }
      plan
    }
  }
  run <- resolve_run("cpu", 2)
  expect_warning(
    failed <- advance(fit, 30, fails_at(34), run, FALSE),
    "sweep 34 of 50 failed: a planted failure. The sweeps before it are returned, with 23 draws kept per chain"
  )
  whole <- advance(fit, 13, mixture_sampler, run, FALSE)
  expect_identical(failed$draws, whole$draws)
  expect_identical(failed$log_likelihood, whole$log_likelihood)
  expect_identical(failed$state, whole$state)
  expect_error(advance(fit, 30, fails_at(21), run, FALSE), "a planted failure", class = "warpbayes_error_input")
})

test_that("an interrupted fit is assigned before the loop around it ends", {
  skip_if_uninterruptible()
  for (repetition in 1:20) {
    fits <- list()
    tryCatch(
      for (i in 1:100) {
        fits[[i]] <- with_warning(if (i == 3) after_slice(1, interrupt, toy_fit(4)) else toy_fit(4))$value
      },
      interrupt = function(condition) NULL
    )
    expect_length(fits, 3)
    expect_identical(vapply(fits, `[[`, NA, "interrupted"), c(FALSE, FALSE, TRUE))
  }
  # A fit that was interrupted can be continued.
  expect_false(continue_chains(fits[[3]], 2, toy_sampler, "cpu", 1, FALSE)$interrupted)
})
