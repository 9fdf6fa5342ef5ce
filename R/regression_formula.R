# Turns a formula and data into what the sampler of regressions reads: the response, the design, and the rows in the
# order of their groups.

logit_families <- c("binomial", "poisson", "negbinomial", "multinomial", "cratio")

# Ordinal families of packages VGAM, brms and rstanarm.
other_ordinal_families <- c("cumulative", "sratio", "acat", "ordinal", "polr", "propodds")

# Families of counts, whose linear predictor is the log of the mean.
is_count_family <- function(family) family %in% c("poisson", "negbinomial")

check_family <- function(family) {
  if (is.function(family)) family <- tryCatch(family(), error = function(error) family)
  name <- if (inherits(family, "family")) family$family else family
  if (identical(name, "quasipoisson")) {
    stop_input("family", "cannot be \"quasipoisson\": family = \"negbinomial\" learns how much more counts vary than ",
      "Poisson counts")
  }
  if (is.character(name) && length(name) == 1L && name %in% other_ordinal_families) {
    stop_input("family", "cannot be ", dQuote(name, FALSE), ": the ordinal family of this package is \"cratio\", ",
      "continuation ratios", if (name == "sratio") ", the same model (but package VGAM gives it opposite signs)")
  }
  if (inherits(family, "family")) {
    link <- c(binomial = "logit", poisson = "log")[family$family]
    if (!is.na(link) && !identical(family$link, unname(link))) {
      stop_input("family", "must have the link ", dQuote(link, FALSE), ", not ", show_value(family$link))
    }
    family <- family$family
  }
  check_choice(if (identical(family, "negative_binomial")) "negbinomial" else family, "family", logit_families)
}

# The response of each family: `shape` and `kappa` of src/backend/regression_table.h, the `constant` of the log
# likelihood, the `observed` values (rows x classes for a multinomial) and `trials`, for the methods of the fit.
logit_response <- function(response, family, weights, argument = "formula") {
  complain <- function(...) stop_input(argument, "has a response that ", ...)
  if (is_count_family(family)) {
    is_bad <- function(y) y < 0 | y != floor(y) | !is.finite(y)
    if (!is.numeric(response) || is.matrix(response) || anyNA(response) || any(is_bad(response))) {
      complain("is not a vector of counts, whole numbers from 0: ", show_first_bad(response, is_bad))
    }
    y <- as.double(response)
    if (family == "poisson") return(list(observed = y, mean = stats::weighted.mean(y, weights)))
    return(list(
      shape = weights * y, kappa = matrix(weights * y / 2), dispersed = weights, observed = y,
      constant = -sum(weights * lgamma(y + 1)), mean = stats::weighted.mean(y, weights), information = weights / 4
    ))
  }
  if (family == "multinomial") return(multinomial_response(response, weights, complain))
  if (family == "cratio") return(cratio_response(response, weights, complain))
  counts <- binomial_counts(response, complain)
  y <- counts$y
  n <- counts$trials
  list(
    shape = weights * n, kappa = matrix(weights * (y - n / 2)), observed = y, trials = n, counted = counts$counted,
    levels = counts$levels, constant = sum(weights * lchoose(n, y)),
    mean = (sum(weights * y) + 0.5) / (sum(weights * n) + 1), information = weights * n / 4
  )
}

# Adds to the response of Poisson rows what their surrogates need (src/regression/surrogate.c). The r of a surrogate is
# a multiple of the count or, if that is smaller, of what its mean would be without predictors. The posterior does not
# depend on r. With this multiple about 3 in 5 draws are taken. Powers of 2 are the same on every machine.
with_surrogates <- function(response, offset, weights, parameters) {
  y <- response$observed
  rate <- if (any(weights > 0)) max(sum(weights * y), 0.5) / sum(weights) else 1
  expected <- log(rate) + offset - log_mean_exposure(offset, weights)
  multiple <- max(6, 2 * min(parameters, length(y))^(1 / 3))
  octave <- round(log2(multiple) + pmax(log2(y), expected / log(2)))
  r <- 2^octave
  log_r <- octave * log(2)
  c(response, list(
    start = log(rate) - log_mean_exposure(offset, weights), log_surrogate = log_r,
    shape = weights * (y + r), kappa = matrix(weights * (y - r) / 2),
    constant = sum(weights * (y * log_r - lgamma(y + 1))), information = weights * exp(expected)
  ))
}

show_first_bad <- function(response, is_bad) {
  if (!is.numeric(response) || is.matrix(response)) return(show_value(response))
  bad <- which(is.na(response) | is_bad(response))[[1L]]
  sprintf("row %d has %s", bad, format(response[[bad]], digits = 15))
}

