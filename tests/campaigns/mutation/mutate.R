# Changes lines of the sources at random, one at a time, and counts what the tests find.
#
#   Rscript tests/campaigns/mutation/mutate.R [OPTION]...
#     --seed=1                            the lines and changes that are drawn
#     --number=40                         mutants of each folder that change the compiled code
#     --folders=core,cpu,cuda,host,R      what is changed
#     --jobs=2                            mutants at a time
#     --seconds=Inf                       when to stop; mutants that then run are unfinished, and not counted
#     --begin=Inf                         seconds after which no mutant is begun
#     --out=build/mutation                the folder of copies, results.csv and the table by folder
#     --replay=FILE                       the mutants of such a results.csv that survived, in place of drawn ones
#     --status=survived                   ... or those with this status; `any` is all
#     --fresh                             ... and after them drawn ones
#     --tests=PATTERN                     only test files whose names match
#     --measure                           writes seconds.csv beside this file: processor time of tests without a mutant
#
# A mutant is found if a test fails, R dies, or a test takes over three times its usual processor time. A change that
# does not compile, or that gives the same object file (in R the same expression), is drawn again. Each job
# has a copy of the built tree, in which only what includes the changed file is compiled again. Kernels run on the
# emulator; what the suite does not notice there goes through the race driver with the checks of accesses and of races.
# tests/campaigns.md has the results.

source("tests/campaigns/mutation/mutants.R")
source("tests/campaigns/mutation/topics.R")

options(warn = 1)
folder_of <- c(
  core = "^src/core/", cpu = "^src/cpu/", cuda = "^src/cuda/",
  host = paste0("^src/(abundance|categorical|mixture|pmf|polyagamma|predictive|regression|topic_model|numeric|entry|",
    "cluster|checkpoint)/"),
  R = "^R/"
)

# Options ---------------------------------------------------------------------

read_options <- function(words) {
  option <- list(
    seed = "1", number = "40", folders = "core,cpu,cuda,host,R", jobs = "2", seconds = "Inf", begin = "Inf",
    out = "build/mutation", replay = "", status = "survived", fresh = "", tests = ".", measure = "", worker = ""
  )
  for (word in words) {
    name <- sub("^--([a-z]+)(=.*)?$", "\\1", word)
    if (!name %in% names(option) || !startsWith(word, "--")) stop(word, " is not an option", call. = FALSE)
    option[[name]] <- if (grepl("=", word)) sub("^[^=]*=", "", word) else "yes"
  }
  for (name in c("seed", "number", "jobs", "seconds", "begin")) option[[name]] <- as.numeric(option[[name]])
  option$folders <- strsplit(option$folders, ",")[[1L]]
  stopifnot(option$folders %in% names(folder_of))
  option
}

# What is drawn ---------------------------------------------------------------

source_files <- function(root) {
  files <- list.files(root, "[.](c|h|cu|cuh|R)$", recursive = TRUE)
  files <- files[grepl("^(src|R)/", files)]
  lapply(folder_of, function(pattern) sort(grep(pattern, files, value = TRUE), method = "radix"))
}

# All lines in random order, with a number that says which of the line's changes is made.
draw_lines <- function(files, seed) {
  if (!length(files)) return(NULL)
  at <- lapply(files, function(file) (if (endsWith(file, ".R")) r_source(file) else c_source(file))$at)
  lines <- data.frame(file = rep(files, lengths(at)), line = unlist(at), stringsAsFactors = FALSE)
  set.seed(seed, "Mersenne-Twister", sample.kind = "Rejection")
  lines <- lines[sample(nrow(lines)), ]
  lines$which <- stats::runif(nrow(lines))
  lines
}

# The change of a drawn line, or NULL if none can be made.
make_change <- function(drawn) {
  is_r <- endsWith(drawn$file, ".R")
  source <- if (is_r) r_source(drawn$file) else c_source(drawn$file)
  all <- if (is_r) r_candidates(source, drawn$line) else c_candidates(source, drawn$line)
  if (!nrow(all)) return(NULL)
  change <- all[floor(drawn$which * nrow(all)) + 1, ]
  before <- source$lines[[drawn$line]]
  list(file = drawn$file, line = drawn$line, kind = change$kind, before = before, after = changed_line(before, change))
}

