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
