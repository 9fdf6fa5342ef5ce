expect_input_error <- function(code, message) {
  testthat::expect_error(code, message, class = "warpbayes_error_input")
}
