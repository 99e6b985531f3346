#!/bin/sh
# Runs the main job on its smallest projection and the triad, and tries its
# options.
set -u
program=$(realpath "$1") || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
  echo "host_gemm.sh: $*" >&2
  cat out err >&2
  exit 1
}

has() { # FILE TEXT
  grep -q -e "$2" "$1" || fail "$1 lacks \"$2\""
}

echo older >r.json
"$program" --only k,triad --tokens 1,3 --llc 16 --json r.json >out 2>err ||
  fail "ended with status $?"
has out sgemv
has out sgemm
has out triad
has out r.json
has r.json openblas_core
[ "$(head -c 1 r.json)" = "{" ] || fail "what r.json held is still there"
[ -s err ] && fail "progress was printed although stderr is no terminal"

for bad in "--tokens 0" "--tokens 1,x" "--tokens 99999999999999999999" \
  "--threads -1" "--only z" "--llc" "--frobnicate"; do
  # shellcheck disable=SC2086 # an option and its value
  "$program" $bad >out 2>err
  [ $? -eq 2 ] || fail "$bad: not refused"
  has err "host_gemm: --"
done
"$program" --help >out 2>err || fail "--help"
has out --tokens
"$program" --only k --tokens 1 --llc 16 --json /nowhere/r.json >out 2>err &&
  fail "a file that cannot be written was no error"
has err /nowhere/r.json
[ -s out ] && fail "measured before it looked at the file"
echo "ok host_gemm"
