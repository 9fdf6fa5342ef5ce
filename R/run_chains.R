# Runs the chains of any sampler, which a topic describes as follows.
#
# The fit is a list that has at least `chains`, `warmup`, `thin` and `seed` as the user gave them; `iter`, the sweeps
# done; `interrupted`; `elapsed`, c(start = 0, sweeps = 0) for a new fit: seconds; and `state` from start_chains(): for
# each chain a list with `key`, `sweep` and what the topic needs to run on. Each trace becomes an element of the fit
# with its name; kept draws are in the named list `fit$draws`.
#
# The sampler is a function of the fit that returns a list of
#   traces   named list of stored(): what is noted after every sweep. An array of sweeps x chains x `dim`;
#   draws    named list of stored(): what a kept draw consists of. An array of `dim` x draws x chains;
#   open     function(run): a session, that is, whatever step() needs to compute. `run` is from resolve_run();
#   close    function(session): frees it. Called once, whatever happens;
#   step     function(sessions, states, sweeps, keep): runs `sweeps` sweeps of some chains, each in its own session, the
#            first numbered state$sweep + 1. Returns for each chain a list of `state` (after the last sweep; `sweep` in
#            it is counted here), `traces` (for each trace a vector of `sweeps` values, or a matrix of
#            sweeps x prod(dim)) and, if `keep` is TRUE, `draw` (for each of `draws` its values after the last sweep).
#            It cannot be interrupted; `sweeps` is chosen so that it lasts about 0.2 s;
#   together TRUE if step() runs several chains at the same time (R/run_side_by_side.R);
#   several  how many draws a slice may keep, one after the other in `draw`; NULL is 1: slices end at kept draws;
#   interrupted  NULL, or function(done, total): the warning of an interrupted run, where it is not about draws;
#   finish   function(fit): adds what follows from the last states, and returns the fit.
# The sampler is sent to the workers of a future plan: nothing large may be in its environment.
#
# A topic calls
#   start_chains(fit, start)                for a new fit, then
#   advance_chains(fit, iter, sampler, run, progress, threads, checkpoint);
#   continue_chains(fit, iter, sampler, ...)  in its method of continue().
# and has a method of resumable(), if its runs have checkpoints. R/cells_mixture_sampler.R is an example.

# How a trace or a part of a draw is stored. `names`: NULL, or the dimnames of the dimensions `dim`.
stored <- function(dim = numeric(), type = "double", names = NULL) {
  list(dim = as.double(dim), blank = if (type == "integer") NA_integer_ else NA_real_, names = names)
}

stored_parts <- function(names, part) lapply(stats::setNames(nm = names), function(name) do.call(stored, part(name)))

check_warmup <- function(warmup, iter) {
  warmup <- check_count(warmup, "warmup", min = 0)
  if (warmup >= iter) {
    stop_input("warmup", sprintf("is %s, but must be less than `iter`, which is %s", format(warmup), format(iter)))
  }
  warmup
}

check_thin <- function(thin, iter, warmup) {
  thin <- check_count(thin, "thin")
  if (iter - warmup < thin) {
    stop_input("thin", sprintf("is %s, but only %s sweeps follow the warm-up: no draw would be kept", format(thin),
      format(iter - warmup)))
  }
  thin
}

# Without an option, four chains if `sweep`, from call_cost(), takes at most this many seconds on one core, and a chain
# keeps at most this many `values`. Sizes alone decide, so a call has the same draws on every machine.
small_sweep <- 0.01
few_values <- 1e7

check_chains <- function(chains, sweep, values) {
  given <- argument_or_option(chains, "chains")
  if (!is.null(given$value)) return(check_count(given$value, given$name, max = 1e4))
  if (sweep$serial + sweep$parallel <= small_sweep && values <= few_values) 4 else 1
}

sweeps_to_kept <- function(sweep, fit) {
  if (sweep < fit$warmup) fit$warmup + fit$thin - sweep else fit$thin - (sweep - fit$warmup) %% fit$thin
}

