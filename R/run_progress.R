# Reports progress to package progressr and by a text bar. The result takes numbers of steps, and NULL at the end.
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
