//! Reads Vespa's headers and finds its blocks, in file order.
#![deny(clippy::arithmetic_side_effects)]

use std::sync::Arc;

use super::{CELL_TYPES, DENSE, NAME, SPARSE, WITH_CELL_TYPE, is_usual_name};
use crate::bundle::Bundle;
use crate::bytes::Endian::Big;
use crate::bytes::{Bytes, Extent, LabelSet, Records, Scan, short, short_text, to_u64, to_usize};
use crate::dtype::{DType, Number, Numbers};
use crate::error::Result;
use crate::format::{Mode, ReadOptions};
use crate::io::{Head, Source};
use crate::note::{Note, NoteKind};
use crate::tensor::{Address, Dim, Order, Storage, Tensor};

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let mut reader = Reader {
        source,
        how,
        scan: Scan::new(source, NAME),
        notes: Vec::new(),
    };
    let tag = reader.tag()?;
    let number_at = reader.scan.at();
    let number = reader.number(tag)?;
    let mapped = reader.mapped(tag)?;
    let (indexed, block_len) = reader.indexed(tag, number, &mapped)?;

    let dims: Vec<Dim> = mapped.iter().map(Dim::mapped).chain(indexed).collect();
    let (number, storage) = if dims.is_empty() {
        (Number::F64, reader.scalar(tag, number, number_at)?)
    } else if mapped.is_empty() {
        (number, reader.dense(number, block_len)?)
    } else {
        let storage = reader.labelled(tag, number, mapped.len(), block_len)?;
        (number, storage)
    };
    reader.end()?;

    let tensor = Tensor::new(dims, DType::real(number), vec![], storage)?;
    let mut bundle = Bundle::of(tensor);
    reader.notes.into_iter().for_each(|note| bundle.note(note));
    Ok(bundle)
}

/// Whether a file begins with a tag.
pub(super) fn begins(head: &Head) -> bool {
    matches!(
        head.bytes(),
        [1..=3 | 5..=7, ..] | [0x80, 0, 0, 1..=3 | 5..=7, ..]
    )
}

struct Reader<'a> {
    source: &'a Source,
    how: &'a ReadOptions,
    scan: Scan<'a>,
    notes: Vec<Note>,
}

