#!/usr/bin/env python3
"""usage: report.py FOLDER

Reads side.jsonl and study.jsonl of a run, writes bench.md beside them, and prints the figures. Parts that are missing are
said to be."""
import json, os, statistics, sys

from cases import CASES

TOOLS = {"nvbench": "NVIDIA's library", "ridge": "`ridge bench`", "ridge-write": "`ridge bench --flush write`",
         "ridge-400": "`ridge bench --flush write --min-time 400ms`"}


def lines(path):
    try:
        with open(path) as f:
            return [json.loads(line) for line in f if line.strip()]
    except FileNotFoundError:
        return []


def spread(values):
    """Half of the range, relative to the median: what stands behind +-."""
    return (max(values) - min(values)) / 2 / statistics.median(values)


def word(is_reached):
    return "reached" if is_reached else "missed"


def time(ns):
    return f"{ns / 1e3:,.2f} us" if ns < 1e6 else f"{ns / 1e6:,.4f} ms"


class Report:
    def __init__(self):
        self.text, self.summary = [], []

    def line(self, text=""):
        self.text.append(text)

    def row(self, *cells):
        self.text.append("| " + " | ".join(str(c) for c in cells) + " |")

    def head(self, *cells):
        self.row(*cells)
        self.text.append("|" + "---|" * len(cells))

    def figure(self, text, is_reached=None):
        text = text if is_reached is None else f"{text}: **{word(is_reached)}**"
        self.summary.append(text)


