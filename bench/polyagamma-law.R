# The Kolmogorov distance between Polya-Gamma laws and the laws that rpolyagamma() draws from, computed in quadruple
# precision by tests/vectors/polyagamma.c on a grid of shapes and tilts, and the errors of dpolyagamma() and
# ppolyagamma(): the largest over the tilts, in results/polyagamma-law.csv. Needs GCC; takes a quarter of an hour.
#   cd bench && Rscript polyagamma-law.R
program <- tempfile("polyagamma")
has_fma <- file.exists("/proc/cpuinfo") && any(grepl("^flags.* fma ", readLines("/proc/cpuinfo")))
stopifnot(system2("gcc", c(
  "-std=gnu99", "-O2", "-ffp-contract=off", if (has_fma) "-mfma", "-I../src", "../tests/vectors/polyagamma.c", "-o",
  program, "-lquadmath", "-lm"
)) == 0)
results <- read.csv(text = system2(program, "table", stdout = TRUE))
results <- aggregate(cbind(distance, law_error) ~ way + shape, results, max)
write.csv(results, "results/polyagamma-law.csv", row.names = FALSE)
print(aggregate(distance ~ way, results, max))
cat("largest distance", max(results$distance), "largest error of a law", max(results$law_error), "\n")
