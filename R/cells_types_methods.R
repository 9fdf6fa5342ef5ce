# Names, prediction, print() and summary() of cell types.

#' @rdname cell_types
#' @param x cell types.
#' @export
levels.cell_types <- function(x) x$types$type

#' @rdname cell_types
#' @param value a name for each type, or for each type that is not a speck. Specks then keep their names.
#' @export
`levels<-.cell_types` <- function(x, value) {
  check_cell_types(x, "x")
  old <- x$types$type
  large <- !x$types$speck
  if (length(value) == sum(large) && is.character(value)) {
    value <- replace(old, large, by_names(value, old[large], "value", "type"))
  }
  value <- check_type_names(by_names(value, old, "value", "type"), "value", length(old))
  x$types$nearest <- value[match(x$types$nearest, old)]
  x$types$type <- value
  levels(x$type) <- value
  rownames(x$medians) <- colnames(x$proportions) <- value
  x
}

#' Cell types of new cells
#'
#' Gives each cell its most probable type, its probabilities or its uncertainty, averaged over draws.
#' @param object cell types from [cell_types()].
#' @param newdata the cells, as in [predict.dp_mixture()]; `NULL`: those that were fitted.
#' @param type `"type"`: the most probable type; `"prob"`: all probabilities; `"uncertainty"`: one minus the largest.
#' @inheritParams computing_arguments
#' @return Named as the rows of `newdata`: a factor, a matrix (cells x types) for `"prob"`, numbers for `"uncertainty"`.
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(600), ncol = 2), matrix(rnorm(400, mean = 6), ncol = 2))
#' types <- cell_types(dp_mixture(x, components = 10, iter = 200, seed = 1, threads = 2), threads = 2)
#' predict(types, rbind(c(0, 0), c(6, 6), c(3, 3)), type = "prob", threads = 2)
#' @export
predict.cell_types <- function(object, newdata = NULL, type = c("type", "prob", "uncertainty"), backend = NULL,
                               threads = NULL, ...) {
  check_method(object, "object", ...)
  type <- check_choice(type, "type", c("type", "prob", "uncertainty"))
  cells <- cells_of(object$fit, newdata)
  run <- resolve_run(backend, threads)
  names <- object$types$type
  result <- predict_types(object$fit, object$map, cells, type, names, run)
  if (type == "type") structure(result, levels = names, class = "factor") else result
}

in_console.cell_types <- function(x, ...) {
  check_cell_types(x, "x")
  print_lines(types_words(x))
  shown <- x$types[!x$types$speck, ]
  if (nrow(shown)) {
    table <- types_table(shown, if (any(shown$proportion < 0.005)) 2 else 1)
    print(table[!names(table) %in% c("nearest", "overlap")], row.names = FALSE)
  }
  unlike <- types_by_chain(types_agreement(x))
  if (!is.null(unlike)) {
    print_chain_shares(unlike, 8L)
    cat("\n")
  }
  print_verdict(verdict(x))
}

types_by_chain <- function(agreement) {
  unlike <- c(agreement$differs, which(agreement$common[agreement$shown] <= 0.5))
  if (length(unlike) && agreement$chains > 1L) chain_shares(agreement)
}

types_words <- function(x) {
  rule <- if (!is.null(x$edited)) {
    "Joined and split by hand"
  } else if (is.null(x$requested)) {
    sprintf("Joined where no valley lies between, or with an overlap above %s%%", format(100 * x$limit))
  } else {
    sprintf("The tree of joins cut into %s", count_words(x$requested, "type"))
  }
  kinds <- kinds_of_types(x$types)
  specks <- sum(kinds == "speck")
  c(sprintf("%s%s from %s: %s", count_words(sum(kinds == "type"), "cell type"),
      if (specks) paste(" and", count_words(specks, "speck")) else "",
      count_words(sum(x$types$components), "component"), count_words(length(x$type), "cell")),
    sprintf("%s, averaged over %s; components of draw %d of chain %d", rule,
      count_words(nrow(x$map$used), "draw"), x$draw, x$chain))
}

