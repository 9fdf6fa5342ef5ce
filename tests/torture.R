# Calls every entry on small inputs while R collects garbage at every fifth allocation within the entry. This overwrites
# an object that the entry did not protect. R code around the entries runs without such collections. The script also
# checks that no entry changes its arguments. With the argument "once" it runs the calls once without collections, for
# valgrind. A second argument names a file for the results.
library(warpbayes)
options(warpbayes.threads = 2, warpbayes.chains = 1)

set.seed(1)
x <- cbind(a = c(rnorm(15), rnorm(15, 5)), b = rnorm(30))
# A fit keeps its formula, whose environment must be that of both runs.
prevalence <- ~v

# A sweep of a manager whose only worker is in this process, and the other entries that workers call.
run_on_cluster <- function(fit) {
  native <- warpbayes:::native
  cells <- rbind(x, x)[rep_len(seq_len(nrow(x)), 2048), ]
  run <- warpbayes:::resolve_run("cpu", 2)
  worker <- native(
    warpbayes:::C_mixture_open_worker, cells, 0L, c(0, 2048), 1, c(0, 0), c(1, 1), 0L, TRUE, NULL, 0L, run
  )
  manager <- native(
    warpbayes:::C_mixture_open_cluster, function(request) list(.Call(warpbayes:::C_mixture_answer, worker, request)),
    "worker 1", c(0, 2048), 1, c(0, 0), c(1, 1), 0L, TRUE, 0L, run
  )
  swept <- warpbayes:::mixture_step(fit)(list(manager), fit$state[1L], 2, TRUE)[[1L]]
  .Call(warpbayes:::C_session_close, manager)
  .Call(warpbayes:::C_session_close, worker)
  rows <- native(warpbayes:::C_mixture_start_rows, 30, 3L, as.raw(1:8))
  prior <- warpbayes:::compiled_prior(fit$prior)
  start <- native(
    warpbayes:::C_mixture_start, x[rows, ], fit$center, 1 / fit$scale, prior, 3L, as.raw(1:8), FALSE,
    matrix(0, 2, 0), 30
  )
  scan <- native(warpbayes:::C_matrix_scan_part, x, NULL, 0)
  split <- native(warpbayes:::C_mixture_split, 5000, 2L)
  # A process that asks workers, and one that is a worker.
  held <- .Call(warpbayes:::C_interrupts_hold)
  .Call(warpbayes:::C_interrupts_release, held, FALSE)
  for (ignore in c(TRUE, FALSE)) .Call(warpbayes:::C_interrupts_ignore, ignore)
  list(swept, split, rows, start, native(warpbayes:::C_matrix_scan_finish, scan$moments))
}

