# Words that all rooms use: counts, shares, times, and lists of names.

count_words <- function(count, one, many = paste0(one, "s")) {
  paste(whole_words(count), if (count == 1) one else many)
}

whole_words <- function(count) format(count, big.mark = ",", decimal.mark = ".", scientific = FALSE, trim = TRUE)

elapsed_seconds <- function(elapsed) {
  if (is.list(elapsed) && !is.null(elapsed$total)) elapsed$total else sum(unlist(elapsed), na.rm = TRUE)
}

elapsed_words <- function(elapsed) {
  seconds <- elapsed_seconds(elapsed)
  if (seconds >= 120) sprintf("%.1f minutes", seconds / 60) else sprintf("%s s", format(signif(seconds, 3)))
}

size_words <- function(fit) {
  sprintf("Dirichlet-process mixture of Gaussians: %s%s x %s, up to %s", count_words(fit$rows, "cell"),
    if (is.null(fit$samples)) "" else paste(" of", count_words(length(fit$samples), "sample")),
    count_words(length(fit$markers), "marker"), count_words(fit$components, "component"))
}

# Values with so many decimals that `spread` would have `digits` significant digits.
format_to_spread <- function(values, spread, digits = 2) {
  decimals <- if (isTRUE(spread > 0)) max(0, digits - 1 - floor(log10(spread))) else 0
  formatC(values, format = "f", digits = min(decimals, 12), big.mark = ",", decimal.mark = ".")
}

list_some <- function(values, most = 12L) {
  text <- paste(dQuote(vapply(as.character(utils::head(values, most)), shorten, ""), FALSE), collapse = ", ")
  if (length(values) > most) sprintf("%s and %d more", text, length(values) - most) else text
}

percent <- function(share, digits = 1) sub("A%", "A", paste0(formatC(100 * share, format = "f", digits = digits), "%"))

short_number <- function(value) {
  scientific <- any(abs(value) >= 1e6)
  format(signif(value, 3), trim = TRUE, big.mark = ",", decimal.mark = ".", scientific = scientific)
}

# Up to the mean; the sentence closes the parenthesis.
gamma_words <- function(law) {
  sprintf("gamma with shape %s and rate %s (mean %s", short_number(law[["shape"]]), short_number(law[["rate"]]),
    short_number(law[["shape"]] / law[["rate"]]))
}

# The call without the data: do.call() puts the values of arguments into it, not their names.
short_call <- function(call, maker = "dp_mixture") {
  if (!is.name(call[[1L]]) && !is.call(call[[1L]])) call[[1L]] <- as.name(maker)
  for (name in setdiff(names(call), "")) {
    value <- call[[name]]
    if (!is.null(value) && !is.language(value) && (length(value) > 20L || isS4(value) || is.list(value))) {
      call[[name]] <- as.name(name)
    }
  }
  call
}

there_are <- function(markers) {
  sprintf("there %s %s", if (length(markers) == 1L) "is" else "are", count_words(length(markers), "marker"))
}

class_words <- function(class, values) {
  known <- c(numeric = "numbers", logical = "logical values", factor = "a factor")
  if (class %in% names(known)) return(known[[class]])
  if (class == "other") return(paste("an object of class", class(values)[[1L]]))
  columns <- sub("nmatrix.", "", class, fixed = TRUE)
  if (columns != class) sprintf("a matrix of %s columns", columns) else class
}

# Unicode controls that change the direction of the text after them, as codes.
show_directions <- function(text) {
  found <- which(validUTF8(text) & Encoding(text) != "latin1")
  codes <- c(0x61c, 0x200e:0x200f, 0x202a:0x202e, 0x2066:0x2069)
  at <- found[grepl(paste0("[", intToUtf8(codes), "]"), text[found])]
  for (code in if (length(at)) codes) {
    text[at] <- gsub(intToUtf8(code), sprintf("<U+%04X>", code), text[at], fixed = TRUE)
  }
  text
}
