# A fit must not depend on threads, vector instructions, slices, interruption, what is kept, other chains or R's own
# random numbers. One pass over the rows is compared with plain R, row by row.

set.seed(77)
cells <- matrix(rnorm(2 * 6000), ncol = 2, dimnames = list(NULL, c("a", "b")))
cells[1:2500, ] <- cells[1:2500, ] / 2 + 3

fit_cells <- function(x = cells[1:400, ], components = 5, iter = 24, warmup = 6, seed = 3, threads = 2, ...) {
  fit_mixture(x, components = components, iter = iter, warmup = warmup, seed = seed, threads = threads, ...)
}

# Expects the same fit to the last bit, except in the parts that an argument names.
expect_same_fit <- function(fit, reference, except = character()) {
  names <- setdiff(intersect(names(fit_result(fit)), names(fit_result(reference))), except)
  expect_gt(length(names), 15)
  for (name in names) {
    expect_identical(fit[[name]], reference[[name]], label = name)
  }
}

test_that("the generator in plain R reproduces the published known answers", {
  expect_identical(reference_philox(c(0, 0), 0, 0, 0, 0), matrix(c(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8), 1))
  ones <- 2^32 - 1
  expect_identical(
    reference_philox(c(ones, ones), ones, ones, ones, ones),
    matrix(c(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd), 1)
  )
  # The key of a chain: purpose 1, the chain's number as the block.
  words <- reference_philox(c(123456789, 2), 3, 0, 65536, 0)
  expect_identical(key_words(.Call(C_chain_key, 123456789 + 2 * 2^32, 3L)), words[1, 1:2])
})

test_that("one pass draws the same labels as plain R and sums their rows", {
  for (k in c(1, 3, 16, 17, 50, 65)) {
    for (p in c(1, 2, 5)) {
      # Rows of two leaves on the processor, and of a few tiles on the emulator.
      n <- if (resolve_run()$backend == "cpu") 2300 else 300
      set.seed(k + p)
      x <- matrix(rnorm(n * p, sd = 2), n)
      out <- sweep_once(x, k, seed = 10 * k + p, concentration = 4, iteration = 7, backend = NULL)
      labels <- reference_labels(out$joint, out$key, 7)
      # A label may differ only if a uniform lies within rounding of a border: about one row in 1e12.
      expect_identical(out$labels, as.integer(labels))

      statistics <- matrix(out$statistics, ncol = k)
      products <- which(upper.tri(diag(p), diag = TRUE), arr.ind = TRUE)
      values <- cbind(1, x, x[, products[, 1]] * x[, products[, 2]])
      sums <- vapply(seq_len(k), function(j) colSums(values[labels == j, , drop = FALSE]), numeric(ncol(values)))
      expect_identical(statistics[1, ], matrix(sums, ncol = k)[1, ])
      expect_equal(statistics, matrix(sums, ncol = k), tolerance = 1e-12)
      expect_equal(
        out$log_likelihood, sum(apply(out$joint, 1, function(w) max(w) + log(sum(exp(w - max(w)))))),
        tolerance = 1e-12
      )
    }
  }
})

test_that("in single precision the labels differ from plain R only by rounding", {
  # Log densities in single precision are off by about 1e-6, so a label differs about once in 1e5 rows.
  for (k in c(3, 17, 65)) {
    set.seed(k)
    x <- matrix(rnorm(2300 * 3), ncol = 3)
    out <- sweep_once(x, k, seed = k, concentration = 4, iteration = 2, precision = "single")
    expect_lte(sum(out$labels != reference_labels(out$joint, out$key, 2, "single")), 3)
    # The counts must agree with the labels, whatever these are.
    expect_identical(matrix(out$statistics, ncol = k)[1, ], as.double(tabulate(out$labels, k)))
  }
})

test_that("threads do not change a fit", {
  for (precision in c("double", "single")) {
    keep <- c("weights", "means", "covariances", "labels")
    one <- fit_cells(cells, 20, keep = keep, precision = precision, threads = 1, backend = "cpu")
    expect_same_fit(fit_cells(cells, 20, keep = keep, precision = precision, threads = 2, backend = "cpu"), one)
    expect_same_fit(fit_cells(cells, 20, keep = keep, precision = precision, threads = 5, backend = "cpu"), one)
  }
})

