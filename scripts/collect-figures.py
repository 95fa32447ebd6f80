#!/usr/bin/env python3
"""collect-figures.py RIDGE OUT [--corpus FOLDER] [--off] [-- PROGRAM...]

Compares `ridge why -- PROGRAM` with `ncu --set full` over the same launches: first findings, passes, and wall time from the start
of ridge to its answer. Needs a GPU, ncu, CUPTI and a built `ridge`; nvcc for the graph, PyTorch and Triton for the corpus.
With --off, only launches between cudaProfilerStart and cudaProfilerStop of the program count.

Without a program it runs, in this order:
  gallery N    the cases of the gallery, ten at a time as one program each, between cudaProfilerStart and cudaProfilerStop
  pytorch      pytorch_step.py of the corpus (--corpus names the folder that holds programs/)
  triton       triton_kernels.py of the corpus
  graph        fixtures/traces/streams_graph_copies.cu: kernels of a graph, of several streams, and of a child process
  application  the first program of the gallery with --replay application
Each part that cannot run says why, and the others go on. For each program it also tells whether the profiler found the
launches that the recording told (same name, grid and block).

Results go to the new folder OUT (results.json), and lines to standard output. Clocks and settings of the GPU are left as they are."""
import glob, json, os, shlex, subprocess, sys, time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OFF = ["--profile-from-start", "off"]


def timed(command, **more):
    start = time.time()
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", **more)
    return done, time.time() - start


def key(kernel):
    return kernel["name"], str(kernel["grid"]), str(kernel["block"])


def first(document):
    return {key(k): (k["findings"][0]["id"] if k["findings"] else "none") for k in document["kernels"]}


def passes_of(tiers):
    return sum(t["launches"] * t["passes"][1] for t in tiers if t["passes"])


def compare(ridge, folder, title, program, options=()):
    print(f"{title}: {shlex.join(program)} {shlex.join(options)}", flush=True)
    done, wall = timed([ridge, "why", "--format", "json", "--keep", folder, *options, "--", *program])
    if not done.stdout:
        raise RuntimeError(f"code {done.returncode}: {done.stderr[-2000:]}")
    for line in done.stderr.splitlines():
        if "warning" in line or "not launched again" in line or "not there again" in line:
            print(f"  said: {line}", flush=True)
    tiered = json.loads(done.stdout)
    collected = tiered["sources"][0]["collected"]
    tiers = collected["tiers"]
    for tier in tiers:
        print(f"  tier {tier['tier']}: {tier['launches']} launches, passes {tier['passes']}, {tier['wall_s']:.2f} s {tier['failure'] or ''}", flush=True)
    print(f"  launches from {collected['launches_from']}: {collected['launches']}, {collected['kernels_seen']} kernels; told: {collected['traced']}", flush=True)
    command = next(t for t in tiers if t["tier"] == 1 and not t["failure"])["command"]
    words = shlex.split(command)
    kernels = words[words.index("--kernel-id") + 1]
    ncu = words[0]
    report = os.path.join(folder, "full.ncu-rep")
    replay = ["--replay-mode", "application"] if "application" in options else []
    off = OFF if "off" in options else []
    done, full_wall = timed([ncu, "--clock-control", "none", *off, *replay, "--set", "full", "--import-source", "yes", "--kernel-id", kernels, "-o", report, *program])
    done, answer = timed([ridge, "why", "--format", "json", report])
    if not done.stdout:
        raise RuntimeError(f"the full set: {done.stderr[-2000:]}")
    full = json.loads(done.stdout)
    a, b = first(tiered), first(full)
    both = [k for k in b if k in a]
    same = sum(a[k] == b[k] for k in both)
    for k in both:
        if a[k] != b[k]:
            print(f"  {k[0]}: {a[k]}, full set: {b[k]}", flush=True)
    timings = {key(k): (k["timed"]["median_ns"], k["duration_ns"]) for k in tiered["kernels"] if k["timed"] and k["duration_ns"]}
    for k, (recorded, profiled) in timings.items():
        print(f"  {k[0]} {k[1]}: recorded {recorded:.0f} ns, under the profiler {profiled:.0f} ns, {profiled / recorded if recorded else 0:.2f} times", flush=True)
    result = {
        "title": title, "program": program, "options": list(options), "launches_from": collected["launches_from"], "launches": collected["launches"],
        "chosen": collected["kernels_profiled"], "found": len(a), "matched": len(timings), "kernels": len(both), "same": same,
        "passes": passes_of(tiers), "full_passes": len(b) * full["sources"][0]["collection"]["passes"][1],
        "runs": len(tiers), "wall_s": wall, "full_wall_s": full_wall + answer,
        "tiers": [[t["tier"], t["launches"], t["passes"], t["wall_s"], t["failure"]] for t in tiers],
        "timings": [[*k, *v] for k, v in timings.items()],
    }
    print(f"  {same} of {len(both)} first findings, passes {result['passes'] / max(1, result['full_passes']):.2f}, wall {wall:.1f} s against {result['full_wall_s']:.1f} s ({wall / result['full_wall_s']:.2f})", flush=True)
    return result


