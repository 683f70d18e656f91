//! The printed part of a tensor: all of a small one, the corners of a large one.

use tenfold::{Limits, Result, Slice, Tensor, memory};

/// Tensors with more cells are abbreviated.
const THRESHOLD: u128 = 1000;
/// Positions printed at either end of a dimension.
pub(crate) const EDGE: u64 = 3;
/// Most cells printed of a large tensor, whatever its number of dimensions: the corners of four.
const MOST: u64 = 1296;

/// The printed positions along one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Axis {
    size: u64,
    /// Number at its start.
    pub(crate) head: u64,
    /// Number at its end; those between are omitted.
    pub(crate) tail: u64,
}

impl Axis {
    /// As many positions of a dimension as `room` allows.
    fn new(size: u64, is_small: bool, room: u64) -> Axis {
        let (head, tail) = if is_small || size <= room.min(2 * EDGE) {
            (size, 0)
        } else if room >= 2 * EDGE {
            (EDGE, EDGE)
        } else {
            (1, 0)
        };
        Axis { size, head, tail }
    }

    pub(crate) fn shown(self) -> u64 {
        self.head.saturating_add(self.tail)
    }

    pub(crate) fn is_cut(self) -> bool {
        self.shown() < self.size
    }

    /// The one or two printed ranges, each with its offset among the printed positions.
    fn stretches(self) -> Vec<(u64, Slice)> {
        let head = (0, Slice::range(0..self.head));
        let tail = (
            self.head,
            Slice::range(self.size.saturating_sub(self.tail)..self.size),
        );
        match self.tail {
            0 => vec![head],
            _ => vec![head, tail],
        }
    }
}

/// The printed part of a tensor.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) axes: Vec<Axis>,
}

impl Window {
    /// A window on a tensor of `sizes`, one of several that have `cells` cells together.
    pub(crate) fn new(sizes: &[u64], cells: Option<u128>) -> Window {
        let is_small = is_small(cells);
        let mut room = MOST;
        let mut axes: Vec<Axis> = sizes
            .iter()
            .rev()
            .map(|size| {
                let axis = Axis::new(*size, is_small, room);
                room = (room / axis.shown().max(1)).max(1);
                axis
            })
            .collect();
        axes.reverse();
        Window { axes }
    }

    /// Whether the window is the whole tensor.
    pub(crate) fn is_whole(&self) -> bool {
        !self.axes.iter().any(|axis| axis.is_cut())
    }

    /// Number of leading dimensions printed at their first position only, for lack of room.
    pub(crate) fn n_fixed(&self) -> usize {
        let single = self.axes.iter().take_while(|axis| axis.shown() == 1);
        let cut = single.enumerate().filter(|(_, axis)| axis.is_cut());
        cut.last().map_or(0, |(place, _)| place.saturating_add(1))
    }

    /// Whether there is nothing to print.
    pub(crate) fn is_empty(&self) -> bool {
        self.axes.iter().any(|axis| axis.size == 0)
    }

    /// The printed cells, row-major, little-endian; no others are read where possible.
    pub(crate) fn read(&self, tensor: &Tensor, limits: &Limits) -> Result<Vec<u8>> {
        let tensor = tensor.at_hand(limits)?;
        let width = tensor.dtype().width();
        let counts: Vec<u64> = self.axes.iter().map(|axis| axis.shown()).collect();
        let len = counts.iter().fold(1, |len: usize, count| {
            len.saturating_mul(usize::try_from(*count).unwrap_or(usize::MAX))
        });
        let mut picked = memory::zeros(len.saturating_mul(width))?;
        for corner in corners(&self.axes) {
            let slices: Vec<Slice> = corner.iter().map(|(_, slice)| *slice).collect();
            let cells = tensor.read_box_bytes(&slices, limits)?;
            for (item, cell) in cells.chunks_exact(width).enumerate() {
                let place = place(item, &corner, &counts).saturating_mul(width);
                let target = picked
                    .get_mut(place..)
                    .and_then(|rest| rest.get_mut(..width));
                if let Some(target) = target {
                    target.copy_from_slice(cell);
                }
            }
        }
        Ok(picked)
    }
}

/// Whether that many cells are printed in full.
pub(crate) fn is_small(cells: Option<u128>) -> bool {
    cells.is_some_and(|cells| cells <= THRESHOLD)
}

/// All combinations of one range per dimension.
fn corners(axes: &[Axis]) -> Vec<Vec<(u64, Slice)>> {
    let mut corners = vec![Vec::new()];
    for axis in axes {
        let stretches = axis.stretches();
        corners = corners
            .iter()
            .flat_map(|corner| {
                stretches.iter().map(move |stretch| {
                    let mut longer = corner.clone();
                    longer.push(*stretch);
                    longer
                })
            })
            .collect();
    }
    corners
}

/// The index of cell `item` of a corner among all printed cells.
fn place(item: usize, corner: &[(u64, Slice)], counts: &[u64]) -> usize {
    let mut rest = u64::try_from(item).unwrap_or(u64::MAX);
    let mut stride = 1_u64;
    let mut place = 0_u64;
    for ((first, slice), count) in corner.iter().zip(counts).rev() {
        let size = slice.count.max(1);
        place = place.saturating_add(first.saturating_add(rest % size).saturating_mul(stride));
        rest /= size;
        stride = stride.saturating_mul(*count);
    }
    usize::try_from(place).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold::{Dim, Numbers, Order, Storage};

    fn shown(sizes: &[u64]) -> Vec<(u64, u64)> {
        let cells = sizes
            .iter()
            .try_fold(1_u128, |all, size| all.checked_mul((*size).into()));
        let window = Window::new(sizes, cells);
        window
            .axes
            .iter()
            .map(|axis| (axis.head, axis.tail))
            .collect()
    }

    #[test]
    fn a_small_tensor_is_shown_whole_and_a_large_one_at_its_edges() {
        assert_eq!(shown(&[10, 100]), [(10, 0), (100, 0)]);
        assert_eq!(shown(&[11, 100]), [(3, 3), (3, 3)]);
        assert_eq!(shown(&[1001]), [(3, 3)]);
        assert_eq!(shown(&[2, 1000, 6]), [(2, 0), (3, 3), (6, 0)]);
        assert_eq!(shown(&[]), []);
    }

    #[test]
    fn many_dimensions_stay_readable() {
        let window = shown(&[2; 255]);
        let cells: u64 = window.iter().map(|(head, tail)| head + tail).product();
        assert!(cells <= MOST);
        assert_eq!(window[0], (1, 0));
        assert_eq!(window[254], (2, 0));
        assert_eq!(corners(&Window::new(&[9; 255], None).axes).len(), 16);
    }

    #[test]
    fn the_cells_of_all_corners_come_in_order() {
        let values: Vec<u16> = (0..1200).collect();
        let storage = Storage::Dense {
            order: Order::Row,
            values: Numbers::from_vec(&values),
        };
        let dims = vec![Dim::indexed(30), Dim::indexed(40)];
        let tensor = Tensor::new(dims, "u16".parse().unwrap(), vec![], storage).unwrap();
        let window = Window::new(&[30, 40], Some(1200));
        let picked = window.read(&tensor, &Limits::default()).unwrap();
        let picked: Vec<u16> = picked
            .chunks_exact(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .collect();
        assert_eq!(picked[..6], [0, 1, 2, 37, 38, 39]);
        assert_eq!(picked[30..], [1160, 1161, 1162, 1197, 1198, 1199]);
    }
}
