# The rows that a fitted regression predicts: their design, offsets and groups, from new data or from the fit. New data
# are read as predict.glm() reads them, but what predict.glm() only warns of, or takes from elsewhere, is an error.

# Design, offset and grouping terms of the rows. `groups` comes from check_re_formula().
prediction_rows <- function(fit, newdata, sparse = NULL, groups = TRUE) {
  check_logit_fit(fit)
  force(groups)
  if (is_zero_fit(fit)) {
    rows <- prediction_rows(count_view(fit), newdata, sparse, groups)
    rows$zero <- prediction_rows(zero_view(fit), newdata, NULL, groups)
    rows$complete <- rows$complete & rows$zero$complete
    return(rows)
  }
  kept <- kept_columns(fit, groups)
  if (!is.null(sparse) && (is.null(newdata) || !is_sparse_matrix(fit$design$x) || length(fit$design$smooths))) {
    stop_unread_sparse(if (is.null(newdata)) "`newdata` is not" else "the fit had no matrix as `sparse`")
  }
  if (is.null(newdata)) {
    return(list(
      x = fit$design$x, offset = fit$offset, complete = rep(TRUE, fit$rows),
      terms = if (any(unlist(kept))) Map(function(term, kept) c(term, list(kept = kept)), row_terms(fit), kept)
    ))
  }
  if (!is.data.frame(newdata)) stop_input("newdata", "must be a data frame, not ", show_value(newdata))
  newdata <- without_integer64(newdata)
  check_no_integer64(fit$formula, newdata, "newdata", NULL)
  terms <- prediction_terms(fit)
  frame <- new_frame(fit, terms, newdata)
  x <- if (is_sparse_matrix(fit$design$x) && length(fit$design$smooths) == 0L) {
    new_sparse_design(fit, terms, frame, sparse)
  } else {
    stats::model.matrix(terms, frame, contrasts.arg = fit$contrasts)
  }
  x <- family_of(fit)$new_rows(fit, x)
  smooths <- if (length(fit$design$smooths)) new_smooth_columns(fit, newdata)
  if (!is.null(smooths)) x <- with_smooths(x, smooths)
  if (ncol(x) != ncol(fit$design$x)) {
    stop_input("newdata", sprintf("gives a design of %d columns, but the fit had %d", ncol(x), ncol(fit$design$x)))
  }
  rows <- list(x = x, offset = new_offset(fit, frame, newdata), paths = smooths$paths)
  rows$complete <- complete_rows(x) & stats::complete.cases(frame) & finite_offset(rows$offset)
  if (any(unlist(kept))) {
    rows$terms <- new_term_rows(fit, newdata, kept)
    for (term in rows$terms) {
      rows$complete <- rows$complete & !is.na(term$level) & (if (is.null(term$z)) TRUE else complete_rows(term$z))
    }
  }
  rows
}

# The grouping terms of one linear predictor.
row_terms <- function(fit) if (is.null(fit$group_name)) fit$design$terms else fit_terms(fit)

# For each of these terms, which of its effects are part of a prediction.
kept_columns <- function(fit, groups) {
  lapply(row_terms(fit), function(term) {
    if (is.list(groups)) term$columns %in% groups[[term$group]] else rep(groups, length(term$columns))
  })
}

# The terms of the predictors. Their `predvars` hold what poly(), scale() or a spline took from the data of the fit.
prediction_terms <- function(fit) {
  terms <- stats::delete.response(fit$terms)
  of_frame <- attr(fit$frame, "terms")
  parts <- function(values) as.list(values)[-1L]
  names <- function(terms) vapply(parts(attr(terms, "variables")), deparse1, "")
  at <- match(names(terms), names(of_frame))
  if (!is.null(attr(of_frame, "predvars")) && !anyNA(at)) {
    attr(terms, "predvars") <- as.call(c(quote(list), parts(attr(of_frame, "predvars"))[at]))
  }
  terms
}

# model.frame() keeps what poly(), scale() or a spline took from the data for whole variables only, and not for
# scale(poly(x, 2)), whose class is that of poly(). For calls inside others, such as I(scale(x)^2), and for these this
# adds it to the `predvars` of the frame.
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

