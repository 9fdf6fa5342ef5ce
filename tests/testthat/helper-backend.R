# The backend under test, and conditions for skipping tests.

# Most tests are of one chain, so that the suite takes less time. test-chains.R has the package's own default.
options(warpbayes.chains = 1)

on_cuda <- function() warp_info()$backend == "cuda"

# All instruction sets of this machine; the widest is the last.
instruction_sets <- function() isa_names[available_isa(.Call(C_backend_processor)) + 1L]

sanitized <- function() nzchar(Sys.getenv("WARPBAYES_SANITIZERS"))

# Several steps of tools/test run tests of the suite, with the same draws each time. The step `cpu` runs all of them.
# Other steps, and CRAN, leave out: long comparisons of draws with a law, because other tests run the same code; tests
# that start workers; and tests of R code alone, such as plots. With --full only the step `cpu` has the long forms of
# such comparisons. Tests of one backend have their long forms wherever that backend is tested.
on_cran <- function() !identical(Sys.getenv("NOT_CRAN"), "true")
repeated <- function() sanitized() || on_cran() || nzchar(Sys.getenv("WARPBAYES_TEST_REPEATED"))
full_run <- function() nzchar(Sys.getenv("WARPBAYES_EXTENDED_TESTS"))
extended <- function() full_run() && !repeated()

# Long lists of cases are cut into five parts, and each day has another one: 0 to 4, which tools/run-tests.R prints.
# With --full all cases run.
test_part <- as.integer(Sys.getenv("WARPBAYES_TEST_PART", as.integer(Sys.Date()) %% 5L))
todays <- function(cases) if (full_run()) cases else cases[seq_along(cases) %% 5L == test_part]

skip_where_repeated <- function() {
  testthat::skip_if(repeated(), "a long run; another step of tools/test has it")
}

# For long tests that compare no draws with a law.
skip_on_other_days <- function(part) {
  testthat::skip_if(!full_run() && test_part != part, "a long test that runs each fifth day")
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
