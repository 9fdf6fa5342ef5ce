# The backend under test, and conditions for skipping tests.

# Most tests are of one chain, so that the suite takes less time. test-chains.R has the package's own default.
options(warpbayes.chains = 1)

on_cuda <- function() warp_info()$backend == "cuda"

# All instruction sets of this machine; the widest is the last.
instruction_sets <- function() isa_names[available_isa(.Call(C_backend_processor)) + 1L]

sanitized <- function() nzchar(Sys.getenv("WARPBAYES_SANITIZERS"))

# tools/test runs the suite several times, with the same draws each time. The step `cpu` runs all tests. The other
# steps, and CRAN, leave out: long comparisons of draws with a law, because other tests run the same code; tests that
# start workers; and tests of R code alone, such as plots. With --full only the step `cpu` has the long forms of such
# comparisons. Tests of one backend have their long forms wherever that backend is tested.
on_cran <- function() !identical(Sys.getenv("NOT_CRAN"), "true")
repeated <- function() sanitized() || on_cran() || nzchar(Sys.getenv("WARPBAYES_TEST_REPEATED"))
full_run <- function() nzchar(Sys.getenv("WARPBAYES_EXTENDED_TESTS"))
extended <- function() full_run() && !repeated()

skip_where_repeated <- function() {
  testthat::skip_if(repeated(), "a long run; another step of tools/test has it")
}

# The emulator is several times slower with a sanitizer. Tests that compare results of kernels are left to the emulator
# without one, if other tests run these kernels under the sanitizer.
skip_on_sanitized_emulator <- function() {
  testthat::skip_if(sanitized() && on_cuda(), "the emulator runs it without the sanitizer")
}

# The name of a file, or a folder, that is removed when the calling test or function ends.
scratch <- function(pattern = "file", fileext = "", folder = FALSE, frame = parent.frame()) {
  path <- tempfile(pattern, fileext = fileext)
  if (folder) dir.create(path)
  do.call(on.exit, list(bquote(unlink(.(path), recursive = TRUE)), add = TRUE), envir = frame)
  path
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
