//! A row for each kernel of each device, for spreadsheets and scripts.

use std::io::{self, Write};

use ridge_trace::document::Document;

use crate::escape;

const HEADER: &str = "file,rank,device,device_name,kernel,runs,total_ns,time_share,span_share,min_ns,p10_ns,median_ns,p90_ns,\
max_ns,grid_x,grid_y,grid_z,block_x,block_y,block_z,registers,shared_bytes,configurations";

/// Writes the kernels of the document as one table, row by row.
///
/// # Errors
/// When the sink takes no more.
pub fn csv(document: &Document, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "{HEADER}")?;
    for trace in &document.traces {
        for device in &trace.devices {
            for kernel in &device.kernels {
                let times = &kernel.durations;
                let sides = |sides: Option<[u32; 3]>| match sides {
                    Some([x, y, z]) => [x.to_string(), y.to_string(), z.to_string()],
                    None => Default::default(),
                };
                let number = |number: Option<u64>| {
                    number.map_or_else(String::new, |number| number.to_string())
                };
                let mut cells = vec![
                    escape::csv(&trace.file).into_owned(),
                    number(trace.rank),
                    device.number.to_string(),
                    escape::csv(device.name.as_deref().unwrap_or_default()).into_owned(),
                    escape::csv(&kernel.name).into_owned(),
                    times.count.to_string(),
                    times.sum_ns.to_string(),
                    kernel.time_share.to_string(),
                    (times.sum_ns / device.span_ns.max(1.0)).to_string(),
                ];
                let figures = [
                    times.min_ns,
                    times.p10_ns,
                    times.median_ns,
                    times.p90_ns,
                    times.max_ns,
                ];
                cells.extend(figures.map(|ns| ns.to_string()));
                cells.extend(sides(kernel.grid));
                cells.extend(sides(kernel.block));
                cells.push(number(kernel.registers.map(u64::from)));
                cells.push(number(kernel.shared_bytes));
                cells.push(kernel.configurations.to_string());
                writeln!(out, "{}", cells.join(","))?;
            }
        }
    }
    Ok(())
}
