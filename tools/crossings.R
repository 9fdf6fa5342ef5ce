# Counts two kinds of crossings in five calls of the package: calls of compiled entries, and calls of functions of R/
# from another file. Run it in the root of the tree.
#   R_LIBS=build/test/plain-library Rscript --vanilla tools/crossings.R
library(warpbayes)
options(warpbayes.threads = 2, warpbayes.backend = "cpu", warpbayes.progress = FALSE)
space <- asNamespace("warpbayes")
compiled <- between <- character()

counted <- function(entry, ...) {
  compiled <<- c(compiled, sub("^C_", "", entry$name))
  .Call(entry, ...)
}
# Code in which each `.Call` is the function above.
with_counter <- function(code) {
  if (identical(code, quote(.Call))) return(counted)
  if (is.call(code)) {
    for (i in seq_along(code)) if (!identical(code[[i]], quote(expr = ))) {
      changed <- with_counter(code[[i]])
      if (!is.null(changed)) code[[i]] <- changed
    }
  }
  code
}

# Functions of R/ and methods begin with this. The caller is the innermost function above that has a file.
enter <- function(file) {
  frame <- sys.nframe() - 1L
  while ((frame <- frame - 1L) > 0L) {
    caller <- attr(sys.function(frame), "file")
    if (is.null(caller)) next
    if (caller != file) between <<- c(between, file)
    break
  }
}
marked <- function(code, file) {
  body(code) <- call("{", as.call(list(enter, file)), with_counter(body(code)))
  structure(code, file = file)
}
for (file in list.files("R", full.names = TRUE)) {
  for (expression in as.list(parse(file, keep.source = FALSE))) {
    if (!is.call(expression) || !identical(expression[[1L]], quote(`<-`)) || !is.name(expression[[2L]])) next
    name <- as.character(expression[[2L]])
    value <- get0(name, space, inherits = FALSE)
    if (!is.function(value)) next
    unlockBinding(name, space)
    assign(name, marked(value, file), space)
  }
}

count <- function(name, call) {
  compiled <<- between <<- character()
  force(call)
  entries <- sort(table(compiled), decreasing = TRUE)
  cat(sprintf("%s: %d calls of entries (%s), %d calls between %d files\n", name, length(compiled),
    paste(names(entries), entries, collapse = ", "), length(between), length(unique(between))))
}

set.seed(1)
x <- rbind(matrix(rnorm(200), 100), matrix(rnorm(200, 4), 100))
rows <- data.frame(y = rbinom(60, 1, 0.5), z = rnorm(60), count = rpois(60, 1) * rbinom(60, 1, 0.6))
counts <- matrix(rpois(600, 1), 30, dimnames = list(NULL, paste0("w", 1:20)))
logit <- bayes_logit(y ~ z, rows, iter = 50, seed = 1)
topics <- topic_model(counts, 3, iter = 50, seed = 1)
count("dp_mixture()", dp_mixture(x, components = 5, iter = 50, seed = 1))
count("predict()", predict(logit, rows))
count("topic_effects()", topic_effects(topics, ~group, data.frame(group = gl(2, 15))))
count("copula_density()", predictive_resample(x[, 1], copula_density(), draws = 10, horizon = 20, seed = 1))
count("zi = ~1", bayes_logit(count ~ z, rows, family = "poisson", zi = ~1, iter = 50, seed = 1))
