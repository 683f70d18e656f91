//! Every byte of a file says something, or is noted.
//!
//! Where bytes of the corpus belong to nothing, `corpus.rs` compares with its scripts; here bytes are added to
//! files that have none.

use std::path::PathBuf;

use serde_json::Value as Json;
use tenfold::{Format, Info, Mode, NoteKind, ReadOptions, Source};

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
