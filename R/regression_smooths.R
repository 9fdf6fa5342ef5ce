# A smooth with the basis B and the penalty S has the columns B U. Those in the null space of S are coefficients like
# others. The rest form a block of independent coefficients whose variance is learned.

# `texts`: the variables' names, for mgcv. A smooth has the `spec` of mgcv or a `lattice`.
read_smooth <- function(call, envir) {
  kind <- smooth_function(call)
  words <- dQuote(deparse1(call), FALSE)
  if (kind %in% c("te", "ti")) {
    stop_input("formula", "has ", words, ", whose penalties overlap: t2() is for the same surfaces, and learns a ",
      "standard deviation for each of its parts")
  }
  if (kind %in% names(lattice_kinds)) return(read_lattice_term(call, envir))
  if (!requireNamespace("mgcv", quietly = TRUE)) stop_input("formula", "has ", words, ", which needs package mgcv")
  call[[1L]] <- getExportedValue("mgcv", kind)
  spec <- tryCatch(eval(call, envir), error = function(error) {
    stop_input("formula", "has ", words, ", which mgcv cannot read: ", because = error)
  })
  given <- c(sp = any(spec$sp >= 0), id = !is.null(spec$id), pc = !is.null(spec$point.con[[1L]]))
  if (any(given)) {
    stop_input("formula", "has ", words, " with the argument `", names(given)[given][[1L]],
      "`, which bayes_logit() does not know")
  }
  texts <- c(spec$term, if (spec$by != "NA") spec$by)
  list(label = spec$label, variables = lapply(texts, str2lang), texts = texts, spec = spec)
}

# `x`: first the columns without a penalty, then the blocks. `levels`: the sparse columns, which come last. `block`: the
# number of each column's block, or 0. `smooths` know their `columns` of a design with `before` other columns.
smooth_design <- function(frame, smooths, sizes, before) {
  smooths <- lapply(smooths, c, list(before = before))
  made <- unlist(lapply(smooths, make_smooths, frame = frame, sizes = sizes), recursive = FALSE)
  labels <- vapply(made, `[[`, "", "label")
  if (anyDuplicated(labels)) {
    stop_input("formula", "has the smooth ", dQuote(labels[duplicated(labels)][[1L]], FALSE), " twice")
  }
  has_levels <- vapply(made, has_level_columns, NA)
  made <- made[order(has_levels + vapply(made, has_band, NA))]
  owner <- rep(seq_along(made), vapply(made, function(smooth) length(smooth$block), 0L))
  own_block <- unlist(lapply(made, `[[`, "block"))
  pairs <- paste(owner, own_block)
  block <- match(pairs, unique(pairs[own_block > 0L]), nomatch = 0L)
  order <- order(block)
  values <- lapply(made, `[[`, "values")
  levels <- values[sort(has_levels)]
  x <- do.call(cbind, c(list(matrix(0, nrow(frame), 0L)), values[!sort(has_levels)]))
  x <- x[, order[order <= ncol(x)], drop = FALSE]
  dimnames(x) <- list(NULL, unlist(lapply(made, `[[`, "names"))[order[seq_len(ncol(x))]])
  for (i in seq_along(made)) {
    made[[i]]$columns <- before + match(which(owner == i), order)
    made[[i]]$values <- NULL
  }
  list(x = x, block = block[order], smooths = made, levels = if (length(levels)) Reduce(methods::cbind2, levels))
}

make_smooths <- function(smooth, frame, sizes) {
  fail <- function(...) stop_input("formula", "has the smooth ", dQuote(smooth$label, FALSE), ", ", ...)
  sum <- Reduce(function(left, right) call("+", left, right), smooth$variables)
  smooth$terms <- bar_terms(list(left = sum), frame)
  data <- smooth_data(smooth, frame)
  if (!is.null(smooth$lattice)) {
    make <- if (smooth$lattice$kind == "ar1") finish_autoregression else make_lattice
    return(list(make(smooth, data, sizes, fail)))
  }
  is_text <- !vapply(data[smooth$spec$term], is.numeric, NA)
  if (any(is_text) && !inherits(smooth$spec, paste0(c("re", "fs", "sz", "mrf"), ".smooth.spec"))) {
    fail("whose variable ", dQuote(names(is_text)[is_text][[1L]], FALSE), " is not numeric: see `by` and `bs = \"re\"`")
  }
  # Rows that do not count must not change the basis.
  used <- data[sizes$of_rows > 0, , drop = FALSE]
  parts <- tryCatch(mgcv::smoothCon(smooth$spec, used, scale.penalty = TRUE, absorb.cons = FALSE),
    error = function(error) fail("which mgcv cannot make from the data: ", because = error))
  lapply(parts, function(part) {
    columns <- ncol(part$X)
    if (!all(is.finite(c(part$X, unlist(part$S))))) fail("whose basis is not finite: change the units of its variables")
    part$X <- NULL
    smooth$label <- part$label
    smooth$spec <- part
    finish_smooth(smooth, data, sizes, penalty_bases(part$S, columns, fail), fail)
  })
}

