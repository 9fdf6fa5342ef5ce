# cell_types(): branches against plain R, known populations, joining and splitting by hand, prediction, printing, plots
# and errors.

# Branches of one mixture as the documentation defines them, in plain R. Returns the branch of each component.
plain_branches <- function(w, m, S, overlap = 0.05, floor = 0.7, valley = 0.9, near = 12, between = 7) {
  k <- length(w)
  p <- ncol(m)
  R <- chol(matrix(matrix(S, p * p) %*% w, p) / sum(w))
  z <- t(backsolve(R, t(m), transpose = TRUE))
  precision <- lapply(seq_len(k), function(j) {
    M <- backsolve(R, t(backsolve(R, S[, , j], transpose = TRUE)), transpose = TRUE)
    e <- eigen((M + t(M)) / 2, symmetric = TRUE)
    e$vectors %*% (t(e$vectors) / pmax(e$values, floor^2))
  })
  weights_at <- function(x) {
    vapply(seq_len(k), function(j) {
      log(w[[j]]) + determinant(precision[[j]])$modulus / 2 - sum((x - z[j, ]) * (precision[[j]] %*% (x - z[j, ]))) / 2
    }, 0)
  }
  density <- function(x) {
    l <- weights_at(x)
    max(l) + log(sum(exp(l - max(l))))
  }
  climb <- function(x) {
    for (step in 1:200) {
      l <- weights_at(x)
      r <- exp(l - max(l)) / sum(exp(l - max(l)))
      A <- Reduce(`+`, Map(`*`, r, precision))
      b <- Reduce(`+`, lapply(seq_len(k), function(j) r[[j]] * precision[[j]] %*% z[j, ]))
      moved <- sqrt(sum((solve(A, b) - x)^2))
      x <- drop(solve(A, b))
      if (moved <= 1e-3) break
    }
    x
  }
  top <- t(matrix(apply(z, 1, climb), p))
  peaks <- top[1, , drop = FALSE]
  peak <- rep(1L, k)
  for (j in seq_len(k)[-1]) {
    gap <- sqrt(colSums((t(peaks) - top[j, ])^2))
    if (min(gap) < 0.05) peak[[j]] <- which.min(gap) else {
      peaks <- rbind(peaks, top[j, ])
      peak[[j]] <- nrow(peaks)
    }
  }
  X <- rbind(z, peaks)
  n <- nrow(X)
  f <- apply(X, 1, density)
  d <- as.matrix(dist(X))
  edges <- cbind(seq_len(k), k + peak)
  for (i in seq_len(n)) edges <- rbind(edges, cbind(i, setdiff(order(d[i, ]), i)[seq_len(min(near, n - 1))]))
  if (n - k > 1) edges <- rbind(edges, t(utils::combn(seq(k + 1, n), 2)))
  parts <- 0:(between + 1) / (between + 1)
  line <- function(a, b) min(vapply(parts, function(t) density((1 - t) * X[a, ] + t * X[b, ]), 0))
  height <- vapply(seq_len(nrow(edges)), function(e) {
    if (e <= k) min(f[edges[e, ]]) else line(edges[e, 1], edges[e, 2])
  }, 0)
  g <- seq_len(n)
  mass <- c(w, rep(1e-12, n - k))
  for (e in order(-round(height, 9))) {
    a <- g == g[[edges[e, 1]]]
    b <- g == g[[edges[e, 2]]]
    if (identical(a, b)) next
    mean_of <- function(s) colSums(mass[s] * X[s, , drop = FALSE]) / sum(mass[s])
    if (height[[e]] - min(max(f[a]), max(f[b])) >= log(valley) ||
          sqrt(sum((mean_of(a) - mean_of(b))^2)) < -2 * qnorm(overlap)) {
      g[b] <- g[[edges[e, 1]]]
    }
  }
  match(g, unique(g))[seq_len(k)]
}

# The branches of one draw by the package.
found_branches <- function(w, m, S, overlap = 0.05) {
  rule <- c(0.7, log(0.9), -2 * qnorm(overlap))
  native(C_mixture_types, w, m, S, ncol(m), 0L, 0, 0L, rule, TRUE, resolve_run("cpu", 2))
}

