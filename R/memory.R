# How much memory is available, and how messages show an amount of memory.

show_bytes <- function(bytes) {
  unit <- min(max(floor(log10(max(bytes, 1)) / 3), 0), 6)
  paste(format(signif(bytes / 1000^unit, 3)), c("B", "kB", "MB", "GB", "TB", "PB", "EB")[[unit + 1]])
}

# Bytes of memory available; 2^52 if the system does not say.
memory_available <- function() {
  lines <- tryCatch(readLines("/proc/meminfo", n = 5L), error = function(error) character(), warning = function(w) character())
  kilobytes <- sub("^MemAvailable: *([0-9]+) kB$", "\\1", grep("^MemAvailable: *[0-9]+ kB$", lines, value = TRUE))
  if (length(kilobytes) == 1L) 1024 * as.double(kilobytes) else 2^52
}
