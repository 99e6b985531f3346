#!/bin/sh
# Makes the cubins and listings that the tests read from the sources beside
# them. Needs nvcc, nvdisasm and cuobjdump.
#
# OLDER_PTXAS  ptxas of CUDA 12, for older.cubin, which else stays as it is
set -eu
CDPATH="" cd -- "$(dirname "$0")"
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
