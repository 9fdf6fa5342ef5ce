# A record for each family, which the room asks through family_of(). `response` is what the record's own response()
# returns. `linear` are linear predictors, draws x rows x outcomes, and `size` the dispersions of draws or NULL.
#   is_count, has_classes, has_outcomes, has_dispersion   has_outcomes: each class but the first has a linear predictor
#   has_surrogates   rows have surrogates (src/regression/surrogate.c)
#   title, kind, observations, law, wider   words
#   kernel           the number of src/backend/regression_table.h for summaries of means; NULL: R summarises rows
#   scale, grid(x, classes, mode), of_grid(linear)   for emmeans: the link, the rows, and linear predictors of rows
#   response(values, weights, complain)   what the sampler and the methods read: `shape` and `kappa` of
#                    src/backend/regression_table.h, the `constant` of the log likelihood, the `observed` values (rows x
#                    classes if it has classes) and `trials`. complain() raises the error.
#   complete(response, offset, weights, parameters)   the response with what depends on offsets
#   trials(response), sizes(response, weights, offset)   trials (1 for counts) and observations of each row
#   occurs(response) rows x kinds: whether a row has failures and successes, zeros and counts, or each class
#   design(design, response), new_rows(fit, x)   the design, and of new rows, from that of the formula
#   rows(fit)        the fit whose rows the sampler reads
#   centre(response, weights, offset), start(response)   prior mean of each intercept, and where intercepts start
#   cost(outcomes)   time of a sweep and its fixed part, as multiples of a binomial one
#   steps(linear, intercepts), link(linear)   linear predictors of all outcomes, and as users see them
#   mean(linear)     means of responses: draws x rows x (1 or classes)
#   draw(mean, trials, size, as_counts)   responses: draws x rows, or counts of classes; respond() takes `linear`
#   types            what predict() shows of linear predictors, by its argument `type`
#   log_likelihood(linear, observed, trials, size)   of each draw and row, without weights
#   variance(mean, size), spread(linear, size)   of a response, divided by its trials
#   residual_weights(fit, trials), lost(observed, mean, size)   weights of residuals; half the deviance of a trial
#   object(size)     the family object, as of glm()
# Fits with another regression besides (family_wrappers). These elements have the whole fit as argument.
#   regressions(fit) its regressions as fits of their own, first that of the family. `prefix` of the others stands
#                    before the names of their quantities, their name here before those of traces.
#   join(linear, size)   linear predictors from those of each regression
#   sampling         NULL, or the list of `sampler`, `start` and `words`, functions of the fit
#   check(fit, argument), formula_words(fit), support(fit)   of the others: errors, words of print(), reasons

family_record <- function(...) {
  given <- list(...)
  record <- list(
    is_count = FALSE, has_classes = FALSE, has_outcomes = FALSE, has_dispersion = FALSE, has_surrogates = FALSE,
    observations = "counts", wider = "", kernel = NULL, scale = list(),
    complete = function(response, ...) response,
    trials = function(response) response$trials,
    sizes = function(response, weights, offset) weights * response$trials,
    design = function(design, response) design,
    new_rows = function(fit, x) x,
    rows = function(fit) fit,
    steps = function(linear, intercepts) linear,
    link = identity,
    variance = function(mean, size) mean * (1 - mean),
    residual_weights = function(fit, trials) fit$weights * trials,
    regressions = list,
    join = function(linear, size) linear[[1L]],
    check = function(fit, argument) NULL,
    formula_words = function(fit) NULL,
    support = function(fit) NULL
  )
  record[names(given)] <- given
  record$types <- list(response = record$mean, link = record$link)
  if (is.null(record$spread)) record$spread <- function(linear, size) record$variance(record$mean(linear), size)
  if (is.null(record$respond)) record$respond <- function(linear, ...) record$draw(record$mean(linear), ...)
  record
}

times_log <- function(y, ratio) ifelse(y > 0, y * log(ratio), 0)

lost_of_counts <- function(observed, mean, size) times_log(observed, observed / mean) - (observed - mean)

count_record <- function(..., dispersed = FALSE) {
  family_record(
    is_count = TRUE, has_dispersion = dispersed, kernel = 2L, scale = list(tran = "log", inv.lbl = "response"),
    trials = function(response) rep(1, length(response$observed)),
    sizes = function(response, weights, offset) weights,
    occurs = function(response) cbind(response$observed == 0, response$observed > 0),
    centre = function(response, weights, offset) {
      total <- sum(weights * response$observed)
      # Rows without events may come from a large mean if counts vary without limit.
      rate <- if (total >= 2) response$mean else (if (dispersed) 2 else prior_counts(total)) / sum(weights)
      log(rate) - log_mean_exposure(offset, weights)
    },
    cost = function(outcomes) c(4, 2.5),
    mean = exp, ...
  )
}

