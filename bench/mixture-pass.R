# Sweeps of the mixture through its entries, without the rest of dp_mixture(). Scripts set `backend`, then source this
# file.

default_prior <- function(p) {
  internal$compiled_prior(internal$resolve_prior(dp_prior(), numeric(p), rep(1, p), paste0("m", seq_len(p))))
}

# A session on rows in their own units.
open_rows <- function(x, precision, run) {
  p <- ncol(x)
  internal$native(internal$C_mixture_open, x, numeric(p), rep(1, p), as.integer(precision == "single"), FALSE, run)
}

# Sweeps without splits and joins. `keep`: labels, means and covariances of the last one.
advance <- function(session, p, prior, state, sweeps, keep = c(FALSE, FALSE, FALSE)) {
  internal$native_one(
    internal$C_mixture_sweeps, session, prior, state, as.integer(sweeps), FALSE, matrix(0, 2, 0), matrix(0, p, 1), keep,
    numeric(p), rep(1, p)
  )
}

# A session with a state in which every component holds rows, and functions that return seconds: sweep() of one sweep,
# the mean of `sweeps` in one call; parameters() of a sweep of a single row, which is the draw of the parameters, with
# the statistics handed over and the means fetched. `opening` are the seconds in which the data were handed over.
prepare <- function(n, p, k, threads = 1, precision = "double", sweeps = 1) {
  x <- matrix(rnorm(n * p), n)
  run <- internal$resolve_run(backend, threads)
  prior <- default_prior(p)
  key <- .Call(internal$C_chain_key, 1, 1L)
  opening <- elapsed(session <- open_rows(x, precision, run))
  first_row <- x[1, , drop = FALSE]
  one_row <- NULL # opened where it is asked for, since it takes device memory too
  statistics <- internal$native(
    internal$C_mixture_start, x, numeric(p), rep(1, p), prior, as.integer(k), key, FALSE, matrix(0, 2, 0),
    sample.int(k, n, TRUE)
  )
  state <- list(key = key, sweep = 0, statistics = statistics, concentration = 1, prior = prior$values)
  list(
    threads = run$threads,
    opening = opening,
    sweep = function() elapsed(advance(session, p, prior, state, sweeps)) / sweeps,
    parameters = function() {
      if (is.null(one_row)) one_row <<- open_rows(first_row, precision, run)
      elapsed(advance(one_row, p, prior, state, 1, c(FALSE, TRUE, FALSE)))
    },
    close = function() for (opened in c(session, one_row)) .Call(internal$C_session_close, opened)
  )
}

operations <- function(p) p * (p + 3) / 2

# One case: median seconds of a sweep, and its shares of the rate that was measured between the sweeps.
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
