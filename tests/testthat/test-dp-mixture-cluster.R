# A mixture whose cells are on the workers of a cluster: the result is identical to that of one process, and messages
# are clear when a worker is lost.

# A port that no other process has open. Package parallel takes one of 1,000 at random and does not look: two steps of
# tools/test met on one.
free_port <- function() {
  for (port in 20000 + (Sys.getpid() + 0:99) %% 10000) {
    socket <- tryCatch(serverSocket(port), error = function(error) NULL)
    if (!is.null(socket)) {
      close(socket)
      return(port)
    }
  }
  stop("no free port")
}

# Starts workers with SIGINT as a terminal leaves it. Package parallel starts them in the background, where a shell has
# the signal ignored, and R from 4.5 on leaves it ignored.
heeding_rscript <- function() {
  script <- tempfile(fileext = ".sh")
  rscript <- shQuote(file.path(R.home("bin"), "Rscript"))
  writeLines(c("#!/bin/sh", "apart=", "if env --default-signal=INT true 2> /dev/null; then",
    "  apart=\"env --default-signal=INT\"", "fi", sprintf("exec $apart %s \"$@\"", rscript)), script)
  Sys.chmod(script, "700")
  script
}

# Workers on this machine, with the package, backend and plugin of this process.
start_workers <- function(count) {
  cluster <- parallel::makePSOCKcluster(count, port = free_port(), rscript = heeding_rscript(),
    rscript_args = c("-e", shQuote("options(socketOptions = 'no-delay')"))
  )
  settings <- options("warpbayes.backend", "warpbayes.plugin")
  parallel::clusterCall(cluster, function(paths, settings) {
    .libPaths(paths)
    options(settings)
    Sys.setenv(WB_EMULATOR_QUIET = "1")
    NULL
  }, .libPaths(), settings)
  cluster
}

# All tests share three workers, except tests that damage their workers.
shared <- new.env()
workers <- function(count) {
  if (is.null(shared$cluster)) shared$cluster <- with_options(list(socketOptions = "no-delay"), start_workers(3))
  shared$cluster[seq_len(count)]
}
# `repeated`: whether the test also runs on the emulator.
skip_if_clusterless <- function(repeated = FALSE) {
  skip_on_cran()
  skip_on_os("windows")
  skip_if(sanitized(), "workers are processes of their own; other tests have manager and worker in this one")
  if (!repeated) skip_where_repeated()
}

clouds <- function(n, p = 3, seed = 1) {
  set.seed(seed)
  matrix(rnorm(p * n), n, dimnames = list(NULL, LETTERS[seq_len(p)])) + 4 * (runif(n) < 0.3)
}

fit_clouds <- function(x, ..., iter = 6, components = 5) {
  fit_mixture(x, components = components, iter = iter, warmup = 2, thin = 2,
    keep = c("weights", "means", "covariances", "labels"),
    seed = 3, threads = 1, progress = FALSE, ...)
}

same_result <- function(one, other, label = "") {
  for (part in c(
    "draws", "log_likelihood", "log_posterior", "concentration_trace", "occupied", "probe", "probe_density", "sizes",
    "state", "prior", "center", "scale", "sample")) {
    expect_identical(one[[part]], other[[part]], label = paste(label, part))
  }
}

sessions_left <- function(cluster) {
  sum(lengths(parallel::clusterCall(cluster, function() ls(get("worker_data", envir = asNamespace("warpbayes"))))))
}

test_that("any number of workers gives the result of one process", {
  skip_if_clusterless(repeated = TRUE)
  # Two rows in the last leaf; fewer leaves than workers; a chain with all moves and a prior that is learned.
  for (leaves in c(2, 7)) {
    x <- clouds(2048 * (leaves - 1) + 2)
    alone <- fit_clouds(x, chains = 2)
    for (count in if (leaves == 2) 3 else 1:3) {
      fit <- fit_clouds(x, chains = 2, cluster = workers(count))
      same_result(fit, alone, count)
      expect_identical(fit$workers, as.integer(min(count, leaves)))
    }
  }
  expect_identical(sessions_left(workers(3)), 0L)
  expect_null(alone$workers)
  expect_output(print(fit), "on 3 workers \\((cpu|cuda)\\)", width = 200)
})

test_that("splits and joins are the same when moves are accepted", {
  skip_if_clusterless(repeated = TRUE)
  x <- clouds(2048 * 5, 2, seed = 8)
  x[1:500, ] <- x[1:500, ] - 8
  start <- rep_len(1L, nrow(x))
  alone <- fit_clouds(x, iter = 12, start = start, components = 8)
  expect_gt(max(alone$occupied), 2)
  same_result(fit_clouds(x, iter = 12, start = start, components = 8, cluster = workers(2)), alone)
})

