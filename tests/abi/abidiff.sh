#!/bin/sh
# Compares a library with the committed description of the interface.
#
# usage: abidiff.sh BASELINE SUPPRESSIONS LIBRARY
set -u
baseline=$1 suppressions=$2 library=$3

skip() {
  echo "$*"
  exit 77
}

command -v abidiff >/dev/null ||
  skip "abidiff was not found (Debian package abigail-tools)"
# Without debug information abidiff sees names only, and passes everything.
readelf -SW "$library" | grep -q '\.debug_info' ||
  skip "$library has no debug information (meson's buildtype is without -g)"
case $(uname -m) in
x86_64 | aarch64 | ppc64le | riscv64 | s390x) ;;
*) skip "the description is for LP64 machines only" ;;
esac

# New symbols are told by the test of the change log. No --headers-dir2: beside
# a description without source locations it makes abidiff 2.2 pass everything.
abidiff --no-added-syms --no-architecture --suppressions "$suppressions" \
  "$baseline" "$library"
status=$?
[ $status -eq 0 ] || echo "abidiff: $status; see docs/abi.md" >&2
exit $status
