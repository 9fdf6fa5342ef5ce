# Cells whose values are piled on zero, and too few cells for the markers.
#
# (1) Six GvHD samples with 5 to 32% of zeros in each of four markers: cell types of a fit that takes the zeros as
#     they are, and of one that spreads them. F is the mean over gates, weighted by size, of the best F over types; ARI
#     is the adjusted Rand index. Cells without a gate do not count.
# (2) With the argument "censored", the same samples in four ways, of which the last two are experiments of this script:
#       as is       the zeros are values
#       spread      the zeros are spread evenly over (-s, 0] once, before the fit, as by spread_zeros()
#       censored    the zeros are values below 0: before each sweep, one Gibbs scan draws each from its normal law given
#                   the cell's other values and its component, truncated to (-Inf, 0]
#       within      the same, truncated to (-s, 0], where s is a quarter of the marker's standard deviation
#     "majority" gives each component the gate that most of its cells have. F and ARI are of the four fifths of the
#     cells that are fitted. The score is of the other cells: the mean log density of their positive values times the
#     probability that the other values are below half the smallest positive value, by averages of simulated truncated
#     normal draws (Genz 1992). All ways are charged for the event "zero", not for a density at zero, so that the scores
#     are comparable.
# (3) One Gaussian population: types and components for several numbers of cells and markers.
#
# FOLDER has flowcap1-gvhd-samples-1-6.csv.gz. Results go to the folder OUT, or to results/. CORES processes.
#   cd bench && CORES=16 OUT=. Rscript mixture-piled.R FOLDER [censored [sweeps]]
library(warpbayes)
source("gates.R")
arguments <- commandArgs(TRUE)
folder <- arguments[[1]]
censored <- length(arguments) > 1
sweeps <- as.integer(c(arguments[-(1:2)], 250)[[1]])
seeds <- if (sweeps < 250) 1 else 1:2
cores <- as.integer(Sys.getenv("CORES", "1"))
out <- Sys.getenv("OUT", "results")
kept <- min(50, sweeps)

# Normal draws truncated to (low, high], by the distribution function of the nearer tail.
draw_between <- function(mean, sd, low, high) {
  a <- (low - mean) / sd
  b <- (high - mean) / sd
  flip <- a > 0
  from <- ifelse(flip, -b, a)
  to <- ifelse(flip, -a, b)
  log_to <- pnorm(to, log.p = TRUE)
  u <- runif(length(mean))
  z <- qnorm(log_to + log(u + (1 - u) * exp(pnorm(from, log.p = TRUE) - log_to)), log.p = TRUE)
  z <- pmin(pmax(z, from), to)
  mean + sd * ifelse(flip, -z, z)
}

# One Gibbs scan over the zeros of all cells, given the last draw.
scan_zeros <- function(x, zero, low, draws) {
  last <- dim(draws$weights)[[2]]
  label <- draws$labels[, last, 1]
  for (k in unique(label[rowSums(zero) > 0])) {
    rows <- which(label == k)
    mean <- draws$means[k, , last, 1]
    precision <- solve(draws$covariances[, , k, last, 1])
    for (j in which(colSums(zero[rows, , drop = FALSE]) > 0)) {
      i <- rows[zero[rows, j]]
      others <- sweep(x[i, -j, drop = FALSE], 2, mean[-j])
      middle <- mean[[j]] - drop(others %*% precision[j, -j]) / precision[j, j]
      x[i, j] <- draw_between(middle, 1 / sqrt(precision[j, j]), low[[j]], 0)
    }
  }
  x
}

# The zeros of each marker spread evenly over (-s, 0].
spread_zeros <- function(x) {
  for (j in seq_len(ncol(x))) {
    zero <- which(x[, j] == 0)
    x[zero, j] <- -(seq_along(zero) * sqrt(c(5, 2, 3, 7, 11, 13)[[j]])) %% 1 * sd(x[, j]) / 4
  }
  x
}

