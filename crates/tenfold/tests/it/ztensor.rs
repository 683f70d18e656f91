//! What a rewrite of zTensor 0.1 keeps, and what it does not.

use tenfold::{
    Aspect, Bundle, Bytes, Dim, Endian, Error, Loss, Number, Numbers, Order, ReadOptions, Storage,
    Tensor, Tier, WriteOptions,
};

use crate::meaning::meanings;
use crate::support::{finish, read};

/// A file of one tensor whose blob stands at 64; `fields` is the CBOR of the fields of its map.
fn file(blob: &[u8], fields: &[u8]) -> Vec<u8> {
    let mut file = b"ZTEN0001".to_vec();
    file.resize(64, 0);
    file.extend(blob);
    let mut index = vec![0x81, 0xbf];
    index.extend(fields);
    index.push(0xff);
    file.extend(&index);
    file.extend((index.len() as u64).to_le_bytes());
    file
}

fn text(text: &str) -> Vec<u8> {
    let head = match text.len() {
        len @ 0..24 => vec![0x60 + len as u8],
        len => vec![0x78, len as u8],
    };
    [head, text.as_bytes().to_vec()].concat()
}

/// The fields of a tensor of `sizes`, in the order of the reference.
fn fields(size: u8, dtype: &str, layout: &str, sizes: &[u8], others: &[(&str, &str)]) -> Vec<u8> {
    let mut all = [text("name"), text("t"), text("offset"), vec![0x18, 64]].concat();
    let size = if size < 24 {
        vec![size]
    } else {
        vec![0x18, size]
    };
    all.extend([text("size"), size].concat());
    all.extend([text("dtype"), text(dtype), text("layout"), text(layout)].concat());
    all.extend(
        [
            text("shape"),
            vec![0x80 + sizes.len() as u8],
            sizes.to_vec(),
        ]
        .concat(),
    );
    for (name, value) in others {
        all.extend([text(name), text(value)].concat());
    }
    all
}

fn opened(bytes: &[u8]) -> Bundle {
    read("ztensor", bytes, &ReadOptions::default())
        .unwrap()
        .bundle
}

fn written(bundle: &Bundle, options: &[(&str, &str)]) -> Result<(Vec<u8>, Vec<Loss>), Error> {
    let mut how = WriteOptions::default();
    for (name, value) in options {
        how.options.set(*name, *value);
    }
    let mut out = crate::files::sink();
    let format = tenfold::by_name("ztensor").unwrap();
    let said = tenfold::write_to(bundle, &mut out, format, &how)?;
    Ok((finish(out)?, said))
}

fn rewritten(bytes: &[u8], options: &[(&str, &str)]) -> Vec<u8> {
    written(&opened(bytes), options).unwrap().0
}

/// Two f32 in a file that is big-endian.
fn big() -> Vec<u8> {
    let others = [("encoding", "raw"), ("data_endianness", "big")];
    file(
        &[0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0],
        &fields(8, "float32", "dense", &[2], &others),
    )
}

#[test]
fn a_big_endian_file_stays_big_endian_unless_little_is_asked_for() {
    assert_eq!(rewritten(&big(), &[]), big());
    let little = rewritten(&big(), &[("endian", "little")]);
    assert_eq!(little[64..72], [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]);
    assert_eq!(meanings(&opened(&little)), meanings(&opened(&big())));
    assert_eq!(rewritten(&little, &[]), little);
    assert_eq!(rewritten(&little, &[("endian", "big")]), big());
}

#[test]
fn big_endian_values_of_another_format_are_written_little_endian() {
    let values = Numbers {
        number: Number::F32,
        endian: Endian::Big,
        bytes: Bytes::memory(vec![0x3f, 0x80, 0, 0]),
    };
    let storage = Storage::Dense {
        order: Order::Row,
        values,
    };
    let dims = vec![Dim::indexed(1)];
    let tensor = Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap();
    for format in ["ztensor", "npy", "npz"] {
        let mut out = crate::files::sink();
        let how = WriteOptions::default();
        let target = tenfold::by_name(format).unwrap();
        tenfold::write_to(&Bundle::of(tensor.clone()), &mut out, target, &how).unwrap();
        let bytes = finish(out).unwrap();
        let holds = |wanted: [u8; 4]| bytes.windows(4).any(|window| window == wanted);
        assert!(
            holds([0, 0, 0x80, 0x3f]) && !holds([0x3f, 0x80, 0, 0]),
            "{format}"
        );
    }
}

