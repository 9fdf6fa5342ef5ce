# What tests of failing CUDA calls share: the emulator's controls (tests/emulator/README.md).

emulator <- function() {
  info <- warp_info()$cuda
  skip_if(!info$available, paste("no CUDA:", info$reason))
  dll <- Find(function(dll) identical(normalizePath(dll[["path"]], mustWork = FALSE), normalizePath(info$plugin)), getLoadedDLLs())
  skip_if(is.null(dll) || !is.loaded("wb_emulator_fail", dll[["name"]]), "not the emulator's plugin")
  address <- function(name) getNativeSymbolInfo(name, dll)$address
  list(
    fail = function(at, error) .C(address("wb_emulator_fail"), as.integer(at), as.integer(error)),
    calls = function() .C(address("wb_emulator_calls"), integer(1))[[1L]],
    memory = function(bytes) .C(address("wb_emulator_memory"), as.double(bytes)),
    # Without what is kept from call to call on purpose.
    usage = function() {
      .Call(warpbayes:::C_backend_release, warpbayes:::resolve_run("cuda", 1))
      unlist(.C(address("wb_emulator_usage"), device = numeric(1), pinned = numeric(1), handles = integer(1)))
    },
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
