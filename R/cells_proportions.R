# Proportions of cell types in the samples of a fit.

#' Proportions of cell types in several samples
#'
#' `type_proportions()` gives the proportion of each cell type in each of [several samples][mixture_samples]. The
#' interval describes the population from which the cells of **this sample** were drawn, and includes the uncertainty
#' about where types end. [differential_abundance()] compares groups of samples.
#' @param types cell types from [cell_types()] of a fit of several samples.
#' @param level probability of the intervals, between 0 and 1.
#' @param ... not used.
#' @return A data frame of class `type_proportions` with a row for each type and sample: `type`, `sample`, `cells` (of
#'   the sample), `proportion` (posterior mean), `lower` and `upper`. Its attribute `draws` has draws x types x samples.
#'   `summary()` gives each type's mean share, and the samples with the lowest and the highest. Both have a [verdict()].
#' @examples
#' set.seed(1)
#' sample_with <- function(share) cbind(CD4 = rnorm(400) + 5 * (runif(400) < share), CD8 = rnorm(400))
#' samples <- lapply(c(a1 = 0.1, a2 = 0.15, b1 = 0.4, b2 = 0.35), sample_with)
#' fit <- dp_mixture(samples, components = 8, iter = 200, seed = 1, threads = 2)
#' shares <- type_proportions(cell_types(fit, threads = 2))
#' shares
#' plot(shares, group = c("A", "A", "B", "B"))
#' @export
type_proportions <- function(types, level = 0.9, ...) {
  check_dots_empty(...)
  draws <- sample_shares(types)
  draws <- draws[, kinds_of_types(types$types) != "phantom", , drop = FALSE]
  level <- check_number(level, "level", min = 0, max = 1)
  chain <- types$map$used$chain
  values <- matrix(draws, length(chain))
  interval <- zap_share(share_interval(values, chain, level))
  names <- colnames(draws)
  samples <- types$fit$samples
  table <- data.frame(
    type = factor(rep(names, length(samples)), names), sample = factor(rep(samples, each = length(names)), samples),
    cells = rep(tabulate(types$fit$sample, length(samples)), each = length(names)),
    proportion = zap_share(colMeans(values)), lower = interval[, 1L], upper = interval[, 2L]
  )
  said <- new_verdict("the proportions", reason("these_samples"), rests_on = list(verdict(types)))
  structure(table, draws = draws, chain = chain, level = level, verdict = said,
    class = c("type_proportions", "warpbayes", "data.frame"))
}

type_share_table <- function() part_table("cells proportion lower upper", type = is.factor, sample = is.factor)

shown_shares <- function(x) {
  draws <- dim(attr(x, "draws"))[1L]
  level <- attr(x, "level")
  known <- length(draws) && length(level)
  error <- if (known) (x$upper - x$lower) / diff(stats::qnorm(interval_ends(level))) / sqrt(draws) else 0
  words <- function(share) share_percent(share, error, 2)
  shown <- data.frame(type = x$type, sample = x$sample, cells = x$cells, proportion = words(x$proportion),
    interval = paste(words(x$lower), "to", words(x$upper)))
  if (!is.null(attr(x, "level"))) names(shown)[[5L]] <- interval_name(attr(x, "level"))
  shown
}

# Part of the columns is a plain table.
in_console.type_proportions <- function(x, ...) {
  if (!type_share_table()$test(x)) return(print(plain_frame(x), ...))
  print(shown_shares(x), row.names = FALSE)
  print_verdict(attr(x, "verdict"))
}

in_chunk.type_proportions <- function(x) {
  if (!type_share_table()$test(x)) return(list(tables = list(plain_frame(x))))
  list(tables = list(shown_shares(x)), verdict = attr(x, "verdict"), rows = 200L)
}

#' @rdname type_proportions
#' @param object a table of proportions.
#' @export
summary.type_proportions <- function(object, ...) {
  check_dots_empty(...)
  check_table(object, "object", type_share_table())
  rows <- split(seq_len(nrow(object)), object$type, drop = TRUE)
  share <- object$proportion
  structure(list(types = data.frame(
    type = names(rows), mean = vapply(rows, function(own) mean(share[own]), 0),
    lowest = vapply(rows, function(own) min(share[own]), 0), highest = vapply(rows, function(own) max(share[own]), 0),
    lowest_in = vapply(rows, function(own) as.character(object$sample[own[[which.min(share[own])]]]), ""),
    highest_in = vapply(rows, function(own) as.character(object$sample[own[[which.max(share[own])]]]), ""),
    row.names = NULL
  ), verdict = attr(object, "verdict")), class = c("summary.type_proportions", "warpbayes"))
}

in_chunk.summary.type_proportions <- function(x) {
  table <- x$types
  for (column in c("mean", "lowest", "highest")) table[[column]] <- percent(table[[column]])
  names(table) <- gsub("_", " ", names(table))
  list(tables = list(`Shares of types over the samples` = table), verdict = x$verdict, rows = 200L)
}

in_console.summary.type_proportions <- function(x, ...) print_chunk(x)

