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
#' Then `phi` and `theta` become averages over all chains. If both were kept, the draws that were matched one by one
#' are averaged. Otherwise the averages of the chains are. If `alpha` was learned, it becomes the mean over the draws
#' of all chains.
#'
#' `distance` shows whether averaging makes sense. A topic that all chains found has distances near 0. A topic that
#' only the reference chain found has distances near 1. `stable` counts the topics whose distance is below a half in
#' every chain.
#'
#' @param fit a fit from [topic_model()].
#' @param average whether `phi` and `theta` of the result are averages over all chains.
#' @param ... must be empty: a misspelt argument is an error.
#' @return The fit with topics renumbered, and with
#'   \item{match}{topics x chains: the number that each topic of the reference had in each chain.}
#'   \item{distance}{topics x chains: total variation distance between the averages of the reference and of the chain.}
#'   \item{stable}{number of topics whose distance is below 0.5 in every chain.}
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
  averages <- if (chains == 1) list(target) else fit$chain_phi
  distances <- lapply(averages, function(phi) variation_distance(target, phi))
  apart <- (k + 1) * prior_differs(fit)
  fit$match <- matrix(vapply(distances, function(distance) solve_assignment(distance + apart), integer(k)), k)
  fit$distance <- matrix(vapply(seq_len(chains), function(chain) {
    distances[[chain]][cbind(seq_len(k), fit$match[, chain])]
  }, numeric(k)), k)
  fit$stable <- sum(apply(fit$distance, 1L, max) < 0.5)
  for (chain in seq_len(chains)) {
    fit <- renumber_chain(fit, chain, fit$match[, chain], target)
  }
  if (average) average_chains(fit) else fit
}

# The total variation distances between the rows of a and the rows of b.
variation_distance <- function(a, b) {
  t(apply(a, 1L, function(row) 0.5 * colSums(abs(t(b) - row))))
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
  numbers <- readBin(state$topics, "integer", length(state$topics) / 2, size = 2L, signed = FALSE) + 1L
  state$topics <- writeBin(match(numbers, order) - 1L, raw(), size = 2L)
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
    if (!is.null(draws$group_alpha)) draws$group_alpha[, , draw, chain] <- draws$group_alpha[own, , draw, chain]
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

average_chains <- function(fit) {
  k <- fit$topics
  draws <- fit$draws
  if (length(draws$phi) && length(draws$theta)) {
    fit$phi[] <- apply(draws$phi, 1:2, mean)
    fit$theta[] <- t(apply(draws$theta, 1:2, mean))
  } else if (fit$chains > 1 && fit$state[[1L]]$sums$added > 0) {
    chain_mean <- function(state, name) state$sums[[name]] / state$sums$added
    mean_of <- function(name) Reduce(`+`, lapply(fit$state, chain_mean, name)) / fit$chains
    fit$phi[] <- matrix(mean_of("phi"), k)
    fit$theta[] <- t(matrix(mean_of("theta"), k))
  }
  if (length(draws$alpha)) {
    fit$alpha <- apply(draws$alpha, 1L, mean)
    if (length(draws$group_alpha)) fit$group_alpha[] <- apply(draws$group_alpha, 2:1, mean)
  }
  fit
}
