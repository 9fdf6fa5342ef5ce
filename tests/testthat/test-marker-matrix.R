# The data argument: accepted types, the resulting matrix, and the messages about everything else.

read_markers <- function(x, ...) as_marker_matrix(x, ...)

cells <- function(n = 50, p = 3) {
  set.seed(20)
  matrix(rnorm(n * p, mean = 100), n, p, dimnames = list(NULL, c("CD3", "CD4", "CD8", "CD45")[seq_len(p)]))
}

test_that("a double matrix is passed on without a copy, with its moments", {
  x <- cells(5000)
  mark <- tracemem(x)
  read <- read_markers(x)
  expect_identical(tracemem(read$x), mark)
  untracemem(x)
  expect_equal(read$mean, unname(colMeans(x)), tolerance = 1e-14)
  expect_equal(read$sd, unname(apply(x, 2, sd)), tolerance = 1e-13)
  expect_identical(read$min, unname(apply(x, 2, min)))
  expect_identical(read$max, unname(apply(x, 2, max)))
  expect_identical(read$markers, colnames(x))
  expect_null(read$transform)
})

test_that("moments are right for any number of rows and for a large offset", {
  set.seed(21)
  for (n in c(2, 3, 7, 8, 9, 2047, 2048, 2049, 6000)) {
    x <- matrix(rnorm(2 * n), n) + rep(c(0, 1e9), each = n)
    read <- read_markers(x)
    expect_equal(read$sd, apply(x, 2, sd), tolerance = 1e-12)
    expect_equal(read$mean, colMeans(x), tolerance = 1e-13)
    expect_identical(read$max, apply(x, 2, max))
  }
})

test_that("a constant column is centred exactly and scaled by one", {
  read <- read_markers(cbind(a = rep(0.1, 10001), b = seq_len(10001)))
  expect_identical(read$mean[[1]], 0.1)
  expect_identical(read$sd[[1]], 0)
})

test_that("integers, data frames and names of columns come out as one double matrix", {
  whole <- matrix(1:6, 3, dimnames = list(NULL, c("a", "b")))
  expect_identical(read_markers(whole)$x, whole + 0)
  frame <- data.frame(a = 1:3, b = c(2.5, 3, 4))
  expect_identical(read_markers(frame)$x, cbind(a = c(1, 2, 3), b = c(2.5, 3, 4)))
  expect_identical(read_markers(unname(whole))$markers, c("V1", "V2"))
  colnames(whole) <- c("a", "")
  expect_identical(read_markers(whole)$markers, c("a", "V2"))
  skip_if_not_installed("Matrix")
  expect_identical(read_markers(Matrix::Matrix(matrix(c(1, 2, 3, 5), 2)))$x, matrix(c(1, 2, 3, 5), 2))
})

test_that("markers are chosen by name or number, in the order asked for", {
  x <- cells()
  expect_identical(read_markers(x, markers = c("CD8", "CD3"))$x, x[, c("CD8", "CD3")])
  expect_identical(read_markers(x, markers = 2)$x, x[, "CD4", drop = FALSE])
  frame <- data.frame(x, gate = factor("T"))
  expect_identical(read_markers(frame, markers = 1:2)$x, x[, 1:2])
})

test_that("arcsinh divides by the marker's cofactor first", {
  x <- cells()
  expect_identical(read_markers(x, transform = c(arcsinh = 150))$x, asinh(x / 150))
  read <- read_markers(x, transform = c(CD8 = 7, CD3 = 5, CD4 = 6))
  expect_identical(read$transform, list(type = "arcsinh", cofactor = c(CD3 = 5, CD4 = 6, CD8 = 7)))
  expect_identical(read$x[, "CD8"], asinh(x[, "CD8"] / 7))
})

