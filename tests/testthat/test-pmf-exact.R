# All verbs on random distributions against exact rational arithmetic in plain R (tests/reference/exact_law.R).
#
# Laws on decimal, fractional and negative lattices, with probabilities down to 1e-80: every value is the double nearest
# to the exact value. The largest relative error of 10,002 laws was 1.1e-15. Probabilities below 1e-290, which doubles
# may hold with fewer digits or not at all, are left out.

references <- test_path("..", "reference")
skip_if_not(dir.exists(references), "the tests were not installed with tests/reference")
sys.source(file.path(references, "exact_law.R"), environment())

largest_error <- 0

expect_exact <- function(x, exact, label, prob = exact_prob(exact), tolerance = 1e-14) {
  frame <- as.data.frame(x)
  if (!is.null(frame$log_prob)) frame$prob <- exp(frame$log_prob)
  frame <- frame[frame$prob > 1e-290, ]
  seen <- prob > 1e-290
  prob <- prob[seen]
  same <- identical(frame$value, exact$value[seen] / exact$parts)
  expect_true(same, label = paste(label, "has the exact values"))
  if (!same) return(invisible())
  error <- max(abs(frame$prob / prob - 1))
  if (tolerance == 1e-14) largest_error <<- max(largest_error, error)
  expect_lt(error, tolerance, label = label)
}

# A law as a user would give it, and exactly. Numbers are often the results of sums, with their rounding errors.
random_exact <- function() {
  parts <- sample(c(1, 1, 2, 3, 7, 10, 10, 20, 64, 100, 100, 1000), 1)
  step <- sample(c(1, 1, 2, 5, 30), 1)
  origin <- sample(c(0, -5:5, -500, 700), 1)
  n <- sample(1:8, 1)
  raw <- runif(n)^sample(c(1, 8, 40), 1)
  if (n > 2) raw[sample(n, n %/% 3)] <- 0
  prob <- raw / sum(raw)
  part <- sample(-3:3, 1)
  from <- part / parts + (origin - part) / parts
  value <- origin + step * (seq_len(n) - 1)
  x <- if (parts %in% c(1, 10, 100, 1000) && runif(1) < 0.3) {
    pmf(prob, values = value / parts)
  } else {
    pmf(prob, from = from, by = step / parts)
  }
  list(x = x, exact = exact_law(value, parts, prob), parts = parts)
}

one_of <- function(x) x[[sample.int(length(x), 1)]]

