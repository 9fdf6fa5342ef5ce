made_types <- function(names = c("many", "some", "few")) {
  types <- cell_types(population_fit(), threads = 1)
  levels(types) <- names
  types
}

test_that("types are added to matrices, data frames and lists of them", {
  types <- made_types()
  x <- types$fit$x
  found <- add_types(x, types)
  expect_s3_class(found, "data.frame")
  expect_identical(found$type, types$type)
  expect_identical(found$type_probability, types$probability)
  expect_identical(as.matrix(found[1:2]), x, ignore_attr = TRUE)
  frame <- data.frame(x, well = "A1")
  expect_named(add_types(frame, types, "population"), c("CD4", "CD8", "well", "population", "population_probability"))
  parts <- list(a = x[1:100, ], b = x[101:400, ])
  found <- add_types(parts, types)
  expect_named(found, c("a", "b"))
  expect_identical(c(found$a$type, found$b$type), types$type)
  # A marker that one part lacks is not compared.
  expect_length(add_types(list(x[1:100, ], x[101:400, 2, drop = FALSE]), types), 2L)
  expect_error(add_types(list(x[1:100, ], x[400:101, 2, drop = FALSE]), types), "row 101 has .* of \"CD8\"",
    class = "warpbayes_error_input")
  skip_if_not_installed("tibble")
  table <- tibble::as_tibble(as.data.frame(x))
  expect_s3_class(add_types(table, types), "tbl_df")
  expect_error(add_types(table[400:1, ], types), "another order: row 1 has", class = "warpbayes_error_input")
})

test_that("samples in another order are refused whatever their values", {
  skip_where_repeated()
  set.seed(1)
  x <- list(one = matrix(rnorm(60), 30), two = matrix(rnorm(40), 20))
  types <- cell_types(dp_mixture(x, components = 3, iter = 10, warmup = 4, seed = 1, threads = 1), threads = 1)
  expect_named(add_types(x, types, check_values = FALSE), c("one", "two"))
  expect_error(add_types(rev(x), types, check_values = FALSE), "another order than the fit: \"two\", \"one\", not",
    class = "warpbayes_error_input")
  expect_error(add_types(unname(rev(x)), types, check_values = FALSE), "part 1 has 20 cells, sample \"one\" of the fit",
    class = "warpbayes_error_input")
  # A list of other parts than the samples.
  parts <- list(do.call(rbind, x)[1:45, ], x$two[16:20, ])
  types$fit$sample <- rev(types$fit$sample)
  expect_length(add_types(parts, types, check_values = FALSE), 2L)
  expect_error(add_types(x, types, check_values = NA), class = "warpbayes_error_input")
})

test_that("other cells, or another order, are refused", {
  types <- made_types()
  x <- types$fit$x
  expect_error(add_types(x[-1, ], types), "399 cells, but the fit has 400", class = "warpbayes_error_input")
  expect_error(add_types(x[400:1, ], types), "another order: row 1 has", class = "warpbayes_error_input")
  expect_error(add_types(list(x[201:400, ], x[1:200, ]), types), "another order", class = "warpbayes_error_input")
  expect_error(add_types(cbind(x, type = 1), types), "`x` already has", class = "warpbayes_error_input")
  expect_error(add_types(x, "a"), "must come from cell_types", class = "warpbayes_error_input")
  expect_error(add_types(x, types, name = ""), "must be one name", class = "warpbayes_error_input")
  expect_error(add_types("a", types), class = "warpbayes_error_input")
})

test_that("types are added to the columns of a SingleCellExperiment", {
  skip_where_repeated()
  # These packages are on Bioconductor and not among those suggested, so they are named by strings.
  package <- "SingleCellExperiment"
  skip_if_not_installed(package)
  types <- made_types()
  x <- getExportedValue(package, package)(list(exprs = t(types$fit$x)))
  found <- add_types(x, types)
  expect_identical(class(found), class(x))
  columns <- as.data.frame(getExportedValue("SummarizedExperiment", "colData")(found))
  expect_identical(columns$type, types$type)
  expect_identical(columns$type_probability, types$probability)
  expect_error(add_types(found, types), "`x` already has", class = "warpbayes_error_input")
  expect_error(add_types(x[, 400:1], types), "another order", class = "warpbayes_error_input")
})

