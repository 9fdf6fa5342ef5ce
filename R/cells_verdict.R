# The words of this room's verdicts; a function ..._reasons() says when they are true.

#' @export
verdict.dp_mixture <- function(x, ...) {
  check_method(x, "x", ...)
  method_of(x)$verdict(x)
}

# `agreement`: on the shares of cell types in the chains, from fit_agreement(), if it is known.
gibbs_verdict <- function(fit, table = diagnose(fit), agreement = NULL) {
  chains <- convergence_reasons(fit, table)
  occupied <- trace_quantities(fit)$occupied
  all_held <- mean(occupied == fit$components)
  binds <- nrow(occupied) >= fewest_sweeps && all_held > 0.05
  new_verdict("the mixture", if (!is.null(agreement)) share_reasons(agreement), chains,
    if (binds) truncation_reason(sprintf(" in %.0f%% of the sweeps", 100 * all_held), fit), prior_edge_reason(fit),
    data_reasons(fit), if (!is_usable(new_verdict("", chains)) %in% TRUE) cause_reasons(fit))
}

# Judged by the density: small components come and go more slowly. Chains at different modes differ in density, so long
# runs that do not drift are judged by the modes' masses.
convergence_reasons <- function(fit, table = diagnose(fit)) {
  quantities <- judged_quantities(fit)
  own <- table$quantity != "score"
  small <- c("occupied", "concentration")
  reasons <- judge_convergence(quantities[own], table[own, ], quantity_words, small)
  worst <- table[which.max(ifelse(own & !table$quantity %in% small, table$rhat, NA)), ]
  settled <- nrow(quantities[[1L]]) >= settled_sweeps && fit$chains > 1L && isTRUE(worst$rhat > rhat_limit) &&
    reasons[[1L]]$code %in% c("chains_differ", "too_few_draws")
  moving <- table$quantity[which(table$rhat > 1.5 & !table$quantity %in% small)]
  if (!settled || any(vapply(quantities[moving], drift_of, 0) != 0)) return(reasons)
  known <- !is.null(quantities$score)
  mass <- if (known) colMeans(quantities$score)
  spread <- if (known) sqrt(mean(column_variances(quantities$score)))
  alike <- known && diff(range(mass)) <= 3 * spread
  lower <- if (known) {
    sprintf(" The log of the mass around chain %d is about %s below that around chain %d (standard deviation %s).",
      which.min(mass), whole_words(round(diff(range(mass)))), which.max(mass), format(signif(spread, 2)))
  }
  mode <- reason(if (alike) "modes_alike" else "modes_unlike", quantity = quantity_words(worst$quantity),
    figure = worst$rhat, rhat = format_rhat(worst$rhat), lower = paste0("", lower))
  c(mode, Filter(function(own) own$code == "rest_slow", reasons))
}

settled_sweeps <- 250

cause_reasons <- function(fit) {
  sweeps <- nrow(fit$log_likelihood) - fit$warmup
  if (sweeps < fewest_sweeps) return(NULL)
  c(if (sweeps < settled_sweeps) reason("short_run", figure = sweeps, sweeps = count_words(sweeps, "sweep")),
    if (fit$chains == 1L) reason("lone_chain"))
}

truncation_reason <- function(when, fit) {
  if (fit$components == 1 || fit$components >= fit$rows) return(NULL)
  reason("truncated", figure = fit$components, when = when, more = format(2 * fit$components))
}

prior_edge_reason <- function(fit) {
  df <- fit$draws$prior_df
  if (is.null(df) || length(df) < 2L) return(NULL)
  ends <- range(fit$prior$df_grid)
  share <- c(mean(df <= ends[[1L]] * (1 + 1e-9)), mean(df >= ends[[2L]] * (1 - 1e-9)))
  end <- which.max(share)
  if (share[[end]] < 0.9) return(NULL)
  reason("prior_at_edge", quantity = "df", figure = ends[[end]], end = c("lower", "upper")[[end]],
    value = format(signif(ends[[end]], 3)), share = percent(share[[end]], 0), other = c("lower", "higher")[[end]])
}

