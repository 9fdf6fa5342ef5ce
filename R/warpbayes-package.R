#' Massively parallel Bayesian computation
#'
#' Models whose inner steps are millions of small independent computations,
#' written so that the processor's vector units, all its cores, or a graphics
#' card do them at the rate the hardware allows. Start with [warp_info()], which
#' says what the package found on this machine.
#'
#' @section Installation:
#' The package installs from source with a C compiler alone. Where the
#' installation finds a CUDA compiler (`nvcc` 11.8 or newer, looked for in the
#' environment variables `NVCC` and `CUDA_HOME`, on the `PATH` and in
#' `/usr/local/cuda`), it builds the plugin for graphics cards too; where that
#' fails it says why in one line, which [warp_info()] repeats, and the package is
#' complete without. The environment variable `WARPBAYES_CUDA` set to `yes` makes
#' the installation stop instead, and set to `no` skips the search. A card in use
#' needs its driver, nothing else of CUDA.
#'
#' @section Options:
#' \describe{
#'   \item{`warpbayes.backend`}{`"auto"` (the default: the graphics card where
#'     there is one), `"cpu"` or `"cuda"`; what `backend = NULL` means.}
#'   \item{`warpbayes.threads`}{CPU threads; what `threads = NULL` means. Without
#'     it: `OMP_NUM_THREADS` where set, else all cores that the process may use,
#'     both up to `OMP_THREAD_LIMIT`.}
#'   \item{`warpbayes.isa`}{`"avx512"`, `"avx2"` or `"baseline"` forces a vector
#'     instruction set; without it the widest that the processor has.}
#'   \item{`warpbayes.device`}{index of the graphics card, from 0 (the default).}
#'   \item{`warpbayes.device_memory`}{bytes of device memory to stay within;
#'     without it, what is free.}
#'   \item{`warpbayes.plugin`}{path of another CUDA plugin than the one built with
#'     the package.}
#' }
#' None of them changes a result in double precision.
#'
#' @section Errors:
#' Every error the package raises has class `warpbayes_error` and one of
#' `warpbayes_error_input` (an argument must be mended), `warpbayes_error_backend`
#' (the backend or device asked for is not there), `warpbayes_error_device` (the
#' device failed while computing) and `warpbayes_error_memory`.
#'
#' @keywords internal
#' @useDynLib warpbayes, .registration = TRUE, .fixes = "C_"
"_PACKAGE"
