//! Lists of values: nested or flat, numbers or hexadecimal digits.
#![deny(clippy::arithmetic_side_effects)]

use super::cell;
use crate::bytes::{PIECE, to_u64, to_usize};
use crate::dtype::{Number, convert};
use crate::error::Result;
use crate::wire::json::{First, Json, Kind};

/// The language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) enum Spelling {
    Json,
    Literal,
}

/// Consumer of the big-endian bytes of cells.
pub(in crate::formats) type Cells<'a> = dyn FnMut(&[u8]) -> Result<()> + 'a;

/// The dense part of a type, and the language of its values.
#[derive(Debug, Clone)]
pub(in crate::formats) struct Values {
    pub(in crate::formats) spelling: Spelling,
    pub(in crate::formats) number: Number,
    /// The sizes of the indexed dimensions; at most one is inferred from the values.
    pub(in crate::formats) sizes: Vec<Option<u64>>,
}

/// The number type of this width.
fn of_width(width: u64) -> Option<Number> {
    match width {
        1 => Some(Number::I8),
        2 => Some(Number::Bf16),
        4 => Some(Number::F32),
        8 => Some(Number::F64),
        _ => None,
    }
}

impl Values {
    /// The product of the known sizes.
    fn known(&self) -> u64 {
        let sizes = self.sizes.iter().flatten();
        sizes.fold(1, |all, size| all.saturating_mul(*size))
    }

    /// The number of cells, if it is known before they are read.
    pub(in crate::formats) fn count(&self) -> Option<u64> {
        let is_known = self.sizes.iter().all(Option::is_some);
        is_known.then(|| self.known())
    }

    /// Reads all values, and returns their number.
    pub(in crate::formats) fn read(&self, json: &mut Json, out: &mut Cells) -> Result<u64> {
        json.peek()?;
        let at = json.at();
        let is_one = self.count() == Some(1);
        let found = match (json.kind()?, self.spelling) {
            (Kind::Array, _) => self.list(json, out)?,
            (Kind::Text, Spelling::Json) => self.hex(json, out)?,
            (_, Spelling::Literal) if !is_one => self.hex(json, out)?,
            _ if is_one => {
                let mut cell = Vec::new();
                self.cell(json, &mut String::new(), &mut cell)?;
                out(&cell)?;
                1
            }
            _ => return json.unexpected("a list of values"),
        };
        let wanted = self.known().max(1);
        let is_right = match self.count() {
            Some(count) => found == count,
            None => found > 0 && found.checked_rem(wanted) == Some(0),
        };
        if !is_right {
            let more = if self.count().is_none() {
                "a multiple of "
            } else {
                ""
            };
            let why = format!("{more}{wanted} values expected, not {found}");
            return json.scan.fail_at(at, why);
        }
        Ok(found)
    }

    /// Reads one number.
    pub(in crate::formats) fn cell(
        &self,
        json: &mut Json,
        text: &mut String,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let kind = json.kind()?;
        let at = json.at();
        match (self.spelling, kind) {
            (Spelling::Json, Kind::Number) => json.number(text)?,
            (Spelling::Json, Kind::Text) => json.text(text)?,
            (Spelling::Json, Kind::Word) => match json.word()? {
                "null" => *text = "nan".into(),
                word => return json.scan.fail_at(at, format!("{word} is no number")),
            },
            (Spelling::Json, _) => return json.unexpected("a number"),
            (Spelling::Literal, _) => json.token(is_within_word, text)?,
        }
        if cell::parse(self.number, text.trim_ascii(), out) {
            Ok(())
        } else {
            let why = format!("{text:?} is no {} that fits", self.number);
            json.scan.fail_at(at, why)
        }
    }

    /// Reads a list in brackets: of all numbers, or nested by dimension.
    fn list(&self, json: &mut Json, out: &mut Cells) -> Result<u64> {
        let mut nest = Nest::new(self);
        let (mut text, mut cells) = (String::new(), Vec::new());
        let mut found = 0_u64;
        nest.open(json)?;
        while let Some((first, count)) = nest.open.last_mut() {
            if !json.next(first, b']')? {
                nest.close(json)?;
                continue;
            }
            *count = count.saturating_add(1);
            if json.kind()? == Kind::Array {
                nest.open(json)?;
                continue;
            }
            nest.leaf(json)?;
            if self.count() == Some(found) {
                return json.scan.fail(format!("more than {found} values"));
            }
            self.cell(json, &mut text, &mut cells)?;
            found = found.saturating_add(1);
            if cells.len() >= PIECE {
                out(&cells)?;
                cells.clear();
            }
        }
        out(&cells)?;
        Ok(found)
    }