smooth_data <- function(smooth, frame) {
  values <- lapply(smooth$variables, function(variable) {
    column <- frame[[deparse1(variable)]]
    if (is.matrix(column)) {
      stop_input("formula", "has the smooth ", dQuote(smooth$label, FALSE), ", whose variable ",
        dQuote(deparse1(variable), FALSE), " is a matrix")
    }
    is_time <- inherits(column, c("Date", "POSIXct", "difftime"))
    if (is.logical(column)) factor(column, c(FALSE, TRUE)) else if (is.character(column)) factor(column)
    else if (is.numeric(column) || is_time) as.double(column) else column
  })
  structure(values, names = smooth$texts, class = "data.frame", row.names = seq_len(nrow(frame)))
}

# Bases of the space without a penalty (first) and of each penalty, then the sum of squared coefficients.
penalty_bases <- function(penalties, size, fail) {
  if (length(penalties) == 0L) return(list(diag(1, size)))
  bases <- lapply(penalties, function(penalty) {
    parts <- eigen((penalty + t(penalty)) / 2, symmetric = TRUE)
    positive <- parts$values > 1e-9 * parts$values[[1L]]
    parts$vectors[, positive, drop = FALSE] / rep(sqrt(parts$values[positive]), each = size)
  })
  for (i in seq_along(bases)) {
    overlap <- vapply(bases[-i], function(basis) max(abs(crossprod(basis, penalties[[i]] %*% basis))), 0)
    if (any(overlap > 1e-6)) fail("whose penalties overlap: choose another basis")
  }
  total <- eigen(Reduce(`+`, lapply(penalties, function(penalty) penalty / max(abs(penalty)))), symmetric = TRUE)
  c(list(total$vectors[, seq_len(size) > sum(vapply(bases, ncol, 0L)), drop = FALSE]), bases)
}

# The part of the rows, from 1, over which the smooth has mean 0. Rows outside all parts have 0.
smooth_part <- function(smooth, data) {
  if (!is.null(smooth$lattice)) return(match(lattice_places(smooth$lattice, data)$unit, unique(smooth$lattice$at$unit)))
  if (!is.null(smooth$spec$by.level)) return(as.integer(as.character(data[[smooth$spec$by]]) == smooth$spec$by.level))
  # What is multiplied by numbers keeps its mean, which no other term has.
  rep(if (smooth$spec$by == "NA") 1L else 0L, nrow(data))
}

smooth_columns <- function(smooth, data) {
  out <- matrix(NA_real_, nrow(data), ncol(smooth$transform))
  complete <- which(stats::complete.cases(data))
  if (length(complete) == 0L) return(out)
  data <- data[complete, , drop = FALSE]
  values <- if (is.null(smooth$lattice)) {
    # mgcv cannot predict a single row of s(x, m = c(2, 0)).
    two <- data[c(seq_len(nrow(data)), if (nrow(data) == 1L) 1L), , drop = FALSE]
    mgcv::PredictMat(smooth$spec, two, n = nrow(two))[seq_len(nrow(data)), , drop = FALSE] %*% smooth$transform
  } else {
    known <- smooth$transform[lattice_levels(smooth, data), , drop = FALSE]
    if (is.null(smooth$gap)) known else replace(known, is.na(known), 0)
  }
  part <- smooth_part(smooth, data)
  inside <- part > 0L
  if (!is.null(smooth$centre)) values[inside, ] <- values[inside, ] - smooth$centre[part[inside], ]
  out[complete, ] <- values
  out
}

