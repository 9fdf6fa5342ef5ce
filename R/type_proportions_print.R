# print() of differences between groups of samples.

in_console.type_differences <- function(x, ...) {
  print(plain_frame(x), ...)
  if ("difference" %in% names(x)) {
    print_sentences(paste(
      "These intervals are about these samples alone. differential_abundance() compares the groups of patients that",
      "the samples come from."
    ))
  }
}
