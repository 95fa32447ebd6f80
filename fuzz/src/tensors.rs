//! What the fuzz targets for tensors do with their input. The replay in `crates/ridge-numerics/tests/files.rs` includes this
//! file too.

use ridge_numerics::format::Format;
use ridge_numerics::tensor::{Contents, Kind, Tensor, read};

/// Elements that are read of a tensor: a compressed one may say that it has very many.
const MOST: u64 = 1 << 12;

/// One array of NumPy; its version and magic bytes come with the input or are put before it.
pub fn npy(input: &[u8]) {
    tensors(input);
    let head = (input.len().min(usize::from(u16::MAX)) as u16).to_le_bytes();
    tensors(&[b"\x93NUMPY\x01\x00", &head[..], input].concat());
}

/// An archive, and an archive with the input as its one array.
pub fn npz(input: &[u8]) {
    tensors(input);
    tensors(&archive(&[("a.npy", input)]));
}

/// A file of safetensors, and one with the input as its head.
pub fn safetensors(input: &[u8]) {
    tensors(input);
    let length = (input.len() as u64).to_le_bytes();
    tensors(&[&length[..], input, &[1, 2, 3, 4, 5, 6, 7, 8]].concat());
}

/// A pickle of PyTorch beside a storage of 64 bytes.
pub fn pt(input: &[u8]) {
    let storage: Vec<u8> = (0..64).collect();
    tensors(&archive(&[("a/data.pkl", input), ("a/data/0", &storage)]));
}

/// Whatever is said of tensors agrees with the input, and all that is said to be there can be read.
fn tensors(input: &[u8]) {
    for elements in [None, Some(Format::Bf16)] {
        let contents = match read(input, elements) {
            Ok(contents) => contents,
            Err(error) => {
                assert!(error.reason.code().starts_with("NUM0"));
                assert!(!error.to_string().is_empty());
                return;
            }
        };
        let names: usize = contents.unreadable.iter().map(|(name, _)| name.len()).sum();
        assert!(names <= 16 * input.len() + 1024);
        for tensor in &contents.tensors {
            check(input, &contents, tensor);
        }
    }
}

fn check(input: &[u8], contents: &Contents<'_>, tensor: &Tensor<'_>) {
    let head = &tensor.head;
    let size = head.data.end - head.data.start;
    if head.is_packed {
        let bits = head.elements() * u64::from(head.format.size_bits());
        assert_eq!(size, bits.div_ceil(8));
    } else {
        assert_eq!(size, head.elements() * head.format.size_bytes() as u64);
    }
    if let Some(bytes) = tensor.bytes() {
        assert!(head.data.end <= input.len() as u64);
        assert_eq!(bytes.len() as u64, size);
    }
    // From the front, and the last few.
    let last = head.elements().saturating_sub(3)..head.elements();
    let is_long = head.elements() > MOST;
    for part in [0..head.elements().min(MOST), last] {
        // What comes before is unpacked, too.
        if is_long && part.start > 0 && tensor.bytes().is_none() {
            continue;
        }
        let want = part.end - part.start;
        let mut blocks = match tensor.blocks_of(part, 100) {
            Ok(blocks) => blocks,
            Err(_) => {
                // Only compressed ones cannot be read.
                assert_eq!(contents.kind, Kind::Npz);
                continue;
            }
        };
        let mut have = 0;
        let mut values = [0.0; 200];
        let is_whole = loop {
            match blocks.next_block() {
                Ok(Some(block)) => {
                    let count = block.decode(&mut values);
                    assert_eq!(count, block.elements() * head.format.parts());
                    have += block.elements() as u64;
                }
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        assert!(have == want || (!is_whole && contents.kind == Kind::Npz));
    }
}

/// An archive with these members, stored.
pub fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for (name, content) in members {
        let place = (bytes.len() as u32).to_le_bytes();
        let size = (content.len() as u32).to_le_bytes();
        let length = (name.len() as u16).to_le_bytes();
        // Version 2.0, no flags, stored; neither time nor checksum.
        let mut head = vec![20, 0];
        head.extend_from_slice(&[0; 12]);
        head.extend_from_slice(&[size, size].concat());
        head.extend_from_slice(&[length, [0; 2]].concat());
        bytes.extend_from_slice(&[b"PK\x03\x04", &head[..], name.as_bytes(), content].concat());
        directory.extend_from_slice(&[b"PK\x01\x02\x14\x00", &head[..], &[0; 10], &place].concat());
        directory.extend_from_slice(name.as_bytes());
    }
    let start = (bytes.len() as u32).to_le_bytes();
    let size = (directory.len() as u32).to_le_bytes();
    let count = (members.len() as u16).to_le_bytes();
    bytes.extend_from_slice(&directory);
    bytes.extend_from_slice(&[&b"PK\x05\x06\0\0\0\0"[..], &count, &count].concat());
    bytes.extend_from_slice(&[&size[..], &start, &[0, 0]].concat());
    bytes
}
