#!/bin/sh
# Builds the programs in bench/ and runs them all: what libkmb itself costs and
# how right it is. Takes less than five minutes. Tables go to the terminal,
# JSON to bench/results/ (or the folder given as the only argument).
#
# Stop other work first: a program that finds the machine NOT_QUIET says so and
# claims nothing. Exit status: 0 if every figure was claimed and met its bar, 1
# if one missed it, 3 if the machine was not quiet, 2 if something failed.
set -eu
cd "$(dirname "$0")/.."
out=${1:-bench/results}
build=build-bench
mkdir -p "$out"
if [ ! -f "$build/build.ninja" ]; then
  meson setup "$build" -Dbench=true -Dtests=false >"$out/.setup.log" 2>&1 ||
    { cat "$out/.setup.log" >&2; exit 2; }
  rm -f "$out/.setup.log"
fi
ninja -C "$build" >/dev/null || {
  echo "bench.sh: the build failed; see: ninja -C $build" >&2
  exit 2
}

missed=0
unclaimed=0
for name in open peers cold ceilings agreement; do
  status=0
  "$build/bench/bench_$name" --json "$out/$name.json" || status=$?
  echo
  case $status in
  0) ;;
  1) missed=1 ;;
  3) unclaimed=1 ;;
  *)
    echo "bench.sh: bench_$name failed with status $status" >&2
    exit 2
    ;;
  esac
done
if [ $unclaimed = 1 ]; then
  echo "NOT_QUIET: some figures are not claimed; repeat on a quiet machine."
fi
if [ $missed = 1 ]; then
  echo "Some figures missed their bar."
  exit 1
fi
[ $unclaimed = 0 ] || exit 3
echo "All figures met their bars; the JSON is in $out."
