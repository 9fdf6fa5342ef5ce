counts_of_six <- function() {
  counts <- rbind(
    T = c(510, 480, 450, 400, 380, 440), B = c(40, 52, 45, 160, 120, 143), NK = c(12, 0, 9, 4, 11, 7),
    new = c(0, 0, 0, 8, 5, 13), none = 0
  )
  colnames(counts) <- paste0("s", 1:6)
  counts
}
two_groups <- data.frame(group = rep(c("control", "patient"), each = 3), age = c(50, 40, 60, 45, 48, 70))

compare <- function(counts = counts_of_six(), formula = ~ group, data = two_groups, ..., totals = rep(1000, 6)) {
  differential_abundance(counts, formula, data, totals = totals, seed = 1, threads = 1, ...)
}

test_that("a comparison has an effect for each type, and absent types are handled by their counts", {
  result <- compare()
  effects <- as.data.frame(result)
  expect_s3_class(result, "differential_abundance")
  expect_identical(as.character(effects$type), rownames(counts_of_six()))
  expect_identical(unique(effects$effect), "grouppatient")
  numbers <- as.matrix(effects[sapply(effects, is.numeric)])
  expect_true(all(is.finite(numbers[1:4, ])))
  expect_true(all(effects$lower < effects$estimate & effects$estimate < effects$upper, na.rm = TRUE))
  expect_true(result$converged)
  # Clear differences, also of a type that one group lacks.
  expect_true(all(effects$lower[effects$type %in% c("B", "new")] > 0))
  expect_true(all(effects$fdr[effects$type %in% c("B", "new")] < 0.1))
  # A type without cells tells nothing, and is not tested.
  expect_identical(effects$tested, c(TRUE, TRUE, TRUE, TRUE, FALSE))
  expect_true(all(is.na(numbers[5, -1])))
  expect_identical(dim(result$draws$effects)[[3]], 4L)
  expect_true(all(effects$lfsr >= effects$null, na.rm = TRUE))
  # It does not change what is said of the others.
  expect_identical(compare(counts_of_six()[1:4, ])$effects[, -1], effects[1:4, -1])
})

test_that("many absent types among many effects are not tested", {
  set.seed(2)
  counts <- rbind(matrix(rpois(48, rep(c(50, 400), each = 24)), 8), matrix(0, 3, 6))
  effects <- compare(counts, totals = rep(5000, 6))$effects
  expect_identical(effects$tested, rep(c(TRUE, FALSE), c(8, 3)))
  expect_error(compare(0 * counts, totals = rep(5000, 6)), "none or all of the cells", class = "warpbayes_error_input")
})

# Numbers of cells of `types` types in `each` samples of each of two groups: absolute numbers are log-normal and change
# by the factors `by`. Shares add up to 1.
closed_counts <- function(by, types = length(by), each = 5, cells = 20000) {
  size <- seq(0, -3, length.out = types)
  group <- rep(0:1, each = each)
  absolute <- exp(size + outer(log(by), group) + rnorm(2 * each * types, 0, 0.15))
  apply(absolute, 2L, function(a) drop(rmultinom(1, cells, a)) + 0)
}
groups_of <- function(each) data.frame(group = rep(0:1, each = each))

test_that("a change of one type does not make the others change", {
  set.seed(4)
  # The most frequent type trebles.
  counts <- closed_counts(c(3, rep(1, 11)))
  grown <- function(change) {
    compare(counts, ~ group, groups_of(5), totals = NULL, change = change)
  }
  absolute <- grown("auto")
  expect_identical(absolute$change, "absolute")
  expect_identical(which(absolute$effects$fdr <= 0.1), 1L)
  expect_equal(absolute$effects$change[[1]], log(3), tolerance = 0.2)
  expect_true(all(abs(absolute$effects$change[-1]) < 0.3))
  # All shares of the others fall, and the shift says by how much.
  shares <- grown("share")
  expect_gt(sum(shares$effects$fdr <= 0.1), 8)
  expect_identical(shares$effects$estimate, absolute$effects$estimate)
  share <- rowMeans(counts[, 1:5]) / 20000
  expect_lt(absolute$shift[, "lower"], -log(sum(share * c(3, rep(1, 11)))))
  expect_gt(absolute$shift[, "upper"], -log(sum(share * c(3, rep(1, 11)))))
  text <- paste(capture.output(print(absolute)), collapse = " ")
  expect_match(text, "by the change of +absolute numbers: type 1 \\(up\\)\\.")
  expect_match(text, "keeps its absolute number +changes +by +a +factor")
  text <- paste(capture.output(print(shares)), collapse = " ")
  expect_match(text, "by the change of +shares")
  expect_no_match(text, "absolute")
})

