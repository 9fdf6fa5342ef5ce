# The assignment problem: comparison with all permutations, and ties.

permutations <- function(n) {
  if (n == 1) return(matrix(1L, 1, 1))
  smaller <- permutations(n - 1L)
  do.call(rbind, lapply(seq_len(n), function(first) cbind(first, ifelse(smaller >= first, smaller + 1L, smaller))))
}

cost_of <- function(cost, column) sum(cost[cbind(seq_along(column), column)])

test_that("the sum of costs is the least of all permutations", {
  set.seed(70)
  for (n in 1:6) {
    all <- permutations(n)
    row <- rep(seq_len(n), each = nrow(all))
    least <- sum <- numeric(30)
    for (i in 1:30) {
      # Whole numbers from a small range have many ties. Then come real numbers of any sign.
      cost <- matrix(if (i %% 2) sample(0:3, n * n, replace = TRUE) else rnorm(n * n, sd = 10^sample(-3:3, 1)), n)
      column <- solve_assignment(cost)
      sum[[i]] <- if (anyDuplicated(column)) NA else cost_of(cost, column)
      least[[i]] <- min(rowSums(matrix(cost[cbind(row, as.vector(all))], nrow(all))))
    }
    expect_equal(sum, least, tolerance = 1e-12)
  }
})

test_that("a planted permutation is found in a large matrix, and ties keep the numbering", {
  set.seed(71)
  hidden <- sample.int(150)
  count <- matrix(rpois(150^2, 2), 150)
  count[cbind(1:150, hidden)] <- 100
  expect_identical(solve_assignment(-count), hidden)
  expect_identical(solve_assignment(matrix(0, 7, 7)), 1:7)
  expect_identical(solve_assignment(matrix(3L, 1, 1)), 1L)
  # A block of equal costs beside a fixed pair.
  cost <- matrix(0, 4, 4)
  cost[1, ] <- c(5, 5, 0, 5)
  expect_identical(solve_assignment(cost)[[1]], 3L)
  expect_identical(solve_assignment(cost), solve_assignment(cost))
})

test_that("prices certify the optimum of larger problems", {
  # No cost is below the sum of its row's and its column's price, and the planted permutation attains these sums. So no
  # other permutation is better.
  set.seed(72)
  for (n in c(20L, 60L)) {
    hidden <- sample.int(n)
    row <- sample(-50:50, n, replace = TRUE)
    column <- sample(-50:50, n, replace = TRUE)
    cost <- outer(row, column, "+") + matrix(sample(0:20, n * n, replace = TRUE), n)
    cost[cbind(seq_len(n), hidden)] <- row + column[hidden]
    expect_equal(cost_of(cost, solve_assignment(cost)), sum(row) + sum(column))
  }
})

test_that("costs that are not numbers are refused", {
  expect_error(warpbayes:::solve_assignment(matrix(NaN, 3, 3)), "not finite", class = "warpbayes_error_input")
  expect_error(warpbayes:::solve_assignment(matrix(0, 2, 3)), "do not agree", class = "warpbayes_error_input")
})
