# Regressions with grouping terms: posterior means beside rstanarm and the estimates of lme4, and the time of a sweep of
# two crossed groupings. What is not installed is left out. rstanarm has its own default priors: its deviations have
# gamma(1, 1) and its dispersion an exponential prior, and lme4 maximises the likelihood. Neither has multinomial
# regressions: beside these stand lme4's logistic regressions of each class against the reference, on the rows of both
# (Begg and Gray 1984, Biometrika 71, 11-18), which estimate the same parameters.
#   cd bench && Rscript regression-groups.R          five minutes with rstanarm
#   cd bench && Rscript regression-groups.R quick    short chains, no rstanarm
source("common.R")
quick <- "quick" %in% commandArgs(TRUE)
has <- function(package) requireNamespace(package, quietly = TRUE)

source("regression-data.R")
nested <- data.frame(school = rep(1:20, each = 60), class = rep(1:4, each = 15), x = rnorm(1200))
nested$y <- rbinom(1200, 1, plogis(0.5 * nested$x + rnorm(20, 0, 0.8)[nested$school] +
  rnorm(80, 0, 0.6)[4 * nested$school + nested$class - 4]))

choices <- data.frame(shop = rep(1:30, each = 40), price = rnorm(1200))
choices$brand <- factor(c("a", "b", "c")[apply(
  cbind(0, 0.4 - 0.8 * choices$price + rnorm(30, 0, 0.8)[choices$shop],
    -0.3 + 0.5 * choices$price + rnorm(30, 0, 0.5)[choices$shop]), 1, function(e) sample(3, 1, prob = exp(e)))])
large <- data.frame(g = rep(1:12, each = 20), x = rnorm(240))
large$y <- rnbinom(240, mu = exp(9 + 0.5 * large$x + rnorm(12, 0, 0.5)[large$g] + rnorm(12, 0, 0.3)[large$g] * large$x),
  size = 2)

models <- list(
  cbpp = if (has("lme4")) list(cbind(incidence, size - incidence) ~ period + (1 | herd), lme4::cbpp, "binomial"),
  slopes = list(errors ~ day + (day | subject), subjects, "negbinomial"),
  crossed = list(y ~ x + (1 | reader) + (1 | text), crossed, "binomial"),
  nested = list(y ~ x + (1 | school / class), nested, "binomial"),
  "large counts" = list(y ~ x + (x | g), large, "negbinomial"),
  classes = list(brand ~ price + (1 | shop), choices, "multinomial")
)
models <- models[lengths(models) > 0]

table_of <- function(values, seconds, package) {
  list(mean = values[1, ], sd = values[2, ], seconds = seconds, package = package)
}
ours <- function(model) {
  seconds <- elapsed(fit <- bayes_logit(model[[1]], model[[2]], model[[3]],
    chains = 4, iter = if (quick) 400 else 6000, seed = 1, threads = 1, backend = "cpu", progress = FALSE
  ))
  draws <- warpbayes:::logit_draws(fit)
  values <- apply(draws, 3, function(x) c(mean(x), sd(x)))
  ess <- summary(fit)$coefficients$ess_bulk[seq_len(ncol(values))]
  data.frame(quantity = colnames(values), mean = values[1, ], sd = values[2, ], ess_a_second = ess / seconds)
}
# Names of deviations and correlations as bayes_logit() has them.
deviations <- function(covariance) {
  unlist(lapply(names(covariance), function(g) {
    m <- covariance[[g]]
    d <- sqrt(diag(m))
    names(d) <- ifelse(rownames(m) == "(Intercept)", sprintf("sd(%s)", g), sprintf("sd(%s | %s)", rownames(m), g))
    c(d, if (length(d) == 2) stats::setNames(m[2, 1] / prod(d), sprintf("cor(%s, %s | %s)", rownames(m)[1],
      rownames(m)[2], g)))
  }))
}
estimates_of_classes <- function(model) {
  response <- model[[2]][[deparse(model[[1]][[2]])]]
  unlist(lapply(levels(response)[-1], function(class) {
    own <- model[[2]][response %in% c(levels(response)[1], class), ]
    own$is_class <- own[[deparse(model[[1]][[2]])]] == class
    values <- estimates(list(stats::update(model[[1]], is_class ~ .), own, "binomial"))
    stats::setNames(values, paste0(class, ":", names(values)))
  }))
}
estimates <- function(model) {
  if (model[[3]] == "multinomial") return(estimates_of_classes(model))
  fit <- suppressMessages(if (model[[3]] == "binomial") {
    lme4::glmer(model[[1]], model[[2]], family = stats::binomial)
  } else {
    lme4::glmer.nb(model[[1]], model[[2]])
  })
  c(lme4::fixef(fit), deviations(lapply(lme4::VarCorr(fit), as.matrix)),
    if (model[[3]] != "binomial") c(dispersion = lme4::getME(fit, "glmer.nb.theta")))
}
stan <- function(model) {
  family <- if (model[[3]] == "binomial") stats::binomial() else rstanarm::neg_binomial_2()
  seconds <- elapsed(fit <- rstanarm::stan_glmer(model[[1]], model[[2]], family = family, chains = 4, seed = 1,
    refresh = 0, cores = 1))
  draws <- as.matrix(fit)
  q <- summary(fit)
  groups <- rstanarm::VarCorr(fit)
  fixed <- names(rstanarm::fixef(fit))
  sigma <- grep("^Sigma\\[", colnames(draws), value = TRUE)
  out <- data.frame(quantity = fixed, mean = colMeans(draws[, fixed, drop = FALSE]),
    sd = apply(draws[, fixed, drop = FALSE], 2, sd), ess_a_second = q[fixed, "n_eff"] / seconds)
  for (name in sigma) {
    parts <- regmatches(name, regexec("^Sigma\\[(.*):([^:,]*),([^:,]*)\\]$", name))[[1]][-1]
    first <- sprintf("Sigma[%s:%s,%s]", parts[1], parts[2], parts[2])
    second <- sprintf("Sigma[%s:%s,%s]", parts[1], parts[3], parts[3])
    is_deviation <- parts[2] == parts[3]
    values <- if (is_deviation) sqrt(draws[, name]) else draws[, name] / sqrt(draws[, first] * draws[, second])
    label <- if (!is_deviation) {
      sprintf("cor(%s, %s | %s)", parts[3], parts[2], parts[1])
    } else if (parts[2] == "(Intercept)") {
      sprintf("sd(%s)", parts[1])
    } else {
      sprintf("sd(%s | %s)", parts[2], parts[1])
    }
    out <- rbind(out, data.frame(quantity = label, mean = mean(values), sd = sd(values),
      ess_a_second = q[name, "n_eff"] / seconds))
  }
  if ("reciprocal_dispersion" %in% colnames(draws)) {
    values <- draws[, "reciprocal_dispersion"]
    out <- rbind(out, data.frame(quantity = "dispersion", mean = mean(values), sd = sd(values),
      ess_a_second = q["reciprocal_dispersion", "n_eff"] / seconds))
  }
  out
}

