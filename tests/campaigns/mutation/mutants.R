# Finds what can be changed in a line of a source file. Each function returns a data frame of candidates with the
# columns line, from, to (the first and last column of what is replaced), with (what replaces it) and kind.

candidate <- function(line, from, to, with, kind) {
  data.frame(line = line, from = from, to = to, with = with, kind = kind, stringsAsFactors = FALSE)
}

no_candidates <- candidate(integer(), integer(), integer(), character(), character())

# Whole numbers go up by one, other constants change by the factor two.
other_number <- function(text) {
  suffix <- sub("^[0-9.eE]*([eE][-+]?[0-9]+)?", "", text)
  digits <- substr(text, 1L, nchar(text) - nchar(suffix))
  value <- suppressWarnings(as.numeric(digits))
  if (is.na(value)) return(NULL)
  if (!grepl("[.eE]", digits)) return(paste0(format(value + 1, scientific = FALSE), suffix))
  changed <- if (value == 0) "1.0" else format(value / 2, digits = 15)
  if (!grepl("[.e]", changed)) changed <- paste0(changed, ".0")
  paste0(changed, suffix)
}

# C and CUDA ------------------------------------------------------------------

# The lines with blanks in place of comments and of what strings contain.
without_words <- function(lines) {
  text <- paste(lines, collapse = "\n")
  pattern <- "(?s)/\\*.*?\\*/|//[^\n]*|\"(\\\\.|[^\"\\\\\n])*\"|'(\\\\.|[^'\\\\\n])+'"
  found <- gregexpr(pattern, text, perl = TRUE)
  blank <- lapply(regmatches(text, found), function(x) {
    ifelse(startsWith(x, "\""), gsub("[^\n]", "@", x), gsub("[^\n]", " ", x))
  })
  regmatches(text, found) <- blank
  strsplit(paste0(text, "\n"), "\n", fixed = TRUE)[[1L]]
}

# Whether each line begins inside the body of a function. Tables and types are declarations.
inside_functions <- function(lines) {
  open <- character()
  before <- ""
  inside <- logical(length(lines))
  for (i in seq_along(lines)) {
    inside[[i]] <- "code" %in% open && !identical(open[length(open)], "type")
    if (grepl("^\\s*#", lines[[i]])) next
    for (part in regmatches(lines[[i]], gregexpr("[{}]|[^{}]+", lines[[i]]))[[1L]]) {
      if (part == "{") {
        kind <- if (grepl("(namespace(\\s+\\w+)*|extern\\s+@@@)\\s*$", before)) {
          "outer"
        } else if (grepl("\\b(struct|union|enum|class)\\b[^;(){}]*$", before)) {
          "type"
        } else if (grepl("=\\s*$", before) && !"code" %in% open) {
          "table"
        } else {
          "code"
        }
        open <- c(open, kind)
        before <- ""
      } else if (part == "}") {
        open <- open[-length(open)]
        before <- ""
      } else {
        before <- paste(substr(before, max(1L, nchar(before) - 300L), nchar(before)), part)
      }
    }
  }
  inside
}

swapped_operators <- c(
  "&&" = "||", "||" = "&&", "<=" = "<", ">=" = ">", "<" = "<=", ">" = ">=", "==" = "!=", "!=" = "==", "+=" = "-=",
  "-=" = "+=", "+" = "-", "-" = "+", "*" = "+", "/" = "*"
)

# Functions whose first two arguments may be swapped.
commutes <- "fma|FMA|min|max"

# The places of a pattern in a text, as a matrix of first and last columns.
places <- function(pattern, text) {
  found <- gregexpr(pattern, text, perl = TRUE)[[1L]]
  if (found[[1L]] < 0L) return(matrix(0L, 0L, 2L))
  cbind(as.integer(found), as.integer(found) + attr(found, "match.length") - 1L)
}

# The column of the parenthesis that closes the one at `open`, or NA.
closing <- function(text, open) {
  letters <- strsplit(text, "")[[1L]]
  depth <- cumsum((letters %in% c("(", "[", "{")) - (letters %in% c(")", "]", "}")))
  at <- which(seq_along(letters) > open & depth == depth[[open]] - 1L)
  if (length(at)) at[[1L]] else NA
}

# The first and last columns of the arguments between the parentheses at `open` and `close`.
argument_places <- function(text, open, close) {
  letters <- strsplit(text, "")[[1L]]
  depth <- cumsum((letters %in% c("(", "[", "{")) - (letters %in% c(")", "]", "}")))
  commas <- which(letters == "," & depth == depth[[open]])
  commas <- commas[commas > open & commas < close]
  from <- c(open, commas) + 1L
  to <- c(commas, close) - 1L
  while (any(blank <- from < to & letters[from] == " ")) from[blank] <- from[blank] + 1L
  cbind(from, to)
}

