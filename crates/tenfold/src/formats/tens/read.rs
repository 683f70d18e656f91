//! Reads TENS headers, in file order.
#![deny(clippy::arithmetic_side_effects)]

use super::{
    CHUNK_HEADER, DENSDATA, FLAG_IX, FLAG_PK, FLAG_SP, MAGIC, NAME, SYMMETRY, TOO_MANY_CELLS,
    VERSION_0_9, VERSION_1_0, align8, default_name, is_printable, name, old_name,
};
use crate::bundle::Bundle;
use crate::bytes::{Bytes, Endian, Endian::Little, Extent, Scan, Source, narrow, wide};
use crate::error::{Error, Result};
use crate::format::{Mode, ReadOptions};
use crate::meta::Value;
use crate::note::{Note, NoteKind};
use crate::number::{Arity, DType, Kind, Number, Numbers};
use crate::tensor::{Address, Dim, Group, Operation, Order, Storage, Symmetry, Tensor, product};

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let scan = Scan::new(source, NAME);
    let mut reader = Reader {
        source,
        how,
        scan,
        notes: Vec::new(),
        chunks: Vec::new(),
    };
    reader.read()
}

struct Reader<'a> {
    source: &'a Source,
    how: &'a ReadOptions,
    scan: Scan<'a>,
    notes: Vec<Note>,
    chunks: Vec<Value>,
}

/// The fixed fields, as far as the rest needs them.
struct Header {
    version: u32,
    dtype: DType,
    endian: Endian,
    has_pairs: bool,
    sizes: Vec<u64>,
    names: Vec<u8>,
    sparse: Vec<bool>,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<Bundle> {
        let mut header = self.header()?;
        let cells = product(&header.sizes).filter(|cells| *cells < TOO_MANY_CELLS);
        let Some(cells) = cells else {
            return self.scan.fail_at(32, "the tensor has 2^63 cells or more");
        };
        let mut symmetries = Vec::new();
        let storage = if header.version == VERSION_0_9 {
            self.bare_values(&mut header, cells)?
        } else {
            self.chunks_and_values(&header, &mut symmetries)?
        };
        self.bundle(header, symmetries, storage)
    }

    /// Refuses in strict mode; in lenient mode notes what a strict reader refuses.
    fn strictly(&mut self, at: u64, why: &str) -> Result<()> {
        match self.how.mode {
            Mode::Strict => self.scan.fail_at(at, why),
            Mode::Lenient => {
                self.notes.push(Note::new(NoteKind::Lenient, why).at(at));
                Ok(())
            }
        }
    }

    fn header(&mut self) -> Result<Header> {
        if self.scan.take(wide(MAGIC.len()))? != MAGIC {
            return self.scan.fail_at(0, "the magic is not TENS");
        }
        let version = self.scan.u32(Little)?;
        if version != VERSION_1_0 && version != VERSION_0_9 {
            let what = format!("version {}.{:x}", version >> 16, (version & 0xffff) >> 12);
            let what = format!("{what} (0x{version:08x})");
            return Err(Error::Unsupported { format: NAME, what });
        }
        let (kind, endian) = self.number_type()?;
        let width_at = self.scan.at();
        let width = self.scan.u32(Little)?;
        let arity_at = self.scan.at();
        let numbers = self.scan.u32(Little)?;
        let Some(arity) = Arity::of_count(numbers.into()) else {
            let why = format!("{numbers} numbers per element, 1, 2, 4 and 8 are known");
            return self.scan.fail_at(arity_at, why);
        };
        // Version 0.9 programs of 2018 to 2020 wrote the size of a complex number here.
        let is_slip = version == VERSION_0_9 && arity == Arity::Complex && width == 32;
        let Some(number) = number_of(kind, if is_slip { 16 } else { width }) else {
            let why = format!("{width} bytes per number do not make a number of this type");
            return self.scan.fail_at(width_at, why);
        };
        if is_slip {
            self.note_slip(width_at, 32);
        }
        if version == VERSION_0_9 && kind != Kind::Float {
            return self
                .scan
                .fail_at(8, "version 0.9 knows no numbers but IEEE");
        }
        let order = self.scan.u32(Little)?;
        let flags_at = self.scan.at();
        let flags = self.scan.u32(Little)?;
        if flags & !FLAG_IX != 0 || version == VERSION_0_9 && flags != 0 {
            return self
                .scan
                .fail_at(flags_at, format!("flags are 0x{flags:08x}"));
        }
        let zero_at = self.scan.at();
        if self.scan.u32(Little)? != 0 {
            self.strictly(zero_at, "the reserved field of the header is not zero")?;
        }
        let dtype = DType { number, arity };
        let has_pairs = flags & FLAG_IX != 0;
        let (sizes, names, sparse) = (Vec::new(), Vec::new(), Vec::new());
        let mut header = Header {
            version,
            dtype,
            endian,
            has_pairs,
            sizes,
            names,
            sparse,
        };
        self.dimensions(order, &mut header)?;
        Ok(header)
    }

