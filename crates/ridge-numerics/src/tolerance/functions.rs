//! Error bounds of CUDA's mathematical functions.

use crate::format::Format;

const TABLE: &str = include_str!("functions.csv");

/// A function with what NVIDIA says about its largest error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Function {
    /// Its name, without the suffix of the type.
    pub name: &'static str,
    /// The format that it computes in.
    pub format: Format,
    /// The largest error in ULP of that format, in the default build.
    pub ulps: f64,
    /// The same with approximate division and square root (`-prec-div=false`, `-prec-sqrt=false`), where that differs.
    pub approximate_ulps: Option<f64>,
}

/// All functions that have a bound.
pub fn functions() -> impl Iterator<Item = Function> {
    TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut cells = line.split(',');
            Some(Function {
                name: cells.next()?,
                format: cells.next()?.parse().ok()?,
                ulps: cells.next()?.parse().ok()?,
                approximate_ulps: cells.next().and_then(|cell| cell.parse().ok()),
            })
        })
}

/// The bound of a function: `exp`, `expf`, `sin` and so on. Results of formats narrower than binary32 are computed in that.
#[must_use]
pub fn function(name: &str, output: Format) -> Option<Function> {
    let format = if output == Format::F64 {
        Format::F64
    } else {
        Format::F32
    };
    functions()
        .filter(|function| function.format == format)
        .find(|function| {
            function.name == name
                || (format == Format::F32
                    && name
                        .strip_suffix('f')
                        .is_some_and(|bare| bare == function.name))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(functions().count(), lines);
        assert!(lines > 75);
    }

    #[test]
    fn functions_are_found_by_either_name() {
        let exp = function("expf", Format::F32).unwrap();
        assert_eq!((exp.name, exp.ulps), ("exp", 2.0));
        assert_eq!(function("exp", Format::Bf16), Some(exp));
        assert_eq!(function("exp", Format::F64).unwrap().ulps, 1.0);
        assert_eq!(function("expf", Format::F64), None);
        // The name itself ends in f.
        assert_eq!(function("erf", Format::F32).unwrap().name, "erf");
        assert_eq!(function("erff", Format::F32).unwrap().name, "erf");
        let sqrt = function("sqrt", Format::F32).unwrap();
        assert_eq!((sqrt.ulps, sqrt.approximate_ulps), (0.0, Some(1.0)));
        assert_eq!(function("j0", Format::F32), None);
    }
}
