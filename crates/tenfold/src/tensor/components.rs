//! Complex numbers, quaternions and octonions as real numbers: their components along a new last
//! dimension, or one part of each.

use super::sparse::builder::CooBuilder;
use super::sparse::sort::SortedCells;
use super::storage::{Address, Order, Storage};
use super::symmetry::Symmetry;
use super::{Dim, Tensor};
use crate::bytes::{to_u64, to_usize};
use crate::dtype::{Arity, ComplexPart, DType, Numbers};
use crate::error::{Error, Result};
use crate::limits::Limits;

impl Tensor {
    /// The same values as real numbers: the components of each element along a new last dimension.
    /// Declared symmetries are dropped, and packed ones unpacked.
    ///
    /// # Errors
    /// [`Error::Invalid`] for trains and opaque tensors, and errors of reading sparse cells.
    pub fn split_components(&self, limits: &Limits) -> Result<Tensor> {
        let dtype = self.dtype();
        let real = DType::real(dtype.number);
        if dtype.arity == Arity::Real {
            return Ok(self.clone());
        }
        if !self.symmetries().is_empty() {
            return self.without_symmetries(limits)?.split_components(limits);
        }
        let count = dtype.arity.count();
        let storage = match self.storage() {
            Storage::Dense { .. } => Storage::Dense {
                order: Order::Row,
                values: self.dense(Order::Row, limits)?,
            },
            // Blocks are rows of elements already.
            Storage::Sparse {
                address: Address::Labels,
                ..
            } => self.storage().clone(),
            Storage::Sparse { .. } => self.split_cells(limits)?,
            Storage::Train { .. } | Storage::Opaque { .. } => {
                let kind = self.storage().as_str();
                let why = format!("the elements of a {kind} tensor have no components apart");
                return Err(Error::invalid(why));
            }
        };
        let mut dims = self.dims().to_vec();
        dims.push(Dim::indexed(to_u64(count)));
        let split = Tensor::within(dims, real, vec![], storage, limits)?;
        Ok(split.with_meta_of(self))
    }

    /// Every component of every explicit cell as a cell of its own.
    fn split_cells(&self, limits: &Limits) -> Result<Storage> {
        let dtype = self.dtype();
        let (width, count) = (dtype.number.width(), to_u64(dtype.arity.count()));
        let mut listed = CooBuilder::new(dtype.number, Order::Row);
        let sorted = SortedCells::every(self, row_strides(&self.sizes()?)?, limits)?;
        sorted.for_each(&mut |place, value| {
            let first = place.checked_mul(count);
            let first = first.ok_or_else(|| Error::invalid("more cells than can be counted"))?;
            let components = value.chunks_exact(width);
            (first..)
                .zip(components)
                .try_for_each(|(place, component)| listed.push(place, component))
        })?;
        listed.finish()
    }

    /// Joins components into elements: the inverse of [`Tensor::split_components`].
    ///
    /// # Errors
    /// [`Error::Invalid`] if the size of the last dimension is not the number of components.
    pub(crate) fn join_components(&self, dtype: DType, limits: &Limits) -> Result<Tensor> {
        let mut dims = self.dims().to_vec();
        let last = dims.pop().and_then(|dim| dim.indexed_size());
        let count = to_u64(dtype.arity.count());
        let is_fit = last == Some(count) && self.dtype().number == dtype.number;
        if !is_fit || self.dtype().arity != Arity::Real || !self.symmetries().is_empty() {
            let why = format!(
                "a tensor of {} whose last dimension is no {dtype}",
                self.dtype()
            );
            return Err(Error::invalid(why));
        }
        let storage = match self.storage() {
            Storage::Dense { .. } => Storage::Dense {
                order: Order::Row,
                values: self.dense(Order::Row, limits)?,
            },
            Storage::Sparse {
                address: Address::Labels,
                ..
            } => self.storage().clone(),
            Storage::Sparse { .. } => self.join_cells(dtype, limits)?,
            Storage::Train { .. } | Storage::Opaque { .. } => {
                return Err(Error::invalid("components are of dense or sparse tensors"));
            }
        };
        let joined = Tensor::within(dims, dtype, vec![], storage, limits)?;
        Ok(joined.with_meta_of(self))
    }

