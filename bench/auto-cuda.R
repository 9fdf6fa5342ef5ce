# Whole calls on the processor and on the graphics card, and where backend = "auto" runs them: from tiny to large, over
# all topics. Prints a table in Markdown. The last lines count the calls in which "auto" takes more than 1.25 times as
# long as the better one. An argument is a regular expression for the names of the calls to run.
source("common.R")
rehearsal <- use_card()
set.seed(1)

cells <- function(n, p) matrix(rnorm(n * p), n) + 3 * rbinom(n, 3, 0.5)
rows <- function(n, p) {
  data <- data.frame(matrix(rnorm(n * p), n))
  data$y <- rbinom(n, 1, plogis(data$X1))
  data
}
documents <- function(n, terms, each) {
  Matrix::sparseMatrix(rep(seq_len(n), each = each), sample(terms, n * each, TRUE), x = 1, dims = c(n, terms))
}
mixture <- function(n, p, k, iter) {
  x <- cells(n, p)
  function(backend) dp_mixture(x, k, iter = iter, seed = 1, backend = backend, progress = FALSE)
}
regression <- function(n, p, iter, family = "binomial") {
  data <- rows(n, p)
  if (family == "negbinomial") {
    data$y <- rnbinom(n, mu = exp(1 + 0.3 * data$X1), size = 2)
  } else if (family == "multinomial") {
    data$y <- factor(sample(letters[1:3], n, TRUE))
  }
  function(backend) {
    bayes_logit(y ~ ., data, family, chains = 1, iter = iter, seed = 1, backend = backend, progress = FALSE)
  }
}
topics <- function(n, terms, each, k, iter) {
  x <- documents(n, terms, each)
  function(backend) topic_model(x, k, iter = iter, seed = 1, backend = backend, progress = FALSE)
}
categorical <- function(n, k, draws = 1) {
  weights <- matrix(rexp(n * k), n)
  function(backend) rcategorical(weights, draws, seed = 1, backend = backend)
}
polyagamma <- function(n, shape = 1, each = FALSE) {
  tilt <- if (each) rnorm(n) else 1
  function(backend) rpolyagamma(n, shape, tilt, seed = 1, backend = backend)
}
law <- function(n) {
  at <- rexp(n)
  function(backend) dpolyagamma(at, 1, 1, backend = backend)
}
convolution <- function(m, n, log = FALSE, accuracy = 1e-12) {
  x <- rexp(m)
  y <- rexp(n)
  if (log) {
    x <- log(x / sum(x))
    y <- log(y / sum(y))
  } else {
    x <- x / sum(x)
    y <- y / sum(y)
  }
  function(backend) convolve_pmf(x, y, log = log, accuracy = accuracy, backend = backend)
}
convolutions <- function(batch, m) {
  x <- matrix(rexp(batch * m), batch)
  x <- x / rowSums(x)
  function(backend) convolve_pmf(x, x, log = FALSE, backend = backend)
}
mean_of <- function(draws, horizon) {
  y <- rnorm(10)
  function(backend) predictive_resample(y, normal_mean(1), horizon, draws, seed = 1, backend = backend)
}
bootstrap <- function(n, draws) {
  y <- rnorm(n)
  function(backend) predictive_resample(y, bayesian_bootstrap(), draws = draws, seed = 1, backend = backend)
}
copula <- function(n, draws, horizon) {
  y <- rnorm(n)
  model <- copula_density(0.9, seq(-4, 4, length.out = 100))
  function(backend) predictive_resample(y, model, horizon, draws, seed = 1, backend = backend, progress = FALSE)
}
density_of <- function(n) {
  x <- cells(n, 4)
  fit <- dp_mixture(cells(2000, 4), 32, iter = 60, seed = 1, backend = "cpu", progress = FALSE)
  function(backend) predict(fit, x, type = "log_density", backend = backend)
}

