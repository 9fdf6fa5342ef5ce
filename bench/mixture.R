# The draw of the labels of all rows with their sufficient statistics, compared with the machine's rate of
# multiply-adds measured in the same run.
#   cd bench && Rscript mixture.R [backend]
#
# Each row and component needs at least p(p+3)/2 fused multiply-adds; `share` is the time that these would take, as a
# share of the time measured. The weight and the draw take about 27 further vector operations, most of them
# multiply-adds, which `share_all` counts too.
#
# The data are one Gaussian cloud with random labels: all components overlap, so that no block of components can be
# skipped. Separated components are faster.
source("common.R")
backend <- c(commandArgs(TRUE), "cpu")[[1]]
source("mixture-pass.R")

set.seed(1)
headline <- rbind(
  measure(1e6, 14, 256),
  measure(1e6, 14, 256, precision = "single"),
  measure(1e6, 14, 256, threads = 2),
  measure(1e6, 14, 256, threads = 2, precision = "single")
)
save_results(headline, paste0("mixture-headline-", backend))
