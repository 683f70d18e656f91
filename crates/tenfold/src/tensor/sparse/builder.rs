//! Builder for COO storage; spills to a temporary file.

use crate::bytes::{Bytes, Endian};
use crate::dtype::{Number, Numbers};
use crate::error::Result;
use crate::io::Spool;
use crate::tensor::storage::{Address, Order, Storage};

/// Sparse cells in the order of arrival: their linear positions and their values.
pub(crate) struct CooBuilder {
    number: Number,
    order: Order,
    places: Spool,
    values: Spool,
}

impl CooBuilder {
    pub(crate) fn new(number: Number, order: Order) -> CooBuilder {
        CooBuilder {
            number,
            order,
            places: Spool::new(),
            values: Spool::new(),
        }
    }

    /// Adds a cell; `value` is little-endian.
    pub(crate) fn push(&mut self, place: u64, value: &[u8]) -> Result<()> {
        self.places.write(&place.to_le_bytes())?;
        self.values.write(value)
    }

    pub(crate) fn finish(self) -> Result<Storage> {
        let numbers = |number, spool: Spool| -> Result<Numbers> {
            Ok(Numbers {
                number,
                endian: Endian::Little,
                bytes: Bytes::whole(spool.finish()?),
            })
        };
        Ok(Storage::Sparse {
            order: self.order,
            address: Address::Linear(numbers(Number::U64, self.places)?),
            values: numbers(self.number, self.values)?,
        })
    }
}