new_frame <- function(fit, terms, newdata) {
  expressions <- attr(terms, "predvars")
  if (is.null(expressions)) expressions <- attr(terms, "variables")
  for (expression in as.list(expressions)[-1L]) {
    check_new_variables(expression, fit, newdata)
  }
  frame <- tryCatch(
    stats::model.frame(terms, newdata, na.action = stats::na.pass),
    error = function(error) stop_input("newdata", "cannot be predicted: ", because = error)
  )
  if (nrow(frame) != nrow(newdata)) {
    stop_input("newdata", sprintf("has %d rows, but its predictors have %d", nrow(newdata), nrow(frame)))
  }
  as_fitted_classes(fit, frame)
}

# A variable of the formula that `newdata` lacks must not be found elsewhere, since it would have the rows of the fit.
# Single numbers and the like, such as the m of I(x - m), may come from where the formula was written.
check_new_variables <- function(expression, fit, newdata, advice = "") {
  variables <- all.vars(expression)
  lacking <- setdiff(variables, names(newdata))
  if (length(lacking) == 0L) return(invisible())
  is_constant <- length(lacking) < length(variables) && all(vapply(lacking, function(name) {
    value <- get0(name, environment(fit$formula))
    !is.null(value) && (length(value) == 1L || length(value) < fit$rows)
  }, NA))
  if (!is_constant) {
    stop_input("newdata", "lacks ", paste(dQuote(lacking, FALSE), collapse = ", "), ", which the fit reads in ",
      substr(deparse1(expression), 1L, 60L), advice)
  }
}

# The variables of the frame must be of the classes and the levels that they had in the fit. A variable whose values are
# all missing may be logical, as a bare NA is.
as_fitted_classes <- function(fit, frame) {
  class_of <- function(class) if (class %in% c("ordered", "factor", "character")) "factor" else class
  classes <- attr(attr(fit$frame, "terms"), "dataClasses")
  for (name in intersect(names(frame), names(classes))) {
    values <- frame[[name]]
    before <- class_of(classes[[name]])
    now <- class_of(stats::.MFclass(values))
    if (now != before && !(is.logical(values) && all(is.na(values)))) {
      stop_input("newdata", sprintf("has %s as %s, but the fit had %s", dQuote(name, FALSE),
        if (is.character(values)) "text" else class_words(now, values), class_words(before, fit$frame[[name]])))
    }
    if (now == "other" && before == "other") {
      frame[[name]] <- in_fitted_units(values, fit$frame[[name]], name, "newdata")
    }
    levels <- fit$xlevels[[name]]
    if (!is.null(levels)) {
      unknown <- setdiff(as.character(values), c(levels, NA))
      if (length(unknown)) {
        stop_input("newdata", sprintf("has the new level %s of %s, which the fit has not seen",
          dQuote(substr(unknown[[1L]], 1L, 60L), FALSE), dQuote(name, FALSE)))
      }
      frame[[name]] <- factor(as.character(values), levels, ordered = classes[[name]] == "ordered")
    } else if (now != before) {
      frame[[name]] <- if (startsWith(before, "nmatrix")) {
        matrix(NA_real_, nrow(frame), ncol(fit$frame[[name]]))
      } else {
        as.double(values)
      }
    }
  }
  frame
}

# Offsets in the formula, and the argument `offset` of the fit, which is evaluated in the new data.
new_offset <- function(fit, frame, newdata) {
  classes <- predictor_classes(fit$response)
  of_formula <- lapply(frame_offsets(frame), one_offset, classes, "newdata")
  offset <- Reduce(`+`, of_formula, numeric(nrow(newdata)))
  if (!"(offset)" %in% names(fit$frame)) return(offset)
  expression <- fit$call$offset
  if (length(all.vars(expression)) == 0L) {
    stop_input("newdata", "cannot be predicted: the fit has an argument `offset` that names no variable. ",
      "Put the offset into the formula, as offset(x)")
  }
  check_new_variables(expression, fit, newdata)
  values <- tryCatch(eval(expression, newdata, environment(fit$formula)), error = function(error) {
    stop_input("newdata", "cannot be predicted: the argument `offset` of the fit gives the error: ",
      because = error)
  })
  if (!is.numeric(values) && !all(is.na(values)) || NROW(values) != nrow(newdata)) {
    stop_input("newdata", sprintf("has %d rows, but the argument `offset` of the fit gives ", nrow(newdata)),
      show_value(values), " there")
  }
  offset + one_offset(values, classes, "newdata")
}

