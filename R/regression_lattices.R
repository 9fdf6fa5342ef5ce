# Effects of areas and times, car(), rw() and ar1(): smooths whose basis has a column for each level.

# From so many levels on the columns are sparse, one for each level. Fewer are a dense part of the design. From so many
# on the precision is a band (src/regression/lattice.c). The most levels where it cannot be one.
fewest_level_columns <- 32L
fewest_banded <- 300L
most_levels <- 1024L

# The precision, in units of the block, with which the mean of levels over the observations is 0.
sum_precision <- 1e6

lattice_kinds <- c(car = "car(area, adjacency)", rw = "rw(time) or rw(time | unit)",
  ar1 = "ar1(time) or ar1(time | unit)")

read_lattice_term <- function(call, envir) {
  kind <- as.character(call[[1L]])
  words <- dQuote(deparse1(call), FALSE)
  pattern <- if (kind == "car") function(area, adjacency) NULL else function(time) NULL
  wanted <- names(formals(pattern))
  arguments <- tryCatch(as.list(match.call(pattern, call))[-1L], error = function(error) NULL)
  if (!setequal(names(arguments), wanted)) {
    stop_input("formula", "has ", words, "; such a term is written ", lattice_kinds[[kind]])
  }
  expression <- arguments[[wanted[[1L]]]]
  has_unit <- kind != "car" && is.call(expression) && identical(expression[[1L]], quote(`|`))
  variables <- if (has_unit) as.list(expression)[-1L] else list(expression)
  lattice <- list(kind = kind, has_unit = has_unit)
  if (kind == "car") {
    adjacency <- tryCatch(eval(arguments$adjacency, envir), error = function(error) {
      stop_input("formula", "has ", words, ", whose adjacency cannot be found: ", because = error)
    })
    lattice$neighbours <- read_neighbours(adjacency, words)
  }
  list(label = sprintf("%s(%s)", kind, deparse1(expression)), variables = variables,
    texts = vapply(variables, deparse1, ""), lattice = lattice)
}

# The `names` of areas, and the `pairs` of neighbours, each twice.
read_neighbours <- function(adjacency, words) {
  fail <- function(...) stop_input("formula", "has ", words, ", whose adjacency ", ...)
  if (is.list(adjacency) && !is.data.frame(adjacency)) {
    names <- if (is.null(names(adjacency))) attr(adjacency, "region.id") else names(adjacency)
    if (is.null(names)) fail("is a list without the names of the areas")
    at <- lapply(lapply(adjacency, setdiff, 0), function(other) if (is.character(other)) match(other, names) else other)
    wrong <- !vapply(at, function(at) all(at %in% seq_along(names)), NA)
    if (any(wrong)) fail("has a neighbour of ", dQuote(names[wrong][[1L]], FALSE), " that is no area")
    pairs <- data.frame(from = rep(seq_along(at), lengths(at)), to = as.integer(unlist(at)))
    pairs$weight <- rep(1, nrow(pairs))
  } else {
    is_sparse <- is_sparse_matrix(adjacency)
    is_square <- length(dim(adjacency)) == 2L && nrow(adjacency) == ncol(adjacency)
    if (!is_square || !(is_sparse || is.numeric(adjacency) || is.logical(adjacency))) {
      fail("must be a square matrix, or a list with the neighbours of each area, not ", show_value(adjacency))
    }
    names <- rownames(adjacency)
    if (is.null(names)) fail("has no row names, which are the names of the areas")
    pairs <- if (is_sparse) {
      adjacency <- as_sparse_columns(adjacency)
      data.frame(from = adjacency@i + 1L, to = rep(seq_along(names), diff(adjacency@p)), weight = adjacency@x)
    } else {
      at <- which(is.na(adjacency) | adjacency != 0, arr.ind = TRUE)
      data.frame(from = at[, 1L], to = at[, 2L], weight = adjacency[at] + 0)
    }
  }
  if (anyDuplicated(names)) fail("has the area ", dQuote(names[duplicated(names)][[1L]], FALSE), " twice")
  pairs <- pairs[is.na(pairs$weight) | pairs$from != pairs$to & pairs$weight != 0, ]
  pairs <- pairs[order(pairs$from, pairs$to), ]
  back <- pairs$weight[match(paste(pairs$to, pairs$from), paste(pairs$from, pairs$to))]
  if (anyNA(c(back, pairs$weight)) || any(pairs$weight < 0) || !isTRUE(all.equal(back, pairs$weight))) {
    fail("is not symmetric, or has weights that are missing or negative")
  }
  if (nrow(pairs) == 0L) fail("has no neighbours")
  list(names = names, pairs = pairs)
}

