# report(): a page for each kind of fit, from names that HTML and Markdown could read as their own; what the page may
# refer to; files; the code that repeats a fit; the state of R. The output of chunks of R Markdown.

hostile_names <- c(
  "<script>alert(1)</script>", "a|b", "_x_", "$y$", "\"><img src=x onerror=alert(2)>", "`r stop('no')`", "</style><b>",
  "&amp;", "\\(z\\)", "'q'", "*s* [l](http://x)", "caf\u00e9"
)

hostile_fits <- function() {
  set.seed(2)
  bad <- hostile_names
  cells <- matrix(rnorm(200 * 2), ncol = 2, dimnames = list(NULL, bad[c(1, 5)]))
  cells[1:100, ] <- cells[1:100, ] + 6
  mix <- dp_mixture(cells, components = 4, iter = 40, chains = 2, seed = 1, threads = 2,
    sample = rep(bad[c(2, 5)], 100))
  types <- cell_types(mix, threads = 2)
  levels(types) <- bad[seq_along(levels(types))]
  counts <- rbind(c(510, 480, 450, 400, 380, 440), c(40, 52, 45, 160, 120, 143))
  dimnames(counts) <- list(bad[c(1, 5)], bad[1:6])
  groups <- data.frame(g = rep(bad[c(3, 4)], each = 3))
  words <- matrix(rpois(12 * 20, 2), 20, dimnames = list(paste(rep_len(bad, 20), 1:20), bad))
  topics <- topic_model(words, 5, iter = 40, chains = 2, seed = 1, threads = 2)
  topic_names(topics) <- bad[1:5]
  rows <- stats::setNames(data.frame(rbinom(40, 1, 0.5), rnorm(40)), c("y", "<script>alert(3)</script>"))
  list(
    mix = mix, types = types,
    abundance = differential_abundance(counts, ~ g, groups, totals = rep(1000, 6), seed = 1, iter = 60, warmup = 10),
    logit = bayes_logit(y ~ ., rows, chains = 2, iter = 60, seed = 1, threads = 2), topics = topics,
    bootstrap = predictive_resample(precip, bayesian_bootstrap(), functional = c("mean", "sd"), draws = 50, seed = 1),
    die = pmf(rep(1 / 6, 6), from = 1)
  )
}

verdict_of <- function(fit) {
  if (!inherits(fit, "pmf")) as.character(verdict(fit))
}

# A new folder, which is deleted at the end of the test.
new_folder <- function(frame = parent.frame()) {
  folder <- tempfile("pages-")
  dir.create(folder)
  do.call(on.exit, list(call("unlink", folder, recursive = TRUE), add = TRUE), envir = frame)
  normalizePath(folder)
}

# The page, with the pictures' code cut short.
page_text <- function(file) {
  lines <- readLines(file, encoding = "UTF-8", warn = FALSE)
  paste(gsub("(data:image/png;base64,[A-Za-z0-9+/=]{8})[A-Za-z0-9+/=]*", "\\1", lines), collapse = "\n")
}

all_matches <- function(pattern, text, ...) unlist(regmatches(text, gregexpr(pattern, text, ...)))