    fn number_type(&mut self) -> Result<(Kind, Endian)> {
        let at = self.scan.at();
        let code: [u8; 4] = self.scan.array()?;
        Ok(match &code {
            b"uint" => (Kind::Unsigned, Endian::Little),
            b"UINT" => (Kind::Unsigned, Endian::Big),
            b"sint" => (Kind::Signed, Endian::Little),
            b"SINT" => (Kind::Signed, Endian::Big),
            b"IEEE" => {
                let choices = [("little", Endian::Little), ("big", Endian::Big)];
                let chosen = self.how.options.choose("ieee-endian", &choices)?;
                (Kind::Float, chosen.unwrap_or(Endian::Little))
            }
            _ => {
                let code = code.escape_ascii();
                return self
                    .scan
                    .fail_at(at, format!("the number type \"{code}\" is unknown"));
            }
        })
    }

    fn note_slip(&mut self, at: u64, width: u32) {
        let half = width >> 1;
        let text =
            format!("{width} bytes per complex number were given as bytes per number, {half}");
        self.notes.push(Note::new(NoteKind::Repaired, text).at(at));
    }

    fn dimensions(&mut self, order: u32, header: &mut Header) -> Result<()> {
        // What no file of this length can hold is a fault of the file, not a matter of limits.
        if order
            .checked_mul(8)
            .is_none_or(|len| u64::from(len) > self.source.len())
        {
            return self
                .scan
                .fail_at(20, format!("{order} dimensions in a file this short"));
        }
        self.how.limits.check_ndim(order.into())?;
        for _ in 0..order {
            header.sizes.push(self.scan.u32(Little)?.into());
            header.names.push(self.scan.u8()?);
            let at = self.scan.at();
            let flags = self.scan.u8()?;
            let zero_at = self.scan.at();
            let zero: [u8; 2] = self.scan.array()?;
            if header.version == VERSION_0_9 {
                header.sparse.push(false); // the programs left these bytes uninitialised
                continue;
            }
            if flags & !FLAG_SP != 0 {
                self.strictly(at, "reserved flags of a dimension are set")?;
            }
            if zero != [0; 2] {
                self.strictly(zero_at, "the reserved field of a dimension is not zero")?;
            }
            header.sparse.push(flags & FLAG_SP != 0);
        }
        Ok(())
    }

    /// The values of version 0.9: what is left of the file.
    fn bare_values(&mut self, header: &mut Header, cells: u128) -> Result<Storage> {
        let from = self.scan.at();
        let payload = u128::from(self.scan.left());
        let needs = |dtype: DType| cells.saturating_mul(wide(dtype.width()).into());
        let as_quad = DType::complex(Number::F128);
        let as_double = DType::complex(Number::F64);
        let is_note_free = self.notes.is_empty();
        if header.dtype == as_quad
            && is_note_free
            && payload != needs(as_quad)
            && payload == needs(as_double)
        {
            header.dtype = as_double;
            self.note_slip(12, 16);
        }
        let wanted = needs(header.dtype);
        if payload < wanted {
            return self.scan.fail(format!(
                "the values take {wanted} bytes, {payload} are left"
            ));
        }
        // No more than the payload, which fits.
        let end = from.saturating_add(u64::try_from(wanted).unwrap_or(u64::MAX));
        self.scan.seek(end)?;
        self.scan.end()?;
        let bytes = Bytes::run(self.source, from..end)?;
        let values = Numbers {
            number: header.dtype.number,
            endian: header.endian,
            bytes,
        };
        Ok(Storage::Dense {
            order: Order::Column,
            values,
        })
    }

