# differential_abundance() on simulated counts of cells: how often intervals exclude zero if there is no difference, how
# often they cover the true effect, what the false discovery rate is, and power, beside tests of shares, of logit
# shares, limma with a trend, and edgeR (which diffcyt uses for this). Samples have about 5,000 cells, with Dirichlet
# shares, or log-normal absolute numbers that are closed to shares.
#   cd bench && Rscript type-groups.R [method...]     the methods of the table below; all that can run if none is named
# The number of processes is CORES of the environment, the folder of results OUT, the number of sets DATA_SETS.
# DESIGNS is a regular expression: only scenarios with such names. FIRST_SET=1000 makes sets that no earlier run had.
#   CORES=8 DATA_SETS=300 DESIGNS='^15 types' Rscript type-groups.R
suppressMessages(library(warpbayes))
cores <- as.integer(Sys.getenv("CORES", "2"))
out <- Sys.getenv("OUT", "results")
many <- as.numeric(Sys.getenv("DATA_SETS", "150"))
first <- as.numeric(Sys.getenv("FIRST_SET", "0"))

shares <- c(0.30, 0.20, 0.15, 0.10, 0.08, 0.06, 0.05, 0.03, 0.02, 0.01)
level <- 0.1

# What is simulated. `change`: the group's share of each type over that of the others. Types change in pairs, so that
# all others keep their shares. `patient`: the standard deviation of patients' log shares, with a sample of each patient
# in each group.
changed <- function(from, to, by) {
  change <- rep(1, length(shares))
  change[[to]] <- by
  change[[from]] <- 1 - (by - 1) * shares[[to]] / shares[[from]]
  change
}
none <- rep(1, length(shares))
strong <- changed(2, 5, 2) * changed(1, 8, 2.5)
scenarios <- list(
  list(name = "no difference", each = 3, concentration = 30, change = none),
  list(name = "no difference", each = 3, concentration = 300, change = none),
  list(name = "no difference", each = 10, concentration = 30, change = none),
  list(name = "no difference", each = 10, concentration = 300, change = none),
  list(name = "four of ten change", each = 3, concentration = 100, change = strong),
  list(name = "four of ten change", each = 10, concentration = 100, change = strong),
  list(name = "pairs, no difference", each = 6, concentration = 300, change = none, patient = 0.7),
  list(name = "pairs, four of ten change", each = 6, concentration = 300, change = strong, patient = 0.7),
  list(name = "24 types, none change", each = 3, changing = 0, by = 1, one_way = FALSE, cells = 1e4),
  list(name = "24 types, five change", each = 3, changing = 5, by = 2.5, one_way = FALSE, cells = 1e4),
  list(name = "24 types, five grow", each = 4, changing = 5, by = 3, one_way = TRUE, cells = 1e4),
  list(name = "24 types, four vanish", each = 4, changing = 4, by = 0.02, one_way = TRUE, cells = 4000),
  list(name = "24 types, five change, pairs", each = 5, changing = 5, by = 2.5, one_way = FALSE, cells = 1e4,
    patient = 0.6)
)
# Designs in which priors and rule were chosen. Samples differ more in their cells, and types in their deviations.
fifteen <- function(name, changing = 3, by = 2.5, one_way = FALSE, each = 3, ...) {
  list(name = paste("15 types,", name), types = 15, each = each, changing = changing, by = by, one_way = one_way,
    cells = 8000, cells_sd = 0.8, deviation_sd = 0.35, ...)
}
scenarios <- c(scenarios, list(
  fifteen("none change", 0), fifteen("none change", 0, each = 2), fifteen("none change, correlated", 0, each = 6,
    correlation = 0.6),
  fifteen("three change"), fifteen("three change, 2 against 8", each = 2, against = 8),
  fifteen("three change, correlated", by = 2, each = 6, correlation = 0.6), fifteen("three change", by = 1.8, each = 6),
  fifteen("three change, heavy tails", each = 6, tails = 3), fifteen("three change, pairs", by = 1.7, each = 5,
    patient = 0.7),
  fifteen("eight grow", 8, one_way = TRUE, each = 6),
  utils::modifyList(fifteen("", 1, each = 4), list(name = "5 types, one changes", types = 5)),
  utils::modifyList(fifteen("", 1, 8, TRUE, 4), list(name = "20 types, one of 20% grows eightfold", types = 20,
    base = c(0.2, 0.8 * exp(seq(0, -4, length.out = 19)) / sum(exp(seq(0, -4, length.out = 19))))))
))
chosen_designs <- Sys.getenv("DESIGNS", "")
scenarios <- Filter(function(scenario) grepl(chosen_designs, scenario$name), scenarios)

