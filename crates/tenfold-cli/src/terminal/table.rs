//! Tables with aligned columns.

use tenfold::{Error, Result, memory};
use unicode_width::UnicodeWidthStr;

use super::stdio::Out;
use super::{Paint, plain};

/// Rows with aligned cells.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
    has_heads: bool,
    /// The reason that rows are missing, reported when printing.
    lack: Option<Error>,
}

/// One row, and the lines below it.
#[derive(Default)]
pub(crate) struct Row {
    pub(crate) cells: Vec<String>,
    pub(crate) below: Vec<String>,
}

impl Row {
    /// A row of cells, sanitized for a terminal.
    pub(crate) fn new<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> Row {
        Row {
            cells: cells.into_iter().map(|cell| plain(cell.as_ref())).collect(),
            below: Vec::new(),
        }
    }

    /// Replaces the first cell.
    pub(crate) fn rename(&mut self, name: &str) {
        if let Some(first) = self.cells.first_mut() {
            *first = plain(name);
        }
    }
}

impl Table {
    /// A table that begins with column headers.
    pub(crate) fn new(heads: &[&str]) -> Table {
        Table {
            rows: vec![Row::new(heads)],
            has_heads: true,
            lack: None,
        }
    }

    pub(crate) fn push(&mut self, row: Row) {
        if let Err(error) = memory::push(&mut self.rows, row) {
            self.lack = Some(error);
        }
    }

    /// Prints all rows, indented by `indent`.
    pub(crate) fn print(self, indent: &str, out: &mut Out) -> Result<()> {
        let paint = out.paint;
        self.each_line(indent, paint, &mut |line| out.text(line))
    }

    /// The lines of all rows, indented by `indent`.
    pub(crate) fn text(self, indent: &str, paint: Paint) -> Result<String> {
        let mut text = String::new();
        self.each_line(indent, paint, &mut |line| {
            memory::push_text(&mut text, line)
        })?;
        Ok(text)
    }

    fn each_line(
        self,
        indent: &str,
        paint: Paint,
        each: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        if let Some(error) = self.lack {
            return Err(error);
        }
        let n_columns = self.rows.iter().map(|row| row.cells.len()).max();
        let widths: Vec<usize> = (0..n_columns.unwrap_or(0))
            .map(|column| self.width(column))
            .collect();
        for (place, row) in self.rows.iter().enumerate() {
            each(&match self.has_heads {
                true if place == 0 => paint.head(&line(indent, &row.cells, &widths, str::to_owned)),
                true => line(indent, &row.cells, &widths, |name| paint.name(name)),
                false => line(indent, &row.cells, &widths, str::to_owned),
            })?;
            each("\n")?;
            for line in &row.below {
                each(&format!("{indent}  {}\n", plain(line)))?;
            }
        }
        Ok(())
    }

    /// The width of a column; the last cell of a row does not count.
    fn width(&self, column: usize) -> usize {
        self.rows
            .iter()
            .filter(|row| row.cells.len() > column.saturating_add(1))
            .filter_map(|row| row.cells.get(column))
            .map(|cell| cell.width())
            .max()
            .unwrap_or(0)
    }
}

/// One line; the first cell is colored.
fn line(
    indent: &str,
    cells: &[String],
    widths: &[usize],
    paint: impl Fn(&str) -> String,
) -> String {
    let mut line = String::from(indent);
    let mut gap = 0;
    for (place, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if !cell.is_empty() {
            line.extend(std::iter::repeat_n(' ', gap));
            gap = 0;
            line.push_str(&match place {
                0 => paint(cell),
                _ => cell.clone(),
            });
        }
        let room = width.saturating_sub(cell.width()).saturating_add(2);
        gap = gap.saturating_add(room);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::stdio::printed;

    #[test]
    fn columns_are_aligned_by_what_a_terminal_shows() {
        let mut table = Table::new(&["name", "dtype"]);
        for (name, dtype) in [("重み", "f32"), ("e\u{301}", ""), ("abcde", "u8")] {
            table.push(Row::new([name, dtype]));
        }
        let text = printed(|out| table.print("", out));
        assert_eq!(text, "name   dtype\n重み   f32\ne\u{301}\nabcde  u8\n");
    }

    #[test]
    fn colours_do_not_move_columns() {
        let mut table = Table::new(&["name", "dtype"]);
        table.push(Row::new(["a", "f32"]));
        let text = printed(|out| {
            out.paint.is_on = true;
            table.print("", out)
        });
        let heads = "\u{1b}[2mname  dtype\u{1b}[0m";
        assert_eq!(text, format!("{heads}\n\u{1b}[1ma\u{1b}[0m     f32\n"));
    }
}
