//! The functions of expressions.

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Abs,
    Ceil,
    CeilDiv,
    Cos,
    Exp,
    Float,
    Floor,
    If,
    Log,
    Log2,
    Max,
    Min,
    Round,
    RoundUp,
    Sin,
    Sqrt,
    Sum,
    Tanh,
}

/// A function as it is written, and how many arguments it takes.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: &'static str,
    pub(super) function: Function,
    pub(super) least: usize,
    pub(super) most: usize,
    /// The same in words.
    pub(super) takes: &'static str,
    /// What it gives, for the reference.
    pub(super) gives: &'static str,
}

const ONE: &str = "one argument";
const TWO: &str = "two arguments";

macro_rules! functions {
    ($($name:literal $function:ident $least:literal..=$most:literal $takes:expr => $gives:literal;)+) => {
        pub(super) const FUNCTIONS: &[Definition] = &[$(Definition {
            name: $name,
            function: Function::$function,
            least: $least,
            most: $most,
            takes: $takes,
            gives: $gives,
        }),+];
    };
}

functions! {
    "abs" Abs 1..=1 ONE => "`abs(x)`: x without its sign";
    "ceil" Ceil 1..=2 "one or two arguments" => "`ceil(x)`: the least whole number that is not below x; `ceil(a, b)` is `ceil_div(a, b)`";
    "ceil_div" CeilDiv 2..=2 TWO => "`ceil_div(a, b)`: the quotient of whole numbers, rounded up";
    "cos" Cos 1..=1 ONE => "`cos(x)`: the cosine";
    "exp" Exp 1..=1 ONE => "`exp(x)`: e to the power of x";
    "float" Float 1..=1 ONE => "`float(x)`: x as a number with a fraction, whose division is exact";
    "floor" Floor 1..=1 ONE => "`floor(x)`: the greatest whole number that is not above x";
    "if" If 3..=3 "three arguments" => "`if(condition, a, b)`: a where the condition holds, else b; only that one is computed";
    "log" Log 1..=1 ONE => "`log(x)`: the natural logarithm";
    "log2" Log2 1..=1 ONE => "`log2(x)`: the logarithm to base 2; a whole number for powers of two";
    "max" Max 1..=16 "1 to 16 arguments" => "`max(a, b, …)`: the greatest";
    "min" Min 1..=16 "1 to 16 arguments" => "`min(a, b, …)`: the least";
    "round" Round 1..=1 ONE => "`round(x)`: the nearest whole number, halves away from zero";
    "round_up" RoundUp 2..=2 TWO => "`round_up(a, b)`: the least multiple of b that is not below a";
    "sin" Sin 1..=1 ONE => "`sin(x)`: the sine";
    "sqrt" Sqrt 1..=1 ONE => "`sqrt(x)`: the square root";
    "sum" Sum 4..=4 "four arguments" => "`sum(k, from, to, x)`: the sum of x for k = from … to - 1; x may use k";
    "tanh" Tanh 1..=1 ONE => "`tanh(x)`: the hyperbolic tangent";
}

pub(super) fn definition(name: &str) -> Option<&'static Definition> {
    FUNCTIONS.iter().find(|definition| definition.name == name)
}
