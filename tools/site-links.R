# Checks the pages of a site: every link to another page of it, every anchor, picture, script and style sheet must
# exist, and nothing that a page needs may come from another machine. Links for the reader to other sites are not
# followed.
#   Rscript tools/site-links.R SITE

site <- normalizePath(commandArgs(TRUE)[[1]])
files <- list.files(site, "\\.html$", recursive = TRUE)
if (!file.exists(file.path(site, "index.html"))) stop(site, " has no index.html")

pages <- lapply(files, function(file) xml2::read_html(file.path(site, file)))
names(pages) <- files
attribute <- function(page, xpath, name) xml2::xml_attr(xml2::xml_find_all(page, xpath), name)
anchors <- lapply(pages, function(page) c(attribute(page, "//*[@id]", "id"), attribute(page, "//a[@name]", "name")))

outside <- function(target) grepl("^([a-z][a-z0-9+.-]*:|//)", target, ignore.case = TRUE)
decoded <- function(path) vapply(path, utils::URLdecode, "", USE.NAMES = FALSE)

# The path within the site that a link of a page leads to.
resolved <- function(file, path) {
  if (startsWith(path, "/")) return(sub("^/+", "", path))
  parts <- strsplit(file.path(dirname(file), path), "/")[[1]]
  kept <- character()
  for (part in parts) {
    if (part %in% c("", ".")) next
    if (part == ".." && !length(kept)) return("..")
    kept <- if (part == "..") kept[-length(kept)] else c(kept, part)
  }
  paste(kept, collapse = "/")
}

findings <- character()
found <- function(...) findings <<- c(findings, paste0(...))
links <- 0
for (file in files) {
  page <- pages[[file]]
  needed <- c(
    attribute(page, "//*[@src]", "src"), attribute(page, "//link[@rel = 'stylesheet' or @rel = 'icon']", "href"),
    attribute(page, "//object[@data]", "data")
  )
  for (target in needed[outside(needed) & !grepl("^data:", needed)]) found(file, " loads ", target)
  targets <- unique(c(needed, attribute(page, "//a[@href]", "href"), attribute(page, "//area[@href]", "href")))
  for (target in targets[!outside(targets)]) {
    links <- links + 1
    path <- decoded(sub("[?#].*$", "", target))
    anchor <- if (grepl("#", target, fixed = TRUE)) decoded(sub("^[^#]*#", "", target)) else ""
    place <- if (nzchar(path)) resolved(file, path) else file
    if (dir.exists(file.path(site, place))) place <- sub("^/", "", file.path(place, "index.html"))
    if (place == ".." || !file.exists(file.path(site, place))) {
      found(file, " links to ", target, ", which does not exist")
    } else if (nzchar(anchor) && place %in% files && !anchor %in% anchors[[place]]) {
      found(file, " links to ", target, ", and the page has no such anchor")
    }
  }
  # A formula that is still TeX needs a script from the network.
  text <- xml2::xml_text(xml2::xml_find_all(page, "//main//text()[not(ancestor::pre) and not(ancestor::code)]"))
  tex <- grep("\\\\\\(|\\$\\$|@@formula", text, value = TRUE)
  for (line in tex) found(file, " has a formula that is not MathML: ", substr(trimws(line), 1, 60))
}

# Style sheets.
for (file in list.files(site, "\\.css$", recursive = TRUE)) {
  text <- paste(readLines(file.path(site, file), warn = FALSE), collapse = "\n")
  urls <- regmatches(text, gregexpr("(url\\(|@import )[^);]+", text))[[1]]
  urls <- gsub("^(url\\(|@import )[\"']?|[\"']$", "", urls)
  for (url in urls[outside(urls) & !grepl("^data:", urls)]) found(file, " loads ", url)
  for (url in urls[!outside(urls) & !startsWith(urls, "#")]) {
    if (!file.exists(file.path(site, resolved(file, sub("[?#].*$", "", url))))) found(file, " lacks ", url)
  }
}

cat(findings, sep = "\n")
cat(sprintf("%d pages, %d links and files: %d findings\n", length(files), links, length(findings)))
quit(status = as.integer(length(findings) > 0))
