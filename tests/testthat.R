library(testthat)
library(warpbayes)

test_check("warpbayes")
