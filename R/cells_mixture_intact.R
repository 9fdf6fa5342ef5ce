# Whether the parts of a fitted mixture are as dp_mixture() made them.

check_intact.dp_mixture <- function(x, argument) check_mixture_fit(x, argument)

check_mixture_fit <- function(fit, argument = "fit") {
  check_fit_class(fit, argument, "dp_mixture", "dp_mixture()")
  check <- part_checks(fit, argument)
  # Fits of the first version have no method.
  if (!is.null(fit$method)) check$choice("method", c("gibbs", "bem"))
  check$names("markers")
  check$count("components", 1)
  check_chain_parts(fit, check)
  for (part in c("prior", "transform")) check$list(part)
  if (!is.null(fit$piled) && !is.data.frame(fit$piled)) stop_changed(argument, "piled", "a table", fit$piled)
  k <- fit$components
  p <- length(fit$markers)
  check$numbers("center", p)
  check$numbers("scale", p)
  check$array("sizes", c(k, fit$chains))
  if (!is.null(fit$x)) check$array("x", c(fit$rows, p))
  if (is_bem(fit)) check$numbers("steps", fit$chains)
  check$stored(mixture_plan(fit), if (is_bem(fit)) min(1, fit$iter) else kept_draws(fit$iter, fit))
  if (!is.null(fit$samples) || !is.null(fit$sample)) {
    check$names("samples")
    if (!are_samples(fit$sample, fit)) {
      stop_input(argument, "has been changed since it was made: its `sample` is not the sample of each cell")
    }
  }
}

# Whether `sample` has the number of a sample for each cell. Methods ask this of millions of cells, and match() would
# take most of their time.
are_samples <- function(sample, fit) {
  is.integer(sample) && length(sample) == fit$rows && isTRUE(all(range(sample) %in% seq_along(fit$samples)))
}
