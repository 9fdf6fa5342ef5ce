#!/bin/sh
# Builds the libraries with which bench/ and tests/ measure: measure.so and, for CUDA, measure_cuda.so.
#   build.sh FOLDER                     without a graphics card
#   build.sh FOLDER --card              with nvcc, for the card of this machine
#   build.sh FOLDER --emulator [...]    for the emulator; other arguments are options of tests/emulated/build.sh
# measure.R loads them from the folder that WARPBAYES_MEASURE names.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
test "$#" -ge 1 || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
device=${2:-}
if test "$#" -lt 2; then shift; else shift 2; fi

# Built with R's compiler and flags, in a folder of its own so that no object stays beside the sources.
objects=$folder/objects
rm -rf "$objects"
mkdir "$objects"
cp "$here"/*.c "$root/src/backend/backend.c" "$root/src/numeric/memory.c" "$objects"
# shellcheck disable=SC2016
(cd "$objects" && PKG_CPPFLAGS="-I$root/src -I$here" \
  PKG_CFLAGS='$(SHLIB_OPENMP_CFLAGS) $(C_VISIBILITY) -ffp-contract=off' PKG_LIBS='$(SHLIB_OPENMP_CFLAGS)' \
  R CMD SHLIB -o "$folder/measure.so" ./*.c)

cd "$here"
rm -f "$folder/measure_cuda.so"
case $device in
  '') ;;
  --card)
    "${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}" -std=c++17 -O3 -fmad=false -arch=native \
      -cudart static -Xcompiler -fPIC,-fvisibility=hidden,-ffp-contract=off -I"$root/src" -I"$here" \
      -shared -o "$folder/measure_cuda.so" ./*.cu "$root/src/cuda/device.cu" "$root/src/cuda/copies.cu"
    ;;
  --emulator)
    set -- --source="$root/src/cuda/device.cu" --source="$root/src/cuda/copies.cu" "$@"
    for source in "$here"/*.cu; do set -- --source="$source" "$@"; done
    "$root/tests/emulated/build.sh" "$folder/measure_cuda.so" "$@"
    ;;
  *) echo "build.sh: $device is not --card or --emulator" >&2; exit 2 ;;
esac
