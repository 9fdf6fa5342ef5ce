# What the calls of tests/audit/audit.R use: a tiny object of every class, hostile values, and a correct call of every
# export and method. `source("tests/audit/fixtures.R")` before a line of the report repeats it.
library(warpbayes)
options(warpbayes.threads = 1, warpbayes.progress = FALSE)
S4_class <- methods::setClass("audit_S4", representation(data = "numeric"))

fixtures <- function() {
  set.seed(1)
  cells <- cbind(a = c(rnorm(15), rnorm(15, 6)), b = rnorm(30), c = rnorm(30))
  rows <- data.frame(
    y = rep(0:1, 15), x = cells[, 1], g = rep(letters[1:3], 10), n = rep(0:4, 6), m = factor(rep(1:3, each = 10))
  )
  regress <- function(formula, ...) {
    bayes_logit(formula, rows, ..., chains = 2, iter = 6, warmup = 2, seed = 1, progress = FALSE)
  }
  words <- matrix(rpois(40, 1) + 1, 8, dimnames = list(NULL, letters[1:5]))
  mix <- dp_mixture(cells, components = 3, iter = 6, warmup = 2, chains = 2, seed = 1, keep = c("weights", "means",
    "covariances", "labels"))
  of_samples <- dp_mixture(cells, components = 3, iter = 6, warmup = 2, seed = 1, sample = rep(1:4, length.out = 30))
  types <- cell_types(of_samples)
  patients <- data.frame(group = rep(c("control", "patient"), each = 2))
  topics <- topic_model(words, 2, iter = 6, chains = 2, seed = 1, keep = c("phi", "theta"))
  resample <- function(y, model, ...) predictive_resample(y, model, 4, 3, ..., seed = 1, progress = FALSE)
  pair <- rows[c("y", "x")]
  die <- pmf(rep(1 / 6, 6), from = 1)
  logit <- regress(y ~ x + (1 | g))
  list(
    S4 = S4_class(data = 1), pointer = methods::new("externalptr"), cells = cells, rows = rows, words = words,
    patients = patients, die = die, money = pmf(c(0.2, 0.5, 0.3), from = -1, by = 0.5),
    log_pmf = pmf(dpois(0:200, 3, log = TRUE), log = TRUE), pmfs = c(die, pmf_binomial(3, 0.2)),
    pmf_summary = summary(die), logit = logit, groups = regress(y ~ x + (x | g)),
    negative = regress(n ~ x, family = "negbinomial"), classes = regress(m ~ x, family = "multinomial"),
    logit_summary = summary(logit), logit_prior = logit_prior(), mix = mix,
    bem = suppressWarnings(dp_mixture(cells, components = 3, method = "bem", iter = 3, warmup = 1, seed = 1)),
    of_samples = of_samples, relabelled = relabel(mix), mix_summary = summary(mix), prior = dp_prior(), types = types,
    types_summary = summary(types), proportions = type_proportions(types),
    differences = type_differences(types, c("a", "a", "b", "b")),
    abundance = differential_abundance(types, ~ group, patients, chains = 1, iter = 20, warmup = 5, seed = 1),
    topics = topics, topics_summary = summary(topics), odd = perplexity(topics, words, iter = 4, seed = 1),
    normal = resample(cells[1:6, 1], normal_mean(), trajectories = 2),
    density = resample(cells[1:6, 1], copula_density(0.5, points = 1:3, permutations = 2)),
    curve = resample(pair, copula_regression(x ~ y, rho = 0.5, rho_x = 0.5, permutations = 2)),
    classify = resample(pair, copula_classification(y ~ x, rho = 0.5, rho_x = 0.5, permutations = 2)),
    medians = predictive_resample(cells[, 1], bayesian_bootstrap(), functional = "median", draws = 4, seed = 1),
    model = copula_density(0.5), reader = row_reader(30, function(from, to) cells[from:to, ]), info = warp_info()
  )
}

