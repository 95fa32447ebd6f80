//! Results of a simulated GPU, measured and judged as `ridge bench` does it.

use ridge_bench::check::Rule;
use ridge_bench::document::{Document, Machine, SCHEMA, VERSION};
use ridge_bench::expression::Names;
use ridge_bench::protocol::{Right, Settings, Source, Task, floors, measure};
use ridge_bench::spec::Spec;
use ridge_bench::verdict::{self, Context};
use ridge_gpu::{Device, SimDevice, SimOptions};

/// What is measured: kernels `plain` and `vector`, for which the L2 of the simulated device is what takes time. The first one
/// takes `slowdown` times what it could, but for the 2 us that any kernel takes.
pub(crate) fn spec(slowdown: f64) -> String {
    format!(
        r#"
        name = "copy"
        bytes = "2 * n * 4"
        [axes]
        n = [1048576]
        [buffers]
        in = {{ type = "f32", length = "n", init = "random", seed = 1 }}
        out = {{ type = "f32", length = "n" }}
        [kernels.plain]
        entry = "copy_plain"
        grid = 4096
        block = 256
        args = ["out", "in"]
        simulated_traffic = {}
        [kernels.vector]
        entry = "copy_vector"
        grid = 1024
        block = 256
        args = ["out", "in"]
        simulated_traffic = 400.0
        "#,
        400.0 * slowdown
    )
}

/// One run: all states of a spec on a simulated device.
pub(crate) fn run(spec: &str, device: &str, settings: &Settings) -> Document {
    let spec = Spec::read(spec).unwrap();
    let device = SimDevice::open(&SimOptions::parse(device).unwrap()).unwrap();
    let machine = Machine::of(device.properties());
    let floors = floors(&device, settings).unwrap();
    let names = Names::default();
    let context = Context {
        machine: &machine,
        device: None,
        floors: Some(&floors),
        measured: None,
        precision: settings.precision,
    };
    let states = spec
        .states(&names)
        .unwrap()
        .iter()
        .map(|state| {
            let task = Task {
                job: spec.job(state, &names).unwrap(),
                source: Source {
                    name: "copy.cu".to_owned(),
                    content: b"extern \"C\" __global__ void copy_plain(float* out, const float* in) { }\n\
                        extern \"C\" __global__ void copy_vector(float* out, const float* in) { }"
                        .to_vec(),
                    options: Vec::new(),
                    include_paths: Vec::new(),
                },
                right: Right::Unknown,
                rule: Rule::new(spec.check.mode, spec.check.tolerance),
            };
            let found = measure(&device, &task, settings, &floors, &mut |_| {});
            verdict::state(state, &task.job, None, found, &context)
        })
        .collect();
    Document {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        tool_version: "0.1.0".to_owned(),
        benchmark: spec.name.clone().unwrap_or_default(),
        note: None,
        specs: Vec::new(),
        is_complete: true,
        machine: machine.clone(),
        settings: settings.clone(),
        floors: Some(floors),
        ceilings: None,
        states,
        best: Vec::new(),
    }
}

/// A run of the copies with the default settings of a simulated device.
pub(crate) fn copies(slowdown: f64, device: &str) -> Document {
    let settings = Settings {
        min_time_ns: 0.0,
        ..Settings::default()
    };
    run(&spec(slowdown), device, &settings)
}
