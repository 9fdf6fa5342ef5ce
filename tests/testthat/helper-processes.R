# Starts other R processes, which tests kill or interrupt.

# Starts R on a script. The script first loads the package and options of this process, and writes `ready` when it
# begins. Returns the process number.
start_child <- function(lines, ready, limit = NULL) {
  script <- tempfile(fileext = ".R")
  quoted <- function(value) paste(deparse(value), collapse = " ")
  writeLines(c(
    sprintf(".libPaths(%s)", quoted(.libPaths())), "library(warpbayes)",
    sprintf("options(%s)", paste(
      sprintf("%s = %s", names(child_options()), vapply(child_options(), quoted, "")), collapse = ", "
    )),
    lines[["before"]], sprintf("cat(Sys.getpid(), file = %s)", quoted(paste0(ready, ".new"))),
    sprintf("invisible(file.rename(%s, %s))", quoted(paste0(ready, ".new")), quoted(ready)), lines[["run"]]
  ), script)
  unlink(ready)
  command <- paste(shQuote(file.path(R.home("bin"), "Rscript")), "--vanilla", shQuote(script), ">",
    shQuote(paste0(ready, ".log")), "2>&1"
  )
  system2("sh", c("-c", shQuote(paste(limit, command))), wait = FALSE)
  wait_for(function() file.exists(ready), paste0(ready, ".log"))
  as.integer(readLines(ready, warn = FALSE))
}

child_options <- function() {
  values <- options()[c("warpbayes.backend", "warpbayes.plugin", "warpbayes.chains")]
  values[!vapply(values, is.null, NA)]
}

wait_for <- function(happened, log, seconds = 120) {
  until <- Sys.time() + seconds
  while (!happened()) {
    if (Sys.time() > until) stop("nothing happened: ", paste(readLines(log, warn = FALSE), collapse = "\n"))
    Sys.sleep(0.01)
  }
}

# A process that has ended keeps its number until its parent asks about it. Linux calls it a zombie, Z.
is_running <- function(process) {
  status <- sprintf("/proc/%d/stat", process)
  lines <- if (file.exists(status)) suppressWarnings(tryCatch(readLines(status), error = function(error) ""))
  tools::pskill(process, 0L) && !any(grepl(") Z ", lines, fixed = TRUE))
}
