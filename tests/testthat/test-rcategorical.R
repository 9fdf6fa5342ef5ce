# Categorical draws. A chi-squared test has a false-alarm rate of 1e-7, so the about 150 tests of this file have 1.5e-5,
# with fixed seeds.

lengths_tested <- c(1, 2, 31, 32, 33, 63, 64, 65, 1000, 4096)

# Weights of K items: equal; falling over nine powers of ten; random; with zeros at both ends.
shapes <- function(K) {
  inner <- max(K - 4, 1)
  ends <- function(x) if (K > 4) c(0, 0, x, 0, 0) else rep_len(x, K)
  set.seed(K)
  list(flat = rep(1, K), skewed = ends(10^seq(0, -9, length.out = inner)), ends = ends(rexp(inner)))
}

test_that("each row's draw follows its weights", {
  skip_where_repeated()
  for (K in lengths_tested) {
    n <- if (on_cuda()) 400 else min(20000, 4e6 / K)
    for (weights in shapes(K)) {
      x <- matrix(rep(weights, each = n), n)
      for (precision in c("double", "single")) {
        expect_law(rcategorical(x, seed = 1, threads = 2, precision = precision), weights)
      }
      expect_law(rcategorical(log(x) - 1e4, log = TRUE, seed = 2, threads = 2), weights)
    }
  }
})

test_that("many draws from one vector follow its weights", {
  skip_where_repeated()
  for (K in lengths_tested) {
    n <- if (on_cuda()) 20000 else 400000
    for (weights in shapes(K)) {
      for (precision in c("double", "single")) {
        expect_law(rcategorical(weights, n, seed = 3, threads = 2, precision = precision), weights)
      }
    }
    expect_law(rcategorical(log(weights), n, log = TRUE, seed = 4, threads = 2), weights)
  }
})

test_that("rows and draws are independent of each other", {
  skip_where_repeated()
  n <- if (on_cuda()) 2000 else 40000
  x <- matrix(rep(c(0.1, 0.2, 0.7), each = n), n)
  items <- rcategorical(x, 4, seed = 5, threads = 2)
  p <- c(0.1, 0.2, 0.7)
  # Pairs of draws of a row, and of neighbouring rows.
  for (draw in 2:4) {
    expect_law(items[, 1L] + 3L * (items[, draw] - 1L), as.vector(outer(p, p)))
  }
  expect_law(items[-n, 1L] + 3L * (items[-1L, 1L] - 1L), as.vector(outer(p, p)))
  expect_law(items[, 2L] + 3L * (items[, 3L] - 1L), as.vector(outer(p, p)))
})

test_that("draws agree with plain R", {
  set.seed(6)
  for (K in c(1, 2, 16, 17, 100)) {
    x <- matrix(rexp(7 * K) * rbinom(7 * K, 1, 0.7), 7)
    x[, ceiling(K / 2)] <- 1
    seed <- 2^40 + K
    expected <- t(vapply(1:7, function(i) reference_categorical(x[i, ], seed, i - 1, 5), numeric(5)))
    expect_equal(rcategorical(x, 5, seed = seed, threads = 2), expected)
    expect_equal(rcategorical(x[1L, ], 5, seed = seed, threads = 2), expected[1L, ])
  }
})

test_that("a row's draws depend neither on the other rows nor on their number", {
  set.seed(7)
  n <- if (on_cuda()) 300 else 3000
  for (precision in c("double", "single")) {
    x <- matrix(rexp(n * 37), n)
    all <- rcategorical(x, 4, seed = 8, threads = 2, precision = precision)
    expect_identical(rcategorical(x, seed = 8, threads = 2, precision = precision), all[, 1L])
    expect_identical(rcategorical(x, 2, seed = 8, threads = 2, precision = precision), all[, 1:2])
    for (rows in list(1, 1:3, 1:9, 1:(n - 1))) {
      expect_identical(rcategorical(x[rows, , drop = FALSE], 4, seed = 8, threads = 2, precision = precision),
        all[rows, , drop = FALSE]
      )
    }
    many <- rcategorical(x[1L, ], 5000, seed = 8, threads = 2, precision = precision)
    expect_identical(many[1:4], all[1L, ])
    expect_identical(rcategorical(x[1L, , drop = FALSE], 5000, seed = 8, threads = 2, precision = precision)[1L, ],
      many
    )
    expect_identical(rcategorical(x[1:3, ], 5000, seed = 8, threads = 2, precision = precision)[1L, ], many)
    expect_identical(rcategorical(x[1:50, ], 300, seed = 8, threads = 2, precision = precision)[1L, ], many[1:300])
  }
})

