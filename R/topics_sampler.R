# The sampler of topic models: how a chain begins, its sweeps, and what is averaged and kept.

topic_start <- function(fit, alpha, beta, run) {
  function(key) {
    # Merged topics have arbitrary numbers, so only seed words, which number them, may tell one topic from another.
    merges <- fit$start == "merged" && fit$topics > 1 && (is.null(fit$prior_counts) || isTRUE(fit$seeds_alone)) &&
      length(unique(alpha)) == 1L
    if (merges && kind_of(fit)$number_learned && is.null(fit$prior_counts)) {
      number <- process_start_number(fit, key, run)
      # The other topics are empty.
      alpha[] <- ifelse(seq_len(fit$topics) <= number, min(1, 5 / number), 1e-3)
      fit$topics <- number
    }
    topics <- if (merges) merged_topic_start(fit, key, run)
    if (!merges || !is.null(fit$prior_counts)) {
      topics <- with_topics(fit, run, function(session) {
        first <- if (merges) numbered_by_seeds(fit, topics) else native(C_topic_start, session, key)
        if (is.null(fit$prior_counts)) return(first)
        of_groups <- rep_len(alpha, fit$topics * max(1L, nlevels(document_groups(fit))))
        informed_start(session, fit, key, first, of_groups, beta, merges)
      })
    }
    start_state(fit, topics, alpha, beta)
  }
}

# A chain's state before its first sweep. With covariates all documents begin with these alphas.
start_state <- function(fit, topics, alpha, beta) {
  state <- list(topics = topics, alpha = alpha, beta = beta, sums = NULL, kept = 0, added = 0)
  if (kind_of(fit)$one_topic) state$alpha <- rep(unigram_alpha / fit$topics, fit$topics)
  if (!is.null(fit$prevalence)) {
    state$coefficients <- rbind(pmax(log(alpha), -10), matrix(0, ncol(fit$prevalence$basis) - 1L, length(alpha)))
    state$alpha <- rep(exp(state$coefficients[1L, ]), nlevels(fit$prevalence$group))
  }
  state
}

topic_plan <- function(fit) {
  k <- fit$topics
  design <- fit$prevalence
  parts <- list(
    alpha = if (fit$learn$alpha != "none") stored(k), tokens = if (kind_of(fit)$number_learned) stored(k),
    effects = if (!is.null(design)) stored(c(ncol(design$x), k), names = list(colnames(design$x), NULL)),
    coefficients = if (!is.null(design)) stored(c(ncol(design$basis), k)),
    # beta is always stored, because sweeps are averaged only if there are draws to keep.
    beta = stored(),
    phi = if ("phi" %in% fit$keep) stored(c(k, length(fit$terms)), names = list(NULL, fit$terms)),
    theta = if ("theta" %in% fit$keep) stored(c(k, length(fit$documents)), names = list(NULL, fit$documents))
  )
  list(traces = list(log_likelihood = stored(), alpha_sum = stored(), beta_trace = stored()),
    draws = Filter(Negate(is.null), parts))
}

topic_sampler <- function(fit) {
  k <- fit$topics
  c(topic_plan(fit), list(
    # The sums of theta, first topics and phi, and each token's topic.
    state_bytes = 8 * as.double(k) * (2 * length(fit$documents) + length(fit$terms)) + 2 * sum(fit$document_tokens),
    open = function(run) open_topics(fit$x, k, fit$precision, run, fit_structure(fit)),
    close = function(session) .Call(C_session_close, session), step = topic_step(fit), together = TRUE,
    several = topic_kept_together(fit), finish = topic_finish
  ))
}

# What a slice keeps until it ends may take so many bytes, unless one draw takes more.
topic_slice_bytes <- 4e6

topic_kept_together <- function(fit) {
  size <- c(theta = length(fit$documents), phi = length(fit$terms))
  kept <- union(fit$keep, if (!is.null(fit$prevalence)) "theta")
  bytes <- 2 * sum(fit$document_tokens) +
    8 * fit$topics * (sum(size[kept]) + max(1, nlevels(document_groups(fit))) + 1)
  max(1, floor(topic_slice_bytes / bytes))
}

