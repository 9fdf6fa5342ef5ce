#' How rows and vectors find their names
#'
#' Tables of covariates and named vectors are joined by name to the samples, documents, rows, markers or terms they
#' describe.
#'
#' @section Tables:
#' `data` of [differential_abundance()], [differential_state()], [topic_model()], [topic_effects()],
#' [predict()][predict.topic_model()] and [perplexity()] has a row for each sample or document. The names may be its row
#' names or any column, such as `sample_id` or `file_name`; a message says which. If none has exactly these names, they
#' may differ by a suffix such as `.fcs`, then by white space, folders or Unicode form (with package stringi), then by
#' upper case or leading zeros. It is an error if a table lacks a sample or document, names one twice, or has two
#' columns that disagree. Rows of others are left out. The order of rows counts only if the table has neither row names,
#' nor a column `sample`, `document`, `file`, `id` or the like, nor a column of texts with some of the names.
#'
#' @section Vectors:
#' A vector with names is read by its names, in any order, or it is an error. Others are in the order of what they
#' describe.
#'
#' | names of | arguments |
#' |---|---|
#' | samples | `totals`, `group` |
#' | cells | `sample`, `start` of labels |
#' | markers | `mean`, `scale` and `floor` of [dp_prior()], `transform`, `thresholds` |
#' | types | `value` of `levels<-` |
#' | topics | `alpha`, `value` of `topic_names<-` |
#' | terms | `beta` |
#' | rows of `data`, or values of a column | `weights`, `offset` of [bayes_logit()], `folds`, `group` of `kfold()` |
#' | coefficients | `location`, `scale`, `df` of [logit_prior()]; `beta`, `prior_mean` of [polyagamma_step()] |
#' | covariates | `rho_x` |
#' | levels | rows of a matrix in `contrasts` |
#' | elements of the first argument | `weights` of [mix_pmf()] and [pmf_poisson_binomial()] |
#'
#' @section Units:
#' Columns of classes `units`, `difftime`, `ITime`, `Date` and `POSIXct` are converted in new data to the unit of the
#' fitted data, or it is an error. As predictors they are numbers in that unit: days for dates, seconds for times.
#' @name joining
#' @examples
#' counts <- rbind(T = c(a = 510, b = 480, c = 450, d = 400), B = c(40, 52, 160, 120))
#' files <- data.frame(file_name = c("d.fcs", "c.fcs", "b.fcs", "a.fcs"), group = c("ill", "ill",
#'   "well", "well"))
#' differential_abundance(counts, ~ group, files, totals = c(d = 900, c = 900, b = 900, a = 900),
#'   seed = 1)
NULL

composed <- function(names) {
  compose <- if (any(grepl("[^ -~]", names))) accessor("stringi", "stri_trans_nfc")
  if (is.null(compose)) names else compose(names)
}

tell_forms <- function(names, others, what) {
  if (!any(grepl("[^ -~]", names)) || any(!validUTF8(c(names, others)))) return(invisible())
  all <- composed(unique(c(names, others)))
  same <- names[composed(names) %in% all[duplicated(all)]]
  if (length(same)) {
    tell("forms", sprintf("%s %s from others in Unicode form alone, such as %s: ", count_words(length(same), what),
      if (length(same) == 1L) "differs" else "differ", list_some(same, 3L)), "stringi::stri_trans_nfc() makes them one")
  }
}

# How names may differ, from the strictest form on: each form changes what the one before it gave.
name_forms <- list(
  exact = as.character,
  spelling = function(names) composed(sub("^.*[/\\\\]", "", gsub("[[:space:]]+", " ", trimws(names)))),
  case = function(names) tolower(sub("^0+([0-9])", "\\1", names))
)

# The places of `names` in the `keys` that have one partner for each, in the strictest form. NULL without any.
match_names <- function(names, keys) {
  if (any(!validUTF8(c(names, unlist(keys))))) name_forms <- name_forms["exact"]
  for (form in name_forms) {
    names <- form(names)
    keys <- lapply(keys, form)
    found <- if (!anyDuplicated(names)) Filter(Negate(is.null), lapply(keys, one_to_one, names = names))
    if (length(found)) return(found)
  }
}

