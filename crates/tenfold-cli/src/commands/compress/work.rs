//! Compression of one tensor.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use tenfold::{Limits, Order, Progress, Storage, Tensor};
use tenfold_train::{AnySource, AnyTrain, Distance, Error, Options, Report, Watcher, compress_any};

use crate::args::Choice;
use crate::commands::{Reshaping, Tolerance};
use crate::error::Failure;
use crate::render::bytes_text;
use crate::terminal::{dense_len, growth_text, ranks_text};

/// The compression options.
pub(super) struct Work<'a> {
    pub(super) nearness: &'a Tolerance,
    pub(super) reshaping: &'a Reshaping,
    pub(super) choice: &'a Choice,
    /// Whether the true error is measured as well.
    pub(super) must_verify: bool,
    /// Whether a single train may be larger than its tensor.
    pub(super) may_grow: bool,
    pub(super) limits: &'a Limits,
    pub(super) progress: &'a Progress,
}

/// A train and its properties.
pub(super) struct Made {
    pub(super) train: AnyTrain,
    pub(super) report: Report,
    /// The result of `--verify`.
    pub(super) measured: Option<Distance>,
}

/// A tensor in the shape used for compression, ready to be read.
pub(super) struct Prepared {
    /// Its own sizes.
    own: Vec<u64>,
    /// The sizes used for compression.
    pub(super) sizes: Vec<u64>,
    source: AnySource,
    /// Bytes of all cells in their own number type.
    len: u64,
}

impl Prepared {
    pub(super) fn is_reshaped(&self) -> bool {
        self.own != self.sizes
    }
}

impl Work<'_> {
    /// Validates the tensor and reshapes it.
    pub(super) fn prepare(&self, tensor: &Tensor) -> Result<Prepared, Error> {
        // Cells are read by position afterwards, which skips checksums.
        let parts = tensor.storage().parts().into_iter();
        for part in parts.filter(|part| part.bytes.digest().is_some()) {
            part.bytes.check()?;
        }
        let own = tensor.sizes()?;
        let dense = match tensor.storage() {
            Storage::Train { .. } => {
                &AnyTrain::from_tensor(tensor)?.expanded(Order::Row, self.limits)?
            }
            _ => tensor,
        };
        let shaped = match wanted(self.reshaping, &own)? {
            Some(sizes) => &dense.reshape(&sizes, self.limits)?,
            None => dense,
        };
        let sizes = shaped.sizes()?;
        Ok(Prepared {
            own,
            sizes,
            source: AnySource::new(shaped, self.limits)?,
            len: u64::try_from(dense_len(tensor)).unwrap_or(u64::MAX),
        })
    }

    /// Compresses, and counts the bytes read.
    pub(super) fn compress(&self, prepared: &Prepared, options: &Options) -> Result<Made, Error> {
        let memory = usize::try_from(self.limits.memory).unwrap_or(usize::MAX);
        let options = options.clone().with_memory(memory);
        let (train, report) = self.counted(prepared.len, |watcher| {
            let options = options.clone().watched_by(watcher);
            compress_any(&prepared.source, &options).map_err(|error| own_cell(error, prepared))
        })?;
        let measured = if self.must_verify {
            Some(self.counted(prepared.len, |watcher| {
                train.distance_watched(&prepared.source, Some(watcher))
            })?)
        } else {
            None
        };
        Ok(Made {
            train,
            report,
            measured,
        })
    }

    /// Runs a job that reads `len` bytes, with a progress bar.
    fn counted<R>(
        &self,
        len: u64,
        work: impl FnOnce(&Watcher) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.progress.expect(len);
        let counted = AtomicU64::new(0);
        let count = |len: u64| {
            let before = counted.fetch_max(len, Ordering::Relaxed);
            self.progress.add(len.saturating_sub(before));
        };
        let watcher = |progress: tenfold_train::Progress| {
            let (read, cells) = (progress.read.min(progress.cells), progress.cells.max(1));
            let done = u128::from(len) * u128::from(read) / u128::from(cells);
            count(u64::try_from(done).unwrap_or(u64::MAX));
            ControlFlow::Continue(())
        };
        let result = work(&watcher)?;
        count(len);
        Ok(result)
    }
}

/// The sizes given by the flags.
fn wanted(reshaping: &Reshaping, own: &[u64]) -> Result<Option<Vec<Option<u64>>>, Error> {
    let cells = || {
        own.iter()
            .try_fold(1_u64, |all, size| all.checked_mul(*size))
    };
    if let Some(sizes) = &reshaping.reshape {
        return Ok(Some(sizes.0.clone()));
    }
    if let Some(count) = reshaping.qubits {
        let found = cells().filter(|cells| cells.is_power_of_two());
        return match found.map(u64::ilog2) {
            Some(own) if own == count => {
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                Ok(Some(vec![Some(2); count]))
            }
            Some(own) => Err(Error::Invalid(format!(
                "2^{own} cells are {own} qubits, not {count}"
            ))),
            None => Err(Error::Invalid(format!(
                "{own:?} has no power of two as its number of cells: --qtt splits any dimensions"
            ))),
        };
    }
    if reshaping.qtt {
        let factors = own.iter().flat_map(|size| {
            let size = usize::try_from(*size).unwrap_or(usize::MAX);
            tenfold_train::prime_factors(size)
        });
        let sizes = factors.map(|factor| u64::try_from(factor).ok());
        return Ok(Some(sizes.collect()));
    }
    Ok(None)
}

/// Maps a cell back to the tensor's own indices, if it was read under another shape.
fn own_cell(error: Error, prepared: &Prepared) -> Error {
    let Error::NotFinite { index, value } = error else {
        return error;
    };
    if !prepared.is_reshaped() {
        return Error::NotFinite { index, value };
    }
    let sizes = prepared.sizes.iter().zip(&index);
    let mut rest = sizes.fold(0_u64, |place, (size, index)| {
        let index = u64::try_from(*index).unwrap_or(u64::MAX);
        place.saturating_mul(*size).saturating_add(index)
    });
    let mut own: Vec<usize> = Vec::new();
    for size in prepared.own.iter().rev() {
        own.push(usize::try_from(rest % (*size).max(1)).unwrap_or(usize::MAX));
        rest /= (*size).max(1);
    }
    own.reverse();
    Error::NotFinite { index: own, value }
}

/// The message for a tensor whose train would be larger.
pub(super) fn too_large(before: u64, made: &Made) -> Failure {
    let after = made.report.train_len;
    let ranks = ranks_text(&made.train.ranks(), 40);
    Failure::refused(&format!(
        "a train of ranks {ranks} takes {} where the tensor takes {}: {}; --force writes it, a \
         larger --eps makes it smaller",
        bytes_text(after),
        bytes_text(before),
        growth_text(before, after),
    ))
}
