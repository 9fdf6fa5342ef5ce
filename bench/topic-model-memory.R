# The most memory that a topic model of a large sparse table takes: 200,000 documents x 300,000 terms with two million
# counts, 10 topics, one chain. As counted by the operating system, Linux only: `process_mb` is R with its packages,
# `with_table_mb` also the table, and `peak_mb` the most of all while it is read, or read and fitted.
#   cd bench && Rscript topic-model-memory.R
source("common.R")
resident <- function(which) {
  line <- grep(paste0("^", which), readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}
options(warpbayes.backend = "cpu", warpbayes.threads = 2)
invisible(loadNamespace("Matrix"))
process <- resident("VmRSS")
file <- tempfile()
# In a process of its own, so that what making the table takes is not counted.
system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(sprintf(paste(
  "set.seed(1); x <- Matrix::sparseMatrix(sample(2e5, 2e6, TRUE), sample(3e5, 2e6, TRUE), x = 1, dims = c(2e5, 3e5),",
  "dimnames = list(paste0('d', 1:2e5), paste0('w', 1:3e5))); saveRDS(x, '%s', compress = FALSE)"), file))))
x <- readRDS(file)
unlink(file)
invisible(gc())
with_table <- resident("VmRSS")
peak_of <- function(what, code) {
  invisible(gc())
  cat("5", file = "/proc/self/clear_refs")
  force(code)
  data.frame(what, process_mb = process, with_table_mb = with_table, peak_mb = resident("VmHWM"))
}
rows <- peak_of("read", internal$count_matrix(x))
rows <- rbind(rows, peak_of("fitted", topic_model(x, 10, iter = 4, seed = 1, progress = FALSE)))
rows[-1] <- round(rows[-1])
save_results(rows, "topic-model-memory")
