#!/bin/sh
# Lets each call of the C library that touches a file fail in turn, in reports, checkpoints and resumed runs. A call of
# the package must end with an error of warpbayes or with the right value. No half of a page or of a checkpoint may
# stand under the name that the user gave, and nothing may be left beside it.
#
#   R_LIBS=LIBRARY tests/campaigns/files/run.sh          at most 25 calls of each kind
#   R_LIBS=LIBRARY tests/campaigns/files/run.sh --full   all calls, as with WARPBAYES_EXTENDED_TESTS
set -eu
cd "$(dirname "$0")/../../.."
most=25
test -z "${1:-}${WARPBAYES_EXTENDED_TESTS:-}" || most=1000000
folder=$(pwd)/build/files
rm -rf "$folder"
mkdir -p "$folder/here" "$folder/temporary"
"${CC:-cc}" -O1 -fPIC -shared -o "$folder/files.so" tests/campaigns/files/files.c -ldl
# R's temporary files, such as pictures, are below the folder, too.
TMPDIR=$folder/temporary WB_FILES_FOLDER=$folder/ LD_PRELOAD=$folder/files.so \
  Rscript --vanilla tests/campaigns/files/files.R "$folder" "$most"
