# Malformed containers, made from a sound one: parts of unequal lengths, slots and codes that point outside, and classes
# whose dim(), length() or `[` lie. tests/campaigns/containers gives them to each argument of each export and method.

lying <- c("lying_dim", "lying_length", "lying_subset")
# Their methods. The dispatch of length() within R's own code takes them too.
lies <- list(
  dim.lying_dim = function(x) c(1e6L, 3L), length.lying_length = function(x) 1e6L,
  `[.lying_subset` = function(x, ...) "another value", `[[.lying_subset` = function(x, ...) "another value"
)

register_lies <- function() {
  for (name in names(lies)) {
    generic <- sub("\\.lying.*", "", name)
    registerS3method(generic, sub(".*\\.", "", name), lies[[name]], envir = baseenv())
  }
}

# A list of malformed values by name; empty where `value` is no container. Attributes are set as they are in lists,
# because R's own functions would refuse most of these.
malformed <- function(value) {
  ways <- list()
  if (inherits(value, "warpbayes")) return(ways)
  if (is.data.frame(value) && length(value) && nrow(value) > 1L) {
    raw <- function(columns, rows = nrow(value), names = base::names(value)) {
      structure(columns, names = names, row.names = seq_len(rows), class = class(value))
    }
    columns <- unclass(value)
    attributes(columns) <- NULL
    last <- length(columns)
    put <- function(column) replace(columns, last, list(column))
    ways <- list(
      "a short column" = raw(put(columns[[last]][1L])),
      "a long column" = raw(put(c(columns[[last]], columns[[last]]))),
      "more rows than values" = raw(columns, 2 * nrow(value)),
      "fewer rows than values" = raw(columns, 1L),
      "a column of a matrix" = raw(put(matrix(columns[[last]], nrow(value), 2L))),
      "a column of a list" = raw(put(as.list(columns[[last]]))),
      "a column of a table" = raw(put(as.data.frame(matrix(columns[[last]], nrow(value), 2L)))),
      "a column that is NULL" = raw(put(NULL)),
      "a column of a function" = raw(put(sum)),
      "no names" = raw(columns, names = NULL)
    )
  } else if (is.factor(value) && length(value)) {
    code <- function(code) structure(replace(unclass(value), 1L, code), class = class(value))
    ways <- list("a code beyond levels" = code(99L), "a code of 0" = code(0L), "a negative code" = code(-1L))
  } else if (inherits(value, "dgCMatrix") && length(value@x) > 1L) {
    slot <- function(name, change) {
      methods::slot(value, name, check = FALSE) <- change(methods::slot(value, name))
      value
    }
    ways <- list(
      "rows beyond its size" = slot("i", function(i) replace(i, 1L, 1000000L)),
      "negative rows" = slot("i", function(i) replace(i, 1L, -1L)),
      "pointers that fall" = slot("p", rev),
      "pointers beyond its values" = slot("p", function(p) p * 1000L),
      "too few pointers" = slot("p", function(p) p[1:2]),
      "too few values" = slot("x", function(x) x[1L]),
      "sizes below 0" = slot("Dim", function(Dim) -Dim), "one size" = slot("Dim", function(Dim) Dim[1L])
    )
  } else if (inherits(value, "simple_triplet_matrix") && length(value$v) > 1L) {
    part <- function(name, change) {
      value[[name]] <- change(value[[name]])
      value
    }
    ways <- list(
      "rows beyond its size" = part("i", function(i) replace(i, 1L, 1000000L)),
      "columns of 0" = part("j", function(j) replace(j, 1L, 0L)),
      "too few values" = part("v", function(v) v[1L]), "no rows" = part("i", function(i) NULL),
      "sizes below 0" = part("nrow", function(n) -n)
    )
  } else if (is.list(value) && !is.object(value) && length(value) > 1L) {
    first <- value[[1L]]
    ways <- list("an element that is NULL" = c(list(NULL), value[-1L]),
      "an element of a function" = c(list(sum), value[-1L]), "nested once more" = list(value))
    if (is.atomic(first) && length(first) > 1L) ways[["a short element"]] <- c(list(first[1L]), value[-1L])
  }
  if (is.atomic(value) && is.numeric(value) && !is.object(value) && length(value) > 1L) {
    ways <- c(ways, Map(function(class) structure(value, class = class), lying))
  } else if (is.data.frame(value)) {
    ways <- c(ways, Map(function(class) structure(value, class = c(class, "data.frame")), lying))
  }
  ways
}

# What is wrong with the result of a call that was given a malformed value: NULL if it was refused by an error about an
# argument, or read as the sound value that it was made from.
judge_container <- function(result, sound) {
  if (inherits(result, "warpbayes_error_input")) {
    text <- conditionMessage(result)
    if (grepl("has been changed since", text)) return(paste("an error about a fit:", text))
    if (!grepl("`", text)) return(paste("an error about no argument:", text))
    return(NULL)
  }
  if (inherits(result, "error")) return(paste("an error of R:", conditionMessage(result)[1L]))
  if (!identical(result, sound, ignore.environment = TRUE, ignore.bytecode = TRUE)) "another value"
}
