#!/bin/sh
# Runs the MPI test under a launcher.
#
# usage: run.sh LAUNCHER PROGRAM
# or:    run.sh --missing WHAT
if [ "$1" = --missing ]; then
  echo "skipped: $2"
  exit 77
fi
launcher=$1 program=$2
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Two ranks on however few cores.
OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
export OMPI_MCA_rmaps_base_oversubscribe
"$launcher" -n 2 "$program" || exit 1
# A rank that is missed or killed ends the run, with rank 0's words before.
said=$(mktemp) || exit 1
trap 'rm -f "$said"' EXIT
for what in missed killed; do
  : >"$said"
  out=$(timeout 50 "$launcher" -n 2 "$program" $what "$said" 2>&1)
  status=$?
  cat "$said"
  [ $status -ne 0 ] && [ $status -ne 124 ] || {
    echo "$out"
    echo "$what: the launcher ended with $status" >&2
    exit 1
  }
  # A launcher that sees a rank being killed may end the other one first.
  [ $what = killed ] || grep -q '^ok a_rank_that_is_missed' "$said" || {
    echo "$out"
    exit 1
  }
done
