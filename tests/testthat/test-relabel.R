# relabel() and co_clustering() on draws with permuted components.

fit <- population_fit(n = 300)
matched <- relabel(fit, threads = 2)
number <- attr(fit, "numbers")
best <- reference_draw(fit)
home <- number[, best$draw, best$chain]

test_that("every draw gets the numbers of the reference draw", {
  for (chain in 1:2) {
    for (draw in 1:6) {
      expect_identical(matched$match[home, draw, chain], number[, draw, chain])
      # The two components of a population are 1.2 apart, so noise of 0.03 does not confuse them.
      expect_lt(max(abs(matched$draws$means[, , draw, chain] - best$means)), 0.5)
      expect_identical(matched$draws$weights[home, draw, chain], fit$draws$weights[number[, draw, chain], draw, chain])
      expect_identical(matched$draws$covariances[, , , draw, chain],
        fit$draws$covariances[, , matched$match[, draw, chain], draw, chain]
      )
    }
  }
  expect_identical(unname(unlist(matched$reference)), c(best$draw, best$chain))
  expect_equal(matched$agreement[best$draw, best$chain], 1)
  expect_true(all(matched$agreement > 0.9))
})

test_that("means and intervals of components come from the matched draws", {
  weights <- matched$component_weights
  expect_identical(weights$component, order(-best$weights))
  j <- weights$component[[1]]
  expect_equal(weights$mean[[1]], mean(matched$draws$weights[j, , ]))
  expect_equal(c(weights$lower[[1]], weights$upper[[1]]),
    quantile(matched$draws$weights[j, , ], c(0.05, 0.95)), ignore_attr = TRUE
  )
  expect_equal(weights$present, rep(1, 6))
  means <- matched$component_means
  expect_identical(means$marker, rep(fit$markers, 6))
  expect_equal(means$mean[means$component == j & means$marker == "CD8"], mean(matched$draws$means[j, 2, , ]))
  expect_output(print(matched), "Components numbered as in draw")
  expect_output(print(matched, components = 2), "and 4 more components")
})

test_that("kept labels are matched and renumbered", {
  labelled <- fit
  labels <- attr(fit, "labels")
  labelled$draws$labels <- array(0L, c(300, 6, 2))
  for (chain in 1:2) for (draw in 1:6) labelled$draws$labels[, draw, chain] <- number[labels, draw, chain]
  again <- relabel(labelled, threads = 2)
  for (chain in 1:2) for (draw in 1:6) expect_identical(again$draws$labels[, draw, chain], home[labels])
  expect_identical(again$agreement, matrix(1, 6, 2))
})

test_that("probabilities are averaged over matched draws", {
  x <- fit$x[c(1, 150, 290), ]
  plain <- 0
  for (chain in 1:2) {
    for (draw in 1:6) {
      one <- mixture_of_draw(matched, draw, chain)
      joint <- exp(reference_joint(x, one$weights, one$means, one$covariances))
      plain <- plain + joint / rowSums(joint) / 12
    }
  }
  expect_equal(predict(matched, x, type = "prob", threads = 2), plain, tolerance = 1e-9, ignore_attr = TRUE)
  expect_identical(predict(matched, x, threads = 2), max.col(plain, "first"))
  expect_equal(predict(matched, x, type = "uncertainty", threads = 2), 1 - apply(plain, 1, max), tolerance = 1e-9)
  expect_equal(predict(matched, x, type = "log_density", ndraws = NULL, threads = 2),
    predict(fit, x, type = "log_density", threads = 2), tolerance = 1e-12
  )
  expect_identical(predict(matched, x, type = "type", threads = 2), predict(fit, x, type = "type", threads = 2))
})

test_that("co_clustering() agrees with the draws", {
  rows <- c(1, 80, 160, 299)
  plain <- 0
  for (chain in 1:2) {
    for (draw in 1:6) {
      one <- mixture_of_draw(fit, draw, chain)
      joint <- exp(reference_joint(fit$x[rows, ], one$weights, one$means, one$covariances))
      plain <- plain + tcrossprod(joint / rowSums(joint)) / 12
    }
  }
  diag(plain) <- 1
  together <- co_clustering(fit, rows, threads = 2)
  expect_equal(together, plain, tolerance = 1e-9, ignore_attr = TRUE)
  expect_identical(rownames(together), as.character(rows))
  expect_equal(co_clustering(matched, rows, threads = 2), together, tolerance = 1e-9)
  expect_equal(co_clustering(fit, newdata = fit$x[rows, ], threads = 2), together, tolerance = 1e-9, ignore_attr = TRUE)
  types <- cell_types(fit, threads = 2)
  expect_equal(co_clustering(types, rows, threads = 2),
    outer(as.integer(types$type)[rows], as.integer(types$type)[rows], "==") + 0,
    tolerance = 1e-3, ignore_attr = TRUE)
})