# `transform` makes columns of the basis; `centre` has their means in each part of the rows; `block` 0: no penalty.
finish_smooth <- function(smooth, data, sizes, bases, fail) {
  smooth$transform <- do.call(cbind, bases)
  block <- rep(seq_along(bases) - 1L, vapply(bases, ncol, 0L))
  values <- smooth_columns(smooth, data)
  part <- smooth_part(smooth, data)
  inside <- if (any(part > 0L)) part > 0L else rep(TRUE, nrow(data))
  weight <- sizes$of_rows * inside
  if (sum(weight) == 0) fail("which is 0 in all rows that count")
  before <- colSums(weight * values^2)
  if (any(part > 0L)) {
    # A part without weight keeps its mean.
    share <- ifelse(inside, weight / pmax(stats::ave(weight, part, FUN = sum), .Machine$double.xmin), 0)
    smooth$centre <- matrix(0, max(part), ncol(values))
    sums <- rowsum(share[inside] * values[inside, , drop = FALSE], part[inside])
    smooth$centre[as.integer(rownames(sums)), ] <- sums
    values[inside, ] <- values[inside, ] - smooth$centre[part[inside], ]
  }
  weight <- weight / sum(weight)
  unit <- matrix(0, ncol(values), ncol(values))
  free <- which(block == 0L)
  free <- free[colSums(weight * values[, free, drop = FALSE]^2) > 1e-14 * before[free]]
  free <- free_columns(free, values, weight)
  unit[free$columns, free$columns] <- free$unit
  for (number in unique(block[block > 0L])) {
    # Their variance is then the mean variance of this part of the smooth over the observations.
    variance <- sum(weight * values[, block == number]^2)
    if (!(variance > 0)) fail("which does not vary in the data")
    unit[cbind(which(block == number), which(block == number))] <- 1 / sqrt(variance)
  }
  kept <- c(free$columns, which(block > 0L))
  # The sign of a column is arbitrary, and could depend on the unit of a variable.
  unit <- unit * rep(ifelse((values %*% unit)[which(weight > 0)[[1L]], ] < 0, -1, 1), each = nrow(unit))
  smooth$transform <- smooth$transform %*% unit[, kept, drop = FALSE]
  if (!is.null(smooth$centre)) smooth$centre <- smooth$centre %*% unit[, kept, drop = FALSE]
  smooth$values <- values %*% unit[, kept, drop = FALSE]
  smooth$block <- block[kept]
  blocks <- seq_len(length(bases) - 1L)
  smooth$block_names <- sprintf("sd(%s%s)", smooth$label, if (length(blocks) > 1L) paste0(".", blocks) else "")[blocks]
  fixed <- length(free$columns)
  smooth$names <- sprintf("%s.%s", smooth$label, c(sprintf("fixed%d", seq_len(fixed)), seq_len(sum(block > 0L))))
  smooth
}

# Makes columns that do not depend on others uncorrelated, with variance 1 over the observations.
free_columns <- function(free, values, weight) {
  if (length(free) == 0L) return(list(columns = free, unit = matrix(0, 0L, 0L)))
  scaled <- values[, free, drop = FALSE] * sqrt(weight)
  size <- sqrt(colSums(scaled^2))
  parts <- qr(scaled / rep(size, each = nrow(scaled)), tol = 1e-7)
  used <- parts$pivot[seq_len(parts$rank)]
  root <- qr.R(parts)[seq_len(parts$rank), seq_len(parts$rank), drop = FALSE]
  list(columns = free[used], unit = backsolve(root, diag(1, parts$rank)) / size[used])
}

new_smooth_columns <- function(fit, newdata) {
  smooths <- fit$design$smooths
  has_levels <- vapply(smooths, has_level_columns, NA)
  count <- function(smooths) length(unlist(lapply(smooths, `[[`, "columns")))
  out <- matrix(0, nrow(newdata), count(smooths[!has_levels]))
  first <- ncol(fit$design$x) - count(smooths)
  data <- lapply(smooths, function(smooth) smooth_data(smooth, new_frame(fit, smooth$terms, newdata)))
  for (i in which(!has_levels)) out[, smooths[[i]]$columns - first] <- smooth_columns(smooths[[i]], data[[i]])
  colnames(out) <- colnames(fit$design$x)[first + seq_len(ncol(out))]
  list(x = out, levels = if (any(has_levels)) {
    Reduce(methods::cbind2, Map(level_columns, smooths[has_levels], data[has_levels]))
  }, paths = Filter(length, Map(new_path_rows, seq_along(smooths), smooths, data)),
    unseen = Reduce(`|`, Map(unseen_levels, smooths, data, list(fit))))
}

