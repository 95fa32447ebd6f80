#!/bin/bash
# Stands in for ncu: runs the program, and answers with the recorded report of the tier that is asked for.
#
# FAKE names the folder of the reports; MODE says what goes wrong, and TIER in which tier (any where it is not set).
echo "$*" >> "$FAKE/commands"
while [ $# -gt 0 ]; do
    case "$1" in
    --log-file) log=$2; shift 2 ;;
    --export) report=$2; shift 2 ;;
    --*) shift 2 ;;
    *) break ;;
    esac
done
name=${report##*/}
tier=${name//[^0-9]/}
mode=$MODE
[ -n "$TIER" ] && [ "$TIER" != "${tier:0:1}" ] && mode=
fail() { echo "==ERROR== $1" >> "$log"; exit "${2:-1}"; }
case "$mode" in
permission) fail "ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0." ;;
old) fail "Cuda driver is not compatible with Nsight Compute. Please install a newer one." ;;
full) fail "Unable to write to file tier0.ncu-rep. Please verify this file is not locked, and writable." ;;
memory) fail "Failed to save memory for replay: out of memory" ;;
crash) kill -SEGV $$ ;;
wait) : > "$FAKE/waits"; trap 'cp "$FAKE/$name" "$report"; exit 130' INT TERM; while :; do sleep 0.05; done ;;
esac
command -v "$1" > /dev/null || fail "'$1' does not exist or is not an executable. Please make sure to specify the absolute path to '$1' if the executable is not in the local directory."
"$@"
rc=$?
if [ "$mode" = none ]; then
    echo "==WARNING== No kernels were profiled." >> "$log"
    exit 0
fi
case ${tier:0:1} in 0) passes="1 pass" ;; 1) passes="12 passes" ;; *) passes="4 passes" ;; esac
{
    echo "==PROF== Connected to process 1 ($1)"
    echo "==PROF== Profiling \"first\" - 0: 0%....50%....100% - $passes"
    echo "==PROF== Profiling \"second\" - 1: 0%....50%....100% - $passes"
    [ $rc = 0 ] || echo "==ERROR== The application returned an error code ($rc)."
    echo "==PROF== Report: $report"
} >> "$log"
cp "$FAKE/$name" "$report"
exit $rc
