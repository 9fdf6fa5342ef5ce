# Pictures of chains: traces by sweep.

# Traces of several quantities, below each other. Values of the early warm-up outside the range are left out.
trace_picture <- function(parts, main) {
  chains <- parts$chains
  colours <- rep_len(chain_colours, chains)
  xlim <- around(c(1, max(parts$sweeps, 2)))
  panels <- lapply(seq_along(parts$draws), function(i) {
    ylim <- around(parts$range[[i]], 0.06)
    inside <- function(values) pmin(pmax(values, ylim[[1L]]), ylim[[2L]])
    lines <- lapply(seq_len(chains), function(chain) {
      line <- chain_line(parts$draws[[i]][, chain])
      value <- ifelse(line$value == inside(line$value), line$value, NA)
      list(
        if (!is.null(line$low)) layer("ribbon", x = line$sweep, ymin = inside(line$low), ymax = inside(line$high),
          fill = grDevices::adjustcolor(colours[[chain]], 0.2), group = chain),
        layer("lines", x = line$sweep, y = value, colour = colours[[chain]], group = chain)
      )
    })
    warmup <- if (parts$warmup > 0) layer("rects", xmin = xlim[[1L]], xmax = parts$warmup + 0.5, ymin = ylim[[1L]],
      ymax = ylim[[2L]], fill = "#EEEEEE")
    rhat <- parts$rhat[[i]]
    title <- paste0(parts$titles[[i]], if (!is.na(rhat)) paste0("    Rhat ", format_rhat(rhat)),
      if (parts$differs[[i]]) " (chains differ)")
    panel(xlim, ylim, c(list(warmup), unlist(lines, recursive = FALSE)), title = title, alarm = parts$differs[[i]])
  })
  shown <- seq_len(min(chains, length(chain_colours)))
  text <- vapply(shown, function(chain) paste(seq(chain, chains, by = length(chain_colours)), collapse = ", "), "")
  picture(panels, main, parts$axis, columns = 1L, caption = if (parts$warmup > 0) "Shaded: the warm-up",
    key = if (chains > 1) list(title = "Chain", text = text, colours = chain_colours[shown]))
}

settled_range <- function(draws, warmup) {
  settled <- draws[seq_len(nrow(draws)) > warmup / 3, , drop = FALSE]
  settled <- settled[is.finite(settled)]
  if (length(settled)) range(settled) else c(0, 1)
}

# A chain as a line. More than 300 sweeps are shown as the means of 100 blocks, over a band of their ranges.
chain_line <- function(values, blocks = 100L) {
  sweeps <- seq_along(values)
  if (length(values) <= 3L * blocks) return(list(sweep = sweeps, value = values))
  block <- ceiling(sweeps / length(values) * blocks)
  of <- function(statistic, values) as.vector(tapply(values, block, statistic))
  values[!is.finite(values)] <- NA
  list(sweep = of(mean, sweeps), value = of(mean, values), low = of(min, values), high = of(max, values))
}