data_reasons <- function(fit) c(piled_reason(fit), few_cells_reason(fit), skewed_reason(fit))

piled_reason <- function(fit) {
  piled <- fit$piled
  if (is.null(piled) || nrow(piled) == 0L) return(NULL)
  piled <- utils::head(piled[order(-piled$share), ], 6L)
  shown <- paste0(piled$marker, " = ", piled_words(piled), " (", percent(piled$share), ")")
  reason("piled", quantity = piled$marker, figure = piled$share[[1L]], shown = shown,
    more = if (nrow(fit$piled) > 6L) sprintf(" and %d more", nrow(fit$piled) - 6L) else "")
}

# With fewer cells, one population may spread over many components (bench/mixture-piled.R).
few_cells_reason <- function(fit) {
  p <- length(fit$markers)
  if (fit$rows >= p * (p + 3)) return(NULL)
  reason("few_cells", figure = fit$rows, cells = count_words(fit$rows, "cell"), markers = count_words(p, "marker"),
    numbers = whole_words(p * (p + 3) / 2))
}

# Whether half of the markers have one peak and a long tail. Skewness of an exponential law: 0.56, log-normal: 0.68.
skewed_reason <- function(fit, markers = seq_along(fit$markers)) {
  cells <- cells_at_hand(fit)
  if (is.null(cells) || nrow(cells) < 100L) return(NULL)
  skewed <- vapply(markers, function(j) {
    values <- some_values(cells, j)
    values <- values[!is_piled(values)]
    if (length(values) < 50L) return(FALSE)
    # High raw values lie above low ones by 40 times the spread of the low ones, and have a long tail.
    points <- stats::quantile(values, c(0.01, 0.1, 0.99), names = FALSE)
    above <- values[values > sum(points * c(0, 0.8, 0.2))] - points[[2L]]
    tail <- stats::quantile(above, c(0.8, 0.99), names = FALSE)
    apart <- diff(points)
    raw <- apart[[2L]] > 40 * apart[[1L]] && tail[[2L]] > 1.6 * tail[[1L]]
    if (raw && type_of_marker(fit$transform, j) == "none") return(TRUE)
    if (abs(skewness_of(values)) < 0.6) return(FALSE)
    between <- stats::quantile(values, c(0.05, 0.95), names = FALSE)
    is.na(deepest_valley(values, rep(1, length(values)), between, 0.5))
  }, NA)
  if (sum(skewed) < min(2L, length(skewed)) || mean(skewed) < 0.5) return(NULL)
  reason("skewed_data", quantity = list_some(fit$markers[markers[skewed]], 3L), figure = sum(skewed),
    all = length(skewed))
}

# From -1 to 1: how much farther the 95% point lies from the median than the 5% point does.
skewness_of <- function(values) {
  points <- stats::quantile(values, c(0.05, 0.5, 0.95), names = FALSE)
  if (points[[3L]] > points[[1L]]) sum(points * c(1, -2, 1)) / (points[[3L]] - points[[1L]]) else 0
}

bem_verdict <- function(fit) {
  if (fit$iter == 0) return(new_verdict("the mode", reason("mode_not_begun"), data_reasons(fit)))
  starts <- bem_starts(fit)
  best <- which.max(starts$log_posterior)
  own <- starts[best, ]
  others <- starts[-best, ]
  number <- function(value) formatC(value, format = "f", digits = 1, big.mark = ",", decimal.mark = ".")
  change <- if (fit$iter > 1) abs(diff(fit$log_posterior[fit$iter - 1:0, best])) / fit$rows
  steps <- count_words(own$steps, "step")
  which <- if (fit$chains == 1) "Log posterior" else sprintf("Start %d of %d has the highest log posterior,", best,
    fit$chains)
  new_verdict("the mode",
    if (!own$converged) {
      reason("mode_not_reached", steps = steps,
        change = if (is.null(change)) "an unknown amount" else format(signif(change, 2)))
    },
    reason("mode_alone"),
    if (own$occupied == fit$components) truncation_reason("", fit),
    if (own$converged) reason("mode_reached", steps = steps, tolerance = format(fit$tolerance, scientific = TRUE)),
    reason("mode_height", which = which, figure = own$log_posterior, height = number(own$log_posterior)),
    if (nrow(others)) {
      reason("mode_others", figure = nrow(others),
        below = paste(number(own$log_posterior - utils::head(others$log_posterior, 8L)), collapse = ", "),
        open = if (all(others$converged)) "" else {
          sprintf("; %s of them had not converged", whole_words(sum(!others$converged)))
        })
    }, data_reasons(fit))
}