def side(rows, r):
    r.line("## Against NVIDIA's benchmark library")
    r.line()
    if not rows:
        r.line("Not measured.")
        r.figure("side by side: not measured")
        return
    good = [x for x in rows if "problem" not in x]
    starts = {(c, t): [x for x in good if x["case"] == c and x["tool"] == t] for c in CASES for t in TOOLS}
    r.line("Cold medians, each from a fresh process; the tools take turns. Both load the same machine code and work on the same "
           "numbers. Behind +- is half of the range of the reported medians. The library's flush leaves dirty lines in the L2, which "
           "the kernel then writes back, as `--flush write` does (over twice the L2, the library once); `ridge bench` by itself leaves clean ones. Times of processes are "
           "medians from start to end; those in brackets are without the start of Python. `ridge bench` also checks outputs, which "
           "the library does not.")
    r.line()
    r.head("kernel", "tool", "starts", "median", "against the library", "+-", "standard deviation", "samples", "process")
    for case, what in CASES.items():
        theirs = starts[case, "nvbench"]
        for tool, name in TOOLS.items():
            found = starts[case, tool]
            if not found:
                r.row(what.what, name, 0, *["not measured"] * 6)
                continue
            medians = [x["median_ns"] for x in found]
            middle = statistics.median(medians)
            ratio = f"{(middle / statistics.median(x['median_ns'] for x in theirs) - 1) * 100:+.2f} %" if theirs and tool != "nvbench" else ""
            deviation = f"{statistics.stdev(medians) / middle * 100:.3f} %" if len(medians) > 1 else ""
            wall = f"{statistics.median(x['wall_s'] for x in found):.2f} s"
            if tool == "nvbench":
                wall += f" ({statistics.median(x['inner_s'] for x in found):.2f} s)"
            r.row(what.what, name, len(found), time(middle), ratio, f"{spread(medians) * 100:.3f} %", deviation,
                  f"{statistics.median(x['samples'] for x in found):,.0f}", wall)
        for tool in ("ridge-write", "ridge-400", "ridge"):
            ours = starts[case, tool]
            if not ours or not theirs:
                r.figure(f"{case}, {tool}: nothing to compare")
                continue
            a, b = [x["median_ns"] for x in theirs], [x["median_ns"] for x in ours]
            off = statistics.median(b) / statistics.median(a) - 1
            flush = "default flush" if tool == "ridge" else "same flush"
            r.figure(f"{case}, {tool}: median within 1 % of the library's, {flush} ({off * 100:+.2f} %)", abs(off) <= 0.01)
            # A range grows with the number of starts.
            r.figure(f"{case}, {tool}: spread over {len(b)} starts at most theirs over {len(a)} (+-{spread(b) * 100:.3f} % against +-{spread(a) * 100:.3f} %)",
                     spread(b) <= spread(a) if abs(len(a) - len(b)) <= 1 else None)
            wall, their_wall, inner = (statistics.median(x[k] for x in s) for s, k in ((ours, "wall_s"), (theirs, "wall_s"), (theirs, "inner_s")))
            r.figure(f"{case}, {tool}: time at most theirs ({wall:.2f} s against {their_wall:.2f} s, {inner:.2f} s without Python's start)", wall <= their_wall)
        for tool in ("ridge", "ridge-write", "ridge-400") if case == "small" else ():
            walls = [x["wall_s"] for x in starts[case, tool]]
            if walls:
                r.figure(f"{case}, {tool}: a kernel of 3 us takes 1 s ({statistics.median(walls):.2f} s)", statistics.median(walls) <= 1)
    problems = [x for x in rows if "problem" in x]
    if problems:
        r.line()
        r.line(f"{len(problems)} of {len(rows)} starts failed, the first with: {problems[0]['tool']} {problems[0]['case']}: {problems[0]['problem']}")
        r.figure(f"side by side: {len(problems)} of {len(rows)} starts failed")
    invalid = [x for x in good if x.get("status", "valid") != "valid"]
    if invalid:
        r.figure(f"side by side: {len(invalid)} results of ridge bench are not valid")
    r.line()
    r.line("## Between samples")
    r.line()
    r.line("What `ridge bench` takes from the end of one sample to the first step of the next, and the flush with the wait for it "
           "before each.")
    r.line()
    r.head("kernel", "flush", "harness", "flush and wait", "samples that were rejected", "warm-up")
    worst = 0.0
    for case in CASES:
        for tool in ("ridge", "ridge-write"):
            found = [x for x in starts[case, tool] if x.get("overhead_ns") is not None]
            if not found:
                continue
            harness = statistics.median(x["overhead_ns"] for x in found)
            worst = max(worst, harness)
            rejected, all_of_them = sum(x["rejected"] for x in found), sum(x["rejected"] + x["samples"] for x in found)
            r.row(case, "write" if tool == "ridge-write" else "read", time(harness), time(statistics.median(x["preparation_ns"] for x in found)),
                  f"{rejected} of {all_of_them:,}", f"{statistics.median(x['warm_up_ns'] for x in found) / 1e6:.0f} ms")
    if worst:
        r.figure(f"harness between samples at most 30 us plus the flush (worst {worst / 1e3:.1f} us)", worst <= 30e3)
    else:
        r.figure("harness between samples: not measured")
    r.line()


def different(x):
    return x["verdict"] in ("slower", "faster")