c_line <- function(number, text, previous) {
  out <- list()
  add <- function(from, to, with, kind) out[[length(out) + 1L]] <<- candidate(number, from, to, with, kind)
  code <- trimws(text)
  barrier <- places("__sync(threads|warp)\\([^()]*\\);", text)
  if (nrow(barrier)) return(candidate(number, barrier[1L, 1L], barrier[1L, 2L], "(void)0;", "removed barrier"))
  if (grepl("@", text) || grepl("^(WB_|case |default:|template|static_assert|using |typedef )", code) ||
    grepl("^(static |const |volatile |unsigned |struct |extern )*\\w+ [\\w *,\\[\\]+]*;$", code, perl = TRUE) &&
      !grepl("^return ", code)) {
    return(no_candidates)
  }
  operators <- places("(?<= )(&&|\\|\\||[<>=!+-]=|[<>*/+-])(?= |$)", text)
  for (i in seq_len(nrow(operators))) {
    old <- substr(text, operators[i, 1L], operators[i, 2L])
    add(operators[i, 1L], operators[i, 2L], swapped_operators[[old]], "operator")
  }
  numbers <- places("(?<![\\w.])\\d+(\\.\\d*)?([eE][-+]?\\d+)?[fuUlL]*(?![\\w.])", text)
  for (i in seq_len(nrow(numbers))) {
    new <- other_number(substr(text, numbers[i, 1L], numbers[i, 2L]))
    if (!is.null(new)) add(numbers[i, 1L], numbers[i, 2L], new, "constant")
  }
  indices <- places("(?<=[\\w\\]])\\[[^\\[\\]]+\\]", text)
  for (i in seq_len(nrow(indices))) {
    add(indices[i, 2L], indices[i, 2L], " + 1]", "index")
  }
  calls <- places("\\b\\w+\\(", text)
  for (i in seq_len(nrow(calls))) {
    name <- substr(text, calls[i, 1L], calls[i, 2L] - 1L)
    close <- closing(text, calls[i, 2L])
    if (is.na(close)) next
    if (name %in% c("if", "for", "while", "switch", "sizeof", "return")) next
    parts <- argument_places(text, calls[i, 2L], close)
    words <- substring(text, parts[, 1L], parts[, 2L])
    for (j in seq_len(nrow(parts) - 1L)) {
      if (words[[j]] != words[[j + 1L]] && !(j == 1L && grepl(commutes, name))) {
        add(parts[j, 1L], parts[j + 1L, 2L], paste0(words[[j + 1L]], ", ", words[[j]]), "swapped arguments")
      }
    }
  }
  condition <- places("\\bif \\(", text)
  if (nrow(condition)) {
    close <- closing(text, condition[1L, 2L])
    if (!is.na(close)) {
      inner <- substr(text, condition[1L, 2L], close)
      add(condition[1L, 2L], close, paste0("(!", inner, ")"), "negated condition")
    }
  }
  whole <- grepl("^[A-Za-z_][\\w.>\\[\\]*+ -]*?(\\(| [-+*/]?= |\\+\\+|--).*;$", code, perl = TRUE) &&
    grepl("[;{})]$", previous) && !grepl("^(return|break|continue|goto|for|if|else|while|do|const|static)\\b", code) &&
    !grepl("^(struct |unsigned )?\\w+ [*\\w]", code, perl = TRUE)
  if (whole && !is.na(closing(paste0("(", code, ")"), 1L))) {
    from <- regexpr("\\S", text)[[1L]]
    add(from, nchar(sub("\\s+$", "", text)), ";", "removed statement")
  }
  if (length(out)) do.call(rbind, out) else no_candidates
}

# The lines of a file in which something may be changed: their numbers, and the masked text of all lines.
c_source <- function(path) {
  lines <- readLines(path, encoding = "UTF-8")
  masked <- without_words(lines)
  length(masked) <- length(lines)
  masked[is.na(masked)] <- ""
  inside <- inside_functions(masked)
  continued <- grepl("\\\\$", masked)
  directive <- grepl("^\\s*#", masked) | continued | c(FALSE, continued[-length(masked)])
  list(lines = lines, masked = masked, at = which(inside & !directive & grepl("\\w", masked)))
}

c_candidates <- function(source, line) {
  before <- trimws(source$masked[seq_len(line - 1L)])
  before <- before[nzchar(before)]
  c_line(line, source$masked[[line]], if (length(before)) before[[length(before)]] else "")
}

# R -----------------------------------------------------------------------------

# Calls that make words for people.
wording <- "^(stop|stop_\\w+|warning|message|warn_\\w+|sprintf|gettextf|ngettext|warning_words|sys.call)$"

