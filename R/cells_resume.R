# What a checkpoint of a mixture leaves out, and how resume() finds it again.

# The markers that the user chose. A continued fit knows only their names.
mixture_with_data <- function(saved, x, envir) {
  fit <- saved$fit
  markers <- if ("markers" %in% names(saved$given)) {
    saved$given$markers
  } else if (!is.matrix(x) || !is.null(colnames(x))) {
    fit$markers
  }
  if (is_reader(x)) {
    fit$reader <- reader_again(x, fit, saved$given$markers)
    fit$rows <- x$rows
    return(fit)
  }
  given <- read_samples(x, saved$given$sample, markers, assay = fit$assay)
  data <- as_marker_matrix(given$x, given$markers, or_else(fit$transform, "none"), missing = fit$missing,
    assay = given$assay)
  # If the data do not tell the samples, the checkpoint's samples stay.
  sample <- check_samples(given$sample, nrow(data$x), rownames(data$x))
  if (!is.null(sample)) fit$sample <- as.integer(sample)
  fit$x <- data$x
  fit$rows <- nrow(data$x)
  fit$markers <- data$markers
  fit
}

mixture_fingerprint <- function(fit) {
  read <- !is.null(fit$reader)
  samples <- !read && !is.null(fit$samples)
  cells <- if (read) fit$reader$some else fit$x
  values <- paste(if (read) "values that workers read in column" else "values in column", dQuote(fit$markers, FALSE))
  fingerprint_of(c(rows = fit$rows), c(values, if (samples) "samples of the cells"),
    c(digest_numbers(cells, nrow(cells)), if (samples) digest_numbers(fit$sample)))
}

mixture_fields <- function() c(
  components = "whole 1..1e5", keep = "text[*]", method = "text", missing = "text", moves = "flag", precision = "text",
  assay = "value", devices = "whole[*]?", chain_fields, start_sweeps = "whole?", tolerance = "number?",
  estimate = "text?", markers = "text[*]", rows = "whole 1..2^53", samples = "text[*]?",
  sample = "whole[rows]? 1..samples", center = "finite[markers]", scale = "finite[markers]", transform = "list?",
  `transform$type` = "text[*]", `transform$cofactor` = "number[markers]", `transform$logicle` = "number[markers, 4]?",
  piled = "table", probe = "finite[*, markers]", prior = "list", `prior$mean` = "finite[markers]",
  `prior$mean_scale` = "finite", `prior$df` = "finite", `prior$scale` = "finite[markers, markers]",
  `prior$concentration` = "finite[2]", `prior$sample_concentration` = "finite[2]?", `prior$floor` = "finite[markers]",
  `prior$learn` = "text[*]", `prior$df_grid` = "finite[*]", `prior$given` = "text[*]",
  `prior$markers` = "text[markers]", `prior$center` = "finite[markers]", `prior$unit` = "finite[markers]"
)

mixture_state <- function() c(
  state_fields, merge = "number?", search = "finite[3]?",
  statistics = "finite[components * (1 + markers + markers * (markers + 1) / 2)]", concentration = "finite",
  prior = "finite[2 + markers + markers * (markers + 1) / 2]", sizes = "finite[components]?", pooled = "finite?",
  sample_sizes = "finite[components * samples]?", log_share = "number[components]?", sample_concentration = "finite?",
  # Of Bayesian EM.
  log_posterior = "number?", stopped = "flag?", steps = "whole?", last = "number[*]?", mode = "list?",
  `mode$weights` = "finite[components]", `mode$means` = "finite[components, markers]",
  `mode$covariances` = "finite[markers, markers, components]"
)

resumable.dp_mixture <- function(x) {
  list(sampler = function(fit) method_of(fit)$sampler(fit),
    without_data = function(fit) replace(fit, intersect(c("x", "reader"), names(fit)), list(NULL)),
    with_data = mixture_with_data, fingerprint = mixture_fingerprint, fields = mixture_fields(),
    state = mixture_state(), given = c(`given$markers` = "value", `given$sample` = "value"))
}
