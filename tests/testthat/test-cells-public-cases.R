# What users of other programs for cytometry asked or reported in public, tried on the verbs for cells.
skip_where_repeated()

# Counts of five types in eight samples, of which the last type trebles in the second group.
group_counts <- function(size = 2000) {
  set.seed(1)
  share <- c(T = 0.4, B = 0.2, NK = 0.1, Mono = 0.25, DC = 0.05)
  counts <- vapply(rep(c(1, 3), each = 4), function(up) {
    p <- share * exp(rnorm(5, 0, 0.2)) * c(1, 1, 1, 1, up)
    drop(rmultinom(1, size, p / sum(p)))
  }, integer(5))
  dimnames(counts) <- list(names(share), paste0("s", 1:8))
  counts
}
eight <- data.frame(sample_id = paste0("s", 1:8), sex = rep(c("f", "m"), 4), age = c(30, 40, 50, 60, 35, 45, 55, 65),
  group = factor(rep(c("ctl", "ill"), each = 4), c("none", "ctl", "ill")), patient = rep(1:4, 2),
  pair = rep(1:4, each = 2), batch = rep(1:2, each = 4), one = c(1, 1, 2:7))

abundance <- function(formula, data = eight, ..., counts = group_counts(), iter = 60) {
  suppressMessages(differential_abundance(counts, formula, data, ..., iter = iter, warmup = 20, chains = 2, seed = 1,
    threads = 1))
}
said <- function(x) paste(as.character(verdict(x)), collapse = " ")

# Cells of two types in eight samples, in which pS6 of B is higher by 1.5 in the second group, and patients differ.
state_data <- function(per = 60, patient = 1:8, between = 0) {
  set.seed(2)
  sample <- rep(seq_len(8), each = per)
  type <- rep_len(c("T", "B"), 8 * per)
  of_patient <- rnorm(8, 0, between)[patient[sample]]
  x <- cbind(CD3 = rnorm(8 * per), pS6 = rnorm(8 * per) + of_patient + 1.5 * (type == "B" & sample > 4),
    pERK = rnorm(8 * per))
  list(type = type, x = x, sample = paste0("s", sample))
}
states <- function(formula, cells = state_data(), data = eight, ..., x = cells$x, rows = seq_len(nrow(x))) {
  suppressMessages(differential_state(cells$type[rows], formula, data, ..., x = x[rows, , drop = FALSE],
    sample = cells$sample[rows], seed = 1, threads = 1))
}

test_that("the order of samples, unused levels and the class of the table do not matter", {
  # speckle 3: samples are found by their names.
  plain <- abundance(~ group)
  expect_identical(unique(plain$effects$effect), "groupill")
  expect_lt(plain$effects$fdr[plain$effects$type == "DC"], 0.01)
  expect_identical(abundance(~ group, eight[8:1, ])$effects, plain$effects)
  expect_identical(abundance(~ group, counts = as.data.frame(group_counts()))$effects, plain$effects)
  # diffcyt 52: the cells of each cluster in each sample, of clusters from elsewhere and those without a cell.
  cells <- state_data()
  table <- table(factor(cells$type, c("T", "B", "none")), cells$sample)
  made <- abundance(~ group, counts = table)
  expect_identical(unname(made$totals), rep(60, 8))
  expect_identical(made$effects$tested, c(TRUE, TRUE, FALSE))
  skip_if_not_installed("Matrix")
  expect_identical(abundance(~ group, counts = Matrix::Matrix(group_counts(), sparse = TRUE))$effects, plain$effects)
  # Rows of cells instead of samples.
  expect_error(abundance(~ group, eight[rep(1:8, 3), ]), "several for the sample", class = "warpbayes_error_input")
})

