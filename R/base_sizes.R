# Refuses computations that are too large before they start: by their bytes and by their multiply-adds. A system that
# promises more memory than it has would kill the process later, without a message.

# Raises an error if the computation takes more multiply-adds than `warpbayes.max_operations` allows, before it starts.
check_operations <- function(operations, argument) {
  most <- getOption("warpbayes.max_operations", 1e16)
  if (!is.numeric(most) || length(most) != 1L || is.na(most)) most <- 1e16
  if (operations > most) {
    days <- operations / 1e10 / 86400
    stop_warpbayes("input", sprintf(
      paste("this would take %s multiply-adds, about %s days at 1e10 a second;",
        "options(warpbayes.max_operations = ) allows %s"),
      format(operations, digits = 3), format(days, digits = 2), format(most, digits = 3)
    ), argument = argument)
  }
}

# Raises an error if R cannot hold a result of `entries` numbers of `size` bytes, or if its computation, which takes
# `copies` times as much at its peak, needs more memory than is available.
check_result_size <- function(entries, argument, what, copies = 3, size = 8) {
  bytes <- size * entries
  if (bytes <= 1e8) return(invisible())
  words <- function() {
    count <- if (entries > 2^52) format(entries, digits = 3) else whole_words(entries)
    name <- if (!is.null(argument)) paste0("`", argument, "`: ")
    sprintf("%sthe result would have %s %s (%s)", paste(name, collapse = ""), count, what, show_bytes(bytes))
  }
  if (entries > 2^52) stop_warpbayes("input", paste0(words(), ", more than R allows"), argument = argument)
  more <- if (copies > 1) sprintf(" and takes %d times that to compute", copies) else ""
  check_bytes(copies * bytes, paste0(words(), more), argument)
}

check_bytes <- function(bytes, words, argument, advice = "") {
  available <- memory_available()
  if (bytes > available) {
    stop_warpbayes("memory", sprintf("%s, but only %s of memory are available%s", words, show_bytes(available), advice),
      argument = argument)
  }
}