kept_draws <- function(sweeps, fit) max(0, floor((sweeps - fit$warmup) / fit$thin))

kept_sweeps <- function(fit) fit$warmup + fit$thin * seq_len(kept_draws(fit$iter, fit))

# What a slice of chains keeps: the first kept sweep, from 0, the distance between kept sweeps, and their number.
kept_in_slice <- function(fit, states, sweeps, keep = TRUE) {
  done <- states[[1L]]$sweep
  c(sweeps_to_kept(done, fit) - 1, fit$thin, if (keep) kept_draws(done + sweeps, fit) - kept_draws(done, fit) else 0)
}

# start(key) returns the topic's part of a state: all but `key` and `sweep`. Numbers of chains are above `before`.
start_chains <- function(fit, start, before = 0) {
  started <- proc.time()[["elapsed"]]
  fit$state <- lapply(before + seq_len(fit$chains), function(chain) {
    key <- chain_key(fit$seed, chain)
    c(list(key = key, sweep = 0), start(key))
  })
  fit$elapsed[["start"]] <- proc.time()[["elapsed"]] - started
  fit
}

advance_chains <- function(fit, iter, sampler, run, progress, threads, checkpoint = NULL) {
  # A cluster that has the data serves one chain after the other.
  has_future <- fit$chains > 1 && run$backend == "cpu" && is.null(run$cluster) &&
    requireNamespace("future", quietly = TRUE) && requireNamespace("future.apply", quietly = TRUE)
  workers <- if (has_future) future::nbrOfWorkers() else 1
  if (workers == 1) {
    fit <- advance(fit, iter, sampler, run, progress, checkpoint)
    # The number of workers that had some of the data.
    fit$workers <- if (!is.null(run$cluster)) length(run$cluster$cluster)
  } else {
    # Without `threads`, the workers share the cores.
    each <- if (is.null(threads)) max(1, floor(run$threads / min(workers, fit$chains))) else threads
    fit <- advance_on_workers(fit, iter, sampler, each, checkpoint)
  }
  was_interrupted <- isTRUE(attr(fit, "interrupt"))
  attr(fit, "interrupt") <- NULL
  fit <- sampler(fit)$finish(fit)
  if (was_interrupted) {
    if (!is.null(run$cluster)) leave_cluster(run$cluster)
    pass_interrupt_on()
  }
  fit
}

continue_chains <- function(fit, more, sampler, backend, threads, progress, checkpoint = NULL, cluster = NULL) {
  more <- check_count(more, "more")
  dims <- stored_dims(sampler(fit), fit$iter, kept_draws(fit$iter, fit), fit$chains)
  has_dim <- function(values, dims) identical(as.double(dim(values)), as.double(dims))
  agrees <- length(fit$state) == fit$chains && all(vapply(fit$state, function(one) identical(one$sweep, fit$iter), NA),
    mapply(has_dim, c(fit[names(dims$traces)], fit$draws[names(dims$draws)]), c(dims$traces, dims$draws)))
  if (!agrees) stop_input("fit", "has been changed since it was made: its chains, sweeps and draws do not agree")
  progress <- check_progress(progress)
  run <- resolve_run(backend, threads, cluster = cluster, cost = fit_cost(fit, more))
  fit$backend <- run_backend(run)
  fit$threads <- run$threads
  advance_chains(fit, more, sampler, run, progress, threads, checkpoint)
}

stored_dims <- function(plan, sweeps, draws, chains) {
  list(traces = lapply(plan$traces, function(trace) c(sweeps, chains, trace$dim)),
    draws = lapply(plan$draws, function(part) c(part$dim, draws, chains)))
}

