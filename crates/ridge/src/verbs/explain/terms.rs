//! Terms: the pages of `docs/concepts/`, and the words by which they are found.

/// A page, its name and other words for it.
struct Term {
    names: &'static [&'static str],
    page: &'static str,
}

macro_rules! terms {
    ($($file:literal: $($name:literal),+;)+) => {
        const TERMS: &[Term] = &[$(Term {
            names: &[$($name),+],
            page: include_str!(concat!("../../../../../docs/concepts/", $file, ".md")),
        }),+];
    };
}

terms! {
    "amdahl": "amdahl's bound", "amdahl", "amdahls bound", "amdahl's law", "amdahls law";
    "arithmetic-intensity": "arithmetic intensity", "operational intensity";
    "band": "band", "a/a band", "aa band", "verdict", "verdicts", "same", "slower", "faster", "ambiguous", "ridge check";
    "batch": "batch", "batch time", "throughput of launches";
    "blocking-kernel": "blocking kernel", "blocking";
    "ceiling": "ceiling", "saving ceiling", "ceilings", "ridge ceilings", "attainable", "burst", "sustained";
    "change-point": "change point", "change points", "step", "drift", "ridge history changes", "ridge history plot", "changepoint";
    "cluster": "cluster", "clusters", "thread block cluster";
    "cold": "cold", "cold time", "l2 flush", "flush";
    "compulsory": "compulsory bytes", "compulsory traffic", "compulsory", "compulsory operations";
    "compute-sanitizer": "compute sanitizer", "sanitizer", "ridge sanitize", "memcheck", "racecheck", "initcheck", "synccheck";
    "condition": "condition of a sum", "condition", "condition number", "cancellation";
    "counter-permission": "counter permission", "permission for counters", "counters", "err nvgpuctrperm", "cap sys admin", "ridge doctor";
    "determinism": "determinism", "deterministic", "nondeterminism", "reproducible", "bit identical", "run to run";
    "eligible-warps": "eligible warps", "eligible warp";
    "exposed-copy": "exposed copy", "exposed copies", "exposed transfer", "overlap", "hidden copy";
    "flags": "flags and results", "flags", "fast math", "use fast math", "fmad", "contraction", "fma contraction", "prec div", "prec sqrt", "ridge numerics flags";
    "floor": "floor", "floors", "event floor", "empty kernel", "floor limited", "at floor";
    "ftz": "ftz", "flush to zero", "subnormal", "subnormals", "denormal", "denormals";
    "gap": "gap of a device", "gaps", "gaps of a device", "host wait", "launch floor", "idle time", "host late";
    "graph": "graph", "graph time", "cuda graph", "graph mode";
    "history": "history", "history of results", "ridge history", "past results", "record";
    "hot": "hot", "hot time";
    "issue-slot": "issue slot", "issue slots";
    "kahan": "kahan's sum", "kahan", "kahan sum", "compensated sum", "compensated summation", "neumaier", "pairwise sum", "pairwise summation";
    "lane": "lane", "lanes";
    "latency": "latency", "launch latency", "latency of a launch";
    "latency-hiding": "latency hiding", "little's law", "littles law", "bytes in flight", "in flight", "memory level parallelism";
    "launch-cost": "launch cost", "cost of a launch", "launch overhead", "back to back launches";
    "ledger": "ledger", "resource ledger";
    "lower-bound": "lower bound", "lower bounds", "bound", "bounds", "gap";
    "matching": "matching of kernels", "matching", "match", "ridge diff", "diff", "renamed kernel";
    "number-formats": "number formats", "formats", "number format", "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp6", "fp4", "e4m3", "e5m2", "e2m1", "e8m0", "mxfp8", "mxfp4", "nvfp4";
    "occupancy": "occupancy", "theoretical occupancy", "achieved occupancy", "ridge occupancy";
    "pageable-memory": "pageable memory", "pageable", "pinned", "pinned memory", "page locked", "pageable copy";
    "pass": "pass", "passes", "replay", "kernel replay", "application replay", "tier", "tiers";
    "peer-copy": "peer copy", "peer", "peers", "peer to peer", "p2p", "nvlink", "links to other gpus";
    "race": "race", "races", "data race", "hazard", "hazards", "raw", "war", "waw";
    "rank": "rank", "ranks", "straggler", "stragglers", "odd one out", "world size", "local rank";
    "recording": "recording", "recordings", "ridge trace", "recorder", "cupti";
    "request": "request", "requests";
    "ridge-point": "ridge point", "roofline ridge point";
    "roofline": "roofline", "ridge roofline", "roof", "roofs", "hierarchical roofline";
    "sector": "sector", "sectors";
    "speed-of-light": "speed of light", "sol";
    "stall-reasons": "stall reasons", "stall reason", "stalls";
    "timeline": "timeline", "ridge timeline", "trace", "span", "busy time", "queue time";
    "ulp": "ulp", "ulps", "unit in the last place", "units in the last place", "correctly rounded";
    "unit-roundoff": "unit roundoff", "machine epsilon", "epsilon", "rounding error";
    "verify": "what had to move", "verify", "held", "not held", "it worked if";
    "warp": "warp", "warps";
    "wave": "wave", "waves", "tail";
    "wavefront": "wavefront", "wavefronts";
}

/// The name of each page.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TERMS.iter().map(|term| term.names[0])
}

/// The page of a term; case, hyphens and underscores do not matter.
pub(super) fn page(name: &str) -> Option<&'static str> {
    let plain = name.to_ascii_lowercase().replace(['-', '_'], " ");
    let term = TERMS
        .iter()
        .find(|term| term.names.contains(&plain.as_str()))?;
    Some(term.page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_is_free() {
        assert!(
            page("Speed-Of-Light")
                .unwrap()
                .starts_with("# Speed Of Light\n")
        );
        assert_eq!(page("Little's law"), page("latency_hiding"));
        assert_eq!(page("wavelet"), None);
    }

    #[test]
    fn every_page_of_the_folder_is_known() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/concepts");
        let pages = std::fs::read_dir(folder).unwrap().count() - 1;
        assert_eq!(pages, TERMS.len(), "README.md and one page for each term");
    }
}
