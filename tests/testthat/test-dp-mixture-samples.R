# Several samples that share components, each with its own proportions: one pass in plain R, what a fit finds, and that
# all backends agree. Geweke's test (tests/geweke) checks the sampler.

# Two populations, far apart in the first marker. `share` of the cells are in the second.
two_populations <- function(share, n) {
  second <- seq_len(n) <= round(share * n)
  cbind(CD4 = rnorm(n) + 12 * second, CD8 = rnorm(n))
}

some_samples <- function() {
  set.seed(5)
  list(a = two_populations(0.1, 300), b = two_populations(0.5, 500), c = two_populations(0.8, 60))
}

fit_samples <- function(x = some_samples(), components = 5, iter = 40, warmup = 20, seed = 3, threads = 2, ...) {
  fit_mixture(x, components = components, iter = iter, warmup = warmup, seed = seed, threads = threads, ...)
}

# Runs sweeps on a session with samples.
sampled_sweep <- function(x, sample, k, precision, backend, pooled = 0, sizes = NULL) {
  p <- ncol(x)
  samples <- max(sample)
  session <- native(C_mixture_open_samples, x, numeric(p), rep(1, p), as.integer(precision == "single"), FALSE,
    resolve_run(backend, 2), sample, samples
  )
  on.exit(.Call(C_session_close, session))
  key <- .Call(C_chain_key, 8, 1L)
  prior <- sampler_prior(p)
  prior$sample_concentration <- c(2, 0.1)
  state <- c(sampler_state(prior, numeric(k * statistics_size(p)), 4, key, 7), list(
    pooled = pooled, sample_sizes = if (is.null(sizes)) numeric(samples * k) else sizes,
    log_share = rep(-log(k), k), sample_concentration = 3
  ))
  out <- native_one(C_mixture_sweeps, session, prior, state, 1L, FALSE, matrix(0, 2L, 0L), matrix(0, p, 1L),
    rep(TRUE, 3L), numeric(p), rep(1, p)
  )
  out$key <- key
  out
}

test_that("one pass draws labels by the weights of each row's sample, and counts rows by sample", {
  n <- if (on_cuda()) 300 else 5000
  for (k in c(3, 20)) {
    for (order in c("sorted", "mixed", "reversed")) {
      set.seed(k)
      x <- matrix(rnorm(2 * n, sd = 2), n)
      sample <- sample(3L, n, replace = TRUE, prob = c(1, 5, 0.05))
      sample <- switch(order, sorted = sort(sample), mixed = sample, reversed = rev(sort(sample)))
      sizes <- tabulate(1:3, 3)[rep(1:3, each = k)] * rep(0:(k - 1), 3)
      out <- sampled_sweep(x, sample, k, "double", NULL, sizes = as.double(sizes))
      joint <- reference_joint(x, rep(1, k), out$means, out$covariances) + t(out$sample_log_weight)[sample, ]
      labels <- as.integer(reference_labels(joint, out$key, 7))
      expect_identical(out$labels, labels)
      expect_identical(out$sample_sizes, as.double(table(factor(labels, seq_len(k)), factor(sample, 1:3))))
      expect_equal(out$log_likelihood,
        sum(apply(joint, 1, function(w) max(w) + log(sum(exp(w - max(w)))))), tolerance = 1e-12
      )
      expect_equal(colSums(exp(out$sample_log_weight)), rep(1, 3))
      # The weights are the row counts of the state before the sweep.
      rows <- colSums(matrix(sizes, k))
      expect_equal(exp(out$log_weight), drop(exp(out$sample_log_weight) %*% rows) / sum(rows))
    }
  }
})

test_that("before the samples separate, a pass equals that of one sample", {
  set.seed(1)
  x <- matrix(rnorm(600, sd = 2), 300)
  for (precision in c("double", "single")) {
    out <- sampled_sweep(x, sample(4L, 300, TRUE), 6, precision, NULL, pooled = 7)
    plain <- sweep_once(x, 6, 8, concentration = 4, iteration = 7, precision = precision, backend = NULL)
    expect_identical(out$means, plain$means)
    expect_identical(out$log_weight, plain$log_weight)
    # Log weights are added in another order.
    expect_lte(sum(out$labels != plain$labels), if (precision == "double") 0 else 2)
    expect_identical(out$sample_log_weight, matrix(plain$log_weight, 6, 4))
  }
})

