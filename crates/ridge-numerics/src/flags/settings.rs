//! Flags of compilers.

use super::{Certainty, Effect, Evidence, Finding};

/// One setting: its value, and the flag that gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Whether it is on.
    pub is_on: bool,
    /// The flag, as it was given; `None` for the default.
    pub from: Option<String>,
}

/// What flags say about arithmetic. The defaults are those of `nvcc`, NVRTC and clang for CUDA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// FP32 subnormal numbers become zero.
    pub flushes: Setting,
    /// FP32 division is correctly rounded.
    pub has_precise_division: Setting,
    /// FP32 square root is correctly rounded.
    pub has_precise_root: Setting,
    /// Products and sums are contracted.
    pub contracts: Setting,
    /// Functions are replaced by intrinsics.
    pub has_fast_functions: Setting,
    /// Flags about arithmetic whose value is none that is known.
    pub not_understood: Vec<String>,
}

/// Values as `nvcc` takes them.
fn truth(value: &str) -> Option<bool> {
    match value {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// A flag that is given explicitly, the last time it is given.
#[derive(Default)]
struct Given(Option<(bool, String)>);

impl Given {
    /// An explicit value goes before what another flag implies, wherever they stand, as in `nvcc`.
    fn or(self, implied: Option<(bool, &str)>, default: bool) -> Setting {
        match (self.0, implied) {
            (Some((is_on, from)), _) => Setting {
                is_on,
                from: Some(from),
            },
            (None, Some((is_on, from))) => Setting {
                is_on,
                from: Some(from.to_owned()),
            },
            (None, None) => Setting {
                is_on: default,
                from: None,
            },
        }
    }
}

impl Settings {
    /// Reads flags. What is not about arithmetic is passed over; of flags that contradict each other the last one counts.
    pub fn parse<'f>(words: impl IntoIterator<Item = &'f str>) -> Self {
        let mut words = words.into_iter().peekable();
        let (mut ftz, mut division, mut root, mut fmad) = (
            Given::default(),
            Given::default(),
            Given::default(),
            Given::default(),
        );
        let mut functions = Given::default();
        let mut fast: Option<&str> = None;
        let mut not_understood = Vec::new();
        while let Some(word) = words.next() {
            let Some(bare) = word.strip_prefix('-') else {
                continue;
            };
            let bare = bare.strip_prefix('-').unwrap_or(bare);
            let (name, value) = match bare.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (bare, None),
            };
            let target = match name {
                "use_fast_math" | "ffast-math" => {
                    fast = Some(word);
                    continue;
                }
                "fno-fast-math" => {
                    fast = None;
                    continue;
                }
                "fcuda-flush-denormals-to-zero" | "fgpu-flush-denormals-to-zero" => {
                    ftz.0 = Some((true, word.to_owned()));
                    continue;
                }
                "fno-cuda-flush-denormals-to-zero" | "fno-gpu-flush-denormals-to-zero" => {
                    ftz.0 = Some((false, word.to_owned()));
                    continue;
                }
                "fcuda-approx-transcendentals" | "fgpu-approx-transcendentals" => {
                    functions.0 = Some((true, word.to_owned()));
                    continue;
                }
                "fno-cuda-approx-transcendentals" | "fno-gpu-approx-transcendentals" => {
                    functions.0 = Some((false, word.to_owned()));
                    continue;
                }
                "ffp-contract" => {
                    match value {
                        Some("off") => fmad.0 = Some((false, word.to_owned())),
                        Some("on" | "fast" | "fast-honor-pragmas") => {
                            fmad.0 = Some((true, word.to_owned()));
                        }
                        _ => not_understood.push(word.to_owned()),
                    }
                    continue;
                }
                "ftz" => &mut ftz,
                "prec-div" => &mut division,
                "prec-sqrt" => &mut root,
                "fmad" => &mut fmad,
                _ => continue,
            };
            // `-ftz true` is `-ftz=true`.
            let (value, whole) = match value {
                Some(value) => (truth(value), word.to_owned()),
                None => match words.next_if(|next| truth(next).is_some()) {
                    Some(next) => (truth(next), format!("{word} {next}")),
                    None => (None, word.to_owned()),
                },
            };
            match value {
                Some(value) => target.0 = Some((value, whole)),
                None => not_understood.push(whole),
            }
        }
        let implied = |is_on| fast.map(|fast| (is_on, fast));
        Self {
            flushes: ftz.or(implied(true), false),
            has_precise_division: division.or(implied(false), true),
            has_precise_root: root.or(implied(false), true),
            contracts: fmad.or(implied(true), true),
            has_fast_functions: functions.or(implied(true), false),
            not_understood,
        }
    }

    /// What may differ from IEEE arithmetic in the order of the source.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        [
            (Effect::FlushToZero, &self.flushes, true),
            (
                Effect::ApproximateDivision,
                &self.has_precise_division,
                false,
            ),
            (Effect::ApproximateSquareRoot, &self.has_precise_root, false),
            (Effect::ApproximateFunctions, &self.has_fast_functions, true),
            (Effect::Contraction, &self.contracts, true),
        ]
        .into_iter()
        .filter(|(_, setting, differs)| setting.is_on == *differs)
        .map(|(effect, setting, _)| Finding {
            effect,
            certainty: Certainty::Certain,
            evidence: vec![Evidence::Flag(setting.from.clone())],
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Settings {
        Settings::parse(line.split_whitespace())
    }

    fn effects(line: &str) -> Vec<&'static str> {
        parse(line)
            .findings()
            .iter()
            .map(|finding| finding.effect.id())
            .collect()
    }

    /// What nvcc 13.5 makes of the same flags, as its PTX shows.
    #[test]
    fn flags_mean_what_nvcc_makes_of_them() {
        let all = [
            "flush-to-zero",
            "approximate-division",
            "approximate-square-root",
            "approximate-functions",
            "contraction",
        ];
        assert_eq!(effects(""), ["contraction"]);
        assert_eq!(effects("-O3 -arch=sm_90 -use_fast_math"), all);
        assert_eq!(effects("--use_fast_math -ftz=false"), all[1..]);
        assert_eq!(effects("-ftz=false --use_fast_math"), all[1..]);
        assert_eq!(effects("-ftz=true -ftz=false"), ["contraction"]);
        assert_eq!(effects("-ftz true"), ["flush-to-zero", "contraction"]);
        assert_eq!(effects("-fmad=false --use_fast_math"), all[..4]);
        assert_eq!(
            effects("--prec-div=false -fmad=false"),
            ["approximate-division"]
        );
    }

    #[test]
    fn flags_of_clang_are_known() {
        assert!(effects("-ffp-contract=off").is_empty());
        assert_eq!(
            effects("-fgpu-flush-denormals-to-zero -ffp-contract=off"),
            ["flush-to-zero"]
        );
        assert_eq!(effects("-ffast-math -fno-fast-math"), ["contraction"]);
    }

    #[test]
    fn origins_are_kept_and_odd_values_told() {
        let settings = parse("--use_fast_math -ftz false -prec-div=maybe -fmad");
        assert_eq!(settings.flushes.from.as_deref(), Some("-ftz false"));
        assert_eq!(
            settings.has_precise_root.from.as_deref(),
            Some("--use_fast_math")
        );
        assert_eq!(settings.not_understood, ["-prec-div=maybe", "-fmad"]);
        assert_eq!(parse("").contracts.from, None);
    }
}
