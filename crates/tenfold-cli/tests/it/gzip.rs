//! Files that are compressed by gzip, as input and as output.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;

use insta::assert_snapshot;

use crate::support::{folder_with, shown, tenfold_in, tenfold_with};

/// An npy file of three u8, in two members, as Python's gzip module compresses it.
const NPY: &str = "\
    1f8b08000000000002039bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e536aa8aea3a09e965f54529498\
    179f5f94920a00fa9645fb280000001f8b08000000000002032b52b752704bcc294ed551502fce482c4805f235\
    8c753475146a1528005c8c4ccc00ba12cc0e5b000000";

fn npy() -> Vec<u8> {
    let digits = NPY.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}

#[test]
fn a_compressed_file_is_read_in_every_command() {
    let folder = folder_with(&[]);
    fs::write(folder.path().join("m.npy.gz"), npy()).unwrap();
    // Its name says nothing.
    fs::write(folder.path().join("m.data"), npy()).unwrap();
    let lines: Vec<String> = [
        &["info", "@/m.npy.gz"][..],
        &["info", "@/m.data", "--json"],
        &["show", "@/m.npy.gz"],
        &["verify", "@/m.npy.gz"],
        &["stats", "@/m.npy.gz"],
        &["hash", "@/m.npy.gz"],
        &["convert", "@/m.npy.gz", "@/m.safetensors"],
        &["info", "@/m.safetensors"],
        &["diff", "@/m.npy.gz", "@/m.safetensors"],
        &["info", "@/m.npy.gz", "--max-decoded", "10"],
    ]
    .iter()
    .map(|words| shown(&folder, &tenfold_in(&folder, words)))
    .collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn standard_input_may_be_compressed() {
    assert_snapshot!(tenfold_with(["show", "-"], npy()));
}

#[test]
fn a_broken_member_is_refused_at_its_first_byte() {
    let mut bytes = npy();
    *bytes.last_mut().unwrap() ^= 1;
    assert_snapshot!(tenfold_with(["verify", "-"], bytes));
}

#[test]
fn an_output_that_is_called_gz_is_compressed() {
    let folder = folder_with(&[
        ("a.npy", "npy/good/version_2.npy"),
        ("b.zt", "ztensor/good/row_major.zt"),
    ]);
    let lines: Vec<String> = [
        &["convert", "@/a.npy", "@/a.npy.gz"][..],
        &["diff", "@/a.npy", "@/a.npy.gz"],
        &["convert", "@/b.zt", "@/b.safetensors.GZ"],
        &["verify", "@/b.safetensors.GZ"],
        &["convert", "@/a.npy", "@/a.gz"],
    ]
    .iter()
    .map(|words| shown(&folder, &tenfold_in(&folder, words)))
    .collect();
    let written = fs::read(folder.path().join("a.npy.gz")).unwrap();
    assert!(written.starts_with(b"\x1f\x8b\x08"));
    assert_snapshot!(lines.join("\n"));
}

/// The same array as liblzma compresses it.
const XZ: &str = "\
    fd377a585a000004e6d6b4460200210116000000742fe5a3e00082004a5d00499386a4ded382796a5b0d233836\
    ab9d9d4c4deee36dc331696bfb1134772c5d7e20338ead2c39772d8d6ac52af3db77899e2dc6c2b34d9b46a71c\
    e8122832329674e7968918e04b2b880000003bd675102f4be2020001668301000000bd950253b1c467fb020000\
    000004595a";

#[test]
fn xz_and_zstd_files_are_read_and_not_written() {
    let folder = folder_with(&[]);
    let digits = XZ.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    fs::write(
        folder.path().join("m.npy.xz"),
        digits.map(byte).collect::<Vec<u8>>(),
    )
    .unwrap();
    let ran = tenfold_in(&folder, &["show", "@/m.npy.xz", "--csv"]);
    assert!(ran.text().contains("1") && ran.exit.code() == 0, "{ran}");
    for name in ["@/n.npy.xz", "@/n.npy.zst"] {
        let ran = tenfold_in(&folder, &["convert", "@/m.npy.xz", name]);
        assert_eq!(ran.exit.code(), 2, "{ran}");
        assert!(ran.errors.contains("written as .gz alone"), "{ran}");
    }
}
