# print() of differences between groups of samples.

in_console.type_differences <- function(x, ...) {
  print(plain_frame(x), ...)
  if ("difference" %in% names(x)) print_sentences(c(attr(x, "words"), samples_alone))
}
