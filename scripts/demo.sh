#!/bin/sh
# Builds libkmb and runs its main job on this machine: the matrix products of
# one layer of a language model, each checked and measured; where there is an
# NVIDIA GPU, copies within its memory too. Installs through apt what is missing,
# as root or with sudo. Options are given to the program:
#   sh scripts/demo.sh --help
#
# KMB_BUILD  build folder (build)
here=$PWD
# shellcheck source=scripts/setup.sh
. "$(dirname "$0")/setup.sh"

# shellcheck disable=SC2086 # a list of words
need $basic
configure "$build"
compile "$build" examples/host_gemm examples/cuda_copy
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
if [ $status = 0 ] && [ -e /dev/nvidiactl ]; then
  "$examples/cuda_copy"
  status=$?
  [ $status = 77 ] && status=0
fi
say "measured in $(($(now) - start)) s"
exit $status
