# Each exported function that needs a first argument names it if it is missing.

test_that("a missing first argument is named", {
  skip_where_repeated()
  without <- c("copula_density", "dp_prior", "logit_prior", "normal_mean", "probability_of", "quantiles_of",
    "tail_mean_of", "warp_control")
  for (name in setdiff(getNamespaceExports("warpbayes"), without)) {
    exported <- getExportedValue("warpbayes", name)
    if (!is.function(exported) || length(formals(exported)) == 0L) next
    outcome <- tryCatch(exported(), error = identity)
    if (inherits(outcome, "error")) {
      expect_s3_class(outcome, "warpbayes_error_input")
      expect_match(conditionMessage(outcome), "missing|must", label = paste0(name, "()"))
    } else {
      fail(paste0(name, "() has a value"))
    }
  }
})
