# The help page of smooths. R/regression_smooths.R and R/regression_lattices.R have the code.

#' Smooths and effects of areas and times in regressions
#'
#' Terms of the formula of [bayes_logit()] whose coefficients have a known precision matrix up to one learned scale.
#'
#' | term | adds to the linear predictor |
#' |---|---|
#' | `s(x)` | a smooth function of `x`, by [mgcv::s()] |
#' | `s(x, by = f)` | one for each level of the factor `f`; add `f` itself, because each has mean 0 |
#' | `s(x, by = z)` | a smooth function of `x` times the number `z` |
#' | `s(x, z)`, `t2(x, z)` | a smooth surface, isotropic or not |
#' | `car(area, adjacency)` | effects of areas that are like those of their neighbours |
#' | `rw(time)` | effects of times that follow a random walk |
#' | `rw(time | unit)` | a random walk of each unit; add `(1 | unit)` for its level |
#' | `ar1(time)` | effects of times that follow a stationary first-order autoregression |
#' | `ar1(time | unit)` | an autoregression of each unit, which has the unit's level in it |
#'
#' `s()` and `t2()` take the arguments of package mgcv, such as `k` and `bs`. `te()` and `ti()` have several penalties
#' on the same coefficients, which is not known here; `t2()` is for the same surfaces. The arguments `sp`, `id` and `pc`
#' are errors.
#'
#' `adjacency` is a symmetric matrix with the names of the areas as row names, 1 for neighbours (or other weights) and 0
#' for others, or a list that has for each area, by its name, the names or numbers of its neighbours. Areas without rows
#' can be predicted. Parts of the map that are not connected have levels of their own, as coefficients without penalty.
#' The variance of a step of `rw()` is proportional to its length. Gaps in the times of `ar1()` count, too: effects at a
#' distance of two steps have the square of the correlation at one. Each area, or time of a unit, is a column of the
#' design; at most 1024 are known. From 32 on the columns are sparse, which needs package Matrix. Beyond 300 the time of
#' a sweep grows with the cube of their number: over 1e5 rows a sweep takes 1.3 ms without such a term, 1.5 ms with 100
#' levels, 8 ms with 300 and 0.2 s with 1000, on one thread with AVX-512. Rows of the same predictors are best added up
#' beforehand, as `cbind(successes, failures)`.
#'
#' @section Model and prior:
#' A smooth is a sum of two parts. Its penalised part is normal, with the precision that the penalty gives, divided by a
#' variance \eqn{\sigma^2}{sigma^2} that is learned. (This is the mixed model whose REML estimate [mgcv::gam()] gives by
#' default; see Wood 2017, section 5.8.) Its unpenalised part, such as the linear function of `s(x)`, has coefficients
#' with the prior of other coefficients. They are called `s(x).fixed1` and so on, and are for columns of standard
#' deviation 1.
#'
#' The penalised part is scaled such that \eqn{\sigma}{sigma} is its standard deviation over the observations.
#' `sd(s(x))` in summaries is \eqn{\sigma}{sigma}. It is half-Cauchy with the scale `smooth_scale` of [logit_prior()],
#' by default 1. So the prior does not depend on the unit of `x`, nor on how rows are aggregated. A smooth of `t2()` has
#' a standard deviation for each part, and for `"multinomial"` each class has its own.
#'
#' A smooth has mean 0 over the observations, because its mean could not be told from the intercept. With a factor as
#' `by` it has mean 0 over the observations of its level, and `rw(time | unit)` over those of each unit. A smooth that
#' is multiplied by numbers keeps its mean.
#'
#' The effects of `ar1()` have the mean 0, the standard deviation \eqn{\sigma}{sigma} and, at times \eqn{s} and \eqn{t}
#' of the same unit, the correlation \eqn{\rho^{|s - t| / h}}{rho^(|s - t|/h)}. `sd(ar1(time))` in summaries is
#' \eqn{\sigma}{sigma}, with the same half-Cauchy prior, and `cor(ar1(time))` is \eqn{\rho}{rho}, which is uniform
#' between 0 and 1. The step \eqn{h} is the median distance of neighbouring times of a unit; `print(fit$prior)` shows
#' it. So the prior does not depend on the unit of time. These effects are not forced to have mean 0 over the
#' observations. An effect that lasts all the time, as of `(1 | unit)`, is hard to tell from `ar1(time | unit)` with a
#' high correlation.
#' @section Methods:
#' `predict()` and all other methods include smooths. `re_formula` is about grouping terms only. `plot(fit, "smooths")`
#' shows the smooths. Summaries leave out the penalised coefficients, which mean nothing alone; `coef()` and
#' `posterior::as_draws()` have them. For a time or an area that the term does not know, `predict()` gives an error. But
#' effects of `ar1()` at other times, or of other units, are known given those of the data: each draw of the fit gets a
#' draw from this law, by R's generator, as new groups do. The marginal means of package emmeans are for smooths at
#' their means, and for effects of `ar1()` of 0.
#' @section Sampler:
#' Given the Polya-Gamma variables, \eqn{\sigma^2}{sigma^2} is drawn with all coefficients integrated out, by slice
#' sampling, and then the coefficients. So both mix well even if \eqn{\sigma}{sigma} is near 0. \eqn{\rho}{rho} is drawn
#' in the same way, together with \eqn{\sigma}{sigma}, such that \eqn{\sigma^2 (1 - \rho^2)}{sigma^2 (1 - rho^2)} stays
#' the same. The moves for few events
#' in many groups are not used with smooths.
#' @references
#' Wood, S. N. (2017). *Generalized Additive Models: An Introduction with R*, 2nd edition. Chapman and Hall/CRC.
#'
#' Besag, J., York, J. and Mollie, A. (1991). Bayesian image restoration, with two applications in spatial statistics.
#' *Annals of the Institute of Statistical Mathematics* **43**, 1-20.
#' @seealso [bayes_logit()], [logit_prior()], [plot.bayes_logit()], [grouping_terms]
#' @examples
#' if (requireNamespace("mgcv", quietly = TRUE)) {
#'   fit <- bayes_logit(am ~ s(wt, k = 5), mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#'   print(fit)
#'   plot(fit, "smooths")
#' }
#' # Five areas in a row.
#' neighbours <- list(a = "b", b = c("a", "c"), c = c("b", "d"), d = c("c", "e"), e = "d")
#' cases <- data.frame(area = letters[1:5], y = c(2, 3, 6, 9, 12), population = 10:14)
#' bayes_logit(y ~ car(area, neighbours) + offset(log(population)), cases, "poisson",
#'   chains = 2, iter = 400, seed = 1, threads = 2
#' )
#' @name smooth_terms
NULL
