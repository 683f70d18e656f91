//! Writes the text forms.

use super::super::vespa;
use super::super::vespa::spec::{Spec, is_word};
use super::cell::{is_odd_nan, put_json, put_literal};
use crate::bundle::Bundle;
use crate::bytes::{Endian, Extent, PIECE, Scan, TEXT_LEN, swap};
use crate::dtype::{Kind, Number, Numbers};
use crate::error::{Error, Result, sound};
use crate::format::WriteOptions;
use crate::io::Sink;
use crate::key::Key;
use crate::loss::{Aspect, Loss, Tier};
use crate::memory;
use crate::tensor::{Dim, Storage, Tensor};
use crate::wire::json::put_text;

/// The form of a written tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) enum Form {
    Short,
    Long,
    Hex,
    Literal,
}

const FORMS: [(&str, Form); 4] = [
    ("short", Form::Short),
    ("long", Form::Long),
    ("hex", Form::Hex),
    ("literal", Form::Literal),
];

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    let tensor = bundle.only()?;
    let chosen = how.options.choose("form", &FORMS)?;
    let values = numbers(tensor)?;
    let has_dense = !tensor.indexed_sizes().is_empty() || tensor.dims().is_empty();
    let is_odd = has_dense && has_odd_nan(values)?;
    let form = match chosen {
        // Hexadecimal digits preserve every bit.
        None | Some(Form::Short) if is_odd => Form::Hex,
        Some(Form::Long | Form::Literal) if is_odd && !how.allow.permits(Aspect::Precision) => {
            let why = "a NaN has bits that no text spells: form=hex keeps them, \
                       or go ahead with --allow precision";
            return Err(Error::Mismatch(why.into()));
        }
        chosen => chosen.unwrap_or(Form::Short),
    };
    let mut writer = Writer::new(tensor.dims(), tensor.dtype().number, form, out)?;
    match form {
        Form::Literal => writer.literal(values)?,
        _ => writer.document(values)?,
    }
    writer.text.push('\n');
    writer.flush()
}

/// The values of a tensor that is dense or labelled.
pub(in crate::formats) fn numbers(tensor: &Tensor) -> Result<&Numbers> {
    match tensor.storage() {
        Storage::Dense { values, .. } => Ok(values),
        Storage::Sparse { values, .. } if tensor.n_mapped() > 0 => Ok(values),
        _ => Err(Error::invalid(
            "only dense and labelled tensors have a text",
        )),
    }
}

/// Whether a NaN is among the values whose bits would be lost.
pub(in crate::formats) fn has_odd_nan(values: &Numbers) -> Result<bool> {
    if values.number.kind() != Kind::Float {
        return Ok(false);
    }
    let width = values.number.width();
    let mut found = false;
    values.for_each(Endian::Little, width, PIECE, &mut |piece| {
        let mut cells = piece.chunks_exact(width);
        found = found || cells.any(|cell| is_odd_nan(values.number, cell));
        Ok(())
    })?;
    Ok(found)
}

/// Whether a tensor can be written but has a NaN whose bits would be lost.
pub(in crate::formats) fn loses_nans(tensor: &Tensor) -> Result<bool> {
    let found = sound(numbers(tensor).and_then(has_odd_nan))?;
    Ok(found.unwrap_or(false))
}

/// Losses of a text beyond those of the binary format.
pub(super) fn format_losses(bundle: &Bundle) -> Result<Vec<Loss>> {
    let mut losses = vespa::write::format_losses(bundle);
    for (key, tensor) in bundle.entries() {
        let names = tensor.dims().iter().filter_map(|dim| dim.name.as_deref());
        for name in names.filter(|name| vespa::is_usual_name(name) && !is_word(name)) {
            let detail = format!("a type has no word for a dimension called {name:?}");
            losses.push(Loss::impossible(key, Aspect::DimNames, detail));
        }
        let is_sparse = tensor.n_mapped() > 0 && tensor.indexed_sizes().is_empty();
        if is_sparse && loses_nans(tensor)? {
            losses.push(plain_nans(key));
        }
    }
    Ok(losses)
}