test_that("samples, missing values, single precision, no moves and modes give the same result too", {
  skip_if_clusterless(repeated = TRUE)
  x <- clouds(2048 * 3 + 11)
  sample <- rep_len(c("b", "a", "c"), nrow(x))
  gaps <- replace(x, seq(3, length(x), by = 50), NA)
  precision <- function(...) fit_clouds(x, precision = "single", ...)
  same_result(fit_clouds(x, sample = sample, cluster = workers(2)), fit_clouds(x, sample = sample))
  same_result(fit_clouds(gaps, missing = "model", cluster = workers(2)), fit_clouds(gaps, missing = "model"))
  same_result(precision(cluster = workers(2)), precision())
  same_result(fit_clouds(x, moves = FALSE, cluster = workers(2)), fit_clouds(x, moves = FALSE))
  mode <- function(...) {
    fit_mixture(x, 4,
      method = "bem", chains = 2, warmup = 3, iter = 4, seed = 2, threads = 1, progress = FALSE, ...
    )
  }
  same_result(mode(cluster = workers(2)), mode())
  expect_identical(sessions_left(workers(2)), 0L)
})

test_that("a fit and its checkpoint can be continued with and without a cluster", {
  skip_if_clusterless()
  x <- clouds(2048 * 3)
  whole <- fit_clouds(x, iter = 8)
  same_result(continue(fit_clouds(x, iter = 4), 4, threads = 1, cluster = workers(2), progress = FALSE), whole)
  back <- continue(fit_clouds(x, iter = 4, cluster = workers(2)), 4, threads = 1, progress = FALSE)
  same_result(back, whole)
  expect_null(back$workers)
  file <- scratch()
  fit_topics(matrix(1:6, 2), 2, iter = 2, seed = 1, checkpoint = file, progress = FALSE)
  expect_error(resume(file, matrix(1:6, 2), cluster = workers(2)),
    "`cluster` is given, but .* only dp_mixture\\(\\)", class = "warpbayes_error_input"
  )
})

# The cells of `x` as workers read them, from a file.
reader_of <- function(x, ...) {
  file <- tempfile(fileext = ".rds")
  saveRDS(x, file)
  row_reader(nrow(x), local({
    path <- file
    function(first, last) readRDS(path)[first:last, , drop = FALSE]
  }), ...)
}

test_that("cells that workers read give the same fit as the matrix", {
  skip_if_clusterless(repeated = TRUE)
  x <- clouds(2048 * 5 + 100)
  # Data with a value that many cells share, and data on a grid.
  x[seq(1, nrow(x), by = 7), 1] <- 0
  x[, 2] <- round(x[, 2], 1)
  reader <- reader_of(x, block = 1500)
  file <- scratch()
  whole <- fit_clouds(x, chains = 2)
  fit <- fit_clouds(reader, chains = 2, cluster = workers(3), checkpoint = file)
  same_result(fit, whole)
  expect_null(fit$x)
  expect_identical(sessions_left(workers(3)), 0L)
  same_result(continue(fit, 2, threads = 1, cluster = workers(2), progress = FALSE),
    continue(whole, 2, threads = 1, progress = FALSE)
  )
  same_result(resume(file, reader, threads = 1, cluster = workers(2), progress = FALSE), whole)
  expect_identical(predict(fit, x, threads = 1), predict(whole, x, threads = 1))
  expect_identical(predict(fit, x[1:50, ], type = "type", threads = 1),
    predict(whole, x[1:50, ], type = "type", threads = 1)
  )
  # A reader has 10,000 cells for the parameters of the logicle scale, so they are taken from the fit of the matrix.
  scale <- fit_clouds(x, transform = c(A = 2, C = "logicle"), markers = c("A", "C"))
  transformed <- function(x, ...) fit_clouds(x, transform = scale$transform, markers = c("A", "C"), ...)
  same_result(transformed(x), scale)
  same_result(transformed(reader, cluster = workers(2), checkpoint = file), transformed(x))
  same_result(resume(file, reader, threads = 1, cluster = workers(3), progress = FALSE), transformed(x))
  sample <- rep_len(1:2, nrow(x))
  same_result(fit_clouds(reader, sample = sample, cluster = workers(2)), fit_clouds(x, sample = sample))
  same_result(fit_clouds(reader, start = whole, cluster = workers(2)), fit_clouds(x, start = whole))
  mode <- function(x, ...) {
    fit_mixture(x, 4, method = "bem", warmup = 3, iter = 4, seed = 2, threads = 1, progress = FALSE, ...)
  }
  same_result(mode(reader, cluster = workers(2)), mode(x))
})

