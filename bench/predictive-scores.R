# Test log scores of copula predictions beside the published ones (Fong, Holmes & Walker 2023, the authors' code at
# github.com/edfong/MP, results of its run_expts): ten random halves of each data set, standardised by the training
# half, ten orders, one bandwidth for densities and one for each covariate otherwise. The score is the mean over the
# test half of the log density of the standardised response, or of the log probability of the class.
#   cd bench && CORES=2 [MP=clone of the authors' repository] Rscript predictive-scores.R [case ...]
# The halves are shared among CORES processes (default 1).
# The data are Boston of MASS, Ionosphere of mlbench, the UCI repository's wdbc (569 x 30) from mclust (mlbench's
# BreastCancer is another set), and the repository's 13 columns among the 27 of sn's wines (the same 178 bottles). A
# data set whose package is not installed is left out, and so are Parkinsons and Statlog without a clone. The authors
# have test scores of their conditional method only; `boston_joint` is the joint one beside it. What differs from the
# authors' code:
#  - the orders come from another generator; the halves are theirs;
#  - they raise the densities of the start to 1e-6 for each coordinate and keep copula distribution functions within
#    [1e-6, 1 - 1e-6], in classification all probabilities and weights within 5e-5 of 0 and 1. Ours are clipped only
#    where normal scores are taken and binary observations enter, so that densities integrate to 1. So test rows with a
#    coordinate beyond 4.9 deviations score lower;
#  - conditional distribution functions are averaged over orders by their weights.
# The column `floored` scores our densities with their floor for the start, and probabilities of classes with their
# floor of 5e-5. With it, Breast and Parkinsons are within a standard error of the published scores of densities;
# without it, the densities of Breast are 1.9 below, by the test rows beyond 4.9 deviations. Ionosphere scores 2.2 above
# the published score, 2.8 standard errors, with the floor and without. A quarter of its values are -1, 0 or 1, so
# that the clipping of all distribution functions may matter; the cause was not found. Boston scores 0.03 above the
# published score, 1.1 standard errors. Classes of Parkinsons and Statlog are within 1.2 standard errors of the
# published scores. Those of Ionosphere score 0.11 above, 4 standard errors. The authors search for bandwidths from 0.8,
# and we from the best of a grid. With bandwidths of 0.8 the mean score is within 0.01 of the published one
# (`ionosphere_start`). So their search may have ended near its start, but the scores of single halves do not agree.
# Regressions and classifications choose a bandwidth for each covariate: they take minutes each.
source("common.R")
options(warpbayes.backend = "cpu")

# The rows of the published halves: scikit-learn's train_test_split(random_state = 99 + k), which trains on the end of
# what numpy's RandomState permutes. That generator is R's Mersenne Twister, seeded in another way. A whole number up to
# i is the first output, cut to the bits of i, that is not larger than i.
twister <- function(seed) {
  state <- numeric(624)
  state[[1]] <- seed
  for (i in seq_len(623)) {
    last <- state[[i]]
    # The low 16 bits are changed by the high ones; products in halves stay below 2^53.
    mixed <- last - last %% 65536 + bitwXor(last %% 65536, last %/% 2^30)
    state[[i + 1]] <- ((1812433253 %% 65536) * mixed + ((1812433253 %/% 65536) * mixed %% 65536) * 65536 + i) %% 2^32
  }
  RNGkind("Mersenne-Twister")
  signed <- ifelse(state >= 2^31, state - 2^32, state)
  signed[signed == -2^31] <- NA
  assign(".Random.seed", c(10403L, 624L, as.integer(signed)), envir = globalenv())
}
numpy_permutation <- function(n, seed) {
  twister(seed)
  order <- seq_len(n)
  for (i in (n - 1):1) {
    bits <- 2^ceiling(log2(i + 1))
    repeat {
      j <- round(stats::runif(1) * 2^32) %% bits
      if (j <= i) break
    }
    order[c(i, j) + 1] <- order[c(j, i) + 1]
  }
  order
}
# What numpy.random.RandomState(seed).permutation(10) gives for seeds 0 and 42.
stopifnot(
  numpy_permutation(10, 0) - 1 == c(2, 8, 4, 9, 1, 6, 7, 3, 0, 5),
  numpy_permutation(10, 42) - 1 == c(8, 1, 5, 0, 7, 2, 9, 4, 3, 6)
)
halves <- function(n, repeats = 10) {
  train <- floor(n / 2)
  lapply(seq_len(repeats), function(k) numpy_permutation(n, 99 + k)[n - train + seq_len(train)])
}
scaled <- function(x, like) sweep(sweep(x, 2, colMeans(like)), 2, sqrt(colMeans(sweep(like, 2, colMeans(like))^2)), "/")

