# `transform` of a fit is NULL, or a list of `type`, one for all markers or one named for each; `cofactor` of each;
# and `logicle`, a matrix of markers x (t, w, m, a), if a marker is on that scale.

#' Transformations of markers
#'
#' `dp_mixture(x, transform = )` transforms markers before the fit. Fluorescence needs this; scatter (`FSC`, `SSC`)
#' mostly does not.
#'
#' `transform = c(arcsinh = 150)` fits asinh(x / 150) of every marker. Usual cofactors are 150 for fluorescence and 5
#' for mass cytometry; `"arcsinh"` alone means 5. A vector with names transforms these markers only.
#'
#' `"logicle"` fits the logicle scale of Moore and Parks (2012), in decades, as flowCore's `logicleTransform()`. For
#' each marker the top `t` is the top of the instrument's range for a `flowFrame` or `flowSet`, else the largest value;
#' `m` is 4.5 decades, or less where negative values need it; the width `w`, at most 0.8, makes room for their 5% point.
#'
#' Fits are on the transformed scale. `fit$transform` can be the `transform` of another fit. New cells, axes of pictures
#' and [simulate()] are in the data's units. Compensate the data first, as in the example.
#' @references Moore, W. A. and Parks, D. R. (2012). Update for the logicle data scale including operational code
#'   implementations. *Cytometry A* **81**, 273-277.
#' @examples
#' set.seed(1)
#' bright <- ifelse(runif(500) < 0.4, rlnorm(500, 8, 0.4), 0)
#' x <- cbind(FSC.A = rnorm(500, 300, 40), CD3 = 60 * rnorm(500) + bright)
#' scale <- c(CD3 = "logicle")
#' fit <- dp_mixture(x, components = 6, iter = 60, transform = scale, seed = 1, threads = 2)
#' fit$transform
#' \dontrun{
#' # Compensation by flowCore, then the fit.
#' frame <- flowCore::read.FCS("cells.fcs", transformation = FALSE)
#' frame <- flowCore::compensate(frame, flowCore::spillover(frame)$SPILL)
#' fit <- dp_mixture(frame, markers = c("FSC-A", "CD3"), transform = scale)
#' }
#' @name marker_transform
NULL

transform_types <- c("none", "arcsinh", "logicle")

# `cells`: a function of the number of a marker. `tops`: the largest values of the instrument, or NULL.
resolve_transform <- function(transform, markers, cells = NULL, tops = NULL) {
  if (is.list(transform)) return(check_transform(transform, markers))
  made <- transform_of_markers(transform, markers)
  type <- made$type
  if (all(type == "none")) return(NULL)
  if (all(type == "arcsinh")) return(list(type = "arcsinh", cofactor = made$cofactor))
  if (any(type == "logicle")) {
    made$logicle <- matrix(NA_real_, length(markers), 4L, dimnames = list(markers, c("t", "w", "m", "a")))
  }
  for (j in which(type == "logicle")) {
    made$logicle[j, ] <- estimate_logicle(cells(j), markers[[j]], tops[markers[[j]]])
  }
  made
}

# A number is the cofactor of arcsinh, also as text: c() makes text of numbers beside names of transformations.
transform_of_markers <- function(transform, markers) {
  wrong <- function(...) stop_input("transform", ...)
  p <- length(markers)
  choices <- paste("must be one of", paste(dQuote(transform_types, FALSE), collapse = ", "), "or a cofactor of arcsinh")
  if (!is.character(transform) && !is.numeric(transform) || is.factor(transform) || !length(transform)) {
    wrong(choices, ", or one of these for each marker by name, not ", show_value(transform))
  }
  given <- names(transform)
  type <- as.character(transform)
  cofactor <- suppressWarnings(as.double(transform))
  type[!is.na(cofactor)] <- "arcsinh"
  cofactor[type %in% "arcsinh" & is.na(cofactor)] <- 5
  other <- which(!type %in% transform_types)
  if (length(other)) wrong(choices, ", not ", show_value(transform[[other[[1L]]]]))
  unusable <- which(!is.na(cofactor) & !(is.finite(cofactor) & cofactor > 0))
  if (length(unusable)) {
    wrong("has the cofactor ", format(cofactor[[unusable[[1L]]]]), "; a cofactor must be positive and finite")
  }
  if (identical(given, "arcsinh") && is.numeric(transform)) given <- NULL
  if (is.null(given) && !length(type) %in% c(1L, p)) {
    wrong("has length ", length(type), " and no names; ", there_are(markers))
  }
  twice <- anyDuplicated(given)
  if (twice) wrong("names the marker ", dQuote(given[twice], FALSE), " twice")
  unknown <- setdiff(given, markers)
  if (length(unknown)) wrong("has names other than the markers ", list_some(markers), ": ", list_some(unknown))
  at <- if (is.null(given)) rep_len(seq_along(type), p) else match(markers, given)
  type <- ifelse(is.na(at), "none", type[at])
  list(type = stats::setNames(type, markers), cofactor = stats::setNames(cofactor[at], markers))
}

check_transform <- function(transform, markers) {
  wrong <- function(...) stop_input("transform", ...)
  p <- length(markers)
  if (!all(c("type", "cofactor") %in% names(transform)) || !all(transform$type %in% transform_types) ||
      !is.numeric(transform$cofactor) || !length(transform$type) %in% c(1L, p) || length(transform$cofactor) != p) {
    wrong("is a list, but not the `transform` of a fit to ", count_words(p, "marker"))
  }
  if (any(transform$type == "logicle") && !identical(dim(transform$logicle), c(p, 4L))) {
    wrong("is a list, but lacks the parameters of the logicle scale")
  }
  if (!is.null(names(transform$cofactor)) && !identical(names(transform$cofactor), markers)) {
    wrong("is of a fit to other markers, ", list_some(names(transform$cofactor)), ", than ", list_some(markers))
  }
  transform
}

