#!/bin/bash
# Stands in for ncu: runs the program, and answers with the recorded report of the tier that is asked for.
#
# FAKE names the folder of the reports; MODE says what goes wrong, and TIER in which tier (any where it is not set).
echo "$*" >> "$FAKE/commands"
while [ $# -gt 0 ]; do
    case "$1" in
    --log-file) log=$2; shift 2 ;;
    --export) report=$2; shift 2 ;;
    --kernel-id) kernels=$2; shift 2 ;;
    --replay-mode) replay=$2; shift 2 ;;
    --*) shift 2 ;;
    *) break ;;
    esac
done
name=${report##*/}
tier=${name//[^0-9]/}
tier=${tier:0:1}
source=$name
mode=$MODE
[ -n "$TIER" ] && [ "$TIER" != "$tier" ] && mode=
fail() { echo "==ERROR== $1" >> "$log"; exit "${2:-1}"; }
case "$mode" in
permission) fail "ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0." ;;
old) fail "Cuda driver is not compatible with Nsight Compute. Please install a newer one." ;;
full) fail "Unable to write to file tier0.ncu-rep. Please verify this file is not locked, and writable." ;;
memory) fail "Failed to save memory for replay: out of memory" ;;
replay) fail "Failed to profile \"bin_counts_slow\" in process 1" ;;
crash) kill -SEGV $$ ;;
wait) : > "$FAKE/waits"; trap 'cp "$FAKE/$source" "$report"; exit 130' INT TERM; while :; do sleep 0.05; done ;;
esac
command -v "$1" > /dev/null || fail "'$1' does not exist or is not an executable. Please make sure to specify the absolute path to '$1' if the executable is not in the local directory."
"$@"
rc=$?
# Only the first launch of each kernel is there again.
[ "$mode" = moved ] && case "$kernels" in *:1) ;; *) mode=other ;; esac
case "$mode" in
none) echo "==WARNING== No kernels were profiled." >> "$log"; exit 0 ;;
other)
    printf '%s\n' "==WARNING== No kernels were profiled." "Available Kernels:" "1. bin_counts_fixed" "2. bin_counts_slow" >> "$log"
    exit 0
    ;;
esac
case "$tier" in 0) passes="1 pass" ;; *) passes="12 passes" ;; esac
{
    echo "==PROF== Connected to process 1 ($1)"
    if [ "$replay" = application ]; then
        for pass in $(seq "${passes% *}"); do
            echo "==PROF== Profiling \"1:7:first:1\": Application replay pass $pass"
            echo "==PROF== Profiling \"1:7:second:1\": Application replay pass $pass"
        done
        echo "==PROF== Creating report from application replay data: 0%....................100%"
    else
        echo "==PROF== Profiling \"first\" - 0: 0%....50%....100% - $passes"
        echo "==PROF== Profiling \"second\" - 1: 0%....50%....100% - $passes"
    fi
    [ "$mode" = partly ] && echo "==ERROR== Failed to profile \"other\" in process 1"
    # The profiler has one number for codes and signals; the shell adds 128 to those of signals.
    [ $rc -gt 128 ] && rc=$((rc - 128))
    [ $rc = 0 ] || echo "==ERROR== The application returned an error code ($rc)."
    echo "==PROF== Report: $report"
} >> "$log"
cp "$FAKE/$source" "$report"
exit $rc
