# Checkpoints and resume(). Comparisons of fits cover all parts except times and call.

expect_same_fit <- function(fit, whole, but = character()) {
  parts <- setdiff(names(whole), c("elapsed", "call", but))
  testthat::expect_identical(names(fit), names(whole))
  testthat::expect_identical(fit[parts], whole[parts])
}

refused <- function(code, message) expect_error(code, message, class = "warpbayes_error_input")

cells <- function(n = 300) {
  set.seed(1)
  cbind(a = c(rnorm(2 * n / 3), rnorm(n / 3, 6)), b = rnorm(n))
}

# Two chains that keep all draws, with a prior that is learned.
fit_cells <- function(x = cells(), iter = 30, ...) {
  fit_mixture(x,
    components = 5, chains = 2, iter = iter, warmup = 10, thin = 2, seed = 4, progress = FALSE, threads = 2,
    keep = c("weights", "means", "covariances", "labels"), ...
  )
}

# Turns the checkpoint of a finished run into one of a longer, unfinished run. `change` may change its fields.
unfinished <- function(file, total, change = identity, to = file) {
  read <- fields_of(file)
  read$head$total <- total
  write_fields(to, change(read$head), read$arrays)
  to
}

test_that("resume() gives the fit of a run that was not stopped", {
  file <- scratch()
  x <- cells()
  whole <- fit_cells(x)
  for (iter in c(12, 13, 17)) {
    fit_cells(x, iter, checkpoint = file)
    unfinished(file, 30)
    expect_same_fit(resume(file, x, threads = 2, progress = FALSE), whole)
    # Resuming the finished run.
    expect_same_fit(resume(file, x, threads = 2), whole)
  }
  expect_same_fit(fit_cells(x, checkpoint = file, checkpoint_every = 0), whole)
  # A run that continued a fit.
  part <- fit_cells(x, 13)
  expect_same_fit(continue(part, 17, threads = 2, checkpoint = file, checkpoint_every = 0), whole)
  expect_same_fit(resume(file, x, threads = 2), whole)
  # A resumed run keeps its settings, unless others are given.
  expect_identical(read_checkpoint(file, file)$every, 0)
  unfinished(file, 40)
  resume(file, x, threads = 2, checkpoint_every = 3)
  expect_identical(read_checkpoint(file, file)$every, 3)
  expect_identical(list.files(dirname(file), paste0("^", basename(file))), basename(file))
})

test_that("resume() uses the markers and transformations of the fit", {
  file <- scratch()
  x <- unname(cbind(cells(), cells()[, 2:1] + 1))
  whole <- fit_cells(x, markers = c(4, 1), transform = c(1, 5), checkpoint = file)
  expect_same_fit(resume(file, x, threads = 2), whole)
  frame <- as.data.frame(cells())
  whole <- fit_cells(frame, markers = "b", checkpoint = file)
  expect_same_fit(resume(file, frame, threads = 2), whole)
})

test_that("the backend may change between the parts of a run", {
  file <- scratch()
  x <- cells(120)
  whole <- fit_cells(x, 16)
  backends <- if (warp_info()$backend == "cuda") c("cpu", "cuda") else "cpu"
  for (first in backends) {
    for (second in backends) {
      fit_cells(x, 12, backend = first, checkpoint = file)
      unfinished(file, 16)
      expect_same_fit(resume(file, x, backend = second, threads = 1), whole, but = c("backend", "threads"))
    }
  }
})

test_that("topic models can be resumed from their checkpoints", {
  file <- scratch()
  set.seed(2)
  x <- matrix(rpois(300, 1), 30, dimnames = list(NULL, letters[1:10]))
  fit <- function(iter, ...) {
    fit_topics(x, 3, iter = iter, warmup = 6, thin = 2, chains = 2, keep = c("phi", "theta"), start = "random",
      seed = 1, threads = 2, ...
    )
  }
  whole <- fit(20, checkpoint = file, checkpoint_every = 0)
  expect_same_fit(resume(file, x, threads = 2), whole)
  for (iter in c(8, 11, 12)) {
    fit(iter, checkpoint = file)
    unfinished(file, 20)
    expect_same_fit(resume(file, x, threads = 2), whole)
  }
  expect_same_fit(continue(fit(9), 11, threads = 2, checkpoint = file), whole)
  refused(resume(file, x[-1, ]), "`x` has 29 documents; the checkpoint was made with 30")
  refused(resume(file, x[, 10:1]),
    "`x` has other names of terms \\(and in 1 more\\) than the data that the checkpoint was made with"
  )
  refused(resume(file, x + 1), "`x` has other counts")
  unfinished(file, 20, function(head) {
    head$state[[1]]$sums$phi <- 1:3
    head
  })
  refused(resume(file, x), "has a field fit.state..1...sums.phi that is not finite.topics . terms.: no version")
})

