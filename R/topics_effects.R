# How shares of topics depend on what is known of the documents: regressions of topic shares, with intervals.

#' Effects on the shares of topics
#'
#' Regresses the shares of topics in documents on covariates, such as the party of the author or the day.
#'
#' `topic_effects(fit)` reads the effects from the draws of a fit with `prevalence`. For another fit or `formula`, a
#' further chain of `100 + 2 * ndraws` sweeps begins with the topics of the reference chain.
#'
#' @section Model:
#' The prior depends on the covariates \eqn{x_d} of a document: \eqn{\theta_d \sim \mathrm{Dir}(\alpha_d)}{theta_d ~
#' Dir(alpha_d)} with \eqn{\log \alpha_{dk} = x_d' \lambda_k}{log alpha_dk = x_d' lambda_k} (Mimno and McCallum 2008).
#' The priors of \eqn{\lambda} are N(0, 5^2) for intercepts and N(0, 2.5^2) for other coefficients. For this prior,
#' covariates with two values are divided by their range, and others by two standard deviations.
#'
#' For each draw of \eqn{\theta}, the shares \eqn{\theta_{dk}} are regressed on the covariates by least squares, with
#' random exponential weights of the documents (the Bayesian bootstrap, Rubin 1981). The estimates of all draws are the
#' posterior of the effects (Treier and Jackman 2008).
#'
#' `s(day)` is a natural cubic spline with `k = 5` knots; `s(day, k = 8)` bends more often.
#'
#' The regression of the shares is linear: expected shares of rare topics may be below 0. A star marks topics that some
#' chain does not find.
#'
#' @param fit a fit from [topic_model()].
#' @param formula the covariates, such as `~ party + s(day)`; `NULL`: the covariates of `prevalence`.
#' @param data a data frame with the covariates and a row for each document, which is found by its [name][joining].
#'   Other variables are looked up where the formula was made.
#' @param at `NULL` for the coefficients of the formula. Or a data frame with values of the covariates, for which the
#'   expected shares are wanted.
#' @param topics numbers or names of topics; `NULL` for all.
#' @param level probability of the equal-tailed intervals.
#' @param ndraws how many draws of \eqn{\theta} the further chain makes. All draws of a fit with `prevalence` are used.
#' @param x a table of effects.
#' @param main title of the picture.
#' @param ... must be empty: a misspelt argument is an error.
#' @inheritParams computing_arguments
#' @return A data frame of class `topic_effects` with a row for each topic and coefficient, or for each topic and row of
#'   `at`: `topic`, `name` (if you have set [topic_names()]), `term`, `estimate` (mean), `se` (standard deviation),
#'   `lower`, `upper`, and of several chains with `prevalence` also `rhat`. Documents without tokens or with missing
#'   covariates do not count. `plot()` shows the intervals, without the intercept.
#' @section Errors:
#' `warpbayes_error_input` for a formula or data that cannot be used.
#' @references
#' Mimno, D. and McCallum, A. (2008). Topic models conditioned on arbitrary features with Dirichlet-multinomial
#' regression. *Proceedings of UAI*, 411-418.
#'
#' Rubin, D. B. (1981). The Bayesian bootstrap. *Annals of Statistics* **9**, 130-134.
#'
#' Treier, S. and Jackman, S. (2008). Democracy as a latent variable. *American Journal of Political Science* **52**,
#' 201-217.
#' @seealso [topic_model()]
#' @examples
#' set.seed(1)
#' subject <- rbind(c(3, 3, 0, 1), c(0, 1, 3, 3))
#' party <- rep(c("left", "right"), each = 30)
#' second <- runif(60) < rep(c(0.3, 0.7), each = 30)
#' x <- t(sapply(1:60, function(d) rmultinom(1, 30, subject[1 + second[d], ])))
#' fit <- topic_model(x, topics = 2, prevalence = ~ party, iter = 60, chains = 1, seed = 1,
#'   threads = 2)
#' topic_effects(fit)
#' topic_effects(fit, at = data.frame(party = c("left", "right")))
#' topic_effects(fit, ~ second, ndraws = 20, seed = 1, threads = 2)
#' @export
topic_effects <- function(fit, formula = NULL, data = NULL, at = NULL, topics = NULL, level = 0.9, ndraws = 100,
                          seed = NULL, backend = NULL, threads = NULL, ...) {
  check_method(fit, "fit", ...)
  refuse_mixture(fit, "fit", "regress predict(fit, type = \"class\") on covariates")
  level <- check_number(level, "level", 0, 1)
  ndraws <- check_count(ndraws, "ndraws", min = 2)
  topics <- chosen_topics(fit, topics)
  own <- is.null(formula) && !is.null(fit$prevalence)
  if (own && !is.null(data)) stop_input("data", "is of no use without `formula`: the fit has its covariates")
  if (own && kept_draws(fit$iter, fit) < 2) {
    stop_input("fit", "has kept fewer than two draws: continue(fit, 100) runs more sweeps")
  }
  if (is.null(formula) && !own) stop_input("formula", "is missing: it has the covariates, such as ~ party")
  design <- if (own) fit$prevalence else covariate_design(formula, data, fit, "formula")
  rows <- if (is.null(at)) {
    diag(1, ncol(design$x))
  } else {
    effect_rows(design, at)
  }
  labels <- if (is.null(at)) colnames(design$x) else row_labels(at)
  drawn <- if (own) {
    fit$draws$effects[, , , fit$reference, drop = FALSE]
  } else {
    check_topic_state(fit)
    run <- resolve_run(backend, threads)
    draw_effects(fit, design, ndraws, run, check_seed(seed))
  }
  count <- length(drawn) %/% (ncol(design$x) * fit$topics)
  drawn <- array(drawn, c(ncol(design$x), fit$topics, count))
  effects <- array(apply(drawn[, topics, , drop = FALSE], 3L, function(draw) rows %*% draw),
    c(nrow(rows), length(topics), count))
  # Differences of shares that are equal are off by rounding.
  effects[abs(effects) < 1e-12] <- 0
  tails <- c((1 - level) / 2, (1 + level) / 2)
  summaries <- apply(effects, 1:2, function(values) {
    c(mean(values), stats::sd(values), stats::quantile(values, tails, names = FALSE, type = 6))
  })
  table <- data.frame(topic = rep(topics, each = nrow(rows)), term = rep(labels, length(topics)))
  table <- with_names(table, fit)
  columns <- intersect(c("topic", "name", "term"), names(table))
  parts <- matrix(summaries, 4L)
  table <- data.frame(table[columns], estimate = parts[1L, ], se = parts[2L, ], lower = parts[3L, ],
    upper = parts[4L, ])
  if (own && fit$chains > 1) table$rhat <- as.vector(effect_rhat(fit, rows)[, topics])
  structure(
    table,
    level = level, documents = nrow(design$x), labels = marked_labels(fit, topics), star = star_words(fit, topics),
    expected = !is.null(at), class = c("topic_effects", "warpbayes", "data.frame")
  )
}

