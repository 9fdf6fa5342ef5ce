# Reports progress to package progressr, if it is installed, and by a text bar, if `bar` is TRUE. Returns a function
# to be called with the number of steps done since its last call. At the end it is called with NULL to close the bar.
progress_signal <- function(steps, bar) {
  signal <- if (requireNamespace("progressr", quietly = TRUE)) progressr::progressor(steps = steps, auto_finish = FALSE)
  text <- if (bar) utils::txtProgressBar(max = steps, style = 3L)
  done <- 0
  function(amount) {
    if (is.null(amount)) {
      if (!is.null(text)) close(text)
      return(invisible())
    }
    done <<- done + amount
    if (!is.null(signal)) signal(amount = amount)
    if (!is.null(text)) utils::setTxtProgressBar(text, done)
  }
}

check_progress <- function(progress) {
  if (is.null(progress)) return(interactive() && !isTRUE(getOption("knitr.in.progress")))
  check_flag(progress, "progress")
}
