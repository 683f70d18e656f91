//! Damaged files: no panic, no hang, and no allocation by what a file claims.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tenfold::{Format, Limits, Mode, Number, Overflow, ReadOptions, WriteOptions};

use crate::halves::each_format;
use crate::{alone, files, mended, watched};

/// What reading a file may allocate besides a few times its own size: windows, caches, a slab.
const BUDGET: usize = 1 << 20;

/// What a damaged file may expand to here, so that unpacking it stays quick.
const EXPANDED: u64 = 1 << 16;

fn corpus(format: &dyn Format, folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let Ok(folder) = std::fs::read_dir(root.join(format.info().name).join(folder)) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = folder
        .map(|entry| entry.unwrap().path())
        .filter(|path| files::is_first(path))
        .collect();
    files.sort();
    files
}

/// Opens, checks, shows and rewrites a file as far as it lets us; false if it does not even open.
fn try_everything(format: &'static dyn Format, bytes: Vec<u8>, mode: Mode) -> bool {
    let how = ReadOptions {
        mode,
        ..ReadOptions::default()
    };
    try_with(format, bytes, how)
}

fn try_with(format: &'static dyn Format, bytes: Vec<u8>, mut how: ReadOptions) -> bool {
    how.limits.set("decoded", EXPANDED).unwrap();
    let source = files::source(bytes);
    let _ = tenfold::Head::of(&source).and_then(|head| format.probe(&head));
    let Ok(opened) = tenfold::read(&source, format, &how) else {
        return false;
    };
    let _ = opened.bundle.check(&how.limits);
    for (_, tensor) in opened.bundle.entries() {
        let _ = tensor.for_each(1 << 12, &how.limits, &mut |_| Ok(()));
        let _ = tensor.for_each_cell(&how.limits, &mut |_| Ok(()));
        if tensor.is_quantized()
            && let Ok(values) = tensor.dequantized(Number::Bf16, Overflow::Fails, &how.limits)
        {
            let _ = values.for_each(1 << 12, &how.limits, &mut |_| Ok(()));
        }
    }
    let mut out = files::sink();
    let _ = tenfold::write_to(&opened.bundle, &mut out, format, &WriteOptions::default());
    true
}

