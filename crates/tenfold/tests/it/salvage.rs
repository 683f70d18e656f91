//! What is saved of damaged files: all that is whole, and nothing else.

use tenfold::{
    Bundle, Key, Lost, Numbers, Order, Proof, ReadOptions, Salvaged, Sink, Source, Storage, Tensor,
    WriteOptions, salvage,
};

/// The tensors `a`, `b` and `c` of four numbers each.
fn three() -> Bundle {
    let mut bundle = Bundle::new();
    for (number, name) in (1_u8..).zip(["a", "b", "c"]) {
        let number = f32::from(number);
        let values = [number, -number, number / 3.0, f32::from_bits(0x7fc0_0001)];
        let storage = Storage::Dense {
            order: Order::Row,
            values: Numbers::from_vec(&values),
        };
        let dims = vec![tenfold::Dim::indexed(4)];
        let tensor = Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap();
        bundle.push(Key::flat(name), tensor);
    }
    bundle
}

fn written(format: &str, options: &[(&str, &str)]) -> Vec<u8> {
    let mut how = WriteOptions::default();
    for (name, value) in options {
        how.options.set(*name, *value);
    }
    if let Some((_, version)) = format.split_once('@') {
        how.version = Some(version.into());
    }
    let mut out = Sink::memory();
    tenfold::write_to(&three(), &mut out, of(format), &how).unwrap();
    out.finish().unwrap().into_memory().unwrap()
}

fn of(format: &str) -> &'static dyn tenfold::Format {
    let name = format.split('@').next().unwrap();
    tenfold::by_name(name).unwrap()
}

fn saved(format: &str, bytes: Vec<u8>) -> tenfold::Result<Salvaged> {
    salvage(&Source::memory(bytes), of(format), &ReadOptions::default())
}

/// Each tensor's name and the last byte of the file that it needs, and the first byte of all values.
fn ends(format: &str, file: &[u8]) -> (u64, Vec<(String, u64)>) {
    let opened = tenfold::read(
        &Source::memory(file.to_vec()),
        of(format),
        &ReadOptions::default(),
    );
    let bundle = opened.unwrap().bundle;
    let run = |tensor: &Tensor| {
        let parts = tensor.storage().parts();
        let bytes = &parts.first().unwrap().bytes;
        (bytes.at(), bytes.at() + bytes.stored_len())
    };
    let runs = bundle.entries().iter();
    let runs: Vec<_> = runs
        .map(|(key, tensor)| (key.to_string(), run(tensor)))
        .collect();
    let first = runs.iter().map(|(_, run)| run.0).min().unwrap();
    (
        first,
        runs.into_iter().map(|(name, run)| (name, run.1)).collect(),
    )
}

fn names(bundle: &Bundle) -> Vec<String> {
    bundle
        .entries()
        .iter()
        .map(|(key, _)| key.to_string())
        .collect()
}

/// Every tensor that was saved has the bits that it had.
fn assert_true(found: &Salvaged, why: &str) {
    let known = three();
    for (key, tensor) in found.bundle.entries() {
        let bits = |tensor: &Tensor| -> Vec<u32> {
            let values: Vec<f32> = tensor.to_vec().unwrap();
            values.into_iter().map(f32::to_bits).collect()
        };
        let known = known.get(&key.to_string()).unwrap();
        assert_eq!(bits(tensor), bits(known), "{why}, {key}");
    }
    assert_eq!(found.proofs.len(), found.bundle.entries().len());
}

