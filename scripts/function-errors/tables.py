#!/usr/bin/env python3
"""The figures of a run, as the short tables of docs/measurements/numerics.md. offline.py prints every range of every build.

usage: tables.py FOLDER     reads figures.json, prints Markdown
"""
import json
import pathlib
import sys

figures = json.loads((pathlib.Path(sys.argv[1]) / "figures.json").read_text())
builds = {build["build"]: {one["function"].rstrip("_"): one for one in build["functions"]} for build in figures["builds"]}


def short(value):
    if value is None:
        return ""
    if value == 0:
        return "0"
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e5 else f"{value:.1e}"


def usual(build, function):
    one = builds[build].get(function)
    return one and one["ranges"].get("usual")


def worst(build, function):
    """The largest error in ULP over the usual range; near a zero of the function the absolute one says more."""
    one = usual(build, function)
    if one is None:
        return ""
    if one["max_ulp"] > 1e4:
        return f"{short(one['max_absolute'])} absolute"
    return short(one["max_ulp"])


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|---" + "|--:" * (len(head) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


INTRINSIC = {"exp": "expf", "exp10": "exp10f", "log": "logf", "log2": "log2f", "log10": "log10f", "sin": "sinf", "cos": "cosf", "tan": "tanf",
             "pow": "powf", "divide": "fdividef", "sigmoid": "sigmoid"}
APPROXIMATE = {"reciprocal": "rcp", "sqrt": "sqrt", "rsqrt": "rsqrt", "exp2": "ex2", "log2": "lg2", "sin": "sin", "cos": "cos", "tanh": "tanh"}
print("### Functions\n")
rows = []
for function in builds["default"]:
    if function.startswith(("intrinsic_", "ptx_")):
        continue
    low, high = builds["default"][function]["usual"][:2]
    share = usual("default", function)
    rows.append([
        function, f"{short(low)} to {short(high)}", worst("default", function), f"{100 * share['misrounded'] / share['compared']:.2g} %",
        worst("fast-math", function), worst("default", f"intrinsic_{INTRINSIC.get(function)}"), worst("default", f"ptx_{APPROXIMATE.get(function)}_approx"),
    ])
table(["function", "magnitudes of inputs", "default", "of it not the nearest", "`--use_fast_math`", "intrinsic", "PTX `.approx`"], rows)

print("### What single flags change, in normal numbers\n")
rows = []
for build in ["prec-div-off", "prec-sqrt-off", "ftz", "fmad-off"]:
    changed = []
    for function, one in builds["default"].items():
        other = builds[build].get(function)
        before, after = (each and each["ranges"].get("usual") for each in (one, other))
        if before and after and abs(after["max_ulp"] - before["max_ulp"]) > 0.02 * before["max_ulp"]:
            changed.append(f"{function} {short(before['max_ulp'])} to {short(after['max_ulp'])}")
    rows.append([f"`{build}`", ", ".join(changed) or "nothing"])
table(["build", "largest error in ULP"], rows)
flushed = [
    function for function, one in builds["default"].items()
    if (other := builds["ftz"].get(function)) and any(
        part["lost"] > one["ranges"][name]["lost"] + part["count"] // 2
        for name, part in other["ranges"].items() if name.startswith("subnormal") and name in one["ranges"])
]
print("With `-ftz=true`, most results with subnormal inputs or results are 0 in: " + ", ".join(flushed) + ".\n")

print("### Contraction: a*b + c\n")
rows = []
for sums in figures["sums"]:
    for inputs, one in sums["multiply_add"].items():
        rows.append([sums["build"], inputs, short(one["max_ulp"]), short(one["mean_ulp"]), f"{100 * one['lost'] / one['count']:.3g} %"])
table(["build", "inputs", "max ULP", "mean ULP", "lost: 0 in place of the result"], rows)

print("### Orders of a sum: error over u S, S = Σ|a||b|\n")
rows = []
dots = figures["sums"][0]["dot"]
ends = {min(one["length"] for one in dots), max(one["length"] for one in dots)}
for one in (one for one in dots if one["length"] in ends):
    for name, method in one["methods"].items():
        rows.append([f"{one['inputs']}, K = {one['length']}", name, short(method["rms_per_u_s"]), short(method["max_per_u_s"]), short(method["mean_signed_per_u_s"])])
table(["inputs", "order", "root mean square", "largest", "mean"], rows)

print("### Atomic sums, 16 runs\n")
rows = []
for name, one in figures["sums"][0]["atomic"].items():
    rows.append([name, str(one["distinct"]), f"{one['varying']} of {one['elements']}", short(one["max_spread_ulp"]), short(one["max_error_ulp"])])
table(["sum", "distinct results", "elements that vary", "largest spread, ULP", "largest error, ULP"], rows)
print("Subnormal results of atomic additions: " + ", ".join(f"{where} {what}" for where, what in figures["sums"][0]["subnormal_atomic_add"].items()) + ".\n")

tensor = figures["tensor"]
print(f"### Products in PyTorch {tensor['torch']}, against FP64\n")
rows = {}
for one in tensor["products"]:
    row = rows.setdefault((one["name"], one["dtype"], one["inputs"]), {})
    row[one["k"]] = one["relative_l2"]
lengths = [256, 1024, 4096, 16384]
table(["relative L2 error, by K", "output", "inputs", *map(str, lengths)],
      [[*key, *(short(row.get(k)) for k in lengths)] for key, row in rows.items()])

print("### Other operations in PyTorch\n")
table(["operation", "output", "max ULP", "p99 ULP", "median ULP", "relative L2"],
      [[one["name"], one["dtype"], *(short(one[key]) for key in ["max_ulp", "p99_ulp", "median_ulp", "relative_l2"])] for one in tensor["operations"]])

print("### The same again\n")
table(["operation", "runs", "distinct results", "elements that vary", "largest spread, ULP"],
      [[one["name"], str(one["runs"]), str(one["distinct"]), f"{100 * one['varying']:.3g} %", short(one["max_spread_ulp"])] for one in tensor["repeats"]])
