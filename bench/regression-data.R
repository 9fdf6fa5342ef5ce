# Simulated data of benchmarks of regressions: counts of subjects over days, and two crossed groupings.

set.seed(1)
subjects <- data.frame(day = rep(0:9, 18), subject = rep(1:18, each = 10))
own <- cbind(rnorm(18, 0, 0.5), rnorm(18, 0, 0.08))
subjects$errors <- rnbinom(180, mu = exp(1.5 + 0.1 * subjects$day + own[subjects$subject, 1] +
  own[subjects$subject, 2] * subjects$day), size = 5)
crossed <- expand.grid(reader = 1:40, text = 1:25)
crossed$x <- rnorm(1000)
crossed$y <- rbinom(1000, 1, plogis(-0.5 + 0.6 * crossed$x + rnorm(40)[crossed$reader] +
  rnorm(25, 0, 0.7)[crossed$text]))
