# print(), summary(), plot() and tables of a comparison of groups of samples.

abundance_words <- function(x) {
  shape <- dim(x$draws$effects)
  groups <- if (!is.null(x$group_name)) sprintf(", grouped by %s", x$group_name) else ""
  draws <- if (x$tables > 1L) sprintf(", counts of %s of the fit", count_words(x$tables, "draw")) else ""
  c(sprintf("Differential abundance of %s in %s%s: %s", count_words(shape[[3L]], "type"),
    count_words(length(x$samples), "sample"), groups, deparse1(x$formula)),
    sprintf("%s of %s (%s warmup)%s, seed %s", count_words(shape[[2L]], "chain"), count_words(x$iter, "sweep"),
      whole_words(x$warmup), draws, format(x$seed, digits = 16)),
    if (length(x$omitted)) sprintf("Left out, because variables are missing: %s", list_some(x$omitted)), found_words(x))
}

reported <- function(effects, limit) effects[!is.na(effects$fdr) & effects$fdr <= limit, , drop = FALSE]

probability_words <- function(p) {
  shown <- sprintf("%.*f", ifelse(!is.na(p) & p < 0.1, 3L, 2L), p)
  ifelse(p < 0.001, "< 0.001", ifelse(p < 1 & p > 0.99, "> 0.99", shown))
}

found_words <- function(x) {
  absolute <- x$change == "absolute"
  limit <- sprintf("at a false discovery rate of %s", percent(x$limit, 0))
  vapply(unique(x$effects$effect), function(effect) {
    own <- reported(x$effects[x$effects$effect == effect, ], x$limit)
    effect <- effect_words(x$effect_labels, effect)
    if (!nrow(own)) return(sprintf("%s: no type is reported %s.", effect, limit))
    own <- own[order(own$p), ]
    up <- if (absolute) own$change > 0 else own$estimate > 0
    sprintf("%s: %s %s reported %s, by the change of %s: %s.", effect, count_words(nrow(own), "type"),
      if (nrow(own) == 1L) "is" else "are", limit, if (absolute) "absolute numbers" else "shares",
      paste0(ifelse(grepl("^[0-9.]+$", own$type), "type ", ""), own$type, ifelse(up, " (up)", " (down)"),
        collapse = ", "))
  }, "", USE.NAMES = FALSE)
}

# Ratios without the digits that another seed would change. `error`: Monte Carlo errors of their logs.
ratio_words <- function(log_ratio, error = 0) {
  digits <- pmax(1, pmin(pmax(3, 2 - floor(log10(abs(log_ratio)))), floor(1 - log10(pmax(error, 1e-12)))))
  ratio <- mapply(function(ratio, digits) format(signif(ratio, digits), digits = 15), exp(log_ratio),
    rep_len(ifelse(is.na(digits), 2, digits), length(log_ratio)))
  ifelse(log_ratio > log(1000), "> 1000", ifelse(log_ratio < -log(1000), "< 0.001", ratio))
}

abundance_table <- function(x, effects = x$effects) {
  effects <- effects[effects$tested, ]
  error <- (effects$upper - effects$lower) / diff(stats::qnorm(interval_ends(x$level))) / sqrt(effects$ess)
  interval <- function(lower, upper) paste(ratio_words(lower, error), "to", ratio_words(upper, error))
  table <- data.frame(
    type = as.character(effects$type), effect = effect_words(x$effect_labels, effects$effect),
    share = share_words(effects$share),
    `odds ratio` = ratio_words(effects$estimate, error), interval(effects$lower, effects$upper),
    `absolute` = ratio_words(effects$change, error), interval(effects$change_lower, effects$change_upper),
    fdr = probability_words(effects$fdr), sd = formatC(effects$deviation, format = "f", digits = 2),
    check.names = FALSE
  )
  names(table)[c(5L, 7L)] <- paste(percent(x$level, 0), c("interval", "interval "))
  if (x$change == "share") table[6:7] <- NULL
  if (length(unique(table$effect)) == 1L) table$effect <- NULL
  table
}

