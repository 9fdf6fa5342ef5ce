# convolve_pmf(): accuracy against quadruple precision, backends, logarithms, arguments and interrupts.

with_isa <- function(isa, code) {
  saved <- options(warpbayes.isa = isa)
  on.exit(options(saved))
  code
}

test_that("computations that take too many operations are refused before they start, with the number", {
  old <- options(warpbayes.max_operations = 1e5)
  on.exit(options(old))
  x <- pmf(rep(1 / 1000, 1000))
  expect_input_error(convolve_pmf(x, x, accuracy = 0),
    "this would take 1e\\+06 multiply-adds, about .* days at 1e10 a second; options\\(warpbayes.max_operations = \\)"
  )
  expect_silent(convolve_pmf(x, x))
  expect_input_error(convolve_pmf(matrix(1, 100, 40), matrix(1, 100, 40), accuracy = 0), "take 160000 multiply-adds")
  expect_input_error(sum_pmf(list(x, x), accuracy = 0), "multiply-adds")
  expect_input_error(rep_sum_pmf(x, 3, accuracy = 0), "multiply-adds")
  expect_input_error(rep_sum_pmf(x, 1e4), "multiply-adds")
  expect_input_error(compound_pmf("poisson", x, lambda = 50), "multiply-adds")
  expect_input_error(compound_pmf(pmf_poisson(50), x), "multiply-adds")
  options(warpbayes.max_operations = NULL)
  expect_silent(convolve_pmf(x, x, accuracy = 0))
})

test_that("sizes are refused before work", {
  expect_error(rep(pmf(1), times = 2^50), "would have .* elements \\(9.01 PB\\)", class = "warpbayes_error_memory")
  expect_error(pmf_geometric(1e-14), "would have .* probabilities", class = "warpbayes_error_memory")
})

test_that("long computations in R can be interrupted", {
  skip_if_uninterruptible()
  skip_where_repeated()
  # About 15 s of work in blocks. The signal comes after 0.3 s. The bound is on processor time, since other work on the
  # machine changes the elapsed time.
  command <- sprintf("sleep 0.3; kill -INT %d", Sys.getpid())
  system2("sh", c("-c", shQuote(command)), wait = FALSE)
  begin <- proc.time()
  heeded <- tryCatch({
    pmf_poisson(2^44)
    FALSE
  }, interrupt = function(condition) TRUE)
  expect_true(heeded)
  expect_lt(sum((proc.time() - begin)[c("user.self", "sys.self")]), 2.5)
})

test_that("every entry above 1e-300 is within 1e-12 of quadruple precision, for each method", {
  cases <- list(
    binomial = list(binomial_half(1000), binomial_half(1000)),
    poisson = list(poisson_factor(171, 1), poisson_factor(14200, 10000)),
    poisson_large = list(poisson_factor(14200, 10000), poisson_factor(20000, 15000)),
    heavy_narrow = list(heavy_factor(30000), poisson_factor(3000, 50)),
    heavy_heavy = list(heavy_factor(9000), heavy_factor(9000)),
    random_medium = list(random_factor(900, 3), random_factor(1500, 4)),
    random = list(random_factor(9000, 1), random_factor(11000, 2)),
    geometric = list(geometric_factor(9000, 0.9921875), geometric_factor(9000, 0.984375))
  )
  for (name in names(cases)) {
    factors <- cases[[name]]
    reference <- convolution_reference(name)
    expect_gt(nrow(reference), 20)
    for (accuracy in c(1e-12, 0)) {
      r <- convolve_pmf(factors[[1L]], factors[[2L]], accuracy = accuracy, threads = 2)
      expect_length(r, length(factors[[1L]]) + length(factors[[2L]]) - 1)
      expect_true(all(r >= 0), info = name)
      expect_lt(worst_relative_error(r, reference), 1e-12)
    }
  }
})

test_that("the fast method keeps the accuracy that was asked for", {
  x <- random_factor(9000, 1)
  y <- random_factor(11000, 2)
  direct <- convolve_pmf(x, y, accuracy = 0, threads = 2)
  for (accuracy in c(1e-13, 1e-9, 1e-4)) {
    fast <- convolve_pmf(x, y, accuracy = accuracy, threads = 2)
    expect_lt(max(abs(fast / direct - 1)), accuracy)
    expect_false(identical(fast, direct))
  }
})