# The memory of these results is cleared by the threads before, dense and sparse, page by page.
test_that("results of many megabytes are those of one thread", {
  skip_where_repeated()
  skip_if_not_installed("Matrix")
  set.seed(10)
  x <- matrix(rexp(6e5 * 2), 6e5) # each draw has a large page
  x[x < 0.1] <- 0
  x[, 1L] <- 1e-3 # few draws are the item that cleared memory would stand for
  for (weights in list(x, Matrix::Matrix(x, sparse = TRUE))) {
    draw <- function(threads) rcategorical(weights, 5, seed = 8, threads = threads, backend = "cpu")
    all <- draw(2)
    expect_identical(all, draw(1))
    expect_identical(all[, 1:2], rcategorical(weights, 2, seed = 8, threads = 1, backend = "cpu"))
  }
})

test_that("threads, instruction sets and backends give the same draws", {
  set.seed(9)
  saved <- options(warpbayes.isa = NULL)
  on.exit(options(saved))
  sets <- instruction_sets()
  for (size in list(c(1, 1), c(3, 5000), c(70, 300), c(1037, 40))) {
    n <- size[[1L]]
    K <- size[[2L]]
    x <- matrix(rexp(n * K), n)
    x[sample(n * K, n * K %/% 5)] <- 0
    x[, K] <- 1
    for (precision in c("double", "single")) {
      options(warpbayes.isa = NULL)
      draw <- function(..., threads = 1) {
        list(
          rcategorical(x, 3, seed = 1, threads = threads, precision = precision, ...),
          rcategorical(log(x), 3, log = TRUE, seed = 1, threads = threads, precision = precision, ...),
          rcategorical(x[1L, ], 700, seed = 1, threads = threads, precision = precision, ...)
        )
      }
      expected <- draw(backend = "cpu")
      expect_identical(draw(backend = "cpu", threads = 2), expected)
      expect_identical(draw(backend = "cpu", threads = 5), expected)
      for (isa in sets) {
        options(warpbayes.isa = isa)
        expect_identical(draw(backend = "cpu"), expected)
      }
      options(warpbayes.isa = NULL)
      if (precision == "double") expect_identical(draw(), expected)
    }
  }
})

test_that("single precision agrees between the backends without exponentials", {
  skip_if_not(on_cuda())
  set.seed(10)
  x <- matrix(rexp(100 * 77), 100)
  on <- function(backend) rcategorical(x, 3, seed = 1, backend = backend, threads = 2, precision = "single")
  expect_identical(on("cuda"), on("cpu"))
})

test_that("rows in chunks give the same draws", {
  skip_if_not(on_cuda())
  set.seed(12)
  x <- matrix(rexp(300 * 40), 300)
  sparse <- x * (x > 1)
  sparse[, 1L] <- 0.1
  expected <- list(rcategorical(x, 5, seed = 1), rcategorical(log(x), 5, log = TRUE, seed = 1))
  saved <- options(warpbayes.device_memory = 30000)
  on.exit(options(saved))
  expect_identical(list(rcategorical(x, 5, seed = 1), rcategorical(log(x), 5, log = TRUE, seed = 1)), expected)
  skip_if_not_installed("Matrix")
  expect_identical(rcategorical(Matrix::Matrix(sparse, sparse = TRUE), 5, seed = 1), rcategorical(sparse, 5, seed = 1))
  options(warpbayes.device_memory = 3000)
  expect_error(rcategorical(matrix(1, 2, 4000), seed = 1), "a row of weights takes", class = "warpbayes_error_memory")
  expect_error(rcategorical(Matrix::Matrix(matrix(1, 2, 4000), sparse = TRUE), seed = 1), "a row of weights takes",
    class = "warpbayes_error_memory"
  )
})

