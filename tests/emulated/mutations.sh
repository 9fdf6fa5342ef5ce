#!/bin/sh
# Deletes each __syncthreads() and __syncwarp() of src/cuda in turn and says whether the race driver notices it. The
# driver notices a race, a failure of the emulator, and results that change if threads run from the last to the first.
#   mutations.sh [FOLDER]
# If the driver does not notice, the barrier is superfluous or the driver has no case that needs it. Each barrier takes
# a build, so this is not part of tools/test.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$root/build/barriers}
cxx=clang++
command -v "$cxx" > /dev/null 2>&1 || cxx=g++
copy=$out/copy
rm -rf "$copy"
mkdir -p "$copy/tests"
cp -R "$root/src" "$copy/src"
cp -R "$here" "$here/../emulator" "$copy/tests"
export WB_EMULATOR_QUIET=1 TSAN_OPTIONS='exitcode=66 halt_on_error=1'

noticed=0 unnoticed=0
grep -nE '__sync(threads|warp)\(' "$root"/src/cuda/*.cu* "$root"/src/cuda/*/*.cu* | cut -d: -f1,2 > "$out/places"
while IFS=: read -r file line; do
  name=${file#"$root"/src/cuda/}
  sed -E "${line}s/__sync(threads|warp)\([^)]*\);/(void)0;/" "$file" > "$copy/src/cuda/$name"
  "$copy/tests/emulated/build.sh" "$out/driver" --cxx="$cxx" --sanitize=thread \
    --driver="$copy/tests/emulated/race_driver.cpp"
  status=0
  timeout 300 "$out/driver" > "$out/log" 2>&1 < /dev/null || status=$?
  if [ "$status" -ne 0 ]; then
    noticed=$((noticed + 1))
    how=$(grep -m 1 -e '^SUMMARY' -e 'not so' "$out/log" | cut -c 1-120)
    echo "$name:$line noticed (status $status): $how"
  else
    unnoticed=$((unnoticed + 1))
    echo "$name:$line NOT NOTICED"
  fi
  cp "$file" "$copy/src/cuda/$name"
done < "$out/places"
echo "$noticed barriers noticed when deleted, $unnoticed not"
