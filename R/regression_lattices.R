# Effects of areas and of times in regressions, car(), rw() and ar1(): smooths whose basis has a column for each level.
# The penalty of car() and rw() is the sum of squared differences of neighbours.

# The most levels, because each is a column of the design.
most_levels <- 1024L

# From so many on the columns are sparse, one for each level. Fewer are a dense part of the design.
fewest_level_columns <- 32L

# The precision, in units of the block, with which the mean of levels over the observations is 0.
sum_precision <- 1e6

# As read_smooth().
read_lattice_term <- function(call, envir) {
  kind <- as.character(call[[1L]])
  words <- dQuote(deparse1(call), FALSE)
  shape <- switch(kind, car = "car(area, adjacency)", rw = "rw(time) or rw(time | unit)",
    ar1 = "ar1(time) or ar1(time | unit)")
  pattern <- if (kind == "car") function(area, adjacency) NULL else function(time) NULL
  wanted <- names(formals(pattern))
  arguments <- tryCatch(as.list(match.call(pattern, call))[-1L], error = function(error) NULL)
  if (!setequal(names(arguments), wanted)) stop_input("formula", "has ", words, "; such a term is written ", shape)
  expression <- arguments[[wanted[[1L]]]]
  if (kind == "car") {
    given <- arguments$adjacency
    adjacency <- tryCatch(eval(given, envir), error = function(error) {
      stop_input("formula", "has ", words, ", whose adjacency cannot be found: ", because = error)
    })
    label <- sprintf("car(%s)", deparse1(expression))
    variables <- list(expression)
    lattice <- list(kind = "car", penalty = neighbour_penalty(adjacency, words), units = 1L)
  } else {
    has_unit <- is.call(expression) && identical(expression[[1L]], quote(`|`))
    variables <- if (has_unit) list(expression[[2L]], expression[[3L]]) else list(expression)
    label <- sprintf("%s(%s)", kind, deparse1(expression))
    lattice <- list(kind = kind, has_unit = has_unit)
  }
  list(label = label, variables = variables, texts = vapply(variables, deparse1, ""), lattice = lattice)
}

# The matrix whose quadratic form is the sum of squared differences of neighbours, with the names of the areas.
# `adjacency` is a symmetric matrix of weights of at least 0, or a list with the neighbours of each area.
neighbour_penalty <- function(adjacency, words) {
  fail <- function(...) stop_input("formula", "has ", words, ", whose adjacency ", ...)
  if (is.list(adjacency) && !is.data.frame(adjacency)) {
    names <- if (is.null(names(adjacency))) attr(adjacency, "region.id") else names(adjacency)
    if (is.null(names)) fail("is a list without the names of the areas")
    weight <- matrix(0, length(names), length(names), dimnames = list(names, names))
    for (i in seq_along(names)) {
      # Package spdep has 0 for an area without neighbours.
      other <- setdiff(adjacency[[i]], 0)
      at <- if (is.character(other)) match(other, names) else other
      if (!all(at %in% seq_along(names))) fail("has a neighbour of ", dQuote(names[[i]], FALSE), " that is no area")
      weight[i, at] <- 1
    }
  } else {
    weight <- if (is_sparse_matrix(adjacency)) as.matrix(adjacency) else adjacency
    if (!is.matrix(weight) || !(is.numeric(weight) || is.logical(weight)) || nrow(weight) != ncol(weight)) {
      fail("must be a square matrix, or a list with the neighbours of each area, not ", show_value(adjacency))
    }
    if (is.null(rownames(weight))) fail("has no row names, which are the names of the areas")
    weight <- weight + 0
  }
  twice <- rownames(weight)[duplicated(rownames(weight))]
  if (length(twice)) fail("has the area ", dQuote(twice[[1L]], FALSE), " twice")
  if (anyNA(weight) || any(weight < 0) || !isSymmetric(unname(weight))) {
    fail("is not symmetric, or has weights that are missing or negative")
  }
  if (nrow(weight) > most_levels) fail(sprintf("has %d areas; at most %d are known", nrow(weight), most_levels))
  diag(weight) <- 0
  if (all(weight == 0)) fail("has no neighbours")
  diag(rowSums(weight), nrow(weight)) - weight
}