fn survives(format: &'static dyn Format, bytes: &[u8], what: &dyn Fn() -> String) {
    for mode in [Mode::Strict, Mode::Lenient] {
        let copy = bytes.to_vec();
        let started = Instant::now();
        let (opens, held) = watched(|| try_everything(format, copy, mode));
        let allowed = 64 * bytes.len() + BUDGET;
        assert!(
            held <= allowed,
            "{}: {held} bytes held, {allowed} allowed",
            what()
        );
        let took = started.elapsed();
        assert!(took < Duration::from_secs(5), "{}: took {took:?}", what());
        if opens {
            return; // a lenient reader does the same
        }
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn every_prefix_and_every_changed_byte_is_survived() {
    let _alone = alone();
    let test = "hostile::every_prefix_and_every_changed_byte_is_survived";
    each_format(test, |format| {
        let files = corpus(format, "good");
        assert!(
            files.len() >= 15,
            "{} has too small a corpus",
            format.info().name
        );
        for path in files {
            let bytes = files::of_disk(&path);
            if bytes.len() > 4096 {
                continue; // the same again, only larger
            }
            for len in 0..bytes.len() {
                survives(format, &bytes[..len], &|| {
                    format!("{} cut at {len}", name(&path))
                });
            }
            let mut changed = bytes.clone();
            for at in 0..bytes.len() {
                for change in changes(&bytes) {
                    changed[at] = bytes[at] ^ change;
                    survives(format, &changed, &|| {
                        format!("{} with byte {at} ^ {change:#04x}", name(&path))
                    });
                }
                changed[at] = bytes[at];
            }
        }
    });
}

#[test]
fn raw_numbers_of_any_shape_are_survived() {
    let _alone = alone();
    let raw = tenfold::by_name("raw").unwrap();
    let sizes = ["0", "1", "?", "7", "4294967296", "18446744073709551615"];
    let shapes = sizes
        .iter()
        .flat_map(|first| sizes.map(|second| format!("{first}x{second}")));
    for shape in shapes {
        for (dtype, offset) in [("u8", "0"), ("c128", "3"), ("bool", "18446744073709551615")] {
            for len in [0, 1, 16, 112, 4096] {
                let mut how = ReadOptions::default();
                let options = [("dtype", dtype), ("shape", &shape), ("offset", offset)];
                options
                    .iter()
                    .for_each(|(name, value)| how.options.set(*name, *value));
                let (_, held) = watched(|| try_with(raw, vec![0x5a; len], how));
                assert!(held <= 64 * len + BUDGET, "{options:?}: {held} bytes held");
            }
        }
    }
}

/// By what a byte is changed: to everything in short files, and to some telling values in others.
fn changes(bytes: &[u8]) -> Vec<u8> {
    if bytes.len() <= 512 {
        (1..=255).collect()
    } else {
        vec![0x01, 0x80, 0xff]
    }
}

#[test]
fn every_changed_byte_of_a_description_is_survived_where_its_checksum_is_right() {
    let _alone = alone();
    let format = tenfold::by_name("ztensor").unwrap();
    let mut seen = 0;
    for path in corpus(format, "good") {
        let bytes = files::of_disk(&path);
        let is_described = bytes.starts_with(b"\x89ZT2") && bytes.len() > 48;
        let Some(end) = bytes.len().checked_sub(40).filter(|_| is_described) else {
            continue;
        };
        seen += 1;
        let start = u64::from_le_bytes(bytes[end..end + 8].try_into().unwrap()) as usize;
        for at in start..bytes.len() {
            for change in [0x01, 0x20, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                let changed = mended::described(changed.clone()).unwrap_or(changed);
                survives(format, &changed, &|| {
                    format!("{} with byte {at} ^ {change:#04x}", name(&path))
                });
            }
        }
    }
    assert!(seen >= 20, "{seen} files");
}

#[test]
fn files_spliced_from_others_are_survived() {
    let _alone = alone();
    each_format(
        "hostile::files_spliced_from_others_are_survived",
        |format| {
            let mut random = 0x9e37_79b9_7f4a_7c15_u64;
            let mut next = move |bound: usize| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                (random % bound.max(1) as u64) as usize
            };
            let files: Vec<Vec<u8>> = corpus(format, "good")
                .iter()
                .chain(&corpus(format, "bad"))
                .map(|path| files::of_disk(path))
                .filter(|bytes| bytes.len() <= 4096)
                .collect();
            for round in 0..20_000 {
                let (first, second) = (&files[next(files.len())], &files[next(files.len())]);
                let mut spliced = first[..next(first.len() + 1)].to_vec();
                spliced.extend_from_slice(&second[next(second.len() + 1)..]);
                if next(2) == 0 && !spliced.is_empty() {
                    let at = next(spliced.len());
                    let len = next(9).min(spliced.len() - at);
                    spliced[at..at + len]
                        .iter_mut()
                        .for_each(|byte| *byte = next(256) as u8);
                }
                survives(format, &spliced, &|| {
                    format!("{} splice {round}", format.info().name)
                });
            }
        },
    );
}

#[test]
fn huge_claims_cost_neither_time_nor_memory() {
    let _alone = alone();
    let mut seen = 0;
    for format in tenfold::formats::ALL {
        for path in corpus(*format, "huge") {
            let bytes = files::of_disk(&path);
            seen += 1;
            survives(*format, &bytes, &|| name(&path));
            let opened =
                tenfold::read(&files::source(bytes), *format, &ReadOptions::default()).unwrap();
            let tensor = opened.bundle.only().unwrap();
            if tensor.n_mapped() == 0 && tensor.cells() != Some(0) {
                let (error, held) =
                    watched(|| tensor.for_each(1 << 12, &Limits::default(), &mut |_| Ok(())));
                let error = error.expect_err(&name(&path)).to_string();
                assert!(error.contains("--max-decoded"), "{}: {error}", name(&path));
                assert!(held < BUDGET, "{}: {held} bytes held", name(&path));
            }
        }
    }
    assert!(seen >= 9, "{seen} huge files");
}

/// A zTensor index around the map of one empty tensor and what follows its fields.
fn ztensor(more: &[u8], entries: &[u8], count: u32) -> Vec<u8> {
    let fields: &[u8] =
        b"\xbf\x64name\x61w\x66offset\x18\x40\x64size\x00\x65dtype\x65uint8\x65shape\x81\x00\
        \x68encoding\x63raw";
    let mut index = vec![0x9a];
    index.extend(count.to_be_bytes());
    index.extend([fields, more, b"\xff", entries].concat());
    let mut file = [b"ZTEN0001".as_slice(), &[0; 56], &index].concat();
    file.extend((index.len() as u64).to_le_bytes());
    file
}

/// A MessagePack u32.
fn msgpack_u32(number: u32) -> Vec<u8> {
    [&[0xce], number.to_be_bytes().as_slice()].concat()
}

#[test]
fn time_grows_with_a_file_and_not_with_its_square() {
    const MANY: u32 = 200_000;
    let _alone = alone();
    let numbered = |before: &[u8], after: &[u8]| -> Vec<u8> {
        (0..MANY)
            .flat_map(|number| [before, format!("{number:06}").as_bytes(), after].concat())
            .collect()
    };
    let fields = ztensor(&numbered(b"\x66", b"\x00"), b"", 1);
    let tensor =
        b"\x66offset\x18\x40\x64size\x00\x65dtype\x65uint8\x65shape\x81\x00\x68encoding\x63raw\xff";
    let tensors = ztensor(b"", &numbered(b"\xbf\x64name\x66", tensor), MANY + 1);
    let scalar = b"\x90\xce\0\0\0\x01\xc4\x04\0\0\xc0\x3f".as_slice();
    let header = |kind: u32| [msgpack_u32(0), msgpack_u32(1), msgpack_u32(kind)].concat();
    let statistics = [
        header(0x200),
        scalar.to_vec(),
        msgpack_u32(MANY),
        numbered(b"\xa6", scalar),
    ]
    .concat();
    let parameter = [scalar, &msgpack_u32(0)].concat();
    let parameters = [
        header(0x300),
        msgpack_u32(MANY),
        numbered(b"\x91\xa6", &parameter),
    ]
    .concat();
    let configs = [
        header(0x400),
        b"\x80\xdf".to_vec(),
        MANY.to_be_bytes().to_vec(),
        numbered(b"\xa6", b"\xca\0\0\0\0"),
    ]
    .concat();
    let mut blocks = b"\x05\x03\x01\x01x".to_vec();
    blocks.extend((MANY | 0x8000_0000).to_be_bytes());
    blocks.extend(numbered(b"\x06", b"\x01"));
    let json = |text: &[u8]| [&(text.len() as u64).to_le_bytes(), text].concat();
    let weights = b"\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},";
    let weights = [
        b"{",
        numbered(b"\"", weights).as_slice(),
        b"\"__metadata__\":{}}",
    ]
    .concat();
    let texts = [
        b"{\"__metadata__\":{",
        numbered(b"\"", b"\":\"\",").as_slice(),
        b"\"\":\"\"}}",
    ]
    .concat();
    let many = u64::from(MANY).to_le_bytes();
    let gguf = |n_tensors: [u8; 8], n_values: [u8; 8], rest: &[u8]| {
        [b"GGUF\x03\0\0\0", &n_tensors[..], &n_values, rest].concat()
    };
    let six = b"\x06\0\0\0\0\0\0\0";
    let texts_of = [&[9, 0, 0, 0, 8, 0, 0, 0][..], &many, &numbered(six, b"")].concat();
    let texts_of = [b"\x01\0\0\0\0\0\0\0x", texts_of.as_slice()].concat();
    let mut entry = [0; 24];
    entry[0] = 1;
    let cells = [
        b"{\"type\":\"tensor<int8>(x{})\",\"cells\":{",
        numbered(b"\"", b"\":1,").as_slice(),
        b"\"\":1}}",
    ]
    .concat();
    let addresses = [
        b"{\"type\":\"tensor<int8>(x[1000000])\",\"cells\":[",
        numbered(b"{\"address\":{\"x\":\"", b"\"},\"value\":1},").as_slice(),
        b"{\"address\":{\"x\":999999},\"value\":1}]}",
    ]
    .concat();
    let documents = [
        b"{\"put\":\"a\",\"fields\":{\"f\":{\"type\":\"tensor()\",\"values\":[1]}}}",
        numbered(b"{\"put\":\"", b"\",\"fields\":{\"f\":[1]}}").as_slice(),
    ]
    .concat();
    let metadata = [
        b"version: 100\ntype: Tensor\nscalarType: Real64\ndimensions: [{length: 0}]\nunit: 1\n",
        b"elements: {type: IeeeBinaryFile}\nmetaData:\n".as_slice(),
        &numbered(b"  k", b": [1]\n"),
    ]
    .concat();
    let comments = [numbered(b"#", b"\n").as_slice(), b"1 1 1\n"].concat();
    let backwards: String = (1..=MANY).rev().map(|n| format!("{n} 1 1\n")).collect();
    let settings = [
        b"&FCI NORB=1,",
        numbered(b"X", b"=1,").as_slice(),
        b"\n&END\n",
    ]
    .concat();
    let cases = [
        ("fcidump", "settings", settings),
        ("tns", "comments", comments),
        ("tns", "entries", backwards.into_bytes()),
        ("vespa-text", "cells", cells),
        ("vespa-text", "addresses", addresses),
        ("vespa-feed", "documents", documents),
        (
            "gguf",
            "tensors",
            gguf(many, [0; 8], &numbered(six, &entry)),
        ),
        (
            "gguf",
            "values",
            gguf([0; 8], many, &numbered(six, &[0; 5])),
        ),
        (
            "gguf",
            "texts",
            gguf([0; 8], [1, 0, 0, 0, 0, 0, 0, 0], &texts_of),
        ),
        ("safetensors", "tensors", json(&weights)),
        ("safetensors", "texts", json(&texts)),
        ("ztensor", "fields", fields),
        ("ztensor", "tensors", tensors),
        ("primitiv", "statistics", statistics),
        ("primitiv", "parameters", parameters),
        ("primitiv", "configs", configs),
        ("vespa", "blocks", blocks),
        ("cc4s", "metadata", metadata),
    ];
    for (name, what, bytes) in cases {
        let format = tenfold::by_name(name).unwrap();
        let mut how = ReadOptions::default();
        how.limits.set("structure", 1 << 30).unwrap();
        let opened = tenfold::read(&files::source(bytes.clone()), format, &how);
        assert!(opened.is_ok(), "{name} {what}: {}", opened.err().unwrap());
        survives(format, &bytes, &|| format!("{name} with {MANY} {what}"));
    }
}