test_that("each marker may have its own transformation", {
  x <- cells()
  read <- read_markers(x, transform = c(CD8 = 7, CD3 = "logicle"))
  expect_identical(read$transform$type, c(CD3 = "logicle", CD4 = "none", CD8 = "arcsinh"))
  expect_identical(read$transform$cofactor, c(CD3 = NA, CD4 = NA, CD8 = 7))
  expect_identical(read$x[, "CD4"], x[, "CD4"])
  expect_identical(read$x[, "CD8"], asinh(x[, "CD8"] / 7))
  for (j in 1:3) {
    expect_equal(data_values(read$x[, j], read$transform, j), x[, j], tolerance = 1e-12)
  }
  expect_identical(read_markers(x, transform = read$transform)[c("x", "transform")], read[c("x", "transform")])
  expect_identical(read_markers(x, transform = c("none", "none", "arcsinh"))$x[, 3], asinh(x[, 3] / 5))
  expect_null(read_markers(x, transform = c(CD3 = "none"))$transform)
  refuse <- function(message, ..., cells = x) {
    expect_error(read_markers(cells, ...), message, class = "warpbayes_error_input")
  }
  refuse("has length 2 and no names; there are 3 markers", transform = c("none", "arcsinh"))
  refuse("names other than the markers .*: \"CD19\"", transform = c(CD19 = "arcsinh"))
  refuse("names the marker \"CD3\" twice", transform = c(CD3 = "none", CD3 = "arcsinh"))
  refuse("or a cofactor of arcsinh, not \"log\"", transform = c(CD3 = "log"))
  refuse("or one of these for each marker by name, not a logical", transform = c(TRUE, FALSE))
  refuse("has length 2 and no names; there are 3 markers", transform = 1:2)
  refuse("not the `transform` of a fit to 3 markers", transform = list(type = "arcsinh"))
  refuse("of a fit to other markers, \"a\"",
    transform = list(type = "arcsinh", cofactor = c(a = 1, b = 1, c = 1)))
  refuse("lacks the parameters", transform = list(type = "logicle", cofactor = rep(NA_real_, 3)))
  refuse("\"CD3\", which has no positive value", transform = c(CD3 = "logicle"), cells = cbind(CD3 = -(1:3)))
})

test_that("the logicle scale agrees with published values, and its width with flowCore's rule where noise is narrow", {
  # T = 1000, W = 1, M = 4, A = 0 (Gating-ML 2.0, table of test values for logicle), as a share of M.
  scale <- logicle_scale(c(t = 1000, w = 1, m = 4, a = 0))
  expect_equal(logicle(c(-10, -5, -1, 0, 0.3, 1, 3, 10, 100, 1000), scale) / 4,
    c(0.067574, 0.147986, 0.228752, 0.25, 0.256384, 0.271248, 0.312897, 0.432426, 0.739548, 1), tolerance = 2e-6)
  values <- c(-1e5, -7, 0, 1e-9, 3, 1e7)
  for (w in c(0, 0.3, 2)) {
    scale <- logicle_scale(c(t = 262144, w = w, m = 4.5, a = 0))
    expect_equal(inverse_logicle(logicle(values, scale), scale), values, tolerance = 1e-9)
    expect_equal(logicle(262144, scale), 4.5)
    expect_true(all(diff(logicle(seq(-1000, 1000, by = 0.5), scale)) > 0))
  }
  expect_identical(is.na(logicle(c(1, NA), scale)), c(FALSE, TRUE))
  values <- c(-(1:100), 5000)
  expect_equal(estimate_logicle(values, "a", 1e5), c(t = 1e5, w = (4.5 - log10(1e5 / 95.05)) / 2, m = 4.5, a = 0))
  expect_equal(estimate_logicle(values, "a", 10000), c(t = 10000, w = 0.8, m = 1.6 + log10(10000 / 95.05), a = 0))
  # No unit.
  for (unit in c(1e-6, 1e4)) {
    expect_equal(estimate_logicle(unit * values, "a", NULL), estimate_logicle(values, "a", NULL) * c(unit, 1, 1, 1))
  }
  expect_identical(estimate_logicle(abs(values), "a", NULL)[["w"]], 0)
  expect_identical(estimate_logicle(c(-1e9, 5000), "a", 10000)[2:3], c(w = 0.5, m = 1))
  # The slope of the scale.
  transform <- list(type = "logicle", cofactor = NA, logicle = rbind(c(t = 1000, w = 1, m = 4, a = 0)))
  at <- c(-20, 0, 15)
  slope <- (transform_values(at + 1e-4, transform, 1) - transform_values(at - 1e-4, transform, 1)) / 2e-4
  expect_equal(1 / units_of_scale(at, transform, 1), slope, tolerance = 1e-6)
})

