# A new fit before its first sweep: the method, the checked settings, and the object.

# What each method does in its own way: schedule() checks the numbers of sweeps or steps, start() sets the states of the
# chains, and `sampler` is what R/run_chains.R runs.
mixture_method <- function(name) {
  c(list(name = name), switch(name,
    gibbs = list(schedule = gibbs_schedule, start = start_gibbs, sampler = mixture_sampler),
    bem = list(schedule = bem_schedule, start = start_bem, sampler = bem_sampler)
  ))
}

gibbs_schedule <- function(iter, warmup, thin, ...) {
  warmup <- check_warmup(if (is.null(warmup)) floor(iter / 2) else warmup, iter)
  list(warmup = warmup, thin = check_thin(thin, iter, warmup))
}

# `settings`: the arguments that are elements of the fit. `schedule`: from method$schedule(). `cells`: from
# read_mixture_cells().
new_mixture <- function(settings, schedule, cells, run) {
  fit <- c(
    list(draws = NULL), settings, list(iter = 0), schedule, list(backend = run_backend(run), threads = run$threads),
    cells[c("markers", "rows")], list(
      samples = levels(cells$sample), sample = if (!is.null(cells$sample)) as.integer(cells$sample),
      center = unname(cells$mean), scale = unname(cells$unit), transform = cells$transform, piled = cells$piled,
      x = if (is.null(cells$reader)) cells$x, probe = cells$probe,
      elapsed = c(start = 0, sweeps = 0), interrupted = FALSE
    )
  )
  fit$reader <- cells$reader
  structure(fit, class = c("dp_mixture", "warpbayes_fit", "warpbayes"))
}

# Arguments ------------------------------------------------------------------------

# Arguments that have no meaning for the other method, or without a transformation. `given`: the names of all arguments
# in the call.
check_given <- function(given, method, transform) {
  if ("cofactor" %in% given && !"arcsinh" %in% if (is.character(transform)) transform) {
    stop_input("cofactor", "is given, but no marker has transform = \"arcsinh\", which fits asinh(x / cofactor)")
  }
  if (method == "bem") {
    wrong <- intersect(c("thin", "keep"), given)
    reason <- "method = \"bem\" has one result per start, the weights, means and covariances of the last step"
  } else {
    wrong <- intersect(c("tolerance", "estimate"), given)
    reason <- "only method = \"bem\" has it"
  }
  if (length(wrong)) stop_input(wrong[[1L]], "is given, but ", reason)
}

check_keep <- function(keep) {
  choices <- c("weights", "means", "covariances", "labels")
  if (!is.character(keep) || !length(keep) || !all(keep %in% choices)) {
    wrong <- if (is.character(keep) && length(keep)) dQuote(setdiff(keep, choices)[[1L]], FALSE) else show_value(keep)
    stop_input("keep", "must be some of ", list_some(choices), ", not ", wrong)
  }
  choices[choices %in% keep]
}

check_init <- function(init, rows, components) {
  if (is.null(init) || inherits(init, "dp_mixture")) return(init)
  if (!is.numeric(init) && !(is.logical(init) && all(is.na(init))) || is.factor(init) || length(init) != rows) {
    stop_input("init", sprintf(
      "must be NULL, a fit from dp_mixture(), or one component for each of the %s rows, not ", format(rows)
    ), show_value(init))
  }
  outside <- which(!is.na(init) & (init < 1 | init > components | init != floor(init)))
  if (length(outside)) {
    stop_input("init", sprintf(
      "has the component %s at row %d; components are 1 to %s",
      format(init[[outside[[1L]]]]), outside[[1L]], format(components)
    ))
  }
  as.integer(init)
}
