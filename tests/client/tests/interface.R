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
  newer[[1]] == 4, grepl("has version 2 of its C interface, and version 1000 is needed: install a newer", newer[[2]])
)

# Seeds ---------------------------------------------------------------------------
for (seed in list(0, 5L, 2^31, 2^53 - 1)) stopifnot(identical(call("client_seed", seed), as.double(seed)))
for (seed in list(NA, NA_integer_, NA_real_, NaN, -1, -1L, 1.5, 2^53, Inf, "1", NULL, 1:2, TRUE, factor(1), list(1))) {
  stopifnot(grepl("one whole number from 0", call("client_seed", seed)))
}

# Bad arguments --------------------------------------------------------------------
hostile <- call("client_hostile")
if (hostile[[2]] > 0) stop(hostile[[2]], " bad calls were not refused, the first is ", hostile[[3]])
stopifnot(hostile[[1]] > 300)

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

vectors <- function(what, rows, columns, a, b, each = 0, flag = FALSE, from = source_of()) {
  drawn <- call("client_rows_draw", what, from, as.double(c(rows, columns, each)), as.double(a), as.double(b), flag)
  if (what == "wishart") array(drawn, c(columns, columns, rows)) else matrix(drawn, rows)
}
spread <- matrix(c(2, 0.6, -0.3, 0.6, 1, 0.2, -0.3, 0.2, 0.5), 3)

