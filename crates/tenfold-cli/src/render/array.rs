//! Arrays in NumPy's notation: nested brackets, aligned columns, `...` for omitted parts.

use super::element;
use super::window::{Axis, Window};
use tenfold::DType;

/// The line width.
const LINE: usize = 80;

/// The text of the cells in a window, given row-major and little-endian, without a final line feed.
pub(crate) fn array(window: &Window, dtype: DType, cells: &[u8]) -> String {
    if window.is_empty() {
        return "[]".into();
    }
    let texts: Vec<String> = cells
        .chunks_exact(dtype.width())
        .map(|cell| element(dtype, cell))
        .collect();
    let width = texts.iter().map(|text| text.chars().count()).max();
    let mut printer = Printer {
        width: width.unwrap_or(0),
        texts: texts.into_iter(),
        text: String::new(),
    };
    let n_fixed = window.n_fixed();
    if n_fixed > 0 {
        printer.text = format!("at 0 of the first {n_fixed} dimensions:\n");
    }
    let (_, axes) = window.axes.split_at(n_fixed);
    printer.block(axes, 1);
    printer.text
}

struct Printer {
    width: usize,
    texts: std::vec::IntoIter<String>,
    text: String,
}

impl Printer {
    /// Prints the remaining `axes`; `depth` brackets are open.
    fn block(&mut self, axes: &[Axis], depth: usize) {
        let Some((axis, inner)) = axes.split_first() else {
            let text = self.texts.next().unwrap_or_default();
            self.text.push_str(&text);
            return;
        };
        self.text.push('[');
        if inner.is_empty() {
            self.row(*axis, depth);
        } else {
            self.blocks(*axis, inner, depth);
        }
        self.text.push(']');
    }

    fn blocks(&mut self, axis: Axis, inner: &[Axis], depth: usize) {
        for place in 0..axis.shown() {
            if place > 0 {
                self.new_line(inner.len(), depth);
            }
            if place == axis.head {
                self.gap(inner.len(), depth);
            }
            self.block(inner, depth.saturating_add(1));
        }
        if axis.is_cut() && axis.tail == 0 {
            self.new_line(inner.len(), depth);
            self.text.push_str("...");
        }
    }

    fn gap(&mut self, n_inner: usize, depth: usize) {
        self.text.push_str("...");
        self.new_line(n_inner, depth);
    }

    /// Begins a new line; an empty one separates blocks of several rows.
    fn new_line(&mut self, n_inner: usize, depth: usize) {
        self.text.push_str(if n_inner > 1 { "\n\n" } else { "\n" });
        self.text.extend(std::iter::repeat_n(' ', depth));
    }

    /// Prints the cells of the last axis, wrapped.
    fn row(&mut self, axis: Axis, depth: usize) {
        let mut column = depth;
        for place in 0..axis.shown() {
            if place == axis.head {
                column = self.item("...", column, depth);
            }
            let text = self.texts.next().unwrap_or_default();
            let text = format!("{text:>width$}", width = self.width);
            column = self.item(&text, column, depth);
        }
        if axis.is_cut() && axis.tail == 0 {
            self.item("...", column, depth);
        }
    }

    /// Prints one item and returns the column after it.
    fn item(&mut self, text: &str, column: usize, depth: usize) -> usize {
        let len = text.chars().count();
        let is_first = column == depth;
        let end = column.saturating_add(len).saturating_add(1);
        if !is_first && end > LINE {
            self.new_line(0, depth);
        } else if !is_first {
            self.text.push(' ');
        }
        self.text.push_str(text);
        match (is_first, end > LINE) {
            (true, _) | (false, true) => depth.saturating_add(len),
            (false, false) => end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(sizes: &[u64], step: i16) -> String {
        let n_cells: u64 = sizes.iter().product();
        let window = Window::new(sizes, Some(n_cells.into()));
        let n_shown: u64 = window.axes.iter().map(|axis| axis.shown()).product();
        let n_shown = i16::try_from(n_shown).unwrap();
        let cells: Vec<u8> = (0..n_shown)
            .flat_map(|n| (n * step).to_le_bytes())
            .collect();
        array(&window, "i16".parse().unwrap(), &cells)
    }

    #[test]
    fn a_scalar_has_no_brackets_and_nothing_has_only_them() {
        assert_eq!(shown(&[], 1), "0");
        assert_eq!(shown(&[3, 0], 1), "[]");
    }

    #[test]
    fn rows_are_aligned() {
        assert_eq!(shown(&[2, 3], -5), "[[  0  -5 -10]\n [-15 -20 -25]]");
    }

    #[test]
    fn blocks_have_an_empty_line_between() {
        assert_eq!(shown(&[2, 1, 2], 1), "[[[0 1]]\n\n [[2 3]]]");
    }

    #[test]
    fn what_is_left_out_shows() {
        assert_eq!(shown(&[2000], 1), "[0 1 2 ... 3 4 5]");
        let text = shown(&[50, 50], 1);
        assert_eq!(
            text,
            "[[ 0  1  2 ...  3  4  5]\n [ 6  7  8 ...  9 10 11]\n [12 13 14 ... 15 16 17]\n \
             ...\n [18 19 20 ... 21 22 23]\n [24 25 26 ... 27 28 29]\n [30 31 32 ... 33 34 35]]"
        );
    }

    #[test]
    fn many_dimensions_are_not_all_drawn() {
        let text = shown(&[2; 30], 1);
        assert!(text.starts_with("at 0 of the first 20 dimensions:\n[[[[[[[[[[   0    1]\n"));
        assert_eq!(shown(&[1, 2000], 1), "[[0 1 2 ... 3 4 5]]");
    }

    #[test]
    fn long_rows_are_broken() {
        let text = shown(&[100], 1);
        assert!(text.lines().all(|line| line.chars().count() <= LINE));
        assert_eq!(text.lines().count(), 4);
        assert!(text.lines().skip(1).all(|line| line.starts_with(' ')));
    }
}
