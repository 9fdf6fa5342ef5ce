# The connection of this process, the manager, to the workers of a cluster (R/cells_worker.R). Every call has a number.
# After a broken call the next reply has another number, and the cluster is refused.

cluster_calls <- new.env(parent = emptyenv())
cluster_calls$count <- 0

# What one call sends, in values: 32 MB.
cluster_block <- 2^22

# The two functions that a worker runs. They use nothing of this process.
first_contact <- function(version, number) {
  # An interrupt while the package is loaded would keep the reply back.
  suspendInterrupts({
    problem <- if (!requireNamespace("warpbayes", quietly = TRUE)) {
      "has no package warpbayes in its library"
    } else {
      own <- unname(getNamespaceVersion("warpbayes"))
      if (!identical(own, version)) paste0("has warpbayes ", own, ", and this process ", version)
    }
    if (is.null(problem)) get("ignore_interrupts", envir = asNamespace("warpbayes"))()
    tryCatch(allowInterrupts(Sys.sleep(0)), interrupt = function(condition) NULL)
  })
  list(number = number, value = list(problem = problem, node = Sys.info()[["nodename"]], process = Sys.getpid()))
}

call_worker <- function(sealed, number) get("answer_manager", envir = asNamespace("warpbayes"))(sealed)

environment(first_contact) <- environment(call_worker) <- baseenv()

seal <- function(value) {
  bytes <- serialize(value, NULL, xdr = TRUE)
  list(bytes = bytes, digest = digest_numbers(bytes))
}

unseal <- function(sealed) {
  right <- is.list(sealed) && is.raw(sealed$bytes) && identical(digest_numbers(sealed$bytes), sealed$digest)
  if (right) unserialize(sealed$bytes)
}

# The connection to a cluster, NULL without a cluster: an environment of
#   cluster, names  the workers, and what messages call them;
#   broken          whether the cluster cannot be used any more;
#   backend         the backend in use, in words;
#   where           for each worker what it finds its run by;
#   data, session   the names of what the workers hold, or NULL;
#   split           which cells each worker has;
#   keeps           whether the workers keep the data after a session;
#   ignoring        whether the workers ignore interrupts until the last `close`.
connect_cluster <- function(cluster, backend = NULL, threads = NULL, devices = NULL) {
  if (is.null(cluster)) return(NULL)
  must_be(inherits(cluster, "cluster") && length(cluster) > 0L, "cluster",
    "NULL or a cluster, as parallel::makeCluster() makes it", cluster)
  if (!is.null(backend)) check_option_choice(backend, "backend", c("auto", "cpu", "cuda"))
  names <- sprintf("worker %d of %d", seq_along(cluster), length(cluster))
  connection <- list2env(list(cluster = cluster, names = names, broken = FALSE, keeps = FALSE, ignoring = TRUE),
    parent = emptyenv())
  found <- ask_cluster(connection, first_contact, rep_len(list(package_version_text()), length(cluster)),
    open = identity)
  node <- vapply(found, `[[`, "", "node")
  connection$names <- sprintf("%s (process %d on %s)", connection$names, vapply(found, `[[`, 0L, "process"), node)
  refuse_first <- function(problems) {
    words <- sprintf("`cluster`: %s %s", connection$names[lengths(problems) > 0L], unlist(problems))
    if (length(words)) stop_warpbayes("backend", words[[1L]])
  }
  refuse_first(lapply(found, `[[`, "problem"))
  # Workers on one machine share its cores if the user does not set their threads.
  connection$where <- lapply(tabulate(match(node, node))[match(node, node)], function(share) {
    list(backend = backend, threads = threads, devices = devices, share = share, work = 0)
  })
  greeted <- ask_workers(connection, "greet", each = lapply(connection$where, list))
  refuse_first(lapply(greeted, function(one) if (!identical(one$build, worker_build())) {
    "has a warpbayes that was compiled from other sources or for another kind of machine"
  }))
  connection$backend <- paste(unique(vapply(greeted, `[[`, "", "backend")), collapse = " and ")
  connection
}

worker_build <- function() {
  c(.Call(C_backend_abi), .Machine$sizeof.pointer, match(.Platform$endian, c("little", "big")))
}

# The values of a task of R/cells_worker.R on all or some `workers`. `each`: the arguments of each, if they differ.
ask_workers <- function(connection, task, arguments = list(), each = NULL, workers = seq_along(connection$cluster)) {
  number <- next_call()
  message <- function(arguments) seal(list(number = number, task = task, arguments = arguments))
  each <- if (is.null(each)) rep_len(list(message(arguments)), length(workers)) else lapply(each, message)
  ask_cluster(connection, call_worker, each, number, workers)
}

next_call <- function() cluster_calls$count <- cluster_calls$count + 1

