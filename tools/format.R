# Makes an `if` with one short statement and without `else` one line without braces: `if (x) f()` in R, `if (x) f();`
# in C, where loops get the same. Prints the names of the files that change.
#   Rscript tools/format.R [--check]    --check changes nothing
# build/format/r and build/format/c list the files; tools/format writes these lists.
check <- identical(commandArgs(TRUE), "--check")
most_columns <- 120L

# Lines with the three lines from each of `at` on made one, where it fits. `open` is the pattern of the brace.
join <- function(lines, at, open) {
  one <- paste(sub(open, "", lines[at]), trimws(lines[at + 1L]))
  fits <- nchar(one) <= most_columns
  at <- at[fits]
  lines[at] <- one[fits]
  lines[setdiff(seq_along(lines), c(at + 1L, at + 2L))]
}

# R --------------------------------------------------------------------------------------------------------------------

# The lines at which such an `if` begins in R. The braces and the statement must be on three lines that have nothing
# else, and the statement must not have an `if` or a loop of its own.
short_ifs <- function(lines, parsed) {
  tokens <- utils::getParseData(parsed)
  children <- split(tokens, tokens$parent)
  is_short <- function(i) {
    parent <- tokens$parent[[i]]
    whole <- children[[as.character(parent)]]
    around <- children[[as.character(tokens$parent[match(parent, tokens$id)])]]
    # An `else` is a sixth child. An `if` below another one belongs to a chain.
    if (nrow(whole) != 5L || "IF" %in% around$token) return(FALSE)
    body <- children[[as.character(whole$id[[5L]])]]
    if (!identical(body$token, c("'{'", "expr", "'}'"))) return(FALSE)
    rows <- tokens$line1[[i]] + 0:2
    inside <- tokens$token[tokens$line1 == rows[[2L]]]
    all(body$line1 == rows, body$line2 == rows) && trimws(lines[[rows[[3L]]]]) == "}" &&
      !any(inside %in% c("IF", "FOR", "WHILE", "REPEAT", "COMMENT"))
  }
  ifs <- which(tokens$token == "IF")
  tokens$line1[ifs[vapply(ifs, is_short, NA)]]
}

# Code without the braces around one statement of an `if`, to compare it.
without_braces <- function(code) {
  if (is.expression(code) || is.pairlist(code)) return(lapply(as.list(code), without_braces))
  if (!is.call(code)) return(code)
  code <- as.list(code)
  if (identical(code[[1L]], quote(`if`)) && length(code) == 3L && is.call(code[[3L]]) && length(code[[3L]]) == 2L &&
    identical(code[[3L]][[1L]], quote(`{`))) {
    code[[3L]] <- code[[3L]][[2L]]
  }
  # The fourth part of a function is its source.
  if (identical(code[[1L]], quote(`function`))) code <- code[1:3]
  lapply(code, function(part) if (missing(part)) NULL else without_braces(part))
}

format_r <- function(file) {
  before <- readLines(file, encoding = "UTF-8", warn = FALSE)
  # Most files have nothing to parse for.
  at <- grep("\\bif \\(.*\\) \\{$", before)
  at <- at[trimws(before[at + 2L]) %in% "}"]
  if (identical(join(before, at, "\\s*\\{$"), before)) return(list(before = before, after = before))
  parsed <- parse(text = before, keep.source = TRUE)
  after <- join(before, short_ifs(before, parsed), "\\s*\\{$")
  same <- identical(without_braces(parsed), without_braces(parse(text = after, keep.source = FALSE)))
  if (!same) stop(file, ": the code would not be the same", call. = FALSE)
  list(before = before, after = after)
}

# C and CUDA -----------------------------------------------------------------------------------------------------------

# Braces around a macro such as WB_UNROLL and its loop where they are all that another loop has: clang-format would put
# the macro behind the head of the outer loop.
brace_macros <- function(lines) {
  heads <- grep("^ *(if|for|while) \\(.*\\)$|^ *else$", lines)
  for (at in rev(heads[grepl("^ *WB_[A-Z_]+(\\(\\w+\\))?$", lines[heads + 1L])])) {
    indent <- sub("\\S.*$", "", lines[[at]])
    after <- at + which(grepl("\\S", lines[-seq_len(at)]) & !startsWith(lines[-seq_len(at)], paste0(indent, " ")))[[1L]]
    lines[[at]] <- paste(lines[[at]], "{")
    lines <- append(lines, paste0(indent, "}"), after - 1L)
  }
  lines
}

# Without braces around one short statement.
unbrace <- function(before) {
  at <- grep("^ *(if|for|while) \\(.*\\) \\{$", before)
  at <- at[at < length(before) - 1L]
  statement <- before[at + 1L]
  closed <- before[at + 2L] == paste0(sub("\\S.*$", "", before[at]), "}")
  # Statements that need their braces: declarations, and what another statement belongs to.
  alone <- grepl(";$", statement) & !grepl("^ *(if|else|for|while|do|switch|case|default|const|static)\\b", statement) &
    !grepl("^ *\\w+ \\**\\w+(\\[.*\\])?( =|;)", sub("return|goto|delete", "", statement))
  next_line <- c(before, "")[at + 3L]
  join(before, at[closed & alone & !grepl("^ *else\\b", next_line)], " \\{$")
}

format_c <- function(file) {
  before <- readLines(file, encoding = "UTF-8", warn = FALSE)
  list(before = before, after = unbrace(brace_macros(before)))
}

# ----------------------------------------------------------------------------------------------------------------------

visit <- function(file, format) {
  formatted <- format(file)
  if (identical(formatted$before, formatted$after)) return(invisible())
  cat(file, "\n", sep = "")
  if (!check) writeLines(formatted$after, file, useBytes = TRUE)
}
for (file in readLines("build/format/r")) visit(file, format_r)
for (file in readLines("build/format/c")) visit(file, format_c)
