# Raises the errors of warpbayes, of class `warpbayes_error` and a subclass such as `warpbayes_error_input`.

# In the order of wb_status in src/backend/types.h, from 1.
status_class <- c("input", "device", "memory", "backend")

stop_warpbayes <- function(kind, message, ...) {
  # A part of the message that has no element or several must not empty or repeat it.
  if (length(message) != 1L) message <- if (length(message)) message[[1L]] else "a value has a length that is not 1"
  # Names in the data may be very long. The end of a message often says what to do.
  size <- nchar(message, allowNA = TRUE)
  if (!is.na(size) && size > 2000L) {
    message <- paste0(substr(message, 1L, 1000L), " [...] ", substr(message, size - 499L, size))
  }
  stop(structure(class = c(paste0("warpbayes_error_", kind), "warpbayes_error", "error", "condition"),
    list(message = message, call = user_call(), ...)))
}

# The error about an argument. The sentence ends with the message of `because`, an error of R's own.
stop_input <- function(argument, ..., because = NULL) {
  kind <- "input"
  if (!is.null(because)) {
    pass_on(because)
    if (is_out_of_memory(because)) kind <- "memory"
  }
  stop_warpbayes(kind, paste0("`", argument, "` ", ..., if (!is.null(because)) short_message(because)),
    argument = argument)
}

tell <- function(kind, ...) {
  text <- paste0(...)
  message(structure(class = c(paste0("warpbayes_", kind), "message", "condition"), list(message = paste0(text, "\n"),
    call = NULL)))
}

short_message <- function(error) shorten(paste(conditionMessage(error), collapse = " "), 400L)

# Raises errors again that are about the session, not about what was evaluated: a time limit, and too deep calls.
pass_on <- function(error) if (is_time_limit(error) || is_too_deep(error)) stop(error)

# The call of this package that the user's code made, also through functions such as lapply(). An error in
# pmf(rcategorical(y)) about `y` names rcategorical(y).
user_call <- function() {
  own <- topenv()
  calls <- sys.calls()
  parents <- sys.parents()
  # eval() has two frames with the same call. What it evaluates has another frame as its parent, in update() the user's.
  is_eval <- function(at) at > 1L && is.primitive(sys.function(at)) && identical(calls[[at]], calls[[at - 1L]])
  at <- entry <- outermost <- sys.nframe()
  evaluated <- FALSE
  repeat {
    caller <- if (is_eval(at - 1L)) at - 1L else parents[[at]]
    # Where R itself prints a value, print(x) is its own parent.
    if (caller == 0L || caller == at) break
    at <- caller
    code <- sys.function(at)
    home <- if (is.primitive(code)) .BaseNamespaceEnv else topenv(environment(code))
    if (!isNamespace(home)) break
    is_own <- identical(home, own)
    if (is_own) entry <- at
    # Scripts and tests are evaluated by functions that the user did not call.
    evaluated <- !is_own && (evaluated || is.primitive(code))
    if (!evaluated) outermost <- at
  }
  call <- calls[[entry]]
  # The call of a method has the name of the method.
  generic <- get0(".Generic", sys.frame(entry), mode = "character", inherits = FALSE)
  if (!is.null(generic)) call[[1L]] <- as.name(generic)
  # do.call(rcategorical, arguments) calls a function without a name.
  if (is.function(call[[1L]])) call <- calls[[max(1L, entry - 1L)]]
  # Functions of other packages call this one by names that the user did not write, as lapply(x, rcategorical).
  if (entry != outermost && !deparse1(call[[1L]]) %in% getNamespaceExports(own)) call <- calls[[outermost]]
  # R calls methods of min() and round() with values, and so does do.call().
  for (i in seq_along(call)[-1L]) {
    if (is.list(call[[i]]) || is.atomic(call[[i]]) && length(call[[i]]) > 20L) call[[i]] <- quote(...)
  }
  call
}

# Entries of the compiled code return failures as objects. R CMD check looks up what .Call() names, hence the dots.
native <- function(...) {
  result <- .Call(...)
  if (is_failure(result)) stop_failure(result)
  result
}

# The slice of one chain, by an entry for several chains.
native_one <- function(entry, ...) native(entry, list(list(...)))[[1L]]

is_failure <- function(result) inherits(result, "warpbayes_failure")

device_failure <- new.env(parent = emptyenv())

stop_failure <- function(failure) {
  # The entry found an interrupt or a time limit between slices of its work.
  if (failure$status == 5L) {
    # Goes where R wanted to go: to a handler of the interrupt, or of the error that a time limit is.
    .Call(C_interrupts_resume)
    stop_interrupted()
  }
  kind <- status_class[[failure$status]]
  if (kind == "device") device_failure$tell()
  stop_warpbayes(kind, failure$message)
}

stop_interrupted <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  invokeRestart("abort")
}

is_too_deep <- function(error) {
  inherits(error, "stackOverflowError") || identical(conditionMessage(error),
    gettext("evaluation nested too deeply: infinite recursion / options(expressions=)?", domain = "R"))
}

# R's error has no class, and its message has numbers.
is_out_of_memory <- function(error) {
  messages <- c("cannot allocate vector of size %0.1f Gb", "cannot allocate memory block of size %0.1f Gb",
    "vector memory exhausted (limit reached?)", "vector memory limit of %0.1f Gb reached, see mem.maxVSize()",
    "cell memory exhausted (limit reached?)")
  any(startsWith(conditionMessage(error), sub("%.*", "", gettext(messages, domain = "R"))))
}

# R's error of a time limit has no class of its own, only a message.
is_time_limit <- function(error) {
  limits <- c("reached elapsed time limit", "reached CPU time limit", "reached session elapsed time limit",
    "reached session CPU time limit")
  any(conditionMessage(error) %in% gettext(limits, domain = "R"))
}
