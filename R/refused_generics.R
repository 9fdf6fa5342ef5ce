# Generics of R and of other packages whose default methods take a fit for a plain list, and so return nonsense: mean()
# gives NA, coef() NULL, ess_bulk() a number about nothing. For our classes they raise an error that says what to use.
# Left alone are generics that treat objects as lists on purpose, or that R itself calls for any object: length(),
# names(), as.list(), unlist(), str(), dim(), levels() and row.names().

vector_generics <- list(
  base = c(
    "anyDuplicated", "anyNA", "as.array", "as.call", "as.data.frame", "as.expression", "as.function", "as.matrix", "c",
    "duplicated", "is.na", "is.na<-", "labels", "mean", "range", "rep", "rev", "scale", "seq", "sort", "t", "unique"
  ),
  stats = c(
    "as.dist", "as.ts", "cycle", "deltat", "end", "fligner.test", "frequency", "kruskal.test", "lag", "median",
    "na.contiguous", "na.exclude", "na.omit", "quantile", "start", "time", "window"
  ),
  utils = c("as.person", "as.personList", "head", "stack", "tail", "type.convert")
)

model_generics <- list(
  base = c("kappa", "qr"),
  stats = c(
    "ar.burg", "case.names", "coef", "confint", "deviance", "df.residual", "family", "fitted", "formula", "logLik",
    "model.frame", "na.action", "nobs", "residuals", "sigma", "simulate", "terms", "variable.names", "vcov", "weights"
  ),
  coda = c("as.mcmc", "as.mcmc.list"),
  posterior = c(
    "as_draws", "as_draws_array", "as_draws_df", "as_draws_list", "as_draws_matrix", "as_draws_rvars", "dissent",
    "entropy", "ess_basic", "ess_bulk", "ess_mean", "ess_median", "ess_quantile", "ess_sd", "ess_tail", "mcse_mean",
    "mcse_median", "mcse_quantile", "mcse_sd", "modal_category", "rhat", "rhat_basic", "rhat_nested", "summarise_draws",
    "summarize_draws"
  ),
  rstantools = c("posterior_epred", "posterior_linpred", "posterior_predict", "prior_summary")
)

# The classes, each with what it is and what to use instead.
refusing_classes <- list(
  dp_mixture = c("fits of dp_mixture()", "summary(), predict(), as.matrix() or tidy() of package generics"),
  cell_types = c("cell types", "summary(), predict(), as.data.frame() or `x$fit`, the mixture"),
  differential_abundance = c("comparisons of groups", "summary(), as.data.frame() or `x$draws`"),
  bayes_logit = c("fits of bayes_logit()", "summary(), coef(), as.matrix() or tidy() of package generics"),
  topic_model = c("fits of topic_model()", "summary(), top_terms(), predict(), `x$phi` or `x$theta`"),
  topic_comparison = c("comparisons of topic models", "summary(), `x$table`, or x[[20]], the fit with 20 topics"),
  martingale_posterior = c("martingale posteriors", "summary(), quantile(), as.matrix() or tidy() of package generics"),
  pmf = c("distributions", "mean(), quantile(), dpmf() or as.data.frame()"),
  pmf_list = c("lists of distributions", "lapply(x, ...), which applies a function to each of them"),
  dp_prior = c("priors", "print(), or the parts that names() lists"),
  logit_prior = c("priors", "print(), or the parts that names() lists"),
  predictive_model = c("predictive models", "predictive_resample(), which fits them"),
  type_proportions = c("tables of proportions", "the columns of the table, or tidy() of package generics"),
  type_differences = c("tables of differences", "the columns of the table, or tidy() of package generics")
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
  variable.names.bayes_logit = "names(coef(x)) gives the names of coefficients",
  logLik.bayes_logit = "log_lik() gives the draws of the log likelihood of each row",
  logLik.topic_model = "`x$log_likelihood` has that of each sweep",
  ess = "posterior::summarise_draws(x) gives diagnostics of each quantity",
  mean.dp_mixture = "tidy() of package generics gives the means of components",
  mean.bayes_logit = "coef() gives posterior means",
  mean.martingale_posterior = "coef() gives the means of the quantities",
  prior_summary.martingale_posterior = "a predictive model takes the place of the prior: print(x) shows it",
  prior_summary.differential_abundance = "?differential_abundance describes its prior",
  prior_summary.topic_model = "`x$alpha` and `x$beta` are its Dirichlet parameters",
  is.na.pmf = "it has none missing; min() and max() take the place of pmin() and pmax()",
  entropy.pmf = "expected_value(x, f) averages a function of the value",
  simulate.pmf = "rpmf() draws from it"
)

