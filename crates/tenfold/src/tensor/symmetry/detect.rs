//! Detection of the symmetries that the values of a tensor have.

use super::dense_deviation::Cells;
use super::deviation::Deviation;
use super::group::Group;
use super::pack::Tolerance;
use super::{Operation, Symmetry};
use crate::dtype::Arity;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::tensor::Tensor;

/// Most dimensions for which symmetries are searched.
const MOST_DIMS: usize = 6;

/// Up to this many dimensions every permutation is tried.
const ALL_ORDERS: usize = 4;

impl Tensor {
    /// Detects symmetries of the values, as generators from which all others that were found
    /// follow.
    ///
    /// Candidates are all permutations of up to four dimensions; of five or six dimensions,
    /// exchanges of two, and of two with two others. For each, of the operations `x`, `-x` and,
    /// unless the elements are real, `x*` and `-x*`, the first that holds is taken. Dimensions of
    /// size 1 are not moved: any tensor would have such a symmetry.
    ///
    /// # Errors
    /// [`Error::Invalid`] for more than six dimensions and tensors without positions,
    /// [`Error::Limit`] if there would be more cells than `limits` allow.
    pub fn detect_symmetries(
        &self,
        tolerance: Tolerance,
        limits: &Limits,
    ) -> Result<Vec<Symmetry>> {
        let sizes = self.sizes()?;
        if sizes.len() > MOST_DIMS {
            let ndim = sizes.len();
            let why =
                format!("symmetries are found among {MOST_DIMS} dimensions at most, not {ndim}");
            return Err(Error::invalid(why));
        }
        let candidates = candidates(&sizes);
        if candidates.is_empty() || sizes.contains(&0) {
            return Ok(vec![]);
        }
        let search = Search {
            tensor: self,
            cells: Cells::of(self, limits)?,
            tolerance,
            limits,
        };
        let mut found: Vec<Symmetry> = Vec::new();
        let mut group = search.group(&found)?;
        let largest = search.largest()?;
        for permutation in candidates {
            if group.elements().iter().any(|(own, _)| *own == permutation) {
                continue;
            }
            if let Some(code) = search.first_that_holds(&permutation, largest)? {
                found.push(Symmetry {
                    permutation,
                    operation: code.into(),
                    packed: false,
                });
                group = search.group(&found)?;
            }
        }
        search.fewest(found)
    }
}

/// A search on the values of one tensor.
struct Search<'a> {
    tensor: &'a Tensor,
    cells: Cells,
    tolerance: Tolerance,
    limits: &'a Limits,
}

impl Search<'_> {
    fn group(&self, found: &[Symmetry]) -> Result<Group> {
        let (sizes, dtype) = (self.tensor.sizes()?, self.tensor.dtype());
        Group::generate(&sizes, dtype, found, |_| true, self.limits)
    }

    /// The largest magnitude, if it matters.
    fn largest(&self) -> Result<f64> {
        if self.tolerance == Tolerance::Exact {
            return Ok(0.0);
        }
        let in_place: Vec<usize> = (0..self.tensor.dims().len()).collect();
        let all = self.cells.deviations(&in_place, &[Operation::default()])?;
        Ok(all.first().map_or(0.0, |all| all.largest))
    }

    /// The code of the first operation under which the values have the symmetry.
    fn first_that_holds(
        &self,
        permutation: &[usize],
        largest: f64,
    ) -> Result<Option<&'static str>> {
        let codes = match self.tensor.dtype().arity {
            Arity::Real => &["x", "-x"][..],
            _ => &["x", "-x", "x*", "-x*"],
        };
        let operations = codes.iter().filter_map(|code| Operation::of_code(code));
        let operations: Vec<Operation> = operations.collect();
        let start = Deviation {
            largest,
            ..Deviation::default()
        };
        let is_fine = |worst: &Deviation| self.tolerance.permits(worst);
        let worst = (self.cells).deviations_while(permutation, &operations, &start, &is_fine)?;
        let mut judged = codes.iter().zip(&worst);
        Ok(judged.find_map(|(code, worst)| is_fine(worst).then_some(*code)))
    }

    /// Reduces the symmetries to generators, dropping redundant ones from the last.
    fn fewest(&self, mut found: Vec<Symmetry>) -> Result<Vec<Symmetry>> {
        for own in found.clone().iter().rev() {
            let rest = found.iter().filter(|other| *other != own);
            let rest: Vec<Symmetry> = rest.cloned().collect();
            if self.group(&rest)?.holds(own, self.tensor.dtype()) {
                found = rest;
            }
        }
        Ok(found)
    }
}

/// The candidate permutations, those that move the fewest dimensions first, and exchanges before
/// longer cycles: the generators found first are then the simplest.
fn candidates(sizes: &[u64]) -> Vec<Vec<usize>> {
    let ndim = sizes.len();
    let mut orders: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..ndim {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            let free = (0..ndim).filter(|place| !order.contains(place));
            let free: Vec<usize> = free.collect();
            let with = move |place: usize| order.iter().copied().chain([place]).collect();
            free.into_iter().map(with)
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    let moved = |order: &[usize]| -> Vec<usize> {
        let places = order.iter().enumerate();
        let places = places.filter_map(|(place, from)| (place != *from).then_some(place));
        places.collect()
    };
    let is_exchange = |order: &[usize]| {
        let mut places = order.iter().enumerate();
        places.all(|(place, from)| order.get(*from) == Some(&place))
    };
    orders.retain(|order| {
        let places = moved(order);
        let fits = |place: &usize| {
            let from = order.get(*place).and_then(|from| sizes.get(*from));
            from == sizes.get(*place) && from.is_some_and(|size| *size > 1)
        };
        let is_tried = ndim <= ALL_ORDERS || places.len() <= 4 && is_exchange(order);
        is_tried && !places.is_empty() && places.iter().all(fits)
    });
    orders.sort_by_key(|order| {
        let places = moved(order);
        (places.len(), !is_exchange(order), places)
    });
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_orders_are_tried_the_simplest_first() {
        assert_eq!(candidates(&[2, 2]), [[1, 0]]);
        assert_eq!(candidates(&[3, 2, 3, 1, 1]), [[2, 1, 0, 3, 4]]);
        assert!(candidates(&[]).is_empty() && candidates(&[2, 3]).is_empty());
        let three = candidates(&[2, 2, 2]);
        assert_eq!(three.first().unwrap(), &[1, 0, 2]);
        assert_eq!((three.len(), three.last().unwrap()), (5, &vec![2, 0, 1]));
        let lens = [4, 5, 6].map(|ndim| candidates(&vec![2; ndim]).len());
        // 15 exchanges of two of six, and 45 of two with two others.
        assert_eq!(lens, [23, 25, 60]);
    }
}
