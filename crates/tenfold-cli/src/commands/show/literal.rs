//! Values as Vespa writes them, to be pasted: `tensor(x{},y[2]):{a:[1.0, 2.0]}`.

use tenfold::{
    Bundle, Cell, Dim, Endian, Error, Info, Limits, Number, Result, Storage, Tensor, write_number,
};

use crate::render::{is_dim_name, type_of};
use crate::streams::Out;

/// How many bytes of values are held at a time.
const BUDGET: usize = 1 << 20;

/// Prints every tensor on a line of its own.
pub(super) fn print(info: &Info, bundle: &Bundle, limits: &Limits, out: &mut Out) -> Result<()> {
    if bundle.entries().is_empty() {
        return Err(Error::Invalid(format!(
            "this {} file has no tensor",
            info.name
        )));
    }
    for (_, tensor) in bundle.entries() {
        tensor.compare_checksums()?;
        let dims = named(tensor);
        let spec = type_of(tensor.dtype(), &dims).ok_or_else(|| no_literal(tensor, &dims))?;
        check_labels(tensor, limits)?;
        out.text(&format!("{spec}:"))?;
        match tensor.storage() {
            Storage::Sparse { .. } if tensor.n_mapped() > 0 => blocks(tensor, &dims, limits, out)?,
            _ => dense(tensor, limits, out)?,
        }
        out.text("\n")?;
    }
    Ok(())
}

/// Fails if a label cannot be written, before anything is printed.
fn check_labels(tensor: &Tensor, limits: &Limits) -> Result<()> {
    if tensor.n_mapped() == 0 {
        return Ok(());
    }
    tensor.for_each_cell(limits, &mut |cell| match cell {
        Cell::Labelled { labels, .. } => labels.iter().try_for_each(|text| label(text).map(|_| ())),
        Cell::At { .. } => Ok(()),
    })
}

/// The dimensions with names for those that have none: `a`, `b` and so on.
fn named(tensor: &Tensor) -> Vec<Dim> {
    let is_nameless = |dim: &Dim| dim.name.is_none();
    if !tensor.dims().iter().any(is_nameless) {
        return tensor.dims().to_vec();
    }
    let dims = tensor.dims().iter().enumerate();
    dims.map(|(place, dim)| {
        let letter = u8::try_from(place).ok().filter(|place| *place < 26);
        let name = match letter {
            Some(place) if tensor.dims().len() <= 26 => char::from(b'a' + place).to_string(),
            _ => format!("d{place:03}"),
        };
        match dim.name {
            Some(_) => dim.clone(),
            None => dim.clone().named(name),
        }
    })
    .collect()
}

fn no_literal(tensor: &Tensor, dims: &[Dim]) -> Error {
    let name = dims.iter().filter_map(|dim| dim.name.as_deref());
    let why = match name.into_iter().find(|name| !is_dim_name(name)) {
        Some(name) => format!("a literal has no word for a dimension called {name:?}"),
        None => format!(
            "a literal has no word for {}: cast to f64, f32, bf16 or i8 first, as with convert --cast",
            tensor.dtype()
        ),
    };
    Error::Invalid(why)
}

/// All values, nested by dimension.
fn dense(tensor: &Tensor, limits: &Limits, out: &mut Out) -> Result<()> {
    let mut nested = Nested::new(&tensor.sizes()?);
    if tensor.dims().is_empty() {
        out.text("{")?;
    }
    tensor.for_each(BUDGET, limits, &mut |bytes| {
        nested.print(tensor.dtype().number, bytes, out)
    })?;
    if tensor.dims().is_empty() {
        out.text("}")?;
    }
    Ok(())
}

/// Numbers in brackets, one pair for each dimension.
struct Nested {
    sizes: Vec<u64>,
    /// Where the next number stands.
    index: Vec<u64>,
}

impl Nested {
    fn new(sizes: &[u64]) -> Nested {
        Nested {
            sizes: sizes.to_vec(),
            index: vec![0; sizes.len()],
        }
    }

    fn print(&mut self, number: Number, bytes: &[u8], out: &mut Out) -> Result<()> {
        for bytes in bytes.chunks_exact(number.width()) {
            // As many brackets open as indices stand at their start, and close at their end.
            let opened = self
                .index
                .iter()
                .rev()
                .take_while(|place| **place == 0)
                .count();
            let is_first = opened == self.index.len();
            let mut text = if is_first { String::new() } else { ", ".into() };
            text.push_str(&"[".repeat(opened));
            number_text(number, bytes, &mut text);
            text.push_str(&"]".repeat(self.advance()));
            out.text(&text)?;
        }
        Ok(())
    }