# The place of each name among the values of a key, or NULL. All may lack the same suffix, or have it and the key not.
one_to_one <- function(key, names) {
  places <- function(names, key) {
    at <- match(names, key)
    if (!anyNA(at) && sum(key %in% names) == length(names)) at
  }
  at <- places(names, key)
  if (!is.null(at) || !length(names)) return(at)
  suffix <- function(long, short) {
    ends <- substring(long, nchar(short) + 1L)
    unique(ends[startsWith(long, short) & grepl("^[^[:alnum:]]", ends)])
  }
  key[is.na(key)] <- ""
  found <- c(lapply(suffix(key, names[[1L]]), function(end) places(paste0(names, end), key)),
    lapply(suffix(names[[1L]], key[nzchar(key)]), function(end) places(names, paste0(key, end))))
  found <- Filter(Negate(is.null), found)
  # Several suffixes choose different rows.
  if (length(found) == 1L) found[[1L]]
}

# What may have the names of the rows of a table, as texts. `sure`: those that have names of some kind.
row_keys <- function(data, names) {
  is_named <- .row_names_info(data) > 0L
  columns <- Filter(function(values) {
    is.null(dim(values)) && (is.factor(values) || is.character(values) ||
      is.numeric(values) && !is.object(values) && all(values == floor(values), na.rm = TRUE))
  }, as.list(data))
  known <- grepl(paste0("^(sample|document|doc|docname|file|filename|id|key)s?$|",
    "^(sample|document|doc|text|file|row|well)s?[._ -]?(id|name|key|nr|no)$"), tolower(base::names(columns)))
  counted <- vapply(columns, is.numeric, NA)
  kept <- known | !(counted & all(names %in% seq_along(names)))
  texts <- lapply(columns, function(values) if (is.double(values)) sprintf("%.0f", values) else as.character(values))
  keys <- stats::setNames(texts[kept], sprintf("its column %s", dQuote(base::names(columns)[kept], FALSE)))
  if (!is_named) return(list(values = keys, sure = known[kept], text = !counted[kept]))
  list(values = c(list(`its row names` = rownames(data)), keys), text = c(FALSE, !counted[kept]),
    sure = c(!all(grepl("^[0-9.]+$", rownames(data))), known[kept]))
}

# The rows of a table in the order of `names`, NULL for things without names, and `how` they were found.
join_rows <- function(data, names, count, kind) {
  fit <- function(is) must_be(is, "data", paste("a data frame with a row for each of", count_words(count, kind)), data)
  if (isS4(data)) data <- plain_table(data, "data")
  fit(is.data.frame(data) && is.list(data))
  if (inherits(data, "joined_rows")) return(list(data = data, how = "name"))
  data <- given_data(data, "data")
  if (!is.null(names)) {
    keys <- row_keys(data, names)
    found <- match_names(names, keys$values)
    # A column that is called so has more right to be the names.
    named <- found[base::names(found) %in% base::names(keys$values)[keys$sure]]
    if (length(named)) found <- named
    other <- Find(function(at) !identical(at, found[[1L]]), found)
    if (!is.null(other)) {
      stop_input("data", "has the names of the ", kind, "s twice, in different orders, in ",
        paste(base::names(found), collapse = " and "), ": rename or leave out one of them")
    }
    if (length(found)) {
      tell("joined", sprintf("`data`: rows are joined to the %ss by %s", kind, base::names(found)[[1L]]))
      at <- found[[1L]]
      return(list(data = if (identical(at, seq_len(nrow(data)))) data else pick_rows(data, at), how = "name"))
    }
    check_no_names(names, keys, kind)
  }
  fit(nrow(data) == count)
  list(data = data, how = "order")
}

check_no_names <- function(names, keys, kind) {
  form <- function(values) Reduce(function(values, form) form(values), name_forms, values)
  for (i in seq_along(keys$values)) {
    key <- keys$values[[i]]
    some <- form(key) %in% form(names)
    if (!keys$sure[[i]] && (!keys$text[[i]] || !any(some) || anyDuplicated(key))) next
    lacks <- names[!form(names) %in% form(key)]
    others <- key[!some & !is.na(key)]
    stop_input("data", "has names in ", base::names(keys$values)[[i]], if (!length(lacks)) {
      paste0(", but several for the ", kind, " ", list_some(unique(key[some & duplicated(form(key))]), 6L))
    } else {
      paste0(", but none for the ", kind, if (length(lacks) > 1L) "s", " ", list_some(lacks, 6L),
        if (length(others)) paste(", and others:", list_some(others, 6L)))
    }, ". A table without it is read in the order of its rows")
  }
}

