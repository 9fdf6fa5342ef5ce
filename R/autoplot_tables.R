# autoplot() of regressions, tables of types, comparisons of groups and topic models.

#' @rdname autoplot.warpbayes
#' @method autoplot bayes_logit
#' @exportS3Method ggplot2::autoplot bayes_logit
autoplot.bayes_logit <- function(object, type = c("coefficients", "trace", "calibration", "smooths"), parameters = NULL,
                                 main = NULL, standardize = TRUE, ...) {
  check_dots_empty(...)
  gg_draw(logit_picture(object, type, parameters, standardize, main))
}

#' @rdname autoplot.warpbayes
#' @method autoplot type_proportions
#' @exportS3Method ggplot2::autoplot type_proportions
autoplot.type_proportions <- function(object, group = NULL, types = NULL, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_share_table(object)
  gg_draw(share_picture(object, group, types, main))
}

#' @rdname autoplot.warpbayes
#' @method autoplot type_differences
#' @exportS3Method ggplot2::autoplot type_differences
autoplot.type_differences <- function(object, types = NULL, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_share_table(object)
  gg_draw(difference_picture(object, types, main))
}

#' @rdname autoplot.warpbayes
#' @method autoplot differential_abundance
#' @exportS3Method ggplot2::autoplot differential_abundance
autoplot.differential_abundance <- function(object, types = NULL, effect = NULL, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  gg_draw(abundance_picture(object, types, effect, main))
}

#' @rdname autoplot.warpbayes
#' @method autoplot topic_model
#' @exportS3Method ggplot2::autoplot topic_model
autoplot.topic_model <- function(object, type = c("terms", "prevalence", "log_likelihood", "correlation", "map"),
                                 topics = NULL, n = 8, by = c("probability", "lift", "frex", "relevance"),
                                 main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_topic_fit(object, "object")
  type <- check_choice(type, "type", c("terms", "prevalence", "log_likelihood", "correlation", "map"))
  by <- check_choice(by, "by", term_rankings)
  n <- check_count(n, "n")
  shown <- shown_topics(object, type, topics)
  if (type == "correlation") return(do.call(gg_heat, correlation_heat(object, shown, main), quote = TRUE))
  gg_draw(topic_picture(object, type, shown, n, by, main))
}

#' @rdname autoplot.warpbayes
#' @method autoplot topic_comparison
#' @exportS3Method ggplot2::autoplot topic_comparison
autoplot.topic_comparison <- function(object, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  gg_draw(comparison_picture(object, main))
}
