//! Tensor types in Vespa's notation: `tensor<float>(brand{},x[3])`.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashSet;

use super::{CELL_TYPES, MOST};
use crate::dtype::Number;
use crate::tensor::{Dim, Size};

/// The names of the number types in [`CELL_TYPES`].
const WORDS: &[&str] = &["double", "float", "bfloat16", "int8"];

/// A tensor type: the cell type, and the dimensions as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::formats) struct Spec {
    pub(in crate::formats) number: Number,
    pub(in crate::formats) dims: Vec<(String, Extent)>,
}

/// The extent of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) enum Extent {
    /// One index per label.
    Mapped,
    /// As many as there are values.
    Unbound,
    /// A fixed size.
    Bound(u64),
}

impl Extent {
    /// Whether a dimension of another extent satisfies this one.
    pub(in crate::formats) fn takes(self, other: Extent) -> bool {
        match (self, other) {
            (Extent::Unbound, Extent::Bound(_)) => true,
            (own, other) => own == other,
        }
    }
}

/// An error in a type, with its offset in the text.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::formats) struct Wrong {
    pub(in crate::formats) at: usize,
    pub(in crate::formats) why: String,
}

impl Spec {
    /// Parses a type. Spaces are allowed between any two words.
    pub(in crate::formats) fn parse(text: &str) -> Result<Spec, Wrong> {
        let mut words = Words { text, at: 0 };
        let spec = words.spec()?;
        match words.next() {
            None => Ok(spec),
            Some(_) => words.fail("the end of the type"),
        }
    }

    /// The type of a tensor; `None` if it cannot be expressed.
    pub(in crate::formats) fn of(number: Number, dims: &[Dim]) -> Option<Spec> {
        let extent = |size| match size {
            Size::Mapped => Extent::Mapped,
            Size::Indexed(size) => Extent::Bound(size),
        };
        let dims = dims
            .iter()
            .map(|dim| {
                Some((
                    dim.name.clone().filter(|name| is_word(name))?,
                    extent(dim.size),
                ))
            })
            .collect::<Option<Vec<_>>>()?;
        let spec = Spec { number, dims };
        CELL_TYPES.contains(&number).then_some(spec)
    }

    /// The same type with its dimensions sorted by name.
    pub(in crate::formats) fn sorted(&self) -> Spec {
        let mut sorted = self.clone();
        sorted.dims.sort_by(|one, other| one.0.cmp(&other.0));
        sorted
    }

    /// The names of the mapped dimensions, as written.
    pub(in crate::formats) fn mapped(&self) -> Vec<String> {
        let is_mapped = |(_, extent): &&(String, Extent)| *extent == Extent::Mapped;
        let mapped = self.dims.iter().filter(is_mapped);
        mapped.map(|(name, _)| name.clone()).collect()
    }

    /// The indexed dimensions, as written, each with its size if it has one.
    pub(in crate::formats) fn indexed(&self) -> Vec<(String, Option<u64>)> {
        let size = |(name, extent): &(String, Extent)| match extent {
            Extent::Mapped => None,
            Extent::Unbound => Some((name.clone(), None)),
            Extent::Bound(size) => Some((name.clone(), Some(*size))),
        };
        self.dims.iter().filter_map(size).collect()
    }
}

/// Displays it as Vespa does, with the dimensions sorted by name.
impl std::fmt::Display for Spec {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = CELL_TYPES.iter().position(|known| *known == self.number);
        let word = place.and_then(|place| WORDS.get(place)).unwrap_or(&"?");
        out.write_str("tensor")?;
        if self.number != Number::F64 {
            write!(out, "<{word}>")?;
        }
        let dims = self.sorted().dims.into_iter();
        let dims: Vec<String> = dims
            .map(|(name, extent)| match extent {
                Extent::Mapped => format!("{name}{{}}"),
                Extent::Unbound => format!("{name}[]"),
                Extent::Bound(size) => format!("{name}[{size}]"),
            })
            .collect();
        write!(out, "({})", dims.join(","))
    }
}

/// Whether a name can be used in a type.
pub(in crate::formats) fn is_word(name: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_fine)
}

