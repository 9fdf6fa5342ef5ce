# The prior: its checks, how it prints, and its form in standardised units.

test_that("a prior keeps what was given and leaves the rest to the data", {
  prior <- dp_prior()
  expect_s3_class(prior, "dp_prior")
  expect_null(prior$scale)
  prior <- dp_prior(df = 5L, concentration = c(rate = 3, shape = 2))
  expect_identical(prior$df, 5)
  expect_identical(prior$concentration, c(shape = 2, rate = 3))
})

test_that("messages name every invalid value of the prior", {
  error <- "warpbayes_error_input"
  expect_error(dp_prior(mean = "a"), "`mean` must be finite numbers.*not \"a\"", class = error)
  expect_error(dp_prior(mean = c(1, NA)), "`mean` must be .*but has NA", class = error)
  expect_error(dp_prior(mean_scale = 0), "`mean_scale` must be one finite number above 0, not 0", class = error)
  expect_error(dp_prior(df = -1), "`df` must be one finite number above 0, not -1", class = error)
  expect_error(dp_prior(scale = list()),
    "`scale` must be a positive definite matrix, variances, or one variance", class = error
  )
  expect_error(dp_prior(scale = Inf), "`scale` .*but has Inf", class = error)
  expect_error(dp_prior(scale = c(1, -2)), "`scale` has a variance that is not positive: -2", class = error)
  expect_error(dp_prior(scale = matrix(1, 2, 3)), "`scale` must be a square matrix, not 2 x 3", class = error)
  expect_error(dp_prior(scale = matrix(c(1, 0, 0.5, 1), 2)), "`scale` must be symmetric", class = error)
  expect_error(dp_prior(scale = matrix(c(1, 2, 2, 1), 2)),
    "positive definite, but the smallest eigenvalue.*is -1", class = error
  )
  expect_error(dp_prior(scale = matrix(1, 2, 2)), "must be positive definite", class = error)
  expect_error(dp_prior(scale = diag(c(1, 0))), "positive definite, but has the variance 0", class = error)
  expect_error(dp_prior(concentration = 1), "`concentration` must be the shape and the rate.*not 1", class = error)
  expect_error(dp_prior(concentration = c(1, 0)), "`concentration` must be.*not 1, 0", class = error)
  expect_error(dp_prior(concentration = c(a = 1, b = 1)), "`concentration` has the names \"a\", \"b\"", class = error)
  expect_error(dp_prior(learn = TRUE), "`learn` must be some of .*, not TRUE", class = error)
  expect_error(dp_prior(learn = "scales"), "`learn` must be some of .*, not \"scales\"", class = error)
  expect_error(dp_prior(floor = "a"), "`floor` must be standard deviations.*not \"a\"", class = error)
  expect_error(dp_prior(floor = c(1, -2)), "`floor` has a negative standard deviation: -2", class = error)
  # Scales far from one are not mistaken for singular matrices.
  expect_s3_class(dp_prior(scale = diag(c(1e-12, 1e12))), "dp_prior")
})

test_that("the prior is resolved in standardised units, matched by name", {
  markers <- c("CD3", "CD4")
  resolve <- function(prior) resolve_prior(prior, c(10, 20), c(2, 5), markers)
  resolved <- resolve(dp_prior())
  expect_identical(resolved$mean, c(0, 0))
  expect_identical(resolved$scale, diag(prior_defaults$sd^2, 2))
  expect_identical(resolved$df, 4)
  expect_identical(resolved$given, character())
  expect_identical(resolved$learn, c("mean", "mean_scale", "df", "scale"))
  expect_identical(resolved$floor, rep(1e-3, 2)^2)
  # A given value is fixed unless `learn` names it.
  expect_identical(resolve(dp_prior(df = 9, scale = 1))$learn, c("mean", "mean_scale"))
  expect_identical(resolve(dp_prior(df = 9, learn = "df"))$learn, "df")
  expect_identical(resolve(dp_prior(learn = character()))$learn, character())
  expect_equal(resolve(dp_prior(floor = c(CD4 = 5, CD3 = 0)))$floor, c(0, 1))
  expect_equal(range(resolved$df_grid), c(0.25, 32))
  expect_equal(range(resolve(dp_prior(df = 9, learn = "df"))$df_grid), c(9 / 8, 72))

  resolved <- resolve(dp_prior(mean = c(CD4 = 25, CD3 = 14), scale = c(CD4 = 25, CD3 = 16)))
  expect_equal(resolved$mean, c(2, 1))
  expect_equal(resolved$scale, diag(c(4, 1)))
  expect_identical(resolved$given, c("mean", "scale"))

  scale <- matrix(c(25, 5, 5, 4), 2, dimnames = list(c("CD4", "CD3"), NULL))
  expect_equal(resolve(dp_prior(scale = scale))$scale, matrix(c(1, 0.5, 0.5, 1), 2))
  expect_equal(resolve(dp_prior(scale = unname(scale)))$scale, matrix(c(25 / 4, 0.5, 0.5, 4 / 25), 2))
  expect_equal(resolve(dp_prior(scale = 100, mean = 0))$scale, diag(c(25, 4)))

  one <- resolve_prior(dp_prior(scale = 9), 0, 3, "CD3")
  expect_identical(one$scale, matrix(1))
})

