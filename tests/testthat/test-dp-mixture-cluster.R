# A mixture whose cells are on the workers of a cluster: to the last bit what this process computes by itself, and clear
# errors when a worker is lost.

# Workers on this machine, with the package, backend and plugin of this process.
start_workers <- function(count) {
  cluster <- parallel::makePSOCKcluster(count, rscript_args = c("-e", shQuote("options(socketOptions = 'no-delay')")))
  settings <- options("warpbayes.backend", "warpbayes.plugin")
  parallel::clusterCall(cluster, function(paths, settings) {
    .libPaths(paths)
    options(settings)
    Sys.setenv(WB_EMULATOR_QUIET = "1")
    NULL
  }, .libPaths(), settings)
  cluster
}

# All tests share three workers, where one does not spoil its own.
shared <- new.env()
workers <- function(count) {
  if (is.null(shared$cluster)) {
    shared$cluster <- with_options(list(socketOptions = "no-delay"), start_workers(3))
  }
  shared$cluster[seq_len(count)]
}
skip_if_clusterless <- function() {
  skip_on_cran()
  skip_on_os("windows")
}

clouds <- function(n, p = 3, seed = 1) {
  set.seed(seed)
  matrix(rnorm(p * n), n, dimnames = list(NULL, LETTERS[seq_len(p)])) + 4 * (runif(n) < 0.3)
}

fit_clouds <- function(x, ..., iter = 6, components = 5) {
  dp_mixture(x, components = components, iter = iter, warmup = 2, thin = 2, keep = c("weights", "means", "covariances", "labels"),
    seed = 3, threads = 1, progress = FALSE, ...)
}

same_result <- function(one, other, label = "") {
  for (part in c("draws", "log_likelihood", "log_posterior", "concentration_trace", "occupied", "probe", "probe_density", "sizes",
    "state", "prior", "center", "scale", "sample")) {
    expect_identical(one[[part]], other[[part]], label = paste(label, part))
  }
}

sessions_left <- function(cluster) {
  sum(lengths(parallel::clusterCall(cluster, function() ls(get("worker_sessions", envir = asNamespace("warpbayes"))))))
}

test_that("any number of workers gives the result of one process", {
  skip_if_clusterless()
  # Two rows in the last leaf; fewer leaves than workers; a chain with all moves and a prior that is learned.
  for (leaves in c(2, 7)) {
    x <- clouds(2048 * (leaves - 1) + 2)
    alone <- fit_clouds(x, chains = 2)
    for (count in 1:3) {
      fit <- fit_clouds(x, chains = 2, cluster = workers(count))
      same_result(fit, alone, count)
      expect_identical(fit$workers, as.integer(min(count, leaves)))
    }
  }
  expect_identical(sessions_left(workers(3)), 0L)
  expect_null(alone$workers)
  expect_output(print(fit), "2 workers|3 workers")
})

test_that("splits and joins are the same where the moves are accepted", {
  skip_if_clusterless()
  skip_on_sanitized_emulator()
  x <- clouds(2048 * 5, 2, seed = 8)
  x[1:500, ] <- x[1:500, ] - 8
  start <- rep_len(1L, nrow(x))
  alone <- fit_clouds(x, iter = 12, init = start, components = 8)
  expect_gt(max(alone$occupied), 2)
  same_result(fit_clouds(x, iter = 12, init = start, components = 8, cluster = workers(2)), alone)
})

