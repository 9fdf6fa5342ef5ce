# Exact distributions of rank statistics under permutation, with ties and any scores.

#' Exact distributions of rank statistics
#'
#' These functions give the permutation distribution of a rank statistic for the ties that the data have.
#' `pmf_signed_rank()` is for Wilcoxon's signed-rank statistic, `pmf_rank_sum()` for Wilcoxon's rank-sum statistic (the
#' U of Mann and Whitney). `pmf_linear_rank()` is for the sum of any scores of a group drawn at random, and
#' `pmf_signed_scores()` for the sum of scores that count with probability 1/2. `exact_p_value()` gives p-values from
#' any distribution. `rank_test()` does all of it for two samples or pairs.
#'
#' @details
#' Without ties the distributions are those of [psignrank()] and [pwilcox()]. [wilcox.test()] uses them only then, and
#' a normal approximation otherwise. With ties, equal values get the mean of their ranks.
#'
#' Numbers of groups are counted for each size of the group and each sum of scores, so nothing is approximated or
#' drawn. Counts are exact up to 2^53 and have a small relative error beyond. The time does not grow with the number of
#' permutations, but with the number of different sums: two groups of 30 take 0.01 s, two of 100 take 0.4 s, two of 200
#' take 6 s. More than about two groups of 340 are refused.
#'
#' Scores may be any numbers. Sums of ranks are counted exactly, and so are sums of whole numbers and of decimal
#' fractions, as long as there are not too many of them. Other scores are rounded to multiples of a step, which a
#' message names; `by` sets it. A test with rounded scores is still exact if its statistic is the sum of the same
#' rounded scores, as in `rank_test()`.
#'
#' The usual definitions of a two-sided p-value differ if the distribution is not symmetric:
#' \describe{
#'   \item{`"doubled"`}{twice the smaller of the two tails, at most 1. R and SciPy do this.}
#'   \item{`"distance"`}{the probability of values at least as far from the mean. Package coin does this.}
#'   \item{`"likelihood"`}{the probability of values that are at most as probable, as in [fisher.test()].}
#' }
#'
#' @param x,y samples; for `pmf_signed_rank()` differences, or pairs if `y` is given. For `exact_p_value()` `x` is a
#'   distribution made by [pmf()]. Missing values are left out. Values that differ by less than 1e-13 times the largest
#'   absolute value are equal, so that rounding does not break ties such as 0.3 - 0.2 and 0.1.
#' @param zeros what happens to differences of 0. `"drop"` leaves them out before ranking, as Wilcoxon did. `"pratt"`
#'   ranks them and then leaves their ranks out.
#' @param scores a score for each value. For `rank_test()` a function that gives the scores of ranks, for example
#'   `function(r) qnorm(r / (length(r) + 1))` for normal scores; the default is the ranks themselves.
#' @param size how many of the values are in the group whose scores are added.
#' @param by the step that scores are rounded to. The default is the longest that makes them exact; see Details.
#' @param statistic observed values of the statistic.
#' @param alternative `"two.sided"`, `"less"` or `"greater"`.
#' @param method the definition of two-sided p-values: see Details.
#' @param paired whether `x` and `y` are pairs.
#' @param mu the difference under the null hypothesis.
#' @return A [pmf()]. `pmf_rank_sum()` is for the statistic W of [wilcox.test()], the sum of the ranks of `x` less its
#'   least value without ties. `exact_p_value()` gives a number for each statistic. `rank_test()` gives an object of
#'   class `htest`, as [wilcox.test()] does, which also has `distribution`, the null distribution.
#' @section Errors:
#' `warpbayes_error_input` for samples that are not numbers or have no values left, for scores that are not finite, and
#' for groups larger than the sample.
#' @references
#' Streitberg, B. and Roehmel, J. (1986). Exact distributions for permutation and rank tests: an introduction to some
#' recently published algorithms. *Statistical Software Newsletter* 12(1), 10-17.
#'
#' Pratt, J. W. (1959). Remarks on zeros and ties in the Wilcoxon signed rank procedures. *Journal of the American
#' Statistical Association* 54, 655-667. \doi{10.1080/01621459.1959.10501526}
#' @seealso [pmf_hypergeometric()], [ppmf()].
#' @examples
#' # Pairs with ties: an exact p-value, where wilcox.test() would approximate.
#' before <- c(7, 5, 6, 9, 8, 7, 4, 8)
#' after <- c(5, 4, 5, 6, 6, 6, 4, 7)
#' rank_test(before, after, paired = TRUE)
#'
#' # Two samples, by ranks and by normal scores.
#' treated <- c(3, 3, 5, 6, 7, 7, 9)
#' control <- c(1, 2, 3, 3, 4, 5)
#' rank_test(treated, control)
#' rank_test(treated, control, scores = function(r) qnorm(r / (length(r) + 1)))
#'
#' # The distribution itself.
#' w <- pmf_rank_sum(treated, control)
#' exact_p_value(w, 36.5, method = "distance")
#' @name rank_statistics
NULL

