# How messages reach the workers of a cluster and come back. An interrupt while R's sockets send or receive loses half a
# message, even where R code suspends interrupts. So this process waits with socketSelect(), which interrupts do not
# harm, and compiled code holds them back during messages.

# Calls fun(each[[i]], number) on worker i of the cluster, and returns the values. The caller has suspended interrupts:
# an interrupt that comes meanwhile comes again afterwards. A second interrupt, any on Windows, and one within a message
# that could not be held back are signalled at once.
exchange_messages <- function(cluster, fun, each, number, timeout) {
  sockets <- sockets_of(cluster)
  if (length(sockets) < length(cluster)) {
    return(within_timeout(cluster, timeout, parallel::clusterApply(cluster, each, fun, number)))
  }
  interrupted <- FALSE
  on.exit(if (interrupted) .Call(C_interrupts_release, FALSE, TRUE))
  # Windows has no signal that would come again.
  note <- function(condition) {
    again <- interrupted || .Platform$OS.type == "windows"
    interrupted <<- !again
    if (again) signalCondition(condition)
    NULL
  }
  undisturbed <- function(code) {
    held <- .Call(C_interrupts_hold)
    on.exit(.Call(C_interrupts_release, held, FALSE))
    # One that R has noted but not heeded would be heeded within the message.
    tryCatch(allowInterrupts(Sys.sleep(0)), interrupt = note)
    code
  }
  replies <- vector("list", length(cluster))
  within_timeout(cluster, timeout, {
    undisturbed(for (i in seq_along(cluster)) {
      # As a worker of package parallel expects a call. Nodes of class SOCK0node read the byte order of their machine.
      data <- list(fun = fun, args = list(each[[i]], number), return = TRUE, tag = NULL)
      is_own_order <- inherits(cluster[[i]], "SOCK0node")
      serialize(list(type = "EXEC", data = data, tag = NULL), sockets[[i]], xdr = !is_own_order)
    })
    waiting <- seq_along(cluster)
    silent <- 0
    while (length(waiting)) {
      ready <- tryCatch(socketSelect(sockets[waiting], timeout = 1), interrupt = note)
      if (is.null(ready)) next
      silent <- if (any(ready)) 0 else silent + 1
      if (silent >= timeout) stop("nothing came", call. = FALSE)
      if (silent > 0) {
        # socketSelect() does not look at R's time limits. R looks at them in every sixth of these calls.
        tryCatch(allowInterrupts(for (i in 1:6) Sys.sleep(0)), interrupt = note)
        next
      }
      undisturbed(for (i in waiting[ready]) replies[i] <- list(unserialize(sockets[[i]])$value))
      waiting <- waiting[!ready]
    }
  })
  failed <- Filter(function(reply) inherits(reply, "try-error"), replies)
  if (length(failed)) stop("one node produced an error: ", failed[[1L]], call. = FALSE)
  replies
}

sockets_of <- function(cluster) {
  nodes <- Filter(function(node) inherits(node, c("SOCKnode", "SOCK0node")), unclass(cluster))
  sockets <- lapply(nodes, function(node) node$con)
  Filter(function(socket) inherits(socket, "sockconn"), sockets)
}

# Evaluates `code` while a message that stops for `timeout` seconds fails.
within_timeout <- function(cluster, timeout, code) {
  sockets <- sockets_of(cluster)
  set <- function(socket, seconds) tryCatch(socketTimeout(socket, seconds), error = function(error) NULL)
  before <- lapply(sockets, set, as.integer(timeout))
  on.exit(for (i in seq_along(sockets)) if (!is.null(before[[i]])) set(sockets[[i]], before[[i]]))
  code
}
