//! Casting a tensor to another number type.

use std::iter::successors;
use std::sync::Arc;

use super::storage::{Address, Storage};
use super::{Tensor, not_understood};
use crate::bytes::PIECE;
use crate::dtype::{Changes, Counts, DType, Number, Numbers, Overflow, Rounding, is_exact};
use crate::error::{Error, Result};
use crate::limits::Limits;

impl Tensor {
    /// Casts to another number type, lazily: exact if possible, else rounded to nearest, ties to
    /// even. Values out of range are found on reading.
    ///
    /// # Errors
    /// As [`Tensor::cast_rounded`].
    pub fn cast(&self, number: Number, over: Overflow, limits: &Limits) -> Result<Tensor> {
        self.cast_rounded(number, Rounding::NearestEven, over, limits)
    }

    /// Casts to another number type, lazily: exact if possible, else rounded. Values out of range
    /// are found on reading.
    ///
    /// Labelled blocks are cast at once and stored in memory or a temporary file. The cores of a
    /// train are cast individually.
    ///
    /// # Errors
    /// [`Error::Invalid`] for opaque tensors.
    pub fn cast_rounded(
        &self,
        number: Number,
        rounding: Rounding,
        over: Overflow,
        limits: &Limits,
    ) -> Result<Tensor> {
        if self.dtype().number == number {
            return Ok(self.clone());
        }
        let dtype = DType {
            number,
            ..self.dtype()
        };
        let record = CastRecord {
            from: self.dtype().number,
            to: number,
            rounding,
            over,
            changes: Arc::default(),
            numbers: numbers_of(self.storage()),
            before: self.cast.clone(),
        };
        let changes = || Some(record.changes.clone());
        let cast = |values: &Numbers| values.cast(number, rounding, over, changes(), limits);
        let storage = match self.storage() {
            Storage::Dense { order, values } => Storage::Dense {
                order: *order,
                values: cast(values)?,
            },
            Storage::Sparse {
                order,
                address,
                values,
            } => Storage::Sparse {
                order: *order,
                address: address.clone(),
                values: match address {
                    Address::Labels => {
                        let labels: Vec<usize> = (0..self.n_mapped()).collect();
                        self.with_blocks(&labels, dtype, limits, &|block| cast(&block))?
                    }
                    _ => cast(values)?,
                },
            },
            Storage::Train { ranks, cores } => Storage::Train {
                ranks: ranks.clone(),
                cores: cores.iter().map(cast).collect::<Result<_>>()?,
            },
            Storage::Opaque { layout, .. } => {
                return Err(Error::invalid(not_understood(layout)));
            }
        };
        let symmetries = self.symmetries().to_vec();
        let cast = Tensor::within(self.dims().to_vec(), dtype, symmetries, storage, limits)?;
        let mut cast = cast.with_meta_of(self);
        cast.cast = Some(Arc::new(record));
        Ok(cast)
    }

    /// Whether a cast may have changed values.
    pub(crate) fn is_rounded(&self) -> bool {
        self.casts().any(CastRecord::may_round)
    }

    /// The number type before all casts.
    pub(crate) fn number_before_casts(&self) -> Number {
        let first = self.casts().last();
        first.map_or(self.dtype().number, |record| record.from)
    }

    /// The casts, the last one first.
    fn casts(&self) -> impl Iterator<Item = &CastRecord> {
        let records = successors(self.cast.as_ref(), |record| record.before.as_ref());
        records.map(AsRef::as_ref)
    }

    /// The changes that casts have made to the values of this tensor, one entry for each cast that
    /// may round. Values that were read to their end once or several times have been counted then;
    /// all others are read now.
    ///
    /// # Errors
    /// Errors of reading the values.
    pub fn cast_changes(&self, limits: &Limits) -> Result<Vec<CastChanges>> {
        let records = self.casts().filter(|record| record.may_round());
        let found: Result<Vec<CastChanges>> = records.map(|record| record.found(limits)).collect();
        let mut found = found?;
        found.reverse();
        Ok(found)
    }
}