test_that("covariates of both kinds and a baseline are taken, and every test is a comparison", {
  # speckle 1: ~ 0 + group + sex + age. CATALYST 417, diffcyt 60: one of four conditions against another.
  all <- abundance(~ 0 + group + sex + age)
  expect_identical(unique(all$effects$effect), "groupill - groupctl")
  expect_identical(unique(abundance(~ 0 + group * sex)$effects$effect), "groupill - groupctl")
  expect_error(abundance(~ 0 + group, effect = "groupill"), "compares no samples", class = "warpbayes_error_input")
  four <- cbind(eight, condition = rep(c("H", "NAFL", "NAS", "NASH"), each = 2))
  three <- states(~ 0 + condition, data = four, markers = "pS6")
  expect_identical(unique(three$effect), paste0("condition", c("NAFL", "NAS", "NASH"), " - conditionH"))
  last <- states(~ condition, data = four, markers = "pS6", effect = c("NASH - NAFL" = "conditionNASH - conditionNAFL"))
  expect_identical(last$reported, c(FALSE, TRUE)[match(last$type, c("T", "B"))])
  # A predictor that follows from the others, as a batch that is a treatment.
  expect_error(abundance(~ group + batch), "\"batch\" follows from the others", class = "warpbayes_error_input")
})

test_that("two samples a group are few, and one is refused", {
  # speckle 9.
  few <- abundance(~ group, counts = group_counts()[, c(1, 2, 5, 6)])
  expect_match(said(few), "Only 2 degrees of freedom are left to see how samples differ")
  one <- group_counts()[, c(1, 5)]
  expect_error(abundance(~ group, counts = one), "samples of the same kind", class = "warpbayes_error_input")
})

test_that("a term of the samples beside one of patients is left out", {
  # CATALYST 160: (1 | sample_id) + (1 | patient_id).
  both <- abundance(~ group + (1 | sample_id) + (1 | patient))
  expect_identical(both$effects, abundance(~ group + (1 | patient))$effects)
  expect_match(said(both), "Each sample_id has one sample, so (1 | sample_id) cannot be told", fixed = TRUE)
  expect_error(abundance(~ age + (1 | group) + (1 | patient)), "2 terms", class = "warpbayes_error_input")
  # Six of seven groups have one sample: one difference is left, in any order and with few cells.
  for (counts in list(group_counts(), group_counts(100)[, 8:1])) {
    expect_match(said(abundance(~ group + (1 | one), counts = counts)), "hardly tell (1 | one)", fixed = TRUE)
  }
})

test_that("an effect between groups is told by the groups, or not at all", {
  # CATALYST 292: with patients as a random effect all p-values were NA.
  cells <- state_data(patient = eight$pair, between = 0.2)
  for (x in list(cells$x, 1e5 * cells$x)) {
    result <- states(~ group + (1 | pair), cells, x = x)
    expect_identical(paste(result$type, result$marker)[result$reported], "B pS6")
  }
  expect_match(said(result), "Only 2 degrees of freedom are left to see how the groups (pair) differ", fixed = TRUE)
  within <- states(~ group + (1 | patient), cells)
  expect_true(within$reported[within$type == "B" & within$marker == "pS6"])
  expect_no_match(said(within), "degrees of freedom")
  # One level, or those of another term.
  for (formula in c(~ group + (1 | rep("a", 8)), ~ group + batch:age + (1 | I(group == "ill")))) {
    expect_match(said(states(formula)), "hardly tell|cannot be told")
  }
  # Each batch is one group.
  for (result in list(states(~ group + (1 | batch)), abundance(~ group + (1 | batch)))) {
    expect_match(said(result), "^Cannot tell\\. The effect cannot be told from that of batch")
  }
})

test_that("false alarms of effects between patients of two samples are as rare as they should be", {
  one <- function(seed, tau) {
    set.seed(seed)
    data <- data.frame(group = rep(0:1, each = 6), patient = rep(1:6, each = 2))
    y <- matrix(rnorm(6 * 40, 0, tau), 6)[data$patient, ] + rnorm(12 * 40, 0, 0.15)
    v <- array(1e-4, c(10, 12, 4))
    model <- suppressMessages(abundance_model(~ group + (1 | patient), data, as.character(1:12), NULL))
    compare_states(aperm(array(y, c(12, 10, 4)), c(2, 1, 3)), v, model, rep(1, 4), 0.9)$table$p
  }
  p <- unlist(lapply(1:6, function(seed) one(seed, c(0.05, 0.15, 0.3)[seed %% 3 + 1])))
  # Of 240 p-values 5% are below 0.05; a design effect of 2, and false alarms 1e-6.
  expect_lt(mean(p < 0.05), 0.05 + 4.9 * sqrt(2 * 0.05 * 0.95 / 240))
})

