# Makes calls at random from those of fixtures.R, runs them in child processes, and reports crashes, timeouts, R's own
# errors, errors that name another call, and changes of R's state. tools/audit says how to run it. Call i depends only
# on the seed and i.
arguments <- commandArgs(TRUE)
child <- identical(arguments[1L], "--child")
folder <- normalizePath("build/audit")
source("tests/campaigns/audit/fixtures.R")
seconds <- 5 # processor time of a call
patience <- 60 # elapsed time after which a child that does not report is ended
memory <- 4e6 # kilobytes of address space of a child
block <- 500 # calls of a child

one_of <- function(x) x[[sample.int(length(x), 1L)]]
parsed <- function(text) parse(text = text)[[1L]]

# Names of parts of a list, one or two levels deep.
part_of <- function(value) {
  value <- unclass(value)
  if (!is.list(value) || !length(value) || is.null(names(value))) return(NULL)
  part <- one_of(names(value))
  c(part, if (runif(1) < 0.4) part_of(value[[part]]))
}

tampered <- function(name) {
  value <- get(name)
  replacement <- parsed(one_of(replacements))
  part <- part_of(value)
  if (!is.null(part)) {
    return(call("changed", as.name(name), if (length(part) > 1L) as.call(c(quote(c), as.list(part))) else part,
      replacement))
  }
  attribute <- setdiff(names(attributes(value)), "class")
  if (!length(attribute)) return(as.name(name))
  call("changed", as.name(name), one_of(attribute), replacement, TRUE)
}

is_fixture <- function(x) is.name(x) && as.character(x) %in% names(objects)

hostile_value <- function() {
  if (runif(1) < 0.15) as.name(one_of(names(objects))) else parsed(one_of(hostile))
}

# The formal arguments of what a call reaches.
formals_of <- function(call, name) {
  f <- if (is.na(name)) call[[1L]] else as.name(name)
  text <- sub("^.*::", "", deparse1(f))
  for (at in c(text, if (is_fixture(call[2L][[1L]])) paste0(text, ".", class(get(as.character(call[[2L]])))))) {
    found <- get0(at, asNamespace("warpbayes"), mode = "function")
    if (!is.null(found)) names <- setdiff(names(formals(args(found)))[-1L], "...")
  }
  if (exists("names", inherits = FALSE)) names
}

# A call with one or two arguments made hostile. The first argument of a generic of another package keeps its class,
# because without it the call would not reach warpbayes.
mutate <- function(call, name) {
  if (identical(call[[1L]], as.name("{"))) {
    call[[3L]] <- mutate(call[[3L]], name)
    return(call)
  }
  own <- is.name(call[[1L]]) && as.character(call[[1L]]) %in% getNamespaceExports("warpbayes")
  for (time in seq_len(sample(2L, 1L, prob = c(0.8, 0.2)))) {
    count <- length(call) - 1L
    how <- sample(c("replace", "change", "add", "drop"), 1L, prob = c(0.42, 0.36, 0.16, 0.06))
    at <- if (count) 1L + sample.int(count, 1L) else 0L
    fits <- 1L + which(vapply(as.list(call)[-1L], is_fixture, NA))
    if (how == "add") {
      choices <- setdiff(formals_of(call, name), names(call))
      if (length(choices)) call <- as.call(c(as.list(call), stats::setNames(list(hostile_value()), one_of(choices))))
    } else if (how == "change" && length(fits)) {
      at <- one_of(fits)
      call[[at]] <- tampered(as.character(call[[at]]))
    } else if (at && (own || at > 2L)) {
      inner <- call[[at]]
      if (is.call(inner) && is.name(inner[[1L]]) && runif(1) < 0.5 &&
        as.character(inner[[1L]]) %in% getNamespaceExports("warpbayes")) {
        call[[at]] <- mutate(inner, NA)
      } else if (how == "drop") {
        call <- call[-at]
      } else {
        value <- hostile_value()
        call[at] <- list(value)
      }
    }
  }
  call
}

