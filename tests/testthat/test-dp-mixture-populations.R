# Words on populations in which chains differ, and on types with the same signs: where they must appear, and
# where they must not.
skip_where_repeated()

two_populations <- function() {
  set.seed(1)
  x <- cbind(CD3 = c(rnorm(300), rnorm(300, 8)), CD4 = rnorm(600))
  dp_mixture(x, components = 6, chains = 2, iter = 100, seed = 1, threads = 2)
}

# In the second chain, cells with high CD3 have three times their weight.
with_other_shares <- function(fit) {
  high <- fit$draws$means[, 1, , 2] > 4
  weights <- fit$draws$weights[, , 2] * ifelse(high, 3, 1)
  fit$draws$weights[, , 2] <- weights / rep(colSums(weights), each = nrow(weights))
  fit
}

with_other_density <- function(fit) {
  fit$probe_density[, 2L, 1L] <- fit$probe_density[, 2L, 1L] - 10
  fit
}

printed <- function(x) gsub("\\s+", " ", paste(capture.output(print(x)), collapse = " "))

test_that("summary() shows in which populations the chains differ, and only if they do not agree", {
  fit <- two_populations()
  expect_null(summary(fit)$populations)
  expect_no_match(printed(summary(fit)), "each chain|chains differ")

  # The density of a cell differs, the shares do not.
  other <- with_other_density(fit)
  expect_identical(verdict(other)$answer, "not yet")
  shown <- summary(other)
  expect_identical(shown$populations$differs, c(FALSE, FALSE))
  agree <- "Between the 2 chains, the share of type [12] differs most: .* \\(highest Rhat 1\\.0[0-5]\\)"
  expect_match(printed(shown), agree)
  expect_no_match(capture.output(print(shown, all = TRUE)), "Means of the types in which")
  # Types have the names that cell_types() gives them.
  expect_identical(shown$populations$type, cell_types(other, threads = 2)$types$type)

  # The shares differ too: half of the cells in the first chain, three quarters in the second.
  shown <- summary(with_other_shares(other))
  types <- shown$populations
  high <- which(types$means[, "CD3"] > 4)
  expect_identical(types$differs, c(TRUE, TRUE))
  expect_equal(c(types$chain_1[[high]], types$chain_2[[high]]), c(0.5, 0.75), tolerance = 0.1)
  expect_equal(types$means[high, "CD3"], 8, tolerance = 0.05, ignore_attr = TRUE)
  expect_match(printed(shown), "chain 1 chain 2.*differ by more than chance.*differ in the shares of 2 of the 2 cell")
  expect_match(printed(verdict(other)), "^Not yet. Not converged")
  expect_output(print(shown, all = TRUE), "Means of the types in which")
  expect_match(printed(shown), "All chains have these types: of the cells of type [12], .* have (99|100)% in common")

  # Without data, draws or a second chain nothing can be said.
  lost <- with_other_shares(other)
  lost$x <- NULL
  expect_null(summary(lost)$populations)
  one <- other
  one$chains <- 1L
  expect_null(fit_agreement(one))
})

test_that("cell types show their shares in each chain if chains do not agree", {
  fit <- two_populations()
  types <- cell_types(fit, threads = 2)
  expect_no_match(printed(types), "in each chain")
  expect_no_match(printed(summary(types)), "in each chain")
  types <- cell_types(with_other_shares(fit), threads = 2)
  expect_match(printed(types), "Shares in each chain, of types above 1%: type share Rhat chain 1 chain 2")
  expect_match(printed(verdict(types)), "All chains have these types: .* that differ most have (99|100)% in common")
  expect_match(printed(summary(types)), "Shares in each chain")
})

