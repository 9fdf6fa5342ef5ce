# Eight regressions beside their peers, in one run: posterior means, 90% intervals and effective samples per second of
# bayes_logit() and rstanarm, and the estimates of glm, MASS, lme4 or nnet with 90% Wald intervals. What is not
# installed is left out. An rstanarm model that takes more than a minute is stopped and left out; rstanarm has no
# multinomial regression. Both programs run four chains on one core with their default priors, and their seconds
# include the warm-up. rstanarm's priors of deviations of groups and of the dispersion differ from bayes_logit()'s.
#   cd bench && Rscript regression-peers.R          three minutes with rstanarm
#   cd bench && Rscript regression-peers.R quick    short chains, no rstanarm
source("common.R")
quick <- "quick" %in% commandArgs(TRUE)
has <- function(package) requireNamespace(package, quietly = TRUE)
longest <- 60 # seconds for a model of rstanarm

source("regression-data.R")
counts <- data.frame(x = rnorm(200))
counts$y <- rnbinom(200, mu = exp(9 + 0.5 * counts$x), size = 2)
rare <- data.frame(x = rnorm(1e4))
rare$y <- 0
rare$y[sample(1e4, 20, prob = plogis(-6.5 + 0.7 * rare$x))] <- 1
flowers <- data.frame(species = gl(3, 50, labels = c("a", "b", "c")))
flowers$length <- rnorm(150, c(5, 5.9, 6.6)[flowers$species], 0.6)
flowers$width <- rnorm(150, c(3.3, 2.8, 3)[flowers$species], 0.35)
births <- transform(MASS::birthwt, race = factor(race, labels = c("white", "black", "other")))

models <- list(
  birthwt = list(low ~ age + lwt + race + smoke + ptl + ht + ui, births, "binomial"),
  cbpp = if (has("lme4")) list(cbind(incidence, size - incidence) ~ period + (1 | herd), lme4::cbpp, "binomial"),
  slopes = list(errors ~ day + (day | subject), subjects, "negbinomial"),
  crossed = list(y ~ x + (1 | reader) + (1 | text), crossed, "binomial"),
  quine = list(Days ~ Eth + Sex + Age + Lrn, MASS::quine, "negbinomial"),
  `log mean 9` = list(y ~ x, counts, "negbinomial"),
  `20 of 1e4` = list(y ~ x, rare, "binomial"),
  multinomial = list(species ~ length + width, flowers, "multinomial")
)
models <- models[lengths(models) > 0]

