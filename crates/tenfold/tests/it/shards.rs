//! Files of zTensor 2 whose bytes are in other files.

use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};
use tenfold::{
    Bundle, Dim, Key, Limits, Numbers, Opened, Order, ReadOptions, Sink, Source, Storage, Tensor,
    WriteOptions,
};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8] = b"\x89ZT2\r\n\x1a\n";

fn text(word: &str) -> Vec<u8> {
    let len = u8::try_from(word.len()).unwrap();
    match len {
        0..24 => [&[0x60 + len], word.as_bytes()].concat(),
        _ => [&[0x78, len], word.as_bytes()].concat(),
    }
}

/// A magic, something at 4096, and the footer that speaks of `described` bytes of it.
fn file(body: &[u8], described: usize) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.resize(4096, 0);
    bytes.extend(body);
    let (at, hash) = match described {
        0 => (0, 0),
        _ => (4096_u64, xxh3_64(body)),
    };
    bytes.extend(at.to_le_bytes());
    bytes.extend(u64::try_from(described).unwrap().to_le_bytes());
    bytes.extend(hash.to_le_bytes());
    bytes.extend(2_u32.to_le_bytes());
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend(MAGIC);
    bytes
}

/// The shard: four bytes, and the footer of a file that describes nothing.
fn shard() -> Vec<u8> {
    file(&[1, 2, 3, 4], 0)
}

/// Writes a file with one tensor `w`, four bytes in the shard `one`, and gives its path.
fn model(folder: &Path) -> PathBuf {
    let w = [
        &text("w")[..],
        b"\xa3",
        &text("parts"),
        b"\xa1",
        &text("data"),
        b"\xa3",
        &text("blob"),
        b"\x82\x19\x10\x00\x04",
        &text("dtype"),
        &text("u8"),
        &text("shard"),
        &text("one"),
        &text("shape"),
        b"\x81\x04",
        &text("layout"),
        &text("dense"),
    ]
    .concat();
    described(folder, &shard(), &[b"\xa1", &w[..]].concat())
}

/// Writes a file that lists the shard `one` and the given objects, and gives its path.
fn described(folder: &Path, shard: &[u8], objects: &[u8]) -> PathBuf {
    let digest = Sha256::digest(shard);
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let size = u16::try_from(shard.len()).unwrap().to_be_bytes();
    let described = [
        &b"\xa2"[..],
        &text("shards"),
        b"\xa1",
        &text("one"),
        b"\xa2",
        &text("size"),
        &[0x19, size[0], size[1]],
        &text("digest"),
        &text(&format!("sha256:{digits}")),
        &text("objects"),
        objects,
    ]
    .concat();
    let path = folder.join("model.zt");
    std::fs::write(&path, file(&described, described.len())).unwrap();
    path
}

fn checked(path: &Path) -> tenfold::Result<Opened> {
    let opened = tenfold::open(path)?;
    opened.bundle.check(&Limits::default())?;
    Ok(opened)
}

#[test]
fn a_shard_with_its_digest_is_fine() {
    let folder = tempfile::tempdir().unwrap();
    let path = model(folder.path());
    std::fs::write(folder.path().join("model-one.zt"), shard()).unwrap();
    let opened = checked(&path).unwrap();
    let values = opened.bundle.get("w").unwrap().to_vec::<u8>().unwrap();
    assert_eq!(values, [1, 2, 3, 4]);
}

#[test]
fn a_shard_that_was_changed_is_read_and_found_by_a_check() {
    let folder = tempfile::tempdir().unwrap();
    let path = model(folder.path());
    let mut bytes = shard();
    bytes[100] = 1; // where no tensor has its bytes
    std::fs::write(folder.path().join("model-one.zt"), bytes).unwrap();
    let opened = tenfold::open(&path).unwrap();
    assert!(opened.bundle.get("w").unwrap().to_vec::<u8>().is_ok());
    let error = checked(&path).err().unwrap().to_string();
    assert!(error.contains("the shard one: checksum is "), "{error}");
    // Of one tensor alone only that is checked.
    let mut bundle = opened.bundle;
    bundle.keep(0);
    assert!(bundle.check(&Limits::default()).is_ok());
}

#[test]
fn bytes_of_a_shard_that_no_tensor_uses_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let shard = file(&[7; 5000], 0);
    let path = described(folder.path(), &shard, b"\xa0");
    std::fs::write(folder.path().join("model-one.zt"), &shard).unwrap();
    let bundle = tenfold::open(&path).unwrap().bundle;
    let notes = bundle.check(&Limits::default()).unwrap();
    let texts: Vec<&str> = notes.iter().map(|note| &*note.text).collect();
    // All between the magic and the footer.
    let wanted = "the shard one: bytes that belong to nothing: 9088, from byte 8 on";
    assert_eq!(texts, [wanted]);
}

#[test]
fn a_shard_that_is_a_pipe_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = model(folder.path());
    let pipe = folder.path().join("model-one.zt");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let error = tenfold::open(&path).err().unwrap().to_string();
    assert!(error.contains("model-one.zt is no regular file"), "{error}");
}

#[test]
fn a_shard_that_is_missing_is_listed_and_not_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = model(folder.path());
    assert_eq!(tenfold::open(&path).unwrap().bundle.entries().len(), 1);
    let error = checked(&path).err().unwrap().to_string();
    assert!(error.contains("model-one.zt: "), "{error}");
}

#[test]
fn bytes_that_very_many_tensors_share_are_work() {
    const LEN: u32 = 1 << 18;
    let values: Vec<f32> = (0..LEN).map(f32::from_bits).collect();
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers::from_vec(&values),
    };
    let dims = vec![Dim::indexed(LEN.into())];
    let tensor = Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap();
    let format = tenfold::by_name("ztensor").unwrap();
    let read = |count: u32| {
        let mut bundle = Bundle::new();
        for name in 0..count {
            bundle.push(Key::flat(name.to_string()), tensor.clone());
        }
        let how = WriteOptions {
            version: Some("2".into()),
            ..WriteOptions::default()
        };
        let mut sink = Sink::memory();
        tenfold::write_to(&bundle, &mut sink, format, &how).unwrap();
        let file = sink.finish().unwrap().into_memory().unwrap();
        // The values are there once.
        assert!(file.len() < 2 << 20, "{}", file.len());
        let mut how = ReadOptions::default();
        how.limits.set("work", 0).unwrap();
        let bundle = tenfold::read(&Source::memory(file), format, &how)
            .unwrap()
            .bundle;
        let mut tensors = bundle.entries().iter();
        tensors.try_for_each(|(_, tensor)| tensor.to_vec::<f32>().map(drop))
    };
    // 256 passes over the file are free.
    read(200).unwrap();
    let error = read(400).unwrap_err().to_string();
    assert!(error.contains("--max-work"), "{error}");
}
