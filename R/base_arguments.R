# Checks of arguments: each returns the value as the compiled code reads it, or raises an error.

show_value <- function(value) {
  if (is.null(value)) return("NULL")
  if (is.atomic(value) && length(value) == 1L && is.null(attributes(value))) {
    return(if (is.character(value) && !is.na(value)) dQuote(shorten(value), FALSE) else exact_words(value))
  }
  dims <- dim(value)
  what <- class(value)[[1L]]
  shown <- if (!is.null(dims)) {
    sprintf("a %s %s", paste(dims, collapse = " x "), what)
  } else {
    sprintf("%s %s of length %d", if (grepl("^([aeio]|u[^n])", what)) "an" else "a", what, length(value))
  }
  if (what != "integer64") return(shown)
  paste0(shown, " (convert it with as.numeric(), or identifiers with as.character())")
}

# A number with as many digits as tell it from its neighbours.
exact_words <- function(value) {
  text <- format(value, digits = 15)
  if (is.double(value) && !is.object(value) && !anyNA(value) && !identical(as.double(text), as.double(value))) {
    text <- format(value, digits = 17)
  }
  text
}

shorten <- function(text, most = 60L) {
  if (nchar(text, allowNA = TRUE) %in% 0:most) return(text)
  paste0(substr(if (validUTF8(text)) text else encodeString(text), 1L, most - 3L), "...")
}

# Stops unless `right`. The error says what the argument must be, and shows its `value`.
must_be <- function(right, argument, words, value, ...) {
  if (!isTRUE(right)) stop_input(argument, "must be ", words, ", not ", show_value(value), ...)
}

is_one_number <- function(value) is.numeric(value) && length(value) == 1L && !is.na(value)

is_flag <- function(value) is.logical(value) && length(value) == 1L && !is.na(value)

check_dots_empty <- function(...) if (...length() > 0L) refuse_dots(...names(), parent.frame())

refuse_dots <- function(names, frame) {
  name <- c(names, "")[[1L]]
  if (is.na(name)) name <- ""
  advice <- advised_argument(name, frame)
  shown <- if (nzchar(name)) paste0("`", name, "`") else "an unnamed argument"
  advice <- if (is.null(advice)) "; is it misspelt?" else sprintf(": did you mean `%s`?", advice)
  stop_warpbayes("input", paste0("unused argument: ", shown, " is not known here", advice), argument = shown)
}

# Arguments by the names that other packages give them. Several names of this package: the first that the function has.
other_names <- list(
  iter = c("niter", "n_iter", "n.iter", "num_iter", "iterations", "nsamples"),
  warmup = c("burnin", "burn", "burn_in", "n_burnin", "n.burnin", "nburn"),
  chains = c("nchains", "n_chains", "n.chains", "nchain"), thin = c("nthin", "n_thin", "n.thin", "thinning"),
  threads = c("cores", "ncores", "n_cores", "nthreads", "n_threads", "num_threads", "mc.cores", "workers"),
  components = c("k", "K", "G", "ncomp", "n_components", "clusters"), topics = c("k", "K", "n_topics", "num_topics"),
  seed = c("random_state", "random_seed"), progress = c("verbose", "refresh"), start = c("init", "inits"),
  backend = c("device", "gpu"), ndraws = c("draws", "n_draws"), level = c("prob", "conf.level", "conf_level", "ci")
)

advised_argument <- function(name, frame) {
  at <- Position(function(one) identical(one, frame), sys.frames())
  if (is.na(at) || !nzchar(name)) return(NULL)
  own <- formals(sys.function(at))
  meant <- c(name, names(Filter(function(others) name %in% others, other_names)))
  found <- intersect(meant, setdiff(names(own), "..."))
  if (length(found)) return(found[[1L]])
  if (!is.call(own$control)) return(NULL)
  found <- intersect(meant, names(formals(get(as.character(own$control[[1L]]), topenv()))))
  if (length(found)) sprintf("control = %s(%s = )", as.character(own$control[[1L]]), found[[1L]])
}

