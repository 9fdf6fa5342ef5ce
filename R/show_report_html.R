# The parts of a page, and the page. Texts become HTML here, and nowhere else: whatever a user has typed is escaped.

escape_html <- function(text) {
  text <- as.character(text)
  text[is.na(text)] <- "NA"
  text <- enc2utf8(text)
  bad <- !validUTF8(text)
  text[bad] <- encodeString(text[bad])
  text <- gsub("[\001-\010\013\014\016-\037\177]", "", show_directions(text))
  for (i in seq_along(html_entities)) {
    text <- gsub(names(html_entities)[[i]], html_entities[[i]], text, fixed = TRUE)
  }
  text
}

# The ampersand is first, since the others bring ampersands.
html_entities <- c("&" = "&amp;", "<" = "&lt;", ">" = "&gt;", "\"" = "&quot;", "'" = "&#39;", "`" = "&#96;")

html <- function(...) structure(paste0(..., collapse = "\n"), class = "report_html")

tag <- function(name, content, class = NULL, scope = NULL) {
  attribute <- paste0(if (!is.null(class)) paste0(" class=\"", class, "\""),
    if (!is.null(scope)) paste0(" scope=\"", scope, "\""))
  paste0("<", name, attribute, ">", content, "</", name, ">")
}

paragraphs <- function(text, class = NULL) html(tag("p", escape_html(text), class))

table_part <- function(frame, caption = NULL, most = 200L) {
  rows <- nrow(frame)
  if (rows > most) frame <- frame[seq_len(most), , drop = FALSE]
  columns <- lapply(frame, function(column) {
    text <- cell_words(column)
    numbers <- length(text) && all(grepl(number_pattern, text))
    class <- if (numbers) "n" else if (max(nchar(text, allowNA = TRUE), 0, na.rm = TRUE) > 30L) "w"
    list(cells = tag("td", escape_html(text), class), class = class)
  })
  head <- vapply(seq_along(columns), function(i) {
    tag("th", escape_html(names(frame)[[i]]), if (identical(columns[[i]]$class, "n")) "n", "col")
  }, "")
  body <- do.call(paste0, lapply(unname(columns), `[[`, "cells"))
  html(if (!is.null(caption)) unclass(paragraphs(caption, "caption")), "<div class=\"scroll\" tabindex=\"0\"><table>",
    "<thead><tr>", paste(head, collapse = ""), "</tr></thead><tbody>", paste(tag("tr", body), collapse = "\n"),
    "</tbody></table></div>",
    if (rows > most) unclass(paragraphs(sprintf("and %s", count_words(rows - most, "more row")), "note")))
}

number_pattern <- "^[-+<> ]*([0-9][0-9.,]*([eE][-+]?[0-9]+)?|Inf|NA)?%?( to [-+< ]*[0-9.,]+([eE][-+]?[0-9]+)?%?)?$"

cell_words <- function(column) {
  if (is.numeric(column)) {
    whole <- all(is.na(column) | column == floor(column) & abs(column) < 1e15)
    words <- if (whole) whole_words(column) else format(column, digits = 4, trim = TRUE)
    return(ifelse(is.na(column), "-", words))
  }
  as.character(column)
}

# A picture, drawn for wide and for narrow screens by base graphics. `tall`: height over width of each.
picture_part <- function(caption, draw, tall = c(0.62, 1), draw_narrow = draw) {
  wide <- paint_png(draw, 7.2, 7.2 * tall[[1L]], 11)
  if (!is.null(wide$failure)) {
    return(html(tag("p", escape_html(paste0(caption, " This picture cannot be drawn: ", wide$failure)), "none")))
  }
  narrow <- paint_png(draw_narrow, 4.8, 4.8 * tall[[2L]], 10.5)
  image <- sprintf("<img alt=\"%s\" src=\"%s\">", escape_html(caption), wide$data)
  source <- if (is.null(narrow$failure)) sprintf("<source media=\"(max-width: 560px)\" srcset=\"%s\">", narrow$data)
  html("<figure><picture>", source, image, "</picture>", tag("figcaption", escape_html(caption)), "</figure>")
}

