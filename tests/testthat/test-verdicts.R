# Every verdict opens with its answer, and the answer and its figures agree with the table that is shown.

answer_of <- function(verdict) {
  answer <- regmatches(verdict[[1]], regexpr("^(Usable|Not yet|Cannot tell)(?=[,.])", verdict[[1]], perl = TRUE))
  if (!length(answer)) return("none")
  c(Usable = TRUE, `Not yet` = FALSE, `Cannot tell` = NA)[[answer]]
}

# The figures of the first sentence are the extremes of the table, less the quantities that the answer excepts.
expect_figures <- function(verdict, table, words) {
  first <- grep("Rhat is at most", verdict, value = TRUE)[[1]]
  said <- regmatches(first, regexec("Rhat is at most ([0-9.]+).*size at least ([0-9]+)", first))[[1]]
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
    judged <- new_verdict("the fit", judge_convergence(quantities, table, words, "rest"))
    sentences <- as.character(judged)
    if (is_usable(judged) %in% TRUE && any(grepl("No sign", sentences))) expect_figures(sentences, table, words)
    expect_identical(answer_of(sentences), is_usable(judged))
    paste(sentences, collapse = " ")
  }
  expect_match(judge(main = draws(400)), "^Usable\\. No sign against convergence: ")
  # The rest has fewer effective draws than the main quantity, but enough: the figure is that of the rest.
  expect_match(judge(main = draws(400), rest = draws(400, 0.6)), "^Usable\\. No sign.*\\(the rest\\)\\.$")
  expect_match(judge(main = draws(400), rest = draws(400, 0.8)), "^Usable, with rough intervals of the rest\\. No sign")
  expect_match(judge(main = draws(400), rest = draws(400, 0.999)),
    "^Usable, except the rest\\. .* No sign against convergence elsewhere: Rhat is at most")
  expect_match(judge(main = draws(400, 0.7), rest = draws(400, 0.999)),
    "^Usable, with rough intervals, except the rest\\. The chains agree elsewhere \\(")
  expect_match(judge(main = draws(400) + rep(0:3, each = 400)), "^Not yet\\. Not converged")
  expect_match(judge(main = draws(15)), "^Cannot tell\\. Too few draws")
  expect_match(judge(main = draws(5)), "^Cannot tell\\. Convergence cannot")
  expect_match(judge(main = matrix(1, 50, 4)), "^Cannot tell\\. ")
})

test_that("each rule has its own name and is used, and names in data are not places in sentences", {
  table <- utils::read.csv(system.file("verdicts.csv", package = "warpbayes"))
  expect_identical(anyDuplicated(table$code), 0L)
  expect_true(all(table$answer %in% answers))
  # No place lies within another, and none is open.
  words <- gsub("\\{[A-Za-z]+(\\|[^{}|]*\\|[^{}|]*)?\\}", "", c(table$words, table$but))
  expect_identical(grep("[{}]", words, value = TRUE), character())
  named <- inherited_reason(new_verdict("a part", reason("skewed_types", quantity = "CD3", figure = 1)))[[1]]$words
  expect_match(named, "reservations: CD3 is skewed in every type")
  space <- asNamespace("warpbayes")
  code <- unlist(lapply(mget(ls(space, all.names = TRUE), space, mode = "function", ifnotfound = list(NULL)), deparse))
  records <- unlist(lapply(mget(ls(kind_records), kind_records), function(make) deparse(make)))
  expect_identical(table$code[!vapply(table$code, function(name) any(grepl(name, c(code, records))), NA)], character())
  said <- reason("drifts", Quantity = "{way}", way = "{advice}", advice = "\\\\1")[[1]]$words
  expect_identical(said, "{way} is still {advice}: a longer warmup is needed; \\\\1.")
})

test_that("a verdict is the weakest of its reasons and of what it rests on", {
  set.seed(1)
  some <- function(answer) {
    codes <- c(usable = "one_chain", `usable with reservations` = "rough", `not yet` = "drifts",
      `cannot tell` = "nothing_varies")
    reason(codes[[answer]], Quantity = "A", quantity = "a", chains = 2, way = "rising", advice = "wait")
  }
  for (i in 1:100) {
    own <- sample(answers, sample(0:3, 1), TRUE)
    parents <- lapply(sample(answers, sample(0:2, 1), TRUE), function(answer) new_verdict("a part", some(answer)))
    made <- new_verdict("the whole", unlist(lapply(own, some), recursive = FALSE), rests_on = parents)
    expected <- max(1, match(c(own, vapply(parents, `[[`, "", "answer")), answers))
    expect_identical(made$answer, answers[[expected]])
    # What comes after has the root's reason, once.
    after <- new_verdict("what follows", rests_on = list(new_verdict("the middle", rests_on = list(made))))
    expect_identical(after$answer, made$answer)
    expect_lte(sum(grepl("It rests on", after$reasons$words)), 1)
  }
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
    said <- verdict(fit)
    sentences <- as.character(said)
    content <- report_content(fit)
    summary <- summary(fit)
    label <- paste(class(fit)[[1]], sentences[[1]])
    expect_identical(as.character(content$verdict), sentences, label = label)
    expect_identical(as.character(verdict(summary)), sentences, label = label)
    if ("converged" %in% names(summary)) expect_identical(summary$converged, is_usable(said), label = label)
    expect_identical(glance_of(fit)$verdict, said$answer, label = label)
    box <- paste(verdict_part(content), collapse = "\n")
    class <- if (is.na(is_usable(said))) "" else if (is_usable(said)) " good" else " bad"
    expect_match(box, sprintf("<div class=\"verdict%s\">", class), fixed = TRUE)
    for (shown in list(fit, summary)) {
      printed <- gsub("\\s+", " ", paste(capture.output(print(shown)), collapse = " "))
      first <- gsub("\\s+", " ", paste(utils::head(sentences, 4), collapse = " "))
      expect_match(printed, first, fixed = TRUE, label = label)
    }
  }
  said <- vapply(fits, function(fit) verdict(fit)$answer, "")
  expect_setequal(said, answers)
  # A reservation is announced where a reason restricts the result, and only there.
  expect_identical(said[c(7, 9, 15, 16)] == "usable with reservations", c(FALSE, TRUE, FALSE, TRUE))
})

test_that("what is made from cells is never judged better than what it rests on", {
  skip_where_repeated()
  skip_if(on_cuda())
  samples <- lapply(1:6, function(i) rbind(matrix(rnorm(120), ncol = 2), matrix(rnorm(40 + 20 * i, 6), ncol = 2)))
  design <- data.frame(g = rep(0:1, each = 3))
  place <- function(x) match(verdict(x)$answer, answers)
  for (seed in 1:6) {
    set.seed(seed)
    fit <- dp_mixture(samples, components = 6, chains = sample(4, 1), iter = sample(c(10, 24, 60, 200), 1), seed = seed,
      threads = 2)
    types <- cell_types(fit, threads = 2)
    made <- list(type_proportions(types), co_clustering(types, 1:3, threads = 2),
      differential_abundance(types, ~ g, design, ndraws = 2, iter = 60, warmup = 10, seed = 1, threads = 2),
      differential_state(types, ~ g, design, ndraws = 2, seed = 1, threads = 2))
    expect_gte(place(types), place(fit))
    for (result in made) expect_gte(place(result), place(types))
    expect_gte(place(relabel(fit, threads = 2)), place(fit))
  }
})
