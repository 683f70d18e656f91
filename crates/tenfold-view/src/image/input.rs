//! The displayed values: of a tensor, or of the difference of two.

use tenfold::{
    Address, Arity, DType, Dim, Error, Limits, Number, Order, Overflow, Result, Slice, Storage,
    Tensor,
};

use super::chunks::each_band;
use super::difference::check_alike;
use super::{CancelToken, MOST_CELLS, Part, WHOLE};

/// Bytes of values read at a time.
const PIECE: u64 = 4 << 20;

/// A callback for a box and its numbers.
type EachPiece<'a> = dyn FnMut(&[Slice], &[f64]) -> Result<()> + 'a;

/// A tensor, or the difference of two of the same shape, with the displayed component.
#[derive(Debug, Clone)]
pub struct TensorView {
    tensor: Tensor,
    minus: Option<Tensor>,
    part: Part,
    limits: Limits,
}

impl TensorView {
    /// A component of a tensor.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it cannot be drawn, or its elements have no such component.
    pub fn new(tensor: &Tensor, part: Part, limits: &Limits) -> Result<TensorView> {
        part.check(tensor.dtype())?;
        Ok(TensorView {
            tensor: readable(tensor, limits)?,
            minus: None,
            part,
            limits: limits.clone(),
        })
    }

    /// The same minus another tensor.
    ///
    /// # Errors
    /// [`Error::Invalid`] if that one has another shape or another number of components.
    pub fn minus(mut self, other: &Tensor) -> Result<TensorView> {
        let other = readable(other, &self.limits)?;
        check_alike(&self.tensor, &other)?;
        self.minus = Some(other);
        Ok(self)
    }

    /// The sizes of all dimensions.
    ///
    /// # Errors
    /// None for a valid view.
    pub fn sizes(&self) -> Result<Vec<u64>> {
        self.tensor.sizes()
    }

    /// The number of cells.
    #[must_use]
    pub fn cells(&self) -> u128 {
        self.tensor.cells().unwrap_or(u128::MAX)
    }