# Ranges -------------------------------------------------------------------------------
# The table of the header. Each law is called with both ends of each range and beyond them, together with those of its
# other parameters, from a stream and for many elements: a refusal, or values of the law, all finite.
header <- readLines(system.file("include/warpbayes.h", package = "warpbayes"))
at <- grep("^ \\*   law +argument +from +to$", header)
rows <- header[at + seq_len(match(" *", header[-seq_len(at)], nomatch = 14L) - 1L)]
rows <- rows[grepl("^ \\*   [a-z_]+ +[a-z]+ +[-0-9I]", rows)]
ranges <- do.call(rbind, lapply(strsplit(sub("^ \\* +", "", rows), " +"), function(cells) {
  data.frame(law = cells[[1]], argument = cells[[2]], from = as.numeric(cells[[3]]), to = as.numeric(cells[[4]]),
    more = paste(cells[-(1:4)], collapse = " "))
}))
stopifnot(nrow(ranges) == 14L)
beyond <- function(x, way) {
  # The next double in the direction of `way`; Inf after the largest.
  if (x == 0) return(way * 2^-1074)
  if (abs(x) < 1e-307) return(x + way * 2^-1074)
  x * (1 + way * sign(x) * 2^-52)
}
square <- function(s) diag(s, 2)
calls <- list(
  gamma = function(p, by, log) by("gamma", 30, p$shape, log = log),
  beta = function(p, by, log) by("beta", 30, p$a, p$b, log = log),
  truncated_normal = function(p, by, log) by("truncated", 30, p$lower, p$upper),
  binomial = function(p, by, log) by("binomial", 30, p$size, p$prob),
  dirichlet = function(p, by, log) {
    if (identical(by, stream)) stream("dirichlet", 3, rep(p$shape, 3), log = log)
    else draw("dirichlet", c(10, 3, 0), c(p$shape, p$shape, 1), log = log)
  },
  multinomial = function(p, by, log) {
    weights <- c(p$weights, 1, 0)
    if (!identical(by, stream)) return(vectors("multinomial", 10, 3, p$size, weights))
    call("client_stream_row", "multinomial", source_of(), p$size, weights, FALSE)[1:3]
  },
  multivariate_normal = function(p, by, log) {
    lapply(c(2^-1074, 1, 1e308), function(s) {
      if (identical(by, stream)) call("client_stream_row", "normal", source_of(), c(p$mean, 0), square(s), log)[1:2]
      else vectors("normal", 10, 2, c(p$mean, 0), square(s), flag = log)
    })
  },
  wishart = function(p, by, log) {
    if (identical(by, stream)) call("client_stream_row", "wishart", source_of(), p$df, square(1), log)
    else vectors("wishart", 10, 2, p$df, square(1), flag = log)
  },
  polyagamma = function(p, by, log) draw("polyagamma", 30, p$shape, p$tilt)
)
# What each law's values lie between.
values <- list(
  gamma = function(p, log) if (log) c(-1e303, 710) else c(0, Inf),
  beta = function(p, log) if (log) c(-1e303, 0) else 0:1,
  truncated_normal = function(p, log) c(p$lower, p$upper), binomial = function(p, log) c(0, p$size),
  dirichlet = function(p, log) if (log) c(-1e303, 1e-12) else 0:1, multinomial = function(p, log) c(0, p$size),
  multivariate_normal = function(p, log) c(-Inf, Inf), wishart = function(p, log) c(-Inf, Inf),
  polyagamma = function(p, log) c(2^-1074, Inf)
)
stopifnot(setequal(ranges$law, names(calls)))
answer <- function(...) tryCatch(unlist(list(...)[[1]]), error = conditionMessage)
tried <- 0
for (law in names(calls)) {
  own <- ranges[ranges$law == law, ]
  inside <- Map(function(from, to, more) {
    middle <- if (more == "less than upper") c(-2, 37) else if (law == "wishart") c(1 + 2^-52, 3) else c(1, 1e10)
    if (law == "wishart") from <- NULL
    sort(unique(c(from, to, middle[middle >= max(from, -Inf) & middle <= to])))
  }, own$from, own$to, own$more)
  names(inside) <- own$argument
  grid <- expand.grid(inside)
  outside <- list()
  for (i in seq_len(nrow(own))) {
    plain <- lapply(inside, `[[`, 1)
    if (law == "truncated_normal") plain <- list(lower = -1, upper = 1)
    over <- c(if (is.finite(own$from[i])) beyond(own$from[i], -1), if (is.finite(own$to[i])) beyond(own$to[i], 1), NaN,
      if (own$more[i] == "whole") 0.5, if (law == "wishart") 1)
    outside <- c(outside, lapply(over, function(x) replace(plain, own$argument[i], x)))
  }
  for (by in list(draw, stream)) for (log in c(FALSE, TRUE)) {
    if (law == "polyagamma" && identical(by, stream)) next
    for (i in seq_len(nrow(grid))) {
      p <- as.list(grid[i, , drop = FALSE])
      x <- answer(calls[[law]](p, by, log))
      tried <- tried + 1
      if (is.character(x)) {
        fair <- law == "truncated_normal" && p$lower >= p$upper || law == "wishart" ||
          law == "multivariate_normal" && grepl("beyond the range|positive definite", x)
        if (!fair) stop(law, " ", deparse1(p), ": ", x)
        next
      }
      within <- values[[law]](p, log)
      if (!all(is.finite(x) & x >= within[[1]] & x <= within[[2]])) stop(law, " ", deparse1(p), ": ", toString(x))
    }
    for (p in outside) {
      x <- answer(calls[[law]](p, by, log))
      tried <- tried + 1
      if (!is.character(x) || !grepl("^status 1: ", x)) stop(law, " ", deparse1(p), " was not refused")
    }
  }
}
stopifnot(tried > 200)
# Wishart matrices of usual degrees of freedom are no refusals; those that a double cannot hold are.
for (flag in c(FALSE, TRUE)) stopifnot(is.finite(vectors("wishart", 50, 2, 3, square(1), flag = flag)))
stopifnot(grepl("beyond the range", answer(vectors("wishart", 50, 2, 1 + 2^-52, square(1), flag = TRUE))),
  grepl("beyond the range", answer(vectors("wishart", 50, 2, 5, square(1e308)))))
# Sums and densities.
largest <- .Machine$double.xmax
for (p in list(c(largest, largest), c(2^-1074, 2^-1074))) {
  stopifnot(is.character(answer(call("client_convolve", p, p, FALSE, 0, 1L))))
}
stopifnot(is.character(answer(call("client_convolve", c(-1e308, -Inf), c(-1e308, -Inf), TRUE, 0, 1L))))
far <- list(c(1, 1), c(0, 1), c(1, 1), NULL, NULL)
for (x in c(1e200, -1e308)) {
  given <- answer(call("client_mixture", source_of(), far, cbind(c(0, x)), FALSE))
  stopifnot(if (is.character(given)) grepl("row 2 of `x` is too far", given) else is.finite(given))
}
far[[2]] <- c(largest, -largest)
for (allocate in c(FALSE, TRUE)) {
  given <- answer(call("client_mixture", source_of(), far, cbind(c(0, 1)), allocate))
  stopifnot(grepl("row 1 of `x` is too far", given))
}

