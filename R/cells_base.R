# What all methods of a mixture share.

# The record of each method, filled by R/cells_mixture_methods.R when the package is loaded:
#   settings   the settings of warp_control() that only this method has;
#   starts     the number of chains if the user gives none; NULL: as many as the data ask for;
#   schedule   function(iter, warmup, control): the checked numbers of sweeps or steps, as elements of the fit;
#   start      function(fit, start, run, atoms): the fit with the first states of its chains; `atoms`: of find_atoms();
#   sampler    function(fit, atoms): what R/run_chains.R runs; `atoms` may be missing;
#   sampled    whether the fit has draws from the posterior;
#   spread     whether several graphics cards share the cells of a session;
#   draws      function(fit): how many draws each chain has; `kept`: after which sweeps; `parts`: their names;
#   words, verdict, held   functions of a fit: what was fitted, how it went, and which components hold cells;
#   summary, glance        functions of a fit: what the method adds to summary() and glance();
#   title, axis            what reports and pictures call the fit and a sweep.
mixture_methods <- new.env()

method_of <- function(fit) mixture_methods[[fit$method]]

is_bem <- function(fit) !method_of(fit)$sampled

mixture_plan <- function(fit) {
  k <- fit$components
  p <- length(fit$markers)
  markers <- list(fit$markers)
  part <- function(name) {
    switch(name,
      weights = list(k), means = list(c(k, p), names = c(list(NULL), markers)),
      covariances = list(c(p, p, k), names = c(markers, markers, list(NULL))),
      labels = list(fit$rows, "integer"), prior_mean = list(p, names = markers),
      prior_scale = list(c(p, p), names = c(markers, markers)),
      sample_weights = , sample_sizes = list(c(k, length(fit$samples)), names = list(NULL, fit$samples)),
      occupied = list(type = "integer"), probe_density = list(NROW(fit$probe)),
      list()
    )
  }
  traces <- c("log_likelihood", "log_posterior", if (!is_bem(fit)) "score", "concentration_trace", "occupied",
    "probe_density")
  list(traces = stored_parts(traces, part), draws = stored_parts(method_of(fit)$parts(fit), part))
}

check_intact.dp_mixture <- function(x, argument) check_mixture_fit(x, argument)

check_mixture_fit <- function(fit, argument = "fit") {
  check_fit_class(fit, argument, "dp_mixture", "dp_mixture()")
  check_described(fit, argument, list(
    method = part_choice(c("gibbs", "bem")), markers = part_names(), components = part_whole(1), prior = part_list(),
    transform = part_list(), piled = part_is("a table", is.data.frame)
  ), c("prior", "transform"))
  check_chain_parts(fit, argument)
  p <- length(fit$markers)
  sized <- list(center = p, scale = p, sizes = c(fit$components, fit$chains), x = c(fit$rows, p), steps = fit$chains)
  check_described(fit, argument, lapply(sized, part_numbers), names(sized))
  check_stored(fit, argument, mixture_plan(fit), method_of(fit)$draws(fit))
  if (!is.null(fit$samples) || !is.null(fit$sample)) {
    check_described(fit, argument, list(samples = part_names()))
    # The numbers of samples. match() would be slow for millions of cells.
    sample <- fit$sample
    if (!is.integer(sample) || length(sample) != fit$rows || !all(range(sample) %in% seq_along(fit$samples))) {
      stop_input(argument, "has been changed since it was made: its `sample` is not the sample of each cell")
    }
  }
}

part_numbers_that <- function(dims, words, test) {
  numbers <- part_numbers(dims)
  part_is(words, function(value) numbers$test(value) && test(value))
}

need_draws <- function(fit, parts = mixture_parts) {
  check_mixture_fit(fit)
  absent <- parts[vapply(fit$draws[parts], is.null, TRUE)]
  if (length(absent)) {
    stop_warpbayes("input", sprintf(
      "this needs the draws of %s, which the fit did not keep; fit with warp_control(keep = c(%s))",
      paste(absent, collapse = " and "), paste(dQuote(union(fit$keep, absent), FALSE), collapse = ", ")
    ), argument = "keep")
  }
  if (length(fit$draws[[parts[[1L]]]]) == 0L) stop_without_draws(fit)
}

