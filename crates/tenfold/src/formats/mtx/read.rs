//! Reads Matrix Market files, in file order.
#![deny(clippy::arithmetic_side_effects)]

use super::header::{Banner, Kinds, Layout, Triangle};
use super::{COMMENTS, NAME};
use crate::bundle::Bundle;
use crate::bytes::Endian;
use crate::dtype::{Number, Numbers};
use crate::error::{Error, Result};
use crate::format::ReadOptions;
use crate::io::Source;
use crate::limits::Limits;
use crate::tensor::{Address, Dim, Order, Storage, Tensor};
use crate::wire::text::{Body, Cells, Comments, Fields, Line, Lines, Quick, Table, cut, with_line};

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    with_line(source, read_text(source, &how.limits))
}

fn read_text(source: &Source, limits: &Limits) -> Result<Bundle> {
    let mut lines = Lines::new(source, limits);
    let first = lines.next()?.ok_or_else(|| cut(source, "the banner"))?;
    let banner = Banner::read(&first)?;
    let comments = Comments::read(&mut lines, COMMENTS, |_, _| Ok(false))?;
    let sizes = lines
        .next_full()?
        .ok_or_else(|| cut(source, "the sizes of the matrix"))?;
    let sizes = Sizes::read(&sizes, banner)?;
    let entries = Entries { banner, sizes };
    let storage = entries.read(source, lines.at(), limits)?;
    let dims = vec![Dim::indexed(sizes.rows), Dim::indexed(sizes.columns)];
    let symmetries = banner.symmetry.symmetries();
    let tensor = Tensor::within(dims, banner.field.dtype(), symmetries, storage, limits)?;
    let mut bundle = Bundle::of(tensor);
    comments.keep(COMMENTS, &mut bundle.meta, &mut bundle.hints);
    Ok(bundle)
}

/// The line of sizes.
#[derive(Clone, Copy)]
struct Sizes {
    rows: u64,
    columns: u64,
    /// The number of entries.
    count: u64,
}

impl Sizes {
    fn read(line: &Line, banner: Banner) -> Result<Sizes> {
        let mut fields = line.fields();
        let rows = fields.need("the number of rows")?.whole()?;
        let columns = fields.need("the number of columns")?;
        let at = columns.at;
        let columns = columns.whole()?;
        if banner.symmetry != Triangle::General && rows != columns {
            let why = format!("{rows} × {columns}, a matrix with a symmetry is square");
            return Err(Error::malformed(at, why));
        }
        let cells = u128::from(rows).saturating_mul(columns.into());
        if cells > u64::MAX.into() {
            return Err(Error::Unsupported {
                format: NAME,
                what: format!("a matrix of {rows} × {columns}, 2^64 cells or more,"),
            });
        }
        let count = match banner.layout {
            Layout::Coordinate => fields.need("the number of entries")?.whole()?,
            // Not more than there are cells.
            Layout::Array => u64::try_from(banner.symmetry.count(rows, columns)).unwrap_or(0),
        };
        fields.end()?;
        Ok(Sizes {
            rows,
            columns,
            count,
        })
    }
}

/// The parser of entries, after the line of sizes.
struct Entries {
    banner: Banner,
    sizes: Sizes,
}

impl Entries {
    fn read(&self, source: &Source, from: u64, limits: &Limits) -> Result<Storage> {
        let body = Body {
            from,
            comment: None,
        };
        let parse = |line: &Line, cells: &mut Cells| self.parse(line, cells);
        let table = Table::read(source, body, Some(self.sizes.count), limits, parse)?;
        let numbers = |number, bytes| Numbers {
            number,
            endian: Endian::Little,
            bytes,
        };
        let (places, values) = table.finish()?;
        let values = numbers(self.banner.field.dtype().number, values);
        let order = Order::Column;
        Ok(match self.banner.layout {
            Layout::Array => Storage::Dense { order, values },
            Layout::Coordinate => Storage::Sparse {
                order,
                address: Address::Linear(numbers(Number::U64, places)),
                values,
            },
        })
    }

    fn parse(&self, line: &Line, cells: &mut Cells) -> Result<()> {
        match self.parse_quickly(line, cells) {
            Some(()) => Ok(()),
            None => self.parse_fields(line, cells),
        }
    }

    /// A plain entry of a real matrix.
    fn parse_quickly(&self, line: &Line, cells: &mut Cells) -> Option<()> {
        if self.banner.field != Kinds::Real {
            return None;
        }
        let mut quick = Quick::new(line.text);
        let mut place = None;
        if self.banner.layout == Layout::Coordinate {
            let row = quick.whole()?.checked_sub(1)?;
            let column = quick.whole()?.checked_sub(1)?;
            let is_inside = row < self.sizes.rows && column < self.sizes.columns;
            if !is_inside || !self.banner.symmetry.stores(row, column) {
                return None;
            }
            // Not more than there are cells.
            place = Some(column.saturating_mul(self.sizes.rows).saturating_add(row));
        }
        let value = quick.float()?;
        if !quick.is_over() {
            return None;
        }
        if let Some(place) = place {
            cells.place(place);
        }
        cells.values.extend_from_slice(&value.to_le_bytes());
        cells.count = cells.count.saturating_add(1);
        Some(())
    }

    fn parse_fields(&self, line: &Line, cells: &mut Cells) -> Result<()> {
        let mut fields = line.fields();
        if line.text.first() == Some(&b'%') {
            let why = "a comment among the entries, where none may stand";
            return Err(Error::malformed(line.at, why));
        }
        if self.banner.layout == Layout::Coordinate {
            let field = fields.need("a row")?;
            let row = field.index("row", self.sizes.rows)?;
            let column = fields.need("a column")?;
            let column = column.index("column", self.sizes.columns)?;
            if !self.banner.symmetry.stores(row, column) {
                let (row, column) = (row.saturating_add(1), column.saturating_add(1));
                let why =
                    format!("entry {row}, {column} follows from those below, and is not given");
                return Err(Error::malformed(field.at, why));
            }
            // Not more than there are cells.
            cells.place(column.saturating_mul(self.sizes.rows).saturating_add(row));
        }
        self.value(&mut fields, &mut cells.values)?;
        cells.count = cells.count.saturating_add(1);
        fields.end()
    }

    fn value(&self, fields: &mut Fields, out: &mut Vec<u8>) -> Result<()> {
        let mut next = || fields.need("a value");
        match self.banner.field {
            Kinds::Real => out.extend_from_slice(&next()?.float()?.to_le_bytes()),
            Kinds::Integer => out.extend_from_slice(&next()?.integer()?.to_le_bytes()),
            Kinds::Unsigned => out.extend_from_slice(&next()?.whole()?.to_le_bytes()),
            Kinds::Complex => {
                out.extend_from_slice(&next()?.float()?.to_le_bytes());
                out.extend_from_slice(&next()?.float()?.to_le_bytes());
            }
            Kinds::Pattern => out.push(1),
        }
        Ok(())
    }
}
