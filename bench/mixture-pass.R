# One pass of the mixture over its rows, as the benchmarks of the processor and of the
# graphics card time it: both set `backend`, then source this file.
internal <- asNamespace("warpbayes")

# A session with a state in which every component holds rows; `sweep()` returns the
# seconds of one sweep, the mean of `sweeps` in one call, `parameters()` those of one draw of the parameters alone, with the
# statistics handed over and the means and factors fetched, `opening` those of handing over the data.
prepare <- function(n, p, k, threads = 1, precision = "double", sweeps = 1) {
  x <- matrix(rnorm(n * p), n)
  run <- internal$resolve_run(backend, threads)
  prior <- internal$compiled_prior(internal$resolve_prior(dp_prior(), numeric(p), rep(1, p), paste0("m", seq_len(p))))
  key <- .Call(internal$C_chain_key, 1, 1L)
  opening <- elapsed(
    session <- internal$native(internal$C_mixture_open, x, numeric(p), rep(1, p), as.integer(precision == "single"), FALSE, run)
  )
  statistics <- internal$native(internal$C_mixture_start, x, numeric(p), rep(1, p), prior, as.integer(k), key, FALSE, matrix(0, 2, 0), sample.int(k, n, TRUE))
  state <- list(key = key, sweep = 0, statistics = statistics, concentration = 1, prior = prior$values)
  list(
    threads = run$threads,
    opening = opening,
    sweep = function() elapsed(internal$native(
      internal$C_mixture_sweep, session, prior, state, as.integer(sweeps), FALSE, matrix(0, 2, 0), matrix(0, p, 1), c(FALSE, FALSE, FALSE),
      numeric(p), rep(1, p)
    )) / sweeps,
    parameters = function() elapsed(internal$native(internal$C_mixture_draw, session, prior, state, FALSE, FALSE, numeric(p), rep(1, p))),
    close = function() .Call(internal$C_mixture_close, session)
  )
}

operations <- function(p) p * (p + 3) / 2

# One case: median seconds of a sweep, and its shares of the rate measured alongside.
measure <- function(n, p, k, threads = 1, precision = "double", times = 5, sweeps = 1) {
  case <- prepare(n, p, k, threads, precision, sweeps)
  on.exit(case$close())
  rates <- numeric()
  seconds <- medians(interleave(
    sweep = case$sweep,
    parameters = case$parameters,
    rate = function() {
      rates <<- c(rates, rate(threads, precision, backend))
      0
    },
    times = times
  ))
  cells <- n * k
  data.frame(
    n = n, p = p, k = k, threads = threads, precision = precision, seconds = seconds[["sweep"]],
    ns_per_cell = 1e9 * seconds[["sweep"]] / cells, gigarate = median(rates) / 1e9,
    share = cells * operations(p) / median(rates) / seconds[["sweep"]],
    share_all = cells * (operations(p) + 27) / median(rates) / seconds[["sweep"]],
    parameters = seconds[["parameters"]] / seconds[["sweep"]]
  )
}
