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

# Means and covariances
# Sticks and concentration
# Exchange of labels
# Splits and joins
# Labels and their sums
# What is learned of the prior
# The floor
# Several samples
plant 14 core/random_tables.h 's/) tables += 1.0;/) tables += 0.0;/' "one table for all rows of a sample"
plant 14 core/random_tables.h 's/double bound = concentration + next - 1.0/double bound = concentration + next/' "tables opened as by the next customer"
plant 15 core/random_tables.h 's/if (wb_stream_uniform(stream) \* (concentration + customer - 1.0) < bound) //' "customers kept whatever their probability"
plant 14 mixture/samples.c 's/tables\[i % k\] += wb_draw_tables.*/tables[i % k] += s->sizes[i];/' "sticks from rows in place of tables"
plant 14 mixture/samples.c 's/shape = s->shape + tables/shape = s->shape + tables + 1/' "shape of a too large by one"
plant 14 mixture/samples.c 's/rate -= log_w;/;/' "rate of a without its auxiliary variables"
plant 14 mixture/samples.c 's/shape -= wb_stream/shape += wb_stream/' "shape of a with the wrong sign"
plant 14 mixture/samples.c 's/s->concentration + 1, s->rows/s->concentration, s->rows/' "auxiliary variables of shape a in place of a + 1"
plant 14 mixture/samples.c 's/s->shape_of\[i % k\] + s->sizes\[i\])/1 + s->sizes[i])/' "weights of a sample that know nothing of the others"
plant 14 mixture/mixture.c 's/if (several) wb_mixture_exchange_samples/if (0) wb_mixture_exchange_samples/' "an exchange leaves the sizes in the samples"
plant 14 mixture/samples.c 's/memcpy(s->log_share, log_weight/memcpy(log_weight, s->log_share/' "shares that are never drawn again"
plant 14 cpu/mixture.c 's/const size_t share = (size_t)group/const size_t share = 0/' "weights of the first sample for all rows"
plant 14 cpu/mixture.c 's/t->count + (size_t)group/t->count + 0/' "rows of all samples counted for the first"
# What is reported
plant 14 mixture/samples.c 's/sum += s->shape_of\[j\] \* s->log_weight/sum += (s->shape_of[j] - 1) * s->log_weight/' "log prior of the weights, not of their logs"

echo "bound on |z| $bound; $sweeps sweeps of the first four cases, a quarter of the others"
echo "$passed passed, $failed failed"
test "$failed" -eq 0
