# Measures the peak of the memory of calls that take large data, above what there is before them, beside what the help
# page promises. On Linux.
#
#   R_LIBS=LIBRARY Rscript tests/campaigns/memory/memory.R [CELLS]     in the root of the tree; 1e6
library(warpbayes)
options(warpbayes.threads = 1, warpbayes.backend = "cpu", warpbayes.progress = FALSE, warpbayes.chains = 1)
given <- as.numeric(commandArgs(TRUE))
n <- if (length(given)) given[[1L]] else 1e6
set.seed(1)
x <- matrix(rnorm(20 * n), n, dimnames = list(NULL, paste0("m", 1:20)))
rows <- data.frame(y = rbinom(n, 1, 0.5), a = x[, 1], b = x[, 2])
weights <- x[, 1:10]^2
mix <- suppressWarnings(dp_mixture(x[, 1:4], 10, iter = 4, seed = 1))
types <- cell_types(mix)
logit <- bayes_logit(y ~ a + b, rows, iter = 10, seed = 1)
words <- structure(list(i = rep(seq_len(n / 10), 10), j = rep(1:10, each = n / 10), v = rep(1:2, n / 2), nrow = n / 10,
  ncol = 10), class = "simple_triplet_matrix")
file <- tempfile(fileext = ".html")
# A call, and the bytes for each cell or row, with those of the value and of copies of the data in the call. The page
# ?mixture_memory promises those of the fit; the others were measured on 2026-11-28, and a fifth more is allowed.
promises <- list(
  list("dp_mixture(x, 16, iter = 4, seed = 1)", 12),
  list("predict(mix, x[, 1:4])", 70), list("predict(mix, x[, 1:4], type = \"prob\")", 215), list("cell_types(mix)", 50),
  list("report(types, file, open = FALSE)", 50), list("report(mix, file, open = FALSE)", 160),
  list("bayes_logit(y ~ a + b, rows, iter = 4, seed = 1)", 345), list("predict(logit, rows)", 325),
  list("topic_model(words, 5, iter = 4, seed = 1)", 150), list("rcategorical(weights, seed = 1)", 8),
  list("rpolyagamma(n, 1, rows$a, seed = 1)", 12),
  list("predictive_resample(rows$a, bayesian_bootstrap(), functional = \"mean\", draws = 10, seed = 1)", 120)
)
fixed <- 4e7 # what the package itself takes when it is first used

# A process of its own for each call, which reads what the call needs: memory that was freed before would hide some.
Sys.setenv(MALLOC_MMAP_THRESHOLD_ = "65536", R_LIBS = paste(.libPaths(), collapse = ":"))
folder <- tempfile()
dir.create(folder)
peak <- function(code) {
  names <- intersect(all.vars(parse(text = code)), ls(globalenv()))
  saved <- file.path(folder, "objects")
  script <- file.path(folder, "script.R")
  save(list = names, file = saved, envir = globalenv(), compress = FALSE)
  writeLines(c(
    sprintf("load(%s)", deparse(saved)), "library(warpbayes)", "pdf(NULL)",
    "options(warpbayes.threads = 1, warpbayes.backend = 'cpu', warpbayes.progress = FALSE, warpbayes.chains = 1)",
    "kilobytes <- function(what) {",
    "  line <- grep(paste0('^', what), readLines('/proc/self/status'), value = TRUE)",
    "  as.numeric(gsub('[^0-9]', '', line))", "}",
    "invisible(gc())", "writeLines('5', '/proc/self/clear_refs')", "before <- kilobytes('VmRSS')",
    sprintf("value <- suppressWarnings(suppressMessages({%s}))", code),
    "cat('peak', 1024 * (kilobytes('VmHWM') - before), '\\n')"
  ), script)
  said <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", script), stdout = TRUE, stderr = TRUE)
  as.numeric(sub("peak ", "", grep("^peak ", said, value = TRUE)))
}

wrong <- 0
cat(sprintf("%-70s %10s %10s\n", "peak and promise, MB", "peak", "promise"))
for (promise in promises) {
  bytes <- peak(promise[[1L]])
  allowed <- fixed + promise[[2L]] * n
  over <- length(bytes) != 1L || bytes > allowed
  wrong <- wrong + over
  cat(sprintf("%-70s %10.0f %10.0f%s\n", substr(promise[[1L]], 1L, 70L), bytes / 1e6, allowed / 1e6,
    if (over) "  too much" else ""))
}
cat(sprintf("%d passed, %d failed\n", length(promises) - wrong, wrong))
quit(status = as.integer(wrong > 0))