#[test]
fn the_sparse_layouts_of_its_own_writer_are_rewritten_byte_for_byte() {
    // Records of two coordinates and a value.
    let mut records = Vec::new();
    for (row, column, value) in [(0_u64, 1_u64, 5_f32), (1, 0, -7.0)] {
        records.extend(row.to_le_bytes());
        records.extend(column.to_le_bytes());
        records.extend(value.to_le_bytes());
    }
    let others = [("encoding", "raw"), ("data_endianness", "little")];
    let fields = fields(40, "float32", "sparsecoo", &[2, 2], &others);
    let file = file(&records, &fields);
    assert_eq!(opened(&file).only().unwrap().stored(), 2);
    assert_eq!(rewritten(&file, &[]), file);
}

#[test]
fn a_sparse_tensor_is_written_dense_and_comes_back_sparse() {
    let storage = Storage::Sparse {
        order: Order::Row,
        address: tenfold::Address::Linear(Numbers::from_vec(&[1_u64, 5])),
        values: Numbers::from_vec(&[2.5_f32, -0.0]),
    };
    let dims = vec![Dim::indexed(2), Dim::indexed(3)];
    let tensor = Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap();
    let bundle = Bundle::of(tensor);
    let (bytes, said) = written(&bundle, &[]).unwrap();
    assert!(
        said.iter().all(|loss| loss.tier == Tier::Carried),
        "{said:?}"
    );
    let mut values = Vec::new();
    for value in [0_f32, 2.5, 0.0, 0.0, 0.0, -0.0] {
        values.extend(value.to_le_bytes());
    }
    assert_eq!(bytes[64..88], values);
    assert_eq!(meanings(&opened(&bytes)), meanings(&bundle));
}

#[test]
fn explicit_zeros_are_reported_where_they_cannot_be_told_from_absent_cells() {
    let storage = Storage::Sparse {
        order: Order::Row,
        address: tenfold::Address::Linear(Numbers::from_vec(&[1_u64, 5])),
        values: Numbers::from_vec(&[2.5_f32, 0.0]),
    };
    let dims = vec![Dim::indexed(2), Dim::indexed(3)];
    let tensor = Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap();
    let (_, said) = written(&Bundle::of(tensor), &[]).unwrap();
    let is_sparsity = |loss: &&Loss| loss.aspect == Aspect::Sparsity;
    assert_eq!(said.iter().find(is_sparsity).unwrap().tier, Tier::Said);
}

#[test]
fn sparse_cells_that_are_too_many_dense_are_refused_by_the_version_that_keeps_them() {
    let storage = Storage::Sparse {
        order: Order::Row,
        address: tenfold::Address::Linear(Numbers::from_vec(&[1_u64])),
        values: Numbers::from_vec(&[2.5_f32]),
    };
    let dims = vec![Dim::indexed(1 << 20), Dim::indexed(1 << 20)];
    let tensor = Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap();
    let error = written(&Bundle::of(tensor), &[]).unwrap_err().to_string();
    let way = error.find("--to ztensor@2 keeps the cells");
    assert!(
        way.is_some() && way < error.find("--allow sparsity"),
        "{error}"
    );
}

#[test]
fn what_is_not_known_is_opaque_and_rewritten_byte_for_byte() {
    for (dtype, layout, encoding) in [
        ("float8_e4m3", "dense", "raw"),
        ("float8_e4m3", "dense", "zstd"),
        ("float32", "blocked", "raw"),
        ("float32", "dense", "lz4"),
        ("int4", "packed", "brotli"),
    ] {
        let others = [
            ("encoding", encoding),
            ("data_endianness", "big"),
            ("mine", "x"),
        ];
        let file = file(b"abcde", &fields(5, dtype, layout, &[2, 2], &others));
        let bundle = opened(&file);
        let tensor = bundle.only().unwrap();
        assert!(
            matches!(tensor.storage(), Storage::Opaque { .. }),
            "{dtype} {layout}"
        );
        assert_eq!(tensor.sizes().unwrap(), [2, 2]);
        assert_eq!(rewritten(&file, &[]), file, "{dtype} {layout} {encoding}");
        // Another format would not know what it is.
        let mut out = crate::files::sink();
        let npz = tenfold::by_name("npz").unwrap();
        let how = WriteOptions::default();
        let error = tenfold::write_to(&bundle, &mut out, npz, &how).unwrap_err();
        assert!(error.to_string().contains("--allow opaque"), "{error}");
    }
}

