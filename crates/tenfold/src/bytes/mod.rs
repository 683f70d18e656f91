//! A lazy byte sequence: which bytes, how encoded, what proves them. The first step of the ladder.
//!
//! [`Bytes`] is a part of a [`Source`] (a run, a column of equally spaced fields, or the cells of
//! labelled records), perhaps compressed, perhaps with a checksum. Nothing is read until it is
//! needed.

mod byteswap;
mod codec;
mod cursor;
mod decode_once;
mod extent;
mod gaps;
mod int;
mod records;

pub(crate) use extent::in_pieces;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use byteswap::{swap, swap_into};
pub(crate) use codec::checksum::State as DigestState;
pub use codec::checksum::{Algorithm, Digest};
pub(crate) use codec::compressed_file::{extension, is_packed_name};
pub(crate) use codec::deflate::{Deflated, Deflater};
pub(crate) use codec::gzip::{Gzip, is_gzip_name};
pub(crate) use codec::zstd::Compressor;
pub(crate) use codec::{Filter, put_next};
pub(crate) use cursor::{Scan, truncated};
pub(crate) use extent::{Column, Extent};
pub(crate) use gaps::gaps;
pub(crate) use int::{to_u64, to_usize};
pub use records::RecordsBuilder;
pub(crate) use records::unique::{LabelSet, hash as hash_labels};
pub(crate) use records::{Records, put_short, short, short_text};

use crate::error::{Error, Result};
use crate::io::{Compute, Packing, Source, Spool};
use crate::limits::{Limits, Meter};
use crate::memory;

/// Default size of the pieces in which bytes are moved: large enough that system calls do not
/// count, small enough to stay in the cache of one core.
pub(crate) const PIECE: usize = 256 << 10;

/// Length of text that is buffered before it is written: so little that it need not be reserved.
pub(crate) const TEXT_LEN: usize = memory::SMALL / 4;

/// The byte order of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// A lazy sequence of bytes; cloning it is cheap.
#[derive(Debug, Clone)]
pub struct Bytes {
    source: Source,
    extent: Extent,
    /// Boxed, since most bytes are stored unencoded: a large file has many byte sequences.
    coding: Option<Arc<Coding>>,
}

/// See [`Bytes::identity`].
pub(crate) type Identity<'a> = (usize, u64, u64, Filter, [Option<&'a Digest>; 2]);

/// The encoding of stored bytes, and their checksums.
#[derive(Debug, Clone, Default)]
struct Coding {
    filter: Filter,
    /// Over the stored bytes.
    digest: Option<Digest>,
    /// Over the decoded bytes.
    content_digest: Option<Digest>,
    /// A checksum of an unknown kind, over the stored bytes.
    unknown_digest: Option<(&'static str, Arc<str>)>,
    /// Counts the decoded bytes, or those read, if other tensors are made of the same bytes.
    meter: Option<Meter>,
}

impl Bytes {
    /// All bytes of a source.
    #[must_use]
    pub fn whole(source: Source) -> Bytes {
        let end = source.len();
        Bytes::plain(source, Extent::Run(0..end))
    }

    fn plain(source: Source, extent: Extent) -> Bytes {
        Bytes {
            source,
            extent,
            coding: None,
        }
    }

    fn filter(&self) -> Filter {
        self.coding
            .as_ref()
            .map_or(Filter::None, |coding| coding.filter)
    }

    /// The checksum over the stored bytes.
    fn stored_digest(&self) -> Option<&Digest> {
        self.coding.as_ref()?.digest.as_ref()
    }

    /// The checksum over the decoded bytes.
    fn content_digest(&self) -> Option<&Digest> {
        self.coding.as_ref()?.content_digest.as_ref()
    }

    fn coding_mut(&mut self) -> &mut Coding {
        Arc::make_mut(self.coding.get_or_insert_default())
    }

    /// Bytes that are in memory.
    #[must_use]
    pub fn memory(bytes: Vec<u8>) -> Bytes {
        Bytes::whole(Source::memory(bytes))
    }

