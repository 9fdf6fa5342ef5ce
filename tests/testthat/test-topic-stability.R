# Which topics do not depend on the start: topic_stability(), what relabel() averages, marks, verdicts, and advice.

input <- "warpbayes_error_input"

# Four planted topics, fitted with seven: each chain splits other ones.
planted <- simulate_documents(80, 40, block_topics(4, 8), rep(0.2, 4), seed = 7)$x
delayedAssign("split", topic_model(planted, 7, iter = 60, chains = 3, seed = 1, threads = 2))
delayedAssign("clear", topic_model(planted, 4, iter = 60, chains = 3, seed = 1, threads = 2))

test_that("restarts are the chains that a fit with more chains has", {
  skip_where_repeated()
  one <- topic_model(planted, 7, iter = 60, seed = 1, threads = 2)
  table <- topic_stability(one, restarts = 2, threads = 2)
  others <- topic_model(planted, 7, iter = 60, chains = 3, seed = 1, threads = 2)$chain_phi[2:3]
  distance <- vapply(others, function(phi) matched_distance(unname(one$phi), unname(phi)), numeric(7))
  expect_equal(table$found, rowMeans(distance < find_limits(one))[table$topic])
  # A further chain counts as much as one of the fit.
  two <- topic_model(planted, 7, iter = 60, chains = 2, seed = 1, threads = 2)
  three <- topic_model(planted, 7, iter = 60, chains = 3, seed = 1, threads = 2)
  others <- three$chain_phi[-two$reference]
  distance <- vapply(others, function(phi) matched_distance(unname(two$phi), unname(phi)), numeric(7))
  table_of_two <- topic_stability(two, restarts = 1, threads = 2)
  expect_equal(table_of_two$found, rowMeans(distance < find_limits(two))[table_of_two$topic])
  expect_false(is.unsorted(-table$prevalence))
  # Nothing was compared, and nothing is called stable.
  nothing <- topic_stability(one, restarts = 0)
  expect_true(all(is.na(nothing$found)))
  expect_output(print(nothing), "% +NA  ")
  expect_identical(relabel(one)$found, rep(NA_real_, 7))
  expect_output(print(one), "1 chain of 60 sweeps")
  expect_no_match(utils::capture.output(print(relabel(one))), "found by|\\*")
  expect_match(as.character(summary(one)$verdict), "One chain was run.*topic_stability\\(fit\\)", all = FALSE)
  # Covariates, learned and given priors, and seeds are those of the fit.
  grouped <- topic_model(planted, 3, prevalence = ~ rep(1:2, 40), beta = 0.2, seed_words = list(a = c("w1", "w2")),
    iter = 20, seed = 1, threads = 2)
  expect_identical(topic_stability(grouped, 1, iter = 10, threads = 2)$name[[1L]] %in% c("a", "other1", "other2"), TRUE)
  updated <- add_documents(one, planted[1:5, ], iter = 4, threads = 2)
  expect_true(all(is.na(topic_stability(updated)$found)))
  expect_error(topic_stability(updated, restarts = 1), "starts from an earlier fit", class = input)
  expect_error(topic_stability(one, restarts = -1), "restarts", class = input)
  expect_error(topic_stability(1), "`fit` must be a result", class = input)
})

test_that("relabel() averages topics that all chains find, and keeps the others", {
  skip_where_repeated()
  matched <- relabel(split)
  shared <- matched$found == 1
  expect_identical(shared, apply(matched$agreement$distance < matched$agreement$limit, 1, all))
  expect_true(any(shared) && !all(shared))
  expect_false(any(matched$averaged & !shared))
  kept <- !matched$averaged
  expect_identical(matched$phi[kept, ], split$phi[kept, ])
  expect_identical(matched$theta[, !shared], split$theta[, !shared])
  expect_identical(matched$alpha[kept], split$alpha[kept])
  expect_equal(unname(rowSums(matched$theta)), rep(1, 80))
  all <- relabel(clear)
  expect_identical(all$found, rep(1, 4))
  # Averaged where that predicts better by a standard error: the set is the first of three that does.
  score <- function(fit) attr(perplexity(fit, planted, seed = 1, backend = "cpu"), "log_likelihood")
  sets <- lapply(c(0.3, 0.2, 0.1), function(limit) apply(all$agreement$distance, 1, max) < limit)
  whole <- relabel(clear, average = FALSE)
  good <- vapply(sets, function(set) {
    gain <- score(average_chains(whole, set)) - score(clear)
    sum(gain) > sqrt(80) * sd(gain)
  }, NA)
  expect_identical(all$averaged, if (any(good)) sets[[which(good)[[1L]]]] else rep(FALSE, 4))
  expect_gte(sum(score(matched)), sum(score(split)))
  expect_false(any(whole$averaged))
  expect_output(print(all), "relabelled: [0-4] of these averaged")
  # More sweeps begin from the reference chain's averages again.
  expect_null(continue(matched, 1, threads = 2)$averaged)
})