test_that("readers that cannot be used are refused", {
  skip_if_clusterless()
  expect_output(print(row_reader(5000, identity, block = 10)), "Reader of 5,000 rows, at most 10 at a time")
  expect_error(row_reader(1, identity), "`rows` must be one whole number from 2", class = "warpbayes_error_input")
  expect_error(row_reader(10, 3),
    "`read` must be a function of the first and the last row, not", class = "warpbayes_error_input"
  )
  expect_error(row_reader(10, identity, 0), "`block` must be one whole number from 1", class = "warpbayes_error_input")
  x <- clouds(5000, 2)
  reader <- reader_of(x)
  refused <- function(code, message) expect_error(code, message, class = "warpbayes_error_input")
  fit <- function(x, ..., cluster = workers(2)) fit_clouds(x, cluster = cluster, ...)
  refused(fit(reader, cluster = NULL), "`x` is a row_reader\\(\\), which the workers of a cluster read: give `cluster`")
  refused(fit(reader, missing = "model"), "`missing` is \"model\", which a row_reader")
  refused(fit(reader, start = rep_len(1, 5000)), "`start` has labels, which need the cells in this process")
  refused(fit(reader, start = fit_clouds(x[1:3000, ])), "`start` was fitted to other cells")
  reading <- function(code) fit(row_reader(5000, eval(substitute(function(first, last) code), list(), baseenv())))
  refused(reading(stop("no such file")), "worker 1 of 2 .*: `x` cannot read rows 1 to 2048: no such file")
  refused(reading(matrix(0, 3, 2)), "`x` has read 3 rows for rows 1 to 2048")
  refused(reading("text"), "worker 1 of 2 .*`x` must be a numeric matrix")
  refused(reading(matrix(first, last - first + 1, if (first == 1) 2 else 3)),
    "`x` has other columns on worker 2 of 2 .* than on the first, \"V1\", \"V2\""
  )
  read <- quote(function(first, last) matrix(first, last - first + 1, if (first %in% c(1, 2049)) 2 else 3))
  changing <- row_reader(5000, eval(read, baseenv()), block = 2000)
  refused(fit(changing), "`x` has read other columns for rows 2001 to 2048, .* than before, \"V1\", \"V2\"")
  refused(fit(reader_of(replace(x, 4000, Inf))), "`x` has Inf in row 4000, column 1")
  made <- fit(reader)
  refused(continue(made, 2), "`cluster` is NULL, but the cells of `fit` are read by the workers")
  refused(predict(made), "the cells of the fit are where its row_reader\\(\\) reads them")
  refused(cell_types(made),
    "does not hold its cells, which a row_reader\\(\\) reads: predict\\(fit, newdata, type = \"type\"\\)"
  )
  file <- scratch()
  fit(reader, checkpoint = file)
  refused(resume(file, reader), "`x` is a row_reader\\(\\), which the workers of a cluster read: give `cluster`")
  refused(resume(file, x), "the checkpoint was made with values that workers read")
  refused(resume(file, reader_of(x + 1), cluster = workers(2)),
    "`x` has other values that workers read in column \"A\""
  )
  refused(resume(file, reader_of(x[, 2:1]), cluster = workers(2)),
    "`x` has the columns \"B\", \"A\"; the checkpoint was made with \"A\", \"B\""
  )
  expect_identical(sessions_left(workers(2)), 0L)
})

test_that("the message names a worker that is killed during a fit, and the checkpoint stays", {
  skip_if_clusterless()
  x <- clouds(2048 * 3)
  whole <- fit_clouds(x, iter = 8)
  file <- tempfile()
  cluster <- with_options(list(socketOptions = "no-delay"), start_workers(2))
  on.exit({
    unlink(file)
    try(parallel::stopCluster(cluster), silent = TRUE)
  })
  process <- parallel::clusterCall(cluster, Sys.getpid)[[2L]]
  stopped <- with_warning(after_slice(2, function() tools::pskill(process, 9L),
    fit_clouds(x, iter = 8, checkpoint = file, checkpoint_every = 0, cluster = cluster)))
  lost <- "sweep 5 of 8 failed: `cluster`: worker 2 of 2 \\(process %d on .*\\) has ended or cannot be reached"
  expect_match(stopped$said, sprintf(lost, process))
  expect_match(stopped$said, "The cluster cannot be used any more")
  expect_identical(stopped$value$iter, 4)
  same_result(resume(file, x, threads = 1, cluster = workers(3), progress = FALSE), whole)
  # A call that starts after the worker was lost is an error.
  expect_error(fit_clouds(x, cluster = cluster),
    "`cluster`: worker 2 of 2 has ended or cannot be reached", class = "warpbayes_error_device"
  )
})

# Replaces a function, or elements of a list of functions, of the package on the second worker. original() in the new
# function is the old one. `value` NULL: puts the old one back.
plant_on_second <- function(cluster, name, value) {
  parallel::clusterCall(cluster[2L], function(name, value) {
    namespace <- asNamespace("warpbayes")
    if (is.null(value)) {
      utils::assignInNamespace(name, get("before", envir = globalenv()), "warpbayes")
      return(NULL)
    }
    original <- get(name, envir = namespace)
    assign("before", original, envir = globalenv())
    if (is.function(value)) {
      environment(value) <- list2env(list(original = original), parent = namespace)
    } else {
      for (task in names(value)) {
        environment(value[[task]]) <- list2env(list(original = original[[task]]), parent = namespace)
      }
      value <- utils::modifyList(original, value)
    }
    utils::assignInNamespace(name, value, "warpbayes")
    NULL
  }, name, value)
  invisible()
}

