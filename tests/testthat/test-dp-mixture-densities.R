# Densities under many draws are added up in the session that holds the cells.

set.seed(6)
columns <- 3L
k <- 4L
draws <- 7L
cells <- matrix(rnorm((2 * 2048 + 77) * columns, sd = 2), ncol = columns)
weights <- matrix(rexp(k * draws), k)
weights <- t(t(weights) / colSums(weights))
means <- array(rnorm(k * columns * draws), c(k, columns, draws, 1L))
covariances <- array(0, c(columns, columns, k, draws, 1L))
for (i in seq_len(draws)) {
  for (j in seq_len(k)) {
    covariances[, , j, i, 1L] <- crossprod(matrix(rnorm(5 * columns), 5)) / 4 + diag(columns) / 4
  }
}
center <- c(0.5, 0, -0.5)
scale <- c(1, 2, 0.7)

with_session <- function(backend, x, precision, use, threads = 2) {
  run <- resolve_run(backend, threads)
  session <- native(C_mixture_open, x, center, 1 / scale, precision, FALSE, run)
  on.exit(.Call(C_session_close, session))
  use(session, run)
}

add <- function(session, run, which, first, total, unit = 0.25) {
  native(C_mixture_add_densities, session, weights[, which, drop = FALSE], means, covariances, which - 1L, center,
    1 / scale, first, total, unit, run
  )
}

sum_of <- function(backend, x = cells, precision = 0L, unit = 0.25, threads = 2) {
  with_session(backend, x, precision,
    function(session, run) add(session, run, seq_len(draws), 0, rep(-Inf, nrow(x)), unit), threads
  )
}

log_sum <- function(a, b) ifelse(pmax(a, b) == -Inf, -Inf, pmax(a, b) + log1p(exp(-abs(a - b))))

test_that("the sum agrees with the densities one by one", {
  for (precision in 0:1) {
    with_session(NULL, cells, precision, function(session, run) {
      total <- rep(-Inf, nrow(cells))
      for (i in seq_len(draws)) {
        one <- native(C_mixture_evaluate, session, weights[, i], means[, , i, 1L], covariances[, , , i, 1L], center,
          1 / scale, 0, as.double(nrow(cells)), c(FALSE, TRUE, FALSE)
        )
        total <- log_sum(total, one$log_density - 0.25)
      }
      together <- add(session, run, seq_len(draws), 0, rep(-Inf, nrow(cells)))
      expect_equal(together, total, tolerance = 1e-13)
      # In several calls, and for a part of the rows.
      parts <- add(session, run, 4:7, 0, add(session, run, 1:3, 0, rep(-Inf, nrow(cells))))
      expect_identical(parts, together)
      expect_identical(add(session, run, seq_len(draws), 2000, rep(-Inf, 100)), together[2001:2100])
      # With a unit for each row, and added to existing sums.
      unit <- seq(-1, 1, length.out = nrow(cells))
      expect_equal(add(session, run, seq_len(draws), 0, rep(-Inf, nrow(cells)), unit),
        total + 0.25 - unit, tolerance = 1e-13
      )
      expect_equal(add(session, run, seq_len(draws), 0, unit), log_sum(unit, total), tolerance = 1e-13)
    })
  }
})

test_that("threads, instructions and backends do not change a bit", {
  skip_on_cran()
  expected <- sum_of("cpu", threads = 1)
  expect_identical(sum_of("cpu"), expected)
  expect_identical(sum_of(NULL), expected)
  for (isa in instruction_sets()) {
    expect_identical(with_options(list(warpbayes.isa = isa), sum_of("cpu")), expected)
  }
  gaps <- cells
  gaps[cbind(1:400 * 9, 1:2)] <- NA
  expect_identical(sum_of(NULL, gaps), sum_of("cpu", gaps))
})