# The line of a saved mutant: the one with its text that is nearest to its number.
find_again <- function(row) {
  lines <- readLines(row$file, encoding = "UTF-8")
  same <- which(trimws(lines) == trimws(row$before))
  if (!length(same)) return(NULL)
  line <- same[which.min(abs(same - row$line))]
  indent <- sub("\\S.*$", "", lines[[line]])
  list(file = row$file, line = line, kind = row$kind, before = lines[[line]], after = paste0(indent, trimws(row$after)))
}

# Builds ----------------------------------------------------------------------

start_command <- function(command, args, log, env = character(), wd = ".") {
  processx::process$new(command, args, stdout = log, stderr = "2>&1", wd = wd, cleanup_tree = TRUE,
    env = c("current", WARPBAYES_MUTATION = "yes", env))
}

run_command <- function(command, args, log, env = character(), wd = ".", limit = Inf) {
  process <- start_command(command, args, log, env, wd)
  process$wait(if (is.finite(limit)) max(1, limit) * 1000 else -1)
  if (process$is_alive()) {
    process$kill_tree()
    return(-1L)
  }
  process$get_exit_status()
}

# Makes the objects, or the library, of a copy of the tree.
make_objects <- function(tree, targets, flags, log) {
  home <- R.home()
  makefiles <- c("Makevars", file.path(home, "etc", "Makeconf"), file.path(R.home("share"), "make", "shlib.mk"), flags)
  objects <- paste(objects_of(tree), collapse = " ")
  run_command(file.path(R.home("bin"), "R"),
    c("CMD", "make", rbind("-f", makefiles), "SHLIB=warpbayes.so", paste0("OBJECTS=", objects), targets), log,
    env = c(MAKEFLAGS = "", R_MAKEVARS_USER = flags), wd = file.path(tree, "src"))
}

objects_of <- function(tree) {
  text <- paste(readLines(file.path(tree, "src", "Makevars.in")), collapse = " ")
  scan(text = gsub("\\\\", " ", sub(".*OBJECTS = ", "", text)), what = "", quiet = TRUE)
}

# For each file of src all files that it includes, directly or through other files, without the leading src/.
read_includes <- function(tree) {
  files <- list.files(file.path(tree, "src"), "[.](c|h|cu|cuh)$", recursive = TRUE)
  direct <- lapply(stats::setNames(files, files), function(file) {
    lines <- readLines(file.path(tree, "src", file), encoding = "UTF-8")
    pattern <- "^\\s*#\\s*(include|define\\s+WB_LOOPS)\\s+\"([^\"]+)\".*"
    intersect(sub(pattern, "\\2", grep(pattern, lines, value = TRUE)), files)
  })
  lapply(direct, function(reached) {
    repeat {
      more <- unique(c(reached, unlist(direct[reached])))
      if (length(more) == length(reached)) return(more)
      reached <- more
    }
  })
}

# The sources that are compiled again when a file of src changes.
users_of <- function(file, includes, pattern) {
  own <- sub("^src/", "", file)
  uses <- vapply(includes, function(reached) own %in% reached, NA)
  grep(pattern, union(names(includes)[uses], own), value = TRUE)
}

# A compiler that leaves the folder out of what it compiles. It stays if it is there, because it may be in use.
write_compiler <- function(tree, command) {
  file <- file.path(tree, command)
  folder <- normalizePath(tree)
  text <- c("#!/bin/sh", sprintf("exec %s -ffile-prefix-map=%s=. \"$@\"", command, folder))
  if (!file.exists(file) || !identical(readLines(file), text)) {
    writeLines(text, file)
    Sys.chmod(file, "755")
  }
  normalizePath(file)
}

