# A whole analysis of several samples, from matrices in memory to a report: the time and the peak of memory of each
# part, on the processor and on a graphics card if there is one. The largest part should be the fit.
#   cd bench && WHOLE_SAMPLES=24 WHOLE_CELLS=1000000 WHOLE_MARKERS=30 Rscript whole-analysis.R
# Without these variables: 8 samples of 5,000 cells with 10 markers. WHOLE_COMPONENTS, WHOLE_ITER and WHOLE_PRECISION
# are for the fit, and WHOLE_THREADS for all parts. WHOLE_BACKEND names one backend. Peaks are of the operating system,
# from Linux only: what the process holds beyond what it held when the data were there.
source("common.R")
setting <- function(name, default) as.numeric(Sys.getenv(paste0("WHOLE_", name), default))
samples <- setting("SAMPLES", 8)
cells <- setting("CELLS", 5000)
markers <- setting("MARKERS", 10)
components <- setting("COMPONENTS", 64)
iter <- setting("ITER", 200)
precision <- Sys.getenv("WHOLE_PRECISION", "double")
threads <- setting("THREADS", warp_info()$threads)
options(warpbayes.threads = threads)

resident <- function(which) {
  if (!file.exists("/proc/self/status")) return(NA_real_)
  line <- grep(paste0("^", which), readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

# Twenty populations of skewed markers that are high or low. In the samples of the second group, the third population is
# twice as frequent.
set.seed(1)
populations <- 20
level <- matrix(sample(c(0, 3), populations * markers, TRUE), populations)
share <- exp(-seq_len(populations) / 7)
group <- rep_len(c("control", "patient"), samples)
one_sample <- function(group) {
  own <- share * exp(rnorm(populations, sd = 0.2)) * ifelse(seq_len(populations) == 3 & group == "patient", 2, 1)
  population <- sample.int(populations, cells, TRUE, own)
  x <- matrix(0, cells, markers, dimnames = list(NULL, paste0("marker", seq_len(markers))))
  for (j in seq_len(markers)) x[, j] <- level[population, j] + 0.25 * rgamma(cells, 3)
  x
}
x <- stats::setNames(lapply(group, one_sample), paste0("sample", seq_len(samples)))
invisible(gc())
before <- resident("VmRSS")

analyse <- function(backend) {
  rows <- list()
  part <- function(name, call) {
    gc(FALSE)
    if (file.exists("/proc/self/clear_refs")) cat("5", file = "/proc/self/clear_refs")
    took <- system.time(value <- call)
    rows[[length(rows) + 1]] <<- data.frame(
      backend = backend, samples = samples, cells = cells, markers = markers, components = components, iter = iter,
      precision = precision, threads = threads, part = name, seconds = took[["elapsed"]],
      processor_seconds = took[["user.self"]] + took[["sys.self"]], peak_beyond_mb = resident("VmHWM") - before
    )
    value
  }
  options(warpbayes.backend = backend)
  fit <- part("dp_mixture()", dp_mixture(
    x, components, iter = iter, seed = 1, progress = FALSE, control = warp_control(precision = precision)
  ))
  types <- part("cell_types()", cell_types(fit))
  levels(types) <- part("type_names()", type_names(types))
  part("type_proportions()", type_proportions(types))
  part("differential_abundance()", differential_abundance(types, ~group, data.frame(group = group), seed = 1))
  part("differential_state()", differential_state(types, ~group, data.frame(group = group), seed = 1))
  part("predict() of one sample", predict(types, x[[1]]))
  file <- tempfile(fileext = ".html")
  part("report()", suppressMessages(report(types, file)))
  unlink(file)
  do.call(rbind, rows)
}

backends <- Sys.getenv("WHOLE_BACKEND", NA)
if (is.na(backends)) backends <- c("cpu", if (warp_info()$cuda$available %in% TRUE) "cuda")
results <- do.call(rbind, lapply(backends, analyse))
results$part_of_fit <- results$seconds / results$seconds[results$part == "dp_mixture()"][match(results$backend,
  unique(results$backend))]
save_results(results, "whole-analysis")