test_that("any fault of a worker is an error that names it and the reason", {
  skip_if_clusterless()
  x <- clouds(2048 * 3)
  attempt <- function(name, value) {
    plant_on_second(workers(2), name, value)
    on.exit(plant_on_second(workers(2), name, NULL))
    tryCatch(fit_clouds(x, iter = 4, cluster = workers(2)), error = identity)
  }
  expect_fault <- function(found, message) {
    expect_s3_class(found, "warpbayes_error_device")
    expect_match(conditionMessage(found), paste0("worker 2 of 2 \\(process [0-9]+ on .*\\).* ", message))
  }
  flip <- function(bytes) {
    bytes[[length(bytes) - 9]] <- xor(bytes[[length(bytes) - 9]], as.raw(1))
    bytes
  }
  # Damage of the bytes that travel: one bit, and fewer of them.
  damaged <- "gave a reply that was damaged on its way: stop this cluster"
  expect_fault(attempt("seal", eval(bquote(function(value) {
    sealed <- original(value)
    sealed$bytes <- .(flip)(sealed$bytes)
    sealed
  }))), damaged)
  expect_fault(attempt("seal", function(value) {
    sealed <- original(value)
    sealed$bytes <- utils::head(sealed$bytes, -8)
    sealed
  }), damaged)
  expect_fault(attempt("unseal", function(sealed) NULL), "got a call that was damaged on its way")
  # A worker that computes nonsense.
  answer <- function(f) list(answer = f)
  expect_fault(attempt("worker_tasks", answer(function(session, request) utils::head(original(session, request), -8))),
    "has sent a reply of a wrong size"
  )
  expect_fault(
    attempt("worker_tasks", answer(function(session, request) replace(original(session, request), TRUE, as.raw(255)))),
    "has sent a reply with sums that no rows have"
  )
  expect_fault(attempt("worker_tasks", answer(function(...) structure(list(status = 9), class = "warpbayes_failure"))),
    "gave a failure without a reason"
  )
  # The manager does not ask these workers again to close their sessions.
  parallel::clusterCall(workers(2), function() {
    held <- get("worker_data", envir = asNamespace("warpbayes"))
    rm(list = ls(held), envir = held)
  })
})

test_that("a worker that hangs is named after the stated time, and the completed sweeps are returned", {
  skip_if_clusterless()
  x <- clouds(2048 * 3)
  whole <- fit_clouds(x, iter = 8)
  file <- tempfile()
  cluster <- with_options(list(socketOptions = "no-delay"), start_workers(2))
  processes <- unlist(parallel::clusterCall(cluster, Sys.getpid))
  on.exit({
    tools::pskill(processes, 9L)
    unlink(file)
  })
  part <- with_options(list(warpbayes.worker_timeout = 1), with_warning(
    after_slice(2, function() tools::pskill(processes[[2]], tools::SIGSTOP),
      fit_clouds(x, iter = 8, cluster = cluster, checkpoint = file)
    )
  ))
  late <- "sweep 5 of 8 failed: `cluster`: worker 2 of 2 \\(process %d on .*\\) has sent nothing for 1 second, "
  expect_match(part$said, sprintf(late, processes[[2]]))
  expect_identical(part$value$iter, 4)
  same_result(resume(file, x, threads = 1, progress = FALSE), whole)
  for (wrong in list("a", NA, 0, -1, 1:2)) {
    expect_error(with_options(list(warpbayes.worker_timeout = wrong), fit_clouds(x, cluster = workers(2))),
      "`options\\(warpbayes.worker_timeout\\)` must be a number of seconds", class = "warpbayes_error_input"
    )
  }
})

test_that("a reply to an earlier call is not taken for the current one", {
  skip_if_clusterless()
  cluster <- start_workers(1)
  on.exit(parallel::stopCluster(cluster))
  x <- clouds(2048 * 2)
  get("sendCall", envir = asNamespace("parallel"))(cluster[[1L]], function() list(number = 1, value = raw(8)), list())
  expect_error(fit_clouds(x, cluster = cluster),
    "`cluster`: worker 1 of 1 gave the reply to another call, which had broken off",
    class = "warpbayes_error_device")
})

test_that("an interrupt leaves the cluster usable", {
  skip_if_clusterless()
  skip_if_uninterruptible()
  x <- clouds(2048 * 3)
  whole <- fit_clouds(x, iter = 8)
  process <- c(Sys.getpid(), unlist(parallel::clusterCall(workers(2), Sys.getpid)))
  part <- with_warning(then_interrupted(
    after_slice(2, function() interrupt(process), fit_clouds(x, iter = 8, cluster = workers(2)))
  ))
  expect_match(part$said, "interrupted: 4 of 8 sweeps are done")
  rest <- continue(part$value, 4, threads = 1, cluster = workers(2), progress = FALSE)
  same_result(rest, whole)
  expect_identical(sessions_left(workers(2)), 0L)
})

# Interrupts these processes after so many seconds, while this process goes on.
interrupt_later <- function(seconds, process = Sys.getpid()) {
  system(sprintf("(sleep %g; kill -INT %s)", seconds, paste(process, collapse = " ")), wait = FALSE)
}