fit_way <- function(way, x, zero, seed) {
  set.seed(seed)
  width <- apply(x, 2, sd) / 4
  fit <- dp_mixture(
    if (way == "spread") spread_zeros(x) else x, components = 64, iter = 60, warmup = 59, seed = seed, threads = 1,
    progress = FALSE,
    control = warp_control(keep = c("weights", "means", "covariances", "labels"))
  )
  if (way %in% c("as is", "spread")) return(drop_warmup(continue(fit, sweeps, threads = 1), sweeps + 1 - kept))
  low <- if (way == "within") -width else rep(-Inf, ncol(x))
  for (i in seq_len(sweeps)) {
    fit$x <- scan_zeros(fit$x, zero, low, fit$draws)
    fit <- continue(fit, 1, threads = 1)
    # Only the last draws are needed.
    if (i <= sweeps - kept) fit <- drop_warmup(fit, 1)
  }
  fit
}

# log P(y <= bound) for y ~ N(mean_i, covariance), one for each row of `mean`.
log_below <- function(mean, covariance, bound, points = 8) {
  root <- t(chol(covariance))
  q <- ncol(mean)
  total <- vapply(seq_len(if (q == 1) 1 else points), function(point) {
    z <- matrix(0, nrow(mean), q)
    log_p <- numeric(nrow(mean))
    for (j in seq_len(q)) {
      limit <- (bound[[j]] - mean[, j] - drop(z[, seq_len(j - 1), drop = FALSE] %*% root[j, seq_len(j - 1)])) /
        root[j, j]
      below <- pnorm(limit, log.p = TRUE)
      log_p <- log_p + below
      z[, j] <- qnorm(below + log(runif(nrow(mean))), log.p = TRUE)
    }
    log_p
  }, numeric(nrow(mean)))
  total <- matrix(total, nrow(mean))
  top <- pmax(apply(total, 1, max), -1e300)
  top + log(rowMeans(exp(total - top)))
}

# Mean log score of new cells under the average over ten draws.
score <- function(fit, x, zero, bound) {
  pattern <- drop(zero %*% 2^(seq_len(ncol(x)) - 1))
  use <- unique(round(seq(1, dim(fit$draws$weights)[[2]], length.out = 10)))
  log_mean <- function(m) {
    top <- apply(m, 1, max)
    top + log(rowMeans(exp(m - top)))
  }
  of_draw <- vapply(use, function(d) {
    heavy <- which(fit$draws$weights[, d, 1] > 1e-6)
    terms <- matrix(-Inf, nrow(x), length(heavy))
    for (one in unique(pattern)) {
      rows <- which(pattern == one)
      gone <- which(zero[rows[[1]], ])
      seen <- setdiff(seq_len(ncol(x)), gone)
      for (h in seq_along(heavy)) {
        mean <- fit$draws$means[heavy[[h]], , d, 1]
        covariance <- fit$draws$covariances[, , heavy[[h]], d, 1]
        root <- chol(covariance[seen, seen])
        away <- sweep(x[rows, seen, drop = FALSE], 2, mean[seen])
        z <- backsolve(root, t(away), transpose = TRUE)
        value <- log(fit$draws$weights[heavy[[h]], d, 1]) - colSums(z^2) / 2 - sum(log(diag(root))) -
          length(seen) * log(2 * pi) / 2
        if (length(gone)) {
          slope <- covariance[gone, seen, drop = FALSE] %*% chol2inv(root)
          middle <- sweep(away %*% t(slope), 2, mean[gone], "+")
          rest <- covariance[gone, gone, drop = FALSE] - slope %*% covariance[seen, gone, drop = FALSE]
          value <- value + log_below(middle, (rest + t(rest)) / 2, bound[gone])
        }
        terms[rows, h] <- value
      }
    }
    log_mean(terms) + log(length(heavy))
  }, numeric(nrow(x)))
  mean(log_mean(of_draw))
}

