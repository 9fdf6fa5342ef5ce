# Checks that the parts of a fit have the types and sizes that methods and compiled code rely on. A fit is a list, and
# anybody can change it. check_topic_fit() of R/topics_names.R and check_parts() of R/predictive_resample.R do the same
# for their classes.

# What most methods do first: they refuse further arguments, and a result of which a part was changed.
check_method <- function(x, argument, ...) {
  if (...length() > 0L) refuse_dots(...names(), parent.frame())
  check_present(!missing(x), argument)
  check_intact(x, argument)
}

check_intact <- function(x, argument) UseMethod("check_intact")

check_intact.default <- function(x, argument) {
  stop_input(argument, "must be a result of this package, not ", show_value(x))
}

# Stops unless `fit` is a list of the class.
check_fit_class <- function(fit, argument, class, maker) {
  if (!inherits(fit, class) || !is.list(fit)) stop_input(argument, "must come from ", maker, ", not ", show_value(fit))
}

stop_changed <- function(argument, part, what, value) {
  stop_input(argument, "has a part `", part, "` that is not ", what, ", but ", show_value(value),
    ": it has been changed since it was made")
}

# Checks of parts, as functions of their name. `value` is for a part of a part. A part that is absent passes as a list,
# numbers or an array: a method that needs it says so.
part_checks <- function(fit, argument) {
  refuse <- function(part, what, value) stop_changed(argument, part, what, value)
  array <- function(part, dims, value = fit[[part]], absent = TRUE) {
    fits <- if (is.null(value)) absent else is.numeric(value) && identical(as.double(dim(value)), as.double(dims))
    if (!fits) refuse(part, paste(paste(whole_words(dims), collapse = " x "), "numbers"), value)
  }
  list(
    count = function(part, min, max = 2^53) {
      value <- fit[[part]]
      whole <- is.numeric(value) && length(value) == 1L && is.null(dim(value)) && isTRUE(value >= min & value <= max)
      if (!whole || value != floor(value)) refuse(part, "a whole number", value)
    },
    choice = function(part, choices) {
      value <- fit[[part]]
      if (!is.character(value) || length(value) != 1L || !value %in% choices) refuse(part, list_some(choices), value)
    },
    names = function(part, least = 1L) {
      value <- fit[[part]]
      if (!is.character(value) || length(value) < least || anyNA(value)) refuse(part, "names", value)
    },
    list = function(part) if (!is.null(fit[[part]]) && !is.list(fit[[part]])) refuse(part, "a list", fit[[part]]),
    numbers = function(part, length, value = fit[[part]]) {
      if (!is.null(value) && (!is.numeric(value) || base::length(value) != length || !is.null(dim(value)))) {
        refuse(part, paste(whole_words(length), "numbers"), value)
      }
    },
    array = array,
    # The traces and draws have the dimensions that the plan of the sampler says.
    stored = function(plan, draws = kept_draws(fit$iter, fit), absent = TRUE) {
      dims <- tryCatch(stored_dims(plan, fit$iter, draws, fit$chains), error = function(error) {
        pass_on(error)
        stop_input(argument, "has been changed since it was made: its parts do not agree")
      })
      # All at once, which takes a few microseconds, unless one of them is absent or wrong.
      parts <- c(fit[names(dims$traces)], fit$draws[names(dims$draws)])
      right <- lapply(c(dims$traces, dims$draws), as.integer)
      if (identical(lapply(parts, dim), right) && all(vapply(parts, is.numeric, NA))) return()
      for (part in names(dims$traces)) array(part, dims$traces[[part]], absent = absent)
      for (part in names(dims$draws)) {
        if (length(fit$draws[[part]])) array(paste0("draws$", part), dims$draws[[part]], fit$draws[[part]])
      }
    }
  )
}

# Parts that all fits by chains have.
check_chain_parts <- function(fit, check) {
  check$list("draws")
  check$count("chains", 1, 1e4)
  check$count("iter", 0)
  check$count("warmup", 0)
  check$count("thin", 1)
  check$count("rows", 1)
  check$list("state")
  elapsed <- unlist(fit$elapsed)
  if (!is.null(elapsed)) check$numbers("elapsed", length(elapsed), unname(elapsed))
}
