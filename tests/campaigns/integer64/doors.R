# Gives numbers of class integer64, which package bit64 and data.table::fread() make, to each argument of each export
# and method in turn. A call must give the value that it gives with the same whole numbers as doubles, or refuse
# integer64 by name. Read as their bits, they would be other numbers.
#
#   R_LIBS=LIBRARY Rscript tests/campaigns/integer64/doors.R     in the root of the tree
source("tests/campaigns/audit/fixtures.R")
source("tests/testthat/helper-integer64.R") # int64()
invisible(list2env(fixtures(), globalenv()))
pdf(NULL)
quiet <- file("/dev/null", "w")
sink(quiet)

# The value with whole numbers, as doubles (`by` is identity) or as integer64; NULL if it has no numbers.
whole <- function(value, by) {
  # A result of the package whose columns were changed is not data.
  if (inherits(value, "warpbayes")) return(NULL)
  if (is.data.frame(value)) {
    numbers <- vapply(value, function(column) is.numeric(column) && is.null(dim(column)), NA)
    if (!any(numbers)) return(NULL)
    value[numbers] <- lapply(value[numbers], function(column) by(round(as.double(column))))
    return(value)
  }
  if (!is.numeric(value) || is.object(value) || !length(value)) return(NULL)
  storage.mode(value) <- "double"
  value <- round(value)
  if (!all(is.finite(value) | is.na(value)) || anyNA(value) && any(is.nan(value))) NULL else by(value)
}
attempt <- function(call) {
  set.seed(1)
  value <- tryCatch(suppressMessages(suppressWarnings(eval(call, new.env(parent = globalenv())))), error = identity)
  # Without what differs from run to run.
  if (is.list(value)) value[intersect(names(value), c("elapsed", "call"))] <- NULL
  value
}
same <- function(x, y) identical(x, y, ignore.environment = TRUE, ignore.bytecode = TRUE)

doors <- reads <- refusals <- 0
wrong <- character()
for (call in read_calls(paste0(pmf_calls, fit_calls))$call) {
  if (!is.call(call) || is.name(call[[1L]]) && as.character(call[[1L]]) %in% c("{", "[", "<-")) next
  for (i in seq_along(call)[-1L]) {
    value <- tryCatch(eval(call[[i]], new.env(parent = globalenv())), error = function(error) NULL)
    doubles <- whole(value, identity)
    if (is.null(doubles)) next
    given <- function(numbers) {
      call[[i]] <- numbers
      attempt(call)
    }
    expected <- given(doubles)
    # Calls that differ from themselves cannot be compared.
    if (!inherits(expected, "error") && !same(expected, given(doubles))) next
    doors <- doors + 1
    found <- given(whole(value, int64))
    # Tables give the user's own columns back.
    if (is.data.frame(found)) found <- warpbayes:::given_data(found, "x")
    problem <- if (inherits(found, "error")) {
      if (!inherits(found, "warpbayes_error")) {
        paste("an error of R:", conditionMessage(found))
      } else if (!inherits(expected, "error") && !grepl("integer64", conditionMessage(found))) {
        paste("a refusal that does not name the class:", conditionMessage(found))
      }
    } else if (inherits(expected, "error")) {
      paste("a value, where doubles give the error:", conditionMessage(expected))
    } else if (!same(expected, found)) {
      "another value"
    }
    if (inherits(found, "error")) refusals <- refusals + 1 else reads <- reads + 1
    if (length(problem)) {
      name <- names(call)[i]
      wrong <- c(wrong, sprintf("%s, argument %s: %s", deparse1(call[[1L]]),
        if (length(name) && nzchar(name)) name else i - 1L, problem))
    }
  }
}
sink()
cat(substr(unique(wrong), 1L, 250L), sep = "\n")
cat(sprintf("%d doors: %d read integer64 as numbers, %d refused\n", doors, reads, refusals))
cat(sprintf("%d passed, %d failed\n", doors - length(wrong), length(wrong)))
quit(status = as.integer(length(wrong) > 0L))
