#!/bin/sh
# Compiles src/core for processors other than this one, with Debian's cross compilers, and runs the known answers of
# tests/vectors there under qemu's user emulation: arm64 (gcc and clang), s390x (gcc; big-endian), and 64-bit Windows
# (mingw-w64, under wine). Then compares checksums of 10,000 arguments of each function with this machine's. Checks that
# fma() is one instruction on arm64. What is not installed is named and not run.
# For Windows it links src/numeric/fma.c, since fma() of mingw-w64 rounds twice, and runs once with the processor's fma
# instruction and once without. It also looks for warnings of mingw-w64 in all C files of the package.
# These are single functions of src/core: no loops of src/cpu, no fits, no R. fits.sh runs whole fits.
# The last line is "N passed, N failed"; the status is 0 if none failed.
set -u
cd "$(dirname "$0")/../vectors" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

passed=0
failed=0
answers="philox.txt elementary.txt streams.txt polyagamma.txt"
flags="-std=gnu99 -O2 -Wall -Wextra -Werror -ffp-contract=off -fno-math-errno -I../../src"

count() {
  if test "$1" -eq 0; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $2"
  fi
}

# shellcheck disable=SC2086
if ! ${CC:-cc} $flags identical.c -o "$work/here" -lm || ! "$work/here" 10000 | tr -d '\r' > "$work/here.sums"; then
  echo "compiling identical.c for this machine failed"
  exit 1
fi

# elsewhere NAME RUNNER COMPILER FLAGS...: compiles for another processor, runs there, compares.
elsewhere() {
  name=$1
  runner=$2
  shift 2
  if ! command -v "$runner" > /dev/null || ! command -v "$1" > /dev/null; then
    echo "$name: no $runner or no $1 here, not run"
    return
  fi
  # shellcheck disable=SC2086
  if ! "$@" $flags check_vectors.c -o "$work/answers-$name.exe" -lm ||
    ! "$@" $flags identical.c -o "$work/same-$name.exe" -lm
  then
    count 1 "$name: compiling"
    return
  fi
  echo "$name:"
  # shellcheck disable=SC2086
  "$runner" "$work/answers-$name.exe" $answers
  count $? "$name: known answers"
  "$runner" "$work/same-$name.exe" 10000 | tr -d '\r' > "$work/$name.sums"
  if test -s "$work/here.sums" && cmp -s "$work/here.sums" "$work/$name.sums"; then
    echo "$name: $(wc -l < "$work/here.sums") functions have the same bits as here for 10000 arguments"
    count 0 ""
  else
    diff "$work/here.sums" "$work/$name.sums"
    count 1 "$name: the same bits"
  fi
}

elsewhere arm64-gcc qemu-aarch64-static aarch64-linux-gnu-gcc -static
elsewhere arm64-clang qemu-aarch64-static clang --target=aarch64-linux-gnu -static
elsewhere s390x-gcc qemu-s390x-static s390x-linux-gnu-gcc -static
WINEDEBUG=-all WINEPREFIX=$work/wine
export WINEDEBUG WINEPREFIX
wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
windows="-D__USE_MINGW_ANSI_STDIO=1 ../../src/numeric/fma.c"
# shellcheck disable=SC2086
{
  elsewhere windows-gcc "$wine" x86_64-w64-mingw32-gcc $windows
  elsewhere windows-without-fma "$wine" x86_64-w64-mingw32-gcc -DWB_NO_FMA_INSTRUCTION $windows
}

# R's headers of this machine serve for Windows too.
include=$(Rscript -e 'cat(R.home("include"))' 2> /dev/null)
if command -v x86_64-w64-mingw32-gcc > /dev/null && test -n "$include"; then
  (cd ../../src && find . -name '*.c' -exec x86_64-w64-mingw32-gcc -std=gnu11 -O2 -fsyntax-only -Wall -Wextra -Werror \
    -fopenmp -I. -I../inst/include -I"$include" {} +)
  count $? "windows: all C files compile without warnings"
fi

if test -x "$(command -v aarch64-linux-gnu-nm)" && test -f "$work/same-arm64-gcc.exe"; then
  aarch64-linux-gnu-gcc -std=gnu99 -O2 -ffp-contract=off -I../../src -c identical.c -o "$work/arm64.o" &&
    aarch64-linux-gnu-nm -u "$work/arm64.o" > "$work/arm64.names" && ! grep -w -e fma -e fmaf "$work/arm64.names"
  count $? "arm64: fma() is a function of the C library"
fi

echo "$passed passed, $failed failed"
test "$failed" -eq 0 && test "$passed" -gt 0
