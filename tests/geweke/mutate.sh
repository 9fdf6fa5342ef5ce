#!/bin/sh
# Tests Geweke's test: plants errors in copies of the sources, one at a time, and shows that the test fails on each.
# This script fails if the test misses an error, or if an error can no longer be planted.
#
#   tests/geweke/mutate.sh [SWEEPS] [PART/PARTS]
#
# With 3/16 it plants every 16th error, beginning with the third. Without, each core of the machine has such a share.
# Prints for each error the largest |z| and its functional. The last line is "N passed, N failed".
set -eu
cd "$(dirname "$0")/../.."
sweeps=${1:-100000} # a whole number in digits
planted=0
compiler=${CC:-cc}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

share=${2:-}
if test -z "$share"; then
  cores=$(getconf _NPROCESSORS_ONLN)
  status=0
  seq "$cores" |
    xargs -P "$cores" -I '{}' sh -c "tests/geweke/mutate.sh '$sweeps' {}/$cores > '$folder/share-{}'" || status=1
  grep -hv '^[0-9]* passed' "$folder"/share-*
  awk '/^[0-9]+ passed, / { passed += $1; failed += $3 }
    END { printf "%d passed, %d failed\n", passed, failed }' "$folder"/share-*
  exit "$status"
fi

compile() {
  "$compiler" -O2 -std=gnu99 -ffp-contract=off -Wno-unused -I"$1/src" -c -o "$2" "$3"
}

# Objects of the unchanged sources. An error in one file needs only that file compiled again.
mkdir "$folder/right"
for source in tests/geweke/geweke.c tests/geweke/prior_simulator.c src/mixture/*.c src/cpu/mixture/*.c \
  src/numeric/memory.c src/numeric/spread.c src/numeric/idle.c src/numeric/fma.c src/numeric/log_add.c \
  src/backend/backend.c; do
  compile . "$folder/right/$(echo "$source" | tr / _).o" "$source"
done

# plant CASE FILE EDIT DESCRIPTION: applies the sed command EDIT to src/FILE and looks whether CASE fails.
plant() {
  planted=$((planted + 1))
  test $(((planted - ${share%/*}) % ${share#*/})) -eq 0 || return 0
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
    cpu/*) objects=$(echo src/cpu/mixture/*.c) ;;
    *) objects=$(echo src/mixture/*.c src/cpu/mixture/*.c tests/geweke/geweke.c) ;;
  esac
  for source in $objects; do
    case $source in
      src/*) from=$folder/$source ;;
      *) from=$source ;;
    esac
    compile "$folder" "$folder/planted/$(echo "$source" | tr / _).o" "$from"
  done
  "$compiler" -o "$folder/geweke" "$folder"/planted/*.o -lm
  # A small error needs ten times as many sweeps.
  look "$1" "$sweeps" 120
  test "$verdict" = found || look "$1" "${sweeps}0" 1200
  printf '%-58s case %s  %s: %s\n' "$4" "$1" "$found" "$verdict"
  if test "$verdict" = found; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
}

# look CASE SWEEPS SECONDS: runs the test on the planted error; sets `verdict`, and `found` to its words.
look() {
  # A test that does not end has found the error: for example, a gamma of shape NaN is drawn forever.
  status=0
  timeout "$3" "$folder/geweke" -n "$2" -c "$1" > "$folder/out" || status=$?
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
}

# Means and covariances
plant 1 core/mixture_component.h 's/law->df + n + p + 1, center/law->df + n + p, center/' \
  "one degree of freedom too few"
plant 1 core/mixture_component.h '/value += n \* shrink/d' "scale matrix without the term of the prior mean"
plant 1 core/mixture_component.h 's/value += product\[at\] - sum\[r\] \* average\[c\]/value += product[at]/' \
  "scatter about zero, not about the mean"
plant 1 core/mixture_component.h 's/sd = wb_sqrt(law->mean_scale \* shrink)/sd = wb_sqrt(law->mean_scale)/' \
  "gamma in place of gamma_n"
plant 1 core/mixture_component.h 's/1 \/ (1 + law->mean_scale \* n)/1 \/ (1 + n)/' \
  "gamma_n with 1 + n in place of 1 + gamma n"
plant 1 core/mixture_component.h 's/center\[r\] = (law->mean\[r\] + /center[r] = (/' "m_n without the prior mean"
plant 1 core/mixture_component.h 's/WB_PURPOSE_MEAN/WB_PURPOSE_COVARIANCE/' \
  "words of the covariance used again for the mean"
plant 1 core/team.h 's/0.5 \* (df - (double)(p - 1 - mine))/0.5 * df/' \
  "all diagonal entries of Bartlett's factor with full df"
# Sticks and concentration
plant 1 mixture/mixture.c 's/state->concentration + behind,/state->concentration + behind + 1,/' "s_j too large by one"
plant 1 mixture/mixture.c 's/state->concentration + behind,/state->concentration + behind + n,/' \
  "s_j with the rows of j itself"
plant 1 mixture/mixture.c 's/wb_draw_log_beta(&stream, 1 + n,/wb_draw_log_beta(\&stream, 2 + n,/' "n_j too large by one"
plant 1 mixture/mixture.c 's/state->log_weight\[j\] += before;/state->log_weight[j] += 0;/' \
  "weights without the sticks before"
plant 1 mixture/mixture.c 's/prior->shape + state->components - 1/prior->shape + state->components/' \
  "shape of alpha too large by one"
plant 1 mixture/mixture.c 's/rate -= state->log_rest/rate += state->log_rest/' "rate of alpha with the wrong sign"
plant 1 mixture/mixture.c 's/double rate = prior->rate/double rate = 0/' "rate of alpha without the prior's"
plant 1 core/random_gamma.h 's/return log_draw + .*/return log_draw;/' "gamma of shape below one without its power"
plant 1 core/team.h 's/normal\[at\] = wb_normal/normal[at] = 1.01 * wb_normal/' "normals too wide by 1%"
# Exchange of labels
plant 1 mixture/mixture.c \
  's/(alpha + next + behind) \/ (alpha + n + behind)/(alpha + n + behind) \/ (alpha + next + behind)/' \
  "ratio of an exchange inverted"
