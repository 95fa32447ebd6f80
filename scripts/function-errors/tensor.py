#!/usr/bin/env python3
"""Errors of matrix products and of other operations as PyTorch runs them, against FP64 on the GPU.

usage: tensor.py FILE     writes a JSON document

A part that fails is noted with its reason, and the others go on.
"""
import json
import sys
import time

import torch

U = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
# Stored mantissa bits and exponent of the smallest normal number.
LAYOUT = {torch.float32: (23, -126), torch.float16: (10, -14), torch.bfloat16: (7, -126)}
document = {"torch": torch.__version__, "gpu": torch.cuda.get_device_name(0), "defaults": {}, "products": [], "operations": [],
            "repeats": [], "failed": []}


def part(what):
    """Runs a function, and notes what it raises."""
    def run(function):
        began = time.time()
        try:
            function()
        except Exception as error:  # The other parts are still of use.
            document["failed"].append({"part": what, "error": f"{type(error).__name__}: {error}"[:500]})
        torch.cuda.synchronize()
        print(f"{what}: {time.time() - began:.1f} s", file=sys.stderr)
    return run


def ulp(correct, dtype):
    mantissa, least = LAYOUT[dtype]
    exponent = torch.frexp(correct)[1] - 1
    return torch.ldexp(torch.ones_like(correct), torch.clamp(exponent, min=least) - mantissa)


