# What topics are called, and how large they are.

# How texts refer to topics: by name if they have one, otherwise by number.
topic_labels <- function(fit, topics, prefix = "") {
  if (is.null(fit$topic_names)) paste0(prefix, topics, recycle0 = TRUE) else fit$topic_names[topics]
}

# A table with the names of its topics, if they have any.
with_names <- function(table, fit) {
  if (!is.null(fit$topic_names)) table$name <- fit$topic_names[table$topic]
  table
}

# A table with these columns before the others, as far as it has them.
columns_first <- function(table, first) table[union(intersect(first, names(table)), names(table))]

# The share of each topic in all tokens: the topics of the documents, weighted by the documents' lengths.
topic_prevalence <- function(fit) {
  colSums(fit$theta * fit$document_tokens) / sum(fit$document_tokens)
}
