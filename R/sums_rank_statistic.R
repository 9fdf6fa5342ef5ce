#' Exact rank tests, and distributions of rank statistics
#'
#' `rank_test()` is an exact permutation test of two samples or of pairs, with or without ties. Null distributions are
#' `pmf_signed_rank()` of Wilcoxon's signed-rank statistic; `pmf_rank_sum()` of Wilcoxon's rank-sum statistic W of
#' [wilcox.test()] (the U of Mann and Whitney); `pmf_linear_rank()` of the sum of the scores of a group drawn at random;
#' and `pmf_signed_scores()` of the sum of scores that count with probability 1/2. `exact_p_value()` gives p-values.
#'
#' Equal values get the mean of their ranks. Differences (of pairs, or from `mu`) count as equal if rounding explains
#' their difference, such as 0.3 - 0.2 and 0.1. Probabilities have relative errors below 1e-13. Where counting groups
#' would take too long, as for 1,000 values each, laws come from Fourier transforms under tilting. Then sums that are
#' far less probable than their neighbours have errors up to 1e-11 of the neighbours' probability. Scores with too many
#' different sums are rounded to multiples of a step, which a message names. The test is exact for the rounded scores.
#'
#' @param x,y samples; for `pmf_signed_rank()` differences, or pairs if `y` is given; for `exact_p_value()` `x` is a
#'   distribution made by [pmf()]. For `rank_test()` `x` may be a formula: `value ~ group`, or `value ~ group | block`
#'   if ranks count within blocks. The first level of `group` is the first sample. Missing values are left out.
#' @param data for a formula, a data frame; also as second argument.
#' @param zeros `"drop"` leaves differences of 0 out before ranking, as Wilcoxon did; `"pratt"` leaves their ranks out.
#' @param scores a score for each value. For `rank_test()` a function of the ranks, such as `function(r) qnorm(r /
#'   (length(r) + 1))` for normal scores; the default is the ranks themselves.
#' @param size how many of the values are in the group whose scores are added.
#' @param by the step that scores are rounded to. The default is the longest that makes them exact.
#' @param statistic observed values of the statistic.
#' @param alternative `"two.sided"`, `"less"` or `"greater"`.
#' @param method the two-sided p-value: `"doubled"`, twice the smaller of the two tails, at most 1, as in R and SciPy;
#'   `"distance"`, the probability of values at least as far from the mean, as in package coin; or `"likelihood"`, the
#'   probability of values that are at most as probable, as in [fisher.test()].
#' @param paired whether `x` and `y` are pairs.
#' @param mu the difference under the null hypothesis.
#' @param level the level of an interval for the difference, which has all `mu` that the test does not reject, if the
#'   scores are ranks; `NULL` for none.
#' @return A [pmf()]. `exact_p_value()` gives a number for each statistic. `rank_test()` gives an object of class
#'   `htest`, as [wilcox.test()] does, with the Hodges-Lehmann estimate, and the null distribution as `distribution`.
#' @inheritSection pmf_functions Errors
#' @references
#' Streitberg, B. and Roehmel, J. (1986). Exact distributions for permutation and rank tests: an introduction to some
#' recently published algorithms. *Statistical Software Newsletter* 12(1), 10-17.
#' Hodges, J. L. and Lehmann, E. L. (1963). Estimates of location based on rank tests. *Annals of Mathematical
#' Statistics* 34, 598-611. \doi{10.1214/aoms/1177704172}
#' @examples
#' rank_test(c(7, 5, 6, 9, 8, 7, 4, 8), c(5, 4, 5, 6, 6, 6, 4, 7), paired = TRUE, level = 0.95)
#' rank_test(yield ~ N | block, npk)
#' w <- pmf_rank_sum(c(3, 3, 5, 6, 7), c(1, 2, 3, 3))
#' exact_p_value(w, 18, method = "distance")
#' @name rank_statistics
NULL

#' @rdname rank_statistics
#' @export
pmf_signed_rank <- function(x, y = NULL, zeros = c("drop", "pratt")) {
  signed_part(x, y, 0, zeros, NULL, NULL, signed_scores_law)$law
}

#' @rdname rank_statistics
#' @export
pmf_rank_sum <- function(x, y) {
  rank_sum_part(x, y, 0, NULL, NULL, linear_rank_law)$law
}

#' @rdname rank_statistics
#' @export
pmf_linear_rank <- function(scores, size, by = NULL) {
  scores <- check_scores(scores)
  size <- check_count(size, "size", min = 0, max = length(scores))
  linear_rank_law(linear_lattice(scores, size, by), size)
}