test_that("each kind of fit has a page with its verdict, which escapes names and refers to nothing outside", {
  skip_where_repeated()
  fits <- hostile_fits()
  folder <- new_folder()
  set.seed(7)
  shared <- c("OutDec", "scipen", "digits", "width", "useFancyQuotes", "device", "warn")
  before <- list(.Random.seed, options()[shared], getwd(), dev.list())
  for (kind in names(fits)) {
    file <- file.path(folder, paste0(kind, ".html"))
    expect_identical(report(fits[[kind]], file, title = hostile_names[[1]], note = hostile_names, open = FALSE),
      normalizePath(file))
    text <- page_text(file)
    expect_identical(grepl(">Convergence</", text, fixed = TRUE), kind %in% c("mix", "logit", "topics"))
    for (sentence in verdict_of(fits[[kind]])) {
      expect_match(text, paste0("<li>", escape_html(sentence), "</li>"), fixed = TRUE, label = kind)
    }
    expect_match(text, "</html>$")
    expect_false(grepl("cannot be drawn", text), label = kind)
    # All tags are those that the package writes, none comes from a name.
    known <- c("!DOCTYPE", "b", "body", "div", "em", "figcaption", "figure", "h", "head", "html", "i", "img", "input",
      "label", "li", "main", "meta", "p", "picture", "pre", "section", "source", "span", "style", "table", "tbody",
      "td", "th", "thead", "title", "tr", "ul", "sup")
    tags <- unique(all_matches("(?<=<)/?[A-Za-z!]+", text, perl = TRUE))
    expect_identical(setdiff(sub("^/", "", tags), known), character(), label = kind)
    expect_false(any(grepl("<[^>]* on[a-z]+=", gsub("\"[^\"]*\"", "\"\"", all_matches("<[^>]*>", text)))))
    expect_match(text, escape_html(hostile_names[[5]]), fixed = TRUE)
    # Pictures are in the page, and nothing else is loaded.
    sources <- all_matches("<[^>]*(src|srcset|href|url)[=(][^>]*>", text)
    sources <- all_matches("(src|srcset|href)=\"[^\"]*\"", sources)
    expect_true(all(grepl("^(src|srcset)=\"data:image/png;base64,[A-Za-z0-9+/]+=*\"$", sources)), label = kind)
    expect_identical(length(sources), 2L * length(all_matches("<figure>", text)))
    # What a label chooses exists once.
    ids <- all_matches("(?<= id=\")[^\"]*", text, perl = TRUE)
    expect_false(anyDuplicated(ids) > 0)
    expect_true(all(all_matches("(?<=<label for=\")[^\"]*", text, perl = TRUE) %in% ids))
  }
  expect_identical(list(.Random.seed, options()[shared], getwd(), dev.list()), before)
  expect_setequal(list.files(folder, all.files = TRUE, no.. = TRUE), paste0(names(fits), ".html"))
})

test_that("numbers on the map do not cover each other", {
  skip_where_repeated()
  set.seed(1)
  x <- c(runif(60, 100, 160), rep(170, 30), 10)
  y <- c(runif(60, 100, 160), rep(170, 30), 10)
  places <- free_places(x, y, 20, 14, 340)
  near <- abs(outer(places[, 1], places[, 1], "-")) < 20 & abs(outer(places[, 2], places[, 2], "-")) < 14
  expect_identical(sum(near), 91L)
  expect_equal(unname(places[c(1, 91), ]), cbind(x, y)[c(1, 91), ], ignore_attr = TRUE)
  expect_true(all(places >= 7 & places <= 333))
  # A square with room for one.
  expect_equal(free_places(c(5, 5), c(5, 5), 10, 10, 10)[2, ], c(x = 5, y = 5))
})

test_that("the map has a circle, a list of terms and rules of style for each topic", {
  skip_where_repeated()
  fit <- topic_model(small_counts(), 3, iter = 20, seed = 1, threads = 2)
  explorer <- topic_explorer(fit, 2, 4)
  largest <- head(order(-topic_prevalence(fit)), 2)
  for (topic in largest) {
    expect_match(explorer, sprintf("<label for=\"t-%d\"", topic), fixed = TRUE)
    expect_match(explorer, sprintf("<section class=\"panel p-%d\">", topic), fixed = TRUE)
    rule <- sprintf("#t-%d:checked ~ .sides .panel.p-%d { display: block; }", topic, topic)
    expect_match(attr(explorer, "style"), rule, fixed = TRUE)
  }
  expect_length(all_matches("<section", explorer), 2L)
  # The terms by relevance are those of top_terms(), and the largest topic is chosen at first.
  terms <- top_terms(fit, 4, by = "relevance", weight = 0.4)
  shown <- all_matches("(?<=<span>)[^<]*", strsplit(strsplit(explorer, "<section")[[1]][[2]], "list r-")[[1]][[3]],
    perl = TRUE)
  expect_identical(shown, terms$term[terms$topic == largest[[1]]])
  expect_match(explorer, sprintf("id=\"t-%d\" aria-label=\"[^\"]*\" checked", largest[[1]]))
})

test_that("cells lie where their markers say", {
  types <- cell_types(population_fit(n = 60), threads = 2)
  explorer <- cell_explorer(types, NULL, 1000)
  at <- as.double(all_matches("(?<=--b:)[0-9]+", explorer, perl = TRUE))
  expect_length(at, nrow(types$fit$x))
  inside <- at > 0 & at < 1000
  expect_gt(cor(at[inside], types$fit$x[inside, 2]), 1 - 1e-5)
  expect_length(all_matches("class=\"k[0-9]", cell_explorer(types, NULL, 10)), 10L)
})

