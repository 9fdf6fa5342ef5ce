#' All functions of discrete distributions
#'
#' A distribution is an object of class [pmf], the first argument of every function. `pmf_x()` makes the distribution
#' with the name x, and `x_pmf()` makes one from other distributions or from data.
#'
#' @section Make a distribution:
#' | function | what it makes |
#' |---|---|
#' | [`pmf(prob, from, by)`][pmf] | from probabilities, a table, named numbers or a data frame |
#' | [`pmf_poisson(lambda)`][pmf_poisson], ... | by name: binomial, geometric, uniform and others |
#' | [`discretize_pmf(x, by)`][discretize_pmf] | from a continuous distribution function or observed losses |
#' | [`pmf_doubly_censored(x)`][pmf_doubly_censored] | a delay between two events that are known to the day |
#' | [`pmf_rank_sum(x, y)`][rank_statistics], [`pmf_signed_rank(x)`][rank_statistics] | rank statistics with ties |
#' | [`as_pmf(x)`][as_pmf] | from a table, a sample, or a distribution of package distributional |
#' | [`portfolio_pmf(size, prob)`][portfolio_pmf] | the total loss of many different policies |
#' @section Change one:
#' | function | what it does |
#' |---|---|
#' | `x + 3`, `2 * x`, `x / 2`, `-x` | shifts, scales, changes the sign |
#' | [`truncate_pmf(x, lower, upper)`][truncate_pmf] | excludes values, or moves them to the ends |
#' | [`layer_pmf(x, retention, limit)`][layer_pmf] | the part of a loss in a layer |
#' | [`zero_modify_pmf(x, prob)`][zero_modify_pmf] | gives zero another probability |
#' | [`map_pmf(x, f)`][map_pmf] | any function of the variable |
#' @section Join several:
#' | function | what it does |
#' |---|---|
#' | `x + y`, `x - y`, [`sum_pmf(x, y, z)`][sum_pmf] | sums of independent variables |
#' | [`rep_sum_pmf(x, times)`][rep_sum_pmf] | the sum of copies of one |
#' | [`convolve_pmf(x, y)`][convolve_pmf] | the convolution of vectors, also of many pairs |
#' | [`compound_pmf(number, size)`][compound_pmf] | the sum of a random number of copies |
#' | `max(x, y)`, `min(x, y)`, [`order_statistic_pmf(x, k)`][order_statistic_pmf] | the largest, smallest, k-th |
#' | [`sum_of_highest_pmf(x, k)`][sum_of_highest_pmf], [`sum_of_lowest_pmf(x, k)`][sum_of_lowest_pmf] | of several |
#' | [`opposed_pools_pmf(x, y)`][opposed_pools_pmf], [`sorted_pool(x, k)`][sorted_pool] | sorted variables, in pairs |
#' | [`mix_pmf(x, weights)`][mix_pmf] | one of several, at random |
#' | [`mix_over_pmf(factor, given)`][mix_over_pmf] | a distribution that depends on a common factor |
#' | [`condition_on_sum_pmf(x, y, total)`][condition_on_sum_pmf] | two variables, given their sum |
#' | [`joint_table(x, y)`][joint_table], [`compound_table(number, x, y)`][compound_table] | tables of two variables |
#' @section Ask it:
#' | function | what it gives |
#' |---|---|
#' | [`dpmf(x, 3)`][dpmf], [`ppmf(x, 3)`][ppmf] | probabilities and cumulative probabilities |
#' | [`qpmf(x, 0.5)`][qpmf], [`rpmf(x, 9)`][rpmf] | quantiles and draws |
#' | [`mean(x)`][mean.pmf], [`variance(x)`][variance], [`summary(x)`][summary.pmf] | moments |
#' | [`expected_value(x, f)`][expected_value], [`probability(x, event)`][probability] | of functions and events |
#' | [`value_at_risk(x, p)`][value_at_risk], [`tail_value_at_risk(x, p)`][tail_value_at_risk] | risk measures |
#' | [`stop_loss_premium(x, retention)`][stop_loss_premium] | the expected excess |
#' | [`lorenz_share(x, p)`][lorenz_share] | the share of the smallest outcomes in the total |
#' | [`rank_test(x, y)`][rank_test], [`exact_p_value(x, statistic)`][exact_p_value] | exact tests |
#' | [`shannon_entropy(x)`][shannon_entropy], [`cumulants(x)`][cumulants], [`modes(x)`][modes] | descriptions |
#' | [`generating_function(x, z)`][generating_function] | the probability generating function |
#' | [`left_out(x)`][left_out] | bounds for what the distribution leaves out |
#' | [`plot(x)`][plot.pmf], [`as.data.frame(x)`][as.data.frame.pmf] | pictures and tables |
#' @section Accuracy:
#' Unless a page states another bound, relative errors are below 1e-14: of probabilities and tails, also of sums of up
#' to 50 variables, and of moments, premiums and entropies in relation to the sum of the absolute values of their terms.
#' Probabilities below 1e-290 need `log = TRUE`.
#' @section Errors:
#' `warpbayes_error_input` for an argument that cannot be used: the message says which, and why.
#' `warpbayes_error_memory` for a result that does not fit in memory: the message says how many entries it would need.
#' @examples
#' die <- pmf_uniform(1, 6)
#' dpmf(die + die, 7)
#' mean(truncate_pmf(die, lower = 3))
#' @name pmf_functions
NULL
