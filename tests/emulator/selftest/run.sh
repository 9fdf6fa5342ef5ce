#!/bin/sh
# Checks that the emulator computes what CUDA computes and finds the faults that README.md lists:
#   run.sh [FOLDER] [COMPILER]...
# FOLDER takes the programs (default: build/emulator-selftest). COMPILER: g++ and clang++ if none is named. A compiler
# that is not installed is left out.
# Ends with a line "N passed, N failed".
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../../build/emulator-selftest}
if [ $# -gt 0 ]; then shift; fi
if [ $# -eq 0 ]; then set -- g++ clang++; fi
rm -rf "$out/shared"
mkdir -p "$out"
export WB_EMULATOR_QUIET=1
export ASAN_OPTIONS=detect_leaks=1 TSAN_OPTIONS=exitcode=66

passed=0 failed=0
count() {
  passed=$((passed + $1))
  failed=$((failed + $2))
}
# tell STATUS WHAT: counts the check WHAT, which passed if STATUS is 0
tell() {
  if [ "$1" -eq 0 ]; then
    count 1 0
  else
    count 0 1
    echo "  not so: $2"
  fi
}

# equal VALUE EXPECTED WHAT: counts the check that both are the same
equal() {
  if [ "$1" = "$2" ]; then tell 0 "$3"; else tell 1 "$3"; fi
}

# build PROGRAM NAME [OPTION]...: options of build.sh
build() {
  program=$1
  name=$2
  shift 2
  "$here/../build.sh" "$out/$name" --program --source="$here/$program.cu" --share="$out/shared" "$@"
}

# counted LABEL COMMAND...: runs a program that counts its own checks and adds the counts of its last line
counted() {
  label=$1
  shift
  status=0
  "$@" > "$out/log" 2>&1 || status=$?
  result=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out/log")
  if [ -z "$result" ]; then result='0 0'; fi
  if [ "$status" -ne 0 ] && [ "${result#* }" -eq 0 ]; then result="${result% *} 1"; fi
  grep -v ' passed, ' "$out/log" | head -n 40 || true
  echo "$label: ${result% *} passed, ${result#* } failed"
  # shellcheck disable=SC2086
  count $result
}

# cases LABEL PROGRAM VERDICT CLEAN: runs each case of a program. The sanitizer must print VERDICT for exactly the cases
# that print no line beginning with CLEAN.
cases() {
  label=$1 program=$2 verdict=$3 clean=$4
  number=0
  found=0
  while :; do
    status=0
    "$out/$program" "$number" > "$out/log" 2>&1 || status=$?
    if [ "$status" -eq 3 ]; then break; fi
    if grep -q "$verdict" "$out/log"; then stopped=1; else stopped=0; fi
    if grep -q "^$clean" "$out/log"; then expected=0; else expected=1; fi
    if [ "$stopped" -eq "$expected" ]; then
      found=$((found + 1))
    else
      tail -n 5 "$out/log"
    fi
    tell "$((stopped != expected))" "$label, case $number: $verdict $stopped, expected $expected"
    number=$((number + 1))
  done
  echo "$label: $found of $number cases judged rightly"
}

for cxx in "$@"; do
  if ! command -v "$cxx" > /dev/null 2>&1; then
    echo "$cxx is not here: left out"
    continue
  fi
  # clang++ builds what the thread sanitizer checks, and g++ the rest; in the long form, both build all.
  instruments="plain address access thread"
  if [ -z "${WB_EMULATOR_EXTENDED_TESTS:-}" ]; then
    case $cxx in
      *clang*) instruments=thread ;;
      *) instruments="plain address access" ;;
    esac
  fi
  has() { case " $instruments " in *" $1 "*) true ;; *) false ;; esac; }

  for program in operations faults host; do
    if has plain; then
      build "$program" "$program-$cxx" --cxx="$cxx"
      counted "$program, $cxx" "$out/$program-$cxx"
    fi
    if has address; then
      build "$program" "$program-$cxx-address" --cxx="$cxx" --sanitize=address --optimise=1
      counted "$program, $cxx, address sanitizer" "$out/$program-$cxx-address"
    fi
    if has access; then
      build "$program" "$program-$cxx-access" --cxx="$cxx" --sanitize=access --optimise=1
      counted "$program, $cxx, every access" "$out/$program-$cxx-access"
    fi
  done
  if has address; then
    build operations "operations-$cxx-ucontext" --cxx="$cxx" --define=WB_EMULATOR_UCONTEXT
    counted "operations, $cxx, ucontext" "$out/operations-$cxx-ucontext"
    build overruns "overruns-$cxx" --cxx="$cxx" --sanitize=address --optimise=1
    cases "overruns, $cxx" "overruns-$cxx" 'ERROR: AddressSanitizer' 'ran: nothing'
  fi
  if has thread; then
    build operations "operations-$cxx-thread" --cxx="$cxx" --sanitize=thread --optimise=1
    counted "operations, $cxx, thread sanitizer" "$out/operations-$cxx-thread"
    build races "races-$cxx" --cxx="$cxx" --sanitize=thread --optimise=1
    cases "races, $cxx" "races-$cxx" 'WARNING: ThreadSanitizer: data race' 'clean'
  fi

  has plain || continue
  counted "operations, $cxx, from the last thread to the first" env WB_EMULATOR_ORDER=reverse "$out/operations-$cxx"
  # The environment of a process, and the report at its end.
  unset WB_EMULATOR_QUIET
  "$out/host-$cxx" leak > "$out/log" 2>&1 || true
  status=0
  for words in 'device allocation 1 of 123 bytes' 'pinned allocation 2 of 45 bytes' '1 streams' '1 events'; do
    grep -q "^emulator: never .*$words" "$out/log" || status=1
  done
  tell $status "what is never freed is reported"
  answer=$(WB_EMULATOR_FAIL_AT=5 WB_EMULATOR_FAIL_WITH=cudaErrorMemoryAllocation "$out/host-$cxx" session 2> /dev/null)
  equal "$answer" cudaErrorMemoryAllocation "WB_EMULATOR_FAIL_AT"
  answer=$(WB_EMULATOR_DEVICES=0 "$out/host-$cxx" session 2> /dev/null)
  equal "$answer" cudaErrorNoDevice "WB_EMULATOR_DEVICES"
  answer=$(WB_EMULATOR_MEMORY=100 "$out/host-$cxx" session 2> /dev/null)
  equal "$answer" cudaErrorMemoryAllocation "WB_EMULATOR_MEMORY"
  export WB_EMULATOR_QUIET=1

  build timing "timing-$cxx" --cxx="$cxx"
  echo "timing, $cxx:"
  "$out/timing-$cxx"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
