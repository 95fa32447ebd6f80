#!/usr/bin/env python3
"""usage: prepare.py IMAGES WORK [--source]

Compiles each kernel once into WORK, so that both tools load the same image, and puts specs for `ridge bench` beside them
that name it. IMAGES holds the sources (examples/ of the repository). --source: specs name the sources; no compiler."""
import os, re, shutil, sys

import run
from cases import CASES

HERE = os.path.dirname(os.path.abspath(__file__))


def compiled(path, to):
    """Whether a compiler made an image of a source. The reason is told where not."""
    try:
        image = run.cubin_of(path, "sm_90")
    except (OSError, RuntimeError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return False
    with open(to, "wb") as f:
        f.write(image)
    return True


def main():
    images, work, is_source = sys.argv[1], sys.argv[2], "--source" in sys.argv[3:]
    os.makedirs(work, exist_ok=True)
    done, failed = set(), False
    # `figures` has kernels of its own.
    for source in sorted({"figures", *(case.source for case in CASES.values())}):
        path = shutil.copy(os.path.join(images, source + ".cu"), work)
        if not is_source:
            if compiled(path, os.path.join(work, source + ".cubin")):
                done.add(source)
            else:
                failed = True
    if not is_source:
        failed |= not compiled(os.path.join(run.HERE, "init.cu"), os.path.join(work, "init.cubin"))
    for name, case in CASES.items():
        with open(os.path.join(HERE, name + ".toml")) as f:
            spec = f.read()
        # Without an image `ridge bench` compiles by itself, and the library has nothing to measure.
        if case.source in done:
            spec = re.sub(r'^source = "(\w+)\.cu"', r'source = "\1.cubin"', spec, flags=re.M)
        with open(os.path.join(work, name + ".toml"), "w") as f:
            f.write(spec)
    return failed


sys.exit(main())
