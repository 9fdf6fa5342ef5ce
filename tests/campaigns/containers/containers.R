# Gives malformed containers to each argument of each export and method in turn: the calls of the audit, with the values
# of tests/testthat/helper-containers.R. Each must be refused by an error about the argument, or be read as the sound
# value that it was made from.
#
#   R_LIBS=LIBRARY Rscript tests/campaigns/containers/containers.R [PART PARTS]     in the root of the tree
#
# Every PARTS-th call runs, from PART on; 1 and 1.
given <- c(as.numeric(commandArgs(TRUE)), 1, 1)
source("tests/campaigns/audit/fixtures.R")
source("tests/testthat/helper-containers.R")
register_lies()
invisible(list2env(fixtures(), globalenv()))
sparse <- methods::as(Matrix::Matrix(words * (words > 1), sparse = TRUE), "generalMatrix")
triplets <- slam::as.simple_triplet_matrix(words * (words > 1))
two <- list(a = cells[1:15, ], b = cells[16:30, ])
counts <- data.frame(document = rep(1:8, each = 5), term = rep(letters[1:5], 8), count = c(t(words)))
more <- "
topic_model(sparse, 2, iter = 4, seed = 1)
topic_model(triplets, 2, iter = 4, seed = 1)
topic_model(counts, 2, iter = 4, seed = 1)
topic_model(words, 2, iter = 4, seed = 1, prevalence = ~ x, data = rows[1:8, ])
dp_mixture(two, 3, iter = 4, seed = 1)
dp_mixture(rows[c('x', 'n')], 3, iter = 4, seed = 1, sample = factor(rows$g))
dp_mixture(rows, 3, markers = c('x', 'n'), iter = 4, seed = 1, sample = 'g')
perplexity(topics, sparse, iter = 4, seed = 1)
rcategorical(sparse, seed = 1)
polyagamma_step(sparse, c(0, 1, 0, 1, 0, 1, 0, 1), rep(0, 5), prior_precision = diag(5), seed = 1)
"
pdf(NULL)
attempt <- function(call) {
  set.seed(1)
  setTimeLimit(elapsed = 20, transient = TRUE)
  on.exit(setTimeLimit())
  utils::capture.output(value <- tryCatch(suppressMessages(suppressWarnings(eval(call, new.env(parent = globalenv())))),
    error = identity))
  if (is.list(value)) value[intersect(names(value), c("elapsed", "call"))] <- NULL
  value
}
doors <- refusals <- 0
wrong <- character()
calls <- read_calls(paste0(pmf_calls, fit_calls, more))$call
for (call in calls[seq_along(calls) %% given[[2L]] == given[[1L]] %% given[[2L]]]) {
  if (!is.call(call) || is.name(call[[1L]]) && as.character(call[[1L]]) %in% c("{", "[", "<-")) next
  sound <- attempt(call)
  if (inherits(sound, "error")) next
  for (i in seq_along(call)[-1L]) {
    value <- tryCatch(eval(call[[i]], new.env(parent = globalenv())), error = function(error) NULL)
    ways <- malformed(value)
    for (how in names(ways)) {
      given <- call
      given[i] <- ways[how]
      result <- attempt(given)
      doors <- doors + 1
      refusals <- refusals + inherits(result, "warpbayes_error")
      # Formulas read columns that are matrices, and columns that nobody reads may be anything.
      reads_some <- grepl("column of a (matrix|list|table)", how) && 
        any(c("~", "markers", "augment") %in% c(all.names(call), names(call)))
      problem <- if (!reads_some || inherits(result, "error")) judge_container(result, sound)
      if (length(problem)) {
        wrong <- c(wrong, sprintf("%s, argument %s, %s: %s", substr(deparse1(call), 1L, 60L), i - 1L, how, problem))
        cat(substr(wrong[[length(wrong)]], 1L, 250L), "\n")
      }
    }
  }
}
cat(sprintf("%d doors, of which %d refused\n", doors, refusals))
cat(sprintf("%d passed, %d failed\n", doors - length(wrong), length(wrong)))
quit(status = as.integer(length(wrong) > 0L))
