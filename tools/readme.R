# Updates what bench/TIMES.md, README.md and the vignettes show from bench/results: the table of times between the
# marks, vignettes/flow-cytometry-times.csv, sweep-times.csv and source-tables.csv of vignettes/articles/, and the
# figure man/figures/gvhd.png. Run it in the root of the sources. It needs the package, mclust and pngquant.
#   Rscript tools/readme.R         all of it
#   Rscript tools/readme.R times   without the figure

library(warpbayes)

results <- function(name) {
  files <- Sys.glob(file.path("bench", "results", paste0(name, ".csv")))
  do.call(rbind, lapply(files, utils::read.csv))
}

# Times ---------------------------------------------------------------------

# A table below a heading of the reports of tools/gpu-test, the first unless `which` says another, of the newest report
# where several devices have it, with the device and the date on which it was measured.
device_table <- function(heading, which = 1) {
  reports <- lapply(Sys.glob("bench/results/*.md"), readLines)
  reports <- reports[vapply(reports, function(lines) paste("##", heading) %in% lines, NA)]
  if (!length(reports)) return(NULL)
  below <- lapply(reports, function(lines) lines[-seq_len(match(paste("##", heading), lines))])
  measured <- "^Measured on ([0-9-]+) .*"
  dates <- vapply(below, function(lines) sub(measured, "\\1", grep(measured, lines, value = TRUE)[[1]]), "")
  newest <- order(dates, decreasing = TRUE)[[1]]
  below <- below[[newest]]
  bars <- grep("^\\|", below)
  lines <- below[bars[cumsum(c(TRUE, diff(bars) > 1)) == which]]
  fields <- lapply(strsplit(gsub("^\\| *| *\\|$", "", lines), " *\\| *"), trimws)
  # The last cells of a row may be empty.
  fields <- lapply(fields, function(row) c(row, rep("", length(fields[[1]]) - length(row))))
  table <- as.data.frame(do.call(rbind, fields[-(1:2)]))
  names(table) <- sub("^device$", "where", fields[[1]])
  title <- strsplit(sub("^# ", "", reports[[newest]][[1]]), ", ")[[1]]
  cbind(utils::type.convert(table, as.is = TRUE), device = gsub("-", " ", title[[1]]), date = dates[[newest]])
}

times <- results("flow-cytometry-*")
card <- device_table("mixture-cuda")
card <- card[card$p == 14 & card$k == 256, ]
shown <- c("backend", "n", "p", "k", "threads", "precision", "seconds_per_100", "ns_per_cell", "device", "date")
times <- rbind(times[shown], data.frame(
  backend = "cuda", n = card$n, p = card$p, k = card$k, threads = 1, precision = card$precision,
  seconds_per_100 = 100 * card$seconds, ns_per_cell = 1e9 * card$seconds / card$n / card$k,
  device = card$device, date = card$date
))
utils::write.csv(times, "vignettes/flow-cytometry-times.csv", row.names = FALSE)

# What the vignettes on processors and on the sources' tables show. Each line is one measurement: `table` names the
# table, `row` and `column` its place there, `what` the unit.
cell <- function(table, row, column, value, what, device, date) {
  data.frame(table, row, column, value = signif(value, 3), what, device, date)
}
size <- function(n) format(n, big.mark = ",", scientific = FALSE, trim = TRUE)
on <- function(results) ifelse(results$threads == 1, "1 thread", sprintf("%d threads", results$threads))

