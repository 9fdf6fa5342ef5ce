# Runs chains of small data at the same time, each on its share of the threads, if a trial shows that it is faster.

# A sweep that takes longer, in seconds, uses all threads or the card well.
short_sweep <- c(cpu = 0.05, cuda = 0.002)

trial <- 0.05

# The ways to run the chains of a fit. A way is a list of `sessions`, and of `chains`: a list of the numbers of the
# chains that run at the same time. alone$sessions is one session with all threads.
#   next_way()          the way of the next slice, with its `most` seconds;
#   note(way, seconds)  a slice took so many seconds for each sweep of all chains;
#   close()             frees all sessions.
chain_ways <- function(plan, run, chains) {
  open <- list(plan$open(run))
  close <- function() for (session in open) plan$close(session)
  alone <- list(name = "alone", sessions = open, chains = as.list(seq_len(chains)), most = 0.2)
  # In as few rounds as the threads allow, which are as even as can be.
  at_once <- ceiling(chains / ceiling(chains / min(chains, run$threads)))
  if (at_once < 2 || !isTRUE(plan$together) || !is.null(run$cluster)) {
    return(list(next_way = function() alone, note = function(way, seconds) NULL, close = close))
  }
  side <- NULL
  seen <- c(alone = Inf, side = Inf)
  # Each way is timed after a slice that is not, whose number of sweeps is a guess and whose memory and kernels are new.
  to_try <- c("alone", "alone", "side", "side")
  open_side <- function() {
    each <- replace(run, "threads", as.integer(run$threads %/% at_once))
    short <- tryCatch(for (i in seq_len(at_once)) open[[i + 1L]] <<- plan$open(each), warpbayes_error_memory = identity)
    if (!is.null(short)) {
      for (session in open[-1L]) plan$close(session)
      open <<- open[1L]
      return(NULL)
    }
    rounds <- split(seq_len(chains), (seq_len(chains) - 1L) %/% at_once)
    list(name = "side", sessions = open[-1L], chains = unname(rounds), most = 0.2)
  }
  list(
    next_way = function() {
      best <- if (length(to_try)) to_try[[1L]] else names(which.min(seen))
      if (best == "side" && is.null(side) && is.null(side <<- open_side())) {
        to_try <<- character()
        best <- "alone"
      }
      way <- if (best == "side") side else alone
      if (length(to_try)) way$most <- trial / length(way$chains)
      way
    },
    note = function(way, seconds) {
      if (!length(to_try)) return(NULL)
      timed <- way$name == "alone" && to_try[[2L]] == "side"
      to_try <<- if (timed && seconds > short_sweep[[run$backend]] * chains) character() else to_try[-1L]
      seen[[way$name]] <<- seconds
    },
    close = close
  )
}