# A row for each quantity. `draws` is an array: iterations, chains, quantities.
table_of <- function(draws, seconds) {
  ess <- function(i) if (has("posterior")) posterior::ess_bulk(draws[, , i]) else NA
  values <- apply(draws, 3, function(x) c(mean(x), quantile(x, c(0.05, 0.95))))
  data.frame(quantity = dimnames(draws)[[3]], mean = values[1, ], lower = values[2, ], upper = values[3, ],
    ess_a_second = vapply(seq_len(dim(draws)[3]), ess, 0) / seconds)
}
ours <- function(model) {
  seconds <- elapsed(fit <- bayes_logit(model[[1]], model[[2]], model[[3]],
    chains = 4, iter = if (quick) 400 else 4000, seed = 1, threads = 1, backend = "cpu", progress = FALSE
  ))
  cbind(table_of(internal$logit_draws(fit), seconds), seconds = seconds)
}
has_groups <- function(model) grepl("|", deparse1(model[[1]]), fixed = TRUE)
estimates <- function(model) {
  package <- if (model[[3]] == "multinomial") "nnet" else if (has_groups(model)) "lme4" else {
    if (model[[3]] == "negbinomial") "MASS" else "stats"
  }
  if (!has(package)) {
    return(NULL)
  }
  binomial <- model[[3]] == "binomial"
  fit <- suppressWarnings(suppressMessages(switch(package,
    nnet = do.call(nnet::multinom, list(model[[1]], model[[2]], trace = FALSE, Hess = TRUE)),
    lme4 = if (binomial) lme4::glmer(model[[1]], model[[2]], family = stats::binomial) else
      lme4::glmer.nb(model[[1]], model[[2]]),
    MASS = MASS::glm.nb(model[[1]], model[[2]]),
    stats = glm(model[[1]], stats::binomial, model[[2]])
  )))
  value <- if (package == "lme4") lme4::fixef(fit) else if (package == "nnet") as.vector(t(coef(fit))) else coef(fit)
  error <- sqrt(diag(as.matrix(vcov(fit))))
  if (package == "nnet") {
    names(value) <- names(error)
  }
  bound <- qnorm(0.95) * error
  table <- data.frame(quantity = names(value), mean = value, lower = value - bound, upper = value + bound)
  more <- if (package == "MASS") c(dispersion = fit$theta)
  if (package == "lme4") {
    more <- c(unlist(lapply(lme4::VarCorr(fit), function(m) {
      sqrt(diag(m))
    })), if (!binomial) lme4::getME(fit, "glmer.nb.theta"))
    names(more) <- c(deviation_names(lme4::VarCorr(fit)), if (!binomial) "dispersion")
  }
  if (length(more)) {
    table <- rbind(table, data.frame(quantity = names(more), mean = more, lower = NA, upper = NA))
  }
  cbind(table, package = package)
}
# Names of deviations as bayes_logit() has them.
deviation_names <- function(covariance) {
  unlist(lapply(names(covariance), function(g) {
    of <- rownames(covariance[[g]])
    ifelse(of == "(Intercept)", sprintf("sd(%s)", g), sprintf("sd(%s | %s)", of, g))
  }))
}
stan <- function(model) {
  family <- if (model[[3]] == "binomial") stats::binomial() else rstanarm::neg_binomial_2()
  run <- if (has_groups(model)) rstanarm::stan_glmer else rstanarm::stan_glm
  seconds <- elapsed(fit <- run(model[[1]], data = model[[2]], family = family, chains = 4, iter = 2000, seed = 1,
    refresh = 0, cores = 1))
  draws <- as.array(fit)
  names <- dimnames(draws)[[3]]
  # The deviation of effect `a` of grouping `g` is the root of Sigma[g:a,a].
  parts <- regmatches(names, regexec("^Sigma\\[(.*):([^:,]*),([^:,]*)\\]$", names))
  for (i in which(vapply(parts, function(p) length(p) == 4 && p[3] == p[4], NA))) {
    p <- parts[[i]]
    names[i] <- if (p[3] == "(Intercept)") sprintf("sd(%s)", p[2]) else sprintf("sd(%s | %s)", p[3], p[2])
    draws[, , i] <- sqrt(draws[, , i])
  }
  names[names == "reciprocal_dispersion"] <- "dispersion"
  dimnames(draws)[[3]] <- names
  cbind(table_of(draws[, , !grepl("^b\\[|^Sigma|^mean_PPD|^log-post", names), drop = FALSE], seconds),
    seconds = seconds)
}
# The table of rstanarm from a process of its own, or NULL if it takes too long.
stan_in_time <- function(model) {
  if (quick || !has("rstanarm") || model[[3]] == "multinomial") {
    return(NULL)
  }
  job <- parallel::mcparallel(suppressWarnings(stan(model)))
  out <- parallel::mccollect(job, wait = FALSE, timeout = longest)
  if (is.null(out)) {
    tools::pskill(job$pid)
  }
  invisible(parallel::mccollect(job))
  out[[1]]
}

results <- do.call(rbind, lapply(names(models), function(name) {
  model <- models[[name]]
  start <- Sys.time()
  own <- ours(model)
  peer <- stan_in_time(model)
  estimate <- estimates(model)
  cat(sprintf("%s: %.0f s\n", name, as.double(Sys.time() - start, units = "secs")))
  of_stan <- function(column) {
    if (is.data.frame(peer)) signif(peer[[column]][match(own$quantity, peer$quantity)], 4) else NA
  }
  of_peer <- function(column) {
    if (is.null(estimate)) NA else signif(estimate[[column]][match(own$quantity, estimate$quantity)], 4)
  }
  data.frame(
    model = name, quantity = own$quantity, mean = signif(own$mean, 4), lower = signif(own$lower, 4),
    upper = signif(own$upper, 4), rstanarm_mean = of_stan("mean"), rstanarm_lower = of_stan("lower"),
    rstanarm_upper = of_stan("upper"), peer = if (is.null(estimate)) NA else estimate$package[1],
    peer_estimate = of_peer("mean"), peer_lower = of_peer("lower"), peer_upper = of_peer("upper"),
    ess_a_second = signif(own$ess_a_second, 3), rstanarm_ess_a_second = of_stan("ess_a_second"),
    seconds = signif(own$seconds, 3), rstanarm_seconds = of_stan("seconds"), row.names = NULL
  )
}))
save_results(results, "regression-peers")