call_number <- function(i, seed, base) {
  set.seed((seed * 7919 + i) %% 2^31)
  at <- sample.int(length(base$call), 1L)
  mutate(base$call[[at]], base$name[[at]])
}

# State of R that no call may change.
state_of_r <- function() {
  list(
    options = options(), directory = getwd(), connections = length(getAllConnections()), device = dev.list(),
    globals = ls(globalenv(), all.names = TRUE), locale = Sys.getlocale(), sinks = sink.number(),
    par = par("mfrow", "mar", "oma", "las", "xpd", "cex", "mgp", "bg", "fg", "new"[0]), kind = RNGkind()
  )
}

# Errors that R raises before a function of warpbayes has begun.
not_ours <- paste0("^(unused argument|formal argument .* matched by|argument [0-9]+ matches multiple|no applicable ",
  "method|.* used in an incorrect number|invalid argument to unary|[0-9] arguments? passed to|object 'a' not found in ",
  "`levels<-|is.numeric\\(x\\) \\|\\| is.logical\\(x\\) is not TRUE in stats::cov)")

# Whether a function of warpbayes is running. An error of another package's own code is not of warpbayes.
warpbayes_runs <- function() {
  own <- asNamespace("warpbayes")
  any(vapply(sys.frames(), function(frame) identical(topenv(frame), own), NA))
}

# Whether an error names a call that is part of `call`, leaving aside the name of the package. R itself calls methods of
# min() and round() with values, which the error shows as `...`.
names_call_of <- function(error, call) {
  parts <- function(x) {
    if (is.call(x)) c(list(x), unlist(lapply(as.list(x), function(part) if (!missing(part)) parts(part)), FALSE))
  }
  bare <- function(x) {
    if (is.call(x[[1L]])) x[[1L]] <- x[[1L]][[3L]]
    if ("..." %in% all.names(named)) deparse1(x[[1L]]) else deparse1(x)
  }
  named <- conditionCall(error)
  is.call(named) && bare(named) %in% vapply(parts(call), bare, "")
}

# A fit or table of which a part was changed may end in an error of R, but in at most this share of all calls.
changed_share <- 0.01

run_call <- function(call) {
  set.seed(1)
  random <- .Random.seed
  before <- state_of_r()
  start <- sum(proc.time()[1:2])
  kind <- "value"
  message <- ""
  ours <- TRUE
  operator <- is.name(call[[1L]]) && as.character(call[[1L]]) %in% c("+", "-", "*", "==")
  setTimeLimit(cpu = seconds, elapsed = patience / 2, transient = TRUE)
  withRestarts(
    tryCatch(
      withCallingHandlers(eval(call, new.env(parent = globalenv())),
        error = function(error) ours <<- warpbayes_runs(),
        warning = function(w) invokeRestart("muffleWarning"),
        message = function(m) invokeRestart("muffleMessage")),
      error = function(error) {
        message <<- paste(conditionMessage(error), collapse = " [another message] ")
        kind <<- if (grepl("reached (CPU|elapsed) time limit", message)) {
          "timeout"
        } else if (inherits(error, "warpbayes_error")) {
          one <- nchar(message, allowNA = TRUE) %in% 1:2000 && !grepl("[another", message, fixed = TRUE)
          if (one && !names_call_of(error, call)) {
            message <<- paste(deparse(conditionCall(error))[[1L]], "is not the call that was made:", message)
            "call"
          } else if (one) "refused" else "error"
        } else if (!ours || grepl(not_ours, message) || operator && identical(conditionCall(error)[[1L]], call[[1L]])) {
          "refused"
        } else {
          message <<- paste(message, "in", paste(deparse(conditionCall(error))[[1L]]))
          if (grepl(not_ours, message)) "refused" else if ("changed" %in% all.names(call)) "changed" else "error"
        }
      },
      interrupt = function(i) kind <<- "timeout"
    ),
    abort = function() kind <<- "timeout"
  )
  setTimeLimit()
  used <- sum(proc.time()[1:2]) - start
  after <- state_of_r()
  same <- mapply(identical, before, after)
  text <- deparse1(call)
  draws <- any(c("seed") %in% all.names(call)) || !identical(.Random.seed, random)
  if (!identical(.Random.seed, random) && grepl("seed = 1\\b", text) && kind == "value") same[["random"]] <- FALSE
  if (!all(same) && kind != "timeout") {
    kind <- "state"
    options <- union(names(before$options), names(after$options))
    options <- options[!mapply(identical, before$options[options], after$options[options])]
    message <- paste("changed:", paste(c(names(same)[!same], options), collapse = ", "))
  }
  if (!all(same)) {
    options(before$options)
    setwd(before$directory)
    par(before$par)
    rm(list = setdiff(after$globals, before$globals), envir = globalenv())
  }
  c(kind, sprintf("%.2f", used), substr(gsub("[\t\n]", " ", iconv(message, "", "UTF-8", "byte")), 1L, 300L), text)
}

