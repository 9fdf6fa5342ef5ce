# The rows that a regression predicts: their design, offsets and groups, from new data or the fit.

# Design, offset and grouping terms of rows. `others`: those of other regressions; `groups`: of check_re_formula().
prediction_rows <- function(fit, newdata, sparse = NULL, groups = TRUE) {
  force(groups)
  parts <- unname(lapply(regressions_of(fit), regression_rows, newdata, sparse, groups))
  rows <- parts[[1L]]
  rows$others <- parts[-1L]
  for (part in rows$others) rows$complete <- rows$complete & part$complete
  rows
}

regression_rows <- function(fit, newdata, sparse, groups) {
  # For each grouping term, its effects in the prediction.
  kept <- lapply(fit$design$terms, function(term) {
    if (is.list(groups)) term$columns %in% groups[[term$group]] else rep(groups, length(term$columns))
  })
  if (!is.null(sparse) && (is.null(newdata) || !is_sparse_matrix(fit$design$x) || length(fit$design$smooths))) {
    stop_unread_sparse(if (is.null(newdata)) "`newdata` is not" else "the fit had no matrix as `sparse`")
  }
  # Without rows, terms such as ns(x, 3) could not be evaluated.
  if (is.data.frame(newdata) && nrow(newdata) == 0L) {
    return(subset_rows(regression_rows(fit, NULL, NULL, groups), integer()))
  }
  if (is.null(newdata)) {
    return(list(x = fit$design$x, offset = fit$offset, complete = rep(TRUE, fit$rows),
      terms = if (any(unlist(kept))) Map(function(term, kept) c(term, list(kept = kept)), fit$design$terms, kept)))
  }
  newdata <- new_data(fit, newdata)
  whole <- attr(fit$terms, "of_all_rows")
  if (length(whole)) {
    stop_input("newdata", "cannot be predicted: the value of ", whole[[1L]], " in a row depends on other rows. Write ",
      "numbers in their place, as in I(x - 2.5), or scale(x)")
  }
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
  rows <- list(x = x, offset = new_offset(fit, frame, newdata), paths = smooths$paths, unseen = smooths$unseen)
  rows$complete <- complete_rows(x) & stats::complete.cases(frame) & complete_rows(as.matrix(rows$offset))
  if (any(unlist(kept))) {
    rows$terms <- new_term_rows(fit, newdata, kept)
    for (term in rows$terms) {
      if (isTRUE(attr(groups, "only_known")) && any(term$level %in% 0L)) {
        stop_input("newdata", sprintf("has in row %d a group that the fit has not seen, but %s",
          which(term$level == 0L)[[1L]], "`allow_new_levels` is FALSE"))
      }
      rows$complete <- rows$complete & !is.na(term$level) & (if (is.null(term$z)) TRUE else complete_rows(term$z))
    }
  }
  rows
}

prediction_terms <- function(fit) with_bases(stats::delete.response(fit$terms), fit$frame)

new_offset <- function(fit, frame, newdata) {
  classes <- predictor_classes(fit$response)
  offset <- Reduce(`+`, lapply(frame_offsets(frame), one_offset, classes, "newdata"), numeric(nrow(newdata)))
  if (!"(offset)" %in% names(fit$frame)) return(offset)
  expression <- fit$call$offset
  if (length(all.vars(expression)) == 0L) {
    stop_input("newdata", "cannot be predicted: the fit has an argument `offset` that names no variable. ",
      "Put the offset into the formula, as offset(x)")
  }
  check_new_variables(expression, fit, newdata)
  values <- tryCatch(eval(expression, newdata, environment(fit$formula)), error = function(error) {
    stop_input("newdata", "cannot be predicted: the argument `offset` of the fit gives the error: ", because = error)
  })
  if (!is.numeric(values) && !all(is.na(values)) || NROW(values) != nrow(newdata)) {
    stop_input("newdata", sprintf("has %d rows, but the argument `offset` of the fit gives ", nrow(newdata)),
      show_value(values), " there")
  }
  offset + one_offset(values, classes, "newdata")
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
    stop_input("sparse", "must be a sparse matrix with the ", nrow(x), " rows of the new data and the ", lacking,
      " columns of the fit's, not ", show_value(sparse))
  }
  methods::cbind2(x, as_sparse_columns(sparse))
}

stop_unread_sparse <- function(why) stop_input("sparse", "is given, but ", why)

# With na.action = na.exclude, puts NA for the rows that were left out of `values`.
pad_rows <- function(fit, values) {
  if (!inherits(fit$na.action, "exclude")) return(values)
  at <- stats::naresid(fit$na.action, seq_len(fit$rows))
  name <- function(names) if (!is.null(names)) replace(names[at], fit$na.action, names(fit$na.action))
  if (is.null(dim(values))) return(stats::setNames(unname(values)[at], name(names(values))))
  names <- name(dimnames(values)[[1L]])
  padded <- if (length(dim(values)) == 3L) values[at, , , drop = FALSE] else values[at, , drop = FALSE]
  if (!is.null(names)) dimnames(padded)[[1L]] <- names
  padded
}
