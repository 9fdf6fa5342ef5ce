# The verdict on convergence (R/run_diagnostics.R) where the truth is known: how often chains that have converged are
# called otherwise, and how often a chain that stands apart is found. There are six quantities, as many as decide on a
# mixture. Takes a quarter of an hour of one core.
#   cd bench && Rscript convergence.R [fits]
source("common.R")
arguments <- commandArgs(TRUE)
fits <- if (length(arguments)) as.integer(arguments[[1]]) else 400L
quantities <- 6

# Chains with autocorrelations phi^lag in their stationary law.
chain <- function(n, phi) as.vector(stats::filter(rnorm(n + 200, sd = sqrt(1 - phi^2)), phi, "recursive"))[-(1:200)]

verdict <- function(n, chains, phi, shift = 0) {
  draws <- lapply(seq_len(quantities), function(i) {
    one <- matrix(vapply(seq_len(chains), function(j) chain(n, phi), numeric(n)), n)
    if (i == 1) one[, chains] <- one[, chains] + shift
    one
  })
  names(draws) <- paste0("q", seq_along(draws))
  table <- internal$diagnose_quantities(draws)
  c(internal$judge_convergence(draws, table, identity)$converged, max(table$rhat) > 1.05)
}

set.seed(1)
cases <- expand.grid(phi = c(0, 0.5, 0.7, 0.9, 0.97), chains = c(1, 2, 3, 4), sweeps = c(30, 60, 200, 1000), shift = 0)
worth <- function(cases) cases$sweeps * (1 - cases$phi) / (1 + cases$phi)
# Chains worth hundreds of draws never give an alarm and take the longest: only four of them.
cases <- cases[worth(cases) >= 5 & (worth(cases) <= 200 | cases$chains == 4), ]
power <- expand.grid(phi = c(0, 0.7), chains = 4, sweeps = c(20, 113, 100, 567), shift = c(0.5, 0.75, 1, 1.5, 2))
power <- power[round(worth(power)) %in% c(20, 100), ]
results <- do.call(rbind, lapply(split(rbind(cases, power), seq_len(nrow(cases) + nrow(power))), function(one) {
  said <- replicate(fits, verdict(one$sweeps, one$chains, one$phi, one$shift))
  result <- data.frame(
    sweeps = one$sweeps, chains = one$chains, phi = one$phi, worth = round(worth(one)), shift = one$shift, fits = fits,
    not_converged = mean(said[1, ] %in% 0), no_verdict = mean(is.na(said[1, ])), rhat_above_1.05 = mean(said[2, ])
  )
  result
}))
save_results(results, "convergence")
