#!/bin/sh
# Compiles CUDA sources with the host compiler into a shared library or a program:
#   build.sh OUT [--folder=FOLDER]... [--source=FILE]... [--include=FOLDER]... [--define=NAME[=VALUE]]...
#            [--export=PATTERN]... [--driver=FILE] [--program] [--sanitize=address|thread|access] [--cxx=COMMAND]
#            [--share=FOLDER] [--kernels=FOLDER] [--optimise=LEVEL] [--jobs=N]
# --folder    compiles all .cu files below this folder
# --source    compiles this file
# --include   searches this folder for headers; the object of a file below it has the name of its path from there
# --define    defines a macro, such as WB_EMULATOR_UCONTEXT for the portable switch of fibers
# --export    functions that the library exports besides the emulator's own, such as 'my_*'
# --driver    links this file, too, to a program instead of a library
# --program   links a program instead of a library
# --sanitize  see README.md
# --share     keeps the emulator's own objects in this folder, for the next build with the same options
# --kernels   takes all objects but the driver's from this folder, in which a build with the same --sanitize and --cxx
#             has left them; files of --source are compiled again
# --optimise  the compiler's level, by default 2; with 1, sanitized builds take two thirds of the time
# --jobs      compilers at a time, by default 2
# All other objects stay beside the output, in the folder OUT.o.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
line_end='
'
out='' sanitize='' cxx=${CXX:-g++} program=no driver='' sources='' folders='' includes='' defines='' exports='' share=''
kernels='' level=2 jobs=2
for argument in "$@"; do
  case $argument in
    --sanitize=*) sanitize=${argument#*=} ;;
    --cxx=*) cxx=${argument#*=} ;;
    --define=*) defines="$defines -D${argument#*=}" ;;
    --export=*) exports="$exports ${argument#*=};" ;;
    --source=*) sources="$sources${argument#*=}$line_end" ;;
    --folder=*) folders="$folders${argument#*=}$line_end" ;;
    --include=*) includes="$includes${argument#*=}$line_end" ;;
    --share=*) share=${argument#*=} ;;
    --kernels=*) kernels=${argument#*=} ;;
    --optimise=*) level=${argument#*=} ;;
    --jobs=*) jobs=${argument#*=} ;;
    --driver=*) driver=${argument#*=} program=yes ;;
    --program) program=yes ;;
    --*) echo "build.sh: $argument is not an option" >&2; exit 2 ;;
    *) out=$argument ;;
  esac
done
if [ -z "$out" ] || [ -z "$sources$folders$driver$kernels" ]; then
  sed -n '2,21s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi

flags="-std=c++17 -O$level -g1 -gdwarf-4 -fPIC -fvisibility=hidden -ffp-contract=off -fno-omit-frame-pointer"
flags="$flags -Wall -Wextra"
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
  compiled=$1 object=$2 instrumented=${3:-}
  set -- -I"$here/include"
  while IFS= read -r folder; do
    if [ -n "$folder" ]; then set -- "$@" -I"$folder"; fi
  done << END
$includes
END
  "$cxx" $flags $instrumented $defines "$@" -x c++ -S "$compiled" -o "$object.s"
  # Guards between shared variables can only be added in the assembly.
  awk -f "$here/pad_shared.awk" "$object.s" > "$object.padded.s"
  "$cxx" -c "$object.padded.s" -o "$object"
  rm "$object.s" "$object.padded.s"
  if [ "$sanitize" = access ] && [ -n "$instrumented" ]; then
    objcopy --redefine-sym memcpy=wb_emulator_memcpy --redefine-sym memmove=wb_emulator_memmove \
      --redefine-sym memset=wb_emulator_memset "$object"
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
  cp "$kernels"/given_*.o "$objects"
fi
{
  printf %s "$folders" | while IFS= read -r folder; do find "$folder" -name '*.cu'; done | LC_ALL=C sort
  printf %s "$sources"
} > "$objects/sources"
while IFS= read -r source; do
  name=$(basename "$source")
  while IFS= read -r folder; do
    case $source in "${folder:-none}"/*) name=$(echo "${source#"$folder"/}" | tr / _) ;; esac
  done << END
$includes
END
  in_background compile "$source" "$objects/given_${name%.*}.o" "$instrument"
done < "$objects/sources"
for process in $running; do wait "$process"; done
touch "$machine/complete"
# The emulator's own thread-local variables come first, so that the first shared variable has a gap before it too.
if [ "$program" = no ]; then
  link="$link -shared -Wl,--version-script=$objects/exports"
  echo "{ global: wb_emulator_*;$exports local: *; };" > "$objects/exports"
fi
# shellcheck disable=SC2086
"$cxx" $link "$machine"/emulator_*.o "$objects"/[!e]*.o -o "$out" -ldl -lpthread