test_that("regressions can be resumed from their checkpoints", {
  file <- scratch()
  fit <- function(iter, formula, family, ...) {
    bayes_logit(formula, mtcars, family, subset = hp < 300, chains = 2, iter = iter, warmup = 10, seed = 1, threads = 2,
      ...
    )
  }
  formulas <- list(binomial = am ~ wt + factor(gear) + (1 | cyl), negbinomial = carb ~ wt + qsec,
    multinomial = factor(gear) ~ wt
  )
  for (family in names(formulas)) {
    whole <- fit(30, formulas[[family]], family)
    fit(17, formulas[[family]], family, control = warp_control(checkpoint = file))
    unfinished(file, 30)
    expect_same_fit(resume(file, mtcars, threads = 2), whole)
    expect_same_fit(resume(file, mtcars, threads = 2), whole)
  }
  expect_same_fit(continue(fit(13, formulas[[family]], family), 17, threads = 2, checkpoint = file), whole)
  expect_lt(file.size(file), 2e4)
  other <- mtcars
  other$wt[[5]] <- 1
  refused(resume(file, other), "`x` has other values in column .wt.")
  refused(resume(file, mtcars[-1, ]), "`x` has 30 rows; the checkpoint was made with 31")
  refused(resume(file, NULL), "`x` is not the data of the checkpoint: `formula` cannot be evaluated")
  # Variables outside a data frame, and values in place of names.
  wt <- mtcars$wt
  am <- mtcars$am
  whole <- bayes_logit(am ~ wt, chains = 2, iter = 20, seed = 1, threads = 2, control = warp_control(checkpoint = file))
  expect_same_fit(resume(file, NULL, threads = 2), whole)
  arguments <- list(am ~ wt, mtcars, weights = rep(1:2, 16), chains = 2, iter = 20, seed = 1, threads = 2,
    control = warp_control(checkpoint = file)
  )
  whole <- do.call(bayes_logit, arguments)
  expect_same_fit(resume(file, mtcars, threads = 2), whole)
  skip_if_not_installed("Matrix")
  arguments$control <- warp_control(checkpoint = file, sparse = TRUE)
  whole <- do.call(bayes_logit, arguments)
  expect_same_fit(resume(file, mtcars, threads = 2), whole)
  refused(resume(file, other), "`x` has other values in column .wt. \\(and in 1 more\\)")
})

test_that("arguments of a regression are stored as values or names, and no other code in the file is run", {
  skip_where_repeated()
  file <- scratch()
  other <- scratch()
  drawn <- 0
  count <- function(values) {
    drawn <<- drawn + 1
    values
  }
  fit <- function(...) {
    eval(substitute(bayes_logit(am ~ wt, mtcars, ..., chains = 1, iter = 6, warmup = 2, seed = 1, threads = 1)),
      parent.frame())
  }
  rows <- seq_len(30)
  kept <- warp_control(checkpoint = file)
  whole <- fit(weights = count(rep(1:2, 16)), subset = rows, offset = count(log(hp)), control = kept,
    na.action = na.exclude)
  expect_identical(drawn, 2)
  expect_same_fit(resume(file, mtcars, threads = 1), whole)
  expect_identical(drawn, 2)
  expect_identical(whole$given$subset, quote(rows))
  expect_identical(whole$given$weights, rep(1:2, 16))
  for (code in list(quote(stop("this ran")), quote(stop))) {
    unfinished(file, 6, function(head) {
      head$fit$given["weights"] <- list(code)
      head
    }, to = other)
    refused(resume(other, mtcars), "has a field fit.given.weights that is not value|`x` is not the data")
    expect_false(grepl("this ran", conditionMessage(tryCatch(resume(other, mtcars), error = identity))))
  }
  refused(to_fields(function() 1), "`checkpoint` cannot hold a function")
  refused(to_fields(structure(1, class = "mine")), "`checkpoint` cannot hold")
  unlink(c(file, other))
  refused(fit(na.action = function(frame) frame, control = kept), "`na.action` must be the name of a function of")
  my_omit <- na.omit
  refused(fit(na.action = my_omit, control = kept), "`na.action` .* such as na.exclude, not a name of length 1")
  expect_s3_class(fit(na.action = function(frame) frame), "bayes_logit")
  refused(fit(weights = stop("no weights")), "`weights` cannot be evaluated with `data`: no weights")
})

test_that("a checkpoint from somebody else runs nothing but functions of models in its formula", {
  file <- scratch()
  other <- scratch()
  set.seed(1)
  data <- data.frame(y = rep(0:1, 20), f = gl(4, 10), x = rnorm(40))
  model <- y ~ f + x
  fit <- function(...) bayes_logit(model, data, ..., chains = 1, iter = 6, warmup = 2, seed = 1, threads = 1)
  kept <- warp_control(checkpoint = file)
  # What a fit may have.
  codings <- list(NULL, contr.sum(4), contr.helmert, "contr.treatment", "contr.sum", "contr.helmert", "contr.poly",
    "contr.SAS")
  for (coding in codings) {
    whole <- fit(contrasts = if (!is.null(coding)) list(f = coding), control = kept)
    expect_same_fit(resume(file, data, threads = 1), whole)
  }
  for (action in c("na.omit", "na.exclude", "na.fail", "na.pass")) {
    whole <- fit(na.action = action, control = kept)
    expect_same_fit(resume(file, data, threads = 1), whole)
  }
  # Functions of the user do with a fit, and are refused with a checkpoint.
  assign("contr.mine", function(n, ...) contr.sum(n), globalenv())
  on.exit(rm("contr.mine", envir = globalenv()), add = TRUE)
  expect_s3_class(fit(contrasts = list(f = "contr.mine")), "bayes_logit")
  words <- "`contrasts` must be names of functions of package stats .* but for \"f\" they are \"contr.mine\""
  refused(fit(contrasts = list(f = "contr.mine"), control = kept), words)
  with_options(list(contrasts = c("contr.mine", "contr.poly")), refused(fit(control = kept), words))
  # What a forged head has. `ran` is called by anything that runs.
  count <- 0
  assign("ran", function(...) {
    count <<- count + 1
    stop("this ran")
  }, globalenv())
  on.exit(rm("ran", envir = globalenv()), add = TRUE)
  ran <- function(...) get("ran", globalenv())()
  code <- list(quote(ran()), list(list(quote(ran()))), as.name("ran"))
  texts <- list("ran", "system", "base::system", c("contr.sum", "ran"), factor("contr.sum"), NA_character_, character())
  put <- function(place, value) {
    unfinished(file, 8, function(head) {
      part <- head$fit
      if (length(place) == 2L) part[[place[[1L]]]][place[[2L]]] <- list(value) else part[place] <- list(value)
      head$fit <- part
      head
    }, to = other)
  }
  fit(contrasts = list(f = "contr.sum"), na.action = "na.omit", control = kept)
  forged <- function(place, value) {
    put(place, value)
    error <- tryCatch(resume(other, data, threads = 1), error = identity)
    expect_s3_class(error, "warpbayes_error_input")
    expect_match(conditionMessage(error), show_value(other), fixed = TRUE)
    expect_identical(count, 0)
  }
  for (value in c(code, texts)) {
    forged(c("contrasts", "f"), value)
    forged(c("given", "na.action"), value)
  }
  for (value in c(code, list("contr.sum"))) forged("contrasts", value)
  for (value in code[-3L]) {
    for (place in list(c("given", "subset"), c("given", "other"), "prior", "family", "given")) forged(place, value)
  }
  forged(c("given", "xlev"), list(f = "1"))
  for (value in list(quote(ran()), y ~ f + base::system("touch this"), y ~ Sys.setenv(A = f), y ~ get("ran")(f))) {
    forged("formula", value)
  }
  forged(c("given", "other"), 1)
  forged("given", list(rep(TRUE, 40), "ran"))
  forged("prior", Reduce(function(inner, i) list(inner), 1:40, 1))
  # A function of the user is the user's own.
  shifted <- function(x) x + 1
  model <- y ~ f + shifted(x)
  whole <- fit(control = kept)
  expect_same_fit(resume(file, data, threads = 1), whole)
  rm(shifted)
  refused(resume(file, data, threads = 1), "its formula calls shifted.., which is not in your workspace")
  # An argument may be empty.
  model <- y ~ I(cbind(x, x)[, 1])
  whole <- fit(control = kept)
  expect_same_fit(resume(file, data, threads = 1), whole)
  model <- y ~ f + x
  fit(control = kept)
  # The file itself is right.
  expect_s3_class(resume(unfinished(file, 8, to = other), data, threads = 1), "bayes_logit")
  # predict() and update() evaluate parts of the call.
  for (call in list(quote(f(file.create(x))), quote(f(data = x, data = file.create(x))))) forged("call", call)
  put("call", quote(unlink(formula = y ~ I(x[, 1]), offset = file.create(x), control = warp_control(thin = f(x)))))
  call <- quote(bayes_logit(formula = y ~ I(x[, 1]), offset = offset, control = control))
  expect_identical(resume(other, data, threads = 1)$call, call)
})

