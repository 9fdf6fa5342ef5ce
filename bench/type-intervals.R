# Coverage of the 90% intervals of cell types' shares over simulated samples of three populations in four markers, which
# are separated, overlapping, skewed, heavy-tailed, or of which one has 0.1% of the cells. The share of a population is
# that in the whole of which the cells are a sample. Its type is the one with the best F over the cells.
# With FOLDER, also how often intervals of the same type overlap between fits with different seeds, on the samples of
# gvhd (flowcap1-gvhd-samples-1-6.csv.gz).
#   cd bench && [CORES=16] [OUT=folder] Rscript type-intervals.R [sets of each kind] [FOLDER] [seeds]
source("common.R")
arguments <- commandArgs(TRUE)
each <- as.integer(c(arguments, "40")[[1]])
folder <- if (length(arguments) > 1) arguments[[2]]
seeds <- as.integer(c(arguments[-(1:2)], "5")[[1]])
cores <- as.integer(Sys.getenv("CORES", "2"))

markers <- 4
centres <- function(apart) {
  directions <- qr.Q(qr(matrix(rnorm(markers^2), markers)))
  apart / sqrt(2) * directions[1:3, ]
}

# n cells of each of three populations whose standard deviations are 1.
draw_cells <- function(kind, n) {
  total <- sum(n)
  noise <- switch(kind,
    skewed = (matrix(rgamma(total * markers, 3), total) - 3) / sqrt(3),
    heavy = matrix(rt(total * markers, 4), total) / sqrt(2),
    matrix(rnorm(total * markers), total)
  )
  centres(switch(kind, overlapping = 4, 7))[rep(1:3, n), ] + noise
}

share_of <- function(kind) {
  if (kind == "rare") return(c(0.649, 0.35, 0.001))
  share <- rgamma(3, 5)
  share / sum(share)
}

f_of <- function(population, type) {
  both <- table(population, type)
  2 * both / outer(rowSums(both), colSums(both), "+")
}

one_set <- function(kind, number) {
  set.seed(1000 * match(kind, kinds) + number)
  share <- share_of(kind)
  cells <- if (kind == "rare") 20000 else 4000
  n <- as.vector(rmultinom(1, cells, share))
  x <- draw_cells(kind, n)
  population <- rep(1:3, n)
  fit <- dp_mixture(
    x, components = 24, chains = 4, iter = 300, seed = number, threads = 1, progress = FALSE,
    control = warp_control(thin = 3)
  )
  types <- cell_types(fit, ndraws = 100, threads = 1)
  f <- f_of(factor(population, 1:3), types$type)
  own <- max.col(f, "first")
  table <- types$types[own, ]
  data.frame(kind = kind, set = number, population = 1:3, true = share, proportion = table$proportion,
    lower = table$lower, upper = table$upper, rhat = table$rhat, ess = table$ess, apart = table$apart,
    f = f[cbind(1:3, own)], types = sum(!types$types$speck))
}

kinds <- c("separated", "overlapping", "skewed", "heavy", "rare")
sets <- expand.grid(kind = kinds, number = seq_len(each), stringsAsFactors = FALSE)
results <- do.call(rbind, parallel::mclapply(seq_len(nrow(sets)), function(i) one_set(sets$kind[[i]], sets$number[[i]]),
  mc.cores = cores, mc.preschedule = FALSE))
# Of the rare kind only the rare population counts.
results <- results[results$kind != "rare" | results$population == 3, ]
results$covered <- results$true >= results$lower & results$true <= results$upper
summary <- do.call(rbind, lapply(c(kinds, "all"), function(kind) {
  own <- if (kind == "all") results else results[results$kind == kind, ]
  data.frame(kind = kind, intervals = nrow(own), coverage = mean(own$covered),
    error = sqrt(mean(own$covered) * (1 - mean(own$covered)) / nrow(own)), width = median(own$upper - own$lower),
    f = mean(own$f), expected_types = mean(own$types == if (kind == "rare") 2 else 3))
}))
print(summary, digits = 3)
save_to_out <- function(results, name) {
  save_results(results, name)
  out <- Sys.getenv("OUT")
  if (nzchar(out)) file.copy(file.path("results", paste0(name, ".csv")), out, overwrite = TRUE)
}
save_to_out(summary, "type-intervals")

if (!is.null(folder)) {
  cells <- read.csv(file.path(folder, "flowcap1-gvhd-samples-1-6.csv.gz"))
  fits <- expand.grid(seed = seq_len(seeds), sample = 1:6)
  found <- parallel::mclapply(seq_len(nrow(fits)), function(i) {
    fit <- dp_mixture(
      as.matrix(cells[cells$sample == fits$sample[[i]], 1:6]), components = 64, chains = 4, iter = 400,
      seed = fits$seed[[i]], threads = 1, progress = FALSE, control = warp_control(thin = 4)
    )
    types <- cell_types(fit, ndraws = 100, threads = 1)
    list(types = types$types, type = as.integer(types$type))
  }, mc.cores = cores, mc.preschedule = FALSE)
  pairs <- do.call(rbind, lapply(1:6, function(sample) {
    own <- found[fits$sample == sample]
    do.call(rbind, lapply(utils::combn(seeds, 2, simplify = FALSE), function(pair) {
      a <- own[[pair[[1]]]]
      b <- own[[pair[[2]]]]
      f <- f_of(factor(a$type, seq_len(nrow(a$types))), factor(b$type, seq_len(nrow(b$types))))
      f[is.na(f)] <- 0
      shown <- which(!a$types$speck)
      match <- max.col(f[shown, , drop = FALSE], "first")
      overlap <- a$types$lower[shown] <= b$types$upper[match] & b$types$lower[match] <= a$types$upper[shown]
      data.frame(sample = sample, overlap = overlap)
    }))
  }))
  overlaps <- aggregate(overlap ~ sample, pairs, mean)
  overlaps$pairs <- aggregate(overlap ~ sample, pairs, length)$overlap
  overlaps <- rbind(overlaps, data.frame(sample = "all", overlap = mean(pairs$overlap), pairs = nrow(pairs)))
  print(overlaps, digits = 3)
  save_to_out(overlaps, "type-intervals-seeds")
}
