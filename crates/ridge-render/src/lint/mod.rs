//! The pages of `ridge lint`: findings with the line of source under each, as a compiler prints them.

mod excerpt;
mod sarif;

use ridge_lint::Severity;
use ridge_lint::document::{Counts, Document, FoundItem, InputReport};
use ridge_model::quantity::counted;

use crate::escape;
use crate::page::Layout;
use crate::style::Role;

pub use sarif::sarif;

/// How many findings there are, in words.
fn totals(counts: Counts) -> String {
    let parts: Vec<String> = [
        (counts.errors, "error"),
        (counts.warnings, "warning"),
        (counts.notes, "note"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| counted(count, word))
    .collect();
    let allowed = match counts.allowed {
        0 => String::new(),
        count => format!(" ({} by comments)", counted_allowed(count)),
    };
    if parts.is_empty() {
        format!("nothing found{allowed}")
    } else {
        format!("{}{allowed}", parts.join(", "))
    }
}

fn counted_allowed(count: u64) -> String {
    format!("{count} allowed")
}

const fn role(severity: Severity) -> Role {
    match severity {
        Severity::Error => Role::Bad,
        Severity::Warning => Role::Warning,
        Severity::Note => Role::Emphasis,
    }
}

/// Writes the page.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    let mut out = String::new();
    for finding in &document.findings {
        one(&mut out, finding, layout);
        out.push('\n');
    }
    for remark in &document.remarks {
        let text = format!("{}:{}: {}", shown(&remark.file), remark.line, remark.text);
        layout.paragraph(&mut out, &text, "note: ", "  ", Some(Role::Dim));
    }
    for input in &document.inputs {
        not_understood(&mut out, input, layout);
    }
    let sum =
        |of: fn(&InputReport) -> Option<u64>| document.inputs.iter().filter_map(of).sum::<u64>();
    let inputs = u64::try_from(document.inputs.len()).unwrap_or(u64::MAX);
    let about = format!(
        "{} in {}, {}, {}",
        totals(document.counts),
        counted(inputs, "file"),
        counted(sum(|input| input.lines), "line"),
        counted(sum(|input| input.kernels), "kernel"),
    );
    layout.heading(&mut out, &about);
    if let Some(first) = document.findings.first() {
        let hint = format!(
            "`ridge explain {}` tells more, as for every rule; a comment `// ridge-lint: allow({})` allows it",
            first.rule, first.rule
        );
        layout.paragraph(&mut out, &hint, "", "", Some(Role::Dim));
    }
    out
}

fn shown(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

fn one(out: &mut String, finding: &FoundItem, layout: &Layout) {
    let place = finding
        .start
        .map(|start| format!(":{}:{}", start.line, start.column))
        .unwrap_or_default();
    let head = format!("{}[{}]", finding.severity.name(), finding.rule);
    let place = format!("{}{place}: ", shown(&finding.file));
    out.push_str(&escape::terminal(&place));
    out.push_str(
        &layout
            .painter
            .paint(role(finding.severity), &escape::terminal(&head))
            .to_string(),
    );
    out.push('\n');
    layout.paragraph(out, &finding.message, "  ", "  ", None);
    excerpt::write(out, finding, layout);
    layout.paragraph(
        out,
        &finding.advice,
        "  help: ",
        "        ",
        Some(Role::Dim),
    );
}

fn not_understood(out: &mut String, input: &InputReport, layout: &Layout) {
    let Some(count) = input
        .not_understood
        .filter(|count| *count > 0 && layout.is_verbose)
    else {
        return;
    };
    let text = format!(
        "{}: {} of the text is not understood, such as a macro in an unusual place; no rule looks there",
        shown(&input.file),
        counted(count, "piece")
    );
    layout.paragraph(out, &text, "note: ", "  ", Some(Role::Dim));
}

#[cfg(test)]
mod tests {
    use ridge_lint::document::Document;

    use super::*;
    use crate::charset::Charset;
    use crate::style::Painter;

    fn layout(columns: usize) -> Layout {
        Layout {
            columns,
            charset: Charset::Unicode,
            painter: Painter::plain(),
            is_verbose: false,
        }
    }

    fn document(source: &[u8]) -> Document {
        let mut document = Document::new("0.0.0");
        document.push("src/k.cu", ridge_lint::lint(source).unwrap());
        document
    }

    const SOURCE: &[u8] = b"__global__ void k(float* x, int n) {\n\tint i = threadIdx.x;\n\tif (i < n) {\n\t\tx[i] = x[i] * 0.1 + 1;\n\t\t__syncthreads();\n\t}\n}\n";

    #[test]
    fn findings_have_their_line_and_what_to_do() {
        insta::assert_snapshot!(text(&document(SOURCE), &layout(80)), @"");
    }

    #[test]
    fn code_hosts_get_places() {
        let log = sarif(&document(SOURCE));
        let result = &log["runs"][0]["results"][0];
        assert_eq!(result["ruleId"], "double-literal");
        assert_eq!(
            result["locations"][0]["physicalLocation"]["region"]["startLine"],
            4
        );
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(
            log["runs"][0]["tool"]["driver"]["rules"][index]["id"],
            "double-literal"
        );
    }

    #[test]
    fn sources_cannot_write_to_the_terminal() {
        let source =
            b"__global__ void k(float* x) { x[0] = x[1] * 0.1 + 1; /* \x1b[31m \xe2\x80\xae */ }\n";
        let page = text(&document(source), &layout(80));
        assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
        assert!(page.contains("0.1"));
    }

    #[test]
    fn nothing_found_is_said() {
        let page = text(&document(b"int main() {}\n"), &layout(80));
        insta::assert_snapshot!(page, @"");
    }
}
