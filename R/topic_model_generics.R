# perplexity() of other packages. Attached after this package they mask its perplexity(), so their generics get a method
# for topic models.

# Calls `add` with the namespace of a package: now if it is loaded, otherwise when it is.
when_loaded <- function(package, add) {
  force(add)
  run <- function(...) add(asNamespace(package))
  if (isNamespaceLoaded(package)) run() else setHook(packageEvent(package, "onLoad"), run)
}

add_perplexity_methods <- function() {
  when_loaded("topicmodels", add_perplexity_s4)
  when_loaded("seededlda", add_perplexity_s3)
}

# A method for an S4 generic perplexity(object, newdata, ...). Both namespaces are locked by then, so the class and the
# method are recorded in an environment of their own. R finds the method in the table of the generic.
add_perplexity_s4 <- function(namespace) {
  generic <- get0("perplexity", namespace, inherits = FALSE)
  if (!methods::is(generic, "standardGeneric") || !identical(names(formals(generic)), c("object", "newdata", "..."))) {
    return(invisible())
  }
  where <- new.env(parent = namespace)
  assign(".packageName", "warpbayes", envir = where)
  methods::setOldClass("topic_model", where = where)
  methods::setMethod("perplexity", methods::signature(object = "topic_model"), function(object, newdata, ...) {
    perplexity(object, if (missing(newdata)) NULL else newdata, ...)
  }, where = where)
  invisible()
}

# Early versions of seededlda have no perplexity().
add_perplexity_s3 <- function(namespace) {
  if (exists("perplexity", envir = namespace, mode = "function", inherits = FALSE)) {
    registerS3method("perplexity", "topic_model", function(x, newdata = NULL, ...) {
      perplexity(x, newdata, ...)
    }, envir = namespace)
  }
  invisible()
}