test_that("chains on workers of a future plan return regularly for checkpoints", {
  skip_where_repeated()
  skip_if(on_cuda(), "workers use the processor")
  skip_if_not_installed("future")
  skip_if_not_installed("future.apply")
  skip_on_cran()
  file <- tempfile()
  x <- cells()
  whole <- fit_cells(x, backend = "cpu")
  fit_cells(x, 12, backend = "cpu", checkpoint = file)
  unfinished(file, 30)
  first <- readBin(file, "raw", file.size(file))
  plan <- future::plan(future::multisession, workers = 2)
  on.exit({
    future::plan(plan)
    unlink(file)
  })
  # Three rounds, or more if sweeps take long.
  expect_same_fit(resume(file, x, backend = "cpu", threads = 2, checkpoint_every = 0), whole)
  expect_same_fit(resume(file, x, backend = "cpu", threads = 2), whole)
  writeBin(first, file)
  part <- fit_cells(x, 13, backend = "cpu", checkpoint = file)
  expect_same_fit(continue(part, 17, backend = "cpu", threads = 2, checkpoint = file, checkpoint_every = 0), whole)
  # A chain that fails in the second round: the results and the checkpoint of the first round are kept.
  toy <- function(fit) {
    plan <- mixture_sampler(fit)
    right <- plan$step
    plan$step <- function(sessions, states, sweeps, keep) {
      if (states[[1L]]$sweep + sweeps >= 27) stop_warpbayes("input", "a planted failure")
      right(sessions, states, sweeps, keep)
    }
    plan
  }
  environment(toy) <- asNamespace("warpbayes")
  checkpoint <- check_checkpoint(file, 0)
  # Each chain gives this warning.
  said <- capture_warnings(failed <- advance_on_workers(part, 17, toy, 1, checkpoint))
  expect_match(said, "sweep 27 of 30 failed: a planted failure")
  expect_identical(failed$iter, 26)
  future::plan(plan)
  expect_identical(read_checkpoint(file, file)$fit$iter, 26)
  expect_same_fit(resume(file, x, backend = "cpu", threads = 2), whole)
})

test_that("other data are refused, and the message says where they differ", {
  file <- scratch()
  x <- cells()
  fit_cells(x, checkpoint = file)
  refused(resume(file, x[-1, ]), "`x` has 299 rows; the checkpoint was made with 300")
  refused(resume(file, x[, "a", drop = FALSE]),
    "`x` has column .a.; the checkpoint was made with column .a., column .b."
  )
  refused(resume(file, x[, 2:1]), "`x` has column .b., column .a.; the checkpoint was made with")
  refused(resume(file, x + 1),
    "`x` has other values in column .a. \\(and in 1 more\\) than the data that the checkpoint was made with"
  )
  y <- x
  y[300, 2] <- y[300, 2] * (1 + 2^-52)
  refused(resume(file, y), "`x` has other values in column .b. than")
  y <- x[c(2:1, 3:300), ]
  refused(resume(file, y), "`x` has other values in column .a. \\(and")
  refused(resume(file), "`x` is missing: the checkpoint does not hold the data")
  refused(resume(file, "data"), "`x` must be a numeric matrix")
  refused(resume(file, x, 1, 2, 3, 4, 5), "unused argument")
  refused(resume(file, x, checkpoint_every = -1), "`checkpoint_every` must be")
})