def figures(result, correct, size=None):
    """What stands between a result and the exact value: in ULP of its format, and beside u_acc * sum of |a||b|."""
    dtype, error = result.dtype, (result.double() - correct)
    in_ulp = (error.abs() / ulp(correct, dtype)).flatten()
    ordered = torch.sort(in_ulp)[0]
    answer = {
        "dtype": str(dtype).removeprefix("torch."),
        "elements": error.numel(),
        "max_ulp": ordered[-1].item(),
        "p99_ulp": ordered[int(0.99 * (len(ordered) - 1))].item(),
        "median_ulp": ordered[len(ordered) // 2].item(),
        "misrounded": (in_ulp > 0.5 + 1e-7).double().mean().item(),
        "relative_l2": (error.norm() / correct.norm()).item(),
        "max_relative_to_max": (error.abs().max() / correct.abs().max()).item(),
        "mean_signed_ulp": (error * torch.sign(correct) / ulp(correct, dtype)).mean().item(),
        "not_finite": (~torch.isfinite(result)).sum().item(),
    }
    if size is not None:
        # Rounding of the result taken off, what is left belongs to the sum: in units of 2^-24 * sum |a||b|.
        left = (error.abs() - U[dtype] * correct.abs()).clamp(min=0) / (2.0**-24 * size)
        answer["max_left_per_u32_s"] = left.max().item()
        answer["rms_error_per_u32_s"] = ((error / (2.0**-24 * size)) ** 2).mean().sqrt().item()
    return answer


def inputs(kind, shape, generator, dtype):
    if kind == "uniform-0-1":
        values = torch.rand(shape, device="cuda", generator=generator)
    else:
        values = torch.randn(shape, device="cuda", generator=generator)
    return values.to(dtype)


def product(name, dtype, multiply, rounded_to=None, kinds=("normal", "uniform-0-1"), lengths=(256, 1024, 4096, 16384)):
    """Products of 512 x K and K x 512. `rounded_to` is applied to inputs of the reference: what the unit is said to read."""
    for kind in kinds:
        for length in lengths:
            generator = torch.Generator("cuda").manual_seed(length)
            a = inputs(kind, (512, length), generator, dtype)
            b = inputs(kind, (length, 512), generator, dtype)
            exact_a, exact_b = a.double(), b.double()
            result = multiply(a, b)
            row = {"name": name, "inputs": kind, "k": length, "input_dtype": str(dtype).removeprefix("torch.")}
            row.update(figures(result, exact_a @ exact_b, exact_a.abs() @ exact_b.abs()))
            if rounded_to:
                exact_a, exact_b = rounded_to(a).double(), rounded_to(b).double()
                row["against_rounded_inputs"] = figures(result, exact_a @ exact_b, exact_a.abs() @ exact_b.abs())
            document["products"].append(row)


def to_tf32(x, nearest=True):
    """FP32 values rounded to the 10 mantissa bits of TF32, ties away from zero as `cvt.rna` does, or cut off."""
    bits = x.contiguous().view(torch.int32)
    if nearest:
        bits = bits + 0x1000
    return (bits & ~0x1FFF).view(torch.float32)


matmul = torch.backends.cuda.matmul
document["defaults"] = {
    "matmul.allow_tf32": matmul.allow_tf32,
    "cudnn.allow_tf32": torch.backends.cudnn.allow_tf32,
    "float32_matmul_precision": torch.get_float32_matmul_precision(),
    "allow_fp16_reduced_precision_reduction": str(matmul.allow_fp16_reduced_precision_reduction),
    "allow_bf16_reduced_precision_reduction": str(matmul.allow_bf16_reduced_precision_reduction),
}


@part("fp32")
def _():
    matmul.allow_tf32 = False
    product("fp32", torch.float32, torch.mm)


@part("tf32")
def _():
    matmul.allow_tf32 = True
    try:
        product("tf32", torch.float32, torch.mm, to_tf32)
        product("tf32 against cut-off inputs", torch.float32, torch.mm, lambda x: to_tf32(x, False), kinds=("normal",),
                lengths=(1024,))
        # Inputs that TF32 holds exactly: what is left is accumulation.
        product("tf32, exact inputs", torch.float32, lambda a, b: torch.mm(to_tf32(a), to_tf32(b)), to_tf32)
    finally:
        matmul.allow_tf32 = False


for reduced in (False, True):
    @part(f"bf16 reduced={reduced}")
    def _():
        matmul.allow_bf16_reduced_precision_reduction = reduced
        product(f"bf16, reduced precision reduction {reduced}", torch.bfloat16, torch.mm)

    @part(f"fp16 reduced={reduced}")
    def _():
        matmul.allow_fp16_reduced_precision_reduction = reduced
        product(f"fp16, reduced precision reduction {reduced}", torch.float16, torch.mm)


@part("bf16 to fp32")
def _():
    product("bf16 with fp32 output", torch.bfloat16, lambda a, b: torch.mm(a, b, out_dtype=torch.float32))


@part("fp16 to fp32")
def _():
    product("fp16 with fp32 output", torch.float16, lambda a, b: torch.mm(a, b, out_dtype=torch.float32))


@part("fp16 accumulation")
def _():
    matmul.allow_fp16_accumulation = True
    try:
        product("fp16 accumulation in fp16", torch.float16, torch.mm)
    finally:
        matmul.allow_fp16_accumulation = False


@part("fp8")
def _():
    one = torch.ones((), device="cuda")
    for fast in (False, True):
        for kind in ("normal", "uniform-0-1"):
            for length in (256, 1024, 4096, 16384):
                generator = torch.Generator("cuda").manual_seed(length)
                a = inputs(kind, (512, length), generator, torch.float32).to(torch.float8_e4m3fn)
                b = inputs(kind, (512, length), generator, torch.float32).to(torch.float8_e4m3fn)
                for dtype in (torch.bfloat16, torch.float32):
                    try:
                        result = torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=dtype, use_fast_accum=fast)
                    except Exception as error:
                        document["failed"].append({"part": f"fp8 to {dtype}", "error": str(error)[:300]})
                        continue
                    x, y = a.double(), b.double().t()
                    row = {"name": f"fp8 e4m3, fast accumulation {fast}", "inputs": kind, "k": length, "input_dtype": "float8_e4m3fn"}
                    row.update(figures(result, x @ y, x.abs() @ y.abs()))
                    document["products"].append(row)


@part("split")
def _():
    """A product in one piece against the sum of its parts over K, which FP16 or BF16 may round between."""
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        generator = torch.Generator("cuda").manual_seed(1)
        length = 16384
        a, b = inputs("normal", (512, length), generator, dtype), inputs("normal", (length, 512), generator, dtype)
        x, y = a.double(), b.double()
        correct, size = x @ y, x.abs() @ y.abs()
        whole = torch.mm(a, b)
        for splits in (2, 8, 32):
            step = length // splits
            parts = [torch.mm(a[:, i:i + step], b[i:i + step]) for i in range(0, length, step)]
            total = parts[0]
            for piece in parts[1:]:
                total = total + piece
            row = {"name": f"split-{splits}, parts added in the format of the output", "inputs": "normal", "k": length,
                   "input_dtype": str(dtype).removeprefix("torch."), "differs_from_whole": (total != whole).double().mean().item()}
            row.update(figures(total, correct, size))
            document["products"].append(row)