chosen_topics <- function(fit, topics) {
  if (is.null(topics)) return(sort(used_topics(fit)))
  at <- if (is.character(topics)) match(topics, fit$topic_names) else topics
  if (!is.numeric(at) || length(at) == 0L || anyNA(at) || !all(at %in% seq_len(fit$topics))) {
    stop_input("topics", "must be numbers or names of the fit's ", fit$topics, " topics, not ", show_value(topics))
  }
  as.integer(at)
}

# The draws of the effects, coefficients x topics x draws, from a chain that begins where the reference chain stands.
draw_effects <- function(fit, design, ndraws, run, seed) {
  state <- fit$state[[fit$reference]]
  fit$prevalence <- design
  fit$learn$alpha <- "prevalence"
  fit$method <- "gibbs"
  fit$keep <- character()
  # Coefficients are drawn before every other sweep.
  fit$thin <- 2
  fit$warmup <- effect_warmup
  start <- c(start_state(fit, state$topics, fit$alpha, state$beta), list(key = chain_key(seed, 0), sweep = 0))
  sweeps <- effect_warmup + fit$thin * ndraws
  together <- fit$thin * topic_kept_together(fit)
  with_topics(fit, run, fit_structure(fit), function(session) {
    effects <- list()
    while (start$sweep < sweeps) {
      count <- min(sweeps, max(effect_warmup, start$sweep + together)) - start$sweep
      slice <- topic_step(fit)(list(session), list(start), count, start$sweep + count > effect_warmup)[[1L]]
      effects <- c(effects, list(slice$draw$effects))
      start <- slice$state
      start$sweep <- start$sweep + count
    }
    unlist(effects)
  })
}

# Sweeps before the first draw.
effect_warmup <- 100

