//! `schemas/`: JSON Schemas of the documents that the command writes, from their types.

use std::path::Path;

use ridge_diagnose::document::Document;
use schemars::generate::SchemaSettings;

use crate::Error;
use crate::generate::File;

/// Produces the schemas.
pub fn files(_root: &Path) -> Result<Vec<File>, Error> {
    // What is written is described, not what could be read: every field is there, also where its value is null.
    let schema = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Document>();
    let mut content = serde_json::to_string_pretty(&schema)?;
    content.push('\n');
    Ok(vec![File {
        path: "schemas/diagnosis.schema.json".into(),
        content,
    }])
}
