//! Devices by name, by a name of the driver, by compute capability, or by PCI id.

use super::{Device, DeviceError, Devices, PciId};
use crate::ComputeCapability;
use crate::spelling::{distance, plain};

/// Names that are offered where one is not known.
const MOST_NEAREST: usize = 4;

impl Devices {
    /// The device of a name; see [`Devices::matching`] for what counts as one.
    ///
    /// # Errors
    /// When no device or more than one fits; the error offers names.
    pub fn find(&self, name: &str) -> Result<&Device, DeviceError> {
        let found = self.matching(name);
        match *found.as_slice() {
            [device] => Ok(device),
            [] => Err(DeviceError::Unknown {
                name: name.trim().to_owned(),
                nearest: self.nearest(name),
            }),
            _ => Err(DeviceError::Several {
                name: name.trim().to_owned(),
                matches: found.iter().map(|device| device.name.clone()).collect(),
            }),
        }
    }

    /// The devices that a name may mean: those of a PCI id such as `10de:2335`; those that have it as name or alias; else
    /// those of a compute capability, which may be written `9.0`, `90`, `sm_90`, or `10` for 10.0; else those in whose
    /// names it stands, or at least all its words. Case, spaces, hyphens and underscores do not matter, and neither does
    /// `NVIDIA` or `Tesla` in front.
    #[must_use]
    pub fn matching(&self, name: &str) -> Vec<&Device> {
        let wanted = core(name);
        if wanted.is_empty() {
            return Vec::new();
        }
        let all = |fits: &dyn Fn(&Device) -> bool| -> Vec<&Device> {
            self.devices.iter().filter(|device| fits(device)).collect()
        };
        if let Some(id) = PciId::of(name) {
            return all(&|device| device.pci_ids.contains(&id));
        }
        let by_name = all(&|device| core(&device.name) == wanted);
        if !by_name.is_empty() {
            return by_name;
        }
        let by_alias = all(&|device| names(device).any(|name| core(name) == wanted));
        if !by_alias.is_empty() {
            return by_alias;
        }
        let by_capability = all(&|device| is_capability(&wanted, device.capability));
        if !by_capability.is_empty() {
            return by_capability;
        }
        // A single digit stands in too many names to mean one of them.
        if wanted.chars().count() < 2 {
            return Vec::new();
        }
        let by_part = all(&|device| names(device).any(|name| core(name).contains(&wanted)));
        if !by_part.is_empty() {
            return by_part;
        }
        let words: Vec<String> = name
            .split(|letter: char| letter.is_whitespace() || matches!(letter, '-' | '_'))
            .map(plain)
            .filter(|word| !word.is_empty() && !MAKERS.contains(&word.as_str()))
            .collect();
        if words.is_empty() {
            return Vec::new();
        }
        all(&|device| {
            names(device).any(|name| {
                let name = core(name);
                words.iter().all(|word| name.contains(word))
            })
        })
    }

    /// Names that may have been meant, nearest first.
    fn nearest(&self, name: &str) -> Vec<String> {
        let wanted = core(name);
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut near: Vec<(usize, &str)> = self
            .devices
            .iter()
            .filter_map(|device| {
                let least = names(device)
                    .map(|name| {
                        let name = core(name);
                        // `h300` is near to `H100 SXM`, although the latter is longer.
                        let start: String = name.chars().take(wanted.chars().count()).collect();
                        distance(&wanted, &name).min(distance(&wanted, &start))
                    })
                    .min()?;
                Some((least, device.name.as_str()))
            })
            .collect();
        near.sort_by_key(|(distance, _)| *distance);
        let allowed = (wanted.chars().count() / 2).max(1);
        near.into_iter()
            .filter(|(distance, _)| *distance <= allowed)
            .take(MOST_NEAREST)
            .map(|(_, name)| name.to_owned())
            .collect()
    }
}

/// Whether a text means a compute capability. A single digit means none of the several that begin with it.
fn is_capability(text: &str, capability: ComputeCapability) -> bool {
    let ComputeCapability { major, minor } = capability;
    let digits = ["sm", "compute"]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))
        .unwrap_or(text);
    text == capability.to_string()
        || digits == format!("{major}{minor}")
        || (minor == 0 && major >= 10 && text == major.to_string())
}

/// Words in front of names that tell nothing.
const MAKERS: &[&str] = &["nvidia", "tesla", "geforce"];

fn names(device: &Device) -> impl Iterator<Item = &str> {
    std::iter::once(device.name.as_str()).chain(device.aliases.iter().map(String::as_str))
}