# Builds the emulated plugin, or the race driver. It compiles all kernels, or only the kernels of `sources` again. `run`
# is run_command or start_command.
emulate <- function(tree, out, args, sources, kernels, log, jobs = 1, compiler = "g++", run = run_command) {
  more <- if (length(sources)) paste0("--source=", file.path(normalizePath(tree), "src", sources))
  run(file.path(tree, "tests", "emulated", "build.sh"),
    c(out, paste0("--cxx=", write_compiler(tree, compiler)), args, paste0("--jobs=", jobs), more,
      if (nzchar(kernels)) paste0("--kernels=", kernels)), log)
}

same_file <- function(one, two) {
  file.exists(one) && file.exists(two) && identical(unname(tools::md5sum(one)), unname(tools::md5sum(two)))
}

# A job's copy of the tree, its objects and the installed package.
copy_built <- function(base, to) {
  unlink(to, recursive = TRUE)
  dir.create(to, recursive = TRUE)
  stopifnot(system2("cp", c("-a", file.path(base, c("tree", "library")), to)) == 0L)
}

# The tree and its objects, from which the jobs' copies are made.
prepare <- function(option) {
  base <- file.path(option$out, "base")
  if (file.exists(file.path(base, "complete"))) return(invisible())
  unlink(base, recursive = TRUE)
  tree <- file.path(base, "tree")
  dir.create(tree, recursive = TRUE)
  dir.create(file.path(base, "library"))
  kept <- c("DESCRIPTION", "NAMESPACE", "LICENSE", "R", "configure", "cleanup", "inst", "src", "tests", "tools")
  system2("cp", c("-a", kept, tree))
  unlink(c(file.path(tree, "inst", "cuda"), file.path(tree, "src", objects_of("."))), recursive = TRUE)
  unlink(list.files(file.path(tree, "src"), "[.]s?o$", full.names = TRUE, recursive = TRUE))
  r <- file.path(R.home("bin"), "R")
  compiler <- system2(r, c("CMD", "config", "CC"), stdout = TRUE)
  if (nzchar(Sys.which("ccache"))) compiler <- paste("ccache", compiler)
  # Without -g, so that equal code gives equal objects.
  flags <- file.path(normalizePath(base), "flags.mk")
  writeLines(c(paste("CC =", compiler), "CFLAGS = -O2"), flags)
  log_of <- function(name) file.path(base, paste0(name, ".log"))
  builds <- list(install = function() {
    start_command(r, c("CMD", "INSTALL", "--no-docs", "--no-test-load", "--no-byte-compile",
      paste0("--library=", file.path(base, "library")), tree), log_of("install"),
      env = c(WARPBAYES_CUDA = "no", MAKEFLAGS = paste0("-j", option$jobs), R_MAKEVARS_USER = flags))
  })
  if ("cuda" %in% option$folders) {
    found <- vapply(emulations, function(how) nzchar(Sys.which(how$compiler)), NA)
    builds <- c(builds, lapply(stats::setNames(nm = names(emulations)[found]), function(variant) function() {
      emulate(tree, file.path(base, paste0(variant, ".so")), emulations[[variant]]$args, NULL, "", log_of(variant),
        option$jobs, emulations[[variant]]$compiler, start_command)
    }))
  }
  # Towards its end a build runs few compilers, so with enough jobs all builds run at once.
  running <- list()
  for (name in names(builds)) {
    running[[name]] <- builds[[name]]()
    if (option$jobs < length(builds)) running[[name]]$wait()
  }
  for (name in names(running)) {
    running[[name]]$wait()
    if (running[[name]]$get_exit_status() == 0L) next
    if (name %in% c("install", "emulator")) stop("without a mutant this cannot be built: ", log_of(name))
    cat("no race driver, because this cannot be built: ", log_of(name), "\n", sep = "")
    unlink(file.path(base, paste0(name, ".so.o")), recursive = TRUE)
  }
  file.create(file.path(base, "complete"))
}

driver <- "--driver=tests/emulated/race_driver.cpp"
emulations <- list(
  emulator = list(args = character(), compiler = "g++"),
  access = list(args = "--sanitize=access", compiler = "g++"),
  races = list(args = c("--sanitize=thread", driver), compiler = if (nzchar(Sys.which("clang++"))) "clang++" else "g++")
)