test_that("threads that share the components do not change a fit", {
  skip_on_cran()
  # Enough components and columns for threads to share the components.
  set.seed(8)
  x <- matrix(rnorm(8 * 4200), ncol = 8)
  fit <- function(threads) {
    fit_cells(x, 100, iter = 4, warmup = 2, keep = c("weights", "means", "covariances"), threads = threads,
      backend = "cpu"
    )
  }
  one <- fit(1)
  expect_same_fit(fit(2), one)
  expect_same_fit(fit(3), one)
})

test_that("vector instructions do not change a fit", {
  skip_on_cran()
  widest <- .Call(C_backend_processor)$isa
  skip_if(widest == 0, "only the baseline instructions here")
  # Rows, columns and components leave all remainders modulo the vector length, four and sixteen.
  for (case in list(c(297, 1, 2), c(130, 2, 17), c(64, 3, 1), c(65, 4, 3), c(201, 7, 33))) {
    set.seed(case[[1L]])
    x <- matrix(rnorm(case[[1L]] * case[[2L]]), case[[1L]])
    for (precision in c("double", "single")) {
      fits <- lapply(instruction_sets(), function(isa) {
        local({
          previous <- options(warpbayes.isa = isa)
          on.exit(options(previous))
          fit_cells(x, case[[3L]],
            iter = 8, warmup = 2, backend = "cpu", precision = precision,
            keep = c("weights", "means", "covariances", "labels")
          )
        })
      })
      for (fit in fits[-1L]) {
        expect_same_fit(fit, fits[[1L]])
      }
      what <- function(isa) {
        previous <- options(warpbayes.isa = isa)
        on.exit(options(previous))
        predict(fits[[1L]], x, type = "prob", backend = "cpu", threads = 2)
      }
      for (isa in setdiff(instruction_sets(), isa_names[[widest + 1L]])) {
        expect_identical(what(isa), what(isa_names[[widest + 1L]]))
      }
    }
  }
})

test_that("a continued fit equals the long one, wherever it is cut", {
  skip_on_cran()
  fit_part <- function(iter, learn) {
    fit_cells(
      iter = iter, chains = 2, thin = 2, prior = dp_prior(learn = learn),
      keep = c("weights", "means", "covariances", "labels")
    )
  }
  for (learn in list(character(), c("mean", "mean_scale", "scale", "df"))) {
    whole <- fit_part(24, learn)
    for (first in if (on_cuda()) 9 else c(8, 9, 15, 23)) {
      expect_same_fit(continue(fit_part(first, learn), 24 - first, threads = 2), whole)
    }
    # In many steps, with other numbers of threads, and through a file.
    file <- tempfile(fileext = ".rds")
    part <- fit_part(8, learn)
    saveRDS(part, file)
    part <- readRDS(file)
    unlink(file)
    for (step in c(1, 1, 2, 5, 7)) {
      part <- continue(part, step, threads = step)
    }
    expect_same_fit(part, whole)
  }
})

test_that("slices over several kept draws give what slices of one sweep give", {
  common <- list(keep = c("weights", "means", "covariances", "labels"), thin = 2, warmup = 3, chains = 2)
  prior <- dp_prior(learn = c("mean", "mean_scale", "scale", "df"))
  for (case in list(list(prior = prior), list(sample = rep_len(c("a", "b"), 400)))) {
    fit <- function(iter) do.call(fit_cells, c(common, case, list(iter = iter)))
    whole <- fit(15)
    expect_gt(mixture_kept_together(mixture_sampler(whole)$draws), 6)
    steps <- fit(5)
    for (sweep in 6:15) steps <- continue(steps, 1, threads = 1)
    expect_same_fit(steps, whole)
  }
})