# Draws on a device of its own, or not at all: R would draw on the user's device, or write Rplots.pdf.
paint_png <- function(draw, width, height, pointsize) {
  file <- tempfile(fileext = ".png")
  before <- grDevices::dev.list()
  current <- grDevices::dev.cur()
  own <- function() setdiff(grDevices::dev.list(), before)
  on.exit({
    for (device in own()) try(grDevices::dev.off(device), silent = TRUE)
    if (current %in% before) grDevices::dev.set(current)
    unlink(file)
  })
  tryCatch(
    {
      reason <- NULL
      # The kind of the user's options is tried if R's cairo module, a library of its own, cannot be loaded.
      for (type in unique(c(if (capabilities("cairo")) "cairo", getOption("bitmapType")))) {
        reason <- open_png(file, width, height, pointsize, type)
        if (length(own())) break
      }
      if (!length(own())) stop("no device for pictures can be opened", if (length(reason)) ": ", reason)
      suppressWarnings(draw())
      # The device writes the end of the file when it is closed.
      for (device in own()) grDevices::dev.off(device)
      bytes <- if (file.exists(file)) readBin(file, "raw", file.size(file))
      if (!is_whole_png(bytes)) stop("its file was not written to its end; the disk may be full")
      list(data = paste0("data:image/png;base64,", base64(bytes)))
    },
    error = function(error) {
      pass_on(error)
      list(failure = conditionMessage(error))
    }
  )
}

open_png <- function(file, width, height, pointsize, type) {
  reason <- NULL
  note <- function(condition) if (is.null(reason)) reason <<- conditionMessage(condition)
  withCallingHandlers(
    tryCatch(grDevices::png(file, width, height, "in", pointsize, res = 130, type = type), error = note),
    warning = function(warning) {
      note(warning)
      invokeRestart("muffleWarning")
    }
  )
  reason
}

# Whether chunks follow each other from the signature to IEND, the last one (ISO/IEC 15948, section 5).
is_whole_png <- function(bytes) {
  if (!identical(utils::head(bytes, 8L), as.raw(c(137, 80, 78, 71, 13, 10, 26, 10)))) return(FALSE)
  at <- 8
  while (at + 12 <= length(bytes)) {
    last <- identical(bytes[at + 5:8], charToRaw("IEND"))
    at <- at + 12 + sum(as.integer(bytes[at + 1:4]) * 256^(3:0))
    if (last) return(at == length(bytes))
  }
  FALSE
}

base64 <- function(bytes) {
  padding <- (3L - length(bytes) %% 3L) %% 3L
  three <- matrix(as.integer(c(bytes, raw(padding))), 3L)
  word <- three[1L, ] * 65536L + three[2L, ] * 256L + three[3L, ]
  digits <- rbind(word %/% 262144L, word %/% 4096L %% 64L, word %/% 64L %% 64L, word %% 64L)
  text <- charToRaw(paste(c(LETTERS, letters, 0:9, "+", "/"), collapse = ""))[digits + 1L]
  text[length(text) + 1L - seq_len(padding)] <- charToRaw("=")
  rawToChar(text)
}

pickers <- function(type, name, ids, checked, labels) {
  form <- '<input class="pick" type="%s" name="%s" id="%s" aria-label="%s"%s>'
  paste(sprintf(form, type, name, ids, escape_html(labels), ifelse(checked, " checked", "")), collapse = "\n")
}

choice <- function(what, ids, labels) {
  buttons <- paste(sprintf('<label for="%s">%s</label>', ids, labels), collapse = "\n")
  sprintf('<div class="choice"><span class="what">%s</span>%s</div>', escape_html(what), buttons)
}

picked_style <- function(ids) {
  chosen <- paste0("#", ids, ":checked ~ * label[for=", ids, "]", collapse = ",\n")
  focus <- paste0("#", ids, ":focus-visible ~ * label[for=", ids, "]", collapse = ",\n")
  paste0(chosen, " { background: #0b4f7d; color: #fff; }\n", focus, " { outline: 3px solid #d55e00; }\n")
}