test_that("sparse matrices are drawn from as if their zeros were stored", {
  skip_if_not_installed("Matrix")
  set.seed(13)
  x <- matrix(rexp(90 * 200) * rbinom(90 * 200, 1, 0.1), 90)
  x[cbind(1:90, sample(200, 90, TRUE))] <- 2
  for (precision in c("double", "single")) {
    expected <- rcategorical(x, 3, seed = 1, threads = 2, precision = precision)
    for (class in c("CsparseMatrix", "RsparseMatrix", "TsparseMatrix", "unpackedMatrix")) {
      expect_identical(rcategorical(methods::as(x, class), 3, seed = 1, threads = 2, precision = precision), expected)
    }
  }
  # Explicit zeros, patterns, logical and diagonal matrices.
  stored <- methods::as(x, "CsparseMatrix")
  stored@x[stored@x < 0.5] <- 0
  expect_identical(rcategorical(stored, 2, seed = 1, threads = 2),
    rcategorical(as.matrix(stored), 2, seed = 1, threads = 2)
  )
  pattern <- methods::as(methods::as(x, "CsparseMatrix"), "nMatrix")
  expect_identical(rcategorical(pattern, seed = 1, threads = 2), rcategorical(x > 0, seed = 1, threads = 2))
  expect_identical(rcategorical(methods::as(pattern, "lMatrix"), seed = 1, threads = 2),
    rcategorical(x > 0, seed = 1, threads = 2)
  )
  expect_identical(rcategorical(Matrix::Diagonal(5), seed = 1, threads = 2), 1:5)
  symmetric <- Matrix::forceSymmetric(methods::as(x[, 1:90] + 1 * (row(x)[, 1:90] == col(x)[, 1:90]), "CsparseMatrix"))
  expect_identical(rcategorical(symmetric, seed = 1, threads = 2),
    rcategorical(as.matrix(symmetric), seed = 1, threads = 2)
  )
  many <- rcategorical(stored[1, , drop = FALSE], if (on_cuda()) 2000 else 1e5, seed = 1, threads = 2)
  expect_law(as.vector(many), as.vector(as.matrix(stored)[1L, ]))
})

test_that("integer and logical weights are accepted", {
  x <- matrix(c(0L, 1L, 5L, 2L, 0L, 3L), 2)
  expect_identical(rcategorical(x, 20, seed = 1, threads = 2), rcategorical(x + 0, 20, seed = 1, threads = 2))
  expect_identical(rcategorical(x > 0, 20, seed = 1, threads = 2), rcategorical((x > 0) + 0, 20, seed = 1, threads = 2))
  expect_identical(rcategorical(1:3, 20, seed = 1, threads = 2), rcategorical(c(1, 2, 3), 20, seed = 1, threads = 2))
  expect_identical(rcategorical(array(1:3, 3), 20, seed = 1, threads = 2), rcategorical(1:3, 20, seed = 1, threads = 2))
})

test_that("shapes, names and extreme sizes", {
  x <- matrix(1, 3, 2, dimnames = list(c("a", "b", "c"), c("u", "v")))
  expect_named(rcategorical(x, seed = 1, threads = 2), c("a", "b", "c"))
  expect_identical(dimnames(rcategorical(x, 2, seed = 1, threads = 2)), list(c("a", "b", "c"), NULL))
  expect_null(names(rcategorical(unname(x), seed = 1, threads = 2)))
  expect_identical(rcategorical(matrix(0, 0, 3), threads = 2), integer())
  expect_identical(rcategorical(matrix(0, 0, 0), threads = 2), integer())
  expect_identical(rcategorical(matrix(0, 0, 3), 4, threads = 2), matrix(0L, 0, 4))
  expect_identical(rcategorical(x, 0, threads = 2), matrix(0L, 3, 0, dimnames = list(c("a", "b", "c"), NULL)))
  expect_identical(rcategorical(c(1, 2), 0, threads = 2), integer())
  expect_identical(rcategorical(matrix(3, 4, 1), 3, threads = 2), matrix(1L, 4, 3))
  expect_identical(rcategorical(7, 3, threads = 2), c(1L, 1L, 1L))
  skip_if_not_installed("Matrix")
  sparse <- methods::as(x, "CsparseMatrix")
  expect_identical(rcategorical(sparse, 2, seed = 1, threads = 2), rcategorical(x, 2, seed = 1, threads = 2))
  expect_identical(rcategorical(sparse[0, ], 2, threads = 2), matrix(0L, 0, 2))
})

test_that("without a seed, draws depend on set.seed()", {
  x <- matrix(1, 50, 9)
  set.seed(14)
  first <- rcategorical(x, threads = 2)
  second <- rcategorical(x, threads = 2)
  set.seed(14)
  expect_identical(rcategorical(x, threads = 2), first)
  expect_false(identical(first, second))
})