test_that("Ctrl-C while this process waits for its workers leaves the cluster usable", {
  skip_if_clusterless()
  skip_if_uninterruptible()
  skip_on_os("mac") # an interrupt can come within a message there
  x <- clouds(2048 * 3)
  process <- c(Sys.getpid(), unlist(parallel::clusterCall(workers(2), Sys.getpid)))
  # The clock starts when sweeps run: opening sessions on cards can take longer than these times.
  for (seconds in c(0.01, 0.05, 0.1)) {
    part <- with_warning(then_interrupted(after_slice(1, function() interrupt_later(seconds, process),
      fit_clouds(x, iter = 4000, cluster = workers(2))
    )))
    expect_match(part$said, "interrupted: [0-9]+ of 4000 sweeps are done")
    expect_identical(sessions_left(workers(2)), 0L)
  }
  same_result(fit_clouds(x, cluster = workers(2)), fit_clouds(x))
})

test_that("a second interrupt ends the wait for a worker that does not answer", {
  skip_if_clusterless()
  skip_if_uninterruptible()
  cluster <- start_workers(2)
  x <- clouds(2048 * 3)
  process <- parallel::clusterCall(cluster, Sys.getpid)[[2L]]
  on.exit(tools::pskill(process, tools::SIGKILL))
  part <- with_warning(after_slice(1, function() {
    tools::pskill(process, tools::SIGSTOP)
    interrupt_later(0.5)
    interrupt_later(1)
  }, fit_clouds(x, iter = 8, cluster = cluster)))
  expect_match(part$said, "sweep [0-9] of 8 failed: `cluster`: an interrupt broke off a message")
  same_result(continue(part$value, 8 - part$value$iter, threads = 1, progress = FALSE), fit_clouds(x, iter = 8))
  expect_error(fit_clouds(x, cluster = cluster), "cluster", class = "warpbayes_error_device")
})

# A worker that waits for the next call has R's own handler, and package parallel catches the interrupt. Between its
# calls nothing catches it.
test_that("workers ignore interrupts during a fit and heed them again after it", {
  skip_if_clusterless()
  skip_if_uninterruptible()
  skip_if_not(file.exists("/proc/self/status"), "Linux")
  x <- clouds(2048 * 3)
  ask <- ignores_interrupts
  environment(ask) <- baseenv()
  ignores <- function() unlist(parallel::clusterCall(workers(2), ask, "self"))
  during <- NULL
  # On systems whose env cannot restore a signal, workers may have it ignored from the start.
  before <- ignores()
  fit <- after_slice(1, function() during <<- ignores(), fit_clouds(x, iter = 8, cluster = workers(2)))
  expect_identical(during, c(TRUE, TRUE))
  expect_identical(ignores(), before)
  part <- continue(fit, 2, threads = 1, cluster = workers(1), progress = FALSE)
  expect_identical(part$iter, fit$iter + 2)
  expect_error(fit_clouds(x, cluster = workers(2), components = -1), "components")
  expect_identical(ignores(), before)
})

test_that("clusters that cannot be used are refused", {
  skip_if_clusterless()
  x <- clouds(3000, 2)
  for (wrong in list(2, "localhost", list(), structure(list(), class = "cluster"))) {
    expect_error(fit_clouds(x, cluster = wrong),
      "`cluster` must be NULL or a cluster, as parallel::makeCluster\\(\\) makes it, not",
      class = "warpbayes_error_input"
    )
  }
  expect_error(fit_clouds(x, cluster = workers(1), backend = "tpu"),
    "`backend` must be one of", class = "warpbayes_error_input"
  )
  expect_error(fit_clouds(x, cluster = workers(2), devices = -1),
    "worker 1 of 2 \\(process .*`devices` must be NULL or indices", class = "warpbayes_error_input"
  )
  # A worker with another version, one with other sources, and one without the package.
  pretend <- function(name, value) {
    parallel::clusterCall(workers(2)[2L], function(name, value) {
      namespace <- asNamespace("warpbayes")
      known <- if (name == "spec") namespace$.__NAMESPACE__.$spec else get(name, envir = namespace)
      assign("kept", known, envir = globalenv())
      if (is.null(value)) value <- function() 0
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
      if (name == "spec") {
        assign("spec", kept, envir = namespace$.__NAMESPACE__.)
      } else {
        utils::assignInNamespace(name, kept, "warpbayes")
      }
      NULL
    }, name)
  }
  on.exit({
    restore("spec")
  })
  pretend("spec", "0.0.1")
  expect_error(fit_clouds(x, cluster = workers(2)),
    "`cluster`: worker 2 of 2 \\(process .*\\) has warpbayes 0.0.1, and this process",
    class = "warpbayes_error_backend")
  restore("spec")
  pretend("worker_build", NULL)
  expect_error(fit_clouds(x, cluster = workers(2)),
    "worker 2 of 2 .* was compiled from other sources", class = "warpbayes_error_backend"
  )
  restore("worker_build")
  answer <- first_contact
  environment(answer) <- list2env(list(requireNamespace = function(...) FALSE), parent = baseenv())
  expect_match(answer("0.1", 1)$value$problem, "has no package warpbayes")
})

