# cell_types(): the joins against plain R, known populations, prediction, printing, plots and errors.

# The joins as the documentation defines them, with the largest overlap searched among all pairs.
plain_joins <- function(weights, means, covariances) {
  k <- length(weights)
  w <- weights / sum(weights)
  pooled <- Reduce(`+`, lapply(seq_len(k), function(j) w[[j]] * covariances[, , j]))
  taken <- matrix(0, k, k)
  for (h in seq_len(k)) for (j in setdiff(seq_len(k), h)) {
    between <- means[h, ] - means[j, ]
    distance <- max(1e-8, sqrt(drop(between %*% solve(pooled, between))))
    taken[h, j] <- w[[j]] * pnorm(-distance / 2 + log(w[[h]] / w[[j]]) / distance)
  }
  members <- as.list(seq_len(k))
  level <- numeric()
  pairs <- NULL
  while (length(members) > 1L) {
    share <- outer(seq_along(members), seq_along(members), Vectorize(function(a, b) {
      if (a == b) return(-1)
      sum(taken[members[[a]], members[[b]]]) / sum(w[members[[b]]])
    }))
    share <- pmax(share, t(share))
    best <- sort(arrayInd(which.max(share), dim(share)))
    level <- c(level, max(share))
    pairs <- rbind(pairs, c(members[[best[[1]]]][[1]], members[[best[[2]]]][[1]]))
    members[[best[[1]]]] <- c(members[[best[[1]]]], members[[best[[2]]]])
    members <- members[-best[[2]]]
  }
  list(level = level, pairs = pairs)
}

test_that("the tree of joins agrees with plain R", {
  for (seed in 1:6) {
    set.seed(seed)
    k <- c(2, 5, 12, 20, 33, 7)[[seed]]
    p <- c(1, 2, 3, 6, 2, 10)[[seed]]
    weights <- rgamma(k, 0.7)
    means <- matrix(rnorm(k * p, sd = 2), k) + 1000
    covariance <- function(j) crossprod(matrix(rnorm(p * (p + 3)), ncol = p)) / p
    covariances <- array(vapply(seq_len(k), covariance, numeric(p * p)), c(p, p, k))
    tree <- type_tree(list(weights = weights, means = means, covariances = covariances), 1e12)
    plain <- plain_joins(weights, means, covariances)
    expect_identical(cbind(tree$first, tree$second), plain$pairs)
    expect_equal(tree$level, plain$level, tolerance = 1e-9)
  }
})

test_that("if overlaps are equal, the first pair by column is joined", {
  overlap <- matrix(0, 4, 4)
  overlap[2, 1] <- overlap[1, 2] <- overlap[4, 3] <- overlap[3, 4] <- overlap[3, 1] <- 0.25
  tree <- native(C_mixture_join_types, overlap, rep(1, 4))
  expect_identical(tree$first[[1]], 1L)
  expect_identical(tree$second[[1]], 2L)
})

test_that("a Gaussian that was split in two is one type, and the overlap decides", {
  means <- rbind(c(0, 0), c(1, 0), c(6, 0))
  covariances <- array(diag(2), c(2, 2, 3))
  mixture <- list(weights = c(0.4, 0.4, 0.2), means = means, covariances = covariances)
  tree <- type_tree(mixture, 1000)
  expect_identical(cut_tree(tree, NULL, 0.08, 0), c(1L, 1L, 2L))
  # Components with equal weights, one standard deviation apart. The overlap is half of the mass beyond the border.
  expect_equal(tree$level[[1]], pnorm(-0.5), tolerance = 1e-12)
  expect_identical(cut_tree(tree, NULL, 0.4, 0), 1:3)
  expect_identical(cut_tree(tree, 1, 0.08, 0), c(1L, 1L, 1L))
})

fit <- population_fit()
truth <- attr(fit, "population")
types <- cell_types(fit, threads = 2)

