# The help page on the arguments about computing. All topics link to it, and take their one-line descriptions of these
# arguments from `computing_arguments` below.

#' Where and how a computation runs
#'
#' Many functions of this package share the arguments on this page. They choose the backend, the number of threads, the
#' random seed and the precision, and they control the progress bar and the checkpoint. They do not change the model.
#'
#' @section Seed:
#' `seed` is a whole number from 0 to \eqn{2^{53} - 1}. The default, `NULL`, draws the seed from R's generator, so
#' [set.seed()] makes the result repeatable. A fit stores the seed that was used as `fit$seed`.
#'
#' **The same seed gives the same result**, to the last bit, on any number of threads, any processor and any number of
#' cluster workers, and in double precision on a graphics card too. For this, the package has its own counter-based
#' random generator, and adds numbers in a fixed order.
#'
#' @section Backend and threads:
#' `backend` is `"cpu"`, `"cuda"` (a graphics card) or `"auto"`. With `"auto"`, where a graphics card can be used, each
#' call runs on the card or on the processor, whichever the package expects to be faster for the sizes of the arguments.
#' Small data and calls that mostly copy are faster on the processor. The default, `NULL`, takes
#' `getOption("warpbayes.backend", "auto")`. It is an error to ask for `"cuda"` where no graphics card can be used: the
#' package never falls back silently. [warp_info()] shows what this machine has. If a card fails, the call says so: it
#' is an error, or a warning if a fit has completed sweeps, which it returns. With `"auto"`, later calls run on the
#' processor if the card does not answer.
#'
#' `threads` is the number of processor threads, from 1 to 4096. The default, `NULL`, takes
#' `getOption("warpbayes.threads")`, then the environment variable `OMP_NUM_THREADS`, then all cores that this process
#' may use. In a container with a quota of processor time or in a Slurm job these are the cores that it was given. More
#' threads than cores are used only up to eight, because they do not make anything faster.
#'
#' While other programs keep cores busy, fits and other calls run on fewer threads: threads that wait for a suspended
#' one would be slower than one thread. If the environment variable `WARPBAYES_FIXED_THREADS` is set, the number of
#' threads stays. Chains of small data run at the same time, each on a part of the threads, if that is faster; on a
#' graphics card each thread then drives one chain.
#'
#' @section Chains:
#' With `chains = NULL`, the default, [dp_mixture()], [topic_model()] and [add_documents()] run
#' `getOption("warpbayes.chains")` chains. If that option is not set, they run four chains if a sweep of one chain is
#' estimated to take at most 0.01 s on one core and a chain keeps at most 80 MB of draws, and one chain otherwise.
#' Chains from different starts show what one chain cannot: whether they find the same. The estimate depends on the
#' sizes of the data and of the model only, so the same call gives the same draws on every machine. Examples of the
#' largest data with four chains: 23,000 cells of 10 markers with 64 components; 1,500 documents of 60 different words
#' each with 20 topics. [bayes_logit()] always runs four chains by default.
#'
#' @section Graphics cards:
#' `devices` is for [dp_mixture()] with `backend = "cuda"`: the indices of the graphics cards that share the cells,
#' counted from 0. The default, `NULL`, uses the card that `options(warpbayes.device)` names. If that option is not set,
#' it uses as many cards as speed up the fit. Each card holds a share of the cells and draws the parameters of all
#' components. The sums over cells are added in a fixed order, so the result does not depend on the number of cards.
#' Cells with missing values stay on the first card, and Bayesian EM uses the first card only.
#'
#' @section Precision:
#' `precision` is `"double"` (the default) or `"single"`. Single precision is faster on graphics cards for consumers,
#' and halves the memory that the data take on the card. It applies to densities and probabilities of single cells or
#' items. Sums over cells are always in double precision. In single precision, results on a graphics card differ
#' slightly from results on the processor. Cards of compute capability 9.0 (H100, H200) draw the components of
#' `dp_mixture()` for 11 to 40 markers by products of 16-bit numbers, three for each product. Log densities keep
#' relative errors below 2e-6, but the draws are others than those of other cards.
#'
#' @section Progress:
#' `progress = TRUE` shows a text bar, `FALSE` shows none. The default, `NULL`, shows one in interactive sessions, but
#' not in documents that knitr makes. If package progressr is installed, progress is always signalled to it.
#'
#' @section Checkpoint:
#' `checkpoint` is `NULL` or the name of a file. The fit saves its state there every `checkpoint_every` seconds (60 by
#' default). If the process is killed, [resume()] reads the file and runs the sweeps that remain. A file of that name is
#' overwritten if it is a checkpoint; any other file is an error. See [resume()] for the contents and the size of a
#' checkpoint.
#'
#' @section Cluster:
#' `cluster` is `NULL` or a cluster of package parallel, whose workers share the cells of one fit; see
#' [mixture_clusters]. `backend`, `threads` and `devices` then apply to each worker. With `NULL`, each worker follows
#' its own options, and workers on the same machine share its cores.
#'
#' @section Interrupts:
#' If you interrupt a fit from the keyboard, it returns the completed sweeps with a warning. [continue()] runs more.
#' The interrupt then goes on to R: in `for (i in 1:100) fits[[i]] <- dp_mixture(...)` the loop ends after the
#' interrupted fit has been assigned. A function that does more work after the fit is ended as well, and the fit inside
#' it is lost; with a `checkpoint`, [resume()] still has the completed sweeps. On Windows the interrupt
#' ends only the fit.
#'
#' @section Options:
#' Defaults for a whole session are set by [options()]. [warpbayes-package] lists them.
#'
#' @seealso [warp_info()], [resume()], [continue()], [mixture_clusters]
#' @examples
#' warp_info()
#' # The same draws on one thread and on two.
#' weights <- matrix(runif(20000), ncol = 20)
#' one <- rcategorical(weights, seed = 1, threads = 1)
#' two <- rcategorical(weights, seed = 1, threads = 2)
#' identical(one, two)
#' # With seed = NULL, set.seed() governs.
#' set.seed(1)
#' a <- rcategorical(weights, threads = 2)
#' set.seed(1)
#' identical(a, rcategorical(weights, threads = 2))
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