test_that("valid weights with overflowing sums can be drawn from", {
  n <- 3000
  repeated <- function(weights) matrix(rep(weights, each = n), n)
  # A sum above the largest double; negative zeros; subnormal numbers.
  expect_law(rcategorical(repeated(c(0, 1e308, 1.5e308, 5e307)), seed = 1, threads = 2), c(0, 2, 3, 1))
  expect_law(rcategorical(repeated(c(-0, 1, 2, -0)), seed = 1, threads = 2), c(0, 1, 2, 0))
  expect_law(rcategorical(repeated(c(0, 4, 12, 0) * 4.9406564584124654e-324), seed = 1, threads = 2), c(0, 1, 3, 0))
  expect_law(rcategorical(c(0, 1e308, 1.5e308, 5e307), n, seed = 1, threads = 2), c(0, 2, 3, 1))
  # Outside the range of single precision at both ends.
  for (scale in c(1e-60, 1e60)) {
    expect_law(rcategorical(repeated(scale * c(0, 1, 2)), seed = 1, threads = 2, precision = "single"), c(0, 1, 2))
    expect_law(rcategorical(scale * c(0, 1, 2), n, seed = 1, threads = 2, precision = "single"), c(0, 1, 2))
  }
  # Logarithms of any size. Small differences are kept in both precisions.
  for (precision in c("double", "single")) {
    for (shift in c(-1e307, -1e15, -12345.678, 0, 1e5, 1e15)) {
      weights <- if (abs(shift) > 1e10) c(1, 1, 0) else c(1, 3, 0)
      logs <- c(shift, shift + log(weights[[2L]]), -Inf)
      expect_law(rcategorical(repeated(logs), log = TRUE, seed = 1, threads = 2, precision = precision), weights)
    }
  }
  skip_if_not_installed("Matrix")
  expect_law(rcategorical(methods::as(repeated(c(0, 1e308, 1.5e308, 5e307)), "CsparseMatrix"), seed = 1, threads = 2),
    c(0, 2, 3, 1)
  )
  expect_law(
    rcategorical(
      methods::as(repeated(c(0, 1e-60, 2e-60)), "CsparseMatrix"),
      seed = 1, threads = 2, precision = "single"
    ),
    c(0, 1, 2)
  )
})

test_that("invalid weights are refused, and the message names the first such row", {
  input <- function(...) expect_error(..., class = "warpbayes_error_input")
  x <- matrix(1, 700, 40)
  put <- function(rows, column, value) {
    x[rows, column] <- value
    x
  }
  for (precision in c("double", "single")) {
    draw <- function(x, ...) rcategorical(x, ..., seed = 1, threads = 2, precision = precision)
    input(draw(put(c(699, 650), 39, -1e-60)), "entry -1e-60 in row 650, column 39")
    input(draw(put(c(699, 3), 17, NaN)), "missing value \\(NA or NaN\\) in row 3, column 17")
    input(draw(put(5, 40, Inf)), "entry Inf in row 5, column 40")
    input(draw(put(5, 40, -Inf)), "entry -Inf in row 5, column 40")
    input(draw(put(c(9, 8), 1:40, 0)), "no positive weight in row 8: at least one item must be possible")
    input(draw(put(9, 40, -1), 3), "entry -1 in row 9, column 40; weights must be finite and not negative")
    input(draw(put(9, 1, Inf), log = TRUE), "entry Inf in row 9, column 1; log weights must be finite, or -Inf")
    input(draw(put(9, 1, NA), log = TRUE), "missing value \\(NA or NaN\\) in row 9, column 1")
    input(draw(put(9, 1:40, -Inf), log = TRUE), "no positive weight in row 9")
    input(draw(c(1, -2), 3), "entry -2 in position 2")
    input(draw(c(1, NaN), 3), "missing value \\(NA or NaN\\) in position 2")
    input(draw(c(0, 0), 3), "`weights` has no positive weight: at least one item must be possible")
    input(draw(matrix(c(1L, NA), 2)), "missing value \\(NA or NaN\\) in row 2, column 1")
    input(draw(c(TRUE, NA)), "missing value \\(NA or NaN\\) in position 2")
    skip_if_not_installed("Matrix")
    sparse <- function(x) methods::as(x, "CsparseMatrix")
    input(draw(sparse(put(c(9, 8), 1:40, 0))), "no positive weight in row 8")
    input(draw(sparse(put(700, 40, -3)), 2), "entry -3 in row 700, column 40")
    input(draw(sparse(matrix(0, 3, 4)), 3), "no positive weight in row 1")
    input(draw(sparse(put(2, 1, NA))), "missing value \\(NA or NaN\\) in row 2, column 1")
  }
})