types_of_way <- function(case) {
  cells <- gvhd[gvhd$sample == case$sample, ]
  gate <- ifelse(cells$label == 0, NA, cells$label)
  gated <- !is.na(gate)
  fit <- dp_mixture(
    if (case$way == "spread") spread_zeros(as.matrix(cells[1:6])) else as.matrix(cells[1:6]), iter = 400,
    seed = case$seed, threads = 1, progress = FALSE,
    control = warp_control(thin = 4)
  )
  types <- cell_types(fit, threads = 1)
  data.frame(
    sample = case$sample, seed = case$seed, way = case$way, F = f_measure(gate[gated], types$type[gated]),
    ARI = adjusted_rand(gate[gated], types$type[gated]), types = nrow(types$types),
    large = sum(!types$types$speck), components = median(fit$occupied[201:400, 1]), seconds = sum(fit$elapsed)
  )
}

run_case <- function(case) {
  cells <- gvhd[gvhd$sample == case$sample, ]
  x <- as.matrix(cells[1:6])
  zero <- x == 0 & col(x) > 2
  bound <- apply(x, 2, function(v) min(v[v > 0])) / 2
  held <- seq_len(nrow(x)) %% 5 == 0
  gate <- ifelse(cells$label == 0, NA, cells$label)[!held]
  gated <- !is.na(gate)
  start <- Sys.time()
  fit <- fit_way(case$way, x[!held, ], zero[!held, ], case$seed)
  seconds <- as.double(Sys.time() - start, units = "secs")
  types <- cell_types(fit, threads = 1)
  label <- fit$draws$labels[, dim(fit$draws$labels)[[2]], 1]
  majority <- tapply(gate[gated], factor(label[gated], 1:64), function(g) names(which.max(table(g))))[label]
  data.frame(
    sample = case$sample, seed = case$seed, way = case$way, zeros = mean(zero[, 3:6]),
    F = f_measure(gate[gated], types$type[gated]), ARI = adjusted_rand(gate[gated], types$type[gated]),
    types = sum(!types$types$speck), majority_F = f_measure(gate[gated], majority[gated]),
    majority_ARI = adjusted_rand(gate[gated], majority[gated]), components = length(unique(label)),
    score = score(fit, x[held, ], zero[held, ], bound), seconds = seconds
  )
}

few_cells <- function(size) {
  set.seed(size$seed)
  x <- matrix(rnorm(size$cells * size$markers), size$cells)
  # The scale of the prior is given so that fewer cells than markers are not refused.
  prior <- if (size$cells < size$markers) dp_prior(scale = 0.25, learn = c("mean", "mean_scale", "df", "scale"))
  fit <- dp_mixture(x, iter = 300, seed = size$seed, threads = 1, prior = if (is.null(prior)) dp_prior() else prior,
    progress = FALSE)
  types <- cell_types(fit, threads = 1)
  data.frame(cells = size$cells, markers = size$markers, seed = size$seed, types = nrow(types$types),
    specks = sum(types$types$speck), components = median(fit$occupied[201:300, 1]), converged = summary(fit)$converged)
}

gvhd <- read.csv(file.path(folder, "flowcap1-gvhd-samples-1-6.csv.gz"))
all_of <- function(table, run) {
  jobs <- split(table, seq_len(nrow(table)))
  do.call(rbind, parallel::mclapply(jobs, run, mc.cores = cores, mc.preschedule = FALSE))
}
save <- function(results, name) {
  write.csv(results, file.path(out, paste0(name, ".csv")), row.names = FALSE)
}
ways <- function(...) expand.grid(way = c(...), seed = seeds, sample = 1:6, stringsAsFactors = FALSE)
if (censored) {
  results <- all_of(ways("censored", "within", "as is", "spread"), run_case)
  print(aggregate(cbind(F, ARI, types, majority_F, majority_ARI, components, score, seconds) ~ way, results, mean))
  save(results, "mixture-piled-censored")
} else {
  results <- all_of(ways("as is", "spread"), types_of_way)
  print(aggregate(cbind(F, ARI, types, large, components, seconds) ~ way, results, mean))
  save(results, "mixture-piled")
  sizes <- expand.grid(cells = c(30, 60, 100, 150, 200, 400), markers = c(3, 5, 10), seed = 1)
  sizes <- rbind(sizes, data.frame(cells = c(30, 500), markers = 40, seed = 1))
  few <- all_of(sizes, few_cells)
  print(few)
  save(few, "mixture-few-cells")
}
