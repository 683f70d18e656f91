//! Spooled bytes that several threads compute part by part: in memory while small, in a nameless
//! temporary file beyond.

use std::sync::Mutex;

use super::append_at;
use super::scratch::Scratch;
use crate::bytes::{to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::parallel::stopped;
use crate::io::{Source, par_for_each};
use crate::limits::Limits;
use crate::memory;

/// Spools `len` bytes computed by `fill`, up to a quarter of what `limits` allow in memory. `fill`
/// gets the number of a part and a buffer for it; parts are `part` bytes long but for the last.
///
/// Every thread writes its own results, while they are still in its cache. Of several failures the
/// first part's is returned.
pub(crate) fn in_parts(
    threads: usize,
    len: u64,
    part: usize,
    limits: &Limits,
    fill: impl Fn(usize, &mut [u8]) -> Result<()> + Sync,
) -> Result<Source> {
    let part = part.max(1);
    let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let try_to_fill = |number: usize, out: &mut [u8]| {
        let Err(error) = fill(number, out) else {
            return Ok(());
        };
        let mut first = failure.lock().map_err(|_| stopped())?;
        // Parts are started in order, and those that were started are completed.
        if first.as_ref().is_none_or(|(other, _)| number < *other) {
            *first = Some((number, error));
        }
        Err(stopped())
    };
    let kept = if len <= limits.memory / 4 {
        in_memory(threads, to_usize(len)?, part, &try_to_fill)
    } else {
        in_file(threads, len, part, limits, &try_to_fill)
    };
    match failure.into_inner().map_err(|_| stopped())? {
        Some((_, error)) => Err(error),
        None => kept,
    }
}

fn in_memory(
    threads: usize,
    len: usize,
    part: usize,
    fill: &(impl Fn(usize, &mut [u8]) -> Result<()> + Sync),
) -> Result<Source> {
    let mut memory = memory::zeros(len)?;
    let parts = memory.chunks_mut(part).enumerate();
    par_for_each(threads, parts, |(number, out)| fill(number, out))?;
    Ok(Source::memory(memory))
}

fn in_file(
    threads: usize,
    len: u64,
    part: usize,
    limits: &Limits,
    fill: &(impl Fn(usize, &mut [u8]) -> Result<()> + Sync),
) -> Result<Source> {
    let file = Scratch::of_len(len, limits)?;
    let buffers: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
    let count = to_usize(len.div_ceil(to_u64(part)))?;
    par_for_each(threads, 0..count, |number| {
        let mut buffer = buffers.lock().map_err(|_| stopped())?.pop();
        let buffer = buffer.get_or_insert_default();
        let at = to_u64(number).saturating_mul(to_u64(part));
        memory::resize(buffer, to_usize(len.saturating_sub(at).min(to_u64(part)))?)?;
        fill(number, buffer)?;
        append_at(&file, buffer, at)?;
        let mut buffers = buffers.lock().map_err(|_| stopped())?;
        buffers.push(std::mem::take(buffer));
        Ok(())
    })?;
    file.into_source()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_to_lie_in_order_in_memory_and_in_a_file() {
        let mut limits = Limits::default();
        for (memory, is_file) in [(4 << 20, false), (100, true)] {
            limits.memory = memory;
            for (threads, len, part) in [(1, 1000, 10), (3, 1001, 64), (2, 77, 100), (2, 40, 0)] {
                let source = in_parts(threads, len, part, &limits, |number, out| {
                    out.fill(u8::try_from(number).unwrap());
                    Ok(())
                })
                .unwrap();
                assert_eq!(source.as_file().is_some(), is_file && len > 25);
                let mut found = vec![0; to_usize(len).unwrap()];
                source.read_at(0, &mut found).unwrap();
                let part = part.max(1);
                let wanted = (0..found.len()).map(|at| u8::try_from(at / part).unwrap());
                assert_eq!(found, wanted.collect::<Vec<u8>>());
            }
        }
    }

    #[test]
    fn the_first_part_that_fails_is_told() {
        let limits = Limits::default();
        for threads in [1, 2, 5] {
            let kept = in_parts(threads, 1000, 10, &limits, |number, _| {
                // The first one is slow.
                if number == 20 {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                if number >= 20 {
                    Err(Error::invalid(number.to_string()))
                } else {
                    Ok(())
                }
            });
            assert_eq!(kept.err().unwrap().to_string(), "20");
        }
    }
}