#[test]
fn of_a_file_that_is_cut_short_every_tensor_before_the_cut_is_saved() {
    for format in ["safetensors", "gguf", "npz", "npz deflated", "primitiv"] {
        let (format, options): (&str, &[_]) = match format {
            "npz deflated" => ("npz", &[("compress", "deflate")]),
            other => (other, &[]),
        };
        let file = written(format, options);
        let (first, ends) = ends(format, &file);
        for len in 0..file.len() {
            let what = format!("{format}, cut at {len} of {}", file.len());
            let cut = u64::try_from(len).unwrap();
            let found = match saved(format, file[..len].to_vec()) {
                // What says where the tensors are is cut itself.
                Err(_) => {
                    assert!(cut < first, "{what}");
                    continue;
                }
                Ok(found) => found,
            };
            let whole = ends.iter().filter(|(_, end)| *end <= cut);
            let whole: Vec<String> = whole.map(|(name, _)| name.clone()).collect();
            // What is behind the data of a member says how long it is, and is as much a part of it.
            let is_described = |end: u64| ends.iter().any(|one| one.1 == end) && end + 24 > cut;
            let last = whole.len().checked_sub(1).map(|last| ends[last].1);
            let may_miss = format == "npz" && last.is_some_and(is_described);
            if may_miss && names(&found.bundle).len() + 1 == whole.len() {
                assert_eq!(names(&found.bundle), whole[..whole.len() - 1], "{what}");
            } else if cut >= first {
                assert_eq!(names(&found.bundle), whole, "{what}");
                let is_named = found.lost.iter().any(|lost| lost.key.is_some());
                match whole.len() {
                    // Nothing is missing but what says so.
                    3 => assert!(!is_named, "{what}: {:?}", found.lost),
                    _ => assert!(!found.lost.is_empty(), "{what}"),
                }
            }
            assert_true(&found, &what);
        }
    }
}

#[test]
fn a_tensor_that_lost_a_bit_is_lost_alone_where_the_file_has_checksums() {
    for (format, options) in [
        ("ztensor", &[("checksum", "crc32c")][..]),
        ("ztensor@2", &[]),
        ("npz", &[]),
        ("npz", &[("compress", "deflate")]),
    ] {
        let file = written(format, options);
        let (_, ends) = ends(format, &file);
        let (_, end) = ends[1].clone();
        for back in 1..=16 {
            let mut file = file.clone();
            file[usize::try_from(end).unwrap() - back] ^= 0x10;
            let found = saved(format, file).unwrap();
            let what = format!("{format}, {back} bytes before {end}");
            assert_eq!(names(&found.bundle), ["a", "c"], "{what}");
            assert_eq!(found.proofs, [Proof::Checksum; 2], "{what}");
            let [Lost { key: Some(key), .. }] = found.lost.as_slice() else {
                panic!("{what}: {:?}", found.lost);
            };
            assert_eq!(key.to_string(), "b", "{what}");
            assert_true(&found, &what);
        }
    }
}

#[test]
fn what_no_checksum_speaks_for_is_said_to_be_whole_by_its_structure() {
    let found = saved("safetensors", written("safetensors", &[])).unwrap();
    assert_eq!(found.proofs, [Proof::Structure; 3]);
    assert!(found.lost.is_empty());
    // Nobody could know.
    let mut file = written("safetensors", &[]);
    *file.last_mut().unwrap() ^= 1;
    assert_eq!(
        saved("safetensors", file).unwrap().bundle.entries().len(),
        3
    );
}

#[test]
fn a_member_of_an_archive_that_is_no_array_any_more_is_lost_alone() {
    let mut file = written("npz", &[]);
    let place = file
        .windows(6)
        .position(|bytes| bytes == b"\x93NUMPY")
        .unwrap();
    // The header of the first array, which is text, gets a letter that means nothing.
    file[place + 12] = b'?';
    let found = saved("npz", file).unwrap();
    assert_eq!(names(&found.bundle), ["b", "c"]);
    assert_eq!(found.lost.len(), 1);
}

#[test]
fn bytes_at_random_never_make_a_false_tensor_where_there_are_checksums() {
    for format in ["ztensor@2", "npz"] {
        let file = written(format, &[]);
        let (first, ends) = ends(format, &file);
        let first = usize::try_from(first).unwrap();
        let last = usize::try_from(ends.iter().map(|(_, end)| *end).max().unwrap()).unwrap();
        let mut state = 88_172_645_463_325_252_u64;
        for _ in 0..2000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let mut file = file.clone();
            let place = first + usize::try_from(state >> 20).unwrap() % (last - first);
            file[place] = file[place].wrapping_add(1 + u8::try_from(state & 0x7f).unwrap());
            if let Ok(found) = saved(format, file) {
                assert_true(&found, &format!("{format}, byte {place}"));
            }
        }
    }
}
