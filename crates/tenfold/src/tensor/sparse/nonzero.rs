//! A dense tensor as a lazy sparse one: its explicit cells are the nonzero ones.

use std::sync::{Arc, Mutex};

use crate::bytes::{Bytes, Endian, to_u64};
use crate::dtype::{Number, Numbers};
use crate::error::{Error, Result};
use crate::io::{Compute, Source};
use crate::limits::Limits;
use crate::tensor::Tensor;
use crate::tensor::storage::{Address, Order, Storage};

impl Tensor {
    /// The same dense tensor with only the `count` cells that have a nonzero byte. They are
    /// searched for when the first of them is read.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the tensor is not dense and unpacked, or has fewer such cells.
    pub(crate) fn nonzero(&self, count: u64, limits: &Limits) -> Result<Tensor> {
        let Storage::Dense { values, .. } = self.storage() else {
            return Err(Error::invalid(
                "only a dense tensor has cells that are zero",
            ));
        };
        if self.is_packed() || self.cells().is_none_or(|cells| cells < count.into()) {
            let why = format!("{count} cells that are not zero, the tensor has fewer cells");
            return Err(Error::invalid(why));
        }
        let cells = Arc::new(Nonzero {
            tensor: self.clone(),
            count,
            limits: limits.clone(),
            found: Mutex::new(None),
        });
        let column = |number: Number, width: usize, part: Part| Numbers {
            number,
            endian: Endian::Little,
            bytes: Bytes::whole(Source::computed(Column {
                cells: Arc::clone(&cells),
                len: count.saturating_mul(to_u64(width)),
                part,
            })),
        };
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Linear(column(Number::U64, 8, Part::Positions)),
            values: column(values.number, self.dtype().width(), Part::Values),
        };
        let dims = self.dims().to_vec();
        let symmetries = self.symmetries().to_vec();
        let sparse = Tensor::within(dims, self.dtype(), symmetries, storage, limits)?;
        Ok(sparse.with_meta_of(self))
    }
}

/// The nonzero cells.
struct Nonzero {
    tensor: Tensor,
    count: u64,
    limits: Limits,
    /// Their row-major positions and their values, once they were searched for.
    found: Mutex<Option<(Bytes, Bytes)>>,
}

impl Nonzero {
    fn found(&self) -> Result<(Bytes, Bytes)> {
        let stopped = |_| Error::invalid("a thread that looked for cells stopped");
        let mut found = self.found.lock().map_err(stopped)?;
        if let Some(found) = &*found {
            return Ok(found.clone());
        }
        let storage = Storage::Dense {
            order: Order::Row,
            values: self.tensor.dense(Order::Row, &self.limits)?,
        };
        let dims = self.tensor.dims().to_vec();
        let row_major = Tensor::within(dims, self.tensor.dtype(), vec![], storage, &self.limits)?;
        let sparse = row_major.to_sparse(&self.limits)?;
        let Storage::Sparse {
            address: Address::Linear(positions),
            values,
            ..
        } = sparse.storage()
        else {
            return Err(Error::invalid("cells that have no positions"));
        };
        let count = positions.len();
        if count != self.count {
            let why = format!(
                "{count} cells are not zero where the file was written with {} explicit cells",
                self.count
            );
            return Err(Error::malformed(None, why));
        }
        let bytes = (positions.bytes.clone(), values.bytes.clone());
        *found = Some(bytes.clone());
        Ok(bytes)
    }
}

#[derive(Clone, Copy)]
enum Part {
    Positions,
    Values,
}

/// The positions or the values of the cells.
struct Column {
    cells: Arc<Nonzero>,
    len: u64,
    part: Part,
}

impl Compute for Column {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let (positions, values) = self.cells.found()?;
        match self.part {
            Part::Positions => positions.read_at(at, buffer),
            Part::Values => values.read_at(at, buffer),
        }
    }

    fn inputs(&self) -> Vec<&Bytes> {
        self.cells.tensor.part_bytes()
    }

    fn depth(&self) -> u32 {
        let parts = self.cells.tensor.storage().parts();
        let below = parts.iter().map(|part| part.bytes.source().depth()).max();
        below.unwrap_or(0).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Dim;

    fn matrix(order: Order, values: &[f64]) -> Tensor {
        let storage = Storage::Dense {
            order,
            values: Numbers::from_vec(values),
        };
        let dims = vec![Dim::indexed(2), Dim::indexed(3)];
        Tensor::new(dims, "f64".parse().unwrap(), vec![], storage).unwrap()
    }

    fn columns(tensor: &Tensor) -> (Vec<u64>, Vec<f64>) {
        match tensor.storage() {
            Storage::Sparse {
                address: Address::Linear(positions),
                values,
                ..
            } => (positions.to_vec().unwrap(), values.to_vec().unwrap()),
            _ => panic!("not sparse"),
        }
    }

    #[test]
    fn the_cells_that_are_not_zero_are_explicit_and_a_negative_zero_is_one() {
        let limits = Limits::default();
        for (order, values) in [
            (Order::Row, [0.0, 1.0, 0.0, -0.0, 0.0, 2.0]),
            (Order::Column, [0.0, -0.0, 1.0, 0.0, 0.0, 2.0]),
        ] {
            let sparse = matrix(order, &values).nonzero(3, &limits).unwrap();
            assert_eq!(sparse.stored(), 3);
            let (positions, values) = columns(&sparse);
            assert_eq!(positions, [1, 3, 5]);
            let bits: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
            assert_eq!(bits, [1.0_f64, -0.0, 2.0].map(f64::to_bits));
        }
    }

    #[test]
    fn another_count_is_found_when_a_cell_is_read() {
        let limits = Limits::default();
        let dense = matrix(Order::Row, &[0.0, 1.0, 0.0, 0.0, 0.0, 2.0]);
        let sparse = dense.nonzero(3, &limits).unwrap();
        let Storage::Sparse { values, .. } = sparse.storage() else {
            panic!("not sparse")
        };
        let error = values.to_vec::<f64>().unwrap_err().to_string();
        assert!(error.contains("2 cells are not zero"), "{error}");
        assert!(dense.nonzero(7, &limits).is_err());
    }
}
