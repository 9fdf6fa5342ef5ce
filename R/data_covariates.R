# Model frames and designs. In errors `argument` has the formula, and `source` the data.

# The model frame, by the rules of lm(). `given`: more arguments of model.frame(), evaluated in `envir`.
covariate_frame <- function(formula, data, argument = "formula", source = "data",
                            given = list(na.action = quote(stats::na.pass)), envir = parent.frame()) {
  check_no_integer64(formula, data, source)
  has_units <- Filter(has_unit, c(if (is.list(data) || is.environment(data)) as.list(data),
    outside_variables(formula, data)))
  data <- named_variables(formula, data)
  call <- as.call(c(quote(stats::model.frame), list(formula, data = data, drop.unused.levels = TRUE), given))
  frame <- tryCatch(eval(call, envir), error = function(error) {
    for (name in intersect(c("weights", "offset"), names(given))) {
      if (grepl(sprintf("(%s)", name), conditionMessage(error), fixed = TRUE)) {
        stop_input(name, "must have one number for each row of the data: ", because = error)
      }
    }
    stop_input(argument, "cannot be evaluated with `", source, "`: ", because = error)
  })
  raw <- names(frame)[vapply(frame, is.raw, NA)]
  if (length(raw)) stop_input(argument, "reads ", dQuote(raw[[1L]], FALSE), ", which is raw bytes, no numbers or names")
  # Classes and units, without values.
  attr(attr(frame, "terms"), "units") <- lapply(has_units, function(values) {
    structure(numeric(), class = class(values), units = attr(values, "units"))
  })
  plain_columns(with_nested_bases(frame, data, environment(formula)))
}

# Adds to `predvars` what poly(), scale() or a spline inside a call took from the data, as in I(scale(x)^2).
with_nested_bases <- function(frame, data, envir) {
  known <- function(part, call) {
    maker <- if (is.name(part[[1L]])) get0(as.character(part[[1L]]), envir, mode = "function") else part[[1L]]
    if (is.primitive(maker)) return(call)
    value <- tryCatch(eval(part, data, envir), error = pass_on)
    if (identical(part[[1L]], quote(scale))) class(value) <- NULL
    if (is.null(value)) call else stats::makepredictcall(value, call)
  }
  nested <- function(call) {
    for (i in seq_along(call)[-1L]) {
      if (is.call(call[[i]])) call[[i]] <- known(call[[i]], nested(call[[i]]))
    }
    call
  }
  variables <- attr(attr(frame, "terms"), "predvars")
  for (i in seq_along(variables)[-1L]) {
    variable <- variables[[i]]
    if (!is.call(variable)) next
    variables[[i]] <- nested(variable)
    if (identical(variable[[1L]], quote(scale))) variables[[i]] <- known(variable, variables[[i]])
  }
  attr(attr(frame, "terms"), "predvars") <- variables
  frame
}

check_frame <- function(frame, argument, missing = FALSE) {
  for (name in names(frame)) {
    column <- frame[[name]]
    bad <- if (is.numeric(column)) !is.finite(column) else is.na(column)
    if (missing) bad <- bad & !is.na(column)
    if (any(bad)) {
      stop_input(argument, sprintf("has %s value in row %d of %s", if (missing) "an infinite" else
        "a missing or infinite", as.integer((which(bad)[[1L]] - 1L) %% nrow(frame) + 1L), dQuote(name, FALSE)))
    }
  }
}

# Stops at what stats::model.matrix() refuses. Returns the contrasts in the order of the levels.
check_factors <- function(frame, terms, contrasts = NULL, source = "data") {
  used <- attr(terms, "factors")
  used <- if (length(used)) rownames(used)[rowSums(used) > 0]
  is_factor <- vapply(frame, function(values) is.factor(values) || is.character(values) || is.logical(values), NA)
  factors <- intersect(names(frame)[is_factor], used)
  for (name in factors) {
    values <- frame[[name]][!is.na(frame[[name]])]
    tell_forms(as.character(unique(values)), NULL, "level")
    if (!is.logical(values) && length(unique(values)) == 1L) {
      stop_input(source, sprintf("has only the level %s of the predictor %s: leave it out of the formula",
        dQuote(substr(as.character(values[[1L]]), 1L, 60L), FALSE), dQuote(name, FALSE)))
    }
  }
  if (is.null(contrasts)) return(NULL)
  is_named <- is.list(contrasts) && !is.null(names(contrasts))
  other <- if (is_named) setdiff(names(contrasts), factors)
  if (!is_named || length(other)) {
    stop_input("contrasts", "must be a list with names of factors in the formula, such as list(f = \"contr.sum\"), ",
      "not ", if (!is_named) show_value(contrasts) else paste("one with the name",
        dQuote(substr(other[[1L]], 1L, 60L), FALSE)))
  }
  for (name in names(contrasts)) {
    values <- factor(frame[[name]])
    given <- rownames(contrasts[[name]])
    # contr.sum(3) and its like number the rows.
    if (!is.null(given) && !identical(given, as.character(seq_along(given)))) {
      order <- by_names(stats::setNames(seq_along(given), given), levels(values), "contrasts", "level")
      contrasts[[name]] <- contrasts[[name]][order, , drop = FALSE]
    }
    tryCatch(stats::contrasts(stats::`contrasts<-`(values, value = contrasts[[name]])), error = function(error) {
      stop_input("contrasts", "cannot be used for ", dQuote(name, FALSE), ": ", because = error)
    })
  }
  contrasts
}

design_matrix <- function(terms, frame, contrasts = NULL, source = "data") {
  x <- tryCatch(stats::model.matrix(terms, frame, contrasts.arg = contrasts), error = function(error) {
    stop_input(source, "has predictors that give no design: ", because = error)
  })
  check_design_values(x, source)
}

# Terms of some variables of a frame, with the bases of poly() and the like.
with_bases <- function(terms, frame) {
  of_frame <- attr(frame, "terms")
  parts <- function(terms, name) as.list(attr(terms, name))[-1L]
  names <- function(terms) vapply(parts(terms, "variables"), deparse1, "")
  at <- match(names(terms), names(of_frame))
  if (!is.null(attr(of_frame, "predvars")) && !anyNA(at)) {
    attr(terms, "predvars") <- as.call(c(quote(list), parts(of_frame, "predvars")[at]))
  }
  terms
}

fitted_frame <- function(formula, frame, terms) {
  list(formula = formula, terms = terms, xlevels = stats::.getXlevels(terms, frame), frame = frame[0L, , drop = FALSE],
    rows = nrow(frame))
}
