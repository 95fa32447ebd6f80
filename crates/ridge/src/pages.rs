//! What findings mean, whatever the evidence they rest on: counters of kernels, or a timeline of a program. Where both
//! can find the same flaw, its page has both.

/// The identifiers of all findings, each once: those that counters show first.
pub fn page_ids() -> impl Iterator<Item = &'static str> {
    let of_kernels = || ridge_diagnose::page_ids();
    of_kernels()
        .chain(ridge_trace::page_ids().filter(move |id| !of_kernels().any(|known| known == *id)))
}

/// The page of a finding in Markdown.
#[must_use]
pub fn page(id: &str) -> Option<String> {
    match (ridge_diagnose::page(id), ridge_trace::page(id)) {
        (Some(mut page), Some(other)) => {
            page.push_str("\n## In a timeline\n\n");
            for line in other.lines().skip(2) {
                // Headings go down below that of the part.
                if line.starts_with('#') {
                    page.push('#');
                }
                page.push_str(line);
                page.push('\n');
            }
            Some(page)
        }
        (page, other) => page.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flaw_that_both_find_has_one_page() {
        let page = page("launch-bound").unwrap();
        assert!(page.starts_with("# launch-bound\n\n"));
        assert!(
            page.contains("\n## When it is wrong\n") && page.contains("\n### When it is wrong\n")
        );
        assert_eq!(page_ids().filter(|id| *id == "launch-bound").count(), 1);
    }

    #[test]
    fn every_finding_has_a_page() {
        assert!(page_ids().all(|id| page(id).is_some()));
        assert!(page_ids().any(|id| id == "pageable-transfer"));
    }
}