# The sums of a chain are in a store that entries add to. Each run has its own store, in an environment of the state, so
# the fit that it continues keeps its sums. Kept sweeps are added when the chain goes on, or at the end. Until then
# their topics, alpha and beta are `pending`. `added` prevents double counting after a rollback.
topic_step <- function(fit) {
  kind <- kind_of(fit)
  method <- as.integer(c(fit$method == "mean_for_mode", kind$number, fit$learn$beta))
  design <- fit$prevalence
  want <- c("theta", "phi") %in% c(fit$keep, if (!is.null(design)) "theta")
  last <- c("topics", "alpha", "beta", if (!is.null(design)) "coefficients")
  function(sessions, states, sweeps, keep) {
    states <- add_pending(sessions, fit, states)
    numbers <- c(sweeps, kept_in_slice(fit, states, sweeps))
    count <- numbers[[4L]]
    slices <- native(C_topic_sweeps, Map(function(session, state) {
      list(session, state$topics, state$alpha, state$beta, state$coefficients, state$key, state$sweep + 1,
        as.integer(numbers), method, fit$prior, want)
    }, sessions, states))
    Map(function(state, slice) {
      state[last] <- slice[last]
      kept <- slice$kept
      # Added to the sums when the chain goes on.
      state$pending <- if (keep) kept[c("topics", "alpha", "beta")]
      state$kept <- state$kept + count
      draw <- kept[c("alpha", "beta", fit$keep)]
      if (kind$one_topic) {
        draw$alpha <- draw$alpha / unigram_alpha
        slice$alpha_sum[] <- 1
      }
      if (!is.null(design) && keep) {
        # alpha at mean covariates; effects come as coefficients of the frame.
        draw$alpha <- prevalence_alpha(matrix(kept$coefficients, ncol(design$basis))[1L, ])
        draw$coefficients <- kept$coefficients
        draw$effects <- as.vector(solve_upper(orthonormal(design$x)$r, matrix(kept$effects, ncol(design$x))))
      }
      if (kind$number_learned && keep) {
        draw$tokens <- as.double(topic_sizes(asplit(matrix(kept$topics, ncol = count), 2L), fit$topics))
      }
      list(state = state, traces = slice[c("log_likelihood", "alpha_sum", "beta_trace")], draw = if (keep) draw)
    }, states, slices)
  }
}

# The numbers of tokens of topics: topics x sets of topics of tokens.
topic_sizes <- function(sets, topics) {
  matrix(vapply(sets, function(set) tabulate(topic_numbers(set), topics), integer(topics)), topics)
}

# Several sessions add at the same time.
add_pending <- function(sessions, fit, states) {
  states <- lapply(states, function(state) {
    if (is.environment(state$sums)) return(state)
    old <- state$sums
    size <- fit$topics * c(theta = length(fit$documents), first = length(fit$documents), phi = length(fit$terms))
    sums <- if (is.null(old)) list(added = 0, share = numeric(), score = numeric()) else old
    state$sums <- list2env(c(sums[c("added", "share", "score")], list(store = new_sums(size))), parent = emptyenv())
    if (!is.null(old)) fill_store(list(pointer = state$sums$store), 0, size, old[names(size)], size, size)
    state
  })
  due <- which(vapply(states, function(state) state$sums$added < state$kept, NA))
  if (length(due)) {
    made <- native(C_topic_add_means, Map(function(session, state) {
      list(session, state$pending$topics, state$pending$alpha, state$pending$beta, state$sums$store, state$sums$added)
    }, sessions[due], states[due]))
    Map(function(state, made) {
      state$sums$share <- c(state$sums$share, made[-nrow(made), ])
      scored <- (state$sums$added + seq_len(ncol(made))) %% score_every == 0
      state$sums$score <- c(state$sums$score, made[nrow(made), scored])
    }, states[due], made)
  }
  lapply(states, function(state) {
    state$sums$added <- state$kept
    state$pending <- NULL
    state
  })
}

