# Resumes forged checkpoints of all classes, by type and field: none may open a file, a connection or an address, run
# code, hang, or end in an error that does not name the checkpoint. tests/testthat/helper-forgeries.R generates them.
#
#   R_LIBS=LIBRARY Rscript tests/campaigns/forgeries/forgeries.R [FORGERIES [SEED]]     1000 and 1
given <- as.numeric(commandArgs(TRUE))
count <- if (length(given) > 0L) given[[1L]] else 1000
seed <- if (length(given) > 1L) given[[2L]] else 1
library(warpbayes)
options(warpbayes.threads = 1, warpbayes.backend = "cpu")
tested <- new.env(parent = asNamespace("warpbayes"))
sys.source("tests/testthat/helper-forgeries.R", tested)
folder <- tempfile()
dir.create(folder)
bait <- file.path(folder, "bait")

set.seed(seed)
cells <- cbind(a = c(rnorm(60), rnorm(40, 6)), b = rnorm(100))
words <- matrix(rpois(300, 1), 30, dimnames = list(NULL, letters[1:10]))
groups <- data.frame(group = gl(2, 15), age = rnorm(30))
runs <- list(
  mixture = list(cells, function(control) dp_mixture(cells, 4, chains = 2, iter = 20, seed = 1, control = control)),
  samples = list(list(a = cells, b = cells + 1), function(control) {
    dp_mixture(list(a = cells, b = cells + 1), 4, chains = 2, iter = 20, seed = 1, transform = c(arcsinh = 5),
      control = control)
  }),
  modes = list(cells, function(control) dp_mixture(cells, 4, method = "bem", iter = 20, seed = 1, control = control)),
  topics = list(words, function(control) topic_model(words, 3, chains = 2, iter = 20, seed = 1, control = control)),
  covariates = list(words, function(control) {
    topic_model(words, 3, chains = 2, iter = 20, seed = 1, prevalence = ~ group + age, data = groups,
      seed_words = list(first = c("a", "b")), control = control)
  }),
  regression = list(mtcars, function(control) {
    bayes_logit(am ~ wt + factor(gear) + (1 | cyl), mtcars, chains = 2, iter = 20, seed = 1, weights = rep(1:2, 16),
      contrasts = list("factor(gear)" = "contr.sum"), control = control)
  })
)
files <- file.path(folder, names(runs))
for (i in seq_along(runs)) suppressMessages(runs[[i]][[2L]](warp_control(checkpoint = files[[i]])))

done <- refused <- 0
wrong <- character()
to <- file.path(folder, "forged")
while (done < count) {
  i <- sample(length(runs), 1L)
  unlink(to)
  words_of <- tested$forge(files[[i]], to, bait)
  if (is.null(words_of)) next
  done <- done + 1
  ended <- FALSE
  problem <- tested$judge_forgery(to, bait, function(file) {
    fit <- resume(file, runs[[i]][[1L]], progress = FALSE)
    ended <<- TRUE
    fit
  })
  refused <- refused + !ended
  if (!is.null(problem)) wrong <- c(wrong, paste0(names(runs)[[i]], ", ", words_of, ": ", problem))
  unlink(bait)
}
unlink(folder, recursive = TRUE)
cat(substr(wrong, 1L, 300L), sep = "\n")
cat(sprintf("%d forgeries, of which %d were refused\n", done, refused))
cat(sprintf("%d passed, %d failed\n", done - length(wrong), length(wrong)))
quit(status = as.integer(length(wrong) > 0L))
