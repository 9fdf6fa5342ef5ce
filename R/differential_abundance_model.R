# The model of differential_abundance(): counts of cells, the design, the chains, and what is said of the effects.

# The numbers of cells of each type in each sample, in draws of the fit: types x samples x draws. The component of each
# cell comes from the draw or, if the fit did not keep it, is drawn given the draw.
draw_type_counts <- function(types, draws, seed, run) {
  fit <- types$fit
  if (is.null(fit$samples)) {
    stop_input("types", "are of a fit of one sample; give dp_mixture() a list of samples or `sample`")
  }
  used <- types$map$used
  some <- unique(ceiling((seq_len(draws) - 0.5) * nrow(used) / draws))
  count <- types$map$count
  samples <- length(fit$samples)
  counts <- array(0, c(count, samples, length(some)), list(types$types$type, fit$samples, NULL))
  add <- function(i, component, sample) {
    type <- types$map$type_of[component, some[[i]]]
    counts[, , i] <<- counts[, , i] + tabulate(type + (sample - 1L) * count, count * samples)
  }
  if (!is.null(fit$draws$labels)) {
    for (i in seq_along(some)) {
      add(i, fit$draws$labels[, used$draw[[some[[i]]]], used$chain[[some[[i]]]]], fit$sample)
    }
    return(counts)
  }
  if (is.null(fit$x)) {
    stop_input("types", "are of a fit that has lost its data, `fit$x`, which are needed to count cells")
  }
  for (slice in row_slices(nrow(fit$x), max(1, floor(2^23 / fit$components)))) {
    sample <- fit$sample[slice]
    evaluate_sampled(fit, cells_in(fit$x, slice), sample, run, function(evaluate) {
      for (i in seq_along(some)) {
        mixture <- mixture_of_draw(fit, used$draw[[some[[i]]]], used$chain[[some[[i]]]])
        # A seed for each draw and slice.
        own <- (seed + 1e6 * i + slice[[1L]]) %% 2^53
        component <- rcategorical(evaluate(mixture, "prob")$prob, seed = own, backend = run$backend,
          threads = run$threads)
        add(i, as.integer(component), sample)
      }
    })
  }
  counts
}

# The design of a formula without a response: a list of
#   x         samples x columns, in the units of the data;
#   center, scale, is_intercept  of each column, for the sampler;
#   compared  the columns whose coefficients are compared;
#   group, group_name  the group of each sample (a factor) or NULL; kept: the samples without missing values.
abundance_model <- function(formula, data, samples, effect) {
  parts <- split_sample_formula(formula)
  data <- sample_data(without_integer64(data), samples)
  check_no_integer64(parts$frame, data, "data")
  frame <- tryCatch(
    stats::model.frame(parts$frame, data, na.action = stats::na.pass, drop.unused.levels = TRUE),
    error = function(error) {
      stop_input("formula", "cannot be evaluated with `data`: ", because = error)
    }
  )
  if (nrow(frame) != length(samples)) {
    stop_input("formula", sprintf("has variables of length %d for %s", nrow(frame),
      count_words(length(samples), "sample")))
  }
  kept <- stats::complete.cases(frame)
  if (!any(kept)) stop_input("data", "has missing values in all samples")
  rows <- (if (is.null(data)) frame else data)[kept, , drop = FALSE]
  frame <- stats::model.frame(parts$frame, rows, drop.unused.levels = TRUE)
  terms <- stats::terms(parts$fixed)
  x <- tryCatch(stats::model.matrix(terms, frame), error = function(error) {
    stop_input("formula", "has no design for these samples: ", because = error)
  })
  if (any(!is.finite(x))) {
    stop_input("formula", "has values that are not finite: ", list_some(colnames(x)[colSums(!is.finite(x)) > 0]))
  }
  rownames(x) <- samples[kept]
  assigned <- attr(x, "assign")
  check_design(x)
  is_intercept <- assigned == 0L
  center <- if (any(is_intercept)) ifelse(is_intercept, 0, colMeans(x)) else numeric(ncol(x))
  scale <- apply(x, 2L, stats::sd)
  scale[is_intercept | scale == 0] <- 1
  group <- if (!is.null(parts$group)) factor(eval(parts$group, frame, environment(formula)))
  list(
    x = x, center = unname(center), scale = unname(scale), is_intercept = is_intercept,
    compared = compared_columns(effect, x, assigned, attr(terms, "term.labels")),
    group = group, group_name = if (!is.null(group)) deparse1(parts$group), kept = kept
  )
}

