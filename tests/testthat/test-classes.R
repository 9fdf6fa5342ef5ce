# Every generic has a method for every class, or an error that says what to use.

test_that("each generic answers for each class, or says what to use", {
  skip_where_repeated()
  for (package in c("posterior", "coda", "generics", "rstantools", "knitr", "ggplot2", "loo", "nlme", "tibble",
    "bayesplot", "distributional", "emmeans")) {
    skip_if_not_installed(package)
  }
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  objects <- one_of_each_class()
  found <- class_matrix(objects)
  known <- utils::read.csv(test_path("classes.csv"), check.names = FALSE)
  # tools/classes.R writes the table again.
  expect_identical(found, known)
  call_of <- function(generic, package) {
    f <- switch(generic, Math = exp, Ops = function(x) x == x, Summary = max, `is.na<-` = function(x) is.na(x) <- 1,
      get(generic, asNamespace(package)))
    more <- list(
      cdf = list(2), continue = list(1, threads = 2, progress = FALSE), density = list(at = 2), generate = list(2),
      report = list(open = FALSE), truncate = list(lower = 2), update = list(evaluate = FALSE)
    )[[generic]]
    # As a user would, who does not see functions that the package keeps for itself.
    function(x) do.call(f, c(list(x), more), envir = globalenv())
  }
  # These have arguments that differ from class to class, two arguments (Ops has them), or methods of packages that
  # happen to be loaded.
  left <- c("[", "[[", "levels<-", "emm_basis", "recover_data", "chooseOpsMethod", "nameOfClass", "makepredictcall",
    "na.contiguous", "==")
  wrong <- character()
  for (i in todays(seq_len(nrow(known)))) {
    generic <- known$generic[[i]]
    package <- known$package[[i]]
    here <- generic %in% c("Math", "Ops", "Summary", getNamespaceExports(package))
    if (!here || generic %in% left) next
    use <- call_of(generic, package)
    for (class in names(objects)) {
      cell <- known[[class]][[i]]
      result <- suppressWarnings(suppressMessages(tryCatch(
        utils::capture.output(value <- use(objects[[class]])), error = identity
      )))
      failed <- inherits(result, "error")
      # What data frames do with columns that are no numbers is R's.
      right <- switch(cell, refused = inherits(result, "warpbayes_error_input"), data.frame = TRUE, default = !failed,
        !failed || inherits(result, "warpbayes_error_input"))
      if (!right) {
        wrong <- c(wrong, sprintf("%s::%s() of %s (%s): %s", package, generic, class, cell,
          if (failed) conditionMessage(result) else "no error"))
      }
    }
  }
  expect_identical(wrong, character())
})

test_that("tibbles of fits take the arguments of as.data.frame() and of as_tibble()", {
  skip_if_not_installed("tibble")
  cells <- matrix(rnorm(60), 30)
  fit <- dp_mixture(cells, components = 2, iter = 10, seed = 1, threads = 2)
  table <- tibble::as_tibble(fit, components = TRUE, .name_repair = "minimal")
  expect_identical(dim(table), dim(as.matrix(fit, components = TRUE)))
  expect_s3_class(tibble::as_tibble(cell_types(fit, threads = 2)), "tbl_df")
  expect_error(tibble::as_tibble(fit, rownames = c("a", "b")), "`rownames` must be", class = "warpbayes_error_input")
  expect_error(tibble::as_tibble(dp_prior()), "`as.data.frame()` is not known for priors", fixed = TRUE,
    class = "warpbayes_error_input")
})
