# Turns a formula and data into what the sampler of regressions reads: the response, the design, and the rows in the
# order of their groups.

# Splits a formula into its part without terms (x | g), and these terms, in the notation of package lme4. A single term
# (1 | g) of one linear predictor is the `group`; all others are `bars`, as split_bar() has them.
split_groups <- function(formula, family) {
  if (!inherits(formula, "formula") || length(formula) != 3L) {
    stop_input("formula", "must be a formula with a response, such as y ~ x, not ",
      if (inherits(formula, "formula")) dQuote(deparse1(formula), FALSE) else show_value(formula))
  }
  bars <- smooths <- list()
  operators <- list(quote(`|`), quote(`||`))
  is_bar <- function(term) {
    is.call(term) && identical(term[[1L]], quote(`(`)) && is.call(term[[2L]]) &&
      list(term[[2L]][[1L]]) %in% operators
  }
  without <- function(term) {
    if (is_bar(term)) {
      bars <<- c(bars, split_bar(term[[2L]]))
      return(NULL)
    }
    # update() puts a term with a | in parentheses.
    if (is.call(term) && identical(term[[1L]], quote(`(`)) && is_smooth_call(term[[2L]])) term <- term[[2L]]
    if (is_smooth_call(term)) {
      smooths <<- c(smooths, list(read_smooth(term, environment(formula))))
      return(NULL)
    }
    if (is.call(term) && identical(term[[1L]], quote(`+`)) && length(term) == 3L) {
      left <- without(term[[2L]])
      right <- without(term[[3L]])
      return(if (is.null(left)) right else if (is.null(right)) left else call("+", left, right))
    }
    if (is.call(term) && identical(term[[1L]], quote(`-`)) && length(term) == 3L) {
      left <- without(term[[2L]])
      return(if (is.null(left)) call("-", term[[3L]]) else call("-", left, term[[3L]]))
    }
    term
  }
  rest <- without(formula[[3L]])
  check_no_smooth(rest)
  fixed <- formula
  fixed[[3L]] <- if (is.null(rest)) 1 else rest
  has_bar <- function(side) any(c("|", "||") %in% all.names(side))
  if (has_bar(fixed[[3L]])) {
    stop_input("formula", "has a | outside a grouping term: such terms are written in parentheses and added, as in ",
      "y ~ x + (1 | g) or y ~ x + (x | g)")
  }
  for (bar in bars) {
    if (is.call(bar$group) && identical(bar$group[[1L]], quote(`+`)) && length(bar$group) == 3L) {
      stop_input("formula", "has the grouping term ", dQuote(paste0("(", bar_words(bar), ")"), FALSE),
        ": groupings are added one by one, as in (1 | g) + (1 | h)")
    }
    if (has_bar(bar$left) || has_bar(bar$group)) {
      stop_input("formula", "has the grouping term ", dQuote(paste0("(", bar_words(bar), ")"), FALSE),
        " with more than one |")
    }
  }
  is_single <- length(bars) == 1L && is_intercept_bar(bars[[1L]]) && !logit_families[[family]]$has_outcomes
  list(fixed = fixed, group = if (is_single) bars[[1L]]$group, bars = if (!is_single) bars,
    smooths = smooths)
}

# The model frame, by the rules of lm(). `frame_call` calls it without the formula. An
# error of model.frame() becomes an input error.
logit_frame <- function(frame_call, parts, envir) {
  formula <- parts$fixed
  if (!is.null(parts$group)) formula[[3L]] <- call("+", formula[[3L]], parts$group)
  formula[[3L]] <- with_smooth_variables(with_bar_variables(formula[[3L]], parts$bars), parts$smooths)
  check_no_integer64(formula, frame_call$data, "data")
  frame_call$formula <- formula
  frame_call$drop.unused.levels <- TRUE
  frame <- tryCatch(eval(frame_call, envir), error = function(error) {
    for (argument in c("weights", "offset")) {
      if (grepl(sprintf("(%s)", argument), conditionMessage(error), fixed = TRUE)) {
        stop_input(argument, "must have one number for each row of the data: ", because = error)
      }
    }
    stop_input("formula", "cannot be evaluated with `data`: ", because = error)
  })
  if (nrow(frame) == 0L) {
    stop_input("data", "has no rows left to fit",
      if (length(attr(frame, "na.action"))) " after those with missing values are removed")
  }
  frame
}

