//! Deferred spooling: the values of a text, parsed and spooled on the first read.
//!
//! Numbers of a text have to be spooled to be read by position, which is wasted work for a caller
//! that wants names and shapes alone. A reader in deferred mode parses the text as always, so that
//! every error is found, but of values that do not fit in memory it keeps only the length. The
//! first read of values parses the file a second time, in the same order.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};

use crate::error::{Error, Result};
use crate::io::Source;
use crate::io::source::Compute;
use crate::limits::Limits;
use crate::memory;

/// Handling of values that do not fit in memory.
#[derive(Clone, Default)]
pub(crate) enum Putting {
    /// Spooled to a temporary file.
    #[default]
    Aside,
    /// Counted only.
    Later(Arc<Later>),
    /// Spooled to a temporary file, and every lot is listed.
    Again(Arc<Mutex<Lots>>),
}

/// Lots of values in order; `None` for those that fit in memory at the first reading.
type Lots = Vec<Option<Source>>;

/// Reads a file again, with the list that collects the values.
type Again = dyn Fn(Putting) -> Result<()> + Send + Sync;

/// State of one deferred reading of a file.
pub(crate) struct Later {
    again: Box<Again>,
    /// Whether the file is still being read.
    is_open: AtomicBool,
    /// How many lots of values there were so far.
    count: AtomicUsize,
    found: Mutex<Option<Lots>>,
}

impl Putting {
    /// Defers values to a second reading by `again`.
    pub(crate) fn later(again: impl Fn(Putting) -> Result<()> + Send + Sync + 'static) -> Putting {
        Putting::Later(Arc::new(Later {
            again: Box::new(again),
            is_open: AtomicBool::new(true),
            count: AtomicUsize::new(0),
            found: Mutex::new(None),
        }))
    }

    /// Ends the reading: values spooled from now on are wanted at once.
    pub(crate) fn close(&self) {
        if let Putting::Later(later) = self {
            later.is_open.store(false, Relaxed);
        }
    }

    /// Whether values are only counted now.
    pub(crate) fn is_counting(&self) -> bool {
        matches!(self, Putting::Later(_))
    }

    /// The handling of values spooled now, with limits that may be those of a reading.
    pub(crate) fn of(limits: &Limits) -> Putting {
        match limits.carried() {
            Some(Putting::Later(later)) if !later.is_open.load(Relaxed) => Putting::Aside,
            Some(other) => other.clone(),
            None => Putting::Aside,
        }
    }

    /// Passes on a lot of values: as it was spooled, or, if it was only counted, as `len` lazy
    /// bytes.
    pub(crate) fn pass(&self, kept: Option<Source>, len: u64, is_spilled: bool) -> Result<Source> {
        let stopped = |_| Error::invalid("another reader of the file stopped halfway");
        match self {
            Putting::Aside => {}
            Putting::Later(later) => {
                let number = later.count.fetch_add(1, Relaxed);
                if kept.is_none() {
                    let later = later.clone();
                    return Ok(Source::computed(Lot { later, number, len }));
                }
            }
            Putting::Again(list) => {
                let lot = kept.clone().filter(|_| is_spilled);
                memory::push(&mut *list.lock().map_err(stopped)?, lot)?;
            }
        }
        kept.ok_or_else(|| Error::invalid("values that were not put aside"))
    }
}

impl Later {
    fn lot(&self, number: usize) -> Result<Option<Source>> {
        let stopped = |_| Error::invalid("another reader of the file stopped halfway");
        let mut found = self.found.lock().map_err(stopped)?;
        if found.is_none() {
            let list = Arc::new(Mutex::new(Vec::new()));
            (self.again)(Putting::Again(list.clone()))?;
            *found = Some(std::mem::take(&mut *list.lock().map_err(|_| {
                Error::invalid("another reader of the file stopped halfway")
            })?));
        }
        Ok({ found.as_ref() }.and_then(|found| found.get(number).cloned().flatten()))
    }
}

