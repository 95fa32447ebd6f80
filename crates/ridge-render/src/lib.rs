//! What Ridgepoint's pages are made of: safe text, widths, tables, bars and styles.
//!
//! The crate turns values into strings. It does not print, does not look at the terminal or the environment, and
//! does not compute verdicts: width, character set and colour come in as arguments.
//!
//! Text from reports is untrusted. [`table::Table`], [`wrap::wrap`] and [`kernel_name::shorten`] make it safe for a
//! terminal by themselves; every other way out goes through [`escape`].
//!
//! ```
//! use ridge_render::charset::Charset;
//! use ridge_render::kernel_name::{base_name, shorten};
//! use ridge_render::style::Painter;
//! use ridge_render::table::{Column, Table};
//!
//! let name = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int, float)";
//! assert_eq!(base_name(name), "vectorized_elementwise_kernel");
//!
//! let mut table = Table::new([Column::left("kernel"), Column::right("time")]);
//! table.row([shorten(name, 50, Charset::Unicode), "12.3 us".to_owned()]);
//! let text = table.render(80, Charset::Unicode, Painter::plain());
//! assert_eq!(
//!     text,
//!     "kernel                                               time\n\
//!      vectorized_elementwise_kernel<4, FillFunctor<…>>  12.3 us\n"
//! );
//! ```
#![forbid(unsafe_code)]

pub mod bar;
pub mod bench;
pub mod bound;
pub mod ceilings;
pub mod charset;
pub mod check;
pub mod checklist;
pub mod chrome;
pub mod devices;
pub mod diff;
mod distinct;
pub mod doctor;
pub mod escape;
pub mod export;
pub mod gallery;
pub mod history;
pub mod json;
pub mod kernel_name;
pub mod learn;
pub mod lint;
pub mod numerics;
pub mod occupancy;
pub mod page;
pub mod plot;
pub mod redact;
pub mod roofline;
pub mod sanitize;
pub mod series;
pub mod style;
pub mod svg;
pub mod table;
#[cfg(test)]
mod testing;
pub mod timeline;
pub mod why;
pub mod width;
pub mod wrap;