#' @rdname rank_statistics
#' @export
pmf_signed_scores <- function(scores, by = NULL) {
  signed_scores_law(signed_lattice(check_scores(scores), by))
}

linear_lattice <- function(scores, size, by, argument = "scores") {
  lattice_of_scores(scores, by, size, function(at) min(group_seconds(at, size)), argument)
}

linear_rank_law <- function(lattice, size) {
  code <- encode_gaps(lattice$at, size)
  counts <- count_groups(sort(code$at), size)
  first <- min(code$value(counts$first))
  scores_law(counts$weights, code$value(counts$first + seq_along(counts$weights) - 1) - first,
    size * lattice$first + lattice$by * first, lattice$by)
}

# The law of a sum that is `from` + `by` times the positions `at`, from weights in proportion to the probabilities.
scores_law <- function(weights, at, from, by) {
  possible <- weights > 0
  pmf_at(weights[possible] / total_weight(weights, FALSE), at[possible], read_lattice(from, by), FALSE)
}

signed_lattice <- function(scores, by, argument = "scores") {
  seconds <- function(at) 1e-9 * length(at) * sum(at)
  lattice <- lattice_of_scores(c(0, abs(scores)), by, length(scores), seconds, argument)
  list(first = 0, by = lattice$by, at = sign(scores) * lattice$at[-1L])
}

signed_scores_law <- function(lattice) {
  code <- encode_gaps(c(0, abs(lattice$at)), length(lattice$at))
  at <- sort(code$at[code$at > 0])
  check_result_size(sum(at) + 1, NULL, "sums")
  halves <- rep(list(c(0.5, 0.5)), length(at))
  weights <- if (length(at) == 0L) 1 else shifted_sums(1, lapply(at, function(one) c(0, one)), halves, sum(at) + 1)
  scores_law(weights, code$value(seq_along(weights) - 1), lattice$by * sum(lattice$at[lattice$at < 0]), lattice$by)
}

# Scores are first + by * at, where `at` are whole numbers from 0. `seconds(at)` is how long counting takes.
lattice_of_scores <- function(scores, by, size, seconds, argument) {
  least <- min(scores)
  rounded_to <- function(step) {
    steps <- round(scores / step)
    list(first = step * min(steps), by = step, at = steps - min(steps))
  }
  seconds_of <- function(lattice) seconds(encode_gaps(lattice$at, size)$at)
  if (!is.null(by)) {
    by <- check_number(by, "by", min = 0)
    if (max(abs(scores)) / by > 2^52) stop_input("by", "is ", show_value(by), ": scores are more than 2^52 such steps")
    lattice <- rounded_to(by)
    check_operations(1e9 * seconds_of(lattice), "by")
    return(lattice)
  }
  found <- null_if_refused(lattice_of_values(scores)$lattice)
  if (!is.null(found)) {
    step <- found$step / found$parts
    lattice <- list(first = least, by = step, at = round((scores - least) / step))
    # Ranks, and what has no more different values, are not rounded.
    if (seconds_of(lattice) <= if (max(lattice$at) <= 100 * length(scores)) 20 else 0.5) return(lattice)
  }
  steps <- as.vector(outer(c(1, 2, 5), 10^(floor(log10(max(scores) - least)) - 6:1)))
  quick_enough <- vapply(steps, function(step) seconds_of(rounded_to(step)) <= 0.02, NA)
  if (!any(quick_enough)) {
    stop_input(argument, sprintf("has too many values (%d) to count all groups", length(scores)),
      if (!is.null(found)) sprintf(", which would take about %.0f seconds", seconds_of(lattice)),
      ". A normal approximation is accurate here")
  }
  step <- steps[quick_enough][[1L]]
  tell("rounded", sprintf("scores are rounded to multiples of %s; `by` sets another step", format(step)))
  rounded_to(step)
}

# How long it takes to count all groups one score after the other, and to find the law by Fourier transforms
# (src/pmf/rank_sums.c). Numbers of groups beyond 2^1900 cannot be counted.
group_seconds <- function(at, size) {
  size <- min(size, length(at) - size)
  sorted <- sort(at)
  sums <- sum(rev(sorted)[seq_len(size)]) - sum(sorted[seq_len(size)])
  additions <- length(at) * size * (300 + sums / 3)
  c(count = if (lchoose(length(at), size) > 1300) Inf else 2.5e-10 * additions,
    transform = 2.8e-4 * sqrt((sums + 1) * length(unique(at))) + 2e-7 * length(at))
}

