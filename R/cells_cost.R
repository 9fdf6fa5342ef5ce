# What calls on cells cost, for the choice of the backend (R/run_backend_cost.R).

# The sweeps of a mixture. Splits and joins, the prior and labels of kept draws do not get faster with threads.
mixture_cost <- function(rows, columns, components, sweeps) {
  n <- as.double(rows)
  triangle <- 0.5 * columns * (columns + 3)
  sweep <- call_cost(
    serial = 1.5e-4 + 9e-6 * components, parallel = n * components * (triangle + 90) * 4e-11,
    most = 1 + n * components * (triangle + 27) / 5e6,
    fixed = 4.5e-4 + 6e-6 * components + 1.2e-8 * n, compute = n * components * (triangle + 27) * 7e-14
  )
  # Sending cells takes five times as long as copies of their size: they are also put in another order.
  times_cost(sweeps, sweep, 5 * 8 * n * columns)
}

density_cost <- function(rows, columns, components, draws) {
  operations <- as.double(rows) * components * draws * (0.5 * columns * (columns + 3) + 27)
  call_cost(serial = 1e-3, parallel = operations * 1e-10, fixed = 6e-3, up = 8 * as.double(rows) * columns,
    down = 8 * as.double(rows), compute = operations * 3e-13)
}

fit_cost.dp_mixture <- function(fit, sweeps) {
  mixture_cost(fit$rows, length(fit$markers), fit$components, sweeps * fit$chains)
}