    /// A part of a source; `extent` must lie inside it.
    pub(crate) fn part(source: &Source, extent: Extent) -> Result<Bytes> {
        let span = extent
            .span()
            .ok_or_else(|| Error::invalid("an extent of bytes overflows"))?;
        if extent.len() > 0 && span.end > source.len() {
            let wanted = span.end.saturating_sub(span.start);
            let found = source.len().saturating_sub(span.start);
            return Err(Error::malformed(span.start, truncated(wanted, found)));
        }
        Ok(Bytes::plain(source.clone(), extent))
    }

    /// A run of a source.
    pub(crate) fn run(source: &Source, range: Range<u64>) -> Result<Bytes> {
        Bytes::part(source, Extent::Run(range))
    }

    /// Some of these bytes, if they are a plain run; no checksum covers them alone.
    #[must_use]
    pub fn run_within(&self, range: Range<u64>) -> Option<Bytes> {
        match (&self.extent, self.filter()) {
            (Extent::Run(run), Filter::None) => {
                let start = run.start.checked_add(range.start)?;
                let end = run.start.checked_add(range.end)?;
                (start <= end && end <= run.end)
                    .then(|| Bytes::plain(self.source.clone(), Extent::Run(start..end)))
            }
            _ => None,
        }
    }

    /// The same stored bytes, read through `filter`.
    pub(crate) fn filtered(mut self, filter: Filter) -> Bytes {
        self.coding_mut().filter = filter;
        self
    }

    /// Counts the work of reading or decoding them, as other tensors are made of them too.
    pub(crate) fn count_reading(&mut self, meter: &Meter) {
        self.coding_mut().meter = Some(meter.clone());
    }

    fn charge(&self, len: u64) -> Result<()> {
        let coding = self.coding.as_ref();
        let meter = coding.and_then(|coding| coding.meter.as_ref());
        meter.map_or(Ok(()), |meter| meter.charge(len))
    }

    fn charge_decoding(&self) -> Result<()> {
        let len = match self.filter() {
            Filter::Deflate(deflated) => deflated.skip.saturating_add(deflated.len),
            Filter::None | Filter::Zstd { .. } => self.len(),
        };
        self.charge(len)
    }

    /// Their identity: where they are stored, and how they are decoded.
    pub(crate) fn identity(&self) -> Option<Identity<'_>> {
        let Extent::Run(run) = &self.extent else {
            return None;
        };
        let digests = [self.stored_digest(), self.content_digest()];
        Some((
            self.source.address(),
            run.start,
            run.end,
            self.filter(),
            digests,
        ))
    }

    /// The same bytes with a checksum over the stored bytes.
    #[must_use]
    pub fn with_digest(mut self, digest: Option<Digest>) -> Bytes {
        if digest.is_some() || self.stored_digest().is_some() {
            self.coding_mut().digest = digest;
        }
        self
    }

    /// The same bytes with a checksum over the decoded bytes.
    pub(crate) fn with_content_digest(mut self, digest: Option<Digest>) -> Bytes {
        // Unencoded bytes have one checksum, which can be verified without decoding.
        match self.filter() {
            Filter::None => return self.with_digest(digest),
            Filter::Zstd { .. } | Filter::Deflate(_) => self.coding_mut().content_digest = digest,
        }
        self
    }

    /// The same bytes with a checksum of an unknown kind over the stored bytes, as spelled in a
    /// `dialect`. It is never verified; it stays with these bytes and with no others.
    pub(crate) fn with_unknown_digest(mut self, dialect: &'static str, text: &str) -> Bytes {
        self.coding_mut().unknown_digest = Some((dialect, text.into()));
        self
    }

    /// The dialect and the text of the checksum of an unknown kind, over the stored bytes.
    pub(crate) fn unknown_digest(&self) -> Option<(&'static str, &str)> {
        let (dialect, text) = self.coding.as_ref()?.unknown_digest.as_ref()?;
        Some((dialect, text))
    }

    /// The checksum, if the file has one: over the stored or over the decoded bytes.
    #[must_use]
    pub fn digest(&self) -> Option<&Digest> {
        self.stored_digest().or(self.content_digest())
    }

    /// Whether reading all of them verifies a checksum.
    pub(crate) fn has_checksum(&self) -> bool {
        self.digest().is_some() || matches!(self.filter(), Filter::Deflate(_))
    }

