# Gives topics the same numbers in all draws and chains.

#' Match the numbers of topics over draws and chains
#'
#' Topics have no fixed numbers: two chains that found the same topics may have numbered them differently. `relabel()`
#' gives them the numbers of the reference chain.
#'
#' The topics of each chain are matched one to one to topics of the reference chain, so that the total variation
#' distance between their terms, summed over topics, is least (an assignment problem). The draws, averages and topics of
#' the chain are renumbered accordingly. If `phi` was kept, each draw is matched on its own, so that topics that change
#' places within a chain are matched too.
#'
#' Topics whose priors differ, such as those with seed words, keep their numbers.
#'
#' Then topics are averaged over all chains, but only topics that all chains find: their distance is below 0.5 in every
#' chain. The other topics stay as they are in the reference chain, because an average of topics that differ is a topic
#' of no chain. Even the same topics may differ in their margins, so that averages predict words worse than the
#' reference chain, which is the best one. So averages of the topics with distances below 0.3, 0.2 and 0.1 are tried on
#' at most 1000 of the fitted documents, by [perplexity()]. The first set that predicts better than the reference, by at
#' least one standard error of the paired difference, is averaged, or none.
#'
#' In each document the shares of the averaged topics are scaled so that all shares sum to one. If `phi` and `theta`
#' were kept, the draws that were matched one by one are averaged. Otherwise the averages of the chains are. A learned
#' `alpha` becomes the mean over the same draws.
#'
#' Topics that some chain does not find are marked: by a star in print, summary and pictures, and in the column `shared`
#' of [tidy()][tidy.topic_model()]. [topic_stability()] has the distances.
#'
#' @param fit a fit from [topic_model()].
#' @param average whether topics that all chains find become averages over all chains.
#' @param ... must be empty: a misspelt argument is an error.
#' @return The fit with topics renumbered, and with
#'   \item{match}{topics x chains: the number that each topic of the reference had in each chain.}
#'   \item{distance}{topics x chains: total variation distance between the averages of the reference and of the chain.}
#'   \item{shared}{for each topic, whether its distance is below 0.5 in every chain.}
#'   \item{stable}{number of topics that are shared.}
#'   \item{averaged}{for each topic, whether it is an average over chains.}
#'
#'   With one chain nothing is compared: `shared` and `stable` are `NA`. Then the draws are averaged if `phi` and
#'   `theta` were kept.
#' @section Errors:
#' `warpbayes_error_input` for anything that is not a fit that can be relabelled.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' fit <- topic_model(x, topics = 2, iter = 60, chains = 3, seed = 1, threads = 2)
#' relabel(fit)$distance
#' @export
relabel.topic_model <- function(fit, average = TRUE, ...) {
  check_method(fit, "fit", ...)
  average <- check_flag(average, "average")
  k <- fit$topics
  chains <- fit$chains
  target <- fit$phi
  fit$agreement <- NULL
  fit$agreement <- agreement_of(fit)
  fit$match <- fit$agreement$match
  fit$distance <- fit$agreement$distance
  fit$shared <- if (chains == 1) rep(NA, k) else shared_topics(fit)
  fit$stable <- sum(fit$shared)
  for (chain in seq_len(chains)) {
    fit <- renumber_chain(fit, chain, fit$match[, chain], target)
  }
  fit$agreement$match[] <- seq_len(k)
  fit$averaged <- rep(FALSE, k)
  if (!average) return(fit)
  if (chains == 1) average_chains(fit, rep(TRUE, k)) else average_if_better(fit)
}

# A chain finds a topic if the total variation between the topic and its match in the chain is below this limit.
found_limit <- 0.5

# Limits of the distance of topics that are averaged. With larger ones perplexity was mostly worse.
averaged_limits <- c(0.3, 0.2, 0.1)

# Averages the largest set of topics that predicts the words of fitted documents better than the reference does. These
# documents favour the reference, which was fitted to them, so this errs towards the reference.
average_if_better <- function(fit) {
  farthest <- apply(fit$distance, 1L, max)
  sets <- unique(lapply(averaged_limits, function(limit) farthest < limit))
  sets <- Filter(any, sets)
  some <- which(fit$document_tokens > 1)
  some <- some[unique(round(seq(1, length(some), length.out = min(1000L, length(some)))))]
  if (!length(sets) || length(some) < 2L) return(fit)
  counts <- take_documents(fit$x, some)
  # Log probabilities of the predicted words, document by document.
  score <- function(fit) {
    groups <- if (nlevels(fit$groups) > 1L) as.character(fit$groups)[some]
    data <- if (!is.null(fit$prevalence)) fit$prevalence$variables[some, , drop = FALSE]
    attr(perplexity(fit, counts, groups = groups, data = data, seed = fit$seed, backend = "cpu"), "log_likelihood")
  }
  reference <- score(fit)
  for (set in sets) {
    averaged <- average_chains(fit, set)
    gain <- score(averaged) - reference
    if (sum(gain) > sqrt(length(gain) * stats::var(gain))) return(averaged)
  }
  fit
}