class_record <- function(name, mean, linkfun, ...) {
  linkinv <- function(eta) {
    eta <- as.matrix(eta)
    matrix(mean(array(eta, c(1L, dim(eta)))), nrow(eta))
  }
  family_record(
    has_classes = TRUE, mean = mean,
    cost = function(outcomes) c(7 * outcomes, outcomes),
    draw = function(mean, trials, size, as_counts) draw_classes(mean, trials, as_counts),
    log_likelihood = function(linear, observed, trials, size) {
      log_prob <- matrix(log(mean(linear)), ncol = ncol(observed))
      total <- lgamma(trials + 1) - rowSums(lgamma(observed + 1))
      for (k in seq_len(ncol(observed))) total <- total + ifelse(observed[, k] > 0, observed[, k] * log_prob[, k], 0)
      total
    },
    # The differences add up to 0 over the classes: the sum is the difference of a row.
    lost = lost_of_counts,
    object = function(size) {
      list(family = name, link = "logit", linkfun = linkfun, linkinv = linkinv, variance = function(mu) mu * (1 - mu))
    }, ...
  )
}

logit_families <- list(
  binomial = family_record(
    title = "Logistic regression", kind = "a logistic", kernel = 1L,
    observations = "shares of successes", law = "binomial ones",
    wider = ": an effect of each row, such as (1 | row), learns how much",
    scale = list(tran = "logit", inv.lbl = "prob"),
    response = function(values, weights, complain) {
      counts <- binomial_counts(values, complain)
      y <- counts$y
      n <- counts$trials
      list(
        shape = weights * n, kappa = matrix(weights * (y - n / 2)), observed = y, trials = n, levels = counts$levels,
        constant = sum(weights * lchoose(n, y)),
        mean = (sum(weights * y) + 0.5) / (sum(weights * n) + 1), information = weights * n / 4
      )
    },
    occurs = function(response) cbind(response$observed < response$trials, response$observed > 0),
    centre = function(response, weights, offset) {
      logit_of_share(weights * response$observed, weights * response$trials, offset)
    },
    start = function(response) stats::qlogis(response$mean),
    cost = function(outcomes) c(1, 1),
    mean = stats::plogis,
    draw = function(mean, trials, ...) replace(mean, TRUE, stats::rbinom(length(mean), trials, mean)),
    log_likelihood = function(linear, observed, trials, size) {
      success <- stats::plogis(as.vector(linear), log.p = TRUE)
      failure <- stats::plogis(as.vector(linear), lower.tail = FALSE, log.p = TRUE)
      missed <- trials - observed
      lchoose(trials, observed) + ifelse(observed > 0, observed * success, 0) + ifelse(missed > 0, missed * failure, 0)
    },
    lost = function(observed, mean, size) {
      times_log(observed, observed / mean) + times_log(1 - observed, (1 - observed) / (1 - mean))
    },
    object = function(size) stats::binomial()
  ),
  poisson = count_record(
    title = "Poisson regression", kind = "a Poisson", law = "Poisson counts", has_surrogates = TRUE,
    wider = ", so intervals are too narrow: family = \"negbinomial\" learns how much counts vary",
    response = function(values, weights, complain) {
      y <- whole_counts(values, complain)
      list(observed = y, mean = stats::weighted.mean(y, weights))
    },
    complete = function(...) with_surrogates(...),
    sizes = function(response, weights, offset) weights * exp(offset - max(offset[weights > 0], -Inf)),
    start = function(response) response$start,
    draw = function(mean, ...) replace(mean, TRUE, stats::rpois(length(mean), mean)),
    log_likelihood = function(linear, observed, ...) stats::dpois(observed, exp(as.vector(linear)), log = TRUE),
    variance = function(mean, size) mean,
    lost = lost_of_counts, object = function(size) stats::poisson()
  ),
  negbinomial = count_record(
    title = "Negative binomial regression", kind = "a negative binomial", law = "negative binomial counts",
    dispersed = TRUE,
    response = function(values, weights, complain) {
      y <- whole_counts(values, complain)
      list(
        shape = weights * y, kappa = matrix(weights * y / 2), dispersed = weights, observed = y,
        constant = -sum(weights * lgamma(y + 1)), mean = stats::weighted.mean(y, weights), information = weights / 4
      )
    },
    start = function(response) log(response$mean + 0.1),
    draw = function(mean, trials, size, ...) {
      replace(mean, TRUE, stats::rnbinom(length(mean), size = rep(size, length.out = length(mean)), mu = mean))
    },
    log_likelihood = function(linear, observed, trials, size) {
      stats::dnbinom(observed, size = size, mu = exp(as.vector(linear)), log = TRUE)
    },
    variance = function(mean, size) mean + mean^2 / size,
    lost = function(observed, mean, size) {
      times_log(observed, observed / mean) - (observed + size) * log((observed + size) / (mean + size))
    },
    object = function(size) {
      link <- stats::make.link("log")[c("linkfun", "linkinv", "mu.eta", "valideta")]
      c(list(family = "negbinomial", link = "log"), link, list(variance = function(mu) mu + mu^2 / size,
        validmu = function(mu) all(is.finite(mu) & mu > 0)))
    }
  ),
  multinomial = class_record(
    name = "multinomial", title = "Multinomial logistic regression", kind = "a multinomial", has_outcomes = TRUE,
    kernel = 3L,
    # Linear predictors minus their average over the classes. The first class has 0.
    grid = function(x, classes, mode) kronecker(rbind(0, diag(classes - 1L)) - 1 / classes, x),
    of_grid = function(linear) linear[, , -1L, drop = FALSE] - as.vector(linear[, , 1L]),
    response = function(values, weights, complain) {
      if (is.character(values) || is.logical(values)) values <- factor(values)
      counts <- class_counts(values, is.factor, complain, " multinomial one is a factor")
      trials <- rowSums(counts)
      totals <- colSums(weights * counts)
      list(
        shape = weights * trials, kappa = weights * (counts[, -1L, drop = FALSE] - trials / 2), observed = counts,
        trials = trials, classes = colnames(counts),
        constant = sum(weights * (lgamma(trials + 1) - rowSums(lgamma(counts + 1)))),
        mean = (totals + 0.5) / (sum(totals) + 0.5 * length(totals)), information = weights * trials / 4
      )
    },
    occurs = function(response) response$observed > 0,
    centre = function(response, weights, offset) {
      counts <- prior_counts(colSums(weights * response$observed))
      size <- weights * response$trials
      offsets <- matrix(offset, length(weights), length(counts) - 1L)
      fixed_point(log(counts[-1L] / counts[[1L]]), 30) - colSums(size * offsets) / sum(size)
    },
    start = function(response) log(response$mean[-1L] / response$mean[[1L]]),
    mean = function(linear) {
      most <- pmax(0, apply(linear, c(1L, 2L), max))
      weights <- array(c(exp(-most), exp(linear - as.vector(most))), dim(linear) + c(0, 0, 1))
      weights / as.vector(rowSums(weights, dims = 2L))
    },
    linkfun = function(mu) log(mu[, -1L, drop = FALSE] / mu[, 1L])
  ),
  cratio = class_record(
    name = "cratio", title = "Continuation ratio regression", kind = "an ordinal",
    # Intercepts are of all steps, and of one more for the last class; or their average.
    grid = function(x, classes, mode) {
      steps <- seq_len(classes - 1L)
      steps <- if (mode == "prob") c(steps, 1L) else list(steps)
      do.call(rbind, lapply(steps, function(step) {
        x[, step] <- 1 / length(step)
        x
      }))
    },
    of_grid = function(linear) linear[, , -dim(linear)[[3L]], drop = FALSE],
    response = function(values, weights, complain) {
      counts <- class_counts(values, is.ordered, complain,
        "n ordinal one is an ordered factor, as ordered(y) makes it,")
      trials <- rowSums(counts)
      at_least <- rev(cumsum(rev(colSums(weights * counts))))
      list(
        shape = weights * trials, observed = counts, trials = trials, classes = colnames(counts), ordered = TRUE,
        constant = sum(weights * (lgamma(trials + 1) - rowSums(lgamma(counts + 1)))),
        mean = (at_least[-1L] + 0.5) / (at_least[-length(at_least)] + 1),
        information = weights * rowSums(reached_counts(counts)) / 4
      )
    },
    design = function(design, response) with_step_intercepts(design, response$classes),
    new_rows = function(fit, x) {
      cbind(matrix(0, nrow(x), sum(fit$design$is_intercept)), x[, attr(x, "assign") != 0L, drop = FALSE])
    },
    rows = function(fit) rows_of_steps(fit),
    centre = function(response, weights, offset) {
      reached <- reached_counts(response$observed)
      above <- reached - response$observed[, -ncol(response$observed), drop = FALSE]
      of_step <- function(k) logit_of_share(weights * above[, k], weights * reached[, k], offset)
      vapply(seq_len(ncol(reached)), of_step, 0)
    },
    start = function(response) stats::qlogis(response$mean),
    # Draws x rows x steps, from what steps share and the intercepts of each draw.
    steps = function(linear, intercepts) {
      array(as.vector(linear) + as.vector(intercepts[rep(seq_len(nrow(intercepts)), dim(linear)[[2L]]), ]),
        c(dim(linear)[1:2], ncol(intercepts)))
    },
    mean = function(linear) step_probabilities(linear),
    linkfun = function(mu) stats::qlogis(1 - mu[, -ncol(mu), drop = FALSE] / reached_counts(mu))
  )
)

