# Functions of topicmodels and seededlda that fits of topic_model() know, and what to tell users of other packages.

#' Moving from topicmodels or text2vec to topic_model()
#'
#' `x` and `new` are counts of documents, `m` is a model of the other package, and `fit` one of [topic_model()].
#'
#' | topicmodels | text2vec | here |
#' | --- | --- | --- |
#' | `m <- LDA(x, k)` | `m <- LDA$new(n_topics = k)` | `fit <- topic_model(x, topics = k)` |
#' | `posterior(m)$topics` | what `m$fit_transform(x)` returns | `fit$theta` |
#' | `posterior(m)$terms` | `m$topic_word_distribution` | `fit$phi` |
#' | `posterior(m, new)$topics` | `m$transform(new)` | `predict(fit, new)` |
#' | `topics(m)` | | `predict(fit, type = "class")` |
#' | `terms(m, 10)` | `m$get_top_words(n = 10)` | `top_terms(fit, 10)` |
#' | | `m$get_top_words(lambda = 0.4)` | `top_terms(fit, by = "relevance", weight = 0.6)` |
#' | `perplexity(m, new)` | `perplexity(new, ...)` | `perplexity(fit, new)` |
#' | | `coherence(words, tcm)` | `coherence(fit)` |
#' | `m@loglikelihood` | | `fit$log_likelihood` |
#' | | `m$plot()` | `report(fit)` |
#' | `tidytext::tidy(m, "gamma")` | | `generics::tidy(fit, "gamma")` |
#'
#' @section Arguments:
#' In `control` of topicmodels and in text2vec, `alpha` or `doc_topic_prior` (50 / k) is here `alpha`, and `delta` or
#' `topic_word_prior` is `beta`; both are learned. `burnin` comes before `iter`, and here `warmup` is part of it.
#' `nstart` is `chains`, and `seedwords`, a matrix of weights, is `seed_words`, a list of words.
#' @section What differs:
#' Here `phi` and `theta` are averages over many sweeps, not one state. `perplexity()` of topicmodels and text2vec is
#' lower, because they estimate \eqn{\theta} from the words that they score.
#'
#' While topicmodels is loaded, its functions `posterior()`, `terms()`, `topics()`, `get_terms()`, `get_topics()` and
#' `perplexity()` also take fits of [topic_model()].
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' colnames(x) <- c("goal", "team", "price", "trade")
#' fit <- topic_model(x, topics = 2, iter = 100, warmup = 50, seed = 1, threads = 2)
#' top_terms(fit, 2)
#' @name topic_model_peers
NULL

at_load(function() {
  when_loaded("topicmodels", add_topicmodels_methods)
  # Early versions of seededlda have no perplexity().
  when_loaded("seededlda", function(namespace) {
    scored <- function(x, newdata = NULL, ...) perplexity(x, newdata, ...)
    if (exists("perplexity", envir = namespace, mode = "function", inherits = FALSE)) {
      registerS3method("perplexity", "topic_model", scored, envir = namespace)
    }
  })
})

# Methods for S4 generics of topicmodels that have these arguments; both namespaces are locked, hence an environment.
add_topicmodels_methods <- function(namespace) {
  where <- new.env(parent = namespace)
  assign(".packageName", "warpbayes", envir = where)
  methods::setOldClass(c("topic_model", "warpbayes_fit", "warpbayes"), where = where)
  add <- function(name, arguments, method, ...) {
    generic <- get0(name, namespace)
    if (methods::is(generic, "standardGeneric") && identical(names(formals(generic)), arguments)) {
      methods::setMethod(name, methods::signature("topic_model", ...), method, where = where)
    }
  }
  scored <- function(object, newdata, ...) perplexity(object, if (missing(newdata)) NULL else newdata, ...)
  # topicmodels has methods for any model and these classes. Without ours, R would tell of an ambiguous choice.
  for (class in c("ANY", "matrix", "DocumentTermMatrix")) {
    if (methods::isClass(class, where = where)) add("perplexity", c("object", "newdata", "..."), scored, class)
  }
  add("posterior", c("object", "newdata", "..."), function(object, newdata, ...) {
    theta <- if (missing(newdata)) object$theta else structure(predict(object, newdata, ...), unknown = NULL)
    list(terms = object$phi, topics = theta)
  })
  add("topics", c("x", "..."), function(x, ...) {
    values <- x$theta
    values[x$document_tokens == 0, ] <- NA
    most_likely(values = values, labels = seq_len(x$topics), names = x$documents, ...)
  })
  add("terms", c("x", "..."), function(x, ...) {
    most_likely(values = x$phi, labels = x$terms, names = topic_labels(x, seq_len(x$topics), "Topic "), ...)
  })
}

# Labels of the `k` largest values of each row, as columns; with a threshold a list of those above. Rows of NA: none.
# Callers name the first three arguments, so that none of the user's matches a part of their names.
most_likely <- function(values, labels, names, k = 1, threshold = NULL, ...) {
  check_dots_empty(...)
  k <- if (missing(k) && !is.null(threshold)) ncol(values) else min(check_count(k, "k"), ncol(values))
  if (!is.null(threshold)) threshold <- check_number(threshold, "threshold", 0, 1, open = FALSE)
  found <- lapply(seq_len(nrow(values)), function(i) {
    most <- order(values[i, ], decreasing = TRUE)[seq_len(k)]
    keep <- if (is.null(threshold)) TRUE else which(values[i, most] > threshold)
    labels[ifelse(is.na(values[i, most]), NA_integer_, most)[keep]]
  })
  if (!is.null(threshold)) return(stats::setNames(found, names))
  if (k == 1L) stats::setNames(unlist(found), names) else matrix(unlist(found), k, dimnames = list(NULL, names))
}