plant 1 mixture/mixture.c 's/if (l == k - 2)/if (0)/' "last pair exchanged like the others"
plant 7 mixture/mixture.c 's/behind += size\[l + 1\];/;/' "exchange without the rows behind"
plant 1 mixture/mixture.c '/source\[l + 1\] = kept;/d' "an exchange leaves means and covariances"
plant 1 mixture/mixture.c '/size\[l\] = next;/d' "an exchange leaves a size"
# Splits and joins
plant 1 mixture/split_merge.c 's/wb_log(rows \* rows \/ (n_a \* n_b))/0/' "anchors chosen without their probability"
plant 1 mixture/split_merge.c 's/- m->log_probability\[place\];/- 0.9 * m->log_probability[place];/' \
  "a tenth of the proposal's probability lost"
plant 1 mixture/split_merge.c 's/log_joined(m, g, rows) +/log_labels(m, a, b, rows, 0) +/' \
  "joined rows to the first component only"
plant 1 mixture/split_merge.c 's/(joins ? -log_odds : log_odds)/log_odds/' "joins with the odds of splits"
plant 1 mixture/split_merge.c 's/log_labels(m, a, b, n_b, n_a) - log_labels(m, a, b, n_a, n_b)/0/' \
  "labels of a pair exchanged at random"
plant 7 mixture/split_merge.c 's/if (j <= k - 3) product/product/' "sticks of all components"
plant 1 mixture/merge.c 's/0.5 \* p \* wb_log1p(prior->mean_scale \* n)/0/' "marginal density without the mean's"
plant 1 core/mixture_half.h 's/(log_probability - within)/log_probability/' "one probability for both halves"
# Labels and their sums
plant 1 core/mixture_component.h 's/- 0.5 \* p \* WB_LOG_2_PI +/- 0.5 * p * WB_LOG_2_PI + 0 */' \
  "log densities without the determinant"
