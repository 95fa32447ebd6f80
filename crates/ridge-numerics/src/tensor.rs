//! Tensors in files: `.npy`, `.npz`, `.safetensors`, `.pt`, and bytes without a head.
//!
//! The input is the bytes of a file, as a rule of one that is mapped into memory. Only heads are read at first; elements come
//! block by block, so that memory does not grow with the tensor. A file is recognised by its content.
//!
//! ```
//! use ridge_numerics::format::{Endian, Format};
//! use ridge_numerics::tensor::Tensor;
//!
//! let bytes: Vec<u8> = [1.0_f32, 2.5, -3.0].iter().flat_map(|value| value.to_le_bytes()).collect();
//! let tensor = Tensor::raw(&bytes, Format::F32, Endian::Little, &[3])?;
//! let mut blocks = tensor.blocks(2)?;
//! let mut values = [0.0; 2];
//! while let Some(block) = blocks.next_block()? {
//!     let count = block.decode(&mut values);
//!     println!("from {}: {:?}", block.first, &values[..count]);
//! }
//! # Ok::<(), ridge_numerics::tensor::TensorError>(())
//! ```

mod blocks;
mod error;
mod literal;
mod npy;
mod pickle;
mod pt;
mod safetensors;
mod zip;

use std::ops::Range;

pub use blocks::{Block, Blocks};
pub use error::{Reason, TensorError};

use crate::format::{Endian, Format};

/// Dimensions that a tensor can have at most: those of NumPy and PyTorch.
const MAX_DIMENSIONS: usize = 64;

/// In which order the elements of a tensor stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last index counts up first.
    C,
    /// The first index counts up first.
    Fortran,
}

/// What is known of a tensor before an element is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Of each element.
    pub format: Format,
    /// Sizes of the dimensions, the outermost first. Empty for a single number.
    pub shape: Vec<u64>,
    /// Order of the elements in the file.
    pub order: Order,
    /// Order of the bytes of each element.
    pub endian: Endian,
    /// Whether elements of less than a byte stand bit after bit, the first one in the lowest bits: two of FP4 in a byte, four
    /// of FP6 in three. Else each has a byte of its own.
    pub is_packed: bool,
    /// Where the elements are: in the file, or in the member when a member of an archive is compressed.
    pub data: Range<u64>,
}

impl Head {
    /// The number of elements.
    #[must_use]
    pub fn elements(&self) -> u64 {
        // The head was checked when it was made.
        self.shape.iter().product()
    }
}

/// A tensor of a file.
#[derive(Clone, Debug)]
pub struct Tensor<'a> {
    /// Its name in the file. `None` where there is only one without a name.
    pub name: Option<String>,
    /// What is known of it.
    pub head: Head,
    source: Source<'a>,
}

/// Where the bytes of elements come from.
#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    /// The elements and nothing else.
    Stored(&'a [u8]),
    /// A compressed member of an archive; the elements begin at `head.data` of what it unpacks to.
    Deflated { bytes: &'a [u8], checksum: u32 },
}

/// What a file holds.
#[derive(Clone, Debug)]
pub struct Contents<'a> {
    /// What kind of file it is.
    pub kind: Kind,
    /// The tensors that can be read, in the order of the file.
    pub tensors: Vec<Tensor<'a>>,
    /// Names of those that cannot, with the reasons.
    pub unreadable: Vec<(String, TensorError)>,
}

/// Kinds of files with tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One array of NumPy.
    Npy,
    /// An archive of arrays of NumPy.
    Npz,
    /// Tensors behind a head in JSON.
    Safetensors,
    /// What `torch.save` writes since PyTorch 1.6.
    Pt,
}

/// Reads the heads of all tensors of a file. Elements of NumPy arrays that say nothing but their size, as those of ml_dtypes do,
/// are taken as `elements`; and so are elements of other formats of the same size.
///
/// # Errors
///
/// The input is no such file, or it is damaged where its tensors are listed.
pub fn read(bytes: &[u8], elements: Option<Format>) -> Result<Contents<'_>, TensorError> {
    if bytes.starts_with(npy::MAGIC) {
        let tensor = npy::read(bytes, elements)?;
        return Ok(Contents {
            kind: Kind::Npy,
            tensors: vec![tensor],
            unreadable: Vec::new(),
        });
    }
    if zip::is_archive(bytes) {
        let members = zip::members(bytes)?;
        return if pt::is_saved(&members) {
            pt::read(bytes, &members, elements)
        } else {
            Ok(npy::read_archive(bytes, &members, elements))
        };
    }
    if safetensors::is_one(bytes) {
        return safetensors::read(bytes, elements);
    }
    Err(TensorError::new(0, unknown(bytes)))
}

fn unknown(bytes: &[u8]) -> Reason {
    if bytes.is_empty() {
        Reason::Empty
    } else if bytes.starts_with(&[0x80, 2, 0x8a, 10]) {
        Reason::OldPickle
    } else if bytes.starts_with(&[0x80]) {
        Reason::BarePickle
    } else {
        Reason::UnknownKind
    }
}

