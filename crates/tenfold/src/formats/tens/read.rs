//! Reads TENS headers, in file order.
#![deny(clippy::arithmetic_side_effects)]

use super::{
    FLAG_IX, FLAG_SP, MAGIC, NAME, TOO_MANY_CELLS, VERSION_0_9, VERSION_1_0, default_name, name,
    old_name,
};
use crate::bundle::Bundle;
use crate::bytes::Endian::Little;
use crate::bytes::{Bytes, Endian, Scan, to_u64, to_usize, truncated};
use crate::dtype::{Arity, DType, Kind, Number, Numbers};
use crate::error::{Error, Result};
use crate::format::{Mode, ReadOptions};
use crate::io::Source;
use crate::meta::Value;
use crate::note::{Note, NoteKind};
use crate::tensor::{Dim, Order, Storage, Symmetry, Tensor, product};

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let scan = Scan::new(source, NAME);
    let mut reader = Reader {
        source,
        how,
        scan,
        notes: Vec::new(),
        chunks: Vec::new(),
        carried: None,
    };
    reader.read()
}

pub(super) struct Reader<'a> {
    pub(super) source: &'a Source,
    pub(super) how: &'a ReadOptions,
    pub(super) scan: Scan<'a>,
    notes: Vec<Note>,
    pub(super) chunks: Vec<Value>,
    /// Carried metadata.
    pub(super) carried: Option<String>,
}

/// The fixed fields, as far as they are needed later.
pub(super) struct Header {
    version: u32,
    pub(super) dtype: DType,
    pub(super) endian: Endian,
    pub(super) has_pairs: bool,
    pub(super) sizes: Vec<u64>,
    pub(super) names: Vec<u8>,
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

    /// Refuses a violation in strict mode; notes it in lenient mode.
    pub(super) fn strictly(&mut self, at: u64, why: &str) -> Result<()> {
        match self.how.mode {
            Mode::Strict => self.scan.fail_at(at, why),
            Mode::Lenient => {
                self.notes.push(Note::new(NoteKind::Lenient, why).at(at));
                Ok(())
            }
        }
    }

    fn header(&mut self) -> Result<Header> {
        if self.scan.take(to_u64(MAGIC.len()))? != MAGIC {
            return self.scan.fail_at(0, "the magic is not TENS");
        }
        let version = self.scan.u32(Little)?;
        if version != VERSION_1_0 && version != VERSION_0_9 {
            let what = format!("the version word 0x{version:x}");
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
        // A size that no file of this length can hold is a fault of the file, not a matter of
        // limits.
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
                header.sparse.push(false); // the programs left these bytes uninitialized
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

    /// The values of version 0.9: the rest of the file.
    fn bare_values(&mut self, header: &mut Header, cells: u128) -> Result<Storage> {
        let from = self.scan.at();
        let payload = u128::from(self.scan.left());
        let needs = |dtype: DType| cells.saturating_mul(to_u64(dtype.width()).into());
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
            return self.scan.fail(truncated(wanted, payload));
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
        if let Some(carried) = self.carried.take() {
            bundle.meta.set(name::CARRIED, carried.as_str());
        }
        self.notes.drain(..).for_each(|note| bundle.note(note));
        Ok(bundle)
    }
}

/// Whether the names were chosen: they are neither the default nor all NUL.
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
    let width = to_usize(width.into()).ok()?;
    let is_it = |number: &&Number| {
        // TENS has no 16-bit floats and no booleans.
        number.kind() == kind && number.width() == width && !(kind == Kind::Float && width == 2)
    };
    Number::ALL.iter().find(is_it).copied()
}