# What the data say about a lattice: its `levels` and the `bases` of their effects, as penalty_bases() has them.
complete_lattice <- function(smooth, data, fail) {
  lattice <- smooth$lattice
  if (lattice$kind == "car") {
    lattice$levels <- rownames(lattice$penalty)
    lattice$bases <- penalty_bases(list(lattice$penalty), nrow(lattice$penalty), fail)
    return(lattice)
  }
  lattice <- with_times(lattice, data, fail)
  count <- length(lattice$times)
  if (count < 3L) fail(sprintf("which has %s; at least 3 are needed", count_words(count, "time")))
  if (count * lattice$units > most_levels) {
    fail(sprintf("which has %d times of %s; at most %d levels are known", count, count_words(lattice$units, "unit"),
      most_levels))
  }
  # The variance of a step grows with its length.
  steps <- diff(diag(count)) / sqrt(diff(lattice$times))
  penalty <- crossprod(steps) / max(steps)^2
  bases <- penalty_bases(list(penalty), count, fail)
  lattice$penalty <- kronecker(diag(lattice$units), penalty)
  lattice$bases <- lapply(bases, function(basis) kronecker(diag(lattice$units), basis))
  lattice
}

# A lattice with the times and the units of the data.
with_times <- function(lattice, data, fail) {
  if (!is.numeric(data[[1L]])) {
    fail("whose variable ", dQuote(names(data)[[1L]], FALSE), " must be times: numbers or dates")
  }
  lattice$times <- sort(unique(data[[1L]]))
  lattice$unit_levels <- if (lattice$has_unit) levels(factor(data[[2L]]))
  lattice$units <- max(1L, length(lattice$unit_levels))
  lattice
}

# The unit of each row, from 1.
lattice_units <- function(lattice, data) {
  if (is.null(lattice$unit_levels)) rep(1L, nrow(data)) else match(as.character(data[[2L]]), lattice$unit_levels)
}

# The level of each row; NA if an autoregression that is made has no level for it.
lattice_levels <- function(smooth, data) {
  lattice <- smooth$lattice
  if (lattice$kind == "car") {
    level <- match(as.character(data[[1L]]), lattice$levels)
    unknown <- "which the adjacency lacks"
  } else {
    level <- (lattice_units(lattice, data) - 1L) * length(lattice$times) + match(data[[1L]], lattice$times)
    if (!is.null(lattice$cells)) level <- match(level, lattice$cells, incomparables = NA)
    unknown <- "which the fit has not seen"
  }
  if (anyNA(level) && is.null(smooth$gap)) {
    row <- data[which(is.na(level))[[1L]], , drop = FALSE]
    shown <- paste(vapply(row, function(value) format(value, digits = 15), ""), collapse = " of ")
    argument <- if (is.null(smooth$names)) "data" else "newdata"
    stop_input(argument, "has ", dQuote(shown, FALSE), " in ", smooth$label, ", ", unknown)
  }
  level
}

# Columns for levels ------------------------------------------------------------------

has_level_columns <- function(smooth) !is.null(smooth$structure)

# As finish_smooth(), for many levels: each is a coefficient, and `structure` is the precision of these coefficients for
# a deviation of 1. They have mean 0 over the observations of each unit, because its precision is far above that of
# their differences. `basis` is that of the penalty.
finish_levels <- function(smooth, data, sizes, basis, fail) {
  penalty <- smooth$lattice$penalty
  smooth$lattice$penalty <- NULL
  count <- nrow(penalty)
  level <- lattice_levels(smooth, data)
  units <- smooth$lattice$units
  unit <- rep(seq_len(units), each = count / units)
  weight <- as.vector(rowsum(c(sizes$of_rows, numeric(count)), c(level, seq_len(count))))
  if (sum(weight) == 0) fail("which is 0 in all rows that count")
  total <- as.vector(rowsum(weight, unit))
  # Levels of a unit without observations count alike.
  share <- ifelse(total[unit] > 0, weight / pmax(total[unit], .Machine$double.xmin), units / count)
  means <- matrix(0, count, units)
  means[cbind(seq_len(count), unit)] <- share
  centred <- basis - crossprod(means, basis)[unit, , drop = FALSE]
  variance <- sum(weight / sum(weight) * rowSums(centred^2))
  if (!(variance > 0)) fail("which does not vary in the data")
  smooth$structure <- penalty * variance + sum_precision * tcrossprod(means)
  smooth$block <- rep(1L, count)
  smooth$block_names <- sprintf("sd(%s)", smooth$label)
  smooth$names <- sprintf("%s.%s", smooth$label, level_names(smooth$lattice))
  smooth$values <- level_columns(smooth, data)
  smooth
}