test_that("a fit interrupted at any sweep continues to the same result", {
  skip_if_uninterruptible()
  keep <- c("weights", "means", "covariances", "labels")
  for (chains in if (on_cuda()) 3 else c(1, 3)) {
    prior <- if (chains == 1) dp_prior() else dp_prior(learn = c("mean", "mean_scale", "scale", "df"))
    whole <- fit_cells(iter = 10, warmup = 3, chains = chains, keep = keep, prior = prior)
    # Slices end after the first sweep, and after each sweep from the first kept draw on, at sweep 4. With one thread,
    # chains take turns.
    for (at in todays(seq_len(8 * chains - 1))) {
      stopped <- with_warning(then_interrupted(after_slice(
        at, interrupt, fit_cells(iter = 10, warmup = 3, chains = chains, keep = keep, prior = prior, threads = 1)
      )))
      part <- stopped$value
      # A slice is undone unless all chains have done it.
      done <- c(0, 1, 4:10)[[at %/% chains + 1]]
      expect_true(part$interrupted)
      expect_match(stopped$said,
        sprintf("interrupted: %d of 10 sweeps are done, %d draws? per chain", done, max(0, done - 3))
      )
      expect_identical(part$iter, as.double(done))
      expect_identical(dim(part$log_likelihood), c(as.integer(done), as.integer(chains)))
      expect_identical(dim(part$draws$means), c(5L, 2L, as.integer(max(0, done - 3)), as.integer(chains)))
      expect_identical(part$draws$labels, whole$draws$labels[, seq_len(max(0, done - 3)), , drop = FALSE])
      expect_same_fit(continue(part, 10 - done, threads = 2), whole)
    }
  }
})

test_that("an interrupt from outside returns a fit", {
  skip_if_uninterruptible()
  skip_on_cran()
  # 1e5 sweeps of 6,000 cells take far longer than the second of waiting.
  system(sprintf("(sleep 1; kill -INT %d) > /dev/null 2>&1", Sys.getpid()), wait = FALSE)
  expect_warning(
    part <- then_interrupted(fit_cells(cells, iter = 1e5, warmup = 0, thin = 50, keep = "weights")),
    "interrupted: [0-9]* of 100000 sweeps"
  )
  expect_gt(part$iter, 0)
  expect_lt(part$iter, 1e5)
  skip_if(part$iter < 50, "too slow a machine for a draw in a second")
  expect_same_fit(part, fit_cells(cells, iter = part$iter, warmup = 0, thin = 50, keep = "weights"))
})

test_that("warm-up, thinning and keep only select among the same draws", {
  # Without `start`, a warm-up of up to 100 sweeps determines when components are joined.
  start <- rep_len(1:3, 400)
  all <- fit_cells(iter = 20, warmup = 0, chains = 2, start = start,
    keep = c("weights", "means", "covariances", "labels")
  )
  traces <- c("log_likelihood", "log_posterior", "concentration_trace", "occupied", "probe_density", "sizes", "state")
  for (case in list(c(4, 3), c(0, 1), c(19, 1), c(10, 10), c(7, 13), c(0, 20))[if (on_cuda()) 1 else 1:6]) {
    some <- fit_cells(iter = 20, warmup = case[[1L]], thin = case[[2L]], chains = 2, start = start,
      keep = c("weights", "means", "covariances", "labels")
    )
    kept <- case[[1L]] + case[[2L]] * seq_len((20 - case[[1L]]) %/% case[[2L]])
    expect_identical(some$draws$weights, all$draws$weights[, kept, , drop = FALSE])
    expect_identical(some$draws$means, all$draws$means[, , kept, , drop = FALSE])
    expect_identical(some$draws$covariances, all$draws$covariances[, , , kept, , drop = FALSE])
    expect_identical(some$draws$labels, all$draws$labels[, kept, , drop = FALSE])
    expect_identical(some$draws$concentration, all$draws$concentration[kept, , drop = FALSE])
    expect_identical(some[traces], all[traces])
  }
  kinds <- list(c("covariances", "means"), "weights", "labels", c("labels", "weights"))
  for (keep in kinds[if (on_cuda()) 1 else 1:4]) {
    some <- fit_cells(iter = 20, warmup = 0, chains = 2, start = start, keep = keep)
    expect_setequal(names(some$draws), c(keep, sprintf("prior_%s", some$prior$learn), "concentration"))
    expect_identical(some$draws[names(some$draws)], all$draws[names(some$draws)])
    expect_identical(some[traces], all[traces])
  }
  # Each draw is that of its sweep.
  expect_identical(all$draws$concentration, all$concentration_trace)
  occupied <- apply(all$draws$labels, 2:3, function(labels) length(unique(labels)))
  expect_identical(occupied, all$occupied)
  expect_identical(all$sizes, apply(all$draws$labels[, 20, ], 2, tabulate, nbins = 5))
})

