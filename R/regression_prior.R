# The prior of a regression. In the sampler's units every predictor is centred and has standard deviation 1.

# `law`: as src/regression/regression.h; `df`: if fixed; `moments`: names of location and scale; lines(): what is said.
coefficient_priors <- list(
  normal = list(
    law = 0L, name = "normal", moments = c("mean", "standard deviation"),
    lines = function(prior, each) {
      shown <- if (isTRUE(prior$resolved) && prior$autoscale && prior$has[["slopes"]]) utils::head(prior$deviation, 12L)
      c(sprintf("coefficients: normal with mean %s and standard deviation %s%s", each(prior$location),
        each(prior$scale), if (prior$autoscale) ", divided by that of the predictor" else ""),
      if (length(shown)) {
        paste0("  that is ", paste0(vapply(shown, each, ""), " for ", names(shown), collapse = ", "),
          if (length(prior$deviation) > 12L) sprintf(" and %d more", length(prior$deviation) - 12L))
      })
    }
  ),
  zellner = list(
    law = 0L, lines = function(prior, each) {
      sprintf("coefficients: normal, with covariance g times the inverse information of the data; Zellner's g = %s",
        if (is.null(prior$g)) "number of trials or events" else each(prior$g))
    }
  ),
  horseshoe = list(
    law = 1L, name = "horseshoe",
    lines = function(prior, each) {
      c(sprintf("coefficients of standardised predictors: horseshoe, global scale half-Cauchy of scale %s",
        each(prior$global_scale)),
      if (!is.null(prior$slab_scale)) {
        sprintf("  regularised: large ones are Student t with %s degrees of freedom and scale %s",
          each(prior$slab_df), each(prior$slab_scale))
      })
    }
  ),
  student_t = list(
    law = 2L, name = "Student t", moments = c("location", "scale"),
    lines = function(prior, each) {
      sprintf("coefficients: Student t with %s degrees of freedom, %s", each(prior$df), placed_words(prior, each))
    }
  ),
  cauchy = list(law = 2L, df = 1, name = "Cauchy", moments = c("location", "scale"),
    lines = function(prior, each) paste("coefficients: Cauchy", placed_words(prior, each)))
)

placed_words <- function(prior, each) {
  sprintf("with location %s and scale %s%s", each(prior$location), each(prior$scale),
    if (prior$autoscale) " divided by the standard deviation of the predictor" else "")
}

