#!/bin/sh
# Installs the library below the build folder and builds examples/minimal.c
# against what was installed, as a user would.
#
# usage: run.sh WAY BUILD_DIR SOURCE_DIR MESON CC...
# WAY is pkgconfig-c, pkgconfig-cpp, pkgconfig-static, pkgconfig-static-cpp or
# cmake.
set -u
way=$1 build=$2 source=$3 meson=$4
shift 4

# CMake wants the compiler itself.
case ${1##*/} in ccache | sccache) shift ;; esac

skip() {
  echo "$*"
  exit 77
}

fail() {
  echo "consumer $way: $*" >&2
  exit 1
}

cpp() { # prints the C++ compiler that belongs to the C compiler
  for name in "${CXX:-}" "$(echo "$1" | sed 's/clang/clang++/; s/gcc$/g++/')" \
    c++ g++; do
    [ -n "$name" ] && [ "$name" != "$1" ] && command -v "$name" && return
  done
  return 1
}

work=$build/tests/consumer/$way
rm -rf "$work"
mkdir -p "$work" || exit 1
# One at a time: meson's install writes a log in the build folder.
flock "$build/tests/consumer" "$meson" install -C "$build" --no-rebuild \
  --destdir "$work/root" >"$work/install.log" 2>&1 ||
  fail "install failed: $(cat "$work/install.log")"
pc=$(find "$work/root" -name kmb.pc)
[ -f "$pc" ] || fail "kmb.pc was not installed"
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir kmb) || fail "pkg-config does not find kmb"
[ -f "$libdir/libkmb.so" ] || fail "libdir of kmb.pc is $libdir, no library there"
for variable in abi plugindir; do
  [ -n "$(pkg-config --variable=$variable kmb)" ] || fail "kmb.pc lacks $variable"
done
plugins=$(pkg-config --variable=plugindir kmb)
prefix=$(pkg-config --variable=prefix kmb)
grep -aq "${plugins#"$prefix"}" "$libdir/libkmb.so" ||
  fail "kmb.pc has plugins in $plugins, the library looks elsewhere"
flags="-Wall -Wextra -Wpedantic -Werror"
program=$work/minimal

# Flags are lists of words.
# shellcheck disable=SC2046,SC2086
case $way in
pkgconfig-c)
  "$@" -std=c11 $flags "$source/examples/minimal.c" -o "$program" \
    $(pkg-config --cflags --libs kmb) || fail "does not build"
  ;;
pkgconfig-cpp)
  compiler=$(cpp "$1") || skip "no C++ compiler was found (Debian package g++)"
  "$compiler" -std=c++17 $flags -x c++ "$source/examples/minimal.c" \
    -o "$program" $(pkg-config --cflags --libs kmb) || fail "does not build"
  # kmb.hpp and its parts are installed, too.
  "$compiler" -std=c++17 $flags "$source/examples/cpp_bench.cc" \
    -o "$work/cpp_bench" $(pkg-config --cflags --libs kmb) ||
    fail "cpp_bench does not build"
  ;;
pkgconfig-static)
  "$@" -std=c11 $flags "$source/examples/minimal.c" -o "$program" \
    $(pkg-config --cflags kmb) "$libdir/libkmb.a" \
    $(pkg-config --libs hwloc jansson) -lm -pthread || fail "does not build"
  ;;
pkgconfig-static-cpp)
  compiler=$(cpp "$1") || skip "no C++ compiler was found (Debian package g++)"
  "$compiler" -std=c++17 $flags -x c++ "$source/examples/minimal.c" -x none \
    -o "$program" $(pkg-config --cflags kmb) "$libdir/libkmb.a" \
    $(pkg-config --libs hwloc jansson) -lm -pthread || fail "does not build"
  ;;
cmake)
  compiler=$(cpp "$1") || skip "no C++ compiler was found (Debian package g++)"
  command -v cmake >/dev/null || skip "cmake was not found (Debian package cmake)"
  prefix=$(pkg-config --variable=prefix kmb)
  {
    cmake -G Ninja -S "$source/tests/consumer" -B "$work/cmake" \
      -DCMAKE_C_COMPILER="$1" -DCMAKE_CXX_COMPILER="$compiler" \
      -DMINIMAL="$source/examples/minimal.c" \
      -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$work/cmake"
  } >"$work/cmake.log" 2>&1 || fail "$(cat "$work/cmake.log")"
  # All four are built; each language and each kind of library runs once.
  "$work/cmake/minimal_cpp_static" >"$work/out" 2>&1 ||
    fail "the static C++ program failed: $(cat "$work/out")"
  grep -q scale "$work/out" || fail "no result: $(cat "$work/out")"
  program=$work/cmake/minimal
  ;;
*) fail "unknown way" ;;
esac

LD_LIBRARY_PATH=$libdir "$program" >"$work/out" 2>&1 ||
  fail "the program failed: $(cat "$work/out")"
grep -q scale "$work/out" || fail "no result: $(cat "$work/out")"
echo "ok $way"
