# The emulator's controls (tests/emulator/README.md) for tests of failing CUDA calls and of several devices.

# The plugin in use if it is the emulator, otherwise NULL.
emulator_library <- function() {
  plugin <- normalizePath(warp_info()$cuda$plugin)
  same <- function(dll) identical(normalizePath(dll[["path"]], mustWork = FALSE), plugin)
  dll <- Find(same, getLoadedDLLs())
  if (!is.null(dll) && is.loaded("wb_emulator_fail", dll[["name"]])) dll
}

emulator <- function() {
  skip_without_cuda()
  dll <- emulator_library()
  skip_if(is.null(dll), "not the emulator's plugin")
  address <- function(name) getNativeSymbolInfo(name, dll)$address
  list(
    fail = function(at, error) .C(address("wb_emulator_fail"), as.integer(at), as.integer(error)),
    calls = function() .C(address("wb_emulator_calls"), integer(1))[[1L]],
    memory = function(bytes) .C(address("wb_emulator_memory"), as.double(bytes)),
    # First releases what the backend keeps between calls on purpose.
    usage = function() {
      .Call(warpbayes:::C_backend_release, warpbayes:::resolve_run("cuda", 1))
      unlist(.C(address("wb_emulator_usage"), device = numeric(1), pinned = numeric(1), handles = integer(1)))
    },
    capability = function(major, minor) .C(address("wb_emulator_capability"), as.integer(major), as.integer(minor)),
    devices = function(count) .C(address("wb_emulator_devices"), as.integer(count)),
    reset = function() .C(address("wb_emulator_reset"))
  )
}

quietly <- function(code) {
  old <- Sys.getenv("WB_EMULATOR_QUIET", NA)
  Sys.setenv(WB_EMULATOR_QUIET = "1")
  on.exit(if (is.na(old)) Sys.unsetenv("WB_EMULATOR_QUIET") else Sys.setenv(WB_EMULATOR_QUIET = old))
  force(code)
}

# The errors that a CUDA call can be made to return, and CUDA's words for them: no memory, a wrong argument, a failed
# kernel and a broken device. After the last two, every call fails until the process ends.
cuda_errors <- c(memory = 2, invalid = 1, kernel = 719, lost = 214)
cuda_words <- c(
  memory = "out of memory", invalid = "invalid argument", kernel = "unspecified launch failure",
  lost = "uncorrectable ECC error encountered"
)

# Calls run() once for each number in `calls` and makes the CUDA call with that number fail. The result must be an error
# with a message. It may be the `expected` result if the failure does not matter, as when memory is freed, or if there
# is another way. Nothing may stay allocated. Returns the number of errors.
count_failures <- function(cuda, run, calls, error, expected, what = "") {
  failures <- 0
  for (at in calls) {
    cuda$fail(at, cuda_errors[[error]])
    result <- run()
    usage <- cuda$usage()
    cuda$reset()
    where <- sprintf("%s at call %d, %s", error, at, what)
    expect_identical(usage, c(device = 0, pinned = 0, handles = 0), label = where)
    if (inherits(result, "error")) {
      failures <- failures + 1
      expect_match(conditionMessage(result), paste0(": CUDA says \"", cuda_words[[error]]), label = where)
      expect_s3_class(result, if (error == "memory") "warpbayes_error_memory" else "warpbayes_error_device")
    } else {
      expect_identical(result, expected, label = where)
    }
  }
  failures
}

# Runs `code` with `count` devices. The emulator plays up to 16 devices.
with_devices <- function(count, code) {
  skip_without_cuda()
  state <- warpbayes:::backend_state
  if (is.null(emulator_library())) {
    skip_if(nrow(warp_info()$cuda$devices) < count, "too few graphics cards")
    return(code)
  }
  ask_again <- function(count) {
    emulator()$devices(count)
    rm(list = ls(state), envir = state)
    warp_info()
  }
  on.exit(ask_again(1))
  ask_again(count)
  force(code)
}