#' Prior of a regression
#'
#' The prior of [bayes_logit()]. `fit$prior` has the numbers that the data decided.
#' @section Types:
#' \describe{
#'   \item{`"normal"`, `"student_t"`, `"cauchy"`}{Normal coefficients, or Student t of `df` degrees of freedom, 1 for
#'     `"cauchy"`. With `autoscale = TRUE` the standard deviation is `scale` divided by the unit of the predictor: its
#'     standard deviation over the observations. If most of these have one value, as with a rare level of a factor, the
#'     unit is at least half the root mean square of the others' distance from it.}
#'   \item{`"zellner"`}{All coefficients except the intercept are jointly normal with mean 0 and covariance \eqn{g (X' W
#'     X)^{-1}}{g (X'WX)^-1}. \eqn{X} are the centred predictors and \eqn{W} the information of each row: a quarter of
#'     its trials, or for Poisson counts the mean count.}
#'   \item{`"horseshoe"`}{The coefficient of standardised predictor \eqn{j} is normal with standard deviation
#'     \eqn{\lambda_j \tau}{lambda_j tau}, where \eqn{\lambda_j}{lambda_j} is half-Cauchy of scale 1 and \eqn{\tau}{tau}
#'     of scale `global_scale`. With a `slab_scale` large coefficients are Student t (Piironen and Vehtari 2017).}
#' }
#' The intercept is normal, at the means of all predictors (a sparse design: at 0). Normal coefficients of two classes
#' of a multinomial have the correlation 1/2, so that it does not matter which class is the reference.
#' @section Defaults:
#' What the default priors say, with probability 0.9. `sd` is the unit of the predictor, and "rate" that of the data (at
#' least two events, or 100 if there are none: then 95% of the posterior lie below about 3 events).
#' \tabular{lll}{
#'   **parameter** \tab **prior** \tab **in the units of the data** \cr
#'   intercept \tab normal(logit or log of the rate, 2.5) \tab odds or mean counts are 1/61 to 61 times the data's \cr
#'   coefficient \tab normal(0, 2.5 / sd) \tab one sd multiplies odds or mean counts by 1/61 to 61 \cr
#'   sd of groups' intercepts \tab half-Cauchy(2.5) \tab below 16 \cr
#'   sd of groups' slopes \tab half-t(2), scale 2.5 / sd \tab below 7.3 / sd \cr
#'   sd of a smooth, `s(x)` \tab half-Cauchy(1) \tab below 6.3 \cr
#'   correlations \tab uniform \tab -0.9 to 0.9 (`ar1(time)`: 0.05 to 0.95) \cr
#'   1/sqrt(r) of counts \tab half-Cauchy(1) \tab below 6.3
#' }
#' @param type the prior of the coefficients. Several types are given by the names of coefficients, and one without a
#'   name for the others: `c("normal", dose = "cauchy")`. `"zellner"` is for all coefficients or none.
#' @param location,scale median, in the units of the coefficients, and standard deviation or scale: one number, one for
#'   each coefficient except the intercept, or numbers with names as for `type`.
#' @param df for `"student_t"`: degrees of freedom, given as `scale` is.
#' @param autoscale `FALSE`: `scale` is in the units of the coefficients.
#' @param intercept_location,intercept_scale mean and standard deviation of the intercept. A mean of `NULL` is the logit
#'   or log of the rate of the data: of successes, of each step or class, of zeros, or of counts.
#' @param g for `"zellner"`: a positive number, or `NULL` for the number of trials, or of Poisson events.
#' @param global_scale for `"horseshoe"`: a positive number.
#' @param slab_scale,slab_df for `"horseshoe"`: scale (`NULL` for no slab) and degrees of freedom of large coefficients.
#' @param group_scale,smooth_scale scales of the half-Cauchy priors of the deviations of groups' intercepts and of
#'   smooths.
#' @param dispersion_scale for `"negbinomial"`: scale of the half-Cauchy prior of \eqn{1/\sqrt r}{1/sqrt(r)}.
#' @param dispersion `NULL`, or shape and rate of a gamma prior of \eqn{r} in its place.
#' @param ... must be empty.
#' @return An object of class `logit_prior`: a list of the arguments.
#' @references Piironen, J. and Vehtari, A. (2017). Sparsity information and regularization in the horseshoe and other
#' shrinkage priors. *Electronic Journal of Statistics* **11**, 5018-5051.
#' @examples
#' logit_prior(c("normal", dose = "cauchy"), scale = c(2.5, dose = 1))
#' @export
logit_prior <- function(type = c("normal", "zellner", "horseshoe", "student_t", "cauchy"), location = 0, scale = 2.5,
                        df = 4, autoscale = TRUE, intercept_location = NULL, intercept_scale = 2.5, g = NULL,
                        global_scale = 1, slab_scale = NULL, slab_df = 4, group_scale = 2.5,
                        smooth_scale = 1, dispersion_scale = 1, dispersion = NULL, ...) {
  check_dots_empty(...)
  type <- check_prior_types(type)
  positive <- function(value) is.numeric(value) && all(is.finite(value)) && all(value > 0)
  if (!is.numeric(location) || length(location) == 0L || !all(is.finite(location))) {
    stop_input("location", "must be finite numbers, not ", show_value(location))
  }
  if (length(scale) == 0L || !positive(scale)) {
    stop_input("scale", "must be positive finite numbers, not ", show_value(scale))
  }
  if (length(df) == 0L || !positive(df)) stop_input("df", "must be positive finite numbers, not ", show_value(df))
  if (!is.null(dispersion) && (length(dispersion) != 2L || !positive(dispersion))) {
    stop_input("dispersion", "must be the shape and the rate of a gamma distribution, two positive numbers, not ",
      show_value(dispersion))
  }
  numbers <- list(intercept_location = intercept_location, intercept_scale = intercept_scale, g = g,
    global_scale = global_scale, slab_scale = slab_scale, slab_df = slab_df, group_scale = group_scale,
    smooth_scale = smooth_scale, dispersion_scale = dispersion_scale)
  may_lack <- c("intercept_location", "g", "slab_scale")
  for (name in setdiff(names(numbers), may_lack[vapply(numbers[may_lack], is.null, NA)])) {
    numbers[[name]] <- check_number(numbers[[name]], name, min = if (name == "intercept_location") -Inf else 0)
  }
  structure(c(
    list(type = type, location = location + 0, scale = scale + 0, df = df + 0,
      autoscale = check_flag(autoscale, "autoscale")), numbers,
    list(dispersion = if (!is.null(dispersion)) stats::setNames(as.double(dispersion), c("shape", "rate")))
  ), class = c("logit_prior", "warpbayes"))
}