test_that("files that are not complete checkpoints are refused with the reason", {
  skip_on_cran()
  file <- scratch()
  other <- scratch()
  x <- cells(60)
  fit_cells(x, 12, checkpoint = file)
  bytes <- readBin(file, "raw", file.size(file))
  put <- function(bytes) writeBin(bytes, other)
  for (length in c(1, 15, 16, 40, 63)) {
    put(bytes[seq_len(length)])
    refused(resume(other, x), sprintf("is truncated: it has only %d bytes", length))
  }
  for (length in c(64, 65, 2000, length(bytes) - 1)) {
    put(bytes[seq_len(length)])
    refused(resume(other, x), sprintf("is truncated: it has %d of %d bytes", as.integer(length), length(bytes)))
  }
  put(c(bytes, as.raw(0)))
  refused(resume(other, x), "is damaged: it has [0-9]+ bytes, but should have")
  # A change of any bit is found.
  set.seed(1)
  at <- c(1:64, sample(length(bytes), if (extended()) 2000 else 100))
  for (i in at) {
    turned <- bytes
    turned[[i]] <- xor(bytes[[i]], as.raw(2^sample(0:7, 1)))
    put(turned)
    refused(resume(other, x), "is damaged|is truncated|is not a checkpoint|has format|or is damaged")
  }
  turned <- bytes
  expect_identical(as.integer(bytes[41:48]), 1:8)
  turned[41:48] <- rev(turned[41:48])
  put(turned)
  refused(resume(other, x), "has its numbers in another order of bytes")
  turned <- bytes
  turned[[17]] <- as.raw(2)
  put(turned)
  refused(resume(other, x), "has format 2 of checkpoints; this version of warpbayes reads format 1")
  saveRDS(x, other)
  refused(resume(other, x), "is not a checkpoint of warpbayes$")
  put(raw())
  refused(resume(other, x), "is not a checkpoint of warpbayes: it is empty")
  refused(resume(tempdir(), x), "is not an ordinary file")
  refused(resume(tempfile(), x), "does not exist")
  refused(resume(tempfile()), "does not exist")
  refused(resume(c("a", "b"), x), "`file` must be the name of a file, not a character of length 2")
})

test_that("a file with a right digest and wrong content gives an error, not a crash", {
  file <- scratch()
  other <- scratch()
  x <- cells(60)
  fit_cells(x, 12, checkpoint = file)
  unknown <- "has a head that no version of warpbayes has written"
  field <- "has a field .* that is not .*: no version of warpbayes has written it"
  for (lines in list("", "a", "list 1", "closure 1", "double -1", "double 1e9", "list 0 hook", "\xff", "list 0\n\n")) {
    write_lines(other, lines)
    refused(resume(other, x), paste0(unknown, "|does not hold a fit that can go on"))
  }
  for (value in list(1, list(), list(package = 1, class = "a"))) {
    write_fields(other, value)
    refused(resume(other, x), unknown)
  }
  changed <- function(message, change) {
    unfinished(file, 20, function(head) {
      change(head)
    }, to = other)
    refused(resume(other, x, threads = 2, progress = FALSE), message)
  }
  set <- function(...) {
    path <- c(...)
    function(value) function(head) {
      head[[path]] <- value
      head
    }
  }
  changed("was written by warpbayes 0.0.1; this is version .*: resume it with version 0.0.1", set("package")("0.0.1"))
  changed("holds a fit of class .lm., which cannot be resumed", set("class")("lm"))
  for (value in list("a", -1, NaN, 1e12, 1:3, list())) {
    for (name in c("iter", "chains", "warmup", "thin")) changed(field, set("fit", name)(value))
    changed(field, set("total")(value))
  }
  changed(field, set("fit", "seed")("a"))
  for (name in c("fit", "fingerprint", "given", "every")) changed(paste0(field, "|", unknown), set(name)("a"))
  changed(field, set("state")(list(1, 2)))
  changed("its chains, sweeps and draws do not agree", set("state")(list(1)))
  changed("its chains, sweeps and draws do not agree", set("arrays")("a"))
  changed("its chains, sweeps and draws do not agree", set("arrays", 1L)("other"))
  changed("its chains, sweeps and draws do not agree", set("fit", "thin")(2^20))
  changed(paste0(field, "|its chains, sweeps and draws do not agree"), set("fit", "components")(7))
  changed(field, set("fingerprint")(list("a")))
  changed(field, set("fit", "keep")(3))
  changed(field, set("fit", "transform")("a"))
  # Lines that do not fit the values.
  read <- fields_of(file)
  write_fields(other, read$head, read$arrays, function(lines) sub("^character [0-9]+", "character 999999999", lines))
  refused(resume(other, x), "its parts do not have the size that it states")
  write_fields(other, read$head, read$arrays, function(lines) lines[-length(lines)])
  refused(resume(other, x), "its parts do not have the size that it states")
  write_fields(other, read$head, c(read$arrays, 1))
  refused(resume(other, x), "its chains, sweeps and draws do not agree")
  for (value in list(1:3, "a", NULL, list(), Inf)) {
    # Contents that the entries and the sampler read. None may crash.
    for (name in c("statistics", "concentration", "prior", "merge")) {
      unfinished(file, 20, function(head) {
        head$state[[1]][name] <- list(value)
        head
      }, to = other)
      result <- tryCatch(suppressWarnings(resume(other, x, threads = 2, progress = FALSE)), error = identity)
      expect_true(inherits(result, c("error", "dp_mixture")))
    }
  }
})

test_that("no generated forgery opens a file, runs code, hangs, or ends without the name of the checkpoint", {
  skip_on_cran()
  skip_where_repeated()
  folder <- scratch(folder = TRUE)
  bait <- file.path(folder, "bait")
  files <- file.path(folder, c("cells", "words"))
  words <- matrix(rpois(120, 1) + 1, 12)
  fit_cells(cells(60), 12, checkpoint = files[[1]])
  fit_topics(words, 2, iter = 12, seed = 1, checkpoint = files[[2]])
  data <- list(cells(60), words)
  set.seed(5)
  for (i in rep(1:2, if (extended()) 200 else 25)) {
    forged <- forge(files[[i]], file.path(folder, "forged"), bait)
    if (is.null(forged)) next
    end <- judge_forgery(file.path(folder, "forged"), bait, function(file) resume(file, data[[i]], progress = FALSE))
    expect_null(end, label = forged)
  }
  # A forgery that does open a file is found.
  writeLines("a", bait <- file.path(folder, "other bait"))
  expect_match(judge_forgery(file, bait, function(file) readLines(bait)), "it opened")
})