test_that("a chain depends on the seed and its number, not on other chains", {
  keep <- c("weights", "means", "covariances", "labels")
  three <- fit_cells(chains = 3, keep = keep)
  for (chains in 1:2) {
    fewer <- fit_cells(chains = chains, keep = keep)
    for (chain in seq_len(chains)) {
      expect_identical(fewer$draws$means[, , , chain], three$draws$means[, , , chain])
      expect_identical(fewer$draws$labels[, , chain], three$draws$labels[, , chain])
      expect_identical(fewer$log_posterior[, chain], three$log_posterior[, chain])
      expect_identical(fewer$state[[chain]], three$state[[chain]])
    }
  }
  # Chains of one seed and of neighbouring seeds all differ.
  next_seed <- fit_cells(chains = 3, keep = keep, seed = 4)
  traces <- cbind(three$concentration_trace, next_seed$concentration_trace)
  expect_false(anyDuplicated(traces[1, ]) > 0)
})

test_that("draws depend on the seed, or on set.seed() without one", {
  given <- fit_cells(seed = 2^53 - 1)
  expect_identical(given$seed, 2^53 - 1)
  expect_same_fit(fit_cells(seed = 2^53 - 1), given)
  expect_false(identical(fit_cells(seed = 2^53 - 2)$concentration_trace, given$concentration_trace))
  expect_false(identical(fit_cells(seed = 0)$concentration_trace, fit_cells(seed = 2^32)$concentration_trace))

  set.seed(12)
  first <- fit_cells(seed = NULL)
  second <- fit_cells(seed = NULL)
  expect_false(first$seed == second$seed)
  set.seed(12)
  expect_same_fit(fit_cells(seed = NULL), first)
  expect_same_fit(fit_cells(seed = first$seed), first)

  # With a seed R's generator is neither read nor changed.
  set.seed(1)
  before <- .Random.seed
  one <- continue(fit_cells(), 5)
  predict(one, type = "class", threads = 2)
  expect_identical(.Random.seed, before)
  set.seed(2)
  expect_same_fit(continue(fit_cells(), 5), one)
  rm(".Random.seed", envir = globalenv())
  fit_cells()
  expect_false(exists(".Random.seed", globalenv(), inherits = FALSE))
  set.seed(NULL)
})

test_that("chains start from the given labels", {
  labels <- rep(c(2, 5, NA), length.out = 400)
  fit <- fit_cells(start = labels, iter = 1, warmup = 0)
  expect_same_fit(fit_cells(start = as.integer(labels), iter = 1, warmup = 0), fit)
  expect_false(identical(fit_cells(iter = 1, warmup = 0)$draws$means, fit$draws$means))
  # The first sweep draws component 2 from its 134 rows.
  statistics <- native(
    C_mixture_start, fit$x, fit$center, 1 / fit$scale, compiled_prior(fit$prior), 5L, fit$state[[1L]]$key, FALSE,
    matrix(0, 2, 0), as.integer(labels)
  )
  statistics <- matrix(statistics, ncol = 5)
  expect_identical(statistics[1, ], c(0, 134, 0, 0, 133))
  z <- scale(fit$x, fit$center, fit$scale)[which(labels == 2), ]
  expect_equal(statistics[-1, 2],
    c(sum(z[, 1]), sum(z[, 2]), sum(z[, 1]^2), sum(z[, 1] * z[, 2]), sum(z[, 2]^2)), tolerance = 1e-12
  )
  # Without labels the first draw comes from the prior.
  expect_s3_class(fit_cells(start = rep(NA, 400), iter = 1, warmup = 0), "dp_mixture")
})

test_that("the alignment of the data in memory does not matter", {
  x <- cells[1:400, ]
  frame <- data.frame(z = letters[1], x)
  reference <- fit_cells(x)
  expect_same_fit(fit_cells(frame[c("a", "b")]), reference)
  expect_same_fit(fit_cells(cbind(x, c = 1), markers = c("a", "b")), reference)
  whole <- matrix(sample(1e6, 800), ncol = 2, dimnames = dimnames(x))
  storage.mode(whole) <- "integer"
  expect_same_fit(fit_cells(whole), fit_cells(whole + 0))
})