#' @rdname rank_statistics
#' @export
pmf_signed_rank <- function(x, y = NULL, zeros = c("drop", "pratt")) {
  require_arguments("x")
  signed_scores_law(signed_lattice(signed_ranks(x, y, 0, zeros, NULL)$scores, NULL, "x"))
}

#' @rdname rank_statistics
#' @export
pmf_rank_sum <- function(x, y) {
  require_arguments("x", "y")
  ranks <- pooled_scores(x, y, 0, NULL)
  size <- length(ranks$group)
  linear_rank_law(linear_lattice(ranks$scores, size, NULL, "x"), size) - least_rank_sum(size)
}

#' @rdname rank_statistics
#' @export
pmf_linear_rank <- function(scores, size, by = NULL) {
  require_arguments("scores", "size")
  scores <- check_scores(scores)
  size <- check_count(size, "size", min = 0, max = length(scores))
  linear_rank_law(linear_lattice(scores, size, by), size)
}

#' @rdname rank_statistics
#' @export
pmf_signed_scores <- function(scores, by = NULL) {
  require_arguments("scores")
  signed_scores_law(signed_lattice(check_scores(scores), by))
}

least_rank_sum <- function(size) size * (size + 1) / 2

linear_lattice <- function(scores, size, by, argument = "scores") {
  lattice_of_scores(scores, by, function(at) group_additions(at, size), argument)
}

linear_rank_law <- function(lattice, size) {
  counts <- count_groups(sort(lattice$at), size)
  pmf(counts$weights / total_weight(counts$weights, FALSE), from = size * lattice$first + lattice$by * counts$first,
    by = lattice$by)
}

# The scores are multiples of the step.
signed_lattice <- function(scores, by, argument = "scores") {
  lattice <- lattice_of_scores(c(0, scores), by, function(at) length(at) * sum(abs(at - at[[1L]])), argument)
  list(first = 0, by = lattice$by, at = lattice$at[-1L] - lattice$at[[1L]])
}

signed_scores_law <- function(lattice) {
  at <- lattice$at[lattice$at != 0]
  weights <- 1
  for (score in sort(abs(at))) {
    heed_interrupt()
    weights <- 0.5 * (c(weights, numeric(score)) + c(numeric(score), weights))
  }
  pmf(weights, from = lattice$by * sum(at[at < 0]), by = lattice$by)
}

