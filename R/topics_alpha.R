# The prior of the topics of documents, alpha: one record for each way to give or to learn it.

# number: in wb_topic_alpha. learned: what is learned, in words; NULL if alpha is given. report: a sentence, with the
# sum of alpha and the words of its gamma prior. number_learned: whether topics may stay unused. one_topic: whether a
# document has one topic. traced: whether the sum of alpha tells of convergence.
alpha_kind <- function(number, learned, report, number_learned = FALSE, one_topic = FALSE, traced = TRUE) {
  as.list(environment())
}

alpha_kinds <- list(
  none = alpha_kind(0L, NULL, "alpha was given, and sums to {sum}.", traced = FALSE),
  symmetric = alpha_kind(1L, "symmetric alpha", "All alpha are one number, which is learned; its prior is {prior})."),
  asymmetric = alpha_kind(2L, "asymmetric alpha",
    "Each topic has its own alpha, which is learned; the prior of each is {prior})."),
  hdp = alpha_kind(3L, "alpha", paste("The number of topics is learned; the prior of the sum of alpha is {prior}),",
    "its shape times 1/4 to 64."), number_learned = TRUE),
  mixture = alpha_kind(4L, "shares of topics", "Each document has one topic; the shares of topics have a flat prior.",
    one_topic = TRUE, traced = FALSE),
  # Not alpha is drawn, but the coefficients of the covariates that give it.
  prevalence = alpha_kind(0L, "effects of covariates", paste("log alpha is linear in the covariates of the document;",
    "the priors of the coefficients are normal: see ?topic_effects."))
)

kind_of <- function(fit) alpha_kinds[[fit$learn$alpha]]

first_alpha <- function(topics) rep(min(1, 5 / topics), topics)

# With a larger alpha or beta, a count would no longer change their sum.
most_prior <- 1e15

# How alpha is learned, the alphas to start with, and shape and rate of their prior.
check_alpha <- function(alpha, topics, labels) {
  given <- with_gamma(alpha, "alpha")
  alpha <- given$value
  choices <- setdiff(names(alpha_kinds), c("none", "prevalence"))
  if (is.character(alpha) && length(alpha) == 1L && alpha %in% choices) {
    return(list(learn = alpha, start = first_alpha(topics), prior = given$prior))
  }
  sized <- is.numeric(alpha) && length(alpha) %in% c(1, topics) && !is.matrix(alpha)
  bad <- if (sized) which(!is.finite(alpha) | alpha <= 0 | alpha > most_prior)
  if (!sized || length(bad)) {
    shown <- if (!sized) show_value(alpha) else format(alpha[[bad[[1L]]]])
    if (sized && length(alpha) > 1L) shown <- sprintf("%s for topic %d", shown, bad[[1L]])
    stop_input("alpha", sprintf("must be one positive number, %d of them, %s, not ", topics,
      sub(", ([^,]*)$", " or \\1", paste(dQuote(choices, FALSE), collapse = ", "))), shown)
  }
  alpha <- rep_len(as.double(by_names(alpha, labels, "alpha", "topic")), topics)
  list(learn = "none", start = alpha, prior = given$prior)
}

with_gamma <- function(value, argument) {
  if (!is.list(value)) return(list(value = value, prior = c(1, 1)))
  prior <- value[c("shape", "rate")]
  usable <- length(value) == 3L && setequal(names(value), c("", "shape", "rate")) &&
    all(vapply(prior, function(one) is.numeric(one) && length(one) == 1L && isTRUE(is.finite(one) && one > 0), NA))
  if (!usable) {
    stop_input(argument, "as a list must have a word, and a positive shape and rate of its gamma prior, such as ",
      if (argument == "alpha") "list(\"symmetric\", shape = 2, rate = 1)" else "list(\"learn\", shape = 2, rate = 1)")
  }
  list(value = value[[which(names(value) == "")]], prior = as.double(unlist(prior)))
}

refuse_mixture <- function(fit, argument, what) {
  if (kind_of(fit)$one_topic) {
    stop_input(argument, "is a fit with alpha = \"mixture\", whose documents have one topic: ", what)
  }
}