run_child <- function(from, to, seed, into) {
  for (package in c("posterior", "generics", "rstantools", "coda", "Matrix", "slam", "progressr", "future.apply", "loo",
    "bayesplot", "nlme")) {
    requireNamespace(package, quietly = TRUE)
  }
  base <- read_calls(paste0(pmf_calls, fit_calls))
  invisible(list2env(objects, globalenv()))
  for (name in names(objects)) lockBinding(name, globalenv())
  bytes <- function() lapply(objects, serialize, NULL)
  setwd(tempdir())
  pdf(NULL)
  sink(file("/dev/null", "w"))
  par(mfrow = c(1, 1))
  out <- file(into, "a")
  writeLines(c(Sys.getpid(), "ready"), paste0(into, ".pid"))
  original <- bytes()
  objects_at_start <- objects
  for (i in from:to) {
    call <- call_number(i, seed, base)
    cat(i, "\tbegin\t0\t\t", deparse1(call), "\n", file = out, sep = "")
    flush(out)
    line <- run_call(call)
    cat(i, "\t", paste(line, collapse = "\t"), "\n", file = out, sep = "")
    flush(out)
  }
  objects <<- mget(names(objects), globalenv())
  same <- function(was, is) identical(unserialize(was), is, ignore.environment = TRUE, ignore.bytecode = TRUE)
  before <- names(objects)[mapply(same, original, objects_at_start)]
  wrong <- before[!mapply(same, original[before], objects[before])]
  if (length(wrong)) {
    cat(to, "\tstate\t0\tan object was changed by one of the last calls: ", wrong, "\tNULL\n", file = out, sep = "")
  }
  close(out)
  cat(sum(proc.time()[1:2]), "\n", file = paste0(into, ".time"), append = TRUE)
}

if (child) {
  objects <- readRDS(file.path(folder, "fixtures.rds"))
  numbers <- as.numeric(arguments[2:4])
  invisible(list2env(objects, globalenv()))
  run_child(numbers[[1L]], numbers[[2L]], numbers[[3L]], arguments[[5L]])
  quit(status = 0)
}

objects <- fixtures()
if (identical(arguments[1L], "--call")) {
  invisible(list2env(objects, globalenv()))
  print(eval(parsed(arguments[[2L]])))
  quit()
}

# Every export and method must be among the calls.
base <- read_calls(paste0(pmf_calls, fit_calls))
invisible(list2env(objects, globalenv()))
reached <- unlist(Map(function(call, name) {
  if (!is.na(name)) return(sub("^.*::", "", name))
  f <- sub("^.*::", "", deparse1(call[[1L]]))
  c(f, if (is_fixture(call[2L][[1L]])) paste0(f, ".", class(get(as.character(call[[2L]])))))
}, base$call, base$name))
methods <- getNamespaceInfo("warpbayes", "S3methods")[, 3L]
absent <- setdiff(c(getNamespaceExports("warpbayes"), methods), reached)
absent <- absent[absent %in% getNamespaceExports("warpbayes") | !grepl("^as_draws|log_lik", absent)]
if (length(absent)) cat("not called:", absent, "\n")