test_that("samples, missing values, single precision, no moves and modes are the same too", {
  skip_if_clusterless()
  skip_on_sanitized_emulator()
  x <- clouds(2048 * 3 + 11)
  sample <- rep_len(c("b", "a", "c"), nrow(x))
  gaps <- replace(x, seq(3, length(x), by = 50), NA)
  precision <- function(...) fit_clouds(x, precision = "single", ...)
  same_result(fit_clouds(x, sample = sample, cluster = workers(2)), fit_clouds(x, sample = sample))
  same_result(fit_clouds(gaps, missing = "model", cluster = workers(2)), fit_clouds(gaps, missing = "model"))
  same_result(precision(cluster = workers(2)), precision())
  same_result(fit_clouds(x, moves = FALSE, cluster = workers(2)), fit_clouds(x, moves = FALSE))
  mode <- function(...) dp_mixture(x, 4, method = "bem", chains = 2, warmup = 3, iter = 4, seed = 2, threads = 1, progress = FALSE, ...)
  same_result(mode(cluster = workers(2)), mode())
  expect_identical(sessions_left(workers(2)), 0L)
})

test_that("a fit and its checkpoint go on with a cluster and without", {
  skip_if_clusterless()
  skip_on_sanitized_emulator()
  x <- clouds(2048 * 3)
  whole <- fit_clouds(x, iter = 8)
  same_result(continue(fit_clouds(x, iter = 4), 4, threads = 1, cluster = workers(2), progress = FALSE), whole)
  back <- continue(fit_clouds(x, iter = 4, cluster = workers(2)), 4, threads = 1, progress = FALSE)
  same_result(back, whole)
  expect_null(back$workers)
  file <- tempfile()
  on.exit(unlink(file))
  topic_model(matrix(1:6, 2), 2, iter = 2, seed = 1, checkpoint = file, progress = FALSE)
  expect_error(resume(file, matrix(1:6, 2), cluster = workers(2)), "`cluster` is given, but .* only dp_mixture\\(\\)", class = "warpbayes_error_input")
})

# Does something after the slice with number `at` of the fit in `code`. Slices end where draws are kept.
after_slice <- function(at, act, code) {
  namespace <- asNamespace("warpbayes")
  original <- namespace$progress_signal
  set <- function(value) {
    unlockBinding("progress_signal", namespace)
    assign("progress_signal", value, envir = namespace)
    lockBinding("progress_signal", namespace)
  }
  on.exit(set(original))
  slices <- 0
  set(function(steps, bar) function(amount) if (!is.null(amount) && (slices <<- slices + 1) == at) act())
  code
}

# The value of `code` and the warning that it gave.
with_warning <- function(code) {
  said <- NULL
  value <- withCallingHandlers(code, warning = function(condition) {
    said <<- conditionMessage(condition)
    invokeRestart("muffleWarning")
  })
  list(value = value, said = said)
}

test_that("a worker that is killed in mid-fit is named, and the checkpoint stands", {
  skip_if_clusterless()
  skip_on_sanitized_emulator()
  x <- clouds(2048 * 3)
  whole <- fit_clouds(x, iter = 8)
  file <- tempfile()
  cluster <- with_options(list(socketOptions = "no-delay"), start_workers(2))
  on.exit({
    unlink(file)
    try(parallel::stopCluster(cluster), silent = TRUE)
  })
  process <- parallel::clusterCall(cluster, Sys.getpid)[[2L]]
  stopped <- with_warning(after_slice(1, function() tools::pskill(process, 9L),
    fit_clouds(x, iter = 8, checkpoint = file, checkpoint_every = 0, cluster = cluster)))
  expect_match(stopped$said, sprintf("sweep 5 of 8 failed: `cluster`: worker 2 of 2 \\(process %d on .*\\) has ended or cannot be reached", process))
  expect_match(stopped$said, "The cluster cannot be used any more")
  expect_identical(stopped$value$iter, 4)
  same_result(resume(file, x, threads = 1, cluster = workers(3), progress = FALSE), whole)
  # The other worker has closed its session.
  expect_identical(sessions_left(cluster[1]), 0L)
  # A call that begins with the worker lost is an error.
  warpbayes:::forget_interruption()
  expect_error(fit_clouds(x, cluster = cluster), "`cluster`: worker 2 of 2 has ended or cannot be reached", class = "warpbayes_error_device")
})

