# Makes the site: pkgdown writes the pages, and what it would load from the network is then put into them. Formulas
# become MathML, the table of contents of a page becomes a list, and the search index becomes a script.
#   Rscript tools/site.R COPY-OF-THE-SOURCES SITE

folders <- commandArgs(TRUE)
source_folder <- normalizePath(folders[[1]])
dir.create(folders[[2]], recursive = TRUE, showWarnings = FALSE)
site <- normalizePath(folders[[2]])

# What tries to reach the network fails at once.
Sys.setenv(http_proxy = "http://127.0.0.1:9", https_proxy = "http://127.0.0.1:9", no_proxy = "")
options(pkgdown.internet = FALSE, warpbayes.threads = 2, warpbayes.backend = "cpu")

favicons <- file.path(source_folder, "pkgdown", "favicon")
dir.create(favicons)
status <- system2("Rscript", c("--vanilla", "tools/logo.R", file.path(favicons, "favicon-32x32.png"), "32"))
stopifnot(status == 0)

# pkgdown makes pages of the root's Markdown files only. So these pages move there, and the links to them.
moved <- c("tests/statistical-validation.md", "tests/standards.md", "tests/campaigns.md")
stopifnot(file.copy(file.path(source_folder, moved), source_folder))
for (file in file.path(source_folder, c("README.md", "CONTRIBUTING.md", basename(moved)))) {
  lines <- readLines(file)
  for (page in basename(moved)) lines <- gsub(paste0("\\]\\(([a-z]+/)*", page, "\\)"), paste0("](", page, ")"), lines)
  writeLines(lines, file)
}

pkgdown::build_site(source_folder,
  examples = FALSE, install = FALSE, new_process = FALSE, preview = FALSE, override = list(destination = site)
)

stopifnot(system2("Rscript", c("--vanilla", "tools/cheatsheet.R", file.path(site, "cheatsheet.pdf"))) == 0)

# Formulas --------------------------------------------------------------------

# MathML of TeX formulas, all by one call of pandoc.
as_mathml <- function(tex, display) {
  if (!length(tex)) return(character())
  mark <- ifelse(display, "$$", "$")
  input <- tempfile(fileext = ".md")
  writeLines(paste0(mark, gsub("\\s+", " ", trimws(tex)), mark, "\n"), input, useBytes = TRUE)
  html <- system2("pandoc", c("-f", "markdown", "-t", "html", "--mathml", "--wrap=none", input), stdout = TRUE)
  html <- sub("</p>$", "", sub("^<p>", "", html))
  html <- html[nzchar(html)]
  bad <- !grepl("^<math.*</math>$", html)
  if (length(html) != length(tex) || any(bad)) {
    stop("pandoc makes no MathML of: ", paste(if (length(html) == length(tex)) tex[bad] else tex, collapse = "\n"))
  }
  html
}

# Takes the formulas out of a page. Each leaves a mark in the text, which put_formulas() replaces.
formula_tex <- character()
formula_display <- logical()
mark_of <- function(tex, display) {
  formula_tex <<- c(formula_tex, tex)
  formula_display <<- c(formula_display, display)
  paste0("@@formula", length(formula_tex), "@@")
}

take_formulas <- function(page) {
  for (node in xml2::xml_find_all(page, "//span[contains(concat(' ', @class, ' '), ' math ')]")) {
    tex <- xml2::xml_text(node)
    display <- grepl("display", xml2::xml_attr(node, "class"))
    xml2::xml_set_text(node, mark_of(gsub("^\\\\[[(]|\\\\[])]$", "", tex), display))
  }
  inside <- "//main//text()[not(ancestor::pre) and not(ancestor::code) and (contains(., '\\(') or contains(., '$$'))]"
  for (node in xml2::xml_find_all(page, inside)) {
    text <- xml2::xml_text(node)
    for (pattern in c("(?s)\\$\\$(.+?)\\$\\$", "(?s)\\\\\\((.+?)\\\\\\)")) {
      found <- gregexpr(pattern, text, perl = TRUE)
      regmatches(text, found) <- lapply(regmatches(text, found), function(formulas) {
        vapply(formulas, function(formula) {
          mark_of(substr(formula, 3, nchar(formula) - 2), startsWith(formula, "$$"))
        }, "")
      })
    }
    xml2::xml_set_text(node, text)
  }
}

put_formulas <- function(html, mathml) {
  found <- gregexpr("@@formula[0-9]+@@", html)
  regmatches(html, found) <- lapply(regmatches(html, found), function(marks) mathml[as.integer(gsub("\\D", "", marks))])
  html
}

# Pages -----------------------------------------------------------------------

escaped <- function(text) gsub("<", "&lt;", gsub("&", "&amp;", text, fixed = TRUE), fixed = TRUE)

