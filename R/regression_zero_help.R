#' Zero-inflated and hurdle counts
#'
#' The arguments `zi` and `hu` of [bayes_logit()] add a regression of zeros to one of counts. With `zi = ~ z` a row is
#' an excess zero with a probability whose logit is linear in `z`; the other rows are counts, which may be 0 too. With
#' `hu = ~ z` a row is 0 with such a probability; the other rows are counts, given that they are above 0.
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
#' @references Lambert, D. (1992). Zero-inflated Poisson regression, with an application to defects in manufacturing.
#' *Technometrics* **34**, 1-14.
#' @examples
#' d <- data.frame(x = rep(1:3, 20), y = c(rep(0, 20), 0:39 %% 4))
#' fit <- bayes_logit(y ~ x, d, "poisson", zi = ~ 1, chains = 2, iter = 200, seed = 1, threads = 2)
#' predict(fit, data.frame(x = 2), type = "zero")
#' @name zero_inflated_counts
NULL
