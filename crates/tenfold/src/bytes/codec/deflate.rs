//! Deflate as in members of zip files: raw, without a container, verified by a CRC-32 over the
//! decompressed bytes.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::STATE;
use crate::bytes::{Bytes, PIECE, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::Sink;
use crate::memory;

/// The output of a deflate stream, and the wanted part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Deflated {
    /// Number of bytes before the wanted part.
    pub(crate) skip: u64,
    /// Length of the wanted part.
    pub(crate) len: u64,
    /// Length of the whole output.
    pub(crate) total: u64,
    /// The CRC-32 of the whole output.
    pub(crate) crc: u32,
}

impl Deflated {
    /// Hands out the wanted bytes, in pieces of at most `budget`. The stored bytes must end with
    /// the stream, and the output must have its declared length and checksum.
    pub(crate) fn decode(
        self,
        bytes: &Bytes,
        budget: usize,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let start = bytes.at();
        let wrong = |why: String| Error::malformed(start, why);
        let mut crc = crc32fast::Hasher::new();
        let mut done = 0_u64;
        // One byte more than expected reveals output that is too long.
        let due = usize::try_from(self.total.saturating_add(1)).unwrap_or(PIECE);
        let consumed = inflate(bytes, budget.min(due), &mut |piece| {
            let from = done;
            done = done.saturating_add(to_u64(piece.len()));
            if done > self.total {
                return Err(wrong(format!(
                    "deflate data is longer than its {} bytes",
                    self.total
                )));
            }
            crc.update(piece);
            let meant = self.skip..self.skip.saturating_add(self.len);
            let part = within(piece, from, meant);
            if !part.is_empty() {
                each(part)?;
            }
            Ok(Go::On)
        })?;
        let Some(consumed) = consumed else {
            return Err(wrong("deflate data ends too early".into()));
        };
        if consumed != bytes.stored_len() {
            return Err(wrong("deflate data ends before its last byte".into()));
        }
        if done != self.total {
            let why = format!("deflate data has {done} bytes, not its {}", self.total);
            return Err(wrong(why));
        }
        let found = crc.finalize();
        if found != self.crc {
            let expected = self.crc;
            return Err(wrong(format!(
                "checksum is {expected:08x}, the data's is {found:08x}"
            )));
        }
        Ok(())
    }

    /// The first bytes of the output, at most `most` of them.
    pub(crate) fn beginning(bytes: &Bytes, most: usize) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        inflate(bytes, most.min(PIECE), &mut |piece| {
            memory::append(&mut all, piece)?;
            Ok(if all.len() < most { Go::On } else { Go::Off })
        })?;
        all.truncate(most);
        Ok(all)
    }
}

/// Whether to continue.
enum Go {
    On,
    Off,
}

/// The part of a piece starting at `from` that lies in `range`.
fn within(piece: &[u8], from: u64, range: std::ops::Range<u64>) -> &[u8] {
    let place = |at: u64| {
        let place = usize::try_from(at.saturating_sub(from)).unwrap_or(usize::MAX);
        place.min(piece.len())
    };
    piece
        .get(place(range.start)..place(range.end))
        .unwrap_or_default()
}

/// Decodes the stored bytes, handing out pieces of at most `budget` bytes; returns how many stored
/// bytes the stream took, `None` if it did not end with them.
fn inflate(
    bytes: &Bytes,
    budget: usize,
    each: &mut dyn FnMut(&[u8]) -> Result<Go>,
) -> Result<Option<u64>> {
    memory::probe(STATE)?;
    let mut stream = Decompress::new(false);
    let mut output = memory::zeros(budget.clamp(1, PIECE))?;
    let mut input = memory::zeros(to_usize(bytes.stored_len().min(to_u64(PIECE)))?)?;
    let mut at = 0_u64;
    while at < bytes.stored_len() {
        let left = bytes.stored_len().saturating_sub(at);
        let piece = input
            .get_mut(..to_usize(left.min(to_u64(PIECE)))?)
            .unwrap_or_default();
        bytes.extent().read_at(bytes.source(), at, piece)?;
        at = at.saturating_add(to_u64(piece.len()));
        let mut rest: &[u8] = piece;
        loop {
            let (taken, given) = (stream.total_in(), stream.total_out());
            let status = stream
                .decompress(rest, &mut output, FlushDecompress::None)
                .map_err(|_| Error::malformed(bytes.at(), "deflate data is broken"))?;
            let taken = to_usize(stream.total_in().saturating_sub(taken))?;
            let given = to_usize(stream.total_out().saturating_sub(given))?;
            rest = rest.get(taken..).unwrap_or_default();
            if given > 0
                && let Go::Off = each(output.get(..given).unwrap_or_default())?
            {
                return Ok(None);
            }
            if status == Status::StreamEnd {
                return Ok(Some(stream.total_in()));
            }
            if given < output.len() && (rest.is_empty() || taken == 0) {
                break;
            }
        }
    }
    Ok(None)
}