# Scores are first + by * at, where `at` are whole numbers from 0. `work(at)` is how many additions counting takes, and
# `argument` is what has the scores or the sample.
lattice_of_scores <- function(scores, by, work, argument) {
  least <- min(scores)
  rounded_to <- function(step) {
    steps <- round(scores / step)
    list(first = step * min(steps), by = step, at = steps - min(steps))
  }
  if (!is.null(by)) {
    by <- check_number(by, "by", min = 0)
    if (max(abs(scores)) / by > 2^52) stop_input("by", "is ", show_value(by), ": scores are more than 2^52 such steps")
    lattice <- rounded_to(by)
    check_result_size(work(lattice$at) / length(scores), "by", "sums")
    check_operations(work(lattice$at), "by")
    return(lattice)
  }
  # R does some 2e8 additions a second.
  quick <- 2e7
  step <- exact_step(scores)
  if (!is.null(step)) {
    lattice <- list(first = least, by = step, at = round((scores - least) / step))
    # Ranks, and what has no more different values, are not rounded.
    if (work(lattice$at) <= if (max(lattice$at) <= 100 * length(scores)) 1e10 else 25 * quick) return(lattice)
  }
  steps <- as.vector(outer(c(1, 2, 5), 10^(floor(log10(max(scores) - least)) - 6:1)))
  quick_enough <- vapply(steps, function(step) work(rounded_to(step)$at) <= quick, NA)
  if (!any(quick_enough)) {
    stop_input(argument, sprintf("has too many values (%d) to count all groups", length(scores)),
      ". A normal approximation is accurate here")
  }
  step <- steps[quick_enough][[1L]]
  message(structure(class = c("warpbayes_rounded", "message", "condition"), list(
    message = sprintf("scores are rounded to multiples of %s; `by` sets another step\n", format(step)), call = NULL
  )))
  rounded_to(step)
}

# The longest step that divides the distances of all scores; NULL if they are no decimal fractions.
exact_step <- function(scores) {
  law <- tryCatch(pmf(rep(1, length(scores)), values = scores, normalize = TRUE),
    warpbayes_error_input = function(error) NULL)
  if (is.null(law)) NULL else if (is.null(law$by)) 1 else law$by
}

# About how many additions count_groups() takes. Beginning one for a group takes as long as 300 additions.
group_additions <- function(at, size) {
  size <- min(size, length(at) - size)
  sorted <- sort(at)
  length(at) * size * (300 + (sum(rev(sorted)[seq_len(size)]) - sum(sorted[seq_len(size)])) / 3)
}

# How many groups of this size have each sum of scores: whole numbers in increasing order. The result is a list of the
# first sum and of weights in proportion to the numbers of groups.
count_groups <- function(at, size) {
  n <- length(at)
  if (size > n - size) {
    others <- count_groups(at, n - size)
    return(list(first = sum(at) - others$first - length(others$weights) + 1, weights = rev(others$weights)))
  }
  if (lchoose(n, size) > 1300) {
    stop_input("size", sprintf("gives too many groups of %.0f among %.0f values to count them in doubles", size, n))
  }
  # rows[[g + 1]]: groups of g scores, by their sums from that of the g least scores on. The factor keeps the largest
  # numbers below 1e308.
  rows <- vector("list", size + 1)
  rows[[1L]] <- 2^-900
  for (i in seq_len(n)) {
    heed_interrupt()
    # Smaller groups cannot become large enough.
    for (of in rev(seq_len(min(i, size)))) {
      if (of < size - n + i) break
      more <- rows[[of]]
      shift <- at[[i]] - at[[of]]
      whole <- c(rows[[of + 1L]], numeric(max(0, shift + length(more) - length(rows[[of + 1L]]))))
      index <- shift + seq_along(more)
      whole[index] <- whole[index] + more
      rows[[of + 1L]] <- whole
    }
  }
  list(first = sum(at[seq_len(size)]), weights = rows[[size + 1L]])
}

check_scores <- function(scores) {
  values <- without_integer64(scores)
  if (!is.numeric(values) || length(values) == 0L || any(!is.finite(values))) {
    stop_input("scores", "must be finite numbers, not ", show_value(scores))
  }
  as.double(values)
}

check_sample <- function(x, argument) {
  values <- without_integer64(x)
  if (!is.numeric(values) || is.object(values) || any(is.infinite(values))) {
    stop_input(argument, "must be a vector of finite numbers, not ", show_value(x))
  }
  as.double(values)
}

# Values that differ only by rounding become equal. `scale` is the size of the numbers that were subtracted.
without_rounding <- function(values, scale) {
  unit <- 2^(ceiling(log2(max(scale, .Machine$double.xmin))) - 43)
  round(values / unit) * unit
}

