#!/bin/sh
# Compiles the package's CUDA sources with the host compiler into a plugin:
#   build.sh OUT.so [--sanitize=address|thread] [--cxx=COMMAND] [--define=NAME]...
#            [--program] [--sources='FILE...']
# --sources   what to compile instead of src/cuda/*.cu
# --program   link a program instead of a shared library
# --define    macros, such as WB_EMULATOR_UCONTEXT for the portable switch of fibers
# Objects are kept beside the output, in OUT.so.o/.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out= sanitize= cxx=${CXX:-g++} program=no sources= defines=
for argument in "$@"; do
  case $argument in
    --sanitize=*) sanitize=${argument#*=} ;;
    --cxx=*) cxx=${argument#*=} ;;
    --define=*) defines="$defines -D${argument#*=}" ;;
    --sources=*) sources=${argument#*=} ;;
    --program) program=yes ;;
    --*) echo "build.sh: $argument is not an option" >&2; exit 2 ;;
    *) out=$argument ;;
  esac
done
[ -n "$out" ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ -n "$sources" ] || sources=$(echo "$root"/src/cuda/*.cu)

flags="-std=c++17 -O2 -g1 -gdwarf-4 -fPIC -fvisibility=hidden -ffp-contract=off -Wall -Wextra -fno-omit-frame-pointer"
# The functions of core/ are bit-identical with fma in hardware and in software; the
# latter takes 90 ns a call.
if grep -qw fma /proc/cpuinfo 2>/dev/null; then flags="$flags -mfma"; fi
kernel_flags= runtime_flags= link_flags=
case $sanitize in
  '') ;;
  address)
    kernel_flags="-fsanitize=address -fsanitize-recover=address"
    link_flags="-fsanitize=address"
    defines="$defines -DWB_EMULATOR_ASAN" ;;
  thread)
    # The scheduler itself is no part of what is looked at.
    kernel_flags="-fsanitize=thread"
    link_flags="-fsanitize=thread"
    defines="$defines -DWB_EMULATOR_TSAN" ;;
  *) echo "build.sh: --sanitize=$sanitize is neither address nor thread" >&2; exit 2 ;;
esac
objects=$out.o
mkdir -p "$objects"
if [ "$program" = no ]; then
  echo '{ global: wb_*; local: *; };' > "$objects/exports"
  link_flags="$link_flags -shared -Wl,--version-script=$objects/exports"
  # A sanitizer's functions are those of the process.
  [ -n "$sanitize" ] || link_flags="$link_flags -Wl,-z,defs"
fi
# One file: kernels go through assembly, where the guards of shared variables are added.
compile() {
  case $1 in
    "$here"/src/*)
      $cxx $flags $runtime_flags $defines -I"$here/include" -c "$1" -o "$2.o" ;;
    *)
      $cxx $flags $kernel_flags $defines -I"$here/include" -I"$root/src" -x c++ -S "$1" -o "$2.s"
      awk -f "$here/pad_shared.awk" "$2.s" > "$2.padded.s"
      $cxx -c "$2.padded.s" -o "$2.o"
      rm -f "$2.s" "$2.padded.s" ;;
  esac
}

names= pids=
for source in "$here"/src/*.cpp $sources; do
  name=$objects/$(basename "$source" | sed 's/\.[a-z]*$//')_$(basename "$(dirname "$source")")
  compile "$source" "$name" &
  pids="$pids $!"
  names="$names $name.o"
  # Two at a time.
  set -- $pids
  if [ $# -ge 2 ]; then wait "$1"; shift; pids=$*; fi
done
for pid in $pids; do wait "$pid"; done
$cxx $link_flags $names -o "$out" -ldl -lpthread
