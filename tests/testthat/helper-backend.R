on_cuda <- function() warp_info()$backend == "cuda"

sanitized <- function() nzchar(Sys.getenv("WARPBAYES_SANITIZERS"))

# Long runs whose result is compared with a law: other tests go through the same code.
skip_under_sanitizers <- function() {
  testthat::skip_if(sanitized(), "a long run for its result; it runs without sanitizers")
}

# The emulator with the address sanitizer is ten times slower than without. Tests that
# look at results, by kernels that other tests run there too, are left to the emulator without.
skip_on_sanitized_emulator <- function() {
  testthat::skip_if(sanitized() && on_cuda(), "the emulator runs it without the sanitizer")
}

with_options <- function(values, code) {
  old <- options(values)
  on.exit(options(old))
  force(code)
}
