# Every verdict opens with its answer, and the answer and its figures agree with the table that is shown.

answer_of <- function(verdict) {
  answer <- regmatches(verdict[[1]], regexpr("^(Usable|Not yet|Cannot tell)(?=[,.])", verdict[[1]], perl = TRUE))
  if (!length(answer)) return("none")
  c(Usable = TRUE, `Not yet` = FALSE, `Cannot tell` = NA)[[answer]]
}

# The figures of the first sentence are the extremes of the table, less the quantities that the answer excepts.
expect_figures <- function(verdict, table, words) {
  said <- regmatches(verdict[[1]], regexec("Rhat is at most ([0-9.]+).*size at least ([0-9]+)", verdict[[1]]))[[1]]
  excepted <- if (grepl("^Usable, except", verdict[[1]])) sub("\\..*", "", verdict[[1]]) else ""
  table <- table[!vapply(words(table$quantity), grepl, NA, excepted, fixed = TRUE), ]
  expect_identical(said[[2]], sprintf("%.2f", max(table$rhat, na.rm = TRUE)))
  expect_identical(said[[3]], sprintf("%.0f", min(table$ess_bulk, na.rm = TRUE)))
}

test_that("the answer follows from the table, for what decides and for the rest", {
  set.seed(1)
  draws <- function(n, phi = 0) apply(matrix(rnorm(4 * n), n), 2, stats::filter, phi, "recursive")
  judge <- function(...) {
    quantities <- list(...)
    table <- diagnose_quantities(quantities)
    words <- function(names) paste("the", names)
    verdict <- with_answer(judge_convergence(quantities, table, words, "rest"))
    if (isTRUE(verdict$converged) && grepl("No sign", verdict$sentences[[1]])) {
      expect_figures(verdict$sentences, table, words)
    }
    expect_identical(answer_of(verdict$sentences), verdict$converged)
    verdict$sentences
  }
  expect_match(judge(main = draws(400))[[1]], "^Usable\\. No sign against convergence: ")
  # The rest has fewer effective draws than the main quantity, but enough: the figure is that of the rest.
  expect_match(judge(main = draws(400), rest = draws(400, 0.6))[[1]], "^Usable\\. No sign.*\\(the rest\\)\\.$")
  expect_match(judge(main = draws(400), rest = draws(400, 0.8))[[1]],
    "^Usable, with rough intervals of the rest\\. No sign")
  expect_match(judge(main = draws(400), rest = draws(400, 0.999))[[1]],
    "^Usable, except the rest\\. No sign against convergence elsewhere: Rhat is at most")
  expect_match(judge(main = draws(400, 0.7), rest = draws(400, 0.999))[[1]],
    "^Usable, except the rest, with rough intervals\\. The chains agree elsewhere \\(")
  expect_match(judge(main = draws(400) + rep(0:3, each = 400))[[1]], "^Not yet\\. Not converged")
  expect_match(judge(main = draws(15))[[1]], "^Cannot tell\\. Too few draws")
  expect_match(judge(main = draws(5))[[1]], "^Cannot tell\\. Convergence cannot")
  expect_match(judge(main = matrix(1, 50, 4))[[1]], "^Cannot tell\\. ")
  reserved <- with_answer(list(converged = TRUE, sentences = "A."), "B.")
  expect_identical(reserved$sentences, "Usable, with reservations. A.")
  expect_identical(with_answer(list(converged = NA, sentences = "A."), "B.")$sentences, "Cannot tell. A.")
})

test_that("the verdict of each class opens with its answer, and its report and table agree", {
  skip_where_repeated()
  skip_if(on_cuda())
  set.seed(2)
  cells <- matrix(rnorm(400), ncol = 2) + rep(c(0, 8), each = 100)
  mixture <- function(...) fit_mixture(cells, components = 4, seed = 1, threads = 2, ...)
  rows <- data.frame(y = rep(0:1, 30), x = rnorm(60))
  logit <- function(iter, data = rows) bayes_logit(y ~ x, data, chains = 4, iter = iter, seed = 1, threads = 2)
  words <- matrix(rpois(240, 2), 20, dimnames = list(NULL, letters[1:12]))
  topics <- function(...) fit_topics(words, 3, seed = 1, threads = 2, ...)
  counts <- rbind(a = c(510, 480, 450, 400, 380, 440), b = c(40, 52, 45, 160, 120, 143))
  abundance <- function(iter) {
    differential_abundance(counts, ~ g, data.frame(g = rep(0:1, each = 3)), totals = rep(1000, 6), seed = 1,
      iter = iter, warmup = 5, threads = 2)
  }
  resample <- function(y, model, horizon = "auto") predictive_resample(y, model, horizon, 50, seed = 1, threads = 2)
  fits <- list(
    mixture(iter = 600, chains = 2), mixture(iter = 20, chains = 2), mixture(iter = 50, method = "bem"),
    mixture(iter = 1, method = "bem"),
    cell_types(mixture(iter = 400, chains = 2), threads = 2), cell_types(mixture(iter = 60, chains = 1), threads = 2),
    logit(1000), logit(30), logit(1000, data.frame(y = rep(0:1, 8), x = rep(0:1, 8))),
    topics(iter = 1500, chains = 2), topics(iter = 8), topics(iter = 5, estimate = "mean"),
    abundance(600), abundance(20),
    resample(precip, normal_mean()), resample(faithful$waiting, normal_mean(1)), resample(precip, normal_mean(), 9),
    resample(precip, bayesian_bootstrap())
  )
  for (fit in fits) {
    content <- report_content(fit)
    label <- paste(class(fit)[[1]], content$verdict[[1]])
    expect_identical(answer_of(content$verdict), content$converged, label = label)
    summary <- summary(fit)
    if (!is.null(summary$verdict)) expect_identical(summary$verdict[[1]], content$verdict[[1]], label = label)
    if ("converged" %in% names(summary)) expect_identical(answer_of(summary$verdict), summary$converged, label = label)
    box <- paste(verdict_part(content), collapse = "\n")
    class <- if (is.na(content$converged)) "" else if (content$converged) " good" else " bad"
    expect_match(box, sprintf("<div class=\"verdict%s\">", class), fixed = TRUE)
    # print() of a topic model has its topics alone.
    printed <- capture.output(print(if (inherits(fit, "topic_model")) summary else fit))
    printed <- gsub("\\s+", " ", paste(printed, collapse = " "))
    expect_match(printed, gsub("\\s+", " ", content$verdict[[1]]), fixed = TRUE, label = label)
    table <- if (inherits(fit, "bayes_logit")) summary$coefficients else summary$diagnostics
    if (grepl("No sign against", content$verdict[[1]])) {
      named <- if (inherits(fit, "bayes_logit")) logit_words else quantity_words
      expect_figures(content$verdict, table, if (inherits(fit, "topic_model")) topic_quantity_words else named)
    }
  }
  answers <- vapply(fits, function(fit) sub("[,.] .*", "", report_content(fit)$verdict[[1]]), "")
  expect_setequal(sub(",.*", "", answers), c("Usable", "Not yet", "Cannot tell"))
  # A reservation is announced where another sentence restricts the result, and only there.
  reserved <- vapply(fits[c(7, 9, 15, 16)], function(fit) grepl("reserv", report_content(fit)$verdict[[1]]), NA)
  expect_identical(reserved, c(FALSE, TRUE, FALSE, TRUE))
})
