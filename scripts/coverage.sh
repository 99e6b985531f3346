#!/bin/sh
# Line and branch coverage of lib/*.c by the unit, fault and plugin suites.
# Installs through apt what is missing, as root or with sudo.
#
# usage: coverage.sh [FILTER]   a regular expression of files (lib/.*\.c); the
#                               status is non-zero if less than 95% of the
#                               branches of lib/bench*.c and lib/stats*.c, each
#                               file by itself and all together, were taken
# KMB_BUILD  the build folder is named after it (build), with -coverage added
# shellcheck source=scripts/setup.sh
. "$(dirname "$0")/setup.sh"

filter=${1:-lib/.*\.c}
# shellcheck disable=SC2086 # a list of words
need $basic gcovr
folder=$build-coverage
CC=gcc
export CC
configure "$folder" -Dbuildtype=debug -Db_coverage=true
compile "$folder"
# Counts add up over runs, and outlive the code that they are of.
find "$folder" -name '*.gcda' -exec rm -f {} +
say "testing"
meson test -C "$folder" --no-rebuild --print-errorlogs --suite unit \
  --suite plugin --suite fault --suite cuda-sim --no-suite exhaustive \
  --no-suite cuda-vendor --timeout-multiplier 5 \
  >"$folder/test.log" 2>&1 || {
  cat "$folder/test.log" >&2
  die "A test failed: no coverage."
}

# report FILTER [OPTION...]
report() {
  pattern=$1
  shift
  gcovr --root . --object-directory "$folder" --filter "$pattern" "$@" \
    "$folder"
}

say "lines"
report "$filter" || die "gcovr failed."
say "branches"
report "$filter" --branches || die "gcovr failed."
say "the engine and the statistics: at least 95% of the branches, in each file"
report 'lib/(bench|stats).*\.c' --json-summary "$folder/engine.json" \
  --fail-under-branch 95 || die "Too few branches were taken."
python3 - "$folder/engine.json" <<'PYTHON'
import json, sys
with open(sys.argv[1], encoding='utf-8') as file:
    files = json.load(file)['files']
low = [f for f in files if f['branch_percent'] < 95]
for f in files:
    print('%5.1f%% %s' % (f['branch_percent'], f['filename']))
sys.exit(1 if low or not files else 0)
PYTHON
