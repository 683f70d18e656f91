//! Aligned columns.

use tenfold::Result;

use super::plain;
use crate::streams::Out;

/// Rows whose cells stand below each other.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

/// One row, and lines that belong to it.
#[derive(Default)]
pub(crate) struct Row {
    pub(crate) cells: Vec<String>,
    pub(crate) below: Vec<String>,
}

impl Row {
    /// A row of cells, made safe for a terminal.
    pub(crate) fn new<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> Row {
        Row {
            cells: cells.into_iter().map(|cell| plain(cell.as_ref())).collect(),
            below: Vec::new(),
        }
    }
}

impl Table {
    /// A table that begins with names for its columns.
    pub(crate) fn new(heads: &[&str]) -> Table {
        Table {
            rows: vec![Row::new(heads)],
        }
    }

    pub(crate) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Prints all rows, each line after `indent`.
    pub(crate) fn print(&self, indent: &str, out: &mut Out) -> Result<()> {
        let n_columns = self.rows.iter().map(|row| row.cells.len()).max();
        let widths: Vec<usize> = (0..n_columns.unwrap_or(0))
            .map(|column| self.width(column))
            .collect();
        for row in &self.rows {
            let mut line = String::from(indent);
            for (cell, width) in row.cells.iter().zip(&widths) {
                line.push_str(cell);
                let gap = width.saturating_sub(cell.chars().count()).saturating_add(2);
                line.extend(std::iter::repeat_n(' ', gap));
            }
            out.text(line.trim_end())?;
            out.text("\n")?;
            for line in &row.below {
                out.text(&format!("{indent}  {}\n", plain(line)))?;
            }
        }
        Ok(())
    }

    /// The width of a column; cells at the end of a row need none.
    fn width(&self, column: usize) -> usize {
        self.rows
            .iter()
            .filter(|row| row.cells.len() > column.saturating_add(1))
            .filter_map(|row| row.cells.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    }
}
