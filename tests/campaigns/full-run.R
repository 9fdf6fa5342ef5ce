# The long run of the tests, in parts: over days, over machines, and in any order. Each part that ends adds a line to
# tests/campaigns/full-run.csv. A part that the record has for the present sources, without a failure, is left out.
# Where tests were skipped for want of a package, the state is "incomplete", and a machine with the package runs the
# part again.
#
#   Rscript tests/campaigns/full-run.R [OPTION...] [PART...]    all parts, or some
#   Rscript tests/campaigns/full-run.R list [PART...]           the parts that are not on record
#
# `tools/test --full` prepares what the parts need.
#
#   jobs=N           parts at a time; 1 without it
#   limit=SECONDS    ends a part after this time; 1e6 without it
#   total=SECONDS    ends all parts after this time
#   record=FILE      adds to this file, not to tests/campaigns/full-run.csv
#   again            runs parts that are on record too
#
# PART is `cpu/FILE` or `emulator/FILE`, where FILE is the name of a file of tests/testthat without test- and .R, or
# another step of tools/test. `cpu` and `emulator` stand for all their parts, and `long` for the parts of `cpu` with a
# long form.
# Parts of `cpu` and `emulator` need R_LIBS with this package, installed from these sources, testthat and Matrix, and
# `emulator` needs WARPBAYES_TEST_PLUGIN. The other steps need what tools/step says. It needs Unix, and `timeout`.
record_file <- "tests/campaigns/full-run.csv"
log_folder <- "build/full-run"

# Parts ----------------------------------------------------------------------------------------------------------------

test_files <- list.files("tests/testthat", "^test-.*[.]R$", full.names = TRUE)
test_names <- sub("^test-(.*)[.]R$", "\\1", basename(test_files))

all_parts <- function() {
  steps <- setdiff(system2("tools/test", "--list", stdout = TRUE),
    c("library", "plugin", "cpu", "emulator", "versions"))
  c(paste0("cpu/", test_names), paste0("emulator/", test_names), steps)
}

# Draws of Polya-Gamma variables have their long form in a helper.
has_long_form <- function(file) {
  any(grepl("extended\\(\\)|full_run\\(\\)|polyagamma_draws\\(", readLines(file)))
}

chosen_parts <- function(wanted) {
  parts <- all_parts()
  if (!length(wanted)) return(parts)
  long <- paste0("cpu/", test_names[vapply(test_files, has_long_form, NA)])
  found <- lapply(wanted, function(name) {
    found <- if (name == "long") long else parts[parts == name | startsWith(parts, paste0(name, "/"))]
    if (!length(found)) stop("no part ", name, call. = FALSE)
    found
  })
  unique(unlist(found))
}

# A digest of what a part depends on. Lines of R that are only comments do not count.
digest_of <- function(files, before = "") {
  text <- tempfile()
  on.exit(unlink(text))
  lines <- lapply(files, function(file) {
    lines <- readLines(file, warn = FALSE)
    c(file, if (endsWith(file, ".R")) lines[!grepl("^\\s*#", lines)] else lines)
  })
  writeLines(c(before, unlist(lines)), text, useBytes = TRUE)
  substr(tools::md5sum(text), 1L, 12L)
}

# The sources of the package for all parts. Parts of the suite also depend on their file and the helpers, other steps
# on all tests and tools.
sources_of <- function(parts) {
  # The same order in every locale.
  files_in <- function(folder, pattern = NULL) {
    sort(list.files(folder, pattern, recursive = TRUE, full.names = TRUE), method = "radix")
  }
  built <- "[.](o|so)$|^src/Makevars$|^tests/campaigns/full-run[.]"
  without <- function(files) files[!grepl(built, files)]
  package <- digest_of(c(files_in("R"), without(files_in("src"))))
  helpers <- digest_of(files_in("tests/testthat", "^helper|[.]csv$"), package)
  reference <- digest_of(files_in("tests/reference"), helpers)
  steps <- digest_of(without(c(files_in("tests"), files_in("tools"), files_in("vignettes"))), package)
  vapply(parts, function(part) {
    file <- sprintf("tests/testthat/test-%s.R", sub("^.*/", "", part))
    if (!grepl("/", part)) steps else digest_of(file, if (endsWith(part, "/reference")) reference else helpers)
  }, "")
}

