#!/usr/bin/env python3
"""Compares the samples of a run with correctly rounded results, and writes its figures as Markdown. Needs mpmath, no GPU.

usage: offline.py FOLDER     reads figures.json and samples.bin, prints the tables; exit code 1 where GPU and mpmath disagree

The GPU measured every input against FP64 functions. The samples hold the worst input of each exponent and random ones: mpmath, at
200 bits, says whether the worst errors are what the GPU found, and so whether FP64 was a fair judge.
"""
import json
import math
import pathlib
import struct
import sys

import mpmath
from mpmath import mpf

mpmath.mp.prec = 200
PI = mpmath.pi
RANGES = ["usual", "other-normal", "subnormal-input", "subnormal-result"]


def sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


EXACT = {
    "reciprocal": lambda x: 1 / x,
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "exp": mpmath.exp,
    "exp2": lambda x: mpf(2) ** x,
    "exp10": lambda x: mpf(10) ** x,
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "log10": mpmath.log10,
    "log1p": mpmath.log1p,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "sigmoid": sigmoid,
    "silu": lambda x: x * sigmoid(x),
    "gelu": lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "add": lambda x, y: x + y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "pow": lambda x, y: mpmath.power(x, y),
    "atan2": mpmath.atan2,
    "hypot": mpmath.hypot,
}
SAME = {"intrinsic_frcp_rn": "reciprocal", "ptx_rcp_approx": "reciprocal", "intrinsic_fsqrt_rn": "sqrt", "ptx_sqrt_approx": "sqrt",
        "intrinsic_frsqrt_rn": "rsqrt", "ptx_rsqrt_approx": "rsqrt", "intrinsic_sigmoid": "sigmoid", "intrinsic_fdividef": "divide",
        "ptx_ex2_approx": "exp2", "ptx_lg2_approx": "log2"}
# Arguments outside of which the real function has no value, or one so large or small that FP32 has none.
DOMAIN = {
    "sqrt": lambda x: x >= 0, "rsqrt": lambda x: x > 0, "log": lambda x: x > 0, "log2": lambda x: x > 0, "log10": lambda x: x > 0,
    "log1p": lambda x: x > -1, "asin": lambda x: abs(x) <= 1, "acos": lambda x: abs(x) <= 1, "reciprocal": lambda x: x != 0,
    "exp": lambda x: abs(x) < 110, "exp2": lambda x: abs(x) < 155, "exp10": lambda x: abs(x) < 48, "expm1": lambda x: x < 90,
    "sinh": lambda x: abs(x) < 90, "cosh": lambda x: abs(x) < 90, "sigmoid": lambda x: x > -110, "silu": lambda x: x > -110,
    "gelu": lambda x: x > -15, "erfc": lambda x: x < 11, "divide": lambda x, y: y != 0, "atan2": lambda x, y: x != 0 or y != 0,
    "pow": lambda x, y: x > 0 and abs(y * math.log2(x)) < 160,
}


def base(name):
    if name in SAME:
        return SAME[name]
    for prefix in ("intrinsic_", "ptx_"):
        if name.startswith(prefix):
            return name.removeprefix(prefix).removesuffix("_approx").removesuffix("f")
    return name.removesuffix("_")


def value(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def ulps(result, correct):
    """Signed error of a result in units of the spacing of FP32 at the exact value; None where there is none to speak of."""
    size = abs(correct)
    if size == 0:
        return None if result == 0 else math.inf
    exponent = max(int(mpmath.floor(mpmath.log(size, 2))), -126)
    # The logarithm of a number just below a power of two may round up to it.
    if mpf(2) ** exponent > size and exponent > -126:
        exponent -= 1
    if size >= mpf(2) ** 128 * (1 - mpf(2) ** -25) or math.isinf(result):
        return None
    if result == 0 and size > mpf(2) ** -150:
        return None
    return float((mpf(result) - correct) / mpf(2) ** (exponent - 23))


def compare(function, records):
    """The worst error of the samples of a function against mpmath, in ULP, and how many were compared."""
    name = base(function["function"])
    exact, domain, arity = EXACT[name], DOMAIN.get(name, lambda *_: True), function["arity"]
    worst, count = 0.0, 0
    for i in range(function["samples"]["first"], function["samples"]["first"] + function["samples"]["count"]):
        a, b, bits = struct.unpack_from("<III", records, 12 * i)
        arguments = [value(a), value(b)][:arity]
        if any(map(math.isnan, arguments)) or any(map(math.isinf, arguments)) or not domain(*arguments):
            continue
        result = value(bits)
        if math.isnan(result):
            continue
        error = ulps(result, exact(*map(mpf, arguments)))
        if error is not None:
            count += 1
            worst = max(worst, abs(error))
    return worst, count


def figure(x):
    return f"{x:.3g}" if x < 1e4 else f"{x:.1e}"


def percent(part, whole):
    if not whole:
        return "–"
    share = 100 * part / whole
    return "0" if part == 0 else f"{share:.2g} %" if share >= 0.001 else f"{part}"


def main():
    folder = pathlib.Path(sys.argv[1])
    figures = json.loads((folder / "figures.json").read_text())
    records = (folder / "samples.bin").read_bytes()
    disagree = []
    for build in figures["builds"]:
        print(f"### Build `{build['flags'] or '(none)'}`\n")
        print("| function | range | inputs | max ULP | at | mean ULP | not correctly rounded | lost | special | mpmath, max ULP |")
        print("|---|---|---|---|---|---|---|---|---|---|")
        for function in build["functions"]:
            worst, count = compare(function, records)
            highest = max(function["ranges"][r]["max_ulp"] for r in RANGES if function["ranges"][r]["compared"])
            # The worst inputs are among the samples. Where the GPU took every input, no sample may be worse than its worst either.
            # FP64 as judge adds far less than a thousandth.
            allowed = 1e-3 * max(1.0, highest)
            if count and (highest - worst > allowed or (function["every"] == 1 and worst - highest > allowed)):
                disagree.append(f"{build['build']} {function['function']}: GPU {highest:.6g}, mpmath {worst:.6g}")
            for r in RANGES:
                row = function["ranges"][r]
                if not row["compared"] and not row["lost"] and not row["special"]:
                    continue
                at = ", ".join(f"{value(bits):.9g}" for bits in row["at"][:function["arity"]]) if row["compared"] else "–"
                print(f"| {function['function'].removesuffix('_')} | {r} | {row['count']} | {figure(row['max_ulp'])} | {at} | "
                      f"{figure(row['mean_ulp'])} | {percent(row['misrounded'], row['compared'])} | "
                      f"{percent(row['lost'], row['count'])} | {percent(row['special'], row['count'])} | "
                      f"{figure(worst)} of {count} |")
        print()
    for line in disagree:
        print(f"disagreement: {line}", file=sys.stderr)
    sys.exit(1 if disagree else 0)


main()
