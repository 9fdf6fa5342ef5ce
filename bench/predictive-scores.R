# Test log scores of copula predictions beside the published ones (Fong, Holmes & Walker
# 2023, the authors' code at github.com/edfong/MP, results of its run_expts): ten random
# halves of each data set, standardised by the training half, ten orders, one bandwidth
# for densities and one for each covariate otherwise; the mean over the test half of the
# log density of the standardised response, or of the log probability of the class.
#   cd bench && Rscript predictive-scores.R [case ...]
# Data: Boston of MASS; Ionosphere of mlbench; the UCI repository's wdbc (569 x 30) of mclust, which mlbench's
# BreastCancer is not; the repository's 13 columns among the 27 of sn's wines (the same 178 bottles). A data set
# whose package is not installed is left out.
# What differs from the authors' code:
#  - the halves and orders (another generator);
#  - their densities of the start are raised to 1e-6 for each coordinate, and copula
#    distribution functions are kept within [1e-6, 1 - 1e-6], in classification all
#    probabilities and weights within 5e-5 of 0 and 1. Ours are clipped where normal
#    scores are taken (and binary observations enter), and nowhere else, so that densities
#    integrate to 1: test rows with a coordinate beyond 4.9 deviations score lower;
#  - conditional distribution functions are averaged over orders by their weights.
# The column `floored` scores our densities with their floor for the start.
source("common.R")
options(warpbayes.backend = "cpu")

halves <- function(n, repeats = 10) {
  lapply(seq_len(repeats), function(k) {
    set.seed(99 + k)
    sample(n, floor(n / 2))
  })
}
scaled <- function(x, like) sweep(sweep(x, 2, colMeans(like)), 2, sqrt(colMeans(sweep(like, 2, colMeans(like))^2)), "/")

density_scores <- function(x, k, train) {
  keep <- apply(x[train, ], 2, sd) > 0
  x <- scaled(x[, keep], x[train, keep])
  model <- copula_density(points = x[1:2, ], standardize = FALSE)
  fit <- predictive_resample(x[train, ], model, horizon = 0, draws = 1, seed = k)
  score <- predict(fit, x[-train, ], "log_density")
  floor <- pmax(dnorm(x[-train, ], log = TRUE), log(1e-6)) - dnorm(x[-train, ], log = TRUE)
  c(score = mean(score), floored = mean(score + rowSums(floor)))
}
formula_scores <- function(model) {
  function(frame, k, train) {
    numeric <- vapply(frame, is.numeric, NA)
    keep <- !numeric | vapply(frame[train, ], function(column) !is.numeric(column) || sd(column) > 0, NA)
    frame <- frame[keep]
    numeric <- numeric[keep]
    frame[numeric] <- scaled(as.matrix(frame[numeric]), as.matrix(frame[train, numeric]))
    fit <- predictive_resample(frame[train, ], model(frame[train, ][1, ]), horizon = 0, draws = 1, seed = k)
    c(score = mean(predict(fit, frame[-train, ], "log_density")), floored = NA)
  }
}
regression <- formula_scores(function(points) copula_regression(y ~ ., points, at = 0, standardize = FALSE))
classification <- formula_scores(function(points) copula_classification(y ~ ., points, standardize = FALSE))

# Columns that are almost copies of earlier ones are dropped, as published.
without_copies <- function(x) {
  correlation <- abs(cor(x))
  correlation[lower.tri(correlation, diag = TRUE)] <- 0
  x[, !apply(correlation, 2, function(column) any(column > 0.98, na.rm = TRUE))]
}

from <- function(package, name) {
  if (!requireNamespace(package, quietly = TRUE)) return(NULL)
  found <- new.env()
  utils::data(list = name, package = package, envir = found)
  found[[name]]
}
cases <- list()
boston <- from("MASS", "Boston")
if (!is.null(boston)) {
  names(boston)[14] <- "y"
  cases$boston_regression <- list(regression, boston, -0.351)
}
wine <- from("sn", "wines")
if (!is.null(wine)) {
  columns <- c("alcohol", "malic", "ash", "alcal_ash", "magnesium", "phenols", "flavanoids", "nonflavanoids",
    "proanthocyanins", "colour", "hue", "OD_dw", "proline")
  cases$wine_density <- list(density_scores, without_copies(as.matrix(wine[columns])), -14.57)
}
wdbc <- from("mclust", "wdbc")
if (!is.null(wdbc)) {
  cases$breast_density <- list(density_scores, without_copies(as.matrix(wdbc[-(1:2)])), -13.01)
  cases$breast_classification <- list(classification, data.frame(wdbc[-(1:2)], y = wdbc$Diagnosis), -0.096)
}
ionosphere <- from("mlbench", "Ionosphere")
if (!is.null(ionosphere)) {
  class <- ionosphere$Class
  ionosphere <- cbind(V1 = as.numeric(as.character(ionosphere$V1)), data.matrix(ionosphere[3:34]))
  cases$ionosphere_density <- list(density_scores, without_copies(ionosphere[, -1]), -21.50)
  cases$ionosphere_classification <- list(classification, data.frame(ionosphere, y = class), -0.388)
}
# The cases named on the command line, or all; others keep the rows of the last run.
wanted <- commandArgs(TRUE)
if (length(wanted)) cases <- cases[intersect(wanted, names(cases))]
for (name in names(cases)) {
  case <- cases[[name]]
  splits <- halves(nrow(case[[2]]))
  seconds <- elapsed(scores <- vapply(seq_along(splits), function(k) case[[1]](case[[2]], k, splits[[k]]), c(score = 0, floored = 0)))
  row <- data.frame(
    case = name, score = mean(scores["score", ]), standard_error = sd(scores["score", ]) / sqrt(length(splits)),
    floored = mean(scores["floored", ]), published = case[[3]], seconds = seconds
  )
  file <- "results/predictive-scores.csv"
  before <- if (file.exists(file)) read.csv(file)[names(row)]
  save_results(rbind(before[before$case != name, ], row), "predictive-scores")
}
