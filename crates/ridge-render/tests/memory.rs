//! A document of occupancy is written without being held: what is known of a kernel takes memory, what follows from it does
//! not. Runs alone, since it counts what the whole process allocates.

use peak_alloc::PeakAlloc;
use ridge_model::ComputeCapability;
use ridge_model::occupancy::document::{
    Document, Given, Kernels, Origins, SCHEMA, Subject, VERSION,
};
use ridge_model::occupancy::{Launch, SmLimits};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fn document(kernels: u32) -> Document {
    let capability = ComputeCapability { major: 9, minor: 0 };
    let subject = |number: u32| Subject {
        source: None,
        name: Some("kernel".to_owned()),
        signature: Some(format!("kernel<{number}>(float *)")),
        launches: vec![0],
        device: None,
        capability,
        limits: SmLimits::of(capability).unwrap(),
        sms: None,
        launch: Launch::new(256, 32 + number % 100).with_shared(number % 9000, 0),
        origins: Origins::all(Given::Argument),
        grid_blocks: None,
        stack_bytes: None,
        spill_bytes: None,
        achieved: None,
        clusters: None,
        bound_by: None,
    };
    Document {
        schema: SCHEMA,
        version: VERSION,
        sources: Vec::new(),
        kernels: Kernels::new((0..kernels).map(subject).collect()),
        warnings: Vec::new(),
    }
}

#[test]
fn json_of_many_kernels_takes_the_memory_of_one() {
    for kernels in [100, 2000] {
        let document = document(kernels);
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let mut sink = Count(0);
        ridge_render::json::write(&document, &mut sink).unwrap();
        let used = MEMORY.peak_usage() - before;
        // All are there, with their curves.
        assert!(sink.0 > kernels as usize * 8000, "{} bytes", sink.0);
        assert!(used < 200_000, "{used} bytes for {kernels} kernels");
    }
}

/// Counts what is written.
struct Count(usize);

impl std::io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