test_that("fits of samples are the same on any number of threads, with any instructions, and on a device", {
  fit <- fit_samples(keep = c("weights", "means", "covariances", "labels"))
  expect_identical(fit_result(fit_samples(threads = 1, keep = fit$keep)), fit_result(fit))
  if (on_cuda()) expect_identical(fit_result(fit_samples(backend = "cpu", keep = fit$keep)), fit_result(fit))
  for (isa in instruction_sets()) {
    old <- options(warpbayes.isa = isa)
    expect_identical(fit_result(fit_samples(keep = fit$keep)), fit_result(fit))
    options(old)
  }
})

test_that("a continued fit equals the whole fit", {
  whole <- fit_samples(chains = 2)
  part <- fit_samples(iter = 25, chains = 2)
  expect_identical(fit_result(continue(part, 15, threads = 2)), fit_result(whole))
  part$sample <- rev(part$sample)[-1]
  expect_error(continue(part, 5, threads = 2),
    "its `sample` is not the sample of each cell", class = "warpbayes_error_input"
  )
  part <- fit_samples(iter = 25)
  part$state[[1]]$sample_sizes[[1]] <- 1e300
  expect_error(continue(part, 5, threads = 2), class = "warpbayes_error_input")
  part$state[[1]]$sample_sizes <- 1
  expect_error(continue(part, 5, threads = 2), class = "warpbayes_error_input")
  part$prior$sample_concentration <- NULL
  expect_error(continue(part, 5, threads = 2), class = "warpbayes_error_input")
})

test_that("samples can be a list, a vector, a factor or a column", {
  x <- some_samples()
  fit <- fit_samples(x)
  stacked <- do.call(rbind, x)
  of <- rep(names(x), vapply(x, nrow, 0L))
  expect_identical(fit$samples, c("a", "b", "c"))
  expect_identical(fit$sample, match(of, c("a", "b", "c")))
  expect_identical(dimnames(fit$draws$sample_weights)[[2]], c("a", "b", "c"))
  expect_identical(dim(fit$draws$sample_weights), c(5L, 3L, 20L, 1L))
  same <- function(other) expect_identical(other$draws, fit$draws)
  same(fit_samples(stacked, sample = of))
  same(fit_samples(stacked, sample = factor(of)))
  same(fit_samples(data.frame(stacked, from = of), sample = "from"))
  same(fit_samples(data.frame(from = of, stacked), sample = "from", markers = c("CD4", "CD8")))
  numbered <- fit_samples(cbind(stacked, from = fit$sample), sample = "from")
  expect_identical(numbered$samples, c("1", "2", "3"))
  expect_identical(unname(numbered$draws$sample_weights), unname(fit$draws$sample_weights))
  # Columns of a list are found by name. Samples without names are numbered.
  turned <- x
  turned$b <- as.data.frame(turned$b[, 2:1])
  same(fit_samples(turned))
  expect_identical(fit_samples(unname(x))$samples, c("1", "2", "3"))
  # Factor levels determine the order. Without samples it is the fit of the stacked cells.
  expect_identical(fit_samples(stacked, sample = factor(of, c("c", "a", "b")))$samples, c("c", "a", "b"))
  expect_identical(fit_samples(x, sample = FALSE)$draws, fit_samples(stacked)$draws)
  # A single sample is allowed.
  single <- fit_samples(x["b"])
  expect_identical(single$samples, "b")
  expect_equal(unname(single$draws$sample_weights[, 1, , ]), unname(single$draws$weights[, , 1]))
})