calls <- if (rehearsal) list(
  "mixture 300 x 2 x 4" = mixture(300, 2, 4, 4), "regression 100 x 2" = regression(100, 2, 4),
  "topics 20 x 10" = topics(20, 30, 5, 10, 4), "categorical 100 x 10" = categorical(100, 10),
  "Polya-Gamma 1e3" = polyagamma(1e3), "density of Polya-Gamma 1e2" = law(100),
  "convolution 100 x 100" = convolution(100, 100), "100 convolutions of 8" = convolutions(100, 8),
  "normal mean, 64 draws" = mean_of(64, 20), "bootstrap 20, 50 draws" = bootstrap(20, 50),
  "copula 20, 4 draws" = copula(20, 4, 10)
) else list(
  "mixture 300 x 2 x 8, 200 sweeps" = mixture(300, 2, 8, 200),
  "mixture 2,000 x 4 x 64, 200 sweeps" = mixture(2000, 4, 64, 200),
  "mixture 9,083 x 4 x 64, 100 sweeps" = mixture(9083, 4, 64, 100),
  "mixture 1e5 x 10 x 64, 40 sweeps" = mixture(1e5, 10, 64, 40),
  "mixture 1e6 x 10 x 64, 10 sweeps" = mixture(1e6, 10, 64, 10),
  "log density of 1e3 cells" = density_of(1e3), "log density of 3e5 cells" = density_of(3e5),
  "regression 40 x 2, 1,000 sweeps" = regression(40, 2, 1000),
  "regression 1e3 x 5, 500 sweeps" = regression(1e3, 5, 500),
  "regression 1e4 x 10, 200 sweeps" = regression(1e4, 10, 200),
  "regression 1e5 x 10, 100 sweeps" = regression(1e5, 10, 100),
  "regression 1e6 x 10, 20 sweeps" = regression(1e6, 10, 20),
  "negative binomial 1e3 x 5, 200 sweeps" = regression(1e3, 5, 200, "negbinomial"),
  "negative binomial 1e5 x 5, 50 sweeps" = regression(1e5, 5, 50, "negbinomial"),
  "multinomial 1e3 x 5, 200 sweeps" = regression(1e3, 5, 200, "multinomial"),
  "multinomial 1e5 x 5, 50 sweeps" = regression(1e5, 5, 50, "multinomial"),
  "topics 100 x 5, 100 sweeps" = topics(100, 200, 50, 5, 100),
  "topics 300 x 20, 100 sweeps" = topics(300, 1000, 100, 20, 100),
  "topics 3,000 x 20, 50 sweeps" = topics(3000, 5000, 100, 20, 50),
  "topics 3,000 x 200, 20 sweeps" = topics(3000, 5000, 100, 200, 20),
  "topics 20,000 x 500, 10 sweeps" = topics(20000, 20000, 100, 500, 10),
  "categorical 100 x 10" = categorical(100, 10), "categorical 1e5 x 100" = categorical(1e5, 100),
  "categorical 65,536 x 1,000" = categorical(65536, 1000),
  "categorical 1e5 x 100, 100 draws" = categorical(1e5, 100, 100),
  "categorical 1 x 1,000, 1e7 draws" = categorical(1, 1000, 1e7),
  "Polya-Gamma 1e3" = polyagamma(1e3), "Polya-Gamma 1e5" = polyagamma(1e5),
  "Polya-Gamma 1e7" = polyagamma(1e7), "Polya-Gamma 1e6, shape 4.5, own tilts" = polyagamma(1e6, 4.5, TRUE),
  "density of Polya-Gamma 1e3" = law(1e3), "density of Polya-Gamma 1e6" = law(1e6),
  "convolution 100 x 100" = convolution(100, 100), "convolution 3e4 x 3e4" = convolution(3e4, 3e4),
  "convolution 1e6 x 1e6" = convolution(1e6, 1e6),
  "convolution 1e6 x 1e6, direct" = convolution(1e6, 1e6, accuracy = 0),
  "convolution 3e4 x 3e4, logs" = convolution(3e4, 3e4, TRUE),
  "1e3 convolutions of 16" = convolutions(1e3, 16), "65,536 convolutions of 64" = convolutions(65536, 64),
  "normal mean, 1,000 draws" = mean_of(1e3, 1000), "normal mean, 1e6 draws" = mean_of(1e6, 1000),
  "bootstrap 50, 1,000 draws" = bootstrap(50, 1e3), "bootstrap 1e4, 1e4 draws" = bootstrap(1e4, 1e4),
  "copula 50, 100 draws" = copula(50, 100, 500), "copula 500, 1,000 draws" = copula(500, 1000, 2000)
)

pattern <- commandArgs(TRUE)
if (length(pattern)) calls <- calls[grepl(pattern[[1L]], names(calls))]

# Where "auto" runs a call: what the package's faster_run() returned last. Short sums do not call it.
latest <- new.env()
faster_run <- internal$faster_run
utils::assignInNamespace("faster_run", function(...) {
  run <- faster_run(...)
  latest$backend <- run$backend
  run
}, "warpbayes")
chosen <- function(call) {
  latest$backend <- "cpu"
  call("auto")
  latest$backend
}
header("call", "seconds on the processor", "on the card", "\"auto\" uses", "\"auto\" / the better one")
ratios <- vapply(names(calls), function(name) {
  call <- calls[[name]]
  call("cpu")
  once <- elapsed(call("cuda"))
  seconds <- medians(interleave(
    cpu = function() elapsed(call("cpu")), cuda = function() elapsed(call("cuda")),
    auto = function() elapsed(call("auto")), times = if (once > 0.3) 1 else if (once > 0.03) 5 else 25
  ))
  line(name, number(seconds[["cpu"]]), number(seconds[["cuda"]]), chosen(call),
    number(seconds[["auto"]] / min(seconds[c("cpu", "cuda")])))
  seconds[["auto"]] / min(seconds[c("cpu", "cuda")])
}, 1)
cat(sprintf("\n%d of %d calls take more than 1.25 times as long as on the better one.\n", sum(ratios > 1.25),
  length(ratios)))