# The list of the sections of a page, which pkgdown leaves to a script from the network.
put_contents <- function(page) {
  nav <- xml2::xml_find_first(page, "//nav[@id = 'toc']")
  if (inherits(nav, "xml_missing")) return(invisible())
  headings <- xml2::xml_find_all(page, "//main//*[self::h2 or self::h3][not(@data-toc-skip)]")
  ids <- xml2::xml_attr(headings, "id")
  parents <- xml2::xml_attr(xml2::xml_parent(headings), "id")
  if (length(headings)) {
    parents <- vapply(headings, function(heading) xml2::xml_attr(xml2::xml_parent(heading), "id"), "")
  }
  ids <- ifelse(is.na(ids), parents, ids)
  keep <- !is.na(ids)
  if (sum(keep) < 2) {
    xml2::xml_remove(nav)
    return(invisible())
  }
  class <- ifelse(xml2::xml_name(headings) == "h2", "section-link", "part-link")
  items <- sprintf('<li class="%s"><a href="#%s">%s</a></li>', class[keep], ids[keep],
    escaped(trimws(xml2::xml_text(headings[keep])))
  )
  list <- xml2::xml_root(xml2::read_xml(paste0("<ul>", paste(items, collapse = ""), "</ul>")))
  xml2::xml_add_child(nav, list)
}

# The first sentence of each help page, for the index.
first_sentence <- function(file) {
  page <- xml2::read_html(file)
  text <- xml2::xml_text(xml2::xml_find_first(page, "//div[contains(@class, 'ref-description')]//p"))
  text <- gsub("\\s+", " ", trimws(text))
  if (is.na(text)) return("")
  regmatches(text, regexpr("^.*?[.:](?= |$)", text, perl = TRUE))
}

put_sentences <- function(page) {
  for (entry in xml2::xml_find_all(page, "//main//dl")) {
    link <- xml2::xml_attr(xml2::xml_find_first(entry, ".//dt//a"), "href")
    sentence <- first_sentence(file.path(site, "reference", link))
    if (length(sentence) && nzchar(sentence)) {
      xml2::xml_add_child(xml2::xml_find_first(entry, ".//dd"), "span", sub(":$", ".", sentence), class = "sentence")
    }
  }
}

# The first row of a table of a help page names its columns. The headings of the index of articles follow its title.
put_headers <- function(page, file) {
  if (startsWith(file, "reference/")) {
    for (cell in xml2::xml_find_all(page, "//main//table[not(.//th)]//tr[1]/td")) {
      xml2::xml_set_name(cell, "th")
      xml2::xml_set_attr(cell, "scope", "col")
    }
  }
  if (file == "articles/index.html") xml2::xml_set_name(xml2::xml_find_all(page, "//main//h3"), "h2")
}

pages <- list.files(site, "\\.html$", recursive = TRUE)
parsed <- lapply(pages, function(file) {
  page <- xml2::read_html(file.path(site, file))
  if (file == file.path("reference", "index.html")) put_sentences(page)
  put_headers(page, file)
  take_formulas(page)
  put_contents(page)
  # Nothing reads these: the site has no address.
  xml2::xml_remove(xml2::xml_find_all(page, "//meta[starts-with(@property, 'og:') or starts-with(@name, 'twitter:')]"))
  page
})
mathml <- as_mathml(formula_tex, formula_display)
for (i in seq_along(pages)) {
  html <- put_formulas(enc2utf8(as.character(parsed[[i]])), mathml)
  writeLines(html, file.path(site, pages[[i]]), useBytes = TRUE)
}
cat(sprintf("%d pages, %d formulas as MathML\n", length(pages), length(mathml)))

# Search ----------------------------------------------------------------------

entries <- Filter(function(entry) length(entry$path) == 1, jsonlite::read_json(file.path(site, "search.json")))
plain <- function(text) gsub("\\s+", " ", trimws(paste(unlist(text), collapse = " ")))
titles <- vapply(parsed, function(page) plain(xml2::xml_text(xml2::xml_find_first(page, "//main//h1"))), "")
names(titles) <- pages
index <- lapply(entries, function(entry) {
  path <- sub("^/+", "", entry$path)
  title <- if (path %in% pages) titles[[path]] else path
  section <- plain(entry$what)
  words <- tolower(paste(plain(entry$text), plain(entry$code)))
  list(
    path = path, id = plain(entry$id), name = tolower(sub("\\.html$", "", basename(path))), title = title,
    what = if (nzchar(section)) section else title, text = substr(words, 1, 2000)
  )
})
json <- jsonlite::toJSON(index, auto_unbox = TRUE)
writeLines(paste0("window.siteIndex = ", json, ";"), file.path(site, "search-index.js"), useBytes = TRUE)
unlink(file.path(site, c("search.json", "pkgdown.js", "sitemap.xml")))
