//! Compiles this crate a second time, as the shared library that the driver loads into a program, so that the command
//! `ridge` can carry it: cargo hands the shared library of a crate to no other crate.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a build that cannot go on says why and ends"
)]

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let library = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"))
        .join("libridge_injection.so");
    // Other C libraries cannot be loaded beside glibc, for which NVIDIA's driver for Linux is made.
    let is_supported = variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_ENV") == "gnu"
        && variable("CARGO_CFG_TARGET_POINTER_WIDTH") == "64"
        && variable("CARGO_CFG_TARGET_ENDIAN") == "little";
    if is_supported {
        compile(&library);
    } else {
        std::fs::write(&library, b"").expect("OUT_DIR can be written to");
    }
    println!(
        "cargo::rustc-env=RIDGE_INJECTION_LIBRARY={}",
        library.display()
    );
}

fn compile(library: &std::path::Path) {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut arguments: Vec<OsString> = [
        "--crate-name=ridge_injection",
        "--crate-type=cdylib",
        "--edition=2024",
        "--cap-lints=allow",
        "--cfg=injected",
        "-Copt-level=3",
        "-Ccodegen-units=1",
        "-Cstrip=symbols",
    ]
    .map(OsString::from)
    .to_vec();
    arguments.push("--target".into());
    arguments.push(env::var_os("TARGET").expect("cargo sets TARGET"));
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut option = OsString::from("-Clinker=");
        option.push(linker);
        arguments.push(option);
    }
    arguments.push("-o".into());
    arguments.push(library.into());
    arguments.push(manifest.join("src/lib.rs").into());
    let status = Command::new(&rustc)
        .args(&arguments)
        // What other compilations are asked for, such as counting coverage, has no place in other people's programs.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env(
            "CARGO_PKG_VERSION",
            env::var("CARGO_PKG_VERSION").unwrap_or_default(),
        )
        .status();
    let status =
        status.unwrap_or_else(|error| panic!("{} does not start: {error}", rustc.display()));
    assert!(
        status.success(),
        "the library that is loaded into programs does not compile: {status}"
    );
}
