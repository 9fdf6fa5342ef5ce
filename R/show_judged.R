# Results that rest on others and are plain tables, matrices or arrays: predictions, draws, comparisons.

# The verdict of what is made from fits is kept as an attribute. Where it says something, print() shows it.
judged <- function(x, about, fits, ..., heading = NULL) {
  attr(x, "verdict") <- new_verdict(about, ..., rests_on = lapply(fits, verdict))
  attr(x, "heading") <- heading
  class(x) <- unique(c("judged", class(x)))
  x
}

# Rows of a table keep its verdict.
#' @export
`[.judged` <- function(x, ...) {
  out <- NextMethod()
  if (length(dim(out)) != length(dim(x)) || is.data.frame(out)) return(out)
  structure(out, verdict = attr(x, "verdict"), heading = attr(x, "heading"), class = unique(c("judged", class(out))))
}

#' @export
print.judged <- function(x, ...) {
  verdict <- attr(x, "verdict")
  heading <- attr(x, "heading")
  attributes(x)[c("verdict", "heading")] <- NULL
  others <- setdiff(class(x), c("judged", "matrix", "array", "numeric", "integer"))
  oldClass(x) <- if (length(others)) others
  if (!is.null(heading)) print_sentences(heading)
  print(x, ...)
  if (length(verdict$reasons$words)) print_verdict(verdict)
  invisible(x)
}
