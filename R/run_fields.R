# The fields of checkpoints: plain values, each with a line of text: its type, length and names of attributes. Each
# class of fits declares its fields in one table, read by check_fields().
#
# A table is a named character vector. The name is the path of a field; `*` stands for each element of a list. The text
# is the field's kind and dimensions, such as "finite[topics, documents]?". A dimension is a number, or an expression in
# which an earlier field of one number stands for its value, another for its length. `*` is any length, and no brackets
# mean one value. `?` marks a field that may be absent, and `1..9` a range.

field_kinds <- list(
  raw = is.raw, flag = function(value) is.logical(value) && !anyNA(value),
  text = function(value) is.character(value) && !anyNA(value), number = is.numeric,
  finite = function(value) is.double(value) && all(is.finite(value)),
  whole = function(value) is.numeric(value) && all(is.finite(value) & value >= 0 & value == floor(value)),
  list = is.list, call = is.call, name = is.name,
  # NULL, or a vector, factor or name that the user gave.
  value = function(value) {
    is.null(value) || is.name(value) || is.atomic(value) && (!is.object(value) || is.factor(value))
  },
  formula = function(value) inherits(value, "formula") && is.call(value) && identical(value[[1L]], quote(`~`)),
  sparse = function(value) is.list(value) || is.logical(value) && length(value) == 1L && !is.na(value),
  table = function(value) {
    is.data.frame(value) && all(vapply(value, NROW, 0L) == nrow(value) & vapply(value, is.atomic, NA))
  },
  # Functions that R calls by their names: `contrasts` and `na.action` of a regression.
  coding = function(value) {
    is.matrix(value) && is.numeric(value) ||
      is_text(value, 1L) && value %in% paste0("contr.", c("treatment", "sum", "helmert", "poly", "SAS"))
  },
  action = function(value) {
    (is.name(value) || is_text(value, 1L)) &&
      as.character(value) %in% paste0("na.", c("omit", "exclude", "fail", "pass"))
  }
)

# The fields of the head of every checkpoint but `fit` and `state`, of all fits by chains, and of the state of a chain.
head_fields <- c(package = "text", class = "text", total = "whole 0..2147483647", every = "number 0..Inf",
  arrays = "text[*]", fingerprint = "list", `fingerprint$size` = "whole[*]", `fingerprint$parts` = "text[*]",
  `fingerprint$digests` = "raw[16, `fingerprint$parts`]", given = "list")
chain_fields <- c(chains = "whole 1..1e4", iter = "whole 0..2147483647", warmup = "whole 0..2147483647",
  thin = "whole 1..2147483647", seed = "whole 0..2^53", backend = "text", threads = "whole", workers = "whole?",
  elapsed = "number[2]", interrupted = "flag", call = "call?")
state_fields <- c(key = "raw[8]", sweep = "whole iter..iter")

field_rules <- function(table) {
  form <- "^([a-z]+)(\\[(.*)\\])?(\\?)?( (.+)\\.\\.(.+))?$"
  lapply(table, function(text) {
    part <- regmatches(text, regexec(form, text))[[1L]]
    if (!length(part)) stop("no rule of a field: ", text)
    one <- if (part[[2L]] %in% c("raw", "flag", "text", "number", "finite", "whole")) "1" else "*"
    list(text = text, kind = part[[2L]], absent = nzchar(part[[5L]]),
      dims = if (nzchar(part[[3L]])) strsplit(part[[4L]], ", ", fixed = TRUE)[[1L]] else one,
      range = if (nzchar(part[[6L]])) part[7:8])
  })
}

# Stops, by refuse(path, rule), at the first field unlike the table. Returns all sizes; `sizes`: further dimensions.
check_fields <- function(values, table, refuse, sizes = list(), rules = field_rules(table)) {
  if (!is.list(values)) refuse(NULL, "a list")
  known <- names(sizes)
  size_of <- function(text) eval(str2lang(text), sizes, baseenv())
  for (path in names(rules)) {
    rule <- rules[[path]]
    value <- NULL
    for (found in fields_at(values, strsplit(path, "$", fixed = TRUE)[[1L]])) {
      value <- found[[1L]]
      if (!(is.null(value) && rule$absent) && !follows_rule(value, rule, size_of)) refuse(path, rule$text)
    }
    if (!path %in% known) sizes[path] <- field_sizes(list(value))
  }
  check_declared(values, names(rules), refuse)
  sizes
}