test_that("sizes around the borders of tiles, groups and blocks agree with plain sums", {
  set.seed(1)
  for (m in c(1, 2, 7, 8, 31, 32, 33, 65, 1023, 1024, 1025)) {
    for (n in c(1, 3, 63, 64, 65, 513)) {
      x <- rexp(m)
      y <- rexp(n)
      expect_equal(convolve_pmf(x, y), reference_convolve(x, y), tolerance = 1e-14)
      # The result does not depend on the order of the factors.
      expect_identical(convolve_pmf(x, y), if (m == n) convolve_pmf(x, y) else convolve_pmf(y, x))
    }
  }
})

test_that("threads, instruction sets and backends do not change a bit", {
  x <- random_factor(700, 1)
  y <- random_factor(1100, 2)
  large <- list(random_factor(9000, 3), poisson_factor(9000, 800))
  logs <- log(random_factor(300, 4)) * 1000
  rows <- matrix(random_factor(21 * 33, 5), 21)
  results <- function(backend, threads) {
    list(
      direct = convolve_pmf(x, y, backend = backend, threads = threads),
      rows = convolve_pmf(rows, rows[, 1:9], backend = backend, threads = threads),
      one_for_all = convolve_pmf(rows, y[1:40], backend = backend, threads = threads),
      log = convolve_pmf(logs, logs, log = TRUE, backend = backend, threads = threads),
      sum = sum_pmf(rows, backend = backend, threads = threads)
    )
  }
  fast <- function(threads) convolve_pmf(large[[1L]], large[[2L]], threads = threads)
  expected <- results("cpu", 1)
  expect_identical(results("cpu", 2), expected)
  expect_identical(results(NULL, 2), expected)
  for (isa in instruction_sets()) {
    expect_identical(with_isa(isa, results("cpu", 2)), expected, info = isa)
  }
  one <- fast(1)
  expect_identical(fast(2), one)
  for (isa in setdiff(instruction_sets(), "baseline")) {
    expect_identical(with_isa(isa, fast(2)), one, info = isa)
  }
})

# Tiles of a card have 128 x 5, 17 or 25 outputs: which of them depends on the numbers of outputs, of pairs and of
# multiprocessors, of which the emulator has 4.
test_that("tiles of each size give the bits of the processor", {
  skip_without_cuda()
  for (sizes in list(c(8, 70, 520), c(8, 70, 2000), c(16, 70, 3100), c(16, 1030, 2100))) {
    p <- matrix(random_factor(sizes[[1L]] * sizes[[2L]], 1), sizes[[1L]])
    q <- matrix(random_factor(sizes[[1L]] * sizes[[3L]], 2), sizes[[1L]])
    sums <- function(backend) convolve_pmf(p, q, accuracy = 0, backend = backend)
    expect_identical(sums("cuda"), sums("cpu"))
  }
})

test_that("work cut into parts gives the same result", {
  x <- random_factor(2000, 1)
  y <- random_factor(2500, 2)
  rows <- matrix(random_factor(200 * 32, 3), 200)
  whole <- list(convolve_pmf(x, y, accuracy = 0, threads = 2), convolve_pmf(rows, rows, threads = 2))
  saved <- options(warpbayes.device_memory = 50000)
  on.exit(options(saved))
  expect_identical(list(convolve_pmf(x, y, accuracy = 0, threads = 2), convolve_pmf(rows, rows, threads = 2)), whole)
})

test_that("the message says when device memory is too small for two vectors", {
  skip_if(warp_info()$backend == "cpu", "the backend has memory of its own")
  saved <- options(warpbayes.device_memory = 20000)
  on.exit(options(saved))
  expect_error(convolve_pmf(runif(2000), runif(2500), accuracy = 0, threads = 2), "2000 and 2500 weights do not fit",
    class = "warpbayes_error_memory"
  )
})

test_that("rows of matrices are convolved in pairs", {
  set.seed(2)
  for (columns in list(c(1, 1), c(3, 2), c(32, 32), c(49, 20), c(100, 60), c(96, 130), c(257, 300), c(513, 600))) {
    for (rows in c(1, 8, 13)) {
      x <- matrix(rexp(rows * columns[[1L]]), rows)
      y <- matrix(rexp(rows * columns[[2L]]), rows)
      expected <- t(vapply(seq_len(rows), function(i) convolve_pmf(x[i, ], y[i, ]), numeric(sum(columns) - 1)))
      dim(expected) <- c(rows, sum(columns) - 1)
      expect_identical(convolve_pmf(x, y, threads = 2), expected)
      expect_equal(convolve_pmf(log(x), log(y), log = TRUE, threads = 2), log(expected), tolerance = 1e-14)
    }
  }
  x <- matrix(rexp(40), 10)
  y <- rexp(5)
  expect_identical(convolve_pmf(x, y, threads = 2), convolve_pmf(x, matrix(y, 10, 5, byrow = TRUE), threads = 2))
  expect_identical(convolve_pmf(y, x, threads = 2), convolve_pmf(matrix(y, 1), x, threads = 2))
})

