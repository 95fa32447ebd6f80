//! The layout of a page whose sentences have arrows: on a terminal without them, `->` stands there.

use std::borrow::Cow;
use std::ops::Deref;

use crate::charset::Charset;
use crate::page::Layout;
use crate::style::Role;

/// A layout.
pub(super) struct Page<'l>(pub(super) &'l Layout);

impl Deref for Page<'_> {
    type Target = Layout;

    fn deref(&self) -> &Layout {
        self.0
    }
}

impl Page<'_> {
    /// The text in characters that can be shown.
    pub(super) fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.0.charset {
            Charset::Ascii if text.contains('→') => Cow::Owned(text.replace('→', "->")),
            _ => Cow::Borrowed(text),
        }
    }

    pub(super) fn heading(&self, out: &mut String, text: &str) {
        self.0.heading(out, &self.shown(text));
    }

    pub(super) fn paragraph(
        &self,
        out: &mut String,
        text: &str,
        first: &str,
        rest: &str,
        role: Option<Role>,
    ) {
        self.0.paragraph(out, &self.shown(text), first, rest, role);
    }

    /// Cells of a table.
    pub(super) fn cells(&self, cells: impl IntoIterator<Item = String>) -> Vec<String> {
        let shown = |cell: String| self.shown(&cell).into_owned();
        cells.into_iter().map(shown).collect()
    }
}
