# Whether the parts of a fit, a list that anybody can change, have the sizes that the code relies on.

check_topic_fit <- function(fit, argument = "fit") {
  check_present(!missing(fit), argument)
  check_fit_class(fit, argument, "topic_model", "topic_model()")
  check_described(fit, argument, list(
    chains = part_whole(1, 1e4), iter = part_whole(), warmup = part_whole(), thin = part_whole(1), draws = part_list(),
    learn = part_list(), state = part_list(), method = part_choice(c("gibbs", "mean_for_mode")),
    topics = part_is("a number of topics", part_whole(1, 16384)$test), earlier = part_numbers(1L),
    elapsed = part_numbers(2L), x = part_is("the counts that were fitted", function(x) inherits(x, "count_matrix"))
  ), c("draws", "learn", "state", "earlier", "elapsed"))
  topics <- fit$topics
  documents <- length(fit$documents)
  shape <- function(rows, columns) {
    part_is(sprintf("a matrix of %s x %s numbers", whole_words(rows), whole_words(columns)), function(value) {
      is.double(value) && identical(as.double(dim(value)), as.double(c(rows, columns)))
    })
  }
  check_described(fit, argument, list(
    x = part_is("of as many documents and terms as `documents` and `terms` name", function(x) {
      is.character(fit$documents) && is.character(fit$terms) && identical(as.double(x$size),
        as.double(c(documents, length(fit$terms))))
    }), phi = shape(topics, length(fit$terms)), theta = shape(documents, topics)
  ))
  check_stored(fit, argument, topic_plan(fit), absent = FALSE)
  compared <- part_is("a matrix, topics x chains", function(value) {
    part_numbers(c(topics, fit$chains))$test(value) && !anyNA(value)
  })
  check_described(fit, argument, c(list(
    reference = part_whole(1, fit$chains), beta = part_is("a positive number", function(beta) {
      is.numeric(beta) && length(beta) == 1L && isTRUE(beta > 0 & beta <= most_prior)
    }),
    alpha = part_is("a positive number for each topic", function(alpha) {
      is.numeric(alpha) && length(alpha) == topics && all(is.finite(alpha) & alpha > 0)
    }),
    document_tokens = part_is("a number of tokens for each document", part_numbers(documents)$test),
    topic_names = part_is("a name for each topic", function(names) is.character(names) && length(names) == topics)
  ), if (!is.null(fit$agreement)) list("agreement$match" = compared, "agreement$distance" = compared)), "topic_names")
  check_structure_parts(fit, argument)
}

check_intact.topic_model <- function(x, argument) check_topic_fit(x, argument)

check_topic_state <- function(fit) {
  check_states(fit, resumable(fit), function(path, rule) {
    stop_input("fit", "has a part `", path, "` that is not ", rule, ": it has been changed since it was made")
  })
}

check_structure_parts <- function(fit, argument) {
  design <- fit$prevalence
  if (is.null(design) != !identical(fit$learn$alpha, "prevalence")) {
    stop_changed(argument, "prevalence", "what `learn` says", design)
  }
  documents <- length(fit$documents)
  whole <- function(values) is.numeric(values) && all(values %in% seq_len(documents))
  finite <- function(value, rows) is.double(value) && is.matrix(value) && nrow(value) == rows && all(is.finite(value))
  usable <- is.null(design) || is.list(design) && inherits(design$formula, "formula") &&
    is.data.frame(design$variables) && is.factor(design$group) && length(design$group) == documents &&
    !anyNA(design$group) && nlevels(design$group) == length(design$first) && nlevels(design$group) > 1L &&
    whole(design$first) && whole(design$used) && !is.null(colnames(design$x)) &&
    finite(design$x, length(design$used)) && finite(design$basis, documents)
  if (!usable) stop_changed(argument, "prevalence", "the covariates of the documents", design)
  check_described(fit, argument, list(
    prior_counts = part_is("a matrix of topics x terms with numbers from 0 on", function(prior) {
      is.double(prior) && is.matrix(prior) && nrow(prior) == fit$topics && ncol(prior) >= 1L &&
        !is.null(colnames(prior)) && !anyDuplicated(colnames(prior)) && all(colnames(prior) %in% fit$terms) &&
        all(is.finite(prior) & prior >= 0)
    })
  ), "prior_counts")
}

# Checks the fit given to a function that may mask another package's, which the message names.
check_masking_fit <- function(fit, name) {
  if (missing(fit) || inherits(fit, "topic_model")) return(check_topic_fit(fit))
  loaded <- Filter(isNamespaceLoaded, c("topicmodels", "seededlda", "text2vec"))
  others <- Filter(function(package) name %in% getNamespaceExports(package), loaded)
  hint <- if (length(others)) {
    paste0(": for objects of other packages write ", paste0(others, "::", name, "()", collapse = " or "))
  }
  stop_input("fit", "must come from topic_model(), not ", show_value(fit), hint)
}
