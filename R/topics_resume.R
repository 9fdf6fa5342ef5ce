# What a checkpoint of a topic model leaves out, and how resume() finds it again.

topics_without_data <- function(fit) {
  fit <- without_parts(fit, c("x", "documents", "terms", "document_tokens"))
  fit$call <- call_without_data(call_without_data(fit$call, "x"), "data")
  if (!is.null(fit$prevalence)) {
    fit$formula <- fit$prevalence$formula
    environment(fit$formula) <- globalenv()
    if (inherits(fit$call$prevalence, "formula")) fit$call$prevalence <- fit$formula
    fit$prevalence <- fit$prevalence["variables"]
  }
  fit
}

topics_with_data <- function(saved, x, envir) {
  fit <- saved$fit
  counts <- count_matrix(x)
  fit$x <- counts
  fit$documents <- counts$documents
  fit$terms <- counts$terms
  fit$document_tokens <- document_sizes(counts)
  if (!is.null(fit$formula)) {
    environment(fit$formula) <- envir
    fit$prevalence <- covariate_design(fit$formula, fit$prevalence$variables, fit, "prevalence")
    fit$formula <- NULL
  }
  fit
}

topics_check_state <- function(fit) {
  tryCatch(check_topic_state(fit), warpbayes_error_input = function(error) stop(conditionMessage(error), call. = FALSE))
}

topics_fingerprint <- function(fit) {
  counts <- fit$x
  fingerprint_of(
    c(documents = counts$size[[1L]], terms = counts$size[[2L]]), c("names of documents", "names of terms", "counts"),
    c(
      digest_text(c(counts$documents, counts$named[["documents"]])),
      digest_text(c(counts$terms, counts$named[["terms"]])),
      digest_numbers(c(digest_numbers(counts$p), digest_numbers(counts$i), digest_numbers(counts$count)))
    )
  )
}

resumable.topic_model <- function(x) {
  list(
    sampler = topic_sampler, without_data = topics_without_data, with_data = topics_with_data,
    fingerprint = topics_fingerprint, check_state = topics_check_state
  )
}
