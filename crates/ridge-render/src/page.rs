//! How a page is laid out.

use crate::charset::Charset;
use crate::escape;
use crate::style::{Painter, Role};
use crate::wrap::{Indent, wrap};

/// How to lay out a page.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Width in columns.
    pub columns: usize,
    /// Characters that can be shown.
    pub charset: Charset,
    /// Colours.
    pub painter: Painter,
    /// Whether to show everything.
    pub is_verbose: bool,
}

impl Layout {
    /// Adds a line in the style of a heading.
    pub(crate) fn heading(&self, out: &mut String, text: &str) {
        for line in wrap(&escape::terminal(text), self.columns, Indent::default()) {
            out.push_str(&self.painter.paint(Role::Heading, &line).to_string());
            out.push('\n');
        }
    }

    /// Adds a paragraph with a first indent and one for the rest, in the style of a role if there is one.
    pub(crate) fn paragraph(
        &self,
        out: &mut String,
        text: &str,
        first: &str,
        rest: &str,
        role: Option<Role>,
    ) {
        for line in wrap(
            &escape::terminal(text),
            self.columns,
            Indent { first, rest },
        ) {
            match role {
                Some(role) => out.push_str(&self.painter.paint(role, &line).to_string()),
                None => out.push_str(&line),
            }
            out.push('\n');
        }
    }
}