test_that("a checkpoint that cannot be written is an error before the fit starts", {
  file <- scratch()
  x <- cells(60)
  refused(fit_cells(x, checkpoint = 1), "`checkpoint` must be NULL or the name of a file, not 1")
  refused(fit_cells(x, checkpoint = file.path(file, "b")), "`checkpoint` is .*, but there is no folder")
  refused(fit_cells(x, checkpoint = tempdir()),
    "`checkpoint` names a file that is not an ordinary file, and is not overwritten"
  )
  writeLines("a letter", file)
  refused(fit_cells(x, checkpoint = file),
    "`checkpoint` names a file that is not a checkpoint of warpbayes, and is not overwritten"
  )
  expect_identical(readLines(file), "a letter")
  refused(fit_cells(x, checkpoint_every = "1"), "`checkpoint_every` must be a number of seconds of at least 0, not .1.")
  refused(fit_topics(matrix(1:6, 2), 2, checkpoint = 1), "`checkpoint` must be")
  refused(bayes_logit(am ~ wt, mtcars, control = warp_control(checkpoint = 1)), "`checkpoint` must be")
  refused(continue(fit_cells(x), 2, checkpoint = 1), "`checkpoint` must be")
  skip_if_not(dir.exists("/proc/self"), "no folder in which nothing can be written")
  refused(fit_cells(x, checkpoint = "/proc/checkpoint"), "`checkpoint` cannot be written to ./proc/checkpoint.: ")
})

test_that("relative file names work from any folder, and a checkpoint is overwritten", {
  folder <- tempfile()
  dir.create(folder)
  before <- setwd(folder)
  on.exit({
    setwd(before)
    unlink(folder, recursive = TRUE)
  })
  x <- cells(60)
  whole <- fit_cells(x, checkpoint = "other")
  # What a process leaves that was killed while it wrote, before or after its first byte.
  file.create("run.tmp", "run.lock")
  fit_cells(x, checkpoint = "run")
  file.rename("other", "run.tmp")
  whole <- fit_cells(x, checkpoint = "run")
  expect_identical(list.files(), "run")
  writeLines("the user's own", "run.tmp")
  refused(fit_cells(x, checkpoint = "run"), "cannot be written to .run.: its temporary file cannot be made")
  expect_identical(readLines("run.tmp"), "the user's own")
  unlink("run.tmp")
  expect_same_fit(resume("run", x, threads = 2), whole)
  file.symlink("run", "link")
  fit_cells(x, 12, checkpoint = "link")
  expect_identical(Sys.readlink("link"), "run")
  expect_identical(resume("run", x, threads = 2)$iter, 12)
})

# A sampler that calls what() when it reaches a sweep.
at_sweep <- function(sweep, what) {
  function(fit) {
    plan <- mixture_sampler(fit)
    right <- plan$step
    plan$step <- function(sessions, states, sweeps, keep) {
      if (states[[1L]]$sweep + sweeps >= sweep) what()
      right(sessions, states, sweeps, keep)
    }
    plan
  }
}

test_that("an interrupted or failed run can be resumed", {
  file <- scratch()
  x <- cells()
  whole <- fit_cells(x)
  part <- fit_cells(x, 12)
  run <- resolve_run(NULL, 2)
  checkpoint <- check_checkpoint(file, 1000)
  condition <- structure(class = c("interrupt", "condition"), list(message = "", call = NULL))
  interrupt <- function() signalCondition(condition)
  expect_warning(stopped <- advance(part, 18, at_sweep(20, interrupt), run, FALSE, checkpoint), "interrupted: ")
  expect_true(stopped$iter < 20)
  expect_identical(read_checkpoint(file, file)$fit$iter, stopped$iter)
  expect_same_fit(resume(file, x, threads = 2), whole)
  fail <- function() stop_warpbayes("input", "a planted failure")
  expect_warning(advance(part, 18, at_sweep(21, fail), run, FALSE, checkpoint), "sweep 21 of 30 failed")
  expect_same_fit(resume(file, x, threads = 2), whole)
})

test_that("a run that did not finish one sweep can be resumed", {
  file <- scratch()
  # A function that runs with a failing sampler.
  failing <- function(name, sampler) {
    plan_of <- get(sampler, asNamespace("warpbayes"))
    planted <- function(fit, ...) {
      plan <- plan_of(fit)
      plan$step <- function(...) stop_warpbayes("input", "a planted failure")
      plan
    }
    place <- list2env(stats::setNames(list(planted), sampler), parent = asNamespace("warpbayes"))
    place$mixture_methods <- list(gibbs = replace(mixture_methods$gibbs, "sampler", list(planted)))
    code <- get(name, asNamespace("warpbayes"))
    environment(code) <- place
    code
  }
  x <- cells(60)
  counts <- matrix(1:12, 4)
  runs <- list(
    list(dp_mixture, failing("dp_mixture", "mixture_sampler"), list(x, 3)),
    list(topic_model, failing("topic_model", "topic_sampler"), list(counts, 2)),
    list(bayes_logit, failing("bayes_logit", "logit_sampler"), list(quote(am ~ wt), quote(mtcars)))
  )
  data <- list(x, counts, mtcars)
  for (i in seq_along(runs)) {
    arguments <- c(runs[[i]][[3]], list(chains = 2, iter = 10, seed = 1, threads = 2))
    saved <- if ("control" %in% names(formals(runs[[i]][[1]]))) {
      list(control = warp_control(checkpoint = file))
    } else {
      list(checkpoint = file)
    }
    expect_error(do.call(runs[[i]][[2]], c(arguments, saved)), "a planted failure")
    expect_identical(read_checkpoint(file, file)$fit$iter, 0)
    whole <- do.call(runs[[i]][[1]], arguments)
    # A formula keeps the environment in which it was made.
    expect_same_fit(resume(file, data[[i]], threads = 2), whole)
  }
})