test_that("samples that cannot be used are errors", {
  x <- some_samples()
  stacked <- do.call(rbind, x)
  of <- rep(names(x), vapply(x, nrow, 0L))
  fails <- function(message, ...) {
    expect_error(fit_mixture(..., iter = 2, threads = 2), message, class = "warpbayes_error_input")
  }
  gaps <- some_samples()
  gaps$b[3, 1] <- NA
  fails("has NA in row 3 of sample \"b\", column 1 \\(\"CD4\"\\); warp_control\\(missing", gaps)
  fails("`sample` has 859 values for 860 cells", stacked, sample = of[-1])
  fails("`sample` is missing for row 7", stacked, sample = replace(of, 7, NA))
  fails("`sample` names \"from\", which is no column of `x`; it has \"CD4\"", stacked, sample = "from")
  fails("`sample` must be NULL, FALSE, the name of a column, or one value for each cell", stacked, sample = as.list(of))
  fails("`sample` has 2 values", stacked, sample = c(TRUE, FALSE))
  fails("`x` has no cells in sample 2 \\(\"b\"\\)", replace(x, "b", list(x$b[0, ])))
  fails("`x` is an empty list", list())
  fails("`x` has two samples named \"a\"", stats::setNames(x, c("a", "b", "a")))
  fails("different columns: sample 2 \\(\"b\"\\) has \"CD4\", \"CD9\", sample 1",
    replace(x, "b", list(`colnames<-`(x$b, c("CD4", "CD9"))))
  )
  fails("different columns: sample 3 \\(\"3\"\\) has 1 column, sample 1",
    lapply(list(x$a, x$b, x$c[, 1, drop = FALSE]), unname)
  )
  fails("`x[[2]]` must be a numeric matrix|must be a numeric matrix", replace(x, "b", list("cells")))
  fails("`sample_concentration` must be the shape and the rate", x, prior = dp_prior(sample_concentration = -1))
  expect_error(dp_prior(sample_concentration = c(a = 1, b = 2)),
    "`sample_concentration` has the names", class = "warpbayes_error_input"
  )
})

test_that("proportions of the samples are found", {
  skip_where_repeated()
  # Populations are so far apart that every cell is in the right one. Given the counts, the posterior of a proportion is
  # close to Beta(n_j + a beta_j, n - n_j + a (1 - beta_j)). The bounds hold for any a below 100. The prior alone
  # exceeds 100 with probability below 1e-3, and the posterior here lies below 20.
  x <- some_samples()
  for (way in c("sorted", "mixed")) {
    stacked <- do.call(rbind, x)
    of <- rep(names(x), vapply(x, nrow, 0L))
    if (way == "mixed") {
      set.seed(9)
      order <- sample(nrow(stacked))
      stacked <- stacked[order, ]
      of <- factor(of[order], names(x))
    }
    fit <- dp_mixture(stacked, sample = of, components = 5, iter = 400, warmup = 100, seed = 1, threads = 2)
    table <- type_proportions(cell_types(fit, ndraws = 100, threads = 2))
    # The second population is the one around 12.
    types <- cell_types(fit, ndraws = 100, threads = 2)
    second <- levels(types)[[which.max(types$medians[, "CD4"])]]
    rows <- table[table$type == second, ]
    expect_identical(as.character(rows$sample), c("a", "b", "c"))
    true <- c(0.1, 0.5, 0.8)
    expect_lt(max(abs(rows$proportion - true) - 20 / (c(300, 500, 60) + 20) * abs(true - 0.4)), 0.02)
    expect_true(all(rows$lower < true + 0.01 & rows$upper > true - 0.04))
    # Fewer cells give a wider interval.
    expect_gt(diff(unlist(rows[3, c("lower", "upper")])), 2 * diff(unlist(rows[2, c("lower", "upper")])))
  }
})