test_that("topics that some chain does not find are marked wherever topics are shown", {
  skip_where_repeated()
  shared <- relabel(split)$found == 1
  expect_match(as.character(verdict(split)), sprintf("All 3 chains find %d of the 7 topics", sum(shared)), all = FALSE)
  lines <- utils::capture.output(print(split))
  expect_identical(sum(grepl("^  [1-7]\\* ", lines)), sum(!shared))
  expect_match(lines, "^\\* not found by all chains", all = FALSE)
  lines <- utils::capture.output(print(clear))
  expect_no_match(lines, "\\*")
  expect_identical(sum(grepl("^  [1-7]\\* ", utils::capture.output(print(summary(split))))), sum(!shared))
  expect_identical(summary(split)$topics$found == 1, shared[summary(split)$topics$topic])
  expect_identical(marked_labels(split, 1:7), paste0(1:7, ifelse(shared, "", "*")))
  verdict <- paste(as.character(summary(split)$verdict), collapse = " ")
  expect_match(verdict, sprintf("All 3 chains find %d of the 7 topics. Another start may not find %s[.,]", sum(shared),
    which(!shared)[[1L]]))
  expect_match(verdict, "perplexity of the fitted words is .* in the chains")
  expect_match(as.character(summary(clear)$verdict), "All 3 chains find each of the 4 topics", all = FALSE)
  expect_match(as.character(verdict(topic_stability(clear, restarts = 0))), "find each topic", all = FALSE)
  expect_no_match(utils::capture.output(print(clear, n = 0)), "^ *%")
  expect_match(as.character(summary(clear)$verdict), "between chains by at most .* percentage points", all = FALSE)
  skip_if_not_installed("generics")
  expect_identical(generics::tidy(split)$found[1:7] == 1, shared)
  expect_false("found" %in% names(generics::tidy(topic_model(planted, 3, iter = 4, seed = 1, threads = 2))))
})

# Fits whose traces are replaced, so that each verdict is reached.
with_trace <- function(fit, values) {
  fit$log_likelihood[] <- values
  fit
}

test_that("the verdict follows from the log likelihood and from topics, not from the sum of alpha", {
  skip_where_repeated()
  fit <- topic_model(planted, 4, iter = 400, chains = 2, seed = 2, threads = 2)
  set.seed(1)
  level <- -2000
  steady <- with_trace(fit, level + rnorm(800))
  # A sum of alpha that wanders, apart in both chains.
  steady$alpha_sum[] <- c(cumsum(rnorm(400)), 100 + cumsum(rnorm(400)))
  verdict <- summary(steady)
  expect_true(verdict$converged)
  expect_match(as.character(verdict$verdict), "said of the sum of the alphas .* is rough", all = FALSE)
  # Modes of nearly the same quality are told from modes that differ.
  near <- with_trace(steady, level + rnorm(800) + rep(c(0, 5), each = 400))
  expect_true(summary(near)$converged)
  expect_match(as.character(summary(near)$verdict), "differ by less than 1%", all = FALSE)
  # What alpha's sum is worth is said there too.
  size <- round(subset(summary(near)$diagnostics, quantity == "alpha_sum")$ess_bulk)
  expect_match(as.character(summary(near)$verdict), sprintf("sum of the alphas .*effective sample size %.0f", size),
    all = FALSE)
  far <- with_trace(steady, level + rnorm(800) + rep(c(0, 500), each = 400))
  expect_false(summary(far)$converged)
  # Still rising.
  rising <- with_trace(steady, level + rep(1:400, 2) / 4 + rnorm(800))
  expect_false(summary(rising)$converged)
  expect_match(as.character(verdict(rising)), "rising: a longer warmup is needed; continue\\(fit, 400, warmup = 400\\)",
    all = FALSE)
  # The same traces, but topics differ.
  steady$agreement$distance[2, ] <- ifelse(seq_len(2) == fit$reference, 0, 0.9)
  expect_false(summary(steady)$converged)
  expect_match(as.character(summary(steady)$verdict), "Both chains find 3 of the 4 topics", all = FALSE)
})

# The calls with a fit in sentences, such as continue(fit, more).
advised_calls <- function(sentences) {
  text <- paste(as.character(sentences), collapse = " ")
  unique(unlist(regmatches(text, gregexpr("[a-z_]+\\(fit[^()]*\\)", text))))
}

expect_advice_works <- function(fit, sentences, at_least = character()) {
  calls <- advised_calls(sentences)
  for (name in at_least) expect_match(calls, name, all = FALSE)
  more <- 2
  for (call in calls) {
    expect_no_error(utils::capture.output(eval(parse(text = call))), message = NULL)
  }
}