test_that("a change in one real sample, drawn again, is found by its types alone", {
  # Eight types of one sample without any deviation between samples; two of them double.
  shares <- c(0.3, 0.25, 0.15, 0.1, 0.08, 0.06, 0.04, 0.02)
  set.seed(9)
  counts <- cbind(rmultinom(4, 3000, shares), rmultinom(4, 3000, shares * c(1, 1, 1, 2, 1, 2, 1, 1))) + 0
  result <- compare(counts, ~ group, groups_of(4), totals = NULL)
  expect_identical(which(result$effects$fdr <= 0.01), c(4L, 6L))
  expect_true(all(result$effects$deviation < 0.15))
  # A group whose type has no cell, with batch as a covariate; batch that is the group is refused.
  counts[8, 5:8] <- 0
  batch <- data.frame(group = rep(0:1, each = 4), batch = rep(c("x", "y"), 4))
  none <- compare(counts, ~ group + batch, batch, totals = NULL)
  expect_lt(none$effects$fdr[[8]], 0.01)
  expect_lt(none$effects$change[[8]], -2)
  expect_true(all(is.finite(none$effects$upper)))
  expect_error(compare(counts, ~ group + batch, transform(batch, batch = group), totals = NULL), "depend on each other",
    class = "warpbayes_error_input")
  # Three levels with pairs, and samples of 1 and 60 cells.
  levels <- data.frame(level = rep(c("a", "b", "c"), 3), patient = rep(1:3, each = 3))
  small <- cbind(rmultinom(7, 2000, shares), rmultinom(1, 1, shares), rmultinom(1, 60, shares)) + 0
  three <- compare(small, ~ level + (1 | patient), levels, totals = NULL)
  expect_identical(unique(three$effects$effect), c("levelb", "levelc"))
  expect_true(all(is.finite(three$effects$p)))
  expect_gt(min(three$effects$fdr), 0.01)
})

test_that("the units of a predictor do not matter", {
  set.seed(5)
  d <- data.frame(age = rnorm(10, 50, 10))
  d$days <- 365.25 * d$age
  counts <- closed_counts(c(2, rep(1, 5)))
  years <- compare(counts, ~ age, d, totals = NULL)
  days <- compare(counts, ~ days, d, totals = NULL)
  same <- c("p", "fdr", "lfsr", "null")
  expect_equal(days$effects[same], years$effects[same], tolerance = 1e-6)
  expect_equal(days$effects$change * 365.25, years$effects$change, tolerance = 1e-6)
  expect_equal(unname(days$shift * 365.25), unname(years$shift), tolerance = 1e-6)
})

test_that("contrasts compare any two of three groups", {
  set.seed(6)
  each <- data.frame(group = rep(c("A", "B", "C"), each = 4))
  counts <- cbind(closed_counts(c(rep(1, 7), 4), each = 4), closed_counts(c(rep(1, 7), 1), each = 4)[, 5:8])
  counts <- counts[, c(1:4, 9:12, 5:8)]
  result <- compare(counts, data = each, totals = NULL, effect = c("group", "C - B" = "groupC - groupB"))
  expect_identical(unique(result$effects$effect), c("groupB", "groupC", "C - B"))
  draws <- result$draws$effects
  expect_equal(draws[, , , 3], draws[, , , 2] - draws[, , , 1], tolerance = 1e-10)
  found <- split(result$effects$fdr, result$effects$effect)
  expect_identical(which(found$`C - B` < 0.001), 8L)
  expect_gt(min(found$groupB), 0.001)
  # As if B were the first level, up to the prior.
  second <- compare(counts, data = transform(each, group = factor(group, c("B", "A", "C"))), totals = NULL,
    effect = "groupC")
  own <- result$effects[result$effects$effect == "C - B", ]
  expect_equal(second$effects$estimate, own$estimate, tolerance = 0.1)
  only <- compare(counts, data = each, totals = NULL, effect = "(groupB + groupC) / 2")
  expect_identical(unique(only$effects$effect), "(groupB + groupC) / 2")
  refused <- function(effect) {
    error <- expect_error(compare(counts, data = each, totals = NULL, effect = effect),
      class = "warpbayes_error_input")
    expect_identical(error$argument, "effect")
  }
  for (text in c("groupC - group", "groupB * groupC", "groupC + 1", "groupC - groupC", "exp(groupC)", "groupC +", "",
    "groupB / groupC", "1e999 * groupC")) {
    refused(text)
  }
  refused(1)
  refused(NA_character_)
  refused(c(a = "groupC", a = "groupB"))
})