# The part of the formula without the term (1 | g), g, and the formula of all variables.
split_sample_formula <- function(formula) {
  if (!inherits(formula, "formula") || length(formula) != 2L) {
    stop_input("formula", "must be a formula without a response, such as ~ group, not ",
      if (inherits(formula, "formula")) dQuote(deparse1(formula), FALSE) else show_value(formula))
  }
  groups <- list()
  without <- function(term) {
    inner <- if (is.call(term) && identical(term[[1L]], quote(`(`))) term[[2L]]
    if (is.call(inner) && identical(inner[[1L]], quote(`|`))) {
      if (!identical(inner[[2L]], 1) || "|" %in% all.names(inner[[3L]])) {
        stop_input("formula", "has the term ", dQuote(deparse1(term), FALSE), "; of terms with | only (1 | g) is known")
      }
      groups <<- c(groups, inner[[3L]])
      return(NULL)
    }
    if (is.call(term) && identical(term[[1L]], quote(`+`)) && length(term) == 3L) {
      left <- without(term[[2L]])
      right <- without(term[[3L]])
      return(if (is.null(left)) right else if (is.null(right)) left else call("+", left, right))
    }
    term
  }
  rest <- without(formula[[2L]])
  if (length(groups) > 1L) stop_input("formula", sprintf("has %d terms (1 | g); one is known", length(groups)))
  if (is.null(rest) || "|" %in% all.names(rest)) {
    stop_input("formula", "has ", if (is.null(rest)) "nothing to compare" else
      "a term with | that is not of the form (1 | g) on its own")
  }
  group <- if (length(groups)) groups[[1L]]
  fixed <- frame <- formula
  fixed[[2L]] <- rest
  frame[[2L]] <- if (is.null(group)) rest else call("+", rest, group)
  list(fixed = fixed, group = group, frame = frame)
}

# The rows of `data` in the order of the samples.
sample_data <- function(data, samples) {
  if (is.null(data)) return(NULL)
  if (!is.data.frame(data) || !is.list(data)) {
    stop_input("data", "must be a data frame with a row for each sample, not ", show_value(data))
  }
  column <- if (!is.null(data[["sample"]])) as.character(data[["sample"]])
  for (names in list(column, rownames(data))) {
    if (!anyDuplicated(names) && all(samples %in% names)) return(data[match(samples, names), , drop = FALSE])
  }
  if (!is.null(column)) {
    stop_input("data", "has no row for sample ", dQuote(setdiff(samples, column)[1L], FALSE),
      " in its column \"sample\", or several")
  }
  if (nrow(data) != length(samples)) {
    stop_input("data", sprintf("has %s for %s: it needs one for each column of the counts",
      count_words(nrow(data), "row"), count_words(length(samples), "sample")))
  }
  named <- .row_names_info(data) > 0L
  if (named && any(rownames(data) %in% samples)) {
    stop_input("data", "has no row named ", dQuote(setdiff(samples, rownames(data))[[1L]], FALSE), ", a sample")
  }
  data
}

check_design <- function(x) {
  factored <- qr(x)
  if (factored$rank < ncol(x)) {
    dependent <- colnames(x)[factored$pivot[seq(factored$rank + 1L, ncol(x))]]
    stop_input("formula", "has predictors that depend on each other: ", list_some(dependent),
      " follows from the others in these samples")
  }
  if (nrow(x) <= ncol(x)) {
    stop_input("formula", sprintf("has %s for %s: samples of the same kind are needed, to see how much they differ",
      count_words(ncol(x), "coefficient"), count_words(nrow(x), "sample")))
  }
}

compared_columns <- function(effect, x, assigned, labels) {
  if (is.null(effect)) {
    if (!any(assigned > 0L)) stop_input("formula", "has nothing to compare")
    return(which(assigned == 1L))
  }
  known <- c(labels, colnames(x)[assigned > 0L])
  if (!is.character(effect) || !length(effect) || anyNA(effect) || !all(effect %in% known)) {
    stop_input("effect", "must be NULL or some of ", list_some(unique(known)), ", not ",
      if (is.character(effect) && length(effect)) list_some(effect) else show_value(effect))
  }
  which(assigned > 0L & (colnames(x) %in% effect | c("", labels)[assigned + 1L] %in% effect))
}

