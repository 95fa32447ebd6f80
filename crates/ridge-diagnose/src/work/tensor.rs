//! Operations of the matrix pipes by kind of product.

use ncu_rep::Metrics;
use ridge_model::arch::tensor::{Counter, Family, Operands, Tensor};

use super::shapes::product;
use crate::mix::InstructionMix;

/// Operations of one kind of product.
pub(crate) struct Products {
    pub(crate) operands: Operands,
    pub(crate) family: Family,
    pub(crate) is_sparse: bool,
    pub(crate) operations: f64,
    /// The counter, where there is one of its own.
    pub(crate) counter: Option<&'static Counter>,
    /// The metric that the number was read from.
    pub(crate) source: String,
}

/// All products by the counters of operations, also those of which there were none; by opcodes, which name the shape of
/// the product, where no counter was collected.
///
/// Absent when neither tells all the work.
pub(crate) fn products(metrics: &Metrics<'_>, tensor: &Tensor) -> Option<Vec<Products>> {
    let counted: Vec<Products> = tensor
        .counters
        .iter()
        .filter_map(|counter| {
            let source = format!("{}.sum", counter.name);
            Some(Products {
                operands: counter.operands,
                family: counter.family,
                is_sparse: counter.is_sparse,
                operations: metrics.number(&source)?,
                counter: Some(counter),
                source,
            })
        })
        .collect();
    if counted.is_empty() {
        by_opcodes(metrics)
    } else {
        Some(counted)
    }
}

fn by_opcodes(metrics: &Metrics<'_>) -> Option<Vec<Products>> {
    let mix = InstructionMix::of(metrics)?;
    let mut list: Vec<Products> = Vec::new();
    for (opcode, modifiers, count) in mix.iter() {
        if !opcode.ends_with("MMA") || count <= 0.0 {
            continue;
        }
        let product = product(opcode, modifiers)?;
        let operations = count * product.operations;
        let same = list.iter_mut().find(|known| {
            known.operands == product.operands
                && known.family == product.family
                && known.is_sparse == product.is_sparse
        });
        match same {
            Some(known) => known.operations += operations,
            None => list.push(Products {
                operands: product.operands,
                family: product.family,
                is_sparse: product.is_sparse,
                operations,
                counter: None,
                source: mix.source().to_owned(),
            }),
        }
    }
    (!list.is_empty()).then_some(list)
}