#' @export
verdict.relabelled_mixture <- function(x, ...) {
  weights <- x$component_weights[which(x$component_weights$mean >= least_share), ]
  unstable <- sum(weights$stability < 0.5)
  new_verdict("the numbered components",
    if (unstable) reason("unstable_components", figure = unstable, all = nrow(weights)),
    rests_on = list(verdict.dp_mixture(x, ...)))
}

share_range <- function(agreement, t) paste(percent(range(colMeans(agreement$shares[[t]]))), collapse = " to ")

differing_shares <- function(agreement, differs) {
  several <- agreement$chains > 1L
  worst <- differs[[which.max(agreement$table$rhat[differs])]]
  rhat <- agreement$table$rhat[[worst]]
  reason("type_shares_differ", quantity = agreement$names[[worst]], figure = rhat, rhat = format_rhat(rhat),
    parts = if (several) "chains" else "halves of the chain", count = length(differs), all = length(agreement$shown),
    range = if (several) sprintf(", %s between chains", share_range(agreement, worst)) else "")
}

border_reasons <- function(agreement) {
  map <- agreement$map
  unlist(lapply(agreement$borders, function(group) {
    sum <- rowSums(map$proportions[, group])
    interval <- share_interval(cbind(sum), map$used$chain)
    reason("open_border", quantity = list_some(agreement$names[sort(group)]), figure = mean(sum),
      sum = percent(mean(sum)), low = percent(interval[[1L]]), high = percent(interval[[2L]]),
      first = agreement$names[[group[[1L]]]], range = share_range(agreement, group[[1L]]))
  }), recursive = FALSE)
}

common_reasons <- function(agreement) {
  common <- agreement$common
  unlike <- union(agreement$differs, agreement$shown[which(common[agreement$shown] <= 0.5)])
  if (all(is.na(common[unlike]))) return(NULL)
  least <- unlike[[which.min(common[unlike])]]
  reason(if (common[[least]] <= 0.5) "type_lacking" else "types_common", quantity = agreement$names[[least]],
    figure = common[[least]], share = percent(common[[least]], 0), count = length(unlike))
}

share_reasons <- function(agreement) {
  shown <- agreement$shown
  short <- agreement$short
  several <- agreement$chains > 1L
  open <- unlist(agreement$borders)
  unsettled <- setdiff(agreement$differs, open)
  wide <- setdiff(agreement$wide, c(open, unsettled))
  c(if (length(unsettled)) differing_shares(agreement, unsettled),
    border_reasons(agreement),
    if (length(wide)) reason("wide_shares", quantity = list_some(agreement$names[wide]), figure = length(wide)),
    if (length(short)) {
      reason("type_shares_rough", quantity = list_some(agreement$names[short]), figure = length(short),
        needed = ess_needed)
    },
    if (!length(agreement$differs) && several && length(shown) > 1L && nrow(agreement$shares[[1L]]) >= 4L) {
      widest <- shown[[which.max(vapply(agreement$shares[shown], function(share) diff(range(colMeans(share))), 0))]]
      rhat <- max(1, agreement$table$rhat[shown], na.rm = TRUE)
      reason("type_shares_agree", quantity = agreement$names[[widest]], figure = rhat, rhat = format_rhat(rhat),
        range = share_range(agreement, widest), parts = count_words(agreement$chains, "chain"))
    },
    common_reasons(agreement), if (!several) reason("lone_chain_types"))
}

