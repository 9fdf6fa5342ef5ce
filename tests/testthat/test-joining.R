# Rows have names: at every door, shuffled tables and vectors give the same numbers or an error.

input <- "warpbayes_error_input"
quiet <- function(code) suppressMessages(code, classes = "message")

set.seed(1)
samples <- paste0("s", 1:8)
counts <- matrix(rpois(3 * 8, 80), 3, dimnames = list(c("T", "B", "NK"), samples))
counts["B", 1:4] <- counts["B", 1:4] * 6
words <- matrix(rpois(24 * 6, 3), 24, dimnames = list(paste0("d", 1:24), letters[1:6]))
patients <- data.frame(sample_id = samples, group = rep(c("ill", "well"), each = 4), age = rnorm(8))
speeches <- data.frame(doc_id = rownames(words), party = rep(c("left", "right"), 12), day = rnorm(24))
cells <- lapply(stats::setNames(1:8, samples), function(i) {
  first <- runif(40) < 0.5
  cbind(CD4 = rnorm(40) + 6 * first, CD8 = rnorm(40) + first * (i < 5))
})
fit_of_types <- function() {
  cell_types(dp_mixture(cells, components = 4, iter = 60, chains = 1, seed = 1, threads = 1), threads = 1)
}

fit_of_topics <- function(...) topic_model(words, 2, iter = 12, chains = 1, seed = 1, threads = 1, ...)
logit_of <- function(formula = am ~ wt, ..., data = mtcars) {
  unname(coef(bayes_logit(formula, data, ..., chains = 1, iter = 30, seed = 1, threads = 1)))
}
abundance_of <- function(data = patients, formula = ~ group + age, totals = NULL, types = counts) {
  differential_abundance(types, formula, data, totals = totals, chains = 1, iter = 60, warmup = 20, seed = 1,
    threads = 1)$effects$estimate
}

# Of each door that takes a table: the numbers that it gives, the column with the names, and the table.
tables <- function() {
  types <- fit_of_types()
  plain <- fit_of_topics()
  prior <- quiet(fit_of_topics(prevalence = ~ party + day, data = speeches))
  list(
    differential_abundance = list(numbers = abundance_of, key = "sample_id", table = patients),
    of_types = list(numbers = function(data) abundance_of(data, ~ group, types = types), key = "sample_id",
      table = patients),
    differential_state = list(numbers = function(data) {
      differential_state(types, ~ group, data, markers = "CD8", seed = 1, threads = 1)$estimate
    }, key = "sample_id", table = patients),
    prevalence = list(numbers = function(data) {
      topic_effects(fit_of_topics(prevalence = ~ party + day, data = data))$estimate
    }, key = "doc_id", table = speeches),
    topic_effects = list(numbers = function(data) {
      topic_effects(plain, ~ party + day, data, ndraws = 4, seed = 1, threads = 1)$estimate
    }, key = "doc_id", table = speeches),
    predict = list(numbers = function(data) {
      c(predict(prior, words, data = data, iter = 4, seed = 1, threads = 1))
    }, key = "doc_id", table = speeches),
    perplexity = list(numbers = function(data) {
      as.numeric(perplexity(prior, words, data = data, iter = 4, seed = 1, threads = 1))
    }, key = "doc_id", table = speeches)
  )
}

