//! Ids of boards on the PCI bus.

use std::fmt;

/// The vendor and the device, as `lspci -nn` shows them: `10de:2335`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciId {
    /// The vendor; that of NVIDIA is `10de`.
    pub vendor: u16,
    /// The device.
    pub device: u16,
}

impl PciId {
    /// Reads `10de:2335`, with letters in any case; `None` for anything else.
    ///
    /// ```
    /// use ridge_model::device::PciId;
    ///
    /// assert_eq!(PciId::of("10DE:2335"), Some(PciId { vendor: 0x10de, device: 0x2335 }));
    /// assert_eq!(PciId::of("h200"), None);
    /// ```
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let (vendor, device) = text.trim().split_once(':')?;
        let number = |digits: &str| {
            let is_number =
                digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_number.then(|| u16::from_str_radix(digits, 16).ok())?
        };
        Some(Self {
            vendor: number(vendor)?,
            device: number(device)?,
        })
    }
}

impl fmt::Display for PciId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:04x}", self.vendor, self.device)
    }
}
