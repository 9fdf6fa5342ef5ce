#!/bin/sh
# Compiles the package's CUDA sources with the host compiler into a plugin:
#   build.sh OUT.so [--sanitize=address|thread|access] [--cxx=COMMAND] [--define=NAME]...
#            [--driver=FILE] [--source=FILE]... [--program] [--share=FOLDER] [--kernels=FOLDER] [--jobs=N]
# --sanitize  see README.md
# --driver    links the sources of src/cuda and this file to a program instead of a plugin
# --source    compiles this file instead of the sources of src/cuda
# --program   links a program instead of a plugin
# --define    defines a macro, such as WB_EMULATOR_UCONTEXT for the portable switch of fibers
# --share     keeps the emulator's own objects in this folder, for the next build with the same options
# --kernels   takes all objects but the driver's from this folder, in which a build with the same --sanitize and --cxx
#             has left them; with --source, these files are compiled again
# --jobs      compilers at a time, by default 2
# All other objects stay beside the output, in the folder OUT.so.o.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out='' sanitize='' cxx=${CXX:-g++} program=no driver='' sources='' defines='' share='' kernels='' jobs=2
for argument in "$@"; do
  case $argument in
    --sanitize=*) sanitize=${argument#*=} ;;
    --cxx=*) cxx=${argument#*=} ;;
    --define=*) defines="$defines -D${argument#*=}" ;;
    --source=*) sources="$sources${argument#*=}
" ;;
    --share=*) share=${argument#*=} ;;
    --kernels=*) kernels=${argument#*=} ;;
    --jobs=*) jobs=${argument#*=} ;;
    --driver=*) driver=${argument#*=} program=yes ;;
    --program) program=yes ;;
    --*) echo "build.sh: $argument is not an option" >&2; exit 2 ;;
    *) out=$argument ;;
  esac
done
if [ -z "$out" ]; then
  sed -n '2,15s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi

flags="-std=c++17 -O2 -g1 -gdwarf-4 -fPIC -fvisibility=hidden -ffp-contract=off -fno-omit-frame-pointer -Wall -Wextra"
# fma in software gives the same bits, but takes 90 ns a call.
if grep -qw fma /proc/cpuinfo 2> /dev/null; then
  flags="$flags -mfma"
fi
# Only the kernels' files are instrumented, because the scheduler is not under test.
case $sanitize in
  '') instrument='' ;;
  address) instrument=-fsanitize=address defines="$defines -DWB_EMULATOR_ASAN" ;;
  thread) instrument=-fsanitize=thread defines="$defines -DWB_EMULATOR_TSAN" ;;
  # The check does not see stores of more than 16 bytes, which clang makes of several smaller ones.
  access)
    instrument=-fsanitize=thread
    defines="$defines -DWB_EMULATOR_ACCESS"
    flags="$flags -fno-tree-vectorize -fno-tree-slp-vectorize"
    ;;
  *) echo "build.sh: --sanitize=$sanitize is not address, thread or access" >&2; exit 2 ;;
esac

objects=$out.o
rm -rf "$objects"
mkdir -p "$objects"
machine=$objects
if [ -n "$share" ]; then
  machine=$share/$(echo "$cxx $flags $defines" | cksum | cut -d ' ' -f 1)
  mkdir -p "$machine"
fi
if [ -n "$kernels" ]; then
  machine=$kernels
fi
link=$instrument
# src/access.cpp has what the instrumented code calls.
if [ "$sanitize" = access ]; then link=''; fi

# compile SOURCE OBJECT [instrument]
# shellcheck disable=SC2086
compile() {
  "$cxx" $flags ${3:-} $defines -I"$here/include" -I"$root/src" -x c++ -S "$1" -o "$2.s"
  # Guards between shared variables can only be added in the assembly.
  awk -f "$here/pad_shared.awk" "$2.s" > "$2.padded.s"
  "$cxx" -c "$2.padded.s" -o "$2"
  rm "$2.s" "$2.padded.s"
  if [ "$sanitize" = access ] && [ -n "${3:-}" ]; then
    objcopy --redefine-sym memcpy=wb_emulator_memcpy --redefine-sym memmove=wb_emulator_memmove \
      --redefine-sym memset=wb_emulator_memset "$2"
  fi
}

# At most $jobs compilers at a time: waits for the first of those that run.
running=
in_background() {
  # shellcheck disable=SC2086
  set -- "$(echo $running | wc -w)" "$@"
  if [ "$1" -ge "$jobs" ]; then
    wait "${running%% *}"
    running=${running#* }
  fi
  shift
  "$@" &
  running="$running$! "
}

if ! [ -f "$machine/complete" ]; then
  for source in "$here"/src/*.cpp; do
    in_background compile "$source" "$machine/emulator_$(basename "$source" .cpp).o"
  done
fi
if [ -n "$driver" ]; then
  in_background compile "$driver" "$objects/driver.o" "$instrument"
fi
if [ -n "$kernels" ]; then
  cp "$kernels"/cuda_*.o "$objects"
fi
if [ -z "$kernels" ] || [ -n "$sources" ]; then
  # --kernels takes the objects of src/cuda by their names, cuda_*.
  if [ -n "$sources" ]; then
    printf %s "$sources" > "$objects/sources"
  else
    find "$root/src/cuda" -name '*.cu' | LC_ALL=C sort > "$objects/sources"
  fi
  while IFS= read -r source; do
    case $source in
      "$root"/src/*) name=$(echo "${source#"$root"/src/}" | tr / _) ;;
      *) name=given_$(basename "$source") ;;
    esac
    in_background compile "$source" "$objects/${name%.*}.o" "$instrument"
  done < "$objects/sources"
fi
for process in $running; do wait "$process"; done
touch "$machine/complete"
# The emulator's own thread-local variables come first, so that the first shared variable has a gap before it too.
if [ "$program" = no ]; then
  link="$link -shared -Wl,--version-script=$objects/exports"
  echo '{ global: wb_*; local: *; };' > "$objects/exports"
fi
# shellcheck disable=SC2086
"$cxx" $link "$machine"/emulator_*.o "$objects"/[!e]*.o -o "$out" -ldl -lpthread