test_that("every function that a verdict advises takes the fit", {
  skip_where_repeated()
  with_options(list(warpbayes.threads = 2, warpbayes.backend = "cpu"), {
    # Topic models: too few sweeps, too few draws, rising, one chain, marks, and mean-for-mode estimation.
    fit <- topic_model(planted, 7, iter = 40, chains = 2, seed = 2)
    expect_advice_works(with_trace(fit, rep(1:40, 2) - 2000), summary(with_trace(fit, rep(1:40, 2) - 2000))$verdict,
      c("continue\\(fit, 40, warmup = 40\\)"))
    set.seed(1)
    slow <- with_trace(fit, 50 * cumsum(rnorm(80)) - 2000)
    expect_advice_works(slow, summary(slow)$verdict, "continue")
    for (sweeps in c(4, 30)) {
      one <- topic_model(planted, 3, iter = sweeps, seed = 2)
      expect_advice_works(one, c(as.character(summary(one)$verdict), utils::capture.output(print(one, n = 1))),
        c("topic_stability", "print"))
    }
    quick <- fit_topics(planted, 3, iter = 8, estimate = "mean", seed = 2)
    expect_advice_works(quick, summary(quick)$verdict, "topic_stability")
    # Regressions and mixtures: rising, and as they are.
    logit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 40, seed = 1)
    rising <- logit
    rising$coefficient_trace[, , 1L] <- rep(1:40, 2)
    expect_advice_works(rising, summary(rising)$verdict, c("continue", "drop_warmup"))
    expect_advice_works(logit, summary(logit)$verdict, "continue")
    grouped <- bayes_logit(am ~ wt + (1 | cyl), mtcars, chains = 2, iter = 40, seed = 1)
    expect_advice_works(grouped, summary(grouped)$verdict, "continue")
    set.seed(1)
    cells <- rbind(matrix(rnorm(60), 30), matrix(rnorm(60, 5), 30))
    mixture <- dp_mixture(cells, components = 3, iter = 60, chains = 2, seed = 1)
    # A verdict that rests on the mixture leaves the advice to the mixture's, which holds of both.
    for (one in list(mixture, relabel(mixture))) {
      expect_advice_works(one, summary(mixture)$verdict, "continue")
      expect_advice_works(one, summary(one)$verdict)
    }
    modes <- dp_mixture(cells, components = 3, iter = 1, method = "bem", seed = 1)
    expect_advice_works(modes, c(as.character(summary(modes)$verdict), utils::capture.output(print(modes))), "continue")
    urn <- predictive_resample(cars, copula_regression(dist ~ speed, rho = 0.7, rho_x = 0.6), draws = 10, horizon = 10,
      seed = 1)
    expect_advice_works(urn, utils::capture.output(print(urn)), "continue")
  })
})

test_that("averages begin anew after a longer warm-up", {
  skip_where_repeated()
  short <- topic_model(planted, 3, iter = 10, chains = 2, seed = 4, threads = 2)
  at_once <- topic_model(planted, 3, iter = 22, warmup = 10, chains = 2, seed = 4, threads = 2)
  # By default: as many sweeps or more.
  expect_same_topics(continue(short, 12, threads = 2), at_once)
  expect_same_topics(continue(short, 12, warmup = 10, threads = 2), at_once)
  longer <- continue(continue(short, 4, threads = 2), 8, warmup = 16, threads = 2)
  expect_same_topics(longer, topic_model(planted, 3, iter = 22, warmup = 16, chains = 2, seed = 4, threads = 2))
  # Fewer sweeps, or a warm-up that was given, change nothing.
  expect_identical(continue(short, 9, threads = 2)$warmup, 5)
  given <- topic_model(planted, 3, iter = 10, warmup = 5, chains = 2, seed = 4, threads = 2)
  expect_identical(continue(given, 12, threads = 2)$warmup, 5)
  kept <- fit_topics(planted, 3, iter = 10, keep = c("phi", "theta"), prevalence = ~ rep(1:2, 40),
    seed = 4, threads = 2)
  expect_identical(dim(continue(kept, 10, threads = 2)$draws$phi), c(3L, 32L, 10L, 1L))
  expect_error(continue(short, 4, warmup = 7), "is 7, but must be 5, as it was, or at least 10", class = input)
  expect_error(continue(short, 4, warmup = 14), "must be less than", class = input)
})

test_that("topics of noise are not called found, and the words say why", {
  skip_where_repeated()
  set.seed(1)
  noise <- matrix(rpois(200 * 50, 0.3), 200)
  fit <- topic_model(noise, 5, chains = 4, iter = 200, seed = 1, threads = 2)
  expect_lte(sum(found_topics(fit) == 1), 1)
  words <- as.character(verdict(fit))
  expect_match(words, "share more than half of the probability of their terms with another topic", all = FALSE)
  # Four topics on terms of their own.
  law <- function(d) c(rep(5, 10), rep(0.2, 40))[(1:50 + 10 * (d %% 4)) %% 50 + 1]
  texts <- t(sapply(1:200, function(d) rmultinom(1, 40, law(d))))
  fit <- topic_model(texts, 4, chains = 4, iter = 200, seed = 1, threads = 2)
  expect_true(all(found_topics(fit) == 1))
  expect_no_match(as.character(verdict(fit)), "with another topic")
})