test_that("the code of a page repeats the fit", {
  set.seed(3)
  df <- data.frame(y = rbinom(30, 1, 0.5), x = rnorm(30))
  fit <- drop_warmup(continue(bayes_logit(y ~ x, df, chains = 1, iter = 40, threads = 2), 20, threads = 2), 5)
  code <- report_content(fit)$code
  expect_match(code[[1]], "It needs `df`, which is not part of this page", fixed = TRUE)
  again <- new.env(parent = asNamespace("warpbayes"))
  again$df <- df
  eval(parse(text = code), again)
  expect_identical(again$fit$coefficient_trace, fit$coefficient_trace)
  expect_identical(again$fit$warmup, fit$warmup)
  # Values that do.call() puts into the call do not become pages of numbers.
  cells <- matrix(rnorm(200), ncol = 2)
  fit <- do.call(dp_mixture, list(cells, components = 2, iter = 10, seed = 1, threads = 2))
  needed <- "# It needs `x`, which is not part of this page."
  call <- "fit <- dp_mixture(x = x, components = 2, iter = 10, seed = 1)"
  expect_identical(report_content(fit)$code, c(needed, call))
  # Objects of other arguments are named too, but not functions.
  own_prior <- logit_prior(scale = 2)
  fit <- bayes_logit(y ~ x, df, prior = own_prior, chains = c(1), iter = 10, threads = 2)
  expect_identical(report_content(fit)$code[[1]], "# It needs `df`, `own_prior`, which are not part of this page.")
  # A data frame that is no variable has the formula's columns all the same.
  fit <- bayes_logit(am ~ wt, datasets::mtcars, chains = 1, iter = 10, seed = 1, threads = 2)
  code <- report_content(fit)$code
  expect_match(code[[1]], "fit <- bayes_logit(formula = am ~ wt, data = datasets::mtcars", fixed = TRUE)
  expect_identical(eval(parse(text = code))$coefficient_trace, fit$coefficient_trace)
  # A name with a line break does not leave the comment.
  code <- "x\nstop(\"this was a comment\")"
  assign(code, df)
  fit <- eval(bquote(bayes_logit(y ~ x, .(as.name(code)), chains = 1, iter = 10, seed = 1, threads = 2)))
  code <- paste(report_content(fit)$code, collapse = "\n")
  expect_length(parse(text = code), 1L)
  page <- rawToChar(readBin(report(fit, tempfile(fileext = ".html"), open = FALSE), "raw", 1e7))
  expect_false(grepl("\nstop(", page, fixed = TRUE))
})

test_that("a file is replaced only if it is a report, and no half of a page is left", {
  die <- pmf(rep(1 / 6, 6), from = 1)
  folder <- new_folder()
  file <- file.path(folder, "a.html")
  writeLines("mine", file)
  expect_error(report(die, file, open = FALSE), "names a file that is not a report", class = "warpbayes_error_input")
  expect_identical(readLines(file), "mine")
  expect_identical(report(die, file, overwrite = TRUE, open = FALSE), normalizePath(file))
  report(die, file, note = "More words.", open = FALSE)
  expect_match(readLines(file), "More words.", fixed = TRUE, all = FALSE)
  refused <- function(file, words) expect_error(report(die, file, open = FALSE), words, class = "warpbayes_error_input")
  refused(file.path(folder, "none", "a.html"), "there is no folder")
  refused(file.path(folder, "a.pdf"), "must end in .html")
  refused(file.path(folder, paste0(strrep("x", 300), ".html")), "cannot be written to")
  refused(NA_character_, "must be NULL or the name of a file")
  refused(character(), "must be NULL or the name of a file")
  dir.create(file.path(folder, "b.html"))
  refused(file.path(folder, "b.html"), "is a folder")
  expect_error(report(die, file, title = 1, open = FALSE), "`title` must be NULL or a text")
  expect_error(report(die, file, note = NA, open = FALSE), "`note` must be NULL or texts")
  expect_error(report(1), "`fit` must come from dp_mixture()", fixed = TRUE, class = "warpbayes_error_input")
  expect_error(report(die, file, oops = 1), "unused argument")
  skip_on_os("windows")
  file.symlink(file.path(folder, "gone"), file.path(folder, "c.html"))
  refused(file.path(folder, "c.html"), "symbolic link")
  expect_setequal(list.files(folder, all.files = TRUE, no.. = TRUE), c("a.html", "b.html", "c.html"))
})

test_that("without a file, the page is a temporary file, and open shows it", {
  seen <- NULL
  file <- with_options(list(browser = function(url) seen <<- url), report(pmf(c(0.5, 0.5)), open = TRUE))
  on.exit(unlink(file))
  expect_identical(dirname(file), tempdir())
  expect_match(seen, basename(file), fixed = TRUE)
})