make_lattice <- function(smooth, data, sizes, fail) {
  lattice <- smooth$lattice
  neighbours <- lattice$neighbours
  lattice$neighbours <- NULL
  if (is.null(neighbours)) {
    lattice <- with_times(lattice, data, fail)
    times <- sort(unique(lattice$at$place))
    count <- length(times)
    units <- unique(lattice$at$unit)
    if (count < 3L) fail(sprintf("which has %s; at least 3 are needed", count_words(count, "time")))
    lattice$at <- data.frame(place = rep(times, length(units)), unit = rep(units, each = count))
  } else {
    lattice$at <- data.frame(place = neighbours$names, unit = "")
  }
  smooth$lattice <- lattice
  if (is_banded(smooth, nrow(lattice$at), neighbours, fail)) {
    return(finish_band(smooth, data, sizes, if (is.null(neighbours)) diff(times) else neighbours$pairs, fail))
  }
  if (is.null(neighbours)) {
    steps <- diff(diag(count)) / sqrt(diff(times))
    penalty <- crossprod(steps) / max(steps)^2
    bases <- lapply(penalty_bases(list(penalty), count, fail), function(basis) kronecker(diag(length(units)), basis))
    penalty <- kronecker(diag(length(units)), penalty)
  } else {
    penalty <- matrix(0, nrow(lattice$at), nrow(lattice$at))
    penalty[as.matrix(neighbours$pairs[1:2])] <- -neighbours$pairs$weight
    diag(penalty) <- -rowSums(penalty)
    bases <- penalty_bases(list(penalty), nrow(penalty), fail)
  }
  is_connected <- ncol(bases[[1L]]) == length(unique(lattice$at$unit))
  if (ncol(bases[[2L]]) >= fewest_level_columns && is_connected && requireNamespace("Matrix", quietly = TRUE)) {
    return(finish_levels(smooth, data, sizes, penalty, bases[[2L]], fail))
  }
  finish_smooth(smooth, data, sizes, bases, fail)
}

is_banded <- function(smooth, count, neighbours, fail) {
  is_connected <- is.null(neighbours) || length(levels_in_order(neighbours$pairs, count)) == count
  can <- is_connected && smooth$before > 0L && requireNamespace("Matrix", quietly = TRUE)
  if (!can && count > most_levels) {
    fail(sprintf("which has %d levels: more than %d need %s", count, most_levels, if (!is_connected) {
      "areas that are all connected"
    } else if (smooth$before == 0L) "an intercept or another predictor" else "package Matrix"))
  }
  can && count >= fewest_banded
}

# Connected areas in the reverse order of Cuthill & McKee (1969), in which neighbours are close.
levels_in_order <- function(pairs, count) {
  near <- split(pairs$to, factor(pairs$from, seq_len(count)))
  degree <- lengths(near)
  from <- which.min(degree)
  for (pass in 1:3) {
    found <- integer(count)
    found[[1L]] <- from
    is_found <- replace(logical(count), from, TRUE)
    size <- 1L
    for (at in seq_len(count)) {
      if (at > size) break
      new <- near[[found[[at]]]]
      new <- new[!is_found[new]]
      if (length(new) == 0L) next
      is_found[new] <- TRUE
      found[size + seq_along(new)] <- new[order(degree[new])]
      size <- size + length(new)
    }
    # Far ends make narrow bands.
    from <- found[[size]]
  }
  rev(found[seq_len(size)])
}

lattice_places <- function(lattice, data) {
  data.frame(place = if (is.numeric(data[[1L]])) data[[1L]] else as.character(data[[1L]]),
    unit = if (lattice$has_unit) as.character(data[[2L]]) else rep("", nrow(data)))
}

with_times <- function(lattice, data, fail) {
  if (!is.numeric(data[[1L]])) {
    fail("whose variable ", dQuote(names(data)[[1L]], FALSE), " must be times: numbers or dates")
  }
  at <- unique(lattice_places(lattice, data))
  lattice$at <- at[order(match(at$unit, if (lattice$has_unit) levels(factor(data[[2L]])) else ""), at$place), ]
  lattice
}