# What stats::model.matrix() refuses in words of its own: factors of one level, and contrasts that do not fit.
check_factors <- function(frame, terms, contrasts) {
  used <- attr(terms, "factors")
  used <- if (length(used)) rownames(used)[rowSums(used) > 0]
  is_factor <- vapply(frame, function(values) is.factor(values) || is.character(values) || is.logical(values), NA)
  factors <- intersect(names(frame)[is_factor], used)
  for (name in factors) {
    if (!is.logical(frame[[name]]) && length(unique(frame[[name]])) < 2L) {
      stop_input("data", sprintf("has only the level %s of the predictor %s: leave it out of the formula",
        dQuote(substr(as.character(frame[[name]][[1L]]), 1L, 60L), FALSE), dQuote(name, FALSE)))
    }
  }
  if (is.null(contrasts)) return(invisible())
  if (!is.list(contrasts) || is.null(names(contrasts)) || !all(names(contrasts) %in% factors)) {
    stop_input("contrasts", "must be a list with names of factors in the formula, such as list(f = \"contr.sum\"), ",
      "not ",
      if (is.list(contrasts) && !is.null(names(contrasts))) {
        paste("one with the name", dQuote(substr(setdiff(names(contrasts), factors)[[1L]], 1L, 60L), FALSE))
      } else {
        show_value(contrasts)
      })
  }
  for (name in names(contrasts)) {
    values <- factor(frame[[name]])
    tryCatch(stats::contrasts(stats::`contrasts<-`(values, value = contrasts[[name]])), error = function(error) {
      stop_input("contrasts", "cannot be used for ", dQuote(name, FALSE), ": ", because = error)
    })
  }
}

# The sparse design of new rows. A missing predictor of the formula leaves its row without entries.
new_sparse_design <- function(fit, terms, frame, sparse) {
  x <- as_sparse_columns(Matrix::sparse.model.matrix(terms, frame, contrasts.arg = fit$contrasts))
  lacking <- ncol(fit$design$x) - ncol(x)
  if (lacking == 0L) {
    if (!is.null(sparse)) stop_unread_sparse("the fit had no matrix as `sparse`")
    return(x)
  }
  if (!is_sparse_matrix(sparse) || ncol(sparse) != lacking || nrow(sparse) != nrow(x)) {
    stop_input("sparse",
      sprintf("must be a sparse matrix with the %d rows of the new data and the %d columns of the fit's, not ", nrow(x),
        lacking), show_value(sparse))
  }
  methods::cbind2(x, as_sparse_columns(sparse))
}

stop_unread_sparse <- function(why) {
  stop_input("sparse", "is given, but ", why)
}

complete_rows <- function(x) {
  if (is_sparse_matrix(x)) return(!(seq_len(nrow(x)) %in% (x@i[!is.finite(x@x)] + 1L)))
  # Numbers whose sum is finite are finite. To ask each of them takes 0.3 s for a million rows of 10 columns.
  if (all(is.finite(colSums(x)))) rep(TRUE, nrow(x)) else rowSums(!is.finite(x)) == 0
}

# With na.action = na.exclude, puts NA for the rows that were left out. `values` has a row, or an element, for each row
# of the fit.
pad_rows <- function(fit, values) {
  if (!inherits(fit$na.action, "exclude")) return(values)
  at <- stats::naresid(fit$na.action, seq_len(fit$rows))
  name <- function(names) {
    if (!is.null(names)) {
      names <- names[at]
      names[fit$na.action] <- names(fit$na.action)
    }
    names
  }
  if (is.null(dim(values))) return(stats::setNames(unname(values)[at], name(names(values))))
  names <- name(dimnames(values)[[1L]])
  padded <- if (length(dim(values)) == 3L) values[at, , , drop = FALSE] else values[at, , drop = FALSE]
  if (!is.null(names)) dimnames(padded)[[1L]] <- names
  padded
}
