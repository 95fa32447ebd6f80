//! What flags and code do to results.

use ridge_model::quantity::{counted, grouped};
use ridge_numerics::flags::document::{Document, FoundEffect, FoundEvidence};

use super::parts::row;
use crate::escape;
use crate::page::Layout;
use crate::style::Role;

/// Opcodes that are shown without `-v`.
const MOST_OPCODES: usize = 4;
/// Functions that are named without `-v`.
const MOST_FUNCTIONS: usize = 3;

fn headline(document: &Document) -> String {
    let mut parts = Vec::new();
    if let Some(flags) = &document.flags {
        parts.push(if flags.given.trim().is_empty() {
            "no flags".to_owned()
        } else {
            format!("flags {}", flags.given)
        });
    }
    if let Some(code) = &document.code {
        parts.push(format!(
            "{} ({}, {}, {})",
            code.input,
            code.language.to_uppercase(),
            counted(code.functions, "function"),
            counted(code.instructions, "instruction")
        ));
    }
    let what = match document.effects.len() {
        0 => "nothing that makes results differ from IEEE arithmetic in the order of the source"
            .to_owned(),
        1 => "1 thing that may make results differ".to_owned(),
        count => format!("{count} things that may make results differ"),
    };
    format!("{}: {what}", parts.join(", "))
}

fn evidence(effect: &FoundEffect, is_verbose: bool) -> String {
    let most = if is_verbose { usize::MAX } else { MOST_OPCODES };
    let mut parts: Vec<String> = effect
        .evidence
        .iter()
        .take(most)
        .map(|evidence| match evidence {
            FoundEvidence::Flag { flag } => flag.clone(),
            FoundEvidence::Default => "the compiler's default".to_owned(),
            FoundEvidence::Name { function } => format!("the name of {function}"),
            FoundEvidence::Instruction {
                opcode,
                count,
                functions,
            } => {
                let shown = if is_verbose {
                    functions.len()
                } else {
                    functions.len().min(MOST_FUNCTIONS)
                };
                let more = functions.len() - shown;
                let more = if more > 0 {
                    format!(" and {more} more")
                } else {
                    String::new()
                };
                format!(
                    "{} {opcode} in {}{more}",
                    grouped(*count),
                    functions[..shown].join(", ")
                )
            }
        })
        .collect();
    if effect.evidence.len() > most {
        parts.push(format!("{} more opcodes", effect.evidence.len() - most));
    }
    parts.join("; ")
}

/// Writes the page.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    let mut out = String::new();
    layout.heading(&mut out, &headline(document));
    for effect in &document.effects {
        out.push('\n');
        let (mark, role) = if effect.is_certain {
            ("", Role::Emphasis)
        } else {
            (" (possible)", Role::Dim)
        };
        layout.paragraph(
            &mut out,
            &format!("{}{mark}", effect.title),
            "",
            "",
            Some(role),
        );
        for (name, text) in [
            ("means", effect.meaning.as_str()),
            ("size", effect.size.as_str()),
            ("told by", evidence(effect, layout.is_verbose).as_str()),
            ("without it", effect.remedy.as_str()),
        ] {
            layout.paragraph(&mut out, &format!("{name}: {text}"), "  ", "    ", None);
        }
    }
    if !document.effects.is_empty() {
        out.push('\n');
        layout.paragraph(
            &mut out,
            "Sizes are those of NVIDIA's documentation, or follow from the formats; u is the unit roundoff, S the sum of the sizes of \
             what is added, K how many there are. `ridge explain flags` has a table.",
            "",
            "",
            Some(Role::Dim),
        );
    }
    out
}

/// Writes the same as Markdown.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut out = format!("{}\n", escape::markdown(&headline(document)));
    if document.effects.is_empty() {
        return out;
    }
    out.push_str("\n| effect | means | size | told by | without it |\n|---|---|---|---|---|\n");
    for effect in &document.effects {
        let title = if effect.is_certain {
            effect.title.clone()
        } else {
            format!("{} (possible)", effect.title)
        };
        row(
            &mut out,
            &[
                &title,
                &effect.meaning,
                &effect.size,
                &evidence(effect, true),
                &effect.remedy,
            ],
        );
    }
    out
}
