# Prints each call in R/ that goes up or across between rooms, and each circle of more than `most` files. With
# --counts: one line with the numbers of files and calls, and the sizes of all circles.
#   Rscript tools/r-rooms.R [--counts]
# The first word of a file's name is its room. Each of `low` may call itself and those before it. Each other room is a
# topic, which may call all of `low` and no other topic.
low <- c("base", "run", "data", "show")
topics <- c("cells", "regression", "topics", "sums", "predictive", "polyagamma", "categorical")
most <- 6L

files <- list.files("R", "\\.R$")
room <- structure(sub("[_.].*", "", files), names = files)
for (file in files[!room %in% c(low, topics)]) cat(file, "is in no room\n")

# All top-level names, and the file of each.
value <- file_of <- list()
for (file in files) {
  for (e in as.list(parse(file.path("R", file), keep.source = FALSE))) {
    is_assigned <- is.call(e) && identical(e[[1L]], quote(`<-`)) && is.name(e[[2L]])
    # What runs when the package is loaded belongs to its file.
    name <- if (is_assigned) as.character(e[[2L]]) else paste("top level of", file)
    value[[name]] <- call("{", value[[name]], if (is_assigned) e[[3L]] else e)
    file_of[[name]] <- file
  }
}
calls <- do.call(rbind, lapply(names(value), function(name) {
  wrapped <- eval(call("function", NULL, value[[name]]), globalenv())
  used <- setdiff(intersect(codetools::findGlobals(wrapped), names(value)), name)
  if (length(used)) data.frame(from = name, to = used, file = file_of[[name]], of = unlist(file_of[used]))
}))
calls <- calls[calls$file != calls$of, ]

rank <- function(file) match(room[file], low, nomatch = length(low) + 1L)
is_wrong <- rank(calls$of) > rank(calls$file) |
  rank(calls$file) > length(low) & rank(calls$of) > length(low) & room[calls$of] != room[calls$file]
with(calls[is_wrong, ], cat(sprintf("R/%s: %s calls %s() of R/%s\n", file, from, to, of), sep = ""))

reach <- matrix(FALSE, length(files), length(files), dimnames = list(files, files))
reach[as.matrix(calls[c("file", "of")])] <- TRUE
for (k in files) reach <- reach | outer(reach[, k], reach[k, ], "&")
both <- reach & t(reach)
circles <- unique(lapply(which(rowSums(both) > 1L), function(i) files[both[i, ]]))
for (circle in circles[lengths(circles) > most]) {
  cat(sprintf("%d files call each other in a circle: %s\n", length(circle), toString(circle)))
}
if ("--counts" %in% commandArgs(TRUE)) {
  cat(sprintf("%d files, %d calls between files, %d of them up or across; circles of %s files\n", length(files),
    nrow(calls), sum(is_wrong), toString(sort(lengths(circles), decreasing = TRUE))))
}