results <- do.call(rbind, lapply(names(models), function(name) {
  model <- models[[name]]
  own <- ours(model)
  peer <- if (has("rstanarm") && !quick && model[[3]] != "multinomial") stan(model)
  # lme4 does not converge for large counts.
  estimate <- if (has("lme4")) tryCatch(estimates(model), error = function(error) NULL)
  at <- match(own$quantity, peer$quantity)
  data.frame(
    model = name, quantity = own$quantity, mean = signif(own$mean, 4), sd = signif(own$sd, 3),
    rstanarm_mean = if (is.null(peer)) NA else signif(peer$mean[at], 4),
    rstanarm_sd = if (is.null(peer)) NA else signif(peer$sd[at], 3),
    lme4 = if (is.null(estimate)) NA else signif(unname(estimate[own$quantity]), 4),
    ess_a_second = signif(own$ess_a_second, 3),
    rstanarm_ess_a_second = if (is.null(peer)) NA else signif(peer$ess_a_second[at], 3), row.names = NULL
  )
}))
save_results(results, "regression-groups")

# The time of a sweep: rows, levels of each of two crossed groupings.
set.seed(2)
sizes <- if (quick) list(c(1e4, 1e3)) else list(c(1e4, 1e3), c(1e5, 1e4))
sweeps <- do.call(rbind, lapply(sizes, function(size) {
  d <- data.frame(g = sample(size[2], size[1], TRUE), h = sample(size[2], size[1], TRUE), x = rnorm(size[1]))
  d$y <- rbinom(size[1], 1, plogis(-0.5 + 0.4 * d$x + rnorm(size[2])[d$g] + rnorm(size[2], 0, 0.7)[d$h]))
  one <- function(formula, threads) {
    function() {
      fit <- bayes_logit(formula, d,
        chains = 1, iter = 40, warmup = 39, seed = 1, threads = threads, backend = "cpu", progress = FALSE
      )
      1000 * fit$elapsed[["sweeps"]] / 40
    }
  }
  times <- medians(interleave(
    "y ~ x" = one(y ~ x, 1), "(1 | g)" = one(y ~ x + (1 | g), 1),
    "(1 | g) + (1 | h)" = one(y ~ x + (1 | g) + (1 | h), 1),
    "(x | g) + (1 | h)" = one(y ~ x + (x | g) + (1 | h), 1), times = 5
  ))
  data.frame(rows = size[1], levels = size[2], terms = names(times), threads = 1,
    milliseconds_a_sweep = signif(times, 3), row.names = NULL)
}))
save_results(sweeps, "regression-groups-sweep")

source("regression-few-events.R")
