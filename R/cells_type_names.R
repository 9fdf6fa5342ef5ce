# Names of cell types from their markers.

#' Name cell types by their markers
#'
#' `type_names()` says for each type which markers it has: `"CD3+ CD4+ CD8-"`. `marker_thresholds()` finds valleys of
#' each marker's density.
#' @param types cell types from [cell_types()].
#' @param thresholds a named vector: the threshold of each marker that names shall have, in the units of
#'   `types$medians`. Markers whose threshold is `NA` are left out.
#' @param positive_only whether names have only the positive markers. A type without any is `"negative"`.
#' @return `type_names()`: a name for each type, for `levels(types) <-`. A marker is positive if the type's median is
#'   above the threshold. `marker_thresholds()`: a named vector, `NA` if the density has no valley between the lowest
#'   and the highest median.
#' @section How thresholds are found:
#' For each valley of a marker's density, take the highest peak on each side. The threshold is the valley that is lowest
#' relative to the smaller of its two peaks, if the ratio is at most 0.9. A marker with three levels has two valleys.
#' @examples
#' set.seed(1)
#' x <- cbind(CD3 = rnorm(900, rep(c(6, 6, 0), 300)), CD4 = rnorm(900, rep(c(6, 0, 0), 300)))
#' types <- cell_types(dp_mixture(x, components = 10, iter = 200, seed = 1, threads = 2), threads = 2)
#' marker_thresholds(types)
#' levels(types) <- type_names(types)
#' levels(types)
#' @export
type_names <- function(types, thresholds = marker_thresholds(types), positive_only = FALSE) {
  check_cell_types(types)
  given <- !missing(thresholds)
  positive_only <- check_flag(positive_only, "positive_only")
  markers <- colnames(types$medians)
  if (!is.numeric(thresholds) || is.null(names(thresholds)) || anyDuplicated(names(thresholds))) {
    stop_input("thresholds", "must be numbers with the names of markers, not ", show_value(thresholds))
  }
  strange <- setdiff(names(thresholds), markers)
  if (length(strange)) {
    stop_input("thresholds", "has ", list_some(strange), ", which the fit lacks; its markers are ", list_some(markers))
  }
  thresholds <- thresholds[!is.na(thresholds)]
  if (!length(thresholds)) {
    stop_input("thresholds", "has no number: no marker has a valley. Give a threshold for each marker to be named")
  }
  if (given) tell_of_cut_types(types, thresholds)
  high <- types$medians[, names(thresholds), drop = FALSE] > rep(thresholds, each = nrow(types$medians))
  names <- apply(high, 1L, function(positive) {
    words <- paste0(names(thresholds), ifelse(positive, "+", "-"))
    if (positive_only) words <- words[positive]
    if (length(words)) paste(words, collapse = " ") else "negative"
  })
  number <- stats::ave(seq_along(names), names, FUN = seq_along)
  unname(paste0(names, ifelse(number > 1L, sprintf(" (%d)", number), "")))
}

#' @rdname type_names
#' @export
marker_thresholds <- function(types) {
  check_cell_types(types)
  found <- valleys_of_markers(types)
  tell_of_cut_types(types, found[!is.na(found)])
  found
}

# Says which thresholds lie inside a type, such as the negatives: at least a quarter of its cells are on either side.
tell_of_cut_types <- function(types, thresholds) {
  shown <- which(are_shown(types) & types$types$cells >= 20)
  if (is.null(types$fit$x) || !length(shown)) return(invisible())
  rows <- spaced_rows(as.integer(types$type), pmin(types$types$cells, 1000L))[shown]
  for (marker in names(thresholds)) {
    column <- match(marker, colnames(types$medians))
    above <- vapply(rows, function(own) mean(types$fit$x[own, column] > thresholds[[marker]], na.rm = TRUE), 0)
    cut <- which.max(pmin(above, 1 - above))
    if (length(cut) && above[[cut]] >= 0.25 && above[[cut]] <= 0.75) {
      type <- dQuote(types$types$type[shown[[cut]]], FALSE)
      tell("thresholds", "the threshold of ", marker, ", ", format(thresholds[[marker]], digits = 3),
        ", lies inside type ", type, ": ", percent(above[[cut]], 0), " of its cells are above")
    }
  }
}