check_prior_types <- function(type) {
  known <- names(coefficient_priors)
  if (is.null(names(type)) || length(type) < 2L) return(check_choice(unname(type), "type", known))
  if (!is.character(type) || anyNA(type) || !all(type %in% known)) {
    stop_input("type", "must be among ", paste0(dQuote(known, FALSE), collapse = ", "), ", not ",
      if (is.character(type)) dQuote(type[!type %in% known][[1L]], FALSE) else show_value(type))
  }
  if ("zellner" %in% type) {
    stop_input("type", "is \"zellner\" for one coefficient, but that prior is for all coefficients together")
  }
  type
}

# Adds what the data decide. `mean` and `precision` (packed; with more coefficients than rows its diagonal) are for the
# coefficients of each outcome and of one given the others, in the sampler's units. `deviation` is for printing.
resolve_logit_prior <- function(prior, design, family, centre, outcomes = 1L) {
  if (!inherits(prior, "logit_prior")) stop_input("prior", "must come from logit_prior(), not ", show_value(prior))
  smooths <- design$smooths
  design <- sampled_design(design)
  names <- colnames(design$x)
  block <- if (is.null(design$block)) integer(length(names)) else design$block
  slopes <- which(!design$is_intercept & block == 0L)
  prior$location <- one_for_each(prior$location, "location", names[slopes])
  prior$scale <- one_for_each(prior$scale, "scale", names[slopes], 2.5)
  prior$df <- one_for_each(prior$df, "df", names[slopes], 4)
  types <- one_for_each(prior$type, "type", names[slopes], "normal")
  records <- coefficient_priors[types]
  prior$df[lengths(lapply(records, `[[`, "df")) > 0L] <- unlist(lapply(records, `[[`, "df"))
  family <- logit_families[[family]]
  if (is.null(prior$intercept_location)) prior$intercept_location <- unname(centre)
  unit <- design$scale
  mean <- matrix(0, length(names), outcomes)
  deviation <- rep(prior$intercept_scale, length(names))
  mean[design$is_intercept, ] <- prior$intercept_location
  deviation[slopes] <- prior$scale * unit[slopes] / if (prior$autoscale) design$prior_unit[slopes] else 1
  deviation[block > 0L] <- prior$smooth_scale
  located <- lengths(lapply(records, `[[`, "moments")) > 0L
  laws <- vapply(records, `[[`, 0L, "law")
  mean[slopes[located], ] <- (prior$location * unit[slopes])[located]
  shared <- rep(2 * outcomes / (outcomes + 1), length(names))
  shared[c(slopes[laws > 0L], which(block > 0L))] <- 1
  precision <- ifelse(block > 0L, 1, shared / deviation^2)
  if (identical(unname(prior$type), "zellner")) {
    if (is.null(prior$g)) prior$g <- design$observations
    precision <- diag(precision, length(names))
    precision[slopes, slopes] <- shared[[1L]] * zellner_precision(design, slopes, prior$g)
  } else if (!is_dual(design)) {
    precision <- diag(precision, length(names))
  }
  for (smooth in Filter(has_level_columns, design$smooths)) {
    precision[smooth$columns, smooth$columns] <- smooth$structure
  }
  prior$mean <- as.vector(mean)
  prior$precision <- if (is.matrix(precision)) pack(precision) else precision
  prior$types <- stats::setNames(types, names[slopes])
  prior[c("law", "law_df", "law_scale")] <- list(NULL, numeric(length(names)), deviation)
  if (any(laws > 0L) || any(block > 0L)) {
    prior$law <- integer(length(names))
    prior$law[slopes] <- laws
    prior$law[block > 0L] <- block[block > 0L] + 2L
    for (smooth in Filter(function(one) !is.null(one$gap), design$smooths)) {
      if (is.null(prior$law_gap)) prior$law_gap <- rep(-1, length(names))
      prior$law_gap[smooth$columns] <- smooth$gap
    }
  }
  for (smooth in smooths) {
    if (!is.null(smooth$gap)) prior$steps <- c(prior$steps, stats::setNames(smooth$lattice$step, smooth$label))
  }
  prior$law_df[slopes] <- prior$df
  prior$deviation <- stats::setNames(deviation / unit, names)[slopes]
  prior$resolved <- TRUE
  prior$centred <- !is_sparse_matrix(design$x) || length(smooths) > 0L
  prior$has <- c(
    intercept = any(design$is_intercept), slopes = length(slopes) > 0L,
    groups = length(design$terms) > 0L, effects = length(design$terms) > 0L && !isTRUE(design$single),
    independent = any(vapply(design$terms, `[[`, NA, "independent")),
    correlated = any(vapply(design$terms, function(term) !term$independent, NA)),
    dispersion = family$has_dispersion, smooths = any(block > 0L) || any(vapply(smooths, has_band, NA))
  )
  prior
}