report_page <- function(content, title, note) {
  title <- if (is.null(title)) content$title else title
  sections <- Filter(Negate(is.null), content$sections())
  parts <- lapply(sections, function(section) Filter(Negate(is.null), section$parts))
  text <- vapply(parts, function(own) paste(vapply(own, paste0, ""), collapse = "\n"), "")
  sections <- paste0(tag("h2", escape_html(vapply(sections, `[[`, "", "title"))), "\n", text)
  style <- c(readLines(system.file("report", "report.css", package = "warpbayes"), encoding = "UTF-8"),
    unlist(lapply(unlist(parts, recursive = FALSE), attr, "style")))
  text <- enc2utf8(c(
    "<!DOCTYPE html>", "<html lang=\"en\">", "<head>", "<meta charset=\"utf-8\">",
    paste0(report_mark, package_version_text(), "\">"),
    # The browser refuses to load anything from elsewhere, and to run anything.
    paste0("<meta http-equiv=\"Content-Security-Policy\" ",
      "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">"),
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
    tag("title", escape_html(title)), "<style>", style, "</style>", "</head>", "<body>", "<main>",
    tag("h1", escape_html(title)), tag("p", escape_html(content$words), "facts"), if (length(note)) paragraphs(note),
    verdict_part(content), sections, made_part(content), "</main>", "</body>", "</html>", ""))
  paste(text, collapse = "\n")
}

verdict_part <- function(content) {
  if (!length(content$verdict)) return(NULL)
  usable <- if (inherits(content$verdict, "verdict")) is_usable(content$verdict) else content$converged
  class <- if (isTRUE(usable)) " good" else if (isFALSE(usable)) " bad"
  c(paste0("<div class=\"verdict", class, "\">"), tag("h2", "Verdict"),
    tag("ul", paste(tag("li", escape_html(as.character(content$verdict))), collapse = "\n")), "</div>")
}

made_part <- function(content) {
  rows <- tag("tr", paste0(tag("th", escape_html(names(content$made)), scope = "row"),
    tag("td", escape_html(content$made))))
  c(tag("h2", "How it was made"),
    if (length(content$prior)) c(tag("h3", "Prior"), tag("p", escape_html(content$prior))),
    tag("h3", "Computation"), tag("table", paste(rows, collapse = "\n"), "made"),
    if (length(content$code)) {
      c(tag("h3", "Code that repeats it"),
        tag("pre", paste(escape_html(c("library(warpbayes)", content$code)), collapse = "\n")),
        unclass(paragraphs(paste("In double precision, this gives the same numbers on any machine, number of threads",
          "and graphics card."), "note")))
    })
}

explorer_ticks <- function(limits, transform, marker) {
  if (type_of_marker(transform, marker) == "none") {
    return(axis_of(limits, function(at) escape_html(format(at, trim = TRUE, digits = 4))))
  }
  ticks <- transformed_ticks(limits, transform, marker)
  list(at = ticks$at, labels = vapply(ticks$labels, function(label) {
    if (is.character(label)) return(escape_html(label))
    sub("^(-?10)\\^(.*)$", "\\1<sup>\\2</sup>", gsub("[ ()]", "", deparse1(label)))
  }, ""))
}

table_content <- function(title, words, table, caption, picture = NULL, note = NULL, verdict = NULL, converged = NA,
                          seed = NULL) {
  list(title = title, words = words, converged = converged, verdict = verdict, main = function() table,
    sections = function() {
      list(list(title = "Result", parts = list(picture, if (nrow(table)) table_part(table, caption),
        if (length(note)) paragraphs(note, "note"))))
    },
    made = made_words(list(seed = seed)), prior = NULL, code = NULL, rows = 200L)
}

interval_name <- function(level) if (is.null(level)) "interval" else paste0(format(100 * level), "% interval")