test_that("tail probabilities and the common shift are those of closed forms", {
  set.seed(7)
  # Effects that are normal with the same moments in all draws, of rare types.
  effect <- c(0, 0.4, -1, 2.5)
  draws <- function(values) matrix(values, 1000, length(values), byrow = TRUE)
  alone <- test_changes(draws(effect), draws(rep(0.25, 4)), 4, rep(1, 4), 0)
  expect_equal(alone$p, 2 * pnorm(-abs(effect) / 0.5), tolerance = 1e-12)
  expect_identical(alone$shift(c(0.05, 0.95)), c(0, 0))
  # Forty types that shift by -0.3, and four that change: the shift is their mean, with its standard error.
  moved <- c(rnorm(40, -0.3, 0.1), 2, 2.2, 1.9, 2.1)
  found <- test_changes(draws(moved), draws(rep(0.01, 44)), 4, rep(1, 44), 0.1)
  expect_equal(found$shift(0.5), mean(moved[1:40]), tolerance = 0.02)
  expect_equal(diff(found$shift(pnorm(c(-1, 1)))), 2 * 0.1 / sqrt(40), tolerance = 0.3)
  apart <- (moved - mean(moved[1:40])) / 0.1
  expect_equal(found$p[1:40], 2 * pnorm(-abs(apart[1:40]) / sqrt(1 + 1 / 39)), tolerance = 0.1)
  expect_true(all(found$lfsr[41:44] < 1e-6))
  # Where nothing is known of a type, its sign is a toss-up.
  open <- test_changes(draws(c(moved, 0)), draws(c(rep(0.01, 44), 15.9)), 4, rep(1, 45), 0.1)
  expect_gt(open$p[[45]], 0.8)
  expect_gt(open$lfsr[[45]], 0.45)
})

test_that("print() and summary() say what is reported and what is only the prior", {
  result <- compare()
  text <- paste(capture.output(expect_identical(print(result), result)), collapse = " ")
  expect_match(text, "4 types in 6 samples: ~group")
  expect_match(text, "reported at a false discovery rate of 10%")
  expect_match(text, "B \\(up\\)")
  expect_no_match(as.character(verdict(result)), "\"none\"")
  expect_no_match(text, "speck|fewer than|adds? up to 1")
  expect_match(text, "rows +are +in +their +order: +s1 +is +control, +s2 +is +control, ")
  expect_no_match(text, "not converged")
  # Neither 0% nor 1e-40 for what is merely rare.
  expect_no_match(text, "e-[0-9]{2}")
  text <- paste(capture.output(print(summary(result))), collapse = " ")
  expect_match(text, "between +samples: ")
  expect_match(text, "Share of types without an effect, patient against")
  expect_no_match(text, "between groups")
  few <- compare(counts_of_six()[1:2, ])
  text <- paste(capture.output(print(few)), collapse = " ")
  expect_match(text, "With +fewer +than +4 +types +nobody +can +tell")
  expect_match(text, "by the +change +of +shares")
  text <- paste(capture.output(print(compare(formula = ~ group + age))), collapse = " ")
  expect_match(text, "Only 3 degrees of freedom are left")
  text <- paste(capture.output(print(compare(iter = 14, warmup = 2, chains = 1))), collapse = " ")
  expect_match(text, "have not converged")
})

test_that("plot(), tidy() and glance() work", {
  result <- compare(formula = ~ group + age, effect = c("group", "age"))
  expect_identical(nrow(result$effects), 10L)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(result), result)
  expect_identical(plot(result, types = c("B", "T"), effect = "age", main = "Age"), result)
  expect_identical(plot(result, effect = "group: patient against control"), result)
  expect_error(plot(result, types = "X"), class = "warpbayes_error_input")
  expect_error(plot(result, effect = "X"), class = "warpbayes_error_input")
  skip_if_not_installed("generics")
  tidied <- generics::tidy(result, conf.level = 0.9)
  expect_identical(tidied$term, rep(c("grouppatient", "age"), each = 5))
  expect_equal(tidied$conf.low, result$effects$lower)
  expect_identical(generics::glance(result)$types, 4L)
  expect_identical(generics::glance(result)$rhat, result$rhat)
  expect_identical(tidied$change, result$effects$change)
  expect_error(plot(result, types = "none"), class = "warpbayes_error_input")
})

