#!/usr/bin/env python3
"""usage: prepare.py IMAGES WORK [--source]

Compiles each kernel once into WORK, so that both tools load the same image, and puts specs for `ridge bench` beside them
that name it. IMAGES holds the sources (examples/ of the repository). --source: specs name the sources; no compiler."""
import os, re, shutil, sys

import run
from cases import CASES

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    images, work, is_source = sys.argv[1], sys.argv[2], "--source" in sys.argv[3:]
    os.makedirs(work, exist_ok=True)
    # `figures` has kernels of its own.
    for source in sorted({"figures", *(case.source for case in CASES.values())}):
        path = os.path.join(images, source + ".cu")
        shutil.copy(path, work)
        if not is_source:
            with open(os.path.join(work, source + ".cubin"), "wb") as f:
                f.write(run.cubin_of(path, "sm_90"))
    if not is_source:
        with open(os.path.join(work, "init.cubin"), "wb") as f:
            f.write(run.cubin_of(os.path.join(run.HERE, "init.cu"), "sm_90"))
    for name in CASES:
        with open(os.path.join(HERE, name + ".toml")) as f:
            spec = f.read()
        if not is_source:
            spec = re.sub(r'^source = "(\w+)\.cu"', r'source = "\1.cubin"', spec, flags=re.M)
        with open(os.path.join(work, name + ".toml"), "w") as f:
            f.write(spec)


main()
