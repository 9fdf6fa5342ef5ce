# Chains on the workers of a future plan: each goes alone, the fits are joined.

# More sweeps of all chains: here, side by side, or on workers where the user has
# asked for them with future::plan(). The draws are the same.
advance_chains <- function(fit, iter, run, progress, threads) {
  workers <- if (fit$chains > 1 && run$backend == "cpu") future_workers() else 1
  if (workers == 1) {
    return(advance(fit, iter, run, progress))
  }
  # Without `threads`, the workers share the cores.
  each <- if (is.null(threads)) max(1, floor(run$threads / min(workers, fit$chains))) else threads
  fits <- future.apply::future_lapply(
    separate_chains(fit),
    function(fit) advance(fit, iter, resolve_run("cpu", each), FALSE),
    future.seed = NULL, future.packages = "warpbayes"
  )
  join_chains(fit, fits)
}

future_workers <- function() {
  if (!requireNamespace("future", quietly = TRUE) || !requireNamespace("future.apply", quietly = TRUE)) {
    return(1)
  }
  future::nbrOfWorkers()
}

separate_chains <- function(fit) {
  lapply(seq_len(fit$chains), function(chain) {
    one <- fit
    one$chains <- 1
    one$state <- fit$state[chain]
    for (name in c(trace_names, "probe_density")) {
      one[[name]] <- take_chain(fit[[name]], chain, name)
    }
    one$draws <- Map(take_chain, fit$draws, chain, names(fit$draws))
    one
  })
}

# One chain of an array: its last dimension, but the second of probe densities.
take_chain <- function(values, chain, name) {
  if (is.null(values)) {
    return(NULL)
  }
  dims <- dim(values)
  if (name == "probe_density") {
    return(values[, chain, , drop = FALSE])
  }
  size <- length(values) / dims[[length(dims)]]
  array(values[seq_len(size) + (chain - 1) * size], c(dims[-length(dims)], 1L), dimnames(values))
}

join_chains <- function(fit, fits) {
  first <- fits[[1L]]
  for (name in c("iter", "interrupted")) {
    fit[[name]] <- first[[name]]
  }
  fit$state <- lapply(fits, function(one) one$state[[1L]])
  for (name in trace_names) {
    fit[[name]] <- bind_chains(lapply(fits, `[[`, name))
  }
  dims <- dim(first$probe_density)
  fit$probe_density <- aperm(
    array(unlist(lapply(fits, `[[`, "probe_density")), c(dims[[1L]], dims[[3L]], fit$chains)),
    c(1L, 3L, 2L)
  )
  fit$sizes <- bind_chains(lapply(fits, `[[`, "sizes"))
  fit$draws <- lapply(stats::setNames(nm = names(first$draws)), function(name) {
    bind_chains(lapply(fits, function(one) one$draws[[name]]))
  })
  fit$elapsed[["sweeps"]] <- max(vapply(fits, function(one) one$elapsed[["sweeps"]], 0))
  fit
}

bind_chains <- function(arrays) {
  dims <- dim(arrays[[1L]])
  array(unlist(arrays, use.names = FALSE), c(dims[-length(dims)], length(arrays)), dimnames(arrays[[1L]]))
}
