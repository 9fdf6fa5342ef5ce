# A step of Bayesian EM beside a Gibbs sweep without splits and joins, in the same run: seconds per step and sweep, as
# medians of three fits each, and how many components a cell counts for. There are two data sets. "clusters" are 40
# normal clusters, as in real cells. "cloud" is one normal distribution, whose components all overlap, so that a cell
# counts for many. Both methods start with each cell at the nearest of k random cells, where k is the number of
# components. So no component is cut in the steps that are timed.
#   cd bench && Rscript mixture-bem.R [cells] [markers] [components]
source("common.R")
arguments <- as.numeric(commandArgs(TRUE))
n <- if (length(arguments)) arguments[[1L]] else 1e5
p <- if (length(arguments) > 1L) arguments[[2L]] else 14
k <- if (length(arguments) > 2L) arguments[[3L]] else 256

set.seed(1)
centres <- matrix(rnorm(40 * p, sd = 2.5), 40)
sets <- list(
  clusters = centres[sample.int(40, n, replace = TRUE, prob = rgamma(40, 1)), ] + rnorm(n * p),
  cloud = matrix(rnorm(n * p), n)
)
nearest <- function(x) {
  seeds <- x[sample.int(n, k), ]
  unlist(lapply(split(seq_len(n), ceiling(seq_len(n) / 10000)), function(i) {
    max.col(2 * tcrossprod(x[i, ], seeds) - rep(rowSums(seeds^2), each = length(i)))
  }))
}

rows <- list()
for (name in names(sets)) {
  x <- sets[[name]]
  labels <- nearest(x)
  last <- NULL
  seconds_of <- function(method, ...) {
    last <<- dp_mixture(
      x, components = k, method = method, iter = 5, warmup = if (method == "bem") 0 else 4, seed = 2,
      threads = 2, backend = "cpu", progress = FALSE, ...,
      control = warp_control(start = labels, moves = FALSE)
    )
    last$elapsed[["sweeps"]] / last$iter
  }
  times <- replicate(3, c(
    gibbs = seconds_of("gibbs"), single_gibbs = seconds_of("gibbs", precision = "single"),
    single = seconds_of("bem", tolerance = 0, precision = "single"), bem = seconds_of("bem", tolerance = 0)
  ))
  some <- x[seq(1, n, length.out = min(n, 2000)), ]
  counts <- mean(rowSums(predict(last, some, type = "prob", threads = 2) >= 2^-40))
  middle <- apply(times, 1L, stats::median)
  rows[[name]] <- data.frame(
    data = name, cells = n, markers = p, components = k, weighing = sum(last$draws$weights > 0),
    components_per_cell = counts, sweep_s = middle[["gibbs"]], step_s = middle[["bem"]],
    ratio = stats::median(times["bem", ] / times["gibbs", ]),
    single_ratio = stats::median(times["single", ] / times["single_gibbs", ])
  )
  message(name, ": ", format(rows[[name]]$ratio, digits = 3))
}
save_results(do.call(rbind, rows), "mixture-bem")
