//! Cubins: the compiled kernels that a report carries, with their symbols and line tables.
//!
//! A report names an instruction by its address. The address less the load address of the function is an offset into
//! the function's code, and the line table of the cubin turns that offset into a place in the source:
//!
//! ```
//! # fn main() -> Result<(), ncu_rep::Error> {
//! # let file = include_bytes!("../../../../fixtures/cubin/pairs.cubin.zst");
//! # let bytes = ncu_rep::unpack(file, ncu_rep::default_limit(file.len() as u64)).bytes;
//! let cubin = ncu_rep::cubin::Cubin::parse(&bytes)?;
//! let lines = cubin.lines();
//! if let Some(place) = lines.locate("_Z17bankconflict_slowPKfPfi", 0x100) {
//!     println!("{}:{}", place.file, place.line);
//!     for call in place.inlined() {
//!         println!("  {} inlined at {}:{}", call.function, call.file, call.line);
//!     }
//! }
//! # assert_eq!(lines.locate("_Z17bankconflict_slowPKfPfi", 0x100).map(|place| place.line), Some(32));
//! # Ok(())
//! # }
//! ```
//!
//! Nothing is disassembled and no name is demangled here; [`sass`] reads the text that a disassembler printed.

pub mod fatbin;
mod lines;
pub mod ptxas;
pub mod sass;

use std::borrow::Cow;
use std::collections::HashMap;

use object::elf::{self, FileHeader64, SectionHeader64};
use object::read::elf::{FileHeader, Rel as _, Rela as _, SectionHeader as _};
use object::{LittleEndian, SectionIndex, SymbolIndex};

use crate::error::{Error, Kind};
use crate::report::Problems;
use crate::wire::len;

pub use lines::{CallSite, Inlined, LineTable, Location};

/// Names are looked up in tables that entries may share; together they may be this many times as long as the file.
const NAME_FACTOR: u64 = 4;

/// Sections without a readable name: each costs a walk through the table of names.
const MAX_UNNAMED: u32 = 16;

/// Attributes of `.nv.info` (`EIATTR_`), measured against the launch metrics of the same kernels.
const ATTRIBUTE_FRAME_SIZE: u8 = 0x11;
const ATTRIBUTE_STACK_SIZE: u8 = 0x12;
const ATTRIBUTE_REGISTER_COUNT: u8 = 0x2f;
/// Attributes of `.nv.info.<function>`, compared with `__launch_bounds__`, `.reqntid`, `__cluster_dims__` and the
/// barriers that `ptxas -v` prints.
const ATTRIBUTE_MAX_THREADS: u8 = 0x05;
const ATTRIBUTE_REQUIRED_THREADS: u8 = 0x10;
const ATTRIBUTE_CLUSTER: u8 = 0x3d;
const ATTRIBUTE_BARRIERS: u8 = 0x4c;
/// The form of an attribute whose value is one byte.
const FORM_BYTE: u8 = 2;
/// The form of an attribute that is followed by a size and that many bytes.
const FORM_SIZED: u8 = 4;

/// The bit of a symbol's `st_other` that marks a kernel.
const SYMBOL_IS_ENTRY: u8 = 0x10;

/// From this version of the ABI on (CUDA 13), the capability is in the second byte of the ELF flags, before in the
/// first, and barriers are an attribute, before in the flags of the section of the code.
const ABI_WITH_ATTRIBUTES: u8 = 8;
/// From this capability on, the section of shared memory holds what the system reserves.
const SHARED_HOLDS_RESERVED_FROM: u32 = 90;
const RESERVED_SHARED_BYTES: u64 = 1024;