# The first sum of this many scores (increasing whole numbers), and weights in proportion to the numbers of groups.
count_groups <- function(at, size) {
  n <- length(at)
  if (size > n - size) {
    others <- count_groups(at, n - size)
    return(list(first = sum(at) - others$first - length(others$weights) + 1, weights = rev(others$weights)))
  }
  first <- sum(at[seq_len(size)])
  count <- sum(rev(at)[seq_len(size)]) - first + 1
  way <- fastest_way(group_seconds(at, size), c(count = count * (size / 2 + 1), transform = count), "size", "sums", 2)
  run <- resolve_run("cpu", work = 0)
  list(first = first, weights = native(C_pmf_groups, at, size, count, way == "count", run))
}

check_scores <- function(scores) {
  check_present(!missing(scores), "scores")
  values <- given_data(scores, "scores")
  must_be(is.numeric(values) && length(values) > 0L && all(is.finite(values)), "scores", "finite numbers", scores)
  as.double(values)
}

check_sample <- function(x, argument) {
  check_present(!missing(x), argument)
  values <- given_data(x, argument)
  must_be(is.numeric(values) && !is.object(values) && !any(is.infinite(values)), argument,
    "a vector of finite numbers", x)
  as.double(values)
}

# The mean ranks of values, of which two are equal if they differ by at most the sum of their rounding errors.
ranks_of <- function(values, errors) {
  sorted <- order(values)
  later <- sorted[-1L]
  earlier <- sorted[-length(sorted)]
  group <- cumsum(c(TRUE, values[later] - values[earlier] > errors[later] + errors[earlier]))
  ranks <- numeric(length(values))
  ranks[sorted] <- rank(group)
  ranks
}

# How much rounding, also of the numbers that are subtracted, can change a difference; 0 if nothing was subtracted.
rounding_of <- function(...) {
  sizes <- lapply(list(...), abs)
  if (sum(vapply(sizes, function(size) any(size > 0), NA)) < 2L) return(0 * Reduce(`+`, sizes))
  .Machine$double.eps * Reduce(`+`, sizes)
}

# Scores of the absolute differences that are not zero, and which of them are positive.
signed_ranks <- function(x, y, mu, zeros, scores) {
  zeros <- check_choice(zeros, "zeros", c("drop", "pratt"))
  x <- check_sample(x, "x")
  if (!is.null(y)) {
    y <- check_sample(y, "y")
    if (length(x) != length(y)) stop_input("y", sprintf("has %d values and `x` has %d", length(y), length(x)))
  }
  used <- !is.na(if (is.null(y)) x else x - y)
  x <- x[used]
  y <- if (is.null(y)) 0 else y[used]
  difference <- x - y - mu
  errors <- rounding_of(x, y, mu)
  difference[abs(difference) <= errors] <- 0
  kept <- if (zeros == "drop") difference != 0 else TRUE
  difference <- difference[kept]
  if (!any(difference != 0)) stop_input("x", "has no differences other than 0")
  values <- scores_of_ranks(ranks_of(abs(difference), errors[kept]), scores)
  list(scores = values[difference != 0], positive = difference[difference != 0] > 0)
}

pooled_scores <- function(x, y, mu, scores) {
  x <- check_sample(x, "x")
  y <- check_sample(y, "y")
  x <- x[!is.na(x)]
  y <- y[!is.na(y)]
  if (length(x) == 0L) stop_input("x", "has no values")
  if (length(y) == 0L) stop_input("y", "has no values")
  ranks <- ranks_of(c(x - mu, y), c(rounding_of(x, mu), numeric(length(y))))
  list(scores = scores_of_ranks(ranks, scores), group = seq_along(x))
}

scores_of_ranks <- function(ranks, scores) {
  if (is.null(scores)) return(ranks)
  check_is_function(scores, "scores", "a function of ranks")
  result <- scores(ranks)
  if (!is.numeric(result) || length(result) != length(ranks) || any(!is.finite(result))) {
    stop_input("scores", sprintf("must give a finite number for each of %d ranks, not ", length(ranks)),
      show_value(result))
  }
  as.double(result)
}

