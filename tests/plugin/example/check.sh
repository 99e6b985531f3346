#!/bin/sh
# The backend in docs/backend-authors.md is the one that is tested, is short,
# and compiles without warnings by the line in that page.
# usage: check.sh DOC SOURCE INCLUDE CC…
set -eu
doc=$1 source=$2 include=$3
shift 3
compiler="$* -Wall -Wextra -Wpedantic -Werror"
tmp=$(mktemp -d)
trap 'rm -r "$tmp"' EXIT
sed -n '/^```c$/,/^```$/p' "$doc" | sed '1d;$d' >"$tmp/example.c"
diff "$tmp/example.c" "$source"
lines=$(wc -l <"$source")
if [ "$lines" -ge 200 ]; then
  echo "$source has $lines lines" >&2
  exit 1
fi
line=$(grep '^cc ' "$doc")
# The page's line, with this build's compiler and headers.
build() { $compiler "$@"; }
flags() { echo "-I$include"; }
cd "$tmp"
eval "$(echo "$line" | sed 's/^cc /build /; s/pkg-config --cflags kmb/flags/')"
test -s kmb-backend-example.so