type_of_marker <- function(transform, j) {
  if (is.null(transform)) "none" else if (length(transform$type) == 1L) transform$type else transform$type[[j]]
}

# Cells on the scale of the fit, and back.
transform_columns <- function(x, transform) {
  for (j in if (!is.null(transform)) seq_len(ncol(x))) {
    if (type_of_marker(transform, j) != "none") x[, j] <- transform_values(x[, j], transform, j)
  }
  x
}

transform_values <- function(values, transform, j) {
  switch(type_of_marker(transform, j),
    arcsinh = asinh(values / transform$cofactor[[j]]),
    logicle = logicle(values, logicle_scale(transform$logicle[j, ])),
    values
  )
}

data_values <- function(values, transform, j) {
  switch(type_of_marker(transform, j),
    arcsinh = transform$cofactor[[j]] * sinh(values),
    logicle = inverse_logicle(values, logicle_scale(transform$logicle[j, ])),
    values
  )
}

units_of_scale <- function(values, transform, j) {
  switch(type_of_marker(transform, j),
    arcsinh = sqrt(values^2 + transform$cofactor[[j]]^2),
    logicle = {
      scale <- logicle_scale(transform$logicle[j, ])
      biexponential_slope(scale$x1 + abs(logicle(values, scale) / scale$m - scale$x1), scale) / scale$m
    },
    rep(1, length(values))
  )
}

scale_words <- function(transform) {
  if (is.null(transform)) return("in the data's units")
  types <- unique(transform$type)
  if (length(types) == 1L) sprintf("on the %s scale", types) else "each marker on its own scale"
}

# In decades. Normal noise of twice the standard deviation that sets the width has one peak at 0.8, and two at 1.3.
widest_logicle <- 0.8

estimate_logicle <- function(values, marker, top) {
  values <- values[is.finite(values)]
  known <- length(top) == 1L && is.finite(top) && top > 0
  t <- if (known) as.double(top) else if (length(values)) max(values) else 0
  if (t <= 0) {
    stop_input("transform", "is \"logicle\" for the marker ", dQuote(marker, FALSE), ", which has no positive value")
  }
  m <- 4.5
  w <- 0
  below <- values[values < 0]
  if (length(below)) {
    decades <- log10(t / -stats::quantile(below, 0.05, names = FALSE))
    m <- max(1, min(m, decades + 2 * widest_logicle))
    w <- (m - decades) / 2
  }
  c(t = t, w = min(max(w, 0), m / 2), m = m, a = 0)
}

# Constants of the biexponential function a exp(b y) - c exp(-d y) + f that the logicle scale inverts (Moore and Parks
# 2012, Cytometry A 81, 273-277), with y from 0 to 1; y = x1 stands for zero.
logicle_scale <- function(parameters) {
  p <- as.list(parameters)
  w <- p$w / (p$m + p$a)
  x2 <- p$a / (p$m + p$a)
  x1 <- x2 + w
  x0 <- x2 + 2 * w
  b <- (p$m + p$a) * log(10)
  d <- b
  if (w > 0) {
    condition <- function(d) 2 * (log(d) - log(b)) + w * (b + d)
    d <- stats::uniroot(condition, c(b * exp(-w * b - 1), b), tol = 1e-15 * b, maxiter = 1000)$root
    for (i in 1:3) d <- d - condition(d) / (2 / d + w)
  }
  c_a <- exp(x0 * (b + d))
  f_a <- exp(b * x1) - c_a * exp(-d * x1)
  a <- p$t / (exp(b) - f_a - c_a * exp(-d))
  list(a = a, b = b, c = c_a * a, d = d, f = -f_a * a, x1 = x1, m = p$m)
}

biexponential <- function(y, scale) scale$a * exp(scale$b * y) - scale$c * exp(-scale$d * y) + scale$f

biexponential_slope <- function(y, scale) {
  scale$a * scale$b * exp(scale$b * y) + scale$c * scale$d * exp(-scale$d * y)
}

# The logicle scale in decades, as flowCore's logicleTransform(). Above zero the biexponential function is convex, and
# without its second term it is larger, so Newton's steps from there fall to the solution. Below, it is mirrored.
logicle <- function(x, scale) {
  size <- abs(x)
  y <- log((size - scale$f + scale$c * exp(-scale$d * scale$x1)) / scale$a) / scale$b
  for (i in 1:20) {
    step <- (biexponential(y, scale) - size) / biexponential_slope(y, scale)
    y <- y - step
    if (!any(abs(step) > 1e-9, na.rm = TRUE)) break
  }
  scale$m * (scale$x1 + ifelse(x < 0, -1, 1) * (y - scale$x1))
}

inverse_logicle <- function(y, scale) {
  side <- y / scale$m - scale$x1
  ifelse(side < 0, -1, 1) * biexponential(scale$x1 + abs(side), scale)
}

instrument_tops <- function(x) {
  table <- channel_table(x)
  if (is.null(table$maxRange)) return(NULL)
  tops <- stats::setNames(as.double(table$maxRange), as.character(table$name))
  described <- as.character(table$desc)
  named <- !is.na(described) & !described %in% names(tops) & !duplicated(described)
  c(tops, stats::setNames(tops[named], described[named]))
}
