//! TENS: what a file carries, and the version that its programs read.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

use std::fs;

use insta::assert_snapshot;
use tempfile::TempDir;
use tenfold_cli::Exit;

use crate::support::{corpus, folder_with, npy, tenfold, tenfold_in};

#[test]
fn what_has_no_field_in_tens_comes_back() {
    let files = [
        "ztensor/good/v2_attributes.zt",
        "vespa/good/mixed_f32.tbf",
        "vespa/good/dense_f32.tbf",
        "primitiv/good/parameter_plain.param",
        "safetensors/good/type_f8_e4m3.safetensors",
        "mtx/good/comments.mtx",
    ];
    let folder = tempfile::tempdir().unwrap();
    for (number, file) in files.into_iter().enumerate() {
        let path = corpus(file);
        let extension = path.rsplit('.').next().unwrap();
        let name = |end: &str| format!("{}/{number}.{end}", folder.path().display());
        let (there, back) = (name("tens"), name(extension));
        let opaque = ["--allow", "opaque", "--no-sync"];
        let ran = tenfold(["convert", &path, &there].into_iter().chain(opaque));
        assert_eq!(ran.exit, Exit::Fine, "{file}: {ran}");
        let ran = tenfold(["convert", &there, &back, "--no-sync"]);
        assert_eq!(ran.exit, Exit::Fine, "{file}: {ran}");
        let ran = tenfold(["diff", &path, &back]);
        assert_eq!(ran.exit, Exit::Fine, "{file}: {ran}");
        let facts = |path: &str| {
            let text = tenfold(["info", path]).text();
            let lines = text.lines().skip(1);
            let lines = lines.filter(|line| !line.contains("ztensor:"));
            let mut lines: Vec<String> = lines.map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(facts(&path), facts(&back), "{file}");
    }
}

/// The magics of the chunks after the dimensions, as the page has implementations find them.
fn chunks(file: &[u8]) -> Vec<String> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let mut at = 32 + 8 * usize::try_from(word(20)).unwrap();
    let mut found = Vec::new();
    while at < file.len() {
        let magic = String::from_utf8(file[at..at + 8].to_vec()).unwrap();
        let size = u64::from_le_bytes(file[at + 8..at + 16].try_into().unwrap());
        assert!(size >= 16 && size.is_multiple_of(8), "{magic}: {size}");
        at += usize::try_from(size).unwrap();
        found.push(magic);
    }
    assert_eq!(at, file.len());
    found
}

#[test]
fn what_is_carried_is_a_chunk_that_others_pass_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let values = [1.0_f64, 2.0, 2.0, 5.0].map(f64::to_le_bytes).concat();
    let matrix = npy(&folder, "a.npy", "<f8", "(2, 2)", &values);
    let matrix = matrix.display().to_string();
    let (named, file) = (path("named.tens"), path("plain.tens"));
    let words = ["convert", &matrix, &named, "--dims", "row,column"];
    tenfold(words);
    tenfold(["convert", &matrix, &file]);
    assert_eq!(chunks(&fs::read(&named).unwrap()), ["tenfold:", "DENSDATA"]);
    assert_eq!(chunks(&fs::read(&file).unwrap()), ["DENSDATA"]);
    let info = tenfold(["info", &named]).text();
    assert!(info.contains("[row=2, column=2]"), "{info}");
    let shown = tenfold(["info", "--no-restore", &named]).text();
    assert!(shown.contains("tenfold: "), "{shown}");
    // A rewrite has the same bytes, and a damaged text is no more than a note.
    let again = path("again.tens");
    tenfold(["convert", &named, &again]);
    assert_eq!(fs::read(&named).unwrap(), fs::read(&again).unwrap());
    let mut bytes = fs::read(&named).unwrap();
    let at = bytes.windows(9).position(|part| part == b"\"version\"");
    bytes[at.unwrap()] = b'x';
    fs::write(&again, bytes).unwrap();
    let ran = tenfold(["info", &again]).to_string();
    assert!(ran.contains("not-restored"), "{ran}");
}

#[test]
fn version_0_9_has_doubles_and_all_cells() {
    let folder = folder_with(&[
        ("i8.tens", "tens/good/sint_1.tens"),
        ("i64.tens", "tens/good/sint_8.tens"),
        ("f128.tens", "tens/good/f128_specials.tens"),
        ("packed.tens", "tens/good/packed_symmetric.tens"),
        ("sparse.tens", "tens/good/pairs_f64.tens"),
        ("chunks.tens", "tens/good/chunks_around.tens"),
    ]);
    let convert = |name: &str, flags: &[&str]| {
        let input = format!("@/{name}.tens");
        let output = format!("@/{name}.bin");
        let words = ["convert", &input, &output, "--to", "tens@0.9", "--no-sync"];
        let ran = tenfold_in(&folder, &[&words[..], flags].concat());
        let at = format!("{}/", folder.path().display());
        ran.to_string().replace(&at, "")
    };
    assert_snapshot!("i8", convert("i8", &[]));
    assert_snapshot!("i64", convert("i64", &[]));
    assert_snapshot!(
        "i64_cast",
        convert("i64", &["--cast", "f64", "--allow", "precision"])
    );
    assert_snapshot!("packed", convert("packed", &[]));
    assert_snapshot!("sparse", convert("sparse", &[]));
    assert_snapshot!("quad", convert("f128", &[]));
    assert_snapshot!("chunks", convert("chunks", &[]));
}

fn saved(folder: &TempDir, name: &str, bytes: &[u8]) -> String {
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

#[test]
fn a_file_of_version_0_9_keeps_its_numbers() {
    let folder = tempfile::tempdir().unwrap();
    for (width, arity) in [(4_u32, 1_u32), (8, 1), (16, 1), (8, 2), (16, 2), (8, 4)] {
        let mut file = b"TENS\0\x90\0\0IEEE".to_vec();
        for field in [width, arity, 1, 0, 0, 2] {
            file.extend(field.to_le_bytes());
        }
        file.extend(*b"a\0\0\0");
        let len = 2 * width * arity;
        file.extend((0..len).map(|byte| u8::try_from(byte).unwrap()));
        let input = saved(&folder, "in.bin", &file);
        let output = folder.path().join("out.bin").display().to_string();
        for to in ["tens", "tens@0.9"] {
            let words = ["convert", &input, &output, "--to", to, "--force"];
            let ran = tenfold(words);
            assert_eq!(ran.exit, Exit::Fine, "{width} {arity}: {ran}");
            assert_eq!(fs::read(&output).unwrap(), file, "{width} {arity} {to}");
        }
    }
}