# If a sweep fails, the completed sweeps are returned with a warning. If there are none, it is an error.
advance <- function(fit, iter, sampler, run, progress, checkpoint = NULL) {
  total <- fit$iter + iter
  plan <- sampler(fit)
  store <- open_store(fit, plan, total)
  held <- hold_checkpoint(checkpoint)
  on.exit(free_checkpoint(held))
  save <- checkpoint_writer(fit, plan, total, checkpoint)
  save(fit, store, 0, always = TRUE)
  ways <- chain_ways(plan, run, fit$chains)
  on.exit(ways$close(), add = TRUE)
  tick <- progress_signal(iter * fit$chains, progress)
  on.exit(tick(NULL), add = TRUE)
  started <- proc.time()[["elapsed"]]
  seconds <- 0.2 # of a sweep of the chains that run at the same time: first one sweep, whatever it takes

  advance_some <- function(sessions, chains, sweeps) {
    states <- fit$state[chains]
    done <- states[[1L]]$sweep
    last <- done + sweeps
    before <- kept_draws(done, fit)
    kept <- before + seq_len(kept_draws(last, fit) - before)
    slices <- plan$step(sessions[seq_along(chains)], states, sweeps, length(kept) > 0L)
    for (i in seq_along(chains)) {
      store_slice(store, chains[[i]], done, sweeps, slices[[i]], kept)
      slices[[i]]$state$sweep <- last
      fit$state[[chains[[i]]]] <<- slices[[i]]$state
    }
    tick(sweeps * length(chains))
  }
  together <- fit$state
  # After a stop between chains, some chains are one slice ahead of the others. All go back to the last common sweep.
  go_back <- function() {
    if (length(unique(vapply(fit$state, `[[`, 0, "sweep"))) > 1L) fit$state <<- together
  }
  # R saves and ends, unless it was told to ignore the signal.
  end_by_signal <- function() {
    ahead <- fit$state
    go_back()
    save(fit, store, proc.time()[["elapsed"]] - started, always = TRUE)
    fit$state <<- ahead
    allowInterrupts(.Call(C_signals_release))
    .Call(C_signals_hold)
  }
  most <- Inf
  several <- if (is.null(plan$several)) 1 else plan$several
  advance_all <- function() {
    tryCatch(
      {
        undivided(while ((done <- fit$state[[1L]]$sweep) < total) {
          together <<- fit$state
          slice_started <- proc.time()[["elapsed"]]
          to_kept <- if (length(plan$draws)) sweeps_to_kept(done, fit) + (several - 1) * fit$thin else Inf
          way <- ways$next_way()
          sweeps <- min(total - done, to_kept, max(1, floor(way$most / seconds)), most)
          for (chains in way$chains) {
            advance_some(way$sessions, chains, sweeps)
            if (.Call(C_signals_wait)) end_by_signal()
            let_stop()
          }
          passed <- (proc.time()[["elapsed"]] - slice_started) / sweeps
          seconds <<- max(1e-5, passed / length(way$chains))
          ways$note(way, passed)
          save(fit, store, proc.time()[["elapsed"]] - started)
        })
        FALSE
      },
      interrupt = function(condition) TRUE,
      warpbayes_error = identity
    )
  }
  first <- fit$iter
  outcome <- advance_all()
  go_back()
  if (inherits(outcome, "warpbayes_error_input")) {
    # Runs single sweeps until one fails.
    most <- 1
    outcome <- advance_all()
    go_back()
  }
  failure <- if (inherits(outcome, "error")) outcome
  if (!is.null(failure) && fit$state[[1L]]$sweep == first) stop(failure)
  fit$interrupted <- !is.null(failure) || outcome
  save(fit, store, proc.time()[["elapsed"]] - started, always = TRUE)
  fit$elapsed[["sweeps"]] <- fit$elapsed[["sweeps"]] + proc.time()[["elapsed"]] - started
  close_store(fit, plan, store, total, failure)
}

# A store is a list of `pointer`, which owns the arrays until close_store(), and of `traces` and `draws`, named lists of
# their dimensions. Compiled code fills the arrays, because R would copy a whole array at each draw.
open_store <- function(fit, plan, total) {
  check_store_memory(plan, fit, total)
  store <- blank_store(plan, total, kept_draws(total, fit), fit$chains)
  # Fits that were sent to a worker have no traces and draws.
  if (fit$iter > 0 && !is.null(fit[[names(plan$traces)[[1L]]]])) {
    copy_to_store(c(fit[names(plan$traces)], fit$draws[names(plan$draws)]), store)
  }
  store
}

