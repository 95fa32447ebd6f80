//! Which texts are known to be harmless.
//!
//! A text that the profiler wrote of itself (a section's name, the title of a message, the value of an option) is made
//! of few words. A text of any other kind is not let through, whatever it looks like.

use std::sync::LazyLock;

/// Longest text that is looked at; longer ones are not of the profiler.
const MAX_TEXT: usize = 200;

/// Words of the profiler's identifiers, titles and option values, in lower case.
static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "
    16 32 64 8 aarch64 access accesses achieved address affinity all alu amd64 analysis and android aperture app
    application arm64 auto average balanced balancing bandwidth bank barrier base basic block boost bottleneck
    branch build busy bytes c2c cache cases cc chart children clock cluster coalesced command compression compute
    config configuration conflicts constant control conversion copies core counters cpi cpu cuda data datapath
    default demangled deprecated detailed device devtools dispatch display distribution divergence divergent double
    drain dram driver dynamic effect eligible equal excessive executed extended false file floating fma fp fp16 fp32
    fp64 fp8 full function fused general global gpu graph grid group half hardware hierarchical high hit imbalance
    imc info inst instruction instructions int integer issue issued kernel l1 l1tex l2 lane latency launch lg light
    limit limited limiter line link linux load loads local location logical long low lrc lts mac mangled math max
    mbar membar memory metrics min mio misc miscellaneous miss mma most move movement name native nested no node non
    none not nsight numa number nvlink occupancy of off on only opcode operation operations os other partial pass
    passes pattern pc pcie peak perf physical pipe pipeline pipelines pm point policy ppcie precision predicate
    prefer profiler public python qnx range rate ratio read register registers relaxed release replay requests reset
    roofline sampling sass scheduler schedulers scoreboard section section0 section1 sectors selected series set
    shared short single size sleeping slice slices slot slots slow sm small sms smsp smsps sol source speed spill
    spilling spread stable stall stalls state states statistics stats store stores strict summary surface system
    table tables tail target tc tensor tex texture theoretical thread threads throttle throughput timeline tmem
    topology total traffic true type uncoalesced uniform unit units usage use utilization value values version very
    wait warp warpgroup warps wave wavefronts waves windows work workload works write x64 x86 x86_64 yes
    "
    .split_ascii_whitespace()
    .collect()
});

/// Words in the names of GPUs, in lower case.
static DEVICE_WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "
    ada agx ampere black blackwell board cmp compute design dgx drive edition geforce generation gpu grace graphics
    grid gt gtx hbm hopper instance jetson laptop lovelace max mig nano nvgpu nvidia nvl nx orin pascal pcie pro q
    quadro rtx server spark super superchip sxm tegra tesla thor ti titan turing v vgpu volta with workstation
    xavier xp
    "
    .split_ascii_whitespace()
    .collect()
});

/// Domains that metric names without two underscores start with.
const PLAIN_METRICS: &[&str] = &[
    "branch_inst_executed",
    "derived_",
    "inst_executed",
    "memory_",
    "thread_inst_executed",
];

/// Endings of the names of source files.
const SOURCE_ENDINGS: &[&str] = &[
    ".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hpp", ".inl", ".py",
];

/// Whether a text is made of the profiler's words.
pub(super) fn is_words(text: &str) -> bool {
    text.len() <= MAX_TEXT
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || " _-/:(),+&".contains(c))
        && text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .all(is_compound)
}

/// Whether a word is one of ours or several of them joined, as in `MemoryWorkloadAnalysis`.
fn is_compound(word: &str) -> bool {
    const MAX_WORD: usize = 64;
    if word.is_empty() {
        return true;
    }
    let word = word.to_ascii_lowercase();
    // Which places in the word can be reached by known words.
    let mut reached = vec![0_usize];
    let mut next = 0;
    while let Some(&from) = reached.get(next) {
        next = next.saturating_add(1);
        let Some(rest) = word.get(from..) else {
            continue;
        };
        if rest.is_empty() {
            return true;
        }
        for known in WORDS.iter() {
            let to = from.saturating_add(known.len());
            // Numbers stand alone, or any number could be put together from them.
            if known.starts_with(|c: char| c.is_ascii_digit()) && *known != word {
                continue;
            }
            if rest.starts_with(known) && to <= MAX_WORD && !reached.contains(&to) {
                reached.push(to);
            }
        }
    }
    false
}

/// Whether a text has the form of a metric's name: `sm__cycles_active.avg`, `group:memory__chart`, `inst_executed`.
pub(super) fn is_metric(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.:".contains(c);
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic());
    starts_well
        && text.len() <= MAX_TEXT
        && text.chars().all(plain)
        && (text.contains("__") || PLAIN_METRICS.iter().any(|start| text.starts_with(start)))
}

/// Stands in a list for what is not shown.
pub(super) const OTHER: &str = "other";