# Values for all coefficients: one, one for each, or numbers with names and one without (or `other`) for the rest.
one_for_each <- function(values, argument, names, other = 0) {
  given <- names(values)
  if (!is.null(given) && length(names) > 0L) {
    unknown <- setdiff(given[nzchar(given)], names)
    if (length(unknown) || sum(!nzchar(given)) > 1L || anyDuplicated(given[nzchar(given)])) {
      stop_input("prior", if (length(unknown)) {
        sprintf("has `%s` for %s, which is no coefficient: the coefficients are %s", argument,
          dQuote(unknown[[1L]], FALSE), paste(utils::head(names, 12L), collapse = ", "))
      } else {
        sprintf("has `%s` with several values for one coefficient, or several without a name", argument)
      })
    }
    all <- rep(if (any(!nzchar(given))) unname(values[!nzchar(given)]) else other, length(names))
    all[match(given[nzchar(given)], names)] <- values[nzchar(given)]
    return(all)
  }
  values <- unname(values)
  if (length(values) == 1L || length(values) == length(names)) return(rep_len(values, length(names)))
  stop_input("prior", sprintf("has %d numbers as `%s` for %s besides the intercept", length(values), argument,
    count_words(length(names), "coefficient")))
}

# With more coefficients than rows, a system of the rows gives the coefficients (src/regression/dual_draw.h), without
# triangles of coefficients. Blocks need these, and an ordinal response has more rows than its design.
is_dual <- function(design) ncol(design$x) > nrow(design$x) && !isTRUE(design$primal)

zellner_precision <- function(design, slopes, g) {
  if (length(slopes) == 0L) return(matrix(0, 0L, 0L))
  information <- if (is_sparse_matrix(design$x)) {
    x <- design$x[, slopes, drop = FALSE]
    as.matrix(Matrix::crossprod(x * sqrt(design$information))) / outer(design$scale[slopes], design$scale[slopes])
  } else {
    scaled <- (design$x[, slopes, drop = FALSE] - rep(design$center[slopes], each = nrow(design$x))) /
      rep(design$scale[slopes], each = nrow(design$x))
    crossprod(scaled * sqrt(design$information))
  }
  if (qr(information)$rank < length(slopes)) {
    stop_input("prior", sprintf(paste("\"zellner\" needs predictors that do not depend on each other, but only %d of",
      "these %d are independent in %d rows: choose another type"), qr(information)$rank, length(slopes),
      nrow(design$x)))
  }
  if (is_dual(design)) {
    stop_input("prior", sprintf(paste("\"zellner\" needs as many rows as coefficients, but has %d for %d: choose",
      "another type"), nrow(design$x), ncol(design$x)))
  }
  information / g
}

# Moves of src/regression/level_moves.h in place of Polya-Gamma sweeps: 0 never, 1 where they pay, 2 always.
level_moves <- 1

compiled_logit_prior <- function(fit, counts) {
  prior <- fit$prior
  list(mean = prior$mean, precision = prior$precision, law = prior$law, df = prior$law_df, scale = prior$law_scale,
    gap = prior$law_gap, global_scale = prior$global_scale,
    slab = c(if (is.null(prior$slab_scale)) 0 else prior$slab_scale, prior$slab_df),
    group_scale = prior$group_scale, dispersion = if (is.null(prior$dispersion)) c(1, 1) else unname(prior$dispersion),
    dispersion_scale = if (is.null(prior$dispersion)) prior$dispersion_scale else 0, counts = counts,
    effect_scale = effect_scales(fit), moves = c(fit$warmup, level_moves))
}

