#!/usr/bin/env python3
"""usage: side_by_side.py RIDGE WORK RESULTS [--starts N] [--budget SECONDS] [--device DEVICE]
       [--cases CASES] [--tools TOOLS]

Starts the tools in turns and appends a line of JSON for each start to RESULTS: NVIDIA's benchmark library, and `ridge bench`
with several options. With `--flush write` it leaves the L2 as the library does (dirty), with `--min-time 400ms` it samples for
about as long as the library. CASES and TOOLS are names with commas between them; all of them where nothing is said."""
import argparse, contextlib, json, os, subprocess, sys, tempfile, time

from cases import CASES

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 60
RIDGE = {"ridge": [], "ridge-write": ["--flush", "write"], "ridge-400": ["--flush", "write", "--min-time", "400ms"]}
TOOLS = ("nvbench", *RIDGE)


def start(command, folder):
    """How long a process took, what it printed, and why it failed, if it did."""
    began = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=folder)
    except subprocess.TimeoutExpired:
        return time.perf_counter() - began, "", f"took longer than {PATIENCE} s"
    except OSError as error:
        return 0.0, "", str(error)
    wall = time.perf_counter() - began
    problem = None if done.returncode == 0 else f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}"
    return wall, done.stdout, problem


def of_nvbench(case, o, folder):
    out = os.path.join(folder, "out.json")
    wall, text, problem = start([sys.executable, os.path.join(HERE, "nvbench_one.py"), case, o.work, out], folder)
    if problem:
        return {"wall_s": wall, "problem": problem}
    with open(out) as f:
        state = json.load(f)["benchmarks"][0]["states"][0]
    values = {s["tag"]: {d["name"]: d["value"] for d in s["data"]}.get("value") for s in state["summaries"]}
    inner = [line.split("=")[1] for line in text.splitlines() if line.startswith("inner_s=")]
    if state.get("is_skipped") or "nv/cold/time/gpu/median" not in values:
        return {"wall_s": wall, "problem": f"no median: {state.get('skip_reason')}, it has {sorted(values)}"}
    ns = lambda tag: float(values[tag]) * 1e9 if values.get(tag) is not None else None
    return {"wall_s": wall, "inner_s": float(inner[0]), "median_ns": ns("nv/cold/time/gpu/median"), "mean_ns": ns("nv/cold/time/gpu/mean"),
            "samples": int(values["nv/cold/sample_size"]), "clock_hz": float(values.get("nv/cold/sm_clock_rate/mean") or 0) or None}


def of_ridge(case, o, folder, options, place):
    # Processes of a simulated device differ by their noise alone.
    device = f"{o.device},seed={place + 1}" if o.device.startswith("sim:") else o.device
    out = os.path.join(folder, "out.json")
    command = [os.path.abspath(o.ridge), "bench", os.path.join(o.work, case + ".toml"), "--device", device, *options, "-o", out]
    wall, _, problem = start(command, folder)
    if problem:
        return {"wall_s": wall, "problem": problem}
    with open(out) as f:
        document = json.load(f)
    state = document["states"][0]
    mode = state["modes"][0]
    keys = ("median_ns", "lower_ns", "upper_ns", "samples", "rejected", "stopped", "clock_hz", "overhead_ns", "preparation_ns")
    return {"wall_s": wall, **{k: mode[k] for k in keys}, "warm_up_ns": mode["warm_up"]["time_ns"], "status": state["status"],
            "notes": [n["id"] for n in mode["notes"]], "floors": document["floors"]}


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("ridge")
    p.add_argument("work")
    p.add_argument("results")
    p.add_argument("--starts", type=int, default=10)
    p.add_argument("--budget", type=float, default=230)
    p.add_argument("--device", default="0")
    p.add_argument("--cases", default=",".join(CASES))
    p.add_argument("--tools", default=",".join(TOOLS))
    o = p.parse_args()
    o.work, o.results = os.path.abspath(o.work), os.path.abspath(o.results)
    for given, known in ((o.cases, CASES), (o.tools, TOOLS)):
        if set(given.split(",")) - set(known):
            p.error(f"{given}: known are {', '.join(known)}")
    measures = {"nvbench": lambda c, f, n: of_nvbench(c, o, f)}
    measures |= {tool: lambda c, f, n, options=options: of_ridge(c, o, f, options, n) for tool, options in RIDGE.items()}
    tools = [(tool, measures[tool]) for tool in o.tools.split(",")]
    end, failures = time.monotonic() + o.budget, {}
    with open(o.results, "a") as results, tempfile.TemporaryDirectory() as folder:
        for place in range(o.starts):
            for case in o.cases.split(","):
                for tool, measure in tools:
                    # What fails again and again is left alone, so that the others have the time.
                    if failures.get((tool, case), 0) >= 2:
                        continue
                    if time.monotonic() > end:
                        print(f"the budget of {o.budget:.0f} s is used up in start {place + 1}")
                        return True
                    with contextlib.suppress(FileNotFoundError):
                        os.remove(os.path.join(folder, "out.json"))
                    try:
                        found = measure(case, folder, place)
                    except (OSError, KeyError, IndexError, ValueError, TypeError) as error:
                        found = {"problem": f"{type(error).__name__}: {error}"}
                    if "problem" in found:
                        failures[tool, case] = failures.get((tool, case), 0) + 1
                        print(f"{tool} {case}: {' '.join(found['problem'].split())[-200:]}")
                    results.write(json.dumps({"part": "side", "start": place, "case": case, "tool": tool, **found}) + "\n")
                    results.flush()
            # Each start begins with another tool.
            tools.append(tools.pop(0))
    return bool(failures)


sys.exit(main())