# The record -----------------------------------------------------------------------------------------------------------

read_record <- function() {
  read.csv(record_file, colClasses = c(part = "character", commit = "character", date = "character",
    sources = "character", note = "character"))
}

add_to_record <- function(row, file) {
  line <- textConnection("text", "w", local = TRUE)
  write.table(row, line, sep = ",", row.names = FALSE, col.names = FALSE, na = "", qmethod = "double")
  close(line)
  cat(text, "\n", file = file, sep = "", append = TRUE)
}

commit <- function() {
  given <- Sys.getenv("WARPBAYES_COMMIT")
  if (nzchar(given)) return(given)
  # warning: there is no git, or this is no checkout.
  suppressWarnings(tryCatch({
    short <- system2("git", c("rev-parse", "--short", "HEAD"), stdout = TRUE, stderr = FALSE)
    changed <- system2("git", c("status", "--porcelain", "--untracked-files=no", "R", "src"), stdout = TRUE)
    paste0(short, if (length(changed)) " with changes")
  }, error = function(error) ""))
}

# The last result of each part. One that ended by a limit counts only if there is no other.
last_results <- function(record) {
  record <- record[order(record$state != "limit"), ]
  record[!duplicated(record$part, fromLast = TRUE), ]
}

# The packages that skipped tests needed, from a note of the record. testthat has used both wordings.
missing_packages <- function(note) {
  pattern <- "[{]?([A-Za-z0-9.]+)[}]? (cannot be loaded|is not installed)"
  found <- regmatches(note, gregexpr(pattern, note))[[1L]]
  sub(pattern, "\\1", found)
}

is_here <- function(package) nzchar(system.file(package = package))

# Parts to run, those first that take longest or have never ended.
order_parts <- function(parts, sources, again) {
  record <- read_record()
  if (!again) {
    done <- record$state == "passed" | record$state == "incomplete" &
      !vapply(record$note, function(note) any(vapply(missing_packages(note), is_here, NA)), NA)
    on_record <- paste(parts, sources) %in% paste(record$part, record$sources)[done]
    parts <- parts[!on_record]
  }
  last <- last_results(record)
  last$seconds[last$state == "limit"] <- Inf
  seconds <- last$seconds[match(parts, last$part)]
  parts[order(-seconds, na.last = FALSE)]
}

# Running --------------------------------------------------------------------------------------------------------------

# The counts of a log: "N passed, N failed", with or without "N skipped". A step without counts is one test.
counts_of <- function(log, status) {
  line <- tail(grep("^[0-9]+ passed, [0-9]+ failed", log, value = TRUE), 1L)
  if (!length(line)) return(c(status == 0, status != 0, 0))
  counts <- as.numeric(regmatches(line, gregexpr("[0-9]+", line))[[1L]])
  counts <- c(counts, 0)[1:3]
  # A file that is skipped as a whole has no tests.
  if (sum(counts) == 0 && any(grepl("FAIL 0 .* SKIP 1 .* PASS 0", log))) return(c(0, 0, 1))
  if (status != 0 && counts[[2L]] == 0) counts[[2L]] <- 1
  counts
}

