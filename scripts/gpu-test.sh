#!/bin/sh
# Runs the GPU tests from a folder that gpu-pack.sh made. Each test's end is
# said, and at the end a table of how far the timers are apart; the figures are
# in OUTPUT_FOLDER as JSON.
#
# usage: gpu-test.sh [FOLDER [OUTPUT_FOLDER]]    (gpu-pack, .)
set -u
CDPATH="" cd -- "$(dirname "$0")/.." || exit 1
folder=${1:-gpu-pack} out=${2:-.}
# CUPTI of a Python package serves where no toolkit is. A folder that holds a
# driver too is no such package: it would stand in for the machine's driver.
folder_of_cupti=''
if [ -z "$(find /usr/local/cuda*/ -name 'libcupti.so.1[23]' 2>/dev/null)" ]; then
  for found in $(find / -name 'libcupti.so.1[23]' -not -path '/proc/*' \
    2>/dev/null | sort -r); do
    [ -e "$(dirname "$found")/libcuda.so.1" ] && continue
    folder_of_cupti=$(dirname "$found")
    break
  done
  echo "CUPTI: ${folder_of_cupti:-none}"
fi
LD_LIBRARY_PATH=$folder${folder_of_cupti:+:$folder_of_cupti}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
failed=0

run() { # SECONDS NAME PROGRAM ARGUMENT...
  limit=$1 name=$2
  shift 2
  echo "== $name"
  start=$(date +%s)
  timeout -k 5 "$limit" "$@"
  code=$?
  case $code in
  0) echo "== $name: passed in $(($(date +%s) - start)) s" ;;
  77) echo "== $name: skipped" ;;
  *)
    echo "== $name: FAILED ($code) after $(($(date +%s) - start)) s"
    failed=1
    ;;
  esac
}

nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks_event_reasons.active \
  --format=csv,noheader 2>/dev/null
about=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader \
  2>/dev/null | head -n 1)
{
  printf '{"device": "%s", "driver": "%s", "date": "%s", "open": [\n' \
    "${about%, *}" "${about##*, }" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
  separator=''
  for _ in 1 2 3 4 5; do
    for what in driver kmb; do
      line=$("$folder/gpu_open" $what) || continue
      printf '%s%s' "$separator" "$line"
      separator=',
'
    done
  done
  printf ']}\n'
} >"$out/open.json"
cat "$out/open.json"
# Each in a process of its own, so that one that fails hides no other.
for test in $("$folder/gpu_functional" --list); do
  run 60 "$test" "$folder/gpu_functional" "$test"
done
run 90 rows "$folder/gpu_rows"
run 60 busy "$folder/gpu_busy"
run 60 fault_trace "$folder/gpu_lost" fault 1
run 60 fault_graph "$folder/gpu_lost" fault 2
run 60 fault_event "$folder/gpu_lost" fault 3
run 60 hang_trace "$folder/gpu_lost" hang 1
run 60 hang_event "$folder/gpu_lost" hang 3
run 60 cuda_copy "$folder/cuda_copy" cuda:0 "$out/cuda_copy.json"
echo "== accuracy"
timeout -k 5 240 "$folder/gpu_accuracy" "$out/accuracy.json"
code=$?
[ $code = 0 ] || [ $code = 77 ] || { echo "== accuracy: FAILED ($code)"; failed=1; }
[ $failed = 0 ] && echo "== all passed" || echo "== SOMETHING FAILED"
exit $failed