test_that("if a checkpoint cannot be written there is a warning, and the one before stays", {
  folder <- tempfile()
  dir.create(folder)
  file <- file.path(folder, "run")
  on.exit(unlink(folder, recursive = TRUE))
  x <- cells()
  whole <- fit_cells(x)
  part <- fit_cells(x, 12)
  run <- resolve_run(NULL, 2)
  checkpoint <- check_checkpoint(file, 0)
  # The folder is not there for a while.
  away <- tempfile()
  block <- function() if (dir.exists(folder)) file.rename(folder, away)
  warnings <- character()
  fit <- withCallingHandlers(
    advance(part, 18, at_sweep(20, block), run, FALSE, checkpoint),
    warning = function(condition) {
      warnings <<- c(warnings, conditionMessage(condition))
      invokeRestart("muffleWarning")
    }
  )
  expect_match(warnings,
    "cannot be written: its temporary file cannot be made: .*The one after sweep 1[0-9] stands, and the fit goes on"
  )
  expect_length(warnings, 1)
  expect_same_fit(mixture_sampler(fit)$finish(fit), whole)
  file.rename(away, folder)
  expect_true(read_checkpoint(file, file)$fit$iter < 20)
  expect_same_fit(resume(file, x, threads = 2), whole)
  # The first checkpoint must succeed.
  block()
  refused(advance(part, 18, mixture_sampler, run, FALSE, checkpoint),
    "`checkpoint`: the checkpoint .* cannot be written"
  )
  unlink(away, recursive = TRUE)
})

test_that("a checkpoint never goes through a link into another file", {
  skip_on_os("windows")
  skip_where_repeated()
  folder <- scratch(folder = TRUE)
  file <- file.path(folder, "run")
  victim <- file.path(folder, "victim")
  writeLines("precious", victim)
  for (end in c(".tmp", ".lock")) file.symlink(victim, paste0(file, end))
  refused(fit_cells(cells(60), 12, checkpoint = file), "cannot be written")
  unlink(paste0(file, ".tmp"))
  fit_cells(cells(60), 12, checkpoint = file)
  expect_identical(readLines(victim), "precious")
  file.symlink(file.path(folder, "nowhere"), link <- file.path(folder, "link"))
  refused(fit_cells(cells(60), 12, checkpoint = link), "is a symbolic link to a file that does not exist")
})

test_that("a pipe, a device and a folder that cannot be written are refused before the first sweep", {
  skip_on_os("windows")
  skip_where_repeated()
  folder <- tempfile()
  dir.create(folder)
  on.exit({
    Sys.chmod(folder, "700")
    unlink(folder, recursive = TRUE)
  })
  pipe <- file.path(folder, "pipe")
  skip_if(system2("mkfifo", shQuote(pipe)) != 0L, "no pipes")
  x <- cells(60)
  for (target in c(pipe, "/dev/full", "/dev/null")) {
    refused(fit_cells(x, 12, checkpoint = target), "`checkpoint` names a file that is not an ordinary file")
    refused(resume(target, x), "is not an ordinary file")
  }
  Sys.chmod(folder, "500")
  # The superuser may write everywhere.
  if (file.access(folder, 2L) != 0L) {
    refused(fit_cells(x, 12, checkpoint = file.path(folder, "run")), "cannot be written")
  }
})

test_that("messages of the entries say what is wrong", {
  file <- tempfile()
  folder <- tempfile()
  dir.create(file.path(folder, "in"), recursive = TRUE)
  on.exit(unlink(c(file, folder), recursive = TRUE))
  refused(native(C_checkpoint_head, file), "cannot be read: ")
  refused(native(C_checkpoint_is_one, file), "cannot be read: ")
  refused(write_lines(folder, "a"), "it cannot be put into its place: ")
  refused(write_lines(file, "a", list("a")), "arrays do not have the size or type of what is to be written")
  refused(native(C_checkpoint_write, file, raw(3), list(), list(1), 1, 2),
    "arrays do not have the size or type"
  )
  made <- list.files(dirname(file), paste0("^(", basename(file), "|", basename(folder), ")"))
  expect_identical(made, basename(folder))
  # A file that changes after its head was read.
  fit_cells(cells(60), 12, checkpoint = file)
  found <- native(C_checkpoint_head, file)
  sizes <- stored_sizes(rawToChar(found[[1]]))
  types <- sizes$type[nzchar(sizes$type)]
  lengths <- sizes$length[nzchar(sizes$type)]
  arrays <- native(C_checkpoint_arrays, file, found[[2]], types, lengths)
  expect_identical(tail(arrays, 3), tail(unname(read_checkpoint(file, file)$arrays), 3))
  refused(native(C_checkpoint_arrays, file, rev(found[[2]]), types, lengths), "changed while it was read")
  refused(native(C_checkpoint_arrays, file, found[[2]], "double", 1e6), "changed while it was read")
})

test_that("checkpoints take at most a twentieth of the time", {
  fit <- fit_cells(cells(60), 12)
  plan <- mixture_sampler(fit)
  wait_after <- function(seconds, every) {
    slow <- checkpoint_writer
    environment(slow) <- list2env(list(write_checkpoint = function(...) {
      Sys.sleep(seconds)
      NULL
    }), parent = asNamespace("warpbayes"))
    save <- slow(fit, plan, 20, list(file = "not written", every = every, given = list()))
    save(fit, NULL, 0, always = TRUE)
    environment(save)$due - proc.time()[["elapsed"]]
  }
  expect_lte(wait_after(0.1, 0), 0)
  expect_gt(wait_after(0.1, 1), 1.9)
  expect_gt(wait_after(0.1, 50), 49)
  expect_lt(wait_after(0, 50), 50.1)
})

