#!/bin/sh
# Installs the package with many flags of the C compiler that a user may set. configure refuses flags that change
# results, by name. Every other build must give the digests of whole fits in tests/testthat/known-answers.csv.
#
#   tests/campaigns/flags/run.sh [JOBS]     in the root of the tree; JOBS builds at a time, by default one
#
# A build takes one to four minutes of processor time. The last line is "N passed, N failed".
set -u
cd "$(dirname "$0")/../../.." || exit 1
out=$(pwd)/build/flags
rm -rf "$out"
mkdir -p "$out"

# Each line: what must happen, with the refused flags; then the lines of the user's file for make.
cat > "$out/matrix" <<'END_OF_MATRIX'
same|CC = gcc\nCFLAGS = -O2
same|CC = gcc\nCFLAGS = -O0
same|CC = gcc\nCFLAGS = -O3 -march=native
same|CC = gcc\nCFLAGS = -O3 -march=native -ffp-contract=fast
same|CC = gcc\nCFLAGS = -Ofast
same|CC = gcc\nCFLAGS = -O2 -flto
same|CC = gcc\nCFLAGS = -O2\nSHLIB_OPENMP_CFLAGS =
same|CC = clang\nCFLAGS = -O2
same|CC = clang\nCFLAGS = -O3 -march=native
same|CC = clang\nCFLAGS = -O0
-ffast-math|CC = gcc\nCFLAGS = -O2 -ffast-math
-ffast-math|CC = gcc\nCFLAGS = -O2\nLDFLAGS = -ffast-math
-funsafe-math-optimizations|CC = gcc\nCFLAGS = -O3 -march=native -funsafe-math-optimizations
-fassociative-math|CC = gcc\nCFLAGS = -O2 -fassociative-math
-freciprocal-math|CC = gcc\nCFLAGS = -O2 -freciprocal-math
-ffinite-math-only|CC = gcc\nCFLAGS = -O2 -ffinite-math-only
-fno-signed-zeros|CC = gcc\nCFLAGS = -O2 -fno-signed-zeros
-fsingle-precision-constant|CC = gcc\nCFLAGS = -O2 -fsingle-precision-constant
-Ofast|CC = clang\nCFLAGS = -Ofast
-funsafe-math-optimizations|CC = clang -funsafe-math-optimizations\nCFLAGS = -O2
-ffp-contract=fast|CC = clang\nCFLAGS = -O2 -mfma -ffp-contract=fast
END_OF_MATRIX

# one NUMBER: a line of the matrix. Writes "ok" or "FAILED" and a sentence.
one() {
  line=$(sed -n "$1p" "$out/matrix")
  wanted=${line%%|*}
  settings=${line#*|}
  words=$(printf '%s' "$settings" | sed 's/\\n/, /g')
  mkdir -p "$out/$1/library"
  printf '%b\n' "$settings" > "$out/$1/flags.mk"
  cp -R DESCRIPTION NAMESPACE LICENSE R configure cleanup inst src "$out/$1"
  mkdir "$out/$1/tools"
  cp tools/known-answers.c "$out/$1/tools"
  (cd "$out/$1" && ./cleanup)
  R_MAKEVARS_USER=$out/$1/flags.mk WARPBAYES_CUDA=no R CMD INSTALL --no-docs --no-test-load \
    --library="$out/$1/library" "$out/$1" > "$out/$1/log" 2>&1
  status=$?
  if test "$wanted" != same; then
    verdict=FAILED
    if test "$status" -ne 0 && grep -q -e "^configure: flags of the C compiler change results: $wanted\\. " \
      "$out/$1/log"; then
      verdict=ok
    fi
    echo "$verdict: $words: $(grep -o 'flags of the C compiler change results: [^.]*' "$out/$1/log")"
  elif test "$status" -ne 0; then
    echo "FAILED: $words: not installed"
    tail -n 5 "$out/$1/log"
  else
    R_LIBS=$out/$1/library NOT_CRAN=true WARPBAYES_FIXED_THREADS=yes WARPBAYES_TEST_BACKEND=cpu \
      WARPBAYES_TEST_FILTER=known-answers Rscript tools/run-tests.R > "$out/$1/answers" 2>&1
    status=$?
    verdict=FAILED
    test "$status" -ne 0 || verdict=ok
    echo "$verdict: $words: known answers of whole fits: $(grep -E '^[0-9]+ passed, [0-9]+ failed' "$out/$1/answers")"
  fi > "$out/$1/verdict"
}

lines=$(wc -l < "$out/matrix")
jobs=${1:-1}
job=0
while test "$job" -lt "$jobs"; do
  number=$((job + 1))
  while test "$number" -le "$lines"; do
    one "$number"
    number=$((number + jobs))
  done &
  job=$((job + 1))
done
wait
number=1
while test "$number" -le "$lines"; do
  cat "$out/$number/verdict"
  number=$((number + 1))
done > "$out/verdicts"
cat "$out/verdicts"
failed=$(grep -c '^FAILED' "$out/verdicts")
echo "$((lines - failed)) passed, $failed failed"
test "$failed" -eq 0
