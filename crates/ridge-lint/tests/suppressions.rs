//! Comments that allow what a rule finds.

fn lint(source: &str) -> ridge_lint::Report {
    ridge_lint::lint(source.as_bytes()).unwrap()
}

const KERNEL: &str = "__global__ void k(float* x) { x[threadIdx.x] *= 0.1; }";

#[test]
fn the_line_or_the_one_before_is_allowed() {
    for source in [
        format!("{KERNEL} // ridge-lint: allow(double-literal) wanted\n"),
        format!("// ridge-lint: allow(double-literal)\n{KERNEL}\n"),
        format!("/* ridge-lint: allow(bank-stride, double-literal) */\n{KERNEL}\n"),
        format!("{KERNEL}\n\n\n// ridge-lint: allow-file(double-literal)\n"),
    ] {
        let report = lint(&source);
        assert_eq!((report.findings.len(), report.allowed), (0, 1), "{source}");
        assert!(report.remarks.is_empty());
    }
}

#[test]
fn other_lines_and_other_rules_are_not() {
    for source in [
        format!("// ridge-lint: allow(double-literal)\n\n{KERNEL}\n"),
        format!("// ridge-lint: allow(bank-stride)\n{KERNEL}\n"),
        format!("// allow(double-literal)\n{KERNEL}\n"),
    ] {
        assert_eq!(lint(&source).findings.len(), 1, "{source}");
    }
}

#[test]
fn what_names_no_rule_is_told() {
    let report = lint(&format!(
        "// ridge-lint: allow(double-litteral)\n{KERNEL}\n"
    ));
    assert_eq!(
        report.remarks[0].message,
        "`double-litteral` is no rule; did you mean `double-literal`?"
    );
    assert_eq!(
        (report.remarks[0].start.line, report.findings.len()),
        (1, 1)
    );
    assert!(
        lint("// ridge-lint: allow(zzzzzzzzzz)\n").remarks[0]
            .message
            .ends_with("is no rule")
    );
    assert!(
        lint("// ridge-lint: ignore\n").remarks[0]
            .message
            .contains("neither")
    );
    assert!(
        lint("// ridge-lint: allow(double-literal\n").remarks[0]
            .message
            .contains("parenthesis")
    );
}
