//! `schemas/`: JSON Schemas of the documents that the command writes, from their types.

use std::path::Path;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

use crate::Error;
use crate::generate::File;

/// Produces the schemas.
pub fn files(_root: &Path) -> Result<Vec<File>, Error> {
    Ok(vec![
        schema::<ridge_diagnose::document::Document>("diagnosis")?,
        schema::<ridge_bench::document::Document>("bench")?,
        schema::<ridge_model::bound::document::Document>("bound")?,
        schema::<ridge_bench::ceilings::document::Document>("ceilings")?,
        schema::<ridge_compare::check::Document>("check")?,
        schema::<ridge_checklist::Document>("checklist")?,
        schema::<ridge_model::device::document::Document>("devices")?,
        schema::<ridge_compare::document::Document>("diff")?,
        schema::<ridge_collect::doctor::document::Document>("doctor")?,
        schema::<ridge_learn::gallery::document::Document>("gallery")?,
        schema::<ridge_history::json::Listing>("history")?,
        schema::<ridge_history::json::Comparison>("history-comparison")?,
        schema::<ridge_history::json::Exchange>("history-record")?,
        schema::<ridge_history::changes::document::Document>("history-series")?,
        schema::<ridge_learn::document::Document>("learn")?,
        schema::<ridge_lint::document::Document>("lint")?,
        schema::<ridge_numerics::flags::document::Document>("numerics-flags")?,
        schema::<ridge_numerics::determinism::document::Document>("numerics-repeat")?,
        schema::<ridge_numerics::reference::document::OrdersDocument>("numerics-sum")?,
        schema::<ridge_numerics::document::Document>("numerics")?,
        schema::<ridge_model::occupancy::document::Document>("occupancy")?,
        schema::<ridge_model::roofline::document::Document>("roofline")?,
        schema::<ridge_collect::sanitize::document::Document>("sanitize")?,
        schema::<ridge_trace::document::Document>("timeline")?,
    ])
}

fn schema<Document: JsonSchema>(name: &str) -> Result<File, Error> {
    // What is written is described, not what could be read: every field is there, also where its value is null.
    let schema = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Document>();
    let mut content = serde_json::to_string_pretty(&schema)?;
    content.push('\n');
    Ok(File {
        path: format!("schemas/{name}.schema.json").into(),
        content,
    })
}