#' @export
verdict.cell_types <- function(x, ...) {
  check_method(x, "x", ...)
  types <- x$types
  agreement <- types_agreement(x)
  edges <- joining_edges(x)
  small <- types[setdiff(which(kinds_of_types(types) == "speck"), edge_types(x$fit, as.integer(x$type))), ]
  torn <- which(!types$speck & types$apart < 0.95)
  unsure <- mean(x$probability < 0.9)
  new_verdict("the cell types",
    if (all(types$speck)) reason("only_specks"),
    if (!is.null(agreement)) share_reasons(agreement),
    if (length(torn)) {
      reason("torn_types", quantity = types$type[torn], figure = min(types$apart[torn]),
        shown = paste0(dQuote(types$type[torn], FALSE), " ", percent(types$apart[torn], 0), collapse = ", "))
    },
    unlist(lapply(seq_len(min(2L, NROW(edges))), function(i) {
      reason("joining_edge", quantity = edges$types[[i]], figure = edges$share[[i]], why = edges$why[[i]],
        see = if (nzchar(edges$see[[i]])) paste("", edges$see[[i]], "shows the other joining.") else "",
        n = 1 + edges$two[[i]])
    }), recursive = FALSE),
    channel_reasons(x), scale_edge_reason(x), sample_reason(x$fit),
    if (unsure >= 0.01) reason("unsure_cells", figure = unsure, share = percent(unsure, 0)),
    if (nrow(small)) {
      reason("specks", figure = nrow(small), specks = count_words(nrow(small), "speck"),
        share = percent(sum(small$proportion)))
    },
    rests_on = list(method_of(x$fit)$verdict(x$fit)))
}

# Channels that tell nothing, or that no Gaussian law can describe.
channel_reasons <- function(x) {
  fit <- x$fit
  markers <- if (!is.null(fit$x)) seq_along(fit$markers)
  varies <- function(j) {
    # Few values tell of most channels that they vary.
    for (rows in c(1000, Inf)) {
      some <- stats::na.omit(fit$x[seq_len(min(rows, nrow(fit$x))), j])
      if (length(some) < 2L || any(some != some[[1L]])) return(TRUE)
    }
    FALSE
  }
  type <- as.integer(x$type)
  rows <- if (length(markers)) spaced_rows(type, pmin(tabulate(type, nrow(x$types)), 1000L))[are_shown(x)]
  rows <- rows[lengths(rows) >= 50L]
  skewed <- function(j) {
    for (own in rows) {
      values <- as.vector(stats::na.omit(fit$x[own, j]))
      values <- values[!is_piled(values)]
      if (length(values) < 50L || skewness_of(values) < 0.5) return(FALSE)
    }
    length(rows) > 0L
  }
  constant <- fit$markers[!vapply(markers, varies, NA)]
  found <- list(constant_markers = constant, no_markers = setdiff(without_marker(fit$markers), constant),
    skewed_types = fit$markers[vapply(markers, skewed, NA)])
  unlist(lapply(names(found)[lengths(found) > 0L], function(code) {
    reason(code, quantity = list_some(found[[code]]), figure = length(found[[code]]))
  }), recursive = FALSE)
}

scale_edge_reason <- function(x) {
  edge <- edge_types(x$fit, as.integer(x$type))
  if (!length(edge)) return(NULL)
  piled <- x$fit$piled
  reason("edge_types", quantity = list_some(x$types$type[edge]), figure = length(edge),
    cells = count_words(sum(x$types$cells[edge]), "cell"),
    shown = list_some(unique(paste(piled$marker, "=", piled_words(piled)))))
}

sample_reason <- function(fit) {
  shifts <- sample_shifts(fit)
  if (is.null(shifts)) return(NULL)
  most <- order(-apply(abs(shifts), 1L, max))
  most <- most[apply(shifts[most, , drop = FALSE] != 0, 1L, any)]
  shown <- vapply(utils::head(most, 6L), function(s) {
    markers <- which(shifts[s, ] != 0)
    paste0(dQuote(fit$samples[[s]], FALSE), " (", paste(fit$markers[markers], sprintf("%+.2g", shifts[s, markers]),
      collapse = ", "), ")")
  }, "")
  reason("samples_shifted", quantity = list_some(fit$samples[most]), figure = length(most),
    shown = paste(shown, collapse = ", "), more = if (length(most) > 6L) " and others" else "")
}

