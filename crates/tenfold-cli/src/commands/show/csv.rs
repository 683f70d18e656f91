//! Values as CSV: a table for vectors and matrices, otherwise one line per cell.
//!
//! Numbers have all their digits, text is quoted as in RFC 4180, and lines end in a line feed.

use tenfold::{
    Bundle, Cell, DType, Dim, Endian, Error, Limits, Result, Storage, Tensor, write_element,
};

use crate::args::Table;
use crate::terminal::{Out, plain};

/// Bytes of values held at a time.
const BUDGET: usize = 1 << 20;
/// Bytes of text held at a time.
const PIECE: usize = 1 << 12;

/// Prints the only tensor; labels are sanitized for a terminal.
pub(super) fn print(
    bundle: &Bundle,
    table: Table,
    is_for_eyes: bool,
    limits: &Limits,
    out: &mut Out,
) -> Result<()> {
    let tensor = match bundle.entries() {
        [(_, tensor)] => tensor,
        [] => return Err(Error::Invalid("there is no tensor".into())),
        several => {
            let count = several.len();
            let why =
                format!("a table is of one tensor, and here are {count}: name one, as in FILE:KEY");
            return Err(Error::Invalid(why));
        }
    };
    tensor.compare_checksums()?;
    let is_wide = match table {
        Table::Auto => is_table(tensor) && !is_scattered(tensor),
        Table::Long => false,
        Table::Wide if is_table(tensor) => true,
        Table::Wide => return Err(Error::Invalid(no_table(tensor))),
    };
    let mut lines = Lines {
        out,
        text: String::new(),
        dtype: tensor.dtype(),
        is_for_eyes,
    };
    if is_wide {
        lines.wide(tensor, limits)?
    } else {
        lines.long(tensor, limits)?
    }
    lines.flush()
}

/// Whether the tensor is a table: labels can be its headers.
fn is_table(tensor: &Tensor) -> bool {
    let is_labelled = matches!(tensor.dims(), [first, ..] if first.indexed_size().is_none());
    tensor.dims().len() <= 2 && (tensor.n_mapped() == 0 || tensor.n_mapped() == 1 && is_labelled)
}

/// Whether only some cells are stored.
fn is_scattered(tensor: &Tensor) -> bool {
    tensor.n_mapped() == 0 && matches!(tensor.storage(), Storage::Sparse { .. })
}

fn no_table(tensor: &Tensor) -> String {
    match tensor.n_mapped() {
        0 | 1 => {
            let ndim = tensor.dims().len();
            format!("a table has two dimensions, not {ndim}: take a slice, or --csv=long")
        }
        mapped => {
            format!("a table has labels for its rows alone, not {mapped} of them: --csv=long")
        }
    }
}

/// Buffered text.
struct Lines<'a> {
    out: &'a mut Out,
    text: String,
    dtype: DType,
    is_for_eyes: bool,
}

