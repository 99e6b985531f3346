#!/bin/sh
# Writes, from today's headers, all that the ABI gate compares with: pins, the
# description for abidiff, the list of structs that may grow, the frozen copy of
# the headers; and what the Python front declares. One command until a release
# is tagged; afterwards it refuses. docs/abi.md says when to run it.
set -eu
CDPATH="" cd -- "$(dirname "$0")/.."
cc=${CC:-cc}
abi=$(sed -n 's/^#define KMB_ABI_MAJOR //p' include/kmb/base.h)
version=$(sed -n 's/^#define KMB_VERSION "\(.*\)"/\1/p' include/kmb/base.h)
series=${version%.*}

if [ -n "$(git tag --list "v$series.*" 2>/dev/null)" ] ||
  ! grep -q "^## $series\.0 (unreleased)\$" CHANGELOG.md; then
  echo "$series is released: what is frozen for it stays. A new series begins \
with its version in include/kmb/base.h and its section in CHANGELOG.md." >&2
  exit 1
fi

# The first release of an ABI number has v0.c, the later ones v0_2.c and so on.
pins=tests/abi/v$abi
if [ -f "$pins.c" ] && ! grep -q "interface of $series," "$pins.c"; then
  pins=${pins}_${series#*.}
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
description=tests/abi/libkmb-$abi.abi
# shellcheck disable=SC2086 # a command with its options
for part in public backend growth; do
  python3 scripts/abi_pins.py $part include $cc >"$work/$part"
done
# shellcheck disable=SC2086
scripts/abi_baseline.sh include lib/libkmb.map "$work/description" $cc
# What an earlier series promised still holds.
if [ "$pins" != "tests/abi/v$abi" ] &&
  ! abidiff --no-added-syms --suppressions "$work/growth" "$description" \
    "$work/description"; then
  echo "this would break programs of an earlier series: nothing was written; \
see docs/abi.md" >&2
  exit 1
fi

frozen=tests/abi/frozen-$series
mkdir -p "$frozen/kmb"
rm -f "$frozen"/kmb/*.h
cp include/kmb/*.h "$frozen/kmb/"
cp "$work/public" "$pins.c"
cp "$work/growth" tests/abi/growth.abignore
# shellcheck disable=SC2086
python3 scripts/python_abi.py include bindings/python/kmb/_abi.py $cc
cp "$work/description" "$description"
# One file describes the backend interface; once that is frozen, it stays.
backend_pins=tests/abi/v${abi}_backend.c
if ! grep -qs 'KMB_BACKEND_FROZEN == 1' "$backend_pins"; then
  cp "$work/backend" "$backend_pins"
fi
echo "written: $pins.c $backend_pins tests/abi/growth.abignore \
$description $frozen/kmb bindings/python/kmb/_abi.py"
