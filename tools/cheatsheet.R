# Writes the cheat sheet, one page of A4 as PDF. Each function that it names must be one of the package.
#   Rscript tools/cheatsheet.R FILE.pdf

file <- commandArgs(TRUE)[[1]]
boxes <- list(
  list("Every answer ends with a verdict", c(
    "Usable. || use the figures; reservations follow with their reasons",
    "Not yet. || continue(fit, more = 1000) runs more sweeps",
    "Cannot tell. || too few draws, or chains, to judge",
    "summary(fit) || table, convergence, prior in words",
    "report(fit, \"fit.html\") || a page to send",
    "plot(fit), autoplot(fit) || pictures by base graphics, by ggplot2",
    "tidy(fit), as_draws(fit) || tables; draws for posterior and bayesplot",
    "saveRDS(fit, \"fit.rds\") || keeps a fit; warp_control(checkpoint = ) and resume() survive a crash"
  )),
  list("Computing", c(
    "seed = 1 || the same numbers on any machine and number of threads",
    "threads = 8 || processor threads; NULL: all cores",
    "backend = \"cuda\" || \"cpu\", \"cuda\" or \"auto\"; the same bits in double precision",
    "chains = 4 || chains run at the same time",
    "warp_info() || what this machine has, and why a card cannot be used"
  )),
  list("Cells", c(
    "fit <- dp_mixture(x, components = 64) || mixture of normals; x: matrix, flowSet, SingleCellExperiment",
    "transform = \"logicle\", sample = id || in the call: scale of markers, sample of each cell",
    "types <- cell_types(fit) || populations with intervals",
    "join_types(types, 3, 4); split_type(types, 2) || by hand",
    "levels(types) <- c(\"T\", \"B\") || names; type_names(types) proposes some",
    "type_proportions(types) || share of each type in each sample",
    "differential_abundance(types, ~ group, data) || types that differ between groups of patients",
    "differential_state(types, ~ group, data) || markers that change within a type",
    "add_types(x, types); predict(types, new) || labels into the data; of new cells",
    "relabel(fit) || components with the same number in all draws"
  )),
  list("Yes and no, counts, classes", c(
    "fit <- bayes_logit(y ~ x + (1 | g), data) || logistic regression, with groups",
    "family = \"poisson\" || or \"negbinomial\", \"multinomial\"",
    "cbind(yes, no) ~ x; offset(log(time)) || proportions; exposure",
    "logit_prior() || prior, on standardised predictors",
    "predict(fit, new, type = \"response\") || means with intervals",
    "posterior_predict(fit); loo(fit); pp_check(fit) || of rstantools, loo and bayesplot",
    "rpolyagamma(n, shape, tilt) || Polya-Gamma variables of any shape"
  )),
  list("Documents", c(
    "fit <- topic_model(x, topics = 20) || x: matrix, dfm, DocumentTermMatrix, data frame",
    "compare_topics(x, c(5, 10, 20)) || how many topics?",
    "top_terms(fit); top_documents(fit) || what a topic is about",
    "seed_words = list(sport = c(\"goal\")) || in the call: topics that begin with words",
    "topic_stability(fit) || which topics do all chains find?",
    "topic_effects(fit, ~ year, data) || what shares of topics depend on",
    "perplexity(fit, new); coherence(fit, x) || quality",
    "add_documents(fit, new) || more documents; predict() for their topics",
    "rcategorical(weights) || draws from many discrete distributions"
  )),
  list("Sums, exactly", c(
    "d6 <- pmf(rep(1 / 6, 6), from = 1) || a distribution on whole numbers",
    "pmf_poisson(3); pmf_binomial(10, 0.3) || by name",
    "sum_pmf(x, y); x + y; rep_sum_pmf(x, 10) || sums of independent variables",
    "compound_pmf(number, x) || a random number of claims",
    "dpmf(x, 3); ppmf(x, 3); qpmf(x, 0.9); rpmf(x, 5) || as dnorm() and its like",
    "mean(x); variance(x); quantile(x, 0.99) || moments and quantiles",
    "value_at_risk(x, 0.99); layer_pmf(x, 10, 50) || for actuaries",
    "sum_of_highest_pmf(rep(d6, 4), 3) || the 3 highest of 4 dice",
    "condition_on_sum_pmf(x, y, 10) || a part, given the total",
    "rank_test(x, y) || exact, with ties"
  )),
  list("Data without a likelihood", c(
    "fit <- predictive_resample(y, copula_density()) || posterior of mean, median, density",
    "functional = list(\"mean\", quantiles_of(0.9)) || in the call: what to compute",
    "support = c(0, Inf) || of copula_density(): nothing is predicted below 0",
    "copula_regression(y ~ x) || curves; copula_classification(y ~ x) for classes",
    "bayesian_bootstrap(); pitman_yor(0.5, 1) || urns",
    "normal_mean() || the t interval"
  )),
  list("In a package of your own", c(
    "LinkingTo: warpbayes || in DESCRIPTION",
    "#include <warpbayes.h> || draws from C and C++: vignette(\"c-interface\")"
  ))
)

