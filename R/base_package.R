#' Massively parallel Bayesian computation
#'
#' Bayesian models whose inner steps are millions of small independent computations, on processor cores or a graphics
#' card.
#'
#' @section Where to begin:
#' \tabular{ll}{
#'   cells of a cytometer: populations, types, groups of patients \tab [dp_mixture()], `vignette("flow-cytometry")`\cr
#'   outcomes to explain: yes or no, counts, classes \tab [bayes_logit()], `vignette("logistic-regression")`\cr
#'   documents \tab [topic_model()], `vignette("topics")`\cr
#'   data without a model \tab [predictive_resample()], `vignette("posteriors-without-a-likelihood")`\cr
#'   totals of discrete variables \tab [pmf()], `vignette("sums-of-discrete-random-variables")`\cr
#'   a sampler of your own \tab [rcategorical()], [rpolyagamma()], [c_interface], `vignette("c-interface")`\cr
#'   a slow fit, a cluster, a graphics card \tab [computing], `vignette("processors-cards-clusters")`\cr
#'   a fit that was interrupted, or is too short \tab [resume()], [continue()], [convergence]
#' }
#'
#' @section All help pages:
#' *Every fit:* [verdict()], [joining], [continue()], [resume()], [drop_warmup()], [convergence], [relabel()],
#' [print.warpbayes()], [as_draws.warpbayes_fit()], [tidiers], [report()],
#' [autoplot][autoplot.warpbayes], [computing], [warp_control()].
#'
#' *Mixtures:* [dp_mixture()], its [prior][dp_prior()] and [model][mixture_model]; [bayesian_em], [marker_transform],
#' [piled_values], [several samples][mixture_samples], [missing values][mixture_missing], [memory][mixture_memory],
#' [clusters][mixture_clusters], [row_reader()]. Methods: [summary.dp_mixture()], [plot.dp_mixture()],
#' [predict.dp_mixture()], [log_lik.dp_mixture()], [co_clustering()], [relabel.dp_mixture()], [tidy.dp_mixture()].
#'
#' *Cell types:* [cell_types()], [how they are found][cell_types_method], [plot.cell_types()], [predict.cell_types()],
#' [type_names()], [join_types()], [add_types()]. Between samples: [type_proportions()],
#' [plot.type_proportions()], [differential_abundance()], [summary.differential_abundance()], [differential_state()].
#'
#' *Regressions:* [bayes_logit()], [logit_prior()], [grouping_terms], [smooth_terms], [zero_inflated_counts]. Methods:
#' [summary.bayes_logit()], [plot.bayes_logit()], [predict.bayes_logit()], [posterior_predict.bayes_logit()],
#' [residuals.bayes_logit()], [log_lik.bayes_logit()], [kfold.bayes_logit()], [hypothesis()], [ranef.bayes_logit()],
#' [emmeans][emm_basis.bayes_logit()], [tidy.bayes_logit()].
#'
#' *Topic models:* [topic_model()], [seed words and priors][topic_model_structure],
#' [users of topicmodels and text2vec][topic_model_peers], [compare_topics()]. Methods: [print.topic_model()],
#' [plot.topic_model()], [top_terms()], [topic_names()], [coherence()], [perplexity()], [predict.topic_model()],
#' [add_documents()], [relabel.topic_model()], [topic_stability()], [number_of_topics()], [topic_effects()],
#' [top_documents()], [term_counts()], [tidy.topic_model()].
#'
#' *Posteriors without a likelihood:* [predictive_resample()], [normal_mean()], [copula_density()],
#' [copula_regression()], [pitman_yor()], [quantiles_of()]. Methods: [summary.martingale_posterior()],
#' [plot.martingale_posterior()], [predict.martingale_posterior()], [simulate.martingale_posterior()].
#'
#' *Sums of discrete random variables:* [all functions][pmf_functions], [pmf()], [as_pmf()], [families][pmf_families],
#' [convolve_pmf()], [sum_pmf()], [compound_pmf()], [portfolio_pmf()], [order_statistic_pmf()], [rank_statistics],
#' [discretize_pmf()], [pmf_doubly_censored()], [probabilities and draws][pmf_distribution], [verbs][pmf_verbs],
#' [expected_value()], [shannon_entropy()], [condition_on_sum_pmf()], [joint_table()], [compound_table()], [left_out()],
#' [plot.pmf()].
#'
#' *Draws:* [rcategorical()], [rpolyagamma()], [dpolyagamma()], [polyagamma_mean()], [polyagamma_step()],
#' [polyagamma_from_BayesLogit], [c_interface].
#'
#' @section Life cycle:
#' Experimental: names, arguments and the draws of a seed may change before version 1.0.
#'
#' @section Installation:
#' A C compiler is enough. With `nvcc` 11.8 or newer the plugin for graphics cards is built too; [warp_info()] says why
#' if not. `WARPBAYES_CUDA=yes` makes failure an error, `no` builds no plugin.
#'
#' @section Options:
#' \describe{
#'   \item{`warpbayes.backend`}{`"cpu"`, `"cuda"` or `"auto"`, the default: the faster of the two for each call.}
#'   \item{`warpbayes.threads`}{the number of processor threads.}
#'   \item{`warpbayes.chains`}{the number of chains if `chains = NULL`.}
#'   \item{`warpbayes.isa`}{the vector instruction set: `"avx512"`, `"avx2"`, `"neon"` or `"baseline"`; the widest.}
#'   \item{`warpbayes.device`}{the index of the graphics card, from 0 (the default).}
#'   \item{`warpbayes.device_memory`}{the most bytes of device memory to use; by default all that is free.}
#'   \item{`warpbayes.plugin`}{the path of another CUDA plugin.}
#'   \item{`warpbayes.worker_timeout`}{seconds without a byte after which a worker of a cluster is lost; 3600.}
#'   \item{`warpbayes.max_operations`}{the most multiply-adds that a sum of discrete random variables may take; 1e16.}
#' }
#'
#' @section Errors:
#' Every error of the package has class `warpbayes_error` and one of these:
#' \describe{
#'   \item{`warpbayes_error_input`}{an argument has to be corrected;}
#'   \item{`warpbayes_error_backend`}{the backend or the device is not available;}
#'   \item{`warpbayes_error_device`}{the device failed while computing;}
#'   \item{`warpbayes_error_memory`}{there was not enough memory.}
#' }
#'
#' @keywords internal
#' @useDynLib warpbayes, .registration = TRUE, .fixes = "C_"
"_PACKAGE"