    /// Goes to the next place; gives how many dimensions ended.
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

/// Labelled blocks: by their label if it is one, else cell by cell.
fn blocks(tensor: &Tensor, dims: &[Dim], limits: &Limits, out: &mut Out) -> Result<()> {
    let is_short = tensor.n_mapped() == 1;
    let mut is_first = true;
    out.text("{")?;
    tensor.for_each_cell(limits, &mut |cell| {
        let Cell::Labelled { labels, values } = cell else {
            return Ok(());
        };
        let labels = labels
            .iter()
            .map(|text| label(text))
            .collect::<Result<Vec<_>>>()?;
        let before = if is_first { "" } else { ", " };
        is_first = false;
        let number = tensor.dtype().number;
        let width = number.width();
        match labels.as_slice() {
            [label] if is_short => {
                out.text(&format!("{before}{label}:"))?;
                let mut nested = Nested::new(&tensor.indexed_sizes());
                values.for_each(Endian::Little, width, BUDGET, &mut |bytes| {
                    nested.print(number, bytes, out)
                })
            }
            labels => {
                let mut cells = Cells::new(dims, labels, before);
                values.for_each(Endian::Little, width, BUDGET, &mut |bytes| {
                    cells.print(number, bytes, out)
                })
            }
        }
    })?;
    out.text("}")
}

/// The cells of a block under several labels, each with its whole address.
struct Cells<'a> {
    dims: &'a [Dim],
    labels: &'a [String],
    before: &'a str,
    nested: Nested,
}

impl<'a> Cells<'a> {
    fn new(dims: &'a [Dim], labels: &'a [String], before: &'a str) -> Cells<'a> {
        let sizes: Vec<u64> = dims.iter().filter_map(Dim::indexed_size).collect();
        Cells {
            dims,
            labels,
            before,
            nested: Nested::new(&sizes),
        }
    }

    fn print(&mut self, number: Number, bytes: &[u8], out: &mut Out) -> Result<()> {
        for bytes in bytes.chunks_exact(number.width()) {
            let mut text = format!("{}{{{}}}:", self.before, self.address());
            number_text(number, bytes, &mut text);
            out.text(&text)?;
            self.before = ", ";
            self.nested.advance();
        }
        Ok(())
    }

    /// Such as `a:0,b:red`, by name.
    fn address(&self) -> String {
        let mut labels = self.labels.iter();
        let mut places = self.nested.index.iter();
        let mut parts: Vec<(&str, String)> = self
            .dims
            .iter()
            .map(|dim| {
                let place = match dim.indexed_size() {
                    Some(_) => places.next().map(u64::to_string),
                    None => labels.next().cloned(),
                };
                (
                    dim.name.as_deref().unwrap_or_default(),
                    place.unwrap_or_default(),
                )
            })
            .collect();
        parts.sort_by_key(|(name, _)| *name);
        let parts: Vec<String> = parts
            .into_iter()
            .map(|(name, place)| format!("{name}:{place}"))
            .collect();
        parts.join(",")
    }
}

/// A number; what is none has no quotes here.
fn number_text(number: Number, bytes: &[u8], out: &mut String) {
    let mut text = String::new();
    write_number(number, bytes, &mut text);
    out.push_str(text.trim_matches('"'));
}

/// A label as a literal spells it: bare if it is a word, else in quotes, which know no escapes.
fn label(text: &str) -> Result<String> {
    let is_within = |letter: char| letter.is_ascii_alphanumeric() || "_@$".contains(letter);
    let is_first = |letter: char| letter.is_ascii_alphanumeric() || "-_@".contains(letter);
    let mut letters = text.chars();
    if letters.next().is_some_and(is_first) && letters.all(is_within) {
        return Ok(text.into());
    }
    if text.chars().any(char::is_control) || text.contains('\'') && text.contains('"') {
        let why = format!("a literal has no word for the label {text:?}");
        return Err(Error::Invalid(why));
    }
    Ok(match text.contains('\'') {
        false => format!("'{text}'"),
        true => format!("\"{text}\""),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_quoted_where_they_must_be() {
        for (text, written) in [
            ("a-b", "'a-b'"),
            ("-1", "-1"),
            ("007", "007"),
            ("key.1", "'key.1'"),
            ("", "''"),
            ("key's", "\"key's\""),
            ("日本", "'日本'"),
        ] {
            assert_eq!(label(text).unwrap(), written);
        }
        assert!(label("both ' and \"").is_err());
        assert!(label("a\nb").is_err());
    }
}
