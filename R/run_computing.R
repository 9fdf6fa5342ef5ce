# The help page on the arguments about computing.

#' Where and how a computation runs
#'
#' Arguments that many functions share. They do not change the model. [warp_control()] has those that few users set.
#'
#' @section Seed:
#' `seed` is a whole number from 0 to \eqn{2^{53} - 1}; `NULL` draws it from R's generator. **The same seed gives the
#' same result**, to the last bit, on any number of threads, processors, workers and, in double precision, graphics
#' cards.
#'
#' @section Backend and threads:
#' `backend` is `"cpu"`, `"cuda"` (a graphics card, or else an error) or `"auto"`, which takes the faster of the two.
#' `NULL` takes `getOption("warpbayes.backend", "auto")`. If a card fails, a fit returns the completed sweeps with a
#' warning; other calls are errors.
#'
#' `threads`, 1 to 4096, is by default `getOption("warpbayes.threads")`, then the environment variable
#' `OMP_NUM_THREADS`, then all cores of the process. While other programs keep cores busy, calls run on fewer threads,
#' unless the environment variable `WARPBAYES_FIXED_THREADS` is set.
#'
#' @section Chains:
#' `chains = NULL` runs `getOption("warpbayes.chains")` chains. Without that option it runs four where a sweep takes
#' at most 0.01 s on one core and a chain keeps at most 80 MB, and one otherwise. [bayes_logit()] runs four.
#'
#' @section Graphics cards:
#' With `backend = "cuda"`, the graphics cards of `warp_control(devices = )`, counted from 0, share the cells of a
#' mixture. `NULL` uses the card of `options(warpbayes.device)`, or as many as speed up the fit.
#'
#' @section Precision:
#' Single precision, of densities and probabilities of cells, is faster on some graphics cards and halves their memory.
#' @section Progress:
#' `progress = NULL` shows a text bar in interactive sessions. With package progressr, progress is signalled to it.
#'
#' @section Interrupts:
#' An interrupted fit returns the completed sweeps with a warning, and [continue()] runs more. At the signal SIGUSR1,
#' which batch systems can send before they end a job, a fit writes its checkpoint, and R saves the workspace and ends.
#'
#' @seealso [warp_info()], [resume()], [mixture_clusters]; [warpbayes-package] lists the options of a session.
#' @examples
#' weights <- matrix(runif(20000), ncol = 20)
#' one <- rcategorical(weights, seed = 1, threads = 1)
#' two <- rcategorical(weights, seed = 1, threads = 2)
#' identical(one, two)
#' @aliases warpbayes_computing
#' @name computing
NULL

#' Arguments about computing
#'
#' @param seed one whole number for reproducible results; `NULL`: drawn from R's generator. See [computing].
#' @param backend `"cpu"`, `"cuda"` or `"auto"`; `NULL`: the option `warpbayes.backend`.
#' @param threads number of CPU threads; `NULL`: all cores that this process may use. See [computing].
#' @param devices indices of the graphics cards to use, from 0; `NULL`: as many as speed up the fit. See [computing].
#' @param precision `"double"` or `"single"`, of densities and probabilities. See [computing].
#' @param progress whether to show a progress bar; `NULL`: in interactive sessions only. See [computing].
#' @param checkpoint `NULL`, or the file in which a fit saves its state, for [resume()]. See [computing].
#' @param checkpoint_every seconds from one checkpoint to the next. See [computing].
#' @param cluster `NULL`, or a cluster of package parallel whose workers share the cells. See [computing].
#' @param main title, `NULL` for none.
#' @param ... not used.
#' @seealso [computing]
#' @keywords internal
#' @name computing_arguments
NULL
