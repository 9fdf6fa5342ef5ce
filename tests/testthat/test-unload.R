# unloadNamespace() frees the compiled code if nothing can call it any more, and a new version brings its own.

test_that("the compiled code is freed where nothing uses it, after threads and forks too, and an upgrade is used", {
  skip_on_cran()
  skip_where_repeated()
  skip_if(Sys.info()[["sysname"]] != "Linux" || !file.exists("/proc/self/maps"), "not Linux")
  skip_if(sanitized(), "no forks under sanitizers")
  library <- tempfile("library")
  dir.create(library)
  script <- tempfile(fileext = ".R")
  on.exit(unlink(c(library, script), recursive = TRUE))
  # A copy, which the script replaces.
  file.copy(system.file(package = "warpbayes"), library, recursive = TRUE)
  writeLines(c(
    sprintf(".libPaths(c(%s, %s))", deparse(library), paste(deparse(.libPaths()), collapse = "")),
    "maps <- function() grep(\"warpbayes[.]so\", readLines(\"/proc/self/maps\"), value = TRUE)",
    "fit <- function() as.data.frame(warpbayes::bayes_logit(am ~ wt, mtcars, chains = 2, iter = 40, seed = 1,",
    "  threads = 2, backend = \"cpu\"))",
    "first <- fit()",
    "live <- warpbayes::dp_mixture(as.matrix(iris[1:4]), 3, iter = 10, seed = 1, threads = 2, backend = \"cpu\")",
    "kept <- warpbayes::rpolyagamma",
    # A session that is open, as in the middle of a fit.
    "open <- with(asNamespace(\"warpbayes\"),",
    "  native(C_mixture_open, as.matrix(iris[1:4]), numeric(4), rep(1, 4), 0L, FALSE, resolve_run(\"cpu\", 2)))",
    "said <- tryCatch(unloadNamespace(\"warpbayes\"), message = conditionMessage)",
    "stopifnot(grepl(\"stays loaded, because it is in use\", said), length(maps()) > 0)",
    "library(warpbayes)",
    "stopifnot(identical(fit(), first))",
    "rm(open)",
    "for (round in 1:3) {",
    "  unloadNamespace(\"warpbayes\")",
    "  stopifnot(length(maps()) == 0)",
    "  gc()",
    "  stopifnot(identical(parallel::mclapply(1:2, identity, mc.cores = 2), list(1L, 2L)))",
    # A new version replaces the file.
    "  installed <- file.path(.libPaths()[[1]], \"warpbayes\", \"libs\", \"warpbayes.so\")",
    "  new <- paste0(installed, \".new\")",
    "  stopifnot(file.copy(installed, new), file.rename(new, installed))",
    "  library(warpbayes)",
    "  stopifnot(length(maps()) > 0, !any(grepl(\"deleted\", maps())), identical(fit(), first))",
    "  stopifnot(NROW(predict(live)) == 150)",
    "  children <- parallel::mclapply(1:2, function(i) {",
    "    unloadNamespace(\"warpbayes\")",
    "    gone <- length(maps()) == 0",
    "    library(warpbayes)",
    "    c(gone, identical(fit(), first))",
    "  }, mc.cores = 2)",
    "  stopifnot(unlist(children))",
    "}",
    # A function that somebody has kept raises an error. It may load the package again.
    "unloadNamespace(\"warpbayes\")",
    "stopifnot(inherits(try(kept(1, 1, 0, seed = 1), silent = TRUE), \"try-error\"))",
    "cat(\"all is well\\n\")"
  ), script)
  output <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), stdout = TRUE, stderr = TRUE)
  expect_null(attr(output, "status"), info = output)
  expect_identical(utils::tail(output, 1L), "all is well", info = output)
})
