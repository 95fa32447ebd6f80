#!/usr/bin/env python3
"""pack.py REPORT            compresses a report to REPORT.xz, with this machine's name and folder made unreadable
pack.py --tar OUT FOLDER   puts FOLDER/*.xz into OUT/reports-<n>.tar, each at most 15 MiB, and writes OUT/labels.jsonl
pack.py --import OUT       unpacks OUT/reports-*.tar to fixtures/gallery/*.ncu-rep.zst (needs zstd) with labels.jsonl, and fills the
                           tables of figures in the READMEs of the cases"""
import glob, json, lzma, os, re, socket, subprocess, sys, tarfile
from run import HERE, Bench

KEYS = ("case", "report", "slow", "fixed", "label", "accept", "slow_us", "fixed_us", "slow_cold_us", "fixed_cold_us", "min_bytes", "flops", "fix",
        "rel_l2_fixed_vs_slow", "scope", "note")
TAR_LIMIT = 15 << 20


def compress(path):
    data = open(path, "rb").read()
    names = [os.path.dirname(HERE), os.path.dirname(os.path.abspath(path)), socket.gethostname(), socket.getfqdn()]
    for n in sorted({n for n in names if len(n) > 3 and n != "localhost"}, key=len, reverse=True):
        data = data.replace(n.encode(), re.sub(r"[^/.]", "x", n).encode())
    with open(path + ".part", "wb") as f:
        f.write(lzma.compress(data, preset=6))
    os.replace(path + ".part", path + ".xz")
    os.remove(path)


def label(case, times):
    b = Bench(case)
    t, r = b.toml, dict(times)
    r.setdefault("fixed_us", r["slow_us"])
    r.setdefault("fixed_cold_us", r["slow_cold_us"])
    r.update(report=case + ".ncu-rep.zst", slow=b.variants["slow"][0]["kernel"], fixed=b.variants["fixed"][0]["kernel"] if "fixed" in b.variants else None,
             label=t["label"], accept=t["accept"], min_bytes=b.min_bytes, flops=b.flops, fix=t["fix"])
    r.update({k: t[k] for k in ("scope", "note") if k in t})
    return {k: r[k] for k in KEYS if k in r}


def read_times(out):
    times = {}
    if os.path.exists(os.path.join(out, "times.jsonl")):
        for line in open(os.path.join(out, "times.jsonl")):
            r = json.loads(line)
            if "slow_us" in r:
                times[r["case"]] = r
    return times


def tar(out, folder):
    times, labels, n, size, t = read_times(out), [], 0, TAR_LIMIT, None
    for path in sorted(glob.glob(os.path.join(folder, "*.ncu-rep.xz"))):
        case, s = os.path.basename(path)[:-len(".ncu-rep.xz")], os.path.getsize(path) + 2048
        if case in times:
            labels.append(label(case, times[case]))
        if size + s > TAR_LIMIT:
            if t:
                t.close()
            n, size = n + 1, 0
            t = tarfile.open(os.path.join(out, f"reports-{n}.tar"), "w")
        info = tarfile.TarInfo(os.path.basename(path))
        info.size = os.path.getsize(path)
        with open(path, "rb") as f:
            t.addfile(info, f)
        size += s
    if t:
        t.close()
    with open(os.path.join(out, "labels.jsonl"), "w") as f:
        f.writelines(json.dumps(l) + "\n" for l in labels)
    print(f"{len(labels)} labels, {n} archives, {sum(map(os.path.getsize, glob.glob(os.path.join(out, 'reports-*.tar')))) / 1e6:.1f} MB")


def figures(case, r, device):
    b = Bench(case)
    def row(name, hot, cold):
        rate = f"{b.min_bytes / hot / 1e3:.0f} GB/s" + (f", {b.flops / hot / 1e3:.0f} GFLOP/s" if b.flops else "")
        return f"| {name} | {hot:.1f} µs | {cold:.1f} µs | {rate} |"
    rows = ["| | hot | cold | compulsory bytes and operations over time |", "|---|---|---|---|", row("slow", r["slow_us"], r["slow_cold_us"])]
    if "fixed_us" in r:
        rows.append(row("fixed", r["fixed_us"], r["fixed_cold_us"]))
        rows += ["", f"Saved: {100 * (1 - r['fixed_us'] / r['slow_us']):.0f} % of the time."]
        if r.get("rel_l2_fixed_vs_slow", -1) >= 0:
            rows[-1] += f" Relative difference of the outputs: {r['rel_l2_fixed_vs_slow']:.1e}."
    rows += ["", f"Medians on one {device}, clocks not locked, no profiler; cold: after L2 was overwritten."]
    path = os.path.join(HERE, case, "README.md")
    s = open(path).read()
    s = re.sub(r"(<!-- figures -->\n).*?(\n<!-- /figures -->)", lambda m: m[1] + "\n".join(rows) + m[2], s, flags=re.S)
    open(path, "w").write(s)


def take(out):
    target, times, labels = os.path.join(os.path.dirname(HERE), "fixtures", "gallery"), read_times(out), {}
    os.makedirs(target, exist_ok=True)
    known = os.path.join(target, "labels.jsonl")
    if os.path.exists(known):
        labels = {l["case"]: l for l in map(json.loads, open(known))}
    for t in sorted(glob.glob(os.path.join(out, "reports-*.tar"))):
        for m in tarfile.open(t):
            case = os.path.basename(m.name)[:-len(".ncu-rep.xz")]
            data = lzma.decompress(tarfile.open(t).extractfile(m.name).read())
            subprocess.run(["zstd", "-q", "-f", "-19", "-o", os.path.join(target, case + ".ncu-rep.zst")], input=data, check=True)
            if case in times:
                labels[case] = label(case, times[case])
                figures(case, times[case], times[case]["device"])
    with open(known, "w") as f:
        f.writelines(json.dumps(labels[c]) + "\n" for c in sorted(labels))
    print(f"{len(labels)} labels, {sum(map(os.path.getsize, glob.glob(os.path.join(target, '*.zst')))) / 1e6:.1f} MB of reports")


if __name__ == "__main__":
    if sys.argv[1] == "--tar":
        tar(*sys.argv[2:4])
    elif sys.argv[1] == "--import":
        take(sys.argv[2])
    else:
        compress(sys.argv[1])
