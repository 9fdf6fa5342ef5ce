# Malformed containers are refused by an error about the argument, at the doors of each kind of data. The campaign
# tests/campaigns/containers gives them to every argument of every export.

register_lies()

doors <- list(
  pmf = list(c(0.2, 0.3, 0.5), function(x) pmf(x)),
  values = list(c(1, 5, 7), function(x) pmf(rep(1 / 3, 3), values = x)),
  categorical = list(matrix(1:4 + 0, 2), function(x) rcategorical(x, seed = 1, threads = 2)),
  mixture = list(data.frame(a = c(1, 5, 7, 3, 8), b = c(2, 9, 3, 1, 4)), function(x) {
    dp_mixture(x, 2, iter = 2, chains = 1, seed = 1, threads = 2, progress = FALSE)
  }),
  cells = list(matrix(c(1, 5, 7, 3, 8, 1, 3, 5), 4), function(x) {
    dp_mixture(x, 2, iter = 2, chains = 1, seed = 1, threads = 2, progress = FALSE)
  }),
  sample = list(factor(c("u", "v", "u", "v")), function(x) {
    dp_mixture(matrix(c(1, 5, 7, 3, 8, 1, 3, 5), 4), 2, sample = x, iter = 2, chains = 1, seed = 1, threads = 2,
      progress = FALSE)
  }),
  topics = list(data.frame(document = c(1, 1, 2, 2), term = c("a", "b", "a", "b"), count = 1:4), function(x) {
    topic_model(x, 2, iter = 2, chains = 1, seed = 1, threads = 2, progress = FALSE)
  }),
  resample = list(data.frame(a = c(1, 5, 7, 3), b = c(2, 9, 3, 1)), function(x) {
    predictive_resample(x, copula_density(rho = 0.5), 2, 2, seed = 1, threads = 2, progress = FALSE)
  }),
  abundance = list(matrix(c(50, 40, 48, 52, 40, 12), 2), function(x) {
    differential_abundance(x, ~ z, data.frame(z = 1:3), chains = 1, iter = 20, warmup = 5, seed = 1, threads = 2)
  })
)
regression <- function(data) {
  bayes_logit(y ~ x + g, data, chains = 1, iter = 2, warmup = 0, seed = 1, threads = 2, progress = FALSE)
}
rows <- data.frame(y = c(0, 1, 0, 1), x = c(1, 5, 2, 4), g = factor(c("a", "b", "b", "a")))

test_that("no malformed container is read", {
  given <- 0
  for (name in names(doors)) {
    sound <- doors[[name]][[1L]]
    expect_error(suppressWarnings(suppressMessages(doors[[name]][[2L]](sound))), NA, info = name)
    ways <- malformed(sound)
    for (how in names(ways)) {
      problem <- tryCatch({
        suppressWarnings(suppressMessages(doors[[name]][[2L]](ways[[how]])))
        "was read"
      }, error = function(error) judge_container(error))
      expect_null(problem, info = paste(name, how))
      given <- given + 1
    }
  }
  expect_gt(given, 50)
})

test_that("formulas refuse tables whose columns do not agree, and factors with codes of no level", {
  expect_error(regression(rows), NA)
  ways <- malformed(rows)
  broken <- c("a short column", "a long column", "more rows than values", "a column that is NULL", "no names", lying)
  for (how in broken) {
    expect_error(regression(ways[[how]]), "`data` (has|is)", class = "warpbayes_error_input", info = how)
  }
  for (wrong in malformed(rows$g)) {
    given <- structure(list(y = rows$y, x = rows$x, g = wrong), class = "data.frame", row.names = 1:4)
    expect_input_error(regression(given), "`data` has the element \"g\", which is a factor with codes")
  }
})

test_that("sparse matrices with broken slots are refused everywhere", {
  skip_if_not_installed("Matrix")
  sound <- Matrix::sparseMatrix(c(1, 2, 3, 1), c(1, 1, 2, 3), x = c(1, 2, 3, 1), dims = c(3, 3))
  readers <- list(
    function(x) topic_model(x, 2, iter = 2, seed = 1, threads = 2, progress = FALSE),
    function(x) rcategorical(x, seed = 1),
    function(x) polyagamma_step(x, c(0, 1, 0), rep(0, 3), prior_precision = 1, seed = 1),
    function(x) {
      bayes_logit(y ~ 1, data.frame(y = c(0, 1, 0)), iter = 2, chains = 1, seed = 1, progress = FALSE,
        control = warp_control(sparse = x))
    }
  )
  for (read in readers) {
    for (wrong in malformed(sound)) expect_input_error(read(wrong), "is not a valid dgCMatrix")
  }
  triplets <- structure(list(i = c(1L, 2L), j = c(1L, 2L), v = c(1, 2), nrow = 2L, ncol = 2L),
    class = "simple_triplet_matrix")
  for (wrong in malformed(triplets)) expect_input_error(readers[[1L]](wrong), "`x` has elements i, j, v, nrow and ncol")
})

test_that("honest classes of numbers are read", {
  expect_identical(pmf(structure(c(0.2, 0.8), class = "marked")), pmf(c(0.2, 0.8)))
  expect_identical(given_data(I(1:3), "x"), I(1:3))
  expect_error(given_data(data.frame(), "x"), NA)
  expect_error(given_data(list(a = factor("u"), b = NULL), "x"), NA)
})
