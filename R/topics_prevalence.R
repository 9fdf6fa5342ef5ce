# Covariates of documents in the prior of their topics (Dirichlet-multinomial regression, Mimno and McCallum 2008): the
# columns that a formula makes, the draw of the coefficients, and sweeps in turn with it.

# The design of `prevalence`, or NULL.
check_prevalence <- function(prevalence, data, counts, groups, method, alpha) {
  if (is.null(prevalence)) {
    if (!is.null(data)) stop_input("data", "is of no use without `prevalence`, such as prevalence = ~ party")
    return(NULL)
  }
  fit <- list(documents = counts$documents, document_tokens = document_sizes(counts))
  design <- covariate_design(prevalence, data, fit, "prevalence")
  if (length(design$first) < 2L) stop_input("prevalence", "has no covariates: it is a formula such as ~ party")
  if (!is.null(groups)) stop_input("groups", "cannot be used with `prevalence`: put the groups into the formula")
  if (method != "gibbs") stop_input("method", "must be \"gibbs\" with `prevalence`, not ", show_value(method))
  if (!identical(alpha, "asymmetric")) {
    stop_input("alpha", "cannot be used with `prevalence`, which says how alpha depends on covariates")
  }
  design
}

prevalence_start <- function(design, topics) {
  list(learn = "prevalence", start = rep(min(1, 5 / topics), topics * length(design$first)))
}

prevalence_words <- function(fit) deparse1(fit$prevalence$formula)

is_number_matrix <- function(value, rows, columns) {
  is.double(value) && identical(dim(value), as.integer(c(rows, columns))) && all(is.finite(value))
}

check_prevalence_parts <- function(fit, refuse) {
  design <- fit$prevalence
  if (is.null(design) != !identical(fit$learn$alpha, "prevalence")) refuse("prevalence", "what `learn` says")
  if (is.null(design)) return(invisible())
  documents <- length(fit$documents)
  whole <- function(values, most) is.numeric(values) && !anyNA(values) && all(values %in% seq_len(most))
  usable <- is.list(design) && inherits(design$formula, "formula") && is.data.frame(design$variables) &&
    is.factor(design$group) && length(design$group) == documents && !anyNA(design$group) &&
    nlevels(design$group) == length(design$first) &&
    nlevels(design$group) > 1L && whole(design$first, documents) && whole(design$used, documents) &&
    is.matrix(design$x) && !is.null(colnames(design$x)) &&
    is_number_matrix(unname(design$x), length(design$used), ncol(design$x)) && is.matrix(design$basis) &&
    is_number_matrix(design$basis, documents, ncol(design$basis))
  if (!usable) refuse("prevalence", "the covariates of the documents")
}

# The columns of a formula for all documents, with what makes them for new ones. `x`: of the documents that are `used`,
# those with tokens and all covariates; `basis`: of all documents, on a common scale.
covariate_design <- function(formula, data, fit, argument) {
  check_formula(formula, argument, response = FALSE, takes = "smooth", example = "~ party")
  documents <- length(fit$documents)
  check_document_data(data, documents, "document")
  given <- formula
  if (!is.null(special_term(formula[[2L]], "smooth"))) {
    environment(formula) <- list2env(list(s = natural_spline), parent = environment(given))
  }
  data <- without_integer64(data)
  frame <- covariate_frame(formula, data, argument)
  # Without data ~ 1 has no rows.
  if (length(frame) == 0L) frame <- structure(data.frame(row.names = seq_len(documents)), terms = attr(frame, "terms"))
  if (nrow(frame) != documents) {
    stop_input(argument, sprintf("has variables of %s, but there are %s", count_words(nrow(frame), "value"),
      count_words(documents, "document")))
  }
  check_frame(frame, argument, missing = TRUE)
  known <- rowSums(is.na(frame)) == 0
  used <- which(known & fit$document_tokens > 0)
  if (any(!known)) message(sprintf("%s with missing covariates left out", count_words(sum(!known), "document")))
  own <- droplevels(frame[used, , drop = FALSE])
  terms <- attr(frame, "terms")
  check_factors(own, terms)
  x <- design_matrix(terms, own)
  if (nrow(x) <= ncol(x)) {
    stop_input(argument, sprintf("has %s, but only %s can be used", count_words(ncol(x), "coefficient"),
      count_words(nrow(x), "document")))
  }
  if (qr(x)$rank < ncol(x)) stop_input(argument, "has coefficients that the documents do not tell apart: leave one out")
  design <- c(fitted_frame(given, own, terms), list(variables = formula_variables(given, data, documents),
    contrasts = attr(x, "contrasts"), used = used, x = x, scaling = covariate_scaling(x)))
  design$basis <- covariate_basis(design, prevalence_columns(design, as_fitted_classes(design, frame, unknown = TRUE)))
  kind <- do.call(paste, as.data.frame(design$basis))
  # Documents with the same covariates are one group of the sampler.
  design$first <- which(!duplicated(kind))
  design$group <- factor(match(kind, kind[design$first]), seq_along(design$first))
  design
}

