#!/bin/sh
# Fuzzes a reader with libFuzzer, starting from its corpus in tests/fuzz/corpus:
# json (results) or peaks (tables of parts).
# Exits with 77 where clang or its fuzzer runtime is missing.
#
# usage: fuzz.sh [SECONDS] [SOURCE_DIR] [READER]   (30, the tree that this lies
#        in, json)
# KMB_FUZZ  folder for the program and what it finds (a temporary one, which is
#           kept only if something was found)
set -u
seconds=${1:-30}
cd "${2:-$(dirname "$0")/..}" || exit 1
reader=${3:-json}
compiler=$(command -v clang || command -v clang-14) || {
  echo "clang was not found (Debian package clang)"
  exit 77
}
work=${KMB_FUZZ:-$(mktemp -d)} || exit 1
mkdir -p "$work/found" "$work/grown" || exit 1
echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' >"$work/try.c"
"$compiler" -fsanitize=fuzzer "$work/try.c" -o "$work/try" 2>/dev/null || {
  echo "clang has no fuzzer runtime (Debian package libclang-rt-dev)"
  rm -rf "$work"
  exit 77
}
python3 data/make_tables.py data/peaks.csv data/flops_per_clk.csv \
  data/regimes.csv "$work/peaks_tables.c" || exit 1
# The library itself is compiled with the fuzzer's coverage.
# shellcheck disable=SC2046 # lists of words
"$compiler" -std=gnu11 -g -O1 -fno-omit-frame-pointer -DKMB_STATIC \
  -DKMBI_PLUGIN_DIR='"/nowhere"' -fsanitize=fuzzer,address,undefined \
  -fno-sanitize-recover=undefined -Iinclude -Ilib -Itests \
  lib/*.c backends/*/*.c "$work/peaks_tables.c" "tests/fuzz/$reader.c" \
  "tests/fuzz/property_$reader.c" \
  $(pkg-config --cflags --libs hwloc jansson) -lm -lpthread \
  -o "$work/$reader" || exit 1
"$work/$reader" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
  -max_len=65536 -print_final_stats=1 -artifact_prefix="$work/found/" \
  "$work/grown" "tests/fuzz/corpus/$reader" 2>"$work/log"
status=$?
grep -E '^stat::|cov:' "$work/log" | tail -8
if [ $status != 0 ]; then
  tail -40 "$work/log"
  echo "the inputs that failed lie in $work/found"
  exit 1
fi
[ -n "${KMB_FUZZ:-}" ] || rm -rf "$work"
