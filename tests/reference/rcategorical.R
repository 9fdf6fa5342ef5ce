# Draws from discrete distributions by a race of exponential variables: item j arrives after an exponential time whose
# rate is its weight, and the first wins. Nothing is summed or searched. One draw from each row of `weights`.
reference_race <- function(weights) max.col(weights / matrix(rexp(length(weights)), nrow(weights)), "first")
