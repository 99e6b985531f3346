#!/bin/sh
# Builds libkmb and runs its tests. Installs through apt what is missing, as
# root or with sudo. The last line counts the tests; the status is non-zero if
# one failed or none ran.
#
# KMB_TEST=full  the long set: sanitizers, valgrind, clang, style, consumers
# KMB_BUILD      build folder (build); the long set uses several, and adds to
#                this name -gcc, -asan, -tsan and -clang
# shellcheck source=scripts/setup.sh
. "$(dirname "$0")/setup.sh"

packages="$basic g++ libcairo2-dev libelf-dev python3-jsonschema"
full=no
case ${KMB_TEST:-} in
'') ;;
full)
  full=yes
  packages="$packages clang clang-format clang-tidy valgrind cmake doxygen \
abigail-tools patch libbenchmark-dev libcairo2-dev mypy python3-mesonpy \
python3-torch libtorch-dev python3-setuptools python3-mpi4py libopenmpi-dev \
openmpi-bin libmpich-dev mpich"
  ;;
*) die "KMB_TEST is \"$KMB_TEST\"; leave it out, or set it to full" ;;
esac

begin=$(now)
# shellcheck disable=SC2086 # a list of words
need $packages
logs=

# run FOLDER LABEL [MESON TEST OPTION...]
run() {
  folder=$1 label=$2
  shift 2
  start=$(now)
  say "testing $label"
  rm -f "$folder/meson-logs/$label"*.json
  meson test -C "$folder" --print-errorlogs \
    --logbase "$label" --timeout-multiplier 5 "$@"
  # meson adds the setup's name to the log's.
  for log in "$folder/meson-logs/$label"*.json; do
    [ -f "$log" ] || die "meson left no record of the tests of $label."
    logs="$logs $log"
  done
  say "tested $label in $(($(now) - start)) s"
}

# test_in SUFFIX [MESON OPTION...]: what the sanitizer or the second compiler
# can tell: threads where there are some, the rest where memory is handled.
test_in() {
  folder=$build-$1 label=$1
  shift
  configure "$folder" -Dwerror=true "$@"
  case $label in
  asan)
    compile "$folder"
    # What examples measure, they measure without it.
    set -- --no-rebuild --no-suite examples
    ;;
  # Only what they need is built.
  tsan) set -- --suite threads ;;
  clang) set -- --suite unit --suite plugin --suite headers ;;
  esac
  run "$folder" "$label" --no-suite full --no-suite exhaustive "$@"
}

if [ $full = no ]; then
  configure "$build"
  compile "$build"
  run "$build" quick --no-rebuild --no-suite full --no-suite exhaustive
else
  configure "$build-gcc" -Dwerror=true -Ddocs=true -Dbench=true
  compile "$build-gcc"
  run "$build-gcc" gcc --no-rebuild --no-suite exhaustive
  run "$build-gcc" units --no-rebuild --setup valgrind
  test_in asan -Db_sanitize=address,undefined -Db_lundef=false \
    -Doptimization=0
  TSAN_OPTIONS=suppressions=$(pwd)/tests/tsan.supp
  export TSAN_OPTIONS
  test_in tsan -Db_sanitize=thread -Db_lundef=false
  CC=clang
  export CC
  test_in clang
fi
say "$(($(now) - begin)) s in all"
# shellcheck disable=SC2086 # a list of words
python3 scripts/count_tests.py $logs
