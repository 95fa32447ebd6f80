//! What a verdict about execution adds where the operations of the computation were given.

use ridge_model::quantity::Flops;

use super::draft::Draft;
use super::{Case, at_limit};
use crate::compulsory::EXCESS;

/// Puts the operations counted beside those given, and says first that the rest can go, where it clearly can.
pub(super) fn against_given(case: &Case<'_, '_>, id: &str, draft: Draft) -> Draft {
    let operations = case.compulsory.and_then(|known| known.operations.as_ref());
    let Some((operations, counted)) = operations
        .and_then(|operations| Some((operations, operations.counted?)))
        .filter(|_| [at_limit::COMPUTE, at_limit::TENSOR].contains(&id))
    else {
        return draft;
    };
    let draft = draft.seen_against(
        "operations counted, against those given on the command line",
        counted,
        "FLOP",
        operations.given,
    );
    if counted >= EXCESS * operations.given {
        draft.act(&[&format!(
            "execute only the operations that the computation needs: {} are counted, {} were given",
            Flops::new(counted),
            Flops::new(operations.given)
        )])
    } else {
        draft
    }
}
