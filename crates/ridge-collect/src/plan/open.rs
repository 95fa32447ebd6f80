//! What a diagnosis of the first tier left open.

use ridge_diagnose::Resource;
use ridge_diagnose::document::{Kernel, ResourceRow};

use super::groups::{self, Group};

/// The groups of counters that can still change the first finding of a kernel, of which the first tier was collected.
///
/// Local memory holds spilled registers or arrays, which have different remedies. Instructions do not tell which, so that
/// a kernel that has any is looked at again.
#[must_use]
pub fn open_questions(kernel: &Kernel) -> Vec<&'static Group> {
    let is_used = |row: &ResourceRow| row.resource == Resource::Local && row.demand > 0.0;
    if kernel.resources.iter().any(is_used) {
        vec![&groups::LOCAL]
    } else {
        Vec::new()
    }
}