# Types with log-normal absolute numbers, of which `changing` change by the factor `by` (or its inverse, unless
# `one_way`). `base`: frequencies, of which the first changes. `correlation`: the share of the deviations' variance that
# two factors make, which all types have. `tails`: degrees of freedom of the deviations.
simulate_absolute <- function(scenario) {
  given <- utils::modifyList(list(types = 24, against = scenario$each, cells_sd = 0.3, deviation_sd = 0.25,
    correlation = 0, tails = Inf, patient = 0), scenario)
  types <- given$types
  group <- rep(0:1, c(given$each, given$against))
  samples <- length(group)
  change <- numeric(types)
  change[if (is.null(given$base)) sample(types, given$changing) else 1L] <- log(given$by)
  if (!given$one_way) change <- change * sample(c(-1, 1), types, TRUE)
  patient <- stats::ave(group, group, FUN = seq_along)
  own <- matrix(rnorm(types * max(patient), 0, given$patient), types)[, patient]
  noise <- matrix(rt(types * samples, given$tails), types)
  if (is.finite(given$tails)) noise <- noise / sqrt(given$tails / (given$tails - 2))
  loading <- matrix(rnorm(2 * types), types)
  shared <- loading / sqrt(rowSums(loading^2))
  noise <- sqrt(1 - given$correlation) * noise +
    sqrt(given$correlation) * shared %*% matrix(rnorm(2 * samples), 2)
  frequency <- if (is.null(given$base)) rnorm(types, 0, 1.2) else log(given$base)
  deviation <- 0.35 * exp(rnorm(types, 0, given$deviation_sd))
  absolute <- exp(frequency + outer(change, group) + own + deviation * noise)
  totals <- pmax(200, round(given$cells * exp(rnorm(samples, 0, given$cells_sd))))
  counts <- vapply(seq_len(samples), function(s) drop(rmultinom(1, totals[[s]], absolute[, s])) + 0, numeric(types))
  list(counts = counts, totals = totals, group = group, patient = patient, true = change != 0, change = change)
}

simulate <- function(scenario, seed) {
  set.seed(seed)
  if (!is.null(scenario$changing)) return(simulate_absolute(scenario))
  each <- scenario$each
  group <- rep(0:1, each = each)
  patient <- rep(seq_len(each), 2)
  alpha <- function(s, own) {
    mean <- shares * own[, patient[[s]]] * if (group[[s]]) scenario$change else 1
    scenario$concentration * mean / sum(mean)
  }
  deviation <- if (is.null(scenario$patient)) 0 else scenario$patient
  own <- matrix(exp(rnorm(length(shares) * each, 0, deviation)), length(shares))
  totals <- round(5000 * exp(rnorm(2 * each, 0, 0.3)))
  counts <- vapply(seq_len(2 * each), function(s) {
    p <- rgamma(length(shares), alpha(s, own))
    drop(rmultinom(1, totals[[s]], p / sum(p))) + 0
  }, shares)
  list(counts = counts, totals = totals, group = group, patient = patient, true = scenario$change != 1)
}

# The effect on the expected log odds of a Dirichlet share.
truth <- function(scenario) {
  if (!is.null(scenario$changing)) return(NA)
  odds <- function(mean) {
    a <- scenario$concentration * mean / sum(mean)
    digamma(a) - digamma(sum(a) - a)
  }
  odds(shares * scenario$change) - odds(shares)
}

