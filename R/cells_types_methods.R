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
  value <- by_names(value, old, "value", "type")
  value <- check_type_names(value, "value", length(old))
  x$types$nearest <- value[match(x$types$nearest, old)]
  x$types$type <- value
  levels(x$type) <- value
  rownames(x$medians) <- colnames(x$proportions) <- value
  x
}

#' Cell types of new cells
#'
#' Gives each cell its most probable type, its probabilities of all types, or its uncertainty, averaged over the draws
#' of [cell_types()].
#'
#' @param object cell types from [cell_types()].
#' @param newdata the cells, as in [predict.dp_mixture()]; `NULL`: those that were fitted.
#' @param type `"type"`: the most probable type; `"prob"`: the probability of each type; `"uncertainty"`: one minus the
#'   probability of the most probable type.
#' @param ... not used.
#' @inheritParams computing_arguments
#' @return One entry or row per cell, named as the rows of `newdata`. `"type"`: a factor. `"prob"`: a matrix, cells x
#'   types. `"uncertainty"`: a numeric vector.
#' @section Errors:
#' As in [predict.dp_mixture()].
#' @seealso [predict.dp_mixture()]
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
  cat(types_words(x), sep = "\n")
  shown <- x$types[!x$types$speck, ]
  if (nrow(shown)) {
    table <- types_table(shown, if (any(shown$proportion < 0.005)) 2 else 1)
    print(table[!names(table) %in% c("nearest", "overlap")], row.names = FALSE)
  }
  agreement <- types_agreement(x)
  print_types_by_chain(types_by_chain(x, agreement))
  print_sentences(types_verdict(x, agreement))
}

# The shares by chain if several chains do not agree on one, or if a chain lacks a type.
types_by_chain <- function(x, agreement = types_agreement(x)) {
  unlike <- c(agreement$differs, which(agreement$common[agreement$shown] <= 0.5))
  if (length(unlike) && agreement$chains > 1L) chain_shares(agreement, x$types$type)
}

print_types_by_chain <- function(types) {
  if (is.null(types)) return(invisible())
  cat("\nShares in each chain, of types above 1%:\n")
  print_chain_shares(types)
  cat("\n")
}

types_words <- function(x) {
  rule <- if (!is.null(x$edited)) {
    "Joined and split by hand"
  } else if (is.null(x$requested)) {
    sprintf("Joined where no valley lies between, or with an overlap above %s%%", format(100 * x$limit))
  } else {
    sprintf("The tree of joins cut into %s", count_words(x$requested, "type"))
  }
  specks <- sum(x$types$speck & x$types$cells > 0)
  c(
    sprintf("%s%s from %s: %s", count_words(sum(!x$types$speck), "cell type"),
      if (specks) paste(" and", count_words(specks, "speck")) else "",
      count_words(sum(x$types$components), "component"), count_words(length(x$type), "cell")),
    sprintf("%s, averaged over %s; components of draw %d of chain %d", rule,
      count_words(nrow(x$map$used), "draw"), x$draw, x$chain)
  )
}

# Types as tables show them.
types_table <- function(types, digits = 2) {
  data.frame(
    type = paste0(types$type, ifelse(types$speck, " *", "")), proportion = percent(types$proportion, digits),
    `90% interval` = interval_words(types, digits), Rhat = rhat_words(types$rhat), ESS = ess_words(types$ess),
    cells = whole_words(types$cells), components = whole_words(types$components),
    nearest = ifelse(is.na(types$nearest), "-", types$nearest), overlap = share_words(types$overlap),
    apart = percent(types$apart, 0), check.names = FALSE
  )
}

types_verdict <- function(x, agreement = types_agreement(x)) {
  types <- x$types
  small <- types[types$speck & types$cells > 0, ]
  empty <- types$type[types$speck & types$cells == 0]
  unsure <- mean(x$probability < 0.9)
  one <- nrow(small) == 1L
  sentences <- c(
    if (nrow(small)) {
      sprintf("%s, which %s too few cells or draws to be told from %s, %s %s of the cells together.",
        count_words(nrow(small), "speck"), if (one) "has" else "have",
        if (one) "its neighbours" else "their neighbours", if (one) "holds" else "hold",
        percent(sum(small$proportion)))
    },
    if (length(empty)) {
      sprintf("No cell has %s as its most probable type, so %s not shown.", list_some(empty),
        if (length(empty) == 1L) "it is" else "they are")
    },
    channel_words(x$fit),
    sprintf("%s of the cells have a probability below 0.9 of their type.", percent(unsure)),
    cut_words(x),
    alike_words(x),
    chains_words(x, agreement),
    likelihood_words(x)
  )
  but <- c(
    if (is.null(agreement)) "without intervals", if (identical(agreement$chains, 1L)) "as far as one chain tells",
    if (length(cut_words(x))) "with reservations"
  )
  with_answer(list(converged = types_usable(x, agreement), sentences = sentences, but = but))$sentences
}