test_that("rows that are too long for direct sums take the fast method, one by one", {
  rows <- rbind(poisson_factor(8300, 700), random_factor(8300, 1))
  result <- convolve_pmf(rows, rows[2:1, ], threads = 2)
  expect_identical(result[1L, ], convolve_pmf(rows[1L, ], rows[2L, ], threads = 2))
  direct <- convolve_pmf(rows, rows[2:1, ], accuracy = 0, threads = 2)
  expect_lt(max(abs(result / direct - 1)[direct > 1e-300]), 1e-12)
})

test_that("logarithms keep their accuracy far below the range of doubles", {
  k <- 0:1499
  x <- -(k - 700)^2 / 16
  y <- -(k - 300)^2 / 32 - ifelse(k %% 7 == 0, 900, 0)
  reference <- convolution_reference("logarithms")
  expect_lt(min(reference$value), -80000)
  r <- convolve_pmf(x, y, log = TRUE, threads = 2)
  # Half a unit in the last place of a logarithm of 90,000 is 7e-12.
  expect_lt(max(abs(r[reference$index + 1] - reference$value) / pmax(1, abs(reference$value))), 4e-16)
})

test_that("logarithms in random order, zeros and single values", {
  set.seed(3)
  x <- -rexp(200, 1e-4)
  y <- -rexp(150, 1e-5)
  x[c(1, 7, 100:140)] <- -Inf
  y[c(20:60, 150)] <- -Inf
  sums <- outer(x, y, `+`)
  index <- outer(seq_along(x), seq_along(y), `+`) - 1
  expected <- vapply(split(sums, index), function(s) {
    top <- max(s)
    if (top == -Inf) -Inf else top + log(sum(exp(s - top)))
  }, numeric(1), USE.NAMES = FALSE)
  expect_equal(convolve_pmf(x, y, log = TRUE, threads = 2), expected, tolerance = 1e-14)
  expect_identical(convolve_pmf(-1e14, -3, log = TRUE), -1e14 - 3)
  expect_identical(convolve_pmf(c(-Inf, -5), c(0, -Inf), log = TRUE), c(-Inf, -5, -Inf))
})

test_that("long vectors of logarithms: smooth, with gaps, and irregular", {
  k <- 0:5999
  smooth <- -(k - 2000)^2 / 1e4
  gaps <- ifelse(k %% 2 == 0, smooth, -Inf)
  set.seed(4)
  wild <- -rexp(3000, 1e-3)
  check <- function(x, y) {
    r <- convolve_pmf(x, y, log = TRUE, threads = 2)
    for (i in c(1, 2, 500, 1999, length(r) - 1, length(r))) {
      j <- seq(max(1, i - length(y) + 1), min(length(x), i))
      s <- x[j] + y[i - j + 1]
      top <- max(s)
      expected <- if (top == -Inf) -Inf else top + log(sum(exp(s - top)))
      expect_equal(r[[i]], expected, tolerance = 1e-13)
    }
  }
  check(smooth, smooth)
  check(smooth, gaps)
  check(gaps, gaps)
  check(wild, wild)
  check(wild, smooth)
})

test_that("windows of plain weights: gaps, far modes, subnormal numbers", {
  k <- 0:8999
  narrow <- function(centre, sd) exp(-((k - centre) / sd)^2 / 2)
  cases <- list(
    list(ifelse(k %% 2 == 0, narrow(3000, 200), 0), narrow(5000, 300)),
    list(narrow(500, 30) + 1e-40 * narrow(8500, 20), narrow(4500, 1000)),
    list(narrow(500, 30) * 1e-290, narrow(4500, 1000)),
    list(c(1, rep(0, 8998), 1), random_factor(9000, 1)),
    list(exp(-600 * random_factor(9000, 2)), random_factor(9000, 1))
  )
  for (case in cases) {
    fast <- convolve_pmf(case[[1L]], case[[2L]], threads = 2)
    direct <- convolve_pmf(case[[1L]], case[[2L]], accuracy = 0, threads = 2)
    expect_true(all(fast >= 0))
    expect_identical(fast == 0 & direct > 1e-300, rep(FALSE, length(fast)))
    expect_lt(max(abs(fast / direct - 1)[direct > 1e-300]), 1e-12)
  }
})

