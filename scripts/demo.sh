#!/bin/sh
# Builds libkmb and runs its main job on this machine: the matrix products of
# one layer of a language model, each checked and measured; where there is an
# NVIDIA GPU, copies within its memory and the same products there too; and
# products of hipBLAS where there is an AMD GPU. Installs through apt what is
# missing, as root or with sudo. Options are given to the program for the host:
#   sh scripts/demo.sh --help
#
# KMB_BUILD  build folder (build)
here=$PWD
# shellcheck source=scripts/setup.sh
. "$(dirname "$0")/setup.sh"

# shellcheck disable=SC2086 # a list of words
need $basic
configure "$build"
compile "$build" examples/host_gemm examples/cuda_copy examples/cuda_gemm \
  examples/hip_gemm examples/cuda_trace
case $build in
/*) examples=$build/examples ;;
*) examples=$PWD/$build/examples ;;
esac
cd "$here" || exit 1
say "measuring in $here"
start=$(now)
"$examples/host_gemm" "$@"
status=$?
# The driver's control device is there wherever the driver is.
[ -e /dev/nvidiactl ] && for program in cuda_copy cuda_gemm cuda_trace; do
  [ $status = 0 ] || break
  "$examples/$program"
  status=$?
  [ $status = 77 ] && status=0
done
# Says so where there is no AMD GPU.
if [ $status = 0 ]; then
  "$examples/hip_gemm"
  status=$?
  [ $status = 77 ] && status=0
fi
say "measured in $(($(now) - start)) s"
exit $status
