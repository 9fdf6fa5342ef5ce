# What a fit says of values piled at an end of a marker, of few cells, and of the cause if chains do not agree.

# 2,000 cells: CD4 has 30% of zeros, CD8 is piled on 1023 in 2% of the cells, and nothing is piled in CD3.
piled_cells <- function() {
  set.seed(5)
  n <- 2000
  cbind(
    CD3 = rnorm(n, 100, 20), CD4 = ifelse(runif(n) < 0.3, 0, rlnorm(n, 4, 0.5)),
    CD8 = ifelse(runif(n) < 0.02, 1023, round(runif(n, 100, 900)))
  )
}

fit_piled <- function(x = piled_cells(), ...) {
  fit_mixture(x, components = 5, iter = 30, seed = 1, threads = 2, ...)
}

words_of <- function(fit) paste(capture.output(print(fit)), collapse = " ")

test_that("piled values are found, with their shares", {
  x <- piled_cells()
  piled <- fit_piled(x)$piled
  expect_identical(piled[1:3], data.frame(marker = c("CD4", "CD8"), end = c("low", "high"), value = c(0, 1023)))
  expect_identical(piled$share, c(mean(x[, "CD4"] == 0), mean(x[, "CD8"] == 1023)))
  # On another scale, with missing values, and with a few cells beyond.
  curved <- fit_piled(x, transform = c(CD4 = "logicle", CD8 = "arcsinh"))$piled
  expect_equal(curved[1:4], piled[1:4], tolerance = 1e-9)
  expect_equal(curved$at, c(0, asinh(1023 / 5)))
  x[1:100, "CD4"] <- NA
  x[101:103, "CD8"] <- 2000
  gaps <- fit_piled(x, missing = "model")$piled
  expect_identical(gaps$value, c(0, 1023))
  expect_identical(gaps$share, c(mean(x[101:2000, "CD4"] == 0), mean(x[, "CD8"] == 1023)))
})

test_that("values of other markers are not called piled", {
  none <- function(values) expect_identical(piled_at_low_end(values), matrix(0, 0L, 2L))
  set.seed(6)
  none(rnorm(5000))
  none(rexp(5000))
  none(round(rexp(5000, 0.05)))
  none(rpois(5000, 2))
  none(rpois(5000, 30))
  none(rbinom(5000, 1, 0.2))
  none(rep(3, 5000))
  none(round(runif(5000, 0, 1023)))
  # Zeros in the middle of a marker, and fewer than 0.5%.
  none(c(rnorm(4000), rep(0, 1000)))
  none(c(rexp(4990), rep(0, 10)))
  expect_equal(piled_at_low_end(c(rexp(4900), rep(0, 100))), matrix(c(0, 0.02), 1L))
})

test_that("print and summary name piled values where there are some, and only there", {
  fit <- fit_piled()
  share <- sprintf("%.1f%%", 100 * fit$piled$share)
  words <- sprintf("one value at an end of a marker: CD4 = 0 (%s), CD8 = 1023 (%s). Thin", share[[1]], share[[2]])
  expect_match(words_of(fit), words, fixed = TRUE)
  expect_match(paste(as.character(summary(fit)$verdict), collapse = " "), words, fixed = TRUE)
  expect_identical(summary(fit)$piled, fit$piled)
  expect_output(print(summary(fit), all = TRUE), sprintf("CD8 +high +1023 +%s", share[[2]]))
  mode <- dp_mixture(piled_cells(), components = 3, method = "bem", iter = 5, warmup = 5, seed = 1, threads = 2)
  expect_match(words_of(mode), words, fixed = TRUE)
  expect_output(print(summary(mode), all = TRUE), sprintf("CD8 +high +1023 +%s", share[[2]]))
  plain <- fit_piled(piled_cells()[, "CD3", drop = FALSE])
  expect_identical(nrow(plain$piled), 0L)
  expect_no_match(words_of(plain), "share one value")
  expect_no_match(paste(capture.output(print(summary(plain))), collapse = " "), "many cells share")
})

test_that("pictures show the spike and its share", {
  fit <- fit_piled()
  spikes <- spikes_of(fit, 2, c(-10, 300))
  expect_identical(spikes, list(at = 0, share = fit$piled$share[[1]]))
  expect_identical(spikes_of(fit, 2, c(5, 300)), list(at = numeric(), share = numeric()))
  expect_identical(spikes_of(fit, 1, c(0, 300)), list(at = numeric(), share = numeric()))
  file <- scratch(fileext = ".svg")
  drawn <- function(...) {
    grDevices::svg(file)
    plot(fit, ..., threads = 2)
    grDevices::dev.off()
    sum(grepl("83.5%, 36.9%, 0%|rgb\\(213|83.529", readLines(file)))
  }
  skip_if_not(capabilities("cairo"))
  expect_gt(drawn(), 0)
  expect_gt(drawn(markers = "CD4"), 0)
  expect_identical(drawn(markers = "CD3"), 0L)
})

test_that("few cells for the markers are named", {
  set.seed(7)
  few <- matrix(rnorm(53 * 6), 53)
  expect_match(words_of(fit_piled(few)), "53 cells are few for 6 markers: a component has 27 means and covariances")
  expect_no_match(words_of(fit_piled(rbind(few, few[1, ] + 1))), "are few for")
})

test_that("a short run and a single chain are named as causes, unless all is well", {
  causes <- function(sweeps, warmup, chains) {
    reasons <- cause_reasons(list(log_likelihood = matrix(0, sweeps, chains), warmup = warmup, chains = chains))
    if (length(reasons)) vapply(reasons, `[[`, "", "words")
  }
  expect_no_match(as.character(verdict(simulate_fit(sweeps = 600, warmup = 100, chains = 1))), "There is one chain")
  both <- causes(100, 50, 1L)
  expect_match(both, "The run is short: 50 sweeps after the warmup", all = FALSE)
  expect_match(both, "There is one chain; chains = 4", all = FALSE)
  expect_null(causes(600, 300, 2L))
  expect_match(causes(600, 300, 1L), "one chain")
  expect_match(causes(200, 100, 2L), "short")
  expect_null(causes(20, 10, 1L))
})

test_that("markers that are skewed in every type are named, and others are not", {
  skip_where_repeated()
  set.seed(1)
  # Two populations of a mass cytometer, as they are written and by arcsinh.
  n <- 1500
  high <- runif(n) < 0.5
  raw <- sapply(1:4, function(j) ifelse(high == (j %% 2), rlnorm(n, 5, 0.7), rexp(n, 1)))
  colnames(raw) <- paste0("CD", 1:4)
  said <- function(x, transform) {
    fit <- dp_mixture(x, components = 12, iter = 60, chains = 2, transform = transform, seed = 1, threads = 2)
    c(as.character(verdict(fit)), as.character(verdict(cell_types(fit, threads = 2))))
  }
  expect_match(said(matrix(rlnorm(4 * n), n), "none"), "4 of the 4 markers have a long tail", all = FALSE)
  expect_match(said(raw, "none"), "skewed in every type", all = FALSE)
  expect_no_match(said(raw, "arcsinh"), "long tail|skewed")
  # One type of many is skewed.
  raw <- rbind(matrix(rnorm(1200), ncol = 2), cbind(5 + rexp(300), 5 + rexp(300)))
  expect_no_match(said(raw, "none"), "long tail|skewed")
})