/// Two f32 with a checksum.
fn summed(checksum: &str) -> Vec<u8> {
    let others = [
        ("encoding", "raw"),
        ("data_endianness", "little"),
        ("checksum", checksum),
    ];
    file(
        &[0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0],
        &fields(8, "float32", "dense", &[2], &others),
    )
}

#[test]
fn a_checksum_of_an_unknown_kind_stays_with_the_same_bytes() {
    for checksum in ["md5:00112233", "CRC32C:0x00000000", "crc32c:00000000"] {
        assert_eq!(rewritten(&summed(checksum), &[]), summed(checksum));
    }
}

#[test]
fn a_checksum_of_an_unknown_kind_is_dropped_and_reported_where_the_bytes_change() {
    let bundle = opened(&summed("md5:00112233"));
    let mut cast = bundle.clone();
    for (_, tensor) in cast.entries_mut() {
        let limits = tenfold::Limits::default();
        *tensor = tensor
            .cast(Number::F64, tenfold::Overflow::Fails, &limits)
            .unwrap();
    }
    let others: [(&Bundle, &[(&str, &str)]); 3] = [
        (&cast, &[]),
        (&bundle, &[("endian", "big")]),
        (&bundle, &[("compress", "zstd")]),
    ];
    for (bundle, options) in others {
        let (bytes, said) = written(bundle, options).unwrap();
        let details: Vec<&str> = said.iter().map(|loss| loss.detail.as_str()).collect();
        assert!(
            details.iter().any(|detail| detail.contains("md5:00112233")),
            "{details:?}"
        );
        assert!(
            !bytes.windows(3).any(|window| window == b"md5"),
            "{options:?}"
        );
    }
    // One that is asked for takes its place.
    let (bytes, said) = written(&bundle, &[("checksum", "crc32c")]).unwrap();
    assert!(said.is_empty(), "{said:?}");
    assert!(bytes.windows(9).any(|window| window == b"crc32c:0x"));
}

#[test]
fn a_checksum_of_a_known_kind_has_all_its_digits() {
    for checksum in ["sha256:12", "sha256:", "crc32c:0x1", "crc32c:0x0000000g"] {
        let error = read("ztensor", &summed(checksum), &ReadOptions::default());
        let error = error.err().unwrap().to_string();
        assert!(
            error.contains(checksum) && error.contains("hexadecimal digits"),
            "{error}"
        );
    }
}

/// A file of version 2 that spells its digest so, in as many bytes as `md5:00`.
fn of_version_2(digest: &str) -> Vec<u8> {
    let mut bytes = std::fs::read("../../corpus/ztensor/good/v2_digest_unknown.zt").unwrap();
    let at = { bytes.windows(6) }.position(|part| part == b"md5:00");
    let at = at.unwrap();
    bytes[at..at + 6].copy_from_slice(digest.as_bytes());
    // The last 40 bytes say where the description is, and its hash.
    let footer = bytes.len() - 40;
    let field = |place: usize| {
        let field = bytes[footer + place..footer + place + 8].try_into();
        usize::try_from(u64::from_le_bytes(field.unwrap())).unwrap()
    };
    let (offset, len) = (field(0), field(8));
    let hash = xxhash_rust::xxh3::xxh3_64(&bytes[offset..offset + len]);
    bytes[footer + 16..footer + 24].copy_from_slice(&hash.to_le_bytes());
    bytes
}

#[test]
fn a_digest_of_version_2_in_another_spelling_stays_with_its_bytes_alone() {
    for digest in ["md5:00", "XXH3:0", "Sha256", "xxh:00", "crc32c"] {
        let bytes = of_version_2(digest);
        if !digest.contains(':') {
            // What names no algorithm is no checksum at all.
            assert!(read("ztensor", &bytes, &ReadOptions::default()).is_err());
            continue;
        }
        assert_eq!(rewritten(&bytes, &[]), bytes, "{digest}");
        let bundle = opened(&bytes);
        // Of other bytes it would be no checksum.
        let (bytes, said) = written(&bundle, &[("compress", "zstd")]).unwrap();
        let told = said.iter().any(|loss| loss.detail.contains(digest));
        assert!(told, "{digest}: {said:?}");
        let text = digest.as_bytes();
        assert!(
            !bytes.windows(text.len()).any(|part| part == text),
            "{digest}"
        );
    }
}