#' @rdname rank_statistics
#' @export
exact_p_value <- function(x, statistic, alternative = c("two.sided", "less", "greater"),
                        method = c("doubled", "distance", "likelihood")) {
  check_pmf(x, "x")
  statistic <- check_values(statistic, "statistic")
  alternative <- check_choice(alternative, "alternative", c("two.sided", "less", "greater"))
  method <- check_choice(method, "method", c("doubled", "distance", "likelihood"))
  least <- ppmf(x, statistic)
  # P(X >= t), also for numbers that are no values.
  most <- pmin(ppmf(x, statistic, lower.tail = FALSE) + dpmf(x, statistic), 1)
  if (alternative == "less") return(least)
  if (alternative == "greater") return(most)
  if (method == "doubled") return(pmin(2 * pmin(least, most), 1))
  # Probabilities have relative errors below 1e-11, and twice the mean in steps of the law is a whole number if it is
  # close to one. Distances in steps are then exact.
  at <- positions_of(x)
  if (method == "likelihood") {
    extremity <- -prob_of(x, TRUE)
    observed <- -dpmf(x, statistic, log = TRUE) - 1e-11
  } else {
    lattice <- lattice_of(x)
    twice <- 2 * (mean(x) * lattice$parts - lattice$origin) / lattice$step
    if (abs(twice - round(twice)) <= 64 * .Machine$double.eps * max(twice, 1)) twice <- round(twice)
    near <- nearest_position(lattice, statistic)
    position <- ifelse(near$there, near$position, (statistic * lattice$parts - lattice$origin) / lattice$step)
    extremity <- abs(2 * at - twice)
    observed <- abs(2 * position - twice)
  }
  weights <- prob_of(x)
  vapply(observed, function(one) if (is.na(one)) NA_real_ else min(sum(weights[extremity >= one]), 1), 0)
}

#' @rdname rank_statistics
#' @export
rank_test <- function(x, y = NULL, paired = FALSE, mu = 0, alternative = c("two.sided", "less", "greater"),
                      method = c("doubled", "distance", "likelihood"), scores = NULL, zeros = c("drop", "pratt"),
                      by = NULL, level = NULL, data = NULL) {
  require_arguments("x")
  paired <- check_flag(paired, "paired")
  mu <- check_number(mu, "mu")
  alternative <- check_choice(alternative, "alternative", c("two.sided", "less", "greater"))
  method <- check_choice(method, "method", c("doubled", "distance", "likelihood"))
  if (!is.null(level)) level <- check_probability(level, "level", zero = FALSE, one = FALSE)
  if (inherits(x, "formula")) {
    if (is.null(data)) data <- y
    names <- paste(deparse1(x[[2L]]), "by", deparse1(x[[3L]]))
    samples <- samples_of_formula(x, data)
  } else {
    if (!is.null(data)) stop_input("data", "is for a formula")
    if (is.null(y) && paired) stop_input("y", "is missing: pairs need it")
    names <- paste(c(deparse1(substitute(x)), if (!is.null(y)) deparse1(substitute(y))), collapse = " and ")
    samples <- list(list(x = x, y = y))
  }
  if (paired && length(samples) > 1L) {
    stop_input("paired", "is TRUE, and `x` has blocks: each pair is a block of its own")
  }
  signed <- is.null(samples[[1L]]$y) || paired
  laws <- lapply(samples, function(one) remembering(if (signed) signed_scores_law else linear_rank_law))
  at <- function(mu) {
    parts <- Map(function(one, law) {
      if (signed) return(signed_part(one$x, one$y, mu, zeros, scores, by, law))
      rank_sum_part(one$x, one$y, mu, scores, by, law)
    }, samples, laws)
    laws <- lapply(parts, `[[`, "law")
    list(law = if (length(laws) == 1L) laws[[1L]] else sum_pmf(laws, accuracy = 0),
      statistic = sum(vapply(parts, `[[`, 0, "statistic")))
  }
  test <- at(mu)
  shift <- if (signed && is.null(samples[[1L]]$y)) "location" else "location shift"
  differences <- if (is.null(scores)) shifts_of(samples, signed)
  structure(list(
    statistic = stats::setNames(test$statistic, if (!is.null(scores)) "S" else if (signed) "V" else "W"),
    parameter = NULL, p.value = exact_p_value(test$law, test$statistic, alternative, method),
    conf.int = if (!is.null(level) && is.null(scores)) interval_of_shifts(differences, at, alternative, level),
    estimate = if (is.null(scores)) {
      stats::setNames(stats::median(differences), if (signed) "(pseudo)median" else "difference in location")
    },
    null.value = stats::setNames(mu, shift), alternative = alternative, data.name = names, distribution = test$law,
    method = sprintf("Exact %s test%s%s", if (signed) "signed-rank" else "rank-sum",
      if (is.null(scores)) "" else " with scores", if (length(samples) > 1L) " within blocks" else "")
  ), class = "htest")
}