test_that("the floor allows for rounded channels", {
  set.seed(3)
  x <- cbind(normal = rnorm(2000), rounded = round(rnorm(2000), 1), counts = 3 * rpois(2000, 4),
    half_zero = ifelse(runif(2000) < 0.6, 0, rexp(2000))
  )
  data <- as_marker_matrix(x)
  expect_equal(resolution(data), c(0, 0.1, 3, 0) / sqrt(12))
  # After the transformation, at the median.
  data <- as_marker_matrix(x[, 3, drop = FALSE], transform = c(arcsinh = 5))
  expect_equal(resolution(data), median(3 / sqrt(x[, 3]^2 + 25)) / sqrt(12), tolerance = 1e-6)
  expect_identical(grid_gap(rep(7, 50)), 0)
})

test_that("a prior that does not fit the markers is refused", {
  resolve <- function(prior) resolve_prior(prior, c(0, 0), c(1, 1), c("CD3", "CD4"))
  expect_error(resolve(list()), "`prior` must come from dp_prior\\(\\)")
  expect_error(resolve(dp_prior(mean = 1:3)), "`prior\\$mean` has length 3; there are 2 markers")
  expect_error(resolve(dp_prior(mean = c(CD3 = 1, CD8 = 1))), "names other than the markers.*\"CD8\", \"CD4\"")
  expect_error(resolve(dp_prior(scale = diag(3))), "`prior\\$scale` is 3 x 3; there are 2 markers")
  expect_error(resolve(dp_prior(scale = c(1, 2, 3))), "`prior\\$scale` has length 3")
  expect_error(
    resolve(dp_prior(scale = matrix(c(2, 1, 1, 2), 2, dimnames = list(c("a", "b"), NULL)))),
    "`prior\\$scale` has names other than the markers"
  )
})

test_that("a prior is printed in the data's units once they are known", {
  expect_output(print(dp_prior()), "the mean of each marker.*set from the data when the mixture")
  expect_output(print(dp_prior(mean = 0, scale = 900, df = 1)),
    "standard deviation 30; the guess\\s+counts as 1 cell\\."
  )
  resolved <- resolve_prior(dp_prior(), c(10, 20), c(2, 8), c("CD3", "CD4"))
  expect_output(print(dp_prior(sample_concentration = c(4, 2))), "Samples: .* gamma with shape 4 and rate 2 \\(mean 2")
  expect_output(print(resolved), "around CD3 10, CD4 20.*standard deviation CD3")
})

test_that("the prior of a fit can be used in another fit", {
  markers <- c("a", "b")
  prior <- dp_prior(mean = c(3, 40), mean_scale = 2, df = 7, scale = matrix(c(4, 1, 1, 9), 2), concentration = c(2, 3),
    floor = c(0.1, 2), learn = "df",
    sample_concentration = c(3, 0.2))
  first <- resolve_prior(prior, c(1, 2), c(10, 20), markers)
  other <- resolve_prior(first, c(-5, 6), c(0.5, 3), markers)
  expect_equal(other, resolve_prior(prior, c(-5, 6), c(0.5, 3), markers), tolerance = 1e-14)
  # Values are matched by name if the markers have another order.
  turned <- resolve_prior(first, c(6, -5), c(3, 0.5), rev(markers))
  expect_equal(turned$mean, rev(other$mean), tolerance = 1e-14)
  expect_equal(turned$scale, other$scale[2:1, 2:1], tolerance = 1e-14)
  expect_error(resolve_prior(first, 0, 1, "a"), "there is 1 marker", class = "warpbayes_error_input")
})
