# Fingerprints of data, by which resume() and the workers of a cluster know that bytes are the same.

# `size`: named numbers; `parts`: their names in messages; `digests`: 16 bytes for each part.
fingerprint_of <- function(size, parts, digests) {
  list(size = size, parts = parts, digests = matrix(digests, 16L))
}

# Digests of a vector of numbers or bytes: 16 bytes for each piece of `length` elements.
digest_numbers <- function(values, length = base::length(values)) {
  native(C_checkpoint_digest, values, as.double(length))
}

digest_text <- function(text) {
  text <- enc2utf8(text)
  bytes <- charToRaw(paste(text, collapse = ""))
  digest_numbers(c(digest_numbers(bytes), digest_numbers(c(nchar(text, "bytes"), as.integer(is.na(text))))))
}

digest_variable <- function(values) {
  if (is.factor(values)) {
    digest_numbers(c(digest_text(levels(values)), digest_numbers(as.integer(values))))
  } else if (is.character(values)) {
    digest_text(values)
  } else if (is.numeric(values) || is.logical(values)) {
    digest_numbers(c(digest_numbers(as.double(values)), digest_numbers(c(0L, dim(values)))))
  } else {
    # The first 14 bytes name the version of R.
    digest_numbers(serialize(values, NULL, xdr = TRUE, version = 2L)[-(1:14)])
  }
}

check_fingerprint <- function(was, is) {
  differs <- which(was$size != is$size)
  if (length(differs)) {
    i <- differs[[1L]]
    stop_input("x", sprintf("has %s %s; the checkpoint was made with %s", whole_words(is$size[[i]]),
      names(is$size)[[i]], whole_words(was$size[[i]])))
  }
  if (!identical(was$parts, is$parts)) {
    columns <- function(parts) {
      paste0(paste(utils::head(sub("^values in ", "", parts), 12L), collapse = ", "),
        if (length(parts) > 12L) sprintf(" and %d more", length(parts) - 12L))
    }
    stop_input("x", "has ", columns(is$parts), "; the checkpoint was made with ", columns(was$parts))
  }
  differs <- which(colSums(was$digests != is$digests) > 0)
  if (length(differs)) {
    stop_input("x", "has other ", was$parts[[differs[[1L]]]],
      if (length(differs) > 1L) sprintf(" (and in %d more)", length(differs) - 1L),
      " than the data that the checkpoint was made with")
  }
}
