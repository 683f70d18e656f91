//! Every byte of a file says something, or is noted.
//!
//! Where bytes of the corpus belong to nothing, `corpus.rs` compares with its scripts; here bytes are added to
//! files that have none.

use std::path::PathBuf;

use serde_json::Value as Json;
use tenfold::{
    Bundle, Dim, Format, Info, Limits, Mode, NoteKind, Numbers, Order, ReadOptions, Sink, Source,
    Storage, Tensor, WriteOptions,
};

use crate::support::{files, how, project, sibling};

/// All that a file says, unless it is refused, and whether a byte of it belongs to nothing.
fn content(format: &dyn Format, bytes: &[u8], how: &ReadOptions) -> Option<(String, bool)> {
    let source = Source::memory(bytes.to_vec());
    let bundle = format.read(&source, how).ok()?;
    let notes = bundle.check(&how.limits).ok()?;
    let mut all = format!("{:?} {:?}", bundle.meta, bundle.hints);
    for (key, tensor) in bundle.entries() {
        let about = (tensor.dims(), tensor.dtype(), tensor.symmetries());
        all += &format!("{key} {about:?} {:?} {:?}", tensor.meta, tensor.hints);
        for part in tensor.storage().parts() {
            all += &format!("{:?} {:?}", part.number, part.bytes.to_vec().ok()?);
        }
    }
    let mut notes = bundle.notes().iter().chain(&notes);
    let has_gap = notes.any(|note| note.kind == NoteKind::UnreadBytes);
    Some((all, has_gap))
}

/// The sound files of a format, each with what its sibling says.
fn good(format: &dyn Format) -> Vec<(PathBuf, Vec<u8>, Json)> {
    let folder = project().join("corpus").join(format.info().name);
    let found = files(&folder.join("good")).into_iter();
    let with_sibling = found.map(|path| (sibling(&path), path));
    let sound = with_sibling.filter(|(about, _)| {
        let odd = ["gaps", "beside"]
            .iter()
            .any(|name| about.get(name).is_some());
        !odd && about["lenient"] != true
    });
    let read = sound.map(|(about, path)| {
        let bytes = std::fs::read(&path).unwrap();
        (path, bytes, about)
    });
    read.filter(|(_, bytes, _)| bytes.len() < 1 << 17).collect()
}

