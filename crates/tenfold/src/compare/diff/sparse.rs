//! Cells of a sparse tensor, sorted by another thread while they are compared.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;

use crate::bytes::to_u64;
use crate::error::{Error, Result};
use crate::io::{no_thread, spawn};
use crate::limits::Limits;
use crate::tensor::{SortedCells, Tensor};

/// Cells per batch.
const BATCH: usize = 4096;

/// Most batches in the queue.
const WAITING: usize = 4;

#[derive(Default)]
struct Batch {
    indices: Vec<u64>,
    values: Vec<u8>,
}

/// Explicit cells in ascending order of their index.
pub(super) struct Cells {
    batches: Receiver<Result<Batch>>,
    batch: Batch,
    place: usize,
    width: usize,
}

impl Cells {
    /// Starts to sort the cells of a sparse tensor by the dot product of their index with
    /// `strides`.
    pub(super) fn of<'scope, 'env>(
        tensor: &'env Tensor,
        strides: Vec<u64>,
        limits: &'env Limits,
        scope: &'scope Scope<'scope, 'env>,
    ) -> Cells {
        let (sender, batches) = sync_channel(WAITING);
        let lack = sender.clone();
        let thread = spawn(scope, move || {
            if let Err(error) = send_all(tensor, strides, limits, &sender) {
                // A failed send means that the receiver is gone, and is no error.
                let _ = sender.send(Err(error));
            }
        });
        if thread.is_none() {
            // The channel has room, as nothing was sent.
            let _ = lack.send(Err(no_thread()));
        }
        Cells {
            batches,
            batch: Batch::default(),
            place: 0,
            width: tensor.dtype().width(),
        }
    }

    /// The index of the next cell, if there is one.
    pub(super) fn next_index(&mut self) -> Result<Option<u64>> {
        if self.place >= self.batch.indices.len() {
            let Ok(batch) = self.batches.recv() else {
                return Ok(None);
            };
            self.batch = batch?;
            self.place = 0;
        }
        Ok(self.batch.indices.get(self.place).copied())
    }

    /// Appends the value of the cell at `index` if that is the next one, else zero.
    pub(super) fn take(&mut self, index: u64, out: &mut Vec<u8>) {
        if self.batch.indices.get(self.place) != Some(&index) {
            out.resize(out.len().saturating_add(self.width), 0);
            return;
        }
        let at = self.place.saturating_mul(self.width);
        let value = self.batch.values.get(at..);
        out.extend(value.unwrap_or_default().iter().take(self.width));
        self.place = self.place.saturating_add(1);
    }

    /// Fills `out` with all cells from `first` on: the explicit ones, and zeros.
    pub(super) fn fill(&mut self, first: u64, out: &mut [u8]) -> Result<()> {
        out.fill(0);
        let end = first.saturating_add(to_u64(out.len() / self.width.max(1)));
        let mut value = Vec::new();
        while let Some(index) = self.next_index()?.filter(|index| *index < end) {
            value.clear();
            self.take(index, &mut value);
            let place = usize::try_from(index.saturating_sub(first)).unwrap_or(usize::MAX);
            let at = place.saturating_mul(self.width);
            if let Some(target) = out.get_mut(at..).and_then(|out| out.get_mut(..self.width)) {
                target.copy_from_slice(&value);
            }
        }
        Ok(())
    }
}

fn send_all(
    tensor: &Tensor,
    strides: Vec<u64>,
    limits: &Limits,
    sender: &SyncSender<Result<Batch>>,
) -> Result<()> {
    let stopped = |_| Error::invalid("nobody reads the cells any more");
    let mut batch = Batch::default();
    SortedCells::every(tensor, strides, limits)?.for_each(&mut |index, value| {
        batch.indices.push(index);
        batch.values.extend_from_slice(value);
        if batch.indices.len() < BATCH {
            return Ok(());
        }
        sender.send(Ok(std::mem::take(&mut batch))).map_err(stopped)
    })?;
    if batch.indices.is_empty() {
        return Ok(());
    }
    sender.send(Ok(batch)).map_err(stopped)
}
