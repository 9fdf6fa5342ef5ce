# The steps of tools/test for make, in the order in which they start: short ones that find most mistakes come first.
# A step whose turn comes before what it needs has ended waits until the end of the list. So a turn with `newer`, which
# needs nothing and takes minutes, stands before `build`.
# tools/step says what each step does.
steps = scripts rules library $(turn) build check plugin audit emulator cpu client torture \
  geweke measure processors symbols loops documents

# Steps that look once more, with another tool or system, at code which other steps run: each day one fifth of them, as
# of long lists of cases in the tests. --full runs all. WARPBAYES_TEST_PART, 0 to 4, chooses the fifth instead of the
# date.
WARPBAYES_TEST_PART ?= $(shell echo $$(($$(date +%s) / 86400 % 5)))
export WARPBAYES_TEST_PART
turn_0 = sanitizers
turn_1 = newer rules-selftest
turn_2 = vectors valgrind fuzz install
turn_3 = clang emulator-selftest emulator-access
turn_4 = races emulator-sanitizers
turns = $(turn_0) $(turn_1) $(turn_2) $(turn_3) $(turn_4)
turn = $(if $(WARPBAYES_EXTENDED_TESTS),$(turns),$(turn_$(WARPBAYES_TEST_PART)))

# Steps of tools/test --full, which others leave out unless they are named.
long = site pages slurm

# Only where it is named: the step newer runs it in its root.
named = versions

.PHONY: list usual $(sort $(steps) $(turns)) $(long) $(named)
$(sort $(steps) $(turns)) $(long) $(named):
	@tools/step $@

# The steps that a step needs. If one of them fails, the step is not run.
audit build clang client cpu documents emulator geweke loops measure sanitizers site slurm symbols versions: library
pages: site
torture valgrind: library
check install: build
emulator measure: plugin

list:
	@printf '%s\n' $(sort $(steps) $(turns)) $(long) $(named)

usual:
	@printf '%s\n' $(steps) $(if $(WARPBAYES_EXTENDED_TESTS),$(long))
