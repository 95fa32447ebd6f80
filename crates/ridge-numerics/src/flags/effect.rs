//! The effects, and what is documented of their size.

/// Something that makes results differ from IEEE arithmetic in the order of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// FP32 subnormal inputs and results become zero.
    FlushToZero,
    /// FP32 divisions and reciprocals that are not correctly rounded.
    ApproximateDivision,
    /// FP32 square roots that are not correctly rounded.
    ApproximateSquareRoot,
    /// Functions replaced by fast approximations.
    ApproximateFunctions,
    /// A product and a sum in one operation that rounds once.
    Contraction,
    /// Additions of floating-point numbers to memory that other threads add to.
    FloatAtomics,
    /// Partial sums by several blocks, added up later.
    SplitK,
    /// FP32 products on tensor cores, whose inputs lose 13 bits.
    Tf32,
    /// Products on tensor cores that are summed in FP16.
    HalfAccumulation,
    /// Arithmetic in FP16 or BF16 outside of tensor cores.
    HalfArithmetic,
    /// Products of FP8, FP6 or FP4 numbers on tensor cores.
    NarrowProducts,
}

impl Effect {
    /// Every effect.
    pub const ALL: [Self; 11] = [
        Self::FlushToZero,
        Self::ApproximateDivision,
        Self::ApproximateSquareRoot,
        Self::ApproximateFunctions,
        Self::Contraction,
        Self::FloatAtomics,
        Self::SplitK,
        Self::Tf32,
        Self::HalfAccumulation,
        Self::HalfArithmetic,
        Self::NarrowProducts,
    ];

    /// Its name in documents.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::FlushToZero => "flush-to-zero",
            Self::ApproximateDivision => "approximate-division",
            Self::ApproximateSquareRoot => "approximate-square-root",
            Self::ApproximateFunctions => "approximate-functions",
            Self::Contraction => "contraction",
            Self::FloatAtomics => "float-atomics",
            Self::SplitK => "split-k",
            Self::Tf32 => "tf32",
            Self::HalfAccumulation => "half-accumulation",
            Self::HalfArithmetic => "half-arithmetic",
            Self::NarrowProducts => "narrow-products",
        }
    }

    /// Its name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::FlushToZero => "flush to zero",
            Self::ApproximateDivision => "approximate division",
            Self::ApproximateSquareRoot => "approximate square root",
            Self::ApproximateFunctions => "approximate functions",
            Self::Contraction => "contraction to fused multiply-add",
            Self::FloatAtomics => "floating-point atomic additions",
            Self::SplitK => "split sums",
            Self::Tf32 => "TF32 products",
            Self::HalfAccumulation => "sums in FP16 on tensor cores",
            Self::HalfArithmetic => "half-precision arithmetic",
            Self::NarrowProducts => "FP8, FP6 or FP4 products",
        }
    }

    /// What may differ.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::FlushToZero => {
                "FP32 numbers below 2^-126 (1.2e-38) are read and written as zero; x - y may be 0 although x and y differ"
            }
            Self::ApproximateDivision => {
                "x/y and 1/x are not correctly rounded; x/y is 0 where |y| is above 2^126"
            }
            Self::ApproximateSquareRoot => "sqrt(x) is not correctly rounded",
            Self::ApproximateFunctions => {
                "exp, log, sin, cos, pow, tanh and kin come from the special function unit; special cases and large arguments differ too"
            }
            Self::Contraction => {
                "a*b+c rounds once and not twice: closer to the exact value, different from a CPU that does not; x*x - y*y is no longer exactly antisymmetric"
            }
            Self::FloatAtomics => {
                "the order of additions changes from run to run, and with it the last bits; FP32 additions to global memory flush subnormal numbers whatever the flags say"
            }
            Self::SplitK => {
                "sums are taken in parts, in another order than in one pass; parts may be rounded to the format of the output before they are added, and added by atomics"
            }
            Self::Tf32 => "inputs are rounded to 10 bits of mantissa before they are multiplied",
            Self::HalfAccumulation => {
                "sums are rounded to 10 bits of mantissa on the way, and overflow above 65504"
            }
            Self::HalfArithmetic => {
                "each operation rounds to 10 bits of mantissa (FP16) or 7 (BF16)"
            }
            Self::NarrowProducts => {
                "inputs have 1 to 3 bits of mantissa; sums on the tensor cores of 9.0 may keep fewer bits than FP32 has"
            }
        }
    }

    /// How large it is, as NVIDIA documents it or as it follows from formats. `u` is the unit roundoff, `S` the sum of the sizes of
    /// what is added, `K` how many there are.
    #[must_use]
    pub const fn size(self) -> &'static str {
        match self {
            Self::FlushToZero => "up to 1.2e-38 absolute; all of a subnormal result",
            Self::ApproximateDivision => {
                "2 ULP for x/y where 2^-126 <= |y| <= 2^126, 1 ULP for 1/x"
            }
            Self::ApproximateSquareRoot => "1 ULP",
            Self::ApproximateFunctions => {
                "__expf 2 + floor(|1.173 x|) ULP; __sinf 2^-21.41 absolute within [-pi, pi], larger outside; __logf 3 ULP outside [0.5, 2], 2^-21.41 absolute inside; tanh 2^-11 relative"
            }
            Self::Contraction => {
                "half an ULP of a*b, absolute; without bound beside a result that cancels"
            }
            Self::FloatAtomics | Self::SplitK => "about sqrt(K) u S, at most K u S",
            Self::Tf32 => "2^-11 of each input, so about 2^-10 of each product",
            Self::HalfAccumulation => "about sqrt(K) 2^-11 S",
            Self::HalfArithmetic => "2^-11 (FP16) or 2^-8 (BF16) of each result",
            Self::NarrowProducts => "2^-4 (E4M3), 2^-3 (E5M2), 2^-2 (E2M1) of each input",
        }
    }

    /// What turns it off, or makes it harmless.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::FlushToZero => {
                "-ftz=false (the default without --use_fast_math); scale small values"
            }
            Self::ApproximateDivision => "-prec-div=true, or __fdiv_rn where it matters",
            Self::ApproximateSquareRoot => "-prec-sqrt=true, or __fsqrt_rn where it matters",
            Self::ApproximateFunctions => {
                "build without --use_fast_math and name the intrinsics where they do no harm"
            }
            Self::Contraction => {
                "-fmad=false, or __fmul_rn and __fadd_rn, which are never contracted"
            }
            Self::FloatAtomics => {
                "add up within a block, write one sum each, and add these in a second kernel"
            }
            Self::SplitK => {
                "one pass over K, or parts in FP32 that a second kernel adds in a fixed order"
            }
            Self::Tf32 => {
                "FP32 instructions; in PyTorch torch.backends.cuda.matmul.allow_tf32 = False and torch.backends.cudnn.allow_tf32 = False"
            }
            Self::HalfAccumulation => "the same instruction with FP32 accumulators",
            Self::HalfArithmetic => "convert to FP32 once, compute, convert back once",
            Self::NarrowProducts => {
                "sum in FP32 outside of the tensor cores every few steps; scale blocks"
            }
        }
    }
}
