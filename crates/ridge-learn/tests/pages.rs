//! Figures on the pages of the lessons are those of the model and of the gallery.

use ridge_diagnose::document::Resource;
use ridge_learn::{gallery, lesson};
use ridge_model::bound::{Arithmetic, Bounds, Ceilings, Chain, Launches, StepLatency, Work};
use ridge_model::latency::Latencies;
use ridge_model::occupancy::{Launch, Limiter, SmLimits, registers_per_warp, resident};
use ridge_model::quantity::{Bytes, Flops, Nanos, Ratio};
use ridge_model::roof::MemoryLevel;
use ridge_model::template::Gemm;
use ridge_model::{Device, Devices, NumberFormat, PeakRequest, PeakUnit};
use ridge_numerics::format::Format;

fn h200() -> &'static Device {
    Devices::known().find("h200").unwrap()
}

/// Says that a page has some texts, wherever its lines end.
fn has(id: &str, texts: &[String]) {
    let page = lesson::find(id).unwrap().page;
    let words: Vec<&str> = page.split_whitespace().collect();
    let page = words.join(" ");
    for text in texts {
        assert!(page.contains(text.as_str()), "{id} lacks {text:?}");
    }
}

fn bounds(work: &Work) -> Bounds {
    Bounds::of(work, &Ceilings::of(h200())).unwrap()
}

fn of_bytes(bytes: u64) -> Nanos {
    bounds(&Work {
        bytes: Some(Bytes::from_count(bytes)),
        ..Work::default()
    })
    .time()
}

#[test]
fn two_walls() {
    let adding = Bytes::from_count(3 * (1 << 24) * 4);
    let flops = Flops::from_count(1 << 24);
    let work = Work {
        bytes: Some(adding),
        arithmetic: vec![Arithmetic::elementwise(flops, NumberFormat::Fp32)],
        ..Work::default()
    };
    let bounds = bounds(&work);
    let fp32 = h200()
        .peak(PeakRequest::of(NumberFormat::Fp32).on(PeakUnit::Vector))
        .unwrap()
        .rate;
    has(
        "two-walls",
        &[
            format!("moves {}", h200().bandwidth.unwrap().value),
            format!("x 4 bytes = {adding}"),
            format!("are {}", bounds.time()),
            format!("does {fp32} in FP32"),
            format!("{flops}. Over"),
        ],
    );
    assert!((flops.at(fp32).get() - 250.0).abs() < 1.0);
}

#[test]
fn arithmetic_intensity() {
    let product = Gemm::square(4096, NumberFormat::Fp32).demand().unwrap();
    let (bytes, flops) = (product.bytes(), product.operations().unwrap());
    let of = |flops: u64, bytes: u64| {
        Flops::from_count(flops)
            .for_each(Bytes::from_count(bytes))
            .text(false)
    };
    has(
        "arithmetic-intensity",
        &[
            format!("1 / 12 = {}", of(1, 12)),
            format!("2 / 12 = {}", of(2, 12)),
            format!("2 / 6 = {}", of(2, 6)),
            format!("{flops} / {bytes} = {}", flops.for_each(bytes).text(false)),
        ],
    );
}

#[test]
fn ridge_point() {
    let bandwidth = h200().bandwidth.unwrap().value;
    let fp32 = h200()
        .peak(PeakRequest::of(NumberFormat::Fp32).on(PeakUnit::Vector))
        .unwrap()
        .rate;
    let bf16 = h200()
        .peak(PeakRequest::of(NumberFormat::Bf16))
        .unwrap()
        .rate;
    let adding = Flops::from_count(1).for_each(Bytes::from_count(12));
    has(
        "ridge-point",
        &[
            format!(
                "{fp32} / {bandwidth} = {}",
                fp32.ridge_point(bandwidth).text(false)
            ),
            format!(
                "{bf16}. Its ridge point is {}",
                bf16.ridge_point(bandwidth).text(false)
            ),
            format!("x {bandwidth} = {}", adding.attainable(bandwidth, fp32)),
        ],
    );
    let times = bf16
        .ridge_point(bandwidth)
        .over(fp32.ridge_point(bandwidth))
        .get();
    assert!((14.5..15.5).contains(&times), "fifteen times");
}

fn share(case: &str, resource: Resource) -> String {
    let rows = &gallery::find(case).unwrap().entry.slow.rows;
    let row = rows.iter().find(|row| row.resource == resource).unwrap();
    Ratio::new(row.share).to_string()
}