# Rhat of rows of effects by topic. NA where it is not known, or where some chain does not find the topic.
effect_rhat <- function(fit, rows) {
  rhat <- matrix(NA_real_, nrow(rows), fit$topics)
  draws <- fit$draws$effects
  size <- dim(draws)
  if (size[[3L]] < 12L || is.null(found_topics(fit))) return(rhat)
  for (k in which(found_topics(fit) == 1)) {
    values <- vapply(seq_len(fit$chains), function(chain) {
      rows %*% matrix(draws[, fit$agreement$match[k, chain], , chain], size[[1L]])
    }, matrix(0, nrow(rows), size[[3L]]))
    rhat[, k] <- apply(array(values, c(nrow(rows), size[[3L]], fit$chains)), 1L, split_rhat)
  }
  rhat
}

# Whether chains agree on the effects of topics that all find.
effect_agreement <- function(fit) {
  if (is.null(fit$prevalence) || fit$chains == 1L) return(NULL)
  terms <- colnames(fit$prevalence$x)
  rhat <- effect_rhat(fit, diag(1, length(terms)))
  if (all(is.na(rhat))) return(NULL)
  worst <- arrayInd(which.max(rhat), dim(rhat))
  c(sprintf("The effects on topics that all find have Rhat of at most %s (topic %s, %s).", format(signif(max(rhat,
    na.rm = TRUE), 3)), topic_labels(fit, worst[[2L]]), terms[[worst[[1L]]]]),
  if (max(rhat, na.rm = TRUE) > 1.1) {
    "Chains differ in effects: each has intervals for its own topics, and another start would give other ones."
  })
}

effect_rows <- function(design, at) {
  if (!is.data.frame(at) || nrow(at) == 0L) {
    stop_input("at", "must be a data frame with values of the covariates, not ", show_value(at))
  }
  frame <- new_frame(design, design$terms, at, "at")
  check_frame(frame, "at")
  stats::model.matrix(design$terms, frame, contrasts.arg = design$contrasts)
}

# The values of each row, such as party = left, day = 3.
row_labels <- function(at) {
  text <- Map(function(name, values) {
    paste(name, "=", if (is.numeric(values)) format(signif(values, 4), trim = TRUE) else as.character(values))
  }, names(at), at)
  do.call(paste, c(unname(text), sep = ", "))
}

in_console.topic_effects <- function(x, n = 40, ...) {
  check_dots_empty(...)
  n <- check_count(n, "n")
  print_lines(sprintf("%s of topics in %s, with intervals of %s%%",
    if (isTRUE(attr(x, "expected"))) "Expected shares" else "Effects on the shares",
    count_words(attr(x, "documents"), "document"), format(100 * attr(x, "level"))))
  print(utils::head(plain_frame(x), n), digits = 3, row.names = FALSE)
  if (nrow(x) > n) cat(sprintf("  and %s; print(x, n = %s) shows all\n", count_words(nrow(x) - n, "more row"), nrow(x)))
  print_lines(attr(x, "star"))
}

#' @rdname topic_effects
#' @export
plot.topic_effects <- function(x, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  paint_picture(topic_effects_picture(x, main))
  invisible(x)
}

# Intervals of all terms but the intercept, topic by topic.
topic_effects_picture <- function(x, main) {
  table <- plain_frame(x)
  label <- if (is.null(table$name)) paste("Topic", table$topic) else table$name
  rows <- if (isTRUE(attr(x, "expected"))) rep(TRUE, nrow(table)) else table$term != "(Intercept)"
  if (!any(rows)) rows <- rep(TRUE, nrow(table))
  topics <- unique(table$topic[rows])
  shown <- utils::head(topics, 50L %/% max(1L, sum(table$topic[rows] == topics[[1L]])) + 1L)
  rows <- rows & table$topic %in% shown
  caption <- sprintf("mean and %s%% interval", format(100 * attr(x, "level")))
  if (length(shown) < length(topics)) {
    caption <- sprintf("%s; the first %d of %d topics", caption, length(shown), length(topics))
  }
  what <- if (isTRUE(attr(x, "expected"))) "Expected share of the topic" else "Change of the share of the topic"
  interval_picture(data.frame(name = paste(label, table$term, sep = ": ")[rows], estimate = table$estimate[rows],
    lower = table$lower[rows], upper = table$upper[rows], colour = bar_colour), main, paste0(what, "\n", caption))
}