# Draws depend on keys alone -----------------------------------------------------------
kinds <- list(
  uniform = function(n, from) draw("uniform", n, from = from),
  normal = function(n, from) draw("normal", n, from = from),
  gamma = function(n, from) draw("gamma", n, 0.7, from = from),
  beta = function(n, from) draw("beta", n, 2, 0.5, from = from),
  dirichlet = function(n, from) draw("dirichlet", c(n, 3, 0), c(0.5, 1, 4), from = from)[, 1],
  exponential = function(n, from) draw("exponential", n, from = from),
  gumbel = function(n, from) draw("gumbel", n, from = from),
  truncated = function(n, from) draw("truncated", n, -0.4, c(0.3, Inf), from = from),
  binomial = function(n, from) draw("binomial", n, 1e6, 0.3, from = from),
  multinomial = function(n, from) vectors("multinomial", n, 3, 1e6, 3:1, from = from)[, 2],
  normals = function(n, from) vectors("normal", n, 3, 1:3, spread, from = from)[, 2],
  wishart = function(n, from) vectors("wishart", n, 3, 4, spread, from = from)[2, 1, ],
  polyagamma = function(n, from) draw("polyagamma", n, 1, 0.4, from = from),
  categorical = function(n, from) call("client_categorical", from, matrix(1:8 / 8, n, 8, byrow = TRUE), FALSE, 1L)[, 1]
)
# So many that several threads share them.
sizes <- c(
  uniform = 3e5, normal = 1e5, exponential = 3e5, gumbel = 1e5, truncated = 6000, binomial = 6000, multinomial = 6000,
  normals = 6000, wishart = 6000, gamma = 5000, beta = 5000, dirichlet = 5000, polyagamma = 5000, categorical = 5e4
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
laws <- c("uniform", "normal", "exponential", "gumbel", "gamma", "beta")
streamed <- sapply(laws, stream, n = 101)
stopifnot(
  identical(streamed[1:2, ], sapply(laws, stream, n = 2)),
  identical(call("client_rows", 3, 500L, 4L), call("client_rows", 3, 500L, 1L))
)

# Laws ---------------------------------------------------------------------------------
# 77 tests, each with a false-alarm rate of 1e-4; the seeds are fixed. With 20,000 draws a distribution function that is
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
for (by in list(draw, stream)) {
  follows(by("exponential", n), pexp)
  follows(by("gumbel", n), function(q) exp(-exp(-q)))
  # Far tails, narrow and wide intervals, one side and both; distribution functions by tails on the log scale.
  for (bounds in list(c(-Inf, Inf), c(0, Inf), c(-Inf, -0.1), c(3, 3.1), c(-0.2, 0.1), c(-3, 4), c(8, 9), c(-40, -30),
    c(1.5, 2.9), c(-1e-3, 5), c(100, Inf), c(1e4, 1e4 + 1e-4))) {
    x <- by("truncated", n, bounds[1], bounds[2])
    stopifnot(x >= bounds[1], x <= bounds[2])
    if (bounds[1] >= 1e4) {
      follows((x - 1e4) * 1e4, function(q) expm1(-q) / expm1(-1), exact = FALSE)
    } else {
      flip <- bounds[1] < 0 && bounds[2] <= 0
      ends <- if (flip) -rev(bounds) else bounds
      log_tail <- function(q) pnorm(q, lower.tail = FALSE, log.p = TRUE)
      follows(if (flip) -x else x, function(q) {
        expm1(log_tail(q) - log_tail(ends[1])) / expm1(log_tail(ends[2]) - log_tail(ends[1]))
      })
    }
  }
  for (law in list(c(0, 0.5), c(7, 0), c(7, 1), c(1, 0.3), c(40, 0.1), c(1000, 0.02), c(1000, 0.97), c(2e9, 1e-9),
    c(2e9, 0.4))) {
    x <- by("binomial", n, law[1], law[2])
    cut <- unique(c(-1, qbinom(c(0.05, 0.2, 0.4, 0.6, 0.8, 0.95), law[1], law[2]), law[1]))
    expected <- diff(pbinom(cut, law[1], law[2]))
    observed <- table(cut(x, cut))
    stopifnot(x == floor(x), x >= 0, x <= law[1], observed[expected == 0] == 0)
    kept <- expected > 0
    if (sum(kept) > 1) {
      stopifnot(suppressWarnings(chisq.test(observed[kept], p = expected[kept], rescale.p = TRUE))$p.value > 1e-4)
    }
  }
}
# Each count of a multinomial vector is binomial, and two together too.
for (each in 0:1) {
  weights <- c(4, 0, 1, 3, 1e-9)
  x <- vectors("multinomial", n, 5, c(12, 12), if (each) rep(weights, each = n) else weights, each)
  stopifnot(rowSums(x) == 12, x[, 2] == 0)
  for (part in list(x[, 1], x[, 1] + x[, 3])) {
    p <- if (identical(part, x[, 1])) 0.5 else 0.625
    expected <- diff(pbinom(c(-1, 3:9, 12), 12, p))
    stopifnot(chisq.test(table(cut(part, c(-1, 3:9, 12))), p = expected)$p.value > 1e-4)
  }
}
# Any combination of a normal vector is normal, and any form of a Wishart matrix is a chi-squared variable.
ways <- list(c(1, 0, 0), c(0, 1, 1), c(1, -2, 0.5))
for (way in ways) {
  for (precision in c(FALSE, TRUE)) {
    x <- vectors("normal", n, 3, rep(1:3, each = n), if (precision) solve(spread) else spread, 1, precision)
    follows(drop(x %*% way), pnorm, sum(way * 1:3), sqrt(drop(way %*% spread %*% way)))
  }
  for (df in c(2.1, 9)) {
    x <- vectors("wishart", n, 3, df, spread)
    follows(apply(x, 3, function(w) way %*% w %*% way) / drop(way %*% spread %*% way), pchisq, df)
    # With an inverse Wishart matrix S, (v' P^-1 v) / (v' S^-1 v) is a scaled one: 1 / it has df - p + 1 degrees.
    x <- vectors("wishart", n, 3, df, spread, flag = TRUE)
    follows(drop(way %*% spread %*% way) / apply(x, 3, function(w) way %*% w %*% way), pchisq, df - 2)
  }
}
w <- vectors("wishart", 3, 3, 5, spread)
stopifnot(identical(w, aperm(w, c(2, 1, 3))))
for (what in c("multinomial", "normal", "wishart")) {
  drawn <- vapply(1:400, function(i) {
    call("client_stream_row", what, source_of(first = i), if (what == "wishart") 5 else c(9, 1, 2),
      if (what == "multinomial") c(2, 1, 1) else spread, FALSE)
  }, numeric(9))
  mean <- switch(what, multinomial = c(4.5, 2.25, 2.25), normal = c(9, 1, 2), wishart = as.vector(5 * spread))
  drawn <- drawn[seq_along(mean), ]
  stopifnot(abs(rowMeans(drawn) - mean) < 4.5 * apply(drawn, 1, sd) / 20)
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
newer <- c(
  draw("exponential", 1), draw("gumbel", 1), draw("truncated", 2, 2, c(3, Inf)), draw("binomial", 2, c(9, 1000), 0.4),
  vectors("multinomial", 1, 3, 50, 1:3), vectors("normal", 1, 3, 1:3, spread), vectors("wishart", 1, 3, 5, spread)[1:3]
)
stopifnot(identical(newer, c(
  0.10526411864258454, -0.49572804540416232, 2.3811849578266315, 2.4479681968777571, 4, 414, 11, 15, 24,
  1.709804807165078, 2.3762518441049822, 2.6013643763335521, 4.6998635109738149, 3.099250460703681,
  0.68223176014621878
)))
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

# Probit regression: its C++ throws where an argument is wrong, and the error reaches R.
outcome <- as.integer(x %*% c(-0.5, 1, -0.7) + rnorm(n) > 0)
fit <- call("probit_call", x, outcome, 3000L, 2^40, 2L)
stopifnot(identical(fit[, 1:5], call("probit_call", x, outcome, 5L, 2^40, 1L)))
classic <- glm(outcome ~ x - 1, binomial("probit"))
stopifnot(abs(rowMeans(fit[, -(1:100)]) - coef(classic)) < 0.25 * sqrt(diag(vcov(classic))))
for (bad in list(list(-1, 2L, "whole number from 0"), list(1, 0L, "`threads` is 0"))) {
  message <- tryCatch(call("probit_call", x, outcome, 5L, bad[[1]], bad[[2]]), error = conditionMessage)
  stopifnot(grepl(bad[[3]], message))
}
