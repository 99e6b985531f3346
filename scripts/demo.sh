#!/bin/sh
# Builds libkmb and runs its main job on this machine: the matrix products of
# one layer of a language model, each checked and measured. Installs through apt
# what is missing, as root or with sudo. Options are given to the program:
#   sh scripts/demo.sh --help
#
# KMB_BUILD  build folder (build)
here=$PWD
# shellcheck source=scripts/setup.sh
. "$(dirname "$0")/setup.sh"

# shellcheck disable=SC2086 # a list of words
need $basic
configure "$build"
compile "$build" examples/host_gemm
case $build in
/*) program=$build/examples/host_gemm ;;
*) program=$PWD/$build/examples/host_gemm ;;
esac
cd "$here" || exit 1
say "measuring in $here"
start=$(now)
"$program" "$@"
status=$?
say "measured in $(($(now) - start)) s"
exit $status