test_that("false discovery rates are at most 1, and a type with all cells is not tested", {
  counts <- group_counts()
  counts[, 3] <- 0L
  effects <- abundance(~ group, counts = counts, totals = rep(2000, 8))$effects
  expect_lte(max(effects$fdr), 1)
  expect_error(abundance(~ group, counts = counts), "no cell in \"s3\"", class = "warpbayes_error_input")
  expect_error(abundance(~ group, counts = group_counts()[1, , drop = FALSE]), "none or all of the cells",
    class = "warpbayes_error_input")
})

test_that("medians at a pile are named, and the same values in all samples are not tested", {
  cells <- state_data()
  expected <- states(~ group, cells, markers = c("CD3", "pERK"))
  zero <- cells$x
  zero[, "pS6"] <- 0
  result <- states(~ group, cells, x = zero)
  expect_true(all(is.na(result$p[result$marker == "pS6"])))
  # It does not change what is said of the others.
  expect_equal(result$p[result$marker != "pS6"], expected$p)
  expect_match(said(result), "of \"pS6\", the median is one value that many cells share in most samples")
  for (unit in c(1e-4, 1, 1e4)) {
    piled <- cells$x
    piled[, "pS6"] <- unit * pmax(piled[, "pS6"] - 0.3, 0)
    rows <- sample(nrow(piled))
    expect_match(said(states(~ group, cells, x = piled, rows = rows)), "1 comparison, of \"pS6\", the median is one")
    mean <- states(~ group, cells, x = piled, rows = rows, statistic = "mean")
    expect_no_match(said(mean), "many cells share")
    expect_identical(paste(mean$type, mean$marker)[mean$reported], "B pS6")
  }
})

test_that("raw values of a mass cytometer are named, and their arcsinh is not", {
  set.seed(4)
  n <- 1500
  level <- cbind(CD4 = 4 * (runif(n) < 0.4), CD8 = 5 * (runif(n) < 0.3), CD3 = 3.5 * (runif(n) < 0.6))
  counts <- rpois(3 * n, 5 * sinh(pmax(level + rnorm(3 * n, 0, 0.5), 0)))
  raw <- counts - matrix(runif(3 * n), n, dimnames = dimnames(level))
  named <- function(x) !is.null(skewed_reason(list(x = x, markers = colnames(x))))
  expect_true(named(raw))
  expect_true(named(1e5 * raw[sample(n), ]))
  expect_true(named(raw[1:200, ]))
  expect_false(named(asinh(raw / 5)))
  expect_false(named(asinh(raw[1:200, ] / 5)))
  # Markers outside a fit, for clusters from elsewhere.
  clusters <- list(type = rep_len(c("a", "b"), n), sample = rep_len(paste0("s", 1:8), n))
  expect_match(said(states(~ group, clusters, x = raw)), "3 of the 3 markers have a long tail")
  expect_no_match(said(states(~ group, clusters, x = asinh(raw / 5))), "long tail")
})

test_that("a batch that moves a marker with a pile at zero is named", {
  set.seed(5)
  sample <- rep(1:6, each = 300)
  high <- runif(1800) < 0.5
  for (unit in c(1e-3, 1, 1e3)) {
    x <- cbind(CD4 = rnorm(1800, 4 * high, 0.6), CD8 = rnorm(1800))
    moved <- x[, "CD4"] + 1.5 * (sample == 2 & high)
    fit_of <- function(cd4, rows = sample(1800)) {
      x[, "CD4"] <- pmax(cd4 - 0.3, 0)
      list(x = unit * x[rows, ], samples = paste0("s", 1:6), sample = sample[rows], markers = colnames(x),
        scale = unit * apply(x, 2L, sd))
    }
    expect_null(sample_shifts(fit_of(x[, "CD4"])))
    shifts <- sample_shifts(fit_of(moved)) / unit
    expect_identical(unname(which(shifts != 0)), 2L)
    expect_equal(shifts[[2]], 1.5, tolerance = 0.3)
    # Staining moves, noise does not, and there is no pile.
    all <- list(x = cbind(CD4 = unit * moved), samples = paste0("s", 1:6), sample = sample, markers = "CD4",
      scale = unit * sd(moved))
    expect_identical(which(sample_shifts(all) != 0), 2L)
    # A small sample does not hide the others.
    expect_identical(unname(which(sample_shifts(fit_of(moved, which(sample < 6 | seq_len(1800) > 1770))) != 0)), 2L)
  }
})

