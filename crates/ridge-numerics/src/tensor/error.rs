//! Why a tensor cannot be read.

use std::fmt;

use crate::format::Format;

/// A reason with the place in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorError {
    /// The byte of the input; of a compressed member, that of what it unpacks to.
    pub at: u64,
    /// What is wrong there.
    pub reason: Reason,
}

impl TensorError {
    pub(crate) const fn new(at: u64, reason: Reason) -> Self {
        Self { at, reason }
    }
}

/// What is wrong with a file or with what was asked of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// No byte at all.
    Empty,
    /// None of the kinds of files.
    UnknownKind,
    /// A file of `torch.save` from before PyTorch 1.6, or one with `_use_new_zipfile_serialization=False`.
    OldPickle,
    /// A pickle without an archive around it.
    BarePickle,
    /// The input ends too early.
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Bytes that it needs from here.
        need: u64,
        /// Bytes that there are.
        have: u64,
    },
    /// Bytes follow where the tensor ends.
    Trailing(u64),
    /// Format and shape need another number of bytes than there is.
    SizeDiffers {
        /// Bytes that format and shape need.
        need: u64,
        /// Bytes that there are.
        have: u64,
    },
    /// Something is not written as it has to be.
    Malformed(&'static str),
    /// A version of a file that is not known.
    Version(u8, u8),
    /// A NumPy array of records.
    Structured,
    /// Elements of a type that is no number format.
    Type(String),
    /// A type that says nothing but how many bytes an element has.
    OnlySize(u64),
    /// The format that was asked for has another size than the elements.
    OtherSize {
        /// What was asked for.
        wanted: Format,
        /// Bytes of an element of the file.
        size: u64,
    },
    /// More dimensions than tensors have.
    TooManyDimensions(usize),
    /// A shape whose bytes cannot be counted.
    TooLarge(Vec<u64>),
    /// A name that is there twice.
    Duplicate(String),
    /// Tensors share bytes.
    Overlap(String),
    /// Bytes that belong to no tensor.
    Hole(String),
    /// A member of an archive is encrypted.
    Encrypted,
    /// A member of an archive is packed by another method than deflate.
    Method(u16),
    /// Compressed data is damaged.
    Deflate,
    /// What a member unpacks to has another checksum than the archive says.
    Checksum,
    /// A file of an archive that has to be there.
    Missing(String),
    /// A pickle does something that plain tensors do not need.
    Pickle(String),
    /// A tensor of PyTorch whose elements stand neither in C nor in Fortran order.
    Strides(Vec<u64>),
    /// Elements in Fortran order inside a compressed member.
    CompressedFortran,
    /// More bytes than the limit that was given.
    Limit(u64),
}

impl Reason {
    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "NUM0001",
            Self::UnknownKind => "NUM0002",
            Self::OldPickle => "NUM0003",
            Self::BarePickle => "NUM0004",
            Self::Truncated { .. } => "NUM0005",
            Self::Trailing(_) => "NUM0006",
            Self::SizeDiffers { .. } => "NUM0007",
            Self::Malformed(_) => "NUM0008",
            Self::Version(..) => "NUM0009",
            Self::Structured => "NUM0010",
            Self::Type(_) => "NUM0011",
            Self::OnlySize(_) => "NUM0012",
            Self::OtherSize { .. } => "NUM0013",
            Self::TooManyDimensions(_) => "NUM0014",
            Self::TooLarge(_) => "NUM0015",
            Self::Duplicate(_) => "NUM0016",
            Self::Overlap(_) => "NUM0017",
            Self::Hole(_) => "NUM0018",
            Self::Encrypted => "NUM0019",
            Self::Method(_) => "NUM0020",
            Self::Deflate => "NUM0021",
            Self::Checksum => "NUM0022",
            Self::Missing(_) => "NUM0023",
            Self::Pickle(_) => "NUM0024",
            Self::Strides(_) => "NUM0025",
            Self::CompressedFortran => "NUM0026",
            Self::Limit(_) => "NUM0027",
        }
    }

    /// What to do about it, where that is more than to get an undamaged file.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::UnknownKind => {
                "tensors are read from .npy, .npz, .safetensors and .pt files; bytes without a head need a format and a shape"
            }
            Self::OldPickle | Self::BarePickle => {
                "save it again with a PyTorch since 1.6: torch.save(torch.load(OLD), NEW), or as .safetensors"
            }
            Self::Trailing(_) => {
                "arrays that were saved one after another into one file are not read: save each to a file of its own, or all with numpy.savez"
            }
            Self::Structured => "save the fields one by one: numpy.save(FILE, array[FIELD])",
            Self::OnlySize(2) => {
                "NumPy does not know the type; ml_dtypes writes bfloat16 like this: say that the elements are bf16"
            }
            Self::OnlySize(_) => {
                "NumPy does not know the type; ml_dtypes writes its 8-, 6- and 4-bit formats like this: say which one it is, such as e4m3"
            }
            Self::Type(_) => {
                "convert it to a number format first, such as array.astype(numpy.float32)"
            }
            Self::Pickle(_) => {
                "no code of a file is run: save plain tensors, a dict or a list of them, or write .safetensors"
            }
            Self::Strides(_) => "save tensor.contiguous() instead",
            Self::CompressedFortran => {
                "save it with numpy.savez, which does not compress, or as numpy.ascontiguousarray(array)"
            }
            _ => return None,
        })
    }
}