blank_store <- function(plan, sweeps, draws, chains) {
  parts <- c(plan$traces, plan$draws)
  dims <- stored_dims(plan, sweeps, draws, chains)
  names <- lapply(parts, function(part) if (!is.null(part$names)) c(part$names, list(NULL, NULL)))
  pointer <- native(C_store_open, lapply(parts, `[[`, "blank"), c(dims$traces, dims$draws), names)
  # What store_slice() asks at every kept draw.
  numbers <- list(total = vapply(dims$traces, `[[`, 0, 1L),
    stride = vapply(dims$traces, function(dim) prod(dim[1:2]), 0), size = vapply(dims$draws, draw_size, 0),
    draws = vapply(dims$draws, draw_count, 0))
  c(list(pointer = pointer), dims, list(numbers = numbers))
}

# Stores a slice of `sweeps` sweeps after the first `done`. `kept` has the consecutive numbers of its draws.
store_slice <- function(store, chain, done, sweeps, slice, kept) {
  numbers <- store$numbers
  values <- slice$traces[names(store$traces)]
  offset <- (chain - 1) * numbers$total + done
  stride <- numbers$stride
  run <- rep(sweeps, length(values))
  if (length(kept)) {
    taken <- numbers$size * length(kept)
    values <- c(values, slice$draw[names(store$draws)])
    offset <- c(offset, ((chain - 1) * numbers$draws + kept[[1L]] - 1) * numbers$size)
    run <- c(run, taken)
    stride <- c(stride, taken)
  }
  fill_store(store, offset, stride, values, run, run)
}

# An array of draws is `dim` x draws x chains. The number of values of one draw, and the number of draws.
draw_size <- function(dims) prod(dims[seq_len(length(dims) - 2L)])
draw_count <- function(dims) dims[[length(dims) - 1L]]

# Of each array, a chain's consecutive values: the sweeps of a trace, or all values of its draws.
chain_lengths <- function(traces, draws) {
  c(vapply(traces, `[[`, 0, 1L), vapply(draws, function(dims) draw_size(dims) * draw_count(dims), 0))
}

copy_to_store <- function(arrays, store) {
  dims <- lapply(arrays, dim)
  is_trace <- seq_along(arrays) <= length(store$traces)
  from <- chain_lengths(dims[is_trace], dims[!is_trace])
  to <- chain_lengths(store$traces, store$draws)
  fill_store(store, 0, to, arrays, from, pmin(from, to))
}

# Copies each of `values` into the array of the store with the same number. Run i (from 0) of `run` values starts at
# i * value_stride, and goes to offset + i * stride in the array.
fill_store <- function(store, offset, stride, values, value_stride, run) {
  count <- length(values)
  each <- function(numbers) rep_len(as.double(numbers), count)
  native(C_store_fill, store$pointer, seq_len(count), each(offset), each(stride), unname(values), each(value_stride),
    each(run))
  invisible()
}

# Moves the arrays of the completed sweeps into the fit. An interrupted fit has the attribute "interrupt".
close_store <- function(fit, plan, store, total, failure = NULL, quiet = FALSE) {
  fit$iter <- fit$state[[1L]]$sweep
  draws <- kept_draws(fit$iter, fit)
  arrays <- native(C_store_close, store$pointer)
  if (fit$iter < total) {
    done <- blank_store(plan, fit$iter, draws, fit$chains)
    copy_to_store(arrays, done)
    arrays <- native(C_store_close, done$pointer)
  }
  fit[names(plan$traces)] <- arrays[seq_along(plan$traces)]
  fit$draws <- if (length(plan$draws)) arrays[length(plan$traces) + seq_along(plan$draws)] else list()
  if (quiet) return(fit)
  if (!is.null(failure)) {
    warning(sprintf("sweep %.0f of %.0f failed: %s. The sweeps before it are returned, with %s kept per chain",
      fit$iter + 1, total, conditionMessage(failure), count_words(draws, "draw")), call. = FALSE)
  } else if (fit$interrupted) {
    warning(if (!is.null(plan$interrupted)) plan$interrupted(fit$iter, total) else sprintf(
      "interrupted: %.0f of %.0f sweeps are done, %s per chain %s kept; continue() runs the other sweeps",
      fit$iter, total, count_words(draws, "draw"), if (draws == 1) "is" else "are"
    ), call. = FALSE)
    attr(fit, "interrupt") <- TRUE
  }
  fit
}