check_verbs <- function(label) {
  a <- random_exact()
  b <- random_exact()
  x <- a$x
  y <- b$x
  ax <- a$exact
  by <- b$exact
  say <- function(verb) paste(label, verb)
  expect_exact(x, ax, say("pmf"))
  expect_exact(x + y, exact_pair(ax, by, `+`), say("+"))
  expect_exact(x - y, exact_pair(ax, by, `-`), say("-"))
  expect_exact(max(x, y), exact_pair(ax, by, pmax), say("max"))
  expect_exact(min(x, y), exact_pair(ax, by, pmin), say("min"))
  three <- exact_pair(exact_pair(ax, ax, `+`), ax, `+`)
  expect_exact(rep_sum_pmf(x, 3, threads = 1), three, say("rep_sum"))
  expect_exact(sum_pmf(list(x, y, x), threads = 1), exact_pair(exact_pair(ax, ax, `+`), by, `+`), say("sum"))
  times <- sample(c(2, 3, 5, -1, -4), 1)
  expect_exact(x * times, exact_map(ax, function(v) v * times), say("times"))
  divided <- exact_map(ax, function(v) v * sign(times))
  divided$parts <- divided$parts * abs(times)
  expect_exact(x / times, divided, say("divided"))
  moved <- sample(-9:9, 1)
  shifted <- exact_map(exact_in_parts(ax, ax$parts * b$parts), function(v) v + moved * a$parts)
  expect_exact(x + moved / b$parts, shifted, say("shift"))
  share <- sample(c(0.25, 0.5, 0.0625), 1)
  expect_exact(mix_pmf(list(x, y), c(share, 1 - share)), exact_mix(ax, by, c(share, 1 - share)), say("mix"))
  # A layer that begins at one of the values.
  from <- one_of(ax$value)
  limit <- sample(1:40, 1)
  layer <- exact_map(ax, function(v) pmin(pmax(v - from, 0), limit))
  expect_exact(layer_pmf(x, from / a$parts, limit / a$parts), layer, say("layer"))
  kept <- exact_keep(ax, ax$value >= from)
  of <- max(exact_sums(kept))
  expect_exact(truncate(x, from / a$parts), kept, say("truncate"), exact_prob(kept) / of)
  ends <- exact_map(ax, function(v) pmax(v, from))
  expect_exact(truncate(x, from / a$parts, outside = "ends"), ends, say("truncate to ends"))
  if (any(ax$value != 0)) {
    other <- exact_keep(ax, ax$value != 0)
    changed <- exact_mix(exact_law(0, 1, 1), other, c(0.5, 0.5))
    of <- ifelse(changed$value == 0, 1, max(exact_sums(other)))
    expect_exact(zero_modify_pmf(x, 0.5), changed, say("zero_modify"), exact_prob(changed) / of)
  }
  # Two numbers from one sum.
  total <- one_of(ax$value) * b$parts + one_of(by$value) * a$parts
  i <- ax$value * b$parts
  pair <- match(total - i, by$value * a$parts)
  joint <- exact_keep(ax, !is.na(pair))
  joint$weight <- big_times(joint$weight, by$weight[pair[!is.na(pair)], , drop = FALSE])
  joint$bits <- ax$bits + by$bits
  given <- condition_on_sum_pmf(x, y, total / (a$parts * b$parts))$x
  expect_exact(given, joint, say("condition"), exact_prob(joint) / max(exact_sums(joint)))
  # The values, as they print, find their probabilities.
  value <- as.numeric(format(ax$value / ax$parts, digits = 15))
  expect_identical(dpmf(x, value), exact_prob(ax), label = say("dpmf"))
  error <- c(ppmf(x, value) / pmin(exact_sums(ax), 1), dpmf(x, value[[1L]]) / exact_prob(ax)[[1L]])
  upper <- c(exact_sums(ax, upper = TRUE)[-1L], 0)
  above <- ppmf(x, value, lower.tail = FALSE)
  error <- abs(c(error, (above / pmin(upper, 1))[upper > 0]) - 1)
  largest_error <<- max(largest_error, error)
  expect_lt(max(error), 1e-14, label = say("ppmf"))
  expect_identical(above[upper == 0], 0 * above[upper == 0])
  if (min(ax$value) >= 0) {
    number <- pmf(c(0.25, 0.5, 0.125, 0.125))
    exact <- exact_mix(exact_law(0, 1, 1), ax, c(0.25, 0.5))
    exact <- exact_mix(exact, exact_pair(ax, ax, `+`), c(1, 0.125))
    exact <- exact_mix(exact, three, c(1, 0.125))
    expect_exact(compound_pmf(number, x, tail = 0, threads = 1), exact, say("compound"))
  }
}

test_that("every entry of every verb is that of exact arithmetic", {
  set.seed(41)
  laws <- if (extended()) 10000 else if (repeated()) 10 else 40
  for (i in seq_len(laws / 2)) check_verbs(paste("pair", i))
  if (nzchar(Sys.getenv("WARPBAYES_SAY_ERRORS"))) message("largest relative error: ", largest_error)
})

test_that("values are exact on the log scale, too", {
  set.seed(44)
  # rep_sum_pmf() of one copy changes the scale.
  as_logs <- function(x) rep_sum_pmf(x, 1, log = TRUE, threads = 1)
  for (i in seq_len(if (extended()) 1000 else if (repeated()) 3 else 10)) {
    a <- random_exact()
    b <- random_exact()
    # A logarithm of 500 has lost three of the digits of its number.
    check <- function(x, exact, verb) expect_exact(x, exact, paste("logs", i, verb), tolerance = 1e-12)
    x <- as_logs(a$x)
    check(x + b$x, exact_pair(a$exact, b$exact, `+`), "+")
    check(b$x - x, exact_pair(b$exact, a$exact, `-`), "-")
    check(max(x, b$x), exact_pair(a$exact, b$exact, pmax), "max")
    check(min(b$x, x), exact_pair(a$exact, b$exact, pmin), "min")
    check(rep_sum_pmf(x, 2, threads = 1), exact_pair(a$exact, a$exact, `+`), "rep_sum")
    check(mix_pmf(list(b$x, x), c(0.25, 0.75)), exact_mix(b$exact, a$exact, c(0.25, 0.75)), "mix")
    from <- one_of(a$exact$value)
    check(layer_pmf(x, from / a$parts), exact_map(a$exact, function(v) pmax(v - from, 0)), "layer")
  }
})

