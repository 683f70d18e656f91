//! The explicit cells of sparse tensors, as text.

use std::collections::VecDeque;

use tenfold::{Cell, Dim, Error, Limits, Numbers, Order, Result, Storage, Tensor};

use crate::render::{EDGE, Window, array, element, is_small};
use crate::terminal::{Out, plain};

/// Most entries listed in full.
const FEW: u64 = 1000;

/// Above this number of entries, the tail is not listed.
const FAR: u64 = 1 << 16;

/// Prints one line per entry, for all of them or for those at the ends.
pub(super) fn print(tensor: &Tensor, limits: &Limits, out: &mut Out) -> Result<()> {
    let total = tensor
        .cells()
        .filter(|_| tensor.n_mapped() > 0)
        .map_or(Some(1), |block| block.checked_mul(tensor.stored().into()));
    let mut ends = Ends::new(if is_small(total) { FEW } else { EDGE });
    let mut is_far = false;
    let walked = tensor.for_each_cell(limits, &mut |cell| {
        if ends.count == EDGE && tensor.stored() > FAR {
            is_far = true;
            return Err(Error::Invalid("the rest is not read".into()));
        }
        ends.push(entry(tensor, &cell, total, limits)?);
        Ok(())
    });
    if !is_far {
        walked?;
        return ends.print(out);
    }
    ends.print(out)?;
    let left = tensor.stored().saturating_sub(EDGE);
    out.text(&format!("  ... and {left} more\n"))
}

/// The first and the last of many lines.
struct Ends {
    few: u64,
    count: u64,
    first: Vec<String>,
    last: VecDeque<String>,
}

impl Ends {
    /// Keeps up to `few` lines, or the ends of a longer list.
    fn new(few: u64) -> Ends {
        Ends {
            few: few.max(2 * EDGE),
            count: 0,
            first: Vec::new(),
            last: VecDeque::new(),
        }
    }

    fn push(&mut self, line: String) {
        self.count = self.count.saturating_add(1);
        if self.count <= self.few {
            self.first.push(line);
            return;
        }
        if self.count == self.few.saturating_add(1) {
            self.shorten();
        }
        self.last.push_back(line);
        self.last.pop_front();
    }

    /// Keeps the ends of the lines so far.
    fn shorten(&mut self) {
        let edge = usize::try_from(EDGE).unwrap_or(usize::MAX);
        let from = self.first.len().saturating_sub(edge);
        self.last = self.first.split_off(from).into();
        self.first.truncate(edge);
    }

    fn print(&self, out: &mut Out) -> Result<()> {
        let gap = "  ...\n".to_owned();
        let gap = (!self.last.is_empty()).then_some(&gap);
        let mut lines = self.first.iter().chain(gap).chain(&self.last);
        lines.try_for_each(|line| out.text(line))
    }
}

/// The lines for one entry.
fn entry(tensor: &Tensor, cell: &Cell, total: Option<u128>, limits: &Limits) -> Result<String> {
    match cell {
        Cell::At { index, value } => {
            Ok(format!("  {index:?} {}\n", element(tensor.dtype(), value)))
        }
        Cell::Labelled { labels, values } => {
            let mapped = tensor
                .dims()
                .iter()
                .filter(|dim| dim.indexed_size().is_none());
            let address: Vec<String> = mapped
                .zip(*labels)
                .map(|(dim, label)| match &dim.name {
                    Some(name) => format!("{name}={label}"),
                    None => label.clone(),
                })
                .collect();
            let address = plain(&format!("{{{}}}", address.join(", ")));
            let block = block(tensor, values, total, limits)?;
            if block.contains('\n') {
                return Ok(format!(
                    "  {address}\n    {}\n",
                    block.replace('\n', "\n    ")
                ));
            }
            Ok(format!("  {address} {block}\n"))
        }
    }
}

/// The text of a block, an array over the indexed dimensions.
fn block(
    tensor: &Tensor,
    values: &Numbers,
    total: Option<u128>,
    limits: &Limits,
) -> Result<String> {
    let sizes = tensor.indexed_sizes();
    let window = Window::new(&sizes, total);
    let storage = Storage::Dense {
        order: Order::Row,
        values: values.clone(),
    };
    let dims = sizes.into_iter().map(Dim::indexed).collect();
    let block = Tensor::new(dims, tensor.dtype(), vec![], storage)?;
    Ok(array(
        &window,
        tensor.dtype(),
        &window.read(&block, limits)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_lines_the_ends_are_kept() {
        for (count, kept) in [
            (6, "0 1 2 3 4 5"),
            (7, "0 1 2 4 5 6"),
            (50, "0 1 2 47 48 49"),
        ] {
            let mut ends = Ends::new(EDGE);
            for line in 0..count {
                ends.push(line.to_string());
            }
            let lines: Vec<String> = ends.first.into_iter().chain(ends.last).collect();
            assert_eq!(lines.join(" "), kept);
        }
    }
}
