# Names that changed before version 1.0. Old names work in this version, and say once a session what they are called
# now. The table of NEWS.md has all of them.

# Arguments: the old name, and the new one in each function that has an argument of this name.
renamed_arguments <- c(draws = "ndraws", interval = "level", iter = "more", standardise = "standardize",
  size = "trials", size = "successes")

# Gives values that came by an old name to the arguments of a function, which are in `frame`. `given` are the values of
# its dots. Returns the other values.
take_old_names <- function(given, frame = parent.frame()) {
  old <- if (is.null(names(given))) character(length(given)) else names(given)
  known <- renamed_arguments[renamed_arguments %in% ls(frame)]
  new <- known[old]
  taken <- which(!is.na(new))
  for (i in taken) {
    if (!eval(call("missing", as.name(new[[i]])), frame)) {
      stop_input(old[[i]], "is the earlier name of `", new[[i]], "`, which is given, too")
    }
    say_renamed(old[[i]], new[[i]])
    assign(new[[i]], given[[i]], frame)
  }
  if (length(taken)) given[-taken] else given
}

told_names <- new.env()

say_renamed <- function(old, new) {
  if (is.null(told_names[[old]])) {
    assign(old, TRUE, told_names)
    message(structure(class = c("warpbayes_renamed", "message", "condition"), list(
      message = sprintf("`%s` is called `%s` now. The old name works in this version.\n", old, new),
      call = NULL
    )))
  }
}

renamed_function <- function(old, new) {
  function(...) {
    say_renamed(paste0(old, "()"), paste0(new, "()"))
    get(new, topenv(), mode = "function")(...)
  }
}

#' Functions and arguments that have new names
#'
#' The old names work in this version. The first use of each in a session gives a message of class `warpbayes_renamed`.
#'
#' | old | new |
#' |---|---|
#' | `condition_on_sum()` | [condition_on_sum_pmf()] |
#' | `mix_over()` | [mix_over_pmf()] |
#' | `rep_sum()` | [rep_sum_pmf()] |
#' | `zero_modify()` | [zero_modify_pmf()] |
#' | `update()` of a topic model | [add_documents()] |
#' | `continue(iter = )` | [`continue(more = )`][continue] |
#' | `draws`, for how many draws of a fit are used | `ndraws` |
#' | `pmf_binomial(size = )` | [`pmf_binomial(trials = )`][pmf_binomial] |
#' | `pmf_negative_binomial(size = )` | [`pmf_negative_binomial(successes = )`][pmf_negative_binomial] |
#' | `discretize_pmf(method = "lower")`, `"upper"` | [`discretize_pmf(method = "up")`][discretize_pmf], `"down"` |
#' | `predict(interval = )` of a regression | [`predict(level = )`][predict.bayes_logit] |
#' | `plot(standardise = )`, `autoplot(standardise = )` | [`plot(standardize = )`][plot.bayes_logit] |
#' | `print(topics = )` of a topic model | [`print(n = )`][print.topic_model] |
#'
#' @param ... the arguments of the new function.
#' @return That of the new function.
#' @examples
#' die <- pmf(rep(1 / 6, 6), from = 1)
#' rep_sum(die, 2)
#' @name renamed
#' @keywords internal
NULL

#' @rdname renamed
#' @export
condition_on_sum <- renamed_function("condition_on_sum", "condition_on_sum_pmf")

#' @rdname renamed
#' @export
mix_over <- renamed_function("mix_over", "mix_over_pmf")

#' @rdname renamed
#' @export
rep_sum <- renamed_function("rep_sum", "rep_sum_pmf")

#' @rdname renamed
#' @export
zero_modify <- renamed_function("zero_modify", "zero_modify_pmf")

#' @importFrom stats update
#' @export
update.topic_model <- function(object, ...) {
  say_renamed("update()", "add_documents()")
  add_documents(object, ...)
}
