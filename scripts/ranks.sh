#!/usr/bin/env bash
# Does `ridge timeline` name the rank that is made slow, on real GPUs and with real collectives?
#
#   scripts/ranks.sh RIDGE [RANKS]
#
# RIDGE is the command, and the machine needs RANKS GPUs (2 where it is not said) and a Python with PyTorch and NCCL. Each rank
# multiplies matrices and joins an all-reduce, 60 steps; in turn no rank, the first and the last have a third more to do. A
# line for each says what was expected and what the comparison says. Ends with 1 where one of them is wrong.
set -euo pipefail

ridge=$(realpath "${1:?the ridge command}")
ranks=${2:-2}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"

cat > steps.py <<'PYTHON'
import os
import sys

import torch
import torch.distributed as dist

slow = int(sys.argv[1])
rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)
dist.init_process_group("nccl")
matrix = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
gradient = torch.ones(32 << 20, device="cuda")
products = 12 if rank == slow else 9
for step in range(60):
    torch.cuda.nvtx.range_push("step")
    for _ in range(products):
        matrix @ matrix
    dist.all_reduce(gradient)
    torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
dist.destroy_process_group()
PYTHON

wrong=0
for slow in -1 0 $((ranks - 1)); do
    "$ridge" trace --quiet -o "run$slow.ridgetrace" -- \
        torchrun --standalone --nproc-per-node "$ranks" steps.py "$slow" > "log$slow" 2>&1 || { cat "log$slow"; exit 1; }
    "$ridge" timeline "run$slow.ridgetrace" --format json > "run$slow.json"
    python3 - "$slow" "run$slow.json" <<'PYTHON' || wrong=1
import json
import sys

slow, ranks = int(sys.argv[1]), json.load(open(sys.argv[2]))["ranks"]
last = ranks["last"] and ranks["last"]["member"]
named = None if last is None else ranks["members"][last]["rank"]
print(f"slow rank: {slow if slow >= 0 else 'none'}; said: {ranks['title']}")
for kernel in ranks["kernels"]:
    met = kernel["meeting"]
    if met:
        print(f"  {kernel['name'][:60]}: starts {met['starts_apart_ns'] / 1e3:.1f} us apart, ends {met['ends_apart_ns'] / 1e3:.1f} us")
sys.exit(0 if named == (slow if slow >= 0 else None) else 1)
PYTHON
    if [ "$slow" = 0 ]; then
        "$ridge" timeline "run$slow.ridgetrace"
    fi
done
exit "$wrong"