    /// A cell for every element with an explicit component; its other components are zero.
    fn join_cells(&self, dtype: DType, limits: &Limits) -> Result<Storage> {
        let (width, count) = (dtype.number.width(), to_u64(dtype.arity.count()));
        let mut listed = CooBuilder::new(dtype.number, Order::Row);
        let sorted = SortedCells::every(self, row_strides(&self.sizes()?)?, limits)?;
        let mut element: Option<(u64, Vec<u8>)> = None;
        sorted.for_each(&mut |place, value| {
            let (cell, component) = (place / count, to_usize(place % count)?);
            if let Some((last, bytes)) = element.take_if(|(last, _)| *last != cell) {
                listed.push(last, &bytes)?;
            }
            let (_, bytes) = element.get_or_insert_with(|| (cell, vec![0; dtype.width()]));
            let mut parts = bytes.chunks_exact_mut(width);
            if let Some(part) = parts.nth(component) {
                part.copy_from_slice(value);
            }
            Ok(())
        })?;
        if let Some((last, bytes)) = element {
            listed.push(last, &bytes)?;
        }
        listed.finish()
    }

    /// One part of every element, as a tensor of real numbers with the same addresses. A real
    /// tensor is returned unchanged.
    ///
    /// # Errors
    /// [`Error::Invalid`] if elements have no such part, and for trains and opaque tensors.
    pub fn part(&self, part: ComplexPart, limits: &Limits) -> Result<Tensor> {
        let dtype = self.dtype();
        if dtype.arity == Arity::Real || matches!(self.storage(), Storage::Opaque { .. }) {
            return Ok(self.clone());
        }
        let of = |values: &Numbers| values.part(dtype.arity, part, limits);
        let storage = match self.storage() {
            _ if self.is_packed() => return self.unpacked(limits)?.part(part, limits),
            Storage::Dense { order, values } => Storage::Dense {
                order: *order,
                values: of(values)?,
            },
            Storage::Sparse {
                order,
                address,
                values,
            } if !matches!(address, Address::Labels) => Storage::Sparse {
                order: *order,
                address: address.clone(),
                values: of(values)?,
            },
            other => {
                let kind = other.as_str();
                let why = format!(
                    "a {kind} tensor has no part {}; --dense expands it first",
                    part.as_str()
                );
                return Err(Error::invalid(why));
            }
        };
        let symmetries = self.symmetries().iter();
        let symmetries = symmetries
            .filter_map(|symmetry| of_part(symmetry, part))
            .collect();
        let dims = self.dims().to_vec();
        let real = DType::real(part.number(dtype)?);
        let made = Tensor::within(dims, real, symmetries, storage, limits)?;
        Ok(made.with_meta_of(self))
    }

    /// The same tensor with all its cells stored and no symmetry declared.
    pub(crate) fn without_symmetries(&self, limits: &Limits) -> Result<Tensor> {
        let full = self.unpacked(limits)?;
        let dims = full.dims().to_vec();
        let storage = full.storage().clone();
        let plain = Tensor::within(dims, full.dtype(), vec![], storage, limits)?;
        Ok(plain.with_meta_of(self))
    }
}

/// The symmetry of a part, given that of the elements.
fn of_part(symmetry: &Symmetry, part: ComplexPart) -> Option<Symmetry> {
    let operation = match (part, symmetry.operation.as_str()) {
        (ComplexPart::Re, "x" | "x*") | (ComplexPart::Im, "x" | "-x*") => "x",
        (ComplexPart::Re, "-x" | "-x*") | (ComplexPart::Im, "-x" | "x*") => "-x",
        (ComplexPart::Abs, "x" | "-x" | "x*" | "-x*") => "x",
        _ => return None,
    };
    Some(Symmetry {
        operation: operation.into(),
        ..symmetry.clone()
    })
}

