# The help page on the arguments about computing. All topics link to it, and take their one-line descriptions of these
# arguments from `computing_arguments` below.

#' Where and how a computation runs
#'
#' Arguments that many functions share. They do not change the model. [warp_control()] has those that few users set.
#'
#' @section Seed:
#' `seed` is a whole number from 0 to \eqn{2^{53} - 1}. The default, `NULL`, draws it from R's generator, so
#' [set.seed()] makes the result repeatable. **The same seed gives the same result**, to the last bit, on any number of
#' threads, any processor and any number of cluster workers, and in double precision on a graphics card too.
#'
#' @section Backend and threads:
#' `backend` is `"cpu"`, `"cuda"` (a graphics card, or else an error) or `"auto"`, which takes the faster of the two for
#' the sizes of the arguments. The default, `NULL`, takes `getOption("warpbayes.backend", "auto")`. If a card fails, a
#' fit returns the completed sweeps with a warning; other calls are errors.
#'
#' `threads` is the number of processor threads, from 1 to 4096. The default, `NULL`, takes
#' `getOption("warpbayes.threads")`, then the environment variable `OMP_NUM_THREADS`, then all cores that this process
#' may use. While other programs keep cores busy, calls run on fewer threads, unless the environment variable
#' `WARPBAYES_FIXED_THREADS` is set.
#'
#' @section Chains:
#' `chains = NULL` runs `getOption("warpbayes.chains")` chains. If that option is not set, it runs four chains where a
#' sweep takes at most 0.01 s on one core and a chain keeps at most 80 MB of draws, and one chain otherwise.
#' [bayes_logit()] runs four chains.
#'
#' @section Graphics cards:
#' With `backend = "cuda"`, the cells of a mixture are shared by the graphics cards of [`warp_control(devices =
#' )`][warp_control()], counted from 0. `NULL` uses the card that `options(warpbayes.device)` names, or as many as speed
#' up the fit. The result does not depend on their number.
#'
#' @section Precision:
#' Single precision is faster on some graphics cards, and halves the memory of the data there. It applies to densities
#' and probabilities of single cells. Results then differ slightly from results on the processor.
#'
#' @section Progress:
#' `progress = TRUE` shows a text bar, `FALSE` shows none. The default, `NULL`, shows one in interactive sessions. If
#' package progressr is installed, progress is signalled to it.
#'
#' @section Interrupts:
#' If you interrupt a fit from the keyboard, it returns the completed sweeps with a warning, and [continue()] runs more.
#' Except on Windows, the interrupt then also ends a loop over fits, after the interrupted one has been assigned.
#'
#' Batch systems can send the signal SIGUSR1 before they end a job: R saves the workspace and ends. A fit writes its
#' checkpoint first, with the last sweep that all chains have done.
#'
#' @seealso [warp_info()], [warp_control()], [resume()], [continue()], [mixture_clusters]. [warpbayes-package] lists the
#'   options of a session.
#' @examples
#' # The same draws on one thread and on two.
#' weights <- matrix(runif(20000), ncol = 20)
#' one <- rcategorical(weights, seed = 1, threads = 1)
#' two <- rcategorical(weights, seed = 1, threads = 2)
#' identical(one, two)
#' @aliases warpbayes_computing
#' @name computing
NULL

#' Arguments about computing
#'
#' Short descriptions, which other pages repeat. [computing] has the details.
#'
#' @param seed one whole number for reproducible results; `NULL`: drawn from R's generator. See [computing].
#' @param backend `"cpu"`, `"cuda"` or `"auto"`; `NULL`: the option `warpbayes.backend`. See [computing].
#' @param threads number of CPU threads; `NULL`: all cores that this process may use. See [computing].
#' @param devices indices of the graphics cards to use, from 0; `NULL`: as many as speed up the fit. See [computing].
#' @param precision `"double"` or `"single"`, of densities and probabilities. See [computing].
#' @param progress whether to show a progress bar; `NULL`: in interactive sessions only. See [computing].
#' @param checkpoint `NULL`, or the file in which a fit saves its state, for [resume()]. See [computing].
#' @param checkpoint_every seconds from one checkpoint to the next. See [computing].
#' @param cluster `NULL`, or a cluster of package parallel whose workers share the cells. See [computing].
#' @seealso [computing]
#' @keywords internal
#' @name computing_arguments
NULL