test_that("tables with shuffled rows give the same numbers at every door, however they name them", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "nothing here depends on the backend")
  doors <- tables()
  for (door in names(doors)) {
    numbers <- doors[[door]]$numbers
    table <- doors[[door]]$table
    key <- doors[[door]]$key
    n <- nrow(table)
    plain <- table[names(table) != key]
    expected <- quiet(numbers(table))
    expect_true(all(is.finite(expected)))
    expect_false(isTRUE(all.equal(quiet(numbers(cbind(table[key], plain[n:1, ], row.names = NULL))), expected)))
    column <- function(name, values) stats::setNames(data.frame(values, plain), c(name, names(plain)))
    named <- table[[key]]
    kinds <- list(
      column = table, `row names` = data.frame(plain, row.names = named), file_name = column("file_name", named),
      `other name` = column("which", named), suffix = column("file", paste0(named, ".fcs")),
      `long suffix` = column("which", paste0(named, "_live.fcs.gz")), folder = column("file", paste0("a/b/", named)),
      factor = column("which", factor(named)), spaces = column("which", paste0(" ", named, "  ")),
      case = column("which", toupper(named)), `more rows` = rbind(table, utils::tail(transform(table, day = 0), 0)),
      `both` = data.frame(table, row.names = named)
    )
    more <- rbind(table, table[1, ])
    more[[key]][[n + 1]] <- "another"
    kinds$`more rows` <- more
    for (kind in names(kinds)) {
      data <- kinds[[kind]]
      said <- tryCatch(numbers(data[rev(seq_len(nrow(data))), ]), warpbayes_joined = identity)
      expect_match(conditionMessage(said), "rows are joined to the (new )?(sample|document)s by its (row names|column)",
        label = paste(door, kind))
      expect_identical(quiet(numbers(data[sample(nrow(data)), , drop = FALSE])), expected, label = paste(door, kind))
    }
    # Names that are wrong, or right only for some, are refused with the name.
    first <- named[[1L]]
    wrong <- list(none = paste0("x", named), some = replace(named, 1, "x"), missing = replace(named, 1, NA),
      twice = replace(named, 1, named[[2L]]))
    for (kind in names(wrong)) {
      expect_error(numbers(column(key, wrong[[kind]])), sprintf("none for the .*\"%s\"", first), class = input,
        label = paste(door, kind))
    }
    expect_error(numbers(rbind(table, table[1, ])), sprintf("several for the .*\"%s\"", first), class = input)
    expect_error(numbers(data.frame(plain, row.names = wrong$some)), "its row names, but none", class = input)
    expect_error(numbers(data.frame(table, id = rev(named))), "twice, in different orders", class = input)
    # Without any name the order of the rows counts, and one message says so.
    messages <- 0
    values <- withCallingHandlers(numbers(plain), warpbayes_joined = function(message) {
      messages <<- messages + 1
      expect_match(conditionMessage(message), "the rows of `data` have no names: rows of `data` are taken in the")
      invokeRestart("muffleMessage")
    })
    expect_identical(values, expected)
    expect_identical(messages, 1)
    # Rows of a part of the data have numbers, which are no names.
    expect_identical(quiet(numbers(rbind(plain[n, ], plain)[-1, ])), expected)
  }
})

test_that("metadata are joined to documents that come in the order of their first tokens", {
  at <- which(words > 0, arr.ind = TRUE)
  table <- data.frame(doc_id = rownames(words)[at[, 1]], term = colnames(words)[at[, 2]], n = words[at])
  table <- table[order(-table$n), ]
  order <- unique(table$doc_id)
  expect_false(identical(order, rownames(words)))
  effects <- function(data) {
    fit <- topic_model(table, 2, prevalence = ~ party + day, data = data, iter = 12, chains = 1, seed = 1, threads = 1)
    expect_identical(fit$documents, order)
    topic_effects(fit)$estimate
  }
  sorted <- speeches[match(order, speeches$doc_id), -1]
  rownames(sorted) <- NULL
  expect_identical(quiet(effects(speeches)), quiet(effects(sorted)))
  # A part of such a table has the levels of the whole.
  table$doc_id <- factor(table$doc_id)
  kept <- topic_model(table[table$doc_id != "d3", ], 2, iter = 2, chains = 1, seed = 1, threads = 1)
  expect_identical(kept$documents, setdiff(levels(table$doc_id), "d3"))
})

