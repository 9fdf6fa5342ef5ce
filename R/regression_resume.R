# What a checkpoint of a regression leaves out, and how resume() finds it again.

logit_data_parts <- c("terms", "xlevels", "weights", "offset", "response", "design", "na.action", "frame")

# R calls the functions that `na.action` and `contrasts` name. A checkpoint may name only these, so that a file from
# somebody else cannot name any other.
is_na_action <- function(value) {
  if (is.name(value)) value <- as.character(value)
  is.null(value) || is_text(value, 1L) && value %in% c("na.omit", "na.exclude", "na.fail", "na.pass")
}

is_coding <- function(value) {
  if (is.object(value)) return(FALSE)
  is.matrix(value) && is.numeric(value) ||
    is_text(value, 1L) && value %in% paste0("contr.", c("treatment", "sum", "helmert", "poly", "SAS"))
}

# The environment of a formula may hold anything, the data included: it is replaced by the global environment.
logit_without_data <- function(fit) {
  fit <- without_parts(fit, logit_data_parts)
  environment(fit$formula) <- globalenv()
  if (!is_na_action(fit$given$na.action)) {
    stop_input("na.action", "must be the name of a function of package stats if there is a checkpoint, such as ",
      "na.exclude, not ", show_value(fit$given$na.action))
  }
  wrong <- Filter(Negate(is_coding), fit$contrasts)
  if (length(wrong)) {
    stop_input("contrasts", "must be names of functions of package stats or matrices of numbers if there is a ",
      "checkpoint, such as list(f = \"contr.sum\"), but for ", dQuote(shorten(names(wrong)[[1L]]), FALSE), " they are ",
      show_value(wrong[[1L]]))
  }
  fit$call <- call_without_data(fit$call, "data")
  if (inherits(fit$call$formula, "formula")) fit$call$formula <- fit$formula
  fit
}

logit_with_data <- function(saved, x, envir) {
  fit <- saved$fit
  environment(fit$formula) <- envir
  given <- fit$given
  is_value <- function(part) is.null(part) || is.atomic(part) || is.name(part) || is_sparse_matrix(part)
  if (!is.list(given) || !all(vapply(given, is_value, NA))) {
    stop("its weights, subset or offset are neither values nor names")
  }
  # An argument without a name could become any argument of model.frame().
  known <- names(given) %in% c("weights", "offset", "subset", "na.action", "sparse")
  if (sum(known) < length(given) || !is_na_action(given$na.action)) {
    stop("its na.action is not the name of a function of package stats, or it has unknown arguments")
  }
  if (!is.null(fit$contrasts) && !(is.list(fit$contrasts) && all(vapply(fit$contrasts, is_coding, NA)))) {
    stop("its contrasts are neither names of functions of package stats nor matrices of numbers")
  }
  sparse <- check_sparse(if (is.null(given$sparse)) FALSE else given$sparse)
  data <- logit_data(given, fit$formula, without_integer64(x), fit$family, fit$contrasts, sparse, envir)
  fit[logit_data_parts] <- data[logit_data_parts]
  fit$rows <- nrow(data$frame)
  fit
}

logit_fingerprint <- function(fit) {
  x <- fit$design$x
  is_sparse <- is_sparse_matrix(x)
  digests <- lapply(fit$frame, digest_variable)
  design <- if (is_sparse) digest_numbers(c(digest_numbers(x@p), digest_numbers(x@i), digest_numbers(x@x)))
  names <- if (length(digests)) paste("values in column", dQuote(names(fit$frame), FALSE))
  fingerprint_of(
    c(rows = fit$rows), c(names, if (is_sparse) "values of the sparse design"),
    c(unlist(digests, use.names = FALSE), design)
  )
}

resumable.bayes_logit <- function(x) {
  list(
    sampler = logit_sampler, without_data = logit_without_data, with_data = logit_with_data,
    fingerprint = logit_fingerprint, check_state = identity
  )
}
