# With backend = "auto", a call runs where it is estimated to take less time. The constants are from the times of
# bench/auto-cuda.R on 16 cores with AVX-512 beside an H200.

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
  as.list(environment())
}

times_cost <- function(times, cost, up = 0) {
  total <- lapply(cost, `*`, times)
  total$most <- cost$most
  total$up <- total$up + up
  total
}

# How much longer a core takes without AVX-512. NEON, with a quarter of the width, was not measured.
isa_slower <- c(4, 1.6, 1, 4)

processor_seconds <- function(cost, threads, isa) {
  (cost$serial + cost$parallel / max(1, min(threads, cost$most))) * isa_slower[[isa + 1L]]
}

card_seconds <- function(cost, card, threads, precision = "double") {
  # Measured with 1, 4 and 16 threads. On the way back threads wait for the system to clear the pages of a vector.
  copies <- cost$up / min(7e9 * threads, 3.8e10) + cost$down / (2.9e9 * min(threads, 16)^0.65)
  # From data sheets. Cards of data centres have a compute capability of x.0.
  data_centre <- card$minor == 0L && card$major %in% c(6L, 7L, 8L, 9L, 10L)
  slower <- if (!data_centre) c(if (precision == "single") 2 else 40, 6) else if (card$major >= 9L) c(1, 1) else c(4, 3)
  cost$fixed + copies + cost$compute * slower[[1L]] + cost$memory * slower[[2L]]
}

fit_cost <- function(fit, sweeps) UseMethod("fit_cost")

fit_cost.default <- function(fit, sweeps) call_cost()