def operation(name, result, correct):
    row = {"name": name}
    row.update(figures(result, correct))
    document["operations"].append(row)


@part("operations")
def _():
    import torch.nn.functional as F
    generator = torch.Generator("cuda").manual_seed(2)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        x = inputs("normal", (2048, 4096), generator, dtype)
        exact = x.double()
        operation("softmax over 4096", torch.softmax(x, -1), torch.softmax(exact, -1))
        operation("layer norm over 4096", F.layer_norm(x, (4096,)), F.layer_norm(exact, (4096,)))
        operation("sum over 4096", x.sum(-1), exact.sum(-1))
        operation("cumulative sum over 4096", x.cumsum(-1), exact.cumsum(-1))
        operation("gelu", F.gelu(x), F.gelu(exact))
        operation("gelu, tanh", F.gelu(x, approximate="tanh"), F.gelu(exact, approximate="tanh"))
        operation("silu", F.silu(x), F.silu(exact))
        operation("exp", torch.exp(x), torch.exp(exact))
        operation("variance over 4096, mean 1000", torch.var(x + 1000, -1), torch.var((x + 1000).double(), -1))
    image = inputs("normal", (8, 64, 56, 56), generator, torch.float32)
    weights = inputs("normal", (64, 64, 3, 3), generator, torch.float32)
    correct = F.conv2d(image.double().cpu(), weights.double().cpu()).cuda()
    for allowed in (True, False):
        torch.backends.cudnn.allow_tf32 = allowed
        operation(f"convolution 3x3 of 64 channels, TF32 {allowed}", F.conv2d(image, weights), correct)


def repeat(name, function, times=16):
    runs = [function().clone() for _ in range(times)]
    first = runs[0]
    low, high = first.double(), first.double()
    distinct = set()
    for run in runs:
        low, high = torch.minimum(low, run.double()), torch.maximum(high, run.double())
        distinct.add(bytes(run.contiguous().view(torch.uint8).cpu().numpy()))
    spread = (high - low) / ulp(first.double(), first.dtype)
    document["repeats"].append({"name": name, "runs": times, "distinct": len(distinct),
                                "varying": (high != low).double().mean().item(), "max_spread_ulp": spread.max().item(),
                                "mean_spread_ulp": spread.mean().item()})


@part("repeats")
def _():
    generator = torch.Generator("cuda").manual_seed(3)
    index = torch.randint(0, 1000, (1 << 20,), device="cuda", generator=generator)
    values = torch.randn(1 << 20, device="cuda", generator=generator)
    wide = torch.randn((1 << 14, 256), device="cuda", generator=generator)
    repeat("index_add, 1048 to one", lambda: torch.zeros(1000, device="cuda").index_add_(0, index, values))
    repeat("scatter_add, 1048 to one", lambda: torch.zeros(1000, device="cuda").scatter_add_(0, index, values))
    repeat("index_add of rows, 16 to one", lambda: torch.zeros(1000, 256, device="cuda").index_add_(0, index[:1 << 14], wide))
    repeat("sum of a million", lambda: values.sum().reshape(1))
    repeat("cumulative sum of a million", lambda: values.cumsum(0))
    for dtype in (torch.float32, torch.bfloat16):
        a, b = torch.randn((256, 16384), device="cuda").to(dtype), torch.randn((16384, 256), device="cuda").to(dtype)
        repeat(f"product 256 x 256 x 16384 in {dtype}", lambda: torch.mm(a, b))
    # One row alone and within batches: another kernel may be chosen.
    a, b = torch.randn((64, 4096), device="cuda").bfloat16(), torch.randn((4096, 4096), device="cuda").bfloat16()
    alone = torch.mm(a[:1], b)
    for rows in (2, 8, 64):
        within = torch.mm(a[:rows], b)[:1]
        document["repeats"].append({"name": f"row of a bf16 product alone and among {rows}", "runs": 2,
                                    "distinct": 1 + int(not torch.equal(alone, within)),
                                    "varying": (alone != within).double().mean().item(),
                                    "max_spread_ulp": ((alone.double() - within.double()).abs()
                                                       / ulp(alone.double(), alone.dtype)).max().item()})


with open(sys.argv[1], "w") as file:
    json.dump(document, file, indent=1)
