# Effects of areas and of times in regressions, car(), rw() and ar1(): smooths whose basis has a column for each level.
# The penalty of car() and rw() is the sum of squared differences of neighbours.

# The most levels, because each is a column of the design.
most_levels <- 1024L

# From so many on the columns are sparse, one for each level. Fewer are a dense part of the design.
fewest_level_columns <- 32L

# The precision, in units of the block, with which the mean of levels over the observations is 0.
sum_precision <- 1e6

# The kinds of these terms: how they are written and made of data, their arguments, and words for unknown levels.
lattice_kinds <- list(
  car = list(shape = "car(area, adjacency)", pattern = function(area, adjacency) NULL,
    unknown = "which the adjacency lacks",
    make = function(smooth, data, sizes, fail) list(make_lattice(smooth, data, sizes, fail))),
  rw = list(shape = "rw(time) or rw(time | unit)", pattern = function(time) NULL,
    unknown = "which the fit has not seen",
    make = function(smooth, data, sizes, fail) list(make_lattice(smooth, data, sizes, fail))),
  ar1 = list(shape = "ar1(time) or ar1(time | unit)", pattern = function(time) NULL,
    unknown = "which the fit has not seen",
    make = function(smooth, data, sizes, fail) list(finish_autoregression(smooth, data, sizes, fail)))
)

# As read_smooth().
read_lattice_term <- function(call, envir) {
  kind <- as.character(call[[1L]])
  words <- dQuote(deparse1(call), FALSE)
  shape <- lattice_kinds[[kind]]$shape
  pattern <- lattice_kinds[[kind]]$pattern
  wanted <- names(formals(pattern))
  arguments <- tryCatch(as.list(match.call(pattern, call))[-1L], error = function(error) NULL)
  if (!setequal(names(arguments), wanted)) stop_input("formula", "has ", words, "; such a term is written ", shape)
  expression <- arguments[[wanted[[1L]]]]
  if ("adjacency" %in% wanted) {
    given <- arguments$adjacency
    adjacency <- tryCatch(eval(given, envir), error = function(error) {
      stop_input("formula", "has ", words, ", whose adjacency cannot be found: ", because = error)
    })
    label <- sprintf("car(%s)", deparse1(expression))
    variables <- list(expression)
    lattice <- list(kind = kind, has_unit = FALSE, penalty = neighbour_penalty(adjacency, words))
  } else {
    has_unit <- is.call(expression) && identical(expression[[1L]], quote(`|`))
    variables <- if (has_unit) list(expression[[2L]], expression[[3L]]) else list(expression)
    label <- sprintf("%s(%s)", kind, deparse1(expression))
    lattice <- list(kind = kind, has_unit = has_unit)
  }
  list(label = label, variables = variables, texts = vapply(variables, deparse1, ""), lattice = lattice)
}

# The matrix whose quadratic form is the sum of squared differences of neighbours, with the names of the areas.
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

make_lattice <- function(smooth, data, sizes, fail) {
  lattice <- smooth$lattice
  if (is.null(lattice$penalty)) {
    lattice <- with_times(lattice, data, fail)
    times <- unique(lattice$at$place)
    count <- length(times)
    units <- unique(lattice$at$unit)
    if (count < 3L) fail(sprintf("which has %s; at least 3 are needed", count_words(count, "time")))
    if (count * length(units) > most_levels) {
      fail(sprintf("which has %d times of %s; at most %d levels are known", count,
        count_words(length(units), "unit"), most_levels))
    }
    lattice$at <- data.frame(place = rep(sort(times), length(units)), unit = rep(units, each = count))
    # The variance of a step grows with its length.
    steps <- diff(diag(count)) / sqrt(diff(sort(times)))
    penalty <- crossprod(steps) / max(steps)^2
    bases <- lapply(penalty_bases(list(penalty), count, fail), function(basis) kronecker(diag(length(units)), basis))
    penalty <- kronecker(diag(length(units)), penalty)
  } else {
    penalty <- lattice$penalty
    lattice$at <- data.frame(place = rownames(penalty), unit = "")
    bases <- penalty_bases(list(penalty), nrow(penalty), fail)
  }
  lattice$penalty <- NULL
  smooth$lattice <- lattice
  is_connected <- ncol(bases[[1L]]) == length(unique(lattice$at$unit))
  if (ncol(bases[[2L]]) >= fewest_level_columns && is_connected && requireNamespace("Matrix", quietly = TRUE)) {
    return(finish_levels(smooth, data, sizes, penalty, bases[[2L]], fail))
  }
  finish_smooth(smooth, data, sizes, bases, fail)
}

