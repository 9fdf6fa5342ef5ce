# What users of package BayesLogit write with this package: a help page without code of its own.

#' From package BayesLogit to this one
#'
#' What to write in place of the functions of package BayesLogit, line by line, and what then is different. The lines
#' on the right are run as the examples of this page.
#'
#' @section Draws:
#' \tabular{ll}{
#'   BayesLogit 2.x \tab warpbayes\cr
#'   `rpg(n, h, z)` \tab `rpolyagamma(n, h, z)`\cr
#'   `rpg(num = n, h = h, z = z)` \tab `rpolyagamma(n, shape = h, tilt = z)`\cr
#'   `rpg.devroye(n, h, z)` \tab `rpolyagamma(n, h, z, method = "sum")`, or without `method`\cr
#'   `rpg.devroye(n, 1, z)` \tab `rpolyagamma(n, 1, z, method = "devroye")`, or without `method`\cr
#'   `rpg.gamma(n, h, z, trunc = 200)` \tab `rpolyagamma(n, h, z)`: nothing is truncated\cr
#'   `rpg.sp(n, h, z)` \tab `rpolyagamma(n, h, z, method = "saddlepoint")`, or without `method`\cr
#'   `rpg.devroye.R()`, `rpg.gamma.R()` \tab as `rpg.devroye()` and `rpg.gamma()`\cr
#'   `rpg.alt(n, h, z)` of version 0.6 \tab `rpolyagamma(n, h, z, method = "alternate")` for `h` up to 4
#' }
#' The order of the arguments is the same: number of draws, shape, tilt. Names differ, and cannot be shortened.
#'
#' @section Models:
#' Version 0.6 of BayesLogit also had regressions. There `y` are proportions, and `n` the numbers of trials.
#' \tabular{ll}{
#'   BayesLogit 0.6 \tab warpbayes\cr
#'   `logit(y, X, n)` \tab `bayes_logit(cbind(n * y, n * (1 - y)) ~ X - 1)`\cr
#'   one sweep of `logit(y, X, n, m0, P0)` \tab `polyagamma_step()`, as in the examples\cr
#'   `logit.EM(y, X, n)` \tab `glm(cbind(n * y, n * (1 - y)) ~ X - 1, family = binomial())`\cr
#'   `mlogit(y, X, n)` \tab `bayes_logit(n * cbind(1 - rowSums(y), y) ~ X - 1, family = "multinomial")`
#' }
#' The default priors differ: `logit()` and `mlogit()` had flat priors, [bayes_logit()] has the weakly informative prior
#' of [logit_prior()]. A flat prior is `prior_precision = 0` of [polyagamma_step()]. In `mlogit()` the last class was
#' the reference; in `bayes_logit()` it is the first, which is why the remaining share is put there. `logit()` has its
#' kept draws in `fit$beta`; `bayes_logit()` has them in `posterior::as_draws(fit)` and `fit$coefficient_trace`.
#'
#' @section What is different:
#' \describe{
#'   \item{Seeds}{`set.seed()` makes both packages repeatable, but the numbers are others. `rpolyagamma()` takes one
#'     seed from R's generator for each call; with `seed =` it does not touch R's generator. Draw `i` depends on the
#'     seed, `i`, and its own shape and tilt alone.}
#'   \item{Laws}{`rpg()` draws shapes 1 and 2 exactly. For other shapes up to 13 it adds 1,000 gamma variables and drops
#'     the rest of the series, so that at `z = 0` the mean is too small by a factor of 1 - 2e-4. From 13 to 170 it has
#'     the saddlepoint approximation, and above 170 a normal one, whose errors [rpolyagamma()] states. `rpolyagamma()`
#'     is within a Kolmogorov distance of 1e-6 of the law for every shape.}
#'   \item{Integers}{`rpg(5, 2L, 0)` gives zeros without a word, since BayesLogit 2.3 hands the integer to C as a
#'     double. `rpolyagamma(5, 2L, 0)` is right. `as.double()` around arguments can go.}
#'   \item{Shape 0}{`rpg()` refuses it, but `rpg.devroye()`, `rpg.gamma()` give 0. `rpolyagamma()` refuses it. With
#'     zeros in `h`: `w <- numeric(n); w[h > 0] <- rpolyagamma(sum(h > 0), h[h > 0], z[h > 0])`.}
#'   \item{Fractions}{`rpg.devroye()` cuts `h` to whole numbers in silence. `method = "sum"` refuses fractions; without
#'     `method` they are drawn from.}
#'   \item{Recycling}{Both recycle `h` and `z` to `num` draws, and read no more than `num` entries. A `num` of more
#'     than one entry is not understood by BayesLogit; here it stands for its length, as in R's own functions.}
#'   \item{Missing values}{BayesLogit stops. `rpolyagamma()` gives `NaN` with a warning, as R's own functions do.}
#'   \item{Shapes of results}{Both return a vector. For a matrix of tilts: `array(rpolyagamma(length(z), h, z),
#'     dim(z))`.}
#'   \item{Forked workers}{`parallel::mclapply()` works. A forked child uses one thread.}
#'   \item{C and C++}{BayesLogit 2.3 registers no function that other packages can call. See [c_interface].}
#' }
#' To change a package, replace `importFrom(BayesLogit, rpg)` by `importFrom(warpbayes, rpolyagamma)`, and the names of
#' the arguments. A draw takes less time, a call takes more: a call for 5 draws takes about 6 microseconds, and the same
#' call of `rpg()` about 1. So draw all variables of a sweep in one call rather than group by group.
#'
#' @name polyagamma_from_BayesLogit
#' @seealso [rpolyagamma()], [bayes_logit()], [polyagamma_step()], [c_interface]
#' @references
#' Polson, N. G., Scott, J. G. and Windle, J. (2013). Bayesian inference for logistic models using Polya-Gamma latent
#' variables. *Journal of the American Statistical Association* 108, 1339-1349. \doi{10.1080/01621459.2013.829001}
#' @examples
#' options(warpbayes.threads = 2)
#' n <- 5
#' z <- seq(-2, 2, length.out = n)
#' h <- 2
#' rpolyagamma(n, h, z)
#' rpolyagamma(n, shape = h, tilt = z)
#' rpolyagamma(n, h, z, method = "sum")
#' rpolyagamma(n, 1, z, method = "devroye")
#' rpolyagamma(n, h, z, method = "saddlepoint")
#' rpolyagamma(n, h, z, method = "alternate")
#'
#' # Shapes of 0.
#' h <- c(0, 1, 3, 0, 2)
#' w <- numeric(n)
#' w[h > 0] <- rpolyagamma(sum(h > 0), h[h > 0], z[h > 0])
#'
#' # A matrix of tilts.
#' z <- matrix(z, 5, 2)
#' array(rpolyagamma(length(z), 1, z), dim(z))
#'
#' # Regressions.
#' X <- cbind(1, mtcars$wt)
#' y <- mtcars$am
#' n <- rep(1, 32)
#' fit <- bayes_logit(cbind(n * y, n * (1 - y)) ~ X - 1, iter = 200, seed = 1)
#' beta <- c(0, 0)
#' for (i in 1:20) {
#'   beta <- polyagamma_step(X, n * y, beta, trials = n, prior_mean = 0, prior_precision = 0,
#'     iteration = i, seed = 1)$beta
#' }
#' glm(cbind(n * y, n * (1 - y)) ~ X - 1, family = binomial())
#' y <- cbind(mtcars$cyl == 4, mtcars$cyl == 6)
#' fit <- bayes_logit(n * cbind(1 - rowSums(y), y) ~ X - 1,
#'   family = "multinomial", iter = 200, seed = 1
#' )
NULL