# NA if no type is shown, or if the run is too short to tell. A mode is judged by its steps.
types_usable <- function(x, agreement = types_agreement(x)) {
  if (all(x$types$speck)) return(NA)
  if (is.null(agreement)) return(bem_usable(x$fit))
  if (length(agreement$differs)) return(FALSE)
  if (length(agreement$short) || all(is.na(agreement$table$rhat[!x$types$speck]))) NA else TRUE
}

# Channels that tell nothing about types of cells.
channel_words <- function(fit) {
  varies <- function(j) {
    # Few values tell of most channels that they vary.
    for (rows in c(1000, Inf)) {
      some <- fit$x[seq_len(min(rows, nrow(fit$x))), j]
      some <- some[!is.na(some)]
      if (length(some) < 2L || any(some != some[[1L]])) return(TRUE)
    }
    FALSE
  }
  constant <- if (!is.null(fit$x)) fit$markers[!vapply(seq_len(ncol(fit$x)), varies, NA)]
  time <- setdiff(fit$markers[grepl(channels_without_markers, trimws(fit$markers), ignore.case = TRUE)], constant)
  c(
    if (length(constant)) {
      sprintf(if (length(constant) == 1L) "%s is constant, so it tells nothing about types." else
        "%s are constant, so they tell nothing about types.", list_some(constant))
    },
    if (length(time)) {
      sprintf(if (length(time) == 1L) {
        "By its name, %s is no marker of cells: a fit without it finds types by the markers alone."
      } else {
        "By their names, %s are no markers of cells: a fit without them finds types by the markers alone."
      }, list_some(time))
    }
  )
}

# Columns that instruments and their software add: time, and what a mass cytometer and its bar codes say of events.
channels_without_markers <- paste0("^(time|hdr-t|event[ _.]?(#|length|number|id)|(bc_separation|mahalanobis)_dist|",
  "bead_?dist|file[ _]?number|sample_?id)$")

# The types that some draws do not have.
cut_words <- function(x) {
  torn <- which(!x$types$speck & x$types$apart < 0.95)
  if (!length(torn)) return(NULL)
  shown <- paste0(dQuote(x$types$type[torn], FALSE), " ", percent(x$types$apart[torn], 0), collapse = ", ")
  sprintf("Draws do not agree on where types end. The share of draws with the type: %s. The intervals include this.",
    shown)
}

# On which shares of types the chains differ, and for which the run is too short to tell. NULL for a mode.
types_agreement <- function(x) {
  if (is_bem(x$fit)) return(NULL)
  shares <- shares_by_chain(x$map)
  shown <- which(!x$types$speck)
  table <- diagnose_quantities(shares)
  differs <- intersect(which(differing(shares, table)), shown)
  list(shares = shares, shown = shown, chains = ncol(shares[[1L]]), table = table, differs = differs,
    short = setdiff(shown[which(table$ess_bulk[shown] < ess_needed)], differs), common = cells_in_common(x$map))
}

# Whether the chains agree on the shares of types, and what the cause is if that cannot be told.
chains_words <- function(x, agreement = types_agreement(x)) {
  if (is.null(agreement)) return(NULL)
  shares <- agreement$shares
  shown <- agreement$shown
  chains <- agreement$chains
  table <- agreement$table
  differs <- agreement$differs
  short <- agreement$short
  names <- dQuote(x$types$type, FALSE)
  range_of <- function(t) paste(percent(range(colMeans(shares[[t]]))), collapse = " to ")
  c(
    if (length(differs)) {
      worst <- differs[[which.max(table$rhat[differs])]]
      sprintf("The %s do not agree on %s: Rhat of the share is %s for type %s%s. continue(fit, more) runs more sweeps.",
        if (chains > 1L) "chains" else "halves of the chain", count_words(length(differs), "type"),
        format_rhat(table$rhat[[worst]]), names[[worst]],
        if (chains > 1L) sprintf(" (%s between chains)", range_of(worst)) else "")
    } else if (chains > 1L && length(shown) > 1L && nrow(shares[[1L]]) >= 4L) {
      widest <- shown[[which.max(vapply(shares[shown], function(share) diff(range(colMeans(share))), 0))]]
      sprintf("Between the %s, the share of type %s differs most: %s.", count_words(chains, "chain"), names[[widest]],
        range_of(widest))
    },
    common_words(agreement$common, differs, shown, names),
    if (length(short)) {
      sprintf("The run is short: the %s of type %s %s an effective sample size below %d, so %s. %s.",
        if (length(short) == 1L) "share" else "shares", list_some(x$types$type[short]),
        if (length(short) == 1L) "has" else "have", ess_needed, "the interval is rough",
        "continue(fit, more) or a higher `ndraws` makes it exact")
    },
    if (chains == 1L) "There is one chain, so nobody knows whether another would find the same types: chains = 4 tells."
  )
}