valleys_of_markers <- function(types) {
  cells <- types$fit$x
  if (is.null(cells)) stop_input("types", "are of a fit that has lost its data, `fit$x`, in which valleys are found")
  type <- as.integer(types$type)
  count <- nrow(types$types)
  large <- !types$types$speck
  if (!any(large[type])) large[] <- TRUE
  rows <- cells_for_valleys(type, large)
  type <- type[rows]
  weight <- (sqrt(types$types$proportion) / tabulate(type, count))[type]
  stats::setNames(vapply(seq_len(ncol(cells)), function(j) {
    values <- cells[rows, j]
    known <- !is.na(values)
    values <- values[known]
    weight <- weight[known]
    between <- range(types$medians[are_shown(types), j])
    free <- !is_piled(values)
    found <- if (any(!free)) deepest_valley(values[free], weight[free], between) else NA_real_
    if (is.na(found)) deepest_valley(values, weight, between) else found
  }, 0), colnames(types$medians))
}

# Evenly spaced cells of the `large` types, `most` in all: by a type's share, but at least `fewest`.
cells_for_valleys <- function(type, large, most = 250000, fewest = 2000) {
  cells <- tabulate(type, length(large)) * large
  if (sum(cells) <= most) return(which(large[type]))
  count <- pmin(cells, pmax(fewest, ceiling(cells / sum(cells) * most)))
  sort(unlist(spaced_rows(type, count), use.names = FALSE))
}

spaced_rows <- function(type, count) {
  all <- tabulate(type, length(count))
  rows <- order(type, method = "radix")
  before <- cumsum(all) - all
  lapply(seq_along(count), function(t) rows[before[[t]] + unique(round(seq(1, all[[t]], length.out = count[[t]])))])
}

is_piled <- function(values) {
  if (!length(values)) return(logical())
  at_end <- lapply(range(values), `==`, values)
  Reduce(`|`, lapply(at_end, function(same) same & mean(same) >= 0.01 & sum(same) >= 10L))
}

deepest_valley <- function(values, weight, between = c(-Inf, Inf), most = 0.9) {
  width <- if (length(values) > 1L) stats::bw.nrd0(values) else 0
  if (!(width > 0) || !(sum(weight) > 0)) return(NA_real_)
  found <- stats::density(values, bw = width, weights = weight / sum(weight), n = 512L)
  height <- found$y
  low <- which(diff(sign(diff(height))) > 0) + 1L
  lower_peak <- pmin(cummax(height)[low], rev(cummax(rev(height)))[low])
  ratio <- height[low] / lower_peak
  # A valley before a few outlying cells tells nothing about types.
  mass <- cumsum(height)[low] / sum(height)
  place <- found$x[low]
  usable <- ratio <= most & mass > 0.01 & mass < 0.99 & place > between[[1L]] & place < between[[2L]]
  if (!any(usable)) NA_real_ else found$x[low][usable][[which.min(ratio[usable])]]
}

picture_names <- function(names, most = 24L) {
  number <- sub("^.*?( \\([0-9]+\\))?$", "\\1", names, perl = TRUE)
  words <- strsplit(substr(names, 1L, nchar(names) - nchar(number)), "(?<=[+-]) ", perl = TRUE)
  by_markers <- which(vapply(words, function(own) length(own) > 0L && all(grepl("[+-]$", own)), NA))
  if (length(by_markers) > 1L) {
    words <- words[by_markers]
    alike <- Reduce(intersect, words)
    shown <- replace(names, by_markers, paste0(vapply(words, function(own) {
      kept <- setdiff(own, alike)
      if (!length(kept)) kept <- own
      paste(kept[order(!endsWith(kept, "+"))], collapse = " ")
    }, ""), number[by_markers]))
    if (!anyDuplicated(shown[!duplicated(names)])) names <- shown
  }
  short_names(names, most)
}

chosen_types <- function(types, known) {
  if (is.null(types)) return(utils::head(known, 12L))
  chosen <- if (is.character(types)) match(types, known) else if (is.numeric(types)) match(types, seq_along(known))
  must_be(length(chosen) && !anyNA(chosen), "types", paste("some of", list_some(known)),
    if (length(chosen)) types[is.na(chosen)][1L] else types)
  known[chosen]
}
