//! The values that quantised blocks stand for.

use super::{Order, Storage, Tensor};
use crate::dtype::{Block, DType, Number, Overflow};
use crate::error::{Error, Result};
use crate::limits::Limits;

/// Says why the values of an opaque tensor cannot be read, and how they can, if they can.
pub(crate) fn not_understood(layout: &str) -> String {
    if is_quantization(layout) {
        format!("it is quantised as {layout}; --dequantize works its values out")
    } else {
        format!("the layout {layout:?} is not understood")
    }
}

/// Whether it is the layout of quantized blocks whose values can be computed.
pub(crate) fn is_quantization(layout: &str) -> bool {
    Block::named(layout).is_some_and(|block| block.has_values())
}

impl Tensor {
    /// Whether it is kept in quantised blocks whose values can be worked out.
    #[must_use]
    pub fn is_quantized(&self) -> bool {
        match self.storage() {
            Storage::Opaque { layout, .. } => is_quantization(layout),
            Storage::Dense { .. } | Storage::Sparse { .. } | Storage::Train { .. } => false,
        }
    }

    /// The same tensor with the values that its quantised blocks stand for, lazily: worked out in
    /// single precision, then brought to the type `number`. What has no room there is found when it
    /// is read. A tensor of anything else stays as it is.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the blocks do not fit the sizes.
    pub fn dequantized(&self, number: Number, over: Overflow, limits: &Limits) -> Result<Tensor> {
        let Storage::Opaque { layout, parts } = self.storage() else {
            return Ok(self.clone());
        };
        let block = Block::named(layout).filter(|block| block.has_values());
        let Some(block) = block else {
            return Ok(self.clone());
        };
        let part = match parts.as_slice() {
            [(_, part)] if Some(part.bytes.len()) == block.len(&self.sizes()?) => part,
            _ => {
                return Err(Error::invalid(format!(
                    "blocks of {layout} that do not fit"
                )));
            }
        };
        let values = block.values(&part.bytes, number, over, limits);
        let values = values.ok_or_else(|| Error::invalid("blocks that have no values"))?;
        let order = Order::Row;
        let storage = Storage::Dense { order, values };
        let dims = self.dims().to_vec();
        let symmetries = self.symmetries().to_vec();
        let made = Tensor::within(dims, DType::real(number), symmetries, storage, limits)?;
        Ok(made.with_meta_of(self))
    }
}
