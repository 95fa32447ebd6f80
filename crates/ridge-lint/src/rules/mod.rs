//! The rules: one mistake in one file, whose head is its page. A rule that would have to guess is silent.

mod access;
pub(crate) mod debug_flags;
mod guard;

use ridge_model::spelling::distance;

use crate::finding::{Found, Severity};
use crate::model::Model;
use crate::syntax::{Id, Kind};

/// A rule: its name, the file whose head describes it, and how it looks at a source; rules about flags do not.
struct Rule {
    id: &'static str,
    source: &'static str,
    check: Option<fn(&Model<'_>, &mut Vec<Found>)>,
}

macro_rules! rules {
    ($($module:ident),+ $(,)?) => {
        $(mod $module;)+
        const RULES: &[Rule] = &[$(Rule {
            id: $module::ID,
            source: include_str!(concat!(stringify!($module), ".rs")),
            check: Some($module::check),
        }),+, Rule {
            id: debug_flags::ID,
            source: include_str!("debug_flags.rs"),
            check: None,
        }];
    };
}

rules!(
    atomic_same_address,
    bank_stride,
    divergent_barrier,
    double_function,
    double_literal,
    index_overflow,
    indexed_local_array,
    legacy_warp_intrinsic,
    mean_only,
    missing_bounds_check,
    missing_restrict,
    narrow_elements,
    no_warm_up,
    one_shot_timing,
    partial_warp_block,
    single_warp_block,
    slow_division,
    strided_access,
    structure_access,
    sync_in_timed_loop,
    timing_without_sync,
    unchecked_call,
    unchecked_launch,
);

/// Each rule with the source whose head describes it.
pub(crate) fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    RULES.iter().map(|rule| (rule.id, rule.source))
}

/// The rule of a name.
pub(crate) fn named(name: &str) -> Option<&'static str> {
    RULES.iter().map(|rule| rule.id).find(|id| *id == name)
}

/// The rule whose name is nearest, if one is near.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    // Names of rules are short: what is long is another text.
    if name.len() > 40 {
        return None;
    }
    let near = RULES
        .iter()
        .map(|rule| (distance(name, rule.id), rule.id))
        .min()?;
    (near.0 <= 3).then_some(near.1)
}

/// Runs all rules. What lies in a part that the parser did not understand is left out.
pub(crate) fn run(model: &Model<'_>, out: &mut Vec<Found>) {
    for check in RULES.iter().filter_map(|rule| rule.check) {
        check(model, out);
    }
    let tree = &model.tree;
    let mut broken: Vec<(usize, usize)> = Vec::new();
    for id in tree
        .below(tree.root())
        .filter(|id| tree.is(*id, Kind::Error))
    {
        let (start, end) = (tree.start(id), tree.end(id));
        if broken.last().is_none_or(|(_, last)| *last < end) {
            broken.push((start, end));
        }
    }
    out.retain(|found| {
        let before = broken.partition_point(|(start, _)| *start <= found.range.start);
        before
            .checked_sub(1)
            .is_none_or(|at| broken[at].1 <= found.range.start)
    });
}

/// A finding at a node.
fn found(
    model: &Model<'_>,
    (rule, severity): (&'static str, Severity),
    at: Id,
    message: impl Into<String>,
    advice: &'static str,
) -> Found {
    Found {
        rule,
        severity,
        range: model.tree.range(at),
        message: message.into(),
        advice,
    }
}

/// `; 3 more in NAME`, or nothing.
fn more(count: usize, what: &str) -> String {
    match count {
        0 => String::new(),
        _ => format!(" ({count} more {what})"),
    }
}
