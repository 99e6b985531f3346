#!/bin/sh
# Builds a project that has libkmb as a Meson subproject, of another version
# than this one, and loads its extension beside one of this version.
#
# usage: subproject.sh BUILD_DIR SOURCE_DIR MESON TWO_VERSIONS EXTENSION CC...
set -u
build=$1 source=$2 meson=$3 two_versions=$4 extension=$5
shift 5
CC=$*
export CC

fail() {
  echo "consumer subproject: $*" >&2
  exit 1
}

work=$build/tests/consumer/subproject
rm -rf "$work"
kmb=$work/subprojects/kmb
mkdir -p "$kmb" || exit 1
for part in include lib backends data pkgconfig examples meson.build \
  meson_options.txt; do
  cp -R "$source/$part" "$kmb/" || exit 1
done
cp "$source"/tests/consumer/subproject/* "$source/tests/abi/extension.c" \
  "$source/examples/minimal.c" "$work/" || exit 1
cp "$work/minimal.c" "$work/minimal.cpp"

version=$(sed -n 's/^#define KMB_VERSION "\(.*\)"/\1/p' "$kmb/include/kmb/base.h")
other=${version%.*}.99
sed -i "s/^\(#define KMB_VERSION \)\"$version\"/\1\"$other\"/" \
  "$kmb/include/kmb/base.h"
sed -i "s/^\( *version: '\)$version'/\1$other'/" "$kmb/meson.build"

"$meson" setup "$work/build" "$work" -Dbuildtype=debug >"$work/log" 2>&1 &&
  ninja -j2 -C "$work/build" >>"$work/log" 2>&1 || fail "$(cat "$work/log")"

# All are built; each language and each kind of library runs once.
ran=
for program in minimal_shared minimal_cpp_static; do
  [ -f "$work/build/$program" ] || program=minimal_static # no C++ compiler
  "$work/build/$program" >"$work/out" 2>&1 ||
    fail "$program: $(cat "$work/out")"
  grep -q scale "$work/out" || fail "$program: no result: $(cat "$work/out")"
  ran="$ran $program"
done

for ours in local global; do
  for theirs in local global; do
    "$two_versions" "$extension" "$version" $ours \
      "$work/build/extension.so" "$other" $theirs ||
      fail "this version first, $ours, then the other, $theirs"
    "$two_versions" "$work/build/extension.so" "$other" $theirs \
      "$extension" "$version" $ours ||
      fail "the other version first, $theirs, then this one, $ours"
  done
done
echo "ok:$ran; $version beside $other"