test_that("three populations are found however their components are numbered", {
  expect_identical(as.integer(types$type), truth)
  expect_identical(types$types$type, c("1", "2", "3"))
  expect_equal(types$types$proportion, c(0.5, 0.3, 0.2), tolerance = 0.05)
  expect_true(all(types$types$lower < types$types$proportion & types$types$proportion < types$types$upper))
  expect_equal(types$types$stability, c(1, 1, 1))
  expect_identical(types$types$cells, tabulate(truth))
  expect_identical(types$types$components, c(2L, 2L, 2L))
  expect_true(all(types$probability > 0.999 & types$probability <= 1))
  for (t in 1:3) expect_equal(types$medians[t, ], apply(fit$x[truth == t, ], 2, median))
  plain <- cell_types(population_fit(permute = FALSE), threads = 2)
  expect_identical(as.integer(plain$type), truth)
})

test_that("each draw gives the sum of the weights of the type's components", {
  number <- attr(fit, "numbers")
  used <- types$map$used
  for (i in seq_len(nrow(used))) {
    weights <- fit$draws$weights[number[, used$draw[[i]], used$chain[[i]]], used$draw[[i]], used$chain[[i]]]
    expect_equal(unname(types$proportions[i, ]),
      c(sum(weights[1:2]), sum(weights[3:4]), sum(weights[5:6])), tolerance = 1e-12
    )
  }
  expect_equal(types$types$proportion, unname(colMeans(types$proportions)))
})

test_that("new cells have the averaged probabilities of the types", {
  between <- rbind(c(5, 0), c(6, 0.3), c(0, 5.9), c(5.9, 6.1))
  plain <- 0
  number <- attr(fit, "numbers")
  for (chain in 1:2) {
    for (draw in 1:6) {
      one <- mixture_of_draw(fit, draw, chain)
      joint <- exp(reference_joint(between, one$weights, one$means, one$covariances))
      joint <- (joint / rowSums(joint))[, number[, draw, chain]]
      plain <- plain + cbind(joint[, 1] + joint[, 2], joint[, 3] + joint[, 4], joint[, 5] + joint[, 6]) / 12
    }
  }
  prob <- predict(types, between, type = "prob", threads = 2)
  expect_equal(prob, plain, tolerance = 1e-9, ignore_attr = TRUE)
  expect_identical(colnames(prob), c("1", "2", "3"))
  expect_identical(as.integer(predict(types, between, threads = 2)), max.col(prob, "first"))
  expect_equal(predict(types, between, type = "uncertainty", threads = 2), 1 - apply(prob, 1, max), tolerance = 1e-12)
  expect_identical(predict(fit, type = "type", threads = 2), as.integer(types$type))
  expect_identical(predict(fit, between, type = "type", threads = 2), max.col(prob, "first"))
  named <- between
  rownames(named) <- letters[1:4]
  expect_named(predict(types, named, threads = 2), letters[1:4])
  expect_named(predict(fit, named, type = "type", threads = 2), letters[1:4])
  expect_identical(predict(types, fit$x[0, ], threads = 2), factor(character(), c("1", "2", "3")))
})

test_that("if draws agree, threads and the numbers of draws do not matter", {
  one <- cell_types(fit, threads = 1)
  expect_identical(one[c("types", "type", "probability", "proportions")],
    types[c("types", "type", "probability", "proportions")]
  )
  expect_identical(cell_types(fit, draws = 1, threads = 2)$type, types$type)
  expect_identical(cell_types(fit, draws = NULL, threads = 2)$type, types$type)
})

test_that("the tree can be cut into any number of types", {
  two <- cell_types(fit, types = 2, threads = 2)
  expect_identical(nlevels(two$type), 2L)
  # Either of the smaller populations may join the largest; neither is divided.
  expect_identical(nrow(unique(cbind(truth, as.integer(two$type)))), 3L)
  six <- cell_types(fit, types = 6, threads = 2)
  expect_identical(nrow(six$types), 6L)
  expect_identical(nrow(unique(cbind(truth, as.integer(six$type)))), 6L)
  expect_identical(levels(cell_types(fit, types = 1, threads = 2)$type), "1")
  expect_s3_class(types$tree, "hclust")
  expect_identical(stats::cutree(types$tree, 3), setNames(stats::cutree(types$tree, h = 2), types$tree$labels))
  expect_identical(sort(types$tree$order), 1:6)
})

