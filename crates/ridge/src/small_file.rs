//! Small files that lie in a project and are read without being asked for: settings and baselines.
//!
//! Whoever wrote a project wrote them, and they may be anything: a folder, a pipe that nobody writes to, a device that never
//! ends. Only regular files are read, and no more of them than such a file has.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use ridge_model::quantity::Bytes;

/// What settings have at most: more is nothing that a person wrote.
pub(crate) const MOST_OF_SETTINGS: u64 = 1 << 20;

/// The text of a file; `None` where there is nothing of that name. Else why it cannot be read, as a message ends.
pub(crate) fn text(path: &Path, most_bytes: u64) -> Result<Option<String>, String> {
    let Some(bytes) = bytes(path, most_bytes)? else {
        return Ok(None);
    };
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        format!("it is no UTF-8 text from byte {place} on")
    })
}

/// The bytes of a file, as [`text`].
pub(crate) fn bytes(path: &Path, most_bytes: u64) -> Result<Option<Vec<u8>>, String> {
    let Some(file) = open(path)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    // Counted while it is read: the size that a system tells is no promise.
    let length = file
        .take(most_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if u64::try_from(length).unwrap_or(u64::MAX) > most_bytes {
        let most = Bytes::from_count(most_bytes).binary();
        return Err(format!("it has more than {most}, which no such file has"));
    }
    Ok(Some(bytes))
}

/// Opens a regular file; `None` where there is nothing of that name. Never waits for the other end of a pipe.
pub(crate) fn open(path: &Path) -> Result<Option<File>, String> {
    let file = match open_at_once(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // A link that leads nowhere is there.
            return match fs::symlink_metadata(path) {
                Ok(_) => Err("it is a link to a file that is not there".to_owned()),
                Err(_) => Ok(None),
            };
        }
        Err(error) => return Err(error.to_string()),
    };
    let kind = file.metadata().map_err(|error| error.to_string())?;
    if kind.is_dir() {
        return Err("it is a folder".to_owned());
    }
    if !kind.is_file() {
        return Err("it is a pipe or a device, and no regular file".to_owned());
    }
    Ok(Some(file))
}

#[cfg(unix)]
fn open_at_once(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK.bits();
    fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags.cast_signed())
        .open(path)
}

#[cfg(not(unix))]
fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_small_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("plain"), "ü = 1").unwrap();
        symlink("plain", at("link")).unwrap();
        for name in ["plain", "link"] {
            assert_eq!(text(&at(name), 6).unwrap().unwrap(), "ü = 1");
        }
        assert_eq!(text(&at("missing"), 6), Ok(None));
        fs::create_dir(at("folder")).unwrap();
        fs::write(at("binary"), b"a\xff").unwrap();
        symlink("around", at("around")).unwrap();
        symlink("missing", at("nowhere")).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(at("pipe"))
            .status();
        assert!(made.unwrap().success());
        for (name, words) in [
            ("folder", "a folder"),
            ("binary", "no UTF-8 text from byte 1 on"),
            ("around", "symbolic links"),
            ("nowhere", "not there"),
            ("zero", "no regular file"),
            ("pipe", "no regular file"),
        ] {
            let reason = text(&at(name), 1 << 20).unwrap_err();
            assert!(reason.contains(words), "{name}: {reason}");
        }
        let reason = text(&at("plain"), 5).unwrap_err();
        assert_eq!(reason, "it has more than 5 B, which no such file has");
    }

    /// The system says that this file has no bytes.
    #[test]
    #[cfg(target_os = "linux")]
    fn bytes_are_counted_while_they_are_read() {
        let path = Path::new("/proc/self/maps");
        assert_eq!(fs::metadata(path).unwrap().len(), 0);
        assert!(text(path, 100).unwrap_err().contains("more than 100 B"));
    }
}
