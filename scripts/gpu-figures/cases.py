"""The kernels that both tools measure: one place for what each of them is told.

The TOML files beside this one say the same to `ridge bench`; prepare.py compiles one image of each source for both tools."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    source: str     # without extension, in examples/
    kernel: str
    grid: tuple
    block: tuple
    buffers: dict   # name -> (floats, seed); seed None: only written
    args: tuple     # names of buffers, or numbers of 32 bits
    what: str


N, SMALL, GEMM, ROWS, COLUMNS = 1 << 26, 1 << 18, 2048, 8192, 4096


def copy(n, what):
    return Case("copy", "copy_vector", (n // 4 // 256, 1, 1), (256, 1, 1), {"in": (n, 1), "out": (n, None)}, ("in", "out", n), what)


CASES = {
    "copy": copy(N, "copy of 2^26 floats"),
    "gemm": Case("gemm", "gemm_blocked", (GEMM // 64, GEMM // 64, 1), (16, 16, 1),
                 {"A": (GEMM * GEMM, 1), "B": (GEMM * GEMM, 2), "C": (GEMM * GEMM, None)}, ("A", "B", "C", GEMM), "product of 2048 x 2048 floats, no tensor cores"),
    "reduction": Case("reduction", "row_sums_shuffle", (ROWS, 1, 1), (256, 1, 1),
                      {"in": (ROWS * COLUMNS, 7), "out": (ROWS, None)}, ("in", "out", COLUMNS), "sums of 8192 rows of 4096 floats"),
    "small": copy(SMALL, "copy of 2^18 floats"),
}