test_that("effects are called by the levels that they compare", {
  skip_where_repeated()
  data <- data.frame(group = rep(c("control", "patient"), 3), visit = factor(c(1, 1, 2, 2, 3, 3)), age = 1:6,
    half = rep(c(TRUE, FALSE), 3), dose = factor(rep(c("low", "mid", "high"), 2), ordered = TRUE))
  labels <- function(formula, effect = NULL) {
    unname(abundance_model(formula, data, as.character(1:6), effect)$labels)
  }
  expect_identical(labels(~ group), "patient against control")
  expect_identical(labels(~ age), "age")
  expect_identical(labels(~ age + group, effect = "group"), "group: patient against control")
  expect_identical(labels(~ visit), c("visit: 2 against 1", "visit: 3 against 1"))
  expect_identical(labels(~ half), "half: TRUE against FALSE")
  expect_identical(labels(~ dose), c("dose.L", "dose.Q"))
  expect_identical(labels(~ 0 + group, "grouppatient - groupcontrol"), "patient against control")
  expect_identical(labels(~ 0 + group), "patient against control")
  expect_identical(labels(~ visit, c("visit3 - visit2", last = "visit3 - visit2", "visit2 + visit3", "2 * visit2")),
    c("visit: 3 against 2", "last", "visit2 + visit3", "2 * visit2"))
  # With an interaction, the effect of a level is that in one group only.
  expect_identical(labels(~ group * age, effect = c("group", "group:age")), c("grouppatient", "grouppatient:age"))
  data$group <- factor(data$group, c("patient", "control"))
  expect_identical(labels(~ group), "control against patient")
  data$group <- stats::C(data$group, "contr.sum")
  expect_identical(labels(~ group), "group1")
})

test_that("a design without an intercept compares its levels, and refuses what compares nothing", {
  with <- compare()
  without <- compare(formula = ~ 0 + group)
  expect_identical(without$effects$estimate, with$effects$estimate)
  expect_identical(unique(without$effects$effect), "grouppatient - groupcontrol")
  expect_equal(compare(formula = ~ age + group - 1, effect = "group")$effects$estimate,
    compare(formula = ~ age + group, effect = "group")$effects$estimate, tolerance = 0.1)
  refused <- function(words, ...) expect_error(compare(...), words, class = "warpbayes_error_input")
  refused("compares no samples with others; compare two levels, such as \"grouppatient - groupcontrol\"",
    formula = ~ 0 + group, effect = "grouppatient")
  refused("compares no samples", formula = ~ 0 + group, effect = "grouppatient + groupcontrol")
  refused("has no intercept, so its coefficients compare nothing", formula = ~ 0 + age)
  states <- expect_error(compare(formula = ~ 0 + group, effect = "(groupcontrol + grouppatient) / 2"),
    class = "warpbayes_error_input")
  expect_identical(states$argument, "effect")
})

test_that("patients of one sample each are the samples, and the verdict says so", {
  data <- cbind(two_groups, patient = 1:6, pair = c(1:3, 1:3), few = c(1, 2, 3, 1, 4, 5))
  said <- function(formula, ...) {
    paste(as.character(verdict(compare(formula = formula, data = data, ...))), collapse = " ")
  }
  alone <- compare(formula = ~ group + (1 | patient), data = data)
  expect_identical(alone$effects, compare()$effects)
  expect_match(said(~ group + (1 | patient)), "Each patient has one sample, so (1 | patient) cannot be told from",
    fixed = TRUE)
  expect_no_match(said(~ group + (1 | patient)), "not converged|hardly tell")
  expect_no_match(said(~ group + (1 | pair)), "cannot be told|hardly tell")
  # The one pair tells only the effect.
  expect_match(said(~ group + (1 | few)), "hardly tell (1 | few) from the sample's own deviation", fixed = TRUE)
})

test_that("the verdict doubts that most types keep their numbers where many change", {
  set.seed(3)
  many <- compare(closed_counts(c(rep(2.5, 8), rep(1, 7)), each = 6), data = groups_of(6), totals = NULL)
  expect_match(as.character(verdict(many)), "Many types seem to change .*: about [0-9]+% do not", all = FALSE)
  few <- compare(closed_counts(c(2.5, 0.4, rep(1, 13)), each = 6), data = groups_of(6), totals = NULL)
  expect_no_match(paste(as.character(verdict(few)), collapse = " "), "Many types")
})