test_that("digests depend on all bytes and detect every change", {
  hex <- function(digest) paste(format(digest), collapse = "")
  set.seed(3)
  bytes <- as.raw(sample(0:255, 1000, replace = TRUE))
  expect_identical(digest_numbers(bytes), digest_numbers(readBin(bytes, "double", 125, endian = "little")))
  expect_identical(digest_numbers(bytes), digest_numbers(readBin(bytes, "integer", 250, endian = "little")))
  seen <- vapply(0:200, function(length) hex(digest_numbers(raw(length))), "")
  expect_identical(anyDuplicated(seen), 0L)
  one <- vapply(1:200, function(i) hex(digest_numbers(as.double(1:200 == i))), "")
  expect_identical(anyDuplicated(one), 0L)
  # Each bit of the digest changes in half of the cases: with 2,000 cases a count is outside these bounds with
  # probability 1e-6.
  flips <- vapply(1:2000, function(i) {
    x <- rnorm(20)
    y <- x
    at <- sample(20, 1)
    y[[at]] <- y[[at]] * (1 + 2^-52)
    as.integer(rawToBits(xor(digest_numbers(x), digest_numbers(y))))
  }, integer(128))
  bounds <- qbinom(c(0.5e-6, 1 - 0.5e-6) / c(128, 1) + c(0, 0.5e-6 * 127 / 128), 2000, 0.5)
  expect_true(all(rowSums(flips) >= bounds[[1]] & rowSums(flips) <= bounds[[2]]))
  # Known answers, so that checkpoints of all machines agree. Another program computed them from the description in
  # src/numeric/digest.h.
  expect_identical(hex(digest_numbers(c(1, 2, 3))), "5e88ba9da2936757551b21b07aed4abc")
  expect_identical(hex(digest_numbers(as.raw(0:199))), "971a8cd6595975394062a24edf53509c")
  expect_identical(digest_numbers(matrix(1:6 + 0, 3), 3)[17:32], digest_numbers(c(4, 5, 6)))
  refused(digest_numbers(list(1), 1), "have no digest")
  # A string differs from the pair of strings that it is pasted from, and from NA.
  texts <- list("ab", c("a", "b"), c("ab", ""), NA_character_, "NA", character(), "")
  expect_identical(anyDuplicated(vapply(texts, function(text) hex(digest_text(text)), "")), 0L)
  variables <- list(1:3, factor(1:3), factor(c("a", "b", "c")), c("1", "2", "3"), matrix(1:4, 2), 1:4,
    as.Date(0:3, origin = "1970-01-02"), list(1, 2), 1i
  )
  expect_identical(anyDuplicated(vapply(variables, function(values) hex(digest_variable(values)), "")), 0L)
  expect_identical(digest_variable(1:3), digest_variable(c(1, 2, 3)))
})

# Other processes ------------------------------------------------------------------

# The child fits these cells, or resumes if there is a checkpoint, and saves the result.
killed_run <- function(file, result, iter) {
  list(
    before = sprintf("x <- readRDS(%s); file <- %s", deparse(paste0(file, ".x")), deparse(file)),
    run = c(
      "fit <- if (file.exists(file)) {",
      "  resume(file, x, threads = 2)",
      "} else {",
      sprintf("  dp_mixture(x, components = 5, chains = 2, iter = %d, warmup = 500,", iter),
      "    seed = 4, threads = 2,",
      "    control = warp_control(thin = 7, keep = c('weights', 'means', 'labels'), checkpoint = file,",
      "      checkpoint_every = 0))",
      "}",
      sprintf("saveRDS(fit, %s); invisible(file.rename(%s, %s))", deparse(paste0(result, ".new")),
        deparse(paste0(result, ".new")), deparse(result)
      )
    )
  )
}

test_that("a run that is killed again and again ends with the same result", {
  skip_on_cran()
  skip_on_os("windows")
  skip_where_repeated()
  skip_if(on_cuda(), "the emulator is slow; another test resumes on it")
  folder <- scratch(folder = TRUE)
  file <- file.path(folder, "run")
  result <- file.path(folder, "result")
  ready <- file.path(folder, "ready")
  x <- cells(if (extended()) 3000 else 900)
  iter <- if (extended()) 2000 else 800
  saveRDS(x, paste0(file, ".x"))
  seconds <- system.time(whole <- dp_mixture(
    x, components = 5, chains = 2, iter = iter, warmup = 500, seed = 4, threads = 2, progress = FALSE,
    control = warp_control(thin = 7, keep = c("weights", "means", "labels"))
  ))[["elapsed"]]
  # The moments of the kills differ from run to run. A run may end before its kill; then another one begins.
  set.seed(Sys.getpid())
  kills <- 0
  wanted <- if (extended()) 50 else 3
  gone <- function() !is_running(child)
  for (run in 1:100) {
    while (!file.exists(result)) {
      child <- start_child(killed_run(file, result, iter), ready)
      if (kills < wanted) {
        Sys.sleep(runif(1, 0, seconds))
        tools::pskill(child, 9L)
      }
      wait_for(gone, paste0(ready, ".log"))
      if (!file.exists(result)) {
        if (kills >= wanted) stop(paste(readLines(paste0(ready, ".log")), collapse = "\n"))
        kills <- kills + 1
      }
    }
    expect_same_fit(readRDS(result), whole)
    expect_same_fit(resume(file, x, threads = 2), whole)
    if (kills >= wanted) break
    unlink(c(file, result))
  }
  expect_gte(kills, wanted)
  expect_identical(list.files(folder, "^run"), c("run", "run.x"))
})

