# Generics of R and of other packages whose default methods take a fit for a plain list, and so return nonsense: mean()
# gives NA, coef() NULL, ess_bulk() a number about nothing. For class "warpbayes", which all results have, they raise an
# error that says what to use. A class that has a method of its own, or a method of "warpbayes_fit", is not refused.
# Left alone are generics that treat objects as lists on purpose, or that R itself calls for any object: length(),
# names(), as.list(), unlist(), str(), dim(), levels(), row.names(), and chooseOpsMethod() and nameOfClass() of R 4.3.
# tests/testthat/classes.csv shows every class and generic.

refused_generics <- list(
  base = c(
    "Math", "Summary", "anyDuplicated", "anyNA", "as.array", "as.call", "as.expression", "as.function",
    "as.matrix", "c", "duplicated", "is.na", "is.na<-", "kappa", "labels", "mean", "plot", "qr", "rep", "rev",
    "scale", "seq", "sort", "summary", "t", "truncate", "unique"
  ),
  graphics = "lines",
  stats = c(
    "ar.burg", "as.dist", "as.ts", "case.names", "coef", "confint", "cycle", "deltat", "density", "deviance",
    "df.residual", "end", "family", "fitted", "fligner.test", "formula", "frequency", "kruskal.test", "lag", "logLik",
    "median", "model.frame", "model.matrix", "na.action", "na.contiguous", "na.exclude", "na.omit", "nobs", "predict",
    "quantile", "residuals", "sigma", "simulate", "start", "terms", "time", "update", "variable.names", "vcov",
    "weights", "window"
  ),
  utils = c("as.person", "as.personList", "head", "stack", "tail", "type.convert"),
  bayesplot = "pp_check",
  coda = c("as.mcmc", "as.mcmc.list"),
  distributional = c("cdf", "kurtosis", "skewness", "support", "variance"),
  emmeans = c("emm_basis", "recover_data"),
  generics = c("augment", "generate", "tidy"),
  ggplot2 = "autoplot",
  loo = "loo",
  nlme = c("VarCorr", "fixef", "ranef"),
  posterior = c(
    "as_draws", "as_draws_array", "as_draws_df", "as_draws_list", "as_draws_matrix", "as_draws_rvars", "dissent",
    "entropy", "ess_basic", "ess_bulk", "ess_mean", "ess_median", "ess_quantile", "ess_sd", "ess_tail", "mcse_mean",
    "mcse_median", "mcse_quantile", "mcse_sd", "modal_category", "pareto_khat_threshold", "rhat", "rhat_basic",
    "rhat_nested", "summarise_draws", "summarize_draws", "variance"
  ),
  rstantools = c(
    "log_lik", "posterior_epred", "posterior_interval", "posterior_linpred", "posterior_predict", "predictive_interval",
    "prior_summary"
  )
)

# What lists of distributions and tables keep, because it treats them as vectors.
vector_generics <- c(
  "anyDuplicated", "anyNA", "as.matrix", "c", "duplicated", "head", "is.na", "is.na<-", "labels", "rep", "rev",
  "summary", "tail", "unique"
)

# What each class is, and what to use instead. Other classes have the last entry.
result_words <- list(
  dp_mixture = c("fits of dp_mixture()", "summary(), predict(), as.matrix() or tidy() of package generics"),
  cell_types = c("cell types", "summary(), predict(), as.data.frame() or `x$fit`, the mixture"),
  differential_abundance = c("comparisons of groups", "summary(), as.data.frame() or `x$draws`"),
  bayes_logit = c("fits of bayes_logit()", "summary(), coef(), as.matrix() or tidy() of package generics"),
  topic_model = c("fits of topic_model()", "summary(), top_terms(), predict(), `x$phi` or `x$theta`"),
  topic_effects = c("tables of effects", "the columns of the table"),
  topic_comparison = c("comparisons of topic models", "summary(), `x$table`, or x[[20]], the fit with 20 topics"),
  martingale_posterior = c("martingale posteriors", "summary(), quantile(), as.matrix() or tidy() of package generics"),
  pmf = c("distributions", "mean(), quantile(), dpmf() or as.data.frame()"),
  pmf_list = c("lists of distributions", "lapply(x, ...), which applies a function to each of them"),
  dp_prior = c("priors", "print(), or the parts that names() lists"),
  logit_prior = c("priors", "print(), or the parts that names() lists"),
  predictive_model = c("predictive models", "predictive_resample(), which fits them"),
  type_proportions = c("tables of proportions", "the columns of the table, or tidy() of package generics"),
  differential_state = c("tables of changes", "the columns of the table, or tidy() of package generics"),
  perplexity = c("perplexities", "as.numeric(), which gives the number"),
  warpbayes = c("such results of warpbayes", "print(), or the parts that names() lists")
)