types_table <- function(types, digits = 2) {
  error <- (types$upper - types$lower) / diff(stats::qnorm(interval_ends(0.9))) / sqrt(types$ess)
  shown <- function(share) share_percent(share, error, digits)
  table <- data.frame(
    type = paste0(types$type, ifelse(types$speck, " *", "")), proportion = shown(types$proportion),
    `90% interval` = ifelse(is.na(types$lower), "-",
      paste(shown(types$lower), "to", shown(types$upper))), Rhat = rhat_words(types$rhat), ESS = ess_words(types$ess),
    cells = whole_words(types$cells), components = whole_words(types$components),
    nearest = ifelse(is.na(types$nearest), "-", types$nearest), overlap = share_words(types$overlap),
    apart = percent(types$apart, 0), check.names = FALSE
  )
  # Of n draws, an effective sample size is at most n log10(n), which says nothing if all types have it.
  known <- types$ess[!is.na(types$ess)]
  if (!length(known) || diff(range(known)) < 1e-6) table$ESS <- NULL
  if (all(is.na(types$rhat))) table$Rhat <- NULL
  table
}

types_agreement <- function(x) {
  if (!is_bem(x$fit)) shares_agreement(x$map, which(!x$types$speck), x$types$type, x$fit$rows)
}

#' @rdname cell_types
#' @param object cell types.
#' @export
summary.cell_types <- function(object, ...) {
  check_method(object, "object", ...)
  structure(list(
    words = types_words(object), types = object$types, medians = object$medians, transform = object$fit$transform,
    joins = open_joins(object), verdict = verdict(object), by_chain = types_by_chain(types_agreement(object))
  ), class = c("summary.cell_types", "warpbayes"))
}

in_console.summary.cell_types <- function(x, digits = 3, ...) {
  digits <- check_count(digits, "digits", max = 15)
  print_lines(x$words)
  print_tables(types_tables(x, digits))
  print_chain_shares(x$by_chain)
  cat("\n")
  print_verdict(x$verdict, Inf)
}

#' @rdname tidiers
#' @method tidy cell_types
#' @exportS3Method generics::tidy cell_types
tidy.cell_types <- function(x, conf.level = 0.9, ...) {
  check_method(x, "x", ...)
  conf.level <- check_number(conf.level, "conf.level", min = 0, max = 1)
  types <- x$types
  ends <- types[c("lower", "upper")]
  if (conf.level != 0.9 && !anyNA(ends)) ends[] <- share_interval(x$proportions, x$map$used$chain, conf.level)
  shown <- kinds_of_types(types) != "phantom"
  as_table(data.frame(
    type = types$type, speck = types$speck, estimate = types$proportion, conf.low = ends[[1L]], conf.high = ends[[2L]],
    cells = types$cells, components = types$components, rhat = types$rhat, ess = types$ess
  )[shown, ])
}

glance_of.cell_types <- function(x) {
  check_cell_types(x, "x")
  types <- x$types
  kinds <- kinds_of_types(types)
  own <- types[kinds == "type", ]
  data.frame(nobs = length(x$type), types = nrow(own), specks = sum(kinds == "speck"),
    overlap = extreme(types$overlap, max), apart = extreme(own$apart, min), stability = extreme(own$stability, min),
    verdict = verdict(x)$answer)
}

frame_of.cell_types <- function(x, ...) {
  check_method(x, "x", ...)
  x$types
}

types_tables <- function(x, digits = 3) {
  types <- x$types[kinds_of_types(x$types) != "phantom", ]
  medians <- x$medians[types$type, , drop = FALSE]
  medians[] <- apply(medians, 2L, column_words, digits)
  tables <- list(types_table(types), data.frame(type = types$type, medians, check.names = FALSE, row.names = NULL))
  titles <- c(if (any(types$speck)) "Types (* a speck)" else "Types", paste("Medians,", scale_words(x$transform)))
  tables <- stats::setNames(tables, titles)
  if (NROW(x$joins)) c(tables, list(`Types that may be one, or two` = x$joins)) else tables
}