total <- if (is.na(arguments[1L])) 2000 else as.numeric(arguments[1L])
seed <- if (is.na(arguments[2L])) 1 else as.numeric(arguments[2L])
saveRDS(objects, file.path(folder, "fixtures.rds"))
into <- file.path(folder, "calls.tsv")
unlink(paste0(into, c("", ".pid", ".time")))
read_lines <- function() {
  if (!file.exists(into)) return(NULL)
  lines <- readLines(into, warn = FALSE)
  parts <- strsplit(lines, "\t", fixed = TRUE)
  parts[lengths(parts) == 5L]
}

from <- 1
died <- list()
while (from <= total) {
  to <- min(total, from + block - 1)
  unlink(paste0(into, ".pid"))
  system2("sh", c("-c", shQuote(sprintf(
    "ulimit -v %.0f; exec Rscript --vanilla tests/campaigns/audit/audit.R --child %.0f %.0f %.0f %s > %s 2>&1; ",
    memory, from, to, seed, shQuote(into), shQuote(paste0(into, ".out"))
  ))), wait = FALSE)
  begun <- Sys.time()
  grown <- -1
  repeat {
    Sys.sleep(0.2)
    pid <- if (file.exists(paste0(into, ".pid"))) suppressWarnings(as.integer(readLines(paste0(into, ".pid"))[1L]))
    size <- if (file.exists(into)) file.size(into) else 0
    if (size != grown) {
      grown <- size
      begun <- Sys.time()
    }
    waited <- as.numeric(difftime(Sys.time(), begun, units = "secs"))
    if (length(pid) && !is.na(pid) && !tools::pskill(pid, 0L)) break
    if (waited > patience) {
      if (length(pid)) tools::pskill(pid, tools::SIGKILL)
      Sys.sleep(0.5)
      break
    }
  }
  parts <- read_lines()
  last <- if (length(parts)) parts[[length(parts)]] else c("0", "none")
  if (length(parts) && last[[2L]] == "begin") {
    last[[2L]] <- if (waited > patience) "hang" else "crash"
    last[[4L]] <- paste(tail(readLines(paste0(into, ".out"), warn = FALSE), 3L), collapse = " ")
    died <- c(died, list(last))
    from <- as.numeric(last[[1L]]) + 1
  } else if (!length(parts) || as.numeric(last[[1L]]) < from) {
    stop("a child did not start: see ", into, ".out")
  } else {
    from <- as.numeric(last[[1L]]) + 1
  }
}

results <- Filter(function(line) line[[2L]] != "begin", c(read_lines(), died))
table_of <- function(i) vapply(results, `[[`, "", i)
kind <- factor(table_of(2L), c("value", "refused", "changed", "crash", "hang", "timeout", "state", "call", "error"))
bad <- order(kind, table_of(4L))
bad <- bad[!kind[bad] %in% c("value", "refused")]
report <- file.path(folder, "report.txt")
writeLines(c(
  paste0(names(table(kind)), ": ", table(kind)), "",
  sprintf("[%s, call %s, %s s] %s\n    %s", kind[bad], table_of(1L)[bad], table_of(3L)[bad], table_of(4L)[bad],
    table_of(5L)[bad])
), report)
cat(readLines(report, n = 9L), sep = "\n")
spent <- as.numeric(readLines(paste0(into, ".time")))
cat("processor time:", round(sum(spent)), "s; report:", report, "\n")
wrong <- sum(kind[bad] != "changed")
too_many <- max(0, sum(kind == "changed") - ceiling(changed_share * total))
if (wrong > 0) cat(grep("^\\[(?!changed)", readLines(report), value = TRUE, perl = TRUE), sep = "\n")
cat(sprintf("%d passed, %d failed\n", length(kind) - wrong - too_many, wrong + too_many))
quit(status = as.integer(wrong + too_many > 0))