test_that("a graphics card takes as many draws at a time as its memory holds", {
  skip_if_not(on_cuda())
  # The parameters of 200 components take 25 kB a draw; the cells take 0.15 MB.
  many <- rep(1:4, 50)
  sums <- function(backend, bytes) {
    with_options(list(warpbayes.device_memory = bytes), with_session(backend, cells, 0L, function(session, run) {
      native(C_mixture_add_densities, session, weights[many, ], means[many, , , , drop = FALSE],
        covariances[, , many, , , drop = FALSE],
        seq_len(draws) - 1L, center, 1 / scale, 0, rep(-Inf, nrow(cells)), 0, run)
    }))
  }
  expected <- sums("cpu", 0)
  for (bytes in c(5e5, 3e5, 2.2e5)) {
    expect_identical(sums(NULL, bytes), expected, label = format(bytes))
  }
  expect_error(sums(NULL, 20000), "MB of device memory are needed", class = "warpbayes_error_memory")
})

test_that("inconsistent arguments are refused", {
  error <- "warpbayes_error_input"
  total <- numeric(10)
  with_session(NULL, cells, 0L, function(session, run) {
    call <- function(which = 0:1, w = weights[, 1:2], m = means, s = covariances, first = 0, t = total, unit = 0,
                     at = session) {
      native(C_mixture_add_densities, at, w, m, s, which, center, 1 / scale, first, t, unit, run)
    }
    expect_length(call(), 10)
    for (wrong in list(c(0L, 7L), c(-1L, 0L), c(0, 1), integer(), NA_integer_)) {
      expect_error(call(which = wrong), "do not agree", class = error)
    }
    expect_error(call(w = weights[1:3, 1]), "do not agree", class = error)
    expect_error(call(m = means[1:5]), "do not agree", class = error)
    expect_error(call(s = covariances[1:5]), "do not agree", class = error)
    expect_error(call(first = nrow(cells) - 9), "do not agree", class = error)
    expect_error(call(first = -1), "do not agree", class = error)
    expect_error(call(t = 1:10), "do not agree", class = error)
    expect_error(call(unit = numeric(3)), "do not agree", class = error)
    bad <- covariances
    bad[1, 1, 3, 2, 1] <- -1
    expect_error(call(s = bad), "the covariance of component 3 is not positive definite", class = error)
    expect_error(call(at = NULL), "the mixture session is closed", class = error)
  })
})

test_that("a failure of any CUDA call gives an error with a message and leaves nothing behind", {
  cuda <- emulator()
  some <- cells[1:2100, ]
  sums <- function(backend) tryCatch(sum_of(backend, some), warpbayes_error = identity)
  expected <- sums("cpu")
  quietly({
    start <- cuda$calls()
    expect_identical(sums("cuda"), expected)
    calls <- cuda$calls() - start
    # In fifteen days every call fails.
    first <- as.integer(Sys.Date()) %/% 5L %% 3L + 1L
    for (error in c("memory", "kernel")) {
      at <- todays(if (full_run()) seq_len(calls) else seq(first, calls, by = 3L))
      expect_gt(count_failures(cuda, function() sums("cuda"), at, error, expected), length(at) / 4)
    }
  })
  expect_identical(sums("cuda"), expected)
})

test_that("the most probable type is the first of the highest density, with its share of the sum", {
  set.seed(6)
  n <- 9001L
  log_density <- lapply(1:5, function(t) round(rnorm(n, sd = 3), 1) - 700 * (t == 4))
  log_density[[2L]][1:50] <- log_density[[1L]][1:50] <- 20
  log_density[[3L]][51:90] <- -Inf
  for (t in 1:5) log_density[[t]][n] <- -Inf
  all <- do.call(cbind, log_density)
  share <- exp(all - apply(all, 1L, max))
  choose <- function(threads, isa = NULL) with_options(list(warpbayes.isa = isa), {
    native(C_mixture_most_probable, log_density, resolve_run("cpu", threads))
  })
  found <- choose(1L)
  expect_identical(found$type, max.col(all, ties.method = "first"))
  expect_equal(found$probability, 1 / rowSums(share), tolerance = 4e-16)
  expect_true(is.nan(found$probability[[n]]))
  expect_identical(choose(3L), found)
  expect_identical(choose(2L, "baseline"), found)
  refused <- function(values) native(C_mixture_most_probable, values, resolve_run("cpu", 1L))
  expect_error(refused(list()), class = "warpbayes_error_input")
  expect_error(refused(list(c(0, 1), 0)), class = "warpbayes_error_input")
})