/// A name without what does not tell devices apart.
fn core(name: &str) -> String {
    let plain = plain(name);
    let mut rest = plain.as_str();
    for maker in MAKERS {
        rest = rest.strip_prefix(maker).unwrap_or(rest);
    }
    rest.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(name: &str) -> Result<&'static str, DeviceError> {
        Devices::known()
            .find(name)
            .map(|device| device.name.as_str())
    }

    #[test]
    fn spelling_is_free() {
        for (typed, name) in [
            ("h100-sxm", "H100 SXM"),
            ("H100_SXM", "H100 SXM"),
            ("h100sxm", "H100 SXM"),
            ("NVIDIA H100 80GB HBM3", "H100 SXM"),
            ("h200", "H200 SXM"),
            ("GeForce RTX 4090", "RTX 4090"),
            ("rtx 3080", "RTX 3080 10GB"),
            ("Tesla T4", "T4"),
            ("nvidia a100-sxm4-40gb", "A100 40 SXM4"),
            ("a100 sxm4 40", "A100 40 SXM4"),
            ("gb200", "GB200 (per GPU)"),
            ("4090", "RTX 4090"),
            ("rtx-6000", "RTX 6000 Ada"),
            ("a100-80gb-sxm", "A100 80 SXM4"),
        ] {
            assert_eq!(find(typed), Ok(name), "{typed}");
        }
    }

    #[test]
    fn a_name_that_is_a_part_of_longer_ones_means_itself() {
        assert_eq!(find("L40").unwrap(), "L40");
        assert_eq!(find("rtx5060").unwrap(), "RTX 5060");
    }

    #[test]
    fn several_are_listed() {
        let Err(DeviceError::Several { matches, .. }) = find("h100") else {
            panic!("h100 is three boards");
        };
        assert_eq!(matches, ["H100 PCIe", "H100 SXM", "H100 NVL"]);
        let Err(DeviceError::Several { matches, .. }) = find("7.5") else {
            panic!("two boards of 7.5");
        };
        assert_eq!(matches, ["T4", "RTX 2080 Ti"]);
        assert_eq!(Devices::known().matching("sm_75").len(), 2);
    }

    #[test]
    fn a_bare_number_is_a_compute_capability_before_it_is_a_part_of_names() {
        let names = |name: &str| -> Vec<String> {
            let found = Devices::known().matching(name).into_iter();
            found.map(|device| device.capability.to_string()).collect()
        };
        for (typed, capability) in [
            ("10", "10.0"),
            ("100", "10.0"),
            ("10.0", "10.0"),
            ("sm_100", "10.0"),
            ("90", "9.0"),
            ("sm_90", "9.0"),
            ("103", "10.3"),
            ("12", "12.0"),
        ] {
            let found = names(typed);
            assert!(!found.is_empty(), "{typed}");
            assert!(
                found.iter().all(|found| found == capability),
                "{typed}: {found:?}"
            );
        }
        // None of the table has this one; it stands in names.
        assert_eq!(find("4090"), Ok("RTX 4090"));
        assert!(names("9").is_empty());
    }

    #[test]
    fn every_device_is_found_by_its_pci_ids() {
        assert_eq!(find("10de:2335"), Ok("H200 SXM"));
        assert_eq!(find("10de:2330"), Ok("H100 SXM"));
        for device in Devices::known().iter() {
            assert!(!device.pci_ids.is_empty(), "{}", device.name);
            for id in &device.pci_ids {
                assert_eq!(find(&id.to_string()), Ok(device.name.as_str()));
            }
        }
    }

    #[test]
    fn pci_ids_of_a_users_table_are_found() {
        let own = Devices::parse("name,cc,pci_ids\nMy H200,9.0,10de:2335 | 10DE:2336\n").unwrap();
        let all = Devices::known().with(own);
        for id in ["10de:2335", "10DE:2336"] {
            assert_eq!(all.find(id).unwrap().name, "My H200");
        }
        assert!(matches!(
            all.find("10de:ffff"),
            Err(DeviceError::Unknown { .. })
        ));
        for bad in ["2335", "10de-2335", "10de:23355", "10de:xxxx"] {
            let table = format!("name,cc,pci_ids\nX,9.0,{bad}\n");
            assert!(Devices::parse(&table).is_err(), "{bad}");
        }
    }

    #[test]
    fn unknown_names_get_the_nearest() {
        let nearest = |name: &str| match find(name) {
            Err(DeviceError::Unknown { nearest, .. }) => nearest,
            other => panic!("{name}: {other:?}"),
        };
        assert!(nearest("h300").contains(&"H100 SXM".to_owned()));
        assert_eq!(nearest("rtx4091")[0], "RTX 4090");
        assert!(nearest("xyzzyxyzzy").is_empty());
        assert!(nearest("").is_empty());
        // The name of the maker alone means nothing, in whatever order.
        assert!(Devices::known().matching("nvidia").is_empty());
        assert!(Devices::known().matching("tesla nvidia").is_empty());
    }
}