def gallery():
    run = os.path.join(HERE, "gallery", "run.py")
    cases = sorted(os.path.basename(os.path.dirname(f)) for f in glob.glob(os.path.join(HERE, "gallery", "*", "bench.toml")))
    subprocess.run([sys.executable, run, "--compile", *cases])
    return [[sys.executable, run, "--profile", *cases[i:i + 10]] for i in range(0, len(cases), 10)]


def graph(out):
    program = os.path.join(out, "streams_graph_copies")
    subprocess.run(["nvcc", "-O3", "-o", program, os.path.join(HERE, "fixtures", "traces", "streams_graph_copies.cu")], check=True)
    return [program, "all"]


def main():
    words = sys.argv[1:]
    program = []
    if "--" in words:
        place = words.index("--")
        words, program = words[:place], words[place + 1:]
    corpus = None
    if "--corpus" in words:
        place = words.index("--corpus")
        corpus = words[place + 1]
        del words[place:place + 2]
    off = "--off" in words
    words = [word for word in words if word != "--off"]
    ridge, out = words
    os.makedirs(out)
    results = {"compared": [], "failed": {}}

    def part(title, make, options=()):
        try:
            results["compared"].append(compare(ridge, os.path.join(out, title.replace(" ", "-")), title, make(), options))
        except Exception as error:
            results["failed"][title] = str(error)
            print(f"{title}: failed: {error}", flush=True)
        with open(os.path.join(out, "results.json"), "w") as file:
            json.dump(results, file, indent=1)

    if program:
        part("program", lambda: program, OFF if off else ())
    else:
        programs = gallery()
        for number, one in enumerate(programs):
            part(f"gallery {number}", lambda one=one: one, OFF)
        if corpus:
            step = os.path.join(corpus, "programs", "pytorch_step.py")
            part("pytorch", lambda: [sys.executable, step, "ncu"], OFF)
            part("triton", lambda: [sys.executable, os.path.join(corpus, "programs", "triton_kernels.py")])
        part("graph", lambda: graph(out))
        part("application", lambda: programs[0], [*OFF, "--replay", "application"])
    with open(os.path.join(out, "results.json"), "w") as file:
        json.dump(results, file, indent=1)
    of = [r for r in results["compared"] if r["title"] != "application"]
    total = lambda name: sum(r[name] for r in of)
    if of:
        print(f"{total('same')} of {total('kernels')} first findings as with the full set; passes {total('passes') / total('full_passes'):.2f}, wall time {total('wall_s') / total('full_wall_s'):.2f} of the full set's; {total('found')} of {total('chosen')} chosen kernels found again")
    for title, why in results["failed"].items():
        print(f"failed: {title}: {why[:300]}")


if __name__ == "__main__":
    main()
