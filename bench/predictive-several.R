# How often 90% intervals of predictive resampling cover densities at three points and quantities of a bivariate law:
# copula_density() as it is by default, and with the published settings (a quarter of the data sets), which have no
# quantities here. `said` is the share of data sets for which summary() names a quantity that the data do not support,
# and `smoothed` the share for which it says that densities are smoothed too much. Means, standard deviations and
# densities count the others only.
#   cd bench && CORES=16 OUT=results Rscript predictive-several.R [n ...] [sets=400]
source("coverage.R")
given <- coverage_arguments(c(25L, 60L, 200L), 400L)
sizes <- given$sizes
sets <- given$sets

pairs <- function(n, r) {
  x <- rnorm(n)
  cbind(x, y = r * x + sqrt(1 - r^2) * rnorm(n))
}
density_of <- function(at, r) dnorm(at[, 1]) * dnorm(at[, 2], r * at[, 1], sqrt(1 - r^2))
ends <- c(0.05, 0.95)
# Each `truth`: mean, sd, median, 5% and 95% quantile of the second variable, and the correlation.
laws <- list(
  normal.7 = list(draw = function(n) pairs(n, 0.7), density = function(at) density_of(at, 0.7),
    at = rbind(c(0, 0), c(1, 1), c(1.5, 0)), truth = c(0, 1, 0, qnorm(ends), 0.7)),
  normal.0 = list(draw = function(n) pairs(n, 0), density = function(at) density_of(at, 0),
    at = rbind(c(0, 0), c(1, 1), c(1.5, 0)), truth = c(0, 1, 0, qnorm(ends), 0)),
  modes = list(
    draw = function(n) pairs(n, 0) + 2 * sample(c(-1, 1), n, TRUE),
    density = function(at) (density_of(at - 2, 0) + density_of(at + 2, 0)) / 2,
    at = rbind(c(0, 0), c(2, 2), c(-2, -1)), truth = c(0, sqrt(5), 0, c(-1, 1) * 3.2816, 0.8)),
  gamma = list(
    draw = function(n) {
      x <- rgamma(n, 4)
      cbind(x, y = x + rnorm(n))
    },
    density = function(at) dgamma(at[, 1], 4) * dnorm(at[, 2] - at[, 1]),
    at = rbind(c(3, 3), c(6, 6), c(4, 5)), truth = c(4, sqrt(5), NA, NA, NA, sqrt(4 / 5)))
)
quantities <- c("mean", "sd", "median", "q5", "q95", "correlation")

one <- function(law, n, i) {
  set.seed(i)
  y <- law$draw(n)
  fit <- function(functional = NULL, ...) {
    predictive_resample(y, copula_density(points = law$at, ...), 8 * n, 150, functional, seed = i)
  }
  truth <- law$density(law$at)
  inside <- function(fit, truth) {
    found <- quantile(fit, ends)
    as.double(found[, 1] <= truth & truth <= found[, 2])
  }
  named <- fit(list("mean", "sd", "median", quantiles_of(ends), "correlation"))
  wanted <- match(c("mean[y]", "sd[y]", "median[y]", "q5[y]", "q95[y]", "correlation"), colnames(named$draws))
  covered <- inside(named, replace(rep(NA, ncol(named$draws)), wanted, law$truth))[wanted]
  said <- length(summary(named)$unsupported) > 0
  published <- if (i <= sets / 4) inside(fit(calibrate = FALSE), truth) else rep(NA, 3)
  densities <- fit()
  smoothed <- length(summary(densities)$unsupported) > 0
  rbind(default = c(inside(densities, truth), covered, said, smoothed), published = c(published, rep(NA, 8)))
}

file <- file.path(folder, "predictive-several.csv")
table <- if (file.exists(file)) read.csv(file)
table <- table[!table$n %in% sizes, ]
for (n in sizes) {
  for (name in names(laws)) {
    found <- parallel::mclapply(seq_len(sets), function(i) one(laws[[name]], n, i), mc.cores = cores)
    found <- simplify2array(found)
    counted <- found
    counted[, 4:5, ][found[, c(10, 10), ] %in% 1] <- NA
    counted[, 1:3, ][found[, c(11, 11, 11), ] %in% 1] <- NA
    covered <- round(100 * apply(counted, 1:2, mean, na.rm = TRUE), 1)
    colnames(covered) <- c(paste0("density", 1:3), quantities, "said", "smoothed")
    row <- data.frame(law = name, n = n, settings = rownames(covered), covered, sets = round(sets * c(1, 0.25)),
      row.names = NULL)
    print(row, row.names = FALSE)
    table <- rbind(table, row)
    write.csv(table[order(table$n), ], file, row.names = FALSE)
  }
}