results <- function() {
  fit <- dp_mixture(x, components = 3, iter = 4, warmup = 2, seed = 1)
  gaps <- replace(x, c(3, 35, 40), NA)
  gappy <- dp_mixture(gaps, components = 3, iter = 4, warmup = 2, seed = 1, control = warp_control(missing = "model"))
  missing <- list(gappy$draws, predict(gappy, gaps, type = "prob"), predict(gappy, gaps, type = "log_density"))
  matched <- relabel(fit)$match
  sampled <- dp_mixture(x, components = 3, iter = 4, warmup = 2, seed = 1, sample = rep(1:3, 10))
  samples <- type_proportions(cell_types(sampled))
  types <- cell_types(fit)[c("types", "type", "probability", "tree")]
  counts <- rbind(a = c(4, 6, 3), b = c(6, 4, 7))
  abundance <- differential_abundance(counts, ~ g, data.frame(g = c(0, 0, 1)), totals = rep(10, 3), chains = 1,
    iter = 15, warmup = 3, seed = 1)$draws
  fit$elapsed <- NULL
  mode <- dp_mixture(x, components = 3, method = "bem", warmup = 2, iter = 3, chains = 2, seed = 1)
  mode <- dp_mixture(
    x, components = 3, method = "bem", iter = 2, seed = 1,
    control = warp_control(start = mode, estimate = "mean")
  )
  mode$elapsed <- NULL
  d <- data.frame(x = x[, 1], g = rep(1:3, 10), y = rep(0:1, 15), n = rep(0:4, 6), m = factor(rep(1:3, each = 10)))
  regress <- function(formula, ...) {
    fit <- bayes_logit(formula, d, ..., chains = 1, iter = 3, warmup = 1, seed = 1, progress = FALSE)
    unclass(fit)[c("coefficient_trace", "log_likelihood", "dispersion_trace", "draws", "state")]
  }
  predicted <- bayes_logit(y ~ x + (1 | g), d, chains = 1, iter = 5, warmup = 1, seed = 1, progress = FALSE)
  by_class <- bayes_logit(m ~ x, d, "multinomial", chains = 1, iter = 5, warmup = 1, seed = 1, progress = FALSE)
  regressions <- list(
    predict(predicted), predict(predicted, d[1:3, ], "link", level = 0.9), predict(by_class),
    regress(y ~ x + (1 | g)), regress(y ~ x + (x | g) + (1 | n)), regress(n ~ x, family = "negbinomial"),
    regress(n ~ x + (1 | g), family = "poisson"), regress(n ~ x + (x | g), family = "poisson"),
    regress(m ~ x, family = "multinomial", prior = logit_prior("horseshoe")),
    regress(m ~ x + (1 | n) + offset(cbind(x, -x)), family = "multinomial"),
    polyagamma_step(cbind(1, x), d$y, numeric(3), seed = 1),
    if (requireNamespace("Matrix", quietly = TRUE)) regress(y ~ x + (1 | g), control = warp_control(sparse = TRUE))
  )
  die <- pmf(rep(1 / 6, 6), from = 1)
  l <- pmf(dpois(0:200, 3, log = TRUE), log = TRUE)
  rows <- matrix(1:12, 3)
  sums <- list(
    die + die, l - die, convolve_pmf(rows, rows), convolve_pmf(log(rows), log(rows), log = TRUE),
    sum_pmf(list(1:3, 4:5)), sum_pmf(rows), rep_sum_pmf(die, 5), rep_sum_pmf(l, 3), condition_on_sum_pmf(die, l, 9),
    ppmf(l, 3, log.p = TRUE), rpmf(die, 10, seed = 1),
    tryCatch(condition_on_sum_pmf(c(1, 0, 1), c(1, 0, 1), 1), error = conditionMessage),
    convolve_pmf(1:9000 + 0, 9000:1 + 0, threads = 2), compound_pmf("geometric", die, prob = 0.3),
    compound_pmf(pmf_binomial(5, 0.3), die), portfolio_pmf(c(1.5, 2, 7, 30), 0.1), pmf_rank_sum(c(1, 2, 2), c(2, 5)),
    pmf_rank_sum(rep(1:2, 900), rep(1:3, 600))
  )
  b <- c(0.3, 1, 4.5, 20, 200)
  polyagamma <- list(
    rpolyagamma(50, b, -2:5, seed = 1), rpolyagamma(5, 20, 1, "saddlepoint", seed = 1), dpolyagamma(0.4, b),
    ppolyagamma(0.4, b, 3), qpolyagamma(0.4, b), polyagamma_cumulant(b, 1, 3),
    tryCatch(rpolyagamma(1, -1), error = conditionMessage)
  )
  sparse <- if (requireNamespace("Matrix", quietly = TRUE)) methods::as(rows + 0, "CsparseMatrix") else rows
  items <- list(
    rcategorical(rows, 3, seed = 1), rcategorical(log(rows), log = TRUE, seed = 1), rcategorical(1:3, 100, seed = 1),
    rcategorical(sparse, 2, seed = 1), rcategorical(rows, 2, seed = 1, precision = "single"),
    tryCatch(rcategorical(-rows), error = conditionMessage)
  )
  file <- tempfile()
  dp_mixture(
    x, components = 3, iter = 4, warmup = 2, seed = 1,
    control = warp_control(checkpoint = file, checkpoint_every = 0)
  )
  resumed <- resume(file, x)[c("draws", "log_likelihood", "state")]
  refusals <- list(
    tryCatch(resume(file, x + 1), error = conditionMessage),
    tryCatch(resume(tempdir(), x), error = function(error) class(error)),
    tryCatch(warpbayes:::digest_numbers("a", 1), error = conditionMessage)
  )
  unlink(file)
  cluster <- run_on_cluster(fit)
  # Its value depends on what R has finalized.
  .Call(warpbayes:::C_unload_obstacle)
  .Call(warpbayes:::C_unload_symbols, list())
  counts <- matrix(c(3, 0, 1, 2, 0, 4, 1, 1, 5), 3, dimnames = list(NULL, c("a", "b", "c")))
  topics <- topic_model(counts, 2, iter = 4, seed = 1, control = warp_control(keep = c("phi", "theta")))
  topics$elapsed <- NULL
  seeded <- topic_model(counts, 3, iter = 4, seed = 1, seed_words = list(one = "a"),
    prevalence = prevalence, data = data.frame(v = c(1, 2, 4)))
  seeded$elapsed <- NULL
  many <- suppressWarnings(topic_model(counts, 201, iter = 2, seed = 1))
  many$elapsed <- NULL
  words <- list(
    topics, seeded, many, predict(topics, counts, iter = 4, seed = 1), perplexity(topics, counts, iter = 4, seed = 1),
    predict(seeded, counts, iter = 4, data = data.frame(v = c(1, NA, 3)), seed = 1)
  )
  classes <- data.frame(y = x[, "a"] > 2, a = x[, "a"], b = x[, "b"])[1:9, ]
  resamples <- list(
    predictive_resample(x[1:5, "a"], normal_mean(), 5, 4, trajectories = 2, seed = 1),
    predictive_resample(x[1:5, "a"], normal_mean(NULL), 5, 4, seed = 1),
    predictive_resample(x[1:5, "a"], bayesian_bootstrap(), draws = 4, seed = 1),
    predictive_resample(x[1:5, "a"], pitman_yor(1, 0.3, qnorm), draws = 4, seed = 1),
    predictive_resample(x[1:5, "a"], gnedin(0.9, qnorm), draws = 4, seed = 1),
    predictive_resample(x[1:5, ], copula_density(0.5, permutations = 2), 3, 2, seed = 1),
    predictive_resample(
      classes, copula_regression(a ~ b, at = 1:3, rho = 0.5, rho_x = 0.5, permutations = 2), 3, 2,
      seed = 1
    ),
    predictive_resample(
      classes, copula_regression(a ~ b, at = 1:3, rho = 0.5, permutations = 2, method = "joint"), 3, 2,
      seed = 1
    ),
    predictive_resample(x[1:5, "a"], copula_density(points = 1:3, permutations = 2), 3, 2, seed = 1)
  )
  resamples <- lapply(resamples, function(fit) fit[setdiff(names(fit), c("elapsed", "model", "frame"))])
  list(
    items = items, polyagamma = polyagamma, words = words, sums = sums, resamples = resamples,
    regressions = regressions, resumed = c(resumed, refusals), abundance = abundance,
    info = unclass(warp_info())[c("isa", "threads", "backend")], matched = matched, samples = samples, types = types,
    cluster = cluster, fit = fit, mode = mode, missing = missing
  )
}