plant 1 core/mixture_component.h 's/offset + noise\[r\];/offset;/' "offsets without the noise of the mean"
plant 1 cpu/mixture/draw_tile.h 's/MIXTURE_TILE, first\[l\], second\[l\])/MIXTURE_TILE, first[0], second[0])/' \
  "one uniform for all rows"
plant 1 cpu/mixture/draw_tile.h 's/WB_PURPOSE_LABEL, iteration/WB_PURPOSE_LABEL, 0/' "the same uniforms in every sweep"
plant 9 cpu/block_loops.h 's/total\[l\] += sum\[l\];/;/' "draw between blocks without the blocks before"
plant 9 core/block_draw.h 's/u \* (before + sum) - before/u * sum/' "the last block always takes over"
plant 6 cpu/mixture/draw_tile.h 's/case 1: add_squares(1, row/case 1: add_squares(1, 0/' \
  "fifth row of the triangle taken for the first"
plant 1 cpu/mixture/sums_loops.h 's/ADD(3, \([12]\))/ADD(2, \1)/' "sums without the last column"
# What is learned of the prior
plant 4 mixture/learn.c 's/precision\[wb_packed_row(r) + (size_t)r\] = 1/precision[wb_packed_row(r) + (size_t)r] = 2/' \
  "m of twice the prior precision"
plant 4 mixture/learn.c 's/mean_weight = 1 \/ prior->mean_scale/mean_weight = 1/' "m without gamma"
plant 4 mixture/learn.c 's/wb_triangle_solve_transposed(p, precision, pull/wb_triangle_solve(p, precision, pull/' \
  "m solved with the factor not transposed"
plant 4 mixture/learn.c \
  's/hyper->mean_scale_shape + 0.5 \* (double)state->components \* state->columns/'\
'hyper->mean_scale_shape + 0.5 * (double)state->components/' \
  "gamma's shape without p"
plant 4 mixture/learn.c 's/rate += 0.5 \* state/rate += state/' "gamma's rate without the half"
plant 4 mixture/learn.c 's/components \* (prior->df + p + 1)/components * (prior->df + p)/' \
  "one degree of freedom too few for Phi"
plant 4 mixture/learn.c 's/scale_weight = prior->df/scale_weight = 1/' "Phi without nu"
plant 4 mixture/learn.c 's/0.5 \* nu \* trace/0.5 * trace/' "nu without itself before the trace"
plant 4 mixture/learn.c 's/df \* log_determinant - 0.5/0.9 * df * log_determinant - 0.5/' \
  "determinants in nu a tenth too small"
plant 4 mixture/learn.c 's/if (sum > position) break;/if (sum >= position \* 0.9) break;/' "nu drawn too low"
# The floor
plant 11 core/mixture_component.h '/value += n \* law->floor/d' "floor in the allocation only"
plant 12 core/mixture_component.h 's/log_determinant) - 0.5 \* floor_trace/log_determinant)/' \
  "floor in the covariances only"
plant 12 core/mixture_component.h 's/value += n \* law->floor\[r\]/value += law->floor[r]/' \
  "floor once for a component, not for each of its rows"
plant 12 core/mixture_component.h 's/- 0.5 \* floor_trace/- floor_trace/' "trace of the floor without the half"
# Several samples
plant 14 cpu/mixture/draw_tile.h 's/share\[place\[l\] + base/share[place[0] + base/' \
  "weights of the first row's sample for the tile"
plant 14 core/random_tables.h 's/) tables += 1.0;/) tables += 0.0;/' "one table for all rows of a sample"
plant 14 core/random_tables.h 's/double bound = concentration + next - 1.0/double bound = concentration + next/' \
  "tables opened as by the next customer"
plant 14 core/random_tables.h 's/if (wb_stream_uniform(stream) \* (concentration + customer - 1.0) < bound) //' \
  "customers kept whatever their probability"