mixture <- times[times$precision == "double" & times$n %in% c(1e4, 1e5, 1e6, 5e6), ]
topics <- device_table("topic-model-cuda")
topics <- topics[topics$method == "gibbs", ]
# The processor beside the card has as many threads as the report says.
beside <- function(table) paste("16 cores beside an", table$device)
topics$device <- ifelse(topics$where == "card", topics$device, beside(topics))
topics$where <- ifelse(topics$where == "card", "card", "16 threads")
regression <- device_table("regression-cuda")
resident <- device_table("mixture-cuda", 2)
resident <- resident[resident$precision == "double", ]
resident$sixteen <- as.numeric(sub(" .16 threads.$", "", resident[["one sweep on the CPU, seconds"]]))
groups <- results("regression-groups-sweep")
groups <- groups[groups$terms == "(1 | g)", ]
sweeps <- rbind(
  cell("sweep", paste("mixture,", size(mixture$n), "cells, 14 markers, 256 components"),
    ifelse(mixture$backend == "cpu", on(mixture), "card"), mixture$seconds_per_100 / 100, "s", mixture$device,
    mixture$date
  ),
  cell("sweep", "mixture, 5,000,000 cells, 14 markers, 256 components", "16 threads", resident$sixteen, "s",
    beside(resident), resident$date
  ),
  cell("sweep", paste("topic model, 3,072,662 tokens, 1,024 topics,", topics$precision),
    topics$where, topics[["seconds a sweep"]], "s", topics$device, topics$date
  ),
  cell("sweep", sprintf("regression, %s rows, %d columns", size(regression$rows), regression$columns), "card",
    regression[["seconds a sweep, card"]], "s", regression$device, regression$date
  ),
  cell("sweep", sprintf("regression, %s rows, %d columns", size(regression$rows), regression$columns), "16 threads",
    regression[["seconds a sweep, processor"]], "s", beside(regression), regression$date
  ),
  cell("sweep", sprintf("regression with (1 | g), %s rows, %s groups", size(groups$rows), size(groups$levels)),
    on(groups), groups$milliseconds_a_sweep / 1e3, "s", groups$machine, groups$date
  )
)
utils::write.csv(sweeps[!is.na(sweeps$value), ], "vignettes/articles/sweep-times.csv", row.names = FALSE)

# By the tables and figures of the sources.
em <- results("mixture-bem")
headline <- results("mixture-headline-cpu")
headline <- headline[headline$threads == 1 & headline$precision == "double", ]
cards <- device_table("mixture-cards-cuda")
cards <- cards[cards$precision == "double" & cards[["splits and joins"]] == "none", ]
ways <- device_table("categorical-cuda", 2)
ways <- ways[ways$columns %in% c(32, 64, 128, 256, 512, 1024), ]
law <- stats::aggregate(distance ~ way, results("polyagamma-law"), max)
draws <- device_table("polyagamma-cuda")
direct <- results("convolution-direct")
pairs <- device_table("convolution-cuda")
batches <- device_table("convolution-cuda", 2)
batches <- batches[batches$kernel == "skew", ]
normal <- device_table("predictive-cuda", 2)
sources <- rbind(
  cell("mixture", size(times$n), paste(ifelse(times$backend == "cpu", on(times), "card"), times$precision, sep = ", "),
    times$seconds_per_100, "seconds of 100 sweeps", times$device, times$date),
  cell("mixture", "5,000,000", "16 threads, double", 100 * resident$sixteen, "seconds of 100 sweeps",
    beside(resident), resident$date),
  cell("mixture shares", "step 1", "share of a sweep", 1 - headline$parameters, "share", headline$machine,
    headline$date),
  cell("mixture cards", cards$cards, "times as fast as one", cards[["times as fast as one"]], "times", cards$device,
    cards$date),
  cell("em", em$data, "sweep", 100 * em$sweep_s, "seconds of 100", em$machine, em$date),
  cell("em", em$data, "step", 100 * em$step_s, "seconds of 100", em$machine, em$date),
  do.call(rbind, lapply(c("naive", "transposition", "butterfly"), function(way) {
    cell("butterfly", ways$columns, paste(way, ways$bits, sep = ", "), 1e6 * ways[[way]], "microseconds", ways$device,
      ways$date)
  })),
  cell("topics", topics$precision, topics$where, topics[["seconds a sweep"]], "s", topics$device, topics$date),
  cell("convolution", size(direct$size), "1 thread", direct$seconds, "s", direct$machine, direct$date),
  cell("convolution", size(as.numeric(sub(" x .*", "", pairs[[1]]))), "card", pairs$seconds, "s", pairs$device,
    pairs$date),
  cell("batches", batches$batches, "card", batches$ms, "ms", batches$device, batches$date),
  cell("law", law$way, "largest distance", law$distance, "Kolmogorov distance", NA, NA),
  cell("draws", sprintf("%g, %g", draws$shape, draws$tilt), "kernel", draws[["draws per second, kernels"]],
    "per second", draws$device, draws$date),
  cell("draws", sprintf("%g, %g", draws$shape, draws$tilt), "with copies to R", draws[["with copies to R"]],
    "per second", draws$device, draws$date),
  cell("predictive", normal[[1]], "seconds", normal$seconds, "s", normal$device, normal$date)
)
utils::write.csv(sources[!is.na(sources$value), ], "vignettes/articles/source-tables.csv", row.names = FALSE)