test_that("distributions keep their origin and their scale", {
  x <- pmf(c(0.25, 0.75), from = -3)
  y <- pmf(c(0.5, 0.25, 0.25), from = 10)
  s <- convolve_pmf(x, y, threads = 2)
  expect_s3_class(s, "pmf")
  expect_identical(s$from, 7)
  expect_equal(s$prob, c(0.125, 0.4375, 0.25, 0.1875))
  l <- convolve_pmf(x, y, log = TRUE, threads = 2)
  expect_null(l$prob)
  expect_equal(exp(l$log_prob), s$prob)
  expect_equal(convolve_pmf(l, y, threads = 2)$log_prob, log(convolve_pmf(s, y, threads = 2)$prob))
  expect_equal(convolve_pmf(l, y, log = FALSE, threads = 2)$prob, convolve_pmf(s, y, threads = 2)$prob)
  # A vector and a distribution give a distribution.
  expect_identical(convolve_pmf(x, c(0.5, 0.5), threads = 2), convolve_pmf(x, pmf(c(0.5, 0.5)), threads = 2))
})

test_that("direct sums compute the many short stretches of irregular weights", {
  # Hundreds of stretches are refused. The length of the next stretch must not double after each of them.
  set.seed(1)
  for (range in c(100, 300)) {
    x <- exp(-range * stats::runif(9000))
    y <- exp(-range * stats::runif(9000))
    fast <- convolve_pmf(x, y, accuracy = 1e-6, backend = "cpu", threads = 2)
    expect_lt(max(abs(fast / convolve_pmf(x, y, accuracy = 0, backend = "cpu", threads = 2) - 1)), 1e-6)
  }
})

test_that("whole numbers and named vectors can be weights", {
  expect_identical(convolve_pmf(1:3, c(a = 1, b = 2)), c(1, 4, 7, 6))
  expect_identical(convolve_pmf(c(1, -0), 2), c(2, 0))
  expect_identical(convolve_pmf(table(c("a", "a", "b")), 1), c(2, 1))
})

test_that("each bad argument has its message", {
  expect_input_error(convolve_pmf(c(1, -2), 1),
    "`x` has the entry -2 at position 2; probabilities must be numbers from 0"
  )
  expect_input_error(convolve_pmf(1, c(1, NaN)), "`y` has the entry NaN at position 2")
  expect_input_error(convolve_pmf(1, NA_real_), "`y` has the entry NA at position 1")
  expect_input_error(convolve_pmf(Inf, 1), "`x` has the entry Inf at position 1")
  expect_input_error(convolve_pmf(c(0, 0), 1), "`x` is all zero")
  expect_input_error(convolve_pmf(1, numeric()), "`y` is empty")
  expect_input_error(convolve_pmf("a", 1), "`x` must be a numeric vector, not \"a\"")
  expect_input_error(convolve_pmf(array(1, c(1, 1, 1)), 1), "`x` must be a numeric vector, not a 1 x 1 x 1 array")
  expect_input_error(convolve_pmf(c(0, NaN), 0, log = TRUE), "`x` has the entry NaN at position 2; logarithms")
  expect_input_error(convolve_pmf(0, Inf, log = TRUE), "`y` has the entry Inf at position 1; logarithms")
  expect_input_error(convolve_pmf(0, -1e300, log = TRUE), "not beyond 2\\^49")
  expect_input_error(convolve_pmf(-Inf, 0, log = TRUE), "`x` is all zero")
  expect_input_error(convolve_pmf(matrix(1, 2, 2), matrix(1, 3, 2)), "`y` has 3 rows and `x` has 2")
  expect_input_error(convolve_pmf(matrix(1, 0, 2), matrix(1, 3, 2)), "`x` is empty: a 0 x 2 matrix")
  expect_input_error(convolve_pmf(matrix("a", 1, 2), 1), "`x` must be numeric, not a 1 x 2 matrix")
  expect_input_error(convolve_pmf(rbind(c(1, 2), c(3, -4)), 1), "`x` has the entry -4 in row 2, column 2")
  expect_input_error(convolve_pmf(rbind(c(1, 2), 0), 1), "`x` is all zero in row 2")
  expect_input_error(convolve_pmf(pmf(1), c(0.5, 0.6)), "`y` is a vector that sums to 1.1, not 1")
  expect_input_error(convolve_pmf(1, 1, log = NA), "`log` must be TRUE or FALSE")
  expect_input_error(convolve_pmf(1, 1, accuracy = -1), "`accuracy` must be one number from 0 to 0.01, not -1")
  expect_input_error(convolve_pmf(1, 1, accuracy = NA), "`accuracy` must be one number")
  expect_input_error(convolve_pmf(1, 1, threads = 0), "`threads` must be one whole number")
  expect_input_error(convolve_pmf(1, 1, backend = "gpu"), "`backend` must be one of")
  expect_input_error(
    convolve_pmf(pmf(1, from = 2^52), pmf(1, from = 2^52)), "the sum would begin at 9007199254740992, beyond 2\\^52"
  )
})