    /// The chunks of version 1.0, and the values among or after them.
    fn chunks_and_values(
        &mut self,
        header: &Header,
        symmetries: &mut Vec<Symmetry>,
    ) -> Result<Storage> {
        let mut storage = None;
        loop {
            let at = self.scan.at();
            if self.scan.left() == 0 {
                return match storage {
                    Some(storage) => Ok(storage),
                    None => self.scan.fail("the file ends before its values"),
                };
            }
            let magic: [u8; 8] = self.scan.array()?;
            if !magic.iter().all(is_printable) {
                if header.has_pairs && storage.is_none() {
                    return self.pairs(header, at, u64::from_le_bytes(magic));
                }
                return self
                    .scan
                    .fail_at(at, "a chunk was expected, and this is no magic");
            }
            let size_at = self.scan.at();
            let end = self.chunk_end(at)?;
            match &magic {
                SYMMETRY if storage.is_some() => {
                    return self.scan.fail_at(at, "a symmetry after the data");
                }
                SYMMETRY => {
                    let symmetry = self.symmetry(header, size_at, end, symmetries)?;
                    symmetries.push(symmetry);
                }
                DENSDATA if header.has_pairs => {
                    return self
                        .scan
                        .fail_at(at, "dense data where the flags promise pairs");
                }
                DENSDATA if storage.is_some() => {
                    return self.scan.fail_at(at, "a second data chunk");
                }
                DENSDATA => storage = Some(self.values(header, symmetries, size_at, end)?),
                _ => self.keep(&magic, end, storage.is_some())?,
            }
            self.scan.seek(end)?;
        }
    }

    /// Reads the size of the chunk that begins at `at`; gives where it ends.
    fn chunk_end(&mut self, at: u64) -> Result<u64> {
        let size_at = self.scan.at();
        let size = self.scan.u64(Little)?;
        let fits = at.checked_add(size).filter(|end| *end <= self.source.len());
        match fits {
            Some(end) if size >= CHUNK_HEADER && size.is_multiple_of(8) => Ok(end),
            Some(_) => {
                let why =
                    format!("a chunk of {size} bytes, a multiple of 8 from 16 on was expected");
                self.scan.fail_at(size_at, why)
            }
            None => self.scan.fail_at(
                size_at,
                format!("a chunk of {size} bytes is longer than the file"),
            ),
        }
    }

    fn symmetry(
        &mut self,
        header: &Header,
        size_at: u64,
        end: u64,
        known: &[Symmetry],
    ) -> Result<Symmetry> {
        let ndim = wide(header.sizes.len());
        let content = end.saturating_sub(self.scan.at());
        if content < 2 {
            return self
                .scan
                .fail_at(size_at, "a symmetry chunk without content");
        }
        let flags_at = self.scan.at();
        let flags = self.scan.u8()?;
        let n_at = self.scan.at();
        let n = self.scan.u8()?;
        if flags & !FLAG_PK != 0 {
            return self
                .scan
                .fail_at(flags_at, format!("symmetry flags are 0x{flags:02x}"));
        }
        let packed = flags & FLAG_PK != 0;
        if n == 0 {
            return self.scan.fail_at(n_at, "a symmetry without an operation");
        }
        let wanted = align8(
            u128::from(ndim)
                .saturating_add(u128::from(n))
                .saturating_add(18),
        );
        if u128::from(content).saturating_add(CHUNK_HEADER.into()) != wanted {
            let why = format!("a symmetry chunk of this content has {wanted} bytes");
            return self.scan.fail_at(size_at, why);
        }
        if packed && !header.has_pairs && known.iter().any(|symmetry| symmetry.packed) {
            return self
                .scan
                .fail_at(flags_at, "dense data packed by more than one symmetry");
        }
        let code_at = self.scan.at();
        let code = self.scan.take(n.into())?;
        if !code.iter().all(is_printable) {
            return self
                .scan
                .fail_at(code_at, "an operation code that is not printable");
        }
        let operation = String::from_utf8(code).unwrap_or_default();
        if packed && Operation::of_code(&operation).is_none() {
            let what = format!("packing by the operation {operation:?}");
            return Err(Error::Unsupported { format: NAME, what });
        }
        let permutation = self.map(header)?;
        self.padding(end)?;
        Ok(Symmetry {
            permutation,
            operation,
            packed,
        })
    }

