//! What `ptxas -v` prints about kernels (`nvcc -Xptxas -v`): registers, barriers, shared memory, stack and spills.
//!
//! The text may stand between anything else that a build prints.
//!
//! ```
//! use ncu_rep::cubin::ptxas;
//!
//! let log = "\
//! ptxas info    : Compiling entry function 'tile_sum' for 'sm_90'
//! ptxas info    : Function properties for tile_sum
//!     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//! ptxas info    : Used 23 registers, used 1 barriers, 8192 bytes smem
//! ";
//! assert!(ptxas::looks_like(log.as_bytes()));
//! let kernel = &ptxas::read(log)[0];
//! assert_eq!((kernel.name, kernel.capability), ("tile_sum", Some((9, 0))));
//! assert_eq!((kernel.registers, kernel.barriers, kernel.shared_bytes), (23, Some(1), 8192));
//! ```

/// A kernel as `ptxas -v` describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage<'t> {
    /// The mangled name.
    pub name: &'t str,
    /// The compute capability that it was compiled for, major and minor number.
    pub capability: Option<(u32, u32)>,
    /// Registers per thread.
    pub registers: u32,
    /// Named barriers; absent when the text does not tell, as that of compilers before CUDA 11.6.
    pub barriers: Option<u32>,
    /// Bytes of shared memory that the code declares.
    pub shared_bytes: u32,
    /// Bytes of the stack frame per thread.
    pub stack_bytes: Option<u32>,
    /// Bytes of registers stored to local memory, and loaded from it, per thread.
    pub spill_bytes: Option<(u32, u32)>,
}

/// The start of the line that names a kernel. Other tools put something before it, such as a time.
const ENTRY: &str = "Compiling entry function '";
const PROPERTIES: &str = "Function properties for ";
/// A log is recognised by its beginning.
const LOOKED_AT: usize = 1 << 20;

/// Whether there is something in the text that `ptxas -v` prints.
#[must_use]
pub fn looks_like(bytes: &[u8]) -> bool {
    let start = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    String::from_utf8_lossy(start).lines().any(|line| {
        line.contains("ptxas info") && (line.contains(ENTRY) || line.contains(" registers"))
    })
}

/// Reads all kernels in the text, in its order. Kernels without a line of registers are left out.
#[must_use]
pub fn read(text: &str) -> Vec<Usage<'_>> {
    let mut kernels = Vec::new();
    let mut entry: Option<(&str, Option<(u32, u32)>)> = None;
    // Properties of other functions stand between those of kernels.
    let mut is_of_entry = false;
    let (mut stack, mut spills) = (None, None);
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once(ENTRY) {
            let (name, rest) = rest.split_once('\'').unwrap_or((rest, ""));
            entry = Some((name, rest.split('\'').nth(1).and_then(capability)));
            (stack, spills, is_of_entry) = (None, None, false);
        } else if let Some((_, function)) = line.split_once(PROPERTIES) {
            is_of_entry = entry.is_some_and(|(name, _)| name == function.trim());
        } else if line.contains("bytes stack frame") && is_of_entry {
            stack = before(line, " bytes stack frame");
            spills = before(line, " bytes spill stores").zip(before(line, " bytes spill loads"));
        } else if let (Some(registers), true) = (before(line, " registers"), line.contains("Used "))
            && let Some((name, capability)) = entry.take()
        {
            kernels.push(Usage {
                name,
                capability,
                registers,
                barriers: before(line, " barriers"),
                shared_bytes: shared(line),
                stack_bytes: stack,
                spill_bytes: spills,
            });
        }
    }
    kernels
}

/// The capability in `sm_90` or `sm_90a`.
fn capability(target: &str) -> Option<(u32, u32)> {
    let digits = target.strip_prefix("sm_")?;
    let digits = digits.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let number: u32 = digits.parse().ok()?;
    Some((number / 10, number % 10))
}

/// The number that stands before some words.
fn before(line: &str, words: &str) -> Option<u32> {
    let (start, _) = line.split_once(words)?;
    number_at_end(start)
}

fn number_at_end(text: &str) -> Option<u32> {
    let word = text.rsplit([' ', ',', '+']).next()?;
    word.parse().ok()
}

/// Shared memory: `8192 bytes smem`; compilers for old capabilities add what parameters take (`8192+16 bytes smem`),
/// which is not part of what the code declares.
fn shared(line: &str) -> u32 {
    let Some((start, _)) = line.split_once(" bytes smem") else {
        return 0;
    };
    let word = start.rsplit([' ', ',']).next().unwrap_or_default();
    let declared = word.split('+').next().unwrap_or_default();
    declared.parse().unwrap_or(0)
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    const LOG: &str = "\
[1/2] Building CUDA object k.o
ptxas info    : 8 bytes gmem
ptxas info    : Compiling entry function 'uses' for 'sm_90a'
ptxas info    : Function properties for helper
    64 bytes stack frame, 60 bytes spill stores, 60 bytes spill loads
ptxas info    : Function properties for uses
    256 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 37 registers, used 3 barriers, 256 bytes cumulative stack size
ptxas info    : Compile time = 25.911 ms
ptxas info    : Compiling entry function 'old' for 'sm_75'
ptxas info    : Used 19 registers, 4096+16 bytes smem, 368 bytes cmem[0]
ptxas info    : Compiling entry function 'cut' for 'sm_75'
";

    #[test]
    fn kernels_are_found_between_other_lines() {
        let kernels = read(LOG);
        assert_eq!(kernels.len(), 2);
        assert_eq!(
            kernels[0],
            Usage {
                name: "uses",
                capability: Some((9, 0)),
                registers: 37,
                barriers: Some(3),
                shared_bytes: 0,
                stack_bytes: Some(256),
                spill_bytes: Some((4, 8)),
            }
        );
        assert_eq!(
            (
                kernels[1].registers,
                kernels[1].barriers,
                kernels[1].shared_bytes
            ),
            (19, None, 4096)
        );
        assert_eq!(kernels[1].capability, Some((7, 5)));
    }

    #[test]
    fn other_text_is_not_taken_for_a_log() {
        assert!(looks_like(LOG.as_bytes()));
        assert!(!looks_like(b"ptxas warning : something\n"));
        assert!(!looks_like(b"\x7fELF registers"));
        assert_eq!(read("Used 12 registers\n"), []);
        let odd = "Compiling entry function '\nUsed 99999999999 registers\nUsed  registers";
        assert_eq!(read(odd), []);
    }
}
