//! Values that differ between runs, hidden from snapshots.
//!
//! A page asks the [`Redactor`] at each place where it writes such a value. Outside tests that does nothing; tests get
//! a placeholder of the same width, so that the layout they check is the real one.

use std::borrow::Cow;

use crate::width::{prefix, push_spaces, width};

/// What kind of value differs between runs or machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Varying {
    /// A measured duration, or a date.
    Time,
    /// A clock rate.
    Clock,
    /// A temperature.
    Temperature,
    /// A device's name.
    Device,
    /// A device's unique number.
    Uuid,
    /// A driver's version.
    Driver,
    /// A version of any other program, ours included.
    Version,
    /// A path of a file.
    Path,
}

impl Varying {
    /// The word in place of a value that is a name; numbers keep their shape instead.
    const fn word(self) -> Option<&'static str> {
        match self {
            Self::Time | Self::Clock | Self::Temperature | Self::Driver | Self::Version => None,
            Self::Device => Some("DEVICE"),
            Self::Uuid => Some("UUID"),
            Self::Path => Some("PATH"),
        }
    }
}

/// Replaces what varies, or passes it through.
#[derive(Clone, Copy, Debug, Default)]
pub struct Redactor {
    is_on: bool,
}

impl Redactor {
    /// Passes every value through; also the default.
    #[must_use]
    pub const fn off() -> Self {
        Self { is_on: false }
    }

    /// Replaces every value; for tests.
    #[must_use]
    pub const fn on() -> Self {
        Self { is_on: true }
    }

    /// The value, or a placeholder of the same width: `##.# us`, `DEVICE____`.
    #[must_use]
    pub fn redact<'t>(self, kind: Varying, value: &'t str) -> Cow<'t, str> {
        if !self.is_on || value.is_empty() {
            return Cow::Borrowed(value);
        }
        let Some(word) = kind.word() else {
            return Cow::Owned(value.replace(|c: char| c.is_ascii_digit(), "#"));
        };
        let columns = width(value);
        let mut placeholder = prefix(word, columns).to_owned();
        let missing = columns.saturating_sub(width(&placeholder));
        push_spaces(&mut placeholder, missing);
        Cow::Owned(placeholder.replace(' ', "_"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_happens_by_default() {
        assert_eq!(
            Redactor::default().redact(Varying::Path, "/data/run"),
            "/data/run"
        );
        assert_eq!(Redactor::off().redact(Varying::Time, "12.3 us"), "12.3 us");
    }

    #[test]
    fn placeholders_keep_the_width() {
        let cases = [
            (Varying::Time, "12.3 us"),
            (Varying::Clock, "1.98 GHz"),
            (Varying::Temperature, "47 C"),
            (Varying::Device, "NVIDIA H100 80GB HBM3"),
            (Varying::Uuid, "GPU-4a1b"),
            (Varying::Driver, "580.95.05"),
            (Varying::Version, "2025.3.1"),
            (Varying::Path, "/a"),
        ];
        let lines: Vec<String> = cases
            .iter()
            .map(|&(kind, value)| {
                let placeholder = Redactor::on().redact(kind, value);
                assert_eq!(width(&placeholder), width(value));
                format!("{value:22} {placeholder}")
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        12.3 us                ##.# us
        1.98 GHz               #.## GHz
        47 C                   ## C
        NVIDIA H100 80GB HBM3  DEVICE_______________
        GPU-4a1b               UUID____
        580.95.05              ###.##.##
        2025.3.1               ####.#.#
        /a                     PA
        ");
    }
}
