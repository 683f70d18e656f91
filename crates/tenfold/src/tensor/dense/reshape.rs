//! Reshaping, and renaming of dimensions.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::tensor::dim::{Dim, product};
use crate::tensor::storage::{Address, Order, Storage};
use crate::tensor::{Size, Tensor};

impl Tensor {
    /// Reshapes in row-major order, as NumPy's `reshape` does; one size may be `None` and is
    /// inferred. Names of dimensions and symmetries are dropped.
    ///
    /// Lazy, except for packed sparse tensors and compressed rows, which are stored in memory or a
    /// temporary file.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the number of cells would change, and for labelled tensors and trains.
    pub fn reshape(&self, sizes: &[Option<u64>], limits: &Limits) -> Result<Tensor> {
        let own = self.sizes()?;
        let sizes = inferred(&own, sizes)?;
        if sizes == own {
            return Ok(self.clone());
        }
        let dims: Vec<Dim> = sizes.into_iter().map(Dim::indexed).collect();
        let storage = match self.storage() {
            Storage::Dense { .. } => Storage::Dense {
                order: Order::Row,
                values: self.dense(Order::Row, limits)?,
            },
            Storage::Sparse { .. } if self.is_packed() => {
                return self.unpacked(limits)?.reshape(&wanted(&dims), limits);
            }
            Storage::Sparse {
                order,
                address,
                values,
            } => Storage::Sparse {
                order: Order::Row,
                address: match address {
                    Address::Linear(_) if *order == Order::Row => address.clone(),
                    _ => {
                        let axes: Vec<usize> = (0..own.len()).collect();
                        Address::Linear(self.positions(&axes)?)
                    }
                },
                values: values.clone(),
            },
            other => {
                let kind = other.as_str();
                let why = format!("a {kind} tensor has no other shape; --dense expands it first");
                return Err(Error::invalid(why));
            }
        };
        let reshaped = Tensor::within(dims, self.dtype(), vec![], storage, limits)?;
        Ok(reshaped.with_meta_of(self))
    }

    /// Renames the dimensions; `None` removes a name.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the number of names is wrong, two are equal, or a mapped dimension
    /// would have none.
    pub fn with_dim_names(&self, names: &[Option<String>]) -> Result<Tensor> {
        if names.len() != self.dims().len() {
            let (n, ndim) = (names.len(), self.dims().len());
            return Err(Error::invalid(format!(
                "{ndim} dimensions need as many names, {n} given"
            )));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = names.iter().flatten().find(|name| !seen.insert(*name)) {
            let why = format!("two dimensions would be called {twice:?}");
            return Err(Error::invalid(why));
        }
        let mut dims = self.dims().to_vec();
        for (dim, name) in dims.iter_mut().zip(names) {
            if dim.size == Size::Mapped && name.is_none() {
                return Err(Error::invalid("a mapped dimension needs a name"));
            }
            dim.name.clone_from(name);
        }
        Ok(Tensor {
            dims: dims.into(),
            ..self.clone()
        })
    }
}

fn wanted(dims: &[Dim]) -> Vec<Option<u64>> {
    dims.iter().map(Dim::indexed_size).collect()
}

/// The sizes, with the open one inferred.
fn inferred(own: &[u64], sizes: &[Option<u64>]) -> Result<Vec<u64>> {
    let shown = |sizes: &[Option<u64>]| {
        let texts = sizes
            .iter()
            .map(|size| size.map_or("-1".into(), |size| size.to_string()));
        texts.collect::<Vec<String>>().join(" × ")
    };
    let cells = product(own);
    let unfit = || {
        let own: Vec<Option<u64>> = own.iter().copied().map(Some).collect();
        let why = format!("{} cells cannot become {}", shown(&own), shown(sizes));
        Error::invalid(why)
    };
    let known: Vec<u64> = sizes.iter().flatten().copied().collect();
    let rest = match (sizes.len().saturating_sub(known.len()), product(&known)) {
        (0, _) => None,
        (1, Some(known)) if known > 0 => {
            let cells = cells.ok_or_else(unfit)?;
            Some(u64::try_from(cells / known).map_err(|_| unfit())?)
        }
        (1, _) => return Err(unfit()),
        _ => return Err(Error::invalid("one size at most can be left open with -1")),
    };
    let sizes: Vec<u64> = sizes.iter().filter_map(|size| size.or(rest)).collect();
    if cells.is_none() || product(&sizes) != cells {
        return Err(unfit());
    }
    Ok(sizes)
}
