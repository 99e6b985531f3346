#!/bin/sh
# The examples of several ranks: threads measure and check on the host; where no
# GPUs are, the all-reduce says so for each rank.
#
# usage: ranks.sh THREADS_GEMM_RS ALLREDUCE
set -u
threads=$(realpath "$1") allreduce=$(realpath "$2") || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
  echo "$*" >&2
  cat out err >&2
  exit 1
}

for ranks in 1 2 4; do
  "$threads" $ranks r.json >out 2>err || fail "$ranks threads ended with $?"
  [ ! -s err ] || fail "$ranks threads complained"
  grep -q "\"world_size\": $ranks" r.json || fail "no world size of $ranks"
  grep -q '"check": "passed before and after timing"' r.json ||
    fail "not checked"
  grep -q '"boundary": "whole wrapper"' r.json || fail "no boundary"
  echo "ok threads_gemm_rs $ranks"
done
for ranks in 0 5 17 x; do
  "$threads" $ranks r.json >out 2>err && fail "$ranks threads were taken"
  grep -q usage err || fail "refused without a word"
done

"$allreduce" 2 a.json >out 2>err
code=$?
if [ $code = 77 ]; then
  grep -q '^Rank [01] has nothing to measure with: ' out || fail "no sentence"
  [ ! -e a.json ] || fail "a result without GPUs"
else
  [ $code = 0 ] || fail "allreduce ended with $code"
  grep -q '"world_size": 2' a.json || fail "no world size"
fi
"$allreduce" 1 a.json >out 2>err && fail "one rank was taken"
grep -q usage err || fail "refused without a word"
echo "ok allreduce"
