#!/bin/sh
# Builds and runs the tests of src/core with $CC and $CXX (by default cc and c++): known answers in C, C++ and CUDA (on
# the emulator, and on a graphics card if there is one); errors in ulp; distributions of draws; packed triangles; the
# same bits with every instruction set, compiler and level of optimisation. Takes half a minute on two free cores.
# The last line is "N passed, N failed"; the status is 0 if none failed.
set -u
cd "$(dirname "$0")" || exit 1
CC=${CC:-cc}
CXX=${CXX:-c++}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

passed=0
failed=0
flags="-O2 -Wall -Wextra -Werror -pedantic -ffp-contract=off -I../../src"

# Programs are faster if fma() is one instruction of this machine.
fused=
if grep -q '^flags.* fma ' /proc/cpuinfo 2> /dev/null; then
  fused=-mfma
fi

count() {
  if test "$1" -eq 0; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $2"
  fi
}

# build NAME COMPILER ARGUMENTS...: a failure to compile is a failed test.
build() {
  program=$1
  shift
  if "$@" -o "$work/$program" -lm; then
    return 0
  fi
  count 1 "compiling: $*"
  return 1
}

# Known answers ------------------------------------------------------------------

answers="philox.txt elementary.txt streams.txt polyagamma.txt"
# shellcheck disable=SC2086
{
  build answers $CC -std=c99 $flags $fused check_vectors.c && { "$work/answers" $answers; count $? "known answers, C"; }
  build answers_cpp $CXX -std=c++11 $flags $fused check_vectors.cpp &&
    { "$work/answers_cpp" $answers; count $? "known answers, C++"; }
}

