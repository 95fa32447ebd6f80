#!/usr/bin/env python3
"""program.py CASE: prints a CUDA program of one case, for nvcc: it fills the buffers, launches every kernel of the slow version and
then of the fixed one, as bench.toml says, and waits. So a case can be profiled, recorded and sanitized as a user's own program:

    python3 gallery/program.py conv9 > conv9.cu && nvcc -O3 -arch=native -lineinfo -o conv9 conv9.cu && ridge why -- ./conv9"""
import os, sys

from run import Bench, HERE, INITS

TYPES = {"f32": "float", "f16": "__half", "bf16": "__nv_bfloat16", "i8": "signed char", "u8": "unsigned char", "i32": "int", "u32": "unsigned"}
SCALARS = {"i32": "int", "u32": "unsigned", "i64": "long long", "f32": "float"}
HEAD = """// {case}: made by gallery/program.py.
#include <cstdio>
#include <cstdlib>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include "{folder}/kernels.cu"
namespace fill {{
#include "{here}/init.cu"
}}
#define CHECK(call) do {{ cudaError_t e = (call); if (e) {{ fprintf(stderr, "line %d: %s\\n", __LINE__, cudaGetErrorString(e)); exit(1); }} }} while (0)
// A buffer as the pointer that a kernel declares: two versions may read the same bytes in other widths.
struct Buffer {{
    void* bytes = nullptr;
    template <class T> operator T*() const {{ return (T*)bytes; }}
}};
int main() {{
"""


def c(number):
    return repr(float(number))


def fill(name, b):
    low, high = float(b.get("low", 0.0)), b.get("high", 1.0)
    if b["init"] == "constant":
        low = b["value"]
    elif b["init"] == "zeros":
        low = 0.0
    elif b["init"] in ("sorted", "shuffled"):
        high = b["step"]
    n = b["length"]
    return (f"    fill::fill_{b['type']}<<<1056, 256>>>({name}, {n}ull, {INITS[b['init']]}, {c(low)}, {c(high)}, {b.get('seed', 0)}u, {n.bit_length() - 1}, "
            f"{b.get('take', 1)}u, {b.get('group', 1)}u, {b.get('offset', 0)}u);\n")


def program(case):
    bench = Bench(case)
    text = HEAD.format(case=case, folder=os.path.abspath(bench.folder), here=HERE)
    for k, b in bench.buffers.items():
        kind, name = TYPES[b["type"]], "buffer_" + k
        text += f"    Buffer {name};\n"
        if "symbol" in b:
            text += f"    CHECK(cudaGetSymbolAddress(&{name}.bytes, {b['symbol']}));\n"
        else:
            text += f"    CHECK(cudaMalloc(&{name}.bytes, {max(b['length'], 64)}ull * sizeof({kind})));\n"
        text += fill(name, b)
    argument = lambda a: "buffer_" + a if a in bench.buffers else f"({SCALARS[bench.scalars[a][0]]}){bench.scalars[a][1]!r}"
    for v, steps in bench.variants.items():
        for s in steps:
            if s["shared"] > 48 * 1024:
                text += f"    CHECK(cudaFuncSetAttribute({s['kernel']}, cudaFuncAttributeMaxDynamicSharedMemorySize, {s['shared']}));\n"
        text += f"    for (int i = 0; i < {bench.repeat[v]}; i++) {{\n"
        for s in steps:
            arguments = ", ".join(map(argument, s["args"]))
            dims = lambda t: f"dim3({t[0]}, {t[1]}, {t[2]})"
            text += f"        {s['kernel']}<<<{dims(s['grid'])}, {dims(s['block'])}, {s['shared']}>>>({arguments});\n        CHECK(cudaGetLastError());\n"
        text += "    }\n"
    return text + "    CHECK(cudaDeviceSynchronize());\n}\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(program(sys.argv[1]), end="")
