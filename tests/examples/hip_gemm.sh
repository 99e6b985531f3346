#!/bin/sh
# Where no GPU is, the program says so in one sentence; a device of another kind
# it refuses. Where there is one, it measures, checks, and writes its JSON.
set -u
program=$(realpath "$1") || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
  echo "hip_gemm.sh: $*" >&2
  cat out err >&2
  exit 1
}

"$program" hip:0 r.json >out 2>err
code=$?
[ ! -s err ] || fail "it complained"
if [ $code = 77 ]; then
  grep -q '^There is no AMD GPU to measure: .*[a-z].*\.$' out || fail "no sentence"
  [ "$(wc -l <out)" = 1 ] || fail "more than one line"
  [ ! -e r.json ] || fail "a result without a GPU"
else
  [ $code = 0 ] || fail "ended with status $code"
  grep -q hipblasSgemm out || fail "nothing is in the table"
  [ -s r.json ] || fail "no JSON"
fi
"$program" host r.json >out 2>err && fail "the host was taken for a GPU"
grep -q "host is no device of HIP" err || fail "refused without a reason"
"$program" nonsense r.json >out 2>err && fail "nonsense was a device"
[ -s err ] || fail "refused without a word"
echo "ok hip_gemm"