number <- function(x) trimws(formatC(signif(x, 3), format = "fg", digits = 3, big.mark = ","))
row <- function(...) paste0("| ", paste(..., sep = " | "), " |")

sizes <- sort(unique(times$n))
columns <- unique(times[c("backend", "device", "threads", "precision")])
threads <- sprintf("%d thread%s, ", columns$threads, ifelse(columns$threads == 1, "", "s"))
heads <- paste0(ifelse(columns$backend == "cpu", threads, ""), columns$precision)
devices <- unique(columns$device)
if (length(devices) > 1) heads <- paste0(columns$device, ", ", heads)
cells <- vapply(seq_len(nrow(columns)), function(i) {
  one <- merge(columns[i, ], times)
  seconds <- one$seconds_per_100[match(sizes, one$n)]
  ifelse(is.na(seconds), "", number(seconds))
}, character(length(sizes)))
table <- c(
  sprintf("Seconds for 100 Gibbs sweeps without splits and joins, 14 markers, 256 components%s:",
    if (length(devices) == 1) paste0(", on ", devices) else ""), "",
  row("cells", paste(format(sizes, big.mark = ",", scientific = FALSE, trim = TRUE), collapse = " | ")),
  row("---", paste(rep("---:", length(sizes)), collapse = " | ")),
  vapply(seq_along(heads), function(i) row(heads[[i]], paste(cells[, i], collapse = " | ")), "")
)

peers <- results("mixture-peers")
peers <- peers[peers$package != "warpbayes", ]
ours <- results("mixture-peers")
ours <- ours[ours$package == "warpbayes", ]
they <- sprintf(
  "%s %s ms (%s times as long)", peers$package, number(1e3 * peers$seconds_per_step), number(peers$times_slower)
)
table <- c(table, "",
  sprintf("One sweep or EM step of %s cells, %d markers, %d components, one thread:",
    format(ours$n, big.mark = ","), ours$p, ours$k
  ),
  sprintf("warpbayes %s ms; %s.", number(1e3 * ours$seconds_per_step), paste(they, collapse = ", "))
)
dates <- paste(unique(range(times$date)), collapse = " to ")
table <- c(table, "", sprintf("Measured by the scripts in `bench/`, %s.", dates))

page <- readLines("bench/TIMES.md")
marks <- match(c("<!-- times: written by tools/readme.R -->", "<!-- end of times -->"), page)
stopifnot(!anyNA(marks))
writeLines(c(page[seq_len(marks[[1]])], "", table, "", page[marks[[2]]:length(page)]), "bench/TIMES.md")

# Figure --------------------------------------------------------------------

if ("times" %in% commandArgs(TRUE)) quit()

# The figure is drawn by README's own code: the lines from data() to the plot() whose comment names the picture.
readme <- readLines("README.md")
code <- readme[seq(grep("^data\\(GvHD", readme)[[1]], grep("^plot\\(fit\\) +# the picture", readme)[[1]])]
dir.create("man/figures", recursive = TRUE, showWarnings = FALSE)
figure <- "man/figures/gvhd.png"
png(figure, width = 7, height = 7, units = "in", res = 120)
eval(parse(text = code))
dev.off()
# The figure is installed with the package. A palette makes it a quarter as large.
stopifnot(nzchar(Sys.which("pngquant")))
system2("pngquant", c("--speed=1", "--nofs", "--strip", "--force", "16", "--output", figure, figure))
stopifnot(file.size(figure) < 70000)