test_that("counts are read from Bioconductor's tables, with their samples", {
  skip_if_not_installed("SummarizedExperiment")
  counts <- counts_of_six()
  frame <- getExportedValue("S4Vectors", "DataFrame")(two_groups, row.names = colnames(counts))
  expected <- suppressMessages(compare(data = cbind(two_groups, sample = colnames(counts)))$effects)
  experiment <- getExportedValue("SummarizedExperiment", "SummarizedExperiment")(list(counts = counts), colData = frame)
  expect_identical(suppressMessages(compare(experiment, data = NULL))$effects, expected)
  expect_identical(suppressMessages(compare(data = frame))$effects, expected)
  expect_identical(suppressMessages(compare(methods::as(counts, "DataFrame"), data = frame))$effects, expected)
  skip_if_not_installed("edgeR")
  list <- getExportedValue("edgeR", "DGEList")(counts, lib.size = rep(1000, 6), group = two_groups$group)
  expect_identical(suppressMessages(compare(list, data = NULL, totals = NULL))$effects, expected)
})

test_that("counts are the same through every door, and turned or long tables are told from them", {
  counts <- counts_of_six()
  of_samples <- data.frame(two_groups, sample_id = colnames(counts))
  quick <- function(types, ...) {
    suppressMessages(compare(types, data = of_samples, totals = NULL, iter = 60, warmup = 10, chains = 1, ...))
  }
  expected <- quick(counts)
  cells <- data.frame(type = rep(rep(rownames(counts), 6), counts),
    sample = factor(rep(colnames(counts), colSums(counts))))
  cells$type <- factor(cells$type, rownames(counts)[1:4])
  mixed <- cells[sample(nrow(cells)), ]
  expect_identical(quick(table(mixed))$effects$p, expected$effects$p[1:4])
  named <- data.frame(type = factor(rownames(counts)), counts)
  expect_identical(quick(named)$effects, expected$effects)
  expect_identical(quick(transform(named[c(2:7, 1)], type = as.character(type)))$effects, expected$effects)
  wrong <- function(words, ...) {
    error <- expect_error(quick(...), words, class = "warpbayes_error_input")
    error$argument
  }
  expect_identical(wrong("t\\(\\) makes them columns", t(counts)), "types")
  expect_identical(wrong("t\\(\\) makes them columns", unname(t(counts))), "types")
  expect_identical(wrong("xtabs\\(Freq ~ type \\+ sample\\)", as.data.frame(table(cells))), "types")
  expect_identical(wrong("table\\(cluster, sample\\) counts cells", cells$type), "types")
})

test_that("large means and small units of predictors change nothing but units", {
  p_of <- function(formula, ...) compare(formula = formula, iter = 60, warmup = 10, chains = 1, ...)$effects$p
  expected <- p_of(~ age + group)
  expect_equal(p_of(~ I(age + 1e9) + group), expected, tolerance = 1e-6)
  expect_equal(p_of(~ I(1e-6 * age) + group), expected, tolerance = 1e-6)
  expect_identical(p_of(~ ., data = two_groups[2:1]), expected)
  expect_identical(ratio_words(c(2.6e-8, 0.0022, 0.3, 0), 1e-9), c("1.000000026", "1.0022", "1.35", "1"))
  expect_identical(ratio_words(0.0022, 0.002), "1")
  expect_identical(probability_words(c(0, 1e-9, 0.05, 1, NA)), c("< 0.001", "< 0.001", "0.050", "1.00", NA))
})

test_that("draws are those of the table, for one and for several draws of the counts", {
  skip_where_repeated()
  result <- compare(formula = ~ group + (1 | pair), data = cbind(two_groups, pair = c(1:3, 1:3)), effect = "group")
  draws <- as.array(result)
  shape <- dim(result$draws$effects)
  expect_identical(dim(draws), c(shape[1:2], 12L))
  expect_identical(dimnames(draws)[[3L]][c(1, 5, 9)], c("log_odds[T,grouppatient]", "sd[T]", "group_sd[T]"))
  expect_identical(draws[, 2L, "log_odds[B,grouppatient]"], result$draws$effects[, 2L, "B", 1L])
  expect_identical(draws[, 3L, "group_sd[B]"], unname(result$draws$group_deviation[, 3L, "B"]))
  tested <- result$effects[result$effects$tested, ]
  expect_equal(apply(draws[, , 1:4], 3L, stats::median), tested$estimate, ignore_attr = TRUE)
  # Two draws of the counts with two chains each: sweep i of table t is draw 2 (i - 1) + t.
  two <- result
  two$tables <- 2L
  expect_identical(as.array(two)[3:4, 2L, 1L], unname(result$draws$effects[2L, c(2L, 4L), 1L, 1L]))
  expect_error(as.array(result, oops = 1), class = "warpbayes_error_input")
})

