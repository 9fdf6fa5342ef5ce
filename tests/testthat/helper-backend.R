on_cuda <- function() warp_info()$backend == "cuda"

sanitized <- function() nzchar(Sys.getenv("WARPBAYES_SANITIZERS"))

extended <- function() nzchar(Sys.getenv("WARPBAYES_EXTENDED_TESTS"))

# tools/test runs the suite several times, and draws are the same in all of them, as tests
# of their own show. Long runs whose result is compared with a law, through code that
# other tests run too, those that start workers, and what R alone does, such as pictures, are left
# to the step `cpu`, and to each step with --full.
repeated <- function() (sanitized() || nzchar(Sys.getenv("WARPBAYES_TEST_REPEATED"))) && !extended()

skip_where_repeated <- function() {
  testthat::skip_if(repeated() || sanitized(), "a long run; another step of tools/test has it")
}

# The emulator is several times slower with the address sanitizer, or where it looks at each
# load and store. Tests that look at results, by kernels that other tests run there too, are left to
# the emulator alone.
skip_on_sanitized_emulator <- function() {
  testthat::skip_if(sanitized() && on_cuda(), "the emulator runs it without the sanitizer")
}

with_options <- function(values, code) {
  old <- options(values)
  on.exit(options(old))
  force(code)
}

skip_without_cuda <- function() {
  info <- warp_info()$cuda
  skip_if(!info$available, paste("no CUDA:", info$reason))
}