# Better advice where one function answers the question.
refusal_words <- c(
  c = "list(a, b) keeps several together", rep = "rep(list(x), n) repeats it",
  confint.pmf = "quantile() gives quantiles",
  formula.dp_mixture = "it has none", fitted.topic_model = "predict() gives the topics of documents",
  fitted.dp_mixture = "predict() gives the component and the density of each cell",
  fitted.martingale_posterior = "predict() gives means and probabilities at points",
  residuals.topic_model = "perplexity() says how well the words fit",
  terms.topic_model = "top_terms() gives the top terms of each topic, and `x$terms` has all terms",
  unique.topic_model = "if text2vec masks coherence(), write warpbayes::coherence(x); `x$phi` has the topics",
  weights.dp_mixture = "tidy() of package generics gives the weights of components",
  logLik.bayes_logit = "log_lik() gives the draws of the log likelihood of each row",
  update.topic_model = "add_documents() goes on with new documents; topic_model() fits anew",
  logLik.topic_model = "`x$log_likelihood` has that of each sweep",
  ess = "posterior::summarise_draws(x) gives diagnostics of each quantity",
  mean.dp_mixture = "tidy() of package generics gives the means of components",
  mean.bayes_logit = "coef() gives posterior means",
  mean.martingale_posterior = "coef() gives the means of the quantities",
  prior_summary.martingale_posterior = "a predictive model takes the place of the prior: print(x) shows it",
  prior_summary.differential_abundance = "?differential_abundance describes its prior",
  prior_summary.topic_model = "`x$alpha` and `x$beta` are its Dirichlet parameters",
  is.na.pmf = "it has none missing; min() and max() take the place of pmin() and pmax()",
  entropy.pmf = "shannon_entropy() gives the Shannon entropy",
  simulate.pmf = "rpmf() draws from it", rev.pmf = "-x changes the sign of a variable",
  range.pmf = "quantile(x, c(0, 1)) gives the first and the last possible value", sum.pmf = "sum_pmf() adds variables",
  sum.pmf_list = "sum_pmf() adds its variables",
  max.pmf_list = "do.call(max, x) takes its variables one by one",
  min.pmf_list = "do.call(min, x) takes its variables one by one"
)

stop_refused <- function(generic, x) {
  class <- c(intersect(class(x), names(result_words)), "warpbayes")[[1L]]
  diagnostic <- grepl("^(ess|mcse|rhat)_?", generic) && class %in% c("dp_mixture", "bayes_logit", "topic_model")
  known <- c(paste(generic, class, sep = "."), generic, if (diagnostic) "ess")
  known <- known[known %in% names(refusal_words)]
  words <- result_words[[class]]
  instead <- if (length(known)) refusal_words[[known[[1L]]]] else paste("use", words[[2L]])
  name <- if (grepl("^[[:alpha:]]", generic)) paste0(generic, "()") else generic
  stop_warpbayes("input", sprintf("`%s` is not known for %s: %s", name, words[[1L]], instead))
}

# The method of all refused generics.
refuse_generic <- function(...) {
  x <- Find(function(value) inherits(value, "warpbayes"), list(...))
  if (keeps_generic(.Generic, x)) NextMethod() else stop_refused(.Generic, x)
}

# A perplexity is a number, and a table does what data frames have a method for. The defaults of update(), which repeats
# a call, and of summarise_draws(), which begins with as_draws(), are right.
keeps_generic <- function(generic, x) {
  if (is.atomic(x)) {
    models <- unlist(refused_generics[setdiff(names(refused_generics), c("base", "graphics", "utils"))])
    return(!generic %in% setdiff(c("as.call", "as.function", "stack", "truncate", models), c("median", "quantile")))
  }
  is_table <- is.data.frame(x)
  (is_table || inherits(x, "pmf_list")) && generic %in% vector_generics ||
    is_table && (generic == "model.frame" || !is.null(utils::getS3method(generic, "data.frame", optional = TRUE))) ||
    generic == "update" && is.call(unclass(x)$call) && !inherits(x, "topic_model") ||
    generic %in% c("summarise_draws", "summarize_draws") && inherits(x, "warpbayes_fit")
}

#' @export
format.warpbayes <- function(x, ...) {
  if (is.list(x) && !is.data.frame(x) && !inherits(x, "pmf_list")) sprintf("<%s>", class(x)[[1L]]) else NextMethod()
}

#' @export
toString.warpbayes <- function(x, ...) {
  if (is.list(x) && !is.data.frame(x) && !inherits(x, "pmf_list")) format(x) else NextMethod()
}

#' @export
as.character.warpbayes <- toString.warpbayes

at_load(function() {
  for (package in names(refused_generics)) {
    when_loaded(package, function(namespace) {
      for (generic in refused_generics[[getNamespaceName(namespace)]]) {
        # Versions of packages differ in their generics. Groups are no functions of package base.
        if (generic %in% c("Math", "Summary", getNamespaceExports(namespace))) {
          registerS3method(generic, "warpbayes", refuse_generic, envir = namespace)
        }
      }
    })
  }
})