test_that("samples are found by name, and samples with missing values are left out", {
  counts <- counts_of_six()
  by_order <- compare()
  expect_match(as.character(verdict(by_order)), "in their order", all = FALSE)
  mixed <- data.frame(sample = rev(colnames(counts)), group = rev(two_groups$group))
  expect_no_match(paste(capture.output(print(compare(data = mixed))), collapse = " "), "in their order")
  expect_identical(compare(data = mixed)$effects, by_order$effects)
  named <- data.frame(group = rev(two_groups$group), row.names = rev(colnames(counts)))
  expect_identical(compare(data = named)$effects, by_order$effects)
  # As CATALYST and diffcyt name the samples.
  named <- data.frame(group = rev(two_groups$group), sample_id = rev(colnames(counts)))
  expect_identical(compare(data = named)$effects, by_order$effects)
  expect_error(compare(data = cbind(two_groups, sample_id = 11:16)), "\"sample_id\", but none for the samples \"s1\"",
    class = "warpbayes_error_input")
  group <- two_groups$group
  expect_identical(compare(formula = ~ group, data = NULL)$effects, by_order$effects)
  text_of <- function(x) gsub("\\s+", " ", paste(capture.output(print(x)), collapse = " "))
  expect_match(text_of(by_order), "its rows are in their order: s1 is control, .* s4 is patient")
  expect_match(text_of(compare(formula = ~ group, data = NULL)),
    "variables of the formula do not name the samples, so they are in their order: s1 is control,")
  # Vectors with the names of the samples.
  one <- 1
  age <- stats::setNames(two_groups$age, colnames(counts))
  group <- stats::setNames(rev(two_groups$group), rev(colnames(counts)))
  by_name <- compare(formula = ~ group + I(age - one), data = NULL)
  expect_equal(by_name$design[, 3], age - 1)
  expect_identical(unname(by_name$design[, 2]), unname(by_order$design[, 2]))
  expect_no_match(text_of(by_name), "in their order")
  partly <- two_groups
  partly$group[[2]] <- NA
  left <- compare(data = partly)
  expect_identical(left$omitted, "s2")
  expect_identical(left$effects, compare(counts[, -2], data = two_groups[-2, ], totals = rep(1000, 5))$effects)
  expect_match(paste(capture.output(print(left)), collapse = " "), "Left out, because variables are missing: \"s2\"")
})

test_that("totals need not be whole", {
  skip_where_repeated()
  by <- c(1000.25, 999.5, 1000.75, 1000, 999.25, 1000.5)
  found <- compare(totals = by)
  expect_identical(unname(found$totals), by)
  expect_equal(found$effects$estimate, compare()$effects$estimate, tolerance = 0.05)
  expect_identical(compare(totals = stats::setNames(rev(by), rev(colnames(counts_of_six()))))$effects, found$effects)
  # Totals in other units shift all log odds of rare types alike.
  rare <- counts_of_six()[1:4, ]
  expect_equal(compare(rare, totals = 1e5 + by)$effects$estimate, compare(rare, totals = 1e6 + by)$effects$estimate,
    tolerance = 0.1)
  expect_error(compare(totals = replace(by, 2, 400.5)), "has 400.5 cells for sample \"s2\", which has 480 of one type",
    class = "warpbayes_error_input")
  # A whole number of cells says how exact a share is. A concentration does not.
  expect_error(compare(counts_of_six() / 7), "concentrations do not tell how many cells",
    class = "warpbayes_error_input")
  expect_no_match(conditionMessage(expect_error(compare(-counts_of_six()))), "concentrations")
})

test_that("the same seed gives the same draws, and another seed others", {
  expect_identical(compare()$draws, compare()$draws)
  other <- differential_abundance(counts_of_six(), ~ group, two_groups, totals = rep(1000, 6), seed = 2)
  expect_false(identical(other$draws, compare()$draws))
  expect_equal(other$effects$estimate[1:4], compare()$effects$estimate[1:4], tolerance = 0.15)
})

test_that("chains of a table run on threads, with the same draws", {
  skip_where_repeated()
  set.seed(1)
  counts <- matrix(rpois(40, 60), 5)
  group <- data.frame(group = rep(c("a", "b"), 4))
  run <- function(threads) {
    differential_abundance(counts, ~group, group, chains = 3, iter = 60, warmup = 20, seed = 1, threads = threads)$draws
  }
  expect_identical(run(2), run(1))
})