check_present <- function(given, argument) if (!given) stop_input(argument, "is missing")

require_arguments <- function(...) {
  frame <- parent.frame()
  for (argument in c(...)) check_present(!eval(call("missing", as.name(argument)), frame), argument)
}

has_foreign_method <- function(generic, package, object) {
  isNamespaceLoaded(package) && any(vapply(class(object), function(class) {
    !is.null(utils::getS3method(generic, class, optional = TRUE, envir = asNamespace(package)))
  }, NA))
}

check_count <- function(value, argument, min = 1, max = .Machine$integer.max) {
  check_present(!missing(value), argument)
  number <- function(x) format(x, digits = 17, scientific = FALSE)
  must_be(is_one_number(value) && value == floor(value) && value >= min && value <= max, argument,
    sprintf("one whole number from %s to %s", number(min), number(max)), value)
  as.double(value)
}

check_ndraws <- function(ndraws) if (!is.null(ndraws)) check_count(ndraws, "ndraws")

check_number <- function(value, argument, min = -Inf, max = Inf, open = TRUE) {
  check_present(!missing(value), argument)
  inside <- is_one_number(value) && is.finite(value) &&
    (if (open) value > min && value < max else value >= min && value <= max)
  must_be(inside, argument, if (is.infinite(max)) {
    paste(c("one finite number", if (is.finite(min)) c(if (open) "above" else "of at least", format(min))),
      collapse = " ")
  } else {
    sprintf("one number %s %s and %s", if (open) "strictly between" else "between", format(min), format(max))
  }, value)
  as.double(value)
}

interval_ends <- function(level) c((1 - level) / 2, (1 + level) / 2)

check_flag <- function(value, argument) {
  must_be(is_flag(value), argument, "TRUE or FALSE", value)
  value
}

check_some <- function(value, argument, choices, fewest = 0L) {
  if (!is.character(value) || length(value) < fewest || !all(value %in% choices)) {
    stop_input(argument, "must be some of ", list_some(choices), ", not ",
      if (is.character(value) && length(value)) dQuote(setdiff(value, choices)[[1L]], FALSE) else show_value(value))
  }
  choices[choices %in% value]
}

# One of `choices`, written in full. The vector of all choices, as in the default of an argument, means the first.
check_choice <- function(value, argument, choices) {
  check_option_choice(if (identical(value, choices)) choices[[1L]] else value, argument, choices)
}

check_option_choice <- function(value, argument, choices) {
  must_be(is_text(value, 1L) && value %in% choices, argument,
    paste("one of", paste(dQuote(choices, FALSE), collapse = ", ")), value)
  value
}

# An argument or, if it is NULL, the option of its name: the `value`, and the `name` in messages.
argument_or_option <- function(value, name, default = NULL) {
  if (!is.null(value)) return(list(value = value, name = name))
  option <- paste0("warpbayes.", name)
  list(value = getOption(option, default), name = sprintf("options(%s)", option))
}

check_precision <- function(value) check_choice(value, "precision", c("double", "single"))

check_values <- function(x, argument) {
  check_present(!missing(x), argument)
  x <- given_data(x, argument)
  must_be(is.numeric(x) || is.logical(x) && all(is.na(x)), argument, "a numeric vector", x)
  as.double(x)
}

check_probabilities <- function(p, argument, log) {
  p <- check_values(p, argument)
  outside <- if (log) which(p > 0) else which(p < 0 | p > 1)
  if (length(outside) > 0L) {
    stop_input(argument, "has the entry ", exact_words(p[[outside[[1L]]]]), ": ",
      if (log) "logarithms of probabilities are at most 0" else "probabilities lie between 0 and 1")
  }
  p
}

is_text <- function(value, length = base::length(value)) {
  is.character(value) && base::length(value) == length && !anyNA(value)
}