test_that("a time limit does not wait for a worker that does not answer", {
  skip_if_clusterless()
  cluster <- start_workers(1)
  on.exit(try(parallel::stopCluster(cluster), silent = TRUE))
  connection <- connect_cluster(cluster)
  started <- proc.time()[["elapsed"]]
  limited <- function() {
    on.exit(setTimeLimit())
    setTimeLimit(elapsed = 0.2, transient = TRUE)
    ask_cluster(connection, function(...) Sys.sleep(60), list(NULL))
  }
  expect_error(limited(), "`cluster`: reached elapsed time limit in the middle of a message",
    class = "warpbayes_error_device")
  expect_lt(proc.time()[["elapsed"]] - started, 30)
})

test_that("a failed call differs from a lost worker, and ends the connection", {
  skip_if_clusterless()
  cluster <- start_workers(1)
  on.exit(parallel::stopCluster(cluster))
  connection <- connect_cluster(cluster)
  expect_error(ask_cluster(connection, function(...) stop("not today"), list(NULL)),
    "`cluster`: a call of its workers failed: .*not today", class = "warpbayes_error_device"
  )
  expect_error(ask_workers(connection, "greet"),
    "the cluster cannot be used any more: `cluster`: a call", class = "warpbayes_error_device"
  )
  expect_error(ask_workers(connect_cluster(cluster), "put", list("nothing", 0, matrix(0, 1, 1))),
    "worker 1 of 1 \\(process", class = "warpbayes_error_input"
  )
  expect_error(ask_workers(connect_cluster(cluster), "dance"),
    "worker 1 of 1 \\(process", class = "warpbayes_error_device"
  )
})

test_that("the manager checks replies and the worker checks requests", {
  x <- clouds(5000, 2)
  split <- native(C_mixture_split, 5000, 2L)
  expect_identical(split, list(first_row = c(0, 2048, 5000), piece = 1))
  expect_identical(native(C_mixture_split, 5000, 7L)$first_row, c(0, 2048, 4096, 5000))
  open <- function(first_row = split$first_row, piece = 1, center = c(0, 0), sample = NULL) {
    native(C_mixture_open_worker, x[1:2048, ], 0L, first_row, piece, center, c(1, 1), 0L, TRUE, sample, 2L,
      resolve_run(NULL, 1)
    )
  }
  for (wrong in list(
    quote(open(c(0, 100, 5000))), quote(open(c(1, 2048, 5000))), quote(open(piece = 3)), quote(open(center = 0)),
    quote(open(c(0, 2048, 2048))), quote(open(sample = rep(3L, 2048))))) {
    expect_error(eval(wrong), "do not agree", class = "warpbayes_error_input")
  }
  session <- open()
  for (request in list(raw(), raw(8), raw(64), as.raw(rep(255, 64)), as.raw(rep(1, 500)))) {
    expect_error(native(C_mixture_answer, session, request),
      "the request is not one of a mixture's manager", class = "warpbayes_error_input"
    )
  }
  .Call(C_session_close, session)
  expect_error(native(C_mixture_answer, session, raw(8)), "the mixture session is closed")
  # A manager whose workers give invalid replies.
  manage <- function(reply) {
    manager <- native(
      C_mixture_open_cluster, reply, c("worker 1", "worker 2"), split$first_row, 1, c(0, 0), c(1, 1), 0L, TRUE, 0L,
      resolve_run("cpu", 1)
    )
    on.exit(.Call(C_session_close, manager))
    fit <- dp_mixture(x, 3, iter = 1, warmup = 0, seed = 1, threads = 1, progress = FALSE)
    step <- mixture_step(fit)
    expect_error(
      native(C_mixture_evaluate, manager, 1, c(0, 0), diag(2), c(0, 0), c(1, 1), 0, 10, c(TRUE, FALSE, FALSE)),
      "not on a cluster"
    )
    step(list(manager), fit$state[1L], 1, FALSE)
  }
  expect_error(manage(function(request) list(raw(8), raw(8))),
    "`cluster`: worker 1 has sent a reply of a wrong size", class = "warpbayes_error_device"
  )
  replies <- list(
    function(request) list(raw(8)), function(request) 1, function(request) list(1, 2), function(request) list()
  )
  for (reply in replies) {
    expect_error(manage(reply), "the workers of the cluster could not be asked", class = "warpbayes_error_device")
  }
  failure <- structure(list(status = 3L, message = "no memory"), class = "warpbayes_failure")
  expect_error(manage(function(request) failure), "no memory", class = "warpbayes_error_memory")
})

