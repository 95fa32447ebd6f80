#!/usr/bin/env python3
"""Counts the instructions in the loops of the kernels that measure ceilings, as the compiler made them.

usage: ceilings_sass.py NVRTC_FOLDER NVDISASM [sm_90 ...]

A loop that is folded, or whose loads are hoisted in front of it, gives a ceiling that is too good: this finds it. Exits
with 1 when a loop has not the instructions that it has to have. Needs no GPU.
"""
import collections
import ctypes
import glob
import os
import re
import subprocess
import sys
import tempfile

KERNELS = os.path.join(os.path.dirname(__file__), "../crates/ridge-bench/src/ceilings/kernels")
# Source, kernel, instruction (a prefix), how many a loop has, and from which architecture on it is looked for.
WANTED = [
    ("dram", "copy<4, 0>", "LDG.E.128", 4, 70),
    ("dram", "copy<4, 1>", "LDG.E.EF.128", 4, 70),
    ("dram", "copy<4, 0>", "STG.E.128", 4, 70),
    ("dram", "read<8, 0>", "LDG.E.128", 8, 70),
    ("dram", "write<4, 0>", "STG.E.128", 4, 70),
    ("dram", "triad<4, 0>", "FFMA", 16, 70),
    ("cache", "l2<2>", "LDG.E.128.STRONG.GPU", 2, 70),
    ("cache", "l2<4>", "LDG.E.128.STRONG.GPU", 4, 70),
    ("cache", "l1<4>", "LDG.E.128", 8, 70),
    ("cache", "l1<2>", "LDG.E.64", 8, 70),
    ("cache", "l1<1>", "LDG.E", 8, 70),
    ("cache", "shared_read", "LDS", 8, 70),
    ("vector", "chains<Fp32, 32>", "FFMA", 256, 70),
    ("vector", "chains<Fp64, 32>", "DFMA", 256, 70),
    ("vector", "chains<Half2, 32>", "HFMA2", 256, 70),
    ("vector", "chains<Multiply, 32>", "IMAD", 256, 70),
    ("vector", "additions<32>", "IADD3", 256, 70),
    ("vector", "chains<RootReciprocal, 32>", "MUFU.RSQ", 256, 70),
    ("atomics", "one_float", "RED", 4, 70),
    ("atomics", "spread_integer", "RED", 4, 70),
    ("atomics", "shared_integer", "ATOMS", 4, 70),
    ("tensor", "products<Fp16, 8>", "HMMA", 64, 75),
    ("tensor", "products<Bf16, 8>", "HMMA.16816.F32.BF16", 64, 80),
    ("tensor", "products<Tf32, 8>", "HMMA.1688.F32.TF32", 64, 80),
    ("tensor", "products<Int8, 8>", "IMMA", 64, 75),
    ("tensor", "products_fp64<4>", "DMMA", 32, 80),
]


def compiler(folder):
    for path in glob.glob(os.path.join(folder, "libnvrtc-builtins.so*")):
        ctypes.CDLL(path)
    return ctypes.CDLL(glob.glob(os.path.join(folder, "libnvrtc.so*"))[0])


def cubin(nvrtc, source, arch, kernels):
    text = open(os.path.join(KERNELS, source + ".cu"), "rb").read()
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, source.encode(), 0, None, None)
    for kernel in kernels:
        nvrtc.nvrtcAddNameExpression(program, kernel.encode())
    options = (ctypes.c_char_p * 1)(("--gpu-architecture=" + arch).encode())
    status = nvrtc.nvrtcCompileProgram(program, 1, options)
    size = ctypes.c_size_t()
    if status:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        sys.exit(log.value.decode())
    names = {}
    for kernel in kernels:
        name = ctypes.c_char_p()
        nvrtc.nvrtcGetLoweredName(program, kernel.encode(), ctypes.byref(name))
        names[name.value.decode()] = kernel
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    image = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, image)
    return image.raw, names


def loops(listing, names):
    """For each kernel the instructions of its longest loop."""
    found, kernel, lines = {}, None, []
    for line in listing.splitlines():
        if match := re.match(r"\.text\.(\S+):", line):
            kernel, lines = names.get(match.group(1)), []
        if match := re.match(r"(\.L_x_\d+):", line):
            lines.append((match.group(1), ""))
        if match := re.match(r"\s+/\*[0-9a-f]+\*/\s+(.*);", line):
            text = re.sub(r"^@!?U?P\w+\s+", "", match.group(1))
            lines.append((None, text.split()[0]))
        back = re.search(r"BRA\S*\s+.*`\((\.L_x_\d+)\)", line)
        if kernel and back:
            begins = [place for place, (label, _) in enumerate(lines) if label == back.group(1)]
            if begins:
                body = collections.Counter(text for _, text in lines[begins[0]:] if text)
                if sum(body.values()) > sum(found.get(kernel, {}).values()):
                    found[kernel] = body
    return found


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    nvrtc, failed = compiler(sys.argv[1]), 0
    for arch in sys.argv[3:] or ["sm_90"]:
        for source in dict.fromkeys(row[0] for row in WANTED):
            rows = [row for row in WANTED if row[0] == source and row[4] <= int(arch[3:])]
            if not rows:
                continue
            image, names = cubin(nvrtc, source, arch, list(dict.fromkeys(row[1] for row in rows)))
            with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
                file.write(image)
                file.flush()
                run = subprocess.run([sys.argv[2], "-c", file.name], capture_output=True, text=True)
            if run.returncode:
                print(f"{arch} {source}: {run.stderr.strip()}")
                failed += 1
                continue
            bodies = loops(run.stdout, names)
            for _, kernel, instruction, count, _ in rows:
                body = bodies.get(kernel, {})
                seen = sum(n for name, n in body.items() if name.startswith(instruction))
                others = sum(body.values()) - seen
                is_right = seen == count or (instruction in ("IMAD", "IADD3") and count <= seen <= count + 4)
                failed += not is_right
                print(f"{'ok   ' if is_right else 'WRONG'} {arch} {kernel}: {seen} {instruction}, {others} others")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