#' Print, summarise or plot a comparison of groups of samples
#'
#' `print()` shows the types with the smallest tail probabilities: the odds ratio of the share, and `absolute`, the
#' factor of the absolute number. `plot()` draws the logs of the tested changes; reported types are filled.
#' @param x,object from [differential_abundance()].
#' @param types names or numbers of types to plot; `NULL`: the twelve with the smallest false discovery rates.
#' @param effect the coefficient to plot; `NULL`: the first.
#' @param conf.level probability of the intervals of `tidy()`.
#' @inheritParams computing_arguments
#' @return `print()` and `plot()` return `x`, invisibly, and `summary()` a list that prints all types. `tidy()` gives
#'   the effect on the log odds (`estimate` to `conf.high`), and the tested `change` with its `p.value` and `fdr`.
#' @name summary.differential_abundance
NULL

in_console.differential_abundance <- function(x, types = 12, ...) {
  check_abundance(x, "x")
  print_changes(x, abundance_words(x), abundance_table(x, by_probability(x)), types)
}

by_probability <- function(x) x$effects[order(x$effects$p), ]

print_changes <- function(x, words, table, types) {
  types <- check_count(types, "types")
  print_lines(words)
  if (nrow(table)) print(utils::head(table, types), row.names = FALSE)
  if (nrow(table) > types) cat(sprintf("and %s more: summary() shows all\n", whole_words(nrow(table) - types)))
  print_verdict(verdict(x))
}

#' @rdname summary.differential_abundance
#' @export
summary.differential_abundance <- function(object, ...) {
  check_method(object, "object", ...)
  typical <- function(draws) {
    means <- exp(rowMeans(log(matrix(draws, ncol = dim(draws)[[3L]]))))
    stats::quantile(means, c(0.05, 0.5, 0.95), names = FALSE)
  }
  kept <- c("effects", "level", "change", "effect_labels", "limit", "no_effect", "group_name")
  structure(c(list(words = abundance_words(object), verdict = verdict(object)), object[kept], list(
    deviation = typical(object$draws$deviation),
    group_deviation = if (!is.null(object$group_name)) typical(object$draws$group_deviation)
  )), class = c("summary.differential_abundance", "warpbayes"))
}

in_console.summary.differential_abundance <- in_console.summary.differential_state <- function(x, ...) print_chunk(x)

between_samples_words <- function(x) {
  of <- function(what, values) {
    shown <- vapply(signif(values, 2), format, "")
    sprintf("Standard deviation of log odds, typical of the types (geometric mean), between %s: %s (90%% interval %s)",
      what, shown[[2L]], paste(shown[[1L]], "to", shown[[3L]]))
  }
  c(of("samples", x$deviation),
    if (!is.null(x$group_deviation)) of(sprintf("groups (%s)", x$group_name), x$group_deviation),
    sprintf("Share of types without an effect, %s: %s (posterior mean)",
      effect_words(x$effect_labels, names(x$no_effect)), percent(x$no_effect, 0)))
}

# Draws of all tables of counts make one chain, the first sweep of each first, so chains are alike as those of a fit.
array_of_draws.differential_abundance <- function(x, ...) {
  check_method(x, "x", ...)
  shape <- dim(x$draws$effects)
  together <- function(draws) {
    draws <- array(draws, c(shape[[1L]], shape[[2L]] / x$tables, x$tables, length(draws) / prod(shape[1:2])))
    array(aperm(draws, c(3L, 1L, 2L, 4L)), c(shape[[1L]] * x$tables, dim(draws)[c(2L, 4L)]))
  }
  types <- dimnames(x$draws$effects)[[3L]]
  parts <- lapply(x$draws[c("effects", "deviation", if (!is.null(x$group_name)) "group_deviation")], together)
  names <- c(sprintf("log_odds[%s,%s]", types, rep(dimnames(x$draws$effects)[[4L]], each = length(types))),
    sprintf("sd[%s]", types), if (length(parts) > 2L) sprintf("group_sd[%s]", types))
  array(unlist(parts), c(dim(parts[[1L]])[1:2], length(names)), list(NULL, NULL, names))
}