# `timeout` ends all that a part started, at the limit or if this run is interrupted. A shell lets the processes that it
# starts in the background ignore SIGINT, and tests of interrupts need a SIGINT that is not ignored.
run_part <- function(part, limit, sources, commit, record) {
  step <- sub("/.*", "", part)
  in_suite <- step != part
  log <- file.path(log_folder, paste0(gsub("/", "-", part), ".log"))
  variables <- c("WARPBAYES_EXTENDED_TESTS=true", if (in_suite) c(
    "NOT_CRAN=true", "WARPBAYES_FIXED_THREADS=yes",
    sprintf("WARPBAYES_TEST_FILTER='^%s$'", sub("^.*/", "", part)),
    switch(step, cpu = "WARPBAYES_TEST_BACKEND=cpu",
      emulator = c("WARPBAYES_TEST_BACKEND=cuda", "WARPBAYES_TEST_REPEATED=true"))
  ))
  command <- if (in_suite) "Rscript tools/run-tests.R" else paste("tools/step", part)
  script <- sprintf(
    "env --default-signal=INT %s timeout --kill-after=20 %.0f %s > %s 2>&1 < /dev/null & %s",
    paste(variables, collapse = " "), limit, command, shQuote(log), "p=$!; trap 'kill $p' INT TERM; wait $p"
  )
  before <- proc.time()
  status <- system2("sh", c("-c", shQuote(script)))
  used <- proc.time() - before
  step_log <- if (in_suite) log else sprintf("build/test/%s.log", part)
  lines <- if (file.exists(step_log)) readLines(step_log, warn = FALSE) else ""
  ended <- status %in% c(124L, 137L)
  counts <- if (ended) rep(NA, 3L) else counts_of(lines, status)
  skipped <- sub("^skipped because: ", "", grep("^skipped because: ", lines, value = TRUE))
  state <- if (ended) {
    "limit"
  } else if (counts[[2L]] > 0) {
    "failed"
  } else if (length(missing_packages(paste(skipped, collapse = " ")))) {
    "incomplete"
  } else if (counts[[1L]] > 0) {
    "passed"
  } else {
    "skipped"
  }
  row <- data.frame(
    part = part, state = state, passed = counts[[1L]], failed = counts[[2L]], skipped = counts[[3L]],
    seconds = round(sum(used[4:5])), commit = commit, date = format(Sys.time(), "%Y-%m-%d", tz = "UTC"),
    sources = sources, note = if (ended) sprintf("ended after %.0f s", limit) else paste(skipped, collapse = "; ")
  )
  add_to_record(row, record)
  cat(sprintf("%-50s %s: %s passed, %s failed, %s skipped, %.0f s of processor time\n", part, state, row$passed,
    row$failed, row$skipped, row$seconds))
  if (state == "failed") cat(paste0("    ", tail(lines, 40L), "\n"), sep = "")
  state
}

run_parts <- function(parts, options) {
  sources <- sources_of(parts)
  parts <- order_parts(parts, sources, options$again)
  began <- Sys.time()
  commit <- commit()
  dir.create(log_folder, recursive = TRUE, showWarnings = FALSE)
  states <- parallel::mclapply(parts, function(part) {
    left <- options$total - as.numeric(Sys.time() - began, units = "secs")
    if (left < 1) "not begun" else run_part(part, min(options$limit, left), sources[[part]], commit, options$record)
  }, mc.cores = options$jobs, mc.preschedule = FALSE)
  states <- factor(unlist(states), c("passed", "incomplete", "skipped", "failed", "limit", "not begun"))
  cat(sprintf("%d parts: %s\n", length(parts), paste(table(states), levels(states), collapse = ", ")))
  wrong <- sum(!states %in% c("passed", "incomplete", "skipped"))
  cat(sprintf("%d passed, %d failed\n", sum(states == "passed"), wrong))
  quit(status = as.integer(wrong > 0))
}

# --------------------------------------------------------------------------------------------------------------------

arguments <- commandArgs(TRUE)
is_option <- grepl("^(jobs|limit|total|record)=|^again$", arguments)
options_given <- arguments[is_option]
value <- function(name, otherwise) {
  given <- grep(paste0("^", name, "="), options_given, value = TRUE)
  if (length(given)) sub("^[^=]*=", "", given[[length(given)]]) else otherwise
}
names_given <- arguments[!is_option]
listing <- identical(names_given[1L], "list")
parts <- chosen_parts(if (listing) names_given[-1L] else names_given)
options <- list(
  jobs = as.integer(value("jobs", "1")), limit = as.numeric(value("limit", "1e6")),
  total = as.numeric(value("total", "1e6")), record = value("record", record_file), again = "again" %in% options_given
)
if (listing) cat(order_parts(parts, sources_of(parts), options$again), sep = "\n") else run_parts(parts, options)