with_smooths <- function(x, smooths) {
  x <- cbind(x, smooths$x)
  if (is.null(smooths$levels)) return(x)
  methods::cbind2(as_sparse_columns(Matrix::Matrix(x, sparse = TRUE)), smooths$levels)
}

smooth_deviation_names <- function(fit) {
  names_of_regressions(fit, function(fit) {
    names <- unlist(lapply(fit$design$smooths, `[[`, "block_names"))
    of_each_class(names, predictor_classes(fit$response)[-1L])
  })
}

is_shown_coefficient <- function(fit) {
  unlist(lapply(regressions_of(fit), function(fit) {
    block <- fit$design$block
    if (is.null(block)) rep(TRUE, length(fit$coefficient_names)) else rep(block == 0L, outcomes_of(fit))
  }), use.names = FALSE)
}

#' Smooths and effects of areas and times in regressions
#'
#' Terms of the formula of [bayes_logit()] whose coefficients have a known precision matrix up to one learned scale.
#'
#' | term | adds to the linear predictor |
#' |---|---|
#' | `s(x)` | a smooth function of `x`, by [mgcv::s()] |
#' | `s(x, by = f)` | one for each level of the factor `f`; add `f` itself, because each has mean 0 |
#' | `s(x, by = z)` | a smooth function of `x` times the number `z` |
#' | `s(x, z)`, `t2(x, z)` | a smooth surface, isotropic or not |
#' | `car(area, adjacency)` | effects of areas that are like those of their neighbours |
#' | `rw(time)` | effects of times that follow a random walk |
#' | \code{rw(time | unit)} | a random walk of each unit; add \code{(1 | unit)} for its level |
#' | `ar1(time)` | effects of times that follow a stationary first-order autoregression |
#' | \code{ar1(time | unit)} | an autoregression of each unit, which has the unit's level in it |
#'
#' `s()` and `t2()` take the arguments of package mgcv, but not `sp`, `id` and `pc`; `te()` and `ti()` are not
#' available. `adjacency` is a symmetric matrix with the areas as row names, 1 for neighbours (or other weights) and 0
#' for others, or a named list of the neighbours of each area. Areas without rows can be predicted. More than 1024 areas
#' must all be connected.
#' @section Model and prior:
#' The penalised part of a smooth is normal, with the precision that the penalty gives, divided by a variance
#' \eqn{\sigma^2}{sigma^2} that is learned (Wood 2017, section 5.8). Its unpenalised part, such as the linear function
#' of `s(x)`, has coefficients with the prior of other coefficients, called `s(x).fixed1` and so on.
#' \eqn{\sigma}{sigma}, `sd(s(x))` in summaries, is the standard deviation of the penalised part over the observations.
#' It is half-Cauchy with the scale `smooth_scale` of [logit_prior()]. Each part of `t2()`, and each class of
#' `"multinomial"`, has its own. A smooth has mean 0 over the observations.
#'
#' The variance of a step of `rw()` is proportional to its length. The effects of `ar1()` have the mean 0, the standard
#' deviation \eqn{\sigma}{sigma} and, at times \eqn{s} and \eqn{t} of the same unit, the correlation \eqn{\rho^{|s - t|
#' / h}}{rho^(|s - t|/h)}. `cor(ar1(time))` in summaries is \eqn{\rho}{rho}, uniform between 0 and 1. The step \eqn{h}
#' is the median distance of neighbouring times of a unit.
#'
#' Summaries leave out the penalised coefficients; `coef()` and `posterior::as_draws()` have them. A time or an area
#' that the term does not know is an error in `predict()`, except that effects of `ar1()` at other times are drawn.
#' @references Wood, S. N. (2017). *Generalized Additive Models*, 2nd edition. Chapman and Hall/CRC.
#' @examples
#' if (requireNamespace("mgcv", quietly = TRUE)) {
#'   fit <- bayes_logit(am ~ s(wt, k = 5), mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#'   plot(fit, "smooths")
#' }
#' @name smooth_terms
NULL
