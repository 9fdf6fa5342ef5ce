# Opens pages in Chromium without a screen, and looks for what keeps people out: contrast, headings, headers of tables,
# names of controls, width on a telephone, and the explorers of reports by keyboard. Exits with 1 if it finds something.
#   Rscript tools/browse.R PAGE.html ...
# Chromium is driven through pipes by its DevTools protocol: a message is a line of JSON that ends with a zero byte.

files <- normalizePath(commandArgs(TRUE))
check <- paste(readLines("tools/browse.js"), collapse = "\n")
program <- Sys.which(c("chromium", "chromium-browser", "google-chrome"))
program <- program[nzchar(program)]
if (!length(program)) stop("Chromium is not installed")

folder <- tempfile("browse")
dir.create(folder)
pipes <- file.path(folder, c("to", "from"))
stopifnot(system2("mkfifo", pipes) == 0)
options <- "--headless --no-sandbox --disable-gpu --remote-debugging-pipe"
system(sprintf("%s %s --user-data-dir=%s 3<%s 4>%s 2>/dev/null &",
  program[[1]], options, file.path(folder, "profile"), pipes[[1]], pipes[[2]]))
to <- fifo(pipes[[1]], "wb", blocking = TRUE)
from <- fifo(pipes[[2]], "rb", blocking = TRUE)

waiting <- raw()
receive <- function() {
  while (!any(waiting == 0)) {
    some <- readBin(from, "raw", 65536)
    if (!length(some)) stop("Chromium has ended")
    waiting <<- c(waiting, some)
  }
  end <- which(waiting == 0)[[1]]
  text <- rawToChar(waiting[seq_len(end - 1)])
  waiting <<- waiting[-seq_len(end)]
  jsonlite::fromJSON(text, simplifyVector = FALSE)
}
sent <- 0
session <- NULL
ask <- function(method, ...) {
  sent <<- sent + 1
  message <- list(id = sent, method = method, params = list(...))
  if (!length(message$params)) message$params <- NULL
  if (!is.null(session)) message$sessionId <- session
  writeBin(c(charToRaw(enc2utf8(as.character(jsonlite::toJSON(message, auto_unbox = TRUE)))), as.raw(0)), to)
  repeat {
    answer <- receive()
    if (identical(as.numeric(answer$id), as.numeric(sent))) {
      if (!is.null(answer$error)) stop(method, ": ", answer$error$message)
      return(answer$result)
    }
  }
}
evaluate <- function(code) {
  answer <- ask("Runtime.evaluate", expression = code, returnByValue = TRUE)
  if (!is.null(answer$exceptionDetails)) stop(answer$exceptionDetails$exception$description)
  answer$result$value
}
press <- function(key, code) {
  for (type in c("rawKeyDown", "keyUp")) {
    ask("Input.dispatchKeyEvent", type = type, key = key, code = if (key == " ") "Space" else key,
      windowsVirtualKeyCode = code)
  }
}

# Every group of radio buttons and every check box is reached by Tab, shows it, and reacts to arrows and Space.
by_keyboard <- function() {
  count <- evaluate("(() => { const all = [...document.querySelectorAll('input.pick')];
    return new Set(all.map((e) => e.type === 'radio' ? e.name : e.id)).size; })()")
  if (count == 0) return(character())
  found <- reached <- character()
  for (i in seq_len(evaluate("document.querySelectorAll('a[href], input, [tabindex]').length") + 2)) {
    press("Tab", 9)
    state <- evaluate("(() => { const e = document.activeElement;
      if (!e.classList.contains('pick')) return null;
      const labels = [...document.querySelectorAll(`label[for=\"${CSS.escape(e.id)}\"]`)];
      return { id: e.id, group: e.type === 'radio' ? e.name : e.id, type: e.type, checked: e.checked,
        seen: labels.some((l) => getComputedStyle(l).outlineStyle !== 'none' && l.getClientRects().length) }; })()")
    if (is.null(state) || state$group %in% reached) next
    reached <- c(reached, state$group)
    if (!state$seen) found <- c(found, paste("the focus is not seen on", state$id))
    if (state$type == "radio") press("ArrowRight", 39) else press(" ", 32)
    after <- evaluate("(() => { const e = document.activeElement; return { id: e.id, checked: e.checked }; })()")
    moved <- if (state$type == "radio") after$checked && after$id != state$id else after$checked != state$checked
    alone <- state$type == "radio" &&
      evaluate(sprintf("document.querySelectorAll('input[name=\"%s\"]').length", state$group)) == 1
    if (!moved && !alone) found <- c(found, paste("the keyboard does not change", state$id))
  }
  if (length(reached) < count) found <- c(found, sprintf("%d of %d groups are reached by Tab", length(reached), count))
  found
}

target <- ask("Target.createTarget", url = "about:blank")$targetId
session <- ask("Target.attachToTarget", targetId = target, flatten = TRUE)$sessionId
findings <- 0
for (file in files) {
  found <- character()
  for (scheme in c("light", "dark")) {
    ask("Emulation.setEmulatedMedia", features = list(list(name = "prefers-color-scheme", value = scheme)))
    for (width in c(390, 1280)) {
      ask("Emulation.setDeviceMetricsOverride", width = width, height = 12000, deviceScaleFactor = 1, mobile = FALSE)
      ask("Page.navigate", url = paste0("file://", file))
      for (i in seq_len(200)) {
        if (identical(evaluate("document.readyState"), "complete")) break
        Sys.sleep(0.05)
      }
      found <- c(found, unlist(evaluate(check)))
    }
  }
  found <- unique(c(found, by_keyboard()))
  if (length(found)) cat(paste0(file, ": ", found, "\n"), sep = "")
  findings <- findings + length(found)
}
session <- NULL
invisible(ask("Browser.close"))
Sys.sleep(0.5)
cat(sprintf("%d pages in light and dark, 390 and 1,280 pixels wide: %d findings\n", length(files), findings))
quit(status = as.integer(findings > 0))