nvcc=${NVCC:-$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")}
test -x "$nvcc" || echo "CUDA: no nvcc, not compiled for it"

# Checks that nvcc unrolls the loops over lines of the triangle. If it does not, results are the same but kernels are
# several times slower.
unrolled() {
  "$nvcc" -std=c++17 -fmad=false -arch=compute_90 -ptx -I../../src -o "$work/unrolled.ptx" unrolled.cu || return 1
  awk '
    /\.entry/ { name = $0; sub(/.*mixture_draw/, "", name) }
    /fma\.rn\.f(32|64)/ { fma[name]++ }
    /mma\.sync/ { mma[name]++ }
    END {
      for (name in fma) {
        kernels++
        split(name, part, /[^0-9]+/)
        order = part[2]
        if (name ~ /^_tensor/) {
          found = mma[name]
          least = 4 * order * (order + 1) / 2
        } else {
          found = fma[name]
          least = part[3] * order * (order + 3) / 2
        }
        if (found < least) {
          print "mixture_draw" name " has " found " multiply-adds, not " least
          bad = 1
        }
      }
      exit bad || kernels != 4
    }' "$work/unrolled.ptx"
}
if test -x "$nvcc"; then
  unrolled
  count $? "loops of kernels unrolled"
fi

# on_device NAME SOURCE WHAT ARGUMENTS...: runs a program on the emulator, and on a graphics card if there is one.
on_device() {
  program=$1
  source=$2
  what=$3
  shift 3
  if test -x "$nvcc" &&
    build "$program" "$nvcc" -std=c++17 -O2 -fmad=false -Xcompiler -ffp-contract=off -I../../src "$source"; then
    if nvidia-smi > /dev/null 2>&1; then
      "$work/$program" "$@"
      count $? "$what, CUDA"
    else
      echo "CUDA: $what compiled, not run: no graphics card"
      count 0 ""
    fi
  fi
  if ../emulated/build.sh "$work/${program}_emulated" --program --source="$source"; then
    "$work/${program}_emulated" "$@"
    count $? "$what, CUDA emulated"
  else
    count 1 "compiling $source for the emulator"
  fi
}

# shellcheck disable=SC2086
on_device answers_cuda check_vectors.cu "known answers" $answers
on_device butterfly butterfly.cu "butterfly-patterned partial sums"

# Accuracy, laws, triangles ------------------------------------------------------

# shellcheck disable=SC2086
{
  quad=
  for compiler in "$CC" gcc; do
    test -n "$quad" || echo '#include <quadmath.h>' | $compiler -E - > /dev/null 2>&1 && quad=$compiler
  done
  if test -z "$quad"; then
    echo "errors in ulp: no compiler with quadruple precision here, not measured"
  elif build ulp $quad -std=gnu99 $flags -Wno-pedantic $fused ulp.c -lquadmath; then
    "$work/ulp"
    count $? "errors in ulp"
  fi
  if test -n "$quad" && build convolution $quad -std=gnu99 $flags -Wno-pedantic convolution.c -lquadmath; then
    "$work/convolution" | cmp - ../testthat/convolution-reference.csv
    count $? "sums of discrete variables in quadruple precision"
  fi
  # With WARPBAYES_EXTENDED_TESTS this runs the whole grid of shapes and tilts, in a quarter of an hour.
  if test -n "$quad" && build polyagamma $quad -std=gnu99 $flags -Wno-pedantic $fused polyagamma.c -lquadmath; then
    "$work/polyagamma" ${WARPBAYES_EXTENDED_TESTS:+full}
    count $? "Polya-Gamma laws in quadruple precision"
  fi
  if test -n "$fused" && build fma $CC -std=c99 $flags $fused fma.c; then
    "$work/fma" 10000000
    count $? "fma() from integers"
  fi
  build variates $CC -std=c99 $flags $fused variates.c && { "$work/variates"; count $? "laws of the draws"; }
  build categorical $CC -std=c99 $flags categorical.c && { "$work/categorical"; count $? "categorical draws"; }
  build triangles $CC -std=c99 $flags $fused linear_algebra.c && { "$work/triangles"; count $? "packed triangles"; }
}

# The same bits ------------------------------------------------------------------

# same NAME ARGUMENTS COMPILER FLAGS...: compares checksums after 1e5, 1e6 and 1e7 arguments (up to ARGUMENTS) with
# those of the first program. 1e7 are for WARPBAYES_EXTENDED_TESTS.
reference=
most_arguments=${WARPBAYES_EXTENDED_TESTS:+10000000}
most_arguments=${most_arguments:-1000000}
same() {
  name=$1
  arguments=$2
  shift 2
  build "same_$name" "$@" -std=c99 -Wall -Wextra -Werror -ffp-contract=off -I../../src identical.c || return
  "$work/same_$name" "$arguments" > "$work/$name.sums"
  status=$?
  if test "$status" -eq 3; then
    echo "same bits, $name: this CPU lacks the instructions"
    return
  fi
  test -n "$reference" || reference=$name
  # The first column is the name, then one checksum for each number of arguments.
  columns=$(awk 'NR == 1 { print NF }' "$work/$name.sums")
  most=$(awk 'NR == 1 { print NF }' "$work/$reference.sums")
  test "$columns" -le "$most" || columns=$most
  cut -d ' ' -f "1-$columns" "$work/$reference.sums" > "$work/expected"
  cut -d ' ' -f "1-$columns" "$work/$name.sums" > "$work/computed"
  if test "$status" -eq 0 && test "${columns:-0}" -gt 1 && cmp -s "$work/expected" "$work/computed"; then
    echo "same bits, $name: $(wc -l < "$work/computed") functions agree with $reference over $arguments arguments"
    count 0 ""
  else
    diff "$work/expected" "$work/computed"
    count 1 "same bits, $name"
  fi
}

for compiler in gcc clang; do
  command -v "$compiler" > /dev/null || continue
  case $(uname -m) in
    x86_64)
      same "$compiler-avx512" "$most_arguments" "$compiler" -O3 -fno-math-errno -mavx512f -mavx512dq
      same "$compiler-avx2" "$most_arguments" "$compiler" -O3 -fno-math-errno -mavx2 -mfma
      same "$compiler-scalar" 1000000 "$compiler" -O1 -mfma
      same "$compiler-unoptimised" 1000000 "$compiler" -O0 -mfma
      ;;
    *) same "$compiler-O3" "$most_arguments" "$compiler" -O3 ;;
  esac
  # Without fma instructions fma() is a function, which is slow if the CPU lacks them.
  same "$compiler-baseline" 100000 "$compiler" -O2
done

echo "$passed passed, $failed failed"
test "$failed" -eq 0
