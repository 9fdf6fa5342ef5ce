# Times of predict() for a logistic regression: 1e6 rows, 500 draws, 10 predictors, 90% intervals, one thread; and of R
# alone on fewer rows. Writes regression-predict.csv into the folder OUT (default bench/results).
#
# The floor: 1e6 x 500 x 10 = 5e9 multiply-adds, 0.2 s at 8 a cycle and 3.5 GHz; 5e8 logistic functions of about 30
# instructions for 8 draws and a division, 0.6 s; to look at each draw once for both quantiles, 0.1 s. The design is
# 80 MB, the result 32 MB. On a card: 4 GB of draws written and read about 12 times, 10 to 20 ms.
#
# Where the time goes, from loops over one row in the cache, AVX2 and AVX-512: products 0.23 and 0.19 s, logistic
# functions 0.63 and 0.44, copies and sums 0.16 and 0.13, draws about the quantiles collected 0.29 and 0.18, and ranked
# 0.15 and 0.17.
library(warpbayes)
folder <- Sys.getenv("OUT", "bench/results")
n <- as.numeric(Sys.getenv("ROWS", "1e6"))
set.seed(1)
x <- matrix(rnorm(2000 * 9), 2000)
data <- data.frame(y = rbinom(2000, 1, plogis(x[, 1] - 1)), x)
fit <- bayes_logit(y ~ ., data, chains = 1, iter = 1000, warmup = 500, seed = 1, threads = 1, backend = "cpu",
  progress = FALSE)
new <- data.frame(matrix(rnorm(n * 9), n))
best <- function(expression) {
  expression <- substitute(expression)
  min(replicate(3, system.time(eval(expression, globalenv()))[["user.self"]]))
}
with_avx2 <- function(expression) {
  before <- options(warpbayes.isa = "avx2")
  on.exit(options(before))
  expression
}
by_r <- function(rows) {
  value <- plogis(tcrossprod(rbind(fit$coefficient_trace[501:1000, 1, ]), cbind(1, as.matrix(new[rows, ]))))
  t(apply(value, 2, function(v) c(mean(v), sd(v), quantile(v, c(0.05, 0.95)))))
}
here <- function(type = "response") predict(fit, new, type = type, threads = 1, backend = "cpu")
few <- seq_len(min(n, 1e4))
result <- data.frame(
  what = c("predict(), response", "predict(), link", "predict(), response, AVX2", "R: tcrossprod(), quantile()"),
  seconds_of_one_thread_for_1e6_rows = c(
    best(here()) * 1e6 / n, best(here("link")) * 1e6 / n, with_avx2(best(here())) * 1e6 / n,
    best(by_r(few)) * 1e6 / length(few)
  )
)
if (warp_info()$cuda$available %in% TRUE) {
  run <- function() predict(fit, new, backend = "cuda")
  run()
  seconds <- median(replicate(5, system.time(run())[["elapsed"]]))
  result[5L, ] <- list("predict(), response, card, wall", seconds * 1e6 / n)
}
print(result)
utils::write.csv(result, file.path(folder, "regression-predict.csv"), row.names = FALSE)