    /// The names of the dimensions, in another order.
    fn map(&mut self, header: &Header) -> Result<Vec<usize>> {
        let at = self.scan.at();
        let map = self.scan.take(wide(header.names.len()))?;
        let mut names = header.names.clone();
        names.sort_unstable();
        names.dedup();
        if names.len() < header.names.len() || names.contains(&0) {
            return self.scan.fail_at(
                at,
                "a symmetry of dimensions whose names do not tell them apart",
            );
        }
        let mut permutation = Vec::new();
        for (letter, own) in map.iter().zip(&header.sizes) {
            let found = header.names.iter().position(|name| name == letter);
            let Some(place) = found.filter(|place| !permutation.contains(place)) else {
                let map = map.escape_ascii();
                return self
                    .scan
                    .fail_at(at, format!("\"{map}\" is no permutation of the names"));
            };
            if header.sizes.get(place) != Some(own) {
                return self
                    .scan
                    .fail_at(at, "a symmetry exchanges dimensions of different lengths");
            }
            permutation.push(place);
        }
        Ok(permutation)
    }

    /// Checks that all bytes up to `end` are zero.
    fn padding(&mut self, end: u64) -> Result<()> {
        let at = self.scan.at();
        let padding = self.scan.take(end.saturating_sub(at))?;
        match (0..).zip(&padding).find(|(_, byte)| **byte != 0) {
            None => Ok(()),
            Some((place, _)) => self.strictly(at.saturating_add(place), "padding is not zero"),
        }
    }

    fn values(
        &mut self,
        header: &Header,
        symmetries: &[Symmetry],
        size_at: u64,
        end: u64,
    ) -> Result<Storage> {
        let packed = |symmetry: &Symmetry| symmetry.packed;
        let stored = if symmetries.iter().any(packed) {
            let (sizes, dtype) = (&header.sizes, header.dtype);
            let group = Group::generate(sizes, dtype, symmetries, packed, &self.how.limits)?;
            group.stored().map(u128::from)
        } else {
            product(&header.sizes)
        };
        let len = stored.and_then(|stored| stored.checked_mul(wide(header.dtype.width()).into()));
        let len = len.unwrap_or(u128::MAX);
        let from = self.scan.at();
        let size = u128::from(end.saturating_sub(from)).saturating_add(CHUNK_HEADER.into());
        let wanted = align8(len.saturating_add(CHUNK_HEADER.into()));
        if size != wanted {
            let why = format!("a data chunk of {size} bytes, the dimensions need {wanted}");
            return self.scan.fail_at(size_at, why);
        }
        // Inside the chunk, which is inside the file.
        let values_end = from.saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
        self.scan.seek(values_end)?;
        self.padding(end)?;
        let bytes = Bytes::run(self.source, from..values_end)?;
        let values = Numbers {
            number: header.dtype.number,
            endian: header.endian,
            bytes,
        };
        Ok(Storage::Dense {
            order: Order::Column,
            values,
        })
    }