calm <- results()
arguments <- commandArgs(TRUE)
if ("once" %in% arguments) {
  if (length(arguments) > 1L) saveRDS(calm, arguments[[2L]])
  quit()
}

# Byte code has .Call() built in, and would not call the replacement below.
stopifnot(Sys.getenv("R_DISABLE_BYTECODE") == "1")
plain_call <- .Call
tortured_calls <- 0L
unlockBinding(".Call", baseenv())
# The bytes of arguments, without those behind external pointers.
bytes_of <- function(arguments) {
  values <- function(value) {
    if (typeof(value) == "externalptr" || is.function(value)) {
      NULL
    } else if (is.list(value)) {
      lapply(value, values)
    } else {
      value
    }
  }
  serialize(lapply(arguments, values), NULL, version = 2L)
}
assign(".Call", function(...) {
  if (!identical(tryCatch(..1$dll[["name"]], error = function(error) ""), "warpbayes")) return(plain_call(...))
  tortured_calls <<- tortured_calls + 1L
  arguments <- list(...)[-1L]
  before <- bytes_of(arguments)
  gctorture2(5, inhibit_release = TRUE)
  on.exit(gctorture2(0))
  value <- plain_call(...)
  gctorture2(0)
  if (!identical(bytes_of(arguments), before)) stop("the entry ", ..1$name, " has changed its arguments")
  value
}, baseenv())
tortured <- results()
assign(".Call", plain_call, baseenv())
stopifnot(identical(calm, tortured), tortured_calls > 200L)
cat("the same results in", tortured_calls, "calls with garbage collected all the time\n")