# Functions of record and fit, by the part that changes the record.
family_wrappers <- list()

family_of <- function(fit) {
  record <- logit_families[[fit$family]]
  for (part in intersect(names(family_wrappers), names(fit))) {
    if (!is.null(fit[[part]])) record <- family_wrappers[[part]](record, fit)
  }
  record
}

regressions_of <- function(fit) family_of(fit)$regressions(fit)

names_of_regressions <- function(fit, names_of) {
  unlist(lapply(regressions_of(fit), function(part) {
    names <- names_of(part)
    if (length(names)) paste0(part$prefix, names)
  }), use.names = FALSE)
}

is_count_family <- function(family) logit_families[[family]]$is_count

check_family <- function(family) {
  if (is.function(family)) family <- tryCatch(family(), error = function(error) family)
  name <- if (inherits(family, "family")) family$family else family
  if (identical(name, "quasipoisson")) {
    stop_input("family", "cannot be \"quasipoisson\": family = \"negbinomial\" learns how much more counts vary than ",
      "Poisson counts")
  }
  # Ordinal families of packages VGAM, brms and rstanarm.
  others <- c("cumulative", "sratio", "acat", "ordinal", "polr", "propodds")
  if (is.character(name) && length(name) == 1L && name %in% others) {
    stop_input("family", "cannot be ", dQuote(name, FALSE), ": the ordinal family of this package is \"cratio\", ",
      "continuation ratios", if (name == "sratio") ", the same model (but package VGAM gives it opposite signs)")
  }
  if (inherits(family, "family")) {
    link <- c(binomial = "logit", poisson = "log")[name]
    if (!is.na(link) && !identical(family$link, unname(link))) {
      stop_input("family", "must have the link ", dQuote(link, FALSE), ", not ", show_value(family$link))
    }
  }
  check_choice(if (identical(name, "negative_binomial")) "negbinomial" else name, "family", names(logit_families))
}

