#!/usr/bin/env python3
"""How long `ridge numerics` takes, against numpy.allclose and the same measures in NumPy, over the same two files.

    scripts/numerics_speed.py target/release/ridge [MIB]

Both are timed in turns, the best of five counts; the whole process of `ridge` counts, only the arithmetic of NumPy does, over
arrays that are in memory already. BF16 is left out: NumPy has no such type.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROUNDS = 5


def ordered(values):
    """The place of each number among those of its format."""
    bits = values.view({2: np.int16, 4: np.int32, 8: np.int64}[values.itemsize])
    low = np.iinfo(bits.dtype).min
    return np.where(bits < 0, low - bits, bits).astype(np.int64)


def measures(reference, output):
    """What `ridge numerics` measures, one NumPy expression each."""
    wide_r = reference.astype(np.float64)
    wide_x = output.astype(np.float64)
    error = wide_x - wide_r
    size = np.abs(error)
    ulps = np.abs(ordered(output) - ordered(reference))
    both = np.maximum(np.abs(wide_r), np.abs(wide_x))
    relative = size / np.maximum(both, np.finfo(reference.dtype).tiny)
    tiny = np.finfo(reference.dtype).tiny
    return {
        "close": np.allclose(output, reference),
        "failing": np.count_nonzero(size > 1e-8 + 1e-5 * np.abs(wide_r)),
        "equal": np.count_nonzero(ulps == 0),
        "absolute": (size.max(), size.argmax()),
        "relative": (relative.max(), relative.argmax()),
        "ulps": (ulps.max(), ulps.argmax(), np.percentile(ulps, [50, 99])),
        "histogram": np.histogram(ulps, bins=np.concatenate([[0, 1], 2.0 ** np.arange(1, 65)])),
        "l2": np.linalg.norm(error) / np.linalg.norm(wide_r),
        "cosine": 1 - wide_r @ wide_x / np.sqrt((wide_r @ wide_r) * (wide_x @ wide_x)),
        "flips": np.count_nonzero(np.signbit(reference) != np.signbit(output)),
        "nan": (np.count_nonzero(np.isnan(reference)), np.count_nonzero(np.isnan(output))),
        "infinite": (np.count_nonzero(np.isinf(reference)), np.count_nonzero(np.isinf(output))),
        "lost": np.count_nonzero((np.abs(reference) < tiny) & (reference != 0) & (output == 0)),
        "mean": (error.mean(), error.std()),
        "sides": (np.count_nonzero(error > 0), np.count_nonzero(np.abs(wide_x) > np.abs(wide_r))),
    }


def main():
    ridge = sys.argv[1]
    mib = int(sys.argv[2]) if len(sys.argv) > 2 else 128
    random = np.random.default_rng(1)
    for name in ("float32", "float16"):
        dtype = np.dtype(name)
        count = (mib << 20) // dtype.itemsize
        reference = random.standard_normal(count, dtype=np.float32).astype(dtype)
        output = np.nextafter(reference, dtype.type(0), dtype=dtype)
        output[::3] = reference[::3]
        with tempfile.TemporaryDirectory() as folder:
            files = [str(Path(folder) / "r.npy"), str(Path(folder) / "x.npy")]
            for file, values in zip(files, (reference, output)):
                np.save(file, values.reshape(-1, 1024))
            command = [ridge, "numerics", *files, "--ulp", "1", "--format", "json"]
            best = [float("inf")] * 2
            for _ in range(ROUNDS):
                begin = time.perf_counter()
                found = measures(reference, output)
                best[0] = min(best[0], time.perf_counter() - begin)
                begin = time.perf_counter()
                code = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
                best[1] = min(best[1], time.perf_counter() - begin)
            if code != 0 or found["ulps"][0] != 1:
                sys.exit(f"{name}: the files are not compared as they should be (exit code {code})")
        print(
            f"{name}, two arrays of {mib} MiB: NumPy {1e3 * best[0]:.0f} ms, "
            f"ridge {1e3 * best[1]:.0f} ms, {best[0] / best[1]:.1f} times as fast"
        )


if __name__ == "__main__":
    main()
