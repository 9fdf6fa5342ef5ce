# Gives every export and method a limit of time: the calls of the audit, with data and counts 10, 100 and 1000 times as
# large. Each must end within 2 s of processor time after its limit, by an error about the limit or with what is done
# and a warning. What needs a cluster, a file or a longer run comes from tests/testthat/test-time-limits.R and below.
#
#   R_LIBS=LIBRARY Rscript tests/campaigns/limits/limits.R [SIZES [PART [PARTS]]]     in the root of the tree
#
# SIZES, by default 10,100,1000. Of the calls of each size every PARTS-th runs, from PART on; 1 and 1. Each call runs in
# a child. `ulimit -v` bounds its memory.
given <- commandArgs(TRUE)
sizes <- as.numeric(strsplit(c(given, "10,100,1000")[[1L]], ",")[[1L]])
part <- as.numeric(c(given[-1L], 1)[[1L]])
parts <- as.numeric(c(given[-(1:2)], 1)[[1L]])
limit <- 0.3 # s
late <- 2 # s of processor time after the limit
patience <- 20 # s after which a child is ended
source("tests/campaigns/audit/fixtures.R")
options(warpbayes.backend = "cpu")
# R's compiler of functions catches every error, and so an error about a limit that ends while it compiles.
invisible(compiler::enableJIT(0))
longer <- eval(parse("tests/testthat/test-time-limits.R")[[2L]])
longer <- list(call = lapply(longer, function(text) parse(text = text)[[1L]]), name = names(longer))
base <- read_calls(paste0(pmf_calls, fit_calls))

# The numbers of rows that stand in calls grow with the data, and in a second call all counts do.
enlarged <- function(call, times, all) {
  if (is.numeric(call) && length(call) == 1L && call >= 2 && call == round(call) && call < 1e4) {
    return(if (all || call %in% c(10, 15, 30)) call * times else call)
  }
  if (is.call(call)) call[-1L] <- lapply(as.list(call)[-1L], enlarged, times, all)
  call
}

attempt <- function(call) {
  child <- parallel::mcparallel({
    pdf(NULL)
    sink(file("/dev/null", "w"))
    began <- proc.time()
    how <- tryCatch({
      setTimeLimit(elapsed = limit, transient = TRUE)
      suppressWarnings(suppressMessages(eval(call, new.env(parent = globalenv()))))
      "ended"
    }, error = function(error) conditionMessage(error)[1L])
    setTimeLimit()
    sink()
    list(how, sum((proc.time() - began)[1:2]))
  }, silent = TRUE)
  result <- suppressWarnings(parallel::mccollect(child, wait = FALSE, timeout = patience))[[1L]]
  if (is.null(result)) {
    tools::pskill(child$pid, tools::SIGKILL)
    result <- list("no answer", Inf)
  }
  invisible(suppressWarnings(parallel::mccollect(child)))
  if (is.list(result)) result else list("the child ended", 0)
}

judged <- limited <- 0
wrong <- character()
for (times in c(sizes, NA)) {
  calls <- if (is.na(times)) longer$call else {
    invisible(list2env(suppressMessages(suppressWarnings(fixtures(times))), globalenv()))
    unique(do.call(c, lapply(base$call, function(call) {
      list(enlarged(call, times, FALSE), enlarged(call, times, TRUE))
    })))
  }
  for (call in calls[seq_along(calls) %% parts == part %% parts]) {
    result <- attempt(call)
    judged <- judged + 1
    limited <- limited + grepl("reached elapsed time limit", result[[1L]], fixed = TRUE)
    if (result[[2L]] > limit + late) {
      wrong <- c(wrong, sprintf("%s times, %.1f s, %s: %s", times, result[[2L]], deparse1(call), result[[1L]]))
      cat(substr(wrong[[length(wrong)]], 1L, 300L), "\n")
    }
  }
}
cat(sprintf("%d calls, of which %d reached their limit\n", judged, limited))
cat(sprintf("%d passed, %d failed\n", judged - length(wrong), length(wrong)))
quit(status = as.integer(length(wrong) > 0L))
