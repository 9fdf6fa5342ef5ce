# Polya-Gamma variables as the sum of gamma variables that defines them (Polson, Scott and Windle 2013, Journal of the
# American Statistical Association 108, 1339-1349, equation 1). The sum is cut after `terms` terms, and the mean of the
# others is added. With 200 terms the variance that is lost is less than 1e-6 of the whole.
reference_polyagamma <- function(n, shape, tilt, terms = 200) {
  rate <- 2 * pi^2 * (seq_len(terms) - 0.5)^2 + tilt^2 / 2
  # The integral of 1/(2 pi^2 k^2 + c^2/2) from `terms` on: the midpoint rule with one point for each term.
  rest <- if (tilt == 0) 1 / (2 * pi^2 * terms) else atan(abs(tilt) / (2 * pi * terms)) / (pi * abs(tilt))
  drop(matrix(rgamma(n * terms, shape), n) %*% (1 / rate)) + shape * rest
}
