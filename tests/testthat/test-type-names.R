three_types <- function() {
  types <- cell_types(population_fit(), threads = 1)
  types
}

test_that("types are named by the valleys of their markers", {
  types <- three_types()
  thresholds <- marker_thresholds(types)
  expect_named(thresholds, c("CD4", "CD8"))
  # Populations at 0 and 12, with standard deviation below 1.5.
  expect_true(all(thresholds > 2.5 & thresholds < 9.5))
  centre <- round(types$medians / 12)
  expected <- paste0("CD4", ifelse(centre[, 1] > 0, "+", "-"), " CD8", ifelse(centre[, 2] > 0, "+", "-"))
  expect_identical(type_names(types), unname(expected))
  levels(types) <- type_names(types)
  expect_setequal(levels(types), c("CD4- CD8-", "CD4+ CD8-", "CD4- CD8+"))
  expect_setequal(type_names(types, positive_only = TRUE), c("negative", "CD4+", "CD8+"))
  # A marker that is left out, and types that then have the same name.
  expect_setequal(type_names(types, c(CD4 = 6)), c("CD4-", "CD4- (2)", "CD4+"))
  expect_setequal(type_names(types, c(CD4 = 6, CD8 = NA)), c("CD4-", "CD4- (2)", "CD4+"))
})

test_that("a marker without a valley has no threshold", {
  set.seed(1)
  expect_identical(deepest_valley(rnorm(2000), rep(1, 2000)), NA_real_)
  expect_identical(deepest_valley(rep(1, 20), rep(1, 20)), NA_real_)
  expect_identical(deepest_valley(numeric(), numeric()), NA_real_)
  # Five outlying cells of 2000 make no positive population, forty times as many do.
  expect_identical(deepest_valley(c(rnorm(2000), rnorm(5, 8)), rep(1, 2005)), NA_real_)
  expect_equal(deepest_valley(c(rnorm(2000), rnorm(200, 8)), rep(1, 2200)), 4.5, tolerance = 0.3)
  types <- three_types()
  types$fit$x[] <- rnorm(length(types$fit$x))
  expect_true(all(is.na(marker_thresholds(types))))
  expect_error(type_names(types), "no marker has a valley", class = "warpbayes_error_input")
})

test_that("bad input of names is refused in words", {
  types <- three_types()
  expect_error(type_names("a"), "must come from cell_types", class = "warpbayes_error_input")
  expect_error(marker_thresholds(1), "must come from cell_types", class = "warpbayes_error_input")
  expect_error(type_names(types, 3), "names of markers", class = "warpbayes_error_input")
  expect_error(type_names(types, c(CD19 = 3)), "\"CD19\", which the fit lacks", class = "warpbayes_error_input")
  expect_error(type_names(types, positive_only = NA), class = "warpbayes_error_input")
  types$fit$x <- NULL
  expect_error(marker_thresholds(types), "lost its data", class = "warpbayes_error_input")
})

test_that("a threshold is neither beside a pile nor on one side of all types", {
  set.seed(8)
  # A quarter of the cells share the lowest value, and the gap beside them is the deepest valley.
  low <- c(rep(42, 500), rnorm(700, 300, 40), rnorm(800, 480, 60))
  weight <- rep(1, 2000)
  expect_true(all(is_piled(low)[1:500]))
  expect_false(any(is_piled(low)[-(1:500)]))
  expect_lt(deepest_valley(low, weight), 250)
  free <- !is_piled(low)
  expect_gt(deepest_valley(low[free], weight[free], c(300, 480)), 300)
  expect_true(is.na(deepest_valley(low, weight, c(460, 480))))
  expect_false(any(is_piled(rnorm(1000))))
  expect_identical(is_piled(numeric()), logical())
  # A pile among the negative cells, whatever the unit.
  for (unit in c(1, 100)) {
    inside <- unit * c(rep(0, 600), abs(rnorm(600, 0, 0.5)), -abs(rnorm(8, 0, 0.2)), rnorm(800, 6))
    found <- deepest_valley(inside, rep(1, 2008), unit * c(0, 6)) / unit
    expect_true(found > 1.5 && found < 4.5)
  }
  # Without the negative cells at the pile there is one peak, so the pile counts.
  x <- cbind(CD3 = c(rep(0, 300), rnorm(300, 6)), CD4 = rnorm(600))
  types <- cell_types(dp_mixture(x, components = 8, iter = 100, seed = 1, threads = 2), threads = 2)
  found <- marker_thresholds(types)[["CD3"]]
  expect_true(found > 0 && found < 5)
})

test_that("names in pictures tell types apart", {
  names <- c("CD3+ CD4+ CD8- CD45- HLA-DR-", "CD3+ CD4- CD8+ CD45- HLA-DR-", "CD3+ CD4- CD8- CD45- HLA-DR+",
    "CD3+ CD4- CD8- CD45- HLA-DR+ (2)")
  expect_identical(picture_names(names, Inf), c("CD4+ CD8- HLA-DR-", "CD8+ CD4- HLA-DR-", "HLA-DR+ CD4- CD8-",
    "HLA-DR+ CD4- CD8- (2)"))
  short <- picture_names(names, 12L)
  expect_identical(anyDuplicated(short), 0L)
  expect_true(all(nchar(short) <= 12L))
  # A name by hand does not make the others long.
  expect_identical(picture_names(c("T cells", names[1:2]), Inf), c("T cells", "CD4+ CD8-", "CD8+ CD4-"))
  # The same markers in another order are two types.
  turned <- c("CD3- CD4+", "CD4+ CD3-")
  expect_identical(picture_names(turned), turned)
  # Other names stay as they are, and different names stay different.
  expect_identical(picture_names(c("T cells", "B+ and more")), c("T cells", "B+ and more"))
  expect_identical(picture_names("CD3+ CD4-"), "CD3+ CD4-")
  long <- paste0(strrep("a", 40), 1:12)
  expect_identical(anyDuplicated(short_names(long)), 0L)
  expect_true(all(nchar(short_names(long)) <= 24L))
  expect_identical(short_names(c(long[1], long[1])), rep(short_names(long[1]), 2))
})

test_that("of many cells, evenly spaced ones of each type give the thresholds", {
  skip_where_repeated()
  type <- rep(c(1L, 2L, 1L, 3L, 4L), c(3e5, 1e3, 3e5, 5e3, 40))
  rows <- cells_for_valleys(type, c(TRUE, TRUE, TRUE, FALSE))
  taken <- tabulate(type[rows], 4L)
  expect_identical(taken[c(2, 4)], c(1000L, 0L))
  expect_gte(taken[[3L]], 2000L)
  expect_equal(taken[[1L]], 250000 * 600 / 606, tolerance = 1e-5)
  expect_lte(max(diff(rows[type[rows] == 1L & rows <= 3e5])), 3)
  expect_identical(anyDuplicated(rows), 0L)
  expect_identical(cells_for_valleys(type[1:301000], c(TRUE, FALSE, TRUE, TRUE), 3e5), 1:300000)

  set.seed(9)
  n <- 4e5
  rare <- seq_len(n) %% 400 == 0
  x <- cbind(CD3 = rnorm(n, 5 * (seq_len(n) %% 3 == 0)), CD4 = rnorm(n, 8 * rare))
  fit <- dp_mixture(x, components = 6, iter = 30, seed = 1, threads = 2)
  types <- cell_types(fit, speck = 0, threads = 2)
  found <- marker_thresholds(types)
  expect_equal(found[["CD3"]], 2.6, tolerance = 0.1)
  expect_true(found[["CD4"]] > 3 && found[["CD4"]] < 6)
})
