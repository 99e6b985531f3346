#!/bin/sh
# The HIP backend's device code, compiled for AMD's processors by clang: all of
# it is taken, each kernel is there, and a product and a sum stay two
# operations. Skipped where no clang with that target and no HIP headers are.
set -u
source=$1 include=$2
compiler=$(command -v clang || command -v clang-14) || {
  echo "SKIPPED: no clang (Debian package clang)"
  exit 77
}
[ -n "$include" ] || {
  echo "SKIPPED: no HIP headers (Debian package libamdhip64-dev)"
  exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$source" >"$work/k.hip" || exit 1

compile() { # TARGET
  "$compiler" -x hip --offload-arch="$1" --cuda-device-only -nogpulib \
    -nogpuinc -I"$include" -O3 -S "$work/k.hip" -o "$work/k.s"
}

echo 'extern "C" __attribute__((global)) void f() {}' >"$work/try.hip"
"$compiler" -x hip --offload-arch=gfx90a --cuda-device-only -nogpulib \
  -nogpuinc -S "$work/try.hip" -o "$work/try.s" 2>/dev/null || {
  echo "SKIPPED: this clang does not compile for AMD's processors"
  exit 77
}
for target in gfx90a gfx1030; do
  compile "$target" || exit 1
  for kernel in empty spin gate sweep touch set random_small random_f64 \
    random_int; do
    grep -q "amdhsa_kernel kmb_$kernel\$" \
      "$work/k.s" || {
      echo "$target: kmb_$kernel is missing"
      exit 1
    }
  done
  # between() has two products and a sum.
  sed -n '/^kmb_random_f64:/,/s_endpgm/p' "$work/k.s" >"$work/f64.s"
  [ "$(grep -c v_mul_f64 "$work/f64.s")" -ge 3 ] || {
    echo "$target: kmb_random_f64 fuses a product with a sum"
    exit 1
  }
  echo "ok $target"
done