topic_finish <- function(fit) {
  closed <- with_topics(fit, resolve_run("cpu", 1), function(session) {
    lapply(fit$state, function(state) {
      state <- add_pending(list(session), fit, list(state))[[1L]]
      sums <- c(native(C_store_close, state$sums$store), mget(c("added", "share", "score"), state$sums))
      state$sums <- sums
      if (sums$added == 0) {
        # Before the first kept sweep: the means given the present topics.
        means <- new_sums(lengths(sums[c("theta", "first", "phi")]))
        native(C_topic_add_means, list(list(session, state$topics, state$alpha, state$beta, means, 0)))
        sums <- c(native(C_store_close, means), added = 1)
      }
      mean_of <- function(sum, names) matrix(sum / sums$added, fit$topics, dimnames = list(fit$topic_names, names))
      list(state = state, phi = mean_of(sums$phi, fit$terms), theta = t(mean_of(sums$theta, fit$documents)))
    })
  })
  fit$state <- lapply(closed, `[[`, "state")
  fit["score"] <- list(topic_scores(fit))
  scored <- NROW(fit$score) >= fewest_sweeps
  fit$reference <- if (fit$chains == 1) 1L else which.max(if (scored) colMeans(fit$score) else chain_levels(fit))
  fit[c("phi", "theta")] <- closed[[fit$reference]][c("phi", "theta")]
  state <- fit$state[[fit$reference]]
  fit$alpha <- if (length(fit$draws$alpha)) {
    rowMeans(matrix(fit$draws$alpha[, , fit$reference], fit$topics))
  } else if (!is.null(state$coefficients)) {
    prevalence_alpha(state$coefficients[1L, ])
  } else {
    if (is.null(fit$groups)) state$alpha else fit$alpha
  }
  fit$beta <- if (fit$learn$beta && length(fit$draws$beta)) mean(fit$draws$beta[, fit$reference]) else state$beta
  fit$chain_phi <- if (fit$chains > 1) lapply(closed, `[[`, "phi")
  fit$tokens <- topic_sizes(lapply(fit$state, `[[`, "topics"), fit$topics)
  # What relabel() added is of fewer sweeps.
  fit[c("agreement", "match", "found", "averaged", "unexplained")] <- NULL
  if (fit$chains > 1) fit$agreement <- agreement_of(fit, most_matched)
  fit$unexplained <- unexplained_documents(fit)
  fit
}

# Every so many kept sweeps are scored, as entries do it: scores take about as long as averages.
score_every <- 4

# The scores (src/topic_model/means.c), with the prior of what is learned, scored sweeps x chains. NULL: unknown.
topic_scores <- function(fit) {
  count <- kept_draws(fit$iter, fit) %/% score_every
  if (fit$method != "gibbs" || kind_of(fit)$one_topic || count == 0) return(NULL)
  some <- score_every * seq_len(count)
  draws <- list(alpha = fit$draws$alpha[, some, , drop = FALSE], beta = fit$draws$beta[some, , drop = FALSE],
    coefficients = fit$draws$coefficients[, , some, , drop = FALSE])
  gamma <- function(x, prior, shape = prior[[1L]]) shape * (log(x) + log(prior[[2L]])) - prior[[2L]] * x - lgamma(shape)
  prior <- switch(fit$learn$alpha, none = 0, symmetric = gamma(draws$alpha[1L, , ], fit$prior),
    asymmetric = colSums(gamma(draws$alpha, fit$prior)),
    hdp = {
      of_shape <- lapply(fit$prior[[1L]] * 2^(-2:6), function(shape) {
        colSums(gamma(draws$alpha, fit$prior, shape / fit$topics))
      })
      top <- do.call(pmax, of_shape)
      top + log(Reduce(`+`, lapply(of_shape, function(value) exp(value - top))))
    },
    prevalence = -0.5 * colSums((draws$coefficients / c(5, rep(2.5, nrow(draws$coefficients) - 1L)))^2, dims = 2L))
  beta <- if (fit$learn$beta) gamma(draws$beta, fit$prior[3:4]) else 0
  score <- vapply(fit$state, function(state) state$sums$score, numeric(count))
  matrix(score + as.vector(prior) + as.vector(beta), ncol = fit$chains)
}

chain_levels <- function(fit) {
  after <- seq_len(fit$iter) > fit$warmup
  colMeans(fit$log_likelihood[if (any(after)) after else TRUE, , drop = FALSE])
}

topic_cost <- function(documents, pairs, topics, sweeps) {
  operations <- as.double(documents) * topics * 5 + pairs * (topics / 4 + 20)
  sweep <- call_cost(serial = 1e-4, parallel = operations * 4e-9, most = 1 + operations / 2e5,
    fixed = 3.5e-4, memory = operations * 1.25e-10)
  times_cost(sweeps, sweep, 4 * pairs)
}

fit_cost.topic_model <- function(fit, sweeps) {
  topic_cost(length(fit$documents), length(fit$x$count), fit$topics, sweeps * fit$chains)
}
