#!/usr/bin/env bash
# Measures errors of FP32 functions, sums, atomic operations and matrix products on the GPU of this machine, in about a minute
# after the compiler is done. Needs nvcc and PyTorch. Changes no setting of the GPU.
#
# usage: run.sh OUT     writes figures.json, samples.bin and log.txt into the folder OUT; offline.py goes on from there
#
# NVCC (nvcc), PYTHON (python3), ARCH (native) and SECONDS_EACH, the GPU time after which the functions of one build are sampled
# (8), can be set.
set -u
if [ $# -ne 1 ]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
mkdir -p "$1" || exit
out=$(cd "$1" && pwd)
cd "$(dirname "$0")" || exit
NVCC=${NVCC:-nvcc} PYTHON=${PYTHON:-python3} ARCH=${ARCH:-native} SECONDS_EACH=${SECONDS_EACH:-8}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
exec > >(tee "$out/log.txt") 2>&1

cat > "$work/builds.txt" <<'BUILDS'
default|
ftz|-ftz=true
prec-div-off|-prec-div=false
prec-sqrt-off|-prec-sqrt=false
fast-math|--use_fast_math
fmad-off|-fmad=false
BUILDS
{
    echo "gpu|$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)"
    echo "nvcc|$("$NVCC" --version | grep release)"
    echo "architecture|$ARCH"
    echo "date|$(date -u +%Y-%m-%d)"
} > "$work/machine.txt"

began=$SECONDS
# By number: `wait` alone would wait for the log as well, which ends with this script.
compiling=()
while IFS='|' read -r build flags; do
    extra=
    [ "$build" = default ] && extra=-DINTRINSICS
    # shellcheck disable=SC2086 # flags are words
    "$NVCC" -std=c++17 -O3 -arch="$ARCH" $flags $extra functions.cu -o "$work/functions-$build" &
    compiling+=($!)
done < "$work/builds.txt"
"$NVCC" -std=c++17 -O3 -arch="$ARCH" sums.cu -o "$work/sums-default" &
compiling+=($!)
"$NVCC" -std=c++17 -O3 -arch="$ARCH" -fmad=false sums.cu -o "$work/sums-fmad-off" &
compiling+=($!)
# The reference is no GPU work: PyTorch starts while the compiler is busy.
timeout 90 "$PYTHON" tensor.py "$work/tensor.json" || echo "tensor.py: exit code $?"
wait "${compiling[@]}"
echo "== compiled, products done: $((SECONDS - began)) s"

while IFS='|' read -r build flags; do
    began=$SECONDS
    timeout 60 "$work/functions-$build" "$build" "$work" "$SECONDS_EACH" || echo "functions-$build: exit code $?"
    echo "== functions $build: $((SECONDS - began)) s"
done < "$work/builds.txt"
for build in default fmad-off; do
    began=$SECONDS
    timeout 60 "$work/sums-$build" "$build" "$work" || echo "sums-$build: exit code $?"
    echo "== sums $build: $((SECONDS - began)) s"
done
"$PYTHON" collect.py "$work" "$out"
