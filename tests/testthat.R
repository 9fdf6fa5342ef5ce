library(testthat)
library(warpbayes)

# CRAN's machines run the files that other processors and other versions of R could fail: known answers of whole fits,
# and one file or two of each topic.
short <- paste0(
  "known-answers|multiply-add|conditions|control|verdicts|relabel|missing-arguments|report$|^(as-)?pmf$|pmf-families|",
  "sum-pmf|rcategorical$|rpolyagamma$|polyagamma-law|bayes-logit(-generics|-groups|-counts|-predict)?$|",
  "dp-mixture-(draws|model|print|predict|missing)|cell-types$|differential-state|topic-model(-generics|-update)?$|",
  "topic-tables|predictive-(arguments|joint|normal)"
)
test_check("warpbayes", filter = if (!identical(Sys.getenv("NOT_CRAN"), "true")) short)