test_that("branches agree with plain R", {
  skip_where_repeated()
  several <- 0
  for (seed in 1:6) {
    set.seed(seed)
    k <- c(2, 5, 8, 12, 16, 9)[[seed]]
    p <- c(1, 2, 3, 6, 2, 4)[[seed]]
    w <- rgamma(k, 0.7) + 0.01
    m <- matrix(rnorm(k * p, sd = 2.5), k) + 1000
    # Some are as thin as a sheet.
    S <- array(vapply(seq_len(k), function(j) {
      a <- matrix(rnorm(p * (p + 3)), ncol = p) %*% diag(ifelse(runif(p) < 0.2, 0.01, 1), p)
      crossprod(a) / p
    }, numeric(p * p)), c(p, p, k))
    found <- found_branches(w, m, S)
    expect_identical(match(found$own, unique(c(found$own))), plain_branches(w, m, S))
    # The averaged density of one draw is that draw's, and leaves are parts of types.
    expect_identical(found$type[found$leaf], match(found$own, unique(c(found$own))))
    expect_equal(sum(found$mass), 1)
    several <- several + (max(found$own) > 1)
    # Scaled and mixed linearly.
    A <- matrix(rnorm(p * p), p)
    mixed <- array(apply(S, 3, function(s) t(A) %*% s %*% A), c(p, p, k))
    expect_identical(found_branches(w, m %*% A, mixed)$own, found$own)
  }
  expect_gte(several, 4)
})

