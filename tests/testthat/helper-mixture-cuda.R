# What the tests of mixtures on a graphics card share.

skip_without_cuda <- function() {
  info <- warp_info()$cuda
  skip_if(!info$available, paste("no CUDA:", info$reason))
}

# Rows in a few clusters, so that some blocks of components matter and some do not.
clustered <- function(n, p, seed) {
  set.seed(seed)
  x <- matrix(rnorm(n * p), n)
  x + 6 * (sample(3, n, replace = TRUE) - 2)
}

# Runs `code` where there are `count` devices: the emulator plays as many as it is told.
with_devices <- function(count, code) {
  skip_if(!warp_info()$cuda$available, "no CUDA")
  state <- warpbayes:::backend_state
  dll <- Find(function(dll) identical(normalizePath(dll[["path"]], mustWork = FALSE), normalizePath(warp_info()$cuda$plugin)), getLoadedDLLs())
  if (is.null(dll) || !is.loaded("wb_emulator_devices", dll[["name"]])) {
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