test_that("intervals of proportions have about their nominal coverage", {
  skip_where_repeated()
  skip_if(on_cuda(), "many fits")
  # Proportions from the prior, cells from these proportions. If 90% intervals are right, fewer than 40 of 60 cover with
  # probability 1e-7.
  sets <- if (extended()) 200 else 20
  held <- unlist(lapply(seq_len(sets), function(set) {
    set.seed(set)
    share <- rbeta(3, 10 * 0.3, 10 * 0.7)
    second <- lapply(share, function(s) runif(80) < s)
    x <- lapply(second, function(second) cbind(CD4 = rnorm(80) + 12 * second, CD8 = rnorm(80)))
    fit <- dp_mixture(x, components = 4, iter = 240, warmup = 40, seed = set, threads = 1, progress = FALSE)
    types <- cell_types(fit, types = 2, ndraws = 100, threads = 1)
    table <- type_proportions(types)
    rows <- table[table$type == levels(types)[[which.max(types$medians[, "CD4"])]], ]
    share >= rows$lower & share <= rows$upper
  }))
  expect_gt(sum(held), qbinom(1e-7, length(held), 0.9))
})

test_that("the proportions of a small sample shrink towards the others", {
  set.seed(2)
  x <- list(a = two_populations(0.3, 400), b = two_populations(0.3, 400), c = two_populations(0.3, 400),
    d = two_populations(1, 2)
  )
  fit <- dp_mixture(x, components = 4, iter = 120, warmup = 40, seed = 1, threads = 2)
  types <- cell_types(fit, threads = 2)
  table <- type_proportions(types)
  row <- table[table$sample == "d" & table$type == levels(types)[[which.max(types$medians[, "CD4"])]], ]
  # Both cells of this sample are in the second population. In the other samples 30% of the cells are.
  expect_lt(row$proportion, 0.8)
  expect_gt(row$upper - row$lower, 0.1)
})

test_that("prediction, likelihoods, simulation and updates use the samples", {
  x <- some_samples()
  fit <- fit_samples(x, iter = 60, warmup = 30)
  stacked <- do.call(rbind, x)
  reference <- reference_draw(fit)
  between <- rbind(c(6, 0), c(6, 0))
  colnames(between) <- c("CD4", "CD8")
  # A mixture in plain R, with the weights of a sample or of all.
  prob <- function(weights) {
    joint <- reference_joint(between, weights, reference$means, reference$covariances)
    exp(joint - apply(joint, 1, max)) / rowSums(exp(joint - apply(joint, 1, max)))
  }
  in_sample <- function(sample) unname(predict(fit, between, "prob", sample = sample, threads = 2))
  expect_equal(in_sample("a"), prob(reference$sample_weights[, 1]))
  expect_equal(in_sample(c("c", "a"))[1, ], prob(reference$sample_weights[, 3])[1, ])
  expect_equal(in_sample(factor(c("c", "a")))[2, ], prob(reference$sample_weights[, 1])[2, ])
  expect_equal(in_sample(NULL), prob(reference$weights))
  expect_equal(in_sample(FALSE), prob(reference$weights))
  fails <- function(message, ...) expect_error(predict(..., threads = 2), message, class = "warpbayes_error_input")
  fails("`sample` has \"z\"; the samples of the fit are \"a\", \"b\", \"c\"", fit, between, sample = "z")
  fails("`sample` must be one sample, or one for each of the 2 cells", fit, between, sample = c("a", "b", "c"))
  fails("`sample` is given, but the fit has one sample only", fit_samples(stacked), between, sample = "a")
  # The fitted cells are of their own samples.
  of <- fit$samples[fit$sample]
  expect_identical(predict(fit, threads = 2), predict(fit, stacked, sample = of, threads = 2))
  density <- predict(fit, type = "log_density", ndraws = 5, threads = 2)
  expect_equal(density, predict(fit, stacked, type = "log_density", sample = of, ndraws = 5, threads = 2))
  expect_gt(sum(density), sum(predict(fit, type = "log_density", sample = FALSE, ndraws = 5, threads = 2)))
  # The likelihood of a draw is that of its sweep, up to the factor of the floor.
  likelihood <- log_lik.dp_mixture(fit, threads = 2)
  expect_equal(rowSums(likelihood), fit$log_likelihood[31:60, 1], tolerance = 1e-4)
  expect_equal(likelihood[3, ], log_lik.dp_mixture(fit, stacked, sample = of, threads = 2)[3, ])
  expect_equal(as.double(logLik(fit, threads = 2)), sum(likelihood[reference$draw, ]))
  # Simulated samples have their own proportions. False alarms 1e-6.
  simulated <- simulate(fit, seed = 1)[[1]]
  share <- tapply(simulated[, "CD4"] > 6, fit$sample, mean)
  expect_true(all(abs(share - c(0.1, 0.5, 0.8)) < c(0.15, 0.15, 0.35)))
  from_list <- dp_mixture(x, components = 5, iter = 4, seed = 3, threads = 2)
  from_vector <- dp_mixture(stacked, components = 5, iter = 4, sample = of, seed = 3, threads = 2)
  expect_identical(update(from_vector, sample = FALSE)$samples, NULL)
  for (changed in list(update(from_list, iter = 8), update(from_vector, iter = 8))) {
    expect_identical(changed$samples, c("a", "b", "c"))
    expect_identical(changed$sample, fit$sample)
  }
  expect_output(print(fit), "860 cells of 3 samples x 2 markers")
  skip_if_not_installed("generics")
  expect_identical(augment.dp_mixture(fit, ndraws = 5, threads = 2)$.log_density, unname(density))
})

