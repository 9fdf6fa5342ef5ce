# Eight regressions beside their peers: posterior means, 90% intervals and effective samples per second of processor
# time of bayes_logit(), rstanarm, brms and a Gibbs sampler in R around BayesLogit::rpg(), and the estimates of glm,
# MASS, lme4 or nnet with 90% Wald intervals. Writes regression-peers.csv, and its short form regression-peers.md.
#
# What is not installed is left out. All programs run four chains on one core, and their seconds include the warm-up.
# rstanarm and brms run with their default priors, which for deviations of groups and the dispersion differ from those
# of bayes_logit(); an rstanarm model that takes more than a minute is stopped and left out. brms compiles each model,
# which its seconds leave out, so it runs two of them. The Gibbs sampler in R has the priors of bayes_logit(), and runs
# models without groups and dispersion. Models that are named replace their rows of the files.
#   cd bench && Rscript regression-peers.R [model ...]    ten minutes with rstanarm and brms
#   cd bench && Rscript regression-peers.R quick          short chains of bayes_logit() alone
source("common.R")
quick <- "quick" %in% commandArgs(TRUE)
chosen <- setdiff(commandArgs(TRUE), "quick")
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
if (length(chosen)) models <- models[chosen]

# A row for each quantity. `draws` is an array: iterations, chains, quantities.
table_of <- function(draws, seconds) {
  ess <- function(i) if (has("posterior")) posterior::ess_bulk(draws[, , i]) else NA
  values <- apply(draws, 3, function(x) c(mean(x), quantile(x, c(0.05, 0.95))))
  data.frame(quantity = dimnames(draws)[[3]], mean = values[1, ], lower = values[2, ], upper = values[3, ],
    ess_a_second = vapply(seq_len(dim(draws)[3]), ess, 0) / seconds)
}
ours <- function(model) {
  seconds <- processor_seconds(fit <- bayes_logit(model[[1]], model[[2]], model[[3]],
    chains = 4, iter = if (quick) 400 else 4000, seed = 1, threads = 1, backend = "cpu", progress = FALSE
  ))
  cbind(table_of(internal$logit_draws(fit), seconds), seconds = seconds)
}
has_groups <- function(model) grepl("|", deparse1(model[[1]]), fixed = TRUE)
estimates <- function(model) {
  package <- if (model[[3]] == "multinomial") "nnet" else if (has_groups(model)) "lme4" else {
    if (model[[3]] == "negbinomial") "MASS" else "stats"
  }
  if (!has(package)) return(NULL)
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
  if (package == "nnet") names(value) <- names(error)
  bound <- qnorm(0.95) * error
  table <- data.frame(quantity = names(value), mean = value, lower = value - bound, upper = value + bound)
  more <- if (package == "MASS") c(dispersion = fit$theta)
  if (package == "lme4") {
    more <- c(unlist(lapply(lme4::VarCorr(fit), function(m) {
      sqrt(diag(m))
    })), if (!binomial) lme4::getME(fit, "glmer.nb.theta"))
    names(more) <- c(deviation_names(lme4::VarCorr(fit)), if (!binomial) "dispersion")
  }
  if (length(more)) table <- rbind(table, data.frame(quantity = names(more), mean = more, lower = NA, upper = NA))
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
  seconds <- processor_seconds(fit <- run(model[[1]], data = model[[2]], family = family, chains = 4, iter = 2000,
    seed = 1, refresh = 0, cores = 1))
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
  if (quick || !has("rstanarm") || model[[3]] == "multinomial") return(NULL)
  job <- parallel::mcparallel(suppressWarnings(stan(model)))
  out <- parallel::mccollect(job, wait = FALSE, timeout = longest)
  if (is.null(out)) tools::pskill(job$pid)
  invisible(parallel::mccollect(job))
  out[[1]]
}

# brms() names coefficients b_x, deviations sd_g__x, and the dispersion shape.
brms_models <- c("cbpp", "slopes")
by_brms <- function(name, model) {
  if (quick || !name %in% brms_models || !has("brms")) return(NULL)
  formula <- model[[1]]
  if (name == "cbpp") formula <- incidence | trials(size) ~ period + (1 | herd)
  family <- if (model[[3]] == "binomial") stats::binomial() else brms::negbinomial()
  # Debian has the headers of Boost and Eigen outside R.
  for (library in c("boost_lib", "eigen_lib")) {
    if (!nzchar(rstan::rstan_options(library))) {
      do.call(rstan::rstan_options, stats::setNames(list("/usr/include"), library))
    }
  }
  compile <- elapsed(empty <- suppressMessages(brms::brm(formula, model[[2]], family, chains = 0)))
  seconds <- processor_seconds(fit <- stats::update(empty, chains = 4, iter = 2000, seed = 1, cores = 1, refresh = 0,
    recompile = FALSE))
  draws <- unclass(posterior::as_draws_array(fit))
  names <- dimnames(draws)[[3]]
  names <- sub("^b_Intercept$", "(Intercept)", sub("^shape$", "dispersion", names))
  names <- sub("^sd_(.*)__Intercept$", "sd(\\1)", names)
  names <- sub("^sd_(.*)__(.*)$", "sd(\\2 | \\1)", sub("^b_", "", names))
  names <- sub("^cor_(.*)__Intercept__(.*)$", "cor((Intercept), \\2 | \\1)", names)
  dimnames(draws)[[3]] <- names
  cbind(table_of(draws[, , !grepl("^r_|^lp|^lprior", names), drop = FALSE], seconds), seconds = seconds,
    compile = compile)
}

