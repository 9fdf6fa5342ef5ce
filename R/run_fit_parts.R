# Checks that the parts of a result, which anybody can change, have the types and sizes that code relies on. A class
# describes its parts by a list of part_whole(), part_numbers(), ... for check_described().

check_method <- function(x, argument, ...) {
  if (...length() > 0L) refuse_dots(...names(), parent.frame())
  check_present(!missing(x), argument)
  check_intact(x, argument)
}

check_intact <- function(x, argument) UseMethod("check_intact")

check_intact.default <- function(x, argument) {
  stop_input(argument, "must be a result of this package, not ", show_value(x))
}

check_fit_class <- function(fit, argument, class, maker) {
  if (!inherits(fit, class) || !is.list(fit)) stop_input(argument, "must come from ", maker, ", not ", show_value(fit))
}

stop_changed <- function(argument, part, what, value) {
  stop_input(argument, "has a part `", part, "` that is not ", what, ", but ", show_value(value),
    ": it has been changed since it was made")
}

# What a part must be: a test of its value, and words for the error, which are made only if it fails.
part_is <- function(words, test) list(words = function() words, test = test)

part_whole <- function(min = 0, max = 2^53) {
  part_is("a whole number", function(value) {
    is_one_number(value) && is.null(dim(value)) && value >= min && value <= max && value == floor(value)
  })
}

part_choice <- function(choices) {
  part_is(list_some(choices), function(value) is_text(value, 1L) && value %in% choices)
}

part_names <- function() part_is("names", function(value) is_text(value) && length(value) > 0L)

part_list <- function() part_is("a list", is.list)

# `dims`: a length, or the dimensions of an array. NA: any.
part_numbers <- function(dims) {
  part_is(paste(paste(ifelse(is.na(dims), "any", whole_words(dims)), collapse = " x "), "numbers"), function(value) {
    own <- if (length(dims) == 1L && is.null(dim(value))) length(value) else dim(value)
    is.numeric(value) && length(own) == length(dims) && all(is.na(dims) | own == dims)
  })
}

# `numbers`: the names of columns of numbers. `...`: tests of other columns.
part_table <- function(numbers, ...) {
  numbers <- strsplit(numbers, " ")[[1L]]
  columns <- c(list(...), stats::setNames(rep(list(is.numeric), length(numbers)), numbers))
  part_is("a table", function(value) {
    right <- function(name, test) length(.subset2(value, name)) == nrow(value) && test(.subset2(value, name))
    is.data.frame(value) && nrow(value) > 0L && all(mapply(right, names(columns), columns))
  })
}

# Stops at the first part that is not as described. A result need not have the parts in `absent`.
check_described <- function(result, argument, parts, absent = character()) {
  for (part in names(parts)) {
    path <- if (grepl("$", part, fixed = TRUE)) strsplit(part, "$", fixed = TRUE)[[1L]] else part
    value <- Reduce(function(whole, name) if (is.list(whole)) .subset2(whole, name), path, result)
    if (!(is.null(value) && part %in% absent) && !parts[[part]]$test(value)) {
      stop_changed(argument, part, parts[[part]]$words(), value)
    }
  }
}

check_table <- function(x, argument, table) {
  if (!table$test(x)) stop_input(argument, "has been changed since it was made: its columns do not agree")
}

# Stops unless the traces and draws have the dimensions of the plan. Draws may be absent, and traces if `absent`.
check_stored <- function(fit, argument, plan, draws = kept_draws(fit$iter, fit), absent = TRUE) {
  dims <- tryCatch(stored_dims(plan, fit$iter, draws, fit$chains), error = function(error) {
    pass_on(error)
    stop_input(argument, "has been changed since it was made: its parts do not agree")
  })
  kept <- dims$draws[lengths(fit$draws[names(dims$draws)]) > 0L]
  names(kept) <- sprintf("draws$%s", names(kept))
  check_described(fit, argument, lapply(c(dims$traces, kept), part_numbers), if (absent) names(dims$traces))
}

check_chain_parts <- function(fit, argument) {
  check_described(fit, argument, list(
    draws = part_list(), chains = part_whole(1, 1e4), iter = part_whole(), warmup = part_whole(), thin = part_whole(1),
    rows = part_whole(1), state = part_list(), elapsed = part_is("numbers", function(value) is.numeric(unlist(value)))
  ), c("draws", "state", "elapsed"))
}
