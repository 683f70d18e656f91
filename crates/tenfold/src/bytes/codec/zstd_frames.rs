//! Zstandard frames decoded by several threads.
//!
//! Only faster, never different: input that is not in whole frames of moderate size, or does not
//! decode, is left to the sequential decoder, from the first frame that was not handed out.
#![deny(clippy::arithmetic_side_effects)]

use zstd::bulk::Decompressor;
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

use super::STATE;
use super::checksum::State;
use super::zstd_seekable::Table;
use crate::bytes::{Bytes, Digest, PIECE, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{Threads, ordered_pipeline};
use crate::memory;

/// Below this many stored bytes one thread is enough.
const WORTH_IT: u64 = 1 << 20;
/// Bytes read at a time.
const STEP: u64 = 256 << 10;
/// Largest decoded length of a unit of work: in memory of its own, and in the output.
const MOST: usize = 4 << 20;
const MOST_IN_PLACE: usize = 16 << 20;
/// Largest decoded length allowed for a frame that does not state it.
const UNSAID: usize = 4 << 20;
/// Smallest unit of work, unless the bytes end; smaller frames share one.
const LEAST: usize = 256 << 10;
/// More threads would hold too many frames at once.
const THREADS: usize = 4;

/// How far the bytes have been decoded.
#[derive(Default)]
pub(crate) struct Ahead {
    /// Stored bytes consumed.
    pub(crate) stored: u64,
    /// Bytes decoded from them.
    pub(crate) decoded: u64,
    /// The state of their checksum.
    pub(crate) state: Option<State>,
}

/// Some whole frames, and the buffers to decode them.
#[derive(Default)]
struct Piece<'a> {
    stored: Vec<u8>,
    /// Their decoded length.
    room: usize,
    /// Their place in the output, if it is known.
    place: Option<&'a mut [u8]>,
    made: Vec<u8>,
    is_whole: bool,
    decompressor: Option<Decompressor<'static>>,
}

impl Piece<'_> {
    fn decode(&mut self) -> Result<()> {
        let decompressor = match &mut self.decompressor {
            Some(decompressor) => decompressor,
            none => {
                memory::probe(STATE)?;
                none.insert(Decompressor::new()?)
            }
        };
        self.is_whole = match &mut self.place {
            Some(place) => decompressor
                .decompress_to_buffer(&self.stored, &mut **place)
                .is_ok_and(|len| len == place.len()),
            None => {
                self.made.clear();
                memory::reserve(&mut self.made, self.room.max(1))?;
                decompressor
                    .decompress_to_buffer(&self.stored, &mut self.made)
                    .is_ok()
            }
        };
        Ok(())
    }

    fn decoded(&self) -> &[u8] {
        self.place.as_deref().unwrap_or(&self.made)
    }
}

