# Where a mixture's cells lie while sweeps run: in this process, on graphics cards, or on the workers of a cluster.

#' Memory of a mixture fit, and saving it
#'
#' How much memory [dp_mixture()] needs for \eqn{n} cells, \eqn{p} markers and \eqn{k} components, on the processor
#' and on a graphics card, and how to make a fit smaller.
#'
#' @section On the processor:
#' Besides the data, the sampler needs
#' \itemize{
#'   \item 4 bytes per cell for `moves`;
#'   \item 4 bytes per cell if labels are kept;
#'   \item a few buffers of about \eqn{10 k p^2} bytes each.
#' }
#' Each kept draw takes \eqn{8 k} bytes for the weights, \eqn{8 k p} for the means, \eqn{8 k p^2} for the
#' covariances and 4 bytes per cell for the labels. With 256 components and 14 markers, a draw without labels takes
#' 0.4 MB, and 500 draws take 200 MB. Use `keep` or `thin` to keep less.
#'
#' The fit refers to the data. This takes no further memory as long as you keep the data anyway.
#'
#' @section On a graphics card:
#' The card holds the scaled cells, \eqn{8 p} bytes each, or \eqn{4 p} with
#' `precision = "single"`. A sweep also needs a tenth of that or 32 MB, or, with many markers, \eqn{420 k p^2} bytes
#' (0.3 GB for 256 components of 50 markers), at most an eighth of the free memory. With 14 markers in single precision,
#' 100 million cells take 5.6 GB of the card.
#'
#' **More cells than fit.** As many cells stay on the card as it has room for, or as `options(warpbayes.device_memory)`
#' allows. The other cells travel to the card in each sweep, while the card computes the cells that arrived before them.
#' About 500 MB and a sixteenth of the card's memory are left free for this. Such a sweep takes at least as long as the
#' bus needs for the bytes that travel. A sweep that proposes `moves` takes several times as long.
#'
#' In single precision, a copy of the cells that travel is kept in page-locked host memory, \eqn{4 p} bytes each, if
#' the copy takes at most half of the available memory. Otherwise, and in double precision, the original data are
#' page-locked during sweeps. This takes no further memory, but twice the bytes on the bus in single precision. With
#' 14 markers in single precision, 400 million cells take 22.4 GB of the card, or 22.4 GB of the host if all of them
#' travel. The data themselves take 44.8 GB.
#'
#' @section Saving a fit:
#' A fit holds the data. To save it without them: `fit$x <- NULL; saveRDS(fit, file)`. Summaries, plots, draws,
#' `predict()` of new cells and [simulate()] still work. [continue()], [relabel()], [cell_types()] and `logLik()` need
#' the data. To put the data back, use `fit$x <- x`, where `x` is the matrix that was fitted: the chosen markers as
#' doubles, after the transformation, and with piled values spread if they were.
#'
#' @seealso [dp_mixture()], [mixture_clusters] for cells that need several machines, [warpbayes-package] for the options
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(4000), ncol = 2)
#' fit <- dp_mixture(x, components = 8, iter = 100, seed = 1, threads = 2)
#' print(object.size(fit), units = "auto")
#' # Fewer draws, and no data.
#' thinned <- dp_mixture(x, components = 8, iter = 100, thin = 5, seed = 1, threads = 2)
#' thinned$x <- NULL
#' print(object.size(thinned), units = "auto")
#' predict(thinned, rbind(c(0, 0)), type = "log_density", threads = 2)
#' @name mixture_memory
NULL

# A session: the cells where sweeps will go through them.
open_fit <- function(fit, run, keep_labels = fit$moves) {
  if (!is.null(run$cluster)) return(open_on_cluster(fit, run, keep_labels))
  single <- as.integer(fit$precision == "single")
  run <- allow_copies(run)
  inverse <- 1 / fit$scale
  if (is.null(fit$samples)) return(native(C_mixture_open, fit$x, fit$center, inverse, single, keep_labels, run))
  samples <- length(fit$samples)
  native(C_mixture_open_samples, fit$x, fit$center, inverse, single, keep_labels, run, fit$sample, samples)
}

# Lets a graphics card keep a copy of cells that do not fit into its own memory (src/cuda/mixture/stream.cu): in up to
# half of the available host memory, because draws and other programs need some too.
allow_copies <- function(run) {
  if (run$backend == "cuda") run$host_memory <- floor(memory_available() / 2)
  run
}

close_fit <- function(session) {
  .Call(C_mixture_close, session)
  if (!is.null(attr(session, "cluster"))) close_workers(attr(session, "cluster"))
}
