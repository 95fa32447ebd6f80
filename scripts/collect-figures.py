#!/usr/bin/env python3
"""collect-figures.py RIDGE OUT [PROGRAM...]

Compares `ridge why -- PROGRAM` with `ncu --set full` over the same launches: first findings, passes and wall time. Needs a GPU,
ncu and a built `ridge`. Without a program it runs the cases of the gallery, ten at a time as one program each. Programs have to
call cudaProfilerStart, as those of the gallery do. Results go to the new folder OUT, and one line for each kernel to standard output.
Clocks and settings of the GPU are left as they are."""
import glob, json, os, shlex, subprocess, sys, time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def timed(command):
    start = time.time()
    done = subprocess.run(command, capture_output=True, text=True)
    return done, time.time() - start


def first(document):
    key = lambda k: (k["name"], str(k["grid"]), str(k["block"]))
    return {key(k): (k["findings"][0]["id"] if k["findings"] else "none") for k in document["kernels"]}


def compare(ridge, folder, program):
    off = ["--profile-from-start", "off"]
    done, wall = timed([ridge, "why", "--format", "json", "--keep", folder, *off, "--", *program])
    if not done.stdout:
        sys.exit(f"{shlex.join(program)}: {done.stderr}")
    tiered = json.loads(done.stdout)
    tiers = tiered["sources"][0]["collected"]["tiers"]
    for tier in tiers:
        print(f"  tier {tier['tier']}: {tier['launches']} launches, passes {tier['passes']}, {tier['wall_s']:.2f} s {tier['failure'] or ''}", flush=True)
    words = shlex.split(next(t for t in tiers if t["tier"] == 1)["command"])
    kernels = words[words.index("--kernel-id") + 1]
    report = os.path.join(folder, "full.ncu-rep")
    done, full_wall = timed(["ncu", "--clock-control", "none", *off, "--set", "full", "--import-source", "yes", "--kernel-id", kernels, "-o", report, *program])
    done, _ = timed([ridge, "why", "--format", "json", report])
    full = json.loads(done.stdout)
    a, b = first(tiered), first(full)
    same = sum(a.get(k) == b[k] for k in b)
    for k in b:
        print(f"  {k[0]}: {a.get(k)}" + ("" if a.get(k) == b[k] else f", full set: {b[k]}"), flush=True)
    passes = sum(t["launches"] * t["passes"][1] for t in tiers if t["passes"] and t["tier"] > 0) + len(b)
    all_passes = len(b) * full["sources"][0]["collection"]["passes"][1]
    return {"program": program, "kernels": len(b), "same": same, "passes": passes, "full_passes": all_passes, "wall_s": wall, "full_wall_s": full_wall}


def main():
    ridge, out, program = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(out)
    programs = [program]
    if not program:
        run = os.path.join(HERE, "gallery", "run.py")
        cases = sorted(os.path.basename(os.path.dirname(f)) for f in glob.glob(os.path.join(HERE, "gallery", "*", "bench.toml")))
        subprocess.run([sys.executable, run, "--compile", *cases])
        programs = [[sys.executable, run, "--profile", *cases[i:i + 10]] for i in range(0, len(cases), 10)]
    results = []
    for number, program in enumerate(programs):
        results.append(compare(ridge, os.path.join(out, str(number)), program))
        with open(os.path.join(out, "results.json"), "w") as file:
            json.dump(results, file, indent=1)
    total = lambda key: sum(r[key] for r in results)
    print(f"{total('same')} of {total('kernels')} first findings as with the full set; passes {total('passes') / total('full_passes'):.2f}, wall time {total('wall_s') / total('full_wall_s'):.2f} of the full set's")


if __name__ == "__main__":
    main()
