//! Zstandard frames decoded by several threads.
//!
//! Only ever quicker, never different: what does not come in whole frames of moderate size, or does
//! not decode, is left to whoever decodes byte after byte, from the first frame that was not handed
//! out.
#![deny(clippy::arithmetic_side_effects)]

use zstd::bulk::Decompressor;
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

use super::digest::State;
use super::{Bytes, PIECE, Threads, in_order, narrow, wide};
use crate::error::{Error, Result};

/// Below so many stored bytes one thread does.
const WORTH_IT: u64 = 1 << 20;
/// The most that one piece of work decodes to, and is decoded from.
const MOST: usize = 4 << 20;
const MOST_STORED: usize = 5 << 20;
/// What a frame may decode to that does not say to how much.
const UNSAID: usize = 4 << 20;
/// How much a piece of work has at least, unless the bytes end; smaller frames share one.
const LEAST: usize = 256 << 10;
/// More would hold too many frames at once.
const THREADS: usize = 4;

/// How far the bytes are decoded.
#[derive(Default)]
pub(super) struct Ahead {
    /// How many stored bytes are done with.
    pub(super) stored: u64,
    /// How many came out of them.
    pub(super) decoded: u64,
    /// Their checksum so far.
    pub(super) state: Option<State>,
}

/// Some whole frames.
#[derive(Default)]
struct Piece {
    stored: Vec<u8>,
    /// How much room they need.
    room: usize,
    made: Vec<u8>,
    is_whole: bool,
}

/// Decodes as many frames as several threads can, handing out pieces of at most `budget`, `decoded`
/// bytes in all.
pub(super) fn decode_ahead(
    bytes: &Bytes,
    decoded: u64,
    budget: usize,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<Ahead> {
    let digest = bytes.stored_digest();
    let threads = Threads::Cores.for_len(usize::try_from(decoded).unwrap_or(usize::MAX));
    let is_elsewhere = digest.is_some_and(|digest| digest.over.is_some());
    if threads < 2 || is_elsewhere || bytes.stored_len() < WORTH_IT {
        return Ok(Ahead::default());
    }
    let mut ahead = Ahead {
        state: digest.map(super::Digest::start),
        ..Ahead::default()
    };
    let mut frames = Frames {
        bytes,
        held: Vec::new(),
        used: 0,
        read: 0,
    };
    let mut is_odd = false;
    let done = in_order(
        threads.min(THREADS),
        |piece: &mut Piece| frames.next(piece),
        |piece| {
            piece.made.clear();
            piece.made.reserve(piece.room.max(1));
            let done = Decompressor::new()
                .and_then(|mut one| one.decompress_to_buffer(&piece.stored, &mut piece.made));
            piece.is_whole = done.is_ok();
            Ok(())
        },
        |piece| {
            let all = ahead.decoded.saturating_add(wide(piece.made.len()));
            is_odd = !piece.is_whole || all > decoded;
            if is_odd {
                return Err(Error::invalid(
                    "frames that are decoded one after the other",
                ));
            }
            if let Some(state) = &mut ahead.state {
                state.update(&piece.stored);
            }
            ahead.decoded = all;
            ahead.stored = ahead.stored.saturating_add(wide(piece.stored.len()));
            piece
                .made
                .chunks(budget.clamp(1, PIECE))
                .try_for_each(&mut *each)
        },
    );
    match done {
        Err(_) if is_odd => Ok(ahead),
        done => done.map(|()| ahead),
    }
}

/// Frames as they are stored, one after the other.
struct Frames<'a> {
    bytes: &'a Bytes,
    /// What was read and is not used up.
    held: Vec<u8>,
    used: usize,
    read: u64,
}

