# The help page of zero-inflated and hurdle counts. R/regression_zero.R and the files beside it have the code.

#' Zero-inflated and hurdle counts
#'
#' Counts with more zeros, or fewer, than a Poisson or negative binomial regression expects. The arguments `zi` and `hu`
#' of [bayes_logit()] add a regression of zeros.
#'
#' \describe{
#'   \item{`zi = ~ z`}{A row is an excess zero with a probability whose logit is linear in `z`. The other rows are
#'     counts, which may be 0 too.}
#'   \item{`hu = ~ z`}{A row is 0 with a probability whose logit is linear in `z`. The other rows are counts above 0,
#'     from the distribution of counts without its 0.}
#' }
#' A positive coefficient means more zeros, as in package brms. In `pscl::hurdle()` the signs are opposite.
#'
#' Both formulas may have [grouping terms][grouping_terms], [smooths][smooth_terms] and offsets. The argument `offset`
#' belongs to the counts. `subset` and `weights` apply to both regressions. Weights are whole numbers up to 1,000,000: a
#' row of weight 2 counts as two rows. Rows with a missing value in either formula are left out. `na.action`, `sparse`,
#' `prior_only` and `checkpoint` cannot be used.
#'
#' @section Prior:
#' `prior` holds for both regressions: see [logit_prior()]. `prior = list(count = logit_prior(...), zero =
#' logit_prior(...))` gives each its own. The counts' intercept is by default about the log of the Poisson mean that
#' fits the counts above 0, less the log of the mean exposure.
#'
#' @section Parts of a fit:
#' Coefficients, deviations and effects of the regression of zeros have `zi_` or `hu_` before their names, such as
#' `zi_(Intercept)`. In `fit$draws` and among traces of groups they have `zero_`.
#'
#' [predict.bayes_logit()] and `fitted()` give the mean response, zeros included. `type = "zero"` gives the probability
#' of an excess zero (`zi`) or of a zero (`hu`), `type = "count"` the mean of the distribution of counts, and `type =
#' "link"` its log. All other methods know both regressions, except that package emmeans sees the regression of counts.
#' `deviance()`, its residuals and `family()` are errors. `re_formula` is `NULL` or `NA`.
#' @references
#' Lambert, D. (1992). Zero-inflated Poisson regression, with an application to defects in manufacturing.
#' *Technometrics* **34**, 1-14.
#'
#' Nishihara, R., Murray, I. and Adams, R. P. (2014). Parallel MCMC with generalized elliptical slice sampling. *Journal
#' of Machine Learning Research* **15**, 2087-2112. (The sampler moves all coefficients by this method.)
#' @seealso [bayes_logit()], [logit_prior()]
#' @examples
#' # Fish that groups of visitors caught. Some groups did not fish.
#' set.seed(1)
#' visits <- data.frame(people = rep(1:4, 15), camper = rep(0:1, each = 30))
#' visits$fish <- ifelse(runif(60) < plogis(1 - 2 * visits$camper), 0, rpois(60, visits$people))
#' fit <- bayes_logit(fish ~ log(people), visits, "poisson", zi = ~ camper,
#'   chains = 2, iter = 200, seed = 1, threads = 2
#' )
#' predict(fit, data.frame(people = 2, camper = 0:1), type = "zero")
#' @name zero_inflated_counts
NULL
