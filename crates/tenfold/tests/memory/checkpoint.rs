//! A checkpoint in several files, from one format to the next and back, in little memory.

use std::path::Path;

use sha2::{Digest, Sha256};
use tenfold::{Bundle, Key, Limits, Opened, Order, ReadOptions, Source, WriteOptions};

use crate::streaming::{MIB, dense, file};
use crate::{alone, watched};

const MEMORY: usize = 4 * MIB;

/// What may be held in all: a fifth of the checkpoint, which has tensors as large as the budget.
const MOST: usize = 5 * MIB;

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.memory = MEMORY as u64;
    limits
}

fn open(path: &Path, format: &str) -> Opened {
    let how = ReadOptions {
        limits: limits(),
        ..ReadOptions::default()
    };
    let format = tenfold::by_name(format).unwrap();
    tenfold::read(&Source::open(path).unwrap(), format, &how).unwrap()
}

fn save(bundle: &Bundle, path: &Path, format: &str, version: Option<&str>) {
    let how = WriteOptions {
        version: version.map(Into::into),
        limits: limits(),
        skip_sync: true,
        ..WriteOptions::default()
    };
    let format = tenfold::by_name(format).unwrap();
    tenfold::save(bundle, path, format, &how, false).unwrap();
}

/// The names of all tensors and the hashes of their bytes, by name.
fn hashes(bundle: &Bundle) -> Vec<(String, Vec<u8>)> {
    let hash = |(key, tensor): &(Key, tenfold::Tensor)| {
        let mut hash = Sha256::new();
        let each = &mut |piece: &[u8]| {
            hash.update(piece);
            Ok(())
        };
        tensor.for_each(MIB / 4, &limits(), each).unwrap();
        (key.to_string(), hash.finalize().to_vec())
    };
    let mut all: Vec<_> = bundle.entries().iter().map(hash).collect();
    all.sort();
    all
}

#[test]
fn a_checkpoint_of_several_files_goes_through_every_format_in_little_memory() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let data = file(4 * MIB);
    let source = Source::open(data.path()).unwrap();
    let mut whole = Bundle::new();
    for shard in 0..3 {
        let mut bundle = Bundle::new();
        for (name, sizes) in [("q", [512_u64, 1024]), ("up", [256, 2048])] {
            let name = format!("model.layers.{shard}.{name}.weight");
            bundle.push(Key::flat(name), dense(&source, &sizes, Order::Row));
        }
        let path = folder.path().join(format!("{shard}.safetensors"));
        save(&bundle, &path, "safetensors", None);
        whole.append(open(&path, "safetensors").bundle).unwrap();
    }
    let before = hashes(&whole);
    assert_eq!(before.len(), 6);
    let (after, held) = watched(|| {
        let mut bundle = whole;
        for (step, format, version) in [
            ("1", "ztensor", Some("0.1")),
            ("2", "ztensor", Some("2")),
            ("3", "npz", None),
            ("4", "safetensors", None),
        ] {
            let path = folder.path().join(step);
            save(&bundle, &path, format, version);
            bundle = open(&path, format).bundle;
        }
        hashes(&bundle)
    });
    assert_eq!(after, before);
    assert!(held <= MOST, "{held} bytes held");
}