test_that("every kind of data that cannot be used has its own message", {
  error <- "warpbayes_error_input"
  expect_error(read_markers(NULL), "`x` is NULL", class = error)
  expect_error(read_markers(1:3),
    "vector of 3 numbers; for one marker give matrix\\(x, ncol = 1\\), for one cell matrix\\(x, nrow = 1\\)",
    class = error
  )
  expect_error(read_markers(list(1, 2)), "is a list", class = error)
  expect_error(read_markers("a"), "must be a numeric matrix", class = error)
  expect_error(read_markers(factor("a")), "must be a numeric matrix", class = error)
  expect_error(read_markers(sum), "must be a numeric matrix", class = error)
  expect_error(read_markers(matrix("a", 2, 2)), "is a character matrix", class = error)
  expect_error(read_markers(matrix(TRUE, 2, 2)), "is a logical matrix", class = error)
  expect_error(read_markers(array(0, c(2, 2, 2))), "array with 3 dimensions", class = error)
  expect_error(read_markers(matrix(0, 0, 3)), "has no rows", class = error)
  expect_error(read_markers(matrix(0, 1, 3)), "has only one row", class = error)
  expect_error(read_markers(matrix(0, 3, 0)), "has no columns", class = error)
  expect_error(read_markers(data.frame(a = 1:2, gate = factor(1:2))), "\"gate\" is a factor", class = error)
  expect_error(read_markers(data.frame(a = 1:2, b = c("x", "y"))), "\"b\" is of class \"character\"", class = error)
  expect_error(read_markers(data.frame(a = I(matrix(0, 2, 2)))), "\"a\" is itself a matrix", class = error)
  expect_error(read_markers(cbind(a = 1:2, a = 3:4)), "two columns named \"a\"", class = error)
})

test_that("a sparse matrix is not silently made dense", {
  skip_if_not_installed("Matrix")
  expect_error(read_markers(Matrix::sparseMatrix(1, 1, x = 1)), "is a sparse matrix", class = "warpbayes_error_input")
})

test_that("the message gives row and column of the first value that is not finite", {
  x <- cells(5000)
  broken <- x
  broken[4000, 1] <- NaN
  broken[3000, 3] <- NA
  broken[3000, 2] <- -Inf
  condition <- expect_error(read_markers(broken),
    "`x` has -Inf in row 3000, column 2 \\(\"CD4\"\\), the first of 3 values"
  )
  expect_identical(condition$row, 3000)
  expect_identical(condition$column, 2)
  for (value in c(NA, NaN, Inf)) {
    broken <- x
    broken[5000, 3] <- value
    advice <- if (is.na(value)) "; warp_control\\(missing = \"model\"\\) takes NA as missing at random" else ""
    expect_error(read_markers(broken), sprintf("`x` has %s in row 5000, column 3 \\(\"CD8\"\\)%s$", value, advice))
  }
  expect_error(read_markers(matrix(c(1L, NA), 2)), "has NA in row 2, column 1 \\(\"V1\"\\)")
  expect_error(read_markers(matrix(c(1, 1e200), 2)), "beyond 1e150 in column 1")
  # A sum that overflows, although every value is finite, is not a missing value.
  expect_error(read_markers(matrix(1.7e308, 2, 1)), "beyond 1e150 in column 1")
})

test_that("invalid markers and transformations are refused", {
  x <- cells()
  expect_error(read_markers(x, markers = "CD19"), "`markers` names \"CD19\".*\"CD3\", \"CD4\", \"CD8\"")
  expect_error(read_markers(unname(x), markers = "CD19"), "`x` has no column names")
  expect_error(read_markers(x, markers = 4), "`markers` has 4, but `x` has columns 1 to 3")
  expect_error(read_markers(x, markers = 1.5), "`markers` has 1.5")
  expect_error(read_markers(x, markers = c("CD3", "CD3")), "selects column 1 twice")
  expect_error(read_markers(x, markers = character()), "selects no column")
  expect_error(read_markers(x, markers = TRUE), "names or numbers of columns")
  expect_error(read_markers(x, transform = "log"), "`transform` must be one of")
  expect_error(read_markers(x, transform = c(arcsinh = 0)), "has the cofactor 0; a cofactor must be positive")
  expect_error(read_markers(x, transform = c(CD3 = Inf)), "has the cofactor Inf")
  expect_error(read_markers(x, transform = c(a = 1, b = 2, c = 3)), "names other than the markers")
})

test_that("new rows are matched to the markers of the fit", {
  fit <- list(markers = c("CD3", "CD8"), transform = NULL)
  x <- cells()
  rows <- function(newdata) as_new_rows(newdata, fit)
  expect_identical(rows(x), x[, c("CD3", "CD8")])
  expect_identical(rows(unname(x[, 1:2])), `colnames<-`(x[, 1:2], c("CD3", "CD8")))
  expect_identical(dim(rows(x[0, ])), c(0L, 2L))
  expect_identical(dim(rows(x[1, , drop = FALSE])), c(1L, 2L))
  expect_error(rows(unname(x)), "3 columns without names; the fit has 2 markers")
  expect_error(rows(x[, 1:2]), "lacks the marker of the fit \"CD8\"")
  expect_error(rows(cbind(x[, 0:1, drop = FALSE], CD8 = c(NA, 2))), "has NA in row 1, column 2")
  fit$transform <- list(type = "arcsinh", cofactor = c(5, 10))
  expect_identical(rows(x)[, "CD8"], asinh(x[, "CD8"] / 10))
})

