# Which topics chains have in common: topics are matched one to one, and a chain finds a topic if its match is near.

# A chain finds a topic if the total variation between the topic and its match in the chain is below this limit.
found_limit <- 0.5
# ... and below this share of the distance to the fit's own next topic.
limit_share <- 0.75

# Matches each of several sets of topics, `phi`, to the topics of the fit: the numbers in each set, and the distances.
match_topics <- function(fit, phi) {
  k <- fit$topics
  matched <- lapply(phi, function(other) {
    distance <- variation_distance(fit$phi, other)
    match <- solve_assignment(distance + prior_penalty(fit))
    list(match = match, distance = distance[cbind(seq_len(k), match)])
  })
  list(match = matrix(vapply(matched, `[[`, integer(k), "match"), k),
    distance = matrix(vapply(matched, `[[`, numeric(k), "distance"), k), limit = find_limits(fit))
}

find_limits <- function(fit) pmin(found_limit, limit_share * nearest_topic(fit$phi))

nearest_topic <- function(phi) {
  between <- variation_distance(phi, phi)
  diag(between) <- Inf
  apply(between, 1L, min)
}

# For each topic the share of other chains that find it: the one measure of how far topics agree.
share_found <- function(matched, chains = TRUE) {
  rowMeans(matched$distance[, chains, drop = FALSE] < matched$limit)
}

variation_distance <- function(a, b) {
  columns <- t(b)
  t(apply(a, 1L, function(row) 0.5 * colSums(abs(columns - row))))
}

# Matching takes about a second for so many differences between probabilities of terms.
most_matched <- 2e8

# Topics x chains: each topic's number and distance in each chain. NULL for more differences than `most`.
agreement_of <- function(fit, most = Inf) {
  if (!is.null(fit$agreement)) return(fit$agreement)
  if (as.double(fit$topics)^2 * length(fit$terms) * fit$chains > most) return(NULL)
  match_topics(fit, if (fit$chains == 1) list(fit$phi) else fit$chain_phi)
}

found_topics <- function(fit) if (fit$chains > 1 && !is.null(fit$agreement)) share_found(fit$agreement, -fit$reference)

matched_topics <- function(fit, chain) {
  if (is.null(fit$agreement)) seq_len(fit$topics) else fit$agreement$match[, chain]
}

# The chains that find a topic, among them the reference.
finding_chains <- function(fit, topic) {
  if (is.null(fit$agreement)) return(fit$reference)
  sort(union(fit$reference, which(fit$agreement$distance[topic, ] < fit$agreement$limit[[topic]])))
}

# What matching adds to distances, because topics whose priors differ cannot be renumbered.
prior_penalty <- function(fit) {
  if (is.null(fit$prior_counts)) return(0)
  priors <- data.frame(t(fit$prior_counts))
  kind <- match(priors, priors)
  (fit$topics + 1) * outer(kind, kind, "!=")
}