binomial_counts <- function(response, complain) {
  if (is.matrix(response)) {
    if (!is.numeric(response) || ncol(response) != 2L) {
      complain("is ", show_value(response), "; a matrix must have two columns, cbind(successes, failures)")
    }
    if (anyNA(response) || any(response < 0 | response != floor(response) | !is.finite(response))) {
      complain("has counts that are not whole numbers from 0")
    }
    return(list(y = as.double(response[, 1L]), trials = as.double(rowSums(response)), counted = TRUE))
  }
  if (is.character(response)) response <- factor(response)
  if (is.factor(response)) {
    if (nlevels(response) > 2L) {
      complain(sprintf("has %d levels; family \"binomial\" takes two, \"multinomial\" more", nlevels(response)))
    }
    return(list(
      y = as.double(response != levels(response)[[1L]]), trials = rep(1, length(response)), counted = FALSE,
      levels = levels(response)
    ))
  }
  if (is.logical(response) || (is.numeric(response) && all(response %in% c(0, 1)))) {
    return(list(y = as.double(response), trials = rep(1, length(response)), counted = FALSE))
  }
  complain("is not binary: ", show_first_bad(response, function(y) y != 0 & y != 1),
    "; numbers of successes are given as cbind(successes, failures)"
  )
}

multinomial_response <- function(response, weights, complain) {
  if (is.character(response) || is.logical(response)) response <- factor(response)
  if (is.factor(response)) {
    classes <- levels(response)
    counts <- outer(as.integer(response), seq_along(classes), `==`) + 0
  } else if (is.matrix(response) && is.numeric(response)) {
    counts <- class_counts(response, complain)
    classes <- colnames(counts)
  } else {
    complain("is ", show_value(response),
      "; a multinomial one is a factor or a matrix of counts with a column for each class"
    )
  }
  check_class_number(length(classes), complain)
  trials <- rowSums(counts)
  colnames(counts) <- classes
  totals <- colSums(weights * counts)
  list(
    shape = weights * trials, kappa = weights * (counts[, -1L, drop = FALSE] - trials / 2), observed = counts,
    trials = trials, classes = classes, constant = sum(weights * (lgamma(trials + 1) - rowSums(lgamma(counts + 1)))),
    mean = (totals + 0.5) / (sum(totals) + 0.5 * length(totals)), information = weights * trials / 4
  )
}

# A matrix of counts, whose columns are classes.
class_counts <- function(response, complain) {
  if (anyNA(response) || any(response < 0 | response != floor(response) | !is.finite(response))) {
    complain("has counts that are not whole numbers from 0")
  }
  classes <- if (is.null(colnames(response))) as.character(seq_len(ncol(response))) else colnames(response)
  matrix(as.double(response), nrow(response), dimnames = list(NULL, classes))
}

check_class_number <- function(classes, complain) {
  if (classes < 2L || classes > 33L) {
    complain("has ", count_words(classes, "class", "classes"), ", but must have 2 to 33")
  }
}

# How many observations each row stands for, and how many degrees of freedom their variance has. Means and deviations of
# predictors, on which default priors rest, count a row so often. So aggregated rows have the same priors as the rows
# that they are made from. Exposures of Poisson rows have a unit, on which no prior may depend: their variance is
# divided by the sum of sizes itself.
row_sizes <- function(response, family, weights, offset) {
  size <- switch(family,
    negbinomial = weights,
    poisson = weights * exp(offset - max(offset[weights > 0], -Inf)),
    weights * response$trials
  )
  if (!any(size > 0)) size[] <- 1
  total <- sum(size)
  list(of_rows = size, total = total, degrees = if (family == "poisson") total else max(total - 1, total / 2))
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
  if (fit$family == "cratio") fit <- rows_of_steps(fit)
  design <- fit$design
  response <- fit$response
  order <- design$order
  sorted <- function(values) if (is.null(order) || is.null(values)) values else values[order]
  rows <- function(values) if (is.null(order)) values else values[order, , drop = FALSE]
  offset <- fit$offset
  if (fit$family == "poisson") offset <- offset - response$log_surrogate
  if (all(offset == 0)) offset <- NULL
  x <- rows(design$x)
  is_sparse <- is_sparse_matrix(x)
  if (is_sparse && any(design$center != 0)) x <- centred_sparse(x, design$center)
  c(if (is_sparse) sparse_rows(x, design$scale), list(
    x = if (!is_sparse) x, center = design$center, inverse_scale = 1 / design$scale,
    offset = if (is.null(order) || is.null(offset)) offset else offset_rows(offset, order),
    shape = sorted(response$shape), kappa = rows(response$kappa), dispersed = sorted(response$dispersed),
    poisson = if (fit$family == "poisson") 1L,
    primal = if (isTRUE(design$primal)) 1L, group_start = design$group_start,
    terms = regression_terms(design$terms, order)
  ))
}
