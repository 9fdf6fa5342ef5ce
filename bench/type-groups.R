# differential_abundance() on simulated counts of cells: how often intervals exclude zero if there is no difference, how
# often they cover the true effect, what the false discovery rate is, and power, beside tests of shares, of logit
# shares, limma with a trend, and edgeR (which diffcyt uses for this). Samples have about 5,000 cells, with Dirichlet
# shares, or log-normal absolute numbers that are closed to shares.
#   cd bench && Rscript type-groups.R [method...]     the methods of the table below; all that can run if none is named
# The number of processes is CORES of the environment, the folder of results OUT.
suppressMessages(library(warpbayes))
cores <- as.integer(Sys.getenv("CORES", "2"))
out <- Sys.getenv("OUT", "results")
many <- as.numeric(Sys.getenv("DATA_SETS", "150"))

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

# 24 types with log-normal absolute numbers, of which `changing` change by the factor `by` (or its inverse, unless
# `one_way`). `vanish`: the changing types nearly vanish.
simulate_absolute <- function(scenario) {
  each <- scenario$each
  group <- rep(0:1, each = each)
  change <- numeric(24)
  change[sample(24, scenario$changing)] <- log(scenario$by)
  if (!scenario$one_way) change <- change * sample(c(-1, 1), 24, TRUE)
  deviation <- 0.35 * exp(rnorm(24, 0, 0.25))
  patient <- rep(seq_len(each), 2)
  own <- if (is.null(scenario$patient)) 0 else matrix(rnorm(24 * each, 0, scenario$patient), 24)[, patient]
  absolute <- exp(rnorm(24, 0, 1.2) + outer(change, group) + own + rnorm(48 * each, 0, deviation))
  totals <- round(scenario$cells * exp(rnorm(2 * each, 0, 0.3)))
  counts <- vapply(seq_len(2 * each), function(s) drop(rmultinom(1, totals[[s]], absolute[, s])) + 0, numeric(24))
  list(counts = counts, totals = totals, group = group, patient = patient, true = change != 0)
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
edger <- function(data, paired) {
  design <- designed(data, paired)
  # As testDA_edgeR() of diffcyt does: the totals are the library sizes, and the dispersion has no trend.
  counts <- edgeR::DGEList(data$counts, lib.size = data$totals)
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
  edgeR = if (requireNamespace("edgeR", quietly = TRUE)) edger
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
    data <- simulate(scenario, 1000 * i + scenario$each)
    found <- methods[[name]](data, paired)
    if (is.null(found)) return(NULL)
    true <- data$true
    reported <- sum(found$reported)
    c(
      false_intervals = mean(found$excluded[!true]), any_reported = reported > 0,
      false_discovery_rate = if (reported) mean(!true[found$reported]) else 0,
      power_intervals = mean(found$excluded[true]), power_reported = mean(found$reported[true]),
      coverage = if (is.null(found$lower) || anyNA(effect)) NA else mean(found$lower < effect & found$upper > effect),
      converged = if (is.null(found$converged)) NA else found$converged
    )
  }, mc.cores = cores)
  if (is.null(sets[[1L]])) return(NULL)
  values <- do.call(rbind, sets)
  mean <- colMeans(values)
  error <- function(of) round(sd(values[, of]) / sqrt(nrow(values)), 4)
  data.frame(
    scenario = scenario$name, samples = paste(scenario$each, "against", scenario$each),
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
