//! What is looked at: the numbers of a tensor, or of the difference of two.

use tenfold::{
    Address, Arity, DType, Dim, Error, Limits, Number, Order, Overflow, Result, Slice, Storage,
    Tensor,
};

use super::chunks::each_band;
use super::difference::check_alike;
use super::{CancelToken, MOST_CELLS, Part, WHOLE};

/// So many bytes of values are read at a time.
const PIECE: u64 = 4 << 20;

/// What is done with a box and its numbers.
type EachPiece<'a> = dyn FnMut(&[Slice], &[f64]) -> Result<()> + 'a;

/// A tensor, or the difference of two of the same shape, and which of its numbers are meant.
#[derive(Debug, Clone)]
pub struct TensorView {
    tensor: Tensor,
    minus: Option<Tensor>,
    part: Part,
    limits: Limits,
}

impl TensorView {
    /// A part of the numbers of a tensor.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it cannot be drawn, or its elements have no such part.
    pub fn new(tensor: &Tensor, part: Part, limits: &Limits) -> Result<TensorView> {
        part.check(tensor.dtype())?;
        Ok(TensorView {
            tensor: readable(tensor, limits)?,
            minus: None,
            part,
            limits: limits.clone(),
        })
    }

    /// The same, less another tensor.
    ///
    /// # Errors
    /// [`Error::Invalid`] if that one has another shape or another number of parts.
    pub fn minus(mut self, other: &Tensor) -> Result<TensorView> {
        let other = readable(other, &self.limits)?;
        check_alike(&self.tensor, &other)?;
        self.minus = Some(other);
        Ok(self)
    }

    /// The sizes of all dimensions.
    ///
    /// # Errors
    /// None for a subject that was made.
    pub fn sizes(&self) -> Result<Vec<u64>> {
        self.tensor.sizes()
    }

    /// How many cells there are.
    #[must_use]
    pub fn cells(&self) -> u128 {
        self.tensor.cells().unwrap_or(u128::MAX)
    }

    /// The tensor itself; of a difference, the first.
    pub(crate) fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// What is taken off it.
    pub(crate) fn other(&self) -> Option<&Tensor> {
        self.minus.as_ref()
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Both tensors, or the one.
    pub(crate) fn tensors(&self) -> Vec<&Tensor> {
        [Some(&self.tensor), self.minus.as_ref()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Whether cells are there one by one, so that those that are not stored need not be read.
    pub(crate) fn is_scattered(&self) -> bool {
        self.minus.is_none() && matches!(self.tensor.storage(), Storage::Sparse { .. })
    }

    /// How many cells may be read for `pixels`, which all want one: cells of trains are computed.
    pub(crate) fn most_cells(&self, pixels: u64) -> u64 {
        /// About so many products are worked out for a picture.
        const WORK: u64 = 1 << 31;
        let ranks = self.tensors().into_iter().map(largest_rank);
        let rank = ranks.max().unwrap_or(1);
        let affordable = WORK / rank.saturating_mul(rank).max(1);
        affordable.clamp(pixels.min(MOST_CELLS), MOST_CELLS)
    }

    /// Tensors of at most so many cells are read whole where all cells count.
    pub(crate) fn most_whole(&self) -> u64 {
        // As many times more as patience is longer than for a tile.
        WHOLE.min(self.most_cells(1).saturating_mul(WHOLE / MOST_CELLS))
    }

    /// Calls `each` with the numbers of a box, piece by piece: the box of each piece, and its numbers
    /// in row-major order.
    ///
    /// # Errors
    /// What reading gives, and [`Error::Stopped`].
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

    /// The part of one element, given by its little-endian bytes.
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

/// How many cells are read at a time.
pub(crate) fn piece_of(tensor: &Tensor) -> u64 {
    let width = u64::try_from(tensor.dtype().width()).unwrap_or(1);
    match tensor.storage() {
        Storage::Dense { .. } if !tensor.is_packed() => PIECE / width.max(1),
        // Each box takes a walk over all that is stored: the fewer the better.
        Storage::Dense { .. } | Storage::Sparse { .. } | Storage::Opaque { .. } => MOST_CELLS,
        // Every cell is a row of this length while it is worked out.
        Storage::Train { .. } => PIECE / width.max(1) / largest_rank(tensor).max(1),
    }
}

fn largest_rank(tensor: &Tensor) -> u64 {
    match tensor.storage() {
        Storage::Train { ranks, .. } => ranks.iter().copied().max().unwrap_or(1),
        Storage::Dense { .. } | Storage::Sparse { .. } | Storage::Opaque { .. } => 1,
    }
}

/// In which order the cells of a tensor are best read.
pub(crate) fn order_of(tensor: &Tensor) -> Order {
    match tensor.storage() {
        Storage::Dense { order, .. } => *order,
        Storage::Sparse { .. } | Storage::Train { .. } | Storage::Opaque { .. } => Order::Row,
    }
}

/// Why a tensor cannot be drawn, if it cannot.
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

/// A tensor whose cells can be read: quantized blocks are worked out, in single precision; trains are
/// worked out in doubles.
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

/// Core number `core` of a train, as a tensor of rank × size × next rank.
///
/// # Errors
/// [`Error::Invalid`] if the tensor is no train, or has no such core.
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

/// How many cells of `u128` there are, as far as `u64` counts.
pub(crate) fn countable(cells: u128) -> u64 {
    u64::try_from(cells).unwrap_or(u64::MAX)
}