# The prior, for the coefficients of the scaled design. `level` and `slope` are of the log of a scale: log(0.5).
abundance_prior <- list(
  coefficient = 2.5, intercept = 10, freedom = 4, level = c(-0.6931471805599453, 1), slope = c(0.25, 0.25)
)

# Runs all chains. Returns arrays of kept x chains x types (x compared coefficients): the effects in the units of the
# data, their conditional means and variances, and the deviations.
fit_abundance <- function(counts, totals, model, chains, iter, warmup, seed, run) {
  tables <- dim(counts)[[3L]]
  types <- dim(counts)[[1L]]
  kept <- iter - warmup
  compared <- model$compared
  total <- chains * tables
  x <- (model$x - rep(model$center, each = nrow(model$x))) / rep(model$scale, each = nrow(model$x))
  dim(x) <- dim(model$x)
  prior <- list(
    mean = numeric(ncol(x)),
    precision = 1 / ifelse(model$is_intercept, abundance_prior$intercept, abundance_prior$coefficient)^2,
    deviation = c(abundance_prior$freedom, abundance_prior$level, abundance_prior$slope)
  )
  group <- if (!is.null(model$group)) as.integer(model$group) - 1L
  names <- list(NULL, NULL, dimnames(counts)[[1L]], colnames(model$x)[compared])
  blank <- array(0, c(kept, total, types, length(compared)), names)
  # Which types have a cell in each draw of the counts.
  out <- list(effects = blank, mean = blank, variance = blank, present = apply(counts > 0, c(1L, 3L), any))
  out$deviation <- out$group_deviation <- array(0, c(kept, total, types), names[1:3])
  check_result_size(3 * length(blank), "iter", "draws of effects")
  for (table in seq_len(tables)) {
    own <- matrix(as.double(counts[, , table]), types)
    for (chain in (table - 1) * chains + seq_len(chains)) {
      part <- native(C_abundance_run, own, totals, x, group, prior, chain_key(seed, chain),
        as.integer(c(warmup, kept)), run)
      for (j in seq_along(compared)) {
        column <- compared[[j]]
        unit <- model$scale[[column]]
        out$effects[, chain, , j] <- t(matrix(part$coefficients[column, , ], types)) / unit
        out$mean[, chain, , j] <- t(matrix(part$mean[column, , ], types)) / unit
        out$variance[, chain, , j] <- t(matrix(part$variance[column, , ], types)) / unit^2
      }
      out$deviation[, chain, ] <- t(matrix(part$deviation[1L, , ], types))
      out$group_deviation[, chain, ] <- t(matrix(part$deviation[2L, , ], types))
    }
  }
  out
}

# The table of effects, and a verdict on the chains.
compare_effects <- function(fitted, model, level, chains) {
  shape <- dim(fitted$effects)
  kept <- shape[[1L]]
  table <- (seq_len(shape[[2L]]) - 1L) %/% chains + 1L
  # What is said of a type comes from the draws of the counts that have it.
  own <- lapply(seq_len(shape[[3L]]), function(t) {
    there <- fitted$present[t, table]
    which(if (any(there)) there else !there)
  })
  tables_of <- lapply(own, function(own) table[own])
  names <- dimnames(fitted$effects)
  no_effect <- stats::setNames(numeric(shape[[4L]]), names[[4L]])
  deviation <- vapply(seq_len(shape[[3L]]), function(t) stats::median(fitted$deviation[, own[[t]], t]), 0)
  rows <- lapply(seq_len(shape[[4L]]), function(j) {
    each_type <- function(of, use) lapply(seq_len(shape[[3L]]), function(t) use(matrix(of[, own[[t]], t, j], kept)))
    chains_of <- each_type(fitted$effects, identity)
    points <- vapply(chains_of, stats::quantile, numeric(3), c(0.5, (1 - level) / 2, (1 + level) / 2), names = FALSE)
    prior <- abundance_prior$coefficient / model$scale[[model$compared[[j]]]]
    null <- local_fdr(simplify2array(each_type(fitted$mean, spaced_values)),
      simplify2array(each_type(fitted$variance, spaced_values)), prior)
    no_effect[[j]] <<- null$share
    data.frame(
      type = factor(names[[3L]], names[[3L]]), effect = names[[4L]][[j]], estimate = points[1L, ], lower = points[2L, ],
      upper = points[3L, ], above = vapply(chains_of, function(draws) mean(draws > 0), 0),
      null = null$null, lfsr = null$lfsr,
      fdr = expected_fdr(null$lfsr), deviation = deviation,
      rhat = mapply(rhat_within, chains_of, tables_of), ess = mapply(size_within, chains_of, tables_of)
    )
  })
  effects <- do.call(rbind, rows)
  others <- lapply(seq_len(shape[[3L]]), function(t) log(matrix(fitted$deviation[, own[[t]], t], kept)))
  rhat <- c(effects$rhat, mapply(rhat_within, others, tables_of))
  list(effects = effects, no_effect = no_effect,
    converged = all(is.finite(rhat) & rhat <= rhat_limit) && all(effects$ess >= ess_wanted))
}

