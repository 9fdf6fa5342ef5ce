#' From package BayesLogit to this one
#'
#' What to write in place of the functions of package BayesLogit. Only the names of arguments differ.
#' \tabular{ll}{
#'   BayesLogit 2.x \tab warpbayes\cr
#'   `rpg(num = n, h = h, z = z)` \tab `rpolyagamma(n, shape = h, tilt = z)`\cr
#'   `rpg.devroye(n, h, z)` \tab `rpolyagamma(n, h, z, method = "sum")`, or without `method`\cr
#'   `rpg.gamma(n, h, z, trunc = 200)` \tab `rpolyagamma(n, h, z)`: nothing is truncated\cr
#'   `rpg.sp(n, h, z)` \tab `rpolyagamma(n, h, z, method = "saddlepoint")`, or without `method`\cr
#'   `rpg.alt(n, h, z)` of version 0.6 \tab `rpolyagamma(n, h, z, method = "alternate")` for `h` up to 4
#' }
#' Version 0.6 of BayesLogit also had regressions, with proportions `y` and numbers of trials `n`.
#' \tabular{ll}{
#'   BayesLogit 0.6 \tab warpbayes\cr
#'   `logit(y, X, n)` \tab `bayes_logit(cbind(n * y, n * (1 - y)) ~ X - 1)`\cr
#'   one sweep of `logit(y, X, n, m0, P0)` \tab [polyagamma_step()]\cr
#'   `mlogit(y, X, n)` \tab `bayes_logit(n * cbind(1 - rowSums(y), y) ~ X - 1, family = "multinomial")`
#' }
#' `logit()` and `mlogit()` had flat priors, [bayes_logit()] has that of [logit_prior()]. In `mlogit()` the last class
#' was the reference; in `bayes_logit()` it is the first.
#'
#' @section What is different:
#' `rpg()` draws shapes 1 and 2 exactly and approximates the others. `rpolyagamma()` is within a Kolmogorov distance of
#' 1e-6 of the law for every shape, and refuses shape 0: the example gives 0 there.
#'
#' @name polyagamma_from_BayesLogit
#' @examples
#' h <- c(0, 1, 3, 0, 2)
#' w <- numeric(5)
#' w[h > 0] <- rpolyagamma(sum(h > 0), h[h > 0], threads = 2)
#' X <- cbind(1, mtcars$wt)
#' fit <- bayes_logit(cbind(am, 1 - am) ~ X - 1, mtcars, iter = 200, seed = 1, threads = 2)
NULL
