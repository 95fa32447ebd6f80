//! Names of functions in compiled code, as their programmers wrote them.

use std::borrow::Cow;

/// Longer names stay mangled, so that the work is bounded; real ones stay below 6 kB.
const LONGEST_NAME: usize = 16 * 1024;

/// The name behind a mangled name of the Itanium C++ ABI, which nvcc uses too; any other name as it is.
pub(crate) fn demangle(mangled: &str) -> Cow<'_, str> {
    if !mangled.starts_with("_Z") || mangled.len() > LONGEST_NAME {
        return Cow::Borrowed(mangled);
    }
    cpp_demangle::Symbol::new(mangled)
        .ok()
        .and_then(|symbol| symbol.demangle().ok())
        .filter(|name| name.len() <= 4 * LONGEST_NAME)
        .map_or(Cow::Borrowed(mangled), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_demangled_or_left_alone() {
        assert_eq!(
            demangle("_Z4copyPK6float4PS_"),
            "copy(float4 const*, float4*)"
        );
        assert_eq!(demangle("tile_sum"), "tile_sum");
        assert_eq!(demangle("_Zgarbage"), "_Zgarbage");
    }

    /// Names of recordings are spelled here, and the profiler selects launches by the function's own name: both have to lead to
    /// the same one, for each kernel of each report that there is.
    #[test]
    fn own_names_of_functions_are_those_of_the_profiler() {
        use ridge_render::kernel_name::base_name;
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let corpus = std::env::var_os("RIDGE_CORPUS")
            .map_or_else(|| root.join("../shared/corpus"), std::path::PathBuf::from);
        let folders = ["gallery", "reports"].map(|name| root.join("fixtures").join(name));
        let lent = ["pairs", "reports"].map(|name| corpus.join(name));
        let mut names = std::collections::BTreeMap::new();
        for entry in folders
            .iter()
            .chain(&lent)
            .filter_map(|folder| std::fs::read_dir(folder).ok())
        {
            for path in entry.filter_map(|entry| Some(entry.ok()?.path())) {
                if !path.to_string_lossy().contains(".ncu-rep") {
                    continue;
                }
                let bytes = zstd::decode_all(std::fs::File::open(&path).unwrap()).unwrap();
                let report = ncu_rep::Report::parse(&bytes).unwrap();
                for index in 0..report.len() {
                    let header = report.profile(index).unwrap().header().value;
                    if let (Some(mangled), Some(function)) =
                        (header.mangled_name, header.function_name)
                    {
                        names.insert(mangled.into_owned(), function.into_owned());
                    }
                }
            }
        }
        assert!(names.len() > 100, "{}", names.len());
        let wrong: Vec<_> = names
            .iter()
            .filter(|(mangled, function)| base_name(&demangle(mangled)) != function.as_str())
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn own_names_of_odd_functions() {
        use ridge_render::kernel_name::base_name;
        for (mangled, own) in [
            ("saxpy", "saxpy"),
            ("_attn_fwd_0d1d2de", "_attn_fwd_0d1d2de"),
            ("_Z5scaleIfEvPT_i", "scale"),
            ("_ZN2ns5inner5scaleIfLi4EEEvPT_i", "scale"),
            ("_ZN12_GLOBAL__N_15scaleEPfi", "scale"),
            (
                "_ZN46_GLOBAL__N__00000000_12_tmp_cu_5c1e2f3a_4567895scaleEPfi",
                "scale",
            ),
            // A functor and a lambda among the template arguments.
            ("_Z3runI3AddEvPfT_", "run"),
            ("_Z5applyIZ4mainEUlfE_EvT_Pf", "apply"),
            // What is cut off is no name of C++; the profiler shows it as it is.
            ("_Z5scal", "_Z5scal"),
        ] {
            assert_eq!(
                base_name(&demangle(mangled)),
                own,
                "{mangled}: {}",
                demangle(mangled)
            );
        }
    }
}
