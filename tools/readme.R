# Updates what the README and the vignette show from bench/results: the
# table of times between the marks in README.md, vignettes/flow-cytometry-times.csv,
# and the figure man/figures/gvhd.png. Run in the sources' folder, with the package
# and mclust installed, and ImageMagick: Rscript tools/readme.R

library(warpbayes)

results <- function(name) {
  files <- Sys.glob(file.path("bench", "results", paste0(name, ".csv")))
  do.call(rbind, lapply(files, utils::read.csv))
}

# Times ---------------------------------------------------------------------

times <- results("flow-cytometry-*")
utils::write.csv(
  times[c("backend", "n", "p", "k", "threads", "precision", "seconds_per_100", "ns_per_cell", "device", "date")],
  "vignettes/flow-cytometry-times.csv",
  row.names = FALSE
)

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
  number(one$seconds_per_100[match(sizes, one$n)])
}, character(length(sizes)))
table <- c(
  sprintf("Seconds for 100 Gibbs sweeps, 14 markers, 256 components%s:",
    if (length(devices) == 1) paste0(", on ", devices) else ""), "",
  row("cells", paste(heads, collapse = " | ")), row("---:", paste(rep("---:", length(heads)), collapse = " | ")),
  vapply(seq_along(sizes), function(i) {
    row(format(sizes[[i]], big.mark = ",", scientific = FALSE), paste(cells[i, ], collapse = " | "))
  }, "")
)

peers <- results("mixture-peers")
peers <- peers[peers$package != "warpbayes", ]
ours <- results("mixture-peers")
ours <- ours[ours$package == "warpbayes", ]
table <- c(table, "", sprintf(
  "One sweep or EM step of %s cells, %d markers, %d components, one thread: warpbayes %s ms; %s.",
  format(ours$n, big.mark = ","), ours$p, ours$k, number(1e3 * ours$seconds_per_step),
  paste0(peers$package, " ", number(1e3 * peers$seconds_per_step), " ms (", number(peers$times_slower), " times as long)",
    collapse = ", ")
))
table <- c(table, "", sprintf("Measured by the scripts in `bench/`, %s.", paste(unique(range(times$date)), collapse = " to ")))

readme <- readLines("README.md")
marks <- match(c("<!-- times: written by tools/readme.R -->", "<!-- end of times -->"), readme)
stopifnot(!anyNA(marks))
writeLines(c(readme[seq_len(marks[[1]])], "", table, "", readme[marks[[2]]:length(readme)]), "README.md")

# Figure --------------------------------------------------------------------

# By README's own code: the lines from library() to the first plot().
code <- readme[seq(match("library(warpbayes)", readme), grep("^plot\\(fit\\)", readme)[[1]])]
dir.create("man/figures", recursive = TRUE, showWarnings = FALSE)
figure <- "man/figures/gvhd.png"
png(figure, width = 7, height = 7, units = "in", res = 150)
eval(parse(text = code))
dev.off()
# The figure is installed with the package: a palette makes it a third as large.
stopifnot(nzchar(Sys.which("convert")))
system2("convert", c(figure, "-colors", "96", paste0("PNG8:", figure)))
stopifnot(file.size(figure) < 150000)
