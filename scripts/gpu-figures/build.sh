#!/usr/bin/env bash
# Puts everything that run.sh needs into a folder, for a machine that has a GPU and no Rust.
#
# usage: build.sh FOLDER [WHEEL...]      wheels of cuda-bench, for the versions of Python that the machine may have:
#                                        pip download --no-deps --only-binary=:all: --python-version 3.12 cuda-bench
set -euo pipefail

if [ $# -lt 1 ]; then
    sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
mkdir -p "$1/kernels" "$1/gallery" "$1/wheels"
folder=$(cd "$1" && pwd)
shift
[ $# -eq 0 ] || cp "$@" "$folder/wheels/"
cd "$(dirname "$0")/../.."

cargo build --locked --release --package ridge
cargo build --locked --release --package ridge-bench --example figures
target=${CARGO_TARGET_DIR:-target}/release
cp "$target/ridge" "$target/examples/figures" "$folder/"
cp scripts/gpu-figures/*.py scripts/gpu-figures/*.toml scripts/gpu-figures/run.sh "$folder/"
cp examples/copy.cu examples/gemm.cu examples/reduction.cu "$folder/kernels/"
cp crates/ridge-bench/examples/figures/kernels.cu "$folder/kernels/figures.cu"
cp gallery/run.py gallery/init.cu "$folder/gallery/"
git describe --always --dirty --abbrev=12 > "$folder/commit"
du -sh "$folder" >&2