/// A function of a cubin: its name, its code and what the compiler noted about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Function<'a> {
    /// The mangled name; bytes that are not UTF-8 are replaced.
    pub name: Cow<'a, str>,
    /// The machine code. Subroutines that the compiler put beside the kernel lie in the same code.
    pub code: &'a [u8],
    /// Registers per thread as compiled. The driver may give more: on compute capability 9.0 at least 16.
    pub registers: Option<u32>,
    /// Bytes of local memory per thread for spilled registers and local arrays.
    pub frame_bytes: Option<u32>,
    /// Bytes of the shared-memory section: static shared memory and, in cubins for compute capability 9.0, the 1024
    /// bytes that the driver keeps for itself.
    pub shared_bytes: Option<u64>,
    /// Bytes of shared memory that the code declares; none where the cubin has no section for it.
    pub static_shared_bytes: u64,
    /// Bytes of stack per thread, called functions included.
    pub stack_bytes: Option<u32>,
    /// Named barriers; none where neither attribute nor section flags name any.
    pub barriers: u32,
    /// Most threads in a block (x, y, z), as `__launch_bounds__` states it.
    pub max_threads: Option<[u32; 3]>,
    /// Threads in a block (x, y, z) that the launch must have, as `.reqntid` states it.
    pub required_threads: Option<[u32; 3]>,
    /// Blocks in a cluster (x, y, z), as `__cluster_dims__` states it.
    pub cluster: Option<[u32; 3]>,
    /// Whether this is a kernel, not a function that kernels call.
    pub is_kernel: bool,
    /// Whether the cubin has line data for this function; if not, it was compiled without `-lineinfo`.
    pub has_lines: bool,
    /// Index of a symbol that lies in the code: what `nvdisasm --cuda-function-index` selects a function by.
    pub symbol: Option<usize>,
}

/// A cubin, opened: functions are listed, line tables still encoded.
#[derive(Clone, Debug)]
pub struct Cubin<'a> {
    /// Bytes of the file.
    size: u64,
    /// Compute capability times ten.
    capability: u32,
    functions: Vec<Function<'a>>,
    index: HashMap<Cow<'a, str>, usize>,
    debug_line: &'a [u8],
    /// Where `.debug_line` starts in the file: errors name places in the file.
    debug_line_offset: u64,
    debug_str: &'a [u8],
    debug_line_str: &'a [u8],
    /// What the addresses in `.debug_line` stand for, ordered by their place in the section.
    targets: Vec<Target>,
    problems: Vec<Error>,
}

/// One relocation of `.debug_line`: the address at this place is an offset into a function.
#[derive(Clone, Copy, Debug)]
struct Target {
    place: u64,
    function: usize,
    /// Offset of the named symbol in the code of the function, addend included.
    offset: u64,
    /// Whether the stored address is to be added (`.rel`, not `.rela`).
    add_stored: bool,
}

impl<'a> Cubin<'a> {
    /// Opens a cubin and lists its functions.
    ///
    /// # Errors
    /// When the bytes are not a 64-bit little-endian ELF file for NVIDIA GPUs, or its section table cannot be read.
    /// Damage beyond that is listed in [`Cubin::problems`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        Reader::open(bytes)?.read()
    }

    /// The compute capability that the code is for, major and minor number.
    #[must_use]
    pub const fn capability(&self) -> (u32, u32) {
        (self.capability / 10, self.capability % 10)
    }

    /// The functions with code, in the order of the file.
    #[must_use]
    pub fn functions(&self) -> &[Function<'a>] {
        &self.functions
    }

    /// The function of a mangled name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&Function<'a>> {
        self.functions.get(*self.index.get(name)?)
    }

    /// Whether there is line data at all.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        self.functions.iter().any(|function| function.has_lines)
    }

    /// Decodes the line table. Without line data the table is empty; what is damaged is left out and listed in
    /// [`LineTable::problems`].
    #[must_use]
    pub fn lines(&self) -> LineTable {
        lines::decode(self)
    }

    /// What could not be read and was left out.
    #[must_use]
    pub fn problems(&self) -> &[Error] {
        &self.problems
    }
}

/// The value of an attribute, in the forms that are read.
enum Attribute<'a> {
    Byte(u8),
    Sized(&'a [u8]),
}

/// Three numbers: x, y, z.
fn extent(value: &[u8]) -> Option<[u32; 3]> {
    let mut numbers = value
        .chunks_exact(4)
        .filter_map(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)));
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

type Sections<'a> = object::read::elf::SectionTable<'a, FileHeader64<LittleEndian>>;
type Section = SectionHeader64<LittleEndian>;

/// The sections that are of use.
struct Reader<'a> {
    bytes: &'a [u8],
    capability: u32,
    has_attributes: bool,
    sections: Sections<'a>,
    names_left: u64,
    unnamed: u32,
    problems: Problems,
}