test_that("a page is made although a picture cannot be drawn, and says why", {
  skip_where_repeated()
  fit <- simulate_fit(n = 200, k = 2, p = 2)
  fit$draws$means <- NULL
  text <- page_text(report(fit, open = FALSE))
  expect_match(text, "This picture cannot be drawn: ")
  expect_match(text, escape_html(as.character(verdict(fit))[[1]]), fixed = TRUE)
})

test_that("a picture leaves the user's device as it was", {
  file <- tempfile(fileext = ".pdf")
  pdf(file)
  device <- dev.cur()
  on.exit({
    dev.off(device)
    unlink(file)
  })
  par(mar = c(1, 2, 3, 4))
  expect_match(paint_png(function() plot(1), 2, 2, 10)$data, "^data:image/png;base64,iVBOR")
  expect_identical(paint_png(function() stop("no"), 2, 2, 10), list(failure = "no"))
  expect_identical(dev.cur(), device)
  expect_identical(par("mar"), c(1, 2, 3, 4))
})

# Evaluates `code` while `open` opens the devices of pictures, in an empty working folder, whose files are returned with
# the result.
with_device <- function(open, code) {
  folder <- tempfile("working-")
  dir.create(folder)
  old <- setwd(folder)
  kept <- open_png
  utils::assignInNamespace("open_png", open, "warpbayes")
  on.exit({
    utils::assignInNamespace("open_png", kept, "warpbayes")
    setwd(old)
    unlink(folder, recursive = TRUE)
  })
  result <- force(code)
  list(result = result, written = list.files(folder, all.files = TRUE, no.. = TRUE))
}

# Devices that fail, and the words of the page.
failing_devices <- function() {
  list(
    none = list(function(...) NULL, "no device for pictures can be opened"),
    reason = list(function(...) "unable to load shared object", "can be opened: unable to load shared object"),
    error = list(function(...) stop("no device today"), "no device today"),
    empty = list(function(...) pdf(NULL), "was not written to its end"),
    other = list(function(file, ...) pdf(file), "was not written to its end"),
    several = list(function(...) for (i in 1:2) pdf(NULL), "was not written to its end")
  )
}

test_that("where no device opens or one fails, the page says so, and no device or file is left", {
  die <- pmf(rep(1 / 6, 6), from = 1)
  folder <- new_folder()
  expect_clean <- function(open, words) {
    before <- list(dev.list(), dev.cur(), list.files(tempdir(), "png$"))
    file <- file.path(folder, "a.html")
    got <- with_device(open, report(die, file, open = FALSE))
    text <- page_text(file)
    expect_match(text, words, fixed = TRUE)
    expect_length(all_matches("This picture cannot be drawn: ", text), 2L)
    expect_no_match(text, "<img|<figure>")
    expect_match(text, "</html>$")
    expect_identical(got$written, character())
    expect_identical(list(dev.list(), dev.cur(), list.files(tempdir(), "png$")), before)
    expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), "a.html")
  }
  for (device in failing_devices()) expect_clean(device[[1L]], device[[2L]])
  # The user's device is neither closed nor drawn on.
  own <- tempfile(fileext = ".pdf")
  pdf(own)
  mine <- dev.cur()
  on.exit({
    dev.off(mine)
    unlink(own)
  }, add = TRUE)
  par(mar = c(1, 2, 3, 4))
  for (device in failing_devices()) expect_clean(device[[1L]], device[[2L]])
  expect_identical(par("page"), TRUE)
  expect_identical(par("mar"), c(1, 2, 3, 4))
})

test_that("the kind of the user's options is tried if cairo does not open", {
  skip_if_not(capabilities("cairo"))
  real <- open_png
  tried <- character()
  open <- function(file, width, height, pointsize, type) {
    tried <<- c(tried, type)
    if (type == "cairo") "no cairo" else real(file, width, height, pointsize, "cairo")
  }
  drawn <- with_options(list(bitmapType = "quartz"), with_device(open, paint_png(function() plot(1), 2, 2, 10)))
  expect_match(drawn$result$data, "^data:image/png;base64,iVBOR")
  expect_identical(tried, c("cairo", "quartz"))
})

