# Smooths, y ~ s(x): pointwise 90% intervals of the linear predictor beside those of mgcv::gam(method = "REML"). For
# four functions, two families and two sizes, 30 sets each: the share of rows whose interval holds the truth, the root
# mean square error, and the median over sets of the root mean square difference of the two estimates, in standard
# errors of mgcv.
#   cd bench && Rscript regression-smooths.R    two minutes
source("common.R")

truths <- list(
  wave = function(x) 1.5 * sin(6 * x), line = function(x) 2 * x - 1, flat = function(x) 0 * x,
  bump = function(x) 3 * exp(-50 * (x - 0.6)^2) - 1
)
compare <- function(seed, family, n, truth) {
  set.seed(seed)
  x <- runif(n)
  linear <- truths[[truth]](x)
  y <- if (family == "poisson") rpois(n, exp(linear + 0.5)) else rbinom(n, 1, plogis(linear))
  if (family == "poisson") linear <- linear + 0.5
  fit <- bayes_logit(y ~ s(x), family = family, chains = 1, iter = 1500, warmup = 500, seed = seed, threads = 1,
    backend = "cpu", progress = FALSE)
  own <- predict(fit, type = "link")
  peer <- predict(mgcv::gam(y ~ s(x), if (family == "poisson") poisson() else binomial(), method = "REML"),
    se.fit = TRUE)
  error <- function(mean) sqrt(mean((mean - linear)^2))
  c(
    coverage = mean(own[, "lower"] < linear & linear < own[, "upper"]),
    coverage_mgcv = mean(abs(peer$fit - linear) < 1.645 * peer$se.fit), error = error(own[, "mean"]),
    error_mgcv = error(peer$fit), difference = sqrt(mean(((own[, "mean"] - peer$fit) / peer$se.fit)^2))
  )
}
cells <- expand.grid(truth = names(truths), rows = c(100, 400), family = c("binomial", "poisson"),
  stringsAsFactors = FALSE)
save_results(do.call(rbind, lapply(seq_len(nrow(cells)), function(i) {
  cell <- cells[i, ]
  sets <- parallel::mclapply(1:30, compare, cell$family, cell$rows, cell$truth)
  sets <- do.call(rbind, sets)
  data.frame(family = cell$family, rows = cell$rows, truth = cell$truth, t(round(colMeans(sets[, 1:4]), 3)),
    difference = round(median(sets[, 5]), 3))
})), "regression-smooths")
