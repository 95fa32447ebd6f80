//! Where programs are.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where a program of this name is: a path as it is, else in `PATH`, else in other folders. Relative folders may hold a
/// stranger's files.
///
/// # Errors
/// Where was looked; nowhere for a path.
pub(crate) fn find(name: &OsStr, more: &[PathBuf]) -> Result<PathBuf, Vec<String>> {
    let as_path = Path::new(name);
    if as_path.components().count() > 1 {
        return if as_path.is_file() {
            Ok(as_path.to_owned())
        } else {
            Err(Vec::new())
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let absolute = |folder: &PathBuf| folder.is_absolute();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).filter(absolute).collect();
    let mut looked = vec!["the folders of PATH".to_owned()];
    for folder in more.iter().filter(|folder| absolute(folder)) {
        if !folders.contains(folder) {
            looked.push(folder.display().to_string());
            folders.push(folder.clone());
        }
    }
    let mut file = name.to_owned();
    file.push(std::env::consts::EXE_SUFFIX);
    match folders
        .iter()
        .map(|folder| folder.join(&file))
        .find(|program| is_program(program))
    {
        Some(program) => Ok(program),
        None => Err(looked),
    }
}

fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path)
            .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    path.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_and_path() {
        assert_eq!(
            find(OsStr::new("/bin/sh"), &[]).unwrap(),
            Path::new("/bin/sh")
        );
        assert!(find(OsStr::new("/bin/no-such-program"), &[]).is_err());
        let more = [PathBuf::from("/no-such-folder"), PathBuf::from("relative")];
        let looked = find(OsStr::new("no-such-program"), &more).unwrap_err();
        assert_eq!(looked, ["the folders of PATH", "/no-such-folder"]);
    }
}
