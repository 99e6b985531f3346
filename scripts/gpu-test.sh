#!/bin/sh
# Runs the GPU tests from a folder that gpu-pack.sh made, then measures: how far
# the timers are apart, cold and warm, what measuring costs, and other people's
# timers on the same kernels. Each part has its own limit of time and hides no
# other; figures are in OUTPUT_FOLDER as JSON, which gpu_tables.py takes over;
# gpu_bars.py sets them beside their bars.
#
# usage: gpu-test.sh [FOLDER [OUTPUT_FOLDER [PART...]]]    (gpu-pack, ., all)
# parts: open tests record code hip python examples accuracy moves cost compare
#        ceilings counters peers torch payoff sanitizer, and by name only:
#        ranks, which needs two GPUs; events, which asks why EVENT through HIP
#        and through CUDA are apart; extension, which compiles for a minute
# KMB_GPU_SECONDS: for all parts together; what does not fit in is left out
set -u
CDPATH="" cd -- "$(dirname "$0")/.." || exit 1
folder=${1:-gpu-pack} out=${2:-.}
[ $# -ge 1 ] && shift
[ $# -ge 1 ] && shift
parts=${*:-open tests record code hip python examples accuracy moves cost compare \
ceilings counters peers torch payoff sanitizer}
failed='' summary=''
deadline=$(($(date +%s) + ${KMB_GPU_SECONDS:-86400}))
mkdir -p "$out" || exit 1

# Libraries of Python packages serve where no toolkit is. A folder that holds a
# driver too is no such package: it would stand in for the machine's driver.
folder_of() { # NAME
  for below in /usr/local /opt /usr/lib /home /root; do
    for found in $(find -H "$below" -name "$1" 2>/dev/null | sort -r); do
      [ -e "$(dirname "$found")/libcuda.so.1" ] && continue
      dirname "$found"
      return
    done
  done
}
callers=${LD_LIBRARY_PATH:-}
plain=$callers
for name in 'libcupti.so.1[23]' 'libcublas.so.1[123]' 'libcublasLt.so.1[123]'; do
  where=$(folder_of "$name")
  echo "$name: ${where:-none}"
  [ -n "$where" ] && plain=$plain${plain:+:}$where
done
LD_LIBRARY_PATH=$folder${plain:+:$plain}
export LD_LIBRARY_PATH

run() { # SECONDS NAME PROGRAM ARGUMENT...
  limit=$1 name=$2
  shift 2
  echo "== $name"
  start=$(date +%s)
  [ $((deadline - start)) -lt "$limit" ] && limit=$((deadline - start))
  [ "$limit" -ge 5 ] || {
    echo "== $name: left out, for the time is up"
    failed="$failed $name"
    return 1
  }
  timeout -k 5 "$limit" "$@"
  code=$?
  took=$(($(date +%s) - start))
  case $code in
  0) said=passed ;;
  77) said=skipped ;;
  124 | 137) said="FAILED (no end in $limit s)" ;;
  *) said="FAILED ($code)" ;;
  esac
  echo "== $name: $said in $took s"
  case $said in
  FAILED*) failed="$failed $name" ;;
  esac
  return $code
}

# A document's list of that name, of one line each, and what GPU they are of.
document() { # NAME
  printf '{"device": "%s", "date": "%s", "%s": [\n' "$(nvidia-smi \
    --query-gpu=name,driver_version,persistence_mode --format=csv,noheader \
    2>/dev/null | head -n 1)" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1"
  sed '$!s/$/,/'
  printf ']}\n'
}

# Fresh processes in turn, the order of the kinds changing from round to round.
opens() {
  for round in 1 2 3 4 5 6 7 8 9 10; do
    order='driver kmb'
    [ $((round % 2)) = 0 ] && order='kmb driver'
    [ "$round" -le 3 ] && order="$order steps"
    for what in $order; do
      "$folder/gpu_open" "$what"
    done
  done
}

# A million launches a process, recorded and never traced in turns.
launches() {
  for round in 1 2 3 4 5 6 7; do
    order='launches recorded'
    [ $((round % 2)) = 0 ] && order='recorded launches'
    for what in $order; do
      "$folder/gpu_record" "$what" | grep '^{'
    done
  done
}

record_part() {
  run 60 record "$folder/gpu_record" "$out/record.json"
  launches | document launches >"$out/record_launches.json"
  cat "$out/record_launches.json"
}