/// The files of which `change` adds bytes that are not noticed, and how many files there are.
fn unnoticed(
    is_meant: &dyn Fn(&Info) -> bool,
    change: &dyn Fn(&[u8]) -> Vec<u8>,
) -> (usize, Vec<String>) {
    let (mut count, mut found) = (0, Vec::new());
    let formats = tenfold::formats::ALL.iter();
    for format in formats.filter(|format| is_meant(format.info())) {
        for (path, bytes, about) in good(*format) {
            let how = how(Mode::Strict, &about);
            let Some((before, has_gap)) = content(*format, &bytes, &how) else {
                continue; // only read with files beside it
            };
            assert!(!has_gap, "{}", path.display());
            count += 1;
            let after = content(*format, &change(&bytes), &how);
            if after.is_some_and(|(after, has_gap)| !has_gap && after == before) {
                found.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    (count, found)
}

#[test]
fn bytes_behind_a_file_are_refused_or_noted_or_say_something() {
    for tail in [&b"\xff"[..], b"PK\x05\x06", &[0; 70_000]] {
        let (count, found) = unnoticed(&|_| true, &|bytes| [bytes, tail].concat());
        assert!(count > 800, "{count} files");
        assert_eq!(found, [""; 0], "{:02x?}", &tail[..1]);
    }
}

#[test]
fn bytes_before_a_file_are_refused_or_noted_or_say_something() {
    for head in [&b"\x7fELF"[..], b"#!/bin/sh\nexit\n", &[0; 64]] {
        // Texts may begin with comments, or with keys that mean nothing.
        let is_signed = |info: &Info| !info.magic.is_empty();
        let (count, found) = unnoticed(&is_signed, &|bytes| [head, bytes].concat());
        assert!(count > 600, "{count} files");
        assert_eq!(found, [""; 0], "{:02x?}", &head[..1]);
    }
}

/// A file of the corpus.
fn corpus(path: &str) -> Vec<u8> {
    std::fs::read(project().join("corpus").join(path)).unwrap()
}

#[test]
fn a_remark_names_the_file_of_a_set_that_it_is_about() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, file: &str| std::fs::write(folder.path().join(name), corpus(file));
    put("a.npz", "npz/good/plain.npz").unwrap();
    put("b.npz", "npz/good/bytes_before.npz").unwrap();
    put("c.npz", "npz/good/left_out_readme.npz").unwrap();
    let bundle = tenfold::open(folder.path().join("?.npz")).unwrap().bundle;
    let checked = bundle.check(&Limits::default()).unwrap();
    let about = |kind: NoteKind| {
        let mut notes = bundle.notes().iter().chain(&checked);
        let note = notes.find(|note| note.kind == kind).unwrap();
        (note.file.clone(), note.at)
    };
    assert_eq!(
        about(NoteKind::UnreadBytes),
        (Some("b.npz".into()), Some(0))
    );
    assert_eq!(about(NoteKind::Skipped).0.as_deref(), Some("c.npz"));
    let alone = tenfold::open(folder.path().join("b.npz")).unwrap().bundle;
    let notes = alone.check(&Limits::default()).unwrap();
    assert_eq!((notes.len(), &notes[0].file), (1, &None));
}

#[test]
fn a_file_that_also_is_a_zip_archive_is_noted() {
    let archive = corpus("npz/good/plain.npz");
    let end = u64::try_from(archive.len() - 22).unwrap();
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers::from_vec(&archive),
    };
    let dims = vec![Dim::indexed(u64::try_from(archive.len()).unwrap())];
    let tensor = Tensor::new(dims, "u8".parse().unwrap(), vec![], storage).unwrap();
    for format in ["npy", "safetensors"] {
        let format = tenfold::by_name(format).unwrap();
        let mut sink = Sink::memory();
        tenfold::write_to(
            &Bundle::of(tensor.clone()),
            &mut sink,
            format,
            &WriteOptions::default(),
        )
        .unwrap();
        let file = sink.finish().unwrap().into_memory().unwrap();
        let before = u64::try_from(file.len() - archive.len()).unwrap();
        assert!(file.ends_with(&archive), "{}", format.info().name);
        let opened = tenfold::read(&Source::memory(file), format, &ReadOptions::default()).unwrap();
        let notes = opened.bundle.check(&Limits::default()).unwrap();
        let found: Vec<_> = notes.iter().map(|note| (note.kind, note.at)).collect();
        assert_eq!(found, [(NoteKind::Polyglot, Some(before + end))]);
    }
    let plain = Source::memory(archive);
    let npz = tenfold::by_name("npz").unwrap();
    let opened = tenfold::read(&plain, npz, &ReadOptions::default()).unwrap();
    assert_eq!(opened.bundle.check(&Limits::default()).unwrap(), []);
}

#[test]
fn an_archive_behind_other_bytes_is_found_by_its_name() {
    let found = |name: &str, bytes: Vec<u8>| {
        let source = Source::memory(bytes);
        let found = tenfold::detect(&source, Some(std::path::Path::new(name)));
        found.ok().map(|format| format.info().name)
    };
    for (file, name, other) in [("npz", "x.npz", "x.pt"), ("torch", "x.pt", "x.npz")] {
        let folder = project().join("corpus").join(file).join("good");
        let mut named = files(&folder).into_iter();
        let path = named.find(|path| path.file_stem().is_some_and(|stem| stem == "bytes_before"));
        let bytes = std::fs::read(path.unwrap()).unwrap();
        assert_eq!(found(name, bytes.clone()), Some(file));
        assert_ne!(found(other, bytes.clone()), Some(file));
        assert_eq!(found("x", bytes.clone()), None);
        let program = [b"\x7fELF", &bytes[4..]].concat();
        assert_eq!(found(name, program), Some(file));
        assert_eq!(found(name, bytes[..bytes.len() - 1].to_vec()), None);
    }
}

/// The directory entry of a member called `name` at `at`, without content.
fn entry(name: &str, at: u32) -> Vec<u8> {
    let len = u16::try_from(name.len()).unwrap().to_le_bytes();
    let mut entry = b"PK\x01\x02".to_vec();
    entry.extend([0; 24]);
    entry.extend(len);
    entry.extend([0; 12]);
    entry.extend(at.to_le_bytes());
    entry.extend(name.as_bytes());
    entry
}

#[test]
fn sixty_thousand_gaps_are_a_few_notes() {
    let npy = std::fs::read(project().join("corpus/npz/good/plain.npz")).unwrap();
    let count = 60_000_u32;
    // The first member is an array; of the others there is nothing but their headers, each before a byte
    // of its own.
    let end = npy.windows(4).position(|bytes| bytes == b"PK\x01\x02");
    let end = end.unwrap();
    let tail = npy.len() - 22;
    let (mut file, mut directory) = (npy[..end].to_vec(), npy[end..tail].to_vec());
    for number in 1..count {
        let name = format!("{number}");
        directory.extend(entry(&name, u32::try_from(file.len()).unwrap()));
        file.extend(b"PK\x03\x04");
        file.extend([0; 22]);
        file.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        file.extend([0; 2]);
        file.extend(name.as_bytes());
        file.push(b'x');
    }
    let start = u32::try_from(file.len()).unwrap();
    let len = u32::try_from(directory.len()).unwrap();
    file.extend(directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend(u16::try_from(count).unwrap().to_le_bytes().repeat(2));
    file.extend(len.to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0; 2]);
    let format = tenfold::by_name("npz").unwrap();
    let how = ReadOptions::default();
    let bundle = format.read(&Source::memory(file), &how).unwrap();
    assert_eq!(bundle.entries().len(), 1);
    let notes = bundle.check(&how.limits).unwrap();
    assert_eq!(notes.len(), 9);
    let last = "bytes that belong to nothing, in 59991 more places: 59991";
    assert_eq!(notes[8].text, last);
    assert_eq!(
        (notes[0].kind, notes[0].len),
        (NoteKind::UnreadBytes, Some(1))
    );
}
