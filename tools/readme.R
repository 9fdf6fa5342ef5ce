# Updates what bench/TIMES.md, README.md and the vignette show from bench/results: the table of times between the marks,
# vignettes/flow-cytometry-times.csv, and the figure man/figures/gvhd.png. Run it in the root of the sources. It needs
# the package, mclust and ImageMagick.
#   Rscript tools/readme.R         all of it
#   Rscript tools/readme.R times   without the figure

library(warpbayes)

results <- function(name) {
  files <- Sys.glob(file.path("bench", "results", paste0(name, ".csv")))
  do.call(rbind, lapply(files, utils::read.csv))
}

# Times ---------------------------------------------------------------------

# The first table below a heading of the reports of tools/gpu-test, the newest where several devices have it, with the
# device and the date on which it was measured.
device_table <- function(heading) {
  reports <- lapply(Sys.glob("bench/results/*.md"), readLines)
  reports <- reports[vapply(reports, function(lines) paste("##", heading) %in% lines, NA)]
  if (!length(reports)) {
    return(NULL)
  }
  below <- lapply(reports, function(lines) lines[-seq_len(match(paste("##", heading), lines))])
  measured <- "^Measured on ([0-9-]+) .*"
  dates <- vapply(below, function(lines) sub(measured, "\\1", grep(measured, lines, value = TRUE)[[1]]), "")
  newest <- order(dates, decreasing = TRUE)[[1]]
  below <- below[[newest]]
  bars <- grep("^\\|", below)
  lines <- below[bars[cumsum(c(TRUE, diff(bars) > 1)) == 1]]
  fields <- lapply(strsplit(gsub("^\\| *| *\\|$", "", lines), " *\\| *"), trimws)
  table <- as.data.frame(do.call(rbind, fields[-(1:2)]))
  names(table) <- fields[[1]]
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
png(figure, width = 7, height = 7, units = "in", res = 150)
eval(parse(text = code))
dev.off()
# The figure is installed with the package. A palette makes it a third as large.
stopifnot(nzchar(Sys.which("convert")))
system2("convert", c(figure, "-colors", "96", paste0("PNG8:", figure)))
stopifnot(file.size(figure) < 150000)
