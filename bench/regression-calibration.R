# Simulation-based calibration of bayes_logit(), as tests/testthat/helper-calibration.R has it: 500 data sets of 40 rows
# for every family, kind of groups and prior, and 1,500 data sets for each of some errors that are planted in the
# simulation. The table has a row for each parameter, and rows of prior `all` for each parameter over all priors. If all
# posteriors are right, the chance that `found` is TRUE anywhere is 1% for the models without planted errors together,
# and 1% for those with planted errors. Models that bayes_logit() refuses are skipped.
#   CORES=16 OUT=bench/results Rscript bench/regression-calibration.R [sets=500] [family ...]
library(warpbayes)
options(warpbayes.backend = "cpu", warpbayes.threads = 1)
cores <- as.integer(Sys.getenv("CORES", "2"))
folder <- Sys.getenv("OUT", "bench/results")
source("tests/testthat/helper-calibration.R")
arguments <- commandArgs(TRUE)
is_sets <- grepl("^sets=", arguments)
sets <- if (any(is_sets)) as.integer(sub("sets=", "", arguments[is_sets])) else 500L
families <- if (all(is_sets)) c("binomial", "negbinomial", "multinomial") else arguments[!is_sets]

models <- expand.grid(prior = c("normal", "student_t", "horseshoe", "regularised"),
  groups = c("none", "one", "slopes", "crossed"), family = families, planted = "", stringsAsFactors = FALSE)
planted <- read.table(header = TRUE, stringsAsFactors = FALSE, text = "
  prior family groups planted
  normal binomial none scale
  normal binomial none centre
  student_t binomial none df
  horseshoe binomial none global
  normal binomial one group
  normal binomial one shape
  normal binomial slopes degrees
  normal binomial slopes correlation
  normal negbinomial none dispersion
  normal negbinomial crossed group
  normal multinomial none scale
")
models <- rbind(models, planted[planted$family %in% families, names(models)])

ranked <- list()
tables <- list()
# The table of the models that are done. It is written after each model, so that a run that is ended loses one model.
write_table <- function() {
  pooled <- lapply(names(ranked), function(name) {
    parts <- strsplit(name, " ")[[1]]
    cbind(family = parts[2], groups = parts[1], prior = "all", planted = "", calibration_table(ranked[[name]]))
  })
  table <- do.call(rbind, c(tables, pooled))
  is_planted <- nzchar(table$planted)
  table$found <- table$p < 0.01 / ifelse(is_planted, sum(is_planted), sum(!is_planted))
  digits <- c(cover50 = 3, cover90 = 3, mean_rank = 3, ess_median = 0, ess_least = 0)
  for (name in names(digits)) table[[name]] <- round(table[[name]], digits[[name]])
  table$p <- signif(table$p, 3)
  write.csv(table, file.path(folder, "regression-calibration.csv"), row.names = FALSE)
  table
}

for (i in seq_len(nrow(models))) {
  model <- models[i, ]
  start <- proc.time()[["elapsed"]]
  toy <- calibration_model(model$family, model$groups, model$prior, model$planted)
  refused <- tryCatch({
    calibration_ranks(toy, 1)
    NULL
  }, warpbayes_error_input = function(error) conditionMessage(error))
  if (!is.null(refused)) {
    cat(model$family, model$groups, model$prior, "skipped:", refused, "\n")
    next
  }
  repeats <- if (nzchar(model$planted)) 3 * sets else sets
  # Each model has seeds of its own, so that the ranks of models are independent.
  found <- parallel::mclapply(1e5 * i + seq_len(repeats), function(s) calibration_ranks(toy, s), mc.cores = cores)
  bad <- Filter(function(set) inherits(set, "try-error"), found)
  if (length(bad)) stop(bad[[1]])
  if (!nzchar(model$planted)) {
    kind <- paste(model$groups, model$family)
    ranked[[kind]] <- c(ranked[[kind]], found)
  }
  cat(sprintf("%s %s %s %s: %.1f s\n", model$family, model$groups, model$prior, model$planted,
    proc.time()[["elapsed"]] - start))
  tables[[i]] <- cbind(model[c("family", "groups", "prior", "planted")], calibration_table(found), row.names = NULL)
  table <- write_table()
}
is_planted <- nzchar(table$planted)

right <- table[!is_planted, ]
cat(sprintf("%d parameters of %d models: %d found wrong; least p %.2g of %.2g; coverage of 50%%: %.3f, of 90%%: %.3f\n",
  nrow(right), nrow(unique(right[1:3])), sum(right$found), min(right$p), 0.01 / nrow(right), mean(right$cover50),
  mean(right$cover90)))
print(aggregate(found ~ planted + groups + prior + family, table[is_planted, ], any))
print(right[right$found, ])
