# What happens when the package is loaded and unloaded.

when_loaded <- function(package, add) {
  force(add)
  run <- function(...) add(asNamespace(package))
  if (isNamespaceLoaded(package)) run() else setHook(packageEvent(package, "onLoad"), run)
}

# What rooms above do when the package is loaded, and what they keep between calls: environments that unloading empties.
loading <- new.env(parent = emptyenv())
loading$actions <- loading$kept <- list()

at_load <- function(action) loading$actions <- c(loading$actions, action)

keep_until_unload <- function(kept) {
  loading$kept <- c(loading$kept, kept)
  kept
}

.onLoad <- function(libname, pkgname) {
  for (action in loading$actions) action()
  # With the methods of data frames themselves, R finds one method for a table and another data frame.
  for (group in c("Math", "Ops", "Summary")) {
    for (class in c("type_proportions", "topic_effects", "differential_state")) {
      registerS3method(group, class, get(paste0(group, ".data.frame"), baseenv()), envir = baseenv())
    }
  }
}

.onUnload <- function(libpath) {
  for (kept in loading$kept) rm(list = ls(kept, all.names = TRUE), envir = kept)
  invisible(gc())
  obstacle <- .Call(C_unload_obstacle)
  if (!is.null(obstacle)) {
    message("The compiled code of warpbayes stays loaded, because ", obstacle,
      ". Restart R before you load another version of warpbayes.")
    return(invisible())
  }
  # A function of the package that somebody has kept raises an error.
  own <- topenv()
  .Call(C_unload_symbols, unname(mget(ls(own, pattern = "^C_"), own)))
  library.dynam.unload("warpbayes", libpath)
}

tables_read <- new.env(parent = emptyenv())

read_once <- function(file) {
  if (is.null(tables_read[[file]])) {
    tables_read[[file]] <- utils::read.csv(system.file(file, package = "warpbayes"), encoding = "UTF-8")
  }
  tables_read[[file]]
}

# The version that is loaded. Another one may have been installed since.
package_version_text <- function() unname(getNamespaceVersion("warpbayes"))
