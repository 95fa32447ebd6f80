#!/usr/bin/env python3
"""Puts the parts of a run together: figures.json and samples.bin.

usage: collect.py PARTS OUT

samples.bin holds records of three little-endian 32-bit words, the bits of both arguments and of the result; `first` of a
function in figures.json counts records from the beginning of the file.
"""
import json
import pathlib
import sys

parts, out = map(pathlib.Path, sys.argv[1:])
document = {"machine": {}, "builds": [], "sums": [], "tensor": None, "missing": []}
for line in (parts / "machine.txt").read_text().splitlines():
    key, _, value = line.partition("|")
    document["machine"][key] = value
with open(out / "samples.bin", "wb") as samples:
    for flags in (parts / "builds.txt").read_text().splitlines():
        build, _, flags = flags.partition("|")
        try:
            figures = json.loads((parts / f"{build}.json").read_text())
            records = (parts / f"{build}.bin").read_bytes()
        except (OSError, ValueError) as error:
            document["missing"].append(f"{build}: {error}")
            continue
        base = samples.tell() // 12
        for function in figures["functions"]:
            function["samples"]["first"] += base
        figures["flags"] = flags
        document["builds"].append(figures)
        samples.write(records)
for name in ("sums-default", "sums-fmad-off", "tensor"):
    try:
        part = json.loads((parts / f"{name}.json").read_text())
    except (OSError, ValueError) as error:
        document["missing"].append(f"{name}: {error}")
        continue
    if name == "tensor":
        document["tensor"] = part
    else:
        document["sums"].append(part)
(out / "figures.json").write_text(json.dumps(document, indent=1) + "\n")
print(f"{len(document['builds'])} builds; missing: {document['missing'] or 'nothing'}", file=sys.stderr)
sys.exit(1 if document["missing"] else 0)
