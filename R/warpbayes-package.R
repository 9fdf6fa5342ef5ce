#' Massively parallel Bayesian computation
#'
#' Bayesian models whose inner steps are millions of small independent computations. The vector units of all processor
#' cores, or a graphics card, compute them at the rate that the hardware allows.
#'
#' \tabular{ll}{
#'   [dp_mixture()] \tab Dirichlet-process mixtures, made for flow cytometry; [cell_types()]\cr
#'   [topic_model()] \tab topic models\cr
#'   [bayes_logit()] \tab logistic, negative binomial and multinomial regression\cr
#'   [predictive_resample()] \tab posteriors without a likelihood\cr
#'   [pmf()] \tab sums of discrete random variables\cr
#'   [rcategorical()], [rpolyagamma()] \tab categorical and Polya-Gamma draws\cr
#'   [c_interface] \tab the draws from C, for other packages\cr
#'   [warp_info()] \tab what the package found on this machine
#' }
#' [computing] describes the arguments that most functions share: backend, threads, seed, precision, checkpoints.
#'
#' @section Installation:
#' A C compiler is enough to install from source. If the installation finds a CUDA compiler, it also builds the plugin
#' for graphics cards. It needs `nvcc` 11.8 or newer, in the environment variables `NVCC` or `CUDA_HOME`, on the
#' `PATH` or in `/usr/local/cuda`. If the plugin cannot be built, the installation says why in one line, which
#' [warp_info()] repeats, and the package works on the processor alone. With the environment variable `WARPBAYES_CUDA`
#' set to `yes`, the installation stops instead. Set to `no`, it does not look for a CUDA compiler.
#'
#' To use a graphics card, its driver must be installed. The rest of CUDA is not needed.
#'
#' @section Options:
#' \describe{
#'   \item{`warpbayes.backend`}{the backend if `backend = NULL`: `"cpu"`, `"cuda"` or `"auto"`, the default, which
#'     takes the faster of the two for each call; see [computing].}
#'   \item{`warpbayes.max_operations`}{the most multiply-adds that a sum of discrete random variables may take. The
#'     default is 1e16, about 12 days at 1e10 a second. Beyond it there is an error before the work starts.}
#'   \item{`warpbayes.threads`}{the number of CPU threads if `threads = NULL`. If it is not set: `OMP_NUM_THREADS`, or
#'     all cores that the process may use, but at most `OMP_THREAD_LIMIT`.}
#'   \item{`warpbayes.isa`}{the vector instruction set, `"avx512"`, `"avx2"` or `"baseline"`. If it is not set, the
#'     widest that the processor has.}
#'   \item{`warpbayes.device`}{the index of the graphics card, from 0 (the default).}
#'   \item{`warpbayes.worker_timeout`}{for how many seconds a worker of a cluster may send nothing; 3600 if it is not
#'     set. See [mixture_clusters].}
#'   \item{`warpbayes.device_memory`}{the most bytes of device memory to use. If it is not set, all that is free.
#'     Cells of a mixture that do not fit travel to the card in each sweep, see [mixture_memory].}
#'   \item{`warpbayes.plugin`}{the path of a CUDA plugin to use instead of the one that was built with the package.}
#' }
#' None of them changes a result in double precision.
#'
#' @section Errors:
#' Every error of the package has class `warpbayes_error` and one of these:
#' \describe{
#'   \item{`warpbayes_error_input`}{an argument has to be corrected;}
#'   \item{`warpbayes_error_backend`}{the backend or the device is not available;}
#'   \item{`warpbayes_error_device`}{the device failed while computing;}
#'   \item{`warpbayes_error_memory`}{there was not enough memory.}
#' }
#'
#' @keywords internal
#' @useDynLib warpbayes, .registration = TRUE, .fixes = "C_"
"_PACKAGE"