# A probability whose distance from 1 is a double, too, often near 0 or 1.
corner <- function() {
  p <- round(2^53 * 10^-runif(1, 0, sample(c(1, 14), 1))) / 2^53
  if (runif(1) < 0.5) p else 1 - p
}

test_that("binomial compounds are exact in every entry, at the corners of their parameters, too", {
  set.seed(42)
  for (i in seq_len(if (extended()) 2000 else if (repeated()) 5 else 25)) {
    trials <- sample(1:12, 1)
    prob <- if (runif(1) < 0.3) 1 else corner()
    none <- corner()
    size <- c(none, 1 - none)
    one <- exact_mix(exact_law(0, 1, 1), exact_law(c(0, 1), 1, size), c(1 - prob, prob))
    sum <- one
    for (j in seq_len(trials)[-1L]) sum <- exact_pair(sum, one, `+`)
    x <- compound_pmf("binomial", pmf(size), trials = trials, prob = prob, tail = 0, threads = 1)
    last <- as.data.frame(x)$value
    sum <- exact_keep(sum, sum$value <= max(last))
    seen <- exact_prob(sum) > 1e-290
    error <- max(abs(dpmf(x, sum$value)[seen] / exact_prob(sum)[seen] - 1))
    expect_lt(error, 2e-15 * (trials + 2), label = paste("binomial", i, trials, prob, none))
  }
  bad <- compound_pmf("binomial", pmf(c(1e-12, 1 - 1e-12)), trials = 20, prob = 1, tail = 1e-300, threads = 1)
  expect_equal(dpmf(bad, 0) / 1e-240, 1, tolerance = 1e-14)
})

test_that("other compounds are right at the corners of their parameters", {
  set.seed(43)
  largest <- 0
  for (i in seq_len(if (extended()) 5000 else if (repeated()) 10 else 100)) {
    none <- corner()
    some <- 1 - none
    size <- pmf(c(none, some))
    mean <- 10^runif(1, -12, 2.5)
    zero <- if (runif(1) < 0.5) runif(1)^4
    modified <- function(apart, certain) if (is.null(zero)) 0 else zero + (1 - zero) * apart / certain
    scale <- function(certain) if (is.null(zero)) 1 else (1 - zero) / certain
    name <- sample(c("poisson", "negative_binomial", "logarithmic"), 1)
    n <- 1:40
    case <- switch(name,
      poisson = {
        # P(no claim differs from zero, but there are claims) = e^(-mean some) - e^(-mean).
        apart <- if (mean * none > 1) exp(-mean * some) - exp(-mean) else exp(-mean) * expm1(mean * none)
        certain <- -expm1(-mean)
        list(list(lambda = mean), if (is.null(zero)) exp(-mean * some) else modified(apart, certain),
          exp(-mean * some) * cumprod(mean * some / n) * scale(certain))
      },
      negative_binomial = {
        r <- 10^runif(1, -3, 3)
        odds <- mean / r
        without <- exp(-r * log1p(odds * some))
        apart <- -without * expm1(-r * log1p(odds * none / (1 + odds * some)))
        certain <- -expm1(-r * log1p(odds))
        list(list(successes = r, mu = mean), if (is.null(zero)) without else modified(apart, certain),
          without * cumprod(odds * some / (1 + odds * some) * (r + (n - 1)) / n) * scale(certain))
      },
      logarithmic = {
        prob <- corner()
        none_of <- log1p(-prob * none) / log1p(-prob)
        q <- prob * some / ((1 - prob) + prob * some)
        list(list(prob = prob), if (is.null(zero)) none_of else zero + (1 - zero) * none_of,
          exp(n * log(q)) / n / -log1p(-prob) * scale(1))
      }
    )
    label <- paste(name, i, none, paste(unlist(case[[1]]), collapse = " "), zero)
    if (name == "logarithmic" && case[[1]]$prob > 1 - 1e-4) next
    x <- do.call(compound_pmf, c(list(name, size, zero = zero, tail = 1e-300, threads = 1), case[[1]]))
    exact <- c(case[[2]], case[[3]])
    at <- which(exact > 1e-290 & c(0, n) <= max(as.data.frame(x)$value))
    # Errors grow with the number of variables, and exp() of a large number loses as many digits as the number has.
    error <- max(abs(dpmf(x, c(0, n))[at] / exact[at] - 1) / (1 + c(0, n)[at] + abs(log(exact[at]))))
    largest <- max(largest, error)
    expect_lt(error, 2e-15, label = label)
  }
  if (nzchar(Sys.getenv("WARPBAYES_SAY_ERRORS"))) message("largest relative error of other compounds: ", largest)
})
