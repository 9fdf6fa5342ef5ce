#' Draws of a fit for posterior, coda and base R
#'
#' By default the variables do not depend on the numbers of components or topics. These have a meaning only after
#' [relabel()].
#'
#' | fit | variables | with the argument |
#' |---|---|---|
#' | [dp_mixture()] | `log_likelihood`, `log_posterior`, `concentration`, `score`, `occupied` (number of components that
#'   hold cells), `log_density[1]` to `log_density[5]` (at `fit$probe`), and the learned parts of the prior:
#'   `prior_mean[marker]`, `prior_mean_scale`, `prior_df`, `sample_concentration` | `components = TRUE`: also
#'   `weight[j]` and `mean[j,marker]`, if the fit kept them |
#' | [bayes_logit()] | coefficients, `dispersion`, `sd(group)`, and `log_likelihood` (not in arrays, matrices and data
#'   frames of base R) | `groups = TRUE`: also `intercept[group]`, or for other grouping terms `b[x g:level]` |
#' | [topic_model()] | `log_likelihood`, and `alpha_sum` and `beta` if they were learned | `topics = TRUE`: also
#'   `alpha[k]`, `phi[k,term]` and `theta[document,k]`, as far as they were kept |
#' | [differential_abundance()] | `log_odds[type,effect]`, `sd[type]` (between samples), and `group_sd[type]` if there
#'   are groups | |
#' | [predictive_resample()] | the quantities; resamples are independent, so they are one chain | |
#'
#' @param x a fit.
#' @param ... `components`, `groups` or `topics`, as the table says.
#' @param row.names,optional,stringsAsFactors not used.
#' @return An object of the class that the generic is named after, one iteration for each kept draw. `as_draws()` gives
#'   a `draws_array`, for a martingale posterior a `draws_matrix`; `as.array()` gives draws x chains x variables;
#'   `as.matrix()` and `as.data.frame()` give draws x variables, one chain after the other.
#' @section Errors:
#' `warpbayes_error_input` for parts that the fit did not keep, and for `as.mcmc()` of several chains.
#' @examples
#' fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' dim(as.matrix(fit))
#' if (requireNamespace("posterior", quietly = TRUE)) {
#'   posterior::summarise_draws(posterior::as_draws(fit), "mean", "rhat")
#' }
#' @aliases as_draws_df.warpbayes_fit as_draws_list.warpbayes_fit as_draws_matrix.warpbayes_fit
#'   as_draws_rvars.warpbayes_fit
#' @name as_draws.warpbayes_fit
NULL

# The kept draws as an array of iterations x chains x variables with the names of the variables.
array_of_draws <- function(x, ...) UseMethod("array_of_draws")

bind_draws <- function(parts, draws, chains) {
  array(unlist(parts, use.names = FALSE), c(draws, chains, length(parts)), list(NULL, NULL, names(parts)))
}

stop_without_draws <- function(fit) {
  stop_warpbayes("input", paste("the fit has no kept draws: it ended after", whole_words(fit$iter), "sweeps, and the",
    "first draw is kept after", paste0(whole_words(fit$warmup + fit$thin), "; continue(fit, more) runs more sweeps")),
  argument = "iter")
}

#' @rdname as_draws.warpbayes_fit
#' @method as_draws_array warpbayes_fit
#' @exportS3Method posterior::as_draws_array warpbayes_fit
as_draws_array.warpbayes_fit <- function(x, ...) posterior::as_draws_array(array_of_draws(x, ...))

#' @rdname as_draws.warpbayes_fit
#' @method as_draws warpbayes_fit
#' @exportS3Method posterior::as_draws warpbayes_fit
as_draws.warpbayes_fit <- function(x, ...) {
  draws <- as_draws_array.warpbayes_fit(x, ...)
  if (inherits(x, "martingale_posterior")) posterior::as_draws_matrix(draws) else draws
}

at_load(function() {
  when_loaded("posterior", function(namespace) {
    lapply(c("as_draws_df", "as_draws_list", "as_draws_matrix", "as_draws_rvars"), function(form) {
      convert <- get(form, namespace)
      registerS3method(form, "warpbayes_fit", function(x, ...) convert(array_of_draws(x, ...)), envir = namespace)
    })
  })
})

#' @rdname as_draws.warpbayes_fit
#' @method as.mcmc.list warpbayes_fit
#' @exportS3Method coda::as.mcmc.list warpbayes_fit
as.mcmc.list.warpbayes_fit <- function(x, ...) {
  draws <- array_of_draws(x, ...)
  if (nrow(draws) == 0L) stop_without_draws(x) # Package coda has no chains without draws.
  thin <- if (is.null(x$thin)) 1 else x$thin
  start <- if (is.null(x$thin)) 1 else x$warmup + thin
  coda::mcmc.list(lapply(seq_len(ncol(draws)), function(chain) {
    values <- matrix(draws[, chain, ], nrow(draws), dimnames = list(NULL, dimnames(draws)[[3L]]))
    coda::mcmc(values, start = start, thin = thin)
  }))
}

#' @rdname as_draws.warpbayes_fit
#' @method as.mcmc warpbayes_fit
#' @exportS3Method coda::as.mcmc warpbayes_fit
as.mcmc.warpbayes_fit <- function(x, ...) {
  chains <- as.mcmc.list.warpbayes_fit(x, ...)
  if (length(chains) != 1L) stop_input("x", sprintf("has %d chains: use coda::as.mcmc.list()", length(chains)))
  chains[[1L]]
}

#' @rdname as_draws.warpbayes_fit
#' @export
as.array.warpbayes_fit <- function(x, ...) array_of_draws(x, ...)

#' @rdname as_draws.warpbayes_fit
#' @export
as.matrix.warpbayes_fit <- function(x, ...) {
  draws <- as.array(x, ...)
  matrix(draws, ncol = dim(draws)[[3L]], dimnames = list(NULL, dimnames(draws)[[3L]]))
}

frame_of <- function(x, ...) UseMethod("frame_of")

frame_of.default <- function(x, ...) if (is.data.frame(x)) plain_frame(x) else stop_refused("as.data.frame", x)

frame_of.warpbayes_fit <- function(x, ...) as.data.frame(as.matrix(x, ...), optional = TRUE)

#' @rdname as_draws.warpbayes_fit
#' @export
as.data.frame.warpbayes <- function(x, row.names = NULL, optional = FALSE, ..., stringsAsFactors = FALSE) {
  frame_of(x, ...)
}

#' @exportS3Method tibble::as_tibble
as_tibble.warpbayes <- function(x, ..., .rows = NULL, .name_repair = "check_unique", rownames = NULL) {
  must_be(is.null(rownames) || is.atomic(rownames) && length(rownames) < 2L, "rownames",
    "NULL, NA or a name for a column", rownames)
  if (!is.null(.rows)) .rows <- check_count(.rows, ".rows", min = 0)
  tibble::as_tibble(as.data.frame(x, ...), .rows = .rows, .name_repair = .name_repair, rownames = rownames)
}
