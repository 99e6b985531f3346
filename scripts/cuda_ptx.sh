#!/bin/sh
# Makes the PTX that is committed beside a CUDA source: the text as a C string,
# for sm_70 and PTX 6.0, which every driver since CUDA 9 takes. The compiler's
# own lowest target may be newer; the sources use nothing that is.
#
# usage: cuda_ptx.sh SOURCE.cu NAME            prints the header
#        cuda_ptx.sh --check SOURCE.cu NAME    compares with SOURCE.ptx.h
set -u
check=no
[ "${1:-}" != --check ] || { check=yes; shift; }
source=$1 name=$2
committed=${source%.cu}.ptx.h
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || {
  echo "SKIPPED: nvcc was not found, so that $committed is not compared"
  exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
arch=$("$nvcc" --list-gpu-arch | sed -n 's/^compute_\([0-9]*\)$/\1/p' |
  sort -n | head -n 1)
[ "$arch" -ge 70 ] || arch=70
"$nvcc" -ptx -O3 -arch="compute_$arch" -o "$work/ptx" "$source" || exit 1

{
  echo "/* Made from $(basename "$source") by scripts/cuda_ptx.sh. */"
  echo '/* clang-format off */'
  echo '#pragma GCC diagnostic push'
  echo '#pragma GCC diagnostic ignored "-Woverlength-strings"'
  echo "static const char $name[] ="
  sed -e 's,//.*,,' -e 's/^\.version.*/.version 6.0/' \
    -e 's/^\.target.*/.target sm_70/' -e 's/[[:space:]][[:space:]]*/ /g' \
    -e 's/ $//' -e 's/^ //' -e '/^$/d' -e 's/"/\\"/g' "$work/ptx" |
    awk '{ line = line $0 "\\n" }
      length(line) > 110 || /[{}]$/ { print "  \"" line "\""; line = "" }
      END { if (line) print "  \"" line "\""; print "  ;" }'
  echo '#pragma GCC diagnostic pop'
  echo '/* clang-format on */'
} >"$work/header"

[ $check = yes ] || { cat "$work/header"; exit; }
said=$(sed -n 's/.*release \([0-9.]*\),.*/\1/p' "$work/ptx" | head -n 1)
cmp -s "$work/header" "$committed" && exit 0
# Another compiler may well write other text; that is no fault of the tree.
case $said in
13.0) diff "$committed" "$work/header" | head -n 20; exit 1 ;;
*) echo "SKIPPED: $committed is what CUDA 13.0 makes; this is $said"; exit 77 ;;
esac