# How many observations each row stands for, and how many degrees of freedom their variance has. Means and deviations of
# predictors, on which default priors rest, count a row so often. So aggregated rows have the same priors as the rows
# that they are made from. Exposures of Poisson rows have a unit, on which no prior may depend: their variance is
# divided by the sum of sizes itself.
row_sizes <- function(response, family, weights, offset) {
  size <- family$sizes(response, weights, offset)
  if (!any(size > 0)) size[] <- 1
  total <- sum(size)
  list(of_rows = size, total = total, degrees = if (family$has_surrogates) total else max(total - 1, total / 2))
}

are_single_rows <- function(sizes) all(sizes$of_rows %in% c(0, 1)) && sizes$degrees == sizes$total - 1

# Mean and standard deviation of each column over the observations. The first row is the origin, so that a constant
# column has deviation 0.
column_moments <- function(x, sizes) {
  of_column <- function(values) {
    away <- values - values[[1L]]
    shift <- sum(sizes$of_rows * away) / sizes$total
    c(values[[1L]] + shift, sqrt(sum(sizes$of_rows * (away - shift)^2) / sizes$degrees))
  }
  moments <- vapply(seq_len(ncol(x)), function(column) of_column(x[, column]), numeric(2L))
  list(mean = moments[1L, ], sd = moments[2L, ])
}

# The design with the mean and the scale of each column, and the group of each row. `sizes` comes from row_sizes(): a
# row of weight 0 must not change the units of the prior.
logit_design <- function(frame, terms, contrasts, group, sparse, sizes, smooths = list()) {
  counts <- sizes$of_rows > 0
  if (!isFALSE(sparse)) {
    if (length(smooths)) stop_input("sparse", "must be FALSE for a formula with smooths, whose columns are not sparse")
    parts <- sparse_design(frame, terms, contrasts, sparse)
    if (!are_single_rows(sizes)) parts$sd <- sparse_deviation(parts$x, sizes)
    else if (!all(counts)) parts$sd <- sparse_deviation(parts$x[counts, , drop = FALSE])
    is_intercept <- parts$assigned == 0L
    varies <- parts$sd > 0 & is.finite(1 / parts$sd)
    return(list(
      x = parts$x, center = numeric(ncol(parts$x)), scale = unname(ifelse(is_intercept | !varies, 1, parts$sd)),
      is_intercept = is_intercept, contrasts = parts$contrasts, group = group, group_start = NULL, order = NULL
    ))
  }
  x <- tryCatch(stats::model.matrix(terms, frame, contrasts.arg = contrasts), error = function(error) {
    stop_input("data", "has predictors that give no design: ", because = error)
  })
  used <- attr(x, "contrasts")
  more <- 0L
  assigned <- attr(x, "assign")
  if (length(smooths)) {
    smooths <- smooth_design(frame, smooths, sizes, ncol(x))
    assigned <- c(assigned, rep(max(0L, assigned) + 1L, ncol(smooths$x)))
    x <- structure(cbind(x, smooths$x), assign = assigned, contrasts = used)
    more <- NCOL(smooths$levels) * !is.null(smooths$levels)
  }
  if (ncol(x) == 0L) stop_input("formula", "has neither an intercept nor predictors")
  scan <- native(C_matrix_scan, x, 1L)
  if (scan$count > 0) {
    stop_input("data", sprintf(
      "has the value %s of predictor %s in row %d of the design", format(x[scan$first[[1L]], scan$first[[2L]]]),
      dQuote(colnames(x)[[scan$first[[2L]]]], FALSE), as.integer(scan$first[[1L]])
    ))
  }
  if (!are_single_rows(sizes)) scan <- column_moments(x, sizes)
  else if (!all(counts)) scan <- native(C_matrix_scan, x[counts, , drop = FALSE], 1L)
  is_intercept <- assigned == 0L
  varies <- scan$sd > 0 & is.finite(1 / scan$sd)
  # Blocks have a scale of their own.
  block <- c(rep(0L, ncol(x) + more - length(smooths$block)), smooths$block)
  scale <- ifelse(is_intercept | !varies | block[seq_len(ncol(x))] > 0L, 1, scan$sd)
  center <- if (any(is_intercept)) ifelse(is_intercept, 0, scan$mean) else numeric(ncol(x))
  # An autoregression is about 0, whatever its mean over the observations.
  for (smooth in smooths$smooths) if (!is.null(smooth$gap)) center[intersect(smooth$columns, seq_along(center))] <- 0
  c(list(
    x = if (more > 0L) with_smooths(x, smooths["levels"]) else x, center = unname(c(center, numeric(more))),
    scale = unname(c(scale, rep(1, more))), is_intercept = c(is_intercept, logical(more)), contrasts = used,
    group = group, group_start = NULL, order = NULL
  ), if (length(smooths)) list(smooths = smooths$smooths, block = block, primal = TRUE))
}