    /// The decoded length.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self.filter() {
            Filter::None => self.extent.len(),
            Filter::Zstd { decoded } => decoded,
            Filter::Deflate(deflated) => deflated.len,
        }
    }

    /// Whether there is no byte at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The stored length.
    #[must_use]
    pub fn stored_len(&self) -> u64 {
        self.extent.len()
    }

    /// The source offset at which they begin.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.extent.span().map_or(0, |span| span.start)
    }

    /// The source offset of the decoded byte `at`, if it has one.
    pub(crate) fn offset_of(&self, at: u64) -> Option<u64> {
        match (&self.extent, self.filter()) {
            _ if self.source.packing() == Packing::Text => None,
            (Extent::Run(run), Filter::None) => run.start.checked_add(at),
            (Extent::Strided(column), Filter::None) => column.offset_of(at),
            _ => Some(self.at()),
        }
    }

    pub(crate) fn extent(&self) -> &Extent {
        &self.extent
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The run of an open file that is exactly these bytes, if they are stored unencoded.
    pub(crate) fn as_file_run(&self) -> Option<(&std::fs::File, Range<u64>)> {
        match (&self.extent, self.filter(), self.stored_digest()) {
            (Extent::Run(range), Filter::None, None) => {
                Some((self.source.as_file()?, range.clone()))
            }
            _ => None,
        }
    }

    /// Their range in the file that `source` reads, if they are a plain run of it; checksums are
    /// ignored.
    #[must_use]
    pub fn run_in(&self, source: &Source) -> Option<Range<u64>> {
        match (&self.extent, self.filter()) {
            (Extent::Run(range), Filter::None) if self.source.is_file_of(source) => {
                Some(range.clone())
            }
            _ => None,
        }
    }

    /// Whether both are the very same stored bytes of one source.
    pub(crate) fn is_same_stretch(&self, other: &Bytes) -> bool {
        let is_same = match (&self.extent, &other.extent) {
            (Extent::Run(own), Extent::Run(other)) => own == other,
            (Extent::Strided(own), Extent::Strided(other)) => own == other,
            _ => false,
        };
        is_same && self.is_plain() && other.is_plain() && self.source.is_same(&other.source)
    }

    /// Whether each byte can be read by position, without a checksum over all of them.
    pub(crate) fn is_plain(&self) -> bool {
        self.filter() == Filter::None && self.stored_digest().is_none()
    }

    /// Borrows the bytes, if they are in memory and unencoded.
    ///
    /// The checksum is not verified: [`Bytes::check`] does that.
    #[must_use]
    pub fn as_slice(&self) -> Option<&[u8]> {
        match (&self.extent, self.filter()) {
            (Extent::Run(range), Filter::None) => self.source.slice(range.clone()),
            _ => None,
        }
    }

    /// Whether they are decompressed as they are read.
    pub(crate) fn is_compressed(&self) -> bool {
        self.filter() != Filter::None
    }

    /// Fills `buffer` with the decoded bytes from `at` on. Checksums are not verified.
    ///
    /// # Errors
    /// [`Error::Invalid`] for compressed bytes, which have no positions: see [`Bytes::settled`].
    pub fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        match self.filter() {
            Filter::None => {
                self.charge(to_u64(buffer.len()))?;
                self.extent.read_at(&self.source, at, buffer)
            }
            Filter::Zstd { .. } | Filter::Deflate(_) => Err(Error::invalid(
                "compressed bytes cannot be read by position",
            )),
        }
    }

    /// Hands out all decoded bytes, in order, in pieces of at most `budget` bytes.
    ///
    /// A checksum is verified at the end, when the pieces have been handed out.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the bytes do not decode or fail their checksum, and errors of
    /// `each`.
    pub fn for_each(&self, budget: usize, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.charge_decoding()?;
        match self.filter() {
            Filter::None => self.for_each_stored(budget, each),
            Filter::Zstd { decoded } => codec::checksum::compare_decoded(self, each, |each| {
                codec::decode_zstd(self, decoded, budget, None, each)
            }),
            Filter::Deflate(deflated) => codec::checksum::compare_decoded(self, each, |each| {
                deflated.decode(self, budget, each)
            }),
        }
    }

    /// Fills `out`, which has their length, with all decoded bytes; otherwise as
    /// [`Bytes::for_each`].
    pub(crate) fn read_all(&self, out: &mut [u8]) -> Result<()> {
        let mut rest = out;
        match self.filter() {
            Filter::Zstd { decoded } => {
                self.charge_decoding()?;
                codec::checksum::compare_decoded(self, &mut |_| Ok(()), |each| {
                    codec::decode_zstd(self, decoded, PIECE, Some(rest), each)
                })
            }
            _ => self.for_each(PIECE, &mut |piece| put_next(piece, &mut rest)),
        }
    }

    /// Whether they are all that a computation gives.
    pub(crate) fn is_all_computed(&self) -> bool {
        self.source.is_computed() && self.extent.is_all_of(&self.source)
    }

    /// Verifies the checksum of bytes that are read by position, and those of the inputs of
    /// computed bytes; checksums of compressed bytes are verified on decoding.
    pub(crate) fn compare_checksum(&self) -> Result<()> {
        match (self.filter(), self.stored_digest()) {
            (Filter::None, Some(_)) => self.check(),
            (Filter::None, None) if self.extent.is_all_of(&self.source) => {
                self.source.compare_inputs()
            }
            _ => Ok(()),
        }
    }

    /// Hands out the stored bytes, and verifies the checksum at the end.
    fn for_each_stored(
        &self,
        budget: usize,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        if let Some(digest) = self.stored_digest()
            && let Some(over) = &digest.over
        {
            digest.compare_elsewhere(&self.source, over.clone())?;
            return self.extent.for_each(&self.source, budget, each);
        }
        if let (Some(digest), Extent::Run(run)) = (self.stored_digest(), &self.extent)
            && self.source.as_file().is_some()
        {
            return codec::checksum::compare_on_the_way(self, run.clone(), digest, budget, each);
        }
        if self.stored_digest().is_none() {
            self.compare_checksum()?;
        }
        let mut state = self.stored_digest().map(Digest::start);
        self.extent.for_each(&self.source, budget, &mut |piece| {
            if let Some(state) = &mut state {
                state.update(piece);
            }
            each(piece)
        })?;
        match (state, self.stored_digest()) {
            (Some(state), Some(digest)) => digest.compare(state, self.at()),
            _ => Ok(()),
        }
    }

    /// Reads everything: verifies that it decodes, to its exact end, and its checksum.
    ///
    /// # Errors
    /// [`Error::Malformed`] if that fails.
    pub fn check(&self) -> Result<()> {
        match (self.filter(), self.stored_digest()) {
            (Filter::None, Some(_)) if self.source.as_file().is_some() => {
                codec::checksum::compare_in_parallel(self)
            }
            (Filter::None, None) if self.as_slice().is_some() => Ok(()),
            (Filter::None, None) => match self.source.as_computed().and_then(Compute::check) {
                Some(checked) => checked,
                None => self.for_each(PIECE, &mut |_| Ok(())),
            },
            _ => self.check_frames(),
        }
    }

    /// All decoded bytes, after verification of their checksum.
    ///
    /// # Errors
    /// As [`Bytes::for_each`].
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        // Grown as bytes arrive, not by the decoded length that a header claims.
        let mut all = memory::with_room(to_usize(self.len().min(to_u64(PIECE)))?)?;
        self.for_each(PIECE, &mut |piece| memory::append(&mut all, piece))?;
        Ok(all)
    }

    /// The same bytes with random access: decompressed if necessary.
    ///
    /// # Errors
    /// As [`Bytes::for_each`], and [`Error::Limit`] if they would be too many.
    pub fn settled(&self, limits: &Limits) -> Result<Bytes> {
        match self.filter() {
            Filter::None => Ok(self.clone()),
            Filter::Zstd { .. } | Filter::Deflate(_) => self.spooled(limits),
        }
    }

    /// The same bytes in memory or, if large, in a temporary file, so that random access is fast:
    /// for compressed or computed bytes.
    pub(crate) fn spooled(&self, limits: &Limits) -> Result<Bytes> {
        if self.filter() == Filter::None && !self.source.is_computed() {
            return Ok(self.clone());
        }
        limits.check_decoded("a tensor would be expanded", self.len())?;
        // The length of compressed bytes is only a claim.
        let expected = if self.is_compressed() { 0 } else { self.len() };
        let mut spool = Spool::within(limits).expecting(expected);
        self.for_each(PIECE, &mut |piece| spool.write(piece))?;
        Ok(Bytes::whole(spool.finish()?))
    }
}
