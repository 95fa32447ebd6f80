//! What a text means, and how a terminal shows it.
//!
//! Colour is never the only carrier: pages name a verdict in words or put [`Role::mark`] before it, and a
//! [`Painter`] without colour leaves the text as it is.

use std::fmt::{self, Display, Formatter};

use anstyle::{AnsiColor, Style};

/// The meaning of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A title or a column header.
    Heading,
    /// Healthy, passed, faster.
    Good,
    /// Worth a look.
    Warning,
    /// Broken, failed, slower.
    Bad,
    /// Present, but not what the reader came for.
    Dim,
    /// The word of a sentence that matters.
    Emphasis,
}

impl Role {
    /// The role's style; only the eight basic colours, which every theme keeps readable.
    #[must_use]
    pub const fn style(self) -> Style {
        match self {
            Self::Heading => Style::new().bold(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
            Self::Dim => Style::new().dimmed(),
            Self::Emphasis => Style::new().underline(),
        }
    }

    /// One column that says the same without colour; a space where the role is no judgement.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Good => "+",
            Self::Warning => "!",
            Self::Bad => "x",
            Self::Heading | Self::Dim | Self::Emphasis => " ",
        }
    }
}

/// Puts styles around text, or does nothing; whether there is colour is decided by the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Painter {
    is_coloured: bool,
}

impl Painter {
    /// Leaves text as it is.
    #[must_use]
    pub const fn plain() -> Self {
        Self { is_coloured: false }
    }

    /// Writes ANSI escape sequences around text.
    #[must_use]
    pub const fn coloured() -> Self {
        Self { is_coloured: true }
    }

    /// Whether text comes out with escape sequences.
    #[must_use]
    pub const fn is_coloured(self) -> bool {
        self.is_coloured
    }

    /// The text in the style of `role`; padding and truncation belong before, on the bare text.
    #[must_use]
    pub const fn paint(self, role: Role, text: &str) -> Painted<'_> {
        let style = if self.is_coloured {
            role.style()
        } else {
            Style::new()
        };
        Painted { style, text }
    }
}

/// Displays a text in its style; made by [`Painter::paint`].
#[derive(Clone, Copy, Debug)]
pub struct Painted<'t> {
    style: Style,
    text: &'t str,
}

impl Display for Painted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() || self.style.is_plain() {
            return f.write_str(self.text);
        }
        write!(
            f,
            "{}{}{}",
            self.style,
            self.text,
            self.style.render_reset()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLES: [Role; 6] = [
        Role::Heading,
        Role::Good,
        Role::Warning,
        Role::Bad,
        Role::Dim,
        Role::Emphasis,
    ];

    #[test]
    fn a_plain_painter_changes_nothing() {
        for role in ROLES {
            assert_eq!(Painter::plain().paint(role, "text").to_string(), "text");
        }
    }

    #[test]
    fn every_style_ends_where_it_began() {
        let lines: Vec<String> = ROLES
            .iter()
            .map(|&role| Painter::coloured().paint(role, "text").to_string())
            .map(|line| line.escape_debug().to_string())
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        \u{1b}[1mtext\u{1b}[0m
        \u{1b}[32mtext\u{1b}[0m
        \u{1b}[33mtext\u{1b}[0m
        \u{1b}[1m\u{1b}[31mtext\u{1b}[0m
        \u{1b}[2mtext\u{1b}[0m
        \u{1b}[4mtext\u{1b}[0m
        ");
        assert_eq!(Painter::coloured().paint(Role::Bad, "").to_string(), "");
    }

    #[test]
    fn judgements_differ_without_colour() {
        assert_eq!(ROLES.map(Role::mark), [" ", "+", "!", "x", " ", " "]);
    }
}
