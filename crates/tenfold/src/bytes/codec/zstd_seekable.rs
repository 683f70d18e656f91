//! Random access to Zstandard frames: the seekable format.
//!
//! The last frame is a skippable one, with a table of the lengths of all others:
//!
//! | bytes | field | |
//! |---:|---|---|
//! | 4 | magic | `5E 2A 4D 18` |
//! | 4 | length | u32, of all that follows |
//! | 8·n | lengths | u32 stored, u32 decoded; with a checksum of four bytes more each, the lower half of XXH64 |
//! | 4 | n | u32, how many frames there are |
//! | 1 | descriptor | bit 7: there are checksums |
//! | 4 | magic | `B1 EA 92 8F` |
//!
//! A table that does not match all of this is ignored, and the frames are decoded from the
//! beginning.
#![deny(clippy::arithmetic_side_effects)]

use std::sync::{Mutex, MutexGuard};

use xxhash_rust::xxh64::Xxh64;

use crate::bytes::{Bytes, Extent, Filter, PIECE, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{Compute, Source};
use crate::limits::Limits;
use crate::memory;

const SKIPPED: [u8; 4] = [0x5e, 0x2a, 0x4d, 0x18];
const MAGIC: [u8; 4] = [0xb1, 0xea, 0x92, 0x8f];

/// Magic number and length of the table's frame.
const HEAD: u64 = 8;

/// Number of frames, descriptor and magic number.
const FOOT: u64 = 9;

/// Largest decoded length of a frame.
const LARGEST: u64 = 16 << 20;

/// Longest table: enough for the frames of terabytes.
const LONGEST: u64 = 16 << 20;

impl Bytes {
    /// The same bytes with random access, for a few reads: of compressed bytes only the frames
    /// around a read are decoded, if there is a table of them. A checksum over all bytes is not
    /// verified then.
    ///
    /// # Errors
    /// As [`Bytes::settled`].
    pub(crate) fn at_hand(&self, limits: &Limits) -> Result<Bytes> {
        let table = match (self.filter(), self.extent()) {
            (Filter::Zstd { decoded }, Extent::Run(_)) => Table::of(self, decoded)?,
            _ => None,
        };
        let Some(table) = table else {
            return self.settled(limits);
        };
        limits.check_decoded("a tensor would be expanded", self.len())?;
        Ok(Bytes::whole(Source::computed(Frames {
            bytes: self.clone(),
            limits: limits.clone(),
            table,
            state: Mutex::default(),
        })))
    }
}

impl Bytes {
    /// Decodes everything, and verifies the frame checksums of the table.
    pub(crate) fn check_frames(&self) -> Result<()> {
        let table = match (self.filter(), self.extent()) {
            (Filter::Zstd { decoded }, Extent::Run(_)) => Table::of(self, decoded)?,
            _ => None,
        };
        let Some(table) = table.filter(|table| !table.sums.is_empty()) else {
            return self.for_each(PIECE, &mut |_| Ok(()));
        };
        let mut sums = Sums {
            table,
            at: self.at(),
            place: 0,
            done: 0,
            state: Xxh64::new(0),
        };
        self.for_each(PIECE, &mut |piece| sums.add(piece))?;
        // Empty frames at the end.
        sums.add(&[])
    }
}

/// Verifies the checksums of frames as they are decoded in order.
struct Sums {
    table: Table,
    /// Offset of the first stored frame.
    at: u64,
    /// Index of the frame that is being decoded, and the bytes before it.
    place: usize,
    done: u64,
    state: Xxh64,
}

impl Sums {
    fn add(&mut self, piece: &[u8]) -> Result<()> {
        let mut rest = piece;
        while let Some(end) = self.table.end(self.place) {
            let due = end.decoded.saturating_sub(self.done);
            let len = to_usize(due.min(to_u64(rest.len())))?;
            let (now, later) = rest.split_at(len);
            self.state.update(now);
            self.done = self.done.saturating_add(to_u64(len));
            rest = later;
            if self.done < end.decoded {
                return Ok(());
            }
            self.compare()?;
            self.place = self.place.saturating_add(1);
            self.state = Xxh64::new(0);
        }
        Ok(())
    }

    fn compare(&self) -> Result<()> {
        // The table has the lower half.
        let [.., a, b, c, d] = self.state.digest().to_be_bytes();
        let found = u32::from_be_bytes([a, b, c, d]);
        match self.table.sums.get(self.place) {
            Some(sum) if *sum != found => {
                let at = self.at.saturating_add(self.table.start(self.place).stored);
                let why =
                    format!("the checksum of a frame is {sum:08x}, its data's is {found:08x}");
                Err(Error::malformed(at, why))
            }
            _ => Ok(()),
        }
    }
}

/// The end of a frame, as a stored and as a decoded offset.
#[derive(Clone, Copy, Default)]
struct End {
    stored: u64,
    decoded: u64,
}

/// The ends of all frames.
pub(crate) struct Table {
    ends: Vec<End>,
    /// Their checksums, if there are any: the lower half of XXH64 of the decoded bytes.
    sums: Vec<u32>,
}

impl Table {
    /// The table at the end of compressed bytes, if there is a valid one.
    pub(crate) fn of(bytes: &Bytes, decoded: u64) -> Result<Option<Table>> {
        read_table(bytes, decoded)
    }

    /// The beginning of a frame.
    fn start(&self, place: usize) -> End {
        let before = place.checked_sub(1).and_then(|last| self.ends.get(last));
        before.copied().unwrap_or_default()
    }

    fn end(&self, place: usize) -> Option<End> {
        self.ends.get(place).copied()
    }

    /// The frame that contains a decoded offset.
    fn frame_with(&self, decoded: u64) -> usize {
        self.ends.partition_point(|end| end.decoded <= decoded)
    }

    /// The decoded length of the frame that begins at a stored offset.
    #[cfg(feature = "zstd")]
    pub(crate) fn room_at(&self, stored: u64) -> Option<usize> {
        let place = self.ends.partition_point(|end| end.stored <= stored);
        let (start, end) = (self.start(place), self.end(place)?);
        let room = end.decoded.saturating_sub(start.decoded);
        { usize::try_from(room).ok() }.filter(|_| start.stored == stored)
    }
}

fn read_table(bytes: &Bytes, decoded: u64) -> Result<Option<Table>> {
    let stored = bytes.stored_len();
    let read = |at: u64, len: u64| -> Result<Vec<u8>> {
        let mut buffer = memory::zeros(to_usize(len)?)?;
        bytes.extent().read_at(bytes.source(), at, &mut buffer)?;
        Ok(buffer)
    };
    let Some(foot_at) = stored.checked_sub(FOOT).filter(|at| *at >= HEAD) else {
        return Ok(None);
    };
    let foot = read(foot_at, FOOT)?;
    let Some((count, [descriptor, magic @ ..])) = foot.split_first_chunk::<4>() else {
        return Ok(None);
    };
    let width = match descriptor {
        0 => 8,
        0x80 => 12,
        _ => return Ok(None),
    };
    let len = u64::from(u32::from_le_bytes(*count)).saturating_mul(width);
    let Some(head_at) = foot_at.checked_sub(len.saturating_add(HEAD)) else {
        return Ok(None);
    };
    if magic != MAGIC || len > LONGEST {
        return Ok(None);
    }
    let head = read(head_at, HEAD)?;
    let states = u32::try_from(len.saturating_add(FOOT)).unwrap_or(u32::MAX);
    if head != [SKIPPED, states.to_le_bytes()].concat() {
        return Ok(None);
    }
    let (mut ends, mut sums) = (Vec::new(), Vec::new());
    let mut end = End::default();
    for entry in read(head_at.saturating_add(HEAD), len)?.chunks_exact(to_usize(width)?) {
        let Some((stored, rest)) = entry.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let content = rest.first_chunk::<4>().copied().unwrap_or_default();
        let content = u64::from(u32::from_le_bytes(content));
        if content > LARGEST {
            return Ok(None);
        }
        let stored = u64::from(u32::from_le_bytes(*stored));
        end.stored = end.stored.saturating_add(stored);
        end.decoded = end.decoded.saturating_add(content);
        ends.push(end);
        if let Some(sum) = rest.get(4..).and_then(<[u8]>::first_chunk::<4>) {
            sums.push(u32::from_le_bytes(*sum));
        }
    }
    let fits = end.stored == head_at && end.decoded == decoded;
    Ok(fits.then_some(Table { ends, sums }))
}

/// Frames that are decoded on demand.
struct Frames {
    bytes: Bytes,
    limits: Limits,
    table: Table,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The frame that was decoded last, with its index.
    held: Option<(usize, Vec<u8>)>,
    /// The number of bytes decoded so far.
    work: u64,
    /// All of the bytes, once as many have been decoded as there are: such access patterns read
    /// everything, in an order for which frames are too coarse.
    whole: Option<Bytes>,
}

impl Frames {
    fn state(&self) -> Result<MutexGuard<'_, State>> {
        let stopped = |_| Error::invalid("a thread that decodes stopped");
        self.state.lock().map_err(stopped)
    }

    /// Decodes one frame, unless it is the one that is held.
    fn hold(&self, place: usize, state: &mut State) -> Result<()> {
        if state.held.as_ref().is_some_and(|(held, _)| *held == place) {
            return Ok(());
        }
        let (start, end) = (self.table.start(place), self.table.end(place));
        let end = end.ok_or_else(|| Error::invalid("no such frame"))?;
        let at = self.bytes.at();
        let run = at.saturating_add(start.stored)..at.saturating_add(end.stored);
        let decoded = end.decoded.saturating_sub(start.decoded);
        let frame = Bytes::run(self.bytes.source(), run)?.filtered(Filter::Zstd { decoded });
        state.held = Some((place, frame.to_vec()?));
        state.work = state.work.saturating_add(decoded);
        Ok(())
    }
}

