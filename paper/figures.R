# Writes paper.md, whose marks such as {{mixture}} become figures of bench/results.
result <- function(name) utils::read.csv(file.path("bench", "results", paste0(name, ".csv")))
one <- function(value) {
  stopifnot(length(value) == 1L, is.finite(value))
  value
}
digits <- function(value, n = 2) trimws(formatC(signif(one(value), n), format = "fg", digits = n, big.mark = ","))
ratio <- function(data, peer) digits(one(data$times_slower[data$package == peer]))

mixture <- result("mixture-peers")
convolution <- result("convolution-peers")
topics <- result("topic-model-speed")
groups <- result("type-groups")
groups <- groups[groups$scenario == "24 types, five change", ]
regressions <- result("regression-peers")
least <- function(model, column) min(regressions[[column]][regressions$model == model], na.rm = TRUE)
models <- unique(regressions$model[!is.na(regressions$rstanarm_ess_a_second)])
gain <- vapply(models, function(model) least(model, "ess_a_second") / least(model, "rstanarm_ess_a_second"), 0)
rate <- function(sampler) one(topics$tokens_per_second[topics$sampler == sampler & topics$topics == 100])
of <- function(method, column) format(round(one(groups[[column]][groups$method == method]), 2), nsmall = 2)

both <- function(method) paste(of(method, "power_reported"), "/", of(method, "false_discovery_rate"))

values <- c(
  mclust = ratio(mixture, "mclust"), bayesm = ratio(mixture, "bayesm"),
  poisson_binomial = digits(convolution$times_faster[convolution$task == "Poisson-binomial 1e4"]),
  models = as.character(length(models)), least_gain = digits(min(gain)), most_gain = digits(max(gain)),
  tokens = digits(rate("gibbs, double, AVX-512") / 1e6), text2vec = digits(rate("text2vec") / 1e6),
  topicmodels = digits(rate("topicmodels, collapsed Gibbs") / 1e6),
  power = of("differential_abundance", "power_reported"), fdr = of("differential_abundance", "false_discovery_rate"),
  others = paste0("limma-trend ", both("limma-trend, logit shares"), ", edgeR ", both("edgeR")),
  sets = digits(groups$data_sets[[1]], 3)
)
text <- paste(readLines("paper/paper.md"), collapse = "\n")
for (name in names(values)) text <- gsub(paste0("{{", name, "}}"), values[[name]], text, fixed = TRUE)
left <- regmatches(text, gregexpr("\\{\\{[^}]*\\}\\}", text))[[1]]
if (length(left)) stop("no figure for ", paste(left, collapse = ", "))
writeLines(text)
