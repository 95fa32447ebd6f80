//! Files that NumPy, safetensors and Python's pickler wrote. `fixtures/numerics/` tells how.

#[path = "../../../fuzz/src/tensors.rs"]
pub mod tensors;

use std::path::Path;

use ridge_numerics::format::{Endian, Format};
use ridge_numerics::tensor::{Contents, Kind, Order, Tensor, read};

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/numerics");
    std::fs::read(folder.join(name)).expect("the fixture is there")
}

fn find<'t, 'a>(contents: &'t Contents<'a>, name: &str) -> &'t Tensor<'a> {
    let mut tensors = contents.tensors.iter();
    tensors
        .find(|tensor| tensor.name.as_deref() == Some(name))
        .unwrap_or_else(|| panic!("no {name}: {:?}", contents.unreadable))
}

fn code(contents: &Contents<'_>, name: &str) -> &'static str {
    let mut unreadable = contents.unreadable.iter();
    let found = unreadable.find(|(unreadable, _)| unreadable == name);
    found.expect("is unreadable").1.reason.code()
}

fn values(tensor: &Tensor<'_>) -> Vec<f64> {
    let mut values = Vec::new();
    let mut out = [0.0; 14];
    let mut blocks = tensor.blocks(7).expect("can be read");
    while let Some(block) = blocks.next_block().expect("is undamaged") {
        assert!(block.elements() <= 7);
        let count = block.decode(&mut out);
        values.extend_from_slice(&out[..count]);
    }
    values
}

/// 0, 1, 2 and so on.
fn counting(to: i32) -> Vec<f64> {
    (0..to).map(f64::from).collect()
}

#[test]
fn arrays_of_numpy() {
    let bytes = fixture("arrays.npz");
    let contents = read(&bytes, None).unwrap();
    assert_eq!(contents.kind, Kind::Npz);
    for name in ["c_f4", "fortran_f8", "big_i2", "version_2", "version_3"] {
        let tensor = find(&contents, name);
        assert_eq!(tensor.head.shape, [2, 3, 4], "{name}");
        assert_eq!(values(tensor), counting(24), "{name}");
        // Where it says that the elements are, they are.
        let range = tensor.head.data.start as usize..tensor.head.data.end as usize;
        let mut first = [0.0; 2];
        tensor
            .head
            .format
            .decode_slice(&bytes[range], tensor.head.endian, &mut first);
        let expected = if tensor.head.order == Order::C {
            1.0
        } else {
            12.0
        };
        assert_eq!(first, [0.0, expected], "{name}");
    }
    assert_eq!(find(&contents, "big_i2").head.endian, Endian::Big);
    assert_eq!(find(&contents, "fortran_f8").head.order, Order::Fortran);
    let booleans = values(find(&contents, "bool"));
    assert_eq!(booleans[..3], [0.0, 1.0, 0.0]);
    assert_eq!(
        values(find(&contents, "complex"))[2..6],
        [1.0, -1.0, 2.0, -2.0]
    );
    assert_eq!(values(find(&contents, "scalar")), [0.5]);
    assert_eq!(find(&contents, "empty").head.shape, [0, 7]);
    assert_eq!(code(&contents, "bf16"), "NUM0012");
    assert_eq!(code(&contents, "records"), "NUM0010");
    assert_eq!(code(&contents, "objects"), "NUM0011");
    assert_eq!(code(&contents, "text"), "NUM0011");
    let contents = read(&bytes, Some(Format::Bf16)).unwrap();
    assert_eq!(values(find(&contents, "bf16")), counting(24));
}

#[test]
fn compressed_arrays_are_unpacked_on_the_way() {
    let mut bytes = fixture("packed.npz");
    let contents = read(&bytes, None).unwrap();
    for name in ["c_f4", "big_i2"] {
        let tensor = find(&contents, name);
        assert!(tensor.bytes().is_none());
        assert_eq!(values(tensor), counting(24), "{name}");
    }
    let tensor = find(&contents, "c_f4");
    let mut blocks = tensor.blocks_of(20..23, 2).unwrap();
    let first = blocks.next_block().unwrap().unwrap();
    assert_eq!(
        (first.first, first.bytes),
        (20, &[0, 0, 160, 65, 0, 0, 168, 65][..])
    );
    // Elements in another order are unpacked as a whole, if there is room.
    let tensor = find(&contents, "fortran_f8");
    assert_eq!(tensor.blocks(7).err().unwrap().reason.code(), "NUM0026");
    assert_eq!(tensor.unpack(191).unwrap_err().reason.code(), "NUM0027");
    let unpacked = tensor.unpack(192).unwrap().unwrap();
    assert_eq!(values(&tensor.with_bytes(&unpacked).unwrap()), counting(24));
    assert!(tensor.with_bytes(&unpacked[1..]).is_err());
    // One bit of the checksum in the directory.
    let directory = bytes
        .windows(4)
        .position(|window| window == b"PK\x01\x02")
        .unwrap();
    bytes[directory + 16] ^= 1;
    let contents = read(&bytes, None).unwrap();
    let mut blocks = contents.tensors[0].blocks(100).unwrap();
    assert_eq!(blocks.next_block().unwrap_err().reason.code(), "NUM0022");
}

#[test]
fn tensors_of_safetensors() {
    let bytes = fixture("tensors.safetensors");
    let contents = read(&bytes, None).unwrap();
    assert_eq!(
        (contents.kind, contents.tensors.len()),
        (Kind::Safetensors, 3)
    );
    assert_eq!(values(find(&contents, "weight")), counting(24));
    assert_eq!(find(&contents, "weight").head.format, Format::Bf16);
    assert_eq!(values(find(&contents, "scale")), [0.5, 2.0]);
    assert_eq!(values(find(&contents, "eight")), [1.5, -448.0]);
}

#[test]
fn tensors_of_pytorch() {
    let bytes = fixture("state.pt");
    let contents = read(&bytes, None).unwrap();
    assert_eq!(contents.kind, Kind::Pt);
    assert_eq!(values(find(&contents, "model.whole")), counting(24));
    let transposed = find(&contents, "model.transposed");
    assert_eq!(
        (transposed.head.order, &transposed.head.shape[..]),
        (Order::Fortran, &[6, 4][..])
    );
    assert_eq!(values(transposed)[..5], [0.0, 6.0, 12.0, 18.0, 1.0]);
    assert_eq!(
        values(find(&contents, "model.part")),
        [20.0, 21.0, 22.0, 23.0]
    );
    assert_eq!(values(find(&contents, "more.0")), [20.0, 21.0, 22.0, 23.0]);
    assert_eq!(values(find(&contents, "model.trained")), [1.0, -2.0, 0.5]);
    assert_eq!(values(find(&contents, "model.eight")), [1.5, -448.0]);
    assert_eq!(code(&contents, "model.strided"), "NUM0025");
    assert_eq!(code(&contents, "model.outside"), "NUM0005");
    assert_eq!(contents.tensors.len() + contents.unreadable.len(), 8);
}

#[test]
fn pickles_do_nothing_but_describe_tensors() {
    for (pickle, at, code) in [
        (
            &b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R."[..],
            21,
            "NUM0024",
        ),
        (b"\x80\x02cbuiltins\neval\n)R.", 18, "NUM0024"),
        (b"\x80\x02ctorch\nSize\n)\x81.", 15, "NUM0024"),
        (b"\x80\x02(", 3, "NUM0005"),
        (b"\x80\x02a.", 2, "NUM0008"),
        (b"\x80\x02X\xff\xff\xff\xffab", 7, "NUM0005"),
        (b"\x80\x02h\x05.", 2, "NUM0008"),
        (b"\x80\x02}K\x01s.", 5, "NUM0008"),
        (b"\x80\x02](h\x00e.", 4, "NUM0008"),
        // A list in itself.
        (b"\x80\x02]q\x00h\x00a.", 0, "NUM0024"),
    ] {
        let bytes = tensors::archive(&[("a/data.pkl", pickle)]);
        let error = read(&bytes, None).unwrap_err();
        assert_eq!((error.at - 40, error.reason.code()), (at, code), "{error}");
    }
    let error = read(b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", None).unwrap_err();
    assert_eq!(error.reason.code(), "NUM0003");
}

/// Lists of lists, each twice in the next: small as a program, endless as a tree.
#[test]
fn shared_containers_do_not_grow() {
    let mut pickle = b"\x80\x02]".to_vec();
    for level in 0..40_u8 {
        pickle.extend_from_slice(&[b'q', level, b']', b'(', b'h', level, b'h', level, b'e']);
    }
    pickle.push(b'.');
    let bytes = tensors::archive(&[("data.pkl", &pickle)]);
    assert_eq!(read(&bytes, None).unwrap_err().reason.code(), "NUM0024");
}

fn replay(target: &str, body: fn(&[u8]), least: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions");
    let mut count = 0;
    for entry in std::fs::read_dir(folder.join(target)).unwrap() {
        damage(&std::fs::read(entry.unwrap().path()).unwrap(), body);
        count += 1;
    }
    assert!(count >= least, "{count} inputs");
}

/// The input, cut off everywhere, and with each byte changed.
fn damage(input: &[u8], body: fn(&[u8])) {
    body(input);
    for place in 0..input.len() {
        body(&input[..place]);
        for change in [0xff, 1 << (place % 8)] {
            let mut damaged = input.to_vec();
            damaged[place] ^= change;
            body(&damaged);
        }
    }
}

#[test]
fn past_arrays_do_no_harm() {
    replay("npy", tensors::npy, 4);
}

#[test]
fn past_archives_do_no_harm() {
    replay("npz", tensors::npz, 3);
    damage(&fixture("packed.npz"), tensors::npz);
    damage(&fixture("arrays.npz"), tensors::npz);
    damage(&fixture("state.pt"), tensors::npz);
}

#[test]
fn past_safetensors_do_no_harm() {
    replay("safetensors", tensors::safetensors, 4);
    damage(&fixture("tensors.safetensors"), tensors::safetensors);
}

#[test]
fn past_pickles_do_no_harm() {
    replay("pt", tensors::pt, 4);
    // The member that is the pickle, and what follows it, which is cut off by the machine's last instruction.
    let bytes = fixture("state.pt");
    damage(&bytes[30 + "state/data.pkl".len()..], tensors::pt);
}
