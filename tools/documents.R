# Runs what the documents show, and compares what they quote. From the root of the sources, with the package installed:
#     Rscript tools/documents.R [all]
# README's blocks of R run one after the other. A comment at the end of a line may quote what the line prints: each text
# in double quotes, and each percentage, must stand in it. The blocks of the questions page run too, and with `all` those
# of the other articles. In all documents, a function that is named with parentheses exists, and an argument that is
# given to a function of the package in backticks is one of its own.
library(warpbayes)
arguments <- commandArgs(TRUE)
faults <- character()
fault <- function(...) faults <<- c(faults, paste0(...))
flat <- function(text) gsub("\\s+", " ", paste(text, collapse = " "))

# What a document quotes -------------------------------------------------------------

blocks_of <- function(file) {
  lines <- readLines(file)
  open <- grep("^```r$", lines)
  lapply(open, function(at) lines[seq(at + 1, at + which(lines[-seq_len(at)] == "```")[[1]] - 1)])
}

run_block <- function(file, lines, envir) {
  parsed <- parse(text = lines, keep.source = TRUE)
  where <- vapply(attr(parsed, "srcref"), function(source) source[[3L]], 1L)
  for (i in seq_along(parsed)) {
    printed <- flat(utils::capture.output({
      value <- withVisible(eval(parsed[[i]], envir))
      if (value$visible) print(value$value)
    }))
    comment <- sub("^[^#]*#", "", lines[[where[[i]]]])
    if (!grepl("#", lines[[where[[i]]]], fixed = TRUE)) next
    quoted <- c(gsub("\"", "", regmatches(comment, gregexpr("\"[^\"]+\"", comment))[[1]]),
      regmatches(comment, gregexpr("[0-9.]+%", comment))[[1]])
    # A share may be quoted with fewer digits than the line prints.
    said <- paste(printed, paste0(round(as.numeric(sub("%", "", regmatches(printed,
      gregexpr("[0-9.]+%", printed))[[1]]))), "%", collapse = " "))
    for (quote in quoted[!vapply(quoted, grepl, NA, said, fixed = TRUE)]) {
      fault(file, ": ", lines[[where[[i]]]], "\n  does not print: ", quote)
    }
  }
}

here <- getwd()
folder <- tempfile()
dir.create(folder)
grDevices::pdf(file.path(folder, "plots.pdf"))
options(warpbayes.progress = FALSE, browser = function(...) NULL)
blocks <- blocks_of("README.md")
setwd(folder)
envir <- new.env()
for (block in blocks) {
  tryCatch(run_block("README.md", block, envir), error = function(error) fault("README.md: ", conditionMessage(error)))
}
articles <- file.path(here, "vignettes", "articles", if ("all" %in% arguments) {
  basename(Sys.glob(file.path(here, "vignettes/articles/*.Rmd")))
} else "questions.Rmd")
for (file in articles) {
  code <- file.path(folder, "code.R")
  knitr::purl(file, code, documentation = 0, quiet = TRUE)
  file.copy(Sys.glob(file.path(dirname(file), "*.csv")), folder, overwrite = TRUE)
  tryCatch(sys.source(code, new.env(parent = globalenv())),
    error = function(error) fault(basename(file), ": ", conditionMessage(error)))
}
grDevices::dev.off()
setwd(here)

# What a document names --------------------------------------------------------------

own <- getNamespaceExports("warpbayes")
known <- function(name) {
  name %in% own || exists(name, mode = "function") || length(utils::getAnywhere(name)$where) ||
    name %in% c("s", "ad", "fs", "car", "rw", "ar")
}
documents <- c("README.md", "NEWS.md", "INSTALL.md", Sys.glob("vignettes/*.Rmd"), Sys.glob("vignettes/articles/*.Rmd"))
for (package in c("posterior", "loo", "emmeans", "bayesplot", "ggplot2", "Matrix", "knitr")) {
  requireNamespace(package, quietly = TRUE)
}
for (file in documents) {
  text <- readLines(file)
  fence <- cumsum(grepl("^```", text)) %% 2 == 1
  text <- flat(text[!fence])
  spans <- gsub("`", "", regmatches(text, gregexpr("`[^`]+`", text))[[1]])
  for (span in unique(spans)) {
    name <- sub("^([A-Za-z][A-Za-z0-9._]*)\\(\\)$", "\\1", span)
    if (name != span && !known(name)) fault(file, ": there is no function ", span)
    call <- tryCatch(parse(text = span)[[1]], error = function(error) NULL)
    if (!is.call(call) || !is.name(call[[1]]) || !as.character(call[[1]]) %in% own) next
    formals <- names(formals(get(as.character(call[[1]]), asNamespace("warpbayes"))))
    unknown <- setdiff(names(call)[-1], c("", formals))
    if (length(unknown) && !"..." %in% formals) {
      fault(file, ": ", span, " has no argument ", paste(unknown, collapse = ", "))
    }
  }
}

cat(faults, sep = "\n")
cat(sprintf("%d documents, %d faults\n", length(documents), length(faults)))
quit(status = length(faults) > 0)
