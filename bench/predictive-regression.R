# How often 90% intervals of predictive resampling cover the regression function at five points, in ten designs of a
# regression and five of a classification: with the mean function that the data choose (the default), without one, and
# by a peer: a natural cubic spline with 5 degrees of freedom fitted by lm(), or glm() of the classes on the covariate.
# `found` is the share of data sets where a mean function is used, `width` the mean width over that of the peer, `said`
# the percentage of data sets where summary() says that the mean function is too smooth for the data. The
# standard error of a mean coverage of 90% is below 1.5% for 200 data sets. Rows are written as soon as they are known.
#   cd bench && CORES=16 OUT=results Rscript predictive-regression.R [n ...] [sets=200]
source("coverage.R")
given <- coverage_arguments(c(60L, 200L), 200L)
sizes <- given$sizes
sets <- given$sets

shares <- c(0.1, 0.3, 0.5, 0.7, 0.9)
normal <- list(x = rnorm, at = qnorm(shares))
uniform <- list(x = runif, at = shares)
wide <- list(x = function(n) runif(n, -3, 3), at = 6 * shares - 3)
with_noise <- function(x, mean, noise = function(x) rnorm(length(x))) c(x, list(mean = mean, noise = noise))
designs <- list(
  line = with_noise(uniform, function(x) 10 * x),
  sine = with_noise(wide, function(x) 3 * sin(x)),
  peak = with_noise(wide, function(x) 5 * exp(-2 * x^2), function(x) rnorm(length(x)) * (0.2 + 0.8 * exp(-x^2))),
  none = with_noise(normal, function(x) 0 * x),
  weak = with_noise(normal, function(x) 0.3 * x),
  square = with_noise(normal, function(x) x^2),
  step = with_noise(uniform, function(x) 2 * (x > 0.4)),
  fan = with_noise(uniform, function(x) 2 + 3 * x, function(x) rnorm(length(x)) * (0.2 + 2 * x)),
  t3 = with_noise(normal, function(x) 2 * x, function(x) rt(length(x), 3)),
  skewed = with_noise(list(x = rexp, at = qexp(shares)), identity, function(x) rexp(length(x)) - 1),
  class7 = c(normal, list(mean = function(x) plogis(-3 + x))),
  class13 = c(normal, list(mean = function(x) plogis(-2.3 + x))),
  half = c(normal, list(mean = function(x) plogis(1.5 * x))),
  constant = c(normal, list(mean = function(x) 0.1 + 0 * x)),
  hump = c(normal, list(mean = function(x) plogis(1 - 2 * x^2)))
)

one <- function(design, n, i) {
  set.seed(i)
  frame <- data.frame(x = design$x(n))
  truth <- design$mean(design$at)
  points <- data.frame(x = design$at)
  binary <- is.null(design$noise)
  frame$y <- if (binary) runif(n) < design$mean(frame$x) else design$mean(frame$x) + design$noise(frame$x)
  model <- if (binary) copula_classification else copula_regression
  if (length(unique(frame$y)) < 2L) return(NULL)
  resample <- function(...) {
    fit <- predictive_resample(frame, model(y ~ x, points, ...), 8 * n, 150, seed = i)
    ends <- quantile(fit, c(0.05, 0.95))
    c(ends[, 1] <= truth & truth <= ends[, 2], mean(ends[, 2] - ends[, 1]), !is.null(fit$trend),
      length(summary(fit)$unsupported) > 0)
  }
  peer <- if (binary) {
    fit <- suppressWarnings(glm(y ~ x, binomial, frame))
    at <- predict(fit, points, se.fit = TRUE)
    plogis(outer(at$se.fit, qnorm(c(0.05, 0.95))) + at$fit)
  } else {
    predict(lm(y ~ splines::ns(x, 5), frame), points, interval = "confidence", level = 0.9)[, -1]
  }
  width <- mean(peer[, 2] - peer[, 1])
  rows <- rbind(default = resample(),
    none = if (i <= 0.2 * sets) resample(mean = "none") else NA,
    peer = c(peer[, 1] <= truth & truth <= peer[, 2], width, NA, NA))
  rows[, 6] <- rows[, 6] / width
  rows
}

file <- file.path(folder, "predictive-regression.csv")
table <- if (file.exists(file)) read.csv(file)
table <- table[!table$n %in% sizes, ]
for (n in sizes) {
  for (name in names(designs)) {
    found <- parallel::mclapply(seq_len(sets), function(i) one(designs[[name]], n, i), mc.cores = cores)
    found <- simplify2array(Filter(Negate(is.null), found))
    covered <- round(100 * apply(found[, 1:5, ], 1:2, mean, na.rm = TRUE), 1)
    colnames(covered) <- paste0("at", 100 * shares)
    row <- data.frame(design = name, n = n, settings = rownames(covered), mean = round(rowMeans(covered), 1), covered,
      width = round(apply(found[, 6, ], 1, median, na.rm = TRUE), 2),
      found = round(apply(found[, 7, ], 1, mean, na.rm = TRUE), 2),
      said = round(100 * apply(found[, 8, ], 1, mean, na.rm = TRUE), 1),
      sets = round(sets * c(1, 0.2, 1)), row.names = NULL)
    print(row, row.names = FALSE)
    table <- rbind(table, row)
    write.csv(table[order(table$n), ], file, row.names = FALSE)
  }
}
