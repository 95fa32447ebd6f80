#!/usr/bin/env python3
"""usage: nvbench_one.py CASE WORK JSON

Measures one case, cold, with NVIDIA's benchmark library (package cuda-bench) and its defaults. Prints how long it took
without the start of Python and the import."""
import ctypes, os, sys, time
from ctypes import byref, c_double, c_int, c_uint32, c_uint64, c_void_p

import cuda.bench as bench
import run
from cases import CASES


def main():
    name, work, out = sys.argv[1:4]
    case = CASES[name]

    def measure(state):
        dev = run.Device()

        def function(image, entry):
            module, found = c_void_p(), c_void_p()
            with open(os.path.join(work, image + ".cubin"), "rb") as f:
                dev.call("cuModuleLoadData", byref(module), f.read())
            dev.call("cuModuleGetFunction", byref(found), module, entry.encode())
            return found

        fill, memory = function("init", "fill_f32"), {}
        for buffer, (length, seed) in case.buffers.items():
            memory[buffer] = dev.alloc(4 * length)
            if seed is not None:
                # The elements of init = "random", low = -1.0, high = 1.0 in the specs.
                args = [memory[buffer], c_uint64(length), c_int(run.INITS["random"]), c_double(-1.0), c_double(1.0), c_uint32(seed),
                        c_int(length.bit_length() - 1), c_uint32(1), c_uint32(1), c_uint32(0)]
                dev.prepare(fill, (1056, 1, 1), (256, 1, 1), 0, args)()
        dev.sync()
        values = [memory[a] if a in memory else c_int(a) for a in case.args]
        pointers = (c_void_p * len(values))(*(ctypes.cast(byref(v), c_void_p) for v in values))
        kernel, launch = function(case.source, case.kernel), dev.lib.cuLaunchKernel
        sizes = [c_uint32(x) for x in (*case.grid, *case.block, 0)]

        def go(launching):
            rc = launch(kernel, *sizes, c_void_p(launching.get_stream().addressof()), pointers, None)
            if rc:
                raise RuntimeError(f"cuLaunchKernel: error {rc}")

        state.exec(go, batched=False)

    bench.register(measure)
    start = time.perf_counter()
    bench.run_all_benchmarks([sys.argv[0], "--json", out])
    print(f"inner_s={time.perf_counter() - start:.4f}")


main()