# Lists of distributions are vectors, and tables are data frames: both keep what these do with vectors.
refusals_of <- function(class) {
  is_table <- class %in% c("type_proportions", "type_differences")
  is_vector <- is_table || class == "pmf_list"
  all <- model_generics
  if (!is_vector) {
    for (package in names(vector_generics)) all[[package]] <- c(all[[package]], vector_generics[[package]])
  }
  # These classes have a method for the group of generics that range() belongs to.
  if (class %in% c("pmf", "pmf_list")) {
    all$base <- setdiff(all$base, "range")
  }
  if (is_table) {
    all$stats <- setdiff(all$stats, c("formula", "model.frame"))
  } else if (is_vector) {
    all$base <- c(all$base, "mean")
  }
  all
}

refuse_generic <- function(generic, class) {
  force(generic)
  words <- refusing_classes[[class]]
  diagnostic <- grepl("^(ess|mcse|rhat)_?", generic) && class %in% c("dp_mixture", "bayes_logit", "topic_model")
  known <- c(paste(generic, class, sep = "."), generic, if (diagnostic) "ess")
  known <- known[known %in% names(refusal_words)]
  instead <- if (length(known)) refusal_words[[known[[1L]]]] else paste("use", words[[2L]])
  message <- sprintf("`%s()` is not known for %s: %s", generic, words[[1L]], instead)
  function(...) stop_warpbayes("input", message)
}

# A fit as one short text, for example in a column of a data frame.
describe_object <- function(x, ...) sprintf("<%s>", class(x)[[1L]])

.onLoad <- function(libname, pkgname) {
  own <- topenv()
  add_topic_methods()
  for (class in names(refusing_classes)) {
    refused <- refusals_of(class)
    for (package in names(refused)) {
      missing <- Filter(function(generic) {
        !exists(paste(generic, class, sep = "."), envir = own, inherits = FALSE)
      }, refused[[package]])
      # Defaults of package posterior begin with as_draws(), where a class has it.
      if (exists(paste0("as_draws.", class), envir = own, inherits = FALSE)) {
        missing <- setdiff(missing, c("as_draws_list", "as_draws_rvars", "summarise_draws", "summarize_draws"))
      }
      register_refusals(package, missing, class)
    }
    if (class == "pmf") {
      registerS3method("as.character", class, format.pmf, envir = baseenv())
    } else if (!class %in% c("pmf_list", "type_proportions", "type_differences")) {
      for (generic in c("format", "toString", "as.character")) {
        registerS3method(generic, class, describe_object, envir = baseenv())
      }
    }
  }
}

# Registers the errors when the package of the generics is loaded.
register_refusals <- function(package, generics, class) {
  # The hook runs after the loop of .onLoad() has gone on.
  force(package)
  force(generics)
  force(class)
  register <- function(...) {
    namespace <- asNamespace(package)
    for (generic in generics) {
      # Versions of packages differ in their generics.
      if (exists(generic, envir = namespace, inherits = FALSE)) {
        registerS3method(generic, class, refuse_generic(generic, class), envir = namespace)
      }
    }
  }
  if (isNamespaceLoaded(package)) register() else setHook(packageEvent(package, "onLoad"), register)
}
