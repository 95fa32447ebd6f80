//! The compiler, where it is installed: as the system's loader knows it, or where `RIDGE_NVRTC` says.

use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use ncu_rep::cubin::Cubin;
use ridge_gpu::nvrtc::{CompileError, Compiler, NAMES, Source};
use ridge_model::ComputeCapability;

const TILE: &str = "extern \"C\" __global__ void __launch_bounds__(128) tile(float* out) {\n\
                    __shared__ float tile[512];\n\
                    tile[threadIdx.x] = out[threadIdx.x];\n\
                    __syncthreads();\n\
                    out[threadIdx.x] = tile[threadIdx.x ^ 1];\n}\n";

fn compiler() -> Option<Compiler> {
    let candidates: Vec<PathBuf> = std::env::var_os("RIDGE_NVRTC")
        .map(PathBuf::from)
        .into_iter()
        .chain(NAMES.iter().map(PathBuf::from))
        .collect();
    Compiler::load(&candidates).ok()
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = if compiler().is_some() {
        vec![
            Trial::test("source becomes a cubin", source_becomes_a_cubin),
            Trial::test("wrong source is refused", wrong_source_is_refused),
            Trial::test(
                "options, headers and names reach the compiler",
                options_headers_names,
            ),
        ]
    } else {
        let reason =
            "NVRTC (not found: install the CUDA toolkit, or set RIDGE_NVRTC to libnvrtc.so)";
        vec![Trial::test(reason, || Ok(())).with_ignored_flag(true)]
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn source(text: &str) -> Source<'_> {
    Source::new(text, "tile.cu", ComputeCapability { major: 9, minor: 0 })
}

fn source_becomes_a_cubin() -> Result<(), Failed> {
    let compiler = compiler().ok_or("no compiler")?;
    assert!(compiler.version() >= (11, 1));
    let compiled = compiler.compile(&source(TILE))?;
    let cubin = Cubin::parse(&compiled.image)?;
    let tile = cubin.function("tile").ok_or("no kernel")?;
    assert_eq!(cubin.capability(), (9, 0));
    assert_eq!(
        (tile.static_shared_bytes, tile.barriers, tile.max_threads),
        (2048, 1, Some([128, 1, 1]))
    );
    Ok(())
}

fn wrong_source_is_refused() -> Result<(), Failed> {
    let compiler = compiler().ok_or("no compiler")?;
    let error = compiler
        .compile(&source("__global__ void k() { nonsense }"))
        .err()
        .ok_or("compiled")?;
    assert!(error.to_string().contains("tile.cu(1): error"), "{error}");
    let zero = compiler.compile(&source("a\0b")).err();
    assert_eq!(zero, Some(CompileError::ZeroByte));
    Ok(())
}

fn options_headers_names() -> Result<(), Failed> {
    let compiler = compiler().ok_or("no compiler")?;
    let text = "#include \"factor.h\"\ntemplate <class T> __global__ void scale(T* x) { *x *= FACTOR * EXTRA; }";
    let headers = [("factor.h".to_owned(), "#define FACTOR 3\n".to_owned())];
    let expressions = ["scale<float>".to_owned(), "scale<double>".to_owned()];
    let options = ["-DEXTRA=2".to_owned(), "-arch=compute_80".to_owned()];
    let compiled = compiler.compile(&Source {
        options: &options,
        headers: &headers,
        name_expressions: &expressions,
        ..source(text)
    })?;
    assert_eq!(
        compiled.lowered_names,
        ["_Z5scaleIfEvPT_", "_Z5scaleIdEvPT_"]
    );
    let ptx = String::from_utf8(compiled.image)?;
    assert!(ptx.contains(".target sm_80"), "{ptx}");
    assert!(ptx.contains(".entry _Z5scaleIfEvPT_"), "{ptx}");
    let missing = compiler.compile(&source(text)).err().ok_or("compiled")?;
    assert!(missing.to_string().contains("factor.h"), "{missing}");
    Ok(())
}