follows_rule <- function(value, rule, size_of) {
  if (!field_kinds[[rule$kind]](value) || is.object(value) && !rule$kind %in% c("list", "value", "formula", "table")) {
    return(FALSE)
  }
  if (!identical(rule$dims, "*")) {
    own <- if (length(rule$dims) > 1L) dim(value) else length(value)
    right <- length(own) == length(rule$dims) &&
      all(mapply(function(own, dim) dim == "*" || own == size_of(dim), own, rule$dims))
    if (!right) return(FALSE)
  }
  is.null(rule$range) || isTRUE(all(value >= size_of(rule$range[[1L]]) & value <= size_of(rule$range[[2L]])))
}

field_sizes <- function(values) {
  lapply(values, function(value) if (is.numeric(value) && length(value) == 1L) as.double(value) else length(value))
}

# The values at a path, as a list of lists of one value. Absent parts have no parts of their own.
fields_at <- function(values, path) {
  if (!length(path)) return(list(list(values)))
  if (!is.list(values)) return(list())
  if (path[[1L]] != "*") return(fields_at(.subset2(values, path[[1L]]), path[-1L]))
  unlist(lapply(unclass(values), fields_at, path[-1L]), recursive = FALSE)
}

check_declared <- function(values, paths, refuse, place = NULL) {
  first <- sub("[$].*", "", paths)
  rest <- ifelse(grepl("$", paths, fixed = TRUE), sub("^[^$]*[$]", "", paths), "")
  names <- if (is.null(names(values))) rep("", length(values)) else names(values)
  for (i in seq_along(values)) {
    value <- .subset2(values, i)
    if (is.null(value)) next
    own <- first %in% c(names[[i]], "*")
    path <- c(place, if (nzchar(names[[i]])) names[[i]] else i)
    if (!any(own) || nzchar(names[[i]]) && sum(names == names[[i]]) > 1L) refuse(path, "a field of a checkpoint")
    inner <- rest[own & nzchar(rest)]
    if (is.list(value) && !is.data.frame(value)) check_declared(value, inner, refuse, path)
  }
}

# What values may have. Other classes would have methods of their own.
kept_attributes <- c("names", "dim", "dimnames", "levels", "row.names", "units", "tzone", "class")
kept_classes <- c("factor", "ordered", "data.frame", "formula", "Date", "POSIXct", "POSIXt", "difftime", "dp_mixture",
  "topic_model", "bayes_logit", "warpbayes_fit", "warpbayes", "dp_prior", "dp_prior_resolved", "logit_prior",
  "joined_rows")

stored_types <- list(
  logical = list(type = "integer", write = as.integer, read = as.logical),
  integer = list(type = "integer", write = identity, read = identity),
  double = list(type = "double", write = identity, read = identity),
  raw = list(type = "raw", write = identity, read = identity),
  character = list(type = "raw", write = function(value) bytes_of_text(enc2utf8(value)),
    read = function(bytes) text_of_bytes(bytes)),
  language = list(type = "raw", write = function(value) bytes_of_text(code_text(value)),
    read = function(bytes) str2lang(text_of_bytes(bytes))),
  symbol = list(type = "raw", write = function(value) bytes_of_text(as.character(value)),
    read = function(bytes) as.name(text_of_bytes(bytes)))
)

# Takes a value apart: `lines`, and `values`, vectors of numbers or bytes, one for each line of a type that has values.
to_fields <- function(value) {
  type <- typeof(value)
  own <- attributes(value)
  own <- own[intersect(kept_attributes, names(own))]
  if (isS4(value) || !type %in% c("NULL", "list", names(stored_types)) || !all(own$class %in% kept_classes)) {
    stop_input("checkpoint", "cannot hold ", show_value(value))
  }
  plain <- if (is.language(value)) value else as.vector(unclass(value))
  stored <- if (type %in% names(stored_types)) list(stored_types[[type]]$write(plain))
  length <- if (length(stored)) length(stored[[1L]]) else length(value)
  line <- paste(c(type, format(length, scientific = FALSE), if (length(own)) paste(names(own), collapse = ",")),
    collapse = " ")
  inner <- lapply(c(unname(own), if (type == "list") unname(unclass(value))), to_fields)
  list(lines = c(line, unlist(lapply(inner, `[[`, "lines"))),
    values = c(stored, unlist(lapply(inner, `[[`, "values"), recursive = FALSE)))
}

