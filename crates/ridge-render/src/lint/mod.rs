//! The pages of `ridge lint`: findings with the line of source under each, as a compiler prints them.

mod excerpt;
mod sarif;

use std::fmt::Write;

use ridge_lint::Severity;
use ridge_lint::document::{Counts, Document, FoundItem, InputReport};
use ridge_model::quantity::counted;

use crate::escape;
use crate::page::Layout;
use crate::style::Role;

pub use sarif::sarif;

/// The rule about flags.
const FLAGS: &str = "debug-flags";

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
        count => format!(" ({count} allowed by comments)"),
    };
    if parts.is_empty() {
        format!("nothing found{allowed}")
    } else {
        format!("{}{allowed}", parts.join(", "))
    }
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
    layout.heading(&mut out, &headline(document, layout.is_verbose));
    if let Some(first) = document.findings.first() {
        let mut hint = format!(
            "`ridge explain {}` tells more, as for every rule",
            first.rule
        );
        // Flags and files of other languages have no such comments.
        if let Some(finding) = document
            .findings
            .iter()
            .find(|finding| finding.start.is_some() && finding.rule != FLAGS)
        {
            let _ = write!(
                hint,
                "; a comment `// ridge-lint: allow({})` allows one",
                finding.rule
            );
        }
        layout.paragraph(&mut out, &hint, "", "", Some(Role::Dim));
    }
    out
}

/// What was found in how much, in a line.
fn headline(document: &Document, is_verbose: bool) -> String {
    let mut line = totals(document.counts);
    let sum =
        |of: fn(&InputReport) -> Option<u64>| document.inputs.iter().filter_map(of).sum::<u64>();
    let inputs = u64::try_from(document.inputs.len()).unwrap_or(u64::MAX);
    if inputs > 0 {
        let _ = write!(
            line,
            " in {}, {}, {}",
            counted(inputs, "file"),
            counted(sum(|input| input.lines), "line"),
            counted(sum(|input| input.kernels), "kernel"),
        );
        // Nothing found in text that nobody understood says little.
        let pieces = sum(|input| input.not_understood);
        if pieces > 0 && !is_verbose {
            let _ = write!(
                line,
                "; not understood: {} (see -v)",
                counted(pieces, "piece")
            );
        }
    }
    line
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
    let verb = if count == 1 { "is" } else { "are" };
    let text = format!(
        "{}: {} of the text {verb} not understood, such as a macro in an unusual place; no rule looks there",
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
        insta::assert_snapshot!(text(&document(SOURCE), &layout(80)), @r"
        src/k.cu:4:17: warning[double-literal]
          `0.1` is a double: the operation with a float is done in double precision
          4 | x[i] = x[i] * 0.1 + 1;
            |               ^^^
          help: write the literal with an f behind it

        src/k.cu:5:3: error[divergent-barrier]
          not every thread of a block reaches this barrier: `i < n` differs between
          threads
          5 | __syncthreads();
            | ^^^^^^^^^^^^^^^
          help: move the barrier out of the condition, so that all threads of the block
                reach it

        1 error, 1 warning in 1 file, 7 lines, 1 kernel
        `ridge explain double-literal` tells more, as for every rule; a comment `//
        ridge-lint: allow(double-literal)` allows one
        ");
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let broken = document(b"__global__ void \xff(float* a) { a[0] = 0.1; }\n");
        let shown = text(&broken, &layout(100));
        assert!(
            shown.starts_with("nothing found in 1 file, 1 line, 0 kernels; "),
            "{shown}"
        );
        assert!(
            shown.contains("not understood: 1 piece (see -v)") || shown.contains("pieces (see -v)"),
            "{shown}"
        );
        let verbose = Layout {
            is_verbose: true,
            ..layout(100)
        };
        assert!(text(&broken, &verbose).contains("of the text"));
        assert!(!text(&document(SOURCE), &layout(100)).contains("understood"));
    }

    #[test]
    fn comments_are_offered_where_there_are_some() {
        let mut flags = Document::new("0.0.0");
        flags.push(
            "CMakeLists.txt",
            ridge_lint::lint_cmake(b"set(CMAKE_CUDA_FLAGS -G)\n"),
        );
        let shown = text(&flags, &layout(100));
        assert!(
            shown.contains("debug-flags") && !shown.contains("comment"),
            "{shown}"
        );
        assert!(text(&document(SOURCE), &layout(100)).contains("comment"));
    }

    #[test]
    fn a_place_far_along_a_line_has_no_excerpt() {
        let source = format!(
            "{}__global__ void k(float* x) {{ x[0] = x[1] * 0.1 + 1; }}\n",
            " ".repeat(5000)
        );
        let shown = text(&document(source.as_bytes()), &layout(100));
        assert!(
            shown.contains(":1:5045: ") && !shown.contains('^'),
            "{shown}"
        );
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
        insta::assert_snapshot!(page, @"nothing found in 1 file, 1 line, 0 kernels");
    }
}