impl fmt::Display for TensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {})", self.reason, self.at)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the file is empty"),
            Self::UnknownKind => write!(f, "no known kind of file with tensors"),
            Self::OldPickle => write!(f, "a file of torch.save in the format before PyTorch 1.6"),
            Self::BarePickle => write!(f, "a pickle, which is not read by itself"),
            Self::Truncated { what, need, have } => {
                write!(
                    f,
                    "the input ends early: {what} needs {need} bytes, there are {have}"
                )
            }
            Self::Trailing(bytes) => write!(f, "{bytes} bytes follow the end of the tensor"),
            Self::SizeDiffers { need, have } => {
                write!(f, "format and shape need {need} bytes, there are {have}")
            }
            Self::Malformed(what) => write!(f, "malformed: {what}"),
            Self::Version(major, minor) => write!(f, "unknown version {major}.{minor} of .npy"),
            Self::Structured => write!(f, "an array of records, not of numbers"),
            Self::Type(name) => write!(f, "elements of type `{}`", name.escape_debug()),
            Self::OnlySize(size) => {
                write!(
                    f,
                    "elements of {size} bytes of which the file does not say the format"
                )
            }
            Self::OtherSize { wanted, size } => write!(
                f,
                "elements have {size} bytes, and {wanted} has {}",
                wanted.size_bytes()
            ),
            Self::TooManyDimensions(count) => {
                write!(f, "{count} dimensions, more than {}", super::MAX_DIMENSIONS)
            }
            Self::TooLarge(shape) => write!(f, "no memory has room for the shape {shape:?}"),
            Self::Duplicate(name) => write!(f, "`{}` is there twice", name.escape_debug()),
            Self::Overlap(name) => {
                write!(
                    f,
                    "`{}` shares bytes with another tensor",
                    name.escape_debug()
                )
            }
            Self::Hole(name) => {
                write!(
                    f,
                    "bytes before `{}` belong to no tensor",
                    name.escape_debug()
                )
            }
            Self::Encrypted => write!(f, "the member is encrypted"),
            Self::Method(method) => {
                write!(
                    f,
                    "the member is packed by method {method}; stored (0) and deflate (8) are read"
                )
            }
            Self::Deflate => write!(f, "the compressed data is damaged"),
            Self::Checksum => write!(f, "the checksum is wrong: the data is damaged"),
            Self::Missing(name) => write!(f, "the archive has no `{}`", name.escape_debug()),
            Self::Pickle(what) => {
                write!(
                    f,
                    "the pickle has what plain tensors do not need: {}",
                    what.escape_debug()
                )
            }
            Self::Strides(strides) => {
                write!(
                    f,
                    "strides {strides:?} are neither those of C order nor of Fortran order"
                )
            }
            Self::CompressedFortran => {
                write!(
                    f,
                    "elements in Fortran order are compressed and cannot be picked one by one"
                )
            }
            Self::Limit(limit) => write!(f, "it unpacks to more than {limit} bytes"),
        }
    }
}

impl std::error::Error for TensorError {}
