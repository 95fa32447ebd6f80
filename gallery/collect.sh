#!/usr/bin/env bash
# Checks, times and profiles the cases of the gallery on the GPU of this machine.
#
#   OUT=results bash gallery/collect.sh [CASE...]
#
# writes to $OUT (at most eight files): times.jsonl, labels.jsonl, log.txt, reports-<n>.tar (each report as .ncu-rep.xz).
# LIMIT (seconds, 520): no further case is started after that. REPORT_ONLY=1 skips check and time and takes $OUT/times.jsonl as it is.
# Clocks and settings of the GPU are left as they are.
set -u
cd "$(dirname "$0")/.."
OUT=${OUT:-gallery-results}
LIMIT=${LIMIT:-520}
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
if [ $# -gt 0 ]; then CASES=("$@"); else mapfile -t CASES < <(ls -d gallery/*/bench.toml | xargs -n1 dirname | xargs -n1 basename); fi
log() { printf '%4d s  %s\n' "$SECONDS" "$*" | tee -a "$OUT/log.txt"; }

{ uname -m; nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; ncu --version | tail -2; } >> "$OUT/log.txt" 2>&1
log "$(python3 gallery/run.py --compile "${CASES[@]}" 2>&1 | tail -5)"

if [ -z "${REPORT_ONLY:-}" ]; then
    for c in "${CASES[@]}"; do
        if [ "$SECONDS" -gt "$LIMIT" ]; then log "no time left for $c"; continue; fi
        timeout 60 python3 gallery/run.py --check --time --json "$OUT/times.jsonl" "$c" > "$WORK/$c.txt" 2>&1
        rc=$?
        tail -1 "$WORK/$c.txt"
        cat "$WORK/$c.txt" >> "$OUT/log.txt"
        [ $rc = 0 ] || log "$c: check or time failed ($rc)"
    done
    log "timed"
fi

for c in "${CASES[@]}"; do
    if [ "$SECONDS" -gt "$LIMIT" ]; then log "no time left for the report of $c"; continue; fi
    timeout 90 ncu --clock-control none --profile-from-start off --set full --import-source no -f -o "$WORK/$c" \
        python3 gallery/run.py --profile "$c" > "$WORK/$c.ncu" 2>&1
    rc=$?
    if [ -s "$WORK/$c.ncu-rep" ]; then
        python3 gallery/pack.py "$WORK/$c.ncu-rep" &
    else
        log "$c: no report ($rc): $(tail -3 "$WORK/$c.ncu" | tr '\n' ' ')"
    fi
done
wait
log "profiled $(ls "$WORK"/*.ncu-rep.xz 2>/dev/null | wc -l) of ${#CASES[@]}"
python3 gallery/pack.py --tar "$OUT" "$WORK" | tee -a "$OUT/log.txt"
log "done"