test_that("a picture that lost any part of its file is not shown", {
  skip_if_not(capabilities("cairo"))
  file <- scratch(fileext = ".png")
  png(file, 300, 300, type = "cairo")
  plot(1)
  dev.off()
  bytes <- readBin(file, "raw", 1e6)
  expect_true(is_whole_png(bytes))
  for (length in c(0:60, length(bytes) - 0:60 - 1)) expect_false(is_whole_png(head(bytes, length)))
  expect_false(is_whole_png(c(bytes, as.raw(0))))
  expect_false(is_whole_png(bytes[-(100:200)]))
  expect_false(is_whole_png(replace(bytes, 1L, as.raw(0))))
  expect_false(is_whole_png(c(head(bytes, 8), as.raw(c(255, 255, 255, 255)), bytes[13:60])))
  # A device that loses the end of its file, as on a full disk.
  kept <- paste0(file, ".kept")
  on.exit(unlink(kept), add = TRUE)
  writeBin(head(bytes, 200), kept)
  cut <- function(target, ...) {
    pdf(NULL)
    file.copy(kept, target)
    NULL
  }
  failure <- with_device(cut, paint_png(function() plot(1), 2, 2, 10))$result
  expect_identical(failure, list(failure = "its file was not written to its end; the disk may be full"))
})

test_that("text of pages and pictures has a contrast of at least 4.5", {
  skip_where_repeated()
  expect_equal(contrast_of("black", "white"), 21)
  expect_equal(contrast_of("#767676", "#FFFFFF"), 4.54, tolerance = 1e-3)
  fields <- unique(c(component_colours, chain_colours, other_colour, signal_colour, region_colours, histogram_colour,
    bar_colour, diverging_colours(101)))
  expect_gte(min(contrast_of(text_on(fields), fields)), 4.5)
  # White does not do on all of them.
  expect_lt(min(contrast_of("white", component_colours)), 2)
  expect_gte(min(contrast_of(c(signal_text_colour, quiet_text_colour), "white")), 4.5)
  # Every colour of text in a report, on every ground that text stands on there.
  css <- readLines(system.file("report", "report.css", package = "warpbayes"))
  colours <- function(property) {
    found <- regmatches(css, regexpr(paste0("(?<![-a-z])", property, ": #[0-9a-f]+"), css, perl = TRUE))
    short <- sub(".*#", "", found)
    unique(paste0("#", ifelse(nchar(short) == 3, gsub("(.)", "\\1\\1", short), short)))
  }
  text <- colours("color")
  ground <- setdiff(colours("background"), c("#e4e4e4", "#cccccc", "#0072b2"))
  expect_true(all(c("#1a1a1a", "#555555") %in% text) && all(c("#ffffff", "#fdf2ea") %in% ground))
  for (one in ground) expect_gte(min(contrast_of(text, one)), 4.5, label = one)
})

test_that("base64 follows RFC 4648", {
  text <- c("", "f", "fo", "foo", "foob", "fooba", "foobar")
  code <- c("", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy")
  expect_identical(vapply(text, function(one) base64(charToRaw(one)), "", USE.NAMES = FALSE), code)
})

test_that("chunks show the words, the main table and the verdict", {
  skip_if_not_installed("knitr")
  skip_where_repeated()
  fits <- hostile_fits()
  fits$die <- NULL
  for (fit in c(unname(fits), lapply(unname(fits), summary))) {
    shown <- knitr::knit_print(fit)
    expect_s3_class(shown, "knit_asis")
    expect_match(shown, escape_markdown(paste(verdict_of(fit), collapse = " ")), fixed = TRUE)
    expect_match(shown, "\n| ", fixed = TRUE)
    expect_false(grepl("<script|<img|`r ", shown))
  }
  expect_match(knitr::knit_print(dp_prior()), "- Means&#58; normal around the mean of each marker", fixed = TRUE)
})

test_that("Markdown shows names as they are", {
  skip_if_not_installed("rmarkdown")
  skip_where_repeated()
  skip_if_not(rmarkdown::pandoc_available("2.0"))
  names <- c(hostile_names, "# h", "- item", "1. a", "--x...", "a#b&#35;", "^2^ ~s~ @cite :::", "\\alpha", "-0.5",
    "x-y 1.02 end.", "\\[u\\]", "{#id .c}", "%a; b/c")
  file <- scratch(fileext = ".md")
  writeLines(enc2utf8(paste(escape_markdown(names), collapse = "\n\n")), file, useBytes = TRUE)
  form <- "markdown+tex_math_single_backslash+autolink_bare_uris+smart+emoji"
  shown <- system2(rmarkdown::pandoc_exec(), c("-f", form, "-t", "plain", "--wrap=none", shQuote(file)), stdout = TRUE)
  shown <- iconv(shown, "UTF-8", "UTF-8")
  Encoding(shown) <- "UTF-8"
  expect_identical(shown[nzchar(shown)], names)
})