# Rows in another order. `[` removes classes of packages that are not installed.
pick_rows <- function(data, at) {
  out <- data[at, , drop = FALSE]
  for (j in which(vapply(data, inherits, NA, "units"))) attributes(out[[j]]) <- attributes(data[[j]])
  out
}

# `how` they were joined: by "name", in the "order" of rows of `data`, or of the variables of the "formula".
join_variables <- function(formula, data, names, count, kind) {
  joined <- if (is.null(data)) list(how = "name") else join_rows(data, names, count, kind)
  values <- as.list(joined$data)
  outside <- outside_variables(formula, joined$data)
  for (name in base::names(outside)) {
    value <- given_data(outside[[name]], name)
    if (!is.atomic(value) || NROW(value) < 2L) next
    is_named <- !is.null(names) && is.null(dim(value)) && !is.null(base::names(value))
    if (!is_named && NROW(value) != count) next
    if (!is_named && joined$how == "name") joined$how <- "formula"
    values[[name]] <- if (is_named) by_names(value, names, name, kind) else value
  }
  if (joined$how != "name") {
    what <- if (joined$how == "order") "rows of `data`" else "variables of the formula"
    tell("joined", sprintf("the %s have no names: %s are taken in the order of the %ss",
      if (is.null(names)) paste0(kind, "s") else what, what, kind))
  }
  list(data = structure(values, class = c("joined_rows", "data.frame"), row.names = seq_len(count)), how = joined$how)
}

# A vector with names in the order of `names`. One without names is as it was, also if `names` is NULL.
by_names <- function(values, names, argument, kind) {
  values <- given_data(values, argument)
  given <- base::names(values)
  if (is.null(given) || is.null(names)) return(values)
  if (identical(given, names)) return(unname(values))
  at <- match_names(names, list(given))[[1L]]
  if (is.null(at)) {
    differ <- c(setdiff(given, names), setdiff(names, given), given[duplicated(given)])
    stop_input(argument, sprintf("has names other than the %ss ", kind), list_some(names), ": ", list_some(differ))
  }
  unname(values[at])
}

by_dimnames <- function(values, names, argument, kind) {
  of <- if (is.list(names)) names else list(names, names)
  at <- Map(function(given, names, size, kind) {
    by_names(stats::setNames(seq_len(size), given), names, argument, kind)
  }, if (is.null(dimnames(values))) list(NULL, NULL) else dimnames(values), of, dim(values), kind)
  if (!is.list(names) && is.null(rownames(values))) at[[1L]] <- at[[2L]]
  if (!is.list(names) && is.null(colnames(values))) at[[2L]] <- at[[1L]]
  unname(values[at[[1L]], at[[2L]], drop = FALSE])
}

# A vector in the order of the rows that its names name. Unless `strict`, names that do not say nothing.
by_rows <- function(values, data, argument, strict = TRUE) {
  given <- names(values)
  if (is.null(given) || !is.atomic(values) || !is.null(dim(values)) || !is.data.frame(data)) return(values)
  keys <- c(list(attr(data, "row.names")), row_keys(data, NULL)$values)
  if (any(vapply(keys, identical, NA, given)) || !strict && !any(given %in% unlist(keys))) return(values)
  for (key in keys) {
    at <- if (!anyNA(key) && !anyDuplicated(key)) match_names(key, list(given))[[1L]]
    if (!is.null(at)) return(unname(values[at]))
  }
  stop_input(argument, "has names, such as ", list_some(given, 3L), ", that are neither the row names nor a column of ",
    "`data`: unname() takes it in the order of rows")
}

named_variables <- function(formula, data) {
  if (!is.null(data) && !is.data.frame(data)) return(data)
  rows <- data
  outside <- outside_variables(formula, data)
  for (name in names(outside)) {
    value <- outside[[name]]
    if (is.null(rows) && !is.null(names(value))) {
      rows <- structure(list(), row.names = names(value), class = "data.frame")
    }
    joined <- by_rows(value, rows, name, strict = FALSE)
    if (identical(joined, value)) next
    if (is.null(data)) data <- list()
    data[[name]] <- joined
  }
  data
}

# Variables that are where the formula was written and not in `data`. One that fails is left to model.frame().
outside_variables <- function(formula, data) {
  envir <- environment(formula)
  names <- if (is.environment(envir)) setdiff(all.vars(formula), c(names(data), "."))
  sapply(names, function(name) tryCatch(get0(name, envir), error = pass_on), simplify = FALSE)
}
