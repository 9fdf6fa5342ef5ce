#!/bin/sh
# Refuses memory to compiled code at each of its allocations in turn, in the calls of tests/campaigns/audit/fixtures.R.
# Each refusal must give an error of warpbayes with a message, the same value as ever, or a fit of the sweeps before. It
# must leave no memory behind.
#
#   R_LIBS=LIBRARY tests/campaigns/allocations/run.sh          at most 3 allocations of each call
#   R_LIBS=LIBRARY tests/campaigns/allocations/run.sh --full   all allocations, as with WARPBAYES_EXTENDED_TESTS
set -eu
cd "$(dirname "$0")/../../.."
most=3
test -z "${1:-}${WARPBAYES_EXTENDED_TESTS:-}" || most=1000000
mkdir -p build/allocations
# Without its own malloc() the compiler would know what malloc() does.
"${CC:-cc}" -O1 -fno-builtin -fPIC -shared -o build/allocations/allocations.so tests/campaigns/allocations/allocations.c
LD_PRELOAD=$(pwd)/build/allocations/allocations.so Rscript --vanilla tests/campaigns/allocations/allocations.R "$most"