/// Whether a text is a list of metrics, some of which may be hidden.
pub(super) fn is_metric_list(text: &str) -> bool {
    text.split(',').all(|item| is_metric(item) || item == OTHER) && text != OTHER
}

/// Whether a text is the name of a GPU, or of several.
pub(super) fn is_device(text: &str) -> bool {
    text.len() <= MAX_TEXT
        && text
            .split([' ', '-', '/', ',', ';', '(', ')', '.'])
            .all(is_device_word)
}

/// A word of a GPU's name, or a model such as `A100`, `80GB`, `SXM4`, `1g`.
fn is_device_word(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    if word.is_empty() || DEVICE_WORDS.contains(&&*lower) {
        return true;
    }
    let letters = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let digits = letters.trim_start_matches(|c: char| c.is_ascii_digit());
    let (before, count) = (
        word.len().saturating_sub(letters.len()),
        letters.len().saturating_sub(digits.len()),
    );
    let ends_well = matches!(digits, "g" | "gb")
        || (digits.len() <= 3 && digits.chars().all(|c| c.is_ascii_uppercase()));
    before <= 3 && (1..=4).contains(&count) && ends_well
}

/// Whether a text is an opcode, with or without modifiers: `LDG`, `IMAD.MOV.U32`, `HGMMA.64x128x16.F32.BF16`.
pub(super) fn is_opcode(text: &str) -> bool {
    let is_shape = |part: &str| {
        part.split('x')
            .all(|number| number.len() <= 4 && number.chars().all(|c| c.is_ascii_digit()))
    };
    let is_part = |part: &str| {
        part.chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_' || c == '?')
            || is_shape(part)
    };
    text.len() <= 64
        && (text.starts_with(|c: char| c.is_ascii_uppercase()) || text.starts_with("??"))
        && text.split('.').all(is_part)
}

/// Whether a text is a list of small numbers and ranges of them, such as `0-15,32`.
pub(super) fn is_ranges(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_TEXT
        && text
            .split([',', '-'])
            .all(|number| number.len() <= 5 && number.chars().all(|c| c.is_ascii_digit()))
}

/// Whether a text is one number.
pub(super) fn is_number(text: &str) -> bool {
    (1..=10).contains(&text.len()) && text.chars().all(|c| c.is_ascii_digit())
}

/// Whether a text is a version: numbers with points, and words such as `(build 123) (public-release)`.
pub(super) fn is_version(text: &str) -> bool {
    text.len() <= MAX_TEXT
        && text.split([' ', '(', ')', '-']).all(|part| {
            let is_numbers = part
                .split('.')
                .all(|number| number.len() <= 10 && number.chars().all(|c| c.is_ascii_digit()));
            is_numbers || is_words(part)
        })
}

/// Whether the name of a kernel or function tells more than a name: a path, a file, an address.
pub(super) fn is_telling(name: &str) -> bool {
    name.chars()
        .any(|c| c.is_control() || c == '\\' || c == '@')
        || name.contains("_GLOBAL__N__")
        || name.contains("_INTERNAL_")
        || has_slash(name)
        || SOURCE_ENDINGS.iter().any(|ending| has_ending(name, ending))
}

fn has_slash(name: &str) -> bool {
    name.match_indices('/').any(|(place, _)| {
        // The C++ operators `/` and `/=` are no paths.
        !name
            .get(..place)
            .is_some_and(|before| before.trim_end().ends_with("operator"))
    })
}