renumber_chain <- function(fit, chain, order, target) {
  k <- fit$topics
  if (fit$chains > 1) fit$chain_phi[[chain]] <- fit$chain_phi[[chain]][order, , drop = FALSE]
  fit$tokens[, chain] <- fit$tokens[order, chain]
  state <- fit$state[[chain]]
  sizes <- c(length(fit$documents), length(fit$terms))
  state$sums$theta <- as.vector(matrix(state$sums$theta, k)[order, ])
  state$sums$phi <- as.vector(matrix(state$sums$phi, k)[order, ])
  several <- length(state$alpha) %/% k
  state$alpha <- as.vector(matrix(state$alpha, k)[order, ])
  if (several > 1L) state$common[seq_len(k)] <- state$common[order]
  if (!is.null(state$coefficients)) state$coefficients <- state$coefficients[, order, drop = FALSE]
  state$topics <- writeBin(match(topic_numbers(state$topics), order) - 1L, raw(), size = 2L)
  fit$state[[chain]] <- state
  draws <- fit$draws
  count <- kept_draws(fit$iter, fit)
  apart <- (k + 1) * prior_differs(fit)
  for (draw in seq_len(count)) {
    own <- order
    if (!is.null(draws$phi)) {
      own <- solve_assignment(variation_distance(target, matrix(draws$phi[, , draw, chain], k)) + apart)
      draws$phi[, , draw, chain] <- draws$phi[own, , draw, chain]
    }
    if (!is.null(draws$alpha)) draws$alpha[, draw, chain] <- draws$alpha[own, draw, chain]
    if (!is.null(draws$tokens)) draws$tokens[, draw, chain] <- draws$tokens[own, draw, chain]
    if (!is.null(draws$group_alpha)) draws$group_alpha[, , draw, chain] <- draws$group_alpha[own, , draw, chain]
    for (part in intersect(c("effects", "coefficients"), names(draws))) {
      draws[[part]][, , draw, chain] <- draws[[part]][, own, draw, chain]
    }
    if (!is.null(draws$theta)) draws$theta[, , draw, chain] <- draws$theta[own, , draw, chain]
  }
  fit$draws <- draws
  fit
}

# Which pairs of topics have different priors of their terms, so that they cannot be renumbered.
prior_differs <- function(fit) {
  prior <- fit$prior_counts
  if (is.null(prior)) return(0)
  kind <- match(data.frame(t(prior)), data.frame(t(prior)))
  outer(kind, kind, "!=")
}

# Shared topics become averages over chains, the others stay.
average_chains <- function(fit, shared) {
  k <- fit$topics
  draws <- fit$draws
  if (!any(shared)) return(fit)
  if (length(draws$phi) && length(draws$theta)) {
    phi <- apply(draws$phi, 1:2, mean)
    theta <- t(apply(draws$theta, 1:2, mean))
  } else if (fit$chains > 1 && fit$state[[1L]]$sums$added > 0) {
    chain_mean <- function(state, name) state$sums[[name]] / state$sums$added
    mean_of <- function(name) Reduce(`+`, lapply(fit$state, chain_mean, name)) / fit$chains
    phi <- matrix(mean_of("phi"), k)
    theta <- t(matrix(mean_of("theta"), k))
  } else {
    return(fit)
  }
  fit$averaged <- shared
  fit$phi[shared, ] <- phi[shared, ]
  if (all(shared)) {
    fit$theta[] <- theta
  } else {
    left <- 1 - rowSums(fit$theta[, !shared, drop = FALSE])
    own <- theta[, shared, drop = FALSE]
    fit$theta[, shared] <- own * (left / pmax(rowSums(own), 1e-300))
  }
  if (length(draws$alpha)) {
    fit$alpha[shared] <- apply(draws$alpha, 1L, mean)[shared]
    if (length(draws$group_alpha)) fit$group_alpha[, shared] <- apply(draws$group_alpha, 2:1, mean)[, shared]
  }
  fit
}