in_console.logit_prior <- function(x, ...) {
  cat("Prior of a regression\n")
  print_lines(paste0("  ", logit_prior_words(x)))
}

logit_prior_words <- function(prior) {
  if (!is.null(prior[["zero"]])) {
    zeros <- paste("regression of zeros,", logit_prior_words(prior$zero))
    return(c(logit_prior_words(prior[names(prior) != "zero"]), sub("^regression of zeros,  ", "  ", zeros)))
  }
  each <- function(values) {
    shown <- vapply(values, function(one) format(signif(one, 3)), "")
    if (length(unique(values)) == 1L) return(shown[[1L]])
    if (length(shown) > 12L) shown <- c(shown[1:12], sprintf("and %d more", length(shown) - 12L))
    paste(shown, collapse = ", ")
  }
  has <- function(what) if (isTRUE(prior$resolved)) isTRUE(prior$has[what][[1L]]) else what != "smooths"
  centre <- prior$intercept_location
  c(
    if (has("intercept")) {
      sprintf("intercept, where predictors %s: normal with mean %s and standard deviation %s",
        if (isFALSE(prior$centred)) "are 0" else "have their means",
        if (is.null(centre)) "the logit or log of the rate of the data" else each(centre), each(prior$intercept_scale))
    },
    if (has("slopes")) {
      is_one <- length(unique(prior$type)) == 1L
      if (is_one) coefficient_priors[[prior$type[[1L]]]]$lines(prior, each) else several_priors_words(prior, each)
    },
    if (has("groups")) group_prior_words(prior, each),
    if (has("smooths")) {
      paste("standard deviation of each smooth over the observations, without its unpenalised part: half-Cauchy of",
        "scale", each(prior$smooth_scale))
    },
    if (length(prior$steps)) {
      sprintf(paste("of %s that is the deviation of each effect, about 0; the correlation of effects at the distance",
        "%s is uniform between 0 and 1"), names(prior$steps), vapply(prior$steps, each, ""))
    },
    if (has("dispersion")) {
      if (is.null(prior$dispersion)) {
        paste("dispersion r of the negative binomial: 1/sqrt(r), by which means vary besides the predictors, is",
          "half-Cauchy of scale", each(prior$dispersion_scale))
      } else {
        sprintf("dispersion r of the negative binomial: gamma with shape %s and rate %s", each(prior$dispersion[[1L]]),
          each(prior$dispersion[[2L]]))
      }
    }
  )
}

group_prior_words <- function(prior, each) {
  scale <- each(prior$group_scale)
  if (!isTRUE(prior$resolved) || !isTRUE(prior$has["effects"][[1L]])) {
    return(sprintf("standard deviation of the groups' intercepts: half-Cauchy of scale %s", scale))
  }
  scale <- paste0(scale, if (prior$autoscale) ", divided by the standard deviation of the predictor" else "")
  words <- c(independent = "independent effects of groups: half-Cauchy of",
    correlated = "correlated effects of groups: half-t with 2 degrees of freedom,")
  c(paste("standard deviations of", words[prior$has[names(words)]], "scale", scale),
    if (prior$has[["correlated"]]) "correlations of these effects: uniform, each on its own")
}

several_priors_words <- function(prior, each) {
  types <- if (isTRUE(prior$resolved)) prior$types else prior$type
  words <- vapply(coefficient_priors[types], `[[`, "", "name")
  if (!isTRUE(prior$resolved)) {
    who <- ifelse(nzchar(names(types)), names(types), "the others")
    return(paste0("coefficients: ", paste0(words, " for ", who, collapse = ", ")))
  }
  lines <- vapply(utils::head(seq_along(types), 12L), function(i) {
    moments <- coefficient_priors[[types[[i]]]]$moments
    paste0("  ", names(types)[[i]], ": ", words[[i]], if (length(moments)) {
      sprintf(" with %s %s and %s %s", moments[[1L]], each(prior$location[[i]]), moments[[2L]],
        each(prior$deviation[[i]]))
    }, if (types[[i]] == "student_t") sprintf(", %s degrees of freedom", each(prior$df[[i]])))
  }, "")
  c("coefficients", lines, if (length(types) > 12L) sprintf("  and %d more", length(types) - 12L),
    if ("horseshoe" %in% types) coefficient_priors$horseshoe$lines(prior, each))
}