impl<'a> Reader<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, Error> {
        let refused =
            |reason: &'static str| Error::new(Kind::Cubin(Cow::Borrowed(reason)), 0, "cubin");
        let header = FileHeader64::<LittleEndian>::parse(bytes)
            .map_err(|error| Error::new(Kind::Cubin(Cow::Owned(error.to_string())), 0, "cubin"))?;
        if !header.is_little_endian() {
            return Err(refused("the byte order is not little-endian"));
        }
        if header.e_machine(LittleEndian) != elf::EM_CUDA {
            return Err(refused("the ELF file is for another machine"));
        }
        let place = header.e_shoff.get(LittleEndian);
        let sections = header.sections(LittleEndian, bytes).map_err(|error| {
            Error::new(
                Kind::Cubin(Cow::Owned(error.to_string())),
                place,
                "section table",
            )
        })?;
        let names_left = len(bytes).saturating_mul(NAME_FACTOR);
        let has_attributes = header.e_ident().abi_version >= ABI_WITH_ATTRIBUTES;
        let [first, second, ..] = header.e_flags(LittleEndian).0.to_le_bytes();
        let capability = u32::from(if has_attributes { second } else { first });
        Ok(Self {
            bytes,
            capability,
            has_attributes,
            sections,
            names_left,
            unnamed: MAX_UNNAMED,
            problems: Problems::default(),
        })
    }

    fn problem(&mut self, reason: &'static str, offset: u64, field: &'static str) {
        self.problems.push(Error::new(
            Kind::Cubin(Cow::Borrowed(reason)),
            offset,
            field,
        ));
    }

    fn read(mut self) -> Result<Cubin<'a>, Error> {
        let mut cubin = Cubin {
            size: len(self.bytes),
            capability: self.capability,
            functions: Vec::new(),
            index: HashMap::new(),
            debug_line: &[],
            debug_line_offset: 0,
            debug_str: &[],
            debug_line_str: &[],
            targets: Vec::new(),
            problems: Vec::new(),
        };
        // For each section the function whose code it holds.
        let mut owners = HashMap::new();
        let mut shared: HashMap<&[u8], u64> = HashMap::new();
        let mut about: HashMap<&[u8], &Section> = HashMap::new();
        let (mut debug_line, mut info) = (None, None);
        for (place, section) in self.sections.enumerate().skip(1) {
            let Some(name) = self.name(section)? else {
                continue;
            };
            if let Some(function) = name.strip_prefix(b".text.") {
                let slot = cubin.functions.len();
                owners.insert(place, slot);
                let name = String::from_utf8_lossy(function);
                cubin.index.entry(name.clone()).or_insert(slot);
                cubin.functions.push(Function {
                    name,
                    code: self.data(section, "code of a function"),
                    registers: None,
                    frame_bytes: None,
                    shared_bytes: None,
                    static_shared_bytes: 0,
                    stack_bytes: None,
                    barriers: self.barriers_of_section(section),
                    max_threads: None,
                    required_threads: None,
                    cluster: None,
                    is_kernel: false,
                    has_lines: false,
                    symbol: None,
                });
            } else if let Some(function) = name.strip_prefix(b".nv.info.") {
                about.entry(function).or_insert(section);
            } else if let Some(function) = name.strip_prefix(b".nv.shared.") {
                shared
                    .entry(function)
                    .or_insert(section.sh_size(LittleEndian));
            } else {
                match name {
                    b".debug_line" if debug_line.is_none() => {
                        debug_line = Some(place);
                        cubin.debug_line = self.data(section, ".debug_line");
                        cubin.debug_line_offset = section.sh_offset(LittleEndian);
                    }
                    b".debug_str" => cubin.debug_str = self.data(section, ".debug_str"),
                    b".debug_line_str" => {
                        cubin.debug_line_str = self.data(section, ".debug_line_str")
                    }
                    b".nv.info" if info.is_none() => info = Some(section),
                    _ => {}
                }
            }
        }
        for function in &mut cubin.functions {
            let name = function.name.as_bytes();
            function.shared_bytes = shared.get(name).copied();
            let reserved = if self.capability >= SHARED_HOLDS_RESERVED_FROM {
                RESERVED_SHARED_BYTES
            } else {
                0
            };
            function.static_shared_bytes = function
                .shared_bytes
                .map_or(0, |bytes| bytes.saturating_sub(reserved));
            // Each section is read for one function only: names may repeat, time may not.
            if let Some(section) = about.remove(name) {
                self.attributes_of(section, function);
            }
        }
        let symbols = match self
            .sections
            .symbols(LittleEndian, self.bytes, elf::SHT_SYMTAB)
        {
            Ok(symbols) => symbols,
            Err(error) => {
                self.problems.push(Error::new(
                    Kind::Cubin(Cow::Owned(error.to_string())),
                    None,
                    "symbol table",
                ));
                Default::default()
            }
        };
        for (index, symbol) in symbols.enumerate() {
            let section = symbols.symbol_section(LittleEndian, symbol, index);
            let function = section
                .ok()
                .flatten()
                .and_then(|section| cubin.functions.get_mut(*owners.get(&section)?));
            if let Some(function) = function {
                function.symbol.get_or_insert(index.0);
                function.is_kernel |= symbol.st_other.0 & SYMBOL_IS_ENTRY != 0;
            }
        }
        // The function whose code a symbol lies in, and where in it.
        let resolve = |index: u32| {
            let index = SymbolIndex(usize::try_from(index).ok()?);
            let symbol = symbols.symbol(index).ok()?;
            let section = symbols.symbol_section(LittleEndian, symbol, index).ok()??;
            Some((*owners.get(&section)?, symbol.st_value.get(LittleEndian)))
        };
        if let Some(info) = info {
            self.attributes(info, &mut cubin.functions, resolve);
        }
        if let Some(place) = debug_line {
            cubin.targets = self.targets(place, resolve);
            for target in &cubin.targets {
                if let Some(function) = cubin.functions.get_mut(target.function) {
                    function.has_lines = true;
                }
            }
        }
        cubin.problems = self.problems.into_vec();
        Ok(cubin)
    }

    fn name(&mut self, section: &Section) -> Result<Option<&'a [u8]>, Error> {
        let Ok(name) = self.sections.section_name(LittleEndian, section) else {
            let limit = u64::from(MAX_UNNAMED);
            self.unnamed = self.unnamed.checked_sub(1).ok_or_else(|| {
                Error::new(
                    Kind::TooMany { limit },
                    None,
                    "sections without a readable name",
                )
            })?;
            self.problem(
                "a section has no readable name",
                section.sh_offset(LittleEndian),
                "section table",
            );
            return Ok(None);
        };
        // Names that share bytes could make a small file cost the square of its size.
        self.names_left = self.names_left.checked_sub(len(name)).ok_or_else(|| {
            let limit = len(self.bytes).saturating_mul(NAME_FACTOR);
            Error::new(Kind::Swollen { limit }, None, "names of sections")
        })?;
        Ok(Some(name))
    }

    fn data(&mut self, section: &Section, field: &'static str) -> &'a [u8] {
        let offset = section.sh_offset(LittleEndian);
        if section.sh_flags(LittleEndian).contains(elf::SHF_COMPRESSED) {
            self.problem("the section is compressed", offset, field);
            return &[];
        }
        section.data(LittleEndian, self.bytes).unwrap_or_else(|_| {
            let available = len(self.bytes).saturating_sub(offset);
            self.problems.push(Error::new(
                Kind::Overrun {
                    needed: section.sh_size(LittleEndian),
                    available,
                },
                offset,
                field,
            ));
            &[]
        })
    }

    /// The attributes in a section: each has a form, a code, and a size or a value.
    fn each_attribute(
        &mut self,
        section: &Section,
        field: &'static str,
        mut visit: impl FnMut(u8, Attribute<'a>),
    ) {
        let mut rest = self.data(section, field);
        while let Some((&[form, attribute, low, high], tail)) = rest.split_first_chunk() {
            rest = tail;
            if form == FORM_BYTE {
                visit(attribute, Attribute::Byte(low));
            }
            if form != FORM_SIZED {
                continue; // The value is in the two bytes just read.
            }
            let Some((value, tail)) =
                rest.split_at_checked(usize::from(u16::from_le_bytes([low, high])))
            else {
                let end = section
                    .sh_offset(LittleEndian)
                    .saturating_add(section.sh_size(LittleEndian));
                self.problem(
                    "an attribute breaks off",
                    end.saturating_sub(len(rest)),
                    field,
                );
                return;
            };
            rest = tail;
            visit(attribute, Attribute::Sized(value));
        }
    }

    /// Reads what `.nv.info` says about functions.
    fn attributes(
        &mut self,
        section: &Section,
        functions: &mut [Function<'a>],
        resolve: impl Fn(u32) -> Option<(usize, u64)>,
    ) {
        self.each_attribute(section, ".nv.info", |attribute, value| {
            let Attribute::Sized(value) = value else {
                return;
            };
            let Some((symbol, value)) = value.split_first_chunk() else {
                return;
            };
            // A symbol inside the code is a subroutine, with facts of its own.
            let (Some((function, 0)), Ok(value)) =
                (resolve(u32::from_le_bytes(*symbol)), value.try_into())
            else {
                return;
            };
            let value = Some(u32::from_le_bytes(value));
            if let Some(function) = functions.get_mut(function) {
                let slot = match attribute {
                    ATTRIBUTE_REGISTER_COUNT => &mut function.registers,
                    ATTRIBUTE_FRAME_SIZE => &mut function.frame_bytes,
                    ATTRIBUTE_STACK_SIZE => &mut function.stack_bytes,
                    _ => return,
                };
                *slot = slot.or(value);
            }
        });
    }

    /// Reads what `.nv.info.<function>` says about one function.
    fn attributes_of(&mut self, section: &Section, function: &mut Function<'a>) {
        self.each_attribute(
            section,
            ".nv.info of a function",
            |attribute, value| match (attribute, value) {
                (ATTRIBUTE_BARRIERS, Attribute::Byte(count)) => {
                    function.barriers = u32::from(count);
                }
                (ATTRIBUTE_MAX_THREADS, Attribute::Sized(value)) => {
                    function.max_threads = function.max_threads.or(extent(value));
                }
                (ATTRIBUTE_REQUIRED_THREADS, Attribute::Sized(value)) => {
                    function.required_threads = function.required_threads.or(extent(value));
                }
                (ATTRIBUTE_CLUSTER, Attribute::Sized(value)) => {
                    function.cluster = function.cluster.or(extent(value));
                }
                _ => {}
            },
        );
    }

    /// The named barriers in the flags of a section of code, where older compilers put them.
    fn barriers_of_section(&self, section: &Section) -> u32 {
        const SHIFT: u32 = 20;
        const MASK: u64 = 0x7f;
        if self.has_attributes {
            // The attribute is left out when there are none.
            return 0;
        }
        let flags = section.sh_flags(LittleEndian).0;
        u32::try_from((flags >> SHIFT) & MASK).unwrap_or(0)
    }

    /// Reads the relocations of `.debug_line`: the first list with addends and the first without.
    fn targets(
        &mut self,
        debug_line: SectionIndex,
        resolve: impl Fn(u32) -> Option<(usize, u64)>,
    ) -> Vec<Target> {
        let mut targets = Vec::new();
        let (mut with, mut without) = (false, false);
        for section in self.sections.iter() {
            if usize::try_from(section.sh_info(LittleEndian)) != Ok(debug_line.0) {
                continue;
            }
            match (
                section.rela(LittleEndian, self.bytes),
                section.rel(LittleEndian, self.bytes),
            ) {
                (Ok(Some((list, _))), _) if !with => {
                    with = true;
                    targets.extend(list.iter().filter_map(|entry| {
                        let (function, value) = resolve(entry.r_sym(LittleEndian, false))?;
                        let offset = value.checked_add_signed(entry.r_addend(LittleEndian))?;
                        Some(Target {
                            place: entry.r_offset(LittleEndian),
                            function,
                            offset,
                            add_stored: false,
                        })
                    }));
                }
                (_, Ok(Some((list, _)))) if !without => {
                    without = true;
                    targets.extend(list.iter().filter_map(|entry| {
                        let (function, offset) = resolve(entry.r_sym(LittleEndian))?;
                        Some(Target {
                            place: entry.r_offset(LittleEndian),
                            function,
                            offset,
                            add_stored: true,
                        })
                    }));
                }
                (Err(_), _) | (_, Err(_)) => {
                    let offset = section.sh_offset(LittleEndian);
                    self.problem(
                        "the relocations lie outside the file",
                        offset,
                        ".debug_line",
                    );
                }
                _ => {}
            }
        }
        targets.sort_by_key(|target| target.place);
        targets
    }
}
