# The two pictures of a report that its reader can explore: cells in two markers, and the map of topics. They consist of
# radio buttons, check boxes and rules of style that depend on them, so they work where scripts are not allowed, such as
# in the preview of a mail.

# Cells --------------------------------------------------------------------------------

# Some cells of `types` in two of the markers. Each cell is an element with its places on all markers as variables of
# its style: --a is its place on the first marker, from 0 to 1000, --b on the second, and so on.
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
  # One group of cells for each type with a colour, and one for all others.
  colours <- type_colours(types)
  named <- min(length(colours), length(component_colours))
  group <- pmin(as.integer(types$type)[shown], named + 1L)
  groups <- seq_len(max(group, named))
  letter <- letters[seq_along(chosen)]
  variables <- do.call(paste0, lapply(seq_along(chosen), function(i) paste0("--", letter[[i]], ":", places[, i], ";")))
  cells <- paste0("<i class=\"k", group, "\" style=\"", variables, "\"></i>", collapse = "\n")
  names <- escape_html(short_names(fit$markers[chosen], 40L))
  types_shown <- paste0(picture_names(types$types$type, 40L)[seq_len(named)], " (",
    percent(types$types$proportion[seq_len(named)]), ")")
  types_shown <- c(types_shown, if (length(groups) > named) "all others")
  keys <- c(colours[seq_len(named)], other_colour)[groups]
  across <- paste0("x-", letter)
  up <- paste0("y-", letter)
  kind <- paste0("k-", groups)
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
    unclass(paragraphs(cells_note(length(shown), nrow(fit$x)), "note")), "</div>"
  )
  structure(page, style = paste0(picked_style(c(across, up)), cells_style(across, up, kind, letter, keys)))
}

# Rows of some cells, at random, that have values of the chosen markers.
chosen_cells <- function(x, chosen, count) {
  if (is.null(x)) return(integer())
  known <- seq_len(nrow(x))
  if (anyNA(x)) known <- which(rowSums(is.na(x[, chosen, drop = FALSE])) == 0)
  if (length(known) <= count) return(known)
  known[as.vector(draw_with_seed(1, sample.int(length(known), count)))]
}