# Each method returns for each type whether a difference is claimed at `level` (`excluded`), whether it is reported at a
# false discovery rate of `level`, and, if it has intervals, its limits.
by_p <- function(p) {
  p[is.na(p)] <- 1
  list(excluded = p < level, reported = p.adjust(p, "BH") <= level)
}
t_tests <- function(data, values, paired) {
  apply(values, 1, function(x) {
    tryCatch(t.test(x[data$group == 1], x[data$group == 0], var.equal = TRUE, paired = paired)$p.value,
      error = function(error) NA_real_)
  })
}
abundance <- function(data, formula, change = "auto") {
  result <- differential_abundance(data$counts, formula, data.frame(group = data$group, patient = data$patient),
    level = 1 - level, fdr = level, totals = data$totals, seed = 1, threads = 1, change = change)
  found <- result$effects
  is <- function(claimed) !is.na(claimed) & claimed
  if (!is.null(data$change)) {
    found[c("lower", "upper")] <- found[c("change_lower", "change_upper")]
    if (result$change == "share") found[c("lower", "upper")] <- NA
  }
  list(excluded = is(found$lower > 0 | found$upper < 0), reported = is(found$fdr <= level), lower = found$lower,
    upper = found$upper, converged = result$converged)
}
designed <- function(data, paired) {
  if (paired) model.matrix(~ factor(data$patient) + data$group) else model.matrix(~ data$group)
}
limma_trend <- function(data, paired) {
  design <- designed(data, paired)
  fit <- limma::eBayes(limma::lmFit(logit_shares(data), design), trend = TRUE)
  by_p(fit$p.value[, ncol(design)])
}
edger <- function(data, paired, factors = identity) {
  design <- designed(data, paired)
  # As testDA_edgeR() of diffcyt does: the totals are the library sizes, and the dispersion has no trend.
  counts <- factors(edgeR::DGEList(data$counts, lib.size = data$totals))
  counts <- edgeR::estimateDisp(counts, design, trend.method = "none")
  fit <- edgeR::glmFit(counts, design)
  by_p(edgeR::glmLRT(fit, coef = ncol(design))$table$PValue)
}
logit_shares <- function(data) {
  totals <- rep(data$totals, each = nrow(data$counts))
  log((data$counts + 0.5) / (totals - data$counts + 0.5))
}
methods <- list(
  differential_abundance = function(data, paired) abundance(data, if (paired) ~ group + (1 | patient) else ~ group),
  `differential_abundance, shares` = function(data, paired) {
    abundance(data, if (paired) ~ group + (1 | patient) else ~ group, "share")
  },
  `differential_abundance, pairs ignored` = function(data, paired) if (paired) abundance(data, ~ group),
  `t test, shares` = function(data, paired) by_p(t_tests(data, t(t(data$counts) / data$totals), paired)),
  `t test, logit shares` = function(data, paired) by_p(t_tests(data, logit_shares(data), paired)),
  `limma-trend, logit shares` = if (requireNamespace("limma", quietly = TRUE)) limma_trend,
  edgeR = if (requireNamespace("edgeR", quietly = TRUE)) edger,
  `edgeR, TMM factors` = if (requireNamespace("edgeR", quietly = TRUE)) {
    function(data, paired) edger(data, paired, edgeR::calcNormFactors)
  }
)
methods <- Filter(Negate(is.null), methods)
if (length(commandArgs(TRUE))) {
  methods <- methods[commandArgs(TRUE)]
} else {
  for (package in c("limma", "edgeR")) {
    if (!requireNamespace(package, quietly = TRUE)) message(package, " is not installed here and is left out")
  }
}

one_row <- function(scenario, name) {
  paired <- !is.null(scenario$patient)
  effect <- truth(scenario)
  sets <- parallel::mclapply(seq_len(many), function(i) {
    data <- simulate(scenario, 1000 * (first + i) + scenario$each)
    found <- methods[[name]](data, paired)
    if (is.null(found)) return(NULL)
    true <- data$true
    reported <- sum(found$reported)
    c(
      false_intervals = mean(found$excluded[!true]), any_reported = reported > 0,
      false_discovery_rate = if (reported) mean(!true[found$reported]) else 0,
      power_intervals = mean(found$excluded[true]), power_reported = mean(found$reported[true]),
      coverage = if (!is.null(found$lower)) {
        of <- if (is.null(data$change)) effect else data$change
        mean(found$lower < of & found$upper > of, na.rm = TRUE)
      } else {
        NA
      },
      converged = if (is.null(found$converged)) NA else found$converged
    )
  }, mc.cores = cores)
  if (is.null(sets[[1L]])) return(NULL)
  values <- do.call(rbind, sets)
  mean <- colMeans(values)
  error <- function(of) round(sd(values[, of]) / sqrt(nrow(values)), 4)
  data.frame(
    scenario = scenario$name, samples = paste(scenario$each, "against", max(scenario$each, scenario$against)),
    concentration = if (is.null(scenario$concentration)) NA else scenario$concentration, method = name,
    data_sets = nrow(values), t(round(mean, 4)),
    error_false_intervals = error("false_intervals"), error_false_discovery_rate = error("false_discovery_rate")
  )
}

started <- Sys.time()
results <- do.call(rbind, lapply(scenarios, function(scenario) {
  do.call(rbind, lapply(names(methods), function(name) one_row(scenario, name)))
}))
print(results, row.names = FALSE)
chosen <- commandArgs(TRUE)
file <- file.path(out, paste0("type-groups", if (length(chosen)) paste0("-", tolower(chosen[[1]])), ".csv"))
write.csv(results, file, row.names = FALSE)
cat(sprintf("%s: %.0f s\n", file, as.double(Sys.time() - started, units = "secs")))
