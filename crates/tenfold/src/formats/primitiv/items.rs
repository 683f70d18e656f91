//! The items of a primitiv file, in primitiv's own encodings or in others.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::Range;

use super::NAME;
use crate::bytes::Scan;
use crate::error::Result;
use crate::format::{Mode, ReadOptions};
use crate::io::Source;
use crate::limits::Limits;
use crate::note::{Note, NoteKind};
use crate::wire::msgpack;
use crate::wire::msgpack::{Head, Item, Marker};

/// A rule that a lenient reader relaxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// An integer is a u32.
    Uint,
    /// A float is an f32.
    Float,
    /// A name is a str.
    Text,
    /// Data is a bin.
    Data,
    /// A statistic is unique.
    Statistic,
    /// A config is unique.
    Config,
    /// A key can coexist with the other keys in a model.
    Key,
    /// A key is unique.
    KeyTwice,
    /// Nothing follows the body.
    End,
}

impl Rule {
    /// The behavior of primitiv for a file that breaks it.
    fn verdict(self) -> &'static str {
        match self {
            Rule::Uint | Rule::Float | Rule::Text | Rule::Data | Rule::Key => {
                "primitiv itself refuses it"
            }
            Rule::Statistic | Rule::Config => "primitiv itself takes the first",
            Rule::KeyTwice => "primitiv itself takes the last",
            Rule::End => "primitiv itself ignores them",
        }
    }
}

/// The number of violations of a rule, and the first.
struct Forgiven {
    rule: Rule,
    at: u64,
    why: String,
    n_more: u64,
}

/// Reads items in file order; errors are reported at the item's first byte.
pub(super) struct Items<'a> {
    scan: Scan<'a>,
    mode: Mode,
    limits: &'a Limits,
    /// One entry for every broken rule: a file has many numbers, all in the same wrong encoding.
    forgiven: Vec<Forgiven>,
}

impl<'a> Items<'a> {
    pub(super) fn new(source: &'a Source, how: &'a ReadOptions) -> Self {
        Items {
            scan: Scan::new(source, NAME),
            mode: how.mode,
            limits: &how.limits,
            forgiven: Vec::new(),
        }
    }

    /// The offset of the next item.
    pub(super) fn at(&self) -> u64 {
        self.scan.at()
    }

    /// An error at `at`.
    pub(super) fn fail_at<T>(&self, at: u64, why: impl Into<String>) -> Result<T> {
        self.scan.fail_at(at, why)
    }

    /// An error at `at` in strict mode; else the violation is recorded.
    pub(super) fn forgive(&mut self, at: u64, rule: Rule, why: impl Into<String>) -> Result<()> {
        if self.mode == Mode::Strict {
            return self.fail_at(at, why);
        }
        match self.forgiven.iter_mut().find(|known| known.rule == rule) {
            Some(known) => known.n_more = known.n_more.saturating_add(1),
            None => self.forgiven.push(Forgiven {
                rule,
                at,
                why: why.into(),
                n_more: 0,
            }),
        }
        Ok(())
    }

    /// Notes on every rule that is broken.
    pub(super) fn notes(&self) -> impl Iterator<Item = Note> {
        self.forgiven.iter().map(|forgiven| {
            let mut text = format!("{}; {}", forgiven.why, forgiven.rule.verdict());
            if forgiven.n_more > 0 {
                text.push_str(&format!(" (and {} more like it)", forgiven.n_more));
            }
            Note::new(NoteKind::Lenient, text).at(forgiven.at)
        })
    }

    fn wrong<T>(&self, head: &Head, what: &str, wanted: &str) -> Result<T> {
        let why = format!("{what} is {}, {wanted} is wanted", head.form());
        self.fail_at(head.at, why)
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32> {
        let head = msgpack::head(&mut self.scan)?;
        let Item::Uint(number) = head.item else {
            return self.wrong(&head, what, "u32");
        };
        let Ok(number) = u32::try_from(number) else {
            let why = format!("{what} is {number}, a number below 2^32 is wanted");
            return self.fail_at(head.at, why);
        };
        if head.marker != Marker::U32 {
            let why = format!("{what} is {number} as {}, u32 is wanted", head.form());
            self.forgive(head.at, Rule::Uint, why)?;
        }
        Ok(number)
    }

    /// A positive u32.
    pub(super) fn size(&mut self, what: &str) -> Result<u64> {
        let at = self.at();
        match self.u32(what)? {
            0 => self.fail_at(at, format!("{what} is 0, at least 1 is wanted")),
            size => Ok(size.into()),
        }
    }

    pub(super) fn f32(&mut self, what: &str) -> Result<f32> {
        let head = msgpack::head(&mut self.scan)?;
        if let Item::F32(bits) = head.item {
            return Ok(f32::from_bits(bits));
        }
        let Some(number) = nearest(head.item) else {
            return self.wrong(&head, what, "f32");
        };
        let why = format!("{what} is {number:?} as {}, f32 is wanted", head.form());
        self.forgive(head.at, Rule::Float, why)?;
        Ok(number)
    }

    pub(super) fn text(&mut self, what: &str) -> Result<String> {
        let head = msgpack::head(&mut self.scan)?;
        let (Item::Str(len) | Item::Bin(len)) = head.item else {
            return self.wrong(&head, what, "str");
        };
        if let Item::Bin(_) = head.item {
            let why = format!("{what} is bin, str is wanted");
            self.forgive(head.at, Rule::Text, why)?;
        }
        self.limits.check_text(len)?;
        let Ok(text) = String::from_utf8(self.scan.take(len)?) else {
            return self.fail_at(head.at, format!("{what} is not UTF-8"));
        };
        self.keep([text.as_str()])?;
        Ok(text)
    }

    /// Counts names that stay in memory.
    pub(super) fn keep<'t>(&mut self, names: impl IntoIterator<Item = &'t str>) -> Result<()> {
        for name in names {
            // Each is in a key and in the set that keys are compared with.
            self.limits.charge_items::<[String; 2]>(1)?;
            self.limits.charge_text(name.len().saturating_mul(2))?;
        }
        Ok(())
    }

