//! Tensors far larger than the memory they are read, checked and rewritten in.

use std::io::Write;

use tenfold::{
    Address, Algorithm, Bundle, Bytes, Dim, Endian, Key, Limits, Number, Numbers, Order,
    ReadOptions, Source, Storage, Tensor, WriteOptions,
};

use crate::{alone, watched};

pub(crate) const MIB: usize = 1 << 20;

/// What a stream may hold.
const BUDGET: usize = 2 * MIB;

/// A file of `len` bytes that do not compress and never repeat within 4 MiB.
pub(crate) fn file(len: usize) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let block: Vec<u8> = (0..4 * MIB / 8)
        .flat_map(|_| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random.to_le_bytes()
        })
        .collect();
    for _ in 0..len / block.len() {
        file.write_all(&block).unwrap();
    }
    file
}

pub(crate) fn dense(source: &Source, sizes: &[u64], order: Order) -> Tensor {
    let bytes = Bytes::whole(source.clone());
    let values = Numbers {
        number: Number::F64,
        endian: Endian::Little,
        bytes,
    };
    let dims = sizes.iter().copied().map(Dim::indexed).collect();
    Tensor::new(
        dims,
        "f64".parse().unwrap(),
        vec![],
        Storage::Dense { order, values },
    )
    .unwrap()
}

fn save(
    bundle: &Bundle,
    format: &str,
    options: &[(&str, &str)],
) -> (tempfile::TempDir, std::path::PathBuf, usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let mut how = WriteOptions {
        skip_sync: true,
        ..WriteOptions::default()
    };
    options
        .iter()
        .for_each(|(name, value)| how.options.set(*name, *value));
    let format = tenfold::by_name(format).unwrap();
    let (saved, held) = watched(|| tenfold::save(bundle, &path, format, &how, false));
    saved.unwrap();
    (folder, path, held)
}

#[test]
fn a_file_of_100_gigabytes_opens_in_kilobytes() {
    let _alone = alone();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let header = ["TENS".as_bytes(), &0x9000_u32.to_le_bytes(), b"IEEE"].concat();
    file.write_all(&header).unwrap();
    for field in [
        8_u32,
        1,
        2,
        0,
        0,
        1 << 31,
        u32::from(b'a'),
        6,
        u32::from(b'b'),
    ] {
        file.write_all(&field.to_le_bytes()).unwrap();
    }
    // Nothing is stored: the values are a hole.
    file.as_file().set_len(48 + (6 << 31) * 8).unwrap();
    let (opened, held) = watched(|| tenfold::open(file.path()));
    let opened = opened.unwrap();
    let tensor = opened.bundle.only().unwrap();
    assert_eq!(tensor.stored(), 6 << 31);
    assert_eq!(
        tensor
            .cell::<f64>(&[1 << 30, 5], &Limits::default())
            .unwrap(),
        0.0
    );
    assert!(held <= 64 << 10, "{held} bytes held while opening");
}

#[test]
fn a_raw_file_is_written_checked_and_rewritten_piece_by_piece() {
    let _alone = alone();
    let data = file(256 * MIB);
    let source = Source::open(data.path()).unwrap();
    let mut bundle = Bundle::new();
    bundle.push(Key::flat("w"), dense(&source, &[4096, 8192], Order::Row));
    let (_folder, path, held) = save(&bundle, "ztensor", &[("checksum", "crc32c")]);
    assert!(held <= BUDGET, "{held} bytes held while writing");
    let (opened, held) = watched(|| tenfold::open(&path).unwrap());
    assert!(held <= BUDGET, "{held} bytes held while opening");
    let (checked, held) = watched(|| opened.bundle.check(&Limits::default()));
    assert_eq!(checked.unwrap(), []);
    assert!(held <= BUDGET, "{held} bytes held while checking");
    let tensor = opened.bundle.get("w").unwrap();
    let digest = tensor.storage().parts()[0]
        .bytes
        .digest()
        .unwrap()
        .algorithm;
    assert_eq!(digest, Algorithm::Crc32c);
    let (_folder, again, held) = save(&opened.bundle, "ztensor", &[]);
    assert!(held <= BUDGET, "{held} bytes held while rewriting");
    assert_eq!(std::fs::read(path).unwrap(), std::fs::read(again).unwrap());
}

#[test]
fn a_compressed_tensor_is_checked_piece_by_piece() {
    let _alone = alone();
    let data = file(128 * MIB);
    let source = Source::open(data.path()).unwrap();
    let mut bundle = Bundle::new();
    bundle.push(Key::flat("w"), dense(&source, &[2048, 8192], Order::Row));
    let (_folder, path, _) = save(&bundle, "ztensor", &[("compress", "zstd"), ("level", "1")]);
    let opened = tenfold::open(&path).unwrap();
    let (checked, held) = watched(|| opened.bundle.check(&Limits::default()));
    assert_eq!(checked.unwrap(), []);
    assert!(held <= BUDGET, "{held} bytes held while checking");
    let mut len = 0;
    let (streamed, held) = watched(|| {
        let tensor = opened.bundle.get("w").unwrap();
        tensor.for_each(MIB / 4, &Limits::default(), &mut |piece| {
            len += piece.len();
            Ok(())
        })
    });
    streamed.unwrap();
    assert_eq!(len, 128 * MIB);
    assert!(held <= BUDGET, "{held} bytes held while streaming");
}

#[test]
fn pairs_in_any_order_are_checked_and_sorted_in_passes() {
    let _alone = alone();
    // Eight million pairs, from the last to the first.
    let count = 8_u64 << 20;
    let mut pairs = tempfile::NamedTempFile::new().unwrap();
    {
        let mut out = std::io::BufWriter::new(&mut pairs);
        let header = [
            "TENS".as_bytes(),
            &0x10000_u32.to_le_bytes(),
            b"sint",
            &4_u32.to_le_bytes(),
        ];
        header
            .iter()
            .for_each(|field| out.write_all(field).unwrap());
        for field in [1_u32, 1, 1, 0, u32::MAX, u32::from(b'a')] {
            out.write_all(&field.to_le_bytes()).unwrap();
        }
        out.write_all(&count.to_le_bytes()).unwrap();
        for index in (0..count).rev() {
            out.write_all(&(index * 500).to_le_bytes()).unwrap();
            out.write_all(&7_i32.to_le_bytes()).unwrap();
        }
    }
    let source = Source::open(pairs.path()).unwrap();
    let format = tenfold::by_name("tens").unwrap();
    let opened = tenfold::read(&source, format, &ReadOptions::default()).unwrap();
    let (checked, held) = watched(|| opened.bundle.check(&Limits::default()));
    assert_eq!(checked.unwrap(), []);
    assert!(held <= 40 * MIB, "{held} bytes held while checking");
    let (_folder, path, held) = save(&opened.bundle, "tens", &[]);
    assert!(held <= 70 * MIB, "{held} bytes held while sorting");
    let sorted = tenfold::open(path).unwrap();
    let tensor = sorted.bundle.only().unwrap();
    let Storage::Sparse {
        address: Address::Linear(indices),
        ..
    } = tensor.storage()
    else {
        panic!("not sparse")
    };
    let indices = indices.to_vec::<u64>().unwrap();
    assert!(
        indices
            .iter()
            .zip(0..)
            .all(|(index, place)| *index == place * 500)
    );
    assert_eq!(indices.len() as u64, count);
}
