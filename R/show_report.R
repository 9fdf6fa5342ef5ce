# report(): R/show_report_html.R turns its content into a page, R/show_report_knit.R into the output of a chunk.
#
# Content is a list of
#   title     what the page is about;
#   words     lines that say what was fitted;
#   converged TRUE, FALSE, or NA if it cannot be judged or there is nothing to judge;
#   verdict   sentences: convergence, and what the data cannot support;
#   main      a function without arguments that gives the main table;
#   sections  a function without arguments that gives a list of sections, each a list of `title` and `parts`;
#   made      a named character vector: how it was made;
#   prior     the prior in sentences;
#   code      lines of R code that repeat it;
#   rows      how many rows of the main table a chunk shows at most; NULL: 60.
# All texts are plain: what turns them into a page escapes them.

#' A report of a fit, as a page that can be sent
#'
#' Writes one HTML file without scripts: the verdict in words, tables, pictures, the prior, and the code that repeats
#' it. The page shows some of the data, such as cells, names of documents and terms. Look at it before you send it.
#'
#' @param fit a fit, cell types, a [pmf()], or a table or comparison from [differential_abundance()],
#'   [differential_state()], [type_proportions()], [topic_effects()] or [compare_topics()].
#' @param file name of the file, which ends in `.html`. An earlier report is replaced. `NULL`: a temporary file.
#' @param title title of the page; `NULL`: what was fitted.
#' @param note text to put below the title: a character vector with a paragraph in each element.
#' @param overwrite whether to replace a file that is not a report.
#' @param open whether to show the page in the browser.
#' @param ... for some fits: `markers` to show, `NULL`: those that differ most; for cell types also `cells`, how many
#'   cells to show, by default 2000; for topic models `topics` and `terms`, how many to show on the map (Sievert and
#'   Shirley 2014).
#' @return The name of the file, invisibly.
#' @section Errors:
#' `warpbayes_error_input` for a file that cannot be written or is not a report.
#' @references Sievert, C. and Shirley, K. E. (2014). LDAvis: a method for visualizing and interpreting topics.
#'   *Proceedings of the Workshop on Interactive Language Learning, Visualization, and Interfaces*, 63-70.
#' @examples
#' fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' page <- report(fit, tempfile(fileext = ".html"), note = "Cars of 1974.", open = FALSE)
#' file.size(page)
#' @export
report <- function(fit, file = NULL, title = NULL, note = NULL, overwrite = FALSE, open = interactive(), ...) {
  check_present(!missing(fit), "fit")
  UseMethod("report")
}

#' @rdname report
#' @export
report.warpbayes <- function(fit, file = NULL, title = NULL, note = NULL, overwrite = FALSE, open = interactive(),
                             ...) {
  write_report(report_content(fit, ...), file, title, note, overwrite, open)
}

#' @export
report.default <- function(fit, ...) {
  # Package report has a generic of the same name.
  if (has_foreign_method("report", "report", fit)) return(getExportedValue("report", "report")(fit, ...))
  report_content(fit)
}

report_content <- function(fit, ...) UseMethod("report_content")

report_content.default <- function(fit, ...) {
  stop_input("fit", "must come from dp_mixture(), cell_types(), differential_abundance(), topic_model(), ",
    "bayes_logit(), predictive_resample(), pmf(), type_proportions(), differential_state(), ",
    "topic_effects() or compare_topics(), not ", show_value(fit))
}

# `content` is computed after the checks, because it may take a while.
write_report <- function(content, file, title, note, overwrite, open) {
  must_be(is.null(title) || is_text(title, 1L), "title", "NULL or a text", title)
  must_be(is.null(note) || is_text(note), "note", "NULL or texts", note)
  check_flag(open, "open")
  overwrite <- check_flag(overwrite, "overwrite")
  target <- check_report_file(file, overwrite)
  write_whole(keeping_state(report_page(content, title, note)), target, file)
  if (open) utils::browseURL(target)
  invisible(target)
}

check_report_file <- function(file, overwrite) {
  if (is.null(file)) return(tempfile("report-", fileext = ".html"))
  if (is_text(file, 1L) && nzchar(file) && !grepl("\\.html?$", file, ignore.case = TRUE, useBytes = TRUE)) {
    stop_input("file", "must end in .html, because reports are HTML pages, but it is ", dQuote(shorten(file), FALSE))
  }
  check_target(file, "file", function(path) {
    if (dir.exists(path)) return("is a folder")
    if (!overwrite && !is_report(path)) "names a file that is not a report, and is not replaced"
  }, if (!dir.exists(path.expand(file))) "; `overwrite = TRUE` replaces it")
}

report_mark <- "<meta name=\"generator\" content=\"warpbayes "

# A file without a size may be a pipe. Reading it would wait for ever.
is_report <- function(file) {
  size <- file.size(file)
  if (is.na(size) || size == 0) return(FALSE)
  start <- tryCatch(readBin(file, "raw", 1000L), error = function(error) c(pass_on(error), raw()),
    warning = function(warning) raw())
  length(grepRaw(report_mark, start, fixed = TRUE)) > 0L
}

