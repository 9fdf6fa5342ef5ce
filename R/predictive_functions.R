# Functions of the user that are called once for each resample, and what happens if one of the calls fails.

# How many resamples in a row, from the first, may fail before the function is called useless.
first_failures <- 10L

# compute(r) for each resample r of `members`. A resample has no value (NULL) if it fails or is a single NA. An
# interrupt goes on to whoever called, after interrupted() was called with the resamples that are done.
each_resample <- function(members, compute, interrupted = function(found) NULL) {
  members <- as.integer(members)
  first <- NULL
  failures <- 0L
  done <- 0L
  values <- vector("list", length(members))
  found <- function(i) list(values = values[i], members = members[i], failure = first, failures = failures)
  work <- function() {
    for (i in seq_along(members)) {
      r <- members[[i]]
      value <- tryCatch(compute(r), error = function(error) {
        if (inherits(error, "warpbayes_error")) stop(error)
        pass_on(error)
        first <<- if (is.null(first)) list(resample = r, message = conditionMessage(error)) else first
        failures <<- failures + 1L
        NA
      })
      if (failures == r && r == min(first_failures, length(members))) {
        stop_input("functional", sprintf("failed on resample %d: ", first$resample), first$message,
          if (r > 1L) sprintf("; it failed on all of the first %d resamples", r))
      }
      if (!(length(value) == 1L && is.atomic(value) && is.na(value))) {
        if (!is.numeric(value) || length(value) == 0L) {
          stop_input("functional", sprintf("must return numbers; on resample %d it returned ", r), show_value(value))
        }
        values[[i]] <<- value
      }
      done <<- i
    }
  }
  withCallingHandlers(work(), interrupt = function(condition) if (done > 0L) interrupted(found(seq_len(done))))
  found(seq_along(members))
}

# A matrix with a row for each resample, NA where the functional has no value. It is an error if rows differ in length.
bind_quantities <- function(parts) {
  values <- unlist(lapply(parts, `[[`, "values"), recursive = FALSE)
  members <- unlist(lapply(parts, `[[`, "members"))
  failure <- do.call(c, lapply(parts, function(part) list(part$failure)))
  failure <- Filter(Negate(is.null), failure)
  lengths <- lengths(values)
  with <- which(lengths > 0L)
  if (length(with) == 0L) {
    if (length(failure)) {
      stop_input("functional", sprintf("failed on resample %d: ", failure[[1L]]$resample), failure[[1L]]$message,
        "; no resample has a value")
    }
    return(matrix(NA_real_, length(values), 1L, dimnames = list(NULL, "value")))
  }
  one <- with[[1L]]
  odd <- which(lengths > 0L & lengths != lengths[[one]])
  if (length(odd)) {
    stop_input("functional", sprintf(
      "returned %d values on resample %d and %d on resample %d: there must be as many each time",
      lengths[[odd[[1L]]]], members[[odd[[1L]]]], lengths[[one]], members[[one]]
    ))
  }
  if (length(failure)) {
    warning(sprintf("`functional` failed on %s of %s resamples, which are NA; on resample %d: %s",
      whole_words(sum(vapply(parts, `[[`, 0L, "failures"))), whole_words(length(values)),
      failure[[1L]]$resample, failure[[1L]]$message), call. = FALSE)
  }
  bound <- matrix(NA_real_, length(values), lengths[[one]], dimnames = list(NULL, quantity_names(values[[one]])))
  bound[with, ] <- matrix(as.double(unlist(values[with], use.names = FALSE)), length(with), byrow = TRUE)
  bound
}

quantity_names <- function(value) {
  if (!is.null(names(value)) && !anyNA(names(value)) && all(nzchar(names(value)))) return(names(value))
  if (length(value) == 1L) "value" else sprintf("value[%d]", seq_along(value))
}

# The arguments that a function is called with by name. The data or the population come first, without a name.
function_arguments <- list(
  normal_mean = NULL, bayesian_bootstrap = "weights", pitman_yor = "weights", gnedin = "weights",
  copula_density = c("points", "cdf", "density"), copula_regression = c("points", "cdf", "density"),
  copula_classification = c("points", "probability")
)

# A function such as var(), whose second argument is more data, would take the weights for something else and give
# numbers without meaning. So arguments are given by name, and a function without these names is refused.
check_function <- function(functional, model) {
  named <- function_arguments[[model$kind]]
  formals <- formals(args(functional))
  absent <- setdiff(named, names(formals))
  if (length(absent)) {
    stop_input("functional", sprintf("must have an argument `%s`: it is called as ", absent[[1L]]),
      if (identical(named, "weights")) "functional(data, weights = )" else {
        sprintf("functional(%s)", paste(named, "=", collapse = ", "))
      }, if (identical(named, "weights")) sprintf(", and names such as %s are computed with weights",
        paste(dQuote(functional_names[1:3], FALSE), collapse = ", ")))
  }
  others <- formals[!names(formals) %in% c(named, "...")]
  first <- if (startsWith(model$kind, "copula")) 0L else 1L
  if (first == 1L && length(formals) == length(named)) stop_input("functional", "must have an argument for the data")
  needed <- vapply(others, function(default) is.symbol(default) && !nzchar(as.character(default)), NA)
  if (sum(needed) > first) {
    stop_input("functional", sprintf("needs the argument `%s`, which it is not given",
      names(others)[needed][[first + 1L]]))
  }
  functional
}

# How many resamples lack a quantity, in a sentence; NULL if none does.
missing_verdict <- function(fit) {
  lacking <- sum(rowSums(is.na(fit$draws)) > 0)
  if (lacking == 0) return(NULL)
  sprintf("%s of %s resamples lack a quantity (NA): tables leave them out, so intervals may be too narrow.",
    whole_words(lacking), whole_words(nrow(fit$draws)))
}