# If clusters are far apart, each mean has a nearly normal posterior around the cluster's mean with variance S / n. The
# average of D draws, with autocorrelation time at most 4, lies within 6 standard errors of it with probability
# 1 - 2e-9. There are 3 x 4 comparisons.
test_that("means of relabelled sampled fits are right, and chains can be continued", {
  seeds <- if (extended()) 1:20 else 1
  for (seed in seeds) {
    set.seed(seed)
    group <- rep(1:3, c(60, 50, 40))
    x <- matrix(rnorm(300), 150) + 9 * cbind(group == 2, group == 3)
    # A fourth component may hold a part of a cluster, as it does with seed 12.
    k <- if (seed == 1) 4L else 3L
    fit <- dp_mixture(x, components = k, iter = 120, warmup = 20, chains = 2, seed = seed, threads = 2)
    means <- relabel(fit, threads = 2)$component_means
    for (g in 1:3) {
      own <- x[group == g, ]
      near <- vapply(split(means, means$component), function(one) sum(abs(one$mean - colMeans(own))), 0)
      found <- means[means$component == as.integer(names(near))[[which.min(near)]], ]
      # Besides the Monte Carlo error, the prior shifts the mean towards 0 by up to 1 / (gamma n) of the distance.
      error <- 6 * apply(own, 2, sd) / sqrt(nrow(own)) * sqrt(4 / 200) + 0.1
      expect_true(all(abs(found$mean - colMeans(own)) < error))
      expect_true(all(found$lower < colMeans(own) + 0.2 & found$upper > colMeans(own) - 0.2))
    }
  }
  matched <- relabel(fit, threads = 2)
  longer <- continue(matched, 5, threads = 2)
  expect_s3_class(longer, "dp_mixture")
  expect_false(inherits(longer, "relabelled_mixture"))
  expect_null(longer$match)
  expect_identical(dim(relabel(longer, threads = 2)$match), c(k, 105L, 2L))
})

test_that("plots show components with their intervals", {
  skip_where_repeated()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(expect_invisible(plot(matched)), matched)
  plot(matched, components = 1, markers = "CD8", main = "A title")
  plot(matched, type = "heatmap")
  curved <- matched
  curved$transform <- list(type = "arcsinh", cofactor = rep(5, length(fit$markers)))
  plot(curved)
  expect_error(plot(matched, "all"), "`type` must be one of \"components\", \"pairs\"", class = "warpbayes_error_input")
  expect_error(plot(matched, components = 0), "`components` must be one whole number", class = "warpbayes_error_input")
})

test_that("fits that cannot be matched are refused", {
  error <- "warpbayes_error_input"
  expect_error(relabel(1), "`fit` must come from dp_mixture\\(\\) or topic_model", class = error)
  expect_error(relabel(fit, reference = 1), "`reference` is not known here", class = error)
  lost <- fit
  lost$x <- NULL
  expect_error(relabel(lost), "`fit` has lost its data, `fit\\$x`: draws are matched", class = error)
  without <- fit
  without$draws$means <- NULL
  expect_error(relabel(without), "did not keep", class = error)
  expect_error(predict(matched, type = "mean"), "`type` must be one of \"class\", \"type\"", class = error)
  expect_error(predict(matched, ndraws = 0), "`ndraws` must be one whole number", class = error)
  expect_error(co_clustering(cells = 1), "`fit` is missing", class = error)
  expect_error(co_clustering(1), "`fit` must come from dp_mixture\\(\\) or cell_types\\(\\)", class = error)
  expect_identical(dim(co_clustering(fit, integer())), c(0L, 0L))
  expect_error(co_clustering(fit, 301), "`cells` must be rows from 1 to 300, not 301", class = error)
  expect_error(co_clustering(fit, 1.5), "`cells` must be rows from 1 to 300", class = error)
  expect_error(co_clustering(fit, 1, ndraws = 0), "`ndraws` must be one whole number", class = error)
  expect_error(co_clustering(fit, 1, by = "type"), "`by` is not known here", class = error)
})
