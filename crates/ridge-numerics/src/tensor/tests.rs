use super::*;

/// A file of NumPy's first version.
fn npy(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = [MAGIC_1, &(dictionary.len() as u16).to_le_bytes()].concat();
    bytes.extend_from_slice(dictionary.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

const MAGIC_1: &[u8] = b"\x93NUMPY\x01\x00";

/// All values, in blocks of `block` elements.
fn values(tensor: &Tensor<'_>, block: usize) -> Vec<f64> {
    let mut values = Vec::new();
    let mut blocks = tensor.blocks(block).unwrap();
    let mut out = vec![0.0; 2 * block];
    while let Some(block) = blocks.next_block().unwrap() {
        assert_eq!(block.first as usize * block.format.parts(), values.len());
        let count = block.decode(&mut out);
        values.extend_from_slice(&out[..count]);
    }
    values
}

#[test]
fn both_orders_of_elements_and_bytes_are_read() {
    // 3 rows, 2 columns, and 2 numbers in each: numbered in C order.
    let fortran: Vec<u8> = (0..2_u16)
        .flat_map(|c| (0..2).flat_map(move |b| (0..3).map(move |a| a * 4 + b * 2 + c)))
        .flat_map(u16::to_be_bytes)
        .collect();
    let file = npy(
        "{'descr': '>u2', 'fortran_order': True, 'shape': (3, 2, 2), }",
        &fortran,
    );
    let tensor = read(&file, None).unwrap().tensors.remove(0);
    assert_eq!(
        (tensor.head.order, tensor.head.endian),
        (Order::Fortran, Endian::Big)
    );
    assert!(tensor.bytes().is_none());
    let expected: Vec<f64> = (0..12).map(f64::from).collect();
    for block in 1..14 {
        assert_eq!(values(&tensor, block), expected, "{block}");
    }
    // A part of it.
    let mut blocks = tensor.blocks_of(5..7, 100).unwrap();
    let block = blocks.next_block().unwrap().unwrap();
    assert_eq!((block.first, block.bytes), (5, &[0, 5, 0, 6][..]));
    assert!(blocks.next_block().unwrap().is_none());
    assert!(
        tensor
            .blocks_of(12..99, 1)
            .unwrap()
            .next_block()
            .unwrap()
            .is_none()
    );
    // In one dimension both orders are the same.
    let file = npy(
        "{'descr': '|i1', 'fortran_order': True, 'shape': (1, 2), }",
        &[1, 0xff],
    );
    let tensor = read(&file, None).unwrap().tensors.remove(0);
    assert_eq!(tensor.bytes(), Some(&[1, 0xff][..]));
    assert_eq!(values(&tensor, 9), [1.0, -1.0]);
}

#[test]
fn empty_and_single_elements_are_tensors_too() {
    let file = npy(
        "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 3), }",
        &[],
    );
    let tensor = read(&file, None).unwrap().tensors.remove(0);
    assert_eq!(tensor.head.elements(), 0);
    assert!(values(&tensor, 4).is_empty());
    let file = npy(
        "{'descr': '<c8', 'fortran_order': False, 'shape': (), }",
        &[0, 0, 128, 63, 0, 0, 0, 64],
    );
    let tensor = read(&file, None).unwrap().tensors.remove(0);
    assert_eq!(tensor.head.elements(), 1);
    assert_eq!(values(&tensor, 4), [1.0, 2.0]);
}

#[test]
fn elements_that_say_only_their_size_need_a_format() {
    let file = npy(
        "{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }",
        &[0x80, 0x3f],
    );
    let error = read(&file, None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "elements of 2 bytes of which the file does not say the format (byte 20)"
    );
    assert!(error.reason.hint().unwrap().contains("bf16"));
    let contents = read(&file, Some(Format::Bf16)).unwrap();
    assert_eq!(values(&contents.tensors[0], 1), [1.0]);
    let error = read(&file, Some(Format::F32)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "elements have 2 bytes, and f32 has 4 (byte 20)"
    );
}

#[test]
fn damaged_arrays_are_refused_with_their_place() {
    let cases: [(Vec<u8>, u64, &str); 9] = [
        (vec![], 0, "NUM0001"),
        (b"hello".to_vec(), 0, "NUM0002"),
        (MAGIC_1[..7].to_vec(), 6, "NUM0005"),
        (b"\x93NUMPY\x04\x00".to_vec(), 6, "NUM0009"),
        (
            b"\x93NUMPY\x03\x00\xff\xff\xff\xff{}".to_vec(),
            12,
            "NUM0005",
        ),
        (
            npy(
                "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
                &[0; 8],
            ),
            20,
            "NUM0011",
        ),
        (
            npy(
                "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
                &[0; 8],
            ),
            67,
            "NUM0005",
        ),
        (
            npy(
                "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
                &[0; 8],
            ),
            71,
            "NUM0006",
        ),
        (
            npy(
                "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296), }",
                &[],
            ),
            60,
            "NUM0015",
        ),
    ];
    for (bytes, at, code) in cases {
        let error = read(&bytes, None).unwrap_err();
        assert_eq!((error.at, error.reason.code()), (at, code), "{error}");
    }
}

fn safetensors(head: &str, data: &[u8]) -> Vec<u8> {
    [&(head.len() as u64).to_le_bytes(), head.as_bytes(), data].concat()
}

#[test]
fn safetensors_are_read_with_packed_elements() {
    // Two of FP4 in a byte, four of FP6 in three, the first one in the lowest bits.
    let six = 1_u32 | 2 << 6 | 3 << 12 | 0x3f << 18;
    let file = safetensors(
        r#"{"__metadata__":{"a":"b"},"four":{"dtype":"F4","shape":[3],"data_offsets":[0,2]},"six":{"dtype":"F6_E2M3","shape":[2,2],"data_offsets":[2,5],"more":1},"odd":{"dtype":"X9","shape":[1],"data_offsets":[5,6]}}  "#,
        &[&[0x21, 0x0f], &six.to_le_bytes()[..3], &[0]].concat(),
    );
    let contents = read(&file, None).unwrap();
    assert_eq!(contents.kind, Kind::Safetensors);
    for block in 1..5 {
        assert_eq!(values(&contents.tensors[0], block), [0.5, 1.0, -6.0]);
        assert_eq!(
            values(&contents.tensors[1], block),
            [0.125, 0.25, 0.375, -7.5]
        );
    }
    assert_eq!(contents.tensors[1].name.as_deref(), Some("six"));
    let (name, error) = &contents.unreadable[0];
    assert_eq!((name.as_str(), error.reason.code()), ("odd", "NUM0011"));
}

#[test]
fn heads_of_safetensors_that_contradict_themselves_are_refused() {
    let entry = |name: &str, from: u64, to: u64| {
        format!(
            r#""{name}":{{"dtype":"U8","shape":[{}],"data_offsets":[{from},{to}]}}"#,
            to.saturating_sub(from)
        )
    };
    let cases = [
        (vec![entry("a", 0, 2), entry("a", 2, 4)], "NUM0016"),
        (vec![entry("a", 0, 3), entry("b", 2, 4)], "NUM0017"),
        (vec![entry("a", 0, 1), entry("b", 2, 4)], "NUM0018"),
        (vec![entry("a", 0, 3)], "NUM0006"),
        (vec![entry("a", 0, 5)], "NUM0005"),
        (vec![entry("a", 4, 3)], "NUM0008"),
        (vec![entry("a", u64::MAX - 1, u64::MAX)], "NUM0005"),
        (vec![r#""a":{"dtype":"U8"}"#.to_owned()], "NUM0008"),
        (vec!["[".to_owned()], "NUM0008"),
    ];
    for (entries, code) in cases {
        let file = safetensors(&format!("{{{}}}", entries.join(",")), &[0; 4]);
        let error = read(&file, None).unwrap_err();
        assert_eq!(error.reason.code(), code, "{entries:?}: {error}");
        assert!(
            error.at <= file.len() as u64 || code == "NUM0005",
            "{error}"
        );
    }
    let file = safetensors(
        r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}"#,
        &[0; 4],
    );
    assert_eq!(
        read(&file, None).unwrap().unreadable[0].1.reason.code(),
        "NUM0007"
    );
    let error = read(b"\xff\xff\xff\xff\xff\xff\xff\xff{", None).unwrap_err();
    assert_eq!(error.reason.code(), "NUM0008");
}

#[test]
fn bytes_without_a_head_need_the_right_number() {
    assert!(Tensor::raw(&[0; 7], Format::F32, Endian::Little, &[2]).is_err());
    let tensor = Tensor::raw(&[0x3c, 0x00, 0xc0, 0x00], Format::F16, Endian::Big, &[2]).unwrap();
    assert_eq!(values(&tensor, 1), [1.0, -2.0]);
}