test_that("words tell whether all chains have the types in whose shares they differ", {
  skip_where_repeated()
  types <- cell_types(two_populations(), threads = 2)
  expect_gt(min(cells_in_common(types$map)), 0.99)
  # The second chain counts the cells of the second type to the first one.
  second <- types$map$used$chain == 2L
  types$map$type_of[, second] <- 1L
  types$map$proportions[second, ] <- types$map$proportions[second, ] %*% rbind(c(1, 0), c(1, 0))
  expect_equal(cells_in_common(types$map), c(2 / 3, 0), tolerance = 0.02)
  expect_match(printed(verdict(types)), "Most draws of a chain lack type 2: .* differ most have 0% in common")
  # By hand: two chains of one draw, five cells.
  map <- list(used = data.frame(draw = 1, chain = 1:2), count = 3L, class = cbind(c(1, 1, 1, 2, 2), c(1, 1, 2, 2, 2)),
    type_of = cbind(1:2, 1:2))
  expect_equal(cells_in_common(map), c(4 / 5, 4 / 5, NA))
  map$used$chain <- 1L
  expect_equal(cells_in_common(map), rep(NA_real_, 3))
  common <- function(common, differs = integer()) {
    common_reasons(list(common = common, differs = differs, shown = 1:2, names = c("1", "2")))[[1]]$words
  }
  expect_null(common(c(NA, 0.9), 1L))
  expect_null(common(c(0.6, 0.9)))
  # A type that a chain lacks is named even if its shares do not differ by more than chance explains.
  expect_match(common(c(0.4, 0.9)), "^Most draws of a chain lack type 1: .* have 40% in")
  expect_match(common(c(0.6, 0.9), 2L), "^All chains have this type: .* type 2, .* have 90% in")
})

test_that("types with the same signs are proposed for joining, and others are not", {
  # Two populations that lie 4 apart in four markers together, 2 in each, and a third one far away.
  set.seed(2)
  x <- matrix(rnorm(4 * 900), 900) + rep(c(0, 2, 9), c(300, 300, 300))
  colnames(x) <- c("CD3", "CD4", "CD8", "CD19")
  fit <- dp_mixture(x, components = 8, iter = 100, seed = 1, threads = 2)
  types <- cell_types(fit, threads = 2)
  expect_identical(sum(!types$types$speck), 3L)
  near <- unname(which(types$medians[, 1] < 5 & !types$types$speck))
  expect_identical(alike_types(types), list(near))
  expect_match(printed(summary(types)), sprintf("%d, %d the same signs, no valley, overlap [1-3]\\..*%% join_types\\(",
    near[[1L]], near[[2L]]))
  expect_no_match(printed(types), "same signs")
  levels(types)[1:3] <- c("a", "b", "c")
  expect_match(printed(summary(types)), "join_types\\(types, \"[abc]\", \"[abc]\"\\)")
  joined <- join_types(types, near[[1L]], near[[2L]], threads = 2)
  expect_no_match(printed(summary(joined)), "same signs")

  # A third level of a marker: both have the sign of one threshold, and a valley lies between them.
  set.seed(2)
  x <- cbind(CD3 = rnorm(900) + rep(c(0, 6, 20), each = 300), CD4 = rnorm(900))
  types <- cell_types(dp_mixture(x, components = 8, iter = 100, seed = 1, threads = 2), threads = 2)
  expect_identical(nrow(types$types), 3L)
  expect_lt(nrow(unique(types$medians > rep(marker_thresholds(types), each = 3))), 3)
  expect_identical(alike_types(types), list())
})

test_that("predict() gives the types of as many draws as cell_types()", {
  fit <- two_populations()
  used <- nrow(default_types(fit, NULL, resolve_run("cpu", 2))$used)
  expect_identical(used, 50L)
  expect_identical(nrow(default_types(fit, 8, resolve_run("cpu", 2))$used), 8L)
})

test_that("the interval of a share counts that each chain is one draw of a mode", {
  set.seed(1)
  chain <- rep(1:4, each = 12)
  draws <- cbind(rnorm(48, 0.3, 0.001) + c(0, 0.02, 0.03, 0.01)[chain], runif(48))
  mean <- tapply(draws[, 1], chain, mean)
  by_hand <- mean(mean) + c(-1, 1) * qt(0.95, 3) * sqrt(var(mean) * 5 / 4)
  expect_equal(share_interval(draws, chain)[1, ], by_hand)
  expect_equal(share_interval(draws, rep(1, 48))[2, ], quantile(draws[, 2], c(0.05, 0.95), names = FALSE))
  expect_true(all(share_interval(draws, chain, 0.99) >= 0 & share_interval(draws, chain, 0.99) <= 1))
  # It holds the share of a further chain, also where modes differ by far more than draws of one do.
  held <- replicate(1000, {
    mode <- rnorm(5)
    interval <- share_interval(cbind(0.5 + 0.01 * (mode[rep(1:4, each = 12)] + rnorm(48, 0, 0.1))), rep(1:4, each = 12))
    c(0.5 + 0.01 * mode[[5]] >= interval[[1]] && 0.5 + 0.01 * mode[[5]] <= interval[[2]])
  })
  expect_gt(mean(held), 0.86)
  expect_lt(mean(held), 0.95)
})

