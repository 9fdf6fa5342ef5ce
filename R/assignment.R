# The assignment problem: which column goes to which row so that the sum of costs is least.

# `cost`: a square matrix of finite numbers. Returns the column of each row. Of several
# solutions it is always the same one, and a row prefers the column of its own number.
solve_assignment <- function(cost) {
  storage.mode(cost) <- "double"
  native(C_assignment_solve, cost)
}
