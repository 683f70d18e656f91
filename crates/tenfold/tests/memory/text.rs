//! Texts far larger than the memory they are parsed in.

use std::fmt::Write as _;
use std::io::Write as _;

use tenfold::{ReadOptions, Source};

use crate::streaming::MIB;
use crate::{alone, watched};

const MEMORY: usize = 8 * MIB;

/// Pieces on their way between the threads that parse them, with the cells found in each.
const BESIDES: usize = 40 * MIB;

/// How many cells a text has.
const CELLS: u64 = 3_000_000;

/// A file that begins with `header` and has a line for every cell.
fn text(header: &str, line: impl Fn(u64, &mut String)) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(header.as_bytes()).unwrap();
    let mut lines = String::new();
    for cell in 0..CELLS {
        line(cell, &mut lines);
        if lines.len() > MIB || cell + 1 == CELLS {
            file.write_all(lines.as_bytes()).unwrap();
            lines.clear();
        }
    }
    file
}

#[test]
fn a_text_larger_than_the_budget_is_read_within_it() {
    let _alone = alone();
    let matrix = format!("%%MatrixMarket matrix coordinate real general\n3000 1000 {CELLS}\n");
    let matrix = text(&matrix, |cell, out| {
        let (row, column) = (cell % 3000 + 1, cell / 3000 + 1);
        writeln!(out, "{row} {column} 0.{cell:07}").unwrap();
    });
    let third = |cell: u64, out: &mut String| {
        let (first, second) = (cell / 30_000 + 1, cell / 300 % 100 + 1);
        writeln!(out, "{first} {second} {} 0.{cell:07}", cell % 300 + 1).unwrap();
    };
    let plain = text("", third);
    let extended = text(&format!("3 {CELLS}\n100 100 300\n"), third);
    for (name, file) in [("mtx", matrix), ("tns", plain), ("tns", extended)] {
        let source = Source::open(file.path()).unwrap();
        assert!(source.len() > 5 * MEMORY as u64);
        let format = tenfold::by_name(name).unwrap();
        let mut how = ReadOptions::default();
        how.limits.memory = MEMORY as u64;
        let (opened, held) = watched(|| tenfold::read(&source, format, &how));
        let opened = opened.unwrap();
        assert!(
            held <= MEMORY + BESIDES,
            "{name}: {held} bytes held while reading"
        );
        let (checked, held) = watched(|| opened.bundle.check(&how.limits));
        assert_eq!(checked.unwrap(), []);
        assert!(
            held <= MEMORY + BESIDES,
            "{name}: {held} bytes held while checking"
        );
        let tensor = opened.bundle.only().unwrap();
        assert_eq!(tensor.stored(), CELLS);
    }
}