test_that("invalid arguments are refused", {
  input <- function(...) expect_error(..., class = "warpbayes_error_input")
  input(rcategorical("a"), "`weights` must be a numeric matrix .* not \"a\"")
  input(rcategorical(NULL), "`weights` must be a numeric matrix")
  input(rcategorical(methods::new("externalptr")), "`weights` must be a numeric matrix")
  input(rcategorical(methods::new("classRepresentation")), "`weights` must be a numeric matrix")
  input(rcategorical(data.frame(a = 1)), "`weights` must be a numeric matrix .* data.frame")
  input(rcategorical(array(1, c(2, 2, 2))), "`weights` must be a numeric matrix .* 2 x 2 x 2")
  input(rcategorical(factor("a")), "`weights` must be a numeric matrix")
  input(rcategorical(numeric()), "`weights` is empty: there is nothing to draw")
  input(rcategorical(matrix(0, 3, 0)), "`weights` is empty: there is nothing to draw from in its rows")
  for (draws in list(-1, 1.5, NA, c(1, 2), "a", Inf)) {
    input(rcategorical(1:3, draws), "`draws` must be one whole number")
  }
  input(rcategorical(matrix(1, 2, 2), 2^31), "a matrix can have 2147483647 columns")
  input(rcategorical(1:3, log = NA), "`log` must be TRUE or FALSE")
  input(rcategorical(1:3, seed = -1), "`seed` must be one whole number")
  input(rcategorical(1:3, threads = 0), "`threads`")
  input(rcategorical(1:3, backend = "gpu"), "`backend`")
  input(rcategorical(1:3, precision = "half"), "`precision` must be one of")
  input(rcategorical(1:3, drawz = 2), "`drawz` is not known here")
  expect_error(rcategorical(1:3, 2^50, threads = 2),
    "`draws`: the result would have 1,125,899,906,842,624 draws \\(4.5 PB\\), but only",
    class = "warpbayes_error_memory"
  )
  skip_if_not_installed("Matrix")
  input(rcategorical(methods::as(diag(3), "CsparseMatrix"), log = TRUE),
    "`weights` is a sparse matrix: with `log = TRUE`"
  )
  input(rcategorical(Matrix::Matrix(0, 3, 0, sparse = TRUE)), "`weights` is empty")
  broken <- methods::as(diag(3), "generalMatrix")
  broken <- methods::as(broken, "CsparseMatrix")
  broken@i <- c(0L, 1L, 7L)
  input(rcategorical(broken), "`weights` is not a valid dgCMatrix")
})

test_that("a long tail of small weights is drawn in double precision, and lost in single as the help page says", {
  weights <- c(1, rep(1e-9, 1e5))
  tail_items <- function(precision) sum(rcategorical(weights, 1e6, seed = 1, precision = precision) != 1L)
  # 100 are expected, with a standard deviation of 10; outside 6 of these once in 5e8 seeds.
  expect_lt(abs(tail_items("double") - 100), 60)
  expect_identical(tail_items("single"), 0L)
})

test_that("short vectors have the draws and the messages of all others", {
  weights <- c(a = 0.2, b = 0.3, c = 0.5)
  # With `log` all checks are made in R.
  both <- function(...) {
    lapply(list(rcategorical, function(...) rcategorical(..., log = FALSE)), function(draw) {
      set.seed(9)
      list(tryCatch(draw(...), error = conditionMessage), if (!anyNA(list(...)$seed)) runif(1))
    })
  }
  for (seed in list(NULL, 5, 7L, 0, 2^53 - 1)) {
    found <- both(weights, 4, seed = seed)
    expect_identical(found[[1]], found[[2]])
    expect_type(found[[1]][[1]], "integer")
  }
  for (bad in list(list(weights, 2.5), list(weights, 0:1), list(weights, -1), list(weights, NA), list(weights, "1"),
    list(weights, seed = -1), list(weights, seed = 2^53), list(weights, seed = NA), list(c(1, -1)), list(c(1, NaN)),
    list(c(0, 0)), list(numeric()), list("a"))) {
    found <- do.call(both, bad)
    expect_identical(found[[1]][[1]], found[[2]][[1]])
    expect_type(found[[1]][[1]], "character")
  }
})
