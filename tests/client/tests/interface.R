# Every function of the C interface, called from C and C++. Where warpbayes has an R function for it, the numbers are
# the same to the last bit.
library(warpbayes)

invisible(loadNamespace("warpclient"))
routines <- getDLLRegisteredRoutines("warpclient")$.Call
call <- function(name, ...) .Call(routines[[name]], ...)
source_of <- function(seed = 1, stream = 0, iteration = 0, first = 0, threads = 1) {
  as.double(c(seed, stream, iteration, first, threads))
}
draw <- function(what, n, a = 1, b = 1, log = FALSE, from = source_of()) {
  call("client_draw", what, from, as.double(n), as.double(a), as.double(b), log)
}
stream <- function(what, n, a = 1, b = 1, log = FALSE, from = source_of()) {
  call("client_stream", what, from, n, as.double(a), as.double(b), log)
}

# Versions -----------------------------------------------------------------------
opened <- call("client_open", 1L)
stopifnot(opened[[1]] == 0, opened[[2]] == "", opened[[3]], call("client_open_cpp"))
newer <- call("client_open", 1000L)
stopifnot(
  newer[[1]] == 4, grepl("has version 1 of its C interface, and version 1000 is needed: install a newer", newer[[2]])
)

# Bad arguments --------------------------------------------------------------------
hostile <- call("client_hostile")
if (hostile[[2]] > 0) stop(hostile[[2]], " bad calls were not refused, the first is ", hostile[[3]])
stopifnot(hostile[[1]] > 200)

# The same as the R functions ---------------------------------------------------------
shape <- c(0.3, 1, 2, 7.5, 40)
tilt <- c(-3, 0, 0.5)
for (threads in c(1, 3)) {
  stopifnot(identical(
    draw("polyagamma", 5000, shape, tilt, from = source_of(7, threads = threads)),
    rpolyagamma(5000, shape, tilt, seed = 7, threads = 1)
  ))
}

set.seed(1)
weights <- matrix(rgamma(3000, 0.5), 100)
for (log in c(FALSE, TRUE)) {
  given <- if (log) log(weights) else weights
  items <- call("client_categorical", source_of(5), given, log, 3L)
  stopifnot(identical(items + 1L, rcategorical(given, draws = 3, log = log, seed = 5, threads = 1)))
}

for (n in c(20, 2000)) {
  p <- dpois(0:n, n / 3)
  q <- dbinom(0:n, n, 0.3)
  stopifnot(
    identical(call("client_convolve", p, q, FALSE, 1e-12, 1L), convolve_pmf(p, q, threads = 1)),
    identical(call("client_convolve", p, q, FALSE, 0, 3L), convolve_pmf(p, q, accuracy = 0, threads = 1)),
    identical(call("client_convolve", log(p), log(q), TRUE, 1e-12, 1L),
      convolve_pmf(log(p), log(q), log = TRUE, threads = 1))
  )
}

x <- as.matrix(faithful)
fit <- dp_mixture(x, components = 6, iter = 30, seed = 1, threads = 1)
mixture <- warpbayes:::reference_draw(fit)
parts <- list(as.double(mixture$weights), as.double(mixture$means), as.double(mixture$covariances), NULL, NULL)
scaled <- parts
scaled[4:5] <- list(as.double(fit$center), as.double(fit$scale))
ours <- call("client_mixture", source_of(threads = 2), scaled, x, FALSE)
probabilities <- unname(predict(fit, type = "prob", threads = 1))
stopifnot(
  identical(ours[[3]], probabilities),
  identical(ours[[2]] + 1L, unname(predict(fit, threads = 1)))
)
# Without center and scale, and the density by its formula.
density <- rowSums(sapply(seq_along(mixture$weights), function(j) {
  covariance <- mixture$covariances[, , j]
  mixture$weights[[j]] * exp(-mahalanobis(x, mixture$means[j, ], covariance) / 2) / (2 * pi * sqrt(det(covariance)))
}))
plain <- call("client_mixture", source_of(), parts, x, FALSE)
stopifnot(
  all.equal(ours[[1]], log(unname(density)), tolerance = 1e-12), all.equal(plain[[1]], ours[[1]], tolerance = 1e-12),
  all.equal(plain[[3]], ours[[3]], tolerance = 1e-9)
)
drawn <- call("client_mixture", source_of(9, threads = 2), scaled, x, TRUE)
stopifnot(
  identical(drawn[[2]] + 1L, rcategorical(probabilities, seed = 9, threads = 1)), identical(drawn[[1]], ours[[1]])
)