test_that("a result larger than memory is refused with its size", {
  check <- function(entries, copies = 3) {
    warpbayes:::check_result_size(entries, "times", "probabilities", copies = copies)
  }
  expect_silent(check(1e6))
  expect_error(check(1e13), "the result would have 10,000,000,000,000 probabilities \\(80 TB\\)",
    class = "warpbayes_error_memory"
  )
  expect_input_error(check(2^53), "more than R allows")
})

test_that("an entry returns its result or the reason why there is none", {
  run <- warpbayes:::resolve_run(NULL, 2)
  failure <- function(...) {
    result <- .Call(..., FALSE, 0, warpbayes:::fourier_cache(), run)
    expect_s3_class(result, "warpbayes_failure")
    result
  }
  unusable <- "weights must be finite numbers from 0, and one in each distribution must be positive"
  refuse <- function(...) expect_identical(failure(...)$message, unusable)
  for (bad in list(c(1, -1), c(0, 0), c(1, Inf), c(1, NaN), numeric())) {
    refuse(warpbayes:::C_pmf_convolve, bad, 1)
    refuse(warpbayes:::C_pmf_convolve, 1, bad)
    refuse(warpbayes:::C_pmf_sum, list(1, bad), 0, 2)
    refuse(warpbayes:::C_pmf_sum, list(bad), 2, 3)
  }
  refuse(warpbayes:::C_pmf_sum, list(), 0, 1)
  shapes <- failure(warpbayes:::C_pmf_convolve, matrix(1, 2, 2), matrix(1, 3, 2))
  expect_identical(shapes$message, "two vectors are convolved, or two matrices with the same number of rows")
  expect_identical(shapes$status, 1L)
})

test_that("an interrupt that an entry found is passed on", {
  failure <- structure(list(status = 5L, message = ""), class = "warpbayes_failure")
  heard <- tryCatch(warpbayes:::stop_failure(failure), interrupt = function(condition) "heard")
  expect_identical(heard, "heard")
})

test_that("a negative zero counts as zero", {
  expect_identical(convolve_pmf(c(1, -0, 2), c(3, 1)), c(3, 1, 6, 2))
  expect_identical(rep_sum_pmf(c(-0, 1), 3), c(0, 0, 0, 1))
  expect_identical(convolve_pmf(cbind(1, -0), cbind(2, 3)), cbind(2, 3, 0))
})

test_that("intermediate sums may leave the range of doubles", {
  expect_equal(
    sum_pmf(list(c(1e-200, 1e-200), c(1e-200, 1e-200), c(1e200, 1e200), c(1e200, 1)), threads = 2),
    c(1, 3, 3, 1, 1e-200), tolerance = 1e-14
  )
  expect_equal(sum_pmf(rbind(c(1e-200, 1), c(1e-200, 1), c(1e300, 1e-5)), threads = 2), c(1e-100, 2e100, 1e300, 1e-5),
    tolerance = 1e-14
  )
  expect_equal(rep_sum_pmf(c(1, 2, 1), 500, threads = 2), choose(1000, 0:1000), tolerance = 1e-12)
  overflow <- "the result has weights above 1.8e308, the largest double: give logarithms, with log = TRUE"
  expect_input_error(rep_sum_pmf(c(1, 2, 1), 1100, threads = 2), overflow)
  expect_input_error(convolve_pmf(1e200, 1e200), overflow)
  expect_input_error(convolve_pmf(matrix(1e200, 2, 2), matrix(1e200, 2, 2)), overflow)
  expect_identical(convolve_pmf(c(1e200, 1), 1e100), c(1e300, 1e100))
  expect_equal(rep_sum_pmf(log(c(1, 2, 1)), 1100, log = TRUE, threads = 2)[[1101]], lchoose(2200, 1100),
    tolerance = 1e-13)
})

