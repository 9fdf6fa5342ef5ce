# What each generic does with each class of warpbayes: tests/testthat/classes.csv, which tools/classes.R writes.

# A small object of each class.
one_of_each_class <- function() {
  set.seed(1)
  cells <- rbind(matrix(rnorm(60), 30), matrix(rnorm(60, 5), 30))
  words <- t(sapply(1:12, function(d) rmultinom(1, 20, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
  counts <- rbind(T = c(510, 480, 450, 400), B = c(40, 52, 160, 120), NK = c(12, 0, 4, 11))
  mixture <- dp_mixture(cells, components = 3, iter = 20, chains = 2, seed = 1, threads = 2, sample = rep(1:2, 30))
  types <- cell_types(mixture, threads = 2)
  states <- cell_types(dp_mixture(cells, components = 3, iter = 20, seed = 1, threads = 2, sample = rep(1:3, 20)),
    threads = 2)
  topics <- topic_model(words, 2, iter = 20, chains = 2, seed = 1, threads = 2)
  die <- pmf(rep(1 / 6, 6), from = 1)
  fits <- list(
    dp_mixture = mixture, relabelled_mixture = relabel(mixture, threads = 2), cell_types = types,
    differential_abundance = differential_abundance(counts, ~ group, data.frame(group = c("a", "a", "b", "b")),
      totals = rep(1000, 4), seed = 1, iter = 40, warmup = 10),
    bayes_logit = bayes_logit(am ~ wt + (1 | cyl), mtcars, chains = 2, iter = 40, seed = 1, threads = 2),
    topic_model = topics, topic_comparison = compare_topics(words, 2:3, iter = 20, n = 3, seed = 1, threads = 2),
    martingale_posterior = predictive_resample(cars, copula_regression(dist ~ speed, rho = 0.7, rho_x = 0.6),
      draws = 10, horizon = 10, seed = 1, threads = 2),
    pmf = die, type_proportions = type_proportions(types),
    differential_state = differential_state(states, ~ g, data.frame(g = c(0, 0, 1)), seed = 1, ndraws = 2)
  )
  summaries <- lapply(fits[names(fits) != "relabelled_mixture"], summary)
  names(summaries) <- vapply(summaries, function(x) class(x)[[1L]], "")
  c(fits, list(
    pmf_list = c(die, die),
    perplexity = perplexity(topics, words, seed = 1, threads = 2),
    topic_effects = topic_effects(topics, ~ half, data.frame(half = rep(1:2, 6)), seed = 1, threads = 2),
    dp_prior = dp_prior(), logit_prior = logit_prior(), predictive_model = copula_density(),
    resample_functional = quantiles_of(0.5), row_reader = row_reader(60, function(from, to) cells[from:to, ]),
    warp_info = warp_info(), group_covariances = warpbayes:::VarCorr.bayes_logit(fits$bayes_logit)
  ), summaries)
}

# The generics, with their packages: those that are refused, and those that have a method.
all_generics <- function() {
  refused <- subset(warpbayes:::refusals(), nzchar(package))
  methods <- getNamespaceInfo("warpbayes", "S3methods")
  own <- c("as_pmf", "continue", "drop_warmup", "log_lik", "relabel", "report", "variance")
  rows <- rbind(
    refused[c("package", "generic")],
    data.frame(package = "warpbayes", generic = own),
    data.frame(package = c("generics", "knitr", "tibble"), generic = c("glance", "knit_print", "as_tibble"))
  )
  others <- setdiff(methods[, 1L], c(rows$generic, sub(".*::", "", methods[, 1L][grepl("::", methods[, 1L])])))
  where <- vapply(others, function(name) {
    found <- Filter(function(package) name %in% getNamespaceExports(package), c("base", "stats", "utils", "graphics"))
    c(found, "base")[[1L]]
  }, "")
  rows <- unique(rbind(rows, data.frame(package = unname(where), generic = others)))
  rows[order(rows$package, rows$generic, method = "radix"), ]
}

# "method": the class, or one that it inherits from, has a method. "all": the method of all fits or all results.
# "data.frame": the method of data frames. "refused": an error that says what to use. "default": what R does with a
# number, a list or any object.
cell_of <- function(generic, package, x) {
  own <- asNamespace("warpbayes")
  # Packages that happen to be loaded add methods to data frames for what is refused without them: zoo, na.contiguous().
  counted <- c("base", "stats", "utils", "graphics", "warpbayes", package)
  for (class in setdiff(class(x), "warpbayes")) {
    method <- utils::getS3method(generic, class, optional = TRUE, envir = asNamespace(package))
    if (is.null(method)) next
    if (!environmentName(topenv(environment(method))) %in% counted) return("refused")
    of_frames <- class == "data.frame" || is.data.frame(x) && generic %in% c("Math", "Ops", "Summary")
    return(if (of_frames) "data.frame" else if (class == "warpbayes_fit") "all" else "method")
  }
  # Generics that other versions of a package do not have are refused in those that have them.
  if (generic %in% own$refusals()$generic[own$refusals()$package == package]) {
    called <- if (generic %in% c("Math", "Summary")) "exp" else generic
    return(if (own$keeps_generic(called, x)) "default" else "refused")
  }
  parts <- c(as.data.frame = "frame_of", as_tibble = "frame_of", glance = "glance_of", report = "report_content")
  part <- parts[generic]
  if (!is.na(part)) {
    has_part <- any(vapply(class(x), function(class) {
      exists(paste0(part, ".", class), own) || identical(class, "pmf") && part == "frame_of"
    }, NA))
    return(if (has_part || is.data.frame(x) && part == "frame_of") "all" else "refused")
  }
  if (!is.null(utils::getS3method(generic, "warpbayes", optional = TRUE, envir = asNamespace(package)))) return("all")
  if (package == "warpbayes") "refused" else "default"
}

class_matrix <- function(objects, generics = all_generics()) {
  cells <- vapply(objects, function(x) {
    vapply(seq_len(nrow(generics)), function(i) cell_of(generics$generic[[i]], generics$package[[i]], x), "")
  }, character(nrow(generics)))
  data.frame(generics, cells, check.names = FALSE, row.names = NULL)
}