test_that("cells of very many samples are evaluated", {
  set.seed(4)
  x <- matrix(rnorm(480), 240, dimnames = list(NULL, c("a", "b")))
  fit <- dp_mixture(x, components = 3, iter = 4, sample = rep(1:120, 2), seed = 1, threads = 2)
  all <- predict(fit, type = "log_density", threads = 2)
  some <- rep(1:120, 2) %in% c(1, 77, 120)
  expect_equal(all[some],
    predict(fit, x[some, ], type = "log_density", sample = rep(1:120, 2)[some], threads = 2), tolerance = 1e-12
  )
})

test_that("relabelling also renumbers the components of the samples", {
  fit <- relabel(fit_samples(iter = 60, warmup = 30), threads = 2)
  rows <- tabulate(fit$sample)
  expect_equal(apply(fit$draws$sample_weights, 3:4, function(w) drop(w %*% rows) / sum(rows)), fit$draws$weights)
  types <- cell_types(fit, threads = 2)
  expect_equal(dim(attr(type_proportions(types), "draws"))[2:3], c(nrow(types$types), 3))
})

test_that("proportions of samples agree with the draws, and have a picture", {
  fit <- fit_samples(iter = 60, warmup = 30)
  types <- cell_types(fit, threads = 2, ndraws = 30)
  table <- type_proportions(types, level = 0.5)
  draws <- attr(table, "draws")
  expect_equal(apply(draws, c(1, 3), sum), matrix(1, 30, 3), ignore_attr = TRUE)
  expect_equal(table$proportion, as.vector(apply(draws, 2:3, mean)))
  expect_equal(table$lower, as.vector(apply(draws, 2:3, quantile, 0.25)))
  fails <- function(message, code) expect_error(code, message, class = "warpbayes_error_input")
  fails("`types` must come from cell_types\\(\\)", type_proportions(fit))
  fails("`types` are of a fit of one sample",
    type_proportions(cell_types(fit_samples(do.call(rbind, some_samples())), threads = 2))
  )
  fails("`level`", type_proportions(types, level = 2))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(table, group = c("x", "y", NA), main = "Samples"), table)
  expect_identical(plot(table, group = c(c = "y", a = "x", b = "y"), types = 1), table)
  colours <- function(group) picture_of(table, group, 1, NULL)$panels[[1]]$layers[[2]]$data$fill
  expect_identical(colours(c(c = "y", a = "x", b = "y")), colours(c("x", "y", "y")))
  expect_identical(colours(c("x", "y", NA))[[3]], other_colour)
  expect_identical(plot(table, group = rep(NA, 3)), table)
  fails("`group` must have a group for each of the 3 samples", plot(table, c("x", "y")))
  fails("`group` has names other than the samples", plot(table, c(a = 1, b = 2, z = 3)))
  fails("`types` must be some of .*, not \"none\"", plot(table, types = c("none", levels(table$type))))
  fails("`types` must be some of .*, not 99", plot(table, types = 99))
})