# Stand-ins of the Bioconductor classes, with their slots.
define_cytometry_classes <- function(where) {
  setClass("annotation", representation(data = "data.frame"), where = where)
  setClass("flowFrame", representation(exprs = "matrix", parameters = "ANY"), where = where)
  setClass("flowSet", representation(frames = "environment", phenoData = "ANY"), where = where)
  setClass("cytoframe", contains = "flowFrame", where = where)
}

flow_frame <- function(values) {
  channels <- c(P1 = "FSC-A", P2 = "FL1-H", P3 = "FL2-H")
  dimnames(values) <- list(NULL, channels)
  new("flowFrame", exprs = values, parameters = new("annotation", data = data.frame(
    name = channels, desc = c(NA, "CD4", "CD8")
  )))
}

test_that("markers of a flowFrame are chosen by channel or by what it measures", {
  define_cytometry_classes(globalenv())
  values <- unname(cells())
  frame <- flow_frame(values)
  read <- read_markers(frame)
  expect_identical(read$markers, c("FSC-A", "FL1-H", "FL2-H"))
  expect_identical(unname(read$x), values)
  read <- read_markers(frame, markers = c("CD8", "FL1-H"))
  expect_identical(read$x, matrix(values[, 3:2], 50, dimnames = list(NULL, c("CD8", "FL1-H"))))
  expect_error(read_markers(frame, markers = "CD19"), "\"FSC-A\", \"FL1-H\", \"FL2-H\", \"CD4\", \"CD8\"")
  fit <- list(markers = c("CD4", "CD8"), transform = NULL)
  expect_identical(unname(as_new_rows(frame, fit)), values[, 2:3])
  expect_error(read_markers(new("cytoframe", exprs = values)), "\"cytoframe\", whose cells can be read only where")
})

test_that("the logicle scale of a frame has the top of the instrument's range", {
  define_cytometry_classes(globalenv())
  values <- unname(cells())
  frame <- flow_frame(values)
  top_of <- function(frame, ...) read_markers(frame, ...)$transform$logicle[, "t"]
  largest <- max(values[, 2])
  expect_identical(top_of(frame, transform = c("FL1-H" = "logicle")), c("FSC-A" = NA, "FL1-H" = largest, "FL2-H" = NA))
  frame@parameters@data$maxRange <- c(1000, 262144, 10)
  expect_identical(top_of(frame, transform = c("FL1-H" = "logicle"))[[2]], 262144)
  read <- read_markers(frame, markers = c("CD8", "CD4"), transform = "logicle")$transform$logicle
  expect_identical(read[, "t"], c(CD8 = 10, CD4 = 262144))
  expect_identical(read[, "m"], c(CD8 = 4.5, CD4 = 4.5))
})

test_that("the samples of a flowSet are stacked in their order", {
  define_cytometry_classes(globalenv())
  values <- unname(cells(20))
  frames <- list2env(list(after = flow_frame(values[1:5, ]), before = flow_frame(values[6:20, ])))
  set <- function(samples) {
    new("flowSet", frames = frames,
      phenoData = new("annotation", data = data.frame(name = samples, row.names = samples))
    )
  }
  expect_identical(unname(read_markers(set(c("before", "after")))$x), values[c(6:20, 1:5), ])
  expect_identical(read_markers(set("after"), markers = "CD4")$x[, "CD4"], values[1:5, 2])
  expect_error(read_markers(set(character())), "holds no samples")
  other <- flow_frame(values)
  colnames(other@exprs)[[1]] <- "SSC-A"
  frames$other <- other
  expect_error(read_markers(set(c("after", "other"))), "different channels: sample 2 has \"SSC-A\"")
})