/// Decodes as many frames as can be decoded in parallel, handing out pieces of at most `budget`,
/// `decoded` bytes in all: parts of `place`, if that is given.
pub(crate) fn decode_ahead(
    bytes: &Bytes,
    decoded: u64,
    budget: usize,
    place: Option<&mut [u8]>,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<Ahead> {
    let digest = bytes.stored_digest();
    let threads = Threads::Cores.for_len(usize::try_from(decoded).unwrap_or(usize::MAX));
    let is_elsewhere = digest.is_some_and(|digest| digest.over.is_some());
    if threads < 2 || is_elsewhere || bytes.stored_len() < WORTH_IT {
        return Ok(Ahead::default());
    }
    let mut ahead = Ahead {
        state: digest.map(Digest::start),
        ..Ahead::default()
    };
    let mut frames = Frames {
        bytes,
        held: Vec::new(),
        read: 0,
        table: match &place {
            Some(_) => Table::of(bytes, decoded)?,
            None => None,
        },
        place,
    };
    let mut is_odd = false;
    let done = ordered_pipeline(
        threads.min(THREADS),
        |piece: &mut Piece| frames.next(piece),
        Piece::decode,
        |piece| {
            let made = piece.decoded();
            let all = ahead.decoded.saturating_add(to_u64(made.len()));
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
            ahead.stored = ahead.stored.saturating_add(to_u64(piece.stored.len()));
            made.chunks(budget.clamp(1, PIECE)).try_for_each(&mut *each)
        },
    );
    match done {
        Err(_) if is_odd => Ok(ahead),
        done => done.map(|()| ahead),
    }
}

/// Stored frames, in order.
struct Frames<'a, 'b> {
    bytes: &'b Bytes,
    /// Bytes read but not yet in a piece.
    held: Vec<u8>,
    read: u64,
    table: Option<Table>,
    /// The place of the next frames in the output.
    place: Option<&'a mut [u8]>,
}

impl<'a> Frames<'a, '_> {
    /// Puts the next frames into a piece; false if no further frame boundary can be found.
    fn next(&mut self, piece: &mut Piece<'a>) -> Result<bool> {
        let (mut len, mut room) = (0_usize, 0_usize);
        while let Some((more, more_room)) = self.frame(len)? {
            let all = room.saturating_add(more_room);
            if all > self.most() && len > 0 {
                break;
            }
            (len, room) = (len.saturating_add(more), all);
            if len >= LEAST || room >= MOST {
                break;
            }
        }
        if let Some(rest) = &mut self.place {
            let Some((now, later)) = std::mem::take(rest).split_at_mut_checked(room) else {
                return Ok(false);
            };
            *rest = later;
            piece.place = Some(now);
        }
        piece.room = room;
        std::mem::swap(&mut piece.stored, &mut self.held);
        self.held.clear();
        memory::append(&mut self.held, piece.stored.get(len..).unwrap_or_default())?;
        piece.stored.truncate(len);
        Ok(len > 0)
    }

    /// Largest decoded length of a piece.
    fn most(&self) -> usize {
        match self.place {
            Some(_) => MOST_IN_PLACE,
            None => MOST,
        }
    }

    /// The length of the frame that begins after `skip` bytes, and its decoded length, if it is of
    /// moderate size.
    fn frame(&mut self, skip: usize) -> Result<Option<(usize, usize)>> {
        let most = self.most();
        loop {
            let left = self.held.get(skip..).unwrap_or_default();
            let at = self.read.saturating_sub(to_u64(left.len()));
            let room = match get_frame_content_size(left) {
                Ok(Some(size)) if size > to_u64(most) => return Ok(None),
                Ok(Some(size)) => Some(to_usize(size)?),
                Ok(None) if self.place.is_none() => Some(UNSAID),
                Ok(None) => match self.table.as_ref().and_then(|table| table.room_at(at)) {
                    Some(room) => Some(room),
                    // The place of the frames after it is unknown.
                    None => return Ok(None),
                },
                Err(_) => None,
            };
            if let (Some(room), Ok(len)) = (room, find_frame_compressed_size(left)) {
                return Ok(Some((len, room)));
            }
            let more = self.bytes.stored_len().saturating_sub(self.read);
            if more == 0 || left.len() > most.saturating_add(most / 4) {
                return Ok(None);
            }
            self.read_on(to_usize(more.min(STEP))?)?;
        }
    }

    fn read_on(&mut self, more: usize) -> Result<()> {
        let old = self.held.len();
        memory::resize(&mut self.held, old.saturating_add(more))?;
        let room = self.held.get_mut(old..).unwrap_or_default();
        self.bytes
            .extent()
            .read_at(self.bytes.source(), self.read, room)?;
        self.read = self.read.saturating_add(to_u64(more));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Filter;

    /// Bytes that compress a little, no two ranges alike.
    fn data(len: usize) -> Vec<u8> {
        let mut seed = 1_u32;
        let bytes = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed.to_be_bytes()[0] & 0x7f
        });
        bytes.take(len).collect()
    }

    /// Frames of these lengths, those at odd positions without their content size.
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
        let ahead = decode_ahead(&bytes, decoded, PIECE, None, &mut |piece| {
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
            decoded: to_u64(data.len()),
        });
        assert!(bytes.to_vec().unwrap() == data);
        if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
            let (ahead, found) = ahead(&stored, to_u64(data.len()));
            assert!(found == data);
            assert_eq!(ahead.stored, to_u64(stored.len()));
        }
    }

    #[test]
    fn what_follows_a_broken_or_large_frame_is_left_to_others() {
        let lens = [1 << 20, 1 << 20, 1 << 20, 5_000_000, 1 << 20];
        let data = data(lens.iter().sum());
        let mut stored = stored(&data, &lens);
        // The frame of five million bytes does not state its content size.
        let (ahead_of_large, found) = ahead(&stored, to_u64(data.len()));
        assert!(data.starts_with(&found) && found.len() <= 3 << 20);
        assert!(ahead_of_large.stored < to_u64(stored.len()));
        let bytes = |stored: &[u8]| {
            let decoded = to_u64(data.len());
            Bytes::memory(stored.to_vec()).filtered(Filter::Zstd { decoded })
        };
        assert!(bytes(&stored).to_vec().unwrap() == data);
        // A block of an undefined type, in the second frame.
        let second = find_frame_compressed_size(&stored).unwrap();
        stored[second + 6] |= 6;
        assert!(bytes(&stored).to_vec().is_err());
        let (_, found) = ahead(&stored, to_u64(data.len()));
        assert!(found.len() <= 1 << 20);
    }

    #[test]
    fn a_checksum_over_the_stored_bytes_is_compared_all_the_same() {
        let lens = [1 << 20, 1 << 20, 1 << 20, 5_000_000, 1 << 20];
        let data = data(lens.iter().sum());
        let stored = stored(&data, &lens);
        let crc = crc32c::crc32c(&stored);
        for (sum, is_right) in [(crc, true), (crc ^ 1, false)] {
            let digest = crate::bytes::Digest {
                algorithm: crate::bytes::Algorithm::Crc32c,
                expected: sum.to_be_bytes().to_vec(),
                over: None,
            };
            let bytes = Bytes::memory(stored.clone())
                .filtered(Filter::Zstd {
                    decoded: to_u64(data.len()),
                })
                .with_digest(Some(digest));
            assert_eq!(bytes.to_vec().is_ok_and(|found| found == data), is_right);
            let mut place = vec![1; data.len()];
            assert_eq!(bytes.read_all(&mut place).is_ok(), is_right);
        }
    }
    #[test]
    fn frames_are_decoded_where_they_belong_whatever_they_say_of_their_length() {
        let lens = [9 << 20, 1 << 20, 0, 700_000, 17 << 20, 1 << 20, 2 << 20, 5];
        let data = data(lens.iter().sum());
        let decoded = to_u64(data.len());
        let stored = stored(&data, &lens);
        let is_tried = std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
        // Up to the first frame that does not state its length, which a seek table would.
        let bytes = |stored: &[u8]| {
            let all = Bytes::memory(stored.to_vec());
            all.filtered(Filter::Zstd { decoded })
        };
        let mut place = vec![1; data.len()];
        let all = bytes(&stored);
        let ahead = decode_ahead(&all, decoded, PIECE, Some(&mut place), &mut |_| Ok(()));
        assert_eq!(ahead.unwrap().decoded, if is_tried { 9 << 20 } else { 0 });
        all.read_all(&mut place).unwrap();
        assert!(place == data);
        // A frame that states a wrong length, among correct ones.
        let mut lying = zstd::bulk::compress(&data[..9 << 20], 1).unwrap();
        lying[6] ^= 1;
        assert!(bytes(&lying).read_all(&mut place).is_err());
        assert!(bytes(&stored).read_all(&mut place[..1000]).is_err());
    }
    #[test]
    fn a_table_tells_where_frames_belong_that_do_not() {
        use crate::bytes::Compressor;
        use crate::io::Sink;

        let data = data((3 << 20) + 999);
        let decoded = to_u64(data.len());
        let mut out = Sink::memory();
        let limits = crate::limits::Limits::default();
        let mut compressor = Compressor::seekable(3, &limits).unwrap();
        compressor.push(&data, &mut out).unwrap();
        compressor.finish(&mut out).unwrap();
        let stored = out.finish().unwrap().into_memory().unwrap();
        let bytes = Bytes::memory(stored).filtered(Filter::Zstd { decoded });
        let mut place = vec![1; data.len()];
        let ahead = decode_ahead(&bytes, decoded, PIECE, Some(&mut place), &mut |_| Ok(()));
        if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
            assert_eq!(ahead.unwrap().decoded, decoded);
            assert!(place == data);
        }
        place.fill(1);
        bytes.read_all(&mut place).unwrap();
        assert!(place == data);
    }
}