/// The values of any kind of storage.
fn numbers_of(storage: &Storage) -> Vec<Numbers> {
    match storage {
        Storage::Dense { values, .. } | Storage::Sparse { values, .. } => vec![values.clone()],
        Storage::Train { cores, .. } => cores.clone(),
        Storage::Opaque { .. } => Vec::new(),
    }
}

/// The changes made by a cast.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CastChanges {
    /// The number type before.
    pub from: Number,
    /// The number type after.
    pub to: Number,
    /// The number of numbers cast.
    pub numbers: u64,
    /// How many of them changed in value.
    pub changed: u64,
    /// The largest difference between a number and its cast; NaN if a NaN became a number.
    pub largest: f64,
}

/// A cast that may have changed values.
#[derive(Debug)]
pub(super) struct CastRecord {
    from: Number,
    to: Number,
    rounding: Rounding,
    over: Overflow,
    changes: Arc<Changes>,
    /// The numbers before.
    numbers: Vec<Numbers>,
    /// The cast before this one.
    before: Option<Arc<CastRecord>>,
}

impl CastRecord {
    fn may_round(&self) -> bool {
        !is_exact(self.from, self.to)
    }

    fn found(&self, limits: &Limits) -> Result<CastChanges> {
        let lens = self.numbers.iter().map(Numbers::len);
        let all = lens.fold(0, u64::saturating_add);
        let counted = self.changes.counts();
        let counts = match counted.numbers.checked_div(all) {
            // After several complete passes, each has made the same counts.
            Some(times) if times > 0 && counted.numbers.is_multiple_of(all) => Counts {
                numbers: all,
                changed: counted.changed / times,
                ..counted
            },
            _ => self.count(limits)?,
        };
        Ok(CastChanges {
            from: self.from,
            to: self.to,
            numbers: counts.numbers,
            changed: counts.changed,
            largest: counts.largest,
        })
    }

    /// Casts all numbers once more, to count.
    fn count(&self, limits: &Limits) -> Result<Counts> {
        let changes: Arc<Changes> = Arc::default();
        for numbers in &self.numbers {
            let changes = Some(changes.clone());
            let cast = numbers.cast(self.to, self.rounding, self.over, changes, limits)?;
            cast.bytes.for_each(PIECE, &mut |_| Ok(()))?;
        }
        Ok(changes.counts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::to_u64;
    use crate::tensor::{Dim, Order};

    #[test]
    fn what_a_cast_changes_is_counted_once_however_often_it_is_read() {
        let values: Vec<f64> = (0_u16..3000).map(|n| f64::from(n) / 8.0 + 1e-9).collect();
        let storage = Storage::Dense {
            order: Order::Row,
            values: Numbers::from_vec(&values),
        };
        let limits = Limits::default();
        let tensor = Tensor::new(
            vec![Dim::indexed(3000)],
            "f64".parse().unwrap(),
            vec![],
            storage,
        );
        let tensor = tensor.unwrap();
        let cast = tensor.cast(Number::F32, Overflow::Fails, &limits).unwrap();
        // Rounds as a cast does: the shortest digits of a double identify it exactly.
        let single = |value: f64| value.to_string().parse::<f32>().unwrap();
        let expected = values
            .iter()
            .map(|value| (value - f64::from(single(*value))).abs());
        let expected: Vec<f64> = expected.collect();
        let n_changed = to_u64(expected.iter().filter(|change| **change > 0.0).count());
        let largest = expected.iter().copied().fold(0.0, f64::max);
        for times in 0..3 {
            let changes = cast.cast_changes(&limits).unwrap();
            let [changes] = changes.as_slice() else {
                panic!("one cast")
            };
            assert_eq!(
                (changes.numbers, changes.changed),
                (3000, n_changed),
                "{times}"
            );
            assert_eq!(changes.largest, largest);
            cast.to_vec::<f32>().unwrap();
        }
        // An incomplete pass is not counted.
        cast.read_box::<f32>(&[crate::tensor::Slice::range(0..7)], &limits)
            .unwrap();
        assert_eq!(cast.cast_changes(&limits).unwrap()[0].changed, n_changed);
        // An exact cast changes nothing, and is not counted.
        let wider = cast.cast(Number::F64, Overflow::Fails, &limits).unwrap();
        assert_eq!(wider.cast_changes(&limits).unwrap().len(), 1);
    }
}
