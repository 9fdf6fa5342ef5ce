#!/bin/sh
# Runs test files of the package, by default the known answers of whole fits, on an emulated arm64 or s390x processor:
# R of Debian under qemu's user emulation, with the package's C code from a cross compiler.
#
#   tests/processors/fits.sh ARCHITECTURE FOLDER [FILTER]
#
# ARCHITECTURE is arm64 or s390x. FOLDER is made if it is not there, and used again. It holds the root, 1.5 GB. FILTER
# is a regular expression for the names of test files. WARPBAYES_ISA=baseline chooses the instruction set. Needs Debian,
# R, root's rights for chroot, and the packages qemu-user-static and gcc-aarch64-linux-gnu or gcc-s390x-linux-gnu. The
# known answers take 5 minutes of processor time, after 2 minutes for the package. tools/test does not run this.
set -eu
cd "$(dirname "$0")/../.."
test $# -ge 2 || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
architecture=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
filter=${3:-known-answers}
case $architecture in
  arm64) machine=aarch64 ;;
  s390x) machine=s390x ;;
  *) echo "$architecture is neither arm64 nor s390x" >&2; exit 2 ;;
esac
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
root=$folder/root

# Packages are unpacked, not installed, so that none of their scripts runs under emulation. Programs that R starts, such
# as the shell, are this machine's busybox.
make_root() {
  apt=$folder/apt
  mkdir -p "$apt/etc/apt.conf.d" "$apt/etc/preferences.d" "$apt/lists/partial" "$apt/cache/archives/partial"
  : > "$apt/status"
  echo "deb ${MIRROR:-http://deb.debian.org/debian} $suite main" > "$apt/etc/sources.list"
  cat > "$apt/apt.conf" << END
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Etc "$apt/etc";
Dir::Etc::TrustedParts "/etc/apt/trusted.gpg.d";
END
  APT_CONFIG=$apt/apt.conf apt-get -qq update
  APT_CONFIG=$apt/apt.conf apt-get -qq -y --download-only install r-base-core r-cran-matrix r-cran-testthat libc-bin
  (cd "$folder" && apt-get -qq download busybox-static)
  rm -rf "$root.part"
  mkdir -p "$root.part"
  for package in "$apt"/cache/archives/*.deb "$folder"/busybox-static_*.deb; do
    case $package in
      */bash_* | */dash_* | */coreutils_* | */debianutils_*) ;;
      *) dpkg-deb -x "$package" "$root.part" ;;
    esac
  done
  (
    cd "$root.part"
    mkdir -p bin usr/bin dev proc tmp root usr/local/lib/R/site-library
    mknod -m 666 dev/null c 1 3
    mknod -m 666 dev/urandom c 1 9
    cp "$(command -v qemu-$machine-static)" usr/bin/emulator
    for program in sh sed cat uname rm mkdir grep test expr ls env dirname basename which; do
      ln -sf /bin/busybox "bin/$program"
      ln -sf /bin/busybox "usr/bin/$program"
    done
    sed -i '1s/bash/sh/' usr/lib/R/bin/R
    mv usr/lib/R/bin/exec/R usr/lib/R/bin/exec/R.emulated
    # shellcheck disable=SC2016
    printf '%s\n' '#!/bin/sh' 'exec /usr/bin/emulator /usr/lib/R/bin/exec/R.emulated "$@"' > usr/lib/R/bin/exec/R
    chmod +x usr/lib/R/bin/exec/R
    libraries=/usr/lib/$machine-linux-gnu
    echo "export LD_LIBRARY_PATH=/usr/lib/R/lib:$libraries/blas:$libraries/lapack" > etc/R/ldpaths
    printf '%s\n' EDITOR=vi PAGER=cat SED=sed \
      R_LIBS_SITE=/usr/local/lib/R/site-library:/usr/lib/R/site-library:/usr/lib/R/library > etc/R/Renviron
  )
  mv "$root.part" "$root"
}
test -d "$root" || make_root

# The R code is installed on this machine, the C code compiled for the other one.
build=$folder/build
library=$root/usr/local/lib/R/site-library
rm -rf "$build"
mkdir -p "$build" "$root/warpbayes"
tar -cf - --exclude=./build --exclude=./.git --exclude=./inst/cuda --exclude='*.o' --exclude='*.so' . |
  tar -xf - -C "$build"
WARPBAYES_CUDA=no R CMD INSTALL --no-libs --no-docs --no-test-load --library="$library" "$build" \
  > "$folder/install.log" 2>&1 || {
  tail -n 20 "$folder/install.log" >&2
  exit 1
}
test -f "$build/src/Makevars" || (cd "$build" && R_HOME=$(R RHOME) WARPBAYES_CUDA=no ./configure)
find "$build/src" -name '*.o' -exec rm -f {} +
cat > "$build/src/cross.mk" << END
include Makevars
.SUFFIXES: .c .o
.c.o:
	$machine-linux-gnu-gcc -std=gnu11 -O2 -fPIC -fopenmp \$(C_VISIBILITY) \$(PKG_CFLAGS) \$(PKG_CPPFLAGS) \\
	  -I$root/usr/share/R/include -c \$< -o \$@
warpbayes.so: \$(OBJECTS)
	$machine-linux-gnu-gcc -shared -o \$@ \$(OBJECTS) -fopenmp -lm
END
make -s -j2 -C "$build/src" -f cross.mk C_VISIBILITY=-fvisibility=hidden warpbayes.so
test "$machine" != aarch64 || tools/loops "$build/src" aarch64 > "$folder/loops.txt" || {
  grep -A 3 'without a vector' "$folder/loops.txt"
  exit 1
}
mkdir -p "$library/warpbayes/libs"
cp "$build/src/warpbayes.so" "$library/warpbayes/libs/"
# shellcheck disable=SC2016
Rscript -e 'file <- commandArgs(TRUE)[[1L]]' -e 'about <- readRDS(file)' \
  -e 'about$Built$Platform <- commandArgs(TRUE)[[2L]]' -e 'saveRDS(about, file)' \
  "$library/warpbayes/Meta/package.rds" "$machine-unknown-linux-gnu"

rm -rf "$root/warpbayes"
mkdir "$root/warpbayes"
cp -r tests tools "$root/warpbayes"
cat > "$root/warpbayes/run.R" << 'END'
isa <- Sys.getenv("WARPBAYES_ISA")
if (nzchar(isa)) options(warpbayes.isa = isa)
setwd("/warpbayes")
source("tools/run-tests.R")
END
exec unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" \
  env -i HOME=/root LC_ALL=C.UTF-8 NOT_CRAN=true PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  WARPBAYES_TEST_FILTER="$filter" WARPBAYES_ISA="${WARPBAYES_ISA:-}" \
  chroot "$root" /bin/sh /usr/lib/R/bin/R --no-echo --no-restore --file=/warpbayes/run.R