plant 14 mixture/samples.c 's/tables\[i % k\] += wb_draw_tables.*/tables[i % k] += s->sizes[i];/' \
  "sticks from rows in place of tables"
plant 14 mixture/samples.c 's/shape = s->shape + tables/shape = s->shape + tables + 1/' "shape of a too large by one"
plant 14 mixture/samples.c 's/rate -= log_w;/;/' "rate of a without its auxiliary variables"
plant 14 mixture/samples.c 's/shape -= wb_stream/shape += wb_stream/' "shape of a with the wrong sign"
plant 14 mixture/samples.c 's/s->concentration + 1, s->rows/s->concentration, s->rows/' \
  "auxiliary variables of shape a in place of a + 1"
plant 14 mixture/samples.c 's/s->shape_of\[i % k\] + s->sizes\[i\])/1 + s->sizes[i])/' \
  "weights of a sample that know nothing of the others"
plant 14 mixture/mixture.c 's/if (several) wb_mixture_exchange_samples/if (0) wb_mixture_exchange_samples/' \
  "an exchange leaves the sizes in the samples"
plant 14 mixture/samples.c 's/memcpy(s->log_share, log_weight/memcpy(log_weight, s->log_share/' \
  "shares that are never drawn again"
plant 14 cpu/mixture/session.c 's/(int64_t)sample\[row\] \* k/0/' "weights of the first sample for all rows"
plant 14 cpu/mixture/session.c 's/t->count\[(size_t)session->data.sample\[row\] \* k/t->count[0/' \
  "rows of all samples counted for the first"
# Missing values
plant 17 core/mixture_missing.h 's/WB_LOG_2_PI - sum;/WB_LOG_2_PI;/' "density of what is known without its determinant"
plant 17 core/mixture_missing.h 's/0.5 \* (p - observed) \* WB_LOG_2_PI/0.0/' \
  "density of what is known in too many dimensions"
plant 17 core/mixture_missing.h 's/for (int i = 0; i <= r; i++) {/for (int i = 1; i <= r; i++) {/' \
  "offsets that are not turned"
plant 17 core/mixture_missing.h 's/wb_fma(along\[l\], b, -(across\[l\] \* a))/wb_fma(along[l], b, across[l] * a)/' \
  "rows turned the wrong way"
plant 17 cpu/mixture/missing_row.h 's/(wb_draw_normal(&stream) - z)/(0 * wb_draw_normal(\&stream) - z)/' \
  "missing values set to their expectations"
plant 17 cpu/mixture/missing_row.h \
  's/for (int c = 0; c < r; c++) z = wb_fma/for (int c = observed; c < r; c++) z = wb_fma/' \
  "missing values drawn without the known ones"
plant 17 cpu/mixture/missing_row.h 's/WB_PURPOSE_MISSING, iteration, row/WB_PURPOSE_MISSING, iteration, 0/' \
  "the same random numbers in every row"
plant 19 cpu/mixture/missing_row.h 's/table + label % WB_MISSING_LANES +/table +/' "missing values of another component"
plant 19 cpu/mixture/missing_row.h 's/share \&\& j < count; j++) weight/share \&\& j < 0; j++) weight/' \
  "rows with missing values without the weights of their sample"
plant 17 cpu/mixture/missing.c 's/to\[order\[c\]\] = value\[c - observed\];/to[order[c]] = 0;/' \
  "splits with zeros for missing values"
plant 18 cpu/mixture/missing.c \
  's/\*out = parameters->log_constant\[j\];/*out = parameters->log_constant[j] + 0.5 * session->floor_trace[j];/' \
  "no floor for rows with missing values"
# What is reported
plant 14 mixture/samples.c 's/double sum = s->shape \* wb_log(s->rate).*/double sum = 0;/' "log prior without that of a"
plant 1 mixture/mixture.c 's/log_sticks ? 0 : 1/0/' "log prior in other coordinates of the sticks"

echo "bound on |z| $bound; $sweeps sweeps of the first four cases, a quarter of the others"
echo "$passed passed, $failed failed"
test "$failed" -eq 0
