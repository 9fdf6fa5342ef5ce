# Vectors of class integer64, made without package bit64.
int64 <- function(x) {
  values <- as.vector(x)
  words <- rbind(values %% 2^32, floor(values / 2^32) %% 2^32)
  words[, is.na(values)] <- c(0, 2^31)
  words <- ifelse(words >= 2^31, words - 2^32, words)
  # as.integer(-2^31) is NA, which has the bits of -2^31.
  bytes <- writeBin(suppressWarnings(as.integer(words)), raw(), endian = "little")
  bits <- readBin(bytes, "double", length(x), endian = "little")
  attributes(bits) <- attributes(x)
  structure(bits, class = "integer64")
}
