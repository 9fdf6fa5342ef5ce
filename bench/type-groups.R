# differential_abundance() on simulated counts of cells: how often intervals exclude zero if there is no difference, how
# often they cover the true effect, what the false discovery rate is, and power, beside tests of shares, of logit
# shares, and edgeR (which diffcyt uses for this). Samples have Dirichlet shares and about 5,000 cells.
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
  list(name = "pairs, four of ten change", each = 6, concentration = 300, change = strong, patient = 0.7)
)

simulate <- function(scenario, seed) {
  set.seed(seed)
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
  list(counts = counts, totals = totals, group = group, patient = patient)
}

# The effect on the expected log odds of a Dirichlet share.
truth <- function(scenario) {
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
abundance <- function(data, formula) {
  result <- differential_abundance(data$counts, formula, data.frame(group = data$group, patient = data$patient),
    level = 1 - level, fdr = level, totals = data$totals, seed = 1, threads = 1)
  found <- result$effects
  list(excluded = found$lower > 0 | found$upper < 0, reported = found$fdr <= level, lower = found$lower,
    upper = found$upper, converged = result$converged)
}
edger <- function(data, paired) {
  design <- if (paired) model.matrix(~ factor(data$patient) + data$group) else model.matrix(~ data$group)
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
  `differential_abundance, pairs ignored` = function(data, paired) if (paired) abundance(data, ~ group),
  `t test, shares` = function(data, paired) by_p(t_tests(data, t(t(data$counts) / data$totals), paired)),
  `t test, logit shares` = function(data, paired) by_p(t_tests(data, logit_shares(data), paired)),
  edgeR = if (requireNamespace("edgeR", quietly = TRUE)) edger
)
methods <- Filter(Negate(is.null), methods)
if (length(commandArgs(TRUE))) {
  methods <- methods[commandArgs(TRUE)]
} else if (is.null(methods$edgeR)) {
  message("edgeR is not installed here and is left out")
}

one_row <- function(scenario, name) {
  paired <- !is.null(scenario$patient)
  effect <- truth(scenario)
  true <- scenario$change != 1
  sets <- parallel::mclapply(seq_len(many), function(i) {
    found <- methods[[name]](simulate(scenario, 1000 * i + scenario$each), paired)
    if (is.null(found)) return(NULL)
    reported <- sum(found$reported)
    c(
      false_intervals = mean(found$excluded[!true]), any_reported = reported > 0,
      false_discovery_rate = if (reported) mean(!true[found$reported]) else 0,
      power_intervals = mean(found$excluded[true]), power_reported = mean(found$reported[true]),
      coverage = if (is.null(found$lower)) NA else mean(found$lower < effect & found$upper > effect),
      converged = if (is.null(found$converged)) NA else found$converged
    )
  }, mc.cores = cores)
  if (is.null(sets[[1L]])) return(NULL)
  values <- do.call(rbind, sets)
  mean <- colMeans(values)
  error <- function(of) round(sd(values[, of]) / sqrt(nrow(values)), 4)
  data.frame(
    scenario = scenario$name, samples = paste(scenario$each, "against", scenario$each),
    concentration = scenario$concentration, method = name, data_sets = nrow(values), t(round(mean, 4)),
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
