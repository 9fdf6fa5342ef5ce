#!/bin/sh
# What Geweke's test is worth: plants errors in copies of the sources, one at a
# time, and shows that the test fails on each. An error that it does not find, or
# that can no longer be planted, is a failure of this script.
#
#   tests/geweke/mutate.sh [SWEEPS]
#
# Prints for each error the largest |z| and the functional where it stands; the
# last line is "N passed, N failed".
set -eu
cd "$(dirname "$0")/../.."
sweeps=${1:-100000}
compiler=${CC:-cc}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

compile() {
  "$compiler" -O2 -std=gnu99 -ffp-contract=off -Wno-unused -I"$1/src" -c -o "$2" "$3"
}

# Objects of the sources as they are: an error in one file spares the others.
mkdir "$folder/right"
for source in tests/geweke/geweke.c tests/geweke/prior_simulator.c src/mixture/*.c src/cpu/mixture*.c src/numeric/memory.c src/backend/backend.c; do
  compile . "$folder/right/$(echo "$source" | tr / _).o" "$source"
done

# plant CASE FILE EDIT DESCRIPTION: FILE of src/ is edited by sed.
plant() {
  rm -rf "$folder/src" "$folder/planted"
  cp -R src "$folder/src"
  cp -R "$folder/right" "$folder/planted"
  sed "$3" "src/$2" > "$folder/src/$2"
  if cmp -s "src/$2" "$folder/src/$2"; then
    printf '%-58s could not be planted: FAILED\n' "$4"
    failed=$((failed + 1))
    return
  fi
  case $2 in
    *.c) objects=src/$2 ;;
    cpu/*) objects=$(echo src/cpu/mixture*.c) ;;
    *) objects=$(echo src/mixture/*.c src/cpu/mixture*.c tests/geweke/geweke.c) ;;
  esac
  for source in $objects; do
    case $source in
      src/*) from=$folder/$source ;;
      *) from=$source ;;
    esac
    compile "$folder" "$folder/planted/$(echo "$source" | tr / _).o" "$from"
  done
  "$compiler" -o "$folder/geweke" "$folder"/planted/*.o -lm
  # A gamma whose shape is no number is drawn for ever: that too is an error found.
  status=0
  timeout 120 "$folder/geweke" -n "$sweeps" -c "$1" > "$folder/out" || status=$?
  size=$(sed -n 's/.*largest |z| \([0-9.a-z]*\) .*/\1/p' "$folder/out")
  bound=$(sed -n 's/.*bound \([0-9.]*\);.*/\1/p' "$folder/out")
  found=$(sed -n 's/.*largest |z| \(.*\), bound.*/|z| \1/p' "$folder/out")
  verdict=found
  if test "$status" -eq 124; then
    found="does not end"
  elif grep -q 'wrong sweeps' "$folder/out"; then
    found="statistics are not those of the labels"
  elif test "$size" != inf && echo "$size $bound" | awk '{ exit ($1 > $2) }'; then
    verdict="NOT FOUND"
  fi
  printf '%-58s case %s  %s: %s\n' "$4" "$1" "$found" "$verdict"
  if test "$verdict" = found; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
}

plant 17 core/mixture_missing.h 's/WB_LOG_2_PI - sum;/WB_LOG_2_PI;/' "density of what is known without its determinant"
plant 17 core/mixture_missing.h 's/0.5 \* (p - observed) \* WB_LOG_2_PI/0.0/' "density of what is known in too many dimensions"
plant 17 core/mixture_missing.h 's/for (int i = 0; i <= r; i++) {/for (int i = 1; i <= r; i++) {/' "offsets that are not turned"
plant 17 core/mixture_missing.h 's/wb_fma(along\[l\], b, -(across\[l\] \* a))/wb_fma(along[l], b, across[l] * a)/' "rows turned the wrong way"
plant 17 cpu/mixture_missing_row.h 's/(wb_draw_normal(&stream) - z)/(0 * wb_draw_normal(\&stream) - z)/' "missing values set to their expectations"
plant 17 cpu/mixture_missing_row.h 's/for (int c = 0; c < r; c++) z = wb_fma/for (int c = observed; c < r; c++) z = wb_fma/' "missing values drawn without the known ones"
plant 17 cpu/mixture_missing_row.h 's/WB_PURPOSE_MISSING, iteration, row/WB_PURPOSE_MISSING, iteration, 0/' "the same random numbers in every row"
plant 19 cpu/mixture_missing_row.h 's/table + label % WB_MISSING_LANES +/table +/' "missing values of another component"
plant 19 cpu/mixture_missing_row.h 's/share \&\& j < count; j++) weight/share \&\& j < 0; j++) weight/' "rows with missing values without the weights of their sample"
plant 17 cpu/mixture_missing.c 's/to\[order\[c\]\] = m->value.*/to[order[c]] = 0;/' "splits with zeros for missing values"
plant 18 cpu/mixture_missing.c 's/\*out = parameters->log_constant\[j\];/*out = parameters->log_constant[j] + 0.5 * session->floor_trace[j];/' "no floor for rows with missing values"
plant 1 mixture/mixture.c 's/(alpha - 1) \* state->log_rest/alpha * state->log_rest/' "log prior in other coordinates of the sticks"

echo "bound on |z| $bound; $sweeps sweeps of the first four cases, a quarter of the others"
echo "$passed passed, $failed failed"
test "$failed" -eq 0
