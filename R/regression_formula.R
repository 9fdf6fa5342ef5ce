# Turns a formula and data into response, design, and rows in the order of groups.

logit_data <- function(given, formula, data, family, contrasts, sparse, envir) {
  parts <- split_formula(check_formula(formula, takes = names(special_terms)))
  smooths <- lapply(parts$smooths, read_smooth, environment(formula))
  for (name in intersect(c("weights", "offset"), names(given))) {
    check_no_integer64(given[[name]], data, name, environment(formula))
    values <- given[[name]]
    if (is.name(values) && !as.character(values) %in% names(data)) {
      values <- get0(values, environment(formula), ifnotfound = values)
      if (is.name(values)) stop_input(name, "is ", dQuote(shorten(values), FALSE), ", which is not in `data`")
    }
    if (is.atomic(values)) given[[name]] <- by_rows(given_data(values, name), data, name)
  }
  variables <- unlist(lapply(smooths, `[[`, "variables"), recursive = FALSE)
  frame <- covariate_frame(frame_formula(parts$fixed, parts$bars, variables), data,
    given = given[names(given) != "sparse"], envir = envir)
  if (nrow(frame) == 0L) {
    stop_input("data", "has no rows left to fit",
      if (length(attr(frame, "na.action"))) " after those with missing values are removed")
  }
  weights <- check_row_weights(stats::model.weights(frame), nrow(frame))
  terms <- stats::terms(parts$fixed, data = if (is.data.frame(data)) data else NULL)
  attr(terms, "of_all_rows") <- terms_of_all_rows(terms, frame, data)
  response <- logit_response(stats::model.response(frame), family, weights)
  offset <- row_offset(frame, predictor_classes(response))
  record <- logit_families[[family]]
  if (sum(response$shape) == 0 && !record$is_count) {
    stop_input("weights", "leave nothing to fit: no row with a weight has trials")
  }
  contrasts <- check_factors(frame, terms, contrasts)
  sizes <- row_sizes(response, record, weights, offset)
  design <- logit_design(frame, terms, contrasts, sparse, sizes, smooths)
  design <- record$design(design, response)
  design$terms <- if (length(parts$bars)) grouping_terms(frame, parts$bars, contrasts, sizes)
  # The sampler has a shorter way for a single term (1 | g) of one linear predictor.
  design$single <- length(parts$bars) == 1L && is_intercept_bar(parts$bars[[1L]]) && !record$has_outcomes &&
    length(banded_smooths(design)) == 0L
  effects <- vapply(design$terms, function(term) length(term$levels) * length(term$columns), 0L)
  response <- record$complete(response, offset, weights, ncol(design$x) + sum(effects))
  design$information <- response$information
  levels <- stats::.getXlevels(terms, frame)
  for (one in c(design$terms, Filter(function(one) is.null(one$lattice), design$smooths))) {
    own <- if (!is.null(one$terms)) stats::.getXlevels(one$terms, frame)
    levels <- c(levels, own[setdiff(names(own), names(levels))])
  }
  design$observations <- if (record$has_surrogates) sum(response$information) else sizes$total
  list(frame = frame, weights = weights, offset = offset, terms = terms,
    xlevels = levels, response = response, design = sort_groups(design),
    group_name = if (isTRUE(design$single)) design$terms[[1L]]$group, na.action = attr(frame, "na.action"))
}

# Terms whose value depends on other rows, such as I(x - mean(x)), cannot be predicted.
terms_of_all_rows <- function(terms, frame, data) {
  if (!is.data.frame(data)) return(NULL)
  terms <- stats::delete.response(terms)
  expressions <- as.list(attr(with_bases(terms, frame), "predvars"))[-1L]
  names <- vapply(as.list(attr(terms, "variables"))[-1L], deparse1, "")
  ends <- match(attr(frame, "row.names")[c(1L, nrow(frame))], attr(data, "row.names"))
  if (anyNA(ends)) return(NULL)
  plain <- function(values) if (is.factor(values)) as.character(values) else as.vector(values)
  depends <- function(expression, name) {
    if (!is.call(expression) || !name %in% names(frame) || !all(all.vars(expression) %in% names(data))) return(FALSE)
    is_same <- function(row, at) {
      alone <- tryCatch(eval(expression, data[at, , drop = FALSE], environment(terms)), error = pass_on)
      isTRUE(all.equal(plain(alone), plain(frame[row, name]), check.attributes = FALSE))
    }
    !all(mapply(is_same, c(1L, nrow(frame)), ends))
  }
  names[as.logical(unlist(Map(depends, expressions, names)))]
}

coefficient_names <- function(design, response) of_each_class(colnames(design$x), predictor_classes(response)[-1L])