# A fit with one part replaced: `part` is the way to it, `value` the new one or a function of the old one.
changed <- function(fit, part, value, attribute = FALSE) {
  old <- if (attribute) attr(fit, part) else unclass(fit)[[part[[1L]]]]
  new <- if (length(part) > 1L) {
    changed(old, part[-1L], value)
  } else if (is.function(value)) {
    tryCatch(value(old), error = function(error) NULL)
  } else {
    value
  }
  if (attribute) {
    return(tryCatch(`attr<-`(fit, part, new), error = function(error) fit))
  }
  class <- oldClass(fit)
  fit <- unclass(fit)
  fit[part[[1L]]] <- list(new)
  structure(fit, class = class)
}

hostile <- c(
  "NULL", "NA", "NaN", "Inf", "-Inf", "0", "1", "-1", "0.5", "2", "3L", "1e9", "2^31", "-2^31", "2^53", "1e300",
  "-1e300", "5e-324", "TRUE", "FALSE", "NA_character_", "NA_integer_", "''", "'a'", "'y'", "strrep('x', 1e4)",
  "'\\xff'",
  "character()", "numeric()", "integer()", "logical()", "list()", "list(1)", "list(1, 'a', NULL)", "list(a = 1)",
  "c(1, NA)", "c(NaN, 1)", "c(Inf, 1)", "c(0, 0)", "1:3", "3:1", "c(0.2, 0.8)", "c(-1, 1)", "c(a = 1, a = 2)",
  "c(5e-324, 1e300)", "matrix(0, 0, 0)", "matrix(1, 1, 1)", "matrix(NA_real_, 2, 2)", "matrix(1:4, 2)",
  "matrix('a', 2, 2)", "matrix(list(1), 1)", "matrix(0, 0, 3)", "matrix(0, 30, 0)", "array(0, c(2, 2, 2))",
  "data.frame()", "data.frame(a = 1)", "data.frame(a = 'b', y = NA)", "factor('a')", "factor(c(NA, 'b'))", "1i",
  "as.raw(1)", "quote(a)", "quote(a + b)", "y ~ x", "~ zz", "y ~ .", "~ 0", "expression(a)", "function(x) x",
  "function(...) NULL", "function(x) 'a'", "sum", "new.env()", "Sys.Date()", "S4", "pointer", "1:1e6", "rep(1, 1e5)",
  "as.POSIXlt(Sys.Date())", "structure(1, class = 'pmf')", "structure(list(), class = 'pmf')",
  "structure(NA_integer_, class = 'factor')", "structure(list(), class = 'bayes_logit')",
  "structure(list(), class = 'dp_mixture')", "structure(list(), class = 'topic_model')",
  "structure(list(), class = 'cell_types')", "structure(1, class = 'martingale_posterior')",
  "structure(list(), class = 'predictive_model')", "structure(list(), class = 'dp_prior')",
  "structure(list(), class = 'logit_prior')", "structure(1:2, class = 'data.frame')",
  "structure(1:2, class = c('audit', 'numeric'))", "structure(list(rows = 1e9), class = 'row_reader')",
  "structure(list(1), class = 'pmf_list')"
)

# What replaces a part of a fit.
replacements <- c(
  "0", "-1", "NA", "1e9", "2^31", "NULL", "'a'", "list()", "NaN", "Inf", "0.5", "TRUE", "numeric()", "1i", "quote(a)",
  "matrix(0, 0, 0)", "matrix(1, 1, 1)", "function(old) old[1]", "function(old) old[0]", "function(old) rev(old)",
  "function(old) c(old, old)", "function(old) old * NaN", "function(old) -old", "function(old) old * 1e9", "t",
  "as.character", "as.list", "function(old) old + 2^31", "unclass", "function(old) rbind(old, old)",
  "function(old) replace(old, 1, NA)", "function(old) replace(old, 1, 1e9)", "function(old) replace(old, 1, -1)"
)

