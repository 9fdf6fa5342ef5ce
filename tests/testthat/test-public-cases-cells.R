# Cells and samples that people asked about in public. Each fit takes well below a second.
skip_where_repeated()

cells_of_three <- function(n = 600, seed = 1) {
  set.seed(seed)
  population <- rep(1:3, n * c(3, 2, 1) / 6)
  list(
    x = cbind(CD4 = rnorm(n, c(0, 6, 6)[population]), CD8 = rnorm(n, c(0, 0, 6)[population])), population = population
  )
}

types_of <- function(x, components = 8, ..., seed = 1) {
  fit <- fit_mixture(x, components, iter = 100, seed = seed, threads = 1, chains = 1, ...)
  cell_types(fit, threads = 1)
}

# Each type is a population: as many types as populations, and nearly all cells with their own.
expect_populations <- function(types, population, least = 0.99) {
  expect_identical(sum(!types$types$speck), length(unique(population)))
  expect_gte(sum(apply(table(population, types$type), 1L, max)) / length(population), least)
  expect_gte(sum(apply(table(population, types$type), 2L, max)) / length(population), least)
}

text_of <- function(x) gsub("\\s+", " ", paste(capture.output(print(x)), collapse = " "))

test_that("5 to 41% of a marker at one value are one end of a population, in any unit", {
  three <- cells_of_three()
  for (share in c(0.05, 0.2, 0.41)) {
    x <- three$x
    x[, "CD4"] <- pmax(x[, "CD4"] - quantile(x[, "CD4"], share), 0)
    for (unit in c(1e-4, 1, 1e4)) expect_populations(types_of(unit * x), three$population)
  }
})

test_that("the same seed gives the same types, another seed other draws and the same populations", {
  three <- cells_of_three()
  types <- types_of(three$x)
  again <- types_of(three$x)
  expect_identical(again$type, types$type)
  expect_identical(again$fit$draws, types$fit$draws)
  other <- types_of(three$x, seed = 2)
  expect_false(identical(other$fit$draws$weights, types$fit$draws$weights))
  expect_populations(other, three$population)
  expect_error(levels(types)[] <- c("a", "a", "b"), "must be different names", class = "warpbayes_error_input")
})

test_that("every row ten times gives the same types, with narrower intervals", {
  three <- cells_of_three()
  ten <- rep(1:600, each = 10)
  once <- types_of(three$x)
  often <- types_of(three$x[ten, ])
  expect_populations(often, three$population[ten])
  width <- function(types) (types$types$upper - types$types$lower)[1:2]
  expect_true(all(width(often) < width(once) / 2))
})

test_that("a sample of one cell has the shares of the others, with wide intervals", {
  x <- cells_of_three()$x
  table <- type_proportions(types_of(list(one = x[300, , drop = FALSE], sixty = x[seq(1, 600, 10), ], all = x)))
  own <- function(sample, column) table[[column]][table$sample == sample][1:3]
  expect_identical(own("one", "cells"), rep(1L, 3))
  expect_equal(own("one", "proportion"), c(3, 2, 1) / 6, tolerance = 0.15)
  width <- vapply(c("one", "sixty", "all"), function(s) sum(own(s, "upper") - own(s, "lower")), 0)
  expect_true(all(diff(width) < 0))
})

test_that("a marker that is zero in one sample leaves the other sample's types alone", {
  three <- cells_of_three()
  zero <- cells_of_three(seed = 2)$x
  zero[, "CD8"] <- 0
  types <- types_of(list(a = three$x, b = zero))
  expect_populations(list(types = types$types, type = types$type[1:600]), three$population)
  table <- type_proportions(types)
  expect_lt(min(table$proportion[table$sample == "b"]), 0.01)
})

test_that("a constant channel is named and does no harm, and an empty one is refused", {
  three <- cells_of_three()
  x <- cbind(three$x, k = 3)
  types <- types_of(x)
  expect_populations(types, three$population)
  expect_match(text_of(types), "\"k\" is constant, so it tells nothing about types")
  x[, "k"] <- NA
  expect_error(types_of(x), "NA in row 1, column 3 \\(\"k\"\\), the first of 600", class = "warpbayes_error_input")
  expect_error(types_of(x, missing = "model"), "no value in column 3", class = "warpbayes_error_input")
})

