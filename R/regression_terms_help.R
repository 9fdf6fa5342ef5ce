# The help page of grouping terms. R/regression_terms.R has the code.

#' Grouping terms of regressions
#'
#' Effects of groups of rows in [bayes_logit()], written as in package lme4.
#'
#' | term | adds to the linear predictor |
#' |---|---|
#' | `(1 | g)` | an intercept for each level of `g` |
#' | `(x | g)` | an intercept and a slope of `x` for each level of `g`, which are correlated |
#' | `(x || g)` | the same, uncorrelated |
#' | `(0 + x | g)` | a slope of `x` for each level of `g` |
#' | `(1 | g) + (1 | h)` | intercepts of two groupings, which may be crossed |
#' | `(1 | g:h)` | an intercept for each combination of levels that the data have |
#' | `(1 | g/h)` | the same as `(1 | g) + (1 | h:g)`: levels of `h` within levels of `g` |
#'
#' The left side is a formula of up to 16 effects, such as `x + I(x^2)` or a factor. With `||` every column of a factor
#' has effects of its own that are uncorrelated with the others. A model has up to 16 terms. Two terms must not have the
#' same effect of the same groups.
#'
#' The predictors of the left side are not centred. So the intercept of a group refers to `x = 0`, as in lme4.
#'
#' @section Model and prior:
#' The effects of a level are normal with mean 0 and a covariance matrix of their term, which is learned. With
#' \eqn{s}{s} = `group_scale` of [logit_prior()], divided by the standard deviation of the predictor if `autoscale =
#' TRUE`:
#' \describe{
#'   \item{one effect, or `||`}{The standard deviation of each effect is half-Cauchy of scale \eqn{s}{s}.}
#'   \item{correlated effects}{The prior of Huang and Wand (2013) with \eqn{\nu = 2}{nu = 2}. Each standard deviation is
#'     half-t with 2 degrees of freedom and scale \eqn{s}{s}. Each correlation is uniform between -1 and 1, whatever the
#'     number of effects.}
#' }
#' This prior is a mixture of inverse Wishart distributions, so a sweep draws the covariance matrix exactly. The LKJ
#' prior has no such form, and its correlations are uniform only for two effects. The plain inverse Wishart prior ties
#' large correlations to large standard deviations.
#'
#' @section Classes:
#' In a regression of family `"multinomial"` each class except the reference has effects and a covariance matrix of its
#' own in every term. Effects of different classes are independent a priori. So the prior depends on
#' which class is the reference: if all classes differ between groups by the same amount, their log odds against the
#' reference are correlated, but this prior treats them as independent.
#'
#' @section Computation:
#' A sweep draws the Polya-Gamma variables of the rows, and then goes through the terms. For each term it draws the
#' coefficients together with all effects of the term, given the effects of the other terms. Drawing the coefficients
#' with every term keeps crossed groupings mixing however many levels they have (Papaspiliopoulos, Roberts and Zanella
#' 2020). More exact steps follow. The first rescales effects and standard deviations together. The next draws the
#' correlations with the uncorrelated parts of the effects held fixed (Yu and Meng 2011). The last moves what nested
#' groupings share from one to the other. A sweep reads each row once for each term. For a multinomial it does all this
#' class by class.
#'
#' Where each row has many trials or a large count, and where events are rare, such sweeps mix slowly. There the
#' elliptical slice moves of [bayes_logit()] follow each sweep and move coefficients, dispersion and the effects of all
#' terms together. They are used if the term with the most levels has at most 4,096 effects and the other terms have at
#' most 64 effects together. Above 128 coefficients and effects of other terms, the limit of 4,096 is smaller. A printed
#' fit says whether the moves were used. For a multinomial the limits are for the effects of all classes together, and
#' the term with the most levels must have at most 16 effects for each level, all classes together.
#'
#' Standard deviations near 0 give about 150 to 350 effective draws in 1,000 sweeps. Look at `ess_bulk` in
#' [summary.bayes_logit()].
#'
#' @section Parts of a fit:
#' A fit with one term `(1 | g)` has the parts described in [bayes_logit()], unless the family is multinomial. In other
#' fits, with S sweeps, D kept draws per chain and C chains:
#' \describe{
#'   \item{`draws$effects`}{effects x D x C, in the data's units, named `b[x g:a]` for the slope of `x` in level `a` of
#'     `g`, as in package rstanarm. Terms follow each other; within a term, levels do; within a level, effects do.}
#'   \item{`group_deviation`}{S x C x standard deviations, in the order of terms and effects.}
#'   \item{`group_correlation`}{S x C x correlations, if there are any.}
#' }
#' For a multinomial these are the parts of the second class, then of the third, and so on, with names such as
#' `class:b[x g:a]`.
#'
#' Summaries and draws call the standard deviations `sd(g)` for intercepts and `sd(x | g)` for slopes, and the
#' correlations `cor((Intercept), x | g)`. [predict.bayes_logit()] draws the effects of a new level from their normal
#' distribution, in every draw of the parameters.
#' @section Errors:
#' `warpbayes_error_input` for a term that cannot be read, and for groups or predictors of a term that have missing or
#' infinite values after `na.action`.
#' @references
#' Huang, A. and Wand, M. P. (2013). Simple marginally noninformative prior distributions for covariance matrices.
#' *Bayesian Analysis* **8**, 439-452.
#'
#' Papaspiliopoulos, O., Roberts, G. O. and Zanella, G. (2020). Scalable inference for crossed random effects models.
#' *Biometrika* **107**, 25-40.
#' @seealso [bayes_logit()], [logit_prior()]
#' @examples
#' set.seed(1)
#' d <- data.frame(day = rep(0:9, 18), subject = rep(1:18, each = 10))
#' level <- rnorm(18)
#' slope <- rnorm(18, 0.1, 0.1)
#' d$errors <- rnbinom(180, mu = exp(1 + level[d$subject] + slope[d$subject] * d$day), size = 5)
#' fit <- bayes_logit(errors ~ day + (day | subject), d, "negbinomial",
#'   chains = 2, iter = 400, seed = 1, threads = 2
#' )
#' fit
#' predict(fit, data.frame(day = 10, subject = c(1, 99)))
#' @name grouping_terms
NULL