test_that("samples in reverse order with a suffix have the effect of their own", {
  files <- patients[8:1, ]
  files$sample_id <- paste0(files$sample_id, ".fcs")
  expect_identical(quiet(abundance_of(files)), quiet(abundance_of(patients)))
  # The suffix may be that of the counts.
  long <- counts
  colnames(long) <- paste0(samples, ".fcs")
  expect_identical(quiet(abundance_of(patients[8:1, ], types = long)), quiet(abundance_of(patients)))
  # Two suffixes would choose different rows.
  both <- rbind(transform(patients, sample_id = paste0(samples, "-pre")),
    transform(patients, sample_id = paste0(samples, "-post")))
  expect_error(abundance_of(both), "none for the samples \"s1\"", class = input)
  # s1 is not the beginning of s10.
  expect_error(abundance_of(transform(patients, sample_id = paste0(samples, "0"))), "none for", class = input)
})

test_that("names are found in numbers, leading zeros, integer64 and Unicode forms", {
  numbered <- counts
  colnames(numbered) <- c(21:27, "100000")
  estimate <- quiet(abundance_of())
  for (id in list(c(21:27, 1e5), c(21:27, 100000L), sprintf("%08d", c(21:27, 100000L)), int64(c(21:27, 1e5)))) {
    expect_identical(quiet(abundance_of(replace(patients, "sample_id", list(id)), types = numbered)), estimate)
    if (inherits(id, "integer64")) next
    expect_identical(quiet(abundance_of(replace(patients, "sample_id", list(id))[8:1, ], types = numbered)), estimate)
  }
  # A column of days 1, 2, ... does not name samples that are numbered.
  colnames(numbered) <- 1:8
  data <- data.frame(group = patients$group, age = patients$age, day = 8:1)
  expect_identical(quiet(abundance_of(data, types = numbered)), estimate)
  skip_if_not_installed("stringi")
  composed <- counts
  colnames(composed) <- paste0("\u00e9", 1:8)
  expect_identical(quiet(abundance_of(transform(patients, sample_id = paste0("e\u0301", 1:8))[8:1, ],
    types = composed)), estimate)
})

test_that("variables of a formula outside of data are read by their names", {
  age <- stats::setNames(patients$age, samples)[8:1]
  group <- stats::setNames(patients$group, samples)
  estimate <- quiet(abundance_of())
  expect_identical(quiet(abundance_of(NULL, ~ group + age)), estimate)
  expect_identical(quiet(abundance_of(patients[8:1, 1:2], ~ group + age)), estimate)
  names(age)[[2L]] <- "other"
  expect_error(abundance_of(NULL, ~ group + age), "`age` has names other than the samples .*\"other\"", class = input)
  wt <- stats::setNames(mtcars$wt, rownames(mtcars))
  am <- stats::setNames(mtcars$am, rownames(mtcars))
  mine <- mtcars["am"]
  for (order in list(1:32, 32:1)) {
    z <- wt[order]
    expect_identical(logit_of(am ~ z, data = mine), logit_of())
    expect_identical(logit_of(am ~ z, data = NULL), logit_of())
  }
  z <- stats::setNames(wt, c(names(wt)[-1], "other"))
  expect_error(logit_of(am ~ z, data = mine), "`z` has names", class = input)
})