# What a comparison of samples says of types that the chains of the fit do not agree on.
disagreement_words <- function(types, tested) {
  agreement <- types_agreement(types)
  differs <- intersect(agreement$differs, which(tested))
  if (!length(differs)) return(NULL)
  rhat <- agreement$table$rhat[differs]
  names <- dQuote(types$types$type, FALSE)
  c(
    sprintf("The fit had not converged: Rhat of the share is %s for type %s%s, so %s. continue(fit, more) %s.",
      format_rhat(max(rhat)), names[[differs[[which.max(rhat)]]]],
      if (length(differs) > 1L) sprintf(" and too high for %d more", length(differs) - 1L) else "",
      "counts of cells may be wrong", "runs more sweeps"),
    common_words(agreement$common, differs, which(tested), names)
  )
}

# The log likelihood decides nothing about types.
likelihood_words <- function(x) {
  if (is_bem(x$fit) || is.null(x$fit$log_likelihood)) return(NULL)
  rhat <- split_rhat(trace_quantities(x$fit)$log_likelihood)
  if (is.na(rhat)) return(NULL)
  sprintf("Of the fit itself: Rhat of the log likelihood is %s.", format_rhat(rhat))
}

#' @rdname cell_types
#' @param object cell types.
#' @export
summary.cell_types <- function(object, ...) {
  check_method(object, "object", ...)
  structure(list(
    words = types_words(object), types = object$types, medians = object$medians, transform = object$fit$transform,
    verdict = types_verdict(object), by_chain = types_by_chain(object)
  ), class = c("summary.cell_types", "warpbayes"))
}

in_console.summary.cell_types <- function(x, digits = 3, ...) {
  digits <- check_count(digits, "digits", max = 15)
  cat(x$words, sep = "\n")
  tables <- types_tables(x, digits)
  print_tables(tables[1L])
  if (any(x$types$speck)) cat("* a speck\n")
  print_tables(tables[2L])
  print_types_by_chain(x$by_chain)
  if (is.null(x$by_chain)) cat("\n")
  print_sentences(x$verdict)
}

#' @rdname tidiers
#' @method tidy cell_types
#' @exportS3Method generics::tidy cell_types
tidy.cell_types <- function(x, conf.level = 0.9, ...) {
  check_method(x, "x", ...)
  conf.level <- check_number(conf.level, "conf.level", min = 0, max = 1)
  types <- x$types
  ends <- types[c("lower", "upper")]
  if (conf.level != 0.9 && !anyNA(ends)) ends[] <- quantiles_of_columns(x$proportions, interval_ends(conf.level))
  as_table(data.frame(
    type = types$type, estimate = types$proportion, conf.low = ends[[1L]], conf.high = ends[[2L]],
    cells = types$cells, components = types$components, rhat = types$rhat, ess = types$ess
  ))
}

glance_of.cell_types <- function(x) {
  check_cell_types(x, "x")
  types <- x$types
  own <- types[!types$speck, ]
  data.frame(
    nobs = length(x$type), types = nrow(types), specks = sum(types$speck), overlap = extreme(types$overlap, max),
    apart = extreme(own$apart, min), stability = extreme(own$stability, min)
  )
}

frame_of.cell_types <- function(x, ...) {
  check_method(x, "x", ...)
  x$types
}

# The tables of a summary, or of a report, by their titles.
types_tables <- function(x, digits = 3) {
  types <- x$types[!x$types$speck | x$types$cells > 0, ]
  medians <- x$medians[types$type, , drop = FALSE]
  medians[] <- apply(medians, 2L, column_words, digits)
  tables <- list(types_table(types), data.frame(type = types$type, medians, check.names = FALSE, row.names = NULL))
  stats::setNames(tables, c("Types", paste("Medians,", scale_words(x$transform))))
}
