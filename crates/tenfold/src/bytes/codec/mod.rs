//! Compression and checksums, of parts of a file and of whole files.

pub(super) mod checksum;
pub(super) mod compressed_file;
pub(super) mod deflate;
pub(super) mod file_decoder;
pub(super) mod gzip;
pub(super) mod zstd;
#[cfg(feature = "zstd")]
pub(super) mod zstd_frames;
#[cfg(any(feature = "ruzstd", test))]
#[cfg_attr(
    all(feature = "zstd", not(test)),
    expect(dead_code, reason = "the C library is quicker where it is there")
)]
pub(super) mod zstd_pure;
pub(super) mod zstd_seekable;

use super::{Bytes, Deflated};
#[cfg(feature = "zstd")]
use super::{PIECE, to_u64};
use crate::error::{Error, Result};
use crate::limits::Limits;
#[cfg(feature = "zstd")]
use crate::memory;

/// The filter between stored and decoded bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) enum Filter {
    /// Nothing.
    #[default]
    None,
    /// One or more Zstandard frames that decode to exactly `decoded` bytes.
    Zstd { decoded: u64 },
    /// A deflate stream, as in zip files.
    Deflate(Deflated),
}

/// Decodes Zstandard frames, handing out pieces, and counts their bytes; they are in `place`
/// afterwards, if that is given. The frames must end with the last stored byte and decode to
/// `decoded` bytes at most; longer output stops at the first byte too many.
#[cfg(feature = "zstd")]
fn decode_frames(
    bytes: &Bytes,
    decoded: u64,
    budget: usize,
    mut place: Option<&mut [u8]>,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<u64> {
    let ahead = zstd_frames::decode_ahead(bytes, decoded, budget, place.as_deref_mut(), each)?;
    let done = super::to_usize(ahead.decoded)?;
    let mut left = place.and_then(|place| place.get_mut(done..));
    let each: &mut dyn FnMut(&[u8]) -> Result<()> = &mut |piece: &[u8]| {
        if let Some(rest) = &mut left {
            put_next(piece, rest)?;
        }
        each(piece)
    };
    let mut decoding = Decoding::new(bytes.at(), decoded, ahead.decoded, budget)?;
    if ahead.stored == 0 {
        bytes.for_each_stored(PIECE, &mut |piece| decoding.step(piece, each))?;
        return decoding.finish();
    }
    let (mut at, mut state) = (ahead.stored, ahead.state);
    let mut buffer = Vec::new();
    while at < bytes.stored_len() {
        let len = bytes.stored_len().saturating_sub(at).min(to_u64(PIECE));
        memory::resize(&mut buffer, super::to_usize(len)?)?;
        bytes.extent().read_at(bytes.source(), at, &mut buffer)?;
        if let Some(state) = &mut state {
            state.update(&buffer);
        }
        decoding.step(&buffer, each)?;
        at = at.saturating_add(len);
    }
    if let (Some(state), Some(digest)) = (state, bytes.stored_digest()) {
        digest.compare(state, bytes.at())?;
    }
    decoding.finish()
}

/// Copies a piece to the beginning of the remaining buffer.
pub(crate) fn put_next(piece: &[u8], rest: &mut &mut [u8]) -> Result<()> {
    let room = std::mem::take(rest).split_at_mut_checked(piece.len());
    let (now, later) = room.ok_or_else(|| Error::invalid("more bytes than there should be"))?;
    now.copy_from_slice(piece);
    *rest = later;
    Ok(())
}

/// Frames that are decoded sequentially.
#[cfg(feature = "zstd")]
struct Decoding {
    decoder: ::zstd::stream::raw::Decoder<'static>,
    buffer: Vec<u8>,
    /// Offset of the stored frames.
    start: u64,
    /// The limit on decoded bytes, and their number so far.
    decoded: u64,
    done: u64,
    frame_open: bool,
}

/// Most memory that a third-party codec allocates on creation: codecs that cannot report a failed
/// allocation abort the process or panic.
pub(crate) const STATE: usize = 512 << 10;

/// Whether zstd reports a failed allocation.
#[cfg(feature = "zstd")]
pub(crate) fn is_lack(error: &std::io::Error) -> bool {
    /// `ZSTD_error_memory_allocation`, in the public `zstd_errors.h`.
    const ALLOCATION: usize = 64;
    let name = ::zstd::zstd_safe::get_error_name(ALLOCATION.wrapping_neg());
    error.to_string() == name
}

#[cfg(not(feature = "zstd"))]
pub(crate) fn is_lack(_: &std::io::Error) -> bool {
    false
}

/// The error of a codec that ran out of memory and does not report how much it wanted.
pub(crate) fn lack() -> std::io::Error {
    std::io::ErrorKind::OutOfMemory.into()
}

#[cfg(feature = "zstd")]
impl Decoding {
    /// Continues after `done` bytes.
    fn new(start: u64, decoded: u64, done: u64, budget: usize) -> Result<Decoding> {
        // One byte more than expected reveals output that is too long.
        let due = usize::try_from(decoded.saturating_add(1)).unwrap_or(PIECE);
        memory::probe(STATE)?;
        Ok(Decoding {
            decoder: ::zstd::stream::raw::Decoder::new().map_err(|error| broken(start, &error))?,
            buffer: memory::zeros(budget.clamp(1, PIECE).min(due))?,
            start,
            decoded,
            done,
            frame_open: false,
        })
    }

    /// Decodes the next stored bytes.
    fn step(&mut self, piece: &[u8], each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        use ::zstd::stream::raw::{InBuffer, Operation, OutBuffer};

        let (start, decoded) = (self.start, self.decoded);
        let mut input = InBuffer::around(piece);
        loop {
            let room = self.buffer.len();
            let mut output = OutBuffer::around(self.buffer.as_mut_slice());
            let hint = self.decoder.run(&mut input, &mut output);
            self.frame_open = hint.map_err(|error| broken(start, &error))? != 0;
            let out = output.as_slice();
            self.done = self.done.saturating_add(to_u64(out.len()));
            if self.done > decoded {
                let why =
                    format!("zstd data decodes to more than the {decoded} bytes of its shape");
                return Err(Error::malformed(start, why));
            }
            each(out)?;
            let all_read = input.pos() == piece.len();
            if all_read && (out.len() < room || !self.frame_open) {
                return Ok(());
            }
        }
    }

    /// The number of decoded bytes.
    fn finish(self) -> Result<u64> {
        if self.frame_open {
            Err(Error::malformed(
                self.start,
                "zstd data ends inside a frame",
            ))
        } else {
            Ok(self.done)
        }
    }
}

#[cfg(feature = "zstd")]
fn broken(start: u64, error: &std::io::Error) -> Error {
    if is_lack(error) {
        return lack().into();
    }
    Error::malformed(start, format!("zstd data: {error}"))
}

impl Bytes {
    /// The decoded length of Zstandard frames that do not state it, by decoding them.
    pub(crate) fn zstd_len(&self, limits: &Limits) -> Result<u64> {
        let mut len = 0_u64;
        decode_frames(self, u64::MAX, super::PIECE, None, &mut |piece| {
            len = len.saturating_add(super::to_u64(piece.len()));
            limits.check_decoded("a tensor would be expanded", len)?;
            limits.check_ratio(self.stored_len(), len)
        })?;
        Ok(len)
    }
}

/// Decodes Zstandard frames to exactly `decoded` bytes, handing out pieces; into `place`, if that
/// is given.
pub(crate) fn decode_zstd(
    bytes: &Bytes,
    decoded: u64,
    budget: usize,
    place: Option<&mut [u8]>,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let done = decode_frames(bytes, decoded, budget, place, each)?;
    if done < decoded {
        let why = format!("zstd data decodes to {done} bytes, its shape needs {decoded}");
        return Err(Error::malformed(bytes.at(), why));
    }
    Ok(())
}

#[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
use zstd_pure::decode_frames;

#[cfg(not(any(feature = "zstd", feature = "ruzstd")))]
fn decode_frames(
    _: &Bytes,
    _: u64,
    _: usize,
    _: Option<&mut [u8]>,
    _: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<u64> {
    Err(without_zstd())
}

#[cfg(not(feature = "zstd"))]
pub(crate) fn without_zstd() -> Error {
    Error::Unsupported {
        format: "zstd",
        what: "compression (built without it)".into(),
    }
}

#[cfg(test)]
#[cfg(feature = "zstd")]
mod tests {
    use super::*;

    fn compressed(parts: &[&[u8]]) -> Vec<u8> {
        let frames = parts.iter().map(|part| ::zstd::bulk::compress(part, 3));
        frames.flat_map(Result::unwrap).collect()
    }

    fn decode(stored: Vec<u8>, decoded: u64) -> Result<Vec<u8>> {
        Bytes::memory(stored)
            .filtered(Filter::Zstd { decoded })
            .to_vec()
    }

    #[test]
    fn several_frames_decode_as_one() {
        assert_eq!(
            decode(compressed(&[b"tensor", b"", b"fold"]), 10).unwrap(),
            b"tensorfold"
        );
    }

    #[test]
    fn a_frame_longer_or_shorter_than_its_shape_is_refused() {
        let stored = compressed(&[&[7; 100_000]]);
        let long = decode(stored.clone(), 99_999).unwrap_err().to_string();
        assert!(long.contains("more than the 99999 bytes"), "{long}");
        let short = decode(stored.clone(), 100_001).unwrap_err().to_string();
        assert!(short.contains("decodes to 100000 bytes"), "{short}");
        assert!(decode(stored, 100_000).is_ok());
    }

    #[test]
    fn a_cut_frame_and_trailing_bytes_are_refused() {
        let mut stored = compressed(&[b"tensor"]);
        stored.push(0);
        assert!(decode(stored.clone(), 6).is_err());
        stored.truncate(stored.len() - 2);
        assert!(decode(stored, 6).is_err());
    }
}
