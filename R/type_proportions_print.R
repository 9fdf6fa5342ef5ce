# print() of differences between groups of samples.

#' @rdname type_proportions
#' @param x from `type_differences()`.
#' @export
print.type_differences <- function(x, ...) {
  printed(x, {
    NextMethod()
    if ("difference" %in% names(x)) {
      print_sentences(paste(
        "These intervals are about these samples alone. differential_abundance() compares the groups of patients that",
        "the samples come from."
      ))
    }
  })
}
