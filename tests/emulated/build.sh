#!/bin/sh
# Builds the package's CUDA sources for the emulator, as a plugin or with a program:
#   build.sh OUT.so [OPTION]...   options of tests/emulator/build.sh
# With --source or --kernels, only the files that these name.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
chosen=--folder=$root/src/cuda
for option in "$@"; do
  case $option in --source=* | --kernels=*) chosen= ;; esac
done
# Small slots for copies, so that tests with few numbers use several.
exec "$here/../emulator/build.sh" ${chosen:+"$chosen"} --include="$root/src" --define=WB_SLOT_BYTES=16384 \
  --export='wb_*' "$@"