# Tests -----------------------------------------------------------------------

test_environment <- function(tree, plugin) {
  env <- c(NOT_CRAN = "true", WARPBAYES_FIXED_THREADS = "yes", OMP_WAIT_POLICY = "passive", WB_EMULATOR_QUIET = "1",
    R_LIBS = file.path(dirname(normalizePath(tree)), "library"))
  if (nzchar(plugin)) {
    c(env, WARPBAYES_TEST_BACKEND = "cuda", WARPBAYES_TEST_PLUGIN = plugin, WARPBAYES_TEST_REPEATED = "true")
  } else {
    c(env, WARPBAYES_TEST_BACKEND = "cpu")
  }
}

# Runs tests until the first failure. Returns what failed, "" if nothing did, NA if there was no time.
run_suite <- function(where, tests, limits, plugin, until) {
  progress <- file.path(where, "progress")
  unlink(progress)
  tree <- file.path(where, "tree")
  process <- processx::process$new(file.path(R.home("bin"), "Rscript"),
    c("tests/campaigns/mutation/suite.R", file.path(normalizePath(where), c("library", "progress")),
      paste(limits, collapse = ","), tests),
    stdout = file.path(where, "suite.log"), stderr = "2>&1", wd = tree, cleanup_tree = TRUE,
    env = c("current", test_environment(tree, plugin)))
  on.exit(process$kill_tree())
  used <- function() sum(tryCatch(process$get_cpu_times()[c("user", "system")], error = function(error) 0))
  now <- ""
  repeat {
    process$wait(500)
    state <- if (file.exists(progress)) strsplit(readLines(progress, 1L), " ")[[1L]] else c("start", "R", "60")
    if (!process$is_alive()) break
    if (Sys.time() > until) return(NA_character_)
    if (!identical(state, now)) {
      now <- state
      before <- used()
      began <- Sys.time()
    }
    # A machine with other work makes a test longer, but it takes no more of the processor's time.
    limit <- if (state[[1L]] %in% c("start", "running")) as.numeric(state[[3L]]) else Inf
    if (used() - before > limit || Sys.time() > began + 5 * limit) return(paste0(state[[2L]], ": takes too long"))
  }
  state <- if (file.exists(progress)) readLines(progress, 1L) else "start"
  if (startsWith(state, "failed ")) {
    sub("^failed ", "", state)
  } else if (state == "passed") {
    ""
  } else if (state == "start") {
    "library(warpbayes)"
  } else {
    paste0(strsplit(state, " ")[[1L]][[2L]], ": R died")
  }
}

known_topics <- function() {
  text <- readLines("tests/testthat/helper-known-answers.R")
  found <- c(text, readLines("tests/testthat/test-known-answers.R"))
  sub("^  (\\w+) = list\\(cases.*", "\\1", grep("^  \\w+ = list\\(cases", found, value = TRUE))
}

test_names <- function() sub("^test-(.*)[.]R$", "\\1", list.files("tests/testthat", "^test-.*[.]R$"))

# The usual processor time of tests. That on the emulator is not measured: 20 is a cautious factor.
read_seconds <- function(backend) {
  file <- "tests/campaigns/mutation/seconds.csv"
  if (!file.exists(file)) return(numeric())
  table <- utils::read.csv(file)
  stats::setNames(table$seconds, table$test) * if (backend == "cuda") 20 else 1
}

# The usual time is taken to be 10 s at least, because seconds.csv is of another machine and an older version, and 60 s
# on the emulator, because some tests run only there.
limits_of <- function(tests, seconds, backend) {
  usual <- seconds[tests]
  usual[is.na(usual)] <- 30
  usual <- pmax(usual, if (backend == "cuda") 60 else 10)
  3 * usual + 10
}

