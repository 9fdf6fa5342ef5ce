# Prints two costs that tools/budget bounds: words of help pages, and arguments of the function with most of them.
#   Rscript tools/budget.R
words <- function(file) {
  text <- utils::capture.output(tools::Rd2txt(file, options = list(underline_titles = FALSE)))
  sum(nzchar(unlist(strsplit(text, "[[:space:]]+"))))
}
pages <- list.files("man", "\\.Rd$", full.names = TRUE)
cat("help_words", sum(vapply(pages, words, 0L)), "\n")

exports <- sub("^export\\((.*)\\)$", "\\1", grep("^export\\(", readLines("NAMESPACE"), value = TRUE))
count <- 0L
for (file in list.files("R", "\\.R$", full.names = TRUE)) {
  for (e in as.list(parse(file, keep.source = FALSE))) {
    if (is.call(e) && is.name(e[[2L]]) && is.call(e[[3L]]) && identical(e[[3L]][[1L]], quote(`function`)) &&
      as.character(e[[2L]]) %in% exports) {
      count <- max(count, length(e[[3L]][[2L]]))
    }
  }
}
cat("arguments", count, "\n")
