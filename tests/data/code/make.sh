#!/bin/sh
# Makes the cubins and listings that the tests read from the sources beside
# them. Needs nvcc, nvdisasm and cuobjdump, or what clang, lld and llvm-objdump
# of Debian's LLVM 14 do:
#
# make.sh amd  amd.hsaco and amd.objdump alone
#
# OLDER_PTXAS  ptxas of CUDA 12, for older.cubin, which else stays as it is
set -eu
CDPATH="" cd -- "$(dirname "$0")"
if [ "${1:-}" = amd ]; then
  clang-14 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O2 -x cl \
    -cl-std=CL2.0 -Xclang -finclude-default-header -c -o amd.o amd.cl
  ld.lld-14 -shared -o amd.hsaco amd.o
  llvm-objdump-14 -d amd.hsaco >amd.objdump
  chmod -x amd.hsaco
  rm amd.o
  exit 0
fi
for name in kernels matrix tiny; do
  nvcc -cubin -arch=sm_90a -o "$name.cubin" "$name.cu"
done
for name in kernels matrix; do
  nvdisasm -c "$name.cubin" >"$name.sass"
done
# The other tool writes the same in another form.
cuobjdump -sass -fun copy_wide,copy_narrow kernels.cubin >copies.cuobjdump
[ -n "${OLDER_PTXAS:-}" ] || exit 0
nvcc -ptx -arch=sm_90a -o older.ptx tiny.cu
sed 's/^\.version.*/.version 8.0/' older.ptx |
  "$OLDER_PTXAS" -arch=sm_90a -o older.cubin -
rm older.ptx
nvdisasm -c older.cubin >older.sass