# Of each argument that takes a vector for things with names: the numbers that a vector gives, and the vector.
vectors <- function() {
  types <- fit_of_types()
  shares <- type_proportions(types)
  markers <- c("CD4", "CD8", "CD20")
  blobs <- matrix(rnorm(180), 60, dimnames = list(paste0("c", 1:60), markers))
  mixture_of <- function(...) {
    dp_mixture(blobs, components = 3, iter = 10, chains = 1, seed = 1, threads = 1, ...)$draws$means
  }
  prior_of <- function(...) mixture_of(prior = dp_prior(...))
  plain <- fit_of_topics()
  fit <- bayes_logit(am ~ wt, mtcars, chains = 1, iter = 30, seed = 1, threads = 1)
  rows <- rownames(mtcars)
  x <- cbind(a = 1, b = mtcars$wt)
  step <- function(...) polyagamma_step(`rownames<-`(x, rows), mtcars$am, ..., seed = 1, threads = 1)$beta
  grouped <- transform(mtcars, f = factor(cyl, labels = c("four", "six", "eight")))
  copula <- function(formula, ...) {
    c(predictive_resample(mtcars, formula(...), 2, 2, seed = 1, threads = 1)$draws)
  }
  named <- function(values, names) stats::setNames(values, names)
  list(
    totals = list(function(v) abundance_of(totals = v), named(2000 + 1:8, samples)),
    group = list(function(v) as.character(sample_groups(v, samples)), named(patients$group, samples)),
    sample = list(function(v) mixture_of(sample = v), named(rep(c("u", "v", "v"), 20), rownames(blobs))),
    start = list(function(v) mixture_of(control = warp_control(start = v)), named(rep(1:3, 20), rownames(blobs))),
    mean = list(function(v) prior_of(mean = v), named(1:3 + 0, markers)),
    scale = list(function(v) prior_of(scale = v), named(1:3 + 0, markers)),
    floor = list(function(v) prior_of(floor = v), named(1:3 / 10, markers)),
    transform = list(function(v) mixture_of(transform = v), named(c(5, 50, 150), markers)),
    thresholds = list(function(v) sort(unlist(strsplit(type_names(types, v), " "))), named(c(3, 0.5), markers[1:2])),
    types = list(function(v) {
      levels(types) <- v
      levels(types)
    }, named(LETTERS[seq_along(levels(types))], levels(types))),
    alpha = list(function(v) fit_of_topics(alpha = v, seed_words = list(one = "a", two = "b"))$phi,
      named(c(0.1, 2), c("one", "two"))),
    beta = list(function(v) fit_of_topics(beta = v)$phi, named(1:6 / 10, letters[1:6])),
    topic_names = list(function(v) {
      topic_names(plain) <- v
      topic_names(plain)
    }, named(c("x", "y"), 1:2)),
    weights = list(function(v) logit_of(weights = v), named(1:32 / 8, rows)),
    offset = list(function(v) logit_of(offset = v), named(1:32 / 8, rows)),
    `weights by a column` = list(function(v) logit_of(weights = v, data = data.frame(mtcars, id = letters[c(1:26, 1:6)],
      car = rows, row.names = NULL)), named(1:32 / 8, rows)),
    location = list(function(v) logit_of(am ~ wt + qsec, prior = logit_prior("normal", location = v)),
      named(c(0, 3), c("wt", "qsec"))),
    contrasts = list(function(v) logit_of(am ~ f, contrasts = list(f = matrix(v, dimnames = list(names(v), NULL))),
      data = grouped), named(c(-1, 0, 3), c("four", "six", "eight"))),
    step_beta = list(function(v) step(v), named(c(1, -0.3), c("a", "b"))),
    step_mean = list(function(v) step(c(0, 0), prior_mean = v, prior_precision = 1), named(c(1, -1), c("a", "b"))),
    step_offset = list(function(v) step(c(0, 0), offset = v), named(1:32 / 8, rows)),
    folds = list(function(v) loo::kfold(fit, folds = v)$pointwise, named(rep(1:2, c(10, 22)), rows)),
    rho_x = list(function(v) copula(copula_regression, mpg ~ wt + qsec, rho = 0.5, rho_x = v),
      named(c(0.3, 0.9), c("wt", "qsec"))),
    mix = list(function(v) c(as.vector(mix_pmf(list(p = pmf(c(0.5, 0.5)), q = pmf(c(0.9, 0.1))), v))),
      named(c(0.2, 0.8), c("p", "q"))),
    poisson_binomial = list(function(v) as.vector(pmf_poisson_binomial(c(p = 0.1, q = 0.7), v)),
      named(c(1, 3), c("p", "q"))),
    losses = list(function(v) as.vector(discretize_pmf(c(p = 1, q = 4), by = 1, weights = v)),
      named(c(1, 3), c("p", "q")))
  )
}

