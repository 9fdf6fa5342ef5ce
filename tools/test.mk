# The steps of tools/test for make, in the order in which they start: short ones that find most mistakes come first.
# A step whose turn comes before what it needs has ended waits until the end of the list. So `build` stands after
# emulator-selftest, which takes as long as `library`.
# tools/step says what each step does.
steps = scripts rules rules-selftest library emulator-selftest build check newer emulator-access emulator-sanitizers \
  plugin audit fuzz emulator sanitizers races clang cpu client valgrind torture install vectors geweke measure \
  processors symbols loops documents

# Steps of tools/test --full, which others leave out unless they are named.
long = site pages slurm

# Only where it is named: the step newer runs it in its root.
named = versions

.PHONY: list usual $(steps) $(long) $(named)
$(steps) $(long) $(named):
	@tools/step $@

# The steps that a step needs. If one of them fails, the step is not run.
audit build clang client cpu documents emulator geweke loops measure sanitizers site slurm symbols versions: library
pages: site
torture valgrind: library
check install: build
emulator measure: plugin

list:
	@printf '%s\n' $(steps) $(long) $(named)

usual:
	@printf '%s\n' $(steps) $(if $(WARPBAYES_EXTENDED_TESTS),$(long))
