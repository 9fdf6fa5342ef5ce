# The help page of zero-inflated and hurdle counts. R/regression_zero.R and the files beside it have the code.

#' Zero-inflated and hurdle counts
#'
#' Counts with more zeros, or fewer, than a Poisson or negative binomial regression expects. The arguments `zi` and `hu`
#' of [bayes_logit()] add a regression of zeros. With `zi = ~ z` a row is an excess zero with a probability whose logit
#' is linear in `z`; the other rows are counts, which may be 0 too. With `hu = ~ z` a row is 0 with such a probability;
#' the other rows are counts above 0, from the distribution of counts without its 0.
#'
#' A positive coefficient means more zeros, as in package brms; in `pscl::hurdle()` the signs are opposite. Both
#' formulas may have [grouping terms][grouping_terms], [smooths][smooth_terms] and offsets; the argument `offset`
#' belongs to the counts. `subset` and `weights`, which are whole numbers up to 1,000,000, apply to both. `na.action`,
#' `sparse`, `prior_only` and `checkpoint` cannot be used.
#'
#' `prior` holds for both regressions, or `list(count = logit_prior(...), zero = logit_prior(...))` gives each its own.
#' The counts' intercept is by default about the log of the Poisson mean that fits the counts above 0, less the log of
#' the mean exposure, and that of zeros about the share of zeros (`zi`: of those beyond the Poisson ones).
#' @section Parts of a fit:
#' Parameters of the regression of zeros have `zi_` or `hu_` before their names, such as `zi_(Intercept)`, and `zero_`
#' in `fit$draws` and among traces of groups. [predict.bayes_logit()] gives the mean response, zeros included. `type =
#' "zero"` gives the probability of an excess zero (`zi`) or of a zero (`hu`), `type = "count"` the mean of the
#' distribution of counts, and `type = "link"` its log. Package emmeans sees the regression of counts. `deviance()`, its
#' residuals and `family()` are errors. `re_formula` is `NULL` or `NA`.
#' @references
#' Lambert, D. (1992). Zero-inflated Poisson regression, with an application to defects in manufacturing.
#' *Technometrics* **34**, 1-14.
#' @examples
#' set.seed(1)
#' visits <- data.frame(people = rep(1:4, 15), camper = rep(0:1, each = 30))
#' visits$fish <- ifelse(runif(60) < plogis(1 - 2 * visits$camper), 0, rpois(60, visits$people))
#' fit <- bayes_logit(fish ~ log(people), visits, "poisson", zi = ~ camper,
#'   chains = 2, iter = 200, seed = 1, threads = 2)
#' predict(fit, data.frame(people = 2, camper = 0:1), type = "zero")
#' @name zero_inflated_counts
NULL
