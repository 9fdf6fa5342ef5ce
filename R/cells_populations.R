# In which populations the chains of a mixture differ: the shares of cell types by chain. Types are branches of a
# density that is averaged over all chains (R/cells_types_map.R), so they are matched by their cells, however components
# are numbered.

# Types with a smaller share are left out, unless chains differ in them.
least_share <- 0.01

# A printed table has so many chains.
most_chains <- 8L

# A row for each type in `shown` with a share of 1% or more: `type`, `share`, `rhat` of the share, `common` as from
# cells_in_common(), whether chains differ by more than chance explains, and the share in each chain. `agreement`: as
# from types_agreement().
chain_shares <- function(agreement, names) {
  by_chain <- t(vapply(agreement$shares, colMeans, numeric(agreement$chains)))
  rows <- sort(union(intersect(agreement$shown, which(rowMeans(by_chain) >= least_share)), agreement$differs))
  colnames(by_chain) <- paste0("chain_", seq_len(agreement$chains))
  data.frame(
    type = names[rows], share = rowMeans(by_chain)[rows], rhat = agreement$table$rhat[rows],
    common = agreement$common[rows], differs = rows %in% agreement$differs,
    by_chain[rows, , drop = FALSE], row.names = NULL
  )
}

# The table for a mixture whose chains do not agree, with the mean of each marker in each type: 25 draws of each chain,
# at most 200 together, are compared. NULL if a part of the fit is missing.
populations_by_chain <- function(fit) {
  complete <- !vapply(fit$draws[c("weights", "means", "covariances")], is.null, NA)
  cells <- !is.null(fit$reader) || is.double(fit$x) && identical(ncol(fit$x), length(fit$markers))
  if (fit$chains < 2L || !all(complete) || !count_kept(fit) || !cells) return(NULL)
  map <- default_types(fit, min(25L * fit$chains, 200L), resolve_run("cpu", fit$threads))
  shares <- shares_by_chain(map)
  table <- diagnose_quantities(shares)
  common <- cells_in_common(map)
  types <- chain_shares(list(shares = shares, shown = seq_len(map$count), chains = fit$chains, table = table,
    differs = which(differing(shares, table) & colMeans(map$proportions) >= least_share), common = common),
  seq_len(map$count))
  mixture <- mixture_of_draw(fit, map$used$draw[[map$chosen]], map$used$chain[[map$chosen]])
  type <- factor(map$averaged[, map$chosen], types$type)
  means <- vapply(seq_along(fit$markers), function(j) {
    as.vector(tapply(mixture$weights * mixture$means[, j], type, sum) / tapply(mixture$weights, type, sum))
  }, numeric(nrow(types)))
  types$means <- matrix(means, nrow(types), dimnames = list(NULL, fit$markers))
  structure(types, draws = nrow(shares[[1L]]))
}

print_chain_shares <- function(types) {
  chains <- grep("^chain_", names(types), value = TRUE)
  shown <- utils::head(chains, most_chains)
  shares <- vapply(types[shown], percent, character(nrow(types)))
  shares <- matrix(shares, nrow(types), dimnames = list(NULL, sub("_", " ", shown)))
  print(data.frame(
    type = types$type, share = percent(types$share),
    Rhat = paste0(rhat_words(types$rhat), ifelse(types$differs, "*", "")),
    common = ifelse(is.na(types$common), "-", percent(types$common, 0)), shares, check.names = FALSE
  ), row.names = FALSE)
  if (length(chains) > most_chains) cat(sprintf("and %s\n", count_words(length(chains) - most_chains, "more chain")))
  if (any(types$differs)) cat("* chains differ by more than chance explains\n")
  cat("common: the share of a type's cells that the two chains have in common that differ most\n")
}

# Where the chains of a mixture differ, in words.
populations_words <- function(types) {
  draws <- attr(types, "draws")
  if (is.null(types) || !nrow(types)) return(NULL)
  chains <- as.matrix(types[grep("^chain_", names(types))])
  said <- if (any(types$differs)) {
    worst <- which.max(ifelse(types$differs, types$rhat, -Inf))
    sprintf("The chains differ in the shares of %s of the %s above 1%%, most in type %s: %s between chains.",
      whole_words(sum(types$differs)), count_words(nrow(types), "cell type"), types$type[[worst]],
      paste(percent(range(chains[worst, ])), collapse = " to "))
  } else {
    # One type has a share that never varies.
    high <- max(1, types$rhat, na.rm = TRUE)
    highest <- sprintf("(highest Rhat %s)", format_rhat(high))
    if (high <= rhat_limit) {
      paste("The chains agree on the shares of the cell types above 1%", highest,
        "and describe these populations by different components.")
    } else {
      paste("Whether the chains differ in the shares of the cell types above 1% cannot be told from", draws,
        "draws of each", paste0(highest, "."))
    }
  }
  c(said, common_words(types$common, which(types$differs), seq_len(nrow(types)), types$type))
}

# Whether any two chains have most cells in common of the types that differ between chains, and of all `shown` types.
# NULL if there is nothing to say, or if that is not known.
common_words <- function(common, differs, shown, names) {
  unlike <- union(differs, shown[which(common[shown] <= 0.5)])
  if (all(is.na(common[unlike]))) return(NULL)
  least <- unlike[[which.min(common[unlike])]]
  has <- if (common[[least]] <= 0.5) {
    paste("Most draws of a chain lack type", names[[least]])
  } else if (length(unlike) > 1L) {
    "All chains have these types"
  } else {
    "All chains have this type"
  }
  sprintf("%s: of the cells of type %s, the two chains that differ most have %s in common.", has, names[[least]],
    percent(common[[least]], 0))
}