check_document_data <- function(data, documents, kind) {
  if (!is.null(data) && (!is.data.frame(data) || nrow(data) != documents)) {
    stop_input("data", sprintf("must be a data frame with a row for each of %s, not ", count_words(documents, kind)),
      show_value(data))
  }
}

# The variables of a formula that have a value for each document.
formula_variables <- function(formula, data, documents) {
  values <- lapply(stats::setNames(nm = all.vars(formula)), function(name) {
    value <- if (name %in% names(data)) data[[name]] else get0(name, environment(formula))
    if (is.atomic(value) && NROW(value) == documents) value
  })
  structure(Filter(Negate(is.null), values), class = "data.frame", row.names = seq_len(documents))
}

# The model matrix of a model frame that may have missing values: rows of NA where it has.
prevalence_columns <- function(design, frame) {
  x <- stats::model.matrix(design$terms, frame, contrasts.arg = design$contrasts)
  x[!complete_rows(x), ] <- NA
  x
}

# Columns are centred, and divided by their range if they have two values, and otherwise by two standard deviations.
# Columns that others determine are left out.
covariate_scaling <- function(x) {
  centre <- colMeans(x)
  scale <- vapply(seq_len(ncol(x)), function(j) {
    if (length(unique(x[, j])) == 2L) diff(range(x[, j])) else 2 * stats::sd(x[, j])
  }, 0)
  scale[!(scale > 0)] <- 1
  known <- qr(cbind(1, sweep(sweep(x, 2L, centre), 2L, scale, "/")))
  list(centre = centre, scale = scale, columns = sort(known$pivot[seq_len(known$rank)]))
}

# Documents without covariates are at the mean.
covariate_basis <- function(design, x) {
  scaling <- design$scaling
  scaled <- sweep(sweep(x, 2L, scaling$centre), 2L, scaling$scale, "/")
  scaled[is.na(scaled)] <- 0
  cbind(1, unname(scaled))[, scaling$columns, drop = FALSE]
}

# The groups of new documents and their alphas, groups x topics: the means of the draws.
prevalence_prior <- function(fit, data, documents) {
  design <- fit$prevalence
  if (is.null(design)) stop_input("data", "cannot be used: the fit has no `prevalence`")
  check_document_data(data, documents, "new document")
  x <- prevalence_columns(design, new_frame(design, design$terms, data, "data", unknown = TRUE))
  if (anyNA(x)) {
    message(sprintf("%s with missing or unknown covariates: the mean of the covariates is taken",
      count_words(sum(!stats::complete.cases(x)), "document")))
  }
  basis <- covariate_basis(design, x)
  kind <- do.call(paste, as.data.frame(basis))
  first <- which(!duplicated(kind))
  draws <- fit$draws$coefficients
  count <- if (length(draws)) dim(draws)[[3L]] else 0
  some <- unique(round(seq(1, count, length.out = min(count, 100))))
  of_draw <- function(coefficients) {
    prevalence_alpha(matrix(coefficients, ncol(basis)), basis[first, , drop = FALSE])
  }
  alpha <- if (count == 0) {
    of_draw(fit$state[[fit$reference]]$coefficients)
  } else {
    Reduce(`+`, lapply(some, function(draw) of_draw(draws[, , draw, fit$reference]))) / length(some)
  }
  list(groups = factor(match(kind, kind[first]), seq_along(first)), alpha = alpha)
}

# The sampler ------------------------------------------------------------------

# From one draw of the coefficients to the next. They take longer than the sweep.
prevalence_every <- 2

# Standard deviations of the normal priors of the intercepts and of the other coefficients of log alpha.
intercept_scale <- 5
slope_scale <- 2.5

prevalence_alpha <- function(coefficients, basis) exp(pmin(pmax(basis %*% coefficients, -200), 15))

# The coefficients of a chain that starts with these alphas.
first_coefficients <- function(design, alpha) {
  rbind(pmax(log(alpha), -10), matrix(0, ncol(design$basis) - 1L, length(alpha)))
}

# The chain's seed of R's generator for one purpose.
chain_seed <- function(state, number) {
  whole <- function(key) sum(as.integer(key[1:6]) * 256^(0:5))
  whole(chain_key(whole(state$key), number))
}