#[test]
fn three_bounds() {
    let latencies = Latencies::of(h200().capability).unwrap();
    let chain = bounds(&Work {
        chain: Some(Chain {
            steps: 1_000,
            latency: StepLatency::Load(MemoryLevel::Dram),
        }),
        ..Work::default()
    });
    let launches = bounds(&Work {
        launches: Some(Launches {
            count: 100,
            cost: Launches::TYPICAL_COST,
        }),
        kernel_time: Some(Nanos::new(1_000.0)),
        ..Work::default()
    });
    has(
        "three-bounds",
        &[
            format!("about {:.0} % and more", 100.0 * ridge_diagnose::BUSY),
            format!(
                "`triad`: DRAM is busy for {}",
                share("triad", Resource::Dram)
            ),
            format!(
                "the FMA pipe is busy for {}",
                share("half_poly", Resource::Fma)
            ),
            format!("is DRAM with {}", share("list_walk", Resource::Dram)),
            format!("takes {} cycles", latencies.dram),
            format!("1,000 nodes takes {}", chain.time()),
            format!(
                "cost the host {} and run for 1 us take {}",
                "2 us",
                launches.time()
            ),
        ],
    );
    assert!((Launches::TYPICAL_COST.value.get() - 2_000.0).abs() < 1e-9);
}

#[test]
fn occupancy() {
    let limits = SmLimits::of(h200().capability).unwrap();
    let launch = Launch::new(256, 64);
    let resident = resident(&limits, &launch);
    let achieved =
        |diagnosed: &gallery::Diagnosed| Ratio::new(diagnosed.occupancy.unwrap()).to_string();
    let gemm = gallery::find("tile_gemm").unwrap();
    let buffer = gallery::find("worst_case_buffer").unwrap();
    has(
        "occupancy",
        &[
            format!(
                "holds {} warps, {} blocks",
                limits.warps.value, limits.blocks.value
            ),
            format!(
                "{} bytes. Blocks of 256",
                ridge_model::quantity::grouped(limits.shared_bytes.value.into())
            ),
            format!(
                "a warp gets {}",
                ridge_model::quantity::grouped(registers_per_warp(&limits, 64).into())
            ),
            format!(
                "64 / 8 = {} blocks",
                resident.allowed(Limiter::Warps).unwrap()
            ),
            format!(
                "registers 32 / 8 = {}",
                resident.allowed(Limiter::Registers).unwrap()
            ),
            format!(
                "{} blocks, {} warps, {}",
                resident.blocks,
                resident.warps,
                resident.occupancy()
            ),
            format!("the slow version has {}", achieved(&gemm.entry.slow)),
            format!("busy for {}", share("tile_gemm", Resource::Shared)),
            format!(
                "has {} occupancy",
                achieved(gemm.entry.fixed.as_ref().unwrap())
            ),
            format!("saves {:.0} %", buffer.saved().unwrap() * 100.0),
        ],
    );
    let times = gemm.entry.slow_hot_us / gemm.entry.fixed_hot_us.unwrap();
    assert!((4.0..4.5).contains(&times), "four times as fast");
}

#[test]
fn layers() {
    let case = gallery::find("iir_rows").unwrap();
    let found = &case.entry.slow.findings[0];
    let at_most = Ratio::new(found.at_most).to_string();
    assert_eq!(
        (found.id.as_str(), found.next),
        ("bank-conflicts", Some(Resource::Dram))
    );
    assert_eq!(case.entry.slow.waits[0].reason, "mio_throttle");
    has(
        "layers",
        &[
            format!(
                "shared memory is busy for {}",
                share("iir_rows", Resource::Shared)
            ),
            format!("DRAM for {}", share("iir_rows", Resource::Dram)),
            format!("at most {at_most} to save"),
            format!("saves more than {at_most}"),
            format!("saved {}", Ratio::new(case.saved().unwrap())),
        ],
    );
}

#[test]
fn measuring() {
    has(
        "measuring",
        &[
            format!("1 GiB on an H200 needs {}", of_bytes(1 << 30)),
            format!("{} on an H200", h200().l2.unwrap().value.binary()),
            format!("{} times the bound is good", ridge_model::bound::GOOD),
            format!("from {} times on", ridge_model::bound::FAR),
        ],
    );
}

#[test]
fn numerics() {
    let limit =
        |format: Format| ridge_model::quantity::grouped(format.exact_integer_limit().unwrap());
    let u = |format: Format| format.unit_roundoff().unwrap();
    has(
        "numerics",
        &[
            format!(
                "At 1000 it is {} in FP16 and {} in BF16",
                Format::F16.ulp_of(1e3),
                Format::Bf16.ulp_of(1e3)
            ),
            format!(
                "FP16 stops at {}, in BF16 at {}",
                limit(Format::F16),
                limit(Format::Bf16)
            ),
            format!("in FP32 at {}", limit(Format::F32)),
            format!("64 x 2^-24 = {:.1e} in FP32", 64.0 * u(Format::F32)).replace("e-6", "e-06"),
            format!("64 x 2^-8 = {} in BF16", 64.0 * u(Format::Bf16)),
            "FP16 ends at 65,504".to_owned(),
        ],
    );
    assert!((Format::F16.max_finite() - 65_504.0).abs() < 0.1);
    assert!((u(Format::F32).log2() + 24.0).abs() < 1e-9);
    assert!((u(Format::F16).log2() + 11.0).abs() < 1e-9);
}
