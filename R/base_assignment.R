# The assignment problem: assigns each row a column of its own so that the sum of costs is least.

# `cost` is a square matrix of finite numbers. Returns the column of each row. If there are several solutions, it always
# returns the same one: rows prefer the column of their own number.
solve_assignment <- function(cost) {
  storage.mode(cost) <- "double"
  native(C_assignment_solve, cost)
}
