# Recognises distributions that are not as pmf() makes them, and arguments that are missing.

check_pmf <- function(x, argument) {
  check_present(!missing(x), argument)
  if (!inherits(x, "pmf")) stop_input(argument, "must be a distribution made by pmf(), not ", show_value(x))
  problem <- pmf_problem(x)
  if (!is.null(problem)) stop_input(argument, "is not a distribution as pmf() makes it: ", problem)
  x
}

# How far the probabilities of an object may be from 1 in sum: a million copies multiply the 1e-8 that pmf() accepts.
changed_tolerance <- 0.01

# What is wrong with an object of class `pmf` that was changed by hand or read from a damaged file; NULL if nothing is.
pmf_problem <- function(x) {
  if (!is.list(x)) return(paste("it is", show_value(unclass(x)), "instead of a list"))
  if (!inherits(x, "warpbayes")) return("it lacks the class \"warpbayes\", which all results have")
  log <- !is.null(x[["log_prob"]])
  weights <- if (log) x[["log_prob"]] else x[["prob"]]
  name <- if (log) "`log_prob`" else "`prob`"
  if (is.null(weights)) return(paste(name, "is missing"))
  if (!is.double(weights) || length(weights) == 0L || !is.null(attributes(weights))) {
    return(paste(name, "is not a vector of doubles:", show_value(weights)))
  }
  if (is.null(x[["from"]])) return("`from` is missing")
  usable <- c(from = is_finite_number(x[["from"]]), by = is_finite_number(x[["by"]]) && x[["by"]] > 0,
    left_out = is.double(x[["left_out"]]) && length(x[["left_out"]]) == 2L && !anyNA(x[["left_out"]]),
    parts = is_finite_number(x[["parts"]]) && x[["parts"]] >= 1)
  for (field in names(usable)[!usable]) {
    if (!is.null(x[[field]])) return(sprintf("`%s` is %s", field, show_value(x[[field]])))
  }
  if (!.Call(C_pmf_usable, weights, log)) {
    return(paste0(name, " has entries that are not ", if (log) "logarithms of ", "probabilities"))
  }
  at <- x[["at"]]
  if (!is.null(at) && !(is.double(at) && length(at) == length(weights) && at[[1L]] == 0 && !anyNA(at) &&
    !is.unsorted(at, strictly = TRUE) && at[[length(at)]] <= 2^52)) {
    return("`at` does not fit to the probabilities")
  }
  total <- if (log) sum(exp_of(weights)) else sum(weights)
  if (abs(total - 1) > changed_tolerance) {
    return(paste0("its probabilities sum to ", format(total, digits = 6), ", not 1"))
  }
  NULL
}

is_finite_number <- function(value) is_one_number(value) && is.finite(value)

check_is_function <- function(f, argument, what = "a function") {
  check_present(!missing(f), argument)
  must_be(is.function(f), argument, what, f)
  f
}

check_function_values <- function(values, count) {
  if (!(is.numeric(values) || is.logical(values)) || length(values) != count) {
    stop_input("f", sprintf("must give one number for each of %d values, not ", count), show_value(values))
  }
  as.double(values)
}

check_intact.pmf <- function(x, argument) check_pmf(x, argument)

null_if_refused <- function(code) tryCatch(code, warpbayes_error_input = function(error) NULL)

check_tail <- function(tail, zero = TRUE) {
  must_be(is_finite_number(tail) && tail <= 1e-8 && (tail >= 1e-300 || zero && tail == 0), "tail",
    paste0("one number from 1e-300 to 1e-08", if (zero) ", or 0"), tail)
  as.double(tail)
}

# The logarithm of a tail; of 0 that of the smallest double.
log_tail <- function(tail) if (tail == 0) -1074 * log(2) else log(tail)

# Refuses `values` of which those at the positions `bad` break the rule.
refuse_entries <- function(values, bad, argument, rule) {
  if (length(bad) > 0L) {
    first <- bad[[1L]]
    stop_input(argument, sprintf("has the entry %s at position %.0f; ", exact_words(values[[first]]), first), rule)
  }
}