/// One lot of values that was only counted.
struct Lot {
    later: Arc<Later>,
    number: usize,
    len: u64,
}

impl Compute for Lot {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let lot = self.later.lot(self.number)?;
        let lot = lot.filter(|lot| lot.len() == self.len);
        let changed = || Error::malformed(None, "the file was changed while it was read");
        lot.ok_or_else(changed)?.read_at(at, buffer)
    }

    fn depth(&self) -> u32 {
        0
    }
}

impl std::fmt::Debug for Putting {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Putting::Aside => "Aside",
            Putting::Later(_) => "Later",
            Putting::Again(_) => "Again",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::ReadOptions;
    use crate::tensor::{Order, Storage};

    const COUNT: u32 = 5000;

    fn integrals(are_mirrored: bool) -> String {
        let pairs =
            || (1..=14_u32).flat_map(|first| (1..=first).map(move |second| (first, second)));
        let mut text = String::new();
        for (i, j) in pairs() {
            for (k, l) in pairs().filter(|pair| are_mirrored || *pair <= (i, j)) {
                text += &format!("{}.5 {i} {j} {k} {l}\n", i * j * k * l);
            }
        }
        text
    }

    fn cells() -> String {
        let cells: Vec<String> = (0..COUNT)
            .map(|cell| format!("\"{cell}\":{cell}"))
            .collect();
        cells.join(",")
    }

    fn texts() -> Vec<(&'static str, String)> {
        let lines = |line: &dyn Fn(u32) -> String| (1..=COUNT).map(line).collect::<String>();
        let head = format!("%%MatrixMarket matrix coordinate real general\n{COUNT} 1 {COUNT}\n");
        let values: Vec<String> = (0..COUNT).map(|value| value.to_string()).collect();
        let values = values.join(",");
        vec![
            ("tns", lines(&|line| format!("{line} 2 {line}\n"))),
            ("mtx", head + &lines(&|line| format!("{line} 1 {line}\n"))),
            (
                "vespa-text",
                format!("{{\"type\":\"tensor(x[{COUNT}])\",\"values\":[{values}]}}"),
            ),
            (
                "fcidump",
                format!("&FCI NORB=14,NELEC=2,MS2=0,\n&END\n{}", integrals(false)),
            ),
            // In another order than programs write, and with both images.
            (
                "fcidump",
                format!("&FCI NORB=14,NELEC=2,MS2=0,\n&END\n{}", integrals(true)),
            ),
            (
                "vespa-text",
                format!("{{\"type\":\"tensor(a{{}})\",\"cells\":{{{}}}}}", cells()),
            ),
        ]
    }

    /// The values of the tensor of a text, with so many bytes allowed for temporary files.
    fn values(format: &str, text: &str, temp: u64, values_later: bool) -> Result<Vec<f64>> {
        let limits = Limits {
            // A quarter of it does not hold the 40 000 bytes of values.
            memory: 100_000,
            temp,
            ..Limits::default()
        };
        let source = Source::memory(text.as_bytes().to_vec());
        let how = ReadOptions {
            values_later,
            limits: limits.clone(),
            ..ReadOptions::default()
        };
        let format = crate::by_name(format).unwrap();
        let bundle = crate::read(&source, format, &how).unwrap().bundle;
        let tensor = bundle.entries().first().map(|(_, tensor)| tensor).unwrap();
        if tensor.n_mapped() == 0 {
            return tensor.dense(Order::Row, &limits)?.to_vec();
        }
        let Storage::Sparse { values, .. } = tensor.storage() else {
            panic!("labelled cells are sparse");
        };
        values.to_vec()
    }

    #[test]
    fn values_are_read_when_somebody_wants_them() {
        for (format, text) in texts() {
            let refused = values(format, &text, 0, true).map(|values| values.len());
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("--max-temp"), "{format}: {refused}");
            let found = values(format, &text, u64::MAX, true).unwrap();
            assert_eq!(found, values(format, &text, u64::MAX, false).unwrap());
        }
    }
}
