# Two independent variables given their sum.

#' Two independent variables given their sum
#'
#' If X and Y are independent, \eqn{P(X = i \mid X + Y = s)}{P(X = i | X + Y = s)} is proportional to \eqn{P(X =
#' i) P(Y = s - i)}. So an observed total says how probable each value of its parts is.
#'
#' Products are kept as mantissas and exponents. The result is therefore right even if the total is so improbable
#' that all products underflow as doubles.
#'
#' @param x,y distributions made by [pmf()], or vectors of non-negative weights for 0, 1, ...
#' @param total the observed value of the sum: one whole number.
#' @param log whether both results are on the log scale; for vectors it also says whether `x` and `y` are. The
#'   default is `TRUE` if `x` or `y` is a distribution on the log scale.
#' @return A list of two distributions: `x`, that of X given the sum, and `y`, that of Y.
#' @section Errors:
#' `warpbayes_error_input` for weights that [convolve_pmf()] refuses, for a `total` outside the range of the sum
#' (the message names the range), and for a `total` within the range whose probability is zero.
#' @seealso [convolve_pmf()] for the distribution of the sum.
#' @references
#' Murray, L. M. and others (2018). Delayed sampling and automatic Rao-Blackwellization of
#' probabilistic programs. *AISTATS 2018*, PMLR 84, 1037-1046: conditioning on observed sums in probabilistic programs.
#' @examples
#' # 7 defects in two batches together: how many came from the first?
#' first <- pmf(dbinom(0:100, 100, 0.02))
#' second <- pmf(dbinom(0:50, 50, 0.06))
#' condition_on_sum(first, second, 7)$x
#' @export
condition_on_sum <- function(x, y, total, log = NULL) {
  if (!is.null(log)) {
    log <- check_flag(log, "log")
  }
  x <- as_weighted(x, "x", log)
  y <- as_weighted(y, "y", log)
  inside <- is_log(x) || is_log(y)
  log <- if (is.null(log)) inside else log
  total <- check_total(total)
  first <- x$from + y$from
  last <- last_of(x) + last_of(y)
  if (total < first || total > last) {
    stop_input("total", sprintf("is %s, but the sum can only be from %s to %s", show_value(total),
      format(first, digits = 17, scientific = FALSE), format(last, digits = 17, scientific = FALSE)
    ))
  }
  low <- max(x$from, total - last_of(y))
  high <- min(last_of(x), total - y$from)
  x_at <- seq(low - x$from + 1, high - x$from + 1)
  y_at <- seq(total - low - y$from + 1, total - high - y$from + 1)
  result <- tryCatch(
    native(C_pmf_condition, prob_of(x, inside)[x_at], prob_of(y, inside)[y_at], inside, log, short_run("cpu")),
    warpbayes_error_input = function(error) {
      stop_input("total", "is ", show_value(total), ", a value that the sum takes with probability zero",
        call = sys.call(-4L)
      )
    }
  )
  list(x = new_pmf(result, low, log), y = new_pmf(rev(result), total - high, log))
}

# A vector holds the weights of 0, 1, ..., or their logarithms with log = TRUE.
as_weighted <- function(x, argument, log, call = sys.call(-1L)) {
  if (inherits(x, "pmf")) {
    return(x)
  }
  new_pmf(check_weights(x, argument, isTRUE(log), call), 0, isTRUE(log))
}

check_total <- function(total, call = sys.call(-1L)) {
  if (!is.numeric(total) || length(total) != 1L || !is.finite(total) || total != floor(total)) {
    stop_input("total", "must be one whole number, not ", show_value(total), call = call)
  }
  as.double(total)
}