test_that("the cells of a SummarizedExperiment are the columns of its first assay", {
  skip_where_repeated()
  skip_if_not_installed("SummarizedExperiment")
  values <- cells()
  # The class is named by a string because the package is on Bioconductor and not among those suggested.
  new_experiment <- getExportedValue("SummarizedExperiment", "SummarizedExperiment")
  experiment <- new_experiment(list(exprs = t(values)))
  expect_identical(read_markers(experiment)$x, values)
  expect_error(read_markers(new_experiment()), "without an assay")
  # CATALYST has counts and transformed values.
  expect_identical(read_markers(new_experiment(list(counts = t(values) + 1, exprs = t(values))))$x, values)
  expect_identical(read_markers(new_experiment(list(counts = t(values), other = t(values) + 1)))$x, values)
  # Any other by name or number.
  both <- new_experiment(list(counts = t(values) + 1, exprs = t(values)))
  expect_identical(read_markers(both, assay = "counts")$x, values + 1)
  expect_identical(read_markers(both, assay = 2)$x, values)
  expect_identical(read_samples(list(both[, 1:4], both[, 5:9]), NULL, NULL, assay = "counts")$x, values[1:9, ] + 1)
  expect_error(read_markers(both, assay = "count"), "`x` has no assay \"count\"; it has \"counts\", \"exprs\"",
    class = "warpbayes_error_input")
  expect_error(read_markers(both, assay = 3), "has no assay 3; it has", class = "warpbayes_error_input")
  expect_error(read_markers(both, assay = c("exprs", "counts")), "name or number of one assay",
    class = "warpbayes_error_input")
  expect_error(read_markers(new_experiment(list(t(values))), assay = "exprs"), "it has 1 assay without names",
    class = "warpbayes_error_input")
  columns <- getExportedValue("S4Vectors", "DataFrame")(sample_id = factor(rep_len(c("b", "a"), nrow(values))), k = 1)
  experiment <- new_experiment(list(exprs = t(values)), colData = columns)
  read <- read_samples(experiment, "sample_id", NULL)
  expect_identical(read$sample, columns$sample_id)
  expect_identical(read$x, experiment)
  expect_error(read_samples(experiment, "id", NULL), "no column of colData\\(x\\); it has \"sample_id\", \"k\"",
    class = "warpbayes_error_input")
  sparse <- Matrix::Matrix(t(values) * (t(values) > 0), sparse = TRUE)
  expect_identical(read_markers(new_experiment(list(exprs = sparse)))$x, values * (values > 0))
  # Flags of a column of its rowData(), such as those of type markers.
  expect_identical(read_markers(experiment, seq_len(ncol(values)) == 1L)$x, values[, 1, drop = FALSE])
})

test_that("new rows match a fit of a matrix with unnamed columns", {
  x <- cbind(a = c(1, 2), c(3, 4))
  fit <- list(markers = as_marker_matrix(x)$markers, transform = NULL)
  expect_identical(fit$markers, c("a", "V2"))
  expect_identical(as_new_rows(x, fit), `colnames<-`(x, c("a", "V2")))
  colnames(x)[[2L]] <- NA
  expect_identical(as_new_rows(x, fit), `colnames<-`(x, c("a", "V2")))
})

test_that("the name of two columns is refused if it is asked for", {
  x <- cbind(a = c(1, 2), a = c(3, 4), b = c(5, 6))
  expect_error(as_marker_matrix(x, "a"), "`x` has two columns named \"a\"", class = "warpbayes_error_input")
  expect_error(as_new_rows(x, list(markers = c("b", "a"))),
    "`newdata` has two columns named \"a\"", class = "warpbayes_error_input"
  )
  expect_identical(as_marker_matrix(x, "b")$markers, "b")
})

test_that("the samples of a flowSet are those of the fit", {
  define_cytometry_classes(globalenv())
  values <- unname(cells(20))
  frames <- list2env(list(
    after = flow_frame(values[1:5, ]), before = flow_frame(values[6:20, ]), none = flow_frame(values[0, ])
  ))
  set <- function(samples) {
    new("flowSet", frames = frames,
      phenoData = new("annotation", data = data.frame(name = samples, row.names = samples))
    )
  }
  fit <- dp_mixture(set(c("before", "after")), components = 2, iter = 2, markers = c("CD4", "CD8"), threads = 2)
  expect_identical(fit$samples, c("before", "after"))
  expect_identical(fit$sample, rep(1:2, c(15, 5)))
  expect_null(dp_mixture(set(c("before", "after")), components = 2, iter = 2, sample = FALSE, threads = 2)$samples)
  both <- list(a = flow_frame(values), b = flow_frame(values)@exprs)
  expect_identical(dp_mixture(both, components = 2, iter = 2, markers = 1:2, threads = 2)$samples, c("a", "b"))
  expect_error(dp_mixture(set(c("before", "none")), iter = 2),
    "no cells in sample \"none\"", class = "warpbayes_error_input"
  )
})