test_that("a small remote group is called a speck or joined, and is not counted in the number of types", {
  fit <- population_fit(n = 2000, kept = 3, speck = 0.002)
  truth <- attr(fit, "population")
  kept <- cell_types(fit, threads = 2)
  expect_identical(kept$types$speck, c(FALSE, FALSE, FALSE, TRUE))
  expect_identical(as.integer(kept$type), truth)
  expect_output(print(kept), "1 speck of less than 0.5% of the cells has 0.3% together")
  joined <- cell_types(fit, specks = "join", threads = 2)
  # The nearest population is the one at (0, 12), and the overlap with it is zero.
  expect_identical(as.integer(joined$type), ifelse(truth == 4L, 3L, truth))
  three <- cell_types(fit, types = 3, threads = 2)
  expect_identical(three$type, joined$type)
  counted <- cell_types(fit, types = 3, specks = "keep", threads = 2)
  expect_identical(sum(counted$types$speck), 1L)
  # No cut has five types besides the speck, unless a cut divides a population.
  expect_identical(nrow(cell_types(fit, types = 5, threads = 2)$types), 5L)
  # Seven types would need the speck to count.
  expect_identical(nrow(cell_types(fit, types = 7, threads = 2)$types), 7L)
})

test_that("the reference draw is the one that most others agree with", {
  a <- rep(1:2, each = 50)
  b <- rep(1:2, 50)
  expect_identical(central_partition(cbind(b, a, 3L - a, a), 1:4), 2L)
  expect_identical(central_partition(cbind(b, a, a), 1L), 1L)
  expect_identical(central_partition(cbind(a), 1L), 1L)
  expect_equal(best_jaccard(a, ifelse(a == 2L, 2L, c(rep(1L, 40), rep(2L, 60))), 2), c(0.8, 50 / 60))
})

test_that("types can be named, printed, summarised and plotted", {
  named <- cell_types(fit, names = c("T", "B"), threads = 2)
  expect_identical(levels(named), c("T", "B", "3"))
  expect_identical(levels(named$type), c("T", "B", "3"))
  levels(named) <- c("T cells", "B cells", "others")
  expect_identical(levels(named$type), c("T cells", "B cells", "others"))
  expect_identical(rownames(named$medians), levels(named))
  expect_true(all(named$types$nearest %in% levels(named)))
  expect_output(print(named), "3 cell types from 6 components: 400 cells")
  expect_output(print(named), "T cells +49")
  shares <- rowsum(named$proportions, named$map$used$chain) / 6
  apart <- sprintf("%.1f%%", 100 * max(apply(shares, 2L, function(share) abs(diff(share)))))
  expect_output(print(named), paste0("types\\s+in\\s+the\\s+2\\s+chains\\s+differ\\s+by\\s+at\\s+most\\s+", apart))
  expect_output(print(cell_types(fit, types = 2, threads = 2)), "cut into 2 types")
  expect_output(print(summary(named)), "Medians, in the data's units")
  pdf(NULL)
  on.exit(dev.off())
  for (type in c("tree", "cells", "heatmap", "proportions")) {
    expect_invisible(plot(named, type = type, main = "Title"))
    plot(cell_types(fit, types = 1, draws = 1, threads = 2), type = type, specks = TRUE)
  }
})

test_that("cell_types() works for one component, one marker and a sampled fit", {
  skip_on_sanitized_emulator()
  set.seed(5)
  x <- matrix(c(rnorm(40), rnorm(20, 12)), ncol = 1)
  one <- cell_types(dp_mixture(x, components = 1, iter = 4, seed = 1, threads = 2), threads = 2)
  expect_identical(nrow(one$types), 1L)
  expect_output(print(summary(one)), "1 cell type from 1 component")
  pdf(NULL)
  on.exit(dev.off())
  for (type in c("tree", "heatmap", "proportions")) plot(one, type = type)
  expect_error(plot(one, type = "cells"), "`markers` must be two or more", class = "warpbayes_error_input")
  sampled <- dp_mixture(x, components = 5, iter = 40, chains = 2, seed = 1, threads = 2)
  two <- cell_types(sampled, types = 2, threads = 2)
  expect_identical(as.integer(two$type), rep(1:2, c(40, 20)))
})

