#!/bin/sh
# How much libkmb adds to a program that measures, linked statically and
# stripped, with all backends in it; and that what only some programs need comes
# into those.
#
# usage: size.sh WHY_NOT SOURCE_DIR ARCHIVE WORK_DIR CC...
# WHY_NOT is empty if this build's sizes are those of a release.
set -u
why_not=$1 source=$2 archive=$3 work=$4
shift 4
most=400 # KiB

fail() {
  echo "size: $*" >&2
  exit 1
}

[ -z "$why_not" ] || {
  echo "SKIPPED: sizes are not bounded in a build $why_not"
  exit 77
}
rm -rf "$work"
mkdir -p "$work" || exit 1
libraries="$(pkg-config --libs hwloc jansson) -lm -pthread" || exit 1

# link NAME SOURCE [LINKER OPTION...]: builds it as a user would.
compiler="$*"
link() {
  name=$1 from=$2
  shift 2
  # Lists of words.
  # shellcheck disable=SC2086
  $compiler -O2 -I "$source/include" -DKMB_STATIC "$from" -o "$work/$name" \
    "$@" "$archive" $libraries && strip -o "$work/$name.stripped" "$work/$name"
}

bytes() {
  wc -c <"$work/$1.stripped"
}

# has PROGRAM FUNCTION: whether the linker took it.
has() {
  nm "$work/$1" | grep -q " [TtW] $2\$"
}

echo 'int main(void) { return 0; }' >"$work/empty.c"
# The archive is not needed: nothing of it is taken.
link empty "$work/empty.c" -Wl,--as-needed || fail "empty.c does not build"
link minimal "$source/examples/minimal.c" || fail "minimal.c does not build"
link sections "$source/examples/minimal.c" -Wl,--gc-sections ||
  fail "minimal.c does not build with -Wl,--gc-sections"
for backend in host cuda hip; do
  has minimal "kmbi_backend_$backend" || fail "there is no backend $backend"
done
for name in minimal sections; do
  added=$(($(bytes $name) - $(bytes empty)))
  echo "$name: libkmb adds $added bytes, $(((added + 1023) / 1024)) KiB"
  [ $added -le $((most * 1024)) ] || fail "that is more than $most KiB"
done

# needs CALL FUNCTION...: a program that calls CALL has them, and minimal.c has
# not.
needs() {
  call=$1
  shift
  {
    echo '#include <kmb/kmb.h>'
    echo "int main(void) { void *volatile p = (void *)$call; return !p; }"
  } >"$work/$call.c"
  link "$call" "$work/$call.c" || fail "$call.c does not build"
  for function in "$@"; do
    has "$call" "$function" || fail "$call comes without $function"
    has minimal "$function" && fail "each program has $function"
  done
}

needs kmb_comm_create kmbi_all_take kmbi_cuda_barrier_open \
  kmbi_cuda_barrier_finish kmbi_hip_barrier_open kmbi_hip_barrier_finish
needs kmb_trace_begin kmbi_cuda_record_begin kmbi_cupti_recorder_take
needs kmb_session_begin kmbi_cuda_session_open
echo "ok size"
