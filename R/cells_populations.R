# In which populations the chains of a mixture differ: shares of cell types by chain.

# Types with a smaller share are left out, unless chains differ in them.
least_share <- 0.01

# How far a share's interval may reach: a point, a fifth of the share, or twice as far as by the chance of `rows` cells.
share_tolerance <- function(share, rows) {
  pmax(0.01, share / 5, 2 * stats::qnorm(0.95) * sqrt(share * (1 - share) / rows))
}

# Whether chains agree on the shares of the types of `map`: a list of the `shares` (see shares_by_chain()), a `table` of
# their diagnostics, the types whose shares differ by more than chance explains (`differs`), have `wide` intervals, or
# are `short` of draws; what the chains have in `common`; and the `borders` (see open_borders()).
shares_agreement <- function(map, shown, names, rows) {
  shares <- shares_by_chain(map)
  table <- diagnose_quantities(shares)
  chain <- map$used$chain
  several <- ncol(shares[[1L]]) > 1L
  differs <- intersect(which(differing(shares, table)), shown)
  short <- if (!several) setdiff(shown[which(table$ess_bulk[shown] < ess_needed)], differs)
  wide <- integer()
  pairs <- chain_pairs(map)
  tolerance <- share_tolerance(colMeans(map$proportions), rows)
  if (several) {
    half <- half_width(map$proportions, chain)
    wide <- shown[half[shown] > tolerance[shown]]
    wide <- wide[order(-half[wide])]
    # Of two chains, t says too little about chance.
    inner <- map$proportions - chain_means(map$proportions, chain)[as.character(chain), ]
    inner <- apply(column_quantiles(inner, interval_ends(0.9)), 1L, diff) / 2
    apart <- if (max(chain) > 2L) which(half > 1.5 * inner)
    differs <- intersect(wide, union(differs, apart))
  }
  list(names = names, shown = shown, map = map, chains = ncol(shares[[1L]]), shares = shares, table = table,
    differs = differs, wide = wide, short = short, common = cells_in_common(map, pairs),
    borders = open_borders(map, wide, tolerance, pairs))
}

# Groups of neighbouring types in whose shares chains differ, while the sum is within the tolerance of the first: each
# next type is the one with most of the cells that some chains count to the group, and others do not.
open_borders <- function(map, wide, tolerance, pairs) {
  groups <- list()
  exchange <- Reduce(`+`, pairs) / sum(unlist(pairs))
  for (type in wide) {
    group <- type
    while (length(group) < 4L && !type %in% unlist(groups)) {
      moved <- replace(colSums((exchange + t(exchange))[group, , drop = FALSE]), group, 0)
      if (max(moved) < diff(range(chain_means(map$proportions[, type], map$used$chain))) / 10) break
      group <- c(group, which.max(moved))
      sum <- cbind(rowSums(map$proportions[, group]))
      if (half_width(sum, map$used$chain) <= tolerance[[type]]) groups <- c(groups, list(group))
    }
  }
  groups
}

chain_shares <- function(agreement) {
  by_chain <- t(vapply(agreement$shares, colMeans, numeric(agreement$chains)))
  rows <- sort(union(intersect(agreement$shown, which(rowMeans(by_chain) >= least_share)), agreement$differs))
  colnames(by_chain) <- paste0("chain_", seq_len(agreement$chains))
  table <- agreement$table[rows, ]
  data.frame(type = agreement$names[rows], share = rowMeans(by_chain)[rows], rhat = table$rhat,
    common = agreement$common[rows], differs = rows %in% agreement$differs, by_chain[rows, , drop = FALSE],
    error = table$sd / sqrt(table$ess_bulk), row.names = NULL)
}

# The agreement on the types of cell_types(fit). NULL for one chain, or if a part of the fit is missing.
fit_agreement <- function(fit) {
  cells <- !is.null(fit$reader) || is.double(fit$x) && identical(ncol(fit$x), length(fit$markers))
  if (fit$chains < 2L || !has_mixtures(fit) || !cells) return(NULL)
  map <- default_types(fit, NULL, resolve_run("cpu", fit$threads))
  shares_agreement(map, which(colMeans(map$proportions) >= least_share), as.character(seq_len(map$count)), fit$rows)
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

share_percent <- function(share, error, most = 1) {
  digits <- pmin(most, pmax(0, floor(-log10(100 * error))))
  sprintf("%.*f%%", as.integer(ifelse(is.finite(digits), digits, most)), 100 * share)
}
