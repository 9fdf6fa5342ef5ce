#!/bin/sh
# Fuzzes what compiled code reads from files and from the workers of a cluster. libFuzzer changes the inputs in
# tests/campaigns/fuzz/corpus, and the address and undefined-behaviour sanitizers watch.
#
#   tests/campaigns/fuzz/run.sh                   10 s
#   tests/campaigns/fuzz/run.sh SECONDS           that long for all drivers together
#   tests/campaigns/fuzz/run.sh SECONDS --keep    then keeps in the corpus the inputs that reach something new
#
# An input that fails is left in build/fuzz; build/fuzz/DRIVER FILE runs it again.
set -eu
cd "$(dirname "$0")/../../.."
seconds=${1:-10}
keep=${2:-}
out=$(pwd)/build/fuzz
corpus=tests/campaigns/fuzz/corpus
mkdir -p "$out"
compiler=${FUZZ_CC:-clang}
# Loops for one vector instruction set take a third of the time to compile.
flags="-O1 -g1 -std=gnu99 -ffp-contract=off -fno-omit-frame-pointer -Isrc -Wno-unknown-pragmas -DWB_NARROW_VECTORS
  $(if test "$(uname -m)" = x86_64; then echo -mavx2 -mfma; fi)
  -fsanitize=fuzzer,address,undefined,float-cast-overflow -fno-sanitize-recover=all"
shared="src/numeric/memory.c src/numeric/digest.c src/backend/backend.c"
files() {
  case $1 in
    checkpoint) echo "src/checkpoint/file.c $shared" ;;
    cluster)
      echo "$(ls src/cluster/mixture/*.c src/cpu/mixture/*.c) $shared src/numeric/spread.c src/numeric/idle.c" \
        "src/numeric/fma.c src/numeric/log_add.c src/mixture/moments.c src/mixture/mixture.c src/mixture/samples.c" \
        "src/mixture/learn.c src/mixture/missing_rows.c"
      ;;
  esac
}

drivers="checkpoint cluster"
failed=0
for driver in $drivers; do
  # shellcheck disable=SC2046,SC2086
  "$compiler" $flags -o "$out/$driver" "tests/campaigns/fuzz/$driver.c" $(files "$driver") -lm
done
for driver in $drivers; do
  new=$out/$driver-new
  mkdir -p "$new" "$corpus/$driver"
  # libFuzzer's own messages are long: the last lines say how many inputs ran.
  if "$out/$driver" -max_total_time=$((seconds / 2)) -timeout=10 -rss_limit_mb=1024 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$out/$driver-" "$new" "$corpus/$driver" > "$out/$driver.log" 2>&1; then
    echo "$driver: $(sed -n 's/stat::number_of_executed_units: //p' "$out/$driver.log") inputs, nothing found"
  else
    failed=$((failed + 1))
    tail -n 40 "$out/$driver.log"
  fi
  if test "$keep" = --keep; then
    "$out/$driver" -merge=1 -max_len=4096 "$corpus/$driver" "$new" 2> "$out/merge.log"
  fi
done
echo "$((2 - failed)) passed, $failed failed"
test "$failed" -eq 0
