#!/usr/bin/env bash
# Measures with `ridge bench` on a machine that has a GPU and no Rust: builds here, runs there.
#
# usage: gpu-bench.sh build FOLDER     puts the command, the examples and a script run.sh into a folder
#        FOLDER/run.sh                 runs there: the examples in all modes, comparisons, faults; results go to $OUT
#
# FOLDER/run.sh builds nothing, changes no setting of the GPU, and takes about three minutes.
set -euo pipefail

if [ "${1:-}" != build ] || [ $# -ne 2 ]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
mkdir -p "$2"
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."

cargo build --package ridge --release --locked
cp "${CARGO_TARGET_DIR:-target}/release/ridge" "$folder/ridge"
rm -rf "$folder/examples" "$folder/gallery" "$folder/faults"
cp -r examples "$folder/"
mkdir -p "$folder/gallery"
for case in triad tile_gemm elementwise_chain relax_sweeps; do
    cp -r "gallery/$case" "$folder/gallery/"
done
cp -r scripts/gpu-bench "$folder/faults"

cat > "$folder/run.sh" <<'RUN'
#!/usr/bin/env bash
# Runs `ridge bench` on the GPU of this machine. Results go to $OUT.
cd "$(dirname "$0")" || exit
OUT=${OUT:-results}
mkdir -p "$OUT"
failed=0
# expect CODE NAME ARGUMENTS...: runs, keeps text and JSON, and compares the exit code.
expect() {
    local code=$1 name=$2 start=$SECONDS
    shift 2
    timeout 120 ./ridge bench "$@" -v -o "$OUT/$name.json" > "$OUT/$name.log" 2>&1
    local found=$?
    if [ "$found" = "$code" ]; then
        echo "ok      $name ($found, $((SECONDS - start)) s)"
    else
        echo "FAILED  $name: exit code $found, expected $code ($((SECONDS - start)) s)"
        tail -5 "$OUT/$name.log"
        failed=1
    fi
}
# show NAME ARGUMENTS...: the page for people.
show() {
    local name=$1
    shift
    timeout 120 ./ridge bench "$@" > "$OUT/$name.txt" 2>&1
    echo "== $name ($?)"
    cat "$OUT/$name.txt"
}
{
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,power.limit,ecc.mode.current --format=csv
    ./ridge --version
} > "$OUT/machine.txt" 2>&1
show transpose examples/transpose.toml
show copy examples/copy.toml --mode cold,hot
show copy-flush-write examples/copy.toml --flush write --axis block=256
show reduction examples/reduction.toml
show gemm examples/gemm.toml
show modes examples/copy.toml --mode all --axis n=1048576 --axis block=256
expect 0 transpose-8192 examples/transpose.toml --axis n=8192 --axis rows=8
expect 0 fresh examples/copy.toml --axis n=1048576 --fresh-inputs --max-samples 60
for case in triad tile_gemm elementwise_chain relax_sweeps; do
    expect 0 "gallery-$case" "gallery/$case/bench.toml" --max-time 2s
done
# The same again: how far the median differs between processes.
for place in 1 2 3 4 5 6 7 8 9 10; do
    expect 0 "again-$place" examples/copy.toml --axis n=67108864 --axis block=256 --filter vector
done
# What goes wrong is named, and the state behind it is measured.
expect 15 fault-out-of-bounds faults/faults.toml --filter 'out_of_bounds|fine'
expect 15 fault-hang faults/faults.toml --filter 'hang|fine' --timeout 2s
expect 15 fault-trap faults/faults.toml --filter 'trap|fine'
expect 15 fault-memory faults/memory.toml
expect 13 fault-wrong faults/faults.toml --filter 'wrong|fine'
expect 13 fault-nothing faults/faults.toml --filter 'nothing|fine'
expect 12 fault-impossible faults/impossible.toml
expect 3 fault-compile faults/compile.toml
# What only looks right is found out in each mode.
expect 0 cheat-honest faults/cheats.toml --filter honest --mode all
for cheat in counting stale cached peeks tail spoils narrow constant; do
    expect 13 "cheat-$cheat" faults/cheats.toml --filter "$cheat" --mode cold
    expect 13 "cheat-$cheat-hot" faults/cheats.toml --filter "$cheat" --mode hot
done
expect 13 cheat-rapid faults/cheats.toml --filter rapid --mode batch
expect 13 cheat-rapid-graph faults/cheats.toml --filter rapid --mode graph
grep -ho '"median_ns": [0-9.]*' "$OUT"/again-*.json | awk '{print $2}' | sort -n > "$OUT/again.txt"
echo "medians of ten processes: $(tr '\n' ' ' < "$OUT/again.txt")"
[ $failed = 0 ] && echo "all as expected"
# One file is easier to take along than eighty.
(cd "$OUT" && tar cf results.tar -- *.txt *.json *.log && rm -f -- *.json *.log)
exit $failed
RUN
chmod +x "$folder/run.sh"
du -sh "$folder" >&2
