# The joint and the conditional method of copula_regression() side by side, in three designs: how often 90% intervals
# cover the regression function at five points, the log score of 100 new observations, and the width of the intervals
# over those of the conditional method. `settings`: "default", or "published" (without calibration and mean function).
# The standard error of a mean coverage of 90% is below 1.5% for 200 data sets. The designs:
#   sine     one uniform covariate, y = 3 sin(x) + noise
#   skewed   one lognormal covariate, y = log(x) + noise that grows with x
#   two      two covariates with correlation 0.8, y = x1 x2 + noise
#   cd bench && CORES=16 OUT=results Rscript predictive-joint.R [n ...] [sets=200]
# With a clone of the authors' repository, MP=folder, it compares their published predictions for the LIDAR data
# (run_expts/plot_files, a grid of 200 x 40 densities for ten orders of the data) with ours, where those are above 0.05.
# Deviations count standard errors of a mean of ten orders, known from 200 of ours; their orders come from another
# generator.
source("coverage.R")
given <- coverage_arguments(c(60L, 200L), 200L)
file <- file.path(folder, "predictive-joint.csv")

# A matrix of 32-bit numbers as numpy saves it.
read_matrix <- function(path) {
  connection <- file(path, "rb")
  on.exit(close(connection))
  readBin(connection, "raw", 8)
  head <- readChar(connection, readBin(connection, "integer", 1, 2, endian = "little"))
  size <- as.integer(strsplit(sub(".*\\(([0-9]+, *[0-9]+)\\).*", "\\1", head), ", *")[[1]])
  matrix(readBin(connection, "numeric", prod(size), 4, endian = "little"), size[[1]], byrow = TRUE)
}

clone <- Sys.getenv("MP")
if (nzchar(clone)) {
  internal <- function(name) get(name, asNamespace("warpbayes"))
  data <- function(name) scan(file.path(clone, "run_expts", "R_data", name), quiet = TRUE)
  lidar <- data.frame(y = data("lidar_y.csv"), x = data("lidar_x.csv"))
  at <- seq(-3, 2, length.out = 200)
  points <- data.frame(x = seq(min(lidar$x), max(lidar$x), length.out = 40))
  rows <- lapply(c("joint", "conditional"), function(method) {
    model <- copula_regression(y ~ x, points, at, calibrate = FALSE, permutations = 200, method = method)
    fit <- predictive_resample(lidar, model, 0, 1, seed = 1)
    name <- sprintf("%scopula_lidar_pdf_plot.npy", substr(method, 1, 1))
    published <- as.vector(read_matrix(file.path(clone, "run_expts", "plot_files", name)))
    shown <- fit$density0 > 0.05
    states <- internal("state_at")(fit, fit$at, internal("resolve_run")())
    orders <- (internal("record")(fit)$loops$response(states)$gain[, 1, ] * fit$at$density)[fit$at$shown, ]
    deviation <- ((fit$density0 - published) / (apply(orders, 1, sd) / sqrt(10)))[shown]
    data.frame(
      method = method, rho = fit$rho, rho_x = fit$rho_x, score = fit$score, score_by_order = sd(fit$orders$score),
      densities = sum(shown), root_mean_square = sqrt(mean(deviation^2)), largest = max(abs(deviation)),
      row.names = NULL
    )
  })
  print(do.call(rbind, rows), digits = 3)
  write.csv(do.call(rbind, rows), file.path(folder, "predictive-joint-lidar.csv"), row.names = FALSE)
}

shares <- c(0.1, 0.3, 0.5, 0.7, 0.9)
designs <- list(
  sine = list(x = function(n) data.frame(x = runif(n, -3, 3)), at = data.frame(x = 6 * shares - 3),
    mean = function(d) 3 * sin(d$x), noise = function(d) 1),
  skewed = list(x = function(n) data.frame(x = exp(rnorm(n))), at = data.frame(x = exp(qnorm(shares))),
    mean = function(d) log(d$x), noise = function(d) 0.3 + 0.2 * d$x),
  two = list(
    x = function(n) {
      x1 <- rnorm(n)
      data.frame(x1, x2 = 0.8 * x1 + 0.6 * rnorm(n))
    },
    at = data.frame(x1 = qnorm(shares), x2 = 0.8 * qnorm(shares)), mean = function(d) d$x1 * d$x2, noise = function(d) 1
  )
)
settings <- list(default = list(), published = list(calibrate = FALSE))
methods <- c("joint", "conditional")

one <- function(design, n, i) {
  set.seed(i)
  frame <- design$x(n + 100)
  frame$y <- design$mean(frame) + design$noise(frame) * rnorm(n + 100)
  truth <- design$mean(design$at)
  train <- seq_len(n)
  rows <- lapply(settings, function(setting) {
    t(vapply(methods, function(method) {
      model <- do.call(copula_regression, c(list(y ~ ., design$at, 0, method = method), setting))
      fit <- predictive_resample(frame[train, ], model, 8 * n, 150, "mean", seed = i)
      ends <- quantile(fit, c(0.05, 0.95))
      c(100 * (ends[, 1] <= truth & truth <= ends[, 2]), mean(ends[, 2] - ends[, 1]),
        mean(predict(fit, frame[-train, ], "log_density")), fit$elapsed)
    }, numeric(8)))
  })
  do.call(rbind, rows)
}

table <- if (file.exists(file)) read.csv(file)
table <- table[!table$n %in% given$sizes, ]
for (n in given$sizes) {
  for (name in names(designs)) {
    found <- parallel::mclapply(seq_len(given$sets), function(i) one(designs[[name]], n, i), mc.cores = cores)
    found <- simplify2array(found)
    mean <- apply(found, 1:2, mean)
    score <- found[, 7, ]
    base <- rep(c(2L, 4L), each = 2L)
    row <- data.frame(design = name, n = n, settings = rep(names(settings), each = 2L), method = rownames(mean),
      coverage = round(rowMeans(mean[, 1:5]), 1), lowest = round(apply(mean[, 1:5], 1, min), 1),
      width = round(apply(found[, 6, ] / found[base, 6, ], 1, median), 2), score = round(mean[, 7], 4),
      gain = round(rowMeans(score - score[base, ]), 4),
      gain_error = round(apply(score - score[base, ], 1, sd) / sqrt(given$sets), 4),
      seconds = round(apply(found[, 8, ], 1, median), 2), sets = given$sets, row.names = NULL)
    print(row, row.names = FALSE)
    table <- rbind(table, row)
    write.csv(table[order(table$n), ], file, row.names = FALSE)
  }
}
