#' Massively parallel Bayesian computation
#'
#' Models whose inner steps are millions of small independent computations, which
#' the vector units of all cores of the processor, or a graphics card, do at the rate
#' that the hardware allows. Start with [warp_info()], which shows what the package
#' found on this machine.
#'
#' @section Installation:
#' To install from source, a C compiler is enough. If the installation finds a CUDA
#' compiler (`nvcc` 11.8 or newer, in the environment variables `NVCC` and
#' `CUDA_HOME`, on the `PATH` or in `/usr/local/cuda`), it also builds the plugin for
#' graphics cards. If it cannot build the plugin it says why in one line, which
#' [warp_info()] repeats, and the package works on the processor alone. With the
#' environment variable `WARPBAYES_CUDA` set to `yes` the installation stops instead;
#' set to `no` it does not look for a CUDA compiler. To use a graphics card, its driver
#' must be installed; the rest of CUDA is not needed.
#'
#' @section Options:
#' \describe{
#'   \item{`warpbayes.backend`}{the backend used where `backend = NULL`: `"cpu"`,
#'     `"cuda"` or `"auto"`, the default, which is the graphics card if one can be
#'     used.}
#'   \item{`warpbayes.threads`}{the number of CPU threads used where
#'     `threads = NULL`. If it is not set: `OMP_NUM_THREADS`, or all cores that the
#'     process may use, but at most `OMP_THREAD_LIMIT`.}
#'   \item{`warpbayes.isa`}{the vector instruction set, `"avx512"`, `"avx2"` or
#'     `"baseline"`. If it is not set, the widest that the processor has.}
#'   \item{`warpbayes.device`}{the index of the graphics card, from 0 (the default).}
#'   \item{`warpbayes.device_memory`}{the most bytes of device memory to use. If it is not set, all that is free.
#'     Cells of a mixture that do not fit travel to the card in each sweep, see [dp_mixture()].}
#'   \item{`warpbayes.plugin`}{the path of a CUDA plugin to use instead of the one that
#'     was built with the package.}
#' }
#' None of them changes a result in double precision.
#'
#' @section Errors:
#' Every error of the package has class `warpbayes_error` and one of
#' `warpbayes_error_input` (an argument has to be corrected),
#' `warpbayes_error_backend` (the backend or the device is not available),
#' `warpbayes_error_device` (the device failed while computing) and
#' `warpbayes_error_memory` (there was not enough memory).
#'
#' @keywords internal
#' @useDynLib warpbayes, .registration = TRUE, .fixes = "C_"
"_PACKAGE"
