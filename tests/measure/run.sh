#!/bin/sh
# Builds the libraries with which bench/ and tests/ measure, and tests them with the installed package.
#   run.sh FOLDER [--card | --emulator [...]]   as build.sh; the default is --emulator
# WARPBAYES_TEST_PLUGIN names the emulator's plugin. The last line is "N passed, N failed, N skipped".
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
shift
test "$#" -gt 0 || set -- --emulator
"$here/build.sh" "$folder" "$@"
WARPBAYES_MEASURE=$(cd "$folder" && pwd)
WARPBAYES_MEASURE_SOURCE=$here
export WARPBAYES_MEASURE WARPBAYES_MEASURE_SOURCE
exec Rscript -e 'if (nzchar(plugin <- Sys.getenv("WARPBAYES_TEST_PLUGIN"))) options(warpbayes.plugin = plugin)
  library(testthat)
  library(warpbayes)
  result <- as.data.frame(test_file(commandArgs(TRUE), reporter = "check", stop_on_failure = FALSE))
  failed <- result$failed > 0 | result$error
  skipped <- !failed & result$skipped
  cat(sprintf("%d passed, %d failed, %d skipped\n", sum(!failed & !skipped), sum(failed), sum(skipped)))
  quit(status = as.integer(any(failed) || nrow(result) == 0L))' "$here/test-measure.R"