    /// Keeps a chunk that is not understood.
    fn keep(&mut self, magic: &[u8; 8], end: u64, after: bool) -> Result<()> {
        let len = end.saturating_sub(self.scan.at());
        self.how.limits.check_header(len)?;
        self.how.limits.check_tensors(wide(self.chunks.len()))?;
        let data = self.scan.take(len)?;
        let text = |text: &str| Value::Text(text.into());
        self.chunks.push(Value::Map(vec![
            (text("magic"), text(&String::from_utf8_lossy(magic))),
            (text("after"), Value::Bool(after)),
            (text("data"), Value::Bytes(data)),
        ]));
        Ok(())
    }

    fn pairs(&mut self, header: &Header, at: u64, count: u64) -> Result<Storage> {
        let width = wide(header.dtype.width());
        let stride = width.saturating_add(8);
        let first = self.scan.at();
        let len = count
            .checked_mul(stride)
            .filter(|len| *len <= self.scan.left());
        let Some(len) = len else {
            let left = self.scan.left();
            return self.scan.fail_at(
                at,
                format!("{count} pairs of {stride} bytes, {left} are left"),
            );
        };
        self.scan.skip(len)?;
        self.scan.end()?;
        let column = |first: u64, width: u64| {
            Bytes::part(
                self.source,
                Extent::Strided {
                    first,
                    width,
                    stride,
                    count,
                },
            )
        };
        let indices = Numbers {
            number: Number::U64,
            endian: Little,
            bytes: column(first, 8)?,
        };
        let values = Numbers {
            number: header.dtype.number,
            endian: header.endian,
            bytes: column(first.saturating_add(8), width)?,
        };
        Ok(Storage::Sparse {
            order: Order::Column,
            address: Address::Linear(indices),
            values,
        })
    }

    fn bundle(
        &mut self,
        header: Header,
        symmetries: Vec<Symmetry>,
        storage: Storage,
    ) -> Result<Bundle> {
        let chosen = chosen_names(&header);
        let dims = header
            .sizes
            .iter()
            .zip(&header.names)
            .map(|(size, name)| {
                let dim = Dim::indexed(*size);
                if chosen {
                    dim.named(char::from(*name))
                } else {
                    dim
                }
            })
            .collect();
        let mut tensor = Tensor::within(dims, header.dtype, symmetries, storage, &self.how.limits)?;
        if header
            .sparse
            .iter()
            .any(|sparse| *sparse != header.has_pairs)
        {
            let flags = header
                .sparse
                .iter()
                .map(|sparse| Value::Bool(*sparse))
                .collect();
            tensor.hints.set(name::SPARSE_DIMS, Value::List(flags));
        }
        if !header.names.is_empty() && header.names.iter().all(|name| *name == 0) {
            tensor.hints.set(name::NUL_NAMES, true);
        }
        let mut bundle = Bundle::of(tensor);
        let version = if header.version == VERSION_0_9 {
            "0.9"
        } else {
            "1.0"
        };
        bundle.hints.set(name::VERSION, version);
        if !self.chunks.is_empty() {
            bundle
                .meta
                .set(name::CHUNKS, Value::List(std::mem::take(&mut self.chunks)));
        }
        self.notes.drain(..).for_each(|note| bundle.note(note));
        Ok(bundle)
    }
}

/// Whether somebody chose the names: they are neither the default nor all NUL.
fn chosen_names(header: &Header) -> bool {
    let default = if header.version == VERSION_0_9 {
        old_name
    } else {
        default_name
    };
    let is_default = header
        .names
        .iter()
        .enumerate()
        .all(|(place, name)| *name == default(place));
    !is_default && header.names.iter().any(|name| *name != 0)
}

fn number_of(kind: Kind, width: u32) -> Option<Number> {
    let width = narrow(width.into()).ok()?;
    let is_it = |number: &&Number| {
        // TENS has no 16-bit floats and no booleans.
        number.kind() == kind && number.width() == width && !(kind == Kind::Float && width == 2)
    };
    Number::ALL.iter().find(is_it).copied()
}
