#!/usr/bin/env python3
"""Runs cases of the gallery: compiles kernels.cu with NVRTC and launches it as bench.toml says (README.md describes the format).

usage: run.py [--compile] [--check] [--time] [--profile] [--json FILE] [--arch sm_90] [--dump DIR] CASE... | all

--compile  compile only; needs no GPU. --dump DIR keeps the cubins there.
--check    run slow and fixed on the same data and compare their outputs
--time     medians without a profiler: hot (again and again) and cold (after an L2 flush)
--profile  every kernel once, between start and stop of the profiler: ncu --profile-from-start off ... run.py --profile CASE
--json     append one line of results a case
--outputs DIR  with --check: keep the outputs as CASE.slow.safetensors and CASE.fixed.safetensors, for `ridge numerics`

Needs Python 3.11, NVRTC with the CUDA headers (or nvcc), and for everything but --compile a driver. No further packages.
"""
import argparse, ast, ctypes, glob, hashlib, json, math, os, shutil, statistics, subprocess, sys, tempfile, time, tomllib
from ctypes import byref, c_char_p, c_double, c_float, c_int, c_size_t, c_uint32, c_uint64, c_void_p

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1, "u8": 1, "i32": 4, "u32": 4}
SCALARS = {"i32": c_int, "u32": c_uint32, "i64": ctypes.c_int64, "f32": c_float}
SAFETENSORS = {"f32": "F32", "f16": "F16", "bf16": "BF16", "i8": "I8", "u8": "U8", "i32": "I32", "u32": "U32"}
INITS = {"zeros": 0, "constant": 0, "iota": 1, "random": 2, "bits": 3, "permutation": 4, "inverse-permutation": 5, "sorted": 6, "shuffled": 7}
FLOAT_INITS = ("zeros", "constant", "iota", "random")


# ---- bench.toml ----------------------------------------------------------------------------------------------------------------

def evaluate(e, names):
    """An integer expression of names, numbers, + - * / (rounded down), parentheses and ceil(a, b), the quotient rounded up."""
    if isinstance(e, int):
        return e
    def go(n):
        if isinstance(n, ast.Expression): return go(n.body)
        if isinstance(n, ast.Constant) and isinstance(n.value, int): return n.value
        if isinstance(n, ast.Name): return names[n.id]
        if isinstance(n, ast.BinOp):
            a, b = go(n.left), go(n.right)
            if isinstance(n.op, ast.Add): return a + b
            if isinstance(n.op, ast.Sub): return a - b
            if isinstance(n.op, ast.Mult): return a * b
            if isinstance(n.op, ast.Div): return a // b
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "ceil" and len(n.args) == 2:
            a, b = map(go, n.args)
            return -(-a // b)
        raise ValueError(f"cannot evaluate {e!r}")
    return go(ast.parse(e, mode="eval"))


def triple(v, names):
    v = v if isinstance(v, list) else [v]
    return tuple(evaluate(x, names) for x in v) + (1,) * (3 - len(v))


class Bench:
    def __init__(self, case, override=()):
        self.case, self.folder = case, os.path.join(HERE, case)
        with open(os.path.join(self.folder, "bench.toml"), "rb") as f:
            t = tomllib.load(f)
        self.toml, self.names = t, {}
        for k, v in t.get("sizes", {}).items():
            self.names[k] = dict(override).get(k) or evaluate(v, self.names)
        self.buffers = {}
        for k, b in t["buffers"].items():
            b = dict(b, length=evaluate(b["length"], self.names))
            if b["init"] not in INITS or b["type"] not in SIZES or (b["type"] in ("f32", "f16", "bf16") and b["init"] not in FLOAT_INITS):
                raise ValueError(f"{case}: buffer {k}: unknown type or init")
            if isinstance(b.get("high"), str):
                b["high"] = evaluate(b["high"], self.names)
            if "permutation" in b["init"] or b["init"] == "shuffled":
                if b["length"] & (b["length"] - 1):
                    raise ValueError(f"{case}: buffer {k}: a permutation needs a power of two")
            self.buffers[k] = b
        self.scalars = {k: (s["type"], s["value"] if isinstance(s["value"], float) else evaluate(s["value"], self.names)) for k, s in t.get("scalars", {}).items()}
        self.variants = {}
        for v in ("slow", "fixed"):
            if v in t:
                self.variants[v] = [dict(kernel=s["kernel"], grid=triple(s["grid"], self.names), block=triple(s["block"], self.names),
                                         shared=evaluate(s.get("shared", 0), self.names), args=s["args"]) for s in t[v]]
        for steps in self.variants.values():
            for s in steps:
                for a in s["args"]:
                    if a not in self.buffers and a not in self.scalars:
                        raise ValueError(f"{case}: unknown argument {a}")
        self.repeat = {v: evaluate(t.get(f"{v}_repeat", 1), self.names) for v in self.variants}
        self.min_bytes, self.flops = evaluate(t["min_bytes"], self.names), evaluate(t["flops"], self.names)


# ---- compiling -----------------------------------------------------------------------------------------------------------------

def include_folders():
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    nvcc = shutil.which("nvcc")
    if nvcc:
        roots.append(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))))
    roots += [os.path.join(p, "nvidia", d) for p in sys.path for d in ("cu13", "cuda_runtime")]
    found = [os.path.join(r, d) for r in roots if r for d in ("include", "targets/x86_64-linux/include") if os.path.exists(os.path.join(r, d, "cuda_fp16.h"))]
    found.sort(key=lambda d: not os.path.exists(os.path.join(d, "crt", "mma.h")))
    return [x for d in found[:1] for x in (d, os.path.join(d, "cccl"))]


