# What a checkpoint of a topic model leaves out, and how resume() finds it again.

resumable.topic_model <- function(x) {
  list(
    sampler = topic_sampler,
    without_data = function(fit) {
      fit <- replace(fit, c("x", "documents", "terms", "document_tokens"), list(NULL))
      fit$call <- call_without_data(call_without_data(fit$call, "x"), "data")
      if (is.null(fit$prevalence)) return(fit)
      fit$formula <- fit$prevalence$formula
      environment(fit$formula) <- globalenv()
      if (inherits(fit$call$prevalence, "formula")) fit$call$prevalence <- fit$formula
      fit$prevalence <- fit$prevalence["variables"]
      fit
    },
    with_data = function(saved, x, envir) {
      fit <- saved$fit
      counts <- count_matrix(x)
      fit[c("x", "documents", "terms", "document_tokens")] <- list(counts, counts$documents, counts$terms,
        document_sizes(counts))
      if (is.null(fit$formula)) return(fit)
      environment(fit$formula) <- envir
      fit$prevalence <- covariate_design(fit$formula, fit$prevalence$variables, fit, "prevalence")
      fit$formula <- NULL
      fit
    },
    fingerprint = function(fit) {
      counts <- fit$x
      named <- function(part) digest_text(c(counts[[part]], counts$named[[part]]))
      values <- c(digest_numbers(counts$p), digest_numbers(counts$i), digest_numbers(counts$count))
      fingerprint_of(c(documents = counts$size[[1L]], terms = counts$size[[2L]]), c("names of documents",
        "names of terms", "counts"), c(named("documents"), named("terms"), digest_numbers(values)))
    },
    fields = c(
      topics = "whole 1..16384", chain_fields, keep = "text[*]", method = "text", start = "text", learn = "list",
      `learn$alpha` = "text", `learn$beta` = "flag", prior = "finite[*]", precision = "text", prevalence = "list?",
      `prevalence$variables` = "table", formula = "formula?", seed_words = "list?", `seed_words$*` = "text[*]",
      seed_weight = "number[*]?", topic_names = "text[topics]?", prior_counts = "finite[topics, *]? 0..Inf",
      earlier = "number?", default_warmup = "flag?", seeds_alone = "flag?"
    ),
    # A token's topic takes two bytes. The sums are of `kept` sweeps, without the `pending` ones.
    state = c(
      state_fields, topics = "raw[2 * tokens]", alpha = "finite[topics * groups]", beta = "finite",
      kept = "whole 0..sweep", added = "whole", coefficients = "finite[basis, topics]?", sums = "list?",
      `sums$added` = "whole 0..kept", `sums$theta` = "finite[topics * documents]",
      `sums$first` = "finite[topics * documents]", `sums$phi` = "finite[topics * terms]",
      `sums$share` = "finite[topics * `sums$added`]", `sums$score` = "number[*]",
      pending = "list?", `pending$topics` = "raw[*]",
      `pending$beta` = "finite[`pending$topics` / (2 * tokens)]",
      `pending$alpha` = "finite[topics * groups * `pending$topics` / (2 * tokens)]"
    ),
    sizes = function(fit) list(tokens = fit$x$tokens, groups = max(1L, nlevels(document_groups(fit))),
      basis = NCOL(fit$prevalence$basis))
  )
}