report_content.type_proportions <- function(fit, ...) {
  check_dots_empty(...)
  check_table(fit, "fit", type_share_table())
  types <- length(unique(fit$type))
  samples <- length(unique(fit$sample))
  rows <- ceiling(sqrt(min(12, types))) * samples
  picture <- picture_part("Share of each type in each sample, with intervals. At most the first twelve types.",
    function() plot.type_proportions(fit), c(min(2.5, 0.35 + 0.03 * rows), min(2.5, 0.5 + 0.045 * rows)))
  table_content("Proportions of cell types", sprintf("%s in %s", count_words(types, "type"),
    count_words(samples, "sample")), shown_shares(fit), "Share of each type in each sample", picture,
    verdict = attr(fit, "verdict"))
}

# Proportions of the types in each draw and sample: draws x types x samples.
sample_shares <- function(types) {
  check_cell_types(types)
  fit <- types$fit
  need_samples(types)
  used <- types$map$used
  count <- types$map$count
  shares <- vapply(seq_len(nrow(used)), function(i) {
    weights <- matrix(fit$draws$sample_weights[, , used$draw[[i]], used$chain[[i]]], fit$components)
    in_types <- matrix(0, count, ncol(weights))
    sums <- rowsum(weights, types$map$type_of[, i])
    in_types[as.integer(rownames(sums)), ] <- sums
    in_types / rep(colSums(in_types), each = count)
  }, matrix(0, count, length(fit$samples)))
  shares <- array(shares, c(count, length(fit$samples), nrow(used)), list(types$types$type, fit$samples, NULL))
  aperm(shares, c(3L, 1L, 2L))
}

sample_groups <- function(group, samples) {
  if (!is.atomic(group) || length(group) != length(samples)) {
    stop_input("group", sprintf("must have a group for each of the %s, not ", count_words(length(samples), "sample")),
      show_value(group))
  }
  group <- by_names(group, samples, "group", "sample")
  droplevels(if (is.factor(group)) group else factor(group, unique(group[!is.na(group)])))
}

#' @rdname tidiers
#' @method tidy type_proportions
#' @exportS3Method generics::tidy type_proportions
tidy.type_proportions <- function(x, conf.level = NULL, ...) {
  check_dots_empty(...)
  check_table(x, "x", type_share_table())
  draws <- attr(x, "draws")
  ends <- unclass(x)[c("lower", "upper")]
  if (!is.null(conf.level)) {
    conf.level <- check_number(conf.level, "conf.level", min = 0, max = 1)
    if (!is.numeric(draws) || length(dim(draws)) != 3L || prod(dim(draws)[-1L]) != nrow(x)) {
      stop_input("conf.level", "cannot be changed: rows of the table were removed, so its draws do not fit")
    }
    ends <- as.data.frame(zap_share(share_interval(matrix(draws, nrow(draws)), attr(x, "chain"), conf.level)))
  }
  as_table(data.frame(
    type = x$type, sample = x$sample, cells = x$cells, estimate = x$proportion, conf.low = ends[[1L]],
    conf.high = ends[[2L]]
  ))
}

#' Plot proportions of cell types by sample
#'
#' A panel for each type shows the proportion and interval of each sample, in the colour of its group, on one log scale.
#' @param x from [type_proportions()].
#' @param group the group of each sample, in their order or by name; `NA`: grey. `NULL`: one colour.
#' @param types which types: names or numbers; `NULL`: the twelve most frequent.
#' @inheritParams computing_arguments
#' @return `x`, invisibly.
#' @export
plot.type_proportions <- function(x, group = NULL, types = NULL, main = NULL, ...) {
  check_dots_empty(...)
  paint_picture(picture_of(x, group, types, main, argument = "x"))
  invisible(x)
}

picture_of.type_proportions <- function(x, group = NULL, types = NULL, main = NULL, ..., argument = "object") {
  check_dots_empty(...)
  check_table(x, argument, type_share_table())
  samples <- levels(x$sample)
  if (!is.null(group)) group <- sample_groups(group, samples)
  shown <- chosen_types(types, levels(x$type))
  groups <- levels(group)
  colours <- rep_len(chain_colours, max(1L, length(groups)))
  labels <- stats::setNames(picture_names(levels(x$type)), levels(x$type))
  # One axis for all, on which twice the share is as far everywhere. A type may be absent from a sample.
  own <- x[x$type %in% shown, ]
  least <- max(1e-6, min(own$lower[own$lower > 0], own$proportion[own$proportion > 0]) * 0.8)
  xlim <- log10(c(least, min(1, 1.2 * max(own$upper, own$proportion, 2 * least))))
  place <- function(share) log10(pmax(share, least))
  panels <- lapply(shown, function(type) {
    rows <- x[x$type == type, ]
    colour <- if (is.null(group)) colours else colours[as.integer(group)[match(rows$sample, samples)]]
    colour[is.na(colour)] <- other_colour
    at <- length(samples) + 1L - match(rows$sample, samples)
    panel(xlim, c(0.4, length(samples) + 0.6), list(
      layer("segments", x = place(rows$lower), y = at, xend = place(rows$upper), yend = at, colour = colour, width = 3),
      layer("points", x = place(rows$proportion), y = at, fill = colour)
    ), share_axis(xlim), name_axis(samples), labels[[type]])
  })
  picture(panels, main, "Share of the cells of the sample (log scale)",
    key = if (length(groups)) list(title = NULL, text = groups, colours = colours))
}