# With a prior about 100 events, if there are none, 95% of the posterior lie below 2.5 events.
prior_counts <- function(counts) {
  ifelse(counts > 0, pmax(counts, 2), min(100, if (length(counts) > 1L) max(counts) + 1))
}

logit_of_share <- function(successes, trials, offset) {
  counts <- prior_counts(c(sum(trials) - sum(successes), sum(successes)))
  centre <- fixed_point(log(counts[[2L]] / counts[[1L]]), 30)
  offset <- offset[trials > 0]
  trials <- trials[trials > 0]
  if (length(trials) == 0L || all(offset == offset[[1L]])) return(centre - if (length(trials)) offset[[1L]] else 0)
  short <- function(at) sum(trials * stats::plogis(at + offset)) / sum(trials) - stats::plogis(centre)
  fixed_point(stats::uniroot(short, centre - rev(range(offset)) + c(-1e-6, 1e-6), tol = 1e-10)$root, 20)
}

# Rounded logarithms are the same on every machine.
fixed_point <- function(value, bits) round(value * 2^bits) / 2^bits

logit_response <- function(values, family, weights, argument = "formula") {
  logit_families[[family]]$response(values, weights, function(...) stop_input(argument, "has a response that ", ...))
}

is_no_count <- function(y) y < 0 | y != floor(y) | !is.finite(y)

whole_counts <- function(response, complain) {
  if (!is.numeric(response) || is.matrix(response) || anyNA(response) || any(is_no_count(response))) {
    complain("is not a vector of counts, whole numbers from 0: ", show_first_bad(response, is_no_count))
  }
  as.double(response)
}