frame_of.differential_abundance <- function(x, ...) {
  check_method(x, "x", ...)
  x$effects
}

#' @rdname summary.differential_abundance
#' @method tidy differential_abundance
#' @exportS3Method generics::tidy differential_abundance
tidy.differential_abundance <- function(x, conf.level = 0.9, ...) {
  check_method(x, "x", ...)
  conf.level <- check_number(conf.level, "conf.level", min = 0, max = 1)
  shape <- dim(x$draws$effects)
  draws <- matrix(x$draws$effects, shape[[1L]] * shape[[2L]])
  place <- replace(rep(NA_integer_, nrow(x$effects)), which(x$effects$tested), seq_len(ncol(draws)))
  ends <- column_quantiles(draws, interval_ends(conf.level))[place, , drop = FALSE]
  as_table(data.frame(
    type = x$effects$type, term = x$effects$effect, estimate = x$effects$estimate,
    std.error = apply(draws, 2L, stats::sd)[place], conf.low = ends[, 1L],
    conf.high = ends[, 2L], change = x$effects$change, p.value = x$effects$p, fdr = x$effects$fdr,
    rhat = x$effects$rhat, ess_bulk = x$effects$ess
  ))
}

glance_of.differential_abundance <- function(x) {
  check_abundance(x, "x")
  shape <- dim(x$draws$effects)
  data.frame(
    types = shape[[3L]], samples = length(x$samples), reported = nrow(reported(x$effects, x$limit)),
    chains = shape[[2L]], draws = shape[[1L]] * shape[[2L]], rhat = x$rhat,
    ess_bulk = min(x$effects$ess, na.rm = TRUE), converged = x$converged, verdict = verdict(x)$answer
  )
}

#' @rdname summary.differential_abundance
#' @export
plot.differential_abundance <- function(x, types = NULL, effect = NULL, main = NULL, ...) {
  check_dots_empty(...)
  paint_picture(picture_of(x, types, effect, main))
  invisible(x)
}

picture_of.differential_abundance <- function(x, types = NULL, effect = NULL, main = NULL, ...) {
  check_dots_empty(...)
  check_abundance(x, "x")
  effect <- chosen_effect(effect, unique(x$effects$effect), x$effect_labels)
  rows <- x$effects[x$effects$effect == effect & x$effects$tested, ]
  absolute <- x$change == "absolute"
  if (absolute) rows[c("estimate", "lower", "upper")] <- rows[c("change", "change_lower", "change_upper")]
  at <- if (is.null(types)) utils::head(order(rows$p), 12L) else match(chosen_types(types, paste(rows$type)), rows$type)
  rows <- rows[at[order(-rows$estimate[at])], ]
  limits <- range(0, rows$estimate, stats::quantile(rows$lower, 0.1), stats::quantile(rows$upper, 0.9))
  limits <- c(max(limits[[1L]] - 1, min(rows$lower, 0)), min(limits[[2L]] + 1, max(rows$upper, 0)))
  rows$name <- picture_names(levels(rows$type), 30L)[rows$type]
  what <- if (absolute) "Log of the absolute change" else "Log odds ratio"
  changes_picture(rows, x$limit, main, sprintf("%s, %s", what, effect_words(x$effect_labels, effect)),
    around(limits))
}

chosen_effect <- function(effect, known, labels) {
  said <- if (is.character(effect)) match(effect, effect_words(labels, known))
  if (length(said) == 1L && !is.na(said)) return(known[[said]])
  if (is.null(effect)) known[[1L]] else check_choice(effect, "effect", known)
}

changes_picture <- function(rows, fdr, main, xlab, limits = around(c(0, rows$lower, rows$upper))) {
  colours <- c(signal_colour, other_colour)
  rows$colour <- ifelse(rows$fdr <= fdr, colours[[1L]], colours[[2L]])
  rows$right <- probability_words(rows$fdr)
  interval_picture(rows, main, paste(xlab, "(right: false discovery rate)"), limits,
    key = list(title = sprintf("At a false discovery rate of %s", percent(fdr, 0)),
      text = c("reported", "not reported"), colours = colours))
}