/// The loss of NaN bits that cannot be written as text.
pub(in crate::formats) fn plain_nans(key: &Key) -> Loss {
    Loss {
        key: Some(key.clone()),
        aspect: Aspect::Precision,
        detail: "NaNs become plain ones".into(),
        tier: Tier::Refused,
    }
}

/// A dimension in an address: its name, and whether it is mapped.
type Named = (String, bool);

/// A writer of text.
pub(in crate::formats) struct Writer<'a> {
    out: &'a mut Sink,
    pub(in crate::formats) text: String,
    form: Form,
    spec: String,
    /// Sorted by name.
    dims: Vec<Named>,
    n_mapped: usize,
    sizes: Vec<u64>,
    number: Number,
    /// Whether the first block of the document has yet to come.
    is_first: bool,
}

impl<'a> Writer<'a> {
    /// A writer for tensors of these dimensions.
    pub(in crate::formats) fn new(
        dims: &[Dim],
        number: Number,
        form: Form,
        out: &'a mut Sink,
    ) -> Result<Writer<'a>> {
        let names = vespa::write::names(dims);
        let names = names.ok_or_else(|| Error::invalid("a dimension has no name"))?;
        let named: Vec<_> = { dims.iter().zip(&names) }
            .map(|(dim, name)| dim.clone().named(name.clone()))
            .collect();
        let n_mapped = { dims.iter() }
            .filter(|dim| dim.indexed_size().is_none())
            .count();
        let sizes = dims.iter().filter_map(Dim::indexed_size).collect();
        let spec = Spec::of(number, &named);
        let spec = spec.ok_or_else(|| Error::invalid("there is no word for this type"))?;
        let mut dims: Vec<Named> = named
            .iter()
            .filter_map(|dim| Some((dim.name.clone()?, dim.indexed_size().is_none())))
            .collect();
        dims.sort();
        Ok(Writer {
            out,
            text: String::new(),
            form,
            spec: spec.to_string(),
            dims,
            n_mapped,
            sizes,
            number,
            is_first: true,
        })
    }

    pub(in crate::formats) fn flush(&mut self) -> Result<()> {
        self.out.write(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    pub(in crate::formats) fn flush_if_long(&mut self) -> Result<()> {
        if self.text.len() >= TEXT_LEN {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn document(&mut self, values: &Numbers) -> Result<()> {
        self.open(true);
        for_each_block(values, &mut |labels, block| self.block(labels, block))?;
        self.close();
        Ok(())
    }

    /// The name of the values, and the brackets around them.
    fn brackets(&self) -> (&'static str, &'static str, &'static str) {
        let is_named = self.n_mapped == 1;
        match (self.form, !self.sizes.is_empty()) {
            (Form::Long, _) => ("cells", "[", "]"),
            _ if self.n_mapped == 0 => ("values", "", ""),
            (_, true) if is_named => ("blocks", "{", "}"),
            (_, true) => ("blocks", "[", "]"),
            (_, false) if is_named => ("cells", "{", "}"),
            (_, false) => ("cells", "[", "]"),
        }
    }

    /// Begins a document, optionally with its type.
    pub(in crate::formats) fn open(&mut self, has_type: bool) {
        self.text.push('{');
        if has_type {
            self.text.push_str("\"type\":");
            put_text(&self.spec, &mut self.text);
            self.text.push(',');
        }
        let (name, open, _) = self.brackets();
        self.text.push_str(&format!("\"{name}\":{open}"));
        self.is_first = true;
    }

    /// Ends a document.
    pub(in crate::formats) fn close(&mut self) {
        let (_, _, close) = self.brackets();
        self.text.push_str(close);
        self.text.push('}');
    }

    /// Writes a block of a document.
    pub(in crate::formats) fn block(&mut self, labels: &[String], block: &mut Block) -> Result<()> {
        if self.form == Form::Long {
            return self.long(labels, block);
        }
        if !std::mem::take(&mut self.is_first) {
            self.text.push(',');
        }
        let is_mixed = self.n_mapped > 0 && !self.sizes.is_empty();
        let end = match (labels, self.n_mapped == 1) {
            ([], _) => "",
            ([label, ..], true) => {
                put_text(label, &mut self.text);
                self.text.push(':');
                ""
            }
            (labels, false) => {
                self.text.push_str("{\"address\":");
                self.json_address(labels, &[]);
                let word = if is_mixed { "values" } else { "value" };
                self.text.push_str(&format!(",\"{word}\":"));
                "}"
            }
        };
        self.values(block, self.n_mapped == 0 || is_mixed)?;
        self.text.push_str(end);
        self.flush_if_long()
    }

    /// The values of a block, as a list or as digits; or a number, if there is only one.
    fn values(&mut self, block: &mut Block, is_list: bool) -> Result<()> {
        let number = self.number;
        if is_list && self.form == Form::Hex {
            self.text.push('"');
            block(&mut |piece| {
                let some = (TEXT_LEN / number.width()).saturating_mul(number.width());
                piece.chunks(some.max(1)).try_for_each(|cells| {
                    put_hex(cells, number.width(), &mut self.text);
                    self.flush_if_long()
                })
            })?;
            self.text.push('"');
            return Ok(());
        }
        // A tensor without dimensions is a list of one, except in a literal.
        let sizes = match (is_list, self.form) {
            (true, Form::Literal) => self.sizes.clone(),
            (true, _) if self.sizes.is_empty() => vec![1],
            (true, _) => self.sizes.clone(),
            (false, _) => Vec::new(),
        };
        let mut nested = Nested::new(sizes);
        let is_literal = self.form == Form::Literal;
        block(&mut |piece| {
            for cell in piece.chunks_exact(number.width()) {
                nested.before(is_literal, &mut self.text);
                if is_literal {
                    put_literal(number, cell, &mut self.text)
                } else {
                    put_json(number, cell, &mut self.text)
                }
                nested.after(&mut self.text);
                self.flush_if_long()?;
            }
            Ok(())
        })
    }

    /// The cells of a block, each with its address.
    fn long(&mut self, labels: &[String], block: &mut Block) -> Result<()> {
        let number = self.number;
        let is_literal = self.form == Form::Literal;
        let mut nested = Nested::new(self.sizes.clone());
        block(&mut |piece| {
            for cell in piece.chunks_exact(number.width()) {
                if !std::mem::take(&mut self.is_first) {
                    self.text.push_str(if is_literal { ", " } else { "," });
                }
                if is_literal {
                    self.literal_address(labels, &nested.index)?;
                    self.text.push(':');
                    put_literal(number, cell, &mut self.text);
                } else {
                    self.text.push_str("{\"address\":");
                    self.json_address(labels, &nested.index);
                    self.text.push_str(",\"value\":");
                    put_json(number, cell, &mut self.text);
                    self.text.push('}');
                }
                nested.advance();
                self.flush_if_long()?;
            }
            Ok(())
        })
    }

    /// The items of an address, by the names of their dimensions; mapped ones alone if no position
    /// is given.
    fn places(&self, labels: &[String], index: &[u64]) -> Vec<(&str, String, bool)> {
        let (mut labels, mut index) = (labels.iter(), index.iter());
        let place = |(name, is_mapped): &'_ Named| {
            let place = match is_mapped {
                true => labels.next().cloned(),
                false => index.next().map(u64::to_string),
            };
            place.map(|place| (name.len(), place, *is_mapped))
        };
        let found: Vec<Option<(usize, String, bool)>> = self.dims.iter().map(place).collect();
        let both = self.dims.iter().zip(found);
        both.filter_map(|((name, _), found)| {
            let (_, place, is_mapped) = found?;
            Some((name.as_str(), place, is_mapped))
        })
        .collect()
    }

    fn json_address(&mut self, labels: &[String], index: &[u64]) {
        let mut text = String::from("{");
        for (number, (name, place, _)) in self.places(labels, index).iter().enumerate() {
            if number > 0 {
                text.push(',');
            }
            put_text(name, &mut text);
            text.push(':');
            put_text(place, &mut text);
        }
        text.push('}');
        self.text.push_str(&text);
    }

    fn literal_address(&mut self, labels: &[String], index: &[u64]) -> Result<()> {
        let mut parts = Vec::new();
        for (name, place, is_mapped) in self.places(labels, index) {
            let place = if is_mapped { bare(&place)? } else { place };
            parts.push(format!("{name}:{place}"));
        }
        self.text.push_str(&format!("{{{}}}", parts.join(",")));
        Ok(())
    }

    fn literal(&mut self, values: &Numbers) -> Result<()> {
        self.text.push_str(&self.spec);
        self.text.push(':');
        let has_braces = self.n_mapped > 0 || self.sizes.is_empty();
        if has_braces {
            self.text.push('{');
        }
        for_each_block(values, &mut |labels, block| {
            if labels.len() > 1 {
                return self.long(labels, block);
            }
            if let [label] = labels {
                let before = if std::mem::take(&mut self.is_first) {
                    ""
                } else {
                    ", "
                };
                let label = bare(label)?;
                self.text.push_str(&format!("{before}{label}:"));
            }
            self.values(block, true)?;
            self.flush_if_long()
        })?;
        if has_braces {
            self.text.push('}');
        }
        Ok(())
    }
}

/// A label in a literal: bare if it is a word, else quoted, without escapes.
fn bare(label: &str) -> Result<String> {
    match (label.contains('\''), label.contains('"')) {
        _ if vespa::is_usual_name(label) => Ok(label.to_owned()),
        (false, _) => Ok(format!("'{label}'")),
        (true, false) => Ok(format!("\"{label}\"")),
        (true, true) => {
            let why = format!("a literal has no word for the label {label:?}");
            Err(Error::invalid(why))
        }
    }
}

/// A function that hands out the cells of a block, little-endian, in pieces.
pub(in crate::formats) type Block<'a> =
    dyn FnMut(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> + 'a;

/// Calls `each` with the labels and the cells of every block; a dense tensor is one block without
/// labels.
pub(in crate::formats) fn for_each_block(
    values: &Numbers,
    each: &mut dyn FnMut(&[String], &mut Block) -> Result<()>,
) -> Result<()> {
    let width = values.number.width();
    let Extent::Records(records) = values.bytes.extent() else {
        return each(&[], &mut |take| {
            values.for_each(Endian::Little, width, PIECE, take)
        });
    };
    records.for_each(values.bytes.source(), &mut |_, labels, scan| {
        each(labels, &mut |take| {
            hand_out(values, records.width(), scan, take)
        })
    })
}

/// Hands out the cells of a block of `len` bytes at the position of `scan`.
pub(in crate::formats) fn hand_out(
    values: &Numbers,
    len: u64,
    scan: &mut Scan,
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut cells = Vec::new();
    // A piece is a multiple of any number's width.
    scan.pieces(len, PIECE, &mut |piece| {
        cells.clear();
        memory::append(&mut cells, piece)?;
        if values.must_swap(Endian::Little) {
            swap(&mut cells, values.number.width());
        }
        take(&cells)
    })
}

/// Appends little-endian cells as the digits of their big-endian bytes.
fn put_hex(cells: &[u8], width: usize, out: &mut String) {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F',
    ];
    let digit = |half: u8| DIGITS.get(usize::from(half)).copied().unwrap_or('0');
    for cell in cells.chunks_exact(width.max(1)) {
        for byte in cell.iter().rev() {
            out.extend([digit(byte >> 4), digit(byte & 15)]);
        }
    }
}

/// The brackets around values, one pair per dimension.
struct Nested {
    sizes: Vec<u64>,
    index: Vec<u64>,
    is_first: bool,
}

impl Nested {
    fn new(sizes: Vec<u64>) -> Nested {
        Nested {
            index: vec![0; sizes.len()],
            sizes,
            is_first: true,
        }
    }

    /// The text before the next value.
    fn before(&mut self, is_wide: bool, out: &mut String) {
        if !std::mem::take(&mut self.is_first) {
            out.push_str(if is_wide { ", " } else { "," });
        }
        let places = self.index.iter().rev();
        let opened = places.take_while(|place| **place == 0).count();
        out.extend(std::iter::repeat_n('[', opened));
    }

    /// The text after it.
    fn after(&mut self, out: &mut String) {
        let closed = self.advance();
        out.extend(std::iter::repeat_n(']', closed));
    }

    /// Advances to the next index; returns how many dimensions ended.
    fn advance(&mut self) -> usize {
        let mut ended = 0;
        for (place, size) in self.index.iter_mut().zip(&self.sizes).rev() {
            *place = place.saturating_add(1);
            if *place < *size {
                break;
            }
            *place = 0;
            ended += 1;
        }
        ended
    }
}
