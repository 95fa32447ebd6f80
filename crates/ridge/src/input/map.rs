//! A file mapped into memory: the one place of this crate that needs `unsafe`.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// A read-only map of a file.
pub(crate) struct Map(Mmap);

impl Map {
    #[expect(
        unsafe_code,
        reason = "mapping a file is unsafe, since others may change it"
    )]
    pub(crate) fn new(file: &File) -> io::Result<Self> {
        // SAFETY: the map is read-only, and readers treat its bytes as untrusted: a byte that changes while it is
        // mapped can only make a value wrong or a part unreadable. A file that is cut off while it is mapped ends the
        // program with SIGBUS; `--no-mmap` is there for files that others write to.
        let map = unsafe { Mmap::map(file) }?;
        Ok(Self(map))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
