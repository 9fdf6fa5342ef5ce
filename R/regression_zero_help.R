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
#'
#' Names and signs are those of package brms (`zi`, `hu`): a positive coefficient means more zeros. In `pscl::hurdle()`
#' coefficients of zeros have the opposite signs, because it models the probability of a count above 0. In
#' `pscl::zeroinfl()` they have the same signs.
#'
#' Both formulas may have grouping terms (see [grouping_terms]), smooths (see [smooth_terms]) and offsets. Offsets of
#' the argument `offset` belong to the counts. Rows with a missing value in either formula are left out. Weights must be
#' whole numbers: a row of weight 2 counts as two rows. Arguments `na.action`, `sparse`, `prior_only` and `checkpoint`
#' cannot be used.
#'
#' @section Prior:
#' `prior` holds for both regressions, as for a regression of counts and a logistic regression: see [logit_prior()].
#' `prior = list(count = logit_prior(...), zero = logit_prior(...))` gives each its own. The default location of the
#' counts' intercept is the log of the Poisson mean whose counts above 0 have the mean of those in the data, less the
#' log of the mean exposure.
#'
#' @section Parts of a fit:
#' Coefficients, deviations and effects of the regression of zeros have `zi_` or `hu_` before their names, such as
#' `zi_(Intercept)`, `zi_sd(g)`. In `fit$draws` and among traces of groups they have `zero_`.
#'
#' [predict.bayes_logit()] and `fitted()` give the mean response, zeros included. `type = "zero"` gives the probability
#' of an excess zero (`zi`) or of a zero (`hu`), `type = "count"` the mean of the distribution of counts, and `type =
#' "link"` its log. `log_lik()` sums over what a zero may be, so `loo()` compares these fits with others of the same
#' responses. `simulate()`, `posterior_predict()`, `pp_check()`, `residuals()` (response and Pearson), `ranef()`,
#' `VarCorr()` and `loo::kfold()` know both regressions. Package emmeans sees the regression of counts. `deviance()` and
#' `family()` refuse these fits. `re_formula` is `NULL` or `NA`.
#'
#' @section Sampler:
#' A sweep completes the data. With `zi` it draws for each 0 whether it is an excess zero. With `hu` it draws how many
#' zeros would have been seen before each count if the distribution of counts had not been truncated; their number is
#' geometric. Given this, each regression takes a Polya-Gamma sweep as if it were alone. An elliptical slice move of all
#' coefficients and of the dispersion follows (Nishihara, Murray and Adams 2014). It does not need the completed data.
#' Excess zeros and a small dispersion explain the same zeros, so sweeps alone mix slowly. The move leaves effects of
#' groups as they are. It is left out for more than 101 coefficients and dispersions, and where a regression has more
#' coefficients than rows.
#' @references
#' Lambert, D. (1992). Zero-inflated Poisson regression, with an application to defects in manufacturing.
#' *Technometrics* **34**, 1-14.
#'
#' Nishihara, R., Murray, I. and Adams, R. P. (2014). Parallel MCMC with generalized elliptical slice sampling. *Journal
#' of Machine Learning Research* **15**, 2087-2112.
#' @seealso [bayes_logit()], [logit_prior()]
#' @examples
#' # Fish that groups of visitors caught. Some groups did not fish.
#' set.seed(1)
#' visits <- data.frame(people = rep(1:4, 15), camper = rep(0:1, each = 30))
#' visits$fish <- ifelse(runif(60) < plogis(1 - 2 * visits$camper), 0, rpois(60, visits$people))
#' fit <- bayes_logit(fish ~ log(people), visits, "poisson", zi = ~ camper,
#'   chains = 2, iter = 200, seed = 1, threads = 2
#' )
#' fit
#' predict(fit, data.frame(people = 2, camper = 0:1), type = "zero")
#' @name zero_inflated_counts
NULL