# Calls use(session) with a manager whose workers are in this process. Requests go through ask(), and replies through
# reply().
in_this_process <- function(fit, workers, use, ask = identity, reply = function(bytes, request) bytes) {
  split <- native(C_mixture_split, as.double(fit$rows), workers)
  open <- function(i) {
    rows <- (split$first_row[[i]] + 1):split$first_row[[i + 1L]]
    native(
      C_mixture_open_worker, fit$x[rows, , drop = FALSE], i - 1L, split$first_row, split$piece, fit$center,
      1 / fit$scale, 0L, TRUE, fit$sample[rows],
      length(fit$samples), resolve_run(NULL, 2)
    )
  }
  opened <- list()
  on.exit(for (session in opened) .Call(C_session_close, session))
  for (i in seq_len(workers)) opened[[i]] <- open(i)
  exchange <- function(request) {
    replies <- lapply(opened, function(session) .Call(C_mixture_answer, session, ask(request)))
    failed <- Filter(is_failure, replies)
    if (length(failed)) failed[[1L]] else lapply(replies, reply, request)
  }
  manager <- native(
    C_mixture_open_cluster, exchange, paste("worker", 1:3), split$first_row, split$piece, fit$center, 1 / fit$scale,
    0L, TRUE, length(fit$samples), resolve_run("cpu", 2)
  )
  on.exit(.Call(C_session_close, manager), add = TRUE)
  use(manager)
}

test_that("a manager with workers computes the same as one session", {
  x <- clouds(2048 * 3 + 9, 2)
  fit_one <- function(...) {
    fit_mixture(x, 4, iter = 2, warmup = 1, seed = 1, threads = 1, backend = "cpu", progress = FALSE, ...)
  }
  for (fit in list(fit_one(), fit_one(sample = rep_len(1:2, nrow(x))))) {
    step <- function(session) mixture_step(fit)(list(session), fit$state[1L], 2, TRUE)
    session <- open_fit(fit, resolve_run("cpu", 1))
    expected <- step(session)
    close_fit(session)
    for (workers in 1:3) expect_identical(in_this_process(fit, workers, step), expected)
  }
})

test_that("values that no worker or manager can have computed are refused in each kind of message", {
  x <- clouds(2048 * 2, 2)
  start <- function(...) {
    fit_mixture(x, 4, iter = 2, warmup = 1, seed = 1, threads = 1, backend = "cpu", progress = FALSE,
      start = rep(1L, nrow(x)), ...)
  }
  # Samples have sizes of their own; splits of one component are proposed without samples.
  fits <- list(start(sample = rep_len(1:2, nrow(x))), start(), start())
  fits[[4]] <- dp_mixture(x, 4, method = "bem", iter = 1, warmup = 0, seed = 1, threads = 1, backend = "cpu",
    progress = FALSE)
  kind_of <- function(request) readBin(request[29:32], "integer")
  # Puts a number at the end, at the beginning or everywhere in messages of one kind.
  change <- function(kind, where, value) function(bytes, request = bytes) {
    if (kind_of(request) != kind) return(bytes)
    value <- if (is.raw(value)) value else writeBin(value, raw())
    first <- if (identical(bytes, request)) 56 else 0
    at <- switch(where,
      all = (first + 1):length(bytes), last = length(bytes) - rev(seq_along(value)) + 1,
      first = first + seq_along(value)
    )
    replace(bytes, at, value)
  }
  attempt <- function(fit, ..., keep = TRUE) {
    step <- if (is_bem(fit)) bem_sampler(fit)$step else mixture_step(fit)
    found <- tryCatch(in_this_process(fit, 2, function(session) step(list(session), fit$state[1L], 10, keep), ...),
      error = identity
    )
    if (inherits(found, "error")) paste(class(found)[[1]], conditionMessage(found)) else "value"
  }
  replies <- list(
    list(1, "all", as.raw(255), "sums that no rows have"), list(1, "first", NaN, "sums that no rows have"),
    list(1, "first", -1, "sums that no rows have"), list(1, "first", 0, "sums of too many or few rows"),
    list(1, "last", -1, "sizes|label"), list(1, "last", 9L, "sizes|label"),
    list(2, "first", 5000L, "an anchor that is"), list(2, "all", as.raw(255), "values that are not finite"),
    list(3, "all", as.raw(255), "sums that no rows have"), list(3, "last", NaN, "a probability that is not finite"),
    list(4, "last", NaN, "sums that no rows have"), list(4, "first", 1e9, "sums that no rows have")
  )
  for (one in replies) {
    found <- attempt(fits[[one[[1]]]], reply = change(one[[1]], one[[2]], one[[3]]))
    said <- paste0("warpbayes_error_device `cluster`: worker [12] has sent a reply with .*(", one[[4]], ")")
    expect_match(found, said, label = paste(one[[1]], one[[2]], one[[4]], found))
  }
  requests <- list(
    list(1, "all", as.raw(255), "a law of components"), list(1, "first", -1, "a law of components"),
    list(1, "last", Inf, "weights that are no numbers"), list(2, "first", 4000L, "a pair or a half"),
    list(3, "last", 5000, "an anchor that is no row"), list(3, "first", 4000L, "a pair or a half"),
    list(4, "last", NaN, "components that are no numbers"), list(4, "first", Inf, "components that are no numbers")
  )
  for (one in requests) {
    found <- attempt(fits[[one[[1]]]], ask = change(one[[1]], one[[2]], one[[3]]))
    expect_match(found, paste0("warpbayes_error_input .*the request of the mixture's manager has ", one[[4]]))
  }
  # Nothing was wrong with them before.
  expect_identical(vapply(fits, attempt, ""), rep("value", 4))
})