# Each string ends with a byte of 0. The byte 255, which no text has, stands for NA.
bytes_of_text <- function(text) {
  as.raw(unlist(lapply(text, function(one) c(if (is.na(one)) 255L else as.integer(charToRaw(one)), 0L))))
}

text_of_bytes <- function(bytes) {
  last <- which(bytes == 0L)
  if (length(bytes) && !identical(last[length(last)], length(bytes))) stop("a text has no end")
  first <- c(0L, last)[seq_along(last)]
  text <- vapply(seq_along(last), function(i) {
    one <- bytes[seq_len(last[[i]] - first[[i]] - 1L) + first[[i]]]
    if (identical(one, as.raw(255L))) NA_character_ else rawToChar(one)
  }, "")
  if (!all(validUTF8(text))) stop("a text is not in UTF-8")
  Encoding(text) <- "UTF-8"
  text
}

# Code as text. A call that holds values without a text, such as data, is shortened.
code_text <- function(code) {
  text <- function(code) paste(deparse(code, 500L, control = c("keepNA", "keepInteger", "digits17")), collapse = "\n")
  shown <- text(code)
  if (!is.null(tryCatch(str2lang(shown), error = function(error) NULL))) return(shown)
  text(as.call(list(if (is.name(code[[1L]])) code[[1L]] else as.name("call"), quote(...))))
}

# Of each line of a head, with the `type` that the file stores it as, or "". NULL if it is no head.
stored_sizes <- function(text) {
  lines <- strsplit(text, "\n", fixed = TRUE, useBytes = TRUE)[[1L]]
  either <- function(words) sprintf("(%s)", paste(words, collapse = "|"))
  attribute <- either(sub(".", "[.]", kept_attributes, fixed = TRUE))
  form <- sprintf("^%s (0|[1-9][0-9]{0,14})( %s(,%s)*)?$", either(c("NULL", "list", names(stored_types))), attribute,
    attribute)
  if (!length(lines) || !all(grepl(form, lines, useBytes = TRUE))) return(NULL)
  parts <- strsplit(lines, " ", fixed = TRUE)
  kind <- vapply(parts, `[[`, "", 1L)
  type <- vapply(stored_types, `[[`, "", "type")[kind]
  type[is.na(type)] <- ""
  length <- as.double(vapply(parts, `[[`, "", 2L))
  width <- c(integer = 4, double = 8, raw = 1)[type]
  list(kind = kind, length = length, type = unname(type), bytes = sum(length * width, na.rm = TRUE),
    attributes = strsplit(vapply(parts, function(part) c(part, "")[[3L]], ""), ",", fixed = TRUE))
}

# The `value` that to_fields() took apart, and the `rest` of the values, which are arrays after it.
from_fields <- function(sizes, values) {
  count <- length(sizes$kind)
  at <- taken <- 0L
  read <- function(depth) {
    at <<- at + 1L
    if (depth > 30L || at > count) stop("its fields are not complete")
    kind <- sizes$kind[[at]]
    own <- sizes$attributes[[at]]
    length <- if (kind == "list") sizes$length[[at]] else 0
    if (length > count) stop("a list has more elements than the file has fields")
    value <- if (nzchar(sizes$type[[at]])) stored_types[[kind]]$read(values[[taken <<- taken + 1L]])
    attributes <- lapply(seq_along(own), function(i) read(depth + 1L))
    if (kind == "list") value <- lapply(seq_len(length), function(i) read(depth + 1L))
    if (!all(unlist(attributes[own == "class"]) %in% kept_classes)) stop("a field has a class that no field has")
    for (i in seq_along(own)) attr(value, own[[i]]) <- attributes[[i]]
    value
  }
  list(value = read(1L), rest = values[-seq_len(taken)])
}