# Whether a test passes without a mutant on this machine. `run` runs it in a folder and returns what failed. It runs
# once, when the test has found a mutant for the first time. Until it has ended, the answer is TRUE; main() looks again.
passes_unchanged <- function(option, name, run) {
  file <- file.path(option$out, "verified", gsub("[^A-Za-z0-9-]", "_", name))
  if (!file.exists(file) && dir.create(paste0(file, ".taken"), showWarnings = FALSE)) {
    where <- file.path(option$out, paste0("verify-", basename(file)))
    dir.create(where)
    for (part in c("library", "tree")) {
      file.symlink(normalizePath(file.path(option$out, "base", part)), file.path(where, part))
    }
    found <- run(where)
    writeLines(if (is.na(found)) "unknown" else if (nzchar(found)) paste("fails", found) else "passes", file)
  }
  !fails_unchanged(option, name)
}

fails_unchanged <- function(option, name) {
  file <- file.path(option$out, "verified", gsub("[^A-Za-z0-9-]", "_", name))
  vapply(file, function(file) file.exists(file) && startsWith(readLines(file, 1L), "fails"), NA, USE.NAMES = FALSE)
}

# A job -----------------------------------------------------------------------

# Looks for one mutant. Returns its status and what found it.
examine <- function(option, where, mutant, includes, seconds, until) {
  base <- file.path(option$out, "base")
  tree <- file.path(where, "tree")
  log <- file.path(where, "build.log")
  target <- file.path(tree, mutant$file)
  flags <- normalizePath(file.path(base, "flags.mk"))
  restore <- function(file) file.copy(file.path(base, file), file.path(where, file), overwrite = TRUE, copy.date = TRUE)
  lines <- readLines(file.path(base, "tree", mutant$file), encoding = "UTF-8")
  stopifnot(lines[[mutant$line]] == mutant$before)
  lines[[mutant$line]] <- mutant$after
  on.exit(restore(file.path("tree", mutant$file)))
  writeLines(lines, target, useBytes = TRUE)
  backend <- "cpu"
  plugin <- ""
  sources <- users_of(mutant$file, includes, "[.]cu$")
  # Compiles the kernels that include the file. The answer is "", or the status of a mutant that needs no tests.
  build_kernels <- function() {
    backend <<- "cuda"
    plugin <<- file.path(normalizePath(where), "emulator.so")
    kernels <- normalizePath(file.path(base, "emulator.so.o"))
    if (emulate(tree, plugin, character(), sources, kernels, log) != 0L) return("uncompilable")
    objects <- paste0(gsub("/", "_", sub("[.]cu$", "", sources)), ".o")
    same <- mapply(same_file, file.path(paste0(plugin, ".o"), objects), file.path(kernels, objects))
    if (all(same)) "equivalent" else ""
  }
  if (endsWith(mutant$file, ".R")) {
    expression <- function(path) tryCatch(lapply(as.list(parse(path, keep.source = FALSE)), deparse),
      error = function(error) NULL)
    new <- expression(target)
    if (is.null(new)) return(c("uncompilable", ""))
    if (identical(new, expression(file.path(base, "tree", mutant$file)))) return(c("equivalent", ""))
    code <- c("warpbayes", "warpbayes.rdb", "warpbayes.rdx")
    on.exit(for (file in code) restore(file.path("library", "warpbayes", "R", file)), add = TRUE)
    unlink(file.path(where, "library", "warpbayes", "R", code))
    status <- run_command(file.path(R.home("bin"), "Rscript"), c("-e", sprintf(
      "tools:::.install_package_code_files('%s', '%s/warpbayes'); tools:::makeLazyLoading('warpbayes', '%s')",
      normalizePath(tree), file.path(normalizePath(where), "library"), file.path(normalizePath(where), "library")
    )), log)
    if (status != 0L) return(c("uncompilable", ""))
  } else if (startsWith(mutant$file, "src/cuda/")) {
    status <- build_kernels()
    if (nzchar(status)) return(c(status, ""))
  } else {
    objects <- sub("[.]c$", ".o", users_of(mutant$file, includes, "[.]c$"))
    on.exit(for (file in file.path("tree", "src", objects)) restore(file), add = TRUE)
    unlink(file.path(tree, "src", objects))
    if (make_objects(tree, objects, flags, log) != 0L) return(c("uncompilable", ""))
    if (all(mapply(same_file, file.path(tree, "src", objects), file.path(base, "tree", "src", objects)))) {
      # Kernels may use what the processor does not.
      status <- if (length(sources) && dir.exists(file.path(base, "emulator.so.o"))) build_kernels() else "equivalent"
      # The tests of single functions compile also what this machine's objects leave out.
      found <- if (status == "equivalent" && startsWith(mutant$file, "src/core/")) {
        find_by_vectors(option, where, until)
      } else {
        ""
      }
      if (is.na(found) || nzchar(found)) {
        return(if (is.na(found)) c("unfinished", "") else c("found", found))
      }
      if (nzchar(status)) return(c(status, ""))
    } else {
      library <- file.path("library", "warpbayes", "libs", "warpbayes.so")
      on.exit(restore(library), add = TRUE)
      unlink(file.path(tree, "src", "warpbayes.so"))
      if (make_objects(tree, "warpbayes.so", flags, log) != 0L) return(c("uncompilable", ""))
      file.copy(file.path(tree, "src", "warpbayes.so"), file.path(where, library), overwrite = TRUE)
    }
  }
  own <- seconds[[backend]]
  tests <- tests_of(mutant$file, own, test_names(), known_topics())
  tests <- tests[grepl(option$tests, tests)]
  repeat {
    tests <- tests[!vapply(tests, function(test) fails_unchanged(option, paste(backend, test)), NA)]
    found <- ""
    if (!length(tests)) break
    found <- run_suite(where, tests, limits_of(tests, own, backend), plugin, until)
    test <- sub(": .*", "", found)
    if (is.na(found) || !nzchar(found)) break
    unchanged <- if (backend == "cuda") normalizePath(file.path(base, "emulator.so")) else ""
    if (!test %in% tests ||
      passes_unchanged(option, paste(backend, test), function(where) run_suite(where, test, 600, unchanged, until))) {
      return(c("found", found))
    }
    tests <- tests[seq_along(tests) > match(test, tests)]
  }
  if (is.na(found)) return(c("unfinished", ""))
  extra <- if (backend == "cuda") find_by_driver(option, where, sources, until) else ""
  if (!is.na(extra) && !nzchar(extra) && startsWith(mutant$file, "src/core/")) {
    extra <- find_by_vectors(option, where, until)
  }
  if (is.na(extra)) c("unfinished", "") else if (nzchar(extra)) c("found", extra) else c("survived", "")
}

