# What pmf() reads besides plain vectors: tables, vectors named by their values, and data frames of two columns.

# A list of `weights` and of their `values`, NULL if `prob` has none; `argument` and `source` name both in messages.
# If `placed`, other arguments say the values, and names need not be numbers.
read_weights <- function(prob, placed, argument = "prob") {
  if (is.data.frame(prob)) return(read_weight_columns(prob, placed, argument))
  if (is.factor(prob)) {
    stop_input(argument, "must be probabilities or counts, not ", show_value(prob),
      ": pmf(table(x), normalize = TRUE) counts the levels of a factor x")
  }
  labels <- if (is.numeric(prob)) names(prob)
  source <- sprintf("names(%s)", argument)
  values <- if (!is.null(labels)) read_values(labels, source, inherits(prob, "table"), placed)
  list(weights = prob, argument = argument, values = values, source = source)
}

read_weight_columns <- function(frame, placed, argument) {
  if (length(frame) != 2L) {
    stop_input(argument, "must be a numeric vector, a table, or a data frame of two columns, the values and their ",
      "probabilities or counts, not ", show_value(frame))
  }
  names <- if (is.null(names(frame))) 1:2 else names(frame)
  is_weight <- names %in% c("prob", "log_prob", "probability", "p", "count", "n", "Freq")
  columns <- if (is_weight[[1L]] && !is_weight[[2L]]) c(2L, 1L) else c(1L, 2L)
  shown <- paste0(argument, "$", names[columns])
  values <- frame[[columns[[1L]]]]
  if (!is.numeric(values)) values <- read_values(values, shown[[1L]], TRUE, placed)
  list(weights = frame[[columns[[2L]]]], argument = shown[[2L]], values = values, source = shown[[1L]])
}

# The numbers that labels are. NULL if they are only labels, which those of a table or a column (`required`) are not.
read_values <- function(labels, source, required, placed) {
  labels <- as.character(labels)
  is_number <- is_number_text(labels)
  if (all(is_number)) return(as.double(labels))
  if (placed || !(required || any(is_number))) return(NULL)
  first <- which(!is_number)[[1L]]
  stop_input(source, sprintf("has the entry %s at position %d, which is not a number: ", show_value(labels[[first]]),
    first), "name the values by numbers, or give them as `values`")
}

is_number_text <- function(text) grepl("^\\s*[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?\\s*$", text)

# Values by argument and values within `prob` must be the same, up to the 15 digits that names have.
check_values_agree <- function(argument, values, read) {
  named <- read$values
  if (is.null(named)) return(invisible())
  apart <- which(is.na(named) | abs(named - values) > 1e-12 * max(abs(values)))
  if (length(apart) == 0L) return(invisible())
  at <- apart[[1L]]
  stop_input(argument, sprintf("says that entry %d of `%s` belongs to %s, but `%s` says %s: ", at, read$argument,
    format_value(values[[at]]), read$source, show_value(named[[at]])), "give one of them")
}