test_that("a valley and a distance are both needed to keep two types apart", {
  pair <- function(apart, variance = 1) {
    S <- array(variance * diag(2), c(2, 2, 2))
    max(found_branches(c(0.5, 0.5), rbind(c(0, 0), c(apart, 0)), S)$own)
  }
  # The mean of 0.05 is 1.645 standard deviations from the middle.
  expect_identical(pair(3.2), 1L)
  expect_identical(pair(3.4), 2L)
  expect_identical(pair(34, variance = 100), 2L)
  # A bridge of a third component fills the valley.
  S <- array(diag(2), c(2, 2, 3))
  bridge <- found_branches(c(0.4, 0.3, 0.3), rbind(c(0, 0), c(4, 0), c(2, 0)), S)
  expect_identical(max(bridge$own), 1L)
  # A sheet between them, a thousandth as thick, does not.
  S[1, 1, 3] <- 1e-6
  S[2, 2, 3] <- 0.1
  sheet <- found_branches(c(0.48, 0.48, 0.04), rbind(c(0, 0), c(4, 0), c(2, 0)), S)
  expect_identical(sheet$own[1:2], 1:2)
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

test_that("new cells have the probabilities of the types in the density of all draws", {
  between <- rbind(c(5, 0), c(6, 0.3), c(0, 5.9), c(5.9, 6.1))
  plain <- 0
  number <- attr(fit, "numbers")
  for (chain in 1:2) {
    for (draw in 1:6) {
      one <- mixture_of_draw(fit, draw, chain)
      joint <- exp(reference_joint(between, one$weights, one$means, one$covariances))[, number[, draw, chain]]
      plain <- plain + cbind(joint[, 1] + joint[, 2], joint[, 3] + joint[, 4], joint[, 5] + joint[, 6])
    }
  }
  plain <- plain / rowSums(plain)
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

test_that("cells of large samples are classified by fewer draws", {
  expect_identical(draws_for_cells(fit, 12L), 1:12 + 0)
  large <- fit
  large$rows <- 1e9
  expect_identical(draws_for_cells(large, 12L), c(1, 5, 8, 12))
})

test_that("if draws agree, threads and the numbers of draws do not matter", {
  one <- cell_types(fit, threads = 1)
  expect_identical(one[c("types", "type", "probability", "proportions")],
    types[c("types", "type", "probability", "proportions")]
  )
  expect_identical(cell_types(fit, ndraws = 1, threads = 2)$type, types$type)
  expect_identical(cell_types(fit, ndraws = NULL, threads = 2)$type, types$type)
})

test_that("the tree can be cut into any number of types", {
  two <- cell_types(fit, types = 2, threads = 2)
  expect_identical(nlevels(two$type), 2L)
  # Either of the smaller populations may join the largest; neither is divided.
  expect_identical(nrow(unique(cbind(truth, as.integer(two$type)))), 3L)
  expect_identical(levels(cell_types(fit, types = 1, threads = 2)$type), "1")
  expect_s3_class(types$tree, "hclust")
  expect_identical(sort(types$tree$order), seq_along(types$leaf_type))
  expect_identical(unname(stats::cutree(types$tree, 3)), match(types$leaf_type, unique(types$leaf_type)))
})

test_that("a rare type that all draws have is shown, and phantoms are not", {
  # 30 cells of 10,000 far from all others.
  fit <- population_fit(n = 10000, kept = 3, speck = 0.003)
  rare <- cell_types(fit, threads = 2)
  expect_identical(rare$types$speck, rep(FALSE, 4))
  expect_lt(rare$types$proportion[[4]], 0.005)
  expect_output(print(rare), "4 cell types from")
  expect_no_match(capture.output(print(rare)), "speck")
  # As a cut that the user chose, it proves nothing.
  expect_identical(sum(cell_types(fit, types = 4, specks = "keep", threads = 2)$types$speck), 1L)
  shares <- c(0.6, 0.3, 0.01, 0.03, 0.003, 0.003, 0.003, 0.004)
  cells <- c(600, 300, 0, 10, 30, 19, 30, 10)
  map <- list(apart = c(1, 0.6, 0.24, 0.3, 1, 1, 0.9, 1), fixed = rep(FALSE, 8))
  expect_identical(are_specks(shares, cells, map, 0.005, 10), c(FALSE, FALSE, TRUE, TRUE, FALSE, TRUE, TRUE, TRUE))
  # More markers than cells tell nothing.
  expect_true(are_specks(0.003, 30, list(apart = 1, fixed = FALSE), 0.005, 40))
  expect_false(are_specks(1, 0, list(apart = 1, fixed = TRUE), 0.005, 40))
  phantom <- rare
  phantom$types$speck[[4]] <- TRUE
  phantom$types$cells[[4]] <- 0
  expect_no_match(as.character(verdict(phantom)), "most probable type")
  levels(phantom) <- c("a", "b", "c")
  expect_identical(levels(phantom), c("a", "b", "c", "4"))
})

test_that("the verdict names channels that are no markers", {
  fit <- population_fit()
  types <- cell_types(fit, threads = 2)
  channels <- function(types) paste(vapply(channel_reasons(types), `[[`, "", "words"), collapse = " ")
  expect_no_match(as.character(verdict(types)), "constant|By its name")
  types$fit$markers[[2]] <- "Time"
  types$fit$x[, 1] <- 7
  words <- channels(types)
  expect_match(words, "\"CD4\" is constant, so it tells nothing")
  expect_match(words, "By its name, \"Time\" is no marker")
  names <- c("Time", "time ", "Event_length", "CD4", "HDR-T", "bc_separation_dist", "Timeless", "TIM-3", "FSC-Width")
  expect_match(channels(list(fit = list(markers = names, x = NULL))), paste("^By their names, \"Time\",",
    "\"time \", \"Event_length\", \"HDR-T\", \"bc_separation_dist\" are no markers of cells: a fit without them"))
})

test_that("a small remote group is called a speck or joined, and is not counted in the number of types", {
  fit <- population_fit(n = 2000, kept = 3, speck = 0.002)
  truth <- attr(fit, "population")
  kept <- cell_types(fit, threads = 2)
  expect_identical(kept$types$speck, c(FALSE, FALSE, FALSE, TRUE))
  expect_identical(as.integer(kept$type), truth)
  expect_match(as.character(verdict(kept)), all = FALSE,
    "1 speck, which has too few cells or draws .*holds 0.3% of the cells together")
  joined <- cell_types(fit, specks = "join", threads = 2)
  # The nearest population is the one at (0, 12), and the overlap with it is zero.
  expect_identical(as.integer(joined$type), ifelse(truth == 4L, 3L, truth))
  three <- cell_types(fit, types = 3, threads = 2)
  expect_identical(three$type, joined$type)
  counted <- cell_types(fit, types = 3, specks = "keep", threads = 2)
  expect_identical(sum(counted$types$speck), 1L)
})

test_that("a type without cells has medians, and a type without components is no type", {
  empty <- types
  empty$map$averaged[, empty$map$chosen] <- 1L
  medians <- medians_of_types(fit, ifelse(truth == 3, 3L, 1L), empty$map, 2L)
  expect_equal(medians[2, ], c(CD4 = 12, CD8 = 0), tolerance = 0.05)
  expect_identical(join_specks(types$map$tree, 1:3, 0), 1:3)
})

test_that("the reference draw is the one that most others agree with", {
  a <- rep(1:2, each = 50)
  b <- rep(1:2, 50)
  expect_identical(central_partition(cbind(b, a, 3L - a, a)), 2L)
  expect_identical(central_partition(cbind(a)), 1L)
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
  widest <- shares[, which.max(apply(shares, 2L, function(share) abs(diff(share))))]
  range <- sprintf("%.1f%%\\s+to\\s+%.1f%%", 100 * min(widest), 100 * max(widest))
  expect_output(print(named), paste0("Between\\s+the\\s+2\\s+chains.*differs\\s+most:\\s+", range))
  expect_output(print(cell_types(fit, types = 2, threads = 2)), "cut into 2 types")
  expect_output(print(summary(named)), "Medians, in the data's units")
  pdf(NULL)
  on.exit(dev.off())
  for (type in c("tree", "cells", "heatmap", "proportions")) {
    expect_invisible(plot(named, type = type, main = "Title"))
    plot(cell_types(fit, types = 1, ndraws = 1, threads = 2), type = type, specks = TRUE)
  }
})

test_that("cell_types() works for one component, one marker and a sampled fit", {
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

# A fit whose second population is two, `far` apart, in all draws but some, by default the last two of the second chain.
torn_fit <- function(one = 11:12, far = 5) {
  torn <- fit
  number <- attr(fit, "numbers")
  for (i in 1:12) {
    apart <- if (i %in% one) 0.2 else far
    chain <- (i + 5) %/% 6
    draw <- i - 6 * (chain - 1)
    torn$draws$means[number[3:4, draw, chain], 1, draw, chain] <- 12 + c(-apart, apart) / 2
  }
  torn
}

test_that("a joining that some draws do otherwise is named, whatever the number of draws", {
  set <- function(s) seq(s, 12, 3)
  said <- function(x) as.character(verdict(x))
  split <- cell_types(torn_fit(set(2), 6), threads = 2)
  expect_identical(nrow(split$types), 4L)
  edges <- joining_edges(split)
  expect_identical(edges[c("types", "see")], data.frame(types = "3 and 4", see = "join_types(types, 3, 4)"),
    ignore_attr = TRUE)
  expect_equal(edges$share, 1 / 3)
  expect_match(said(split), "types 3 and 4 are one .*: 33% of the draws join them. join_types.* shows", all = FALSE)
  joined <- cell_types(torn_fit(c(set(1), set(2)), 6), threads = 2)
  expect_identical(nrow(joined$types), 3L)
  expect_match(said(joined), "Whether type 2 is one .*: 33% of the draws split it.", all = FALSE)
  expect_match(paste(capture.output(print(summary(joined))), collapse = " "), "may be one, or two: +types +why")
  # All draws agree, or all but one in twelve.
  for (one in list(1:12, integer(), 7)) {
    agreed <- cell_types(torn_fit(one, 6), threads = 2)
    expect_identical(NROW(joining_edges(agreed)), 0L)
    expect_no_match(said(agreed), "of the draws (join|split)")
  }
  for (draws in list(1, 5, NULL)) {
    other <- cell_types(torn_fit(set(2), 6), ndraws = draws, threads = 2)
    expect_identical(other$map$tree, split$map$tree)
    expect_equal(other$probability, split$probability)
    expect_identical(nrow(unique(cbind(other$type, split$type))), nlevels(droplevels(split$type)))
  }
})

test_that("a type that most draws lack, or that is no cell's, joins the type of its components", {
  run <- resolve_run("cpu", 2)
  counts <- vapply(0:12, function(n) {
    torn <- torn_fit(seq_len(n), 6)
    map <- map_types(torn, NULL, 0.04, 0, 12, run)
    expect_true(all(map$apart >= 0.5))
    expect_true(all(tabulate(most_probable_type(torn, map, fit$x, run)$type, map$count) > 0))
    map$count
  }, 0L)
  expect_identical(counts, rep(4:3, c(7, 6)))
})

test_that("a type is split at the valley that most draws have, not at a speck that lies farther away", {
  types <- cell_types(fit, types = 3, threads = 2)
  types$map$tree[c("used", "type", "size", "place", "first", "second", "level")] <- list(1:4, rep(1:3, c(2, 1, 1)),
    c(0.4, 0.2, 0.399, 0.001), types$map$tree$place[c(1, 1, 2, 3), ], c(1L, 1L, 1L), c(2L, 3L, 4L), c(0.03, 1e-4, 1e-9))
  types$map$group <- rep(1L, 4L)
  types$map$leaf[] <- rep_len(1:4, length(types$map$leaf))
  types$map$own <- types$map$leaf
  expect_identical(halves_of_type(types, 1L), list(c(1L, 2L, 4L), 3L))
  # One branch has the third leaf, in all draws: the first two are apart.
  types$map$own[types$map$leaf == 3L] <- 1L
  expect_identical(halves_of_type(types, 1L), list(c(1L, 3L, 4L), 2L))
})

test_that("the cause of a disagreement between draws is named", {
  torn <- cell_types(torn_fit(), threads = 2)
  expect_identical(nrow(torn$types), 4L)
  expect_equal(sort(torn$types$apart), c(10 / 12, 1, 1, 1))
  part <- which(torn$types$apart < 0.9)
  # The interval includes that the type may not exist.
  expect_identical(torn$types$lower[[part]], 0)
  expect_gt(torn$types$upper[[part]], 0.1)
  expect_identical(unname(torn$proportions[11:12, part]), numeric(2))
  expect_output(print(torn), paste0("do\\s+not\\s+agree\\s+on\\s+where\\s+types\\s+end.*\"", part, "\"\\s+83%"))
  words <- paste(capture.output(print(types)), collapse = " ")
  expect_no_match(words, "where\\s+types\\s+end|one\\s+chain|number of types")
  for (shown in list(torn, types)) {
    expect_no_match(paste(capture.output(print(summary(shown))), collapse = " "), "choose\\s+the\\s+number|e-[0-9]")
  }
})

test_that("one chain and a short run are named as causes", {
  skip_where_repeated()
  set.seed(2)
  x <- cbind(a = c(rnorm(300), rnorm(300, 8)), b = rnorm(600))
  short <- cell_types(dp_mixture(x, components = 8, chains = 1, iter = 24, seed = 1, threads = 2), threads = 2)
  expect_match(as.character(verdict(short)), "There is one chain", all = FALSE)
  expect_match(as.character(verdict(short)), "The run is short", all = FALSE)
  long <- cell_types(dp_mixture(x, components = 8, chains = 2, iter = 400, seed = 1, threads = 2), ndraws = 200,
    threads = 2)
  expect_true(all(long$types$ess[!long$types$speck] > 20))
  words <- paste(capture.output(print(long)), collapse = " ")
  expect_no_match(words, "one\\s+chain|run\\s+is\\s+short|do\\s+not\\s+agree")
})

test_that("types are joined and split by hand, and the others keep their names", {
  named <- cell_types(fit, names = c("T", "B", "NK"), threads = 2)
  joined <- join_types(named, "B", 3, threads = 2)
  expect_identical(levels(joined), c("B", "T"))
  expect_identical(as.integer(joined$type), ifelse(truth == 1L, 2L, 1L))
  expect_equal(joined$proportions[, "B"], named$proportions[, "B"] + named$proportions[, "NK"])
  expect_equal(joined$proportions[, "T"], named$proportions[, "T"])
  expect_identical(levels(join_types(named, 2, 3, name = "lymphocytes", threads = 2)), c("lymphocytes", "T"))
  expect_output(print(joined), "Joined and split by hand")
  # A draw's population at 9.5 and 14.5 is one type here, until it is split.
  torn <- cell_types(torn_fit(), threads = 2)
  part <- which(torn$types$apart < 0.9)
  one <- join_types(torn, torn$types$nearest[[part]], torn$types$type[[part]], name = "second", threads = 2)
  expect_identical(sort(as.vector(table(one$type))), c(80L, 120L, 200L))
  again <- split_type(one, "second", threads = 2)
  expect_setequal(levels(again), c(setdiff(levels(one), "second"), "seconda", "secondb"))
  # The cut is the same in all draws, so no share is zero.
  expect_true(all(again$types$apart == 1))
  expect_gt(min(again$proportions), 0.05)
  kept <- setdiff(levels(one), "second")
  expect_equal(again$proportions[, kept], one$proportions[, kept])
  expect_equal(rowSums(again$proportions), rep(1, 12))
  back <- join_types(again, "seconda", "secondb", name = "second", threads = 2)
  expect_identical(back$type, one$type)
  expect_identical(levels(split_type(one, "second", names = c("x", "y"), threads = 2))[levels(again) == "secondb"], "y")
  error <- "warpbayes_error_input"
  expect_error(join_types(named, 1), "must be two or more different types", class = error)
  expect_error(join_types(named, 1, 9), "must name types among \"T\", \"B\", \"NK\", not 9", class = error)
  expect_error(join_types(fit, 1, 2), "`types` must come from cell_types", class = error)
  expect_error(join_types(named, 1, 2, name = "NK"), "`name` has \"NK\", the name of another type", class = error)
  expect_error(split_type(named, "T", names = c("a", "NK"), threads = 2), "one peak|the name of another", class = error)
  expect_error(split_type(named, "x"), "`type` must name types among", class = error)
  single <- cell_types(dp_mixture(fit$x[truth == 1, ], components = 1, iter = 4, seed = 1, threads = 2), threads = 2)
  expect_error(split_type(single, 1), "has one peak: there is no valley to split at", class = error)
})

test_that("input that cannot be joined is refused", {
  error <- "warpbayes_error_input"
  expect_error(cell_types(1), "`fit` must come from dp_mixture\\(\\), not 1", class = error)
  expect_error(cell_types(fit, types = 0), "`types` must be one whole number from 1", class = error)
  expect_error(cell_types(fit, types = 7),
    "`types` is 7, but the density of the draws has only 3 peaks", class = error
  )
  expect_error(cell_types(fit, overlap = 0.5), "`overlap` must be one number strictly between 0 and 0.5", class = error)
  expect_error(cell_types(fit, specks = "drop"), "`specks` must be one of \"auto\", \"keep\", \"join\"", class = error)
  expect_error(cell_types(fit, speck = 2), "`speck` must be one number between 0 and 1", class = error)
  expect_error(cell_types(fit, ndraws = 0), "`ndraws` must be one whole number", class = error)
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
  # Names for the types that are no specks; the speck keeps its own.
  some <- types
  some$types$speck <- c(FALSE, FALSE, TRUE)
  levels(some) <- c("a", "b")
  expect_identical(levels(some), c("a", "b", levels(types)[[3]]))
  expect_identical(levels(some$type), levels(some))
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
  expect_error(native(C_mixture_types, c(1, 1), matrix(0, 2, 1), array(-1, c(1, 1, 2)), 1L, 0L, 0, 0L, c(0.7, 0, 3),
    TRUE, resolve_run("cpu", 1)), "pooled covariance of the components is not positive definite", class = error)
})

test_that("draws that were changed by hand are refused, and few cells are one type", {
  set.seed(1)
  few <- matrix(rnorm(40), 20)
  prior <- dp_prior(concentration = c(shape = 2000, rate = 1))
  fit <- suppressWarnings(dp_mixture(few, components = 64, chains = 1, iter = 40, prior = prior, seed = 1, threads = 2))
  changed <- fit
  changed$draws$weights[] <- 1 / 64
  expect_lte(nrow(cell_types(changed, threads = 2)$types), 8L)
  changed$draws$means[] <- NaN
  expect_error(cell_types(changed, threads = 2), "has been changed since it was made", class = "warpbayes_error_input")
})

test_that("medians of groups are those of stats::median()", {
  set.seed(7)
  n <- 3001L
  x <- cbind(rnorm(n), round(rexp(n)), 1e308 * sample(c(-1, 1), n, TRUE), 0, seq_len(n), rev(seq_len(n)) %% 50)
  x[sample(length(x), 500)] <- NA
  group <- sample(c(1:4, 6L, 6L, 6L), n, TRUE)
  group[1] <- 7L
  x[1, ] <- NaN
  medians <- function(threads, columns = 1:6, at = x, groups = 7L, of = group, order = n:1, end = n, least = 1) {
    found <- native(C_matrix_group_statistics, at, columns, order, end, of, groups, c(0, least), threads)
    matrix(found$value, groups)
  }
  expected <- apply(x, 2L, function(values) {
    vapply(1:7, function(g) stats::median(values[group == g], na.rm = TRUE), 0)
  })
  found <- medians(1L)
  expect_equal(found, expected, tolerance = 4e-16)
  expect_identical(is.na(found), is.na(expected))
  expect_identical(medians(3L), found)
  expect_identical(medians(2L, c(4L, 3L)), found[, 4:3])
  wrong <- list(list(columns = 0L), list(columns = 7L), list(of = group[-1]), list(groups = 6L),
    list(of = replace(group, 2, NA)), list(at = round(1)), list(at = 1:3), list(of = as.double(group)),
    list(order = seq_len(n) + 1L), list(order = 1:9), list(end = n + 1L), list(end = c(5L, 4L, n)), list(end = 5L),
    list(end = integer()), list(least = NA_real_))
  for (one in wrong) expect_error(do.call(medians, c(2L, one)), "do not agree", class = "warpbayes_error_input")
})
