# Sourced by tools/demo, tools/test and tools/step. need() installs packages of Debian or Ubuntu; on other systems it
# prints their names.

# A bare system has no locale but C. R CMD check needs UTF-8.
LC_ALL=C.UTF-8
export LC_ALL

# need PACKAGE...: installs those that are not installed.
need() {
  if ! command -v dpkg-query > /dev/null 2>&1; then
    echo "This is neither Debian nor Ubuntu: install what these packages hold there, if it is not installed yet:"
    echo "  $*"
    return 0
  fi
  missing=
  for package in "$@"; do
    state=$(dpkg-query -W -f '${Status}' "$package" 2> /dev/null || true)
    test "$state" = "install ok installed" || missing="$missing $package"
  done
  test -n "$missing" || return 0
  as_root=
  if test "$(id -u)" -ne 0; then
    if ! command -v sudo > /dev/null 2>&1; then
      echo "These packages are missing, and there is neither root nor sudo to install them:$missing" >&2
      return 1
    fi
    as_root=sudo
  fi
  echo "Installing from the distribution:$missing"
  # shellcheck disable=SC2086
  if ! { $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
         $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing; } \
         > build/packages.log 2>&1; then
    tail -n 20 build/packages.log >&2
    echo "apt-get could not install them (on Ubuntu they need the component universe)" >&2
    return 1
  fi
}

# need_r: fails with a message if R is older than 4.1.
need_r() {
  if ! Rscript --vanilla -e 'quit(status = as.integer(getRversion() < "4.1.0"))'; then
    echo "warpbayes needs R 4.1 or newer; this is $(Rscript --vanilla -e 'cat(R.version.string)')" >&2
    return 1
  fi
}

# r_cflags: R's flags for C without -g. The package's linker drops what -g makes.
r_cflags() {
  R CMD config CFLAGS | tr ' ' '\n' | grep -v -x -e '-g[0-9]*' | tr '\n' ' '
}

# One job of make for each core.
MAKEFLAGS="-j$(getconf _NPROCESSORS_ONLN)"
export MAKEFLAGS