test_that("the memory needed is checked before it is allocated", {
  root <- tempfile()
  dir.create(file.path(root, "memory"), recursive = TRUE)
  on.exit(unlink(root, recursive = TRUE))
  expect_identical(warpbayes:::container_memory(root), 2^52)
  writeLines("max", file.path(root, "memory.max"))
  writeLines("5000", file.path(root, "memory.current"))
  expect_identical(warpbayes:::container_memory(root), 2^52)
  writeLines("12000", file.path(root, "memory.max"))
  expect_identical(warpbayes:::container_memory(root), 7000)
  writeLines(c("anon 1", "inactive_file 1500", "active_file 3"), file.path(root, "memory.stat"))
  expect_identical(warpbayes:::container_memory(root), 8500)
  expect_identical(warpbayes:::address_space(root), 2^52)
  writeLines("Max address space         4000000              unlimited            bytes", file.path(root, "limits"))
  writeLines(c("VmPeak:\t    3000 kB", "VmSize:\t    1000 kB"), file.path(root, "status"))
  expect_identical(warpbayes:::address_space(root), 4e6 - 1024e3)
  writeLines("Max address space         unlimited            unlimited            bytes", file.path(root, "limits"))
  expect_identical(warpbayes:::address_space(root), 2^52)
  expect_lte(warpbayes:::result_copies(FALSE, 0), warpbayes:::result_copies(FALSE, 1e-12))
})

test_that("long work stops within half a second of an interrupt", {
  skip_if(warp_info()$backend != "cpu" || .Platform$OS.type != "unix", "the loops of the processor are looked at")
  # If a shell started this process in the background, it may ignore interrupts.
  skip_if(system2("sh", c("-c", shQuote("trap 'exit 7' INT; kill -INT $$; exit 0"))) != 7,
    "interrupts are ignored here"
  )
  # Half a second until the interrupt, and half a second of computing after it. Sanitizers are slow.
  limit <- if (nzchar(Sys.getenv("LD_PRELOAD")) || nzchar(Sys.getenv("ASAN_OPTIONS"))) 6 else 1.2
  file <- scratch(fileext = ".R")
  writeLines(c(
    sprintf(".libPaths(%s); library(warpbayes); options(warpbayes.threads = 1)", deparse1(.libPaths())),
    "h <- log((1:1e6)^-1.5); x <- pmf(rep(1e-3, 1e3)); run <- warpbayes:::resolve_run(\"cpu\", 1)",
    "heard <- function(code) {",
    "  system(sprintf(\"(sleep 0.5; kill -INT %d) &\", Sys.getpid()))",
    "  start <- proc.time()[[1L]]",
    "  told <- tryCatch({code; FALSE}, interrupt = function(i) TRUE)",
    "  seconds <- proc.time()[[1L]] - start",
    sprintf("  cat(if (told && seconds < %g) TRUE else paste(told, seconds), \"\\n\")", limit),
    "}",
    "heard(convolve_pmf(h, h, log = TRUE))",
    "heard(convolve_pmf(exp(h), exp(h)))",
    "heard(convolve_pmf(exp(h), exp(h), accuracy = 0))",
    "sizes <- pmf(exp(h), from = 1, normalize = TRUE)",
    "heard(compound_pmf(\"poisson\", sizes, lambda = 5))",
    "heard(compound_pmf(\"negative_binomial\", sizes, successes = 2, mu = 5, accuracy = 0))",
    # Last, since the gigabytes that it leaves make later calls slower.
    "heard(rpmf(x, 2e8))"
  ), file)
  out <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(file)), stdout = TRUE)
  expect_identical(trimws(out), rep("TRUE", 6))
})

test_that("long transforms and tilts have the same bits on one thread and on two", {
  skip_where_repeated()
  set.seed(6)
  # Transforms of 2^19 and of 2^20 entries, and a slope that is searched for.
  for (n in c(140000, 270000)) {
    x <- rexp(n)
    y <- exp(-12 * seq_len(n) / n)
    expect_identical(convolve_pmf(x, y, threads = 2), convolve_pmf(x, y, threads = 1))
  }
})