    /// Reads hexadecimal digits: with the width of the cell type, or of another type.
    fn hex(&self, json: &mut Json, out: &mut Cells) -> Result<u64> {
        let at = json.at();
        let mut n_digits = 0_u64;
        let mut is_hex = true;
        digits(self.spelling, json, &mut |piece| {
            n_digits = n_digits.saturating_add(to_u64(piece.len()));
            is_hex = is_hex && piece.iter().all(u8::is_ascii_hexdigit);
            Ok(())
        })?;
        let end = json.at();
        if !is_hex || n_digits == 0 {
            return json
                .scan
                .fail_at(at, "hexadecimal digits or a list expected");
        }
        let own = to_u64(self.number.width());
        let count = self
            .count()
            .unwrap_or_else(|| n_digits.div_ceil(own.saturating_mul(2)));
        let width = n_digits.checked_div(count.saturating_mul(2)).unwrap_or(0);
        let is_whole = count.saturating_mul(2).saturating_mul(width) == n_digits;
        let from = of_width(width).filter(|from| {
            let is_own = *from == self.number;
            is_whole && (is_own || self.spelling == Spelling::Json && self.number != Number::I8)
        });
        let Some(from) = from else {
            let why = format!("{n_digits} hexadecimal digits are not those of {count} cells");
            return json.scan.fail_at(at, why);
        };
        json.scan.seek(at)?;
        let mut decoder = Decoder::new(from, self.number)?;
        digits(self.spelling, json, &mut |piece| decoder.decode(piece, out))?;
        json.scan.seek(end)?;
        Ok(count)
    }
}

/// Whether a byte can be part of an unquoted word of a literal.
pub(super) fn is_within_word(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !b",]}:[{".contains(&byte)
}

/// Hands out the digits of a text, or of a word in a literal.
fn digits(spelling: Spelling, json: &mut Json, each: &mut Cells) -> Result<()> {
    if spelling == Spelling::Json {
        return json.pieces(each);
    }
    let mut piece = Vec::new();
    loop {
        piece.clear();
        json.scan.run(is_within_word, &mut piece)?;
        if piece.is_empty() {
            return Ok(());
        }
        each(&piece)?;
    }
}

/// The open lists, each with the number of items so far.
struct Nest<'a> {
    values: &'a Values,
    open: Vec<(First, u64)>,
    /// The nesting depth of numbers.
    depth: Option<usize>,
    /// The length of lists along the dimension without a size.
    inferred: Option<u64>,
}

impl Nest<'_> {
    fn new(values: &Values) -> Nest<'_> {
        Nest {
            values,
            open: Vec::new(),
            depth: None,
            inferred: None,
        }
    }

    fn open(&mut self, json: &mut Json) -> Result<()> {
        if self.open.len() >= self.values.sizes.len().max(1) {
            return json
                .scan
                .fail("lists are nested deeper than there are dimensions");
        }
        json.need(b'[')?;
        self.open.push((First::new(), 0));
        Ok(())
    }

    /// Takes a number.
    fn leaf(&mut self, json: &mut Json) -> Result<()> {
        let depth = self.open.len();
        let is_usual = depth == 1 || depth == self.values.sizes.len();
        if !is_usual || self.depth.is_some_and(|known| known != depth) {
            let why = "values are nested neither by all dimensions nor by none";
            return json.scan.fail(why);
        }
        self.depth = Some(depth);
        Ok(())
    }

    /// Ends a list.
    fn close(&mut self, json: &mut Json) -> Result<()> {
        let Some((_, count)) = self.open.pop() else {
            return Ok(());
        };
        let is_flat = self.depth == Some(1) || self.depth.is_none();
        let wanted = match self.values.sizes.get(self.open.len()) {
            _ if is_flat => return Ok(()),
            Some(Some(size)) => *size,
            _ => *self.inferred.get_or_insert(count),
        };
        if count != wanted {
            let at = json.at().saturating_sub(1);
            let why = format!("a list of {count} where {wanted} are expected");
            return json.scan.fail_at(at, why);
        }
        Ok(())
    }
}

/// Decodes cells from hexadecimal digits.
struct Decoder {
    from: Number,
    to: Number,
    width: usize,
    /// The first of two digits.
    half: Option<u8>,
    /// Bytes of an incomplete number.
    bytes: Vec<u8>,
}

impl Decoder {
    fn new(from: Number, to: Number) -> Result<Decoder> {
        Ok(Decoder {
            from,
            to,
            width: to_usize(to_u64(from.width()))?,
            half: None,
            bytes: Vec::new(),
        })
    }

    fn decode(&mut self, digits: &[u8], out: &mut Cells) -> Result<()> {
        for digit in digits {
            let value = match digit {
                b'0'..=b'9' => digit.wrapping_sub(b'0'),
                letter => (letter | 0x20).wrapping_sub(b'a').wrapping_add(10),
            };
            match self.half.take() {
                None => self.half = Some(value),
                Some(high) => self.bytes.push(high << 4 | value & 15),
            }
        }
        if self.from == self.to {
            out(&self.bytes)?;
            self.bytes.clear();
            return Ok(());
        }
        let mut cells = Vec::new();
        let chunks = self.bytes.chunks_exact(self.width);
        let rest = chunks.remainder().to_vec();
        for chunk in chunks {
            let little: Vec<u8> = chunk.iter().rev().copied().collect();
            let mut cell = Vec::new();
            convert(self.from, self.to, &little, &mut cell);
            cells.extend(cell.iter().rev());
        }
        self.bytes = rest;
        out(&cells)
    }
}