impl<'a> Tensor<'a> {
    /// A tensor of bytes without a head, in C order, each element in whole bytes.
    ///
    /// # Errors
    ///
    /// The bytes are not as many as format and shape need.
    pub fn raw(
        bytes: &'a [u8],
        format: Format,
        endian: Endian,
        shape: &[u64],
    ) -> Result<Self, TensorError> {
        let head = Head {
            format,
            shape: shape.to_vec(),
            order: Order::C,
            endian,
            is_packed: false,
            data: 0..bytes.len() as u64,
        };
        let need = need(&head, 0)?;
        if need != bytes.len() as u64 {
            return Err(TensorError::new(
                need.min(bytes.len() as u64),
                Reason::SizeDiffers {
                    need,
                    have: bytes.len() as u64,
                },
            ));
        }
        Ok(Self {
            name: None,
            head,
            source: Source::Stored(bytes),
        })
    }

    /// The bytes of all elements in C order, each in whole bytes, where they stand like this in the input. Else `None`:
    /// [`Tensor::blocks`] reads every tensor.
    #[must_use]
    pub fn bytes(&self) -> Option<&'a [u8]> {
        match self.source {
            Source::Stored(bytes)
                if !self.head.is_packed && (self.head.order == Order::C || self.is_flat()) =>
            {
                Some(bytes)
            }
            _ => None,
        }
    }

    /// The elements in C order, in blocks of at most so many elements.
    ///
    /// # Errors
    ///
    /// As for [`Tensor::blocks_of`].
    pub fn blocks(&self, block: usize) -> Result<Blocks<'a>, TensorError> {
        self.blocks_of(0..self.head.elements(), block)
    }

    /// Some of the elements in C order, in blocks of at most so many elements. Several threads may each read a part.
    ///
    /// Memory is that of a block, and none where the elements stand in C order in the input. Elements in Fortran order are
    /// picked from where they are, one by one. Of a compressed tensor everything before the part is unpacked and thrown away.
    ///
    /// # Errors
    ///
    /// A compressed tensor in Fortran order cannot be read like this: unpack it first, with [`Tensor::unpack`].
    pub fn blocks_of(&self, part: Range<u64>, block: usize) -> Result<Blocks<'a>, TensorError> {
        Blocks::new(self, part, block)
    }

    /// The bytes of the elements of a compressed tensor, in the order of the file, at most `limit` of them. For others `None`.
    /// [`Tensor::with_bytes`] makes a tensor of them.
    ///
    /// # Errors
    ///
    /// They are more than the limit, or fewer than the head says.
    pub fn unpack(&self, limit: u64) -> Result<Option<Vec<u8>>, TensorError> {
        let Source::Deflated { bytes, checksum } = self.source else {
            return Ok(None);
        };
        zip::inflate(bytes, checksum, &self.head.data, limit).map(Some)
    }

    /// This tensor with its elements in other bytes, as [`Tensor::unpack`] gives them.
    ///
    /// # Errors
    ///
    /// They are not as many as this tensor has.
    pub fn with_bytes<'b>(&self, bytes: &'b [u8]) -> Result<Tensor<'b>, TensorError> {
        let need = self.head.data.end - self.head.data.start;
        let have = bytes.len() as u64;
        if need != have {
            return Err(TensorError::new(
                need.min(have),
                Reason::SizeDiffers { need, have },
            ));
        }
        Ok(Tensor {
            name: self.name.clone(),
            head: Head {
                data: 0..have,
                ..self.head.clone()
            },
            source: Source::Stored(bytes),
        })
    }

    /// Whether both orders are the same, because at most one dimension is longer than 1.
    fn is_flat(&self) -> bool {
        self.head.shape.iter().filter(|&&size| size > 1).count() <= 1
    }
}

/// Bytes that the elements take. `at` is where the shape stands, for the error.
fn need(head: &Head, at: u64) -> Result<u64, TensorError> {
    if head.shape.len() > MAX_DIMENSIONS {
        return Err(TensorError::new(
            at,
            Reason::TooManyDimensions(head.shape.len()),
        ));
    }
    let too_large = || TensorError::new(at, Reason::TooLarge(head.shape.clone()));
    // Zeros do not hide an overflow of the other sizes, which strides are made of.
    let strides = head
        .shape
        .iter()
        .filter(|&&size| size > 0)
        .try_fold(1_u64, |product, &size| product.checked_mul(size))
        .and_then(|product| product.checked_mul(u64::from(head.format.size_bits())))
        .ok_or_else(too_large)?;
    if head.shape.contains(&0) {
        return Ok(0);
    }
    Ok(if head.is_packed {
        strides.div_ceil(8)
    } else {
        head.elements() * head.format.size_bytes() as u64
    })
}

/// The format that is asked for in place of the one that is said, which has the same size or only that.
fn instead(
    said: Option<Format>,
    size: u64,
    wanted: Option<Format>,
    at: u64,
) -> Result<Format, TensorError> {
    match (said, wanted) {
        (_, Some(wanted)) if wanted.size_bytes() as u64 == size => Ok(wanted),
        (_, Some(wanted)) => Err(TensorError::new(at, Reason::OtherSize { wanted, size })),
        (Some(said), None) => Ok(said),
        (None, None) => Err(TensorError::new(at, Reason::OnlySize(size))),
    }
}

#[cfg(test)]
mod tests;