test_that("a full disk loses nothing but the new checkpoint", {
  skip_on_cran()
  skip_on_os("windows")
  skip_where_repeated()
  skip_if(on_cuda(), "the emulator is slow, and writes as the processor does")
  folder <- scratch(folder = TRUE)
  file <- file.path(folder, "run")
  ready <- file.path(folder, "ready")
  x <- cells()
  saveRDS(x, paste0(file, ".x"))
  run <- sprintf(
    paste(
      "dp_mixture(readRDS(%s), components = 5, iter = 400, warmup = 10, seed = 4, threads = 2,",
      "control = warp_control(thin = 4, keep = c('weights', 'labels'), %s))"
    ),
    deparse(paste0(file, ".x")), sprintf("checkpoint = %s, checkpoint_every = 0", deparse(file))
  )
  # The limit is 100 blocks of 512 or 1,024 bytes a file. All draws take 0.12 MB.
  child <- start_child(list(run = c(
    "warnings <- 0",
    sprintf("fit <- withCallingHandlers(%s, warning = function(condition) warnings <<- warnings + 1)", run),
    "cat('warnings:', warnings, 'digest:', format(warpbayes:::digest_numbers(fit$draws$labels)), '\\n')"
  )), ready, limit = "ulimit -f 100;")
  wait_for(function() !is_running(child), paste0(ready, ".log"))
  whole <- eval(parse(text = sub(", checkpoint = .*", "), progress = FALSE)", run)))
  said <- readLines(paste0(ready, ".log"))
  digest <- paste(format(digest_numbers(whole$draws$labels)), collapse = " ")
  expect_match(said, paste("warnings: 1 digest:", digest), all = FALSE)
  expect_match(said, "cannot be written: writing failed", all = FALSE)
  expect_identical(list.files(folder, "^run"), c("run", "run.x"))
  expect_true(read_checkpoint(file, file)$fit$iter < 400)
  expect_same_fit(resume(file, x, threads = 2, progress = FALSE), whole)
})

test_that("a run that is interrupted from the keyboard can be resumed", {
  skip_on_cran()
  skip_on_os("windows")
  skip_where_repeated()
  skip_on_other_days(1L)
  folder <- scratch(folder = TRUE)
  file <- file.path(folder, "run")
  result <- file.path(folder, "result")
  ready <- file.path(folder, "ready")
  x <- cells(900)
  saveRDS(x, paste0(file, ".x"))
  # On a busy machine the run may end before this process sees its start. Then a longer run is tried. See
  # skip_if_uninterruptible().
  listening <- "env --default-signal=INT"
  if (system(paste(listening, "true"), ignore.stdout = TRUE, ignore.stderr = TRUE) != 0L) listening <- ""
  for (iter in c(900, 3000, 10000)) {
    child <- start_child(killed_run(file, result, iter), ready, listening)
    # An interrupt before the first sweep returns no fit.
    begun <- function() tryCatch(read_checkpoint(file, file)$fit$iter > 0, error = function(error) FALSE)
    wait_for(begun, paste0(ready, ".log"))
    tools::pskill(child, 2L)
    wait_for(function() !is_running(child), paste0(ready, ".log"))
    done <- readRDS(result)
    if (done$interrupted && done$iter < iter) break
    unlink(file)
  }
  expect_match(readLines(paste0(ready, ".log")), "interrupted: .* of [0-9,]+ sweeps are done", all = FALSE)
  expect_true(done$interrupted && done$iter < iter)
  expect_identical(read_checkpoint(file, file)$fit$iter, done$iter)
  rest <- iter - done$iter
  expect_same_fit(resume(file, x, threads = 2), suppressWarnings(continue(done, rest, threads = 2)))
})

test_that("a second process that would write a checkpoint is refused, and told which one has it", {
  skip_on_cran()
  skip_on_os("windows")
  skip_where_repeated()
  folder <- scratch(folder = TRUE)
  file <- file.path(folder, "run")
  ready <- file.path(folder, "ready")
  x <- cells(60)
  saveRDS(x, paste0(file, ".x"))
  child <- start_child(killed_run(file, file.path(folder, "result"), 1e6), ready)
  on.exit(tools::pskill(child, 9L), add = TRUE)
  wait_for(function() file.exists(file), paste0(ready, ".log"))
  words <- sprintf("is in use, .*: process %s is writing it", child)
  refused(fit_cells(x, checkpoint = file), paste("`checkpoint`", words))
  refused(resume(file, x), paste("`file`", words))
  tools::pskill(child, 9L)
  # The system gives a lock back somewhat after the process has gone.
  wait_for(function() {
    inherits(tryCatch(fit_cells(x, checkpoint = file), warpbayes_error_input = identity), "dp_mixture")
  }, paste0(ready, ".log"))
  expect_identical(list.files(folder, "^run"), c("run", "run.x"))
})

test_that("SIGUSR1 and SIGUSR2 make R save and end during a fit, and the checkpoint has the last sweeps", {
  skip_on_cran()
  skip_on_os("windows")
  skip_where_repeated()
  folder <- scratch(folder = TRUE)
  file <- file.path(folder, "run")
  ready <- file.path(folder, "ready")
  x <- cells(60)
  saveRDS(x, paste0(file, ".x"))
  run <- sprintf(
    "fit <- dp_mixture(readRDS(%s), 5, chains = 2, iter = 1e6, seed = 4, threads = 2, control = warp_control(%s))",
    deparse(paste0(file, ".x")), sprintf("checkpoint = %s, checkpoint_every = 1e4, thin = 1000", deparse(file))
  )
  for (signal in c(tools::SIGUSR1, tools::SIGUSR2)) {
    unlink(c(file, file.path(folder, ".RData")))
    child <- start_child(list(before = sprintf("setwd(%s); kept <- 7", deparse(folder)), run = run), ready)
    wait_for(function() file.exists(file), paste0(ready, ".log"))
    Sys.sleep(0.5)
    tools::pskill(child, signal)
    wait_for(function() !is_running(child), paste0(ready, ".log"))
    # R's own handling saves the workspace.
    saved <- new.env()
    load(file.path(folder, ".RData"), saved)
    expect_identical(saved$kept, 7)
    expect_gt(read_checkpoint(file, file)$fit$iter, 0)
  }
  # No handler of this package is left.
  fit_cells(x)
  expect_false(.Call(C_signals_wait))
  expect_true(.Call(C_signals_hold))
  expect_false(.Call(C_signals_hold))
  .Call(C_signals_release)
})