ask_cluster <- function(connection, fun, each, number = next_call(), workers = seq_along(connection$cluster),
                        open = unseal) {
  if (connection$broken) stop_warpbayes("device", paste0("the cluster cannot be used any more: ", connection$broken_by))
  timeout <- worker_timeout()
  cluster <- connection$cluster[workers]
  started <- proc.time()[["elapsed"]]
  replies <- undivided(tryCatch(exchange_messages(cluster, fun, each, number, timeout), error = identity,
    interrupt = identity))
  if (inherits(replies, "condition")) {
    lost <- if (inherits(replies, "interrupt")) {
      "an interrupt broke off a message"
    } else if (is_time_limit(replies)) {
      paste(conditionMessage(replies), "in the middle of a message")
    }
    if (is.null(lost)) {
      is_late <- proc.time()[["elapsed"]] - started >= timeout
      lost <- lost_workers(connection, workers, replies, if (is_late) min(timeout, 5) else timeout, timeout)
    } else {
      # What a worker sends next would be taken for the rest of the message, and nobody waits for it any longer.
      lapply(sockets_of(cluster), close)
    }
    break_off(connection, paste0("`cluster`: ", lost, ". The cluster cannot be used any more"))
  }
  lapply(seq_along(replies), function(i) {
    value <- value_of_reply(open(replies[[i]]), number, connection, workers[[i]])
    if (is_failure(value)) {
      message <- paste0(connection$names[[workers[[i]]]], ": ", value$message)
      stop_warpbayes(status_class[[value$status]], message)
    }
    value
  })
}

value_of_reply <- function(reply, number, connection, worker) {
  break_off_at <- function(...) {
    break_off(connection, paste0("`cluster`: ", connection$names[[worker]], ...,
      ": stop this cluster (parallel::stopCluster) and make a new one"))
  }
  if (is.null(reply)) break_off_at(" gave a reply that was damaged on its way")
  if (!is.list(reply) || !identical(reply$number, number)) {
    if (is.list(reply) && identical(reply$number, NA_real_)) break_off_at(" got a call that was damaged on its way")
    break_off_at(" gave the reply to another call, which had broken off")
  }
  value <- reply$value
  is_whole <- !is_failure(value) || is.list(value) && length(value$status) == 1L &&
    value$status %in% seq_along(status_class) && is_text(value$message, 1L)
  if (!is_whole) break_off_at(" gave a failure without a reason")
  value
}

break_off <- function(connection, message) {
  connection$broken <- TRUE
  connection$broken_by <- message
  stop_warpbayes("device", message)
}

worker_timeout <- function() {
  seconds <- getOption("warpbayes.worker_timeout", 3600)
  must_be(is_one_number(seconds) && seconds >= 1, "options(warpbayes.worker_timeout)",
    "a number of seconds of at least 1", seconds)
  min(ceiling(seconds), 1e6)
}

# Which workers no longer answer within `patience` seconds, in words. Replies of others may be lost, as the cluster is.
lost_workers <- function(connection, workers, error, patience, timeout) {
  close <- seal(list(number = 0, task = "close", arguments = list(c(connection$session, connection$data))))
  found <- vapply(workers, function(i) {
    started <- proc.time()[["elapsed"]]
    one <- connection$cluster[i]
    ask <- function() within_timeout(one, patience, parallel::clusterCall(one, call_worker, close, 0))
    if (!inherits(undivided(tryCatch(ask(), error = identity)), "error")) return("here")
    if (proc.time()[["elapsed"]] - started < patience) "ended" else "silent"
  }, "")
  if (all(found == "here")) return(paste("a call of its workers failed:", conditionMessage(error)))
  which_are <- function(state) {
    names <- connection$names[workers[found == state]]
    paste(paste(names, collapse = " and "), if (length(names) > 1L) "have" else "has")
  }
  said <- c(ended = sprintf("%s ended or cannot be reached (%s)", which_are("ended"), conditionMessage(error)),
    silent = sprintf("%s sent nothing for %s, the time that options(warpbayes.worker_timeout) allows",
      which_are("silent"), count_words(timeout, "second")))
  paste(said[intersect(names(said), found)], collapse = ", and ")
}

new_name <- function() sprintf("%d.%.0f", Sys.getpid(), next_call())

as_failure <- function(error) {
  status <- match(sub("^warpbayes_error_", "", class(error)[[1L]]), status_class, nomatch = 2L)
  structure(list(status = status, message = conditionMessage(error)), class = "warpbayes_failure")
}

close_workers <- function(connection) {
  names <- c(connection$session, if (!connection$keeps) connection$data)
  connection$session <- NULL
  if (!connection$keeps) connection$data <- NULL
  if (!connection$broken && (length(names) || connection$ignoring)) {
    connection$ignoring <- connection$keeps
    tryCatch(ask_workers(connection, "close", list(names)), error = function(error) NULL)
  }
}

leave_cluster <- function(connection) {
  connection$keeps <- FALSE
  close_workers(connection)
}