show_first_bad <- function(response, is_bad) {
  if (!is.numeric(response) || is.matrix(response)) return(show_value(response))
  bad <- which(is.na(response) | is_bad(response))[[1L]]
  sprintf("row %d has %s", bad, exact_words(response[[bad]]))
}

count_matrix_of <- function(response, complain) {
  if (anyNA(response) || any(is_no_count(response))) complain("has counts that are not whole numbers from 0")
  matrix(as.double(response), nrow(response))
}

binomial_counts <- function(response, complain) {
  single <- function(y, levels = NULL) list(y = as.double(y), trials = rep(1, length(y)), levels = levels)
  if (is.matrix(response)) {
    if (!is.numeric(response) || ncol(response) != 2L) {
      complain("is ", show_value(response), "; a matrix must have two columns, cbind(successes, failures)")
    }
    counts <- count_matrix_of(response, complain)
    return(list(y = counts[, 1L], trials = rowSums(counts)))
  }
  if (is.character(response)) response <- factor(response)
  if (is.factor(response)) {
    if (nlevels(response) > 2L) {
      complain(sprintf("has %d levels; family \"binomial\" takes two, \"multinomial\" more", nlevels(response)))
    }
    return(single(response != levels(response)[[1L]], levels(response)))
  }
  if (is.logical(response) || (is.numeric(response) && all(response %in% c(0, 1)))) return(single(response))
  complain("is not binary: ", show_first_bad(response, function(y) y != 0 & y != 1),
    "; numbers of successes are given as cbind(successes, failures)")
}

class_counts <- function(response, is_known, complain, wanted) {
  if (is_known(response)) {
    counts <- outer(as.integer(response), seq_len(nlevels(response)), `==`) + 0
    colnames(counts) <- levels(response)
  } else if (is.matrix(response) && is.numeric(response)) {
    counts <- count_matrix_of(response, complain)
    colnames(counts) <- if (is.null(colnames(response))) seq_len(ncol(response)) else colnames(response)
  } else {
    complain("is ", show_value(response), "; a", wanted, " or a matrix of counts with a column for each class")
  }
  if (ncol(counts) < 2L || ncol(counts) > 33L) {
    complain("has ", count_words(ncol(counts), "class", "classes"), ", but must have 2 to 33")
  }
  counts
}

# For surrogates of Poisson rows (src/regression/surrogate.c). Any r is right; with this one 3 in 5 draws are taken.
with_surrogates <- function(response, offset, weights, parameters) {
  y <- response$observed
  rate <- if (any(weights > 0)) max(sum(weights * y), 0.5) / sum(weights) else 1
  expected <- log(rate) + offset - log_mean_exposure(offset, weights)
  multiple <- max(6, 2 * min(parameters, length(y))^(1 / 3))
  octave <- round(log2(multiple) + pmax(log2(y), expected / log(2)))
  r <- 2^octave
  log_r <- octave * log(2)
  c(response, list(
    start = log(rate) - log_mean_exposure(offset, weights), log_surrogate = log_r,
    shape = weights * (y + r), kappa = matrix(weights * (y - r) / 2),
    constant = sum(weights * (y * log_r - lgamma(y + 1))), information = weights * exp(expected)
  ))
}

# The log of the mean of exp(offset) in rows with weight.
log_mean_exposure <- function(offset, weights) {
  offset <- offset[weights > 0]
  if (all(offset == 0)) return(0)
  largest <- max(offset)
  largest + log(stats::weighted.mean(exp(offset - largest), weights[weights > 0]))
}

# `probability`: draws x rows x classes. Gives counts, or the number of the class drawn.
draw_classes <- function(probability, trials, as_counts) {
  size <- dim(probability)
  counts <- array(0L, size)
  left <- rep(trials, length.out = prod(size[1:2]))
  rest <- rep(1, length(left))
  for (k in seq_len(size[[3L]] - 1L)) {
    share <- as.vector(probability[, , k])
    counts[, , k] <- drawn <- stats::rbinom(length(left), left, ifelse(share < rest, share / rest, 1))
    left <- left - drawn
    rest <- rest - share
  }
  counts[, , size[[3L]]] <- as.integer(left)
  if (as_counts) return(counts)
  matrix(max.col(matrix(counts, ncol = size[[3L]]), "first"), size[[1L]], size[[2L]])
}
