//! Which GPUs are in this machine, without a library of the vendor: what the driver's files say.

use std::fs;
use std::path::Path;

/// What the driver calls the GPUs of this machine; none where there is no driver.
pub(super) fn gpu_names() -> Vec<String> {
    names_in(Path::new("/proc/driver/nvidia/gpus"))
}

fn names_in(folder: &Path) -> Vec<String> {
    let Ok(listing) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<_> = listing
        .flatten()
        .map(|entry| entry.path().join("information"))
        .collect();
    files.sort();
    files
        .iter()
        .filter_map(|file| model_of(&fs::read_to_string(file).ok()?).map(str::to_owned))
        .collect()
}

/// The line `Model:` of such a file.
fn model_of(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.strip_prefix("Model:"))?;
    Some(line.trim()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let gpu = folder.path().join("0000:3b:00.0");
        fs::create_dir(&gpu).unwrap();
        let text = "Model: \t\t NVIDIA H200\nIRQ:   \t\t 255\nGPU UUID: \t GPU-0\n";
        fs::write(gpu.join("information"), text).unwrap();
        assert_eq!(names_in(folder.path()), ["NVIDIA H200"]);
        assert!(names_in(&gpu).is_empty());
        assert_eq!(model_of("Model:  \n"), None);
    }
}
