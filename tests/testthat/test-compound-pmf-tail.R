# compound_pmf(): where the tail is cut off, over the whole range of the parameters of each counting distribution.

counting_names <- c("poisson", "binomial", "negative_binomial", "geometric", "logarithmic")

power_of_ten <- function(low, high) 10^runif(1, low, high)

# A probability near 0 or near 1, but neither.
near_an_end <- function(low) {
  p <- power_of_ten(low, -1e-3)
  if (runif(1) < 0.5) 1 - p else p
}

# log of the continued fraction of the incomplete beta function B_x(a, b), without x^a (1 - x)^b / a; b may be 0.
log_beta_fraction <- function(a, b, x) {
  f <- c <- 1
  d <- 0
  for (i in 1:20000) {
    m <- i %/% 2
    term <- if (i %% 2 == 1) {
      -((a + m) / (a + 2 * m)) * ((a + b + m) / (a + 2 * m + 1)) * x
    } else {
      (m / (a + 2 * m - 1)) * ((b - m) / (a + 2 * m)) * x
    }
    d <- 1 / (1 + term * d)
    c <- 1 + term / c
    f <- f * c * d
    if (abs(c * d - 1) < 1e-13) break
  }
  -log(f)
}

log_ratio <- function(q, away) if (q < 0.5) log(q) else log1p(-away)

# log P(N > k) beyond the mean. R's pbinom() and pnbinom() are wrong by factors of e^90 and more for some parameters.
log_binomial_tail <- function(k, trials, prob) {
  if (k >= trials) return(-Inf)
  dbinom(k + 1, trials, prob, log = TRUE) + log1p(-prob) + log_beta_fraction(k + 1, trials - k, prob)
}

# `odds` is the mean of the negative binomial number divided by `successes`.
log_negative_binomial_tail <- function(k, successes, odds) {
  a <- k + 1
  -a * log1p(1 / odds) - successes * log1p(odds) - log(a) - lbeta(a, successes) +
    log_beta_fraction(a, successes, odds / (1 + odds))
}

# A distribution of the number with random parameters, thinned: only the share `some` of the variables is 1, the others
# are 0. So the sum has a known law. `log_tail(k)` is the logarithm of P(S > k); `ratio(n)` is P(S = n) / P(S = n - 1)
# for n >= 2.
random_counting <- function(name, some, low = c(-20, 15)) {
  size <- list(none = 1 - some, some = some)
  switch(name,
    poisson = {
      lambda <- power_of_ten(low[[1]], low[[2]])
      list(
        arguments = list(lambda = lambda), counting = warpbayes:::counting_poisson(lambda, size),
        log_tail = function(k) ppois(k, lambda * some, FALSE, TRUE), ratio = function(n) lambda * some / n,
        none = exp(-lambda)
      )
    },
    binomial = {
      trials <- floor(power_of_ten(0, low[[2]]))
      prob <- near_an_end(-15)
      power <- prob * some
      list(
        arguments = list(trials = trials, prob = prob), counting = warpbayes:::counting_binomial(trials, prob, size),
        log_tail = function(k) log_binomial_tail(k, trials, power),
        ratio = function(n) (trials - n + 1) / n * power / ((1 - prob) + prob * (1 - some)), largest = trials,
        none = dbinom(0, trials, prob)
      )
    },
    negative_binomial = {
      successes <- power_of_ten(-8, 12)
      # With odds above 1e15 the probability of a failure is 1 as a double.
      mu <- min(power_of_ten(-10, low[[2]] - 3), 1e14 * successes)
      odds <- mu / successes
      list(
        arguments = list(successes = successes, mu = mu),
        counting = warpbayes:::counting_negative_binomial(successes, odds, size),
        log_tail = function(k) log_negative_binomial_tail(k, successes, odds * some),
        ratio = function(n) (successes + n - 1) / n * odds * some / (1 + odds * some),
        none = exp(-successes * log1p(odds))
      )
    },
    geometric = {
      prob <- near_an_end(-low[[2]])
      odds <- (1 - prob) / prob
      list(
        arguments = list(prob = prob), counting = warpbayes:::counting_negative_binomial(1, odds, size),
        log_tail = function(k) -(k + 1) * log1p(1 / (odds * some)),
        ratio = function(n) odds * some / (1 + odds * some), none = prob
      )
    },
    logarithmic = {
      prob <- near_an_end(-low[[2]])
      away <- (1 - prob) / ((1 - prob) + prob * some)
      q <- prob * some / ((1 - prob) + prob * some)
      list(
        arguments = list(prob = prob), counting = warpbayes:::counting_logarithmic(prob, size),
        log_tail = function(k) {
          (k + 1) * log_ratio(q, away) - log(k + 1) + log_beta_fraction(k + 1, 0, q) - log(-log1p(-prob))
        },
        ratio = function(n) q * (n - 1) / n, none = 0
      )
    }
  )
}