# The race driver, once with the check of accesses and once with the check of races.
find_by_driver <- function(option, where, sources, until) {
  for (variant in c("access", "races")) {
    if (!file.exists(file.path(option$out, "base", paste0(variant, ".so.o")))) next
    name <- paste("race driver,", variant)
    if (fails_unchanged(option, name)) next
    found <- run_driver(option, where, variant, sources, until)
    if (is.na(found) || nzchar(found) && passes_unchanged(option, name, function(where) {
      run_driver(option, where, variant, character(), until)
    })) {
      return(if (is.na(found)) NA else name)
    }
  }
  ""
}

run_driver <- function(option, where, variant, sources, until) {
  how <- emulations[[variant]]
  program <- file.path(normalizePath(where), variant)
  kernels <- normalizePath(file.path(option$out, "base", paste0(variant, ".so.o")))
  status <- emulate(file.path(where, "tree"), program, unique(c(how$args, driver)), sources, kernels,
    file.path(where, "build.log"), 1, how$compiler)
  if (status != 0L) return("does not compile")
  left <- as.numeric(difftime(until, Sys.time(), units = "secs"))
  status <- run_command(program, character(), file.path(where, "driver.log"),
    env = c(TSAN_OPTIONS = "exitcode=66 halt_on_error=1", WB_EMULATOR_QUIET = "1"), limit = min(300, left))
  if (status == -1L && left < 300) NA else if (status != 0L) paste("status", status) else ""
}