group_factor <- function(frame, group) {
  name <- deparse1(group)
  values <- tryCatch(group_values(group, frame), error = pass_on)
  if (is.null(values)) {
    stop_input("formula", "has the grouping ", dQuote(name, FALSE),
      ", which is not a variable or an interaction of variables")
  }
  if (!is.atomic(values) || is.matrix(values)) {
    stop_input("formula", "has a grouping that is not a vector: ", show_value(values))
  }
  if (anyNA(values)) {
    stop_input("data", "has no value of the grouping ", dQuote(name, FALSE), " in row ", which(is.na(values))[[1L]])
  }
  factor(values)
}

# The sampler reads rows in the order of their groups.
sort_groups <- function(design) {
  if (!is.null(design$group)) {
    design$order <- order(as.integer(design$group), seq_along(design$group))
    design$group_start <- as.double(c(0, cumsum(tabulate(as.integer(design$group), nlevels(design$group)))))
  } else if (length(design$terms)) {
    # The term of most levels has contiguous rows; rows of other terms are read through an index.
    level <- design$terms[[which.max(vapply(design$terms, function(term) length(term$levels), 0))]]$level
    design$order <- order(level, seq_along(level))
  }
  design
}

# The rows of a fit as the compiled code reads them.
regression_data <- function(fit) {
  family <- family_of(fit)
  fit <- family$rows(fit)
  design <- fit$design
  response <- fit$response
  order <- design$order
  sorted <- function(values) if (is.null(order) || is.null(values)) values else values[order]
  rows <- function(values) if (is.null(order)) values else values[order, , drop = FALSE]
  offset <- fit$offset
  if (family$has_surrogates) offset <- offset - response$log_surrogate
  if (all(offset == 0)) offset <- NULL
  x <- rows(design$x)
  is_sparse <- is_sparse_matrix(x)
  if (is_sparse && any(design$center != 0)) x <- centred_sparse(x, design$center)
  c(if (is_sparse) sparse_rows(x, design$scale), list(
    x = if (!is_sparse) x, center = design$center, inverse_scale = 1 / design$scale,
    offset = if (is.null(order) || is.null(offset)) offset else offset_rows(offset, order),
    shape = sorted(response$shape), kappa = rows(response$kappa), dispersed = sorted(response$dispersed),
    poisson = if (family$has_surrogates) 1L,
    primal = if (isTRUE(design$primal)) 1L, group_start = design$group_start,
    terms = regression_terms(design$terms, order)
  ))
}
