//! `--raw`: numbers that say nothing of themselves.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "only tests use it"
)]

use std::fs;

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::support::{shown, tenfold, tenfold_with};

/// Twelve numbers as floats, as big-endian doubles behind a head, and as an array of NumPy's.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let numbers: Vec<f32> = (0_u8..12).map(|place| f32::from(place) / 8.0).collect();
    let plain: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    fs::write(folder.path().join("plain.dat"), &plain).unwrap();
    let mut big = b"sixteen bytes...".to_vec();
    // Column by column.
    for column in 0..4 {
        for row in 0..3 {
            big.extend(f64::from(numbers[row * 4 + column]).to_be_bytes());
        }
    }
    big.extend(b"end");
    fs::write(folder.path().join("big.dat"), big).unwrap();
    let mut array = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let head = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
    array.extend(format!("{head:<117}\n").bytes());
    array.extend(plain);
    fs::write(folder.path().join("array.npy"), array).unwrap();
    folder
}

/// Runs a line of words in which `@/` is the folder.
fn ran(folder: &TempDir, line: &str) -> String {
    let at = format!("{}/", folder.path().display());
    let words = line.split(' ').map(|word| word.replace("@/", &at));
    shown(folder, &tenfold(words))
}

const BIG: &str = "--raw dtype=double,shape=3x?,order=F,endian=big,offset=16";

#[test]
fn numbers_are_read_as_they_are_described() {
    let folder = folder();
    for (name, line) in [
        ("everything", "info @/plain.dat --raw dtype=f32".to_owned()),
        (
            "matrix",
            "show @/plain.dat --raw dtype=<f4,shape=3,4".into(),
        ),
        ("big_endian", format!("show @/big.dat {BIG}")),
        (
            "complex",
            "show @/plain.dat --raw dtype=c64,shape=?x3".into(),
        ),
        ("verified", "verify @/plain.dat --raw dtype=bf16".into()),
        ("strict", format!("info @/big.dat --strict {BIG}")),
    ] {
        assert_snapshot!(name, ran(&folder, &line));
    }
}

#[test]
fn a_file_and_its_raw_twin_are_one() {
    let folder = folder();
    let twin = "@/array.npy @/plain.dat --raw dtype=f32,shape=3x4";
    assert!(ran(&folder, &format!("diff {twin}")).ends_with("1 same\n[exit 0]"));
    let hashes = [
        "hash @/array.npy",
        "hash @/plain.dat --raw dtype=f32,shape=3x4",
    ];
    let hashes = hashes.map(|line| ran(&folder, line).get(..64).unwrap().to_owned());
    assert_eq!(hashes[0], hashes[1]);
    let made = "convert @/plain.dat @/made.npy --raw dtype=f32,shape=3x4";
    assert!(ran(&folder, made).ends_with("[exit 0]"));
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("made.npy"), read("array.npy"));
}

#[test]
fn what_is_written_says_how_it_is_read_again() {
    let folder = folder();
    let line = "convert @/array.npy @/out.dat --raw dtype=f64,order=F,endian=big,offset=16";
    assert_snapshot!("written", ran(&folder, line));
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let big = read("big.dat");
    assert_eq!(read("out.dat")[..16], [0; 16]);
    assert_eq!(read("out.dat")[16..], big[16..big.len() - 3]);
    let twice = "convert @/plain.dat @/both.dat --raw dtype=f32,shape=3x4 --raw dtype=f64,order=F,endian=big";
    assert_snapshot!("both_sides", ran(&folder, twice));
    assert_eq!(read("both.dat"), read("out.dat")[16..]);
}

#[test]
fn in_a_pipe_too() {
    let folder = folder();
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let words = "convert - - --to npy --raw dtype=f32,shape=3x4".split(' ');
    assert_eq!(
        tenfold_with(words, read("plain.dat")).out,
        read("array.npy")
    );
    let words = "convert - - --raw dtype=f32".split(' ');
    assert_eq!(
        tenfold_with(words, read("array.npy")).out,
        read("plain.dat")
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = folder();
    let lines = [
        "info @/plain.dat",
        "info @/plain.dat --raw shape=3x4",
        "info @/plain.dat --raw dtype=f64,shape=3x4",
        "info @/plain.dat --raw dtype=f32,shape=0x?",
        "info @/plain.dat --raw dtype=f32,shape=?x?",
        "info @/plain.dat --raw dtype=f32,shape=99999999999999999999",
        "info @/plain.dat --raw dtype=f32,shape=9999999999x9999999999x9999999999",
        "info @/plain.dat --raw dtype=f32,offset=49",
        "info @/plain.dat --raw dtype=f32,order=row",
        "info @/plain.dat --raw type=f32",
        "info @/plain.dat --raw dtype=>f4",
        "info @/plain.dat --raw dtype=f32 --from npy",
        "convert @/plain.dat @/out.dat --raw dtype=f32",
        "convert @/array.npy @/out.dat --raw dtype=c64",
        "convert @/array.npy @/out.dat --raw shape=4x3",
    ];
    let said = lines.map(|line| format!("{line}\n{}", ran(&folder, line)));
    assert_snapshot!(said.join("\n\n"));
    let big = "convert @/big.dat @/out.dat --raw dtype=u64,endian=big,offset=16 --raw dtype=i8";
    assert_snapshot!("no_room", ran(&folder, big));
}