impl Lines<'_> {
    fn flush(&mut self) -> Result<()> {
        self.out.text(&self.text)?;
        self.text.clear();
        Ok(())
    }

    fn end_line(&mut self) -> Result<()> {
        self.text.push('\n');
        self.flush_if_long()
    }

    fn flush_if_long(&mut self) -> Result<()> {
        if self.text.len() >= PIECE {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// One row per position or label of the first dimension.
    fn wide(&mut self, tensor: &Tensor, limits: &Limits) -> Result<()> {
        if tensor.n_mapped() > 0 {
            return tensor.for_each_cell(limits, &mut |cell| {
                let Cell::Labelled { labels, values } = cell else {
                    return Ok(());
                };
                labels.iter().for_each(|label| self.put_field(label));
                values.for_each(Endian::Little, self.dtype.width(), BUDGET, &mut |bytes| {
                    for element in bytes.chunks_exact(self.dtype.width()) {
                        self.text.push(',');
                        write_element(self.dtype, element, &mut self.text);
                        self.flush_if_long()?;
                    }
                    Ok(())
                })?;
                self.end_line()
            });
        }
        // A vector is a column.
        let n_columns = tensor.sizes()?.get(1).copied().unwrap_or(1);
        let mut column = 0_u64;
        tensor.for_each(BUDGET, limits, &mut |bytes| {
            for element in bytes.chunks_exact(self.dtype.width()) {
                if column > 0 {
                    self.text.push(',');
                }
                write_element(self.dtype, element, &mut self.text);
                column = column.saturating_add(1);
                if column == n_columns {
                    column = 0;
                    self.end_line()?;
                }
                self.flush_if_long()?;
            }
            Ok(())
        })
    }

    /// One line per stored cell, with a column per dimension.
    fn long(&mut self, tensor: &Tensor, limits: &Limits) -> Result<()> {
        for (place, dim) in tensor.dims().iter().enumerate() {
            match &dim.name {
                Some(name) => self.put_field(name),
                None => self.text.push_str(&format!("dim{place}")),
            }
            self.text.push(',');
        }
        self.text.push_str("value");
        self.end_line()?;
        let mut index = Odometer::new(tensor.indexed_sizes());
        if !matches!(tensor.storage(), Storage::Sparse { .. }) {
            return tensor.for_each(BUDGET, limits, &mut |bytes| {
                self.cells(tensor.dims(), &[], &mut index, bytes)
            });
        }
        tensor.for_each_cell(limits, &mut |cell| match cell {
            Cell::At { index, value } => {
                for place in index {
                    self.text.push_str(&format!("{place},"));
                }
                write_element(self.dtype, value, &mut self.text);
                self.end_line()
            }
            Cell::Labelled { labels, values } => {
                values.for_each(Endian::Little, self.dtype.width(), BUDGET, &mut |bytes| {
                    self.cells(tensor.dims(), labels, &mut index, bytes)
                })
            }
        })
    }

    /// Lines of consecutive cells.
    fn cells(
        &mut self,
        dims: &[Dim],
        labels: &[String],
        index: &mut Odometer,
        bytes: &[u8],
    ) -> Result<()> {
        for element in bytes.chunks_exact(self.dtype.width()) {
            let (mut labels, mut places) = (labels.iter(), index.places.iter());
            for dim in dims {
                match dim.indexed_size() {
                    Some(_) => {
                        let place = places.next().copied().unwrap_or_default();
                        self.text.push_str(&place.to_string());
                    }
                    None => self.put_field(labels.next().map_or("", String::as_str)),
                }
                self.text.push(',');
            }
            index.advance();
            write_element(self.dtype, element, &mut self.text);
            self.end_line()?;
        }
        Ok(())
    }

    /// Text from the file, quoted if necessary.
    fn put_field(&mut self, field: &str) {
        let safe = if self.is_for_eyes {
            &plain(field)
        } else {
            field
        };
        let is_odd = |letter: char| matches!(letter, ',' | '"' | '\n' | '\r');
        let is_padded = safe.trim() != safe;
        if safe.is_empty() || is_padded || safe.contains(is_odd) {
            let doubled = safe.replace('"', "\"\"");
            self.text.push_str(&format!("\"{doubled}\""));
        } else {
            self.text.push_str(safe);
        }
    }
}

/// The position of the next cell, in row-major order.
struct Odometer {
    sizes: Vec<u64>,
    places: Vec<u64>,
}

impl Odometer {
    fn new(sizes: Vec<u64>) -> Odometer {
        Odometer {
            places: vec![0; sizes.len()],
            sizes,
        }
    }

    /// Advances to the next position, wrapping at the end.
    fn advance(&mut self) {
        for (place, size) in self.places.iter_mut().zip(&self.sizes).rev() {
            *place = place.saturating_add(1);
            if *place < *size {
                break;
            }
            *place = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::terminal::printed;

    fn shown(tensor: Tensor, table: Table) -> String {
        let bundle = Bundle::of(tensor);
        printed(|out| print(&bundle, table, false, &Limits::default(), out))
    }

    #[test]
    fn a_matrix_is_a_table_and_names_head_the_columns_of_cells() {
        let (_, tensor) = samples::dense();
        assert_eq!(
            shown(tensor.clone(), Table::Auto),
            "1.0,0.1,5.0\n2.0,NaN,-0.0\n"
        );
        assert_eq!(
            shown(tensor, Table::Long),
            "x,dim1,value\n0,0,1.0\n0,1,0.1\n0,2,5.0\n1,0,2.0\n1,1,NaN\n1,2,-0.0\n"
        );
    }

    #[test]
    fn labels_head_their_rows_and_are_quoted_where_they_must_be() {
        let (_, tensor) = samples::labelled();
        assert_eq!(
            shown(tensor.clone(), Table::Auto),
            "red,1,2\n\"light\nblue\",3,4\n"
        );
        assert_eq!(
            shown(tensor, Table::Long),
            "colour,x,value\nred,0,1\nred,1,2\n\"light\nblue\",0,3\n\"light\nblue\",1,4\n"
        );
    }

    #[test]
    fn of_sparse_tensors_the_stored_cells_are_listed_and_their_images() {
        let (_, tensor) = samples::sparse();
        assert_eq!(
            shown(tensor, Table::Auto),
            "dim0,dim1,value\n0,0,1.0+0.0j\n3,0,2.0-3.5j\n0,3,2.0+3.5j\n"
        );
    }
}
