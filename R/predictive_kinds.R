# One record for each kind of predictive model, made in predictive_model_*.R: other code asks it, and tests no kind.
# Of the model alone it has
#   words(model)                      a line that describes it
#   cost(model, y, draws, steps)      for the choice of the backend
#   limit                             "always" if only the limit is drawn, "may" if it can be, "never"
#   name                              what messages call a model with a limit
#   has_prior                         whether a prior, or parameters in place of one, are in its words
#   arguments                         with which a function as `functional` is called by name
#   leading                           1 if the data come before these, otherwise 0
# and of a fit
#   start(fit, y, run)                the fit before the first step
#   advance(fit, steps, run, progress)    the fit after more steps
#   quantities(fit, run, progress)    `draws`, and other parts of the fit that come with them
#   left(fit)                         a function of horizons: the share of the variance that each leaves out
#   remaining(fit)                    this share as the resamples show it, if they do
#   simulate(fit, r)                  new observations from resample r
#   types                             what predict() gives, the default first; NULL if nothing
#   predict(fit, newdata, type, level, run)
#   picture(fit, level, paths, main)  NULL for histograms
#   reasons                           functions that give reasons of the verdict on a fit, or NULL
# Copulas have more: R/predictive_copula.R says what.
kind_records <- new.env(parent = emptyenv())

# `make`: a function that gives the record, since files are loaded one after the other.
add_kind <- function(kind, make) assign(kind, make, kind_records)

record <- function(x) {
  found <- kind_records[[x$kind]]
  if (is.function(found)) add_kind(x$kind, found <- found())
  found
}

new_predictive_model <- function(kind, ...) {
  structure(list(kind = kind, ...), class = c(kind, "predictive_model", "warpbayes"))
}

check_model <- function(model) {
  known <- inherits(model, "predictive_model") && is.list(model) && is_text(model$kind, 1L) &&
    exists(model$kind, kind_records)
  must_be(known, "model", paste0("one of normal_mean(), copula_density(), copula_regression(), ",
    "copula_classification(), bayesian_bootstrap(), pitman_yor(), gnedin()"), model)
}

in_console.predictive_model <- function(x, ...) {
  check_model(x)
  cat("<predictive model> ", record(x)$words(x), "\n", sep = "")
}

# Compiled code trusts these sizes and values, so methods refuse a fit with other ones.
sized_parts <- c("n", "count", "data", "at", "points", "order", "bandwidth", "state", "start", "normal_score", "inner",
  "calibration", "scale", "atoms", "response_at", "inner_at", "trend", "axes", "bend", "standard", "standard_x",
  "frame", "trajectories", "times", "cdf", "density", "probability")
valued_parts <- c("n", "count", "horizon", "every", "kind")

sizes_of_parts <- function(fit) {
  size_of <- function(part) if (is.list(part)) lapply(part, size_of) else list(typeof(part), length(part), dim(part))
  fit <- unclass(fit)
  list(size_of(fit[sized_parts]), fit[valued_parts], fit$data$binary, if (length(fit$order)) range(fit$order))
}

check_intact.martingale_posterior <- function(x, argument) {
  check_fit_class(x, argument, "martingale_posterior", "predictive_resample()")
  if (!identical(x$sizes, tryCatch(sizes_of_parts(x), error = pass_on)) || !is.numeric(x$draws) ||
    length(dim(x$draws)) != 2L) {
    stop_input(argument, "has been changed since it was made: its parts do not agree in size or type")
  }
}

# The fit with these parts, given by name or in a list.
with_parts <- function(fit, ..., parts = list(...)) {
  fit[names(parts)] <- parts
  fit
}

# The numbers from 1 to `count` in parts of at most `size`.
parts_of <- function(count, size) unname(split(seq_len(count), (seq_len(count) - 1) %/% max(1, floor(size))))

four_digits <- function(value) format(signif(value, 4))

has_stopped <- function(fit) fit$interrupted || !is.null(fit$failure)

# Calls `work(done, steps)` for slices of `total` steps, at first of `unit`, later of a fifth of a second. An interrupt,
# or a failure of a later slice, keeps what is done. Returns how the loop ended, as parts of the fit.
in_slices <- function(total, unit, progress, work) {
  tick <- progress_signal(total, progress)
  on.exit(tick(NULL))
  done <- 0
  interrupted <- FALSE
  failure <- NULL
  tryCatch(while (done < total) {
    steps <- min(max(1, floor(unit)), total - done)
    started <- proc.time()[[3L]]
    work(done, steps)
    took <- proc.time()[[3L]] - started
    done <- done + steps
    unit <- steps * min(8, 0.2 / max(took, 0.01))
    tick(steps)
  }, interrupt = function(condition) interrupted <<- TRUE, warpbayes_error = function(error) {
    if (done == 0 || inherits(error, "warpbayes_error_input")) stop(error)
    failure <<- conditionMessage(error)
  })
  list(interrupted = interrupted, failure = failure)
}