    /// Skips a bin that is `wanted` bytes long, and returns its range.
    pub(super) fn data(&mut self, wanted: u64) -> Result<Range<u64>> {
        let head = msgpack::head(&mut self.scan)?;
        let (Item::Bin(len) | Item::Str(len)) = head.item else {
            return self.wrong(&head, "data", "bin");
        };
        if let Item::Str(_) = head.item {
            self.forgive(head.at, Rule::Data, "data is str, bin is wanted")?;
        }
        if len != wanted {
            let why = format!("data is {len} bytes long, the shape needs {wanted}");
            return self.fail_at(head.at, why);
        }
        let from = self.at();
        self.scan.skip(len)?;
        Ok(from..self.at())
    }

    /// The head of an array: the number of items.
    pub(super) fn array(&mut self, what: &str) -> Result<u64> {
        let head = msgpack::head(&mut self.scan)?;
        match head.item {
            Item::Array(items) => Ok(items),
            _ => self.wrong(&head, what, "array"),
        }
    }

    /// The head of a map: the number of pairs.
    pub(super) fn map(&mut self, what: &str) -> Result<u64> {
        let head = msgpack::head(&mut self.scan)?;
        match head.item {
            Item::Map(pairs) => Ok(pairs),
            _ => self.wrong(&head, what, "map"),
        }
    }

    pub(super) fn end(&mut self) -> Result<()> {
        match self.scan.left() {
            0 => Ok(()),
            left => {
                let why = format!("{left} bytes left over after the end of the data");
                self.forgive(self.at(), Rule::End, why)
            }
        }
    }
}

/// The nearest f32 to a number in another encoding; `None` if it is no number, or out of range.
#[expect(
    clippy::as_conversions,
    reason = "numbers are rounded to the nearest f32, as meant"
)]
fn nearest(item: Item) -> Option<f32> {
    let (number, is_finite) = match item {
        Item::Uint(number) => (number as f32, true),
        Item::Negative(number) => (number as f32, true),
        Item::F64(bits) => (
            f64::from_bits(bits) as f32,
            f64::from_bits(bits).is_finite(),
        ),
        _ => return None,
    };
    (number.is_finite() == is_finite).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads one item leniently, and returns it with the notes.
    fn lenient<T>(bytes: &[u8], read: fn(&mut Items) -> Result<T>) -> Result<(T, Vec<String>)> {
        let source = Source::memory(bytes.to_vec());
        let how = ReadOptions {
            mode: Mode::Lenient,
            ..ReadOptions::default()
        };
        let mut items = Items::new(&source, &how);
        let item = read(&mut items)?;
        Ok((item, items.notes().map(|note| note.text).collect()))
    }

    #[test]
    fn a_number_in_another_form_is_read_with_a_note_that_primitiv_refuses_it() {
        let (number, notes) = lenient(b"\xcd\x01\x02", |items| items.u32("the batch")).unwrap();
        assert_eq!(number, 258);
        let note = "the batch is 258 as u16, u32 is wanted; primitiv itself refuses it";
        assert_eq!(notes, [note]);
    }

    #[test]
    fn many_numbers_in_another_form_give_one_note() {
        let (_, notes) = lenient(b"\x01\x02\x03", |items| {
            items.u32("a dim")?;
            items.u32("a dim")?;
            items.u32("a dim")
        })
        .unwrap();
        let note = "a dim is 1 as fixint, u32 is wanted; primitiv itself refuses it \
                    (and 2 more like it)";
        assert_eq!(notes, [note]);
    }

    #[test]
    fn a_double_is_rounded_to_the_nearest_float_unless_it_is_beyond_all_of_them() {
        let tenth = b"\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a";
        assert_eq!(lenient(tenth, |items| items.f32("eta")).unwrap().0, 0.1);
        let infinity = b"\xcb\x7f\xf0\0\0\0\0\0\0";
        let (number, _) = lenient(infinity, |items| items.f32("eta")).unwrap();
        assert_eq!(number, f32::INFINITY);
        let huge = b"\xcb\x7e\x37\xe4\x3c\x88\x00\x75\x9c";
        let error = lenient(huge, |items| items.f32("eta")).unwrap_err();
        assert!(error.to_string().contains("eta is f64, f32 is wanted"));
    }

    #[test]
    fn names_that_take_more_memory_than_allowed_are_refused() {
        let source = Source::memory(b"\xa1a\xa1b".to_vec());
        let mut how = ReadOptions::default();
        how.limits.set("structure", 200).unwrap();
        how.limits = how.limits.for_file(source.len());
        let mut items = Items::new(&source, &how);
        assert_eq!(items.text("a name").unwrap(), "a");
        let error = items.text("a name").unwrap_err().to_string();
        assert!(error.contains("--max-structure"), "{error}");
    }
}