# Runs each chain on a worker, whose state is sent there. Only this process writes checkpoints.
advance_on_workers <- function(fit, iter, sampler, threads, checkpoint) {
  total <- fit$iter + iter
  plan <- sampler(fit)
  store <- open_store(fit, plan, total)
  held <- hold_checkpoint(checkpoint)
  on.exit(free_checkpoint(held))
  save <- checkpoint_writer(fit, plan, total, checkpoint)
  save(fit, store, 0, always = TRUE)
  now <- function() proc.time()[["elapsed"]]
  started <- now()
  first <- fit$iter
  sweeps <- min(iter, 10)
  # Seconds of a round, which workers end whatever happens here.
  lasts <- if (is.null(checkpoint)) 5 else checkpoint$every
  failure <- NULL
  failed_here <- FALSE
  fit$interrupted <- FALSE
  fit[intersect(names(fit), c("draws", names(plan$traces)))] <- list(NULL)
  while (fit$iter < total && !fit$interrupted) {
    round_started <- now()
    done <- fit$iter
    joined <- tryCatch(advance_together(fit, min(sweeps, total - done), sampler, threads), interrupt = identity,
      warpbayes_error_input = identity)
    if (inherits(joined, "condition")) {
      if (done == first) {
        if (!inherits(joined, "error")) stop_interrupted()
        # The worker's call is not the user's.
        joined$call <- user_call()
        stop(joined)
      }
      failure <- if (inherits(joined, "error")) joined
      fit$interrupted <- failed_here <- TRUE
    } else {
      store_round(store, joined, plan)
      fit[c("iter", "state", "interrupted")] <- joined[c("iter", "state", "interrupted")]
      save(fit, store, now() - started)
      # The time that is not spent on sweeps is the same for a round of any length.
      swept <- max(0.01, joined$elapsed[["sweeps"]])
      apart <- now() - round_started - swept
      wanted <- if (lasts > 0) max(lasts, apart / checkpoint_share) else 0.2
      sweeps <- max(1, floor(sweeps * min(wanted / swept, 20)))
    }
  }
  fit$elapsed[["sweeps"]] <- fit$elapsed[["sweeps"]] + now() - started
  save(fit, store, now() - started, always = TRUE)
  # If a chain failed during a round, its worker has given the warning.
  close_store(fit, plan, store, total, failure, quiet = !failed_here)
}

advance_together <- function(fit, sweeps, sampler, threads) {
  fit$elapsed[["sweeps"]] <- 0
  # The call is left out: it may contain `..1` of a calling function, which future would look up among its globals.
  chains <- lapply(separate_chains(fit, sampler), replace, "call", list(NULL))
  fits <- future.apply::future_lapply(chains, advance_on_worker(sweeps, sampler, threads), future.seed = NULL,
    future.packages = "warpbayes")
  # If a chain failed during the round, the others run again, up to the last sweep of that chain.
  done <- vapply(fits, `[[`, 0, "iter")
  again <- done > min(done)
  if (any(again)) fits[again] <- lapply(chains[again], advance_on_worker(min(done) - fit$iter, sampler, threads))
  joined <- join_chains(fit, fits, sampler)
  joined$interrupted <- min(done) < fit$iter + sweeps
  joined
}

# Made in a function of its own, so that only its arguments are sent to the workers with each fit.
advance_on_worker <- function(iter, sampler, threads) {
  list(iter, sampler, threads) # evaluated here
  function(fit) last_sweeps(advance(fit, iter, sampler, resolve_run("cpu", threads), FALSE), sampler(fit), fit$iter)
}