# Scores of the absolute differences that are not zero, and which of them are positive.
signed_ranks <- function(x, y, mu, zeros, scores) {
  zeros <- check_choice(zeros, "zeros", c("drop", "pratt"))
  x <- check_sample(x, "x")
  if (!is.null(y)) {
    y <- check_sample(y, "y")
    if (length(x) != length(y)) stop_input("y", sprintf("has %d values and `x` has %d", length(y), length(x)))
  }
  difference <- (if (is.null(y)) x else x - y) - mu
  used <- !is.na(difference)
  difference <- without_rounding(difference[used], max(abs(c(x[used], y[used], mu))))
  if (zeros == "drop") difference <- difference[difference != 0]
  if (!any(difference != 0)) stop_input("x", "has no differences other than 0")
  values <- scores_of_ranks(abs(difference), scores)
  list(scores = values[difference != 0], positive = difference[difference != 0] > 0)
}

# Scores of all values, and which of them belong to `x`.
pooled_scores <- function(x, y, mu, scores) {
  x <- check_sample(x, "x")
  y <- check_sample(y, "y")
  x <- x[!is.na(x)]
  y <- y[!is.na(y)]
  if (length(x) == 0L) stop_input("x", "has no values")
  if (length(y) == 0L) stop_input("y", "has no values")
  values <- without_rounding(c(x - mu, y), max(abs(c(x, y, mu))))
  list(scores = scores_of_ranks(values, scores), group = seq_along(x))
}

scores_of_ranks <- function(values, scores) {
  ranks <- rank(values)
  if (is.null(scores)) return(ranks)
  if (!is.function(scores)) stop_input("scores", "must be a function of ranks, not ", show_value(scores))
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
  require_arguments("x", "statistic")
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
  frame <- as.data.frame(x)
  extremity <- if (method == "distance") abs(frame$value - mean(x)) else -dpmf(x, frame$value, log = TRUE)
  observed <- if (method == "distance") abs(statistic - mean(x)) else -dpmf(x, statistic, log = TRUE)
  # A relative tolerance for equal distances and probabilities that were rounded differently.
  slack <- if (method == "distance") 1e-10 * max(abs(frame$value)) else 1e-7
  vapply(observed, function(one) {
    if (is.na(one)) return(NA_real_)
    min(probability(x, frame$value[extremity >= one - slack]), 1)
  }, 0)
}

#' @rdname rank_statistics
#' @export
rank_test <- function(x, y = NULL, paired = FALSE, mu = 0, alternative = c("two.sided", "less", "greater"),
                      method = c("doubled", "distance", "likelihood"), scores = NULL, zeros = c("drop", "pratt"),
                      by = NULL) {
  require_arguments("x")
  paired <- check_flag(paired, "paired")
  mu <- check_number(mu, "mu")
  alternative <- check_choice(alternative, "alternative", c("two.sided", "less", "greater"))
  names <- paste(c(deparse1(substitute(x)), if (!is.null(y)) deparse1(substitute(y))), collapse = " and ")
  if (is.null(y) && paired) stop_input("y", "is missing: pairs need it")
  signed <- is.null(y) || paired
  if (signed) {
    ranks <- signed_ranks(x, y, mu, zeros, scores)
    chosen <- ranks$positive
    lattice <- signed_lattice(ranks$scores, by, "x")
    law <- signed_scores_law(lattice)
  } else {
    ranks <- pooled_scores(x, y, mu, scores)
    chosen <- ranks$group
    lattice <- linear_lattice(ranks$scores, length(chosen), by, "x")
    law <- linear_rank_law(lattice, length(chosen))
  }
  # The statistic of the scores as they were counted.
  statistic <- sum(lattice$first + lattice$by * lattice$at[chosen])
  if (!signed && is.null(scores)) {
    law <- law - least_rank_sum(length(chosen))
    statistic <- statistic - least_rank_sum(length(chosen))
  }
  structure(list(
    statistic = stats::setNames(statistic, if (!is.null(scores)) "S" else if (signed) "V" else "W"), parameter = NULL,
    p.value = exact_p_value(law, statistic, alternative, method),
    null.value = stats::setNames(mu, if (signed && is.null(y)) "location" else "location shift"),
    alternative = alternative, data.name = names, distribution = law,
    method = sprintf("Exact %s test%s", if (signed) "signed-rank" else "rank-sum",
      if (is.null(scores)) "" else " with scores")
  ), class = "htest")
}
