# Regressions by Polya-Gamma variables: arguments, chains, what a fit consists of.

bayes_logit <- function(formula, data = NULL, family = c("binomial", "negbinomial", "multinomial"), prior = logit_prior(),
                        weights = NULL, offset = NULL, subset = NULL, na.action = NULL, contrasts = NULL, chains = 4,
                        iter = 2000, warmup = floor(iter / 2), thin = 1, seed = NULL, backend = NULL, threads = NULL,
                        progress = NULL, ...) {
  check_dots_empty(...)
  call <- match.call()
  family <- check_family(family)
  chains <- check_count(chains, "chains", max = 1e4)
  iter <- check_count(iter, "iter")
  warmup <- check_warmup(warmup, iter)
  thin <- check_thin(thin, iter, warmup)
  progress <- check_progress(progress)
  parts <- split_groups(formula)
  given <- names(call) %in% c("data", "weights", "offset", "subset", "na.action")
  given[[1L]] <- TRUE
  frame <- logit_frame(call[given], parts, parent.frame(), sys.call())
  if (!is.null(parts$group) && family == "multinomial") {
    stop_input("formula", "has a term (1 | g), which family \"multinomial\" does not take")
  }
  weights <- check_row_weights(stats::model.weights(frame), nrow(frame))
  offset <- check_row_offset(stats::model.offset(frame), nrow(frame), family)
  terms <- stats::terms(parts$fixed, data = if (is.data.frame(data)) data else NULL)
  response <- logit_response(stats::model.response(frame), family, weights, sys.call())
  if (sum(response$shape) == 0 && family != "negbinomial") {
    stop_input("weights", "leave nothing to fit: all rows have weight 0 or no trials")
  }
  group <- if (!is.null(parts$group)) group_factor(frame, parts$group, sys.call())
  design <- logit_design(frame, terms, contrasts, group, sys.call())
  design$information <- response$information
  design <- sort_groups(design)
  prior <- resolve_logit_prior(prior, design, family, response$mean)
  run <- resolve_run(backend, threads)
  seed <- check_seed(seed)

  fit <- structure(list(
    draws = NULL, family = family, formula = formula, terms = terms, xlevels = stats::.getXlevels(terms, frame),
    contrasts = design$contrasts, group_name = if (!is.null(parts$group)) deparse1(parts$group), prior = prior,
    chains = chains, iter = 0, warmup = warmup, thin = thin, seed = seed, backend = run$backend, threads = run$threads,
    coefficient_names = coefficient_names(design, response), rows = nrow(frame), weights = weights, offset = offset,
    response = response, design = design, na.action = attr(frame, "na.action"), frame = frame,
    elapsed = c(start = 0, sweeps = 0), interrupted = FALSE, call = call
  ), class = "bayes_logit")
  fit <- start_chains(fit, function(key) logit_start(fit))
  advance_chains(fit, iter, logit_sampler, run, progress, threads)
}

check_row_weights <- function(weights, rows, call = sys.call(-1L)) {
  if (is.null(weights)) {
    return(rep(1, rows))
  }
  if (!is.numeric(weights) || is.matrix(weights) || any(!is.finite(weights) | weights < 0)) {
    stop_input("weights", "must be finite numbers of at least 0, one for each row, not ", show_value(weights), call = call)
  }
  as.double(weights)
}

check_row_offset <- function(offset, rows, family, call = sys.call(-1L)) {
  if (is.null(offset)) {
    return(numeric(rows))
  }
  if (!is.numeric(offset) || any(!is.finite(offset))) {
    stop_input("offset", "must be finite numbers, one for each row, not ", show_value(offset), call = call)
  }
  if (family == "multinomial") {
    stop_input("offset", "is not known to family \"multinomial\"", call = call)
  }
  as.double(offset)
}

coefficient_names <- function(design, response) {
  names <- colnames(design$x)
  if (is.null(response$classes)) names else as.vector(outer(names, response$classes[-1L], function(name, class) paste0(class, ":", name)))
}