# Chains of the same draw of counts have the same law. Chains of different draws have not, so the variance between
# chains is that within `table`.
rhat_within <- function(draws, table) {
  scores <- split_chains(normal_scores(draws))
  means <- colMeans(scores)
  table <- c(table, table)
  freedom <- length(means) - length(unique(table))
  between <- sum((means - stats::ave(means, table))^2) / freedom
  sqrt((nrow(scores) - 1) / nrow(scores) + between / mean(apply(scores, 2L, stats::var)))
}

size_within <- function(draws, table) {
  sum(vapply(split(seq_along(table), table), function(own) bulk_size(draws[, own, drop = FALSE]), 0))
}

# For each type, the probability that its effect is 0 (`null`), the probability that it is 0 or has another sign than
# is more probable (`lfsr`), and the posterior mean of the `share` of types without an effect.
# A share of the effects is 0, the others are normal with mean 0 and standard deviation delta. Both are uniform on a
# grid; delta on the log scale. mean, variance: draws x types, of the effect given all else, under a normal prior with
# standard deviation `prior`. The density of the data, up to a factor that the types do not share, is the posterior
# density over the prior density at 0, or its integral over the normal law of the effects.
local_fdr <- function(mean, variance, prior) {
  types <- ncol(mean)
  none <- log_mean(-0.5 * mean^2 / variance - 0.5 * log(variance)) + log(prior)
  delta <- prior * exp(seq(log(0.05), log(0.7), length.out = 12L))
  # types x delta: the density with an effect, and the probability that this effect is above 0.
  with <- above <- matrix(0, types, length(delta))
  for (i in seq_along(delta)) {
    tilt <- 1 / delta[[i]]^2 - 1 / prior^2
    narrow <- 1 + tilt * variance
    density <- -0.5 * tilt * mean^2 / narrow - 0.5 * log(narrow)
    with[, i] <- log_mean(density)
    positive <- log_mean(density + stats::pnorm(mean / sqrt(variance * narrow), log.p = TRUE))
    above[, i] <- exp(positive - with[, i])
    with[, i] <- with[, i] + log(prior / delta[[i]])
  }
  grid <- expand.grid(share = seq(0.02, 0.98, by = 0.04), delta = seq_along(delta))
  zero <- outer(none, log(grid$share), "+")
  other <- with[, grid$delta, drop = FALSE] + rep(log(1 - grid$share), each = types)
  high <- pmax(zero, other)
  total <- high + log(exp(zero - high) + exp(other - high))
  weight <- colSums(total)
  weight <- exp(weight - max(weight))
  weight <- weight / sum(weight)
  null <- drop(exp(zero - total) %*% weight)
  positive <- drop((exp(other - total) * above[, grid$delta, drop = FALSE]) %*% weight)
  list(null = null, lfsr = 1 - pmin(1, pmax(positive, 1 - null - positive)), share = sum(weight * grid$share))
}

# 1,000 of the values, evenly spaced.
spaced_values <- function(values) values[round(seq(1, length(values), length.out = 1000))]

# Logs of the means of the columns of exp(values).
log_mean <- function(values) {
  most <- apply(values, 2L, max)
  most + log(colMeans(exp(values - rep(most, each = nrow(values)))))
}

# The mean of `lfsr` over each entry and all smaller ones.
expected_fdr <- function(lfsr) {
  order <- order(lfsr)
  out <- numeric(length(lfsr))
  out[order] <- cumsum(lfsr[order]) / seq_along(lfsr)
  out
}
