# How often the checks of predictive resampling speak, of data that suit the model and of data that do not. The checks
# read the data alone, so nothing is fitted but a line. From the root of the sources, with the package installed:
#     Rscript bench/predictive-checks.R [sets]
sets <- as.integer(c(commandArgs(TRUE), 200)[[1]])
internal <- function(name) get(name, asNamespace("warpbayes"))
set.seed(1)

codes <- function(reasons) vapply(reasons, `[[`, "", "code")
one <- function(y, x = NULL) {
  ties <- internal("ties_reason")(y)
  codes(c(internal("order_reason")(y), internal("copies_reason")(y), ties,
    if (is.null(ties)) internal("island_reason")(y), internal("ends_reason")(y)))
}
two <- function(y) {
  colnames(y) <- c("a", "b")
  z <- apply(y, 2, internal("rank_scores"))
  pair <- function(code, statistic) internal("columns_reason")(code, z, internal(statistic))
  codes(c(internal("order_reason")(y[, 1], 2), internal("order_reason")(y[, 2], 2),
    internal("row_copies_reason")(y[, 1], y[, 2, drop = FALSE]), pair("data_curve", "curve_statistic"),
    pair("data_cells", "cells_statistic")))
}
several <- function(y) {
  x <- scale(y[, -1])
  colnames(x) <- c("x", "z")[seq_len(ncol(x))]
  rest <- internal("additive_rest")(y[, 1], x, NULL)
  codes(c(internal("order_reason")(rest$left), internal("row_copies_reason")(y[, 1], x),
    internal("ties_reason")(y[, 1]), internal("products_reason")(rest, x, seq_len(ncol(x)))))
}
rates <- function(name, check, draw, sizes = c(20, 60, 200)) {
  for (n in sizes) {
    found <- replicate(sets, check(draw(n)), simplify = FALSE)
    each <- sort(table(unlist(lapply(found, unique))) / sets, decreasing = TRUE)
    cat(sprintf("%-34s n = %3d  any %5.1f%%  %s\n", name, n, 100 * mean(lengths(found) > 0),
      paste(sprintf("%s %.1f%%", names(each), 100 * each), collapse = ", ")))
  }
}

cat("Data that suit the model: how often any check speaks\n")
rates("normal", one, rnorm)
rates("Student's t, 4 degrees", one, function(n) rt(n, 4))
rates("gamma, shape 2", one, function(n) rgamma(n, 2))
rates("exponential", one, rexp)
rates("lognormal, sigma 0.5", one, function(n) rlnorm(n, 0, 0.5))
rates("uniform", one, runif)
rates("two groups, 4 deviations apart", one, function(n) rnorm(n) + 4 * (runif(n) < 0.5))
rates("normal, rounded to 0.1", one, function(n) round(rnorm(n), 1))
rates("heights in whole cm", one, function(n) round(rnorm(n, 170, 8)))
correlated <- function(n, r = 0.6) {
  x <- rnorm(n)
  cbind(x, r * x + sqrt(1 - r^2) * rnorm(n))
}
rates("normal pairs", two, correlated)
rates("gamma pairs", two, function(n) qgamma(pnorm(correlated(n)), 2))
rates("rounded pairs", two, function(n) round(correlated(n), 1))
rates("regression, two covariates", several, function(n) cbind(rnorm(n), rnorm(n), rnorm(n)))
rates("regression, rounded", several, function(n) round(cbind(rnorm(n), rnorm(n), rnorm(n)), 1))
rates("regression, growing noise", several, function(n) {
  x <- runif(n)
  cbind(2 * x + x * rnorm(n), x, rnorm(n))
})

cat("\nData that do not\n")
rates("autoregression of 0.9", one, function(n) as.vector(arima.sim(list(ar = 0.9), n)))
rates("trend of 3 deviations", one, function(n) rnorm(n) + 3 * seq_len(n) / n)
rates("each value twice", one, function(n) rep(rnorm(n / 2), 2)[sample(n)])
rates("Likert answers 1 to 5", one, function(n) sample(5, n, TRUE, c(1, 2, 4, 2, 1)) + 0)
rates("negative binomial counts", one, function(n) rnbinom(n, 0.7, mu = 3) + 0)
rates("7% far away", one, function(n) rnorm(n) + 12 * (runif(n) < 0.07))
rates("piles at both ends", one, function(n) rbeta(n, 0.3, 0.3))
rates("curved pairs", two, function(n) {
  x <- rnorm(n)
  cbind(x, x^2 + 0.5 * rnorm(n))
})
rates("circle", two, function(n) {
  angle <- runif(n, 0, 2 * pi)
  cbind(cos(angle), sin(angle)) + 0.2 * rnorm(2 * n)
})
rates("each row twice", two, function(n) correlated(n / 2)[rep(seq_len(n / 2), 2), ])
rates("product of two covariates", several, function(n) {
  x <- rnorm(n)
  z <- rnorm(n)
  cbind(x * z + rnorm(n), x, z)
})
