on_cuda <- function() warp_info()$backend == "cuda"

# The emulator with the address sanitizer is ten times slower than without. Tests that
# look at results, by kernels that other tests run there too, are left to the emulator without.
skip_on_sanitized_emulator <- function() {
  testthat::skip_if(nzchar(Sys.getenv("WARPBAYES_SANITIZERS")) && on_cuda(), "the emulator runs it without the sanitizer")
}
