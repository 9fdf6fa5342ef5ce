# report() of mixtures and of cell types.

report_content.dp_mixture <- function(fit, markers = NULL, ...) {
  check_method(fit, "fit", ...)
  if (!is.null(markers)) choose_markers(fit, markers, NULL)
  summary <- summary.dp_mixture(fit)
  list(title = method_of(fit)$title, verdict = summary$verdict,
    words = c(summary$words, if (inherits(fit, "relabelled_mixture")) relabelled_words(fit)),
    main = function() components_words(summary, 12L)$table,
    sections = function() mixture_sections(fit, summary, markers),
    made = made_words(fit), prior = prior_words(fit$prior), code = mixture_code(fit), rows = 12L)
}

mixture_sections <- function(fit, summary, markers) {
  bem <- !is.null(summary$starts)
  draw <- function(...) function() plot.dp_mixture(fit, ...)
  # Both pictures of pairs show the cells in their components, which are found once.
  if (!is.null(fit$x)) delayedAssign("class", evaluate_slices(fit, fit$x, "class", resolve_run(NULL, NULL), NULL))
  least <- formals(plot.dp_mixture)$min_weight
  pairs_of <- function(markers) {
    known <- if (!is.null(fit$x)) class
    paint_picture(pairs_picture(fit, pairs_parts(fit, NULL, markers, least, NULL, NULL, known), least, NULL))
  }
  few <- function() {
    chosen <- choose_markers(fit, markers, reference_draw(fit), 3L)
    pairs_of(chosen[seq_len(min(3L, length(chosen)))])
  }
  pairs <- paste("Markers against each other. Below the diagonal: the cells, coloured by component. Above: the regions",
    "that hold 50, 80, 95 and 99% of the mixture.")
  components <- components_words(summary, 30L)
  list(
    list(title = "The mixture", parts = list(
      picture_part(pairs, function() pairs_of(markers), c(0.95, 1.05), few),
      picture_part("Means of the components, in standard deviations of each marker, and their weights.",
        draw(type = "heatmap"), c(0.75, 1.1)),
      if (!bem) picture_part("Weights in order of size: median and 90% interval.", draw(type = "weights")),
      if (!is.null(components$table)) table_part(components$table, components$caption),
      if (!is.null(components$rest)) paragraphs(components$rest, "note")
    )),
    if (inherits(fit, "relabelled_mixture")) {
      list(title = "Components that are matched between draws", parts = list(
        table_part(relabelled_table(fit, 30L)$table, paste("present: share of the draws in which it holds a cell;",
          "stability: 1 if its cells are the same in all draws"))))
    },
    list(title = if (bem) "Starts" else "Convergence", parts = list(
      table_part(if (bem) starts_words(summary$starts) else diagnostics_words(summary$diagnostics, 2)),
      picture_part(if (bem) "The steps." else "The chains. The warm-up is shaded, and Rhat stands at the right.",
        draw(type = "trace"), c(0.85, 1.3))
    )),
    if (!is.null(summary$learned)) {
      list(title = "Learned of the prior", parts = list(table_part(learned_words(summary$learned),
        "Mean, and 90% of the draws")))
    },
    if (!is.null(fit$piled) && nrow(fit$piled)) {
      list(title = "Values that many cells share", parts = list(table_part(piled_rows(fit$piled))))
    }
  )
}

mixture_code <- function(fit) {
  c(needed_words(needed_objects(fit$call, c("x", "sample"))),
    repeating_code(fit$call, "dp_mixture", "fit", list(seed = fit$seed)),
    if (method_of(fit)$sampled) lengthened_code(fit, list(iter = formals(dp_mixture)$iter)),
    if (inherits(fit, "relabelled_mixture")) "fit <- relabel(fit)")
}

report_content.cell_types <- function(fit, markers = NULL, cells = 2000, ...) {
  check_method(fit, "fit", ...)
  cells <- check_count(cells, "cells", min = 0, max = 1e5)
  if (!is.null(markers)) choose_markers(fit$fit, markers, NULL)
  list(title = "Cell types", words = c(types_words(fit), size_words(fit$fit)), verdict = verdict(fit),
    main = function() types_table(fit$types[!fit$types$speck, ]),
    sections = function() types_sections(fit, markers, cells),
    made = made_words(fit$fit), prior = prior_words(fit$fit$prior),
    code = c(mixture_code(fit$fit), repeating_code(fit$call, "cell_types", "types", list(fit = quote(fit))),
      if (!is.null(fit$edited)) "# Types were then joined, split or renamed by hand."))
}

types_sections <- function(types, markers, cells) {
  fit <- types$fit
  tables <- types_tables(list(types = types$types, medians = types$medians, transform = fit$transform))
  draw <- function(...) function() plot.cell_types(types, ...)
  list(
    list(title = "Types", parts = list(
      table_part(tables[[1L]]),
      if (any(kinds_of_types(types$types) == "speck")) {
        paragraphs(sprintf("* a speck, with less than %s of the cells", percent(types$speck)), "note")
      },
      paragraphs(paste("Nearest: the type with the nearest mean; overlap: of two normal populations as far apart;",
        "apart: the share of the draws in which it is a type of its own."), "note"),
      picture_part("Share of each type, with the interval of 90% of the draws.", draw("proportions"), c(0.5, 0.9))
    )),
    list(title = "Cells", parts = list(cell_explorer(types, markers, cells))),
    list(title = "Markers", parts = list(
      picture_part("Median of each type, in standard deviations of the marker from the mean of all cells.",
        draw("heatmap"), c(0.7, 1.1)),
      table_part(tables[[2L]], names(tables)[[2L]])
    )),
    list(title = "Which types are close", parts = list(
      picture_part(paste("The finest branches of the density, and the overlap at which they join. Where types join",
        "close to the dashed line, they may as well be one."), draw("tree"))
    )),
    if (!is.null(fit$samples)) sample_section(types),
    list(title = "The mixture below the types", parts = list(paragraphs(method_of(fit)$words(fit)),
      paragraphs(as.character(verdict(fit)))))
  )
}

column_words <- function(values, digits = 3) {
  spread <- if (length(values) > 1L) stats::sd(values) else abs(values)
  sub("^-(0[.]?0*)$", "\\1", format_to_spread(values, spread, digits))
}

sample_section <- function(types) {
  shares <- type_proportions(types)
  ends <- ifelse(is.na(shares$lower), "-", paste(percent(shares$lower), "to", percent(shares$upper)))
  words <- matrix(paste0(percent(shares$proportion), " (", ends, ")"), nlevels(shares$type))
  table <- data.frame(sample = levels(shares$sample), t(words), check.names = FALSE)
  names(table)[-1L] <- levels(shares$type)
  panels <- ceiling(sqrt(min(12, nlevels(shares$type))))
  list(title = "Samples", parts = list(
    picture_part("Share of each type in each sample, with 90% intervals.", function() plot.type_proportions(shares),
      c(0.35 + 0.2 * panels, 1.2)),
    table_part(table, "Share of each type in each sample, and 90% interval")
  ))
}

in_chunk.cell_types <- function(x) in_chunk.warpbayes_fit(x)

in_chunk.summary.dp_mixture <- function(x) {
  list(words = c(x$words, prior_words(x$prior)), tables = summary_tables(x), verdict = x$verdict)
}

in_chunk.summary.cell_types <- function(x) list(words = x$words, tables = types_tables(x), verdict = x$verdict)

in_chunk.dp_prior <- function(x) list(sentences = prior_words(x))
