# Finds how much memory is available, and shows amounts of memory in messages.

show_bytes <- function(bytes) {
  if (bytes >= 1e21) return(paste(format(bytes, digits = 3), "B"))
  unit <- max(floor(log10(max(bytes, 1)) / 3), 0)
  paste(format(signif(bytes / 1000^unit, 3)), c("B", "kB", "MB", "GB", "TB", "PB", "EB")[[unit + 1]])
}

# The bytes that the machine, the container and `ulimit -v` leave to this process, 2^52 if the system does not say.
memory_available <- function() {
  machine <- 1024 * number_in("/proc/meminfo", "^MemAvailable: *([0-9]+) kB$")
  min(machine, container_memory(), address_space(), na.rm = TRUE)
}

address_space <- function(folder = "/proc/self") {
  limit <- number_in(file.path(folder, "limits"), "^Max address space +([0-9]+) .*$")
  taken <- 1024 * number_in(file.path(folder, "status"), "^VmSize:[ \t]*([0-9]+) kB$")
  if (is.na(limit) || is.na(taken)) 2^52 else max(0, limit - taken)
}

container_memory <- function(root = "/sys/fs/cgroup") {
  number <- function(file) number_in(file.path(root, file), "^([0-9]{1,18})$")
  # Cached pages of files count as used, but the system frees them as soon as memory is needed.
  files <- function(file) {
    pattern <- "^(total_)?inactive_file ([0-9]+)$"
    kept <- sub(pattern, "\\2", grep(pattern, lines_of(file.path(root, file)), value = TRUE))
    max(0, as.double(kept))
  }
  left <- c(number("memory.max") - number("memory.current") + files("memory.stat"),
    number("memory/memory.limit_in_bytes") - number("memory/memory.usage_in_bytes") + files("memory/memory.stat"))
  min(2^52, pmax(left, 0), na.rm = TRUE)
}

# Checks first, because readLines() on a missing file leaks a connection when its warning is caught.
lines_of <- function(path) {
  if (file.access(path, 4L) != 0L) return("")
  tryCatch(readLines(path, warn = FALSE), error = function(error) c(pass_on(error), ""))
}

# The number in the one line of a file that has the form `pattern`; otherwise NA.
number_in <- function(path, pattern) {
  line <- grep(pattern, lines_of(path), value = TRUE)
  if (length(line) == 1L) as.double(sub(pattern, "\\1", line)) else NA_real_
}

# Inf without a quota. `groups`: "0::/a/b" in version 2 of control groups, "4:cpu,cpuacct:/a/b" in version 1.
container_cores <- function(root = "/sys/fs/cgroup", groups = lines_of("/proc/self/cgroup")) {
  with_parents <- function(path) {
    parts <- strsplit(path, "/", fixed = TRUE)[[1L]]
    vapply(seq_along(parts), function(i) paste(parts[seq_len(i)], collapse = "/"), "")
  }
  paths <- unique(c("", unlist(lapply(sub("^[0-9]+:[^:]*:/?", "", groups), with_parents))))
  quota <- vapply(paths, function(path) {
    number <- function(pattern, ...) number_in(file.path(root, ...), pattern)
    second <- number("^([0-9]{1,15}) [0-9]+$", path, "cpu.max") / number("^[0-9]+ ([0-9]{1,15})$", path, "cpu.max")
    first <- number("^([0-9]{1,15})$", "cpu", path, "cpu.cfs_quota_us") /
      number("^([0-9]{1,15})$", "cpu", path, "cpu.cfs_period_us")
    min(second, first, Inf, na.rm = TRUE)
  }, 0)
  min(quota[quota > 0], Inf)
}