cells_note <- function(shown, all) {
  sprintf("%s%s. Click on markers to choose them, and on types to hide them.", count_words(shown, "cell"),
    if (shown < all) sprintf(" of %s, chosen at random", whole_words(all)) else "")
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

# The scale of each marker, once for the axis below the picture and once for the axis at its left.
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

# Ticks as on the axes of plots; labels as HTML. Labels that would touch their neighbour are left out.
explorer_ticks <- function(limits, transform, marker) {
  if (type_of_marker(transform, marker) == "none") {
    at <- pretty(limits, 4)
    at <- at[at >= limits[[1L]] & at <= limits[[2L]]]
    return(list(at = at, labels = escape_html(format(at, trim = TRUE, digits = 4))))
  }
  ticks <- transformed_ticks(limits, transform, marker)
  labels <- vapply(ticks$labels, function(label) {
    if (is.character(label)) return(escape_html(label))
    text <- deparse1(label)
    sub("^(-?10)\\^(.*)$", "\\1<sup>\\2</sup>", gsub("[ ()]", "", text))
  }, "")
  list(at = ticks$at, labels = labels)
}

# Topics -------------------------------------------------------------------------------

# The map of the `most` most prevalent topics, with `n` terms of each, ranked in three ways.
topic_explorer <- function(fit, most, n) {
  prevalence <- topic_prevalence(fit)
  used <- used_topics(fit)
  shown <- utils::head(used, most)
  places <- map_places(fit, shown, prevalence)
  id <- paste0("t-", shown)
  labels <- topic_labels(fit, shown, "Topic ")
  ranks <- c(common = "common in it", relevant = "relevant to it", own = "rare elsewhere")
  rank_id <- paste0("r-", names(ranks))
  # All circles first, so that none covers a number.
  title <- escape_html(paste0(labels, ": ", term_lines(fit, shown, 5L, "relevance")))
  circles <- paste0("<label for=\"", id, "\" title=\"", title, "\" style=\"left:", places$x, "px;top:", places$y,
    "px\"><i style=\"width:", places$d, "px;height:", places$d, "px\"></i></label>", collapse = "\n")
  numbers <- paste0("<label class=\"number\" for=\"", id, "\" title=\"", title, "\" style=\"left:", places$number[, 1L],
    "px;top:", places$number[, 2L], "px\">", shown, "</label>", collapse = "\n")
  page <- html(
    "<div class=\"explorer\">",
    pickers("radio", "topic", id, seq_along(shown) == 1L, labels),
    pickers("radio", "ranking", rank_id, names(ranks) == "relevant", ranks),
    "<div>", choice("Terms that are", rank_id, escape_html(ranks)), "</div>",
    "<div class=\"sides\"><div class=\"map\" style=\"", places$axes, "\">", circles, "\n", numbers, "</div>",
    "<div class=\"panels\">", paste(topic_panels(fit, shown, labels, prevalence, n), collapse = "\n"), "</div></div>",
    if (!is.null(fit$topic_names)) choice("Topics", id, escape_html(paste(shown, short_names(labels, 40L)))),
    unclass(paragraphs(map_note(length(shown), length(used)), "note")), "</div>"
  )
  structure(page, style = paste0(picked_style(rank_id), topics_style(id, shown, rank_id)))
}

map_note <- function(shown, all) {
  paste0(
    if (shown < all) sprintf("The %s largest of %s topics. ", whole_words(shown), whole_words(all)),
    "Topics with similar terms are close to each other, and the area of a circle is the share of the topic in all ",
    "tokens. Click on a topic. Blue: tokens of the term in this topic; grey: all its tokens. ",
    "Relevance is that of Sievert and Shirley (2014), with lambda = 1 for the terms that are common, 0.6 for those ",
    "that are relevant, and 0.2 for those that are rare elsewhere."
  )
}

# The centre and the diameter of each circle, in pixels of a map of 340 x 340, and where the axes cross.
map_places <- function(fit, shown, prevalence) {
  at <- if (length(shown) > 2L) {
    topic_positions(unname(fit$phi[shown, , drop = FALSE]))
  } else {
    cbind(seq_along(shown) - mean(seq_along(shown)), 0)
  }
  middle <- (apply(at, 2L, max) + apply(at, 2L, min)) / 2
  span <- max(apply(at, 2L, function(values) diff(range(values))), 1e-9)
  pixels <- function(values, column, sign) round(170 + sign * 270 * (values - middle[[column]]) / span, 1)
  share <- prevalence[shown] / max(prevalence[shown], 1e-300)
  axes <- sprintf("--centre:%spx;--middle:%spx", pixels(0, 1L, 1), pixels(0, 2L, -1))
  x <- pixels(at[, 1L], 1L, 1)
  y <- pixels(at[, 2L], 2L, -1)
  number <- free_places(x, y, 4 + 8 * max(nchar(shown)), 14, 340)
  list(x = x, y = y, d = round(pmax(62 * sqrt(share), 3), 1), axes = axes, number = unname(number))
}

# Centres of boxes that do not cover each other, in a square of `size`: one after the other takes the free place that is
# nearest to its own, its own if that is free. If no place is left, a box stays where it is.
free_places <- function(x, y, width, height, size) {
  grid <- expand.grid(x = seq(width / 2, size - width / 2, by = 3), y = seq(height / 2, size - height / 2, by = 3))
  free <- rep(TRUE, nrow(grid))
  places <- cbind(x, y)
  for (i in seq_along(x)) {
    before <- seq_len(i - 1L)
    if (any(abs(places[before, 1L] - x[[i]]) < width & abs(places[before, 2L] - y[[i]]) < height) && any(free)) {
      distance <- (grid$x - x[[i]])^2 + (grid$y - y[[i]])^2
      distance[!free] <- Inf
      places[i, ] <- unlist(grid[which.min(distance), ])
    }
    free <- free & !(abs(grid$x - places[i, 1L]) < width & abs(grid$y - places[i, 2L]) < height)
  }
  places
}

topics_style <- function(id, shown, rank_id) {
  paste(c(
    paste0("#", id, ":checked ~ .sides .panel.p-", shown, " { display: block; }"),
    paste0("#", id, ":checked ~ * .map label[for=", id, "], #", id, ":checked ~ .sides label[for=", id,
      "] { z-index: 2; }"),
    paste0("#", id, ":checked ~ .sides label[for=", id, "] i { background: #d55e00; border-color: #8a3d00; }"),
    paste0("#", id, ":focus-visible ~ .sides label[for=", id, "] { outline: 3px solid #8a3d00; }"),
    paste0("#", id, ":checked ~ .choice label[for=", id, "] { background: #0b4f7d; color: #fff; }"),
    paste0("#", rank_id, ":checked ~ .sides .list.", rank_id, " { display: block; }")
  ), collapse = "\n")
}

# For each topic its terms by each ranking, with bars, and the documents with the most tokens of it.
topic_panels <- function(fit, shown, labels, prevalence, n) {
  sizes <- term_sizes(fit$x)
  tokens <- prevalence * fit$x$tokens
  n <- min(n, length(fit$terms))
  lists <- lapply(c(common = 0, relevant = 0.4, own = 0.8), function(weight) {
    score <- term_scores(fit, "relevance", weight)[shown, , drop = FALSE]
    lapply(seq_along(shown), function(i) order(-score[i, ])[seq_len(n)])
  })
  documents <- topic_documents(fit, shown)
  vapply(seq_along(shown), function(i) {
    k <- shown[[i]]
    own <- fit$phi[k, ] * tokens[[k]]
    bars <- vapply(names(lists), function(rank) {
      tag("div", term_bars(fit$terms, lists[[rank]][[i]], own, sizes), paste0("list r-", rank))
    }, "")
    paste0(
      "<section class=\"panel p-", k, "\">", tag("h3", escape_html(sprintf("%s (%s of all tokens)", labels[[i]],
        percent(prevalence[[k]])))), paste(bars, collapse = "\n"),
      tag("p", escape_html(paste("Documents with the most tokens of it:", documents[[i]])), "note"), "</section>"
    )
  }, "")
}

term_bars <- function(terms, at, own, sizes) {
  top <- max(own[at], sizes[at], 1e-300)
  width <- function(values) format(round(100 * values[at] / top, 1), trim = TRUE)
  words <- sprintf("%s of its %s tokens", whole_words(round(own[at])), whole_words(sizes[at]))
  rows <- paste0("<span>", escape_html(terms[at]), "</span><b title=\"", words, "\"><i style=\"width:", width(sizes),
    "%\"></i><i style=\"width:", width(own), "%\"></i></b>", collapse = "\n")
  tag("div", rows, "bars")
}

topic_documents <- function(fit, shown, most = 4L) {
  vapply(shown, function(k) {
    amount <- fit$theta[, k] * fit$document_tokens
    at <- utils::head(order(-amount), most)
    at <- at[amount[at] > 0]
    paste0(short_names(fit$documents[at], 40L), " (", percent(fit$theta[at, k], 0), ")", collapse = ", ")
  }, "")
}