# The area or time, and the unit, of each row.
lattice_places <- function(lattice, data) {
  data.frame(place = if (is.numeric(data[[1L]])) data[[1L]] else as.character(data[[1L]]),
    unit = if (lattice$has_unit) as.character(data[[2L]]) else rep("", nrow(data)))
}

# A lattice `at` the times of units that the data have, unit by unit.
with_times <- function(lattice, data, fail) {
  if (!is.numeric(data[[1L]])) {
    fail("whose variable ", dQuote(names(data)[[1L]], FALSE), " must be times: numbers or dates")
  }
  at <- unique(lattice_places(lattice, data))
  units <- if (lattice$has_unit) levels(factor(data[[2L]])) else ""
  lattice$at <- at[order(match(at$unit, units), at$place), ]
  lattice
}

# The unit of each row, from 1.
lattice_units <- function(lattice, data) match(lattice_places(lattice, data)$unit, unique(lattice$at$unit))

# The level of each row; NA if an autoregression that is made has no level for it.
lattice_levels <- function(smooth, data) {
  lattice <- smooth$lattice
  if (is.character(lattice$at$place)) data[[1L]] <- as.character(data[[1L]])
  key <- function(rows) paste(match(rows$place, lattice$at$place), rows$unit)
  level <- match(key(lattice_places(lattice, data)), key(lattice$at))
  if (anyNA(level) && is.null(smooth$gap)) {
    row <- data[which(is.na(level))[[1L]], , drop = FALSE]
    shown <- paste(vapply(row, function(value) format(value, digits = 15), ""), collapse = " of ")
    argument <- if (is.null(smooth$names)) "data" else "newdata"
    stop_input(argument, "has ", dQuote(shown, FALSE), " in ", smooth$label, ", ",
      lattice_kinds[[lattice$kind]]$unknown)
  }
  level
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

has_level_columns <- function(smooth) !is.null(smooth$structure)

# As finish_smooth(), for many levels: each is a coefficient, with the precision `structure` for a deviation of 1. Their
# mean in each unit is 0: its precision is far above that of differences. `basis` is that of the penalty.
finish_levels <- function(smooth, data, sizes, penalty, basis, fail) {
  count <- nrow(penalty)
  level <- lattice_levels(smooth, data)
  unit <- match(smooth$lattice$at$unit, unique(smooth$lattice$at$unit))
  units <- max(unit)
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

level_names <- function(lattice) {
  place <- lattice$at$place
  if (is.numeric(place)) place <- format(unique(place), trim = TRUE, digits = 15)[match(place, unique(place))]
  if (lattice$has_unit) paste(lattice$at$unit, place, sep = ".") else place
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

# As finish_smooth(), for a stationary autoregression of each unit. Its levels are the times of units that the
# data have: the law of these does not depend on the others. `gap` has the distance of each level from the one before,
# in steps; 0 at a unit's first. A step is the median distance of neighbouring times in rows that count.
finish_autoregression <- function(smooth, data, sizes, fail) {
  gaps <- function(at) c(0, diff(at$place) * (at$unit[-1L] == at$unit[-nrow(at)]))
  counted <- gaps(with_times(smooth$lattice, data[sizes$of_rows > 0, , drop = FALSE], fail)$at)
  lattice <- with_times(smooth$lattice, data, fail)
  distances <- sort(counted[counted > 0])
  if (length(distances) < 2L) fail("which needs at least 3 times of one unit, or 2 of several")
  size <- nrow(lattice$at)
  if (size > most_levels) fail(sprintf("which has %d times of units; at most %d are known", size, most_levels))
  lattice$step <- distances[[ceiling(length(distances) / 2)]]
  smooth$lattice <- lattice
  smooth$gap <- gaps(lattice$at) / lattice$step
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

# New times of an autoregression: for each row the number of its new time, or 0; their times and units. NULL: none.
new_path_rows <- function(i, smooth, data) {
  if (is.null(smooth$gap)) return(NULL)
  complete <- stats::complete.cases(data)
  new <- which(complete)[is.na(lattice_levels(smooth, data[complete, , drop = FALSE]))]
  if (length(new) == 0L) return(NULL)
  if (!all(is.finite(data[[1L]][new]))) stop_input("newdata", "has an infinite time in ", smooth$label)
  unit <- lattice_places(smooth$lattice, data)$unit[new]
  key <- paste(match(data[[1L]][new], unique(data[[1L]])), unit)
  first <- !duplicated(key)
  list(smooth = i, level = replace(integer(nrow(data)), new, match(key, key[first])), time = data[[1L]][new][first],
    unit = unit[first])
}