# Writes the page next to its place and renames it, so that nobody meets half a page. `file`: as the user named it.
write_whole <- function(page, target, file) {
  refuse <- function(reason) {
    stop_input("file", "cannot be written to ", dQuote(shorten(if (is.null(file)) target else file), FALSE),
      ": ", reason)
  }
  temporary <- tempfile(".report-", dirname(target), ".tmp")
  on.exit(unlink(temporary))
  bytes <- charToRaw(page)
  failure <- tryCatch(holding_signals({
    writeBin(bytes, temporary)
    if (!isTRUE(file.size(temporary) == length(bytes))) "the disk may be full"
  }), error = conditionMessage, warning = conditionMessage)
  if (!is.null(failure)) refuse(failure)
  if (file.exists(target)) Sys.chmod(temporary, file.mode(target), use_umask = FALSE)
  renamed <- tryCatch(file.rename(temporary, target), warning = conditionMessage)
  if (!isTRUE(renamed)) refuse(if (is.character(renamed)) renamed else "it could not be renamed")
}

keeping_state <- function(code) {
  old <- options(OutDec = ".", scipen = 0, digits = 7, width = 100, useFancyQuotes = FALSE)
  seed <- globalenv()$.Random.seed
  on.exit({
    options(old)
    if (!is.null(seed)) {
      assign(".Random.seed", seed, globalenv())
    } else if (exists(".Random.seed", globalenv(), inherits = FALSE)) {
      rm(".Random.seed", envir = globalenv())
    }
  })
  holding_signals(code)
}

made_words <- function(fit, more = character()) {
  c(if (!is.null(fit$seed)) c(Seed = format(fit$seed, digits = 16)), more,
    if (!is.null(fit$backend)) {
      c(`Computed on` = paste0(backend_words(fit),
        if (!is.null(fit$precision)) sprintf(", %s precision", fit$precision)))
    },
    if (length(fit$elapsed)) c(`Time taken` = elapsed_words(fit$elapsed)),
    Software = sprintf("warpbayes %s, %s", package_version_text(), R.version.string),
    `Page written` = format(Sys.time(), "%Y-%m-%d %H:%M %Z"))
}

repeating_code <- function(call, maker, name, changes = list()) {
  if (!is.call(call)) return(sprintf("# The call of %s() was not kept.", maker))
  call <- short_call(call, maker)
  for (argument in names(changes)) call[[argument]] <- changes[[argument]]
  # What concerns only the machine or this one run.
  here <- c("threads", "backend", "devices", "cluster", "progress", "checkpoint", "checkpoint_every")
  call <- without_arguments(call, here)
  if (is.call(call$control)) {
    call$control <- without_arguments(call$control, here)
    if (length(call$control) == 1L) call$control <- NULL
  }
  lines <- deparse(call, width.cutoff = 70L)
  c(paste(name, "<-", lines[[1L]]), lines[-1L])
}

without_arguments <- function(call, names) {
  for (name in intersect(names, names(call))) call[[name]] <- NULL
  call
}

lengthened_code <- function(fit, defaults) {
  given <- function(argument) {
    value <- if (argument %in% names(fit$call)) fit$call[[argument]] else defaults[[argument]]
    if (is.numeric(value) && length(value) == 1L) value else NA_real_
  }
  iter <- given("iter")
  warmup <- given("warmup")
  if (is.na(warmup) && !"warmup" %in% names(fit$call)) warmup <- floor(iter / 2)
  # The averages of a topic model cannot be cut afterwards.
  topics <- inherits(fit, "topic_model")
  c(if (isTRUE(fit$iter > iter)) {
      paste0(sprintf("fit <- continue(fit, %.0f", fit$iter - iter),
        if (topics) sprintf(", warmup = %.0f", fit$warmup), ")")
    },
    if (isTRUE(fit$iter < iter)) sprintf("# This fit was interrupted after %s.", count_words(fit$iter, "sweep")),
    if (!topics && isTRUE(fit$warmup > warmup)) sprintf("fit <- drop_warmup(fit, %.0f)", fit$warmup - warmup))
}

# Functions of R and of warpbayes are left out, except as the data: people call their data `df`.
needed_objects <- function(call, data) {
  if (!is.call(call)) return(NULL)
  argument <- function(name) if (name %in% names(call)) variables_of(call[[name]]) else character()
  own <- unlist(lapply(data, argument))
  others <- as.list(call)[-1L]
  others <- others[!names(others) %in% c(data, if (any(data %in% names(call))) "formula")]
  others <- unlist(lapply(others, variables_of))
  known <- vapply(as.character(others), function(name) {
    exists(name, envir = asNamespace("warpbayes"), inherits = TRUE) && !exists(name, globalenv(), inherits = FALSE)
  }, NA)
  unique(c(own, others[!known]))
}

variables_of <- function(part) {
  if (is.name(part)) return(setdiff(as.character(part), ""))
  if (!is.call(part) || is.name(part[[1L]]) && as.character(part[[1L]]) %in% c("::", ":::", "function")) return(NULL)
  inner <- as.list(part)[-1L]
  if (is.name(part[[1L]]) && as.character(part[[1L]]) %in% c("$", "@")) inner <- inner[1L]
  unlist(lapply(inner, variables_of))
}

needed_words <- function(names) {
  if (!length(names)) return(NULL)
  sprintf("# It needs %s, which %s not part of this page.",
    paste(encodeString(names, quote = "`"), collapse = ", "), if (length(names) == 1L) "is" else "are")
}

# Lines that begin with blanks go on with the line before.
join_indented <- function(lines) {
  sentence <- cumsum(!startsWith(lines, " "))
  as.vector(tapply(trimws(lines), sentence, paste, collapse = "; "))
}