test_that("a fit remembers the assay that it read", {
  skip_where_repeated()
  expect_error(dp_mixture(
    matrix(rnorm(40), 20), control = warp_control(assay = "exprs")
  ), "is no SummarizedExperiment",
    class = "warpbayes_error_input")
  package <- "SingleCellExperiment"
  skip_if_not_installed(package)
  set.seed(2)
  x <- cbind(CD4 = rnorm(60, rep(c(0, 8), 30)), CD8 = rnorm(60))
  wells <- rep(c("a", "b"), each = 30)
  new_experiment <- getExportedValue(package, package)
  experiment <- new_experiment(list(exprs = -t(x), scaled = t(x)), colData = data.frame(sample_id = wells))
  file <- scratch()
  run <- function(x, ..., iter = 20, checkpoint = NULL) {
    fit_mixture(x, 3, iter = iter, warmup = 10, seed = 1, threads = 1, checkpoint = checkpoint, ...)
  }
  fit <- run(experiment, assay = "scaled", sample = "sample_id", checkpoint = file)
  expect_identical(fit$assay, "scaled")
  plain <- run(x, sample = wells)
  expect_null(plain$assay)
  expect_identical(fit$draws, plain$draws)
  # What reads cells again reads the same assay.
  expect_identical(predict(fit, experiment, threads = 1), predict(fit, x, threads = 1))
  expect_identical(continue(fit, 5, threads = 1)$draws, continue(plain, 5, threads = 1)$draws)
  types <- cell_types(fit, threads = 1)
  found <- add_types(experiment, types)
  expect_identical(getExportedValue("SummarizedExperiment", "colData")(found)$type, types$type)
  expect_identical(resume(file, x = experiment, threads = 1)$draws, fit$draws)
  expect_error(predict(fit, new_experiment(list(exprs = t(x)))), "`newdata` has no assay \"scaled\"; it has \"exprs\"",
    class = "warpbayes_error_input")
  expect_error(add_types(new_experiment(list(exprs = -t(x))), types), "has no assay \"scaled\"")
  # Any experiment with the same cells.
  other <- add_types(new_experiment(list(exprs = -t(x))), types, check_values = FALSE)
  expect_identical(getExportedValue("SummarizedExperiment", "colData")(other)$type, types$type)
})

test_that("types become channels of flowFrames and flowSets", {
  # Stand-ins of flowCore's classes, with their slots.
  where <- globalenv()
  setClass("annotation", representation(data = "data.frame"), where = where)
  setClass("flowFrame", representation(exprs = "matrix", parameters = "ANY", description = "list"), where = where)
  setClass("flowSet", representation(frames = "environment", phenoData = "ANY"), where = where)
  types <- made_types()
  # What the file says of compensation and the rest stays.
  keywords <- list(`$SPILLOVER` = matrix(c(1, 0.1, 0, 1), 2, dimnames = list(NULL, c("CD4", "CD8"))), `$CYT` = "Canto",
    `$P1S` = "", FILENAME = "a.fcs", transformation = "applied")
  frame <- function(values) {
    new("flowFrame", exprs = values, parameters = new("annotation", data = data.frame(
      name = colnames(values), desc = c(NA, "CD8"), range = 14, minRange = 0, maxRange = 14,
      row.names = c("$P1", "$P2")
    )), description = keywords)
  }
  x <- types$fit$x
  found <- add_types(frame(x), types)
  expect_identical(found@exprs[, "type"], as.double(as.integer(types$type)), ignore_attr = TRUE)
  expect_identical(found@exprs[, "type_probability"], types$probability, ignore_attr = TRUE)
  table <- found@parameters@data
  expect_identical(as.character(table$name), c("CD4", "CD8", "type", "type_probability"))
  expect_identical(table$desc[[3]], "1 = many; 2 = some; 3 = few")
  expect_identical(rownames(table), paste0("$P", 1:4))
  # The keywords that write.FCS() reads.
  expect_identical(found@description[["$P3S"]], "1 = many; 2 = some; 3 = few")
  expect_identical(found@description[["$P4S"]], "probability of the type")
  expect_identical(found@description[names(keywords)], keywords)
  # The cells as they were before compensation, whose values are not those of the fit.
  raw <- frame(x %*% keywords[["$SPILLOVER"]])
  expect_error(add_types(raw, types), "check_values = FALSE takes the same cells", class = "warpbayes_error_input")
  written <- add_types(raw, types, check_values = FALSE)
  expect_identical(written@exprs[, 1:2], raw@exprs)
  expect_identical(written@exprs[, "type"], found@exprs[, "type"])
  expect_identical(written@description[names(keywords)], keywords)
  # Channels that were chosen among more keep their numbers, and the new ones follow.
  chosen <- frame(x)
  rownames(chosen@parameters@data) <- c("$P2", "$P7")
  barred <- types
  levels(barred) <- c("a|b", "c", "d")
  found <- add_types(chosen, barred)
  expect_identical(rownames(found@parameters@data), c("$P2", "$P7", "$P8", "$P9"))
  expect_identical(found@description[["$P8S"]], "1 = a/b; 2 = c; 3 = d")
  set <- new("flowSet", frames = list2env(list(b = frame(x[1:100, ]), a = frame(x[101:400, ]))),
    phenoData = new("annotation", data = data.frame(name = c("b", "a"), row.names = c("b", "a"))))
  found <- add_types(set, types)
  codes <- c(found@frames$b@exprs[, "type"], found@frames$a@exprs[, "type"])
  expect_identical(unname(codes), as.double(as.integer(types$type)))
  # The given set is unchanged.
  expect_identical(colnames(set@frames$b@exprs), c("CD4", "CD8"))
  expect_error(add_types(frame(x[1:10, ]), types), "10 cells, but the fit has 400", class = "warpbayes_error_input")
  expect_error(add_types(list(frame(x)), types), "a list of frames", class = "warpbayes_error_input")
})

test_that("augment() of cell types keeps the sample", {
  skip_if_not_installed("generics")
  expect_null(generics::augment(made_types())$.sample)
  set.seed(1)
  x <- list(one = matrix(rnorm(60), 30), two = matrix(rnorm(40), 20))
  types <- cell_types(dp_mixture(x, components = 3, iter = 10, warmup = 4, seed = 1, threads = 1), threads = 1)
  expect_identical(generics::augment(types)$.sample, factor(rep(c("one", "two"), c(30, 20)), c("one", "two")))
})
