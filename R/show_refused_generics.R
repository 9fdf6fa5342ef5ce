# Generics of R and of other packages whose default methods take a fit for a plain list, and so return nonsense. For
# class "warpbayes", which all results have, they raise an error that says what to use.

# inst/refusals.csv has refused generics of packages; `vectors` keep some. Rows without a package say what to use
# `instead`: of a generic for a class, or of any for a class, with `what` it is.
refusals <- function() read_once("refusals.csv")

stop_refused <- function(generic, x) {
  table <- refusals()
  class <- c(intersect(class(x), table$class), "warpbayes")[[1L]]
  row <- function(generic, class) table[table$generic == generic & table$class == class & nzchar(table$instead), ]
  diagnostic <- grepl("^(ess|mcse|rhat)_?", generic) && class %in% c("dp_mixture", "bayes_logit", "topic_model")
  own <- row("", class)
  known <- c(row(generic, class)$instead, row(generic, "")$instead, if (diagnostic) row("ess", "")$instead)
  instead <- if (length(known)) known[[1L]] else paste("use", own$instead)
  name <- if (grepl("^[[:alpha:]]", generic)) paste0(generic, "()") else generic
  stop_warpbayes("input", sprintf("`%s` is not known for %s: %s", name, own$what, instead))
}

refuse_generic <- function(...) {
  x <- Find(function(value) inherits(value, "warpbayes"), list(...))
  if (keeps_generic(.Generic, x)) NextMethod() else stop_refused(.Generic, x)
}

# A perplexity is a number. The defaults of update() and of summarise_draws() are right.
keeps_generic <- function(generic, x) {
  if (is.atomic(x)) {
    models <- refusals()$generic[!refusals()$package %in% c("", "base", "graphics", "utils")]
    return(!generic %in% setdiff(c("as.call", "as.function", "stack", "truncate", models), c("median", "quantile")))
  }
  is_table <- is.data.frame(x)
  (is_table || inherits(x, "pmf_list")) && generic %in% refusals()$generic[refusals()$vectors == "keep"] ||
    is_table && (generic == "model.frame" || !is.null(utils::getS3method(generic, "data.frame", optional = TRUE))) ||
    generic == "update" && is.call(unclass(x)$call) && !inherits(x, "topic_model") ||
    generic %in% c("summarise_draws", "summarize_draws") && inherits(x, "warpbayes_fit")
}

#' @export
format.warpbayes <- function(x, ...) {
  if (is.list(x) && !is.data.frame(x) && !inherits(x, "pmf_list")) sprintf("<%s>", class(x)[[1L]]) else NextMethod()
}

#' @export
toString.warpbayes <- function(x, ...) {
  if (is.list(x) && !is.data.frame(x) && !inherits(x, "pmf_list")) format(x) else NextMethod()
}

#' @export
as.character.warpbayes <- toString.warpbayes

at_load(function() {
  table <- refusals()
  for (package in setdiff(table$package, "")) {
    when_loaded(package, function(namespace) {
      for (generic in table$generic[table$package == getNamespaceName(namespace)]) {
        # Versions of packages differ in their generics. Groups are no functions of package base.
        if (generic %in% c("Math", "Summary", getNamespaceExports(namespace))) {
          registerS3method(generic, "warpbayes", refuse_generic, envir = namespace)
        }
      }
    })
  }
})