/// Row-major strides.
fn row_strides(sizes: &[u64]) -> Result<Vec<u64>> {
    let mut strides = vec![0; sizes.len()];
    let mut stride = 1_u64;
    for (out, size) in strides.iter_mut().zip(sizes).rev() {
        *out = stride;
        stride = stride
            .checked_mul((*size).max(1))
            .ok_or_else(|| Error::invalid("more cells than can be counted"))?;
    }
    Ok(strides)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(sizes: &[u64], dtype: &str, storage: Storage, symmetries: Vec<Symmetry>) -> Tensor {
        let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
        Tensor::new(dims, dtype.parse().unwrap(), symmetries, storage).unwrap()
    }

    fn dense(order: Order, values: &[f32]) -> Storage {
        let values = Numbers::from_vec(values);
        Storage::Dense { order, values }
    }

    #[test]
    fn components_become_a_last_dimension_and_elements_again() {
        let limits = Limits::default();
        // [[1+2i, 3+4i], [5+6i, 7+8i]], column-major.
        let columns = dense(Order::Column, &[1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]);
        let complex = tensor(&[2, 2], "c64", columns, vec![]);
        let split = complex.split_components(&limits).unwrap();
        assert_eq!(split.sizes().unwrap(), [2, 2, 2]);
        let wanted = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        assert_eq!(split.to_vec::<f32>().unwrap(), wanted);
        let joined = split.join_components(complex.dtype(), &limits).unwrap();
        assert_eq!(joined.sizes().unwrap(), [2, 2]);
        let quaternion = "quaternion<f32>".parse().unwrap();
        assert!(split.join_components(quaternion, &limits).is_err());
    }

    #[test]
    fn sparse_elements_become_cells_for_each_component_and_come_back() {
        let limits = Limits::default();
        let storage = Storage::Sparse {
            order: Order::Column,
            address: Address::Linear(Numbers::from_vec(&[2_u64, 1])),
            values: Numbers::from_vec(&[1.0_f32, 2.0, 0.0, -3.0]),
        };
        let complex = tensor(&[2, 2], "c64", storage, vec![]);
        let split = complex.split_components(&limits).unwrap();
        assert_eq!((split.stored(), split.dtype()), (4, "f32".parse().unwrap()));
        let wanted = [0.0, 0.0, 1.0, 2.0, 0.0, -3.0, 0.0, 0.0];
        assert_eq!(split.to_vec::<f32>().unwrap(), wanted);
        let joined = split.join_components(complex.dtype(), &limits).unwrap();
        assert_eq!(joined.stored(), 2);
        let all = |tensor: &Tensor| {
            tensor
                .split_components(&limits)
                .unwrap()
                .to_vec::<f32>()
                .unwrap()
        };
        assert_eq!(all(&joined), wanted);
    }

    #[test]
    fn parts_of_a_hermitian_matrix_are_symmetric_and_antisymmetric() {
        let limits = Limits::default();
        let hermitian = Symmetry {
            permutation: vec![1, 0],
            operation: "x*".into(),
            packed: true,
        };
        // The lower triangle: 1, 2+3i, 4.
        let packed = dense(Order::Column, &[1.0, 0.0, 2.0, 3.0, 4.0, 0.0]);
        let complex = tensor(&[2, 2], "c64", packed, vec![hermitian]);
        for (part, values, operation) in [
            (ComplexPart::Re, [1.0_f32, 2.0, 2.0, 4.0], "x"),
            (ComplexPart::Im, [0.0, -3.0, 3.0, 0.0], "-x"),
        ] {
            let found = complex.part(part, &limits).unwrap();
            assert_eq!(found.to_vec::<f32>().unwrap(), values);
            assert_eq!(found.symmetries()[0].operation, operation);
        }
        assert!(
            complex
                .part(ComplexPart::Arg, &limits)
                .unwrap()
                .symmetries()
                .is_empty()
        );
    }
}
