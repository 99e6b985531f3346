#!/bin/sh
# --help of each example ends with 0 and tells how it is called; an option that
# there is not, and an argument too many, end with 2 and the same on stderr.
# Nothing is measured, no file left.
#
# usage: usage.sh PYTHON PROGRAM...
set -u
python=$1
shift
start=$PWD
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$name: $*" >&2
  cat "$work/out" "$work/err" >&2
  exit 1
}

for program; do
  name=$(basename "$program")
  case $program in
  /*) ;;
  *) program=$start/$program ;;
  esac
  case $program in
  *.py) set -- "$python" "$program" ;;
  *) set -- "$program" ;;
  esac
  mkdir "$work/here" && cd "$work/here" || exit 1
  for help in --help -h; do
    "$@" $help >../out 2>../err || fail "$help ended with $?"
    grep -q "^usage: .*$name" ../out || fail "$help gives no usage"
    [ ! -s ../err ] || fail "$help complained"
  done
  for words in --frobnicate '1 2 3 4 5 6'; do
    # shellcheck disable=SC2086 # a list of arguments
    "$@" $words >../out 2>../err
    [ $? -eq 2 ] || fail "$words did not end with 2"
    [ ! -s ../out ] || fail "$words was answered on stdout"
    grep -q -e 'no option "--frobnicate"' -e 'is one argument too many' \
      -e 'unrecognized arguments: ' -e 'unknown option; try --help' ../err ||
      fail "$words: what is wrong is not said"
    grep -q -e '^usage: ' -e 'try --help' ../err || fail "$words: no usage"
  done
  [ -z "$(ls)" ] || fail "left $(ls)"
  cd "$work" && rmdir here || exit 1
  echo "ok $name"
done