# Columns that instruments and their software add: time, and what a mass cytometer and its bar codes say of events.
channels_without_markers <- paste0("^(time|hdr-t|event[ _.]?(#|length|number|id)|(bc_separation|mahalanobis)_dist|",
  "bead_?dist|file[ _]?number|sample_?id)$")
without_marker <- function(names) names[grepl(channels_without_markers, trimws(names), ignore.case = TRUE)]

design_reasons <- function(model) {
  both <- cbind(model$standard, model$of_group)
  rows <- nrow(both)
  rank <- qr(both)$rank
  within <- are_told(both, model$contrasts / model$scale)
  freedom <- (if (within) rows else rank) - ncol(model$x)
  untold <- length(model$group) && (rows < rank + 2L || rank == ncol(model$x))
  what <- if (within) "samples" else sprintf("the groups (%s)", model$group_name)
  how <- switch(model$matched,
    order = "`data` does not name the samples, so its rows are in their order",
    formula = "The variables of the formula do not name the samples, so they are in their order")
  shown <- paste(rownames(model$x), model$values, sep = " is ")
  c(if (freedom == 0L) reason("group_confounded", quantity = model$group_name),
    if (freedom %in% 1:3) reason("few_samples", figure = freedom, what = what),
    if (length(model$alone)) reason("group_alone", quantity = model$alone[[1L]]),
    if (untold && freedom > 0L) reason("group_untold", quantity = model$group_name),
    if (!is.null(how)) {
      reason("samples_by_order", how = how,
        shown = paste0(paste(utils::head(shown, 8L), collapse = ", "), if (length(shown) > 8L) ", ..."))
    })
}

#' @export
verdict.differential_abundance <- function(x, ...) {
  check_method(x, "x", ...)
  absolute <- x$change == "absolute"
  rows <- x$effects[!duplicated(x$effects$type), ]
  specks <- as.character(rows$type[!rows$tested & rows$share > 0])
  size <- min(x$effects$ess, na.rm = TRUE)
  agreement <- function(code) {
    reason(code, figure = x$rhat, rhat = format_rhat(x$rhat), size = whole_words(round(size)))
  }
  new_verdict("the comparison",
    if (!isTRUE(x$converged)) agreement("abundance_differs"),
    x$design_reasons,
    if (!absolute && sum(rows$tested) < fewest_references) reason("share_alone", figure = fewest_references),
    if (absolute) shift_reasons(x),
    if (isTRUE(x$converged)) agreement("abundance_agrees"),
    if (length(specks)) reason("specks_untested", quantity = list_some(specks), figure = length(specks)),
    rests_on = x$rests_on)
}

# Whether so many types change that the others may be no majority (bench/type-groups.R).
shift_reasons <- function(x) {
  changing <- lapply(which(x$no_effect < 0.7), function(j) {
    reason("many_change", quantity = effect_words(x$effect_labels, names(x$no_effect)[[j]]), figure = x$no_effect[[j]],
      share = percent(x$no_effect[[j]], 0))
  })
  moved <- lapply(which(x$shift[, "lower"] > 0 | x$shift[, "upper"] < 0), function(j) {
    points <- ratio_words(x$shift[j, ])
    reason("common_shift", quantity = effect_words(x$effect_labels, rownames(x$shift)[[j]]),
      figure = exp(x$shift[[j, "estimate"]]), ratio = points[[1L]], low = points[[2L]], high = points[[3L]],
      level = percent(x$level, 0))
  })
  unlist(c(changing, moved), recursive = FALSE)
}

#' @export
verdict.differential_state <- function(x, ...) {
  check_dots_empty(...)
  check_table(x, "x", state_table_part())
  without <- sum(is.na(x$p))
  odd <- without_marker(levels(x$marker))
  new_verdict("the comparison", attr(x, "design_reasons"),
    if (length(odd)) reason("states_without_marker", quantity = list_some(odd), figure = length(odd)),
    if (without == nrow(x)) reason("no_state_tested") else if (without) reason("states_untested", figure = without),
    rests_on = attr(x, "rests_on"))
}