last_sweeps <- function(fit, plan, done) {
  if (done == 0) return(fit)
  fit[names(plan$traces)] <- lapply(fit[names(plan$traces)], part_along, 1L, -seq_len(done))
  fit$draws <- lapply(fit$draws, without_first_draws, kept_draws(done, fit))
  fit
}

without_first_draws <- function(values, dropped) {
  at <- length(dim(values)) - 1L
  part_along(values, at, dropped + seq_len(dim(values)[[at]] - dropped))
}

# These `places` of the dimension `at` of an array. Chains are the second of a trace and the last of draws.
part_along <- function(values, at, places) {
  dims <- dim(values)
  kept <- array(values, c(prod(dims[seq_len(at - 1L)]), dims[[at]], prod(dims[-seq_len(at)])))[, places, , drop = FALSE]
  array(kept, replace(dims, at, dim(kept)[[2L]]), dimnames(values))
}

# Arrays of one chain each, whose dimension `at` is the chain.
join_along <- function(arrays, at) {
  dims <- dim(arrays[[1L]])
  values <- array(unlist(arrays, use.names = FALSE),
    c(prod(dims[seq_len(at - 1L)]), prod(dims[-seq_len(at)]), length(arrays)))
  array(aperm(values, c(1L, 3L, 2L)), replace(dims, at, length(arrays)), dimnames(arrays[[1L]]))
}

store_round <- function(store, joined, plan) {
  traces <- joined[names(plan$traces)]
  draws <- joined$draws
  new <- chain_lengths(lapply(traces, dim), lapply(draws, dim))
  before <- joined$iter - nrow(traces[[1L]])
  size <- vapply(store$draws, draw_size, 0)
  first <- c(rep(before, length(traces)), size * kept_draws(before, joined))
  fill_store(store, first, chain_lengths(store$traces, store$draws), c(traces, draws), new, new)
}

separate_chains <- function(fit, sampler) {
  plan <- sampler(fit)
  lapply(seq_len(fit$chains), function(chain) {
    one <- fit
    one$chains <- 1
    one$state <- fit$state[chain]
    traces <- names(Filter(Negate(is.null), fit[names(plan$traces)]))
    one[traces] <- lapply(fit[traces], part_along, 2L, chain)
    one$draws <- lapply(fit$draws, function(values) part_along(values, length(dim(values)), chain))
    one
  })
}

join_chains <- function(fit, fits, sampler) {
  fit[c("iter", "interrupted")] <- fits[[1L]][c("iter", "interrupted")]
  fit$state <- lapply(fits, function(one) one$state[[1L]])
  plan <- sampler(fit)
  for (name in names(plan$traces)) fit[[name]] <- join_along(lapply(fits, `[[`, name), 2L)
  fit$draws <- lapply(stats::setNames(nm = names(plan$draws)), function(name) {
    join_along(lapply(fits, function(one) one$draws[[name]]), length(plan$draws[[name]]$dim) + 2L)
  })
  fit$elapsed[["sweeps"]] <- max(vapply(fits, function(one) one$elapsed[["sweeps"]], 0))
  fit
}

# `plan` is the sampler's; `plan$state_bytes`, if it is there, is the size of a chain's state.
check_store_memory <- function(plan, fit, total) {
  bytes <- function(parts) sum(vapply(parts, function(part) prod(part$dim) * if (is.integer(part$blank)) 4 else 8, 0))
  draws <- kept_draws(total, fit) * fit$chains
  kept <- draws * bytes(plan$draws)
  traces <- total * fit$chains * bytes(plan$traces)
  states <- fit$chains * if (is.null(plan$state_bytes)) 0 else plan$state_bytes
  check_bytes(kept + traces + states,
    sprintf("the %s draws to keep take %s and the traces of all sweeps %s%s", whole_words(draws), show_bytes(kept),
      show_bytes(traces), if (states > 0) sprintf(", the states of chains %s", show_bytes(states)) else ""),
    c("iter", "chains"), advice = ": keep less with `keep`, `thin` or a longer `warmup`, or run fewer sweeps or chains")
}
