# Losses beside package actuar: the example of its vignette on risk theory, the methods of discretize(), coverage(), and
# the seconds for a portfolio of 100,000 policies. Takes about a minute.
#   cd bench && Rscript insurance.R
source("common.R")
options(warpbayes.backend = "cpu", warpbayes.threads = 2)
stopifnot(requireNamespace("actuar", quietly = TRUE))

# Discretisation -------------------------------------------------------------------
rows <- lapply(c("rounding", "upper", "lower", "unbiased"), function(method) {
  arguments <- list(quote(pgamma(x, 2, 1)), from = 0, to = 22, step = 0.5, method = method)
  if (method == "unbiased") arguments$lev <- quote(actuar::levgamma(x, 2, 1))
  theirs <- do.call(actuar::discretize, arguments)
  own <- switch(method, upper = "down", lower = "up", method)
  ours <- discretize_pmf(pgamma, 0.5, own, limit = 22, shape = 2, rate = 1)
  # The last value has what lies beyond 22, which actuar leaves out.
  here <- seq_len(44)
  data.frame(
    task = paste("discretize,", method), ours = mean(ours), actuar = sum(theirs * 0.5 * (seq_along(theirs) - 1)),
    largest_difference = max(abs(theirs[here] - dpmf(ours, 0.5 * (here - 1))))
  )
})

# The example ----------------------------------------------------------------------
severity <- do.call(actuar::discretize, list(quote(pgamma(x, 2, 1)),
  from = 0, to = 22, step = 0.5, method = "unbiased", lev = quote(actuar::levgamma(x, 2, 1))
))
# The severity has lost the probability beyond 22, so the recursion ends at its largest number of steps, with a warning.
theirs <- suppressWarnings(actuar::aggregateDist("recursive",
  model.freq = "poisson", model.sev = severity, lambda = 10, x.scale = 0.5, tol = 1e-13
))
claim <- discretize_pmf(pgamma, 0.5, "unbiased", limit = 22, shape = 2, rate = 1)
year <- compound_pmf("poisson", claim, lambda = 10)
level <- c(0.9, 0.95, 0.99)
at_risk <- value_at_risk(year, level)
compare <- function(task, ours, theirs) {
  data.frame(task = task, ours = ours, actuar = as.double(theirs), largest_difference = abs(ours - as.double(theirs)))
}
rows <- c(rows, list(
  compare("mean of the year", mean(year), mean(theirs)),
  compare(paste("value at risk,", level), at_risk, actuar::VaR(theirs, level)),
  # CTE() leaves out the value at risk itself.
  compare(paste("mean beyond the value at risk,", level),
    at_risk + stop_loss_premium(year, at_risk) / ppmf(year, at_risk, lower.tail = FALSE), actuar::CTE(theirs, level)
  )
))
paid <- discretize_pmf(pgamma, 0.1, "unbiased", deductible = 1, limit = 10, per = "payment", shape = 5, rate = 0.6)
rows <- c(rows, list(compare("mean payment, deductible 1, limit 10", mean(paid),
  (actuar::levgamma(10, 5, 0.6) - actuar::levgamma(1, 5, 0.6)) / pgamma(1, 5, 0.6, lower.tail = FALSE)
)))
save_results(do.call(rbind, rows), "insurance-actuar")

# A large portfolio ----------------------------------------------------------------
set.seed(1)
policies <- 1e5
prob <- runif(policies, 0.0005, 0.02)
insured <- sample(1:1000, policies, TRUE)
sizes <- lapply(1:50, function(i) discretize_pmf(plnorm, 1, meanlog = 2 + i / 50, sdlog = 1, limit = 500))
class <- sample(50, policies, TRUE)
portfolio <- function(task, compute, mean_of, variance_of) {
  total <- NULL
  seconds <- elapsed(total <- compute())
  data.frame(task = task, policies = policies, values = length(total$prob), seconds = seconds,
    error_mean = mean(total) / mean_of - 1, error_variance = variance(total) / variance_of - 1
  )
}
mean_of <- vapply(sizes, mean, 0)[class]
second_of <- vapply(sizes, function(x) variance(x) + mean(x)^2, 0)[class]
save_results(rbind(
  portfolio("1,000 sums insured", function() portfolio_pmf(insured, prob), sum(insured * prob),
    sum(insured^2 * prob * (1 - prob))
  ),
  portfolio("50 lognormal sizes", function() portfolio_pmf(sizes, prob, class), sum(mean_of * prob),
    sum(second_of * prob - (mean_of * prob)^2)
  )
), "insurance-portfolio")
