# Refuses what is too large: a system that promises more memory than it has would kill the process.
check_operations <- function(operations, argument) {
  most <- getOption("warpbayes.max_operations", 1e16)
  if (!is_one_number(most)) most <- 1e16
  if (operations > most) {
    stop_warpbayes("input", sprintf(paste("this would take %s multiply-adds, about %s days at 1e10 a second;",
      "options(warpbayes.max_operations = ) allows %s"), format(operations, digits = 3),
    format(operations / 1e10 / 86400, digits = 2), format(most, digits = 3)), argument = argument)
  }
}

# Stops if R cannot hold `entries` numbers of `size` bytes, or if `copies` times as much memory is not available.
check_result_size <- function(entries, argument, what, copies = 3, size = 8) {
  bytes <- size * entries
  if (bytes <= 1e8) return(invisible())
  words <- paste0(paste(sprintf("`%s`: ", argument), collapse = ""), "the result would have ",
    if (entries > 2^52) format(entries, digits = 3) else whole_words(entries), " ", what, " (", show_bytes(bytes), ")")
  if (entries > 2^52) stop_warpbayes("input", paste0(words, ", more than R allows"), argument = argument)
  more <- if (copies > 1) sprintf(" and takes %d times that to compute", copies)
  check_bytes(copies * bytes, paste0(words, more), argument)
}

check_bytes <- function(bytes, words, argument, advice = "") {
  available <- memory_available()
  if (bytes > available) {
    stop_warpbayes("memory", sprintf("%s, but only %s of memory are available%s", words, show_bytes(available), advice),
      argument = argument)
  }
}