# The design with mean and scale of each column, by `sizes` of row_sizes().
logit_design <- function(frame, terms, contrasts, sparse, sizes, smooths = list()) {
  counts <- sizes$of_rows > 0
  if (!isFALSE(sparse)) {
    if (length(smooths)) stop_input("sparse", "must be FALSE for a formula with smooths, whose columns are not sparse")
    parts <- sparse_design(frame, terms, contrasts, sparse)
    if (!are_single_rows(sizes)) parts$sd <- sparse_deviation(parts$x, sizes)
    else if (!all(counts)) parts$sd <- sparse_deviation(parts$x[counts, , drop = FALSE])
    check_squares(parts$sd, colnames(parts$x))
    is_intercept <- parts$assigned == 0L
    varies <- parts$sd > 0 & is.finite(1 / parts$sd)
    scale <- unname(ifelse(is_intercept | !varies, 1, parts$sd))
    return(list(x = parts$x, center = numeric(ncol(parts$x)), scale = scale, is_intercept = is_intercept,
      prior_unit = rare_units(parts$x, scale, sizes$of_rows), contrasts = parts$contrasts))
  }
  x <- design_matrix(terms, frame, contrasts)
  used <- attr(x, "contrasts")
  more <- 0L
  assigned <- attr(x, "assign")
  if (length(smooths)) {
    smooths <- smooth_design(frame, smooths, sizes, ncol(x))
    assigned <- c(assigned, rep(max(0L, assigned) + 1L, ncol(smooths$x)))
    x <- structure(check_design_values(cbind(x, smooths$x)), assign = assigned, contrasts = used)
    more <- NCOL(smooths$levels) * !is.null(smooths$levels)
  }
  if (ncol(x) == 0L) stop_input("formula", "has neither an intercept nor predictors")
  scan <- native(C_matrix_scan, x, 1L)
  if (!are_single_rows(sizes)) scan <- column_moments(x, sizes)
  else if (!all(counts)) scan <- native(C_matrix_scan, x[counts, , drop = FALSE], 1L)
  check_squares(scan$sd, colnames(x))
  is_intercept <- assigned == 0L
  varies <- scan$sd > 0 & is.finite(1 / scan$sd)
  block <- c(rep(0L, ncol(x) + more - length(smooths$block)), smooths$block)
  scale <- ifelse(is_intercept | !varies | block[seq_len(ncol(x))] > 0L, 1, scan$sd)
  center <- if (any(is_intercept)) ifelse(is_intercept, 0, scan$mean) else numeric(ncol(x))
  # An autoregression is about 0, whatever its mean over the observations.
  for (smooth in smooths$smooths) if (!is.null(smooth$gap)) center[intersect(smooth$columns, seq_along(center))] <- 0
  c(list(
    x = if (more > 0L) with_smooths(x, smooths["levels"]) else x, center = unname(c(center, numeric(more))),
    scale = unname(c(scale, rep(1, more))), prior_unit = c(rare_units(x, unname(scale), sizes$of_rows), rep(1, more)),
    is_intercept = c(is_intercept, logical(more)), contrasts = used
  ), if (length(smooths)) list(smooths = smooths$smooths, block = block, primal = TRUE))
}

check_squares <- function(deviations, names) {
  for (bad in names[!is.finite(deviations)]) {
    stop_input("data", "has values of predictor ", dQuote(bad, FALSE), " that are too large to be squared: change its ",
      "unit")
  }
}

# The units of logit_prior(). With the deviation alone, the prior of a level would widen as the level gets rarer.
rare_units <- function(x, scale, sizes) {
  is_sparse <- is_sparse_matrix(x)
  if (is_sparse) squares <- cbind(Matrix::crossprod(x != 0, sizes), Matrix::crossprod(x^2, sizes))
  used <- if (all(sizes > 0)) TRUE else sizes > 0
  sizes <- sizes[used]
  # A partial sort is five times faster, but knows no sizes.
  middle <- if (all(sizes == sizes[[1L]])) ceiling(length(sizes) / 2)
  vapply(seq_along(scale), function(column) {
    if (is_sparse) {
      away <- squares[column, ]
    } else {
      values <- x[used, column]
      usual <- if (is.null(middle)) {
        order <- order(values)
        values[order][[which(cumsum(sizes[order]) >= sum(sizes) / 2)[[1L]]]]
      } else sort(values, partial = middle)[[middle]]
      differs <- values != usual
      away <- c(sum(sizes[differs]), sum(sizes[differs] * (values[differs] - usual)^2))
    }
    if (!(away[[1L]] > 0 && 2 * away[[1L]] < sum(sizes))) return(scale[[column]])
    max(scale[[column]], sqrt(away[[2L]] / away[[1L]]) / 2)
  }, 0)
}
