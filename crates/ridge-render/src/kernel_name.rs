//! Names of kernels, as short as a column needs them.
//!
//! Demangled template names are up to several kilobytes long. What tells two kernels apart is mostly the function's
//! own name and its outermost template arguments, so those go last. Two different kernels can get the same short
//! name; where that matters, a page shows their index beside it.

mod parse;
mod print;

use crate::charset::Charset;
use crate::escape;
use crate::width::{truncate, width};
use parse::Name;
use print::Printer;

/// Longer names are cut here before they are parsed, so that the work is bounded; real ones stay below 6 kB.
const LONGEST_NAME: usize = 64 * 1024;

/// Shortens a demangled name to at most `columns`, safe for a terminal.
///
/// The return type, the parameter list, anonymous namespaces and casts of numbers (`(int)4`) go in any case. Then, as
/// far as it takes: namespaces within template arguments, the function's own namespaces, which lambda of a function is
/// meant, template arguments from the deepest level outwards, arguments from the last to the first. The function's name stays whole if it fits at all.
/// Names that are not C++ (Triton, cuBLAS, copies) are only cut at their end.
///
/// ```
/// use ridge_render::{charset::Charset, kernel_name::shorten};
///
/// let name = "void at::native::<unnamed>::vectorized_layer_norm_kernel<c10::BFloat16, float, (bool)0>(int, T2)";
/// assert_eq!(
///     shorten(name, 80, Charset::Unicode),
///     "at::native::vectorized_layer_norm_kernel<c10::BFloat16, float, 0>"
/// );
/// assert_eq!(
///     shorten(name, 40, Charset::Unicode),
///     "vectorized_layer_norm_kernel<BFloat16,…>"
/// );
/// ```
#[must_use]
pub fn shorten(name: &str, columns: usize, charset: Charset) -> String {
    let safe = escape::terminal(head(name));
    let parsed = Name::parse(&safe);
    let fits = |text: &String| width(text) <= columns;
    if !parsed.is_function() {
        return truncate(parsed.whole(), columns, charset).into_owned();
    }
    let full = Printer::new(&parsed, charset);
    let brief = full.without_inner_namespaces();
    let bare = brief.without_outer_namespaces();
    let terse = bare.without_lambdas();
    let by_depth = (1..=parsed.depth())
        .rev()
        .map(|depth| terse.to_depth(depth));
    [full, brief, bare]
        .into_iter()
        .chain(by_depth)
        .map(|printer| printer.path())
        .find(fits)
        .or_else(|| terse.to_depth(1).leading_arguments(columns))
        .unwrap_or_else(|| truncate(parsed.base(), columns, charset).into_owned())
}

/// The function's own name, without namespaces, template arguments and parameters; a part of the input, not made safe.
///
/// A lambda's call operator is `operator()`. Names that are not C++ come back whole, without white space at the ends.
///
/// ```
/// use ridge_render::kernel_name::base_name;
///
/// assert_eq!(base_name("void ns::(anonymous namespace)::foo<int, bar<4>>(float*, int)"), "foo");
/// assert_eq!(base_name("matmul_kernel_0d1d2d"), "matmul_kernel_0d1d2d");
/// ```
#[must_use]
pub fn base_name(demangled: &str) -> &str {
    Name::parse(head(demangled)).base()
}

/// The part of a name that is looked at.
fn head(name: &str) -> &str {
    let name = name.trim();
    &name[..name.floor_char_boundary(LONGEST_NAME)]
}

#[cfg(test)]
mod tests;