# Draws depend on keys alone -----------------------------------------------------------
kinds <- list(
  uniform = function(n, from) draw("uniform", n, from = from),
  normal = function(n, from) draw("normal", n, from = from),
  gamma = function(n, from) draw("gamma", n, 0.7, from = from),
  beta = function(n, from) draw("beta", n, 2, 0.5, from = from),
  dirichlet = function(n, from) draw("dirichlet", c(n, 3, 0), c(0.5, 1, 4), from = from)[, 1],
  polyagamma = function(n, from) draw("polyagamma", n, 1, 0.4, from = from),
  categorical = function(n, from) call("client_categorical", from, matrix(1:8 / 8, n, 8, byrow = TRUE), FALSE, 1L)[, 1]
)
# So many that several threads share them.
sizes <- c(
  uniform = 3e5, normal = 1e5, gamma = 5000, beta = 5000, dirichlet = 5000, polyagamma = 5000, categorical = 5e4
)
for (kind in names(kinds)) {
  same <- kinds[[kind]]
  n <- sizes[[kind]]
  all <- list()
  all[[kind]] <- same(n, source_of())
  stopifnot(
    identical(same(n, source_of(threads = 3)), all[[kind]]),
    identical(same(100, source_of(first = 1234)), all[[kind]][1235:1334]),
    mean(same(n, source_of(iteration = 1)) == all[[kind]]) < 0.3,
    mean(same(n, source_of(stream = 1)) == all[[kind]]) < 0.3,
    mean(same(n, source_of(seed = 2)) == all[[kind]]) < 0.3
  )
}
streamed <- sapply(c("uniform", "normal", "gamma", "beta"), stream, n = 101)
stopifnot(
  identical(streamed[1:2, ], sapply(c("uniform", "normal", "gamma", "beta"), stream, n = 2)),
  identical(call("client_rows", 3, 500L, 4L), call("client_rows", 3, 500L, 1L))
)

# Laws ---------------------------------------------------------------------------------
# 24 tests, each with a false-alarm rate of 1e-4; the seeds are fixed. With 20,000 draws a distribution function that is
# wrong by 0.02 is found with a probability above 99%.
n <- 20000
follows <- function(draws, law, ...) {
  stopifnot(suppressWarnings(ks.test(draws, law, ...))$p.value > 1e-4)
}
for (by in list(draw, stream)) {
  follows(by("uniform", n), punif)
  follows(by("normal", n), pnorm)
  for (shape in c(0.3, 1, 6)) follows(by("gamma", n, shape), pgamma, shape)
  follows(exp(by("gamma", n, 0.3, log = TRUE)), pgamma, 0.3)
  follows(by("beta", n, 0.5, 3), pbeta, 0.5, 3)
  follows(exp(by("beta", n, 4, 4, log = TRUE)), pbeta, 4, 4)
}
# The first share of a Dirichlet vector is a beta variable; shapes of all rows, or of each.
alpha <- c(0.5, 1, 4)
for (each in 0:1) {
  shares <- draw("dirichlet", c(n, 3, each), if (each) rep(alpha, each = n) else alpha)
  stopifnot(all(abs(rowSums(shares) - 1) < 1e-12))
  follows(shares[, 1], pbeta, 0.5, 5)
  follows(shares[, 3], pbeta, 4, 1.5)
}
stopifnot(all.equal(exp(draw("dirichlet", c(9, 3, 0), alpha, log = TRUE)), draw("dirichlet", c(9, 3, 0), alpha)))
long <- stream("dirichlet", 2000, rep(2, 2000))
stopifnot(abs(sum(long) - 1) < 1e-12)
follows(long * 2000 * 2, pgamma, 2)

# The same in every version ----------------------------------------------------------------
# "The same keys give the same draws" is a promise to packages. If this fails, the change must go.
kept <- c(
  draw("uniform", 1), draw("normal", 1), draw("gamma", 1, 0.5), draw("beta", 1, 2, 3),
  draw("dirichlet", c(1, 3, 0), alpha)[1:2], draw("polyagamma", 1, 1.5, 2), stream("uniform", 3)
)
stopifnot(identical(kept, c(
  0.17069011540556833, 0.29896490935475545, 0.00038510176803590814, 0.14720306220239712,
  0.034200284800347973, 0.015563120873595411, 0.47244264063809177, 0.71978376677772682,
  0.86270067433124831, 0.91396204794426616
)))

# The sampler of the vignette -----------------------------------------------------------------
set.seed(1)
n <- 2000
x <- cbind(1, matrix(rnorm(2 * n), n))
truth <- rbinom(n, 1, plogis(x %*% c(-0.5, 2, -1)))
recorded <- ifelse(truth == 1, rbinom(n, 1, 0.85), rbinom(n, 1, 0.05))
fit <- call("mislabelled", x, as.integer(recorded), 1500L, 1L, 1L)
stopifnot(identical(fit[1:20, ], call("mislabelled", x, as.integer(recorded), 20L, 1L, 2L)))
kept <- fit[-(1:300), ]
# Each truth is within four posterior standard deviations.
stopifnot(all(abs(colMeans(kept) - c(-0.5, 2, -1, 0.05, 0.15)) < 4 * apply(kept, 2, sd)), all(apply(kept, 2, sd) < 0.4))