test_that("disagreement between draws is reported", {
  # In half of the draws the first population is split in two.
  split <- fit
  number <- attr(fit, "numbers")
  for (draw in 1:6) split$draws$means[number[1:2, draw, 2], 1, draw, 2] <- c(-2.6, 2.6)
  split$draws$weights[] <- 1 / 6
  torn <- cell_types(split, threads = 2)
  expect_lt(min(torn$types$stability), 0.85)
  torn$types$stability[[1]] <- 0.6
  expect_output(print(torn), "not\\s+agree\\s+on\\s+\"1\":\\s+\"1\"\\s+may\\s+be\\s+part\\s+of\\s+\"3\"")
})

test_that("input that cannot be joined is refused", {
  error <- "warpbayes_error_input"
  expect_error(cell_types(1), "`fit` must come from dp_mixture\\(\\), not 1", class = error)
  expect_error(cell_types(fit, types = 0), "`types` must be one whole number from 1", class = error)
  expect_error(cell_types(fit, types = 7),
    "`types` is 7, but no draw has more than 6 components that hold a cell", class = error
  )
  expect_error(cell_types(fit, overlap = 1), "`overlap` must be one number strictly between 0 and 1", class = error)
  expect_error(cell_types(fit, specks = "drop"), "`specks` must be one of \"auto\", \"keep\", \"join\"", class = error)
  expect_error(cell_types(fit, speck = 2), "`speck` must be one number between 0 and 1", class = error)
  expect_error(cell_types(fit, draws = 0), "`draws` must be one whole number", class = error)
  expect_error(cell_types(fit, quantile = 1), "`quantile` is not known here", class = error)
  expect_error(cell_types(fit, names = c("a", "a")),
    "`names` must be different names, the most frequent type first", class = error
  )
  expect_error(cell_types(fit, names = letters[1:4], threads = 2),
    "`names` has 4 names, but there are only 3 types", class = error
  )
  expect_error(cell_types(fit, names = "2", threads = 2),
    "`names` has \"2\", the name of a type that was not given one", class = error
  )
  expect_error(levels(types) <- c("a", "b"),
    "`value` must be different names, one for each of the 3 types", class = error
  )
  lost <- fit
  lost$x <- NULL
  expect_error(cell_types(lost), "`fit` has lost its data", class = error)
  without <- fit
  without$draws$covariances <- NULL
  expect_error(cell_types(without), "did not keep", class = error)
  expect_error(predict(types, type = "class"),
    "`type` must be one of \"type\", \"prob\", \"uncertainty\"", class = error
  )
  expect_error(predict(types, matrix(NA_real_, 1, 2)), "`newdata` has NA in row 1", class = error)
  expect_error(plot(types, type = "pairs"), "`type` must be one of \"tree\", \"cells\"", class = error)
  expect_error(plot(types, type = "cells", markers = "CD9"), "`markers` must be different names", class = error)
  pictureless <- types
  pictureless$fit$x <- NULL
  expect_error(plot(pictureless, type = "cells"), "`x` has lost its cells", class = error)
  expect_error(native(C_mixture_separation, c(1, 1), matrix(0, 2, 1), array(-1, c(1, 1, 2))),
    "pooled covariance of the components is not positive definite", class = error
  )
})

test_that("draws that were changed by hand are refused, and few cells are one type", {
  skip_on_sanitized_emulator()
  set.seed(1)
  few <- matrix(rnorm(40), 20)
  prior <- dp_prior(concentration = c(shape = 2000, rate = 1))
  fit <- suppressWarnings(dp_mixture(few, components = 64, chains = 1, iter = 40, prior = prior, seed = 1, threads = 2))
  changed <- fit
  changed$draws$weights[] <- 1 / 64
  expect_identical(nrow(cell_types(changed, threads = 2)$types), 1L)
  changed$draws$means[] <- NaN
  expect_error(cell_types(changed, threads = 2), "has been changed since it was made", class = "warpbayes_error_input")
})
