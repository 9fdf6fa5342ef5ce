# How shares of topics depend on what is known of the documents: regressions of topic shares, with intervals.

#' Effects on the shares of topics
#'
#' Regresses the shares of topics in documents on covariates, such as the party of the author or the day.
#' `topic_effects(fit)` reads the effects from the draws of a fit with `prevalence`. For another fit or `formula`, each
#' chain goes on with the covariates for 100 sweeps, and then makes its part of the draws.
#' @section Model:
#' The prior depends on the covariates \eqn{x_d} of a document: \eqn{\theta_d \sim \mathrm{Dir}(\alpha_d)}{theta_d ~
#' Dir(alpha_d)} with \eqn{\log \alpha_{dk} = x_d' \lambda_k}{log alpha_dk = x_d' lambda_k} (Mimno and McCallum 2008,
#' *UAI*, 411-418).
#' The priors of \eqn{\lambda} are N(0, 5^2) for intercepts and N(0, 2.5^2) for other coefficients, of covariates
#' divided by their range if they have two values, and otherwise by two standard deviations.
#'
#' For each draw of \eqn{\theta}, the shares \eqn{\theta_{dk}} are regressed on the covariates by least squares, with
#' random exponential weights of the documents (the Bayesian bootstrap, Rubin 1981, *Annals of Statistics* 9, 130-134).
#' The estimates of all draws are the posterior of the effects (Treier and Jackman 2008, *American Journal of Political
#' Science* 52, 201-217). `s(day)` is a natural cubic spline with `k = 5` knots; `s(day, k = 8)` bends more often.
#' @inheritParams topic_names
#' @param formula the covariates, such as `~ party + s(day)`; `NULL`: the covariates of `prevalence`.
#' @param data a data frame with the covariates and a row for each document, which is found by its [name][joining].
#' @param at `NULL` for the coefficients of the formula, or a data frame with values of the covariates for which the
#'   expected shares are wanted.
#' @param topics numbers or names of topics; `NULL` for all.
#' @param level probability of the equal-tailed intervals.
#' @param ndraws how many draws of \eqn{\theta} the chains make. All draws of a fit with `prevalence` are used.
#' @param x a table of effects.
#' @param main title of the picture.
#' @inheritParams computing_arguments
#' @return A data frame of class `topic_effects` with a row for each topic and coefficient, or for each topic and row of
#'   `at`: `topic`, `name` (if you have set [topic_names()]), `term`, `estimate` (mean), `se` (standard deviation),
#'   `lower`, `upper`. Of several chains also `chains`, how many find the topic; `rhat`; and `differ`, whether these
#'   chains differ by more than chance. Documents without tokens or with missing covariates do not count. `plot()` shows
#'   the intervals, without the intercept.
#' @examples
#' day <- 1:60
#' words <- function(late) if (late) c(3, 3, 0, 1) else c(0, 1, 3, 3)
#' x <- t(sapply(day, function(d) rmultinom(1, 30, words(runif(1) < d / 60))))
#' fit <- topic_model(x, topics = 2, prevalence = ~ day, iter = 60, chains = 1, seed = 1, threads = 2)
#' topic_effects(fit)
#' @export
topic_effects <- function(fit, formula = NULL, data = NULL, at = NULL, topics = NULL, level = 0.9, ndraws = 100,
                          seed = NULL, backend = NULL, threads = NULL, ...) {
  check_method(fit, "fit", ...)
  refuse_mixture(fit, "fit", "regress predict(fit, type = \"class\") on covariates")
  level <- check_number(level, "level", 0, 1)
  ndraws <- check_count(ndraws, "ndraws", min = 2)
  topics <- chosen_topics(fit, topics)
  if (!is.null(formula)) {
    design <- covariate_design(formula, data, fit, "formula")
  } else if (is.null(fit$prevalence)) {
    stop_input("formula", "is missing: it has the covariates, such as ~ party")
  } else {
    if (!is.null(data)) stop_input("data", "is of no use without `formula`: the fit has its covariates")
    if (kept_draws(fit$iter, fit) < 2) stop_input("fit", "has kept fewer than two draws: continue(fit, 100) adds more")
    design <- fit$prevalence
  }
  rows <- effect_rows(design, at)
  drawn <- if (is.null(formula)) fit$draws$effects else draw_effects(fit, design, ndraws, backend, threads, seed)
  draws <- topic_effect_draws(fit, drawn, rows, topics, !is.null(at))
  table <- do.call(rbind, lapply(seq_along(draws), function(i) {
    values <- matrix(draws[[i]], ncol = nrow(rows))
    ends <- apply(values, 2L, stats::quantile, interval_ends(level), names = FALSE, type = 6)
    data.frame(topic = topics[[i]], term = rownames(rows), estimate = colMeans(values),
      se = apply(values, 2L, stats::sd), lower = ends[1L, ], upper = ends[2L, ], row.names = NULL)
  }))
  table <- columns_first(with_names(table, fit), c("topic", "name", "term"))
  convergence <- effect_convergence(draws)
  if (fit$chains > 1) {
    table$chains <- rep(vapply(draws, ncol, 1L), each = nrow(rows))
    table[c("rhat", "differ")] <- convergence[c("rhat", "differ")]
  }
  fewer <- topics[vapply(draws, ncol, 1L) < fit$chains]
  verdict <- new_verdict("the effects", effect_reason(convergence, fit), if (!is.null(at)) outside_reason(design, at),
    if (length(fewer)) reason("effects_missed", quantity = topic_labels(fit, fewer), figure = length(fewer)),
    few_reason(design$x, rows), rests_on = list(verdict(fit)))
  structure(table, level = level, documents = nrow(design$x), star = star_words(fit, topics),
    expected = !is.null(at), verdict = verdict, class = c("topic_effects", "warpbayes", "data.frame"))
}

