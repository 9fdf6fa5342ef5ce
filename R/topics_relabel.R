# Gives topics the same numbers in all draws and chains.

#' Match the numbers of topics over draws and chains
#'
#' Chains number the same topics differently. `relabel()` gives them the numbers of the reference chain. The topics of
#' each chain are matched one to one, so that the total variation distance between their terms, summed over topics, is
#' least. If `phi` was kept, each draw is matched on its own. Topics whose priors differ keep their numbers.
#'
#' With `average = TRUE` topics that all chains share become averages over chains, if these predict the words of fitted
#' documents better than the reference chain, by at least one standard error of [perplexity()].
#' @inheritParams topic_names
#' @param average whether topics that all chains find become averages over all chains.
#' @return The fit with topics renumbered, and with
#'   \item{match}{topics x chains: the number that each topic of the reference had in each chain.}
#'   \item{found, averaged}{for each topic, the share of the other chains that find it (see [topic_stability()]), and
#'     whether it is an average over chains.}
#'
#' With one chain `found` is `NA`, and the draws are averaged if `phi` and `theta` were kept.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' fit <- topic_model(x, topics = 2, iter = 60, chains = 3, seed = 1, threads = 2)
#' relabel(fit)$found
#' @export
relabel.topic_model <- function(fit, average = TRUE, ...) {
  check_method(fit, "fit", ...)
  average <- check_flag(average, "average")
  k <- fit$topics
  fit$agreement <- agreement_of(replace(fit, "agreement", list(NULL)))
  fit$match <- fit$agreement$match
  fit$found <- if (fit$chains == 1) rep(NA_real_, k) else found_topics(fit)
  for (chain in seq_len(fit$chains)) fit <- renumber_chain(fit, chain, fit$match[, chain])
  fit$agreement$match[] <- seq_len(k)
  fit$averaged <- rep(FALSE, k)
  if (!average) return(fit)
  if (fit$chains == 1) average_chains(fit, rep(TRUE, k)) else average_if_better(fit)
}

averaged_limits <- c(0.3, 0.2, 0.1)

average_if_better <- function(fit) {
  farthest <- apply(fit$agreement$distance, 1L, max)
  sets <- Filter(any, unique(lapply(averaged_limits, function(limit) farthest < limit)))
  some <- which(fit$document_tokens > 1)
  some <- some[unique(round(seq(1, length(some), length.out = min(1000L, length(some)))))]
  if (!length(sets) || length(some) < 2L) return(fit)
  counts <- take_documents(fit$x, some)
  score <- function(fit) {
    data <- if (!is.null(fit$prevalence)) fit$prevalence$variables[some, , drop = FALSE]
    attr(perplexity(fit, counts, data = data, seed = fit$seed, backend = "cpu"), "log_likelihood")
  }
  reference <- score(fit)
  for (set in sets) {
    averaged <- average_chains(fit, set)
    gain <- score(averaged) - reference
    if (sum(gain) > sqrt(length(gain) * stats::var(gain))) return(averaged)
  }
  fit
}

renumber_chain <- function(fit, chain, order) {
  k <- fit$topics
  if (fit$chains > 1) fit$chain_phi[[chain]] <- fit$chain_phi[[chain]][order, , drop = FALSE]
  fit$tokens[, chain] <- fit$tokens[order, chain]
  state <- fit$state[[chain]]
  sums <- c("theta", "first", "phi", "share")
  state$sums[sums] <- lapply(state$sums[sums], function(sum) as.vector(matrix(sum, k)[order, ]))
  state$alpha <- as.vector(matrix(state$alpha, k)[order, ])
  if (!is.null(state$coefficients)) state$coefficients <- state$coefficients[, order, drop = FALSE]
  state$topics <- renumbered(state$topics, order)
  fit$state[[chain]] <- state
  draws <- fit$draws
  has <- function(...) intersect(c(...), names(draws))
  penalty <- prior_penalty(fit)
  for (draw in seq_len(kept_draws(fit$iter, fit))) {
    own <- if (is.null(draws$phi)) {
      order
    } else {
      solve_assignment(variation_distance(fit$phi, matrix(draws$phi[, , draw, chain], k)) + penalty)
    }
    for (part in has("alpha", "tokens")) draws[[part]][, draw, chain] <- draws[[part]][own, draw, chain]
    for (part in has("phi", "theta")) draws[[part]][, , draw, chain] <- draws[[part]][own, , draw, chain]
    for (part in has("effects", "coefficients")) draws[[part]][, , draw, chain] <- draws[[part]][, own, draw, chain]
  }
  fit$draws <- draws
  fit
}

average_chains <- function(fit, shared) {
  draws <- fit$draws
  if (length(draws$phi) && length(draws$theta)) {
    phi <- apply(draws$phi, 1:2, mean)
    theta <- t(apply(draws$theta, 1:2, mean))
  } else if (fit$chains > 1 && fit$state[[1L]]$sums$added > 0) {
    chain_mean <- function(state, name) matrix(state$sums[[name]], fit$topics) / state$sums$added
    phi <- Reduce(`+`, lapply(fit$state, chain_mean, "phi")) / fit$chains
    theta <- t(Reduce(`+`, lapply(fit$state, chain_mean, "theta"))) / fit$chains
  } else {
    return(fit)
  }
  fit$averaged <- shared
  fit$phi[shared, ] <- phi[shared, ]
  left <- 1 - rowSums(fit$theta[, !shared, drop = FALSE])
  own <- theta[, shared, drop = FALSE]
  # Shares of all topics sum to one already.
  fit$theta[, shared] <- if (all(shared)) own else own * (left / pmax(rowSums(own), 1e-300))
  if (length(draws$alpha)) fit$alpha[shared] <- apply(draws$alpha, 1L, mean)[shared]
  fit
}