test_that("a reply that was left behind is not taken for another", {
  skip_if_clusterless()
  skip_on_sanitized_emulator()
  cluster <- start_workers(1)
  on.exit(parallel::stopCluster(cluster))
  x <- clouds(2048 * 2)
  get("sendCall", envir = asNamespace("parallel"))(cluster[[1L]], function() list(number = 1, value = raw(8)), list())
  expect_error(fit_clouds(x, cluster = cluster), "`cluster`: worker 1 of 1 gave the reply to another call, which had broken off",
    class = "warpbayes_error_device")
})

test_that("an interrupt leaves the cluster usable", {
  skip_if_clusterless()
  skip_on_sanitized_emulator()
  status <- "/proc/self/status"
  ignored <- if (file.exists(status)) grep("^SigIgn:", readLines(status), value = TRUE) else character()
  skip_if(any(bitwAnd(strtoi(sub(".*(.)$", "\\1", ignored), 16L), 2L) != 0L), "SIGINT is ignored: started in the background")
  x <- clouds(2048 * 3)
  whole <- fit_clouds(x, iter = 8)
  process <- c(Sys.getpid(), unlist(parallel::clusterCall(workers(2), Sys.getpid)))
  part <- with_warning(after_slice(1, function() tools::pskill(process, tools::SIGINT), fit_clouds(x, iter = 8, cluster = workers(2))))
  expect_match(part$said, "interrupted: 4 of 8 sweeps are done")
  rest <- continue(part$value, 4, threads = 1, cluster = workers(2), progress = FALSE)
  same_result(rest, whole)
  expect_identical(sessions_left(workers(2)), 0L)
})

test_that("clusters that cannot be used are refused", {
  skip_if_clusterless()
  x <- clouds(3000, 2)
  for (wrong in list(2, "localhost", list(), structure(list(), class = "cluster"))) {
    expect_error(fit_clouds(x, cluster = wrong), "`cluster` must be NULL or a cluster, as parallel::makeCluster\\(\\) makes it, not", class = "warpbayes_error_input")
  }
  expect_error(fit_clouds(x, cluster = workers(1), backend = "tpu"), "`backend` must be one of", class = "warpbayes_error_input")
  expect_error(fit_clouds(x, cluster = workers(2), devices = -1), "worker 1 of 2 \\(process .*`devices` must be NULL or indices", class = "warpbayes_error_input")
  # A worker with another version, one with other sources, and one without the package.
  pretend <- function(name, value) {
    parallel::clusterCall(workers(2)[2L], function(name, value) {
      namespace <- asNamespace("warpbayes")
      assign("kept", if (name == "spec") namespace$.__NAMESPACE__.$spec else get(name, envir = namespace), envir = globalenv())
      if (is.null(value)) {
        value <- function() 0
      }
      if (name == "spec") {
        assign("spec", replace(namespace$.__NAMESPACE__.$spec, "version", value), envir = namespace$.__NAMESPACE__.)
      } else {
        utils::assignInNamespace(name, value, "warpbayes")
      }
      NULL
    }, name, value)
  }
  restore <- function(name) {
    parallel::clusterCall(workers(2)[2L], function(name) {
      namespace <- asNamespace("warpbayes")
      if (name == "spec") assign("spec", kept, envir = namespace$.__NAMESPACE__.) else utils::assignInNamespace(name, kept, "warpbayes")
      NULL
    }, name)
  }
  on.exit({
    restore("spec")
  })
  pretend("spec", "0.0.1")
  expect_error(fit_clouds(x, cluster = workers(2)), "`cluster`: worker 2 of 2 \\(process .*\\) has warpbayes 0.0.1, and this process",
    class = "warpbayes_error_backend")
  restore("spec")
  pretend("worker_build", NULL)
  expect_error(fit_clouds(x, cluster = workers(2)), "worker 2 of 2 .* was compiled from other sources", class = "warpbayes_error_backend")
  restore("worker_build")
  bare <- parallel::makePSOCKcluster(1)
  on.exit(parallel::stopCluster(bare), add = TRUE)
  parallel::clusterCall(bare, function() assign("requireNamespace", function(...) FALSE, envir = globalenv()))
  answer <- first_contact
  environment(answer) <- list2env(list(requireNamespace = function(...) FALSE), parent = baseenv())
  expect_match(answer(1, "0.1")$value$problem, "has no package warpbayes")
})