chosen_topics <- function(fit, topics) {
  if (is.null(topics)) return(sort(used_topics(fit)))
  at <- if (is.character(topics)) match(topics, fit$topic_names) else topics
  if (!is.numeric(at) || length(at) == 0L || anyNA(at) || !all(at %in% seq_len(fit$topics))) {
    stop_input("topics", "must be numbers or names of the fit's ", fit$topics, " topics, not ", show_value(topics))
  }
  as.integer(at)
}

# Draws of effects, coefficients x topics x draws x chains, from chains that begin where those of the fit stand.
draw_effects <- function(fit, design, ndraws, backend, threads, seed) {
  check_topic_state(fit)
  seed <- check_seed(seed)
  other <- fit
  other$learn$alpha <- "prevalence"
  # Coefficients are drawn before every other sweep.
  other[c("prevalence", "method", "keep", "thin", "warmup")] <- list(design, "gibbs", character(), 2, effect_warmup)
  each <- ceiling(ndraws / fit$chains)
  together <- other$thin * topic_kept_together(other)
  sweeps <- effect_warmup + other$thin * each
  drawn <- with_topics(other, resolve_run(backend, threads), function(session) {
    lapply(seq_len(fit$chains), function(chain) {
      state <- fit$state[[chain]]
      alpha <- fit$alpha[order(matched_topics(fit, chain))]
      # The chains of a fit count from 1.
      key <- chain_key(seed, if (chain == fit$reference) 0 else fit$chains + chain)
      start <- c(start_state(other, state$topics, alpha, state$beta), list(key = key, sweep = 0))
      effects <- list()
      most <- 1
      while (start$sweep < sweeps) {
        end <- start$sweep + min(sweeps - start$sweep, together, most)
        seconds <- system.time(gcFirst = FALSE, {
          slice <- topic_step(other)(list(session), list(start), end - start$sweep, end > effect_warmup)[[1L]]
        })[["elapsed"]]
        most <- max(1, floor((end - start$sweep) * 0.2 / max(seconds, 1e-3)))
        effects <- c(effects, list(slice$draw$effects))
        start <- slice$state
        start$sweep <- end
        let_stop()
      }
      unlist(effects)
    })
  })
  array(unlist(drawn), c(ncol(design$x), fit$topics, each, fit$chains))
}

effect_warmup <- 100

# For each of `topics` the draws of rows of coefficients, draws x chains x rows, of the chains that find it. `drawn` is
# from draw_effects() or a fit. `expected`: the rows are shares, which lie in [0, 1] and sum to one.
topic_effect_draws <- function(fit, drawn, rows, topics, expected = FALSE) {
  size <- dim(drawn)
  of_chain <- lapply(seq_len(size[[4L]]), function(chain) {
    values <- array(rows %*% matrix(drawn[, , , chain], size[[1L]]), c(nrow(rows), size[2:3]))
    # Differences of shares that are equal are off by rounding.
    values[abs(values) < 1e-12] <- 0
    if (!expected) return(values)
    values[values < 0] <- 0
    sweep(values, c(1L, 3L), apply(values, c(1L, 3L), sum), "/")
  })
  lapply(stats::setNames(topics, topics), function(topic) {
    chains <- finding_chains(fit, topic)
    values <- lapply(chains, function(chain) of_chain[[chain]][, matched_topics(fit, chain)[[topic]], ])
    values <- aperm(array(unlist(values), c(nrow(rows), size[[3L]], length(chains))), c(2L, 3L, 1L))
    dimnames(values)[[3L]] <- rownames(rows)
    values
  })
}

# Rhat of effects, and whether chains differ in them by more than chance; NA for one chain or too few draws.
effect_convergence <- function(draws) {
  term <- dimnames(draws[[1L]])[[3L]]
  quantities <- unlist(lapply(draws, function(values) {
    lapply(seq_along(term), function(row) matrix(values[, , row], nrow(values)))
  }), recursive = FALSE)
  has_rhat <- nrow(draws[[1L]]) >= fewest_sweeps && ncol(draws[[1L]]) > 1L
  rhat <- if (has_rhat) diagnose_quantities(quantities)$rhat else rep(NA_real_, length(quantities))
  data.frame(topic = rep(as.integer(names(draws)), each = length(term)), term = term, rhat = rhat,
    differ = differing(quantities, data.frame(rhat = rhat)))
}

