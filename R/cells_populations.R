# In which populations the chains of a mixture differ: shares of cell types by chain. Types are matched by their cells
# (R/cells_types_map.R), so numbers of components do not matter.

# Types with a smaller share are left out, unless chains differ in them.
least_share <- 0.01

# Whether chains agree on the shares of the types of `map`: a list of `names`, `shown`, `map`, `chains`, the `shares`
# (see shares_by_chain()) and their `table`; the types that `differs` names, those `short` of draws, and `common` (from
# cells_in_common()).
shares_agreement <- function(map, shown, names) {
  shares <- shares_by_chain(map)
  table <- diagnose_quantities(shares)
  differs <- intersect(which(differing(shares, table)), shown)
  short <- setdiff(shown[which(table$ess_bulk[shown] < ess_needed)], differs)
  list(names = names, shown = shown, map = map, chains = ncol(shares[[1L]]), shares = shares, table = table,
    differs = differs, short = short, common = cells_in_common(map))
}

# Types of at least 1%: `type`, `share`, its `rhat`, `common`, whether chains differ, the share in each, and its error.
chain_shares <- function(agreement) {
  by_chain <- t(vapply(agreement$shares, colMeans, numeric(agreement$chains)))
  rows <- sort(union(intersect(agreement$shown, which(rowMeans(by_chain) >= least_share)), agreement$differs))
  colnames(by_chain) <- paste0("chain_", seq_len(agreement$chains))
  table <- agreement$table[rows, ]
  data.frame(
    type = agreement$names[rows], share = rowMeans(by_chain)[rows], rhat = table$rhat, common = agreement$common[rows],
    differs = rows %in% agreement$differs, by_chain[rows, , drop = FALSE], error = table$sd / sqrt(table$ess_bulk),
    row.names = NULL
  )
}

# The agreement on the types of cell_types(fit). NULL for one chain, or if a part of the fit is missing.
fit_agreement <- function(fit) {
  complete <- !vapply(fit$draws[c("weights", "means", "covariances")], is.null, NA)
  cells <- !is.null(fit$reader) || is.double(fit$x) && identical(ncol(fit$x), length(fit$markers))
  if (fit$chains < 2L || !all(complete) || !count_kept(fit) || !cells) return(NULL)
  map <- default_types(fit, NULL, resolve_run("cpu", fit$threads))
  shares_agreement(map, which(colMeans(map$proportions) >= least_share), as.character(seq_len(map$count)))
}

populations_by_chain <- function(fit, agreement) {
  map <- agreement$map
  types <- chain_shares(agreement)
  mixture <- mixture_of_draw(fit, map$used$draw[[map$chosen]], map$used$chain[[map$chosen]])
  type <- factor(map$averaged[, map$chosen], types$type)
  means <- vapply(seq_along(fit$markers), function(j) {
    as.vector(tapply(mixture$weights * mixture$means[, j], type, sum) / tapply(mixture$weights, type, sum))
  }, numeric(nrow(types)))
  types$means <- matrix(means, nrow(types), dimnames = list(NULL, fit$markers))
  types
}

# At most `most` types, those that differ first. As many chains as the console is wide.
print_chain_shares <- function(types, most = Inf) {
  if (is.null(types) || !nrow(types)) return(invisible())
  more <- nrow(types) - most
  if (more > 0) types <- types[sort(utils::head(order(!types$differs), most)), ]
  chains <- grep("^chain_", names(types), value = TRUE)
  shown <- utils::head(chains, max(2, (getOption("width") - 36) %/% 9))
  shares <- vapply(types[shown], share_percent, character(nrow(types)), types$error)
  shares <- matrix(shares, nrow(types), dimnames = list(NULL, sub("_", " ", shown)))
  cat("\nShares in each chain, of types above 1%:\n")
  table <- data.frame(
    type = types$type, share = share_percent(types$share, types$error),
    Rhat = paste0(rhat_words(types$rhat), ifelse(types$differs, "*", "")),
    common = ifelse(is.na(types$common), "-", percent(types$common, 0)), shares, check.names = FALSE
  )
  print(if (is.finite(most)) table[names(table) != "common"] else table, row.names = FALSE)
  rest <- c(if (more > 0) count_words(more, "more type"),
    if (length(chains) > length(shown)) count_words(length(chains) - length(shown), "more chain"))
  print_lines(c(if (length(rest)) paste("and", paste(rest, collapse = " and ")),
    if (any(types$differs)) "* chains differ by more than chance explains",
    if (is.infinite(most)) "common: of a type's cells, the share that the two chains have in common that differ most"))
}

# Shares without the digits that another seed would change. `error`: their Monte Carlo errors.
share_percent <- function(share, error, most = 1) {
  digits <- pmin(most, pmax(0, floor(-log10(100 * error))))
  sprintf("%.*f%%", as.integer(ifelse(is.finite(digits), digits, most)), 100 * share)
}
