# Cells of flow cytometry that are public: those in package mclust, and others from a folder of files.

# The cells of an FCS 3 file of floating-point numbers, compensated. Columns have the names of the markers; the
# attribute "stained" has the numbers of the columns that were compensated.
read_fcs <- function(file) {
  bytes <- readBin(file, "raw", file.size(file))
  place <- function(from) as.integer(trimws(rawToChar(bytes[from + 0:7])))
  text <- rawToChar(bytes[(place(11) + 1):(place(19) + 1)])
  fields <- strsplit(substring(text, 2), substring(text, 1, 1), fixed = TRUE)[[1]]
  odd <- seq(1, length(fields) - 1, by = 2)
  value <- setNames(as.list(fields[odd + 1]), toupper(fields[odd]))
  channels <- as.integer(value$`$PAR`)
  rows <- as.integer(value$`$TOT`)
  first <- place(27) + 1
  endian <- if (startsWith(value$`$BYTEORD`, "4")) "big" else "little"
  x <- matrix(readBin(bytes[first:length(bytes)], "double", rows * channels, 4, endian = endian), rows, byrow = TRUE)
  spill <- strsplit(value$SPILL, ",")[[1]]
  stained_channels <- spill[1 + seq_len(as.integer(spill[[1]]))]
  stained <- match(stained_channels, unlist(value[paste0("$P", seq_len(channels), "N")]))
  mixing <- matrix(as.numeric(spill[-seq_len(1 + length(stained))]), length(stained), byrow = TRUE)
  x[, stained] <- x[, stained] %*% solve(mixing)
  colnames(x) <- trimws(unlist(value[paste0("$P", seq_len(channels), "S")]))
  structure(x, stained = stained)
}

# The GvHD cells of mclust, and of `folder` what it has: flowcap1-gvhd-samples-1-6.csv.gz and hipc-tcell-12828.csv.gz.
flow_sets <- function(folder) {
  utils::data(GvHD, package = "mclust", envir = environment())
  sets <- list(GvHD.pos = as.matrix(GvHD.pos), GvHD.control = as.matrix(GvHD.control))
  file <- file.path(folder, "flowcap1-gvhd-samples-1-6.csv.gz")
  if (file.exists(file)) {
    cells <- read.csv(file)
    for (sample in 1:6) {
      sets[[paste("GvHD sample", sample)]] <- as.matrix(cells[cells$sample == sample, 1:6])
    }
  }
  file <- file.path(folder, "hipc-tcell-12828.csv.gz")
  if (file.exists(file)) sets$HIPC <- as.matrix(read.csv(file)[, 1:6])
  sets
}

# Cells with manual gates (NA: none), of a folder with flowcap1-gvhd-samples-1-6.csv.gz, hipc-tcell-12828.csv.gz,
# flowsom-68983.fcs and flowsom-68983-labels.csv.
gated_sets <- function(folder) {
  gvhd <- read.csv(file.path(folder, "flowcap1-gvhd-samples-1-6.csv.gz"))
  hipc <- read.csv(file.path(folder, "hipc-tcell-12828.csv.gz"))
  gates <- tail(gsub("\"", "", readLines(file.path(folder, "flowsom-68983-labels.csv"))), 19225)
  sets <- lapply(split(gvhd, gvhd$sample), function(cells) {
    list(x = as.matrix(cells[1:6]), gate = ifelse(cells$label == 0, NA, cells$label))
  })
  names(sets) <- paste("GvHD sample", names(sets))
  sets$HIPC <- list(x = as.matrix(hipc[1:6]), gate = hipc$label)
  # The channels that its authors use, as asinh(x / 150).
  sets$FlowSOM <- list(x = asinh(read_fcs(file.path(folder, "flowsom-68983.fcs"))[, c(9, 12, 14:18)] / 150),
    gate = ifelse(gates == "Unlabeled", NA, gates))
  sets
}