# The level of each row; NA if a made autoregression has none for it.
lattice_levels <- function(smooth, data) {
  lattice <- smooth$lattice
  if (is.character(lattice$at$place)) data[[1L]] <- as.character(as_groups(data[[1L]]))
  key <- function(rows) paste(match(rows$place, lattice$at$place), rows$unit)
  level <- match(key(lattice_places(lattice, data)), key(lattice$at))
  if (anyNA(level) && is.null(smooth$gap)) {
    row <- data[which(is.na(level))[[1L]], , drop = FALSE]
    shown <- paste(vapply(row, function(value) format(value, digits = 15), ""), collapse = " of ")
    stop_input(if (is.null(smooth$names)) "data" else "newdata", "has ", dQuote(shown, FALSE), " in ", smooth$label,
      if (lattice$kind == "car") ", which the adjacency lacks" else ", which the fit has not seen")
  }
  level
}

unseen_levels <- function(smooth, data, fit) {
  out <- logical(nrow(data))
  if (is.null(smooth$lattice) || !is.null(smooth$gap)) return(out)
  complete <- stats::complete.cases(data)
  seen <- lattice_levels(smooth, smooth_data(smooth, fit$frame[fit$weights > 0, , drop = FALSE]))
  out[complete] <- !lattice_levels(smooth, data[complete, , drop = FALSE]) %in% seen
  out
}

has_band <- function(smooth) !is.null(smooth$band)
has_level_columns <- function(smooth) !is.null(smooth$structure) || has_band(smooth)

# The parts of a band that src/regression/lattice.c reads: `order` has the level of each of its rows. `links` are
# distances of neighbouring times, or pairs of neighbours.
finish_band <- function(smooth, data, sizes, links, fail) {
  at <- smooth$lattice$at
  count <- nrow(at)
  unit <- match(at$unit, unique(at$unit))
  if (is.numeric(links)) {
    before <- which(seq_len(count) %% (count / max(unit)) != 0L)
    links <- data.frame(from = before, to = before + 1L, weight = rep(min(links) / links, max(unit)))
    order <- seq_len(count)
  } else {
    order <- levels_in_order(links, count)
    links <- links[links$from < links$to, ]
  }
  row <- order(order)
  ends <- cbind(pmin(row[links$from], row[links$to]), pmax(row[links$from], row[links$to]))
  precision <- matrix(0, max(ends[, 2L] - ends[, 1L]) + 1L, count)
  precision[cbind(ends[, 2L] - ends[, 1L] + 1L, ends[, 1L])] <- -links$weight
  precision[1L, ] <- rowsum(rep(links$weight, 2L), as.vector(ends))
  weight <- observed_levels(smooth, data, sizes, unit, fail)
  variance <- lattice_variance(ends, links$weight, weight$of_level[order], unit)
  if (!(variance > 0)) fail("which does not vary in the data")
  with_level_columns(smooth, data, band = list(order = order, precision = precision * variance,
    share = sqrt(sum_precision) * weight$share[order], unit = unit))
}

# The mean over the observations of the variance of levels about their unit's mean: a trace minus a square. The trace
# is the slope of a log determinant, far cheaper than the inverse of a sparse matrix.
lattice_variance <- function(ends, weight, observed, unit) {
  count <- length(observed)
  observed <- observed / sum(observed)
  first <- which(!duplicated(unit))
  penalty <- Matrix::sparseMatrix(c(ends, ends[, 1L], first), c(ends, ends[, 2L], first),
    x = c(weight, weight, -weight, rep(1, length(first))), dims = c(count, count))
  penalty <- Matrix::forceSymmetric(penalty)
  share <- Matrix::sparseMatrix(seq_len(count), unit, x = observed)
  total <- Matrix::colSums(share)
  squares <- Matrix::colSums(share * Matrix::solve(penalty, share)) / ifelse(total > 0, total, 1)
  log_determinant <- function(step) {
    as.numeric(Matrix::determinant(penalty + Matrix::Diagonal(x = step * observed), logarithm = TRUE)$modulus)
  }
  # A scale of the trace, then a step at which neither rounding nor curvature matters.
  step <- 1e-9 / (log_determinant(1e-6) - log_determinant(0))
  sum(c(8, -8, -1, 1) * vapply(step * c(1, -1, 2, -2), log_determinant, 0)) / (12 * step) - sum(squares)
}

# Each level is a coefficient. Their mean in a unit is 0: its precision is far above that of differences.
finish_levels <- function(smooth, data, sizes, penalty, basis, fail) {
  count <- nrow(penalty)
  unit <- match(smooth$lattice$at$unit, unique(smooth$lattice$at$unit))
  observed <- observed_levels(smooth, data, sizes, unit, fail)
  weight <- observed$of_level
  means <- matrix(0, count, max(unit))
  means[cbind(seq_len(count), unit)] <- observed$share
  variance <- sum(weight / sum(weight) * rowSums((basis - crossprod(means, basis)[unit, , drop = FALSE])^2))
  if (!(variance > 0)) fail("which does not vary in the data")
  with_level_columns(smooth, data, structure = penalty * variance + sum_precision * tcrossprod(means))
}

