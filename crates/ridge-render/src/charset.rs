//! Which characters of our own a page may use; text from reports is shown as it is.

/// The characters that a page may use for ellipses, bars and marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// Any character of Unicode that is one column wide.
    #[default]
    Unicode,
    /// Nothing above 0x7e, for terminals and logs that know no more.
    Ascii,
}

impl Charset {
    /// What stands for text that was left out.
    #[must_use]
    pub const fn ellipsis(self) -> &'static str {
        match self {
            Self::Unicode => "…",
            Self::Ascii => "...",
        }
    }

    /// What stands for a value that is absent.
    #[must_use]
    pub const fn absent(self) -> &'static str {
        match self {
            Self::Unicode => ridge_model::quantity::ABSENT,
            Self::Ascii => "-",
        }
    }
}