test_that("a sample in other units is named, whichever, and constant or missing values of others do not matter", {
  sample <- rep(1:4, each = 200)
  for (times in c(1e-3, 100, 1e3)) {
    set.seed(7)
    high <- runif(800) < 0.4
    x <- cbind(CD4 = rnorm(800, 4 * high), CD8 = rnorm(800), CD3 = rep(1, 800))
    fit_of <- function(x) {
      list(x = x, samples = paste0("s", 1:4), sample = sample, markers = colnames(x),
        scale = apply(x, 2L, sd, na.rm = TRUE))
    }
    expect_null(sample_shifts(fit_of(x)))
    x[sample == 3, 1:2] <- times * x[sample == 3, 1:2]
    x[sample == 1, "CD8"] <- NA
    shifts <- sample_shifts(fit_of(x))
    expect_identical(which(rowSums(shifts != 0) > 0), 3L)
    expect_true(all(sign(shifts[3, 1:2]) == sign(log(times))))
  }
})

test_that("samples of other shares are not named as moved", {
  moves <- unlist(lapply(1:4, function(seed) {
    set.seed(seed)
    x <- do.call(rbind, lapply(1:8, function(i) {
      share <- rgamma(3, 8 * c(0.5, 0.3, 0.2))
      population <- sample(1:3, 300, TRUE, share / sum(share))
      cbind(CD4 = rnorm(300, c(0, 4, 4)[population], 0.6), CD8 = rnorm(300, c(0, 0, 4)[population], 0.6))
    }))
    fit <- list(x = x, samples = paste0("s", 1:8), sample = rep(1:8, each = 300), markers = colnames(x),
      scale = apply(x, 2L, sd))
    c(sample_shifts(fit))
  }))
  # Overlaps with different samples once named moves of 0.05 (seed 2).
  expect_null(moves)
})

test_that("cofactors are those of their markers, and the logicle scale takes any range", {
  # CATALYST 53 and 286: a cofactor for each marker, in any order. A plain table has no transformation.
  set.seed(6)
  x <- cbind(CD4 = 1000 * rnorm(400), CD8 = rnorm(400))
  made <- as_marker_matrix(x, NULL, c(CD8 = 5, CD4 = 1500))
  expect_equal(made$x, cbind(CD4 = asinh(x[, 1] / 1500), CD8 = asinh(x[, 2] / 5)))
  expect_error(as_marker_matrix(x, NULL, c(CD9 = 5)), "\"CD9\"", class = "warpbayes_error_input")
  # flowCore 41 (did not converge), openCyto 189 (W is too large), flowCore 224 (decades of the scale).
  for (values in list(c(-1e9, -54707, x[, 1], exp(20)), c(-abs(x[, 1]), 1e-3), c(-1e-3, 10^seq(0, 4, 0.1)))) {
    made <- as_marker_matrix(cbind(FL1 = values), NULL, "logicle")
    expect_true(all(is.finite(made$x)) && all(diff(made$x[order(values), 1]) >= 0))
    expect_equal(data_values(made$x[, 1], made$transform, 1), values, tolerance = 1e-8)
    expect_equal(max(made$x), made$transform$logicle[[1, "m"]])
  }
  # A column that read.csv() found empty.
  expect_error(as_marker_matrix(data.frame(x, CD3 = NA)), "has NA in row 1, column 3 \\(\"CD3\"\\)")
})

test_that("a few values far outside neither make nor hide the shift of a sample", {
  set.seed(2)
  sample <- rep(1:6, each = 600)
  x <- cbind(CD4 = rnorm(3600), CD8 = rnorm(3600))
  x[sample(3600, 30), "CD4"] <- rnorm(30, 0, 3000)
  shifts <- function(x) {
    sample_shifts(list(samples = paste0("s", 1:6), x = x, sample = sample, markers = colnames(x),
      scale = apply(x, 2, sd)))
  }
  expect_null(shifts(x))
  x[sample == 4, "CD8"] <- x[sample == 4, "CD8"] + 2
  expect_identical(unname(which(shifts(x) != 0)), 10L)
})