# step() of the sampler. Sweeps with alpha given are those of plain(); before every other sweep the coefficients are
# drawn given the topics.
prevalence_step <- function(fit, plain) {
  design <- fit$prevalence
  k <- fit$topics
  document <- rep(seq_along(design$group), fit$document_tokens)
  own <- design$basis[design$first, , drop = FALSE]
  draw_coefficients <- function(state, sweep) {
    counts <- tabulate(document + length(design$group) * (topic_numbers(state$topics) - 1), length(design$group) * k)
    state$coefficients <- with_seed(chain_seed(state, 2 * sweep), draw_prevalence(state$coefficients, design$basis,
      matrix(counts, length(design$group)), design$used))
    state$alpha <- as.vector(t(prevalence_alpha(state$coefficients, own)))
    # Of a document with mean covariates.
    state$common <- c(prevalence_alpha(state$coefficients, matrix(c(1, numeric(ncol(own) - 1L)), 1L)), 1)
    state
  }
  with_effects <- function(slice, sweeps) {
    if (length(sweeps) == 0L) return(slice)
    theta <- array(slice$draw$theta, c(k, length(design$group), length(sweeps)))
    slice$draw$effects <- as.vector(vapply(seq_along(sweeps), function(i) {
      root <- sqrt(with_seed(chain_seed(slice$state, 2 * sweeps[[i]] + 1), stats::rexp(length(design$used))))
      qr.coef(qr(design$x * root), t(matrix(theta[, design$used, i], k)) * root)
    }, matrix(0, ncol(design$x), k)))
    slice$draw$coefficients <- rep(as.vector(slice$state$coefficients), length(sweeps))
    if (!"theta" %in% fit$keep) slice$draw$theta <- NULL
    slice
  }
  function(sessions, states, sweeps, keep) {
    done <- states[[1L]]$sweep
    end <- done + sweeps
    parts <- list()
    while (done < end) {
      if (done %% prevalence_every == 0) states <- lapply(states, draw_coefficients, done)
      piece <- min(end - done, prevalence_every - done %% prevalence_every)
      kept <- kept_in_slice(fit, states, piece)
      numbers <- done + kept[[1L]] + kept[[2L]] * (seq_len(kept[[3L]]) - 1) + 1
      slices <- lapply(plain(sessions, states, piece, length(numbers) > 0L), with_effects, numbers)
      done <- done + piece
      states <- lapply(slices, function(slice) {
        slice$state$sweep <- done
        slice$state
      })
      parts[[length(parts) + 1L]] <- slices
    }
    lapply(seq_along(states), function(chain) {
      joined <- function(name) {
        lists <- lapply(parts, function(slices) slices[[chain]][[name]])
        lists <- Filter(Negate(is.null), lists)
        if (length(lists)) do.call(Map, c(list(c), lists))
      }
      list(state = states[[chain]], traces = joined("traces"), draw = joined("draw"))
    })
  }
}

# The coefficients of log alpha given the topics of all tokens, topic by topic: a Newton step with a normal deviate. Its
# precision is the sum of squared gradients of the documents. The step is accepted or refused (Metropolis and Hastings).
draw_prevalence <- function(coefficients, basis, counts, used) {
  basis <- basis[used, , drop = FALSE]
  counts <- counts[used, , drop = FALSE]
  size <- rowSums(counts)
  precision <- c(intercept_scale, rep(slope_scale, ncol(basis) - 1L))^-2
  alpha <- prevalence_alpha(coefficients, basis)
  total <- rowSums(alpha)
  for (k in seq_len(ncol(counts))) {
    some <- which(counts[, k] > 0)
    count <- counts[some, k]
    rest <- pmax(total - alpha[, k], 0)
    at <- function(value) {
      own <- prevalence_alpha(value, basis)[, 1L]
      all <- rest + own
      part <- own[some]
      score <- digamma(all) - digamma(all + size)
      score[some] <- score[some] + digamma(part + count) - digamma(part)
      score <- own * score
      root <- chol(crossprod(basis * score) + diag(precision, length(precision)))
      gradient <- crossprod(basis, score) - precision * value
      list(value = value, alpha = own, root = root, mean = value + chol2inv(root) %*% gradient,
        log = sum(lgamma(all) - lgamma(all + size)) + sum(lgamma(part + count) - lgamma(part)) -
          sum(precision * value^2) / 2)
    }
    law <- function(value, from) sum(log(diag(from$root))) - sum((from$root %*% (value - from$mean))^2) / 2
    now <- at(coefficients[, k, drop = FALSE])
    new <- at(now$mean + backsolve(now$root, stats::rnorm(length(precision))))
    if (log(stats::runif(1L)) < new$log - now$log + law(now$value, new) - law(new$value, now)) {
      coefficients[, k] <- new$value
      total <- total - alpha[, k] + new$alpha
      alpha[, k] <- new$alpha
    }
  }
  coefficients
}