fn has_ending(name: &str, ending: &str) -> bool {
    name.match_indices(ending).any(|(place, _)| {
        let after = name.get(place.saturating_add(ending.len())..);
        !after.is_some_and(|after| after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// Puts the standard name of an unnamed namespace in place of the compiler's, which holds the name of the source file:
/// `43_GLOBAL__N__b6de9c8c_10_SoftMax_cu_9f978f63` becomes `12_GLOBAL__N_1`.
///
/// Absent when there is nothing to replace or the name does not have the known form.
pub(super) fn without_file(mangled: &str) -> Option<String> {
    let mut out = String::with_capacity(mangled.len());
    let mut rest = mangled;
    while let Some(place) = ["_GLOBAL__N__", "_INTERNAL_"]
        .iter()
        .filter_map(|mark| rest.find(mark))
        .min()
    {
        let (before, name) = rest.split_at_checked(place)?;
        let size = file_name_size(name)?;
        // The length of the name stands before it; digits before that belong to what comes before.
        out.push_str(before.strip_suffix(&size.to_string())?);
        out.push_str("12_GLOBAL__N_1");
        rest = name.get(size..)?;
    }
    if out.is_empty() {
        return None;
    }
    out.push_str(rest);
    Some(out)
}

/// The size of a name such as `_INTERNAL_9de2c70c_9_clinic_cu_7c7c8995`: hash, length of the file name, file name, hash.
fn file_name_size(name: &str) -> Option<usize> {
    let rest = name
        .strip_prefix("_GLOBAL__N__")
        .or_else(|| name.strip_prefix("_INTERNAL_"))?;
    let rest = after_hash(rest)?.strip_prefix('_')?;
    let (digits, rest) = rest.split_once('_')?;
    let file: usize = is_number(digits).then(|| digits.parse().ok())??;
    let rest = after_hash(rest.get(file..)?.strip_prefix('_')?)?;
    name.len().checked_sub(rest.len())
}

/// What stands behind eight hexadecimal digits.
fn after_hash(text: &str) -> Option<&str> {
    let (hash, rest) = text.split_at_checked(8)?;
    hash.chars().all(|c| c.is_ascii_hexdigit()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profilers_own_texts_are_words() {
        for text in [
            "SpeedOfLight_HierarchicalDoubleRooflineChart",
            "GPU Speed Of Light Hierarchical Roofline Chart (Double Precision)",
            "PmSampling_WarpStates",
            "PM Sampling: Warp States",
            "C2CLink",
            "CPIStall",
            "SOLFPRoofline",
            "FP32/64 Instructions",
            "L1TEX Global Load Access Pattern",
            "FP32 Non-Fused Instructions",
            "CachePreferNone",
            "PolicyLoadBalancing",
            "No-CC",
            "Nsight Compute Target",
            "x86_64",
            "app-range",
        ] {
            assert!(is_words(text), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not() {
        for text in [
            "vm",
            "#1 SMP",
            "alice",
            "/home/x",
            "compute@cluster",
            "192.0.2.2",
            "node17",
            "3264",
            "8.8.8.8",
        ] {
            assert!(!is_words(text), "{text}");
        }
        assert!(!is_words(&"load ".repeat(100)));
        assert!(!is_words(&"load".repeat(20)));
    }

    #[test]
    fn metric_names_have_a_form() {
        for text in [
            "sm__throughput.avg.pct_of_peak_sustained_elapsed",
            "breakdown:gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
            "TPC.TriageCompute.sm__inst_executed_realtime.avg.per_cycle_active",
            "inst_executed",
            "derived_tempMetric0",
        ] {
            assert!(is_metric(text), "{text}");
        }
        for text in ["", "secret", "/a__b", "a__b c", "__x", "a__b@c"] {
            assert!(!is_metric(text), "{text}");
        }
    }

    #[test]
    fn names_of_gpus_are_known_by_their_form() {
        for text in [
            "NVIDIA H200",
            "NVIDIA A100-SXM4-80GB",
            "NVIDIA GeForce RTX 4090 Laptop GPU",
            "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
            "Tesla V100-PCIE-16GB",
            "Orin (nvgpu)",
            "NVIDIA RTX PRO 6000 Blackwell Server Edition",
            "NVIDIA GeForce GTX 1080 Ti",
        ] {
            assert!(is_device(text), "{text}");
        }
        assert!(!is_device("gpu of alice"));
        assert!(!is_device("192.0.2.2 host"));
    }

    #[test]
    fn opcodes_are_capitals_and_shapes() {
        for text in [
            "LDG",
            "IMAD.MOV.U32",
            "HGMMA.64x128x16.F32.BF16",
            "???",
            "R2UR_FILL",
        ] {
            assert!(is_opcode(text), "{text}");
        }
        for text in ["", "alice", "LDG.alice", "64x64", "LDG E", "LDG.12345x1"] {
            assert!(!is_opcode(text), "{text}");
        }
    }

    #[test]
    fn unnamed_namespaces_lose_their_file() {
        assert_eq!(
            without_file("_ZN2at6float443_GLOBAL__N__b6de9c8c_10_SoftMax_cu_9f978f631fEv")
                .as_deref(),
            Some("_ZN2at6float412_GLOBAL__N_11fEv")
        );
        assert_eq!(
            without_file("_ZN39_INTERNAL_9de2c70c_9_clinic_cu_7c7c89959atomicAddEPff").as_deref(),
            Some("_ZN12_GLOBAL__N_19atomicAddEPff")
        );
        assert_eq!(without_file("_Z4vaddPf"), None);
        assert_eq!(without_file("_ZN9_INTERNAL_x"), None);
        assert_eq!(without_file("_INTERNAL_é"), None);
    }

    #[test]
    fn paths_and_files_in_names_are_seen() {
        for name in [
            "f(/home/a)",
            "lambda at x.cu:3",
            "a@b",
            "C:\\x",
            "k_INTERNAL_x",
            "a\nb",
        ] {
            assert!(is_telling(name), "{name}");
        }
        for name in [
            "operator/(a, b)",
            "f<1.5f>",
            "k.cold",
            "void a::<unnamed>::f<(bool)0>(T *)",
        ] {
            assert!(!is_telling(name), "{name}");
        }
    }

    #[test]
    fn versions_are_numbers_and_few_words() {
        assert!(is_version("2025.3.1.0 (build 36398880) (public-release)"));
        assert!(is_version("13.0"));
        assert!(!is_version("13.0 of alice"));
    }
}
