#' Two totals with a common number of claims
#'
#' Gives the joint distribution of \eqn{S = X_1 + \dots + X_N}{S = X_1 + ... + X_N} and \eqn{T = Y_1 + \dots + Y_N}{T =
#' Y_1 + ... + Y_N}, such as the damage to cars and to people in N accidents. Given N, all sizes are independent.
#'
#' @param number the distribution of N on 0, 1, 2, ..., such as `pmf_poisson(3)`.
#' @param x,y the distributions of one size in either line, made by [pmf()]. They must not be negative.
#' @param tail the probability of larger totals that may be left out, for each of the lines, from 1e-300 to 1e-8.
#' @return A matrix of class `table`: rows are values of S, columns values of T (if few are possible, only these).
#' @inheritSection pmf_functions Errors
#' @references
#' Sundt, B. and Vernic, R. (2009). *Recursions for Convolutions and Compound Distributions with Insurance
#' Applications*. Springer. \doi{10.1007/978-3-540-92900-0}
#' @examples
#' car <- pmf(c(0.5, 0.3, 0.2), values = c(1, 2, 5))
#' injury <- pmf(c(0.8, 0.1, 0.1), values = c(0, 1, 10))
#' both <- compound_table(pmf_poisson(0.5), car, injury)
#' round(both[1:6, 1:3], 4)
#' @export
compound_table <- function(number, x, y, tail = 1e-15) {
  require_arguments("number", "x", "y")
  check_pmf(number, "number")
  line_x <- line_of_business(number, x, "x", tail)
  line_y <- line_of_business(number, y, "y", tail)
  check_result_size(as.double(line_x$length) * line_y$length, c("x", "y"), "probabilities", copies = 4)
  numbers <- possible_weights(number)
  check_operations(as.double(line_x$length) * line_y$length * max(numbers$value), "number")
  joint <- matrix(0, line_x$length, line_y$length)
  of_x <- of_y <- 1
  for (n in 0:max(numbers$value)) {
    heed_interrupt()
    if (n > 0) {
      of_x <- one_more_size(of_x, line_x)
      of_y <- one_more_size(of_y, line_y)
      # All totals of n sizes are beyond the table.
      if (is.null(of_x) || is.null(of_y)) break
    }
    share <- numbers$share[numbers$value == n]
    if (length(share) > 0L) {
      rows <- seq_along(of_x)
      columns <- seq_along(of_y)
      joint[rows, columns] <- joint[rows, columns] + outer(share * of_x, of_y)
    }
  }
  # Codes that stand for no total are left out.
  in_order <- function(line, sums) {
    kept <- which(!line$is_code | sums > 0)
    kept[order(line$value[kept])]
  }
  rows <- in_order(line_x, rowSums(joint))
  columns <- in_order(line_y, colSums(joint))
  structure(joint[rows, columns, drop = FALSE], class = "table",
    dimnames = list(x = format_value(line_x$value[rows]), y = format_value(line_y$value[columns])))
}

# The probabilities of one size on 0, by, 2 by, ... (or of codes), how long the law of the total is, and its values.
line_of_business <- function(number, size, argument, tail) {
  check_pmf(size, argument)
  least <- possible_weights(size)$value[[1L]]
  if (least < 0) stop_input(argument, "has negative values, such as ", show_value(least))
  total <- compound_pmf(number, size, tail = tail)
  most <- last_of(number)
  one <- code_size(size_on_lattice(size), most)
  check_result_size(most * one$last + 1, argument, "totals")
  # The codes of all totals, of which the largest is the last that compound_pmf() keeps.
  value <- lattice_value(one$lattice, one$value(seq(0, most * one$last)))
  prob <- weights_of_codes(one) * one$some
  prob[[1L]] <- one$none
  last <- max(which(value <= last_of(total)))
  list(prob = prob, length = last, value = value[seq_len(last)], is_code = !identical(one$value, identity))
}

# The probabilities of the totals of n + 1 sizes from those of n; NULL if the table has none of them.
one_more_size <- function(of_n, line) {
  sum <- convolve_pmf(of_n, line$prob, accuracy = 0)
  sum <- sum[seq_len(min(length(sum), line$length))]
  if (max(sum) > 0) sum
}
