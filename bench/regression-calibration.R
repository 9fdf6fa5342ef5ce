# Simulation-based calibration of bayes_logit(), as tests/testthat/helper-calibration.R has it: 500 data sets of 40 rows
# for every family, kind of groups and prior, and 1,500 or 6,000 data sets for each of some errors that are planted in
# the simulation. The table has a row for each model, with the range of its parameters' coverages and the least p-value,
# and rows of prior `all` for the ranks over all priors. If all posteriors are right, the chance that `found` is TRUE
# anywhere is 1% for the models without planted errors together, and 1% for those with planted errors. Models that
# bayes_logit() refuses are skipped.
#   CORES=16 OUT=bench/results Rscript bench/regression-calibration.R [sets=500] [family ...] [groups ...] [right]
#     [planted] [error ...]
# With the names of families, kinds of groups or planted errors, only their models run; with `right` only those without
# planted errors, with `planted` only the others. Rows of other models stay in the table.
library(warpbayes)
options(warpbayes.backend = "cpu", warpbayes.threads = 1)
cores <- as.integer(Sys.getenv("CORES", "2"))
folder <- Sys.getenv("OUT", "bench/results")
source("tests/testthat/helper-calibration.R")
arguments <- commandArgs(TRUE)
is_sets <- grepl("^sets=", arguments)
sets <- if (any(is_sets)) as.integer(sub("sets=", "", arguments[is_sets])) else 500L
chosen <- arguments[!is_sets]
models <- expand.grid(prior = c("normal", "student_t", "horseshoe", "regularised"),
  groups = c("none", "one", "slopes", "crossed"), family = c("binomial", "negbinomial", "multinomial"), planted = "",
  times = 1, stringsAsFactors = FALSE)
planted <- read.table(header = TRUE, stringsAsFactors = FALSE, text = "
  prior family groups planted times
  normal binomial none scale 3
  normal binomial none centre 3
  student_t binomial none df 3
  horseshoe binomial none global 3
  normal binomial one group 3
  normal binomial one shape 12
  normal binomial slopes degrees 3
  normal binomial slopes correlation 3
  normal negbinomial none dispersion 3
  normal negbinomial crossed group 3
  normal multinomial none scale 3
")
models <- rbind(models, planted[names(models)])
by_family <- intersect(chosen, models$family)
by_groups <- intersect(chosen, models$groups)
by_error <- intersect(chosen, planted$planted)
by_kind <- intersect(chosen, c("right", "planted"))
unknown <- setdiff(chosen, c(by_family, by_groups, by_error, by_kind))
if (length(unknown)) stop("not known: ", toString(unknown))
runs <- (!length(by_family) | models$family %in% by_family) & (!length(by_groups) | models$groups %in% by_groups) &
  (!length(by_error) | models$planted %in% by_error) &
  (!length(by_kind) | ifelse(nzchar(models$planted), "planted", "right") %in% by_kind)

keys <- c("family", "groups", "prior", "planted")
key <- function(rows) do.call(paste, rows[keys])
file <- file.path(folder, "regression-calibration.csv")
earlier <- if (file.exists(file)) read.csv(file, na.strings = "NA", colClasses = c(planted = "character"))
ranked <- list()
tables <- list()
# calibration_table() as one row: `least` is the parameter with the least p-value.
of_model <- function(table) {
  data.frame(parameters = nrow(table), sets = table$sets[[1]], cover50_low = min(table$cover50),
    cover50_high = max(table$cover50), cover90_low = min(table$cover90), cover90_high = max(table$cover90),
    p = signif(min(table$p), 3), least = table$parameter[[which.min(table$p)]], ess_least = round(min(table$ess_least)))
}

# The table of the models that are done. It is written after each model, so that a run that is ended loses one model.
write_table <- function() {
  pooled <- lapply(names(ranked), function(name) {
    parts <- strsplit(name, " ")[[1]]
    cbind(family = parts[2], groups = parts[1], prior = "all", planted = "",
      of_model(calibration_table(ranked[[name]])))
  })
  table <- do.call(rbind, c(tables, pooled))
  table <- rbind(earlier[!key(earlier) %in% key(table), names(earlier) != "found"], table)
  is_planted <- nzchar(table$planted)
  table$found <- table$p < 0.01 / ave(table$parameters, is_planted, FUN = sum)
  for (name in grep("^cover", names(table), value = TRUE)) table[[name]] <- round(table[[name]], 3)
  write.csv(table, file, row.names = FALSE)
  table
}

for (i in which(runs)) {
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
  # Each model has seeds of its own, so that the ranks of models are independent.
  seeds <- 1e5 * i + seq_len(model$times * sets)
  found <- parallel::mclapply(seeds, function(s) calibration_ranks(toy, s), mc.cores = cores)
  bad <- Filter(function(set) inherits(set, "try-error"), found)
  if (length(bad)) stop(bad[[1]])
  if (!nzchar(model$planted)) {
    kind <- paste(model$groups, model$family)
    ranked[[kind]] <- c(ranked[[kind]], found)
  }
  cat(sprintf("%s %s %s %s: %.1f s\n", model$family, model$groups, model$prior, model$planted,
    proc.time()[["elapsed"]] - start))
  tables[[i]] <- cbind(model[keys], of_model(calibration_table(found)), row.names = NULL)
  table <- write_table()
}
is_planted <- nzchar(table$planted)

right <- table[!is_planted, ]
cat(sprintf("%d parameters of %d models: %d models found wrong; least p %.2g of %.2g\n", sum(right$parameters),
  sum(right$prior != "all"), sum(right$found), min(right$p), 0.01 / sum(right$parameters)))
print(aggregate(found ~ planted + groups + prior + family, table[is_planted, ], any))
print(right[right$found, ])