test_that("named vectors in another order give the same numbers, and other names are refused", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "nothing here depends on the backend")
  skip_if_not_installed("loo")
  vectors <- vectors()
  for (argument in names(vectors)) {
    numbers <- function(values) quiet(vectors[[argument]][[1L]](values))
    values <- vectors[[argument]][[2L]]
    expected <- numbers(values)
    expect_identical(numbers(rev(values)), expected, label = argument)
    # Other numbers: the order has a meaning.
    expect_false(identical(numbers(stats::setNames(rev(values), names(values))), expected), label = argument)
    strange <- stats::setNames(values, c("strange", names(values)[-1L]))
    expect_error(numbers(strange), "strange|names", class = input, label = argument)
    twice <- stats::setNames(values, c(names(values)[[2L]], names(values)[-1L]))
    expect_error(numbers(twice), class = input, label = argument)
  }
  # One number for several markers has no name.
  expect_error(per_marker(c(CD4 = 3), "prior$mean", c("CD4", "CD8")), "other than the markers", class = input)
})

test_that("matrices have the names of their rows and columns", {
  markers <- c("CD4", "CD8", "CD20")
  scale <- crossprod(matrix(c(2, 1, 0, 0, 3, 1, 1, 0, 1), 3)) * 1
  dimnames(scale) <- list(markers, markers)
  turned <- scale[3:1, 3:1]
  expect_identical(by_dimnames(turned, markers, "scale", "marker"), unname(scale))
  expect_identical(by_dimnames(scale[3:1, ], markers, "scale", "marker"), unname(scale))
  expect_identical(by_dimnames(`colnames<-`(turned, NULL), markers, "scale", "marker"), unname(scale))
  expect_error(by_dimnames(`colnames<-`(turned, letters[1:3]), markers, "scale", "marker"), "markers", class = input)
  beta <- matrix(1:12 / 10, 2, dimnames = list(c("one", "two"), letters[1:6]))
  phi <- function(beta) fit_of_topics(beta = beta, seed_words = list(one = "a", two = "b", weight = 0.1))$phi
  expect_identical(phi(beta[2:1, 6:1]), phi(beta))
})

test_that("levels without rows are dropped", {
  skip_where_repeated()
  stacked <- do.call(rbind, cells)
  of <- factor(rep(samples, each = 40), samples)
  kept <- of %in% samples[c(1, 3, 5)]
  fit <- dp_mixture(stacked[kept, ], sample = of[kept], components = 3, iter = 4, chains = 1, seed = 1, threads = 1)
  expect_identical(fit$samples, samples[c(1, 3, 5)])
  part <- transform(patients, group = factor(group, c("ill", "well", "unknown")))
  expect_identical(quiet(abundance_of(part)), quiet(abundance_of()))
})

# Numbers with a unit of package units, which need not be installed.
with_units <- function(values, unit) {
  structure(values, units = structure(list(numerator = unit, denominator = character()), class = "symbolic_units"),
    class = "units")
}

