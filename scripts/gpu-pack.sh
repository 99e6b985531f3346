#!/bin/sh
# Puts the GPU tests and all that they need beside the C library into one
# folder, to be carried to a machine that has a GPU and nothing to build with.
#
# usage: gpu-pack.sh [BUILD_FOLDER [FOLDER]]     (build, gpu-pack)
set -u
CDPATH="" cd -- "$(dirname "$0")/.." || exit 1
build=${1:-build} folder=${2:-gpu-pack}
rm -rf "$folder"
mkdir -p "$folder" || exit 1
for program in "$build"/tests/gpu/gpu_* "$build"/tests/hip_on_cuda/gpu_hip_*; do
  [ -x "$program" ] && [ -f "$program" ] || continue
  cp "$program" "$folder/" || exit 1
done
for program in allreduce cuda_copy cuda_gemm cuda_trace threads_gemm_rs; do
  [ -x "$build/examples/$program" ] || continue
  cp "$build/examples/$program" "$folder/" || exit 1
done
mkdir -p "$folder/python" || exit 1
cp -R bindings/python/kmb tests/python/run.py tests/python/cuda.py \
  examples/vllm_ops/vllm_ops.py "$folder/python/" || exit 1
cp bench/peers_gpu.py bench/peers_ceilings.py bench/peers_counters.py \
  bench/gpu_front.py bench/peers_torch.py bench/payoff_step.py \
  bench/code_gpu.py bench/triton_copy.py scripts/gpu_bars.py \
  tests/data/code/kernels.cubin "$folder/" || exit 1
cp "$build/tests/gpu/c_side.so" "$folder/" || exit 1
# The command, with libraries of its own: none of them may come before those of
# the other machine's Python.
mkdir -p "$folder/tool" || exit 1
cp "$build/tools/kmb/kmb" "$folder/tool/" || exit 1
printf '%s\n' '#!/bin/sh' 'folder=$(dirname "$0")/tool' \
  'LD_LIBRARY_PATH=$folder exec "$folder/kmb" "$@"' >"$folder/kmb.sh" &&
  chmod +x "$folder/kmb.sh" || exit 1
# Device code that only the Python programs use.
nvcc=$(command -v nvcc || ls /usr/local/cuda*/bin/nvcc 2>/dev/null | head -n 1)
if [ -n "$nvcc" ]; then
  "$nvcc" -fatbin -gencode arch=compute_90,code=sm_90 \
    -gencode arch=compute_90,code=compute_90 -o "$folder/step_kernels.fatbin" \
    bench/step_kernels.cu || exit 1
  "$nvcc" -shared -cudart static -Xcompiler -fPIC \
    -gencode arch=compute_90,code=sm_90 -o "$folder/code_program.so" \
    tests/gpu/code_program.cu || exit 1
  "$nvcc" -O2 -std=c++17 -cudart static -gencode arch=compute_90,code=sm_90 \
    -o "$folder/release_skew" tests/gpu/release_skew.cu \
    -L"$(dirname "$nvcc")/../lib64/stubs" -lcuda || exit 1
else
  echo "no nvcc: the parts payoff, code and ranks lack their kernels" >&2
fi
# The tests' device code as text, for other programs to load.
python3 - tests/gpu/kernels.ptx.h >"$folder/kernels.ptx" <<'PYTHON' || exit 1
import re, sys
for text in re.findall(r'^  "(.*)"$', open(sys.argv[1]).read(), re.M):
    sys.stdout.write(text.replace("\\n", "\n").replace('\\"', '"'))
PYTHON
[ -x "$folder/gpu_functional" ] || {
  echo "$build has no GPU tests; build it first: ninja -C $build" >&2
  exit 1
}
# HIP for tests, which the HIP backend finds in the folder below.
mkdir "$folder/hip" || exit 1
for library in libamdhip64.so.6 libhiprtc.so.6; do
  cp -L "$build/tests/hip_on_cuda/$library" "$folder/hip/" || exit 1
done
# The C library and its loader are the other machine's own.
libraries() { # PROGRAM FOLDER
  ldd "$1" | awk '$3 ~ /^\// { print $1, $3 }' |
    while read -r name path; do
      case $name in
      libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | ld-linux*) ;;
      *) cp -L "$path" "$2/$name" || exit 1 ;;
      esac
    done
}
libraries "$build/tests/gpu/gpu_functional" "$folder" || exit 1
libraries "$build/tools/kmb/kmb" "$folder/tool" || exit 1
du -sh "$folder"
