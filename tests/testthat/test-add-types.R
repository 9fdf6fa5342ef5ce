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

test_that("types become channels of flowFrames and flowSets", {
  # Stand-ins of flowCore's classes, with their slots.
  where <- globalenv()
  setClass("annotation", representation(data = "data.frame"), where = where)
  setClass("flowFrame", representation(exprs = "matrix", parameters = "ANY", description = "list"), where = where)
  setClass("flowSet", representation(frames = "environment", phenoData = "ANY"), where = where)
  types <- made_types()
  frame <- function(values) {
    new("flowFrame", exprs = values, parameters = new("annotation", data = data.frame(
      name = colnames(values), desc = c(NA, "CD8"), range = 14, minRange = 0, maxRange = 14,
      row.names = c("$P1", "$P2")
    )))
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
