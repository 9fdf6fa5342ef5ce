# The picture of cells in a report, whose reader chooses two markers. It needs no scripts: radio buttons switch styles.

# Each cell is an element with its places from 0 to 1000 on all markers as variables of its style: --a, --b, and so on.
cell_explorer <- function(types, markers, count) {
  fit <- types$fit
  reference <- mixture_of_draw(fit, types$draw, types$chain)
  chosen <- choose_markers(fit, markers, reference, 12L)
  chosen <- chosen[seq_len(min(length(chosen), length(letters)))]
  if (length(chosen) < 2L) return(paragraphs("With one marker there is no picture of two markers.", "none"))
  shown <- chosen_cells(fit$x, chosen, count)
  if (!length(shown)) return(paragraphs("No cell is shown.", "none"))
  limits <- lapply(chosen, function(marker) marker_range(reference, marker, fit$x, marker))
  places <- vapply(seq_along(chosen), function(i) {
    at <- (fit$x[shown, chosen[[i]]] - limits[[i]][[1L]]) / diff(limits[[i]])
    round(1000 * pmin(pmax(at, 0), 1))
  }, numeric(length(shown)))
  places <- matrix(places, length(shown))
  colours <- type_colours(nrow(types$types))
  named <- min(length(colours), length(component_colours))
  group <- pmin(as.integer(types$type)[shown], named + 1L)
  groups <- seq_len(max(group, named))
  letter <- letters[seq_along(chosen)]
  variables <- do.call(paste0, lapply(seq_along(chosen), function(i) paste0("--", letter[[i]], ":", places[, i], ";")))
  cells <- paste0("<i class=\"k", group, "\" style=\"", variables, "\"></i>", collapse = "\n")
  names <- escape_html(short_names(fit$markers[chosen], 40L))
  types_shown <- c(paste0(picture_names(types$types$type, 40L)[seq_len(named)], " (",
    percent(types$types$proportion[seq_len(named)]), ")"), if (length(groups) > named) "all others")
  keys <- c(colours[seq_len(named)], other_colour)[groups]
  across <- paste0("x-", letter)
  up <- paste0("y-", letter)
  kind <- paste0("k-", groups)
  chance <- if (length(shown) < nrow(fit$x)) sprintf(" of %s, chosen at random", whole_words(nrow(fit$x))) else ""
  page <- html(
    "<div class=\"explorer\">",
    pickers("radio", "across", across, seq_along(chosen) == 1L, paste("across:", fit$markers[chosen])),
    pickers("radio", "up", up, seq_along(chosen) == 2L, paste("up:", fit$markers[chosen])),
    pickers("checkbox", "types", kind, TRUE, paste("show type", types_shown)),
    "<div>", choice("Across", across, names), choice("Up", up, names),
    choice("Types", kind, paste0("<span class=\"key\" style=\"background:", keys, "\"></span>",
      escape_html(types_shown))), "</div>",
    "<div class=\"frame\"><div class=\"plot\">", cells, "</div>",
    marker_scales(fit, chosen, limits, letter), "</div>",
    unclass(paragraphs(sprintf("%s%s. Click on markers to choose them, and on types to hide them.",
      count_words(length(shown), "cell"), chance), "note")), "</div>"
  )
  structure(page, style = paste0(picked_style(c(across, up)), cells_style(across, up, kind, letter, keys)))
}

chosen_cells <- function(x, chosen, count) {
  if (is.null(x)) return(integer())
  known <- if (anyNA(x)) which(rowSums(is.na(x[, chosen, drop = FALSE])) == 0) else seq_len(nrow(x))
  if (length(known) <= count) return(known)
  known[as.vector(draw_with_seed(1, sample.int(length(known), count)))]
}

cells_style <- function(across, up, kind, letter, keys) {
  class <- sub("-", "", kind)
  paste(c(
    paste0("#", across, ":checked ~ .frame i { --x: var(--", letter, "); }"),
    paste0("#", up, ":checked ~ .frame i { --y: var(--", letter, "); }"),
    paste0("#", across, ":checked ~ .frame .across.m-", letter, " { display: block; }"),
    paste0("#", up, ":checked ~ .frame .up.m-", letter, " { display: block; }"),
    paste0(".plot .", class, " { background: ", keys, "; }"),
    paste0("#", kind, ":not(:checked) ~ .frame .", class, " { display: none; }"),
    paste0("#", kind, ":not(:checked) ~ * label[for=", kind, "] { opacity: .4; text-decoration: line-through; }"),
    paste0("#", kind, ":focus-visible ~ * label[for=", kind, "] { outline: 3px solid #d55e00; }")
  ), collapse = "\n")
}

marker_scales <- function(fit, chosen, limits, letter) {
  paste(vapply(seq_along(chosen), function(i) {
    ticks <- explorer_ticks(limits[[i]], fit$transform, chosen[[i]])
    at <- format(round(100 * (ticks$at - limits[[i]][[1L]]) / diff(limits[[i]]), 1), trim = TRUE)
    name <- tag("em", escape_html(fit$markers[[chosen[[i]]]]))
    axis <- function(class, side) {
      spans <- if (length(at)) paste0("<span style=\"", side, ":", at, "%\">", ticks$labels, "</span>", collapse = "")
      tag("div", paste0(spans, name), paste0(class, " m-", letter[[i]]))
    }
    paste0(axis("across", "left"), axis("up", "bottom"))
  }, ""), collapse = "\n")
}
