# How often 90% intervals of predictive resampling cover the mean, the standard deviation, the median and the 5% and 95%
# quantiles of laws with bounds: copula_density() that is told of the bounds (`support`) and one that is not (`line`, a
# third of the data sets). `ratio` is the median, over data sets, of the posterior median of the mean over the mean of
# the data; `said` and the columns of the mean and the standard deviation are as in predictive-coverage.R. The standard
# error of a coverage of 90% is 1.5% for 400 data sets. Rows are written as soon as they are known.
#   cd bench && CORES=16 OUT=results Rscript predictive-support.R [n ...] [sets=400]
source("coverage.R")
given <- coverage_arguments(c(20L, 60L, 200L), 400L)
sizes <- given$sizes
sets <- given$sets

ends <- c(0.05, 0.95)
# Each `truth`: mean, sd, median, 5% and 95% quantile.
beta <- function(a, b) {
  list(draw = function(n) rbeta(n, a, b), support = c(0, 1),
    truth = c(a / (a + b), sqrt(a * b / (a + b + 1)) / (a + b), qbeta(c(0.5, ends), a, b)))
}
gamma <- function(a) {
  list(draw = function(n) rgamma(n, a), support = c(0, Inf), truth = c(a, sqrt(a), qgamma(c(0.5, ends), a)))
}
laws <- list(gamma.5 = gamma(0.5), exponential = gamma(1), gamma4 = gamma(4),
  lognormal = list(draw = rlnorm, support = c(0, Inf),
    truth = c(exp(0.5), sqrt((exp(1) - 1) * exp(1)), qlnorm(c(0.5, ends)))),
  half.normal = list(draw = function(n) abs(rnorm(n)), support = c(0, Inf),
    truth = c(sqrt(2 / pi), sqrt(1 - 2 / pi), qnorm(0.5 + c(0.5, ends) / 2))),
  arcsine = beta(0.5, 0.5), uniform = beta(1, 1), beta2.5 = beta(2, 5))
quantities <- c("mean", "sd", "median", "q5", "q95")

one <- function(law, n, i) {
  set.seed(i)
  y <- law$draw(n)
  fit <- function(...) {
    fit <- predictive_resample(y, copula_density(points = 0.5, ...), 12 * n, 200,
      list("mean", "sd", "median", quantiles_of(ends)), seed = i)
    inside <- quantile(fit, ends)
    c(setNames(as.double(inside[, 1] <= law$truth & law$truth <= inside[, 2]), quantities),
      ratio = median(fit$draws[, 1]) / mean(y), said = length(summary(fit)$unsupported) > 0)
  }
  rbind(support = fit(support = law$support), line = if (i <= sets / 3) fit() else NA)
}

file <- file.path(folder, "predictive-support.csv")
table <- if (file.exists(file)) read.csv(file)
table <- table[!table$n %in% sizes, ]
for (n in sizes) {
  for (name in names(laws)) {
    found <- simplify2array(parallel::mclapply(seq_len(sets), function(i) one(laws[[name]], n, i), mc.cores = cores))
    counted <- found[, 1:5, ]
    counted[, 1:2, ][found[, c(7, 7), ] %in% 1] <- NA
    row <- data.frame(law = name, n = n, settings = rownames(found),
      round(100 * apply(counted, 1:2, mean, na.rm = TRUE), 1),
      ratio = round(apply(found[, 6, ], 1, median, na.rm = TRUE), 2),
      said = round(100 * apply(found[, 7, ], 1, mean, na.rm = TRUE), 1),
      sets = c(sets, floor(sets / 3)), row.names = NULL)
    print(row, row.names = FALSE)
    table <- rbind(table, row)
    write.csv(table[order(table$n), ], file, row.names = FALSE)
  }
}
