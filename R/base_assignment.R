# The assignment problem: assigns each row a column of its own so that the sum of costs is least.

# The column of each row of a square matrix. Of several solutions, rows prefer the column of their own number.
solve_assignment <- function(cost) {
  storage.mode(cost) <- "double"
  native(C_assignment_solve, cost)
}