# A Gibbs sampler in R: the coefficients of a class given those of the others (Polson, Scott and Windle 2013).
by_bayeslogit <- function(model) {
  y <- stats::model.response(stats::model.frame(model[[1]], model[[2]]))
  if (quick || model[[3]] == "negbinomial" || is.matrix(y) || has_groups(model) || !has("BayesLogit")) return(NULL)
  x <- stats::model.matrix(model[[1]], model[[2]])
  y <- if (is.factor(y)) outer(y, levels(y)[-1], `==`) + 0 else matrix(y)
  centre <- c(0, colMeans(x)[-1])
  unit <- c(1, apply(x[, -1, drop = FALSE], 2, sd))
  z <- scale(x, centre, unit)
  classes <- if (ncol(y) > 1) paste0(levels(model[[2]][[all.vars(model[[1]])[1]]])[-1], ":") else ""
  chain <- function(iter) {
    beta <- matrix(0, ncol(x), ncol(y))
    kept <- array(0, c(iter / 2, ncol(x), ncol(y)))
    for (i in seq_len(iter)) {
      for (k in seq_len(ncol(y))) {
        others <- log(1 + rowSums(exp(z %*% beta[, -k, drop = FALSE])))
        omega <- BayesLogit::rpg(nrow(z), 1, as.vector(z %*% beta[, k]) - others)
        root <- chol(crossprod(z * sqrt(omega)) + diag(2.5^-2, ncol(z)))
        beta[, k] <- backsolve(root, backsolve(root, crossprod(z, y[, k] - 0.5 + omega * others), transpose = TRUE) +
          rnorm(ncol(z)))
      }
      if (i > iter / 2) kept[i - iter / 2, , ] <- beta
    }
    for (j in seq_along(unit)) kept[, j, ] <- kept[, j, ] / unit[[j]]
    kept[, 1, ] <- kept[, 1, ] - apply(kept, c(1, 3), function(b) sum(b * centre))
    matrix(kept, iter / 2)
  }
  set.seed(1)
  seconds <- processor_seconds(draws <- replicate(4, chain(2000)))
  draws <- aperm(draws, c(1, 3, 2))
  dimnames(draws) <- list(NULL, NULL, as.vector(outer(colnames(x), classes, function(name, class) paste0(class, name))))
  cbind(table_of(draws, seconds), seconds = seconds)
}

results <- do.call(rbind, lapply(names(models), function(name) {
  model <- models[[name]]
  start <- Sys.time()
  own <- ours(model)
  peers <- list(rstanarm = stan_in_time(model), brms = by_brms(name, model), BayesLogit = by_bayeslogit(model))
  estimate <- estimates(model)
  cat(sprintf("%s: %.0f s\n", name, as.double(Sys.time() - start, units = "secs")))
  of <- function(table, column) {
    if (is.data.frame(table) && column %in% names(table)) {
      signif(table[[column]][match(own$quantity, table$quantity)], 4)
    } else {
      NA
    }
  }
  columns <- list(
    model = name, quantity = own$quantity, mean = signif(own$mean, 4), lower = signif(own$lower, 4),
    upper = signif(own$upper, 4), ess_a_second = signif(own$ess_a_second, 3), seconds = signif(own$seconds, 3)
  )
  for (peer in names(peers)) {
    for (what in c("mean", "lower", "upper", "ess_a_second", "seconds", if (peer == "brms") "compile")) {
      columns[[paste0(peer, "_", what)]] <- of(peers[[peer]], what)
    }
  }
  columns <- c(columns, list(peer = if (is.null(estimate)) NA else estimate$package[1],
    peer_estimate = of(estimate, "mean"), peer_lower = of(estimate, "lower"), peer_upper = of(estimate, "upper")))
  data.frame(columns, row.names = NULL)
}))
file <- file.path("results", "regression-peers.csv")
if (length(chosen) && file.exists(file)) {
  before <- read.csv(file)
  others <- before[!before$model %in% chosen, ]
  results <- rbind(results, others[names(results)])
}
results <- results[order(match(results$model, c("birthwt", "cbpp", "slopes", "crossed", "quine", "log mean 9",
  "20 of 1e4", "multinomial"))), ]
save_results(results, "regression-peers")

# The short form: the least effective samples per second of each program over the coefficients and other parameters, its
# seconds, and how far its posterior means are at most from ours in widths of our 90% intervals.
results <- read.csv(file)
programs <- c("rstanarm", "brms", "BayesLogit")
sink(file.path("results", "regression-peers.md"))
cat("# Eight regressions beside their peers\n\n")
cat("Least effective samples per second of processor time over all parameters of a model, from four chains on one\n")
cat("core, and how far posterior means are at most from those of bayes_logit(), in widths of its 90% intervals.\n")
cat("`bench/regression-peers.R` says how it was measured; `regression-peers.csv` has all parameters.\n\n")
header("model", "bayes_logit", programs, paste(programs, "means"), "brms compiles (s)")
for (model in unique(results$model)) {
  rows <- results[results$model == model, ]
  cell <- function(values, of) if (all(is.na(values))) "" else number(of(values, na.rm = TRUE))
  away <- function(program) abs(rows[[paste0(program, "_mean")]] - rows$mean) / (rows$upper - rows$lower)
  line(model, number(min(rows$ess_a_second)),
    vapply(programs, function(program) cell(rows[[paste0(program, "_ess_a_second")]], min), ""),
    vapply(programs, function(program) cell(round(away(program), 2), max), ""), cell(rows$brms_compile, max))
}
cat("\n", paste(unique(results$machine), collapse = "; "), ", ", paste(unique(results$date), collapse = ", "), "\n",
  sep = "")
sink()