# The observations of each level, and its share of those of its unit. Levels of a unit without any count alike.
observed_levels <- function(smooth, data, sizes, unit, fail) {
  count <- length(unit)
  weight <- as.vector(rowsum(c(sizes$of_rows, numeric(count)), c(lattice_levels(smooth, data), seq_len(count))))
  if (sum(weight) == 0) fail("which is 0 in all rows that count")
  total <- as.vector(rowsum(weight, unit))[unit]
  list(of_level = weight, share = ifelse(total > 0, weight / pmax(total, .Machine$double.xmin), max(unit) / count))
}

with_level_columns <- function(smooth, data, ...) {
  smooth <- c(smooth, list(...))
  smooth$block <- rep(1L, nrow(smooth$lattice$at))
  smooth$block_names <- sprintf(c("sd(%s)", if (!is.null(smooth$gap)) "cor(%s)"), smooth$label)
  place <- smooth$lattice$at$place
  if (is.numeric(place)) place <- format(unique(place), trim = TRUE, digits = 15)[match(place, unique(place))]
  if (smooth$lattice$has_unit) place <- paste(smooth$lattice$at$unit, place, sep = ".")
  smooth$names <- sprintf("%s.%s", smooth$label, place)
  smooth$values <- (if (is.null(smooth$transform)) level_columns else smooth_columns)(smooth, data)
  smooth
}

level_columns <- function(smooth, data) {
  complete <- stats::complete.cases(data)
  level <- rep(NA_integer_, nrow(data))
  level[complete] <- lattice_levels(smooth, data[complete, , drop = FALSE])
  value <- ifelse(complete, !is.na(level) + 0, NA)
  Matrix::sparseMatrix(seq_len(nrow(data)), ifelse(is.na(level), 1L, level), x = value,
    dims = c(nrow(data), length(smooth$block)), dimnames = list(NULL, smooth$names))
}

# Levels are the times in the data: their law does not depend on other times. `gap` is the distance of each level from
# the one before, in steps; 0 at a unit's first. A step is the median distance of neighbouring times in rows that count.
finish_autoregression <- function(smooth, data, sizes, fail) {
  gaps <- function(at) c(0, diff(at$place) * (at$unit[-1L] == at$unit[-nrow(at)]))
  counted <- gaps(with_times(smooth$lattice, data[sizes$of_rows > 0, , drop = FALSE], fail)$at)
  distances <- sort(counted[counted > 0])
  if (length(distances) < 2L) fail("which needs at least 3 times of one unit, or 2 of several")
  lattice <- with_times(smooth$lattice, data, fail)
  size <- nrow(lattice$at)
  lattice$step <- distances[[ceiling(length(distances) / 2)]]
  smooth$lattice <- lattice
  smooth$gap <- gaps(lattice$at) / lattice$step
  if (is_banded(smooth, size, NULL, fail)) {
    return(with_level_columns(smooth, data, band = list(order = seq_len(size), gap = smooth$gap)))
  }
  if (size >= fewest_level_columns && requireNamespace("Matrix", quietly = TRUE)) {
    return(with_level_columns(smooth, data, structure = diag(size)))
  }
  with_level_columns(smooth, data, transform = diag(size))
}

# For the sampler levels with a band are terms like those of groups, not columns of the design.
banded_smooths <- function(design) Filter(has_band, design$smooths)

sampled_design <- function(design) {
  banded <- banded_smooths(design)
  if (length(banded) == 0L) return(design)
  kept <- seq_len(ncol(design$x) - length(unlist(lapply(banded, `[[`, "columns"))))
  of_columns <- c("center", "scale", "prior_unit", "is_intercept", "block")
  design[of_columns] <- lapply(design[of_columns], `[`, kept)
  design$x <- design$x[, kept, drop = FALSE]
  design$smooths <- Filter(Negate(has_band), design$smooths)
  if (!any(vapply(design$smooths, has_level_columns, NA))) design$x <- as.matrix(design$x)
  design
}

banded_terms <- function(design, order) {
  lapply(banded_smooths(design), function(smooth) {
    x <- design$x[, smooth$columns, drop = FALSE]
    level <- integer(nrow(x))
    level[x@i + 1L] <- rep(order(smooth$band$order), diff(x@p))
    c(list(level = if (is.null(order)) level - 1L else level[order] - 1L, levels = ncol(x), independent = TRUE),
      smooth$band[names(smooth$band) != "order"])
  })
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