# A correct call of each export and method, as `name: call` where the call does not begin with the name.
pmf_calls <- "
pmf(c(0.2, 0.3, 0.5), from = 1, log = FALSE, normalize = TRUE, tolerance = 1e-8, by = 1)
pmf(c(0.2, 0.8), values = c(0, 1000))
pmf_binomial(5, 0.3, tail = 1e-15, log = FALSE)
pmf_geometric(0.3, tail = 1e-10)
pmf_hypergeometric(5, 4, 3, tail = 1e-15)
pmf_logarithmic(0.3, tail = 1e-10)
pmf_negative_binomial(5, 0.3, tail = 1e-15)
pmf_negative_binomial(5, mu = 2)
pmf_poisson(3, tail = 1e-15)
pmf_poisson_binomial(c(0.2, 0.5), weights = c(1, 2), accuracy = 1e-12)
pmf_uniform(1, 6)
compound_pmf('geometric', die, prob = 0.3)
compound_pmf('poisson', die, lambda = 2, zero = 0.1, tail = 1e-12, accuracy = 1e-12)
compound_pmf('negative_binomial', die, successes = 2, mu = 2)
compound_pmf('binomial', die, trials = 3, prob = 0.2)
compound_pmf(die, money)
condition_on_sum(die, die, 9, log = NULL)
convolve_pmf(c(0.2, 0.8), c(0.5, 0.5), log = FALSE, accuracy = 1e-12)
sum_pmf(list(die, die), log = NULL, accuracy = 1e-12)
rep_sum(die, 5, accuracy = 1e-12)
discretize_pmf(pexp, by = 0.5, tail = 1e-3)
portfolio_pmf(c(1, 2, 3), c(0.1, 0.2, 0.3))
layer_pmf(die, 2, 3)
map_pmf(die, function(v) v * 2)
mix_over(pmf(c(0.5, 0.5)), function(v) pmf(c(0.5, 0.5), from = v))
mix_pmf(list(die, die), c(0.5, 0.5))
zero_modify(die, 0.2)
joint_table(die, die, totals = NULL, given = FALSE)
probability(die, function(v) v > 2, log = FALSE)
expected_value(die, function(v) v^2)
dpmf(3, die, log = FALSE)
ppmf(3, die, lower.tail = TRUE, log.p = FALSE)
qpmf(0.5, die, lower.tail = TRUE, log.p = FALSE)
rpmf(3, die, seed = 1)
value_at_risk(die, 0.9)
tail_value_at_risk(die, 0.9)
stop_loss_premium(die, 2)
lorenz_share(c(0.5, 1), die)
variance(die)
variance.default: variance(1:3)
[.pmf: die[2:3]
Math.pmf: abs(money)
Math.pmf: cumsum(die)
Math.pmf: round(money, 0)
Ops.pmf: die + money
Ops.pmf: die * 2
Ops.pmf: die == 3
Ops.pmf: -die
Summary.pmf: max(die, die)
Summary.pmf: range(die)
Summary.pmf_list: min(pmfs)
as.data.frame(die, row.names = NULL, optional = FALSE)
c.pmf: c(die, die)
lines.pmf: {plot(die); lines(die, type = 'line')}
mean(die)
median(die, na.rm = FALSE)
format(die)
print(die, digits = 4)
print(pmfs)
print(pmf_summary, digits = 4)
quantile(die, probs = c(0.2, 0.8), names = TRUE)
rep(die, times = 2, each = 1)
rev(die)
summary(die)
plot(die, money, type = 'bars', log = NULL, lower.tail = TRUE, xlim = c(0, 7), main = 'a', col = c('red', 'blue'))
plot(die, type = 'quantile', xlab = 'a', ylim = NULL, border = NA, legend = c('x', 'y'), add = FALSE)
truncate.pmf: truncate(die, 2, 4, outside = 'condition')
rcategorical(c(0.2, 0.8), 3, log = FALSE, seed = 1, precision = 'double')
rpolyagamma(3, 1, 0, method = 'auto', seed = 1)
dpolyagamma(0.5, 1, 0, log = FALSE)
ppolyagamma(0.5, 1, 0, lower.tail = TRUE, log.p = FALSE)
qpolyagamma(0.5, 1, 0, lower.tail = TRUE, log.p = FALSE)
polyagamma_mean(1, 0)
polyagamma_var(1, 0)
polyagamma_cumulant(1, 0, 3)
polyagamma_step(cbind(1, rows$x), rows$y, c(0, 0), trials = 1, offset = 0,
  prior_mean = 0, prior_precision = 1, seed = 1)
warp_info()
print(info)
"
fit_calls <- "
bayes_logit(y ~ x, rows, chains = 1, iter = 4, warmup = 1, thin = 1, seed = 1, progress = FALSE)
bayes_logit(y ~ x + (1 | g), rows, chains = 1, iter = 4, prior = logit_prior(), weights = rep(1, 30), seed = 1)
bayes_logit(n ~ x, rows, 'negbinomial', chains = 1, iter = 4, offset = rep(0, 30), subset = x > 0, seed = 1)
bayes_logit(y ~ g, rows, chains = 1, iter = 4, contrasts = NULL, sparse = FALSE, prior_only = FALSE, seed = 1)
logit_prior('normal', location = 0, scale = 2.5, df = 4, autoscale = TRUE, intercept_scale = 2.5)
continue(logit, 2)
continue.default: continue(1, 2)
drop_warmup(logit, 3)
drop_warmup.default: drop_warmup(1)
coef(logit)
confint(logit, parm = 'x', level = 0.9)
fitted(logit)
formula(logit)
generics::augment(logit, data = rows, newdata = NULL)
generics::glance(logit)
generics::tidy(logit, conf.level = 0.9)
log_lik(logit, draws = 3)
log_lik.default: log_lik(1)
nobs(logit)
plot(logit, 'coefficients', parameters = 'x', main = 'a', standardise = TRUE)
plot(logit, 'trace')
plot(logit, 'calibration')
posterior::as_draws(logit, groups = TRUE)
posterior::as_draws_array(logit)
posterior::as_draws_df(logit)
posterior::as_draws_list(logit)
posterior::as_draws_matrix(logit)
posterior::as_draws_rvars(logit)
coda::as.mcmc.list(logit, groups = FALSE)
predict(logit, rows, type = 'response', interval = 0.9, draws = NULL)
predict(groups, rows, type = 'link')
predict(negative, rows)
predict(classes, rows)
fitted(classes)
residuals(classes)
simulate(negative, 2, seed = 1)
simulate(classes, 2, seed = 1)
log_lik(groups)
summary(groups)
print(groups)
continue(groups, 2)
continue(negative, 2)
residuals(logit)
simulate(logit, 2, seed = 1)
summary(logit)
as.matrix(logit)
coda::as.mcmc.bayes_logit: coda::as.mcmc(logit)
family(logit)
model.matrix(logit)
nlme::fixef(logit)
nlme::ranef(groups)
nlme::VarCorr(groups, sigma = 1)
rstantools::posterior_epred(logit, newdata = rows, draws = 3)
rstantools::posterior_linpred(groups, newdata = rows, draws = 3)
rstantools::posterior_predict(logit, newdata = rows, draws = 3, seed = 1)
rstantools::prior_summary(logit)
sigma(logit)
print(proportions)
print.type_differences: print(differences)
update(logit, . ~ ., iter = 4, evaluate = TRUE)
vcov(logit)
print(logit, digits = 2)
print(logit_summary, digits = 2)
print(logit_prior)
dp_mixture(cells, 3, iter = 4, warmup = 2, chains = 1, thin = 1, seed = 1, progress = FALSE)
dp_mixture(cells, 3, iter = 4, init = rep(1:3, 10), keep = 'means', markers = c('a', 'b'), seed = 1)
dp_mixture(cells, 3, iter = 4, sample = rep(1:2, 15), transform = 'arcsinh', cofactor = 5, moves = TRUE, seed = 1)
dp_mixture(cells, 3, iter = 4, missing = 'model', piled = 'keep', precision = 'double', prior = dp_prior(), seed = 1)
dp_mixture(cells, 3, method = 'bem', iter = 2, warmup = 1, tolerance = 1e-5, estimate = 'mode', seed = 1)
dp_mixture(reader, 3, iter = 2, seed = 1)
dp_prior(mean = 0, mean_scale = 1, df = 5, scale = 1, concentration = 1, floor = 0.1)
row_reader(30, function(from, to) cells[from:to, ], block = 10)
continue(mix, 2)
continue(bem, 2)
continue.relabelled_mixture: continue(relabelled, 2)
drop_warmup(mix, 3)
drop_warmup.relabelled_mixture: drop_warmup(relabelled)
relabel(mix)
relabel.default: relabel(1)
co_clustering(mix, cells = 1:5, newdata = NULL, draws = 4)
generics::augment(mix, cells, draws = 2)
generics::augment.relabelled_mixture: generics::augment(relabelled, cells, draws = 2)
generics::glance(mix)
generics::tidy(mix)
logLik(mix)
log_lik(mix, newdata = cells, draws = 2, sample = NULL)
rstantools::log_lik(mix, draws = 2)
rstantools::log_lik(logit, draws = 2)
nobs(mix)
plot(mix, cells, type = 'pairs', markers = c('a', 'b'), min_weight = 0.01, main = 'a')
plot(mix, type = 'trace')
plot(mix, type = 'weights')
plot(mix, type = 'heatmap')
plot.relabelled_mixture: plot(relabelled, type = 'components', components = 3, markers = NULL, main = NULL)
posterior::as_draws(mix, components = TRUE)
posterior::as_draws_array(mix)
posterior::as_draws_df(mix)
coda::as.mcmc(mix, components = FALSE)
coda::as.mcmc.list(mix, components = FALSE)
predict(mix, cells, type = 'class', draws = 2, sample = NULL)
predict(mix, cells, type = 'log_density')
predict(of_samples, cells, type = 'prob', sample = rep(1, 30))
predict(bem, cells, type = 'prob')
summary(bem)
print.relabelled_mixture: print(relabelled, components = 3)
predict.relabelled_mixture: predict(relabelled, cells, type = 'prob', draws = 2)
simulate(mix, 2, seed = 1)
summary(mix)
update(mix, iter = 2, evaluate = TRUE)
print(mix)
print(bem)
print(prior)
print(reader)
print(mix_summary, components = 3, digits = 2)
print.summary.dp_mixture_bem: print(summary(bem), components = 3, digits = 2)
cell_types(mix, types = NULL, overlap = 0.05, specks = 'auto', speck = 0.005, names = NULL, draws = 4)
marker_thresholds(types)
join_types(types, 1, 2, name = 'both')
split_type(types, 1, names = NULL)
add_types(cells, types, name = 'type')
type_names(types, positive_only = FALSE)
type_proportions(types, level = 0.9)
type_differences(types, c('a', 'a', 'b', 'b'), level = 0.9, scale = 'proportion')
levels(types)
levels<-.cell_types: `levels<-`(types, c('u', 'v'))
generics::augment(types, cells)
plot(types, type = 'tree', markers = 'a', specks = FALSE, main = 'a')
plot(types, type = 'cells')
plot(types, type = 'heatmap')
plot(proportions, group = c('a', 'a', 'b', 'b'), types = NULL, main = NULL)
plot(differences, types = NULL, main = NULL)
predict(types, cells, type = 'prob')
summary(types)
print(types)
print(types_summary, digits = 3)
differential_abundance(types, ~ group, patients, chains = 1, iter = 20, warmup = 5, draws = 3, seed = 1)
differential_abundance(matrix(1:8, 2), ~ group, patients, effect = 'grouppatient', level = 0.9, fdr = 0.1, iter = 20,
  warmup = 5, chains = 1, seed = 1, totals = rep(100, 4))
as.data.frame(abundance)
generics::glance(abundance)
generics::tidy(abundance, conf.level = 0.9)
plot(abundance, types = NULL, effect = NULL, main = NULL)
print(abundance, types = 3)
summary(abundance)
print.summary.differential_abundance: print(summary(abundance))
topic_model(words, 2, alpha = 'asymmetric', beta = 'learn', method = 'gibbs', iter = 4, warmup = 1, seed = 1)
topic_model(words, 2, alpha = 1, beta = 0.1, iter = 4, keep = 'phi', alpha_prior = c(shape = 1, rate = 1), seed = 1)
topic_names(topics, 2)
topic_names<-: `topic_names<-`(topics, c('u', 'v'))
top_terms(topics, 3, by = 'frex', weight = 0.5)
coherence(topics, words, n = 3, measure = 'umass')
perplexity(topics, words, share = 0.5, iter = 4, seed = 1)
continue(topics, 2)
relabel(topics, average = TRUE)
generics::augment(topics, words, seed = 1)
generics::glance(topics)
generics::tidy(topics, matrix = 'beta')
generics::tidy(topics, matrix = 'gamma')
plot(topics, type = 'terms', topics = 1:2, n = 3, by = 'probability', main = 'a')
plot(topics, type = 'map')
plot(topics, type = 'correlation')
posterior::as_draws(topics, topics = TRUE)
posterior::as_draws_array(topics)
posterior::as_draws_df(topics)
coda::as.mcmc(topics, topics = FALSE)
coda::as.mcmc.list(topics, topics = TRUE)
predict(topics, words, type = 'topics', iter = 4, seed = 1)
summary(topics, terms = 3)
print(topics, topics = 2, terms = 3)
print(topics_summary, topics = 2)
print(odd)
predictive_resample(cells[1:6, 1], normal_mean(), horizon = 4, draws = 3, trajectories = 2, tolerance = 0.02, seed = 1)
predictive_resample(cells[1:6, ], copula_density(0.5, permutations = 2), 3, 2, seed = 1)
predictive_resample(rows, copula_regression(x ~ n, rho = 0.5, rho_x = 0.5, permutations = 2), 3, 2, seed = 1)
predictive_resample(rows, copula_classification(y ~ x, rho = 0.5, rho_x = 0.5, permutations = 2), 3, 2, seed = 1)
predictive_resample(cells[, 1], bayesian_bootstrap(), draws = 4, functional = 'median', seed = 1)
predictive_resample(rows, bayesian_bootstrap(), draws = 4, functional = coefficients_of(x ~ n), seed = 1)
bayesian_bootstrap()
dirichlet_process(2, qnorm)
pitman_yor(1, 0.3, qnorm)
predictive_resample(cells[1:6, 1], pitman_yor(1, 0.3, qnorm), draws = 4, seed = 1)
normal_mean(1, prior = c(mean = 0, variance = 1))
copula_density(0.5, points = 1:3, standardize = TRUE, permutations = 2, bandwidths = 'one', calibrate = TRUE)
copula_regression(y ~ x, points = NULL, at = 1:3, rho = 0.5, rho_x = 0.5, standardize = TRUE, permutations = 2)
copula_classification(y ~ x, points = NULL, rho = 0.5, rho_x = 0.5, permutations = 2, bandwidths = 'one')
coefficients_of(y ~ x, loss = 'least_squares', tau = 0.5)
quantiles_of(c(0.1, 0.9))
probability_of(0, 1)
continue(normal, 2)
coef(medians)
vcov(medians)
generics::tidy(normal, conf.level = 0.9)
plot(normal, type = 'model', probs = c(0.1, 0.9), paths = 20, main = 'a')
plot(normal, type = 'trajectories')
plot(density)
plot(curve)
plot(classify)
posterior::as_draws(normal)
posterior::as_draws_array(normal)
posterior::as_draws_df(normal)
posterior::as_draws_list(normal)
posterior::as_draws_matrix(normal)
posterior::as_draws_rvars(normal)
posterior::variance.pmf: posterior::variance(die)
predict(normal, type = 'density', probs = c(0.1, 0.9))
predict(density, newdata = 1:3)
predict(curve, newdata = rows)
predict(classify, newdata = rows)
quantile(normal, probs = c(0.1, 0.9))
simulate(normal, 2, seed = 1)
summary(normal, probs = c(0.1, 0.9))
print(normal)
print.summary.martingale_posterior: print(summary(density))
print(model)
resume('no such file', cells)
"
read_calls <- function(text) {
  text <- gsub("\n  +", " ", text)
  lines <- setdiff(strsplit(text, "\n")[[1L]], "")
  pattern <- "^([^ (]+): (.*)$"
  name <- ifelse(grepl(pattern, lines), sub(pattern, "\\1", lines), NA)
  list(name = name, call = lapply(sub(pattern, "\\2", lines), function(line) parse(text = line)[[1L]]))
}
