# With backend = "auto", a call runs where it is estimated to take less time. Results do not depend on the choice, and a
# wrong choice costs little if both take about as long. bench/auto-cuda.R measures the choices; the constants below are
# from its times on 16 cores with AVX-512 beside an H200. Those in rows_cost() were also measured beside an H100.

# What a call costs: `up` and `down` in bytes, `most` in threads, the others in seconds.
#   serial    on the processor, on one thread whatever their number
#   parallel  on one core with AVX-512, for the work that the threads share
#   most      the largest number of threads that make this work faster
#   fixed     on the graphics card, at any size: launches of kernels, and what the host does for them
#   up, down  bytes that are copied to the card, and back into new vectors of R
#   compute   on an H200, for kernels that its multiply-adds limit
#   memory    on an H200, for kernels that its memory limits
call_cost <- function(serial = 0, parallel = 0, most = Inf, fixed = 5e-4, up = 0, down = 0, compute = 0,
                      memory = 0) {
  list(serial = serial, parallel = parallel, most = most, fixed = fixed, up = up, down = down, compute = compute,
    memory = memory)
}

# The same call `times` times, with the data on the card.
times_cost <- function(times, cost, up = 0) {
  most <- cost$most
  cost <- lapply(cost, `*`, times)
  cost$most <- most
  cost$up <- cost$up + up
  cost
}

# How much longer a core takes without AVX-512, by instruction set. NEON was not measured: its vectors have a quarter of
# the width.
isa_slower <- c(4, 1.6, 1, 4)

processor_seconds <- function(cost, threads, isa) {
  (cost$serial + cost$parallel / max(1, min(threads, cost$most))) * isa_slower[[isa + 1L]]
}

# Seconds of copies to a card and back. Threads copy between R's memory and page-locked memory. On the way back they
# also wait for the system to clear the pages of a new vector. Beside an H200, 1, 4 and 16 threads send 7, 24 and 38
# GB/s. They fetch 2.8, 8.7 and 18.6 GB/s.
copy_seconds <- function(cost, threads) {
  cost$up / min(7e9 * threads, 3.8e10) + cost$down / (2.9e9 * min(threads, 16)^0.65)
}

card_seconds <- function(cost, card, threads, precision = "double") {
  slower <- card_slower(card, precision)
  cost$fixed + copy_seconds(cost, threads) + cost$compute * slower$compute + cost$memory * slower$memory
}

# How many times as long as an H200 a card takes, by what limits a kernel. Cards of data centres have a compute
# capability of x.0. Other cards do 32 or 64 times fewer multiply-adds in double precision than in single. Only an H200
# was measured; the figures of other cards are from their makers' data sheets.
card_slower <- function(card, precision) {
  data_centre <- card$minor == 0L && card$major %in% c(6L, 7L, 8L, 9L, 10L)
  compute <- if (card$major >= 9L) 1 else 4
  list(
    compute = if (data_centre) compute else if (precision == "single") 2 else 40,
    memory = if (!data_centre) 6 else if (card$major >= 9L) 1 else 3
  )
}

# `run`, or the same run on the processor if the user leaves the choice to the package and the processor is estimated
# to be faster. `cost` is computed only where there is a choice.
faster_run <- function(run, cost, precision = "double") {
  if (!isTRUE(run$automatic) || run$backend != "cuda" || !is.null(run$devices)) return(run)
  card <- backend_state$devices[match(run$device, backend_state$devices$device), ]
  if (processor_seconds(cost, run$threads, run$isa) <= card_seconds(cost, card, run$threads, precision)) {
    on_processor(run)
  } else {
    run
  }
}

on_processor <- function(run) {
  run[c("backend", "pointer", "device")] <- list("cpu", .Call(C_backend_cpu), 0L)
  run
}

# The topics ------------------------------------------------------------------

# The sweeps of a mixture of k components. Splits and joins, the prior and the labels of kept draws do not get faster
# with threads.
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

# Log densities or probabilities of `rows` cells under each of `draws` draws.
density_cost <- function(rows, columns, components, draws) {
  operations <- as.double(rows) * components * draws * (0.5 * columns * (columns + 3) + 27)
  call_cost(serial = 1e-3, parallel = operations * 1e-10, fixed = 6e-3, up = 8 * as.double(rows) * columns,
    down = 8 * as.double(rows), compute = operations * 3e-13)
}

# The sweeps of a regression. `outcomes` is the number of classes of a multinomial, less one. With more columns than
# rows, a system of the rows is solved.
regression_cost <- function(rows, columns, family, outcomes, sweeps) {
  n <- as.double(rows)
  operations <- n * (0.5 * (if (columns > n) n * columns + n^2 / 3 else columns^2) + 150)
  times <- switch(family, binomial = 1, poisson = 4, negbinomial = 4, 7 * outcomes)
  sweep <- call_cost(
    serial = 5e-6 * times, parallel = operations * times * 2.9e-10, most = 1 + operations / 5e5,
    fixed = 9e-5 * switch(family, binomial = 1, poisson = 2.5, negbinomial = 2.5, outcomes),
    compute = operations * times * 1.2e-12
  )
  times_cost(sweeps, sweep, 8 * n * columns)
}

