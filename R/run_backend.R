# Chooses backend, device, threads and instruction set of a computation.

isa_names <- c("baseline", "avx2", "avx512", "neon")

# What is known of the CUDA plugin: its `path`; `pointer` and `devices`, or the `reason` why it cannot be used; `pid`,
# the process that opened it; `built`, the path of the package's own plugin; and `doubtful` after a device has failed.
backend_state <- keep_until_unload(new.env(parent = emptyenv()))

kept_runs <- keep_until_unload(new.env(parent = emptyenv()))

resolve_backend <- function(backend) {
  given <- argument_or_option(backend, "backend", "auto")
  backend <- check_option_choice(given$value, given$name, c("auto", "cpu", "cuda"))
  cpu <- list(backend = "cpu", automatic = FALSE, pointer = .Call(C_backend_cpu), device = 0L)
  asked <- paste("asked for by", given$name)
  if (backend == "cpu") return(c(cpu, why = asked))
  cuda <- find_cuda()
  if (!is.null(cuda$reason)) {
    if (backend == "cuda") stop_warpbayes("backend", paste0("backend \"cuda\" is not usable: ", cuda$reason))
    return(c(cpu, why = "no graphics card can be used"))
  }
  if (cuda$pid != Sys.getpid()) {
    stop_warpbayes("backend", paste("CUDA was used before this process was forked (by parallel::mclapply or the like)",
      "and does not work in the child: use a cluster of fresh processes (parallel::makePSOCKcluster) or",
      "backend = \"cpu\""))
  }
  device <- resolve_device(cuda$devices)
  if (backend == "auto") {
    failed <- failed_card(cuda)
    if (!is.null(failed)) return(c(cpu, why = paste("the graphics card failed:", failed)))
  }
  why <- if (backend == "cuda") asked else "a graphics card is there; the processor for what it does faster"
  list(backend = "cuda", automatic = backend == "auto", pointer = cuda$pointer, device = device, why = why)
}

# What CUDA says of a card that has failed; NULL if it can be used again. Mostly every call fails until R ends.
failed_card <- function(cuda) {
  if (!isTRUE(backend_state$doubtful)) return(NULL)
  found <- .Call(C_backend_devices, cuda$pointer)
  backend_state$doubtful <- is_failure(found)
  if (is_failure(found)) found$message
}

# The next call that may choose its backend asks the card, see failed_card().
device_failure$tell <- function() {
  if (!is.null(backend_state$pointer)) backend_state$doubtful <- TRUE
  rm(list = ls(kept_runs), envir = kept_runs)
}

find_cuda <- function() {
  path <- plugin_path()
  if (!identical(backend_state$path, path)) {
    if (!file.exists(path)) return(list(path = path, reason = plugin_absent(path)))
    found <- c(open_plugin(path), path = path, pid = Sys.getpid())
    for (name in c("path", "pointer", "devices", "reason", "pid")) assign(name, found[[name]], envir = backend_state)
  }
  as.list(backend_state)
}

plugin_path <- function() {
  path <- getOption("warpbayes.plugin")
  if (!is.null(path)) {
    must_be(is_text(path, 1L), "options(warpbayes.plugin)", "the path of one file", path)
    return(path)
  }
  # Stored, because system.file() takes as long as a small convolution.
  if (is.null(backend_state$built)) {
    backend_state$built <- file.path(system.file(package = "warpbayes"), "cuda", "warpbayes_cuda.so")
  }
  backend_state$built
}

open_plugin <- function(path) {
  tryCatch(
    {
      dll <- dyn.load(path, local = TRUE)
      symbol <- getNativeSymbolInfo("wb_plugin_backend", dll, unlist = TRUE)
      pointer <- native(C_backend_open, symbol$address)
      devices <- native(C_backend_devices, pointer)
      if (length(devices$device) == 0L) return(list(reason = "the driver finds no CUDA device"))
      list(pointer = pointer, devices = as.data.frame(devices))
    },
    warpbayes_error = function(error) list(reason = conditionMessage(error)),
    error = function(error) {
      list(reason = paste("the plugin cannot be opened:", trimws(gsub("\\s+", " ", conditionMessage(error)))))
    }
  )
}

plugin_absent <- function(path) {
  if (!is.null(getOption("warpbayes.plugin"))) return(paste0("options(warpbayes.plugin): there is no file ", path))
  # If configure built no plugin, it has written the reason here.
  file <- file.path(dirname(path), "outcome.txt")
  if (!file.exists(file)) return("this installation has no CUDA plugin")
  paste("the CUDA plugin was not built at installation:", paste(readLines(file, warn = FALSE), collapse = " "))
}

resolve_device <- function(devices) {
  device <- getOption("warpbayes.device", 0L)
  must_be(is_one_number(device) && device >= 0 && device == floor(device), "options(warpbayes.device)",
    "the index of a CUDA device, from 0", device)
  if (!device %in% devices$device) {
    stop_warpbayes("backend", sprintf("there is no CUDA device %s; this machine has %s", show_value(device),
      device_list(devices)))
  }
  as.integer(device)
}

device_list <- function(devices) paste0(devices$device, " (", devices$name, ")", collapse = ", ")

resolve_device_memory <- function() {
  limit <- getOption("warpbayes.device_memory", 0)
  must_be(is_one_number(limit) && limit >= 0 && limit <= 2^53, "options(warpbayes.device_memory)",
    "a number of bytes", limit)
  floor(as.double(limit))
}

# The instruction sets that can be used, counted from 0. NEON is of other processors than the two before it.
available_isa <- function(processor) if (processor$isa == 3L) c(0L, 3L) else seq(0L, processor$isa)

