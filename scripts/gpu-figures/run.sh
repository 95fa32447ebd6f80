#!/usr/bin/env bash
# Measures the figures that `ridge bench` is held to, on the GPU of this machine; results go to $OUT. A part that fails does
# not stop the others. Changes no setting of the GPU.
#
# usage: run.sh            in the folder that build.sh made
#
# SECONDS_LEFT is the time for all of it (450), STARTS the process starts of each tool and kernel (10), DEVICE the GPU (0). With
# DEVICE=sim:h200 the same runs without a GPU, a compiler or the library of NVIDIA.
cd "$(dirname "$0")" || exit
OUT=${OUT:-results} STARTS=${STARTS:-10} DEVICE=${DEVICE:-0} TRIALS=${TRIALS:-30} GROUPS_OF_ARMS=${GROUPS_OF_ARMS:-25}
end=$((SECONDS + ${SECONDS_LEFT:-450}))
mkdir -p "$OUT" && OUT=$(cd "$OUT" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export VIRTUAL_ENV=${VIRTUAL_ENV:-$(python3 -c 'import sys; print(sys.prefix)')}
export PYTHONPATH=$PWD/gallery:$work/site${PYTHONPATH:+:$PYTHONPATH} GALLERY_CACHE=$work/cache PYTHONUNBUFFERED=1
problems=0
# part NAME SECONDS COMMAND...: runs for so long at most, and says how it went.
part() {
    local name=$1 limit=$2 began=$SECONDS
    shift 2
    timeout -k 5 "$limit" "$@"
    local code=$?
    [ $code = 0 ] || problems=$((problems + 1))
    echo "== $name: exit code $code, $((SECONDS - began)) s" >&2
}
# What report.py puts at the head of its page.
{
    echo "commit|$(cat commit)"
    echo "machine|$(grep -m1 'model name' /proc/cpuinfo | sed 's/.*: //'), $(nproc) processors, $(awk '/MemTotal/ {printf "%.0f GiB", $2 / 1048576}' /proc/meminfo), Linux $(uname -r)"
    case $DEVICE in
    sim:*) echo "device|$DEVICE" ;;
    *) echo "device|$(nvidia-smi --query-gpu=name,driver_version,power.limit,ecc.mode.current,persistence_mode,clocks.max.sm,clocks.max.mem --format=csv,noheader | head -1) (name, driver, power limit, ECC, persistence mode, highest clocks of SMs and memory)" ;;
    esac
    echo "tools|$(./ridge --version), $(ls wheels 2> /dev/null | sed 's/-cp.*//' | sort -u | tr '\n' ' '), $(python3 --version)"
    echo "date|$(date -u +%Y-%m-%d)"
} > "$OUT/machine.txt" 2>&1
{
    options=()
    prepare=()
    wheel=$(ls wheels/*-"$(python3 -c 'import sys; print("cp%d%d" % sys.version_info[:2])')"-*.whl 2> /dev/null | head -1)
    case $DEVICE in
    sim:*)
        options=(--tools ridge,ridge-write,ridge-400)
        prepare=(--source)
        ;;
    *)
        if [ -n "$wheel" ]; then
            part unpack 30 python3 -m zipfile -e "$wheel" "$work/site"
        else
            echo "no wheel of cuda-bench for $(python3 --version) in wheels/"
            problems=$((problems + 1))
            options=(--tools ridge,ridge-write,ridge-400)
        fi
        ;;
    esac
    part prepare 60 python3 prepare.py kernels "$work" "${prepare[@]}"
    left=$((end - SECONDS))
    part side 300 python3 side_by_side.py ./ridge "$work" "$OUT/side.jsonl" --starts "$STARTS" --device "$DEVICE" --budget $((left * 55 / 100)) "${options[@]}"
    left=$((end - SECONDS - 10))
    image=()
    [ -f "$work/figures.cubin" ] && image=(--image "$work/figures.cubin")
    part study $((left > 30 ? left : 30)) ./figures study --device "$DEVICE" --budget $((left - 10 > 20 ? left - 10 : 20)) --trials "$TRIALS" --groups "$GROUPS_OF_ARMS" "${image[@]}" > "$OUT/study.jsonl"
    part report 30 python3 report.py "$OUT"
    echo "$problems problems"
} 2>&1 | tee "$OUT/log.txt"
