#!/bin/sh
# Writes the description of the public interface that abidiff compares with.
#
# It is taken from a library that holds the interface alone: the handles stay
# opaque in it, while abidw on the real library would describe what is behind
# them (abidw tells private from public types by the names of files, and
# lib/device.h and include/kmb/device.h share one). The real library is what
# the test compares with it.
#
# usage: abi_baseline.sh INCLUDE_DIR MAP OUTPUT [COMPILER...]
set -eu
include=$1 map=$2 output=$3
shift 3
[ $# -gt 0 ] || set -- "${CC:-cc}"
scripts=$(cd "$(dirname "$0")" && pwd)
for tool in abidw python3 "$1"; do
  command -v "$tool" >/dev/null || {
    echo "$tool was not found (abidw: Debian package abigail-tools)" >&2
    exit 1
  }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
include=$(cd "$include" && pwd)
map=$(cd "$(dirname "$map")" && pwd)/$(basename "$map")
python3 "$scripts/abi_stub.py" "$include" "$@" >"$work/interface.c"
abi=$(sed -n 's/^#define KMB_ABI_MAJOR //p' "$include/kmb/base.h")
(
  cd "$work"
  "$@" -std=gnu11 -g -O0 -w -fPIC -shared -fvisibility=hidden -I "$include" \
    interface.c -o libkmb.so "-Wl,--version-script,$map" \
    "-Wl,-soname,libkmb.so.$abi"
  # No path of this machine, and nothing that differs from one machine to the
  # next.
  abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
    --no-parameter-names --no-architecture --type-id-style hash \
    libkmb.so >libkmb.abi
)
if grep -n "['\"]/[a-z]" "$work/libkmb.abi"; then
  echo "the description has a path of this machine" >&2
  exit 1
fi
mv "$work/libkmb.abi" "$output"
