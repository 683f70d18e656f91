//! Dequantization: the values of block-quantized tensors.

use super::{Order, Storage, Tensor};
use crate::dtype::{Block, DType, Number, Overflow};
use crate::error::{Error, Result};
use crate::limits::Limits;

/// Error text for the values of an opaque tensor, and how to read them, if that is possible.
pub(crate) fn not_understood(layout: &str) -> String {
    if is_quantization(layout) {
        format!("it is quantised as {layout}; --dequantize works its values out")
    } else {
        format!("the layout {layout:?} is not understood")
    }
}

/// Whether a layout is that of quantized blocks with known dequantization.
pub(crate) fn is_quantization(layout: &str) -> bool {
    Block::named(layout).is_some_and(|block| block.has_values())
}

impl Tensor {
    /// Whether its values are quantized blocks that can be dequantized.
    #[must_use]
    pub fn is_quantized(&self) -> bool {
        match self.storage() {
            Storage::Opaque { layout, .. } => is_quantization(layout),
            Storage::Dense { .. } | Storage::Sparse { .. } | Storage::Train { .. } => false,
        }
    }

    /// Dequantizes the tensor, lazily: in single precision, then cast to the type `number`. Values
    /// out of range there are found on reading. Any other tensor is returned unchanged.
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