library(warpbayes)
others <- c("c", "list", "rep", "mean", "quantile", "plot", "autoplot", "tidy", "as_draws", "summary", "saveRDS",
  "levels", "cbind", "offset", "log", "predict", "posterior_predict", "loo", "pp_check", "vignette", "dnorm")
text <- unlist(lapply(boxes, `[[`, 2))
named <- unique(unlist(regmatches(text, gregexpr("[A-Za-z_.0-9]+(?=\\()", text, perl = TRUE))))
wrong <- setdiff(named, c(others, getNamespaceExports("warpbayes")))
if (length(wrong)) stop("the cheat sheet names functions that do not exist: ", paste(wrong, collapse = ", "))

ink <- "#1a1a1a"
blue <- "#0b4f7d"
grDevices::pdf(file, width = 11.69, height = 8.27, title = "warpbayes: cheat sheet")
par(mar = c(0, 0, 0, 0), family = "Helvetica", col = ink)
plot.new()
plot.window(c(0, 11.69), c(0, 8.27), xaxs = "i", yaxs = "i")
rect(0, 7.72, 11.69, 8.27, col = blue, border = NA)
text(0.35, 8, "warpbayes: cheat sheet", adj = c(0, 0.5), cex = 1.5, font = 2, col = "white")
text(11.34, 8, sprintf("version %s. Massively parallel Bayesian computation. Begin with vignette(\"warpbayes\")",
  packageVersion("warpbayes")), adj = c(1, 0.5), cex = 0.8, col = "white")

columns <- list(c(1, 2, 4), c(3, 7, 8), c(5, 6))
width <- (11.69 - 0.7 - 0.5) / 3
size <- 0.66
line <- 0.124
lowest <- Inf
# The code on its line, and the words on the next ones, a little to the right.
words_of <- function(words) {
  pieces <- strsplit(words, " ")[[1]]
  lines <- character()
  for (piece in pieces) {
    last <- if (length(lines)) paste(lines[[length(lines)]], piece) else piece
    fits <- strwidth(last, cex = size) < width - 0.3
    if (length(lines) && fits) lines[[length(lines)]] <- last else lines <- c(lines, piece)
  }
  lines
}
for (j in seq_along(columns)) {
  left <- 0.35 + (j - 1) * (width + 0.25)
  y <- 7.5
  for (box in boxes[columns[[j]]]) {
    rect(left, y - 0.19, left + width, y + 0.05, col = "#e3eef5", border = NA)
    text(left + 0.06, y - 0.07, box[[1]], adj = c(0, 0.5), cex = 0.82, font = 2, col = blue)
    y <- y - 0.31
    for (row in strsplit(box[[2]], " || ", fixed = TRUE)) {
      text(left + 0.06, y, row[[1]], adj = c(0, 0.5), cex = size, family = "Courier", font = 2)
      if (strwidth(row[[1]], cex = size, family = "Courier", font = 2) > width - 0.08) stop("too wide: ", row[[1]])
      for (words in words_of(row[[2]])) {
        y <- y - line
        text(left + 0.2, y, words, adj = c(0, 0.5), cex = size)
      }
      y <- y - line - 0.05
    }
    y <- y - 0.12
  }
  lowest <- min(lowest, y)
}
invisible(dev.off())
if (lowest < 0.1) stop("the cheat sheet is longer than its page: ", round(lowest, 2))
