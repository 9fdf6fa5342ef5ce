# Generics of R and of other packages either have a method for our classes, or raise an error that says what to use.

# All generics that the package exports, but not those that act on files, devices or the screen.
generics_of <- function(package) {
  space <- asNamespace(package)
  is_generic <- function(name) {
    value <- get0(name, space, mode = "function")
    if (is.null(value)) FALSE else if (is.primitive(value)) exists(name, .GenericArgsEnv) else
      any(grepl("UseMethod(", deparse(body(value)), fixed = TRUE))
  }
  outside <- c("print", "plot", "cat", "edit", "prompt", "page", "close", "open", "flush", "Sys.time", "pairs", "lines",
    "points", "text", "browseEnv", "merge", "fix", "screeplot", "biplot", "heatmap")
  names <- setdiff(getNamespaceExports(package), outside)
  names[vapply(names, is_generic, NA)]
}

# What gives an answer for every list, and what R relies on for any object.
for_all_objects <- c(
  "as.character", "as.data.frame", "as.environment", "as.list", "as.null", "dim", "dimnames", "format", "getCall",
  "is.array", "is.matrix", "is.numeric", "length", "levels", "mtfrm", "names", "ncol", "nrow", "row.names", "seq.int",
  "str", "toString", "unlist", "naprint", "update", "Dim", "needUpdate", "reserved_variables", "getGroupsFormula",
  ".DollarNames", "levels<-", "names<-", "as.vector", "unclass", "xtfrm", "all.equal", "with", "within", "by", "split",
  "rapply", "nlevels", "offset", "summary", "is.finite", "is.infinite", "is.nan", "as.numeric_version",
  # Of R 4.3 and later: R asks them for any object.
  "chooseOpsMethod", "nameOfClass", ".AtNames"
)

test_that("no inherited method takes a fit for a list", {
  skip_where_repeated()
  # Some generics draw.
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  packages <- Filter(function(package) requireNamespace(package, quietly = TRUE),
    c("base", "stats", "utils", "coda", "posterior", "nlme", "rstantools", "generics"))
  expect_true(all(c("base", "stats", "utils") %in% packages))
  own <- asNamespace("warpbayes")
  fits <- setdiff(refusals()$class, c("", "pmf_list", "type_proportions", "differential_state",
    "perplexity", "warpbayes"))
  tried <- 0
  # The short form tries two classes with each generic, in turn.
  for (package in packages) {
    for (generic in setdiff(generics_of(package), for_all_objects)) {
      turn <- tried %/% 2 + 0:1
      for (class in if (extended()) fits else fits[turn %% length(fits) + 1]) {
        if (exists(paste(generic, class, sep = "."), envir = own)) next
        is_fit <- class %in% c("dp_mixture", "bayes_logit", "topic_model", "martingale_posterior")
        classes <- c(class, if (is_fit) "warpbayes_fit", "warpbayes")
        x <- structure(list(draws = c(1, 2, 3), chains = 1, words = "a"), class = classes)
        result <- tryCatch(
          list(suppressMessages(suppressWarnings(get(generic, asNamespace(package))(x)))),
          error = function(error) NULL
        )
        tried <- tried + 1
        if (!is.null(result)) {
          fail(sprintf("%s::%s() of %s gives %s", package, generic, class, show_value(result[[1L]])))
        }
      }
    }
  }
  # More where more of the packages are installed.
  expect_gt(tried, 400)
})

test_that("the errors say what to use", {
  logit <- structure(list(draws = 1), class = c("bayes_logit", "warpbayes_fit", "warpbayes"))
  mixture <- structure(list(draws = 1), class = c("dp_mixture", "warpbayes_fit", "warpbayes"))
  input <- "warpbayes_error_input"
  expect_error(mean(logit), "`mean()` is not known for fits of bayes_logit(): coef() gives posterior means",
    fixed = TRUE, class = input)
  expect_error(c(mixture, mixture), "list(a, b) keeps several together", fixed = TRUE, class = input)
  expect_error(coef(mixture), "`coef()` is not known for fits of dp_mixture(): use summary()", fixed = TRUE,
    class = input)
  topics <- structure(list(), class = c("topic_model", "warpbayes_fit", "warpbayes"))
  expect_error(residuals(topics), "perplexity()", fixed = TRUE, class = input)
  # Lists of distributions stay vectors.
  die <- pmf(rep(1 / 6, 6), from = 1)
  expect_length(rev(c(die, die)), 2L)
  expect_error(mean(c(die, die)), "lapply", class = input)
  # A data frame with a column of fits can be printed.
  table <- data.frame(id = 1)
  table$fit <- list(mixture)
  expect_output(print(table))
  expect_identical(format(mixture), "<dp_mixture>")
  expect_identical(as.character(die), "pmf on 1..6")
  expect_equal(as.matrix(die)[, "value"], 1:6)
})

test_that("odds ratios are the exponentials of coefficients and of their intervals", {
  fit <- bayes_logit(am ~ wt, mtcars, chains = 1, iter = 100, seed = 1, threads = 2)
  plain <- as.data.frame(tidy.bayes_logit(fit))
  ratios <- as.data.frame(tidy.bayes_logit(fit, exponentiate = TRUE))
  columns <- c("estimate", "conf.low", "conf.high")
  expect_equal(ratios[columns], exp(plain[columns]))
  expect_identical(ratios$std.error, plain$std.error)
  expect_named(tidy.bayes_logit(fit, conf.int = FALSE), c("term", "estimate", "std.error", "rhat", "ess_bulk"))
})

test_that("generics of packages that are loaded later are refused too", {
  skip_if_not_installed("coda")
  skip_if_not_installed("posterior")
  types <- structure(list(draws = 1), class = c("cell_types", "warpbayes"))
  expect_error(coda::as.mcmc(types), "`as.mcmc()` is not known for cell types", fixed = TRUE)
  logit <- structure(list(draws = 1), class = c("bayes_logit", "warpbayes_fit", "warpbayes"))
  expect_error(posterior::ess_bulk(logit), "summarise_draws", class = "warpbayes_error_input")
})