need_sampler <- function(fit, what) {
  check_mixture_fit(fit)
  if (is_bem(fit)) {
    stop_input("fit", "has modes of the posterior, by method = \"bem\", and no draws from it: ", what,
      "; warp_control(start = fit) samples from there")
  }
}

count_kept <- function(fit) length(fit$draws$concentration)

mixture_parts <- c("weights", "means", "covariances")
has_mixtures <- function(fit) count_kept(fit) && all(lengths(fit$draws[mixture_parts]) > 0L)

# One draw: weights (k), means (k x p), covariances (p x p x k), and sample_weights (k x samples), if any.
mixture_of_draw <- function(fit, draw, chain) {
  k <- fit$components
  p <- length(fit$markers)
  list(
    weights = fit$draws$weights[, draw, chain],
    sample_weights = if (!is.null(fit$draws$sample_weights)) matrix(fit$draws$sample_weights[, , draw, chain], k),
    means = matrix(fit$draws$means[, , draw, chain], k, p, dimnames = list(NULL, fit$markers)),
    covariances = array(fit$draws$covariances[, , , draw, chain], c(p, p, k), list(fit$markers, fit$markers, NULL))
  )
}

reference_draw <- function(fit) {
  need_draws(fit)
  log_posterior <- fit$log_posterior[method_of(fit)$kept(fit), , drop = FALSE]
  best <- arrayInd(which.max(log_posterior), dim(log_posterior))
  c(list(draw = best[[1L]], chain = best[[2L]], log_posterior = log_posterior[best]),
    mixture_of_draw(fit, best[[1L]], best[[2L]]))
}

# `count` of the kept draws, evenly spaced over all chains; NULL: all draws. For Bayesian EM, the best mode.
spaced_draws <- function(fit, count = NULL) {
  if (is_bem(fit)) return(data.frame(draw = 1L, chain = reference_draw(fit)$chain))
  kept <- dim(fit$draws$concentration)
  all <- expand.grid(draw = seq_len(kept[[1L]]), chain = seq_len(kept[[2L]]))
  if (is.null(count) || count >= nrow(all)) return(all)
  all[ceiling((seq_len(count) - 0.5) * nrow(all) / count), ]
}

print_chunk <- function(x) {
  shown <- in_chunk(x)
  print_lines(shown$words)
  print_tables(shown$tables)
  cat("\n")
  print_verdict(shown$verdict, Inf)
}

learned_draws <- function(fit) {
  draws <- fit$draws
  means <- lapply(seq_len(NROW(draws$prior_mean)), function(j) draws$prior_mean[j, , ])
  names(means) <- sprintf("prior_mean[%s]", fit$markers)[seq_along(means)]
  c(draws[intersect(c("prior_mean_scale", "prior_df", "sample_concentration"), names(draws))], means)
}

# The interval of each quantity, draws x quantities, as lower and upper ends. Each chain is one draw of a mode: between
# modes the prediction interval of a further chain's mean (Student's t), joined with the quantiles of all draws.
share_interval <- function(draws, chain, level = 0.9) {
  ends <- interval_ends(level)
  pooled <- column_quantiles(draws, ends)
  means <- chain_means(draws, chain)
  count <- nrow(means)
  if (count < 2L) return(pooled)
  reach <- stats::qt(ends[[2L]], count - 1) * sqrt(column_variances(means) * (1 + 1 / count))
  cbind(pmax(0, pmin(pooled[, 1L], colMeans(means) - reach)), pmin(1, pmax(pooled[, 2L], colMeans(means) + reach)))
}

chain_means <- function(draws, chain) rowsum(draws, chain) / as.vector(table(chain))

half_width <- function(draws, chain) as.vector(share_interval(draws, chain) %*% c(-0.5, 0.5))