/// A deflate encoder whose output does not depend on how its input is cut into pieces.
pub(crate) struct Deflater {
    stream: Compress,
    /// Input that does not fill a block yet.
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Deflater {
    /// Input length of one deflate call, on which the output depends.
    const BLOCK: usize = 64 << 10;

    pub(crate) fn new(level: u32) -> Result<Deflater> {
        memory::probe(STATE)?;
        Ok(Deflater {
            stream: Compress::new(Compression::new(level), false),
            input: Vec::new(),
            output: memory::zeros(Self::BLOCK)?,
        })
    }

    /// Takes more bytes, and writes the output that is ready.
    pub(crate) fn push(&mut self, piece: &[u8], out: &mut Sink) -> Result<()> {
        let mut rest = piece;
        while !rest.is_empty() {
            let room = Self::BLOCK.saturating_sub(self.input.len());
            let (now, later) = rest.split_at(room.min(rest.len()));
            memory::append(&mut self.input, now)?;
            rest = later;
            if self.input.len() == Self::BLOCK {
                self.flush(out)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut Sink) -> Result<()> {
        let input = std::mem::take(&mut self.input);
        let mut rest = input.as_slice();
        while !rest.is_empty() {
            let (taken, _) = self.step(rest, FlushCompress::None, out)?;
            rest = rest.get(taken..).unwrap_or_default();
        }
        self.input = input;
        self.input.clear();
        Ok(())
    }

    /// Writes the rest.
    pub(crate) fn finish(mut self, out: &mut Sink) -> Result<()> {
        self.flush(out)?;
        while self.step(&[], FlushCompress::Finish, out)?.1 != Status::StreamEnd {}
        Ok(())
    }

    fn step(
        &mut self,
        input: &[u8],
        flush: FlushCompress,
        out: &mut Sink,
    ) -> Result<(usize, Status)> {
        let (taken, given) = (self.stream.total_in(), self.stream.total_out());
        let status = self
            .stream
            .compress(input, &mut self.output, flush)
            .map_err(|error| Error::invalid(error.to_string()))?;
        let given = to_usize(self.stream.total_out().saturating_sub(given))?;
        out.write(self.output.get(..given).unwrap_or_default())?;
        Ok((
            to_usize(self.stream.total_in().saturating_sub(taken))?,
            status,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Filter;

    fn deflated(data: &[u8]) -> Vec<u8> {
        let mut out = Sink::memory();
        let mut deflater = Deflater::new(6).unwrap();
        deflater.push(data, &mut out).unwrap();
        deflater.finish(&mut out).unwrap();
        out.finish().unwrap().into_memory().unwrap()
    }

    fn read(stored: Vec<u8>, deflated: Deflated) -> Result<Vec<u8>> {
        Bytes::memory(stored)
            .filtered(Filter::Deflate(deflated))
            .to_vec()
    }

    fn whole(data: &[u8]) -> Deflated {
        let total = to_u64(data.len());
        Deflated {
            skip: 0,
            len: total,
            total,
            crc: crc32fast::hash(data),
        }
    }

    /// Bytes that hardly compress, over many pieces.
    fn data() -> Vec<u8> {
        let numbers = (0..300_000_u32).map(|number| number.wrapping_mul(2_654_435_761));
        numbers.flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn what_is_deflated_comes_back_and_so_does_a_part_of_it() {
        let data = data();
        let stored = deflated(&data);
        assert_eq!(read(stored.clone(), whole(&data)).unwrap(), data);
        let part = Deflated {
            skip: 100,
            len: 700_000,
            ..whole(&data)
        };
        assert_eq!(read(stored.clone(), part).unwrap(), data[100..700_100]);
        let beginning = Deflated::beginning(&Bytes::memory(stored), 50).unwrap();
        assert_eq!(beginning, data[..50]);
        assert_eq!(read(deflated(b""), whole(b"")).unwrap(), b"");
    }

    #[test]
    fn what_comes_out_does_not_depend_on_how_it_goes_in() {
        let data = data();
        for level in [1, 6, 9] {
            let through = |pieces: usize| {
                let mut out = Sink::memory();
                let mut deflater = Deflater::new(level).unwrap();
                let mut pieces = data.chunks(pieces);
                pieces
                    .try_for_each(|piece| deflater.push(piece, &mut out))
                    .unwrap();
                deflater.finish(&mut out).unwrap();
                out.finish().unwrap().into_memory().unwrap()
            };
            assert!(through(1000) == through(data.len()), "level {level}");
        }
    }

    #[test]
    fn a_stream_that_is_cut_longer_or_other_than_it_says_is_refused() {
        let data = b"tensors, tensors, tensors";
        let stored = deflated(data);
        let why = |stored: Vec<u8>, about| read(stored, about).unwrap_err().to_string();
        let about = whole(data);
        let cut = stored[..stored.len() - 1].to_vec();
        assert_eq!(why(cut, about), "deflate data ends too early (byte 0)");
        assert_eq!(why(vec![], about), "deflate data ends too early (byte 0)");
        let more = [stored.as_slice(), b"\0"].concat();
        assert_eq!(
            why(more, about),
            "deflate data ends before its last byte (byte 0)"
        );
        let shorter = Deflated { total: 24, ..about };
        assert_eq!(
            why(stored.clone(), shorter),
            "deflate data is longer than its 24 bytes (byte 0)"
        );
        let longer = Deflated { total: 26, ..about };
        assert_eq!(
            why(stored.clone(), longer),
            "deflate data has 25 bytes, not its 26 (byte 0)"
        );
        let other = Deflated { crc: 7, ..about };
        assert!(why(stored, other).starts_with("checksum is 00000007, the data's is "));
        assert_eq!(why(vec![0xff; 9], about), "deflate data is broken (byte 0)");
    }
}
