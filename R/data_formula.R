# Formulas, and their special terms: grouping terms (x | g), smooths and offsets. Each model names what it takes.

special_terms <- c(bar = "grouping terms", smooth = "smooths", offset = "offsets")

smooth_functions <- c("s", "t2", "te", "ti", "car", "rw", "ar1")

formula_operators <- c("+", "-", "*", ":", "/", "^", "%in%", "(")

check_formula <- function(formula, argument = "formula", response = TRUE, takes = character(),
                          example = if (response) "y ~ x" else "~ x") {
  check_present(!missing(formula), argument)
  is_formula <- inherits(formula, "formula")
  if (!is_formula || length(formula) != 2L + response) {
    stop_input(argument, "must be a formula ", if (response) "with" else "without", " a response, such as ", example,
      ", not ", if (is_formula) dQuote(deparse1(formula), FALSE) else show_value(formula))
  }
  for (kind in setdiff(names(special_terms), takes)) {
    term <- special_term(formula[[length(formula)]], kind)
    if (!is.null(term)) {
      words <- sprintf(if (kind == "bar") "(%s)" else "%s", deparse1(term))
      stop_input(argument, "has the term ", dQuote(shorten(words), FALSE), ", but this model has no ",
        special_terms[[kind]])
    }
  }
  formula
}

term_kind <- function(call) {
  name <- if (is.call(call)) smooth_function(call) else ""
  kinds <- list(bar = c("|", "||"), smooth = smooth_functions, offset = "offset")
  c(names(Filter(function(of) name %in% of, kinds)), "")[[1L]]
}

smooth_function <- function(call) sub("^mgcv::", "", deparse1(call[[1L]]))

# The first special term of a kind in a side of a formula, or NULL. Arguments of functions are no terms.
special_term <- function(side, kind) {
  if (term_kind(side) == kind) return(side)
  if (is.call(side) && deparse1(side[[1L]]) %in% formula_operators) {
    for (part in as.list(side)[-1L]) {
      found <- special_term(part, kind)
      if (!is.null(found)) return(found)
    }
  }
}

split_formula <- function(formula, argument = "formula") {
  bars <- smooths <- list()
  without <- function(term) {
    # update() puts a term with a | in parentheses.
    inner <- if (is.call(term) && identical(term[[1L]], quote(`(`))) term[[2L]] else term
    kind <- term_kind(inner)
    if (kind == "smooth") {
      smooths <<- c(smooths, inner)
      return(NULL)
    }
    if (kind == "bar" && !identical(inner, term)) {
      bars <<- c(bars, split_bar(inner))
      return(NULL)
    }
    if (!(is.call(term) && list(term[[1L]]) %in% list(quote(`+`), quote(`-`)) && length(term) == 3L)) return(term)
    left <- without(term[[2L]])
    if (identical(term[[1L]], quote(`-`))) return(as.call(c(quote(`-`), left, term[[3L]])))
    right <- without(term[[3L]])
    if (is.null(left)) right else if (is.null(right)) left else call("+", left, right)
  }
  side <- length(formula)
  rest <- without(formula[[side]])
  fixed <- formula
  fixed[[side]] <- if (is.null(rest)) 1 else rest
  check_split(fixed[[side]], bars, argument)
  list(fixed = fixed, bars = bars, smooths = smooths)
}

check_split <- function(rest, bars, argument) {
  smooth <- special_term(rest, "smooth")
  if (!is.null(smooth)) {
    stop_input(argument, "has ", dQuote(deparse1(smooth), FALSE), " inside another term: smooths are added, as in ",
      "y ~ x + s(z), and differ between the levels of a factor by s(z, by = f)")
  }
  if (!is.null(special_term(rest, "bar"))) {
    stop_input(argument, "has a | outside a grouping term: such terms are written in parentheses and added, as in ",
      "y ~ x + (1 | g) or y ~ x + (x | g)")
  }
  for (bar in bars) {
    refuse <- function(...) {
      stop_input(argument, "has the grouping term ", dQuote(paste0("(", bar_words(bar), ")"), FALSE), ...)
    }
    if (is.call(bar$group) && identical(bar$group[[1L]], quote(`+`))) {
      refuse(": groupings are added one by one, as in (1 | g) + (1 | h)")
    }
    if (any(c("|", "||") %in% c(all.names(bar$left), all.names(bar$group)))) refuse(" with more than one |")
  }
}

# (x | g/h) is (x | h:g) + (x | g).
split_bar <- function(bar) {
  nested <- function(group) {
    if (is.call(group) && identical(group[[1L]], quote(`(`))) return(nested(group[[2L]]))
    if (!is.call(group) || !identical(group[[1L]], quote(`/`))) return(list(group))
    outer <- nested(group[[2L]])
    pairs <- lapply(nested(group[[3L]]), function(inner) {
      Reduce(function(first, second) call(":", first, second), c(factors(inner), factors(outer[[1L]])))
    })
    c(pairs, outer)
  }
  factors <- function(group) {
    is_pair <- is.call(group) && identical(group[[1L]], quote(`:`))
    if (is_pair) c(factors(group[[2L]]), factors(group[[3L]])) else list(group)
  }
  double <- identical(bar[[1L]], quote(`||`))
  lapply(nested(bar[[3L]]), function(group) list(left = bar[[2L]], group = group, independent = double))
}

bar_words <- function(bar) {
  paste(deparse1(bar$left), if (bar$independent) "||" else "|", deparse1(bar$group))
}

is_intercept_bar <- function(bar) identical(bar$left, 1) || identical(bar$left, 1L)

frame_formula <- function(fixed, bars, variables = list()) {
  of_bars <- lapply(bars, function(bar) list(if (!is_intercept_bar(bar)) bar$left, bar$group))
  more <- Filter(Negate(is.null), c(unlist(of_bars, recursive = FALSE), variables))
  fixed[[length(fixed)]] <- Reduce(function(left, right) call("+", left, right), more, fixed[[length(fixed)]])
  fixed
}

# Levels in the order of interaction(), without its table of all pairs.
group_values <- function(group, data, envir = baseenv()) {
  name <- deparse1(group)
  if (name %in% names(data)) return(data[[name]])
  if (!is.call(group) || !identical(group[[1L]], quote(`:`))) return(eval(group, data, envir))
  first <- as_groups(group_values(group[[2L]], data, envir))
  second <- as_groups(group_values(group[[3L]], data, envir))
  code <- (as.double(second) - 1) * nlevels(first) + as.double(first)
  found <- sort(unique(code))
  labels <- paste(levels(first)[(found - 1) %% nlevels(first) + 1], levels(second)[(found - 1) %/% nlevels(first) + 1],
    sep = ":")
  structure(match(code, found), levels = make.unique(labels), class = "factor")
}

group_factor <- function(frame, group) {
  name <- deparse1(group)
  values <- tryCatch(group_values(group, frame), error = pass_on)
  if (is.null(values)) {
    stop_input("formula", "has the grouping ", dQuote(name, FALSE),
      ", which is not a variable or an interaction of variables")
  }
  is_vector <- is.atomic(values) && !is.matrix(values)
  if (!is_vector) stop_input("formula", "has a grouping that is not a vector: ", show_value(values))
  row <- which(is.na(values))[1L]
  if (!is.na(row)) stop_input("data", "has no value of the grouping ", dQuote(name, FALSE), " in row ", row)
  as_groups(values)
}

# A number has one text, integer or double: 100000, not 1e+05.
as_groups <- function(values) {
  old <- options(scipen = 99L)
  on.exit(options(old))
  factor(values)
}