test_that("units of new data are converted or refused, at every door", {
  skip_where_repeated()
  skip_if_not_installed("mgcv")
  skip_if(resolve_run()$backend != "cpu", "nothing here depends on the backend")
  base <- data.frame(x = c(1:12, 3:14) + 0, y = sin(1:24), up = rep(c(0, 1, 1, 0), 6))
  doors <- list(
    bayes_logit = function(data, new) {
      predict(bayes_logit(up ~ x, data, chains = 1, iter = 10, seed = 1, threads = 1), new)[, "mean"]
    },
    inside = function(data, new) {
      predict(bayes_logit(up ~ I(as.numeric(x)^2), data, chains = 1, iter = 10, seed = 1, threads = 1), new)[, "mean"]
    },
    smooth = function(data, new) {
      predict(bayes_logit(up ~ s(x, k = 4), data, chains = 1, iter = 10, seed = 1, threads = 1), new)[, "mean"]
    },
    group = function(data, new) {
      predict(bayes_logit(up ~ (x | g), transform(data, g = rep(1:3, 8)), chains = 1, iter = 10, seed = 1,
        threads = 1), transform(new, g = 1))[, "mean"]
    },
    offset = function(data, new) {
      predict(bayes_logit(up ~ 1, data, offset = as.numeric(x) / 10, chains = 1, iter = 10, seed = 1, threads = 1),
        new)[, "mean"]
    },
    likelihood = function(data, new) {
      c(log_lik(bayes_logit(up ~ x, data, chains = 1, iter = 10, seed = 1, threads = 1), transform(new, up = 1)))
    },
    copula = function(data, new) {
      fit <- predictive_resample(data, copula_regression(y ~ x, rho = 0.5, rho_x = 0.5), 2, 2, seed = 1, threads = 1)
      unlist(predict(fit, new, threads = 1))
    },
    points = function(data, new) {
      predictive_resample(data, copula_regression(y ~ x, new, rho = 0.5, rho_x = 0.5), 2, 2, seed = 1,
        threads = 1)$cdf0
    },
    at = function(data, new) {
      topic_effects(quiet(fit_of_topics(prevalence = ~ x, data = data)), at = new)$estimate
    },
    prevalence = function(data, new) {
      c(predict(quiet(fit_of_topics(prevalence = ~ x, data = data)), words[1:3, ], data = new, iter = 4, seed = 1,
        threads = 1))
    }
  )
  column <- function(data, values) {
    data$x <- values
    data
  }
  new <- data.frame(x = c(2, 7, 30), y = 0)
  kinds <- list(
    units = function(x) with_units(x, "m"), date = function(x) as.Date("1970-01-01") + x,
    time = function(x) as.POSIXct(x, origin = "1970-01-01", tz = "UTC"),
    days = function(x) as.difftime(x, units = "days"),
    clock = function(x) structure(as.integer(x), class = "ITime")
  )
  for (door in names(doors)) {
    values <- function(data, new) unname(quiet(doors[[door]](data, new)))
    plain <- values(base, new)
    expect_true(all(is.finite(plain)))
    for (kind in names(kinds)) {
      of <- kinds[[kind]]
      label <- paste(door, kind)
      dated <- column(base, of(base$x))
      expect_equal(values(dated, column(new, of(new$x))), plain, tolerance = 1e-8, label = label)
      # A unit is missing, added or another one.
      expect_error(values(dated, new), "\"x\" as numbers, but the fit had", class = input, label = label)
      expect_error(values(base, column(new, of(new$x))), "\"x\" as .*, but the fit had numbers", class = input,
        label = label)
      other <- kinds[[match(kind, names(kinds)) %% length(kinds) + 1L]]
      expect_error(values(dated, column(new, other(new$x))), "\"x\" as", class = input, label = label)
    }
    hours <- column(new, as.difftime(24 * new$x, units = "hours"))
    expect_equal(values(column(base, kinds$days(base$x)), hours), plain, tolerance = 1e-8, label = door)
    # Without package units this is refused, and with it converted.
    far <- column(new, with_units(new$x / 1000, "km"))
    expect_true(tryCatch(isTRUE(all.equal(values(column(base, kinds$units(base$x)), far), plain, tolerance = 1e-8)),
      warpbayes_error_input = function(error) grepl("\"x\" as .* in km, but .* in m$", conditionMessage(error))),
    label = door)
    expect_error(values(column(base, kinds$units(base$x)), column(new, with_units(new$x, "s"))), "in s, but .* in m$",
      class = input)
  }
})

test_that("arguments that are not columns take no numbers with a unit", {
  metres <- with_units(c(0.5, 0.5), "m")
  clock <- structure(1:2, class = "ITime")
  for (values in list(metres, clock)) {
    expect_error(pmf(values), "numeric vector, not an? (units|ITime)", class = input)
    expect_error(rcategorical(values), class = input)
    expect_error(rpolyagamma(2, values), class = input)
    expect_error(dp_prior(mean = values), class = input)
    expect_error(discretize_pmf(values, by = 1), class = input)
    expect_error(as_marker_matrix(data.frame(a = 1:2, b = I(values))), class = input)
    expect_error(predictive_resample(values, bayesian_bootstrap(), 2, 2, seed = 1), class = input)
    response <- replace(mtcars, "carb", list(structure(mtcars$carb, class = class(values))))
    expect_error(logit_of(carb ~ wt, family = "poisson", data = response), class = input)
  }
})