open_part() {
  opens | document open >"$out/open.json"
  cat "$out/open.json"
  for what in driver kmb; do
    sed -n "s/.*open_${what}_ms\": \([0-9.]*\).*/\1/p" "$out/open.json" |
      sort -n | awk -v what="$what" '{ v[NR] = $1 }
        END { if (NR) printf "open %s: least %.1f, median %.1f ms of %d\n", what,
          v[1], (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, NR }'
  done
}

tests_part() {
  # Each in a process of its own, so that one that fails hides no other.
  for test in $("$folder/gpu_functional" --list); do
    run 60 "$test" "$folder/gpu_functional" "$test"
  done
  run 90 rows "$folder/gpu_rows"
  run 60 dependent "$folder/gpu_dependent"
  run 60 devices "$folder/gpu_devices"
  run 60 busy "$folder/gpu_busy"
  run 60 blocking env CUDA_LAUNCH_BLOCKING=1 "$folder/gpu_functional" \
    each_timer_checks_and_times
  run 60 fault_trace "$folder/gpu_lost" fault 1
  run 60 fault_graph "$folder/gpu_lost" fault 2
  run 60 fault_event "$folder/gpu_lost" fault 3
  run 60 hang_trace "$folder/gpu_lost" hang 1
  run 60 hang_event "$folder/gpu_lost" hang 3
}

# Without importing it, which takes seconds.
has() { # MODULE
  python3 -c 'import importlib.util, sys
sys.exit(importlib.util.find_spec(sys.argv[1]) is None)' "$1" 2>/dev/null
}

# Python with PyTorch, the package and the library; the machine's own libraries
# otherwise.
python() { # SECONDS NAME PROGRAM ARGUMENT...
  limit=$1 name=$2
  shift 2
  has torch || {
    echo "== $name: skipped, for python3 has no torch"
    return 1
  }
  run "$limit" "$name" env LD_LIBRARY_PATH="$folder${callers:+:$callers}" \
    PYTHONPATH="$folder/python" KMB_LIBRARY="$folder/libkmb.so.0" \
    PYTHONUNBUFFERED=1 python3 "$@"
}

code_part() {
  # Afterwards `kmb code captured.json` finds the image by itself.
  run 120 code "$folder/gpu_code" "$out/code.json" "$folder/kernels.cubin" \
    "$out/captured.d"
  [ -f "$folder/code_program.so" ] || {
    echo "== code_gpu: skipped, for nvcc was not there to pack its kernels"
    return
  }
  python 240 code_gpu "$folder/code_gpu.py" "$folder/kmb.sh" \
    "$folder/code_program.so" "$out/code_gpu.d" "$out/code_gpu.json"
  # For the page on code: the copy that is flagged, and the one that is not.
  "$folder/kmb.sh" code "$folder/kernels.cubin" --kernel copy_narrow \
    --diff "$folder/kernels.cubin" --other-kernel copy_wide \
    >"$out/code_diff.txt" 2>&1
}

torch_part() {
  python 240 torch "$folder/peers_torch.py" "$folder/kernels.ptx" \
    "$folder/c_side.so" "$out/peers_torch.json"
}

payoff_part() {
  [ -f "$folder/step_kernels.fatbin" ] || {
    echo "== payoff: skipped, for nvcc was not there to pack its kernels"
    return
  }
  python 400 payoff "$folder/payoff_step.py" measure \
    "$folder/step_kernels.fatbin" "$out/payoff"
  python 60 payoff_profiler "$folder/payoff_step.py" profile \
    "$folder/step_kernels.fatbin" "$out/payoff"
  [ -f "$out/payoff/measured.json" ] || return
  run 60 payoff_predicted python3 "$folder/payoff_step.py" predict \
    "$folder/kmb.sh" "$out/payoff"
}

# The HIP backend on this NVIDIA GPU, through HIP of our own that forwards to
# the driver and NVRTC: its logic, not AMD's hardware.
hip_part() {
  where=$(folder_of 'libnvrtc.so.1[23]')
  [ -n "$where" ] || {
    echo "== hip_on_cuda: skipped, for there is no NVRTC"
    return
  }
  forwarded=$folder/hip:$LD_LIBRARY_PATH:$where
  for test in $("$folder/gpu_hip_functional" --list); do
    run 90 "hip_on_cuda_$test" env LD_LIBRARY_PATH="$forwarded" \
      "$folder/gpu_hip_functional" "$test"
  done
  run 200 hip_on_cuda_accuracy env LD_LIBRARY_PATH="$forwarded" \
    "$folder/gpu_hip_accuracy" "$out/hip_on_cuda.json"
}

# What moves EVENT through either backend: nothing is judged.
events_part() {
  where=$(folder_of 'libnvrtc.so.1[23]')
  run 60 events env LD_LIBRARY_PATH="$folder/hip:$LD_LIBRARY_PATH${where:+:$where}" \
    "$folder/gpu_hip_events" "$out/events.json"
}

# The Python front on tensors of torch.
python_part() {
  run 200 python env LD_LIBRARY_PATH="$folder${callers:+:$callers}" python3 \
    "$folder/python/run.py" "$folder/python/cuda.py" "$folder/python" \
    "$folder/libkmb.so.0" . cc
  run 200 vllm_ops env LD_LIBRARY_PATH="$folder${callers:+:$callers}" \
    KMB_LIBRARY="$folder/libkmb.so.0" python3 "$folder/python/vllm_ops.py" \
    "$out/vllm_ops.json"
}

# examples/torch_extension, compiled there against these headers and this
# library, as if pkg-config knew them.
extension_part() {
  command -v g++ >/dev/null || {
    echo "== extension: skipped, for there is no g++"
    return
  }
  here=$(mktemp -d)
  library=$(cd "$folder" && pwd)
  ln -s "$library/libkmb.so.0" "$here/libkmb.so"
  printf '%s\n' '#!/bin/sh' 'case $1 in' "--cflags) echo -I$PWD/include ;;" \
    "--libs) echo -L$here -lkmb ;;" "*) echo $library ;;" 'esac' \
    >"$here/pkg-config"
  chmod +x "$here/pkg-config"
  python 200 extension -c 'import os, runpy, sys
os.environ.update(PATH=sys.argv[1] + ":" + os.environ["PATH"],
                  TORCH_EXTENSIONS_DIR=sys.argv[1],
                  TORCH_CUDA_ARCH_LIST="9.0")
sys.argv = [sys.argv[2]]
runpy.run_path(sys.argv[0], run_name="__main__")' "$here" \
    examples/torch_extension/run.py
  rm -rf "$here"
}

examples_part() {
  run 60 cuda_copy "$folder/cuda_copy" cuda:0 "$out/cuda_copy.json"
  run 60 cuda_trace "$folder/cuda_trace" cuda:0 "$out/cuda_trace.json"
  [ -x "$folder/cuda_gemm" ] &&
    run 90 cuda_gemm "$folder/cuda_gemm" cuda:0 "$out/cuda_gemm.json"
}

# What we say that can be reached beside what others reach, in one run.
ceilings_part() {
  run 90 ceilings "$folder/gpu_ceilings" "$out/ceilings.json"
  has torch || return
  run 60 peers_ceilings env LD_LIBRARY_PATH="$callers" python3 \
    "$folder/peers_ceilings.py" "$out/peers_ceilings.json"
}

# The pages of Nsight Compute on the launches that counters_part counts, of three
# processes: what it reads of a kernel depends on where its memory lies.
read_by_ncu() { # NAME LIBRARIES PROGRAM ARGUMENT...
  name=$1 libraries=$2
  shift 2
  rm -f "$out/counters-ncu.csv"
  for round in 1 2 3; do
    rm -f "$out/counters-ncu-$round.csv"
    run 60 "$name" env LD_LIBRARY_PATH="$libraries" "$ncu" \
      --cache-control all --clock-control none --target-processes all --csv \
      --page raw --print-units base \
      --metrics "$(python3 "$folder/peers_counters.py" metrics)" \
      --log-file "$out/counters-ncu-$round.csv" "$@"
    # Its words, where it wrote any beside the page.
    grep '^==[EW]' "$out/counters-ncu-$round.csv" 2>/dev/null
    cat "$out/counters-ncu-$round.csv" >>"$out/counters-ncu.csv" 2>/dev/null
    grep -q '"Kernel Name"' "$out/counters-ncu-$round.csv" 2>/dev/null || return 1
  done
}

# What a process's first call for counters takes, in fresh processes: with and
# without a library in it that maps much memory.
counters_first() {
  for round in 1 2 3 4 5; do
    for more in '' cublas; do
      # shellcheck disable=SC2086 # none where it is empty
      line=$(timeout 60 "$folder/gpu_counters" first $more) || continue
      echo "$line" | tr '\n' ' '
      echo
    done
  done
}

# Counters of ours beside those of Nsight Compute, of the same launches: cold,
# clocks as they are. They need privileges. Whatever fails, the rest is had.
counters_part() {
  counters_first | document calls >"$out/counters-first.json"
  grep -o '^.*"first_ms": [^,]*' "$out/counters-first.json"
  run 60 counters "$folder/gpu_counters" "$out/counters.json"
  ncu=$(command -v ncu || ls /usr/local/cuda*/bin/ncu \
    /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | sort -V | tail -n 1)
  if [ -n "$ncu" ]; then
    "$ncu" --version | tail -n 1
    # CUPTI's folder has libraries of the names of ncu's own.
    read_by_ncu ncu "$callers" env LD_LIBRARY_PATH="$LD_LIBRARY_PATH" \
      "$folder/gpu_counters" launch ||
      read_by_ncu ncu_again "$LD_LIBRARY_PATH" "$folder/gpu_counters" launch
  else
    echo "== ncu: skipped, for there is no Nsight Compute"
  fi
  run 10 counters_beside_ncu python3 "$folder/peers_counters.py" compare \
    "$out/counters.json" "$out/counters-ncu.csv" "$out/counters-beside.json"
  # What CUPTI's own calls cost, and what a session disturbs that stays open.
  run 40 profiler "$folder/gpu_profiler" "$out/profiler.json"
  # And whether ncu finds the counters while the library keeps a session.
  beside=''
  [ -n "$ncu" ] && beside="env LD_LIBRARY_PATH='$callers' '$ncu' \
--cache-control none --clock-control none --target-processes all --csv \
--page raw --metrics dram__bytes_read.sum env \
LD_LIBRARY_PATH='$LD_LIBRARY_PATH' '$folder/gpu_counters' launch"
  run 90 profiler_beside env KMB_TEST_BESIDE="$beside" "$folder/gpu_profiler" \
    beside "$out/profiler-beside.json"
}

peers_part() {
  has torch && has triton || {
    echo "== peers: skipped, for python3 has no torch and triton"
    return
  }
  run 150 peers env LD_LIBRARY_PATH="$callers" python3 "$folder/peers_gpu.py" \
    "$folder/kernels.ptx" "$out/peers.json"
}

# The sanitizer holds CUPTI's subscriber. The one deliberate fault is left out;
# calls that fail on purpose, captures that a callback breaks, are no errors of
# memory.
sanitizer_part() {
  sanitizer=$(command -v compute-sanitizer ||
    ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -n 1)
  [ -n "$sanitizer" ] || {
    echo "== sanitizer: skipped, for there is no compute-sanitizer"
    return
  }
  KMB_TEST_CUPTI=busy
  export KMB_TEST_CUPTI
  run 150 memcheck "$sanitizer" --tool memcheck --leak-check full \
    --report-api-errors no --error-exitcode 9 "$folder/gpu_functional"
  run 60 memcheck_busy "$sanitizer" --tool memcheck --leak-check full \
    --report-api-errors no --error-exitcode 9 "$folder/gpu_busy"
  unset KMB_TEST_CUPTI
}

# Several GPUs: the barriers' skew, ranks that are late, all-reduce beside the
# way of nccl-tests, a product with a reduce-scatter. NVLink multicast stays off.
ranks_part() {
  NCCL_NVLS_ENABLE=0
  export NCCL_NVLS_ENABLE
  nccl=$(folder_of libnccl.so.2)
  [ -n "$nccl" ] || echo "== no NCCL: what needs it is left out"
  with=$LD_LIBRARY_PATH${nccl:+:$nccl}
  count=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
  [ "$count" -ge 2 ] || {
    echo "== ranks: skipped, for there are not two GPUs"
    return
  }
  nvidia-smi topo -m 2>/dev/null
  [ -x "$folder/release_skew" ] &&
    run 40 release_skew "$folder/release_skew" "$out/release_skew.json"
  run 80 ranks env LD_LIBRARY_PATH="$with" "$folder/gpu_ranks" 2 \
    "$out/ranks.json" 400
  [ -z "$nccl" ] ||
    run 65 allreduce env LD_LIBRARY_PATH="$with" "$folder/allreduce" 2 \
      "$out/allreduce.json"
  [ -z "$nccl" ] ||
    run 40 threads_gemm_rs env LD_LIBRARY_PATH="$with" \
      "$folder/threads_gemm_rs" cuda 2 "$out/threads_gemm_rs.json"
}

nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks_event_reasons.active \
  --format=csv,noheader 2>/dev/null
for part in $parts; do
  began=$(date +%s)
  case $part in
  open) open_part ;;
  tests) tests_part ;;
  record) record_part ;;
  code) code_part ;;
  hip) hip_part ;;
  events) events_part ;;
  extension) extension_part ;;
  python) python_part ;;
  examples) examples_part ;;
  accuracy) run 200 accuracy "$folder/gpu_accuracy" "$out/accuracy.json" ;;
  moves) run 60 moves "$folder/gpu_moves" "$out/moves.json" ;;
  compare) run 120 compare "$folder/gpu_compare" "$out/compare.json" ;;
  cost) run 60 cost "$folder/gpu_cost" "$out/cost.json" ;;
  ceilings) ceilings_part ;;
  counters) counters_part ;;
  peers) peers_part ;;
  torch) torch_part ;;
  payoff) payoff_part ;;
  sanitizer) sanitizer_part ;;
  ranks) ranks_part ;;
  *) echo "no part is named $part" >&2; failed="$failed $part" ;;
  esac
  summary="$summary $part:$(($(date +%s) - began))s"
done
# Each figure that is promised beside its bar.
python3 "$folder/gpu_bars.py" "$out" "$out/bars.json" 2>/dev/null
echo "== took$summary"
[ -z "$failed" ] && echo "== all passed" || echo "== FAILED:$failed"
[ -z "$failed" ]