test_that("the types of cells are drawn the same whether the cells of a sample lie together or not", {
  skip_where_repeated()
  expect_identical(runs_of(c(1L, 1L, 2L, 2L, 2L, 1L)), list(1:2, 3:5, 6L))
  expect_identical(runs_of(c(1L, 1L, 2L, 2L, 2L, 1L), 2), list(1:2, 3:4, 5L, 6L))
  expect_identical(runs_of(rep(1:2, 100)), list(1:200))
  set.seed(2)
  weights <- matrix(runif(40), 10)
  run <- resolve_run(NULL, 1)
  whole <- draw_categorical(weights, 1, FALSE, 3, 0L, run)
  expect_identical(draw_categorical(weights[5:10, ], 1, FALSE, 3, 0L, run, 4), whole[5:10])
})

test_that("draws of types do not depend on the blocks that threads change", {
  skip_where_repeated()
  set.seed(8)
  # One thread takes 4,096 cells of 64 components at once, two take 8,192.
  x <- lapply(c(5000, 9000), function(n) cbind(rnorm(n), rexp(n)))
  fit <- dp_mixture(x, 64, iter = 3, warmup = 1, chains = 1, seed = 1, threads = 2)
  fit$draws$labels <- NULL
  types <- list(fit = fit, map = list(used = spaced_draws(fit, 2), type_of = matrix(1:64, 64, 2)))
  drawn <- function(threads) types_in_draws(types, 1:2, 5, resolve_run("cpu", threads))
  found <- drawn(1)
  expect_true(all(found > 0L))
  expect_identical(drawn(2), found)
})

test_that("bad input is refused in words", {
  wrong <- function(expression, argument) {
    error <- expect_error(expression, class = "warpbayes_error_input")
    expect_identical(error$argument, argument)
    conditionMessage(error)
  }
  counts <- counts_of_six()
  wrong(compare("a"), "types")
  expect_match(wrong(compare(replace(counts, 3, 1.5)), "types"), "row 3 has 1.5 in column 1")
  wrong(compare(replace(counts, 3, -1)), "types")
  # A double counts up to 2^53.
  wrong(compare(replace(counts, 3, 2^53 + 2)), "types")
  expect_silent(check_type_counts(replace(counts, 3, 2^53)))
  wrong(compare(replace(counts, 3, NA)), "types")
  wrong(compare(rbind(a = counts[1, ], a = counts[2, ])), "types")
  wrong(compare(cell_types(population_fit(), threads = 1), totals = NULL), "types")
  wrong(compare(formula = y ~ group), "formula")
  wrong(compare(formula = "group"), "formula")
  wrong(compare(formula = ~ 1), "formula")
  wrong(compare(formula = ~ (1 | group)), "formula")
  wrong(compare(formula = ~ group + (age | group)), "formula")
  wrong(compare(formula = ~ age + (1 | group) + (1 | age > 49)), "formula")
  wrong(compare(formula = ~ absent), "formula")
  expect_match(wrong(compare(formula = ~ group + I(2 * (group == "patient"))), "formula"), "depend on each other")
  expect_match(wrong(compare(formula = ~ factor(age)), "formula"), "samples of the same kind")
  wrong(compare(formula = ~ group + log(age - 40)), "formula")
  wrong(compare(data = two_groups[1:5, ]), "data")
  wrong(compare(data = as.list(two_groups)), "data")
  wrong(compare(data = transform(two_groups, group = NA)), "data")
  wrong(compare(data = cbind(two_groups, sample = letters[1:6])), "data")
  expect_match(wrong(compare(replace(counts, seq(6, 10), 0), totals = NULL), "types"), "no cell in \"s2\"")
  wrong(compare(totals = 1:5), "totals")
  wrong(compare(totals = rep(400, 6)), "totals")
  wrong(compare(effect = "nothing"), "effect")
  wrong(compare(change = "odds"), "change")
  expect_match(wrong(compare(effect = "\xff"), "effect"), "xff", fixed = TRUE)
  wrong(compare(data = structure(1:2, class = "data.frame")), "data")
  wrong(compare(level = 1), "level")
  wrong(compare(fdr = 0), "fdr")
  wrong(compare(iter = 10), "warmup")
  wrong(compare(nonsense = 1), "`nonsense`")
})

population_types <- function() {
  cell_types(population_fit(kept = 40, seed = 4), ndraws = NULL, threads = 1)
}

