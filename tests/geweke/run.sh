#!/bin/sh
# Runs Geweke's test of the mixture sampler, and the test of the draw between blocks of components, without R.
#
#   tests/geweke/run.sh               short: 15 s on two cores, finds a mean that is off by 0.03 standard deviations
#   tests/geweke/run.sh --full        4e6 sweeps (0.007 standard deviations), then the planted errors.
#                                     WARPBAYES_EXTENDED_TESTS asks for the same.
#   tests/geweke/run.sh --build F     only builds the program F
#   tests/geweke/run.sh --objects S   short, with the objects that an installation of these sources left in the folder S
set -eu
cd "$(dirname "$0")/../.."

# build FOLDER PROGRAM: from the sources in FOLDER/src. With OpenMP, chains run in parallel.
build() {
  compiler=${CC:-cc}
  flags="-O2 -std=gnu99 -ffp-contract=off -I$1/src"
  echo 'int main(void) { return 0; }' > "$2.c"
  if "$compiler" -fopenmp -o "$2" "$2.c" 2> /dev/null; then
    flags="$flags -fopenmp"
  fi
  rm "$2.c"
  if test -n "$objects"; then
    set -- "$1" "$2" "$objects"/mixture/*.o "$objects"/cpu/mixture/*.o "$objects"/numeric/memory.o \
      "$objects"/numeric/spread.o "$objects"/numeric/idle.o "$objects"/numeric/fma.o "$objects"/numeric/log_add.o \
      "$objects"/backend/backend.o
  else
    set -- "$1" "$2" "$1"/src/mixture/*.c "$1"/src/cpu/mixture/*.c "$1"/src/numeric/memory.c \
      "$1"/src/numeric/spread.c "$1"/src/numeric/idle.c "$1"/src/numeric/fma.c "$1"/src/numeric/log_add.c \
      "$1"/src/backend/backend.c
  fi
  program=$2
  shift 2
  # shellcheck disable=SC2086
  "$compiler" $flags -o "$program" tests/geweke/geweke.c tests/geweke/prior_simulator.c "$@" -lm
}

objects=
case ${1:-} in
  --objects)
    objects=$2
    full=no
    ;;
  --build)
    build . "$2"
    exit
    ;;
  --full) full=yes ;;
  '') full=no ;;
  *)
    echo "tests/geweke/run.sh: unknown option $1" >&2
    exit 2
    ;;
esac
case ${WARPBAYES_EXTENDED_TESTS:-} in
  '' | false | FALSE | 0) ;;
  *) full=yes ;;
esac

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# part COMMAND...: runs one program; its counts are added up at the end.
part() {
  "$@" > "$folder/out" || failed=1
  cat "$folder/out"
  grep '^[0-9]* passed' "$folder/out" >> "$folder/counts" || failed=1
}

"${CC:-cc}" -O2 -std=gnu99 -ffp-contract=off -Isrc -o "$folder/block_draw" tests/geweke/block_draw.c -lm
part "$folder/block_draw"
build . "$folder/geweke"
if test "$full" = yes; then
  part "$folder/geweke" -t "$(getconf _NPROCESSORS_ONLN)" -n 4e6
  part tests/geweke/mutate.sh
else
  part "$folder/geweke" -t 2
fi
awk '{ passed += $1; failed += $3 } END { printf "%d passed, %d failed\n", passed, failed }' "$folder/counts"
exit "$failed"
