# How much memory is available, and how messages show an amount of memory.

show_bytes <- function(bytes) {
  unit <- min(max(floor(log10(max(bytes, 1)) / 3), 0), 6)
  paste(format(signif(bytes / 1000^unit, 3)), c("B", "kB", "MB", "GB", "TB", "PB", "EB")[[unit + 1]])
}

# Bytes of memory available to this process on the machine and in its container; 2^52 if the
# system does not say.
memory_available <- function() {
  min(machine_memory(), container_memory())
}

container_memory <- function(root = "/sys/fs/cgroup") {
  number <- function(file) {
    text <- tryCatch(readLines(file.path(root, file), n = 1L), error = function(error) "", warning = function(w) "")
    if (length(text) == 1L && grepl("^[0-9]{1,18}$", text)) as.double(text) else NA_real_
  }
  # The system takes back what it keeps of files as soon as memory is wanted.
  files <- function(file) {
    lines <- tryCatch(readLines(file.path(root, file)), error = function(error) "", warning = function(w) "")
    kept <- sub("^(total_)?inactive_file ([0-9]+)$", "\\2", grep("^(total_)?inactive_file [0-9]+$", lines, value = TRUE))
    max(0, as.double(kept))
  }
  left <- c(
    number("memory.max") - number("memory.current") + files("memory.stat"),
    number("memory/memory.limit_in_bytes") - number("memory/memory.usage_in_bytes") + files("memory/memory.stat")
  )
  min(2^52, pmax(left, 0), na.rm = TRUE)
}

machine_memory <- function() {
  lines <- tryCatch(readLines("/proc/meminfo", n = 5L), error = function(error) character(), warning = function(w) character())
  kilobytes <- sub("^MemAvailable: *([0-9]+) kB$", "\\1", grep("^MemAvailable: *[0-9]+ kB$", lines, value = TRUE))
  if (length(kilobytes) == 1L) 1024 * as.double(kilobytes) else 2^52
}

# Stops before R asks for more memory than the machine has. `copies` times the result's
# size is what the computation takes at its peak.
check_result_size <- function(entries, argument, what, call = sys.call(-2L), copies = 3) {
  bytes <- 8 * entries
  if (bytes <= 1e8) {
    return(invisible())
  }
  size <- function() {
    count <- format(entries, big.mark = ",", decimal.mark = ".", digits = 17, scientific = FALSE)
    sprintf("the result would have %s %s (%s)", count, what, show_bytes(bytes))
  }
  if (entries > 2^52) {
    stop_warpbayes("input", paste0(size(), ", more than R allows"), argument = argument, call = call)
  }
  if (copies * bytes > memory_available()) {
    stop_warpbayes("memory", sprintf(
      "%s and takes %d times that to compute, but only %s of memory are available", size(), copies,
      show_bytes(memory_available())
    ), argument = argument, call = call)
  }
}