test_that("the search for the tail keeps the bound and is at most twice too far, for all parameters", {
  # Both are theorems (Chernoff's bound) or measured on 50,000 cases, not chances: a failure is an error.
  each <- if (extended()) 2000 else 60
  set.seed(1)
  for (name in counting_names) {
    for (i in seq_len(each)) {
      some <- if (runif(1) < 0.5) 1 else power_of_ten(-8, 0)
      case <- random_counting(name, some)
      log_tail <- log(power_of_ten(-300, -8))
      largest <- if (is.null(case$largest)) Inf else case$largest
      outputs <- warpbayes:::outputs_to_tail(case$counting, largest, 1, 1, log_tail)
      label <- paste(name, paste(names(case$arguments), "=", unlist(case$arguments), collapse = ", "), some, log_tail)
      expect_gte(outputs, 1)
      # A sum of 1e12 terms has its logarithms to within 0.01.
      if (outputs - 1 < largest) expect_lte(case$log_tail(outputs - 1), log_tail + 0.01, label = label)
      half <- floor((outputs - 1) / 2) - 1
      if (half > case$counting$mean) expect_gt(case$log_tail(half), log_tail, label = label)
    }
  }
})

test_that("random parameters give the known law up to the tail", {
  each <- if (extended()) 400 else 12
  done <- 0
  set.seed(2)
  for (name in counting_names) {
    for (i in seq_len(each)) {
      some <- if (runif(1) < 0.5) 1 else power_of_ten(-3, 0)
      size <- if (some == 1) pmf(1, from = 1) else pmf(c(1 - some, some))
      some <- warpbayes:::size_on_lattice(size)$some
      case <- random_counting(name, some, low = c(-5, 4))
      tail <- power_of_ten(-30, -8)
      zero <- if (runif(1) < 0.5) runif(1)
      label <- paste(name, paste(names(case$arguments), "=", unlist(case$arguments), collapse = ", "), some, tail)
      if (warpbayes:::outputs_to_tail(case$counting, Inf, 1, 1, log(tail) - 30) > 2e5) next
      done <- done + 1
      x <- do.call(compound_pmf, c(list(name, size, tail = tail, zero = zero, threads = 2), case$arguments))
      last <- warpbayes:::last_of(x)
      scale <- if (is.null(zero)) 1 else (1 - zero) / (1 - case$none)
      if (case$none < 1 - 1e-6 && last < (if (is.null(case$largest)) Inf else case$largest)) {
        expect_lte(case$log_tail(last) + log(scale), log(tail), label = label)
      }
      expect_lt(abs(sum(x$prob) - 1), tail + 1e-11, label = label)
      # The ratios of neighbours, where neither is near the smallest doubles.
      n <- x$from + seq_along(x$prob)[-1L] - 1
      seen <- n >= 2 & x$prob[-1L] > 1e-290 & x$prob[-length(x$prob)] > 1e-290
      ratio <- x$prob[-1L] / x$prob[-length(x$prob)]
      if (any(seen)) expect_lt(max(abs(ratio[seen] / case$ratio(n[seen]) - 1)), 1e-9, label = label)
    }
  }
  expect_gt(done, 4 * each)
})

test_that("parameters that were refused or gave wrong probabilities are right", {
  one <- pmf(1, from = 1)
  x <- compound_pmf("negative_binomial", one, successes = 0.5, mu = 1000, threads = 2)
  expect_equal(mean(x), 1000)
  expect_equal(mean(compound_pmf("geometric", one, prob = 1e-4, threads = 2)), 9999)
  expect_equal(mean(compound_pmf("logarithmic", one, prob = 0.999, threads = 2)), 999 / -log1p(-0.999))
  # The probability that the sum of modified zeros is 0 was lost where exp(lambda) overflows, or prob is 1.
  coin <- pmf(c(0.75, 0.25))
  expect_equal(dpmf(compound_pmf("poisson", coin, lambda = 1000, zero = 0.1, threads = 2), 0), 0.1)
  expect_equal(dpmf(compound_pmf("binomial", coin, trials = 10, prob = 1, zero = 0.1, threads = 2), 0),
    0.1 + 0.9 * 0.75^10
  )
  # Nearly Poisson: the logarithm of a probability near 1 lost its digits.
  x <- compound_pmf("negative_binomial", one, successes = 1e12, mu = 3, threads = 2)
  expect_equal(x$prob[1:20], dpois(0:19, 3), tolerance = 1e-10)
  x <- compound_pmf("negative_binomial", one, successes = 1e300, mu = 2, threads = 2)
  expect_equal(x$prob[1:15], dpois(0:14, 2), tolerance = 1e-12)
  # Hardly any variable differs from zero.
  rare <- pmf(c(1 - 1e-12, 1e-12))
  x <- compound_pmf("poisson", rare, lambda = 3, tail = 1e-30, threads = 2)
  expect_equal(dpmf(x, 1) / dpois(1, 3e-12), 1, tolerance = 1e-13)
  expect_error(compound_pmf("negative_binomial", one, successes = 1e-300, mu = 1e300), "`mu` is so extreme",
    class = "warpbayes_error_input"
  )
  # A refusal states the size in few digits.
  expect_error(compound_pmf("negative_binomial", one, successes = 1, mu = 1e200),
    "would have [0-9.]+e\\+20[0-9] probabilities \\([0-9.]+e\\+20[0-9] B\\), more than R allows",
    class = "warpbayes_error_input"
  )
})