density_scores <- function(x, k, train) {
  keep <- apply(x[train, ], 2, sd) > 0
  x <- scaled(x[, keep], x[train, keep])
  model <- copula_density(points = x[1:2, ], standardize = FALSE, calibrate = FALSE)
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
    score <- predict(fit, frame[-train, ], "log_density")
    c(score = mean(score), floored = if (fit$data$binary) mean(pmax(score, log(5e-5))) else NA)
  }
}
regression <- formula_scores(function(points) {
  copula_regression(y ~ ., points, at = 0, standardize = FALSE, calibrate = FALSE)
})
joint <- formula_scores(function(points) {
  copula_regression(y ~ ., points, at = 0, standardize = FALSE, calibrate = FALSE, method = "joint")
})
classification <- formula_scores(function(points) {
  copula_classification(y ~ ., points, standardize = FALSE, calibrate = FALSE)
})

# With the values from which the authors' search for bandwidths starts.
classification_start <- formula_scores(function(points) {
  copula_classification(y ~ ., points, rho = 0.8, rho_x = 0.8, standardize = FALSE, calibrate = FALSE)
})

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
  cases$boston_joint <- list(joint, boston, NA)
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
  cases$ionosphere_start <- list(classification_start, data.frame(ionosphere, y = class), -0.388)
}
clone <- Sys.getenv("MP")
if (nzchar(clone)) {
  read <- function(name, ...) read.table(file.path(clone, "run_expts", "data", name), ...)
  parkinsons <- read("parkinsons.data", header = TRUE, sep = ",")
  numbers <- parkinsons[setdiff(names(parkinsons), c("name", "status"))]
  cases$parkinsons_density <- list(density_scores, without_copies(as.matrix(numbers)), -9.865)
  cases$parkinsons_classification <- list(classification, data.frame(numbers, y = parkinsons$status), -0.257)
  # Levels are numbered as they appear, as published.
  german <- read("german.data", stringsAsFactors = FALSE)
  names(german)[21] <- "y"
  german[] <- lapply(german, function(x) if (is.character(x)) match(x, unique(x)) - 1 else x)
  cases$statlog_classification <- list(classification, german, -0.541)
}
# The cases named on the command line, or all; others keep the rows of the last run.
wanted <- commandArgs(TRUE)
if (length(wanted)) cases <- cases[intersect(wanted, names(cases))]
for (name in names(cases)) {
  case <- cases[[name]]
  splits <- halves(nrow(case[[2]]))
  each <- parallel::mclapply(seq_along(splits), function(k) case[[1]](case[[2]], k, splits[[k]]),
    mc.cores = as.integer(Sys.getenv("CORES", "1")), mc.preschedule = FALSE)
  scores <- vapply(each, identity, c(score = 0, floored = 0))
  row <- data.frame(
    case = name, score = mean(scores["score", ]), standard_error = sd(scores["score", ]) / sqrt(length(splits)),
    floored = mean(scores["floored", ]), published = case[[3]]
  )
  file <- "results/predictive-scores.csv"
  # Other rows keep the machine and the date of their runs.
  before <- if (file.exists(file)) read.csv(file)
  row <- cbind(row, machine = machine(), date = format(Sys.Date()))
  write.csv(rbind(before[before$case != name, ], row), file, row.names = FALSE)
  print(row[1:5], digits = 3)
}
