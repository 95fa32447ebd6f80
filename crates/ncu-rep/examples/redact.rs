//! Writes a copy of a report that is safe to share: `cargo run --example redact -- FILE COPY [--rename-kernels]`.

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

use ncu_rep::redact::{Options, redact};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which report?")?;
    let copy = arguments.next().ok_or("where to?")?;
    let options = Options {
        rename_kernels: arguments.any(|argument| argument == "--rename-kernels"),
        metrics: None,
    };
    let file = std::fs::read(path)?;
    let unpacked = ncu_rep::unpack(&file, ncu_rep::default_limit(u64::try_from(file.len())?));
    let mut output = BufWriter::new(File::create_new(copy)?);
    let redaction = redact(&unpacked.bytes, &options, &mut output)?;
    output.flush()?;
    println!("Removed or replaced:");
    for removal in &redaction.removed {
        println!("  {:>8}  {}", removal.count, removal.subject);
        if let Some(consequence) = removal.subject.consequence() {
            println!("            so {consequence}");
        }
        if !removal.places.is_empty() {
            println!("            in {}", removal.places.join(", "));
        }
    }
    println!("Kept names of {} kernels.", redaction.kernel_names.len());
    for problem in unpacked.problem.iter().chain(&redaction.problems) {
        println!("! {problem}");
    }
    Ok(())
}