/// The words of a type, in order.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next character that is no space.
    fn next(&mut self) -> Option<char> {
        let rest = self.rest().trim_ascii_start();
        self.at = self.text.len().saturating_sub(rest.len());
        rest.chars().next()
    }

    fn fail<T>(&mut self, wanted: &str) -> Result<T, Wrong> {
        let found = match self.next() {
            Some(letter) => format!("{letter:?}"),
            None => "the end".into(),
        };
        self.wrong(self.at, format!("{wanted} expected, not {found}"))
    }

    fn wrong<T>(&self, at: usize, why: String) -> Result<T, Wrong> {
        Err(Wrong { at, why })
    }

    /// Consumes a character, if it is next.
    fn take(&mut self, letter: char) -> bool {
        let is_next = self.next() == Some(letter);
        if is_next {
            self.at = self.at.saturating_add(letter.len_utf8());
        }
        is_next
    }

    fn need(&mut self, letter: char) -> Result<(), Wrong> {
        if self.take(letter) {
            Ok(())
        } else {
            self.fail(&format!("{letter:?}"))
        }
    }

    /// The next word of letters, digits and underscores; empty if there is none.
    fn word(&mut self) -> &'a str {
        self.next();
        let rest = self.rest();
        let len = rest
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
            .unwrap_or(rest.len());
        self.at = self.at.saturating_add(len);
        rest.get(..len).unwrap_or_default()
    }

    fn spec(&mut self) -> Result<Spec, Wrong> {
        let scalar = Spec {
            number: Number::F64,
            dims: Vec::new(),
        };
        self.next();
        let start = self.at;
        match self.word() {
            "double" => return Ok(scalar),
            "tensor" => {}
            word => {
                let why = format!("a type begins with tensor, not {word:?}");
                return self.wrong(start, why);
            }
        }
        let number = self.number()?;
        self.need('(')?;
        let mut dims: Vec<(String, Extent)> = Vec::new();
        let mut names = HashSet::new();
        while !(dims.is_empty() && self.take(')')) {
            let (at, dim) = self.dim()?;
            if !names.insert(dim.0.clone()) {
                return self.wrong(at, format!("two dimensions are called {:?}", dim.0));
            }
            dims.push(dim);
            if self.take(')') {
                break;
            }
            self.need(',')?;
        }
        if dims.is_empty() && number != Number::F64 {
            let why = "a tensor without dimensions has cells of double".into();
            return self.wrong(start, why);
        }
        Ok(Spec { number, dims })
    }

    fn number(&mut self) -> Result<Number, Wrong> {
        if !self.take('<') {
            return Ok(Number::F64);
        }
        self.next();
        let at = self.at;
        let word = self.word();
        let place = WORDS.iter().position(|known| *known == word);
        let Some(number) = place.and_then(|place| CELL_TYPES.get(place)) else {
            let known = WORDS.join(", ");
            return self.wrong(at, format!("{word:?} is none of the cell types {known}"));
        };
        self.need('>')?;
        Ok(*number)
    }

    fn dim(&mut self) -> Result<(usize, (String, Extent)), Wrong> {
        self.next();
        let at = self.at;
        let name = self.word().to_owned();
        if name.is_empty() {
            return self.fail("the name of a dimension");
        }
        if self.take('{') {
            self.need('}')?;
            return Ok((at, (name, Extent::Mapped)));
        }
        if !self.take('[') {
            return self.fail("{} or [size]");
        }
        self.next();
        let size_at = self.at;
        let size = self.word();
        let extent = match size.parse::<u64>() {
            _ if size.is_empty() => Extent::Unbound,
            Ok(size @ 1..=MOST) => Extent::Bound(size),
            _ => {
                let why = format!("a size is 1 to {MOST}, not {size:?}");
                return self.wrong(size_at, why);
            }
        };
        self.need(']')?;
        Ok((at, (name, extent)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> Result<String, Wrong> {
        Spec::parse(text).map(|spec| spec.to_string())
    }

    #[test]
    fn a_type_of_80_000_dimensions_is_read_in_the_time_that_it_takes_to_print_it() {
        let dims: Vec<String> = (0..80_000).map(|dim| format!("d{dim}{{}}")).collect();
        let text = format!("tensor({})", dims.join(","));
        let began = std::time::Instant::now();
        assert_eq!(Spec::parse(&text).unwrap().dims.len(), 80_000);
        // Comparing each name with all others takes 3.2 billion comparisons.
        assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
        let twice = format!("tensor({},d7{{}})", dims.join(","));
        assert!(Spec::parse(&twice).is_err());
    }

    #[test]
    fn types_are_printed_sorted_and_without_spaces() {
        for (text, wanted) in [
            (
                " tensor < float > ( z [ 2 ] , a { } ) ",
                "tensor<float>(a{},z[2])",
            ),
            ("double", "tensor()"),
            ("tensor<double>( )", "tensor()"),
            ("tensor(x[])", "tensor(x[])"),
        ] {
            assert_eq!(printed(text).unwrap(), wanted);
        }
    }

    #[test]
    fn what_is_wrong_is_named_at_its_byte() {
        for (text, at, why) in [
            ("tensor(x[0])", 9, "a size is 1 to 2147483647, not \"0\""),
            ("tensor(x{},x[1])", 11, "two dimensions are called \"x\""),
            (
                "tensor(x{},)",
                11,
                "the name of a dimension expected, not ')'",
            ),
            (
                "tensor<f32>(x{})",
                7,
                "\"f32\" is none of the cell types double, float, bfloat16, int8",
            ),
            ("tensor(x[-1])", 9, "']' expected, not '-'"),
            (
                "tensor<float>()",
                0,
                "a tensor without dimensions has cells of double",
            ),
            ("tensor(x{})é", 11, "the end of the type expected, not 'é'"),
        ] {
            let why = why.to_owned();
            assert_eq!(printed(text), Err(Wrong { at, why }), "{text}");
        }
    }
}