# The sweeps of a topic model.
topic_cost <- function(documents, pairs, topics, sweeps) {
  operations <- as.double(documents) * topics * 5 + pairs * (topics / 4 + 20)
  sweep <- call_cost(serial = 1e-4, parallel = operations * 4e-9, most = 1 + operations / 2e5,
    fixed = 3.5e-4, memory = operations * 1.25e-10)
  times_cost(sweeps, sweep, 4 * pairs)
}

categorical_cost <- function(rows, columns, draws) {
  weights <- as.double(rows) * columns
  total <- as.double(rows) * draws
  call_cost(serial = 2e-4, parallel = weights * 1.1e-9 + total * (if (rows > 1) 5e-8 else 2e-8), fixed = 1e-3,
    up = 8 * weights, down = 4 * total, memory = total * 2e-10)
}

# `shape` and `tilt` are recycled to `draws` elements; the first shape stands for all. If it is a whole number of at
# most 13, each draw is the sum of that many draws of shape 1.
polyagamma_cost <- function(draws, shape, tilt) {
  first <- if (length(shape) > 0L) shape[[1L]] else 1
  each <- if (is.na(first) || first == floor(first) && first <= 13) 14e-9 * max(1, first, na.rm = TRUE) else 1.9e-7
  call_cost(serial = 2e-4 + 4e-10 * draws, parallel = draws * each, fixed = 8e-4,
    up = 8 * (length(shape) + length(tilt)), down = 8 * draws, compute = draws * 5e-11)
}

polyagamma_law_cost <- function(points) {
  call_cost(serial = 1e-4, parallel = points * 3.2e-5, fixed = 1.5e-3, up = 24 * points,
    down = 8 * points, compute = points * 2e-8)
}

# Sums of two random variables, `products` multiply-adds in all if computed directly.
convolution_cost <- function(products, length) {
  call_cost(serial = 3e-4, parallel = products * 8e-11, fixed = 2e-3, up = 8 * length, down = 8 * length,
    compute = products * 1e-13)
}

# The sums of the rows of two matrices. On a processor most of the time goes into clearing the memory of the sums. On a
# card, rows travel there while sums come back.
rows_cost <- function(x, y) {
  n <- as.double(max(NROW(x), NROW(y)))
  bytes <- 8 * n * (NCOL(x) + NCOL(y))
  products <- n * NCOL(x) * NCOL(y)
  call_cost(serial = 3e-4 + 5e-11 * bytes, parallel = products * 8e-11, fixed = 1e-3, down = bytes,
    compute = products * 1e-13)
}

# `steps` steps of each of `draws` resamples of a copula model at `points` points, or of normal means.
copula_cost <- function(observations, points, draws, steps) {
  updates <- as.double(points) * draws * (steps + observations)
  call_cost(serial = 2e-2, parallel = updates * 6e-8, fixed = 3e-2, down = 8 * as.double(points) * draws,
    compute = updates * 1.2e-9)
}

normal_mean_cost <- function(draws, steps) {
  call_cost(serial = 1e-3, parallel = draws * steps * 4.6e-9, fixed = 2e-3, down = 16 * draws,
    compute = draws * steps * 3e-11)
}

# Predictive resampling. The horizon "auto" is not known yet; it is often about this long. The weights of a bootstrap
# are drawn on the processor as fast as they come back from a card.
predictive_cost <- function(model, y, draws, horizon) {
  steps <- if (is.numeric(horizon) && length(horizon) == 1L) horizon else 2000
  if (model$kind == "normal_mean") return(normal_mean_cost(draws, steps))
  if (is_urn(model)) return(call_cost())
  copula_cost(NROW(y), if (is.numeric(model$points)) length(model$points) else 100, draws, steps)
}

# More sweeps of a fit.
fit_cost <- function(fit, sweeps) {
  sweeps <- sweeps * fit$chains
  switch(class(fit)[[1L]],
    dp_mixture = mixture_cost(fit$rows, length(fit$markers), fit$components, sweeps),
    topic_model = topic_cost(length(fit$documents), length(fit$x$count), fit$topics, sweeps),
    bayes_logit = logit_cost(fit$rows, length(fit$coefficient_names), fit$family, fit$response, sweeps),
    call_cost()
  )
}

logit_cost <- function(rows, coefficients, family, response, sweeps) {
  outcomes <- max(1, length(response$classes) - 1)
  regression_cost(rows, coefficients / outcomes, family, outcomes, sweeps)
}
