# What a result can be used for: reason() has the rules of inst/verdicts.csv, and methods of verdict() join reasons.

#' Can a result be used?
#'
#' `verdict()` gives the answer that the print, the summary and the report of a result open with, and its reasons.
#'
#' @param x a fit, a result that was made from one, or a summary.
#' @param ... must be empty.
#' @return An object of class `verdict` with the elements
#' \describe{
#'   \item{`answer`}{`"usable"`, `"usable with reservations"` (reasons restrict what the result says), `"not yet"` (the
#'     computation has to go on, or to be set up in another way) or `"cannot tell"`.}
#'   \item{`about`}{what the verdict speaks of.}
#'   \item{`reasons`}{a data frame: `code` names the rule, `answer` is the best answer that it allows, `quantity` is
#'     what is concerned, `figure` its value or `NA`, and `words` the sentence.}
#' }
#' `as.character()` gives the sentences.
#' @examples
#' fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' verdict(fit)
#' @export
verdict <- function(x, ...) {
  require_arguments("x")
  UseMethod("verdict")
}

#' @export
verdict.default <- function(x, ...) {
  kept <- if (is.list(x) && inherits(x[["verdict"]], "verdict")) x[["verdict"]] else attr(x, "verdict")
  if (inherits(kept, "verdict")) return(kept)
  stop_input("x", "has no verdict, because it does not rest on draws: it is ", show_value(x))
}

#' @export
verdict.verdict <- function(x, ...) x

# The answers, each weaker than the one before.
answers <- c("usable", "usable with reservations", "not yet", "cannot tell")

# A rule has the best answer that its reason allows, a template, and `but`, what the verdict's opening adds to "Usable".
# In templates, {name} is a value, and {name|one|many} one of two words, by whether the value is 1.
rule_of <- function(code) {
  rules <- read_once("verdicts.csv")
  as.list(rules[match(code, rules$code), ])
}

reason <- function(code, ..., quantity = NA_character_, figure = NA_real_) {
  rule <- rule_of(code)
  values <- list(quantity = quantity, figure = figure, ...)
  list(list(code = code, answer = rule$answer, quantity = paste(quantity, collapse = ", "),
    figure = as.numeric(figure)[[1L]], words = fill_template(rule$words, values),
    but = if (nzchar(rule$but)) fill_template(rule$but, values)))
}

fill_template <- function(template, values) {
  places <- gregexpr("\\{[^}]*\\}", template)
  regmatches(template, places) <- list(vapply(regmatches(template, places)[[1L]], function(place) {
    pieces <- strsplit(substr(place, 2L, nchar(place) - 1L), "|", fixed = TRUE)[[1L]]
    value <- values[[pieces[[1L]]]]
    if (length(pieces) > 1L) pieces[[if (value == 1) 2L else 3L]] else paste(value, collapse = ", ")
  }, ""))
  template
}

# `...`: reasons, or NULL, in the order of their sentences. `rests_on`: the verdicts of what the result was made from.
new_verdict <- function(about, ..., rests_on = list()) {
  inherited <- lapply(rests_on, function(parent) if (parent$answer != answers[[1L]]) inherited_reason(parent))
  reasons <- c(..., unlist(inherited, recursive = FALSE))
  field <- function(name, kind) vapply(reasons, `[[`, kind, name)
  place <- match(field("answer", ""), answers)
  reasons <- reasons[order(-place)]
  structure(list(
    answer = answers[[max(1L, place)]], about = about,
    reasons = data.frame(code = field("code", ""), answer = field("answer", ""), quantity = field("quantity", ""),
      figure = field("figure", 0), words = field("words", "")),
    but = unique(unlist(lapply(reasons, `[[`, "but")))
  ), class = c("verdict", "warpbayes"))
}

# The answer of what a result rests on, and the first sentence of the reason that counted there most.
inherited_reason <- function(parent) {
  first <- as.list(parent$reasons[1L, ])
  words <- first$words
  if (!grepl("^inherited", first$code)) {
    state <- c("can be used with reservations", "cannot be used yet", "cannot be judged")
    state <- state[[match(parent$answer, answers) - 1L]]
    words <- sub("\\. .*", ".", words)
    # A sentence may begin with a name of the data, which stays as it is.
    if (!startsWith(rule_of(first$code)$words, "{")) substr(words, 1L, 1L) <- tolower(substr(words, 1L, 1L))
    words <- sprintf("It rests on %s, which %s: %s", parent$about, state, words)
  }
  list(list(code = paste0("inherited_", sub("^inherited_", "", first$code)), answer = parent$answer,
    quantity = first$quantity, figure = first$figure, words = words,
    but = if (parent$answer == answers[[2L]]) "with reservations"))
}

# TRUE, FALSE or NA if it cannot be told.
is_usable <- function(verdict) c(TRUE, TRUE, FALSE, NA)[[match(verdict$answer, answers)]]

opening_words <- function(verdict) {
  word <- c("Usable", "Usable", "Not yet", "Cannot tell")[[match(verdict$answer, answers)]]
  paste0(paste(c(word, if (word == "Usable") verdict$but), collapse = ", "), ".")
}

#' @export
as.character.verdict <- function(x, ...) c(opening_words(x), x$reasons$words)