# The tests of single functions of src/core.
find_by_vectors <- function(option, where, until) {
  if (fails_unchanged(option, "vectors")) return("")
  run <- function(where) {
    left <- as.numeric(difftime(until, Sys.time(), units = "secs"))
    log <- file.path(normalizePath(where), "vectors.log")
    status <- run_command(file.path(where, "tree", "tests", "vectors", "run.sh"), character(), log,
      env = c(NVCC = "none"), limit = min(600, left))
    if (status == -1L && left < 600) return(NA_character_)
    failed <- c(sub("FAILED: ", "", grep("^FAILED", readLines(log), value = TRUE)), "fails")
    if (status != 0L) failed[[1L]] else ""
  }
  found <- run(where)
  if (is.na(found)) return(NA)
  if (nzchar(found) && passes_unchanged(option, "vectors", run)) paste("vectors:", found) else ""
}

work <- function(option) {
  plan <- readRDS(file.path(option$out, "plan.rds"))
  where <- file.path(option$out, paste0("job-", option$worker))
  base <- file.path(option$out, "base")
  copy_built(base, where)
  includes <- read_includes(file.path(base, "tree"))
  seconds <- list(cpu = read_seconds("cpu"), cuda = read_seconds("cuda"))
  results <- file.path(option$out, paste0("results-", option$worker, ".csv"))
  until <- plan$until
  take <- function(...) dir.create(file.path(option$out, "taken", paste0(...)), showWarnings = FALSE)
  begun <- sub("results", "begun", results)
  write_row <- function(row, file) {
    new <- !file.exists(file)
    utils::write.table(row, file, sep = ",", qmethod = "double", row.names = FALSE, append = !new, col.names = new)
  }
  # Examines one mutant. Its row is in the file `begun` until it is in `results`.
  judge <- function(seed, id, folder, mutant) {
    row <- data.frame(
      seed = seed, id = id, folder = folder, file = mutant$file, line = mutant$line, kind = mutant$kind,
      before = trimws(mutant$before), after = trimws(mutant$after), status = "unfinished", by = "", seconds = NA,
      stringsAsFactors = FALSE
    )
    write_row(row, begun)
    began <- Sys.time()
    outcome <- tryCatch(examine(option, where, mutant, includes, seconds, until),
      error = function(error) c("broken", conditionMessage(error)))
    row$status <- outcome[[1L]]
    row$by <- outcome[[2L]]
    row$seconds <- round(as.numeric(difftime(Sys.time(), began, units = "secs")), 1)
    write_row(row, results)
    unlink(begun)
    cat(sprintf("%s %s:%d %s\n    %s\n    %s\n    %s%s, %.0f s\n", id, row$file, row$line, row$kind, row$before,
      row$after, row$status, if (nzchar(row$by)) paste(" by", row$by) else "", row$seconds))
    if (row$status == "survived") {
      log <- file.path(where, "suite.log")
      if (file.exists(log)) file.copy(log, file.path(option$out, "logs", paste0(seed, "-", id, ".log")))
    }
    row$status
  }
  for (i in seq_len(NROW(plan$replay))) {
    row <- plan$replay[i, ]
    if (Sys.time() > plan$begin || !take("replay-", i)) next
    mutant <- find_again(row)
    if (is.null(mutant)) {
      row$status <- "vanished"
      write_row(row, results)
    } else {
      judge(row$seed, row$id, row$folder, mutant)
    }
  }
  position <- stats::setNames(rep(1L, length(plan$lines)), names(plan$lines))
  for (slot in seq_len(option$number)) {
    for (folder in names(plan$lines)) {
      if (Sys.time() > plan$begin || !take("slot-", folder, "-", slot)) next
      lines <- plan$lines[[folder]]
      repeat {
        i <- position[[folder]]
        if (i > nrow(lines) || Sys.time() > plan$begin) break
        position[[folder]] <- i + 1L
        if (!take(folder, "-", i)) next
        mutant <- make_change(lines[i, ])
        if (is.null(mutant)) next
        status <- judge(option$seed, paste0(folder, "-", i), folder, mutant)
        if (!status %in% c("equivalent", "uncompilable")) break
      }
    }
  }
}

# The run ---------------------------------------------------------------------

