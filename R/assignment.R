# The assignment problem: which column goes to which row so that the sum of costs is least.

# Shortest augmenting paths with potentials (Jonker and Volgenant 1987). `cost`: n x n,
# finite. Returns the column of each row. O(n^3), of which R itself does n^2 steps.
solve_assignment <- function(cost) {
  n <- nrow(cost)
  row_price <- numeric(n)
  column_price <- numeric(n + 1)
  # Row that holds each column, 0: none. The last column is where a path starts.
  holder <- integer(n + 1)
  for (row in seq_len(n)) {
    holder[[n + 1]] <- row
    column <- n + 1
    distance <- rep(Inf, n)
    before <- integer(n)
    done <- logical(n + 1)
    while (holder[[column]] != 0L) {
      done[[column]] <- TRUE
      current <- holder[[column]]
      open <- which(!done[seq_len(n)])
      reduced <- cost[current, open] - row_price[[current]] - column_price[open]
      better <- reduced < distance[open]
      distance[open[better]] <- reduced[better]
      before[open[better]] <- column
      best <- open[[which.min(distance[open])]]
      step <- distance[[best]]
      row_price[holder[done]] <- row_price[holder[done]] + step
      column_price[done] <- column_price[done] - step
      distance[open] <- distance[open] - step
      column <- best
    }
    while (column != n + 1) {
      holder[[column]] <- holder[[before[[column]]]]
      column <- before[[column]]
    }
  }
  match(seq_len(n), holder[seq_len(n)])
}
