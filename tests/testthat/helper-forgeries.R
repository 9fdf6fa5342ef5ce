# Forged checkpoints: files with a right digest whose fields hold what no version of warpbayes writes. They are
# generated from the tables of fields, so a new field is attacked without a new test.

# Writes a list of fields and arrays to `file`, as write_checkpoint() does. `lines` may change the lines of the head.
write_fields <- function(file, head, arrays = list(), lines = identity) {
  fields <- to_fields(head)
  own <- sprintf("%s %.0f", vapply(arrays, typeof, ""), as.double(lengths(arrays)))
  write_lines(file, lines(c(fields$lines, own)), c(fields$values, unname(arrays)))
}

write_lines <- function(file, lines, values = list()) {
  native(C_checkpoint_write, file, charToRaw(paste(lines, collapse = "\n")), values, list(), numeric(), numeric())
}

# The fields of a checkpoint as a list, which `change` may change, and its arrays.
fields_of <- function(file) {
  head <- read_checkpoint(file, file)
  arrays <- head$arrays
  head$arrays <- names(arrays)
  head$state <- head$fit$state
  head$fit <- unclass(head$fit)
  head$fit["state"] <- list(NULL)
  list(head = head, arrays = arrays)
}

# The paths of all fields that the tables declare for a class, and of the fields in them that this head has.
declared_paths <- function(head) {
  topic <- resumable_class(head$class)
  of <- function(table, place) lapply(as.character(names(table)), function(path) c(place, strsplit(path, "[$]")[[1L]]))
  paths <- c(of(head_fields, NULL), of(topic$given, NULL), of(topic$fields, "fit"),
    lapply(of(topic$state, NULL), function(path) c(list("state", 1L), as.list(path))), list("fit", "state"))
  lapply(paths, function(path) lapply(as.list(path), function(part) if (identical(part, "*")) 1L else part))
}

# What a forger puts in place of a value. The texts name a file, an address and a command.
forged_values <- function(bait) {
  deep <- Reduce(function(inner, i) list(inner), 1:40, 1)
  list(
    bait, paste0("file://", bait), "http://127.0.0.1:1/bait", paste0("|touch ", bait), c(bait, bait), NA_character_,
    character(), as.raw(1:3), raw(), as.raw(rep(255L, 64)), TRUE, NA, -1, 0, 0.5, 2, 1e300, -1e300, NaN, Inf, NA_real_,
    7L, NA_integer_, .Machine$integer.max, 1:3, numeric(), rnorm(50), matrix(1, 3, 3), array(0, c(2, 2, 2)), list(),
    list(1), list(a = bait), list(list(bait)), NULL, as.name("bait"), call("system", paste("touch", bait)),
    call("readLines", bait), stats::as.formula(call("~", call("file.create", bait))),
    factor(c("a", "b")), data.frame(a = 1:2), data.frame(), structure(1, names = bait), structure(1, class = "Date"),
    structure(list(), class = "dp_prior"), deep
  )
}

# A random forgery of the checkpoint `file` in the file `to`: a field is replaced, removed or added, or a line of the
# head is changed. Returns what was done, in words; NULL if the writer itself cannot write it.
forge <- function(file, to, bait) {
  read <- fields_of(file)
  path <- sample(declared_paths(read$head), 1L)[[1L]]
  value <- sample(forged_values(bait), 1L)
  how <- sample(c("field", "length", "type", "line"), 1L, prob = c(8, 1, 1, 1))
  shown <- utils::capture.output(utils::str(value[[1L]], give.attr = FALSE))[[1L]]
  words <- paste(c(how, unlist(path), shown), collapse = " ")
  change <- function(lines) {
    at <- sample(length(lines), 1L)
    lines[[at]] <- switch(how,
      length = sub("[0-9]+", sample(c("0", "1", "7", "99999999999999"), 1L), lines[[at]]),
      type = sub("^[a-zA-Z]+", sample(c("list", "double", "integer", "raw", "character", "language", "closure"), 1L),
        lines[[at]]),
      line = sample(c("", "promise 1", paste0("character ", bait), "NULL 0 class", "list 3 names"), 1L), lines[[at]])
    lines
  }
  if (how == "field") {
    put <- function(part, path) {
      if (!length(path)) return(value[[1L]])
      if (!is.list(part)) part <- list()
      if (is.numeric(path[[1L]]) && length(part) < path[[1L]]) part <- vector("list", path[[1L]])
      part[path[[1L]]] <- list(put(if (is.character(path[[1L]])) part[[path[[1L]]]] else part[[path[[1L]]]], path[-1L]))
      part
    }
    read$head <- put(read$head, path)
    change <- identity
  }
  written <- tryCatch(write_fields(to, read$head, read$arrays, change), error = identity)
  if (!inherits(written, "error")) words
}

# What is wrong with the way in which `resumed` ended, or NULL. `seconds` is the most that it may take.
judge_forgery <- function(file, bait, resumed, seconds = 20) {
  opened <- character()
  watched <- c("file", "gzfile", "url", "pipe", "fifo", "socketConnection", "system", "system2", "file.create")
  note <- function(...) opened <<- c(opened, paste(..., collapse = " "))
  for (name in watched) {
    given <- quote(tryCatch(deparse(mget(ls(), inherits = FALSE)), error = function(error) ""))
    suppressMessages(trace(name, bquote(.(note)(.(given))), print = FALSE, where = baseenv()))
  }
  on.exit(for (name in watched) suppressMessages(untrace(name, where = baseenv())))
  end <- tryCatch({
    setTimeLimit(elapsed = seconds, transient = TRUE)
    suppressWarnings(resumed(file))
  }, error = identity)
  setTimeLimit()
  if (file.exists(bait) || any(grepl("bait", opened, fixed = TRUE))) return(paste("it opened", toString(opened)))
  if (!inherits(end, "error")) return(NULL)
  said <- conditionMessage(end)
  if (!inherits(end, "warpbayes_error") || !grepl("checkpoint|file", said)) return(said)
}
