#!/bin/sh
# Fuzzes what reads files with libFuzzer: results as JSON, tables of parts,
# images of code, listings of disassemblers, and each importer of traces. Each
# target starts from its folder in tests/fuzz/corpus. Exits with 77 where clang or
# its fuzzer runtime is missing.
#
# usage: fuzz.sh [SECONDS] [SOURCE_DIR] [TARGET...]
#        (30 for each target, the tree that this lies in, all targets)
# KMB_FUZZ  folder for the programs and what they find (a temporary one, which
#           is kept only if something was found)
set -u
seconds=${1:-30}
[ $# = 0 ] || shift
cd "${1:-$(dirname "$0")/..}" || exit 1
[ $# = 0 ] || shift
[ $# != 0 ] || set -- json peaks nsys-csv rocprof-csv chrome-json nsys-sqlite \
  nvprof gzip kmb cubin listing
compiler=$(command -v clang || command -v clang-14) || {
  echo "clang was not found (Debian package clang)"
  exit 77
}
work=${KMB_FUZZ:-$(mktemp -d)} || exit 1
mkdir -p "$work/objects" "$work/tmp" || exit 1
echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' >"$work/try.c"
"$compiler" -fsanitize=fuzzer "$work/try.c" -o "$work/try" 2>/dev/null || {
  echo "clang has no fuzzer runtime (Debian package libclang-rt-dev)"
  rm -rf "$work"
  exit 77
}

python3 data/make_tables.py data/peaks.csv data/flops_per_clk.csv \
  data/regimes.csv "$work/peaks_tables.c" || exit 1
python3 data/pack_text.py "$work/cuda_ptx.c" backends/cuda/kernels.ptx.h \
  backends/cuda/ceilings.ptx.h || exit 1
# The library itself is compiled with the fuzzer's coverage.
flags="-std=gnu11 -g -O1 -fno-omit-frame-pointer -DKMB_STATIC \
-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined \
-Iinclude -Ilib -Itests $(pkg-config --cflags hwloc jansson)"
for source in lib/*.c backends/*/*.c "$work/peaks_tables.c" \
  "$work/cuda_ptx.c"; do
  echo "$source $work/objects/$(echo "$source" | tr / _).o"
done |
  xargs -P "$(nproc)" -n 2 sh -c \
    "\"$compiler\" $flags -DKMBI_PLUGIN_DIR='\"/nowhere\"' -c \"\$0\" -o \"\$1\"" ||
  exit 1

# The name of a trace's format in C; of gzip, whatever is in it.
format_of() {
  case $1 in
  gzip) echo KMB_TRACE_AUTO ;;
  *) echo "KMB_TRACE_$(echo "$1" | tr a-z- A-Z_)" ;;
  esac
}

# link TARGET
link() {
  more=
  case $1 in
  json | peaks)
    sources="tests/fuzz/$1.c tests/fuzz/property_$1.c" define=NONE
    ;;
  listing)
    sources="tests/fuzz/$1.c tests/fuzz/property_$1.c \
tools/kmb/code_class.c tools/kmb/code_class_amd.c tools/kmb/code_listing.c \
tools/kmb/code_loops.c"
    define=NONE
    ;;
  cubin)
    pkg-config --exists libelf || {
      echo "$1: libelf was not found (Debian package libelf-dev)"
      return 1
    }
    sources="tests/fuzz/$1.c tests/fuzz/property_$1.c tools/kmb/code_amd.c \
tools/kmb/code_image.c tools/kmb/code_names.c tools/kmb/code_nvidia.c \
tools/kmb/code_pack.c" define=NONE
    more=$(pkg-config --libs libelf)
    ;;
  *)
    sources="tests/fuzz/trace.c tests/fuzz/trace_property.c"
    define="FUZZ_FORMAT=$(format_of "$1")"
    ;;
  esac
  # shellcheck disable=SC2046,SC2086 # lists of words
  "$compiler" $flags -fsanitize=fuzzer "-D$define" $sources \
    "$work"/objects/*.o $(pkg-config --libs hwloc jansson) -lm -lpthread \
    $more -o "$work/$1"
}

# fuzz TARGET
fuzz() {
  mkdir -p "$work/found-$1" "$work/grown-$1" || return 1
  TMPDIR=$work/tmp "$work/$1" -max_total_time="$seconds" -timeout=30 \
    -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$work/found-$1/" "$work/grown-$1" \
    "tests/fuzz/corpus/$1" >"$work/log-$1" 2>&1 && {
    executed=$(sed -n 's/^stat::number_of_executed_units: //p' "$work/log-$1")
    grep 'cov:' "$work/log-$1" | tail -1
    echo "$1: $executed inputs in $seconds s, nothing found"
    return 0
  }
  tail -40 "$work/log-$1"
  echo "the inputs that failed lie in $work/found-$1"
  return 1
}

status=0
for target in "$@"; do
  link "$target" || exit 1
  fuzz "$target" || status=1
done
[ $status != 0 ] || [ -n "${KMB_FUZZ:-}" ] || rm -rf "$work"
exit $status