test_that("a worker's answers are checked, and it checks what it is asked", {
  skip_if_clusterless()
  x <- clouds(5000, 2)
  split <- native(C_mixture_split, 5000, 2L)
  expect_identical(split, list(first_row = c(0, 2048, 5000), piece = 1))
  expect_identical(native(C_mixture_split, 5000, 7L)$first_row, c(0, 2048, 4096, 5000))
  open <- function(first_row = split$first_row, piece = 1, center = c(0, 0), sample = NULL) {
    native(C_mixture_open_worker, x[1:2048, ], 0L, first_row, piece, center, c(1, 1), 0L, TRUE, sample, 2L, resolve_run(NULL, 1))
  }
  for (wrong in list(quote(open(c(0, 100, 5000))), quote(open(c(1, 2048, 5000))), quote(open(piece = 3)), quote(open(center = 0)),
    quote(open(c(0, 2048, 2048))), quote(open(sample = rep(3L, 2048))))) {
    expect_error(eval(wrong), "do not agree", class = "warpbayes_error_input")
  }
  session <- open()
  for (request in list(raw(), raw(8), raw(64), as.raw(rep(255, 64)), as.raw(rep(1, 500)))) {
    expect_error(native(C_mixture_answer, session, request), "the request is not one of a mixture's manager", class = "warpbayes_error_input")
  }
  .Call(C_mixture_close_worker, session)
  expect_error(native(C_mixture_answer, session, raw(8)), "the mixture session is closed")
  # A manager whose workers reply nonsense.
  manage <- function(reply) {
    manager <- native(C_mixture_open_cluster, reply, split$first_row, 1, c(0, 0), c(1, 1), 0L, TRUE, 0L, resolve_run("cpu", 1))
    on.exit(.Call(C_mixture_close, manager))
    fit <- dp_mixture(x, 3, iter = 1, warmup = 0, seed = 1, threads = 1, progress = FALSE)
    step <- mixture_step(fit)
    expect_error(
      native(C_mixture_evaluate, manager, 1, c(0, 0), diag(2), c(0, 0), c(1, 1), 0, 10, c(TRUE, FALSE, FALSE)), "not on a cluster"
    )
    step(manager, fit$state[[1L]], 1, FALSE)
  }
  expect_error(manage(function(request) list(raw(8), raw(8))), "worker 1 of the cluster has sent a reply of a wrong size", class = "warpbayes_error_device")
  for (reply in list(function(request) list(raw(8)), function(request) 1, function(request) list(1, 2), function(request) list())) {
    expect_error(manage(reply), "the workers of the cluster could not be asked", class = "warpbayes_error_device")
  }
  expect_error(manage(function(request) structure(list(status = 3L, message = "no memory"), class = "warpbayes_failure")), "no memory", class = "warpbayes_error_memory")
})

test_that("the tree's nodes are few, and their number does not grow with the cells", {
  bytes <- function(n, count) {
    split <- native(C_mixture_split, n, count)
    expect_identical(split$first_row[[count + 1L]], n)
    # Shares differ by little.
    expect_lt(max(diff(split$first_row)) / (n / count), 1.05)
    n / 2048 / split$piece / count
  }
  for (n in c(1e6, 1e8, 3e9)) for (count in 2:5) expect_true(bytes(n, count) >= 31 && bytes(n, count) <= 65)
})

if (!is.null(shared$cluster)) {
  parallel::stopCluster(shared$cluster)
}