impl Compute for Frames {
    fn len(&self) -> u64 {
        self.bytes.len()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let mut state = self.state()?;
        let (mut at, mut rest) = (at, buffer);
        while !rest.is_empty() {
            if state.whole.is_none() && state.work > self.len() {
                state.held = None;
                state.whole = Some(self.bytes.settled(&self.limits)?);
            }
            if let Some(whole) = &state.whole {
                return whole.read_at(at, rest);
            }
            let place = self.table.frame_with(at);
            self.hold(place, &mut state)?;
            let skip = to_usize(at.saturating_sub(self.table.start(place).decoded))?;
            let frame = state.held.as_ref().map(|(_, frame)| frame.as_slice());
            let found = frame.and_then(|frame| frame.get(skip..)).unwrap_or(&[]);
            let (now, later) = rest.split_at_mut(found.len().min(rest.len()));
            let found = found.get(..now.len()).filter(|found| !found.is_empty());
            now.copy_from_slice(found.ok_or_else(|| Error::invalid("a frame without bytes"))?);
            at = at.saturating_add(to_u64(now.len()));
            rest = later;
        }
        Ok(())
    }

    fn depth(&self) -> u32 {
        self.bytes.source().depth()
    }
}

#[cfg(test)]
#[cfg(feature = "zstd")]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::io::Progress;

    /// Frames of 1000 incompressible bytes, with their table; `checksums` adds checksums to it.
    fn seekable(n_frames: u32, checksums: bool) -> (Vec<u8>, Vec<u8>) {
        let (mut data, mut stored, mut table) = (Vec::new(), Vec::new(), Vec::new());
        let mut seed = 1_u32;
        for _ in 0..n_frames {
            let bytes = std::iter::repeat_with(|| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                seed.to_be_bytes()[0]
            });
            let bytes: Vec<u8> = bytes.take(1000).collect();
            let frame = zstd::bulk::compress(&bytes, 3).unwrap();
            table.extend(u32::try_from(frame.len()).unwrap().to_le_bytes());
            table.extend(1000_u32.to_le_bytes());
            if checksums {
                let sum = xxhash_rust::xxh64::xxh64(&bytes, 0);
                table.extend(&sum.to_le_bytes()[..4]);
            }
            stored.extend(frame);
            data.extend(bytes);
        }
        stored.extend(SKIPPED);
        let len = u32::try_from(table.len()).unwrap().saturating_add(9);
        stored.extend(len.to_le_bytes());
        stored.extend(table);
        stored.extend(n_frames.to_le_bytes());
        stored.push(if checksums { 0x80 } else { 0 });
        stored.extend(MAGIC);
        (data, stored)
    }

    /// The compressed bytes in a file, and a count of the bytes read from it.
    fn counted(stored: &[u8], decoded: u64) -> (Bytes, Progress) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(stored).unwrap();
        let progress = Progress::default();
        let source = Source::open(file.path()).unwrap().counted(&progress);
        let bytes = Bytes::whole(source).filtered(Filter::Zstd { decoded });
        (bytes, progress)
    }

    #[test]
    fn only_the_frames_that_are_asked_for_are_read() {
        for checksums in [false, true] {
            let (data, stored) = seekable(100, checksums);
            let (bytes, progress) = counted(&stored, 100_000);
            let at_hand = bytes.at_hand(&Limits::default()).unwrap();
            let table = progress.done();
            assert!(table < 1300, "{table}");
            let mut buffer = [0; 100];
            for at in [50_950, 51_100, 51_500] {
                at_hand.read_at(to_u64(at), &mut buffer).unwrap();
                assert_eq!(buffer, data[at..at + 100], "{at}");
            }
            let frames = progress.done() - table;
            assert!((2000..2100).contains(&frames), "two frames, not {frames}");
        }
    }

    #[test]
    fn whoever_comes_back_and_back_gets_all_at_once() {
        let (data, stored) = seekable(10, false);
        let (bytes, progress) = counted(&stored, 10_000);
        let at_hand = bytes.at_hand(&Limits::default()).unwrap();
        for round in 0..1000 {
            let at = round * 7919 % 10_000;
            let mut buffer = [0];
            at_hand.read_at(to_u64(at), &mut buffer).unwrap();
            assert_eq!(buffer[0], data[at]);
        }
        assert!(progress.done() < 25_000, "{}", progress.done());
        assert_eq!(at_hand.to_vec().unwrap(), data);
    }

    #[test]
    fn a_table_that_does_not_fit_is_no_table() {
        let (data, right) = seekable(3, false);
        let foot = right.len() - 9;
        for place in [foot - 24, foot - 20, foot - 32, foot - 28, foot, foot + 5] {
            let mut wrong = right.clone();
            wrong[place] ^= 1;
            let (bytes, _) = counted(&wrong, 3000);
            assert!(Table::of(&bytes, 3000).unwrap().is_none(), "{place}");
            if place >= foot - 24 {
                let at_hand = bytes.at_hand(&Limits::default()).unwrap();
                assert_eq!(at_hand.to_vec().unwrap(), data, "{place}");
            }
        }
        let (bytes, _) = counted(&right[foot..], 0);
        assert!(Table::of(&bytes, 0).unwrap().is_none());
    }

    #[test]
    fn the_checksums_of_a_table_are_compared_by_a_check() {
        for n_frames in [1, 3, 100] {
            let (data, mut stored) = seekable(n_frames, true);
            let (bytes, _) = counted(&stored, to_u64(data.len()));
            bytes.check().unwrap();
            let last = stored.len() - 9 - 1;
            stored[last] ^= 1;
            let (bytes, _) = counted(&stored, to_u64(data.len()));
            assert_eq!(bytes.to_vec().unwrap(), data);
            let error = bytes.check().unwrap_err().to_string();
            assert!(error.contains("the checksum of a frame is "), "{error}");
        }
    }

    #[test]
    fn a_frame_that_is_broken_is_found_when_it_is_read() {
        let (_, mut stored) = seekable(3, false);
        stored[1500] ^= 0xff;
        stored[1011] ^= 0xff;
        let (bytes, _) = counted(&stored, 3000);
        let at_hand = bytes.at_hand(&Limits::default()).unwrap();
        assert!(at_hand.read_at(10, &mut [0; 10]).is_ok());
        assert!(at_hand.read_at(1010, &mut [0; 10]).is_err());
    }
}