test_that("noise around zero is one population on the logicle scale, with values to -54,707 and in any unit", {
  # The CD8 of the second population has four times the noise, as spillover spreads it. By log10(t) + 1 decades it
  # took 5 to 9 types (noise of 30 to 1500), with an adjusted Rand index of 0.94 to 0.32.
  n <- 1200
  population <- rep(1:4, n * c(6, 3, 2, 1) / 12)
  for (noise in c(30, 600)) {
    set.seed(noise)
    draw <- function(on, spread) ifelse(on, 20000 * exp(rnorm(n, 0, 0.4)), rnorm(n, 0, spread))
    x <- cbind(CD4 = draw(population %in% 2:3, noise), CD3 = draw(population > 1, noise),
      CD8 = draw(population > 2, noise * ifelse(population == 2, 4, 1)))
    expect_populations(types_of(x, 16, transform = "logicle"), population)
    expect_populations(types_of(x / 1e4, 16, transform = "logicle"), population)
    x[600 + 1:3, "CD8"] <- c(-54707, -20000, -9000)
    types <- types_of(x, 16, transform = "logicle")
    expect_populations(types, population)
    expect_equal(data_values(types$fit$x[, 3], types$fit$transform, 3), x[, "CD8"], tolerance = 1e-9)
  }
})

test_that("events at the edge of the scale are set aside, and all verbs count alike", {
  three <- cells_of_three(3000)
  set.seed(4)
  edge <- sample(3000, 30)
  x <- three$x
  x[edge, "CD8"] <- 15
  types <- types_of(x)
  expect_identical(sum(!types$types$speck), 3L)
  expect_match(as.character(verdict(types)), "The 30 cells of type .* lie at the edge of the scale \\(\"CD8 = 15\"\\)",
    all = FALSE)
  # Events that are set aside are not said to be too few to tell.
  only <- types
  only$types$cells[only$types$speck & only$types$cells < 30] <- 0
  expect_no_match(paste(as.character(verdict(only)), collapse = " "), "too few cells")
  expect_no_match(paste(as.character(verdict(types_of(three$x))), collapse = " "), "edge of the scale")
  specks <- sum(types$types$speck & types$types$cells > 0)
  expect_match(text_of(types), sprintf("^3 cell types and %s from", count_words(specks, "speck")))
  expect_identical(unlist(glance_of(types)[c("types", "specks")], use.names = FALSE), c(3L, specks))
  # A phantom, which has no cell, is counted nowhere.
  phantom <- types
  phantom$types$cells[phantom$types$speck] <- 0
  expect_identical(unlist(glance_of(phantom)[c("types", "specks")], use.names = FALSE), c(3L, 0L))
  expect_identical(nrow(types_tables(summary(phantom))[[1L]]), 3L)
  skip_if_not_installed("generics")
  expect_identical(nrow(generics::tidy(phantom)), 3L)
  expect_identical(sum(!generics::tidy(types)$speck), 3L)
})

test_that("raw values of a mass cytometer are said to be raw", {
  set.seed(5)
  population <- rep(1:3, c(1500, 900, 600))
  level <- cbind(CD4 = c(0, 4, 4), CD8 = c(0, 0, 5), CD3 = c(0, 5, 5))[population, ]
  scaled <- level + rnorm(9000, 0, 0.4)
  said <- function(x) paste(as.character(verdict(fit_mixture(x, 8, iter = 30, seed = 1, threads = 1))), collapse = " ")
  expect_match(said(5 * sinh(pmax(scaled, 0)) + runif(9000, -1, 0)), "have a long tail")
  expect_no_match(said(scaled), "long tail")
  # Zeros that are not made random.
  expect_match(said(5 * sinh(pmax(scaled, 0))), "have a long tail")
})

test_that("samples that lie elsewhere are named with their markers", {
  three <- cells_of_three(1800)
  sample <- rep(paste0("s", 1:6), 300)
  named <- function(x) verdict(types_of(x, sample = sample))
  expect_no_match(paste(as.character(named(three$x)), collapse = " "), "lie elsewhere")
  # Other shares are no shift: the third population is only in two samples.
  other <- !(three$population == 3 & !sample %in% c("s2", "s5"))
  expect_null(sample_reason(types_of(three$x[other, ], sample = sample[other])$fit))
  x <- three$x
  x[sample == "s2", "CD4"] <- x[sample == "s2", "CD4"] + 1.6
  said <- named(x)
  expect_match(as.character(said), "Samples lie elsewhere than the others, .*: \"s2\" \\(CD4 \\+1\\.[3-9]\\)\\. One",
    all = FALSE)
  # Two batches of three samples: those of one are named.
  x[sample %in% c("s4", "s5"), "CD4"] <- x[sample %in% c("s4", "s5"), "CD4"] + 1.6
  shifts <- sample_shifts(types_of(x, sample = sample)$fit)
  expect_identical(which(shifts != 0, arr.ind = TRUE)[, "row"], c(2L, 4L, 5L))
})

test_that("a threshold inside the negatives is said", {
  types <- types_of(cells_of_three()$x)
  expect_silent(type_names(types, c(CD4 = 3, CD8 = 3)))
  expect_silent(marker_thresholds(types))
  expect_message(type_names(types, c(CD4 = 0.1, CD8 = 3)), "of CD4, 0.1, lies inside type .*: 4[0-9]% of its cells",
    class = "warpbayes_thresholds")
})