resolve_isa <- function(processor) {
  isa <- getOption("warpbayes.isa")
  if (is.null(isa)) return(processor$isa)
  isa <- match(check_option_choice(isa, "options(warpbayes.isa)", rev(isa_names)), isa_names) - 1L
  if (!isa %in% available_isa(processor)) {
    shown <- dQuote(isa_names[c(isa, processor$isa) + 1L], FALSE)
    stop_warpbayes("backend", paste0("options(warpbayes.isa) asks for ", shown[[1L]],
      ", but the widest instruction set here is ", shown[[2L]]))
  }
  isa
}

resolve_threads <- function(threads, processor) {
  given <- argument_or_option(threads, "threads")
  threads <- given$value
  if (!is.null(threads)) must_be(is_thread_count(threads), given$name, "one whole number from 1 to 4096", threads)
  if (is.null(threads)) threads <- default_threads(processor$cores)
  if (!processor$openmp || processor$forked) return(1L)
  # The OpenMP runtime ends the process if it cannot start a thread. Up to 8 are allowed everywhere, for tests.
  as.integer(min(threads, thread_limit(), max(8, processor$cores)))
}

# OpenMP does not know how much processor time the container or the Slurm job was given.
default_threads <- function(cores, quota = container_cores()) {
  wanted <- environment_count("OMP_NUM_THREADS")
  if (!is.na(wanted)) return(wanted)
  min(cores, max(1, floor(quota)), environment_count("SLURM_CPUS_PER_TASK"), na.rm = TRUE)
}

thread_limit <- function() {
  is_check <- !tolower(Sys.getenv("_R_CHECK_LIMIT_CORES_")) %in% c("", "false")
  min(environment_count("OMP_THREAD_LIMIT"), if (is_check) 2, Inf, na.rm = TRUE)
}

environment_count <- function(name) {
  first <- trimws(sub(",.*", "", Sys.getenv(name)))
  if (grepl("^[0-9]{1,9}$", first) && as.numeric(first) >= 1) as.numeric(first) else NA_real_
}

#' Backend, processor and graphics cards in use
#'
#' Shows how the package was built, the processor, the graphics cards or why none can be used, and the default backend.
#'
#' @return A list of class `warp_info`:
#' \describe{
#'   \item{`version`, `compiler`, `openmp`}{the version, the compiler of the C code, and whether it uses threads.}
#'   \item{`isa`, `isa_widest`}{the instruction set in use, and the processor's widest: see [warpbayes-package].}
#'   \item{`fma`}{whether the processor has a fused multiply-add instruction.}
#'   \item{`threads`, `cores`}{the number of threads used by default, and of cores that the process may use.}
#'   \item{`backend`, `why`}{the backend used by default, and the reason in words.}
#'   \item{`cuda`}{a list of `available`, `reason` (why a graphics card cannot be used), `plugin` (its path) and
#'     `devices`, a data frame with one row for each graphics card, with `memory` and `memory_free` in bytes.}
#' }
#' @section Errors:
#' `warpbayes_error_input` or `warpbayes_error_backend` if an option ([warpbayes-package]) is invalid or unavailable.
#' @examples
#' warp_info()
#' @export
warp_info <- function() {
  processor <- .Call(C_backend_processor)
  cuda <- find_cuda()
  chosen <- resolve_backend(NULL)
  structure(list(
    version = package_version_text(), compiler = processor$compiler, openmp = processor$openmp,
    isa = isa_names[[resolve_isa(processor) + 1L]], isa_widest = isa_names[[processor$isa + 1L]], fma = processor$fma,
    threads = resolve_threads(NULL, processor), cores = processor$cores, backend = chosen$backend, why = chosen$why,
    cuda = list(available = is.null(cuda$reason), reason = cuda$reason, plugin = cuda$path, devices = cuda$devices)
  ), class = c("warp_info", "warpbayes"))
}

in_console.warp_info <- function(x, ...) {
  lines <- info_lines(x)
  cat(paste0(formatC(lines$part, width = -10L), lines$found, "\n"), sep = "")
}

in_chunk.warp_info <- function(x) list(tables = list(info_lines(x)))

info_lines <- function(x) {
  lines <- NULL
  line <- function(label, ...) lines <<- rbind(lines, data.frame(part = label, found = paste0(...)))
  line("warpbayes", x$version, ", built with ", x$compiler, if (!x$openmp) " without OpenMP: one thread")
  line("cpu", x$isa, " vectors", if (x$isa != x$isa_widest) paste0(" (the processor has ", x$isa_widest, ")"), ", ",
    count_words(x$threads, "thread"), " of ", count_words(x$cores, "core"))
  if (!x$fma) {
    line("", "this processor has no fused multiply-add instruction: it is emulated, about a hundred times slower")
  }
  if (x$cuda$available) {
    version <- function(number) paste0(number %/% 1000L, ".", number %% 1000L %/% 10L)
    for (i in seq_len(nrow(x$cuda$devices))) {
      device <- x$cuda$devices[i, ]
      line(if (i == 1L) "cuda" else "", sprintf(
        "device %d: %s, %.1f GB (%.1f free), compute capability %d.%d, driver for CUDA %s, runtime %s",
        device$device, device$name, device$memory / 1e9, device$memory_free / 1e9, device$major, device$minor,
        version(device$driver), version(device$runtime)
      ))
    }
  } else {
    line("cuda", "not available: ", x$cuda$reason)
  }
  line("in use", x$backend, " (", x$why, ")")
  lines
}

backend_words <- function(fit) {
  if (is.null(fit$workers)) fit$backend else sprintf("%s (%s)", count_words(fit$workers, "worker"), fit$backend)
}