# Rows of new data whose area, or time of a unit, no row of the fit that counts has.
unseen_levels <- function(smooth, data, fit) {
  out <- logical(nrow(data))
  if (is.null(smooth$lattice) || !is.null(smooth$gap)) return(out)
  complete <- stats::complete.cases(data)
  seen <- lattice_levels(smooth, smooth_data(smooth, fit$frame[fit$weights > 0, , drop = FALSE]))
  out[complete] <- !lattice_levels(smooth, data[complete, , drop = FALSE]) %in% seen
  out
}

level_names <- function(lattice) {
  if (lattice$kind == "car") return(lattice$levels)
  times <- format(lattice$times, trim = TRUE, digits = 15)
  if (is.null(lattice$unit_levels)) return(times)
  all <- paste(rep(lattice$unit_levels, each = length(times)), times, sep = ".")
  if (is.null(lattice$cells)) all else all[lattice$cells]
}

# The sparse columns of rows. A row with a missing value has a missing entry, a row without a level has 0.
level_columns <- function(smooth, data) {
  complete <- stats::complete.cases(data)
  level <- rep(1L, nrow(data))
  level[complete] <- lattice_levels(smooth, data[complete, , drop = FALSE])
  has_none <- is.na(level)
  level[has_none] <- 1L
  Matrix::sparseMatrix(seq_len(nrow(data)), level, x = ifelse(complete, ifelse(has_none, 0, 1), NA),
    dims = c(nrow(data), length(smooth$block)), dimnames = list(NULL, smooth$names))
}

# Autoregressions ---------------------------------------------------------------------

# As finish_smooth(), for a stationary autoregression of each unit. Its levels are the `cells`, times of units, that the
# data have: the law of these does not depend on the others. `gap` has the distance of each level from the one before,
# in steps; 0 at a unit's first. A step is the median distance of neighbouring times in rows that count.
finish_autoregression <- function(smooth, data, sizes, fail) {
  lattice <- with_times(smooth$lattice, data, fail)
  count <- length(lattice$times)
  cell <- (lattice_units(lattice, data) - 1L) * count + match(data[[1L]], lattice$times)
  gaps <- function(cells) {
    unit <- (cells - 1L) %/% count
    ifelse(c(TRUE, diff(unit) != 0), 0, c(0, diff(lattice$times[(cells - 1L) %% count + 1L])))
  }
  lattice$cells <- sort(unique(cell))
  counted <- gaps(sort(unique(cell[sizes$of_rows > 0])))
  distances <- sort(counted[counted > 0])
  if (length(distances) < 2L) fail("which needs at least 3 times of one unit, or 2 of several")
  size <- length(lattice$cells)
  if (size > most_levels) fail(sprintf("which has %d times of units; at most %d are known", size, most_levels))
  lattice$step <- distances[[ceiling(length(distances) / 2)]]
  smooth$lattice <- lattice
  smooth$gap <- gaps(lattice$cells) / lattice$step
  smooth$block <- rep(1L, size)
  smooth$block_names <- sprintf(c("sd(%s)", "cor(%s)"), smooth$label)
  smooth$names <- sprintf("%s.%s", smooth$label, level_names(lattice))
  if (size >= fewest_level_columns && requireNamespace("Matrix", quietly = TRUE)) {
    smooth$structure <- diag(size)
    smooth$values <- level_columns(smooth, data)
  } else {
    smooth$transform <- diag(size)
    smooth$values <- smooth_columns(smooth, data)
  }
  smooth
}

# The rows of an autoregression whose times of units the fit has not seen: for each row the number of its time of a unit
# among the new ones, or 0, and their times and units. NULL if there are none.
new_path_rows <- function(i, smooth, data) {
  if (is.null(smooth$gap)) return(NULL)
  complete <- stats::complete.cases(data)
  new <- which(complete)[is.na(lattice_levels(smooth, data[complete, , drop = FALSE]))]
  if (length(new) == 0L) return(NULL)
  if (!all(is.finite(data[[1L]][new]))) stop_input("newdata", "has an infinite time in ", smooth$label)
  unit <- if (smooth$lattice$has_unit) as.character(data[[2L]][new]) else rep("", length(new))
  key <- paste(match(data[[1L]][new], unique(data[[1L]])), unit)
  first <- !duplicated(key)
  list(smooth = i, level = replace(integer(nrow(data)), new, match(key, key[first])), time = data[[1L]][new][first],
    unit = unit[first])
}