# The function `law`, which keeps its last result: shifted samples without ties all have one law.
remembering <- function(law) {
  last <- NULL
  function(lattice, ...) {
    key <- list(sort(lattice$at), lattice$first, lattice$by, ...)
    if (!identical(key, last$key)) last <<- list(key = key, law = law(lattice, ...))
    last$law
  }
}

# The law and the value of a statistic, for the scores as they were counted.
signed_part <- function(x, y, mu, zeros, scores, by, law) {
  ranks <- signed_ranks(x, y, mu, zeros, scores)
  lattice <- signed_lattice(ranks$scores, by, "x")
  list(law = law(lattice), statistic = lattice$by * sum(lattice$at[ranks$positive]))
}

rank_sum_part <- function(x, y, mu, scores, by, law) {
  ranks <- pooled_scores(x, y, mu, scores)
  size <- length(ranks$group)
  lattice <- linear_lattice(ranks$scores, size, by, "x")
  least <- if (is.null(scores)) size * (size + 1) / 2 else 0
  list(law = law(lattice, size) - least,
    statistic = sum(lattice$first + lattice$by * lattice$at[ranks$group]) - least)
}

# The samples of `value ~ group`, or of each block of `value ~ group | block`.
samples_of_formula <- function(formula, data) {
  if (!is.null(data) && !is.data.frame(data)) stop_input("data", "must be a data frame, not ", show_value(data))
  if (length(formula) != 3L) stop_input("x", "must have the values on its left side, not ", show_value(formula))
  right <- formula[[3L]]
  has_blocks <- is.call(right) && identical(right[[1L]], quote(`|`))
  column <- function(what) {
    tryCatch(eval(what, data, environment(formula)), error = function(error) {
      stop_input("x", sprintf("has `%s`, which cannot be computed: ", deparse1(what)), because = error)
    })
  }
  value <- column(formula[[2L]])
  group <- factor(column(if (has_blocks) right[[2L]] else right))
  block <- if (has_blocks) factor(column(right[[3L]])) else factor(rep(1, length(value)))
  if (length(group) != length(value) || length(block) != length(value)) {
    stop_input("x", sprintf("has %d values, %d groups and %d blocks", length(value), length(group), length(block)))
  }
  used <- !is.na(value) & !is.na(group) & !is.na(block)
  group <- droplevels(group[used])
  if (nlevels(group) != 2L) stop_input("x", sprintf("must have two groups, not %d", nlevels(group)))
  first <- group == levels(group)[[1L]]
  # A block with one group says nothing.
  parts <- Filter(function(one) length(one$x) > 0L && length(one$y) > 0L, lapply(levels(block), function(name) {
    inside <- block[used] == name
    list(x = value[used][inside & first], y = value[used][inside & !first])
  }))
  if (length(parts) == 0L) stop_input("x", "has no block with both groups")
  parts
}

# All shifts at which the order of the ranks changes.
shifts_of <- function(samples, signed) {
  unlist(lapply(samples, function(one) {
    x <- as.double(one$x)
    y <- as.double(one$y)
    if (!signed) return(as.vector(outer(x[!is.na(x)], y[!is.na(y)], "-")))
    if (!is.null(one$y)) x <- x - y
    x <- x[!is.na(x)]
    means <- outer(x / 2, x / 2, "+")
    means[lower.tri(means, diag = TRUE)]
  }))
}

# All shifts that the test does not reject. It changes only at `shifts`, and is asked between them.
interval_of_shifts <- function(shifts, at, alternative, level) {
  ends <- sort(unique(shifts))
  beyond <- 1 + abs(range(ends)) / 2
  middles <- c(ends[[1L]] - beyond[[1L]], ends[-1L] / 2 + ends[-length(ends)] / 2, max(ends) + beyond[[2L]])
  share <- if (alternative == "two.sided") (1 - level) / 2 else 1 - level
  kept <- function(i, side) {
    # Without differences other than 0 nothing is rejected.
    test <- null_if_refused(at(middles[[i]]))
    is.null(test) || exact_p_value(test$law, test$statistic, side) > share
  }
  # Shifts far below are rejected as too small ("greater"), shifts far above as too large.
  lower <- if (alternative == "less") 1 else first_whole(function(i) kept(i, "greater"), 1, length(middles))
  upper <- if (alternative == "greater") length(middles) else {
    length(middles) + 1 - first_whole(function(i) kept(length(middles) + 1 - i, "less"), 1, length(middles))
  }
  structure(c(c(-Inf, ends)[[lower]], c(ends, Inf)[[upper]]), conf.level = level)
}
