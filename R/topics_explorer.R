# The map of topics in a report. It is made of radio buttons and style rules, so it works without scripts.

# The map of the `most` most prevalent topics, with `n` terms of each, ranked in three ways.
topic_explorer <- function(fit, most, n) {
  used <- used_topics(fit)
  shown <- utils::head(used, most)
  prevalence <- topic_prevalence(fit)[shown]
  places <- map_places(fit, shown, prevalence)
  id <- paste0("t-", shown)
  labels <- topic_labels(fit, shown, "Topic ")
  ranks <- c(common = "common in it", relevant = "relevant to it", own = "rare elsewhere")
  rank_id <- paste0("r-", names(ranks))
  title <- escape_html(paste0(labels, ": ", term_lines(fit, shown, 5L)))
  label <- function(class, x, y, content) {
    paste0("<label ", class, "for=\"", id, "\" title=\"", title, "\" style=\"left:", x, "px;top:", y, "px\">", content,
      "</label>", collapse = "\n")
  }
  # All circles first, so that none covers a number.
  circles <- label("", places$x, places$y, sprintf("<i style=\"width:%1$spx;height:%1$spx\"></i>", places$d))
  numbers <- label("class=\"number\" ", places$number[, 1L], places$number[, 2L], shown)
  note <- paste0(if (length(used) > most) sprintf("The %d largest of %s topics. ", most, whole_words(length(used))),
    "Topics with similar terms are close to each other, and the area of a circle is the share of the topic in all ",
    "tokens. Click on a topic. Blue: tokens of the term in this topic; grey: all its tokens. ",
    "Relevance is that of Sievert and Shirley (2014), with lambda = 1 for the terms that are common, 0.6 for those ",
    "that are relevant, and 0.2 for those that are rare elsewhere.")
  page <- html(
    "<div class=\"explorer\">",
    pickers("radio", "topic", id, seq_along(shown) == 1L, labels),
    pickers("radio", "ranking", rank_id, names(ranks) == "relevant", ranks),
    "<div>", choice("Terms that are", rank_id, escape_html(ranks)), "</div>",
    "<div class=\"sides\"><div class=\"map\" style=\"", places$axes, "\">", circles, "\n", numbers, "</div>",
    "<div class=\"panels\">", paste(topic_panels(fit, shown, labels, prevalence, n), collapse = "\n"), "</div></div>",
    if (!is.null(fit$topic_names)) choice("Topics", id, escape_html(paste(shown, short_names(labels, 40L)))),
    unclass(paragraphs(note, "note")), "</div>"
  )
  structure(page, style = paste0(picked_style(rank_id), topics_style(id, shown, rank_id)))
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
  x <- pixels(at[, 1L], 1L, 1)
  y <- pixels(at[, 2L], 2L, -1)
  list(x = x, y = y, d = round(pmax(62 * sqrt(prevalence / max(prevalence, 1e-300)), 3), 1),
    axes = sprintf("--centre:%spx;--middle:%spx", pixels(0, 1L, 1), pixels(0, 2L, -1)),
    number = unname(free_places(x, y, 4 + 8 * max(nchar(shown)), 14, 340)))
}

# Centres of boxes in a square of `size`: one after the other takes the free place nearest to its own, if any.
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
  rules <- c("#%1$s:checked ~ .sides .panel.p-%2$s { display: block; }",
    "#%1$s:checked ~ * .map label[for=%1$s], #%1$s:checked ~ .sides label[for=%1$s] { z-index: 2; }",
    "#%1$s:checked ~ .sides label[for=%1$s] i { background: #d55e00; border-color: #8a3d00; }",
    "#%1$s:focus-visible ~ .sides label[for=%1$s] { outline: 3px solid #8a3d00; }",
    "#%1$s:checked ~ .choice label[for=%1$s] { background: #0b4f7d; color: #fff; }")
  paste(c(outer(rules, seq_along(id), function(rule, i) sprintf(rule, id[i], shown[i])),
    paste0("#", rank_id, ":checked ~ .sides .list.", rank_id, " { display: block; }")), collapse = "\n")
}

topic_panels <- function(fit, shown, labels, prevalence, n) {
  sizes <- term_sizes(fit$x)
  n <- min(n, length(fit$terms))
  lists <- lapply(c(common = 0, relevant = 0.4, own = 0.8), function(weight) {
    score <- term_scores(fit, "relevance", weight)[shown, , drop = FALSE]
    lapply(seq_along(shown), function(i) order(-score[i, ])[seq_len(n)])
  })
  vapply(seq_along(shown), function(i) {
    k <- shown[[i]]
    own <- fit$phi[k, ] * (prevalence[[i]] * fit$x$tokens)
    bars <- vapply(names(lists), function(rank) {
      tag("div", term_bars(fit$terms, lists[[rank]][[i]], own, sizes), paste0("list r-", rank))
    }, "")
    title <- sprintf("%s (%s of all tokens)", labels[[i]], percent(prevalence[[i]]))
    amount <- fit$theta[, k] * fit$document_tokens
    most <- utils::head(order(-amount), 4L)
    most <- most[amount[most] > 0]
    documents <- paste0(short_names(fit$documents[most], 40L), " (", percent(fit$theta[most, k], 0), ")",
      collapse = ", ")
    paste0("<section class=\"panel p-", k, "\">", tag("h3", escape_html(title)), paste(bars, collapse = "\n"),
      tag("p", escape_html(paste("Documents with the most tokens of it:", documents)), "note"), "</section>")
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
