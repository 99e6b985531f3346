#!/bin/sh
# The examples of several ranks: threads measure and check on the host; where no
# GPUs are, they and the all-reduce say so.
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
  for name in 'gemm and reduce-scatter' 'gemm alone' 'reduce-scatter alone'; do
    grep -q "\"name\": \"$name\"" r.json || fail "no $name"
  done
  grep -q "^$ranks ranks, 192 x 192 x 192, $((192 / ranks)) of" out ||
    fail "no sizes"
  grep -q '^  gemm alone .* TFLOP/s a rank$' out || fail "no rate"
  [ $ranks = 1 ] || grep -q '^  reduce-scatter alone .* busbw ' out ||
    fail "no bus bandwidth"
  echo "ok threads_gemm_rs $ranks"
done
"$threads" host 3 r.json 24 >out 2>err || fail "3 threads ended with $?"
grep -q '^3 ranks, 24 x 24 x 24, 8 of' out || fail "not the size asked for"
for arguments in 0 5 17 x 2x -1 'host 5' 'host 2 r.json 25' 'host 2 r.json x' \
  'cuda 0' 'cuda 65' 'cuda 2 r.json 3' '2 r.json 24 24' hip; do
  # shellcheck disable=SC2086 # a list of arguments
  "$threads" $arguments >out 2>err && fail "$arguments was taken"
  grep -q usage err || fail "refused without a word"
done
said() { # ARGUMENTS WORDS
  # shellcheck disable=SC2086 # a list of arguments
  "$threads" $1 >out 2>err
  [ $? -eq 2 ] || fail "$1 did not end with 2"
  grep -q -e "^$2" err || fail "$1: not \"$2\""
}
said 'host 17' 'RANKS is "17", not a whole number from 1 to 16$'
said gpu 'RANKS is "gpu", not a whole number from 1 to 16, nor is it host or cuda$'
said 'cuda 65' 'RANKS is "65", not a whole number from 1 to 64$'
said 'host 5' 'SIZE is 192 unless given, which RANKS, 5, does not divide$'
said '2 r.json 25' 'SIZE is 25, which RANKS, 2, does not divide$'
said '2 r.json 1e3' 'SIZE is "1e3", not a whole number from 1 to 65536$'
said '2 r.json 24 24' '"24" is one argument too many$'
rm -f r.json
"$threads" cuda 2 r.json >out 2>err
code=$?
if [ $code = 77 ]; then
  grep -q 'nothing to measure with: .*[a-z].*\.$' out || fail "no sentence"
  [ ! -s err ] || fail "it complained"
  [ ! -e r.json ] || fail "a result without GPUs"
else
  [ $code = 0 ] || fail "threads_gemm_rs on GPUs ended with $code"
  grep -q '"world_size": 2' r.json || fail "no world size"
fi
echo "ok threads_gemm_rs cuda"

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
grep -q '^RANKS is "1", not a whole number from 2 to 64$' err ||
  fail "refused without a word"
echo "ok allreduce"