# Two populations that overlap, and a third one. In half of the four chains the border of the first two lies elsewhere.
with_open_border <- function(moved) {
  set.seed(3)
  x <- cbind(CD3 = c(rnorm(1500), rnorm(1500, 5), rnorm(600, 14)), CD4 = rnorm(3600))
  types <- cell_types(dp_mixture(x, components = 6, chains = 4, iter = 600, seed = 1, threads = 2), threads = 2)
  chain <- types$map$used$chain
  # Some cells of type 1 are of another component, which chains 1 and 2 count to type `moved`.
  spare <- types$fit$components
  first <- which(types$map$type_of[types$map$class[, 1], 1] == 1L)
  types$map$class[first[seq_len(length(first) / 3)], ] <- spare
  types$map$type_of[spare, ] <- ifelse(chain <= 2, moved, 1L)
  shift <- ifelse(chain <= 2, 0.13, 0)
  types$map$proportions[, 1] <- types$map$proportions[, 1] - shift
  types$map$proportions[, moved] <- types$map$proportions[, moved] + shift
  types
}

test_that("a border that chains put in different places is named, and nothing else", {
  types <- with_open_border(2L)
  said <- verdict(types)$reasons
  expect_identical(said$quantity[said$code == "open_border"], "\"1\", \"2\"")
  expect_match(said$words[said$code == "open_border"], "not determined: .* in the chains. Their sum is 8[0-9]")
  expect_false(any(c("type_shares_differ", "wide_shares") %in% said$code))
  # A type whose sum with no neighbour is the same in all chains.
  types$map$proportions[, 3] <- types$map$proportions[, 3] * c(1, 1.6, 1, 1.9)[types$map$used$chain]
  said <- verdict(types)
  expect_identical(said$answer, "not yet")
  expect_match(said$reasons$quantity[said$reasons$code == "type_shares_differ"], "3")
  # Few cells alone make no border: nothing is said of an interval that is as wide as their chance.
  expect_lt(share_tolerance(0.1, 1e5), 0.021)
  expect_gt(share_tolerance(0.1, 100), 0.09)
})

test_that("long runs in different modes are judged by the masses of the modes, short and drifting runs are not", {
  apart <- function(sweeps = 600, ...) {
    fit <- simulate_fit(sweeps = sweeps, warmup = 100, chains = 4, ...)
    fit$probe_density[, 4, 2] <- fit$probe_density[, 4, 2] - 20
    fit
  }
  alike <- verdict(apart())
  expect_true("modes_alike" %in% alike$reasons$code)
  expect_match(as.character(alike)[[1]], "^Usable.*except densities of single cells")
  unlike <- apart()
  unlike$score[, 2] <- unlike$score[, 2] - 400
  said <- verdict(unlike)$reasons
  expect_identical(said$answer[said$code == "modes_unlike"], "usable with reservations")
  expect_match(said$words[said$code == "modes_unlike"], "mass around chain 2 is about 40[0-9] below that around chain")
  expect_identical(verdict(apart(300))$answer, "not yet")
  drifting <- apart()
  drifting$score <- drifting$score + seq_len(600)
  expect_identical(verdict(drifting)$answer, "not yet")
})

test_that("a pair at the edge of the rule is named with the other joining, and others are not", {
  near <- function(distance) {
    set.seed(4)
    x <- cbind(CD3 = c(rnorm(1000), rnorm(1000, distance), rnorm(600, 20)), CD4 = rnorm(2600))
    cell_types(dp_mixture(x, components = 6, chains = 2, iter = 200, seed = 1, threads = 2), threads = 2)
  }
  types <- near(3.5)
  edges <- joining_edges(types)
  expect_identical(nrow(edges), 1L)
  expect_true(edges$share > 0.1 && edges$share < 0.9)
  other <- eval(str2lang(edges$see))
  expect_identical(abs(nrow(other$types) - sum(types$types$cells > 0)), 1L)
  expect_true("joining_edge" %in% verdict(types)$reasons$code)
  expect_match(printed(summary(types)), "Types that may be one, or two.* of the draws (split|join)")
  # A cut that was chosen by hand has no rule.
  expect_null(joining_edges(other))
  far <- near(7)
  expect_identical(NROW(joining_edges(far)), 0L)
  expect_no_match(printed(summary(far)), "may be one, or two")
})