check_abundance <- function(x, argument) {
  check_fit_class(x, argument, "differential_abundance", "differential_abundance()")
  tested <- if (is.data.frame(x$effects)) sum(x$effects$tested %in% TRUE) else 0L
  check_described(x, argument, list(
    effects = part_table(
      "share estimate lower upper above change change_lower change_upper null lfsr p fdr rhat ess",
      type = is.factor, effect = is.character, tested = function(value) any(value %in% TRUE)),
    draws = part_list(), `draws$effects` = part_numbers_that(rep(NA, 4L), "draws of effects", function(value) {
      prod(dim(value)[3:4]) == tested
    }), seed = part_whole(), chains = part_whole(),
    iter = part_whole(), warmup = part_whole(), tables = part_whole(), level = part_numbers(1), limit = part_numbers(1),
    samples = part_names(), effect_labels = part_names(), change = part_choice(c("absolute", "share")),
    shift = part_numbers(c(NA, 3)), counts = part_numbers_that(c(NA, NA), "a table of types by samples",
      function(value) all(x$samples %in% colnames(value)))
  ))
}

check_intact.differential_abundance <- function(x, argument) check_abundance(x, argument)

report_content.differential_abundance <- function(fit, ...) {
  check_method(fit, "fit", ...)
  list(
    title = "Differential abundance of cell types", words = abundance_words(fit), verdict = verdict(fit),
    main = function() abundance_table(fit, by_probability(fit)),
    sections = function() abundance_sections(fit),
    made = made_words(fit), prior = abundance_prior_words(),
    code = c(needed_words(needed_objects(fit$call, c("types", "data", "totals"))),
      repeating_code(fit$call, "differential_abundance", "result", list(seed = fit$seed))), rows = 20L
  )
}

abundance_sections <- function(fit) {
  summary <- summary.differential_abundance(fit)
  effects <- unique(fit$effects$effect)
  types <- min(12L, nrow(fit$counts))
  pictures <- lapply(utils::head(effects, 8L), function(effect) {
    what <- if (fit$change == "absolute") "absolute changes" else "odds ratios"
    picture_part(sprintf("%s: logs of %s with %s intervals. Types that are reported are filled.",
      effect_words(fit$effect_labels, effect), what, percent(fit$level, 0)),
      function() plot.differential_abundance(fit, effect = effect), c(0.25 + 0.03 * types, 0.45 + 0.05 * types))
  })
  counts <- data.frame(sample = colnames(fit$counts), `all cells` = whole_words(fit$totals),
    t(round(fit$counts)), check.names = FALSE)
  names(counts)[-(1:2)] <- rownames(fit$counts)
  list(
    list(title = "Effects", parts = c(
      list(table_part(abundance_table(fit, by_probability(fit)),
        "Odds ratios of shares and absolute changes, the smallest tail probability first")),
      list(paragraphs(paste("absolute: the factor by which the absolute number changes; fdr: the smallest false",
        "discovery rate at which the type is reported; sd: standard deviation between samples, in log odds."), "note")),
      pictures
    )),
    list(title = "How samples differ", parts = list(paragraphs(between_samples_words(summary)))),
    list(title = "Counts", parts = list(
      table_part(counts, "Cells by sample and type, averaged over draws"),
      table_part(data.frame(sample = rownames(fit$design), fit$design, check.names = FALSE), "Design")
    ))
  )
}

abundance_prior_words <- function() {
  c("Coefficients of predictors with standard deviation 1: normal with mean 0 and standard deviation 2.5.",
    paste("Standard deviation between samples, of each type: log-normal. Its median, a trend with the frequency of the",
      "type, and how alike types are is learned from all types together; the median has a log-normal prior with median",
      "0.5."),
    "Share of types without an effect: beta(8, 1.5). Common shift of the logs of all shares: Cauchy.")
}

in_chunk.summary.differential_abundance <- function(x) {
  list(words = c(x$words, between_samples_words(x)), verdict = x$verdict, rows = 200L,
    tables = list(`Odds ratios` = abundance_table(x)))
}