effect_rows <- function(design, at = NULL) {
  if (is.null(at)) return(structure(diag(ncol(design$x)), dimnames = list(colnames(design$x), NULL)))
  if (!is.data.frame(at) || nrow(at) == 0L) {
    stop_input("at", "must be a data frame with values of the covariates, not ", show_value(at))
  }
  frame <- new_frame(design, design$terms, at, "at")
  check_frame(frame, "at")
  rows <- stats::model.matrix(design$terms, frame, contrasts.arg = design$contrasts)
  # The values of each row, such as party = left, day = 3.
  read <- names(at) %in% all.vars(design$terms)
  if (any(read)) at <- at[read]
  text <- Map(function(name, values) {
    words <- if (is.numeric(values)) format(signif(values, 4), trim = TRUE) else as.character(values)
    paste(name, "=", if (is.matrix(values)) apply(matrix(words, nrow(values)), 1L, paste, collapse = ", ") else words)
  }, names(at), at)
  rownames(rows) <- do.call(paste, c(unname(text), sep = ", "))
  rows
}

effect_reason <- function(table, fit) {
  if (all(is.na(table$rhat))) return(NULL)
  worst <- table[which.max(table$rhat), ]
  reason(if (any(table$differ)) "topic_effects_differ" else "topic_effects_agree", figure = sum(table$differ),
    all = nrow(table), quantity = paste0("topic ", topic_labels(fit, worst$topic), ", ", worst$term),
    rhat = format_rhat(worst$rhat))
}

# The Bayesian bootstrap misses 1/n of the variance of a group of n documents.
most_variance_missed <- 0.15

few_reason <- function(x, rows) {
  basis <- orthonormal(x)
  weight <- (basis$q %*% backsolve(basis$r, t(rows), transpose = TRUE))^2
  few <- rownames(rows)[colSums(weight * rowSums(basis$q^2)) > most_variance_missed * colSums(weight)]
  if (length(few)) reason("effects_few", quantity = list_some(few), figure = length(few))
}

effects_title <- function(x) {
  sprintf("%s in %s, with intervals of %s%%",
    if (isTRUE(attr(x, "expected"))) "Expected shares of topics" else "Effects on the shares of topics",
    count_words(attr(x, "documents"), "document"), format(100 * attr(x, "level")))
}

shown_effects <- function(x) {
  table <- plain_frame(x)
  if (any(table$differ)) table$note <- ifelse(table$differ, "chains differ", "")
  left_out <- c("differ", if (all(table$chains == max(table$chains, 0))) "chains", if (all(is.na(table$rhat))) "rhat")
  table[setdiff(names(table), left_out)]
}

# What is left of a table whose columns were chosen is a data frame.
in_console.topic_effects <- function(x, n = 40, ...) {
  check_dots_empty(...)
  n <- check_count(n, "n")
  if (is.null(attr(x, "verdict"))) return(print(plain_frame(x)))
  print_lines(effects_title(x))
  print(utils::head(shown_effects(x), n), digits = 3, row.names = FALSE)
  print_rest(nrow(x), min(n, nrow(x)), "print(x, n = %s) shows all", "more row")
  print_lines(attr(x, "star"))
  print_verdict(verdict(x))
}

#' @rdname tidiers
#' @method tidy topic_effects
#' @exportS3Method generics::tidy topic_effects
tidy.topic_effects <- function(x, ...) {
  check_dots_empty(...)
  table <- plain_frame(x)
  names(table) <- sub("^se$", "std.error", sub("^lower$", "conf.low", sub("^upper$", "conf.high", names(table))))
  as_table(table)
}

glance_of.topic_effects <- function(x) {
  data.frame(documents = attr(x, "documents"), topics = length(unique(x$topic)), terms = length(unique(x$term)),
    level = attr(x, "level"), rhat = extreme(c(x$rhat, NA), max), verdict = verdict(x)$answer)
}

plain_picture.topic_effects <- function(x, main) {
  table <- plain_frame(x)
  label <- if (is.null(table$name)) paste("Topic", table$topic) else table$name
  expected <- isTRUE(attr(x, "expected"))
  rows <- expected | table$term != "(Intercept)" | all(table$term == "(Intercept)")
  topics <- unique(table$topic[rows])
  shown <- utils::head(topics, 50L %/% sum(table$topic[rows] == topics[[1L]]) + 1L)
  caption <- sprintf("%s share of the topic\nmean and %s%% interval",
    if (expected) "Expected" else "Change of the", format(100 * attr(x, "level")))
  if (length(shown) < length(topics)) {
    caption <- sprintf("%s; the first %d of %d topics", caption, length(shown), length(topics))
  }
  marks <- data.frame(name = paste(label, table$term, sep = ": "), table[c("estimate", "lower", "upper")],
    colour = bar_colour)
  if (any(table$differ)) marks$right <- ifelse(table$differ, "chains differ", "")
  with_answer_below(interval_picture(marks[rows & table$topic %in% shown, ], main, caption), verdict(x))
}
