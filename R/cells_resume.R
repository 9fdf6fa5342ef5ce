# What a checkpoint of a mixture leaves out, and how resume() finds it again.

mixture_without_data <- function(fit) without_parts(fit, intersect(c("x", "reader"), names(fit)))

# The markers that the user chose. A continued fit knows only their names.
mixture_with_data <- function(saved, x, envir) {
  fit <- saved$fit
  markers <- if ("markers" %in% names(saved$given)) {
    saved$given$markers
  } else if (!is.matrix(x) || !is.null(colnames(x))) {
    fit$markers
  }
  if (is_reader(x)) {
    fit$reader <- reader_again(x, fit, saved$given$markers)
    fit$rows <- x$rows
    return(fit)
  }
  given <- read_samples(x, saved$given$sample, markers, assay = fit$assay)
  transform <- if (is.null(fit$transform)) "none" else fit$transform
  data <- as_marker_matrix(given$x, given$markers, transform,
    missing = fit$missing, assay = given$assay)
  # If the data do not tell the samples, the checkpoint's samples stay.
  sample <- check_samples(given$sample, nrow(data$x), rownames(data$x))
  if (!is.null(sample)) fit$sample <- as.integer(sample)
  fit$x <- data$x
  fit$rows <- nrow(data$x)
  fit$markers <- data$markers
  fit
}

mixture_fingerprint <- function(fit) {
  if (!is.null(fit$reader)) {
    some <- fit$reader$some
    return(fingerprint_of(
      c(rows = fit$rows), paste("values that workers read in column", dQuote(fit$markers, FALSE)),
      digest_numbers(some, nrow(some))
    ))
  }
  fingerprint_of(
    c(rows = fit$rows),
    c(paste("values in column", dQuote(fit$markers, FALSE)), if (!is.null(fit$samples)) "samples of the cells"),
    c(digest_numbers(fit$x, fit$rows), if (!is.null(fit$samples)) digest_numbers(fit$sample))
  )
}

resumable.dp_mixture <- function(x) {
  list(
    sampler = function(fit) method_of(fit)$sampler(fit),
    without_data = mixture_without_data, with_data = mixture_with_data,
    fingerprint = mixture_fingerprint, check_state = identity
  )
}