def load_nvrtc():
    places = [os.environ.get("GALLERY_NVRTC")]
    places += [f for p in sys.path for f in sorted(glob.glob(os.path.join(p, "nvidia", "*", "lib", "libnvrtc.so.*")))]
    places += sorted(glob.glob("/usr/local/cuda/lib64/libnvrtc.so*")) + ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
    for p in places:
        if p:
            try:
                for f in sorted(glob.glob(os.path.join(os.path.dirname(p), "libnvrtc-builtins.so*"))) if os.path.dirname(p) else []:
                    ctypes.CDLL(f, mode=ctypes.RTLD_GLOBAL)
                return ctypes.CDLL(p)
            except OSError:
                pass
    raise OSError("no NVRTC library found")


def compile_nvrtc(source, name, arch, options):
    lib = load_nvrtc()
    program = c_void_p()
    if lib.nvrtcCreateProgram(byref(program), source.encode(), name.encode(), 0, None, None):
        raise RuntimeError("nvrtcCreateProgram failed")
    opts = [f"--gpu-architecture={arch}", "--std=c++17", "-lineinfo", *options, *("-I" + d for d in include_folders())]
    rc = lib.nvrtcCompileProgram(program, len(opts), (c_char_p * len(opts))(*(o.encode() for o in opts)))
    size = c_size_t()
    lib.nvrtcGetProgramLogSize(program, byref(size))
    log = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetProgramLog(program, log)
    if rc:
        raise RuntimeError(log.value.decode())
    if log.value.strip():
        print(f"{name}: {log.value.decode().strip()}", file=sys.stderr)
    lib.nvrtcGetCUBINSize(program, byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetCUBIN(program, cubin)
    lib.nvrtcDestroyProgram(byref(program))
    return cubin.raw


def compile_nvcc(source, name, arch, options):
    with tempfile.TemporaryDirectory() as d:
        src, out = os.path.join(d, "kernels.cu"), os.path.join(d, "kernels.cubin")
        with open(src, "w") as f:
            f.write(f'#line 1 "{name}"\n{source}')
        p = subprocess.run(["nvcc", "-cubin", f"-arch={arch}", "-std=c++17", "-lineinfo", *options, src, "-o", out], capture_output=True, text=True)
        if p.returncode:
            raise RuntimeError(p.stderr)
        with open(out, "rb") as f:
            return f.read()


def cubin_of(path, arch, options=()):
    """The compiled file; kept in a cache folder, so that a profiled process need not compile."""
    with open(path) as f:
        source = f.read()
    name = "/" + os.path.relpath(path, os.path.dirname(HERE))  # absolute: NVRTC would put the current folder in front
    cache = os.environ.get("GALLERY_CACHE") or os.path.join(tempfile.gettempdir(), f"gallery-cubins-{os.getuid()}")
    os.makedirs(cache, exist_ok=True)
    file = os.path.join(cache, hashlib.sha256(repr((source, name, arch, options)).encode()).hexdigest()[:24] + ".cubin")
    if os.path.exists(file):
        with open(file, "rb") as f:
            return f.read()
    try:
        cubin = compile_nvrtc(source, name, arch, options)
    except Exception as e:
        if not shutil.which("nvcc"):
            raise
        print(f"{name}: NVRTC: {e}; trying nvcc", file=sys.stderr)
        cubin = compile_nvcc(source, name, arch, options)
    with open(file + f".{os.getpid()}", "wb") as f:
        f.write(cubin)
    os.replace(file + f".{os.getpid()}", file)
    return cubin


# ---- the driver ----------------------------------------------------------------------------------------------------------------

class Device:
    def __init__(self):
        for p in ("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1"):
            try:
                self.lib = ctypes.CDLL(p)
                break
            except OSError:
                continue
        else:
            raise OSError("no CUDA driver found")
        self.call("cuInit", 0)
        d, self.context = c_int(), c_void_p()
        self.call("cuDeviceGet", byref(d), 0)
        self.call("cuDevicePrimaryCtxRetain", byref(self.context), d)
        self.call("cuCtxSetCurrent", self.context)
        attribute = lambda k: (v := c_int(), self.call("cuDeviceGetAttribute", byref(v), k, d))[0].value
        name = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", name, 100, d)
        self.name, self.capability, self.l2 = name.value.decode(), (attribute(75), attribute(76)), attribute(38)
        self.modules, self.held, self.owned = {}, [], []

    def call(self, name, *args):
        rc = getattr(self.lib, name)(*args)
        if rc:
            text = c_char_p()
            self.lib.cuGetErrorName(rc, byref(text))
            raise RuntimeError(f"{name}: {text.value.decode() if text.value else rc}")

    def module(self, path, options=(), arch=None):
        if path not in self.modules:
            cubin = cubin_of(path, arch or "sm_%d%d" % self.capability, tuple(options))
            m = c_void_p()
            self.call("cuModuleLoadData", byref(m), cubin)
            self.modules[path] = m
        return self.modules[path]

    def function(self, path, name, **kw):
        f = c_void_p()
        self.call("cuModuleGetFunction", byref(f), self.module(path, **kw), name.encode())
        return f

    def alloc(self, size):
        p = c_void_p()
        self.call("cuMemAlloc_v2", byref(p), c_size_t(max(size, 256)))
        self.owned.append(p)
        return p

    def release(self):
        """Frees all memory: the end of a case."""
        self.sync()
        for p in self.owned:
            self.call("cuMemFree_v2", p)
        self.owned, self.held = [], []

    def event(self):
        e = c_void_p()
        self.call("cuEventCreate", byref(e), 0)
        return e

    def prepare(self, function, grid, block, shared, args):
        """A launch as a function without arguments; `args` are ctypes values."""
        self.held.append(args)
        pointers = (c_void_p * len(args))(*(ctypes.cast(byref(a), c_void_p) for a in args))
        if shared > 48 * 1024:
            self.call("cuFuncSetAttribute", function, 8, shared)
        launch, rest = self.lib.cuLaunchKernel, (function, *map(c_uint32, (*grid, *block, shared)), None, pointers, None)
        def go():
            rc = launch(*rest)
            if rc:
                raise RuntimeError(f"cuLaunchKernel: error {rc}")
        return go

    def sync(self):
        self.call("cuCtxSynchronize")


class Run:
    def __init__(self, dev, bench):
        self.dev, self.b = dev, bench
        self.source, self.kw = os.path.join(bench.folder, "kernels.cu"), {"options": bench.toml.get("options", []), "arch": bench.toml.get("arch")}
        self.helper = os.path.join(HERE, "init.cu")
        self.memory = {}
        for k, buf in bench.buffers.items():
            if "symbol" in buf:
                p, size = c_void_p(), c_size_t()
                dev.call("cuModuleGetGlobal_v2", byref(p), byref(size), dev.module(self.source, **self.kw), buf["symbol"].encode())
                if size.value != buf["length"] * SIZES[buf["type"]]:
                    raise RuntimeError(f"{buf['symbol']} has {size.value} bytes")
                self.memory[k] = p
            else:
                self.memory[k] = dev.alloc(buf["length"] * SIZES[buf["type"]])
        self.fill()
        self.launches = {}
        for v, steps in bench.variants.items():
            self.launches[v] = [(s["kernel"], self.dev.prepare(dev.function(self.source, s["kernel"], **self.kw), s["grid"], s["block"], s["shared"],
                                                               [self.argument(a) for a in s["args"]])) for s in steps]
        n = max(4 * dev.l2, 256 << 20) // 16
        self.flush = dev.prepare(dev.function(self.helper, "flush"), (1056, 1, 1), (256, 1, 1), 0, [dev.alloc(n * 16), c_uint64(n)])
        self.start, self.stop = dev.event(), dev.event()

    def argument(self, a):
        if a in self.memory:
            return self.memory[a]
        kind, value = self.b.scalars[a]
        return SCALARS[kind](value)

    def fill(self):
        for k, b in self.b.buffers.items():
            n = b["length"]
            low, high = float(b.get("low", 0.0)), float(b.get("high", 1.0))
            if b["init"] == "constant":
                low = float(b["value"])
            elif b["init"] == "zeros":
                low = 0.0
            elif b["init"] in ("sorted", "shuffled"):
                high = float(b["step"])
            args = [self.memory[k], c_uint64(n), c_int(INITS[b["init"]]), c_double(low), c_double(high), c_uint32(b.get("seed", 0)), c_int(n.bit_length() - 1),
                    c_uint32(b.get("take", 1)), c_uint32(b.get("group", 1)), c_uint32(b.get("offset", 0))]
            self.dev.prepare(self.dev.function(self.helper, f"fill_{b['type']}"), (1056, 1, 1), (256, 1, 1), 0, args)()
        self.dev.sync()

    def go(self, variant):
        for _ in range(self.b.repeat[variant]):
            for _, launch in self.launches[variant]:
                launch()

    def keep(self, variant, names, memory, folder):
        """Writes buffers as a file of tensors: the length of the header, the header, the bytes."""
        header, at = {}, 0
        for k in names:
            b = self.b.buffers[k]
            end = at + b["length"] * SIZES[b["type"]]
            header[k], at = {"dtype": SAFETENSORS[b["type"]], "shape": [b["length"]], "data_offsets": [at, end]}, end
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(os.path.join(folder, f"{self.b.case}.{variant}.safetensors"), "wb") as f:
            f.write(len(text).to_bytes(8, "little") + text)
            for k, p in zip(names, memory):
                host = ctypes.create_string_buffer(self.b.buffers[k]["length"] * SIZES[self.b.buffers[k]["type"]])
                self.dev.call("cuMemcpyDtoH_v2", host, p, c_size_t(len(host)))
                f.write(host)

    def check(self, folder=None):
        """Relative L2 difference of the outputs of fixed against slow; -1 where they are not comparable."""
        c, dev = self.b.toml["compare"], self.dev
        mode, slow = c["mode"], c.get("slow", [])
        fixed = c.get("fixed", slow)
        kept = []
        self.fill()
        self.go("slow")
        dev.sync()
        for k in slow:
            size = self.b.buffers[k]["length"] * SIZES[self.b.buffers[k]["type"]]
            copy = dev.alloc(size)
            dev.call("cuMemcpyDtoD_v2", copy, self.memory[k], c_size_t(size))
            kept.append(copy)
        if "fixed" not in self.launches:
            self.measure(kept, slow, slow)
            return -1.0, True
        self.fill()
        self.go("fixed")
        dev.sync()
        if folder:
            # The slow version's names for both, by which they are compared.
            self.keep("slow", slow, kept, folder)
            self.keep("fixed", slow, [self.memory[k] for k in fixed], folder)
        if mode == "none":
            return -1.0, True
        worst = self.measure(kept, slow, fixed, mode)
        return worst, worst <= float(c.get("tolerance", 0.0))

    def measure(self, kept, slow, fixed, mode="elements"):
        dev, worst = self.dev, 0.0
        for copy, k, l in zip(kept, slow, fixed):
            sums, host = dev.alloc(40), (c_double * 5)()
            dev.call("cuMemsetD8_v2", sums, 0, c_size_t(40))
            n = self.b.buffers[k]["length"]
            args = [self.memory[l], copy, c_uint64(n), sums]
            dev.prepare(dev.function(self.helper, "compare_" + self.b.buffers[k]["type"]), (264, 1, 1), (256, 1, 1), 0, args)()
            dev.sync()
            dev.call("cuMemcpyDtoH_v2", host, sums, c_size_t(40))
            if host[4] or not host[1]:
                raise RuntimeError(f"output {k}: {int(host[4])} values are not finite" if host[4] else f"output {k} is all zero")
            if mode == "sum":
                worst = max(worst, abs(host[2] - host[3]) / math.sqrt(host[1]) / math.sqrt(n))
            else:
                worst = max(worst, math.sqrt(host[0] / host[1]))
        return worst

    def once(self, variant, prelude, batch=1):
        dev = self.dev
        if prelude:
            prelude()
        if self.b.toml.get("timing") == "host":
            dev.sync()
        dev.call("cuEventRecord", self.start, None)
        for _ in range(batch):
            self.go(variant)
        dev.call("cuEventRecord", self.stop, None)
        dev.call("cuEventSynchronize", self.stop)
        ms = c_float()
        dev.call("cuEventElapsedTime" if hasattr(dev.lib, "cuEventElapsedTime") else "cuEventElapsedTime_v2", byref(ms), self.start, self.stop)
        return ms.value * 1000 / batch

    def time(self, variant):
        """Medians in microseconds: hot, cold."""
        dev = self.dev
        self.once(variant, None)
        estimate = min(self.once(variant, None) for _ in range(2))
        batch = 1 if estimate > 30 or self.b.toml.get("timing") == "host" else max(1, int(60 / estimate))
        launches = batch * self.b.repeat[variant] * len(self.launches[variant])
        hold = dev.prepare(dev.function(self.helper, "hold"), (1, 1, 1), (1, 1, 1), 0, [c_uint64(min(30_000 + 6_000 * launches, 1_000_000))])
        samples = 25 if estimate < 8000 else 9
        for _ in range(3):
            self.once(variant, hold, batch)
        hot = statistics.median(self.once(variant, hold, batch) for _ in range(samples))
        cold = statistics.median(self.once(variant, self.flush) for _ in range(samples))
        return hot, cold

    def warm_up(self, seconds=0.15):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for _ in range(8):
                self.flush()
            self.dev.sync()

    def profile(self):
        seen = set()
        self.dev.sync()
        self.dev.call("cuProfilerStart")
        for v, steps in self.launches.items():
            for name, launch in steps:
                if name not in seen:
                    seen.add(name)
                    launch()
                    self.dev.sync()
        self.dev.call("cuProfilerStop")


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    for flag in ("compile", "check", "time", "profile"):
        p.add_argument("--" + flag, action="store_true")
    p.add_argument("--json")
    p.add_argument("--outputs")
    p.add_argument("--arch", default="sm_90")
    p.add_argument("--dump")
    p.add_argument("case", nargs="+")
    o = p.parse_args()
    cases = sorted(os.path.basename(os.path.dirname(f)) for f in glob.glob(os.path.join(HERE, "*", "bench.toml"))) if o.case == ["all"] else o.case
    failed = 0
    if o.compile:
        cubin_of(os.path.join(HERE, "init.cu"), o.arch)
        for case in cases:
            try:
                b = Bench(case)
                cubin = cubin_of(os.path.join(b.folder, "kernels.cu"), b.toml.get("arch", o.arch), tuple(b.toml.get("options", [])))
                if o.dump:
                    os.makedirs(o.dump, exist_ok=True)
                    with open(os.path.join(o.dump, case + ".cubin"), "wb") as f:
                        f.write(cubin)
            except Exception as e:
                failed += 1
                print(f"{case}: {e}", file=sys.stderr)
        print(f"{len(cases) - failed} of {len(cases)} cases compiled")
    if not (o.check or o.time or o.profile):
        return failed > 0
    if o.outputs:
        os.makedirs(o.outputs, exist_ok=True)
    dev = Device()
    for case in cases:
        r = {"case": case, "device": dev.name}
        try:
            run = Run(dev, Bench(case))
            if o.check:
                r["rel_l2_fixed_vs_slow"], r["ok"] = run.check(o.outputs)
                failed += not r["ok"]
            if o.time:
                run.fill()
                run.warm_up()
                for v in run.launches:
                    r[f"{v}_us"], r[f"{v}_cold_us"] = (round(x, 3) for x in run.time(v))
            if o.profile:
                run.fill()
                run.profile()
            dev.release()
        except Exception as e:
            failed += 1
            r["error"] = f"{type(e).__name__}: {e}"
        if o.check or o.time or "error" in r:
            print(" ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in r.items() if k != "device"), flush=True)
        if o.json:
            with open(o.json, "a") as f:
                f.write(json.dumps(r) + "\n")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
