# What a checkpoint leaves out, and how resume() finds it again.

logit_data_parts <- c("terms", "xlevels", "weights", "offset", "response", "design", "na.action", "frame")

# The environment of a formula may hold the data: it is replaced by the global environment.
logit_without_data <- function(fit) {
  fit <- replace(fit, logit_data_parts, list(NULL))
  environment(fit$formula) <- globalenv()
  if (!is.null(fit$given$na.action) && !field_kinds$action(fit$given$na.action)) {
    stop_input("na.action", "must be the name of a function of package stats if there is a checkpoint, such as ",
      "na.exclude, not ", show_value(fit$given$na.action))
  }
  wrong <- Filter(Negate(field_kinds$coding), fit$contrasts)
  if (length(wrong)) {
    stop_input("contrasts", "must be names of functions of package stats or matrices of numbers if there is a ",
      "checkpoint, such as list(f = \"contr.sum\"), but for ", dQuote(shorten(names(wrong)[[1L]]), FALSE), " they are ",
      show_value(wrong[[1L]]))
  }
  sparse <- fit$given$sparse
  if (is_sparse_matrix(sparse)) {
    sparse <- as_sparse_columns(sparse)
    fit$given$sparse <- list(i = sparse@i, p = sparse@p, x = sparse@x, dims = sparse@Dim, dimnames = sparse@Dimnames,
      index1 = FALSE)
  }
  fit$call <- call_without_data(fit$call, "data")
  if (inherits(fit$call$formula, "formula")) fit$call$formula <- fit$formula
  fit
}

logit_with_data <- function(saved, x, envir) {
  fit <- saved$fit
  environment(fit$formula) <- envir
  given <- fit$given
  if (is.list(given$sparse)) fit$given$sparse <- given$sparse <- do.call(Matrix::sparseMatrix, given$sparse)
  sparse <- check_sparse(if (is.null(given$sparse)) FALSE else given$sparse)
  data <- logit_data(given, fit$formula, given_data(x, "x"), fit$family, fit$contrasts, sparse, envir)
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
  fingerprint_of(c(rows = fit$rows), c(names, if (is_sparse) "values of the sparse design"),
    c(unlist(digests, use.names = FALSE), design))
}

logit_fields <- function() c(
  family = "text", formula = "formula", contrasts = "list?", `contrasts$*` = "coding", group_name = "text[*]?",
  prior_only = "flag", chain_fields, coefficient_names = "text[*]", rows = "whole 1..2^53", given = "list?",
  `given$weights` = "value", `given$offset` = "value", `given$subset` = "value", `given$na.action` = "action?",
  # A flag, or the parts of a sparse matrix.
  `given$sparse` = "sparse?", `given$sparse$i` = "whole[*]", `given$sparse$p` = "whole[*]",
  `given$sparse$x` = "number[*]", `given$sparse$dims` = "whole[2]", `given$sparse$dimnames` = "list[2]",
  `given$sparse$dimnames$*` = "text[*]?", `given$sparse$index1` = "flag",
  prior = "list", `prior$type` = "text[*]", `prior$location` = "number[*]?", `prior$scale` = "number[*]?",
  `prior$df` = "number[*]?", `prior$autoscale` = "flag", `prior$intercept_location` = "number[*]?",
  `prior$intercept_scale` = "number?", `prior$g` = "number?", `prior$global_scale` = "number?",
  `prior$slab_scale` = "number?", `prior$slab_df` = "number?", `prior$group_scale` = "number?",
  `prior$smooth_scale` = "number?", `prior$dispersion_scale` = "number?", `prior$dispersion` = "finite[2]?",
  `prior$mean` = "finite[*]", `prior$precision` = "finite[*]", `prior$types` = "text[*]", `prior$law` = "whole[*]?",
  `prior$law_df` = "number[*]", `prior$law_scale` = "number[*]", `prior$law_gap` = "number[*]?",
  `prior$steps` = "number[*]?", `prior$deviation` = "number[*]", `prior$resolved` = "flag", `prior$centred` = "flag",
  `prior$has` = "flag[*]"
)

resumable.bayes_logit <- function(x) {
  list(
    sampler = logit_sampler, without_data = logit_without_data, with_data = logit_with_data,
    fingerprint = logit_fingerprint, fields = logit_fields(),
    # The compiled code knows the sizes that depend on the design.
    state = c(
      state_fields, coefficients = "finite[*]", statistics = "number[*]", intercepts = "finite[*]",
      group_statistics = "number[*]", shrinkage = "number[*]", scalars = "finite[*]", ellipse = "number[*]",
      effects = "finite[*]?", covariances = "finite[*]?", moves = "number[*]?"
    )
  )
}