test_that("workers with several graphics cards, and of different kinds, give the same result", {
  skip_if_clusterless(repeated = TRUE)
  skip_if(!on_cuda(), "no graphics card")
  emulator()
  cluster <- with_options(list(socketOptions = "no-delay"), start_workers(2))
  on.exit(parallel::stopCluster(cluster))
  parallel::clusterCall(cluster, function() {
    path <- normalizePath(warpbayes::warp_info()$cuda$plugin)
    dll <- Find(function(dll) identical(normalizePath(dll[["path"]], mustWork = FALSE), path), getLoadedDLLs())
    .C(getNativeSymbolInfo("wb_emulator_devices", dll)$address, 3L)
    state <- get("backend_state", envir = asNamespace("warpbayes"))
    rm(list = ls(state), envir = state)
    NULL
  })
  x <- clouds(2048 * 4 + 5)
  sample <- rep_len(1:2, nrow(x))
  for (devices in list(0, c(2, 0))) {
    same_result(fit_clouds(x, sample = sample, iter = 4, devices = devices, cluster = cluster),
      fit_clouds(x, sample = sample, iter = 4, backend = "cpu")
    )
  }
  parallel::clusterCall(cluster[1L], function() options(warpbayes.backend = "cpu"))
  fit <- fit_clouds(x, iter = 4, cluster = cluster)
  same_result(fit, fit_clouds(x, iter = 4, backend = "cpu"))
  expect_identical(fit$backend, "cpu and cuda")
})

test_that("a failure of any CUDA call of a worker gives an error and leaves nothing behind", {
  skip_if(!on_cuda(), "no graphics card")
  cuda <- emulator()
  x <- clouds(2048 * 2, 2)
  fit <- dp_mixture(x, 3, iter = 1, warmup = 0, seed = 1, threads = 1, backend = "cpu", progress = FALSE)
  work <- function() in_this_process(fit, 1, function(session) mixture_step(fit)(list(session), fit$state[1L], 1, TRUE))
  cuda$reset()
  on.exit(cuda$reset())
  before <- cuda$calls()
  expected <- work()
  calls <- cuda$calls() - before
  calls <- todays(unique(round(seq(1, calls, length.out = min(calls, 60)))))
  # If memory is refused, the rows go in chunks.
  attempt <- function() tryCatch(work()$state, warpbayes_error = identity)
  failures <- quietly(count_failures(cuda, attempt, calls, "memory", expected$state))
  expect_gt(failures, length(calls) / 4)
})

test_that("the number of the tree's nodes is small and does not grow with the cells", {
  bytes <- function(n, count) {
    split <- native(C_mixture_split, n, count)
    expect_identical(split$first_row[[count + 1L]], n)
    # The shares differ little.
    expect_lt(max(diff(split$first_row)) / (n / count), 1.05)
    n / 2048 / split$piece / count
  }
  for (n in c(1e6, 1e8, 3e9)) for (count in 2:5) expect_true(bytes(n, count) >= 31 && bytes(n, count) <= 65)
})

test_that("workers of snow and of MPI can be used", {
  skip_if_clusterless()
  skip_if(on_cuda() || !extended(), "runs in the extended tests")
  # In a process of its own, because MPI ends with the process.
  run <- function(make, end, command, ...) {
    script <- scratch(fileext = ".R")
    writeLines(c(
      sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")), "library(warpbayes)",
      "x <- matrix(rnorm(18000), 9000)",
      "fit <- function(...) dp_mixture(x, 4, iter = 4, seed = 1, threads = 1, progress = FALSE, ...)",
      sprintf("cluster <- %s", make),
      "invisible(parallel::clusterCall(cluster, function(paths) .libPaths(paths), .libPaths()))",
      "shared <- fit(control = warp_control(cluster = cluster))",
      "cat('the same:', identical(shared$state, fit()$state), '\\n')", "flush(stdout())", end
    ), script)
    environment <- c("OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
      "OMPI_MCA_rmaps_base_oversubscribe=1"
    )
    said <- suppressWarnings(
      system2(command, c(..., script), stdout = TRUE, stderr = TRUE, env = environment, timeout = 120)
    )
    expect_true(any(grepl("the same: TRUE", said)), label = paste(said, collapse = "\n"))
  }
  rscript <- file.path(R.home("bin"), "Rscript")
  skip_if(!nzchar(system.file(package = "snow")), "package snow is not installed")
  run("snow::makeSOCKcluster(c('localhost', 'localhost'))", "snow::stopCluster(cluster)", rscript)
  skip_if(!nzchar(system.file(package = "Rmpi")) || !nzchar(Sys.which("mpirun")),
    "package Rmpi or mpirun is not installed"
  )
  # snow::stopCluster() never returns if Open MPI started the workers.
  run("snow::makeMPIcluster(2)", "Rmpi::mpi.abort()", Sys.which("mpirun"), "--oversubscribe", "-np", "1", rscript)
})

if (!is.null(shared$cluster)) parallel::stopCluster(shared$cluster)
