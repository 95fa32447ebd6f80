//! Prints the metrics of every profile of a report: `cargo run --example metrics -- FILE [NAME-PART]`.

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which report?")?;
    let part = arguments.next().unwrap_or_default();
    let file = std::fs::read(path)?;
    let unpacked = ncu_rep::unpack(&file, ncu_rep::default_limit(u64::try_from(file.len())?));
    let report = ncu_rep::Report::parse(&unpacked.bytes)?;
    for problem in unpacked.problem.iter().chain(report.problems()) {
        println!("! {problem}");
    }
    for profile in report.profiles() {
        let header = profile.header().value;
        println!("{}", header.name().unwrap_or("(a workload without a name)"));
        for metric in &profile.metrics().value {
            if !metric.name.contains(&part) {
                continue;
            }
            let value = metric
                .value
                .as_ref()
                .map_or("not available".to_owned(), ToString::to_string);
            println!(
                "  {} = {value} ({} instances)",
                metric.name,
                metric.instances().count()
            );
        }
    }
    Ok(())
}