# Functions whose first two arguments may be swapped.
symmetric <- c(
  "min", "max", "pmin", "pmax", "sum", "any", "all", "identical", "union", "intersect", "setequal", "range"
)

r_operators <- c(
  "'+'" = "-", "'-'" = "+", "'*'" = "/", "'/'" = "*", LT = "<=", LE = "<", GT = ">=", GE = ">", EQ = "!=", NE = "==",
  AND = "|", AND2 = "||", OR = "&", OR2 = "&&"
)

r_source <- function(path) {
  tokens <- utils::getParseData(parse(path, keep.source = TRUE, encoding = "UTF-8"), includeText = TRUE)
  tokens <- tokens[tokens$token != "COMMENT", ]
  list(
    lines = readLines(path, encoding = "UTF-8"), tokens = tokens,
    at = sort(unique(tokens$line1[tokens$token %in% c("SYMBOL", "SYMBOL_FUNCTION_CALL", "NUM_CONST")])),
    children = split(seq_len(nrow(tokens)), tokens$parent), parent = stats::setNames(tokens$parent, tokens$id)
  )
}

r_candidates <- function(source, line) {
  tokens <- source$tokens
  text <- source$lines[[line]]
  own <- function(id) tokens[source$children[[as.character(id)]], ]
  called <- function(parts) {
    if (!any(parts$token == "'('") || parts$token[[1L]] != "expr") return("")
    inner <- own(parts$id[[1L]])
    inner$text[nrow(inner)]
  }
  is_wording <- function(id) {
    while (!is.na(id) && id > 0) {
      if (grepl(wording, called(own(id)))) return(TRUE)
      id <- source$parent[as.character(id)][[1L]]
    }
    FALSE
  }
  out <- list()
  add <- function(from, to, with, kind) out[[length(out) + 1L]] <<- candidate(line, from, to, with, kind)
  for (i in which(tokens$line1 == line & tokens$line2 == line)) {
    token <- tokens[i, ]
    kind <- token$token
    if (is_wording(token$id) || is_wording(token$parent)) next
    if (kind %in% names(r_operators)) {
      if (nrow(own(token$parent)) == 3L) add(token$col1, token$col2, r_operators[[kind]], "operator")
    } else if (kind == "'!'") {
      add(token$col1, token$col2, "", "negated condition")
    } else if (kind == "NUM_CONST") {
      new <- switch(token$text, "TRUE" = "FALSE", "FALSE" = "TRUE", other_number(token$text))
      if (!is.null(new)) add(token$col1, token$col2, new, "constant")
    } else if (kind == "IF") {
      condition <- own(token$parent)[3L, ]
      if (condition$line1 == line && condition$line2 == line) {
        add(condition$col1, condition$col2, paste0("!(", condition$text, ")"), "negated condition")
      }
    } else if (kind == "expr") {
      parts <- own(token$id)
      name <- if (nrow(parts)) called(parts) else ""
      if (nzchar(name)) {
        inner <- parts[-c(1L, 2L, nrow(parts)), ]
        comma <- inner$token == "','"
        arguments <- lapply(split(inner[!comma, ], cumsum(comma)[!comma]), function(part) {
          list(from = part$col1[[1L]], to = part$col2[nrow(part)], named = any(part$token == "EQ_SUB"))
        })
        if (sum(comma) > 0L && length(arguments) == sum(comma) + 1L) {
          words <- vapply(arguments, function(part) substr(text, part$from, part$to), "")
          is_call <- grepl("^call\\b", words)
          for (j in which(!is_call)[-1L]) {
            add(inner$col1[comma][[j - 1L]], arguments[[j]]$to, "", "dropped argument")
          }
          if (!arguments[[1L]]$named && !arguments[[2L]]$named && words[[1L]] != words[[2L]] && !any(is_call[1:2]) &&
            !name %in% symmetric) {
            add(arguments[[1L]]$from, arguments[[2L]]$to, paste0(words[[2L]], ", ", words[[1L]]), "swapped arguments")
          }
        }
      }
      # A statement that is not the value of its block.
      siblings <- own(token$parent)
      if (siblings$token[[1L]] == "'{'" && token$id != siblings$id[nrow(siblings) - 1L] &&
        !any(parts$token %in% c("IF", "FOR", "WHILE", "REPEAT", "NEXT", "BREAK"))) {
        add(token$col1, token$col2, "NULL", "removed statement")
      }
    }
  }
  if (length(out)) do.call(rbind, out) else no_candidates
}

# Applying one ----------------------------------------------------------------

changed_line <- function(line, change) {
  paste0(substr(line, 1L, change$from - 1L), change$with, substring(line, change$to + 1L))
}
