# Names, prediction, print() and summary() of cell types.

#' @rdname cell_types
#' @param x cell types.
#' @export
levels.cell_types <- function(x) x$types$type

#' @rdname cell_types
#' @param value a name for each type.
#' @export
`levels<-.cell_types` <- function(x, value) {
  value <- check_type_names(value, "value", nrow(x$types))
  old <- x$types$type
  x$types$nearest <- value[match(x$types$nearest, old)]
  x$types$type <- value
  levels(x$type) <- value
  rownames(x$medians) <- colnames(x$proportions) <- value
  x
}

#' Cell types of new cells
#'
#' Gives each cell its most probable type, its probabilities of all types, or its uncertainty. It averages over the same
#' draws, with the same types, as [cell_types()].
#'
#' @param object cell types from [cell_types()].
#' @param newdata the cells, as in [predict.dp_mixture()]; `NULL`: those that were fitted.
#' @param type `"type"`: the most probable type; `"prob"`: the probability of each type; `"uncertainty"`: one minus
#'   that of the most probable.
#' @param ... not used.
#' @inheritParams computing_arguments
#' @return One entry or row per cell, named as the rows of `newdata`. `"type"`: a factor. `"prob"`: a matrix, cells x
#'   types. `"uncertainty"`: a numeric vector.
#' @section Errors:
#' As in [predict.dp_mixture()].
#' @seealso [predict.dp_mixture()], whose `type = "type"` gives the types that [cell_types()] finds by default, as
#'   numbers
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(600), ncol = 2), matrix(rnorm(400, mean = 6), ncol = 2))
#' types <- cell_types(dp_mixture(x, components = 10, iter = 200, seed = 1, threads = 2), threads = 2)
#' predict(types, rbind(c(0, 0), c(6, 6), c(3, 3)), type = "prob", threads = 2)
#' @export
predict.cell_types <- function(object, newdata = NULL, type = c("type", "prob", "uncertainty"), backend = NULL,
                               threads = NULL, ...) {
  check_dots_empty(...)
  call <- sys.call()
  type <- check_choice(type, "type", c("type", "prob", "uncertainty"))
  cells <- cells_of(object$fit, newdata, call = call)
  run <- resolve_run(backend, threads, call = call)
  names <- object$types$type
  result <- predict_types(object$fit, object$map, cells, type, names, run, call)
  if (type == "type") factor(result, seq_along(names), names) else result
}

percent <- function(share, digits = 1) paste0(formatC(100 * share, format = "f", digits = digits), "%")

interval_words <- function(types, digits = 1) {
  ifelse(is.na(types$lower), "-", paste(percent(types$lower, digits), "to", percent(types$upper, digits)))
}

#' @rdname cell_types
#' @export
print.cell_types <- function(x, ...) {
  cat(types_words(x), sep = "\n")
  shown <- x$types[!x$types$speck, ]
  if (nrow(shown)) {
    print(data.frame(
      type = shown$type, proportion = percent(shown$proportion), `90% interval` = interval_words(shown),
      cells = format(shown$cells, big.mark = ","), components = shown$components,
      stability = formatC(shown$stability, format = "f", digits = 2), check.names = FALSE
    ), row.names = FALSE)
  }
  print_sentences(types_verdict(x))
  invisible(x)
}

types_words <- function(x) {
  rule <- if (is.null(x$requested)) {
    sprintf("Joined while more than %s%% of a type would be mistaken for another", format(100 * x$limit))
  } else {
    sprintf("The tree of joins cut into %s", count_words(x$requested, "type"))
  }
  c(
    sprintf("%s from %s: %s", count_words(nrow(x$types), "cell type"),
      count_words(length(x$tree$labels), "component"), count_words(length(x$type), "cell")),
    sprintf("%s, averaged over %s; types of draw %d of chain %d", rule,
      count_words(nrow(x$map$used), "draw"), x$draw, x$chain)
  )
}

overlap_words <- function(overlap) {
  shown <- ifelse(overlap < 1e-4, "< 0.01%", paste0(formatC(100 * overlap, digits = 2, format = "fg"), "%"))
  ifelse(is.na(overlap), "-", shown)
}

types_verdict <- function(x) {
  types <- x$types
  small <- types[types$speck, ]
  unstable <- types[!types$speck & types$stability < 0.75, ]
  unsure <- mean(x$probability < 0.9)
  c(
    if (nrow(small)) {
      sprintf("%s of less than %s of the cells %s %s together.", count_words(nrow(small), "speck"), percent(x$speck),
        if (nrow(small) == 1L) "has" else "have", percent(sum(small$proportion)))
    },
    sprintf("%s of the cells have a probability below 0.9 of their type.", percent(unsure)),
    chains_words(x),
    if (nrow(unstable)) {
      sprintf(
        paste(
          "The draws do not agree on %s: %s may be part of %s, with an overlap of %s.",
          "Look at plot(x, type = \"tree\"), or choose the number of types."
        ), list_some(unstable$type), dQuote(unstable$type[[1L]], FALSE), dQuote(unstable$nearest[[1L]], FALSE),
        overlap_words(unstable$overlap[[1L]])
      )
    }
  )
}

# How far the chains differ in the shares of types. Types may mix well even if components do not.
chains_words <- function(x) {
  chain <- x$map$used$chain
  if (length(unique(chain)) < 2L) {
    return(NULL)
  }
  shares <- rowsum(x$proportions, chain) / as.vector(table(chain))
  apart <- apply(shares, 2L, function(share) diff(range(share)))
  widest <- which.max(apart)
  sprintf("The shares of types in the %s differ by at most %s of the cells (type %s: %s to %s).",
    count_words(nrow(shares), "chain"), percent(apart[[widest]]), dQuote(x$types$type[[widest]], FALSE),
    percent(min(shares[, widest])), percent(max(shares[, widest])))
}

#' @rdname cell_types
#' @param object cell types.
#' @export
summary.cell_types <- function(object, ...) {
  check_dots_empty(...)
  structure(list(
    words = types_words(object), types = object$types, medians = object$medians, transform = object$fit$transform,
    verdict = types_verdict(object)
  ), class = "summary.cell_types")
}

#' @rdname cell_types
#' @param digits number of significant digits of medians.
#' @export
print.summary.cell_types <- function(x, digits = 3, ...) {
  digits <- check_count(digits, "digits", max = 15)
  cat(x$words, sep = "\n")
  cat("\nTypes:\n")
  types <- x$types
  print(data.frame(
    type = paste0(types$type, ifelse(types$speck, "*", "")), share = percent(types$proportion, 2),
    `90% interval` = interval_words(types, 2), cells = types$cells, components = types$components,
    nearest = ifelse(is.na(types$nearest), "-", types$nearest), overlap = overlap_words(types$overlap),
    stability = formatC(types$stability, format = "f", digits = 2), check.names = FALSE
  ), row.names = FALSE)
  if (any(types$speck)) {
    cat("* a speck\n")
  }
  cat(if (is.null(x$transform)) "\nMedians, in the data's units:\n" else "\nMedians, on the arcsinh scale:\n")
  print(signif(x$medians, digits))
  cat("\n")
  print_sentences(x$verdict)
  invisible(x)
}