table_of <- function(results) {
  counted <- function(folder, ...) sum(results$folder == folder & results$status %in% c(...))
  folders <- intersect(names(folder_of), results$folder)
  table <- data.frame(
    folder = folders, mutants = vapply(folders, counted, 0, "found", "survived"),
    found = vapply(folders, counted, 0, "found"), survived = vapply(folders, counted, 0, "survived"),
    equivalent = vapply(folders, counted, 0, "equivalent"),
    uncompilable = vapply(folders, counted, 0, "uncompilable"), row.names = NULL
  )
  rbind(table, data.frame(folder = "all", t(colSums(table[-1L]))))
}

measure <- function(option) {
  where <- file.path(option$out, "measure")
  copy_built(file.path(option$out, "base"), where)
  tests <- c(paste0("known-answers:", known_topics()), setdiff(test_names(), "known-answers"))
  failed <- run_suite(where, tests, rep(1200, length(tests)), "", Sys.time() + 7200)
  if (nzchar(failed)) stop("without a mutant: ", failed)
  log <- readLines(file.path(where, "suite.log"))
  passed <- strsplit(sub("^passed ", "", grep("^passed ", log, value = TRUE)), " ")
  table <- data.frame(test = vapply(passed, `[[`, "", 1L), seconds = round(as.numeric(vapply(passed, `[[`, "", 2L)), 1))
  utils::write.csv(table, "tests/campaigns/mutation/seconds.csv", row.names = FALSE, quote = FALSE)
}

main <- function(words) {
  option <- read_options(words)
  if (nzchar(option$worker)) return(work(option))
  started <- Sys.time()
  dir.create(option$out, recursive = TRUE, showWarnings = FALSE)
  prepare(option)
  if (nzchar(option$measure)) return(measure(option))
  for (folder in c("taken", "verified", "logs")) {
    unlink(file.path(option$out, folder), recursive = TRUE)
    dir.create(file.path(option$out, folder))
  }
  unlink(Sys.glob(file.path(option$out, c("results-*.csv", "begun-*.csv", "verify-*"))), recursive = TRUE)
  plan <- list(until = started + min(option$seconds, 1e8), begin = started + min(option$seconds, option$begin, 1e8))
  if (nzchar(option$replay)) {
    saved <- utils::read.csv(option$replay, stringsAsFactors = FALSE)
    plan$replay <- saved[saved$status == option$status | option$status == "any", ]
  }
  if (!nzchar(option$replay) || nzchar(option$fresh)) {
    plan$lines <- lapply(source_files(".")[option$folders], draw_lines, option$seed)
  }
  saveRDS(plan, file.path(option$out, "plan.rds"))
  cat(sprintf("built after %.0f s\n", as.numeric(difftime(Sys.time(), started, units = "secs"))))
  workers <- lapply(seq_len(option$jobs), function(job) {
    processx::process$new(file.path(R.home("bin"), "Rscript"), c("tests/campaigns/mutation/mutate.R", words,
      paste0("--worker=", job)), stdout = "", stderr = "", cleanup_tree = TRUE)
  })
  for (worker in workers) {
    left <- as.numeric(difftime(plan$until, Sys.time(), units = "secs")) + 20
    worker$wait(min(1e8, max(1, left * 1000)))
    worker$kill_tree()
  }
  files <- Sys.glob(file.path(option$out, c("results-*.csv", "begun-*.csv")))
  results <- do.call(rbind, lapply(files, utils::read.csv, stringsAsFactors = FALSE))
  if (is.null(results)) stop("no mutant was examined")
  # A worker that was ended between two writes leaves a row in both files.
  results <- results[!duplicated(results[c("seed", "id")]), ]
  # A test that failed without a mutant says nothing.
  name <- paste(ifelse(results$folder == "cuda", "cuda", "cpu"), sub(": .*", "", results$by))
  results$status[results$status == "found" & fails_unchanged(option, name)] <- "void"
  number <- as.numeric(sub(".*-", "", results$id))
  results <- results[order(results$seed, match(results$folder, names(folder_of)), number), ]
  utils::write.csv(results, file.path(option$out, "results.csv"), row.names = FALSE)
  print(table_of(results), row.names = FALSE)
}

main(commandArgs(TRUE))