impl Frames<'_> {
    /// Puts the next frames into a piece; false if there are none that can be told apart.
    fn next(&mut self, piece: &mut Piece) -> Result<bool> {
        piece.stored.clear();
        piece.room = 0;
        while let Some((len, room)) = self.frame()? {
            let all = piece.room.saturating_add(room);
            if all > MOST && !piece.stored.is_empty() {
                break;
            }
            let end = self.used.saturating_add(len);
            piece
                .stored
                .extend(self.held.get(self.used..end).unwrap_or_default());
            piece.room = all;
            self.used = end;
            if piece.stored.len() >= LEAST || all >= MOST {
                break;
            }
        }
        Ok(!piece.stored.is_empty())
    }

    /// How long the next frame is and how much room it needs, if it is of moderate size.
    fn frame(&mut self) -> Result<Option<(usize, usize)>> {
        loop {
            let left = self.held.get(self.used..).unwrap_or_default();
            let room = match get_frame_content_size(left) {
                Ok(Some(size)) if size > wide(MOST) => return Ok(None),
                Ok(Some(size)) => Some(narrow(size)?),
                Ok(None) => Some(UNSAID),
                Err(_) => None,
            };
            if let (Some(room), Ok(len)) = (room, find_frame_compressed_size(left)) {
                return Ok(Some((len, room)));
            }
            let more = self.bytes.stored_len().saturating_sub(self.read);
            if more == 0 || left.len() >= MOST_STORED {
                return Ok(None);
            }
            self.read_on(narrow(more.min(WORTH_IT))?)?;
        }
    }

    fn read_on(&mut self, more: usize) -> Result<()> {
        self.held.drain(..self.used.min(self.held.len()));
        self.used = 0;
        let old = self.held.len();
        self.held.resize(old.saturating_add(more), 0);
        let room = self.held.get_mut(old..).unwrap_or_default();
        self.bytes
            .extent()
            .read_at(self.bytes.source(), self.read, room)?;
        self.read = self.read.saturating_add(wide(more));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Filter;
    use super::*;

    /// Bytes that compress a little, no two stretches alike.
    fn data(len: usize) -> Vec<u8> {
        let mut seed = 1_u32;
        let bytes = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed.to_be_bytes()[0] & 0x7f
        });
        bytes.take(len).collect()
    }

    /// Frames of these lengths, those at odd places without their content size.
    fn stored(data: &[u8], lens: &[usize]) -> Vec<u8> {
        let (mut stored, mut rest) = (Vec::new(), data);
        for (place, len) in lens.iter().enumerate() {
            let (now, later) = rest.split_at(*len);
            stored.extend(match place % 2 {
                0 => zstd::bulk::compress(now, 1).unwrap(),
                _ => zstd::stream::encode_all(now, 1).unwrap(),
            });
            rest = later;
        }
        assert!(rest.is_empty());
        stored
    }

    fn ahead(stored: &[u8], decoded: u64) -> (Ahead, Vec<u8>) {
        let bytes = Bytes::memory(stored.to_vec()).filtered(Filter::Zstd { decoded });
        let mut found = Vec::new();
        let ahead = decode_ahead(&bytes, decoded, PIECE, &mut |piece| {
            found.extend_from_slice(piece);
            Ok(())
        });
        (ahead.unwrap(), found)
    }

    #[test]
    fn frames_of_all_sizes_come_out_in_order() {
        let lens = [3, 1 << 20, 0, 17, 700_000, 1 << 20, 3_000_000, 5, 400_000];
        let data = data(lens.iter().sum());
        let stored = stored(&data, &lens);
        let bytes = Bytes::memory(stored.clone()).filtered(Filter::Zstd {
            decoded: wide(data.len()),
        });
        assert!(bytes.to_vec().unwrap() == data);
        if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
            let (ahead, found) = ahead(&stored, wide(data.len()));
            assert!(found == data);
            assert_eq!(ahead.stored, wide(stored.len()));
        }
    }

    #[test]
    fn what_follows_a_broken_or_large_frame_is_left_to_others() {
        let lens = [1 << 20, 1 << 20, 1 << 20, 5_000_000, 1 << 20];
        let data = data(lens.iter().sum());
        let mut stored = stored(&data, &lens);
        // The frame of five million bytes does not say how many they are.
        let (ahead_of_large, found) = ahead(&stored, wide(data.len()));
        assert!(data.starts_with(&found) && found.len() <= 3 << 20);
        assert!(ahead_of_large.stored < wide(stored.len()));
        let bytes = |stored: &[u8]| {
            let decoded = wide(data.len());
            Bytes::memory(stored.to_vec()).filtered(Filter::Zstd { decoded })
        };
        assert!(bytes(&stored).to_vec().unwrap() == data);
        // A block that says it is of a kind that there is not, in the second frame.
        let second = find_frame_compressed_size(&stored).unwrap();
        stored[second + 6] |= 6;
        assert!(bytes(&stored).to_vec().is_err());
        let (_, found) = ahead(&stored, wide(data.len()));
        assert!(found.len() <= 1 << 20);
    }

    #[test]
    fn a_checksum_over_the_stored_bytes_is_compared_all_the_same() {
        let lens = [1 << 20, 1 << 20, 1 << 20, 5_000_000, 1 << 20];
        let data = data(lens.iter().sum());
        let stored = stored(&data, &lens);
        let crc = crc32c::crc32c(&stored);
        for (sum, is_right) in [(crc, true), (crc ^ 1, false)] {
            let digest = super::super::Digest {
                algorithm: super::super::Algorithm::Crc32c,
                expected: sum.to_be_bytes().to_vec(),
                over: None,
            };
            let bytes = Bytes::memory(stored.clone())
                .filtered(Filter::Zstd {
                    decoded: wide(data.len()),
                })
                .with_digest(Some(digest));
            assert_eq!(bytes.to_vec().is_ok_and(|found| found == data), is_right);
        }
    }
}