impl Reader<'_> {
    fn tag(&mut self) -> Result<u32> {
        let at = self.scan.at();
        match short(&mut self.scan)? {
            tag @ (1..=3 | 5..=7) => Ok(tag),
            tag => {
                let why = format!("the tag is {tag}, not one of 1, 2, 3, 5, 6, 7");
                self.scan.fail_at(at, why)
            }
        }
    }

    fn number(&mut self, tag: u32) -> Result<Number> {
        if tag & WITH_CELL_TYPE == 0 {
            return Ok(Number::F64);
        }
        let at = self.scan.at();
        let id = short(&mut self.scan)?;
        match CELL_TYPES.get(to_usize(id.into())?) {
            Some(number) => Ok(*number),
            None => self
                .scan
                .fail_at(at, format!("the cell type is {id}, 0 to 3 are known")),
        }
    }

    fn mapped(&mut self, tag: u32) -> Result<Vec<String>> {
        if tag & SPARSE == 0 {
            return Ok(Vec::new());
        }
        let n_mapped = self.count("mapped dimensions", 1)?;
        self.how.limits.check_ndim(n_mapped)?;
        let mut names: Vec<String> = Vec::with_capacity(self.scan.room(n_mapped, 1));
        for _ in 0..n_mapped {
            let name = self.name(names.last(), &[])?;
            names.push(name);
        }
        Ok(names)
    }

    /// The indexed dimensions, and the length of a block's cells in bytes.
    fn indexed(&mut self, tag: u32, number: Number, mapped: &[String]) -> Result<(Vec<Dim>, u64)> {
        let mut block_len = to_u64(number.width());
        if tag & DENSE == 0 {
            return Ok((Vec::new(), block_len));
        }
        let n_indexed = self.count("indexed dimensions", 2)?;
        let limits = &self.how.limits;
        limits.check_ndim(to_u64(mapped.len()).saturating_add(n_indexed))?;
        let mut dims: Vec<Dim> = Vec::with_capacity(self.scan.room(n_indexed, 2));
        for _ in 0..n_indexed {
            let last = dims.last().and_then(|dim| dim.name.as_ref());
            let name = self.name(last, mapped)?;
            let at = self.scan.at();
            let size = u64::from(short(&mut self.scan)?);
            if size == 0 {
                return self.scan.fail_at(at, "a size is 0, the least is 1");
            }
            block_len = match block_len.checked_mul(size) {
                Some(len) => len,
                None => {
                    let why = format!("a size of {size} makes blocks of 2^64 bytes or more");
                    return self.scan.fail_at(at, why);
                }
            };
            dims.push(Dim::indexed(size).named(name));
        }
        Ok((dims, block_len))
    }

    /// Reads a count of items that take at least `least` bytes each.
    fn count(&mut self, what: &str, least: u64) -> Result<u64> {
        let at = self.scan.at();
        let count = u64::from(short(&mut self.scan)?);
        let (needed, left) = (count.saturating_mul(least), self.scan.left());
        if needed > left {
            let why = format!("{count} {what} need at least {needed} bytes, {left} left");
            return self.scan.fail_at(at, why);
        }
        Ok(count)
    }

    /// The name of a dimension, which is greater than the `last` one and none of `others`.
    fn name(&mut self, last: Option<&String>, others: &[String]) -> Result<String> {
        let at = self.scan.at();
        let mut name = String::new();
        short_text(&mut self.scan, &mut name, &self.how.limits)?;
        if name.is_empty() {
            return self.scan.fail_at(at, "the name of a dimension is empty");
        }
        if name.contains('\0') {
            let why = format!("the name {name:?} of a dimension has a NUL in it");
            return self.scan.fail_at(at, why);
        }
        if last == Some(&name) || others.contains(&name) {
            let why = format!("two dimensions are called {name:?}");
            return self.scan.fail_at(at, why);
        }
        if let Some(last) = last.filter(|last| **last > name) {
            let why = format!("the name {name:?} follows {last:?}, names come sorted");
            return self.scan.fail_at(at, why);
        }
        if !is_usual_name(&name) {
            let text = format!("other programs refuse {name:?} as the name of a dimension");
            self.notes.push(Note::new(NoteKind::OddName, text).at(at));
        }
        Ok(name)
    }

    /// Checks that nothing follows; a lenient reader ignores it.
    fn end(&mut self) -> Result<()> {
        let (at, left) = (self.scan.at(), self.scan.left());
        if self.how.mode == Mode::Strict || left == 0 {
            return self.scan.end();
        }
        let text = format!("bytes after the end of the data: {left}");
        self.notes.push(Note::new(NoteKind::Lenient, text).at(at));
        Ok(())
    }

    /// The one cell of a tensor without dimensions, as f64.
    fn scalar(&mut self, tag: u32, number: Number, number_at: u64) -> Result<Storage> {
        if number != Number::F64 {
            let text = format!("a tensor without dimensions is {number}, only f64 is legal");
            match self.how.mode {
                Mode::Strict => return self.scan.fail_at(number_at, text),
                Mode::Lenient => {
                    let note = Note::new(NoteKind::Lenient, text);
                    self.notes.push(note.at(number_at));
                }
            }
        }
        let count_at = self.scan.at();
        let count = if tag & DENSE == 0 {
            short(&mut self.scan)?
        } else {
            1
        };
        let values = match (count, number) {
            (0, _) => Numbers::from_vec(&[0.0_f64]),
            (1, Number::F64) => return self.dense(number, to_u64(number.width())),
            (1, _) => {
                let mut cell = self.scan.take(to_u64(number.width()))?;
                cell.reverse();
                Numbers::from_vec(&[number.to_f64(&cell)])
            }
            _ => {
                let why = format!("{count} cells without dimensions, at most 1 is legal");
                return self.scan.fail_at(count_at, why);
            }
        };
        Ok(Storage::Dense {
            order: Order::Row,
            values,
        })
    }

    fn dense(&mut self, number: Number, len: u64) -> Result<Storage> {
        let run = self.scan.values(len)?;
        Ok(Storage::Dense {
            order: Order::Row,
            values: Numbers {
                number,
                endian: Big,
                bytes: Bytes::run(self.source, run)?,
            },
        })
    }

    fn labelled(
        &mut self,
        tag: u32,
        number: Number,
        n_mapped: usize,
        block_len: u64,
    ) -> Result<Storage> {
        // A label takes at least the byte of its length.
        let least = block_len.saturating_add(to_u64(n_mapped));
        let n_blocks = self.count("blocks", least)?;
        let mut labels_seen = LabelSet::default();
        let mut empty_at = None;
        let records = Records::find(
            &mut self.scan,
            n_blocks,
            n_mapped,
            block_len,
            &self.how.limits,
            &mut |at, labels| {
                labels_seen.push(labels)?;
                if empty_at.is_none() && labels.iter().any(String::is_empty) {
                    empty_at = Some(at);
                }
                Ok(())
            },
        )?;
        if let Some(at) = labels_seen.duplicate(&records, self.source)? {
            let why = "a block has the labels of an earlier one";
            return self.scan.fail_at(at, why);
        }
        if empty_at.is_some() && tag & DENSE == 0 {
            let text = "other programs refuse empty labels in a tensor without indexed dimensions";
            let note = Note::new(NoteKind::EmptyLabel, text);
            self.notes.push(note.at(empty_at));
        }
        let extent = Extent::Records(Arc::new(records));
        Ok(Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values: Numbers {
                number,
                endian: Big,
                bytes: Bytes::part(self.source, extent)?,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::limits::Limits;
    use crate::tensor::{Cell, Size};

    const ONE: [u8; 8] = 1.0_f64.to_be_bytes();
    const TWO: [u8; 8] = 2.0_f64.to_be_bytes();

    fn read_parts(parts: &[&[u8]], mode: Mode) -> Result<Bundle> {
        let how = ReadOptions {
            mode,
            ..ReadOptions::default()
        };
        read(&Source::memory(parts.concat()), &how)
    }

    fn refusal(parts: &[&[u8]]) -> String {
        read_parts(parts, Mode::Strict).unwrap_err().to_string()
    }

    fn blocks(tensor: &Tensor) -> Vec<(Vec<String>, Vec<f64>)> {
        let mut found = Vec::new();
        tensor
            .for_each_cell(&Limits::default(), &mut |cell| {
                let Cell::Labelled { labels, values } = cell else {
                    panic!("a cell without labels");
                };
                let bytes = values.bytes.to_vec()?;
                let cells = bytes.chunks(values.number.width());
                let little = cells.map(|cell| cell.iter().rev().copied().collect::<Vec<u8>>());
                let numbers = little.map(|cell| values.number.to_f64(&cell));
                found.push((labels.to_vec(), numbers.collect()));
                Ok(())
            })
            .unwrap();
        found
    }

    #[test]
    fn a_dense_tensor_is_row_major_under_its_sorted_names() {
        let parts: &[&[u8]] = &[b"\x06\x03\x02\x01x\x02\x01y\x03", &[1, 2, 3, 4, 5, 0xff]];
        let bundle = read_parts(parts, Mode::Strict).unwrap();
        let tensor = bundle.only().unwrap();
        let dims = [Dim::indexed(2).named("x"), Dim::indexed(3).named("y")];
        assert_eq!(tensor.dims(), dims);
        assert_eq!(tensor.to_vec::<i8>().unwrap(), [1, 2, 3, 4, 5, -1]);
        assert!(bundle.notes().is_empty());
    }

    #[test]
    fn mapped_dimensions_come_before_indexed_ones_whatever_their_names() {
        let header = b"\x03\x01\x01z\x01\x01a\x02\x02".as_slice();
        let parts = [header, b"\x01q", &ONE, &TWO, b"\x01p", &TWO, &ONE];
        let bundle = read_parts(&parts, Mode::Strict).unwrap();
        let tensor = bundle.only().unwrap();
        assert_eq!(tensor.dims()[0].size, Size::Mapped);
        assert_eq!(tensor.dims()[1], Dim::indexed(2).named("a"));
        assert_eq!(
            blocks(tensor),
            [
                (vec!["q".into()], vec![1.0, 2.0]),
                (vec!["p".into()], vec![2.0, 1.0])
            ]
        );
    }

    #[test]
    fn a_scalar_is_read_from_all_its_forms() {
        let forms: [&[u8]; 6] = [
            b"\x01\0\x01",
            b"\x02\0",
            b"\x03\0\0",
            b"\x05\0\0\x01",
            b"\x06\0\0",
            b"\x07\0\0\0",
        ];
        for form in forms {
            let bundle = read_parts(&[form, &TWO], Mode::Strict).unwrap();
            assert_eq!(bundle.only().unwrap().to_vec::<f64>().unwrap(), [2.0]);
        }
        for form in [b"\x01\0\0".as_slice(), b"\x05\0\0\0"] {
            let bundle = read_parts(&[form], Mode::Strict).unwrap();
            assert_eq!(bundle.only().unwrap().to_vec::<f64>().unwrap(), [0.0]);
        }
        assert_eq!(
            refusal(&[b"\x01\0\x02", &ONE, &TWO]),
            "not a valid vespa file: 2 cells without dimensions, at most 1 is legal (byte 2)"
        );
    }

    #[test]
    fn a_scalar_that_is_no_double_is_widened_by_a_lenient_reader() {
        let forms: [&[u8]; 3] = [
            b"\x06\x01\0\xbf\xc0\0\0",
            b"\x05\x02\0\x01\xbf\xc0",
            b"\x07\x03\0\0\xfe",
        ];
        for (form, value) in forms.into_iter().zip([-1.5, -1.5, -2.0]) {
            let bundle = read_parts(&[form], Mode::Lenient).unwrap();
            assert_eq!(bundle.only().unwrap().to_vec::<f64>().unwrap(), [value]);
            let [note] = bundle.notes() else {
                panic!("{:?}", bundle.notes());
            };
            assert_eq!((note.kind, note.at), (NoteKind::Lenient, Some(1)));
            assert!(refusal(&[form]).contains("only f64 is legal (byte 1)"));
        }
    }

    #[test]
    fn four_byte_integers_are_read_and_a_repeated_block_is_still_found_at_its_first_byte() {
        let parts: &[&[u8]] = &[
            b"\x80\0\0\x07\x80\0\0\x03",
            b"\x80\0\0\x01\x80\0\0\x01x",
            b"\x80\0\0\x01\x80\0\0\x01y\x80\0\0\x02",
            b"\x80\0\0\x02",
            b"\x80\0\0\x01a\x01\x02",
        ];
        let again: &[u8] = b"\x80\0\0\x01a\x03\x04";
        let other: &[u8] = b"\x80\0\0\x01b\x03\x04";
        let bundle = read_parts(&[parts, &[other]].concat(), Mode::Strict).unwrap();
        assert_eq!(bundle.only().unwrap().stored(), 2);
        assert_eq!(
            refusal(&[parts, &[again]].concat()),
            "not a valid vespa file: a block has the labels of an earlier one (byte 41)"
        );
    }

    #[test]
    fn labels_are_compared_one_by_one_not_run_together() {
        let header = b"\x01\x02\x01x\x01y\x02".as_slice();
        let parts = [header, b"\x02ab\x01c", &ONE, b"\x01a\x02bc", &TWO];
        let bundle = read_parts(&parts, Mode::Strict).unwrap();
        assert_eq!(bundle.only().unwrap().stored(), 2);
    }

    #[test]
    fn names_must_be_sorted_once_filled_and_without_nul() {
        let files: [(&[u8], &str); 6] = [
            (
                b"\x01\x02\x01y\x01x\0",
                "the name \"x\" follows \"y\", names come sorted (byte 4)",
            ),
            (
                b"\x01\x02\x01x\x01x\0",
                "two dimensions are called \"x\" (byte 4)",
            ),
            (
                b"\x03\x01\x01x\x01\x01x\x01\0",
                "two dimensions are called \"x\" (byte 5)",
            ),
            (b"\x01\x01\0\0", "the name of a dimension is empty (byte 2)"),
            (
                b"\x01\x01\x02a\0\0",
                "the name \"a\\0\" of a dimension has a NUL in it (byte 2)",
            ),
            (
                b"\x01\x01\x01\xff\0",
                "a name or label is not UTF-8 (byte 2)",
            ),
        ];
        for (file, why) in files {
            assert_eq!(refusal(&[file]), format!("not a valid vespa file: {why}"));
        }
    }

    #[test]
    fn odd_names_and_empty_labels_are_noted_once() {
        let header = b"\x01\x02\x02\xc3\xa6\x03\xc3\xa6-\x02".as_slice();
        let parts = [header, b"\0\x01a", &ONE, b"\x01a\0", &TWO];
        let bundle = read_parts(&parts, Mode::Strict).unwrap();
        let notes: Vec<_> = bundle
            .notes()
            .iter()
            .map(|note| (note.kind, note.at))
            .collect();
        assert_eq!(
            notes,
            [
                (NoteKind::OddName, Some(2)),
                (NoteKind::OddName, Some(5)),
                (NoteKind::EmptyLabel, Some(10))
            ]
        );
    }

    #[test]
    fn counts_that_exceed_the_file_are_refused_before_anything_is_allocated() {
        let most = b"\xff\xff\xff\xff".as_slice();
        assert_eq!(
            refusal(&[b"\x01", most, b"\x01x"]),
            "not a valid vespa file: 2147483647 mapped dimensions need at least 2147483647 bytes, \
             2 left (byte 1)"
        );
        assert!(refusal(&[b"\x02", most, b"\x01x\x01"]).contains("(byte 1)"));
        assert_eq!(
            refusal(&[b"\x01\x01\x01x", most, b"\x01a", &ONE]),
            "not a valid vespa file: 2147483647 blocks need at least 19327352823 bytes, 10 left \
             (byte 4)"
        );
        assert_eq!(
            refusal(&[b"\x01\x01\x01x\x01", most, b"a", &ONE]),
            "not a valid vespa file: a name or label of 2147483647 bytes, 9 left (byte 5)"
        );
    }

    #[test]
    fn a_block_of_2_to_the_64_bytes_is_refused_even_if_there_is_none() {
        let sizes = [b'a', b'b', b'c', b'd'].map(|name| [1, name, 0x80, 1, 0, 0]);
        let sizes = sizes.concat();
        for header in [b"\x06\x03\x04".as_slice(), b"\x07\x03\x01\x01k\x04"] {
            let why = refusal(&[header, &sizes, b"\0"]);
            assert!(why.contains("a size of 65536 makes blocks of 2^64 bytes or more"));
        }
    }

    #[test]
    fn no_blocks_are_legal_however_large_one_would_be() {
        let file: &[u8] = b"\x03\x01\x01k\x01\x01x\xff\xff\xff\xff\0";
        let bundle = read_parts(&[file], Mode::Strict).unwrap();
        let tensor = bundle.only().unwrap();
        assert_eq!((tensor.stored(), tensor.cells()), (0, Some(0x7fff_ffff)));
    }

    #[test]
    fn more_dimensions_than_the_limit_are_no_fault_of_the_file() {
        let names: Vec<u8> = (0..=255_u8)
            .flat_map(|n| [2, 0x61 + n / 16, 0x61 + n % 16])
            .collect();
        let file = [b"\x01\x80\0\x01\0".as_slice(), &names, b"\0"].concat();
        let error = read(&Source::memory(file.clone()), &ReadOptions::default()).unwrap_err();
        assert!(matches!(error, Error::Limit { limit: "ndim", .. }));
        let mut how = ReadOptions::default();
        how.limits.ndim = 256;
        let bundle = read(&Source::memory(file), &how).unwrap();
        assert_eq!(bundle.only().unwrap().n_mapped(), 256);
    }
}