test_that("counts of cell types come from draws of the fit, and add up to the cells", {
  set.seed(1)
  sample_with <- function(share, n) {
    rare <- runif(n) < share
    cbind(CD4 = rnorm(n) + 6 * rare, CD8 = rnorm(n))
  }
  samples <- Map(sample_with, c(a1 = 0.1, a2 = 0.15, a3 = 0.12, b1 = 0.4, b2 = 0.35, b3 = 0.45), rep(c(200, 100), 3))
  fit <- dp_mixture(
    samples, components = 6, iter = 120, seed = 1, threads = 2,
    control = warp_control(keep = c("weights", "means", "covariances", "labels"))
  )
  types <- cell_types(fit, types = 2, threads = 2)
  group <- rep(c("a", "b"), each = 3)
  result <- differential_abundance(types, ~ group, seed = 1, ndraws = 4, threads = 2)
  expect_identical(result$tables, 4L)
  expect_equal(unname(colSums(result$counts)), rep(c(200, 100), 3))
  expect_identical(unname(result$totals), as.integer(rep(c(200, 100), 3)))
  rare <- which.min(result$effects$share)
  expect_gt(result$effects$lower[[rare]], 0)
  # The number of cells of a type in a sample is that of the most probable types, up to cells between the types.
  own <- table(types$type, factor(fit$samples[fit$sample], fit$samples))
  expect_lt(max(abs(result$counts - own[rownames(result$counts), ])), 6)
  # The sampler's counts are those of its labels, or of labels drawn from the same law.
  counts <- draw_type_counts(types, 4)
  count_labels <- function(types) {
    drawn <- types_in_draws(types, chosen_draws(types, 4), 1, resolve_run(NULL, 2))
    for (i in 1:4) {
      counts[, , i] <- table(factor(drawn[, i], seq_len(nrow(counts))), factor(fit$sample, seq_len(ncol(counts))))
    }
    counts
  }
  expect_identical(count_labels(types), counts)
  drawn <- types
  drawn$fit$draws$labels <- NULL
  expect_lt(max(abs(count_labels(drawn) - counts)), 10)
  drawn$fit$draws$sample_sizes <- NULL
  expect_error(draw_type_counts(drawn, 4), "changed since it was made", class = "warpbayes_error_input")
  # New numbers of components hold for the counts, too.
  numbered <- relabel(fit, threads = 2)
  for (i in c(1, 30)) {
    own <- table(factor(numbered$draws$labels[, i, 1], 1:6), fit$sample)
    expect_equal(unname(numbered$draws$sample_sizes[, , i, 1]), unname(matrix(own, 6)))
  }
  # Chains that disagree on a type weaken the comparison.
  torn <- types
  first <- torn$map$used$chain == 1L
  torn$map$proportions[first, 2] <- torn$map$proportions[first, 2] + 0.2
  design <- data.frame(g = rep(0:1, 3))
  said <- verdict(differential_abundance(torn, ~ g, design, ndraws = 4, iter = 60, warmup = 9, seed = 1))
  expect_match(said$reasons$code[[1L]], "^inherited_")
  expect_match(said$reasons$words[[1L]], "^It rests on the ")
  expect_error(differential_abundance(types, ~ group, totals = 1:6), class = "warpbayes_error_input")
})

test_that("chains of different counts are not compared with each other", {
  set.seed(3)
  draws <- matrix(rnorm(400), 100) + rep(c(0, 0, 5, 5), each = 100)
  expect_lt(rhat_within(draws, c(0, 0, 1, 1)), 1.05)
  expect_gt(rhat_within(draws, c(0, 1, 0, 1)), 1.5)
  expect_gt(size_within(draws, c(0, 0, 1, 1)), 250)
})

test_that("draws of the counts that lack a type do not speak for it", {
  counts <- array(counts_of_six()[1:4, ], c(4, 6, 4), list(rownames(counts_of_six())[1:4], NULL, NULL))
  counts[2, , 3:4] <- 0
  model <- abundance_model(~ group, two_groups, paste0("s", 1:6), NULL)
  fitted <- fit_abundance(counts, rep(1000, 6), model, 2, 300, 100, 1, resolve_run("cpu", 1))
  found <- compare_effects(fitted, 0.9, 2, rowMeans(counts) / 1000, TRUE)$effects
  whole <- compare(counts_of_six()[1:4, ])$effects
  expect_equal(found$estimate, whole$estimate, tolerance = 0.2)
  expect_lt(found$upper[[2]] - found$lower[[2]], 2)
  # The draws without the type have the intervals of the prior.
  expect_gt(stats::sd(fitted$effects[, 5:8, 2, 1]), 2)
})
