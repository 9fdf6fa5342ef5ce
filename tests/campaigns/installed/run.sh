#!/bin/sh
# Known answers of the library that was just installed: the digests of whole fits in tests/testthat/known-answers.csv,
# with each instruction set of this processor.
#
#   R_LIBS=LIBRARY tests/campaigns/installed/run.sh     in the root of the tree; 10 s of processor time for each set
#
# The last line is "N passed, N failed".
set -u
cd "$(dirname "$0")/../../.." || exit 1
out=$(pwd)/build/installed
mkdir -p "$out"
passed=0
failed=0
for set in $(Rscript --vanilla -e 'sets <- warpbayes:::available_isa(.Call(warpbayes:::C_backend_processor))
  cat(warpbayes:::isa_names[sets + 1])'); do
  echo "options(warpbayes.isa = \"$set\")" > "$out/profile.R"
  if R_PROFILE_USER=$out/profile.R NOT_CRAN=true WARPBAYES_FIXED_THREADS=yes WARPBAYES_TEST_BACKEND=cpu \
    WARPBAYES_TEST_FILTER=known-answers Rscript tools/run-tests.R > "$out/$set.log" 2>&1 &&
    grep -q "^cpu  *$set vectors" "$out/$set.log"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    tail -n 20 "$out/$set.log"
  fi
  echo "$set: $(tail -n 1 "$out/$set.log")"
done
echo "$passed passed, $failed failed"
test "$failed" -eq 0 && test "$passed" -gt 0
