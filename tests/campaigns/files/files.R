# Lets each call that touches a file fail in turn; tests/campaigns/files/run.sh says how to run it.
source("tests/campaigns/audit/fixtures.R")
folder <- commandArgs(TRUE)[[1L]]
most <- as.numeric(commandArgs(TRUE)[[2L]])
here <- file.path(folder, "here")
dll <- dyn.load(file.path(folder, "files.so"))
symbol <- function(name) getNativeSymbolInfo(name, dll)$address
arm <- function(at) invisible(.C(symbol("files_arm"), as.integer(at)))
count <- function() .C(symbol("files_count"), 0L, "")
arm(-1)
made <- fixtures()

page <- file.path(here, "page.html")
run <- file.path(here, "run.wb")
bytes_of <- function(file) if (file.exists(file)) readBin(file, "raw", file.size(file))
write_page <- function(fit) report(fit, page, overwrite = TRUE, open = FALSE)
# Without times, and without what has environments.
timeless <- function(fit) fit[setdiff(names(fit), c("elapsed", "call", "interrupted", "formula", "terms", "frame"))]
fit_with <- function(...) {
  bayes_logit(y ~ x, made$rows, chains = 2, iter = 12, warmup = 2, seed = 1, progress = FALSE, ...)
}
plain <- timeless(fit_with())
# Whether a page is whole: it ends, and each of its pictures does.
is_whole_page <- function(file) {
  text <- rawToChar(bytes_of(file))
  pictures <- regmatches(text, gregexpr("data:image/png;base64,[^\"]*", text))[[1L]]
  ends <- "AAAASUVORK5CYII=$|AAAAAElFTkSuQmCC$|AAAABJRU5ErkJggg==$"
  grepl("</html>\n*$", text) && all(grepl(ends, pictures))
}

# before: what lies in the folder; code: the call; right(value): whether its value is right; after(failed, how): whether
# the folder is.
scenarios <- list(
  report = list(
    before = function() write_page(made$normal), code = function() write_page(made$types),
    right = function(value) is_whole_page(page), after = function(failed, old) !failed || identical(bytes_of(page), old)
  ),
  topics = list(
    before = function() unlink(page), code = function() write_page(made$topics),
    right = function(value) is_whole_page(page), after = function(failed, old) !failed || !file.exists(page)
  ),
  checkpoint = list(
    before = function() unlink(run),
    code = function() fit_with(control = warp_control(checkpoint = run, checkpoint_every = 0)),
    right = function(fit) identical(timeless(fit), plain),
    after = function(failed, old) {
      !file.exists(run) || identical(timeless(resume(run, made$rows)), plain)
    }
  ),
  resume = list(
    before = function() fit_with(control = warp_control(checkpoint = run)), code = function() resume(run, made$rows),
    right = function(fit) identical(timeless(fit), plain),
    after = function(failed, old) identical(timeless(resume(run, made$rows)), plain)
  )
)

faults <- errors <- 0
wrong <- character()
for (name in names(scenarios)) {
  case <- scenarios[[name]]
  target <- switch(name, report = , topics = page, run)
  attempt <- function(at) {
    unlink(list.files(here, all.files = TRUE, no.. = TRUE, full.names = TRUE))
    suppressWarnings(case$before())
    old <- bytes_of(target)
    beside <- list.files(c(here, tempdir()), all.files = TRUE, no.. = TRUE)
    devices <- grDevices::dev.list()
    arm(at)
    value <- tryCatch(suppressWarnings(case$code()), error = identity)
    calls <- count()
    arm(-1)
    failed <- inherits(value, "error")
    left <- setdiff(list.files(c(here, tempdir()), all.files = TRUE, no.. = TRUE), c(beside, basename(target)))
    problem <- if (failed && !inherits(value, "warpbayes_error")) {
      paste("an error of R:", conditionMessage(value))
    } else if (!failed && !case$right(value)) {
      "a wrong value"
    } else if (!isTRUE(tryCatch(case$after(failed, old), error = conditionMessage))) {
      "a wrong file"
    } else if (length(left) && !calls[[2L]] %in% c("unlink", "remove")) {
      paste("left behind:", toString(left))
    } else if (!identical(grDevices::dev.list(), devices)) {
      "a device is open"
    }
    list(failed = failed, words = if (failed) conditionMessage(value), calls = calls[[1L]], name = calls[[2L]],
      problem = problem)
  }
  whole <- attempt(0)
  if (whole$failed || length(whole$problem)) stop(name, " without a fault: ", c(whole$problem, whole$words))
  for (at in unique(round(seq(1, whole$calls, length.out = min(whole$calls, most))))) {
    found <- attempt(at)
    faults <- faults + 1
    errors <- errors + found$failed
    if (length(found$problem)) {
      wrong <- c(wrong, sprintf("%s, call %d of %d (%s): %s", name, at, whole$calls, found$name, found$problem))
    }
  }
  cat(sprintf("%s: %d calls that touch files\n", name, whole$calls))
}
cat(substr(wrong, 1L, 300L), sep = "\n")
cat(sprintf("%d failures of calls: %d errors of warpbayes\n", faults, errors))
cat(sprintf("%d passed, %d failed\n", faults - length(wrong), length(wrong)))
quit(status = as.integer(length(wrong) > 0L))
