#!/bin/sh
# Builds examples/torch_extension against the installed library, as a user
# would, and runs it.
#
# usage: torch_extension.sh cmake|load BUILD_DIR SOURCE_DIR MESON
set -u
way=$1 build=$2 source=$3 meson=$4

skip() {
  echo "$*"
  exit 77
}

fail() {
  echo "torch_extension $way: $*" >&2
  exit 1
}

# Where torch lies; importing it takes more than a second.
python=
for candidate in python3 /usr/bin/python3; do
  torch=$("$candidate" -c 'import importlib.util as i
print(*i.find_spec("torch").submodule_search_locations)' 2>/dev/null) &&
    python=$candidate && break
done
[ -n "$python" ] || skip "Python has no torch (Debian package python3-torch)"
command -v cmake >/dev/null || skip "cmake was not found (Debian package cmake)"
[ -f /usr/include/torch/library.h ] ||
  [ -f "$torch/include/torch/library.h" ] ||
  skip "torch has no headers (Debian package libtorch-dev)"

work=$build/tests/examples/torch_extension_$way
rm -rf "$work"
mkdir -p "$work" || exit 1
# One at a time, as tests/consumer/run.sh: meson's install writes a log.
flock "$build/tests/consumer" "$meson" install -C "$build" --no-rebuild \
  --destdir "$work/root" >"$work/install.log" 2>&1 ||
  fail "install failed: $(cat "$work/install.log")"
PKG_CONFIG_PATH=$(dirname "$(find "$work/root" -name kmb.pc)")
export PKG_CONFIG_PATH
case $way in
cmake)
  prefix=$(pkg-config --variable=prefix kmb)
  cmake -G Ninja -S "$source/examples/torch_extension" -B "$work/cmake" \
    -DCMAKE_PREFIX_PATH="$prefix;$torch/share/cmake" >"$work/log" 2>&1 &&
    cmake --build "$work/cmake" >>"$work/log" 2>&1 || fail "$(cat "$work/log")"
  set -- "$work/cmake/libkmb_example.so"
  ;;
load)
  TORCH_EXTENSIONS_DIR=$work/extensions
  export TORCH_EXTENSIONS_DIR
  set --
  ;;
*) fail "unknown way" ;;
esac
# A small last-level cache is claimed: it is the program that is tested.
"$python" "$source/examples/torch_extension/run.py" --floats 4096 \
  --host-cache 65536 "$@" >"$work/out" 2>&1 ||
  fail "$(cat "$work/out")"
grep -q 'axpy of .* cache ROTATED.* check passed before and after timing' "$work/out" ||
  fail "no result: $(cat "$work/out")"
echo "ok $way"