    /// The tensor itself; for a difference, the first.
    pub(crate) fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// The subtracted tensor.
    pub(crate) fn other(&self) -> Option<&Tensor> {
        self.minus.as_ref()
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// One tensor, or both.
    pub(crate) fn tensors(&self) -> Vec<&Tensor> {
        [Some(&self.tensor), self.minus.as_ref()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Whether stored cells can be listed, so that implicit ones need not be read.
    pub(crate) fn is_scattered(&self) -> bool {
        self.minus.is_none() && matches!(self.tensor.storage(), Storage::Sparse { .. })
    }

    /// Number of cells that may be read for `pixels` that all need one: cells of trains are
    /// computed.
    pub(crate) fn most_cells(&self, pixels: u64) -> u64 {
        /// Approximate number of multiplications for one image.
        const WORK: u64 = 1 << 31;
        let ranks = self.tensors().into_iter().map(largest_rank);
        let rank = ranks.max().unwrap_or(1);
        let affordable = WORK / rank.saturating_mul(rank).max(1);
        affordable.clamp(pixels.min(MOST_CELLS), MOST_CELLS)
    }

    /// Tensors of at most this many cells are read in full if all cells count.
    pub(crate) fn most_whole(&self) -> u64 {
        // The factor by which a full evaluation may exceed that of a tile.
        WHOLE.min(self.most_cells(1).saturating_mul(WHOLE / MOST_CELLS))
    }

    /// Calls `each` with the numbers of a box in chunks: the box of each chunk, and its numbers in
    /// row-major order.
    ///
    /// # Errors
    /// Those of reading, and [`Error::Stopped`].
    pub(crate) fn each_piece(
        &self,
        slices: &[Slice],
        stop: &CancelToken,
        each: &mut EachPiece,
    ) -> Result<()> {
        let pieces = self.tensors().into_iter().map(piece_of);
        let piece = pieces.min().unwrap_or(1);
        let order = order_of(&self.tensor);
        each_band(slices, order, piece, stop, &mut |band| {
            let numbers = self.numbers(band)?;
            each(band, &numbers)
        })
    }

    /// The numbers of a box, row-major.
    fn numbers(&self, slices: &[Slice]) -> Result<Vec<f64>> {
        let mut numbers = doubles(&self.tensor, slices, &self.limits)?;
        if let Some(minus) = &self.minus {
            let others = doubles(minus, slices, &self.limits)?;
            numbers.iter_mut().zip(others).for_each(|(a, b)| *a -= b);
        }
        self.part.reduce(self.tensor.dtype().arity, &mut numbers);
        Ok(numbers)
    }

    /// The component of one element, given by its little-endian bytes.
    pub(crate) fn number(&self, element: &[u8]) -> f64 {
        let DType { number, arity } = self.tensor.dtype();
        if arity == Arity::Real && self.part == Part::Component(0) {
            return number.to_f64(element);
        }
        let mut numbers = Vec::with_capacity(arity.count());
        number.to_doubles(element, &mut numbers);
        self.part.reduce(arity, &mut numbers);
        numbers.first().copied().unwrap_or(f64::NAN)
    }
}

fn doubles(tensor: &Tensor, slices: &[Slice], limits: &Limits) -> Result<Vec<f64>> {
    let bytes = tensor.read_box_bytes(slices, limits)?;
    let width = tensor.dtype().number.width().max(1);
    let mut numbers = tenfold::memory::with_room(bytes.len() / width)?;
    tensor.dtype().number.to_doubles(&bytes, &mut numbers);
    Ok(numbers)
}

/// Number of cells read at a time.
pub(crate) fn piece_of(tensor: &Tensor) -> u64 {
    let width = u64::try_from(tensor.dtype().width()).unwrap_or(1);
    match tensor.storage() {
        Storage::Dense { .. } if !tensor.is_packed() => PIECE / width.max(1),
        // Each box requires a pass over all stored cells: fewer are better.
        Storage::Dense { .. } | Storage::Sparse { .. } | Storage::Opaque { .. } => MOST_CELLS,
        // Every cell is a row of this length while it is computed.
        Storage::Train { .. } => PIECE / width.max(1) / largest_rank(tensor).max(1),
    }
}

fn largest_rank(tensor: &Tensor) -> u64 {
    match tensor.storage() {
        Storage::Train { ranks, .. } => ranks.iter().copied().max().unwrap_or(1),
        Storage::Dense { .. } | Storage::Sparse { .. } | Storage::Opaque { .. } => 1,
    }
}

/// The fastest order to read the cells of a tensor.
pub(crate) fn order_of(tensor: &Tensor) -> Order {
    match tensor.storage() {
        Storage::Dense { order, .. } => *order,
        Storage::Sparse { .. } | Storage::Train { .. } | Storage::Opaque { .. } => Order::Row,
    }
}

/// The reason that a tensor cannot be drawn.
///
/// # Errors
/// [`Error::Invalid`] with the reason.
pub fn drawable(tensor: &Tensor) -> Result<()> {
    let why = match tensor.storage() {
        Storage::Sparse {
            address: Address::Labels,
            ..
        } => "its cells have labels, not positions, and cannot be drawn".into(),
        Storage::Opaque { layout, .. } if !tensor.is_quantized() => {
            format!("the layout {layout:?} is not understood")
        }
        Storage::Train { .. } if tensor.dtype().arity.count() > 2 => {
            format!("trains of {} are not worked out", tensor.dtype())
        }
        _ => return Ok(()),
    };
    Err(Error::Invalid(why))
}

/// A tensor with readable cells: quantized blocks are dequantized in single precision; trains are
/// evaluated in doubles.
///
/// # Errors
/// As [`drawable`].
pub fn readable(tensor: &Tensor, limits: &Limits) -> Result<Tensor> {
    drawable(tensor)?;
    match tensor.storage() {
        Storage::Train { .. } => tensor.cast(Number::F64, Overflow::Saturates, limits),
        _ => tensor.dequantized(Number::F32, Overflow::Saturates, limits),
    }
}

/// Core `core` of a train, as a tensor of rank × size × next rank.
///
/// # Errors
/// [`Error::Invalid`] if the tensor is not a train, or has no such core.
pub fn core_of(tensor: &Tensor, core: usize) -> Result<Tensor> {
    let Storage::Train { ranks, cores } = tensor.storage() else {
        return Err(Error::Invalid("only trains have cores".into()));
    };
    let none = || Error::Invalid(format!("there is no core {core}"));
    let values = cores.get(core).ok_or_else(none)?.clone();
    let sizes = tensor.sizes()?;
    let next = ranks.get(core.saturating_add(1));
    let shape = [ranks.get(core), sizes.get(core), next];
    let dims = shape.map(|size| Dim::indexed(size.copied().unwrap_or(0)));
    let order = Order::Row;
    let storage = Storage::Dense { order, values };
    Tensor::new(dims.to_vec(), tensor.dtype(), vec![], storage)
}

/// A number of cells of `u128`, saturating in `u64`.
pub(crate) fn countable(cells: u128) -> u64 {
    u64::try_from(cells).unwrap_or(u64::MAX)
}
