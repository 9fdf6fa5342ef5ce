# Writes tests/testthat/classes.csv: what each generic does with each class. From the root of the sources:
#     Rscript tools/classes.R
library(warpbayes)
source("tests/testthat/helper-classes.R")
utils::write.csv(class_matrix(one_of_each_class()), "tests/testthat/classes.csv", row.names = FALSE, quote = FALSE)