def study(rows, r):
    r.line("## How small a slowdown is seen")
    r.line()
    if not rows:
        r.line("Not measured.")
        r.figure("comparisons: not measured")
        return
    trials = [x for x in rows if x["part"] == "trial"]
    groups = [x for x in rows if x["part"] == "group"]
    kernels = sorted({x["kernel"] for x in rows})
    r.line("Each comparison is of three fresh processes, in which arms are measured in turns, with A once more as the control, and "
           "the rules of `ridge-stats` by default (margin 1 %, band at least 0.5 %). `sum` is bound by memory, `fma` by the issue of "
           "instructions; their work is made larger by a share of the bytes or of the turns of a loop. A fixed part of the time does "
           "not grow with the work, so times grow a little less.")
    r.line()
    r.head("kernel", "median of A", "A against A", "called different", "1.5 % more work: trials", "seen as slower", "ratio of times", "time of a trial, median and longest")
    same = {k: [x for x in groups if x["kernel"] == k and x["growth"] == 0] for k in kernels}
    of = {k: [x for x in trials if x["kernel"] == k] for k in kernels}
    for k in kernels:
        walls, ratios = [x["wall_s"] for x in of[k]], [x["ratio"] for x in of[k]]
        r.row(k, time(statistics.median(x["a_ns"] for x in rows if x["kernel"] == k)), len(same[k]), sum(map(different, same[k])), len(of[k]),
              sum(x["verdict"] == "slower" for x in of[k]), f"{statistics.median(ratios):.4f}" if ratios else "",
              f"{statistics.median(walls):.2f} s, {max(walls):.2f} s" if walls else "")
        if same[k]:
            wrong = sum(map(different, same[k]))
            r.figure(f"{k}: A/A called different in {wrong} of {len(same[k])} (at most 2 of 100)", wrong * 100 <= 2 * len(same[k]))
        if of[k]:
            seen = sum(x["verdict"] == "slower" for x in of[k])
            r.figure(f"{k}: 1.5 % slowdown seen in {seen} of {len(of[k])} (at least 29 of 30)", seen * 30 >= 29 * len(of[k]))
            r.figure(f"{k}: each trial within 5 s (longest {max(walls):.2f} s)", max(walls) <= 5)
    r.line()
    sizes = sorted({x["growth"] for x in groups if x["growth"] > 0})
    r.line("Share of comparisons in which B is called slower, by how much more work it has:")
    r.line()
    r.head("kernel", *(f"{s * 100:g} %" for s in sizes), "seen 95 % of the time from")
    for k in kernels:
        cells, least = [], None
        for s in reversed(sizes):
            at = [x for x in groups if x["kernel"] == k and x["growth"] == s]
            seen = sum(x["verdict"] == "slower" for x in at)
            cells.insert(0, f"{seen} of {len(at)}")
            if at and seen >= 0.95 * len(at) and least in (None, *[t for t in sizes if t > s][:1]):
                least = s
        r.row(k, *cells, "none of these" if least is None else f"{least * 100:g} %")
        if groups:
            r.figure(f"{k}: smallest slowdown that is seen 95 % of the time: {'none of these' if least is None else f'{least * 100:g} %'}")
    faster = sum(x["verdict"] == "faster" for x in rows if x["growth"] > 0)
    as_same = sum(x["verdict"] == "same" for x in rows if x["growth"] >= 0.015)
    rejected = sum(x["rejected"] for x in trials)
    r.line()
    r.line(f"More work was called faster {faster} times. 1.5 % and more was called the same {as_same} times. In the trials {rejected} samples were rejected for "
           f"their clock. The band was set by: " + ", ".join(f"{s} ({sum(x['band_source'] == s for x in rows)})" for s in sorted({x['band_source'] for x in rows})) + ".")
    r.line()


def main():
    folder, r = sys.argv[1], Report()
    side(lines(os.path.join(folder, "side.jsonl")), r)
    study(lines(os.path.join(folder, "study.jsonl")), r)
    try:
        with open(os.path.join(folder, "machine.txt")) as f:
            facts = [line.strip().replace(" |", ",").split("|", 1) for line in f if "|" in line]
    except FileNotFoundError:
        facts = []
    page = ["# Figures of `ridge bench`", "", "| | |", "|---|---|",
            "| question | does `ridge bench` agree with NVIDIA's benchmark library, in no more time and with no more spread; and how small a slowdown is told from none |",
            "| command | `scripts/gpu-figures/build.sh FOLDER WHEEL`, then `FOLDER/run.sh` on the machine with the GPU |",
            "| inputs | `examples/copy.cu`, `gemm.cu`, `reduction.cu`; `crates/ridge-bench/examples/figures/kernels.cu` |",
            *(f"| {name} | {value} |" for name, value in facts),
            "| result | below; each line of `side.jsonl` is a start of a process, each of `study.jsonl` a comparison |",
            "| limits | one GPU in one run: other GPUs, clocks that are locked and neighbours on the GPU are not in it |",
            "", "## What was wanted and what came out", "", *(f"* {x}" for x in r.summary), "", *r.text]
    with open(os.path.join(folder, "bench.md"), "w") as f:
        f.write("\n".join(page).rstrip() + "\n")
    print("\n".join(r.summary).replace("**", ""))


main()
