//! The first pass over all values: counts by class, and moments.

use super::moments::{Moments, Signs};
use super::passes::{BLOCK, Chunks, InBlocks, Tally, in_blocks};
use super::quantiles::{DIGITS, FEW, Table, add, table_of};
use super::sort_key::{ElementOps, Key};
use crate::bytes::to_u64;
use crate::error::Result;
use crate::memory;

/// The result of the first pass.
#[derive(Debug, Clone, Default)]
pub(super) struct Summary {
    pub(super) nan: u64,
    pub(super) positive_infinite: u64,
    pub(super) negative_infinite: u64,
    pub(super) finite: u64,
    pub(super) signs: Signs,
    pub(super) moments: Moments,
    /// The number of finite values with each first digit, if it is useful.
    pub(super) digits: Option<Table>,
}

impl Summary {
    /// Makes the pass.
    pub(super) fn of<L: ElementOps>(lens: &L, chunks: &Chunks) -> Result<Summary> {
        let is_large = chunks.count() > FEW;
        if is_large && L::Key::DIGITS == 1 {
            return Summary::of_digits(lens, chunks);
        }
        let (surveyors, parts) = chunks.pass(|| {
            Ok(Surveyor {
                lens,
                values: Vec::with_capacity(BLOCK),
                keys: Vec::with_capacity(BLOCK),
                digits: is_large.then(Counts::none).transpose()?,
                survey: Summary::default(),
            })
        })?;
        let mut all = parts.into_iter().fold(Summary::default(), Summary::merge);
        let counts = surveyors.into_iter().filter_map(|found| found.digits);
        all.digits = counts.map(Counts::table).reduce(add);
        Ok(all)
    }

    /// For values of at most 16 bits: the frequency of each determines everything.
    fn of_digits<L: ElementOps>(lens: &L, chunks: &Chunks) -> Result<Summary> {
        let width = lens.width();
        let (counters, _) = chunks.pass(|| {
            let counts = Counts::none()?;
            Ok(Spellings { width, counts })
        })?;
        let spellings = counters.into_iter().map(|found| found.counts.table());
        let spellings = spellings.reduce(add).unwrap_or_default();
        let mut table: Table = memory::zeros(DIGITS)?;
        for (spelling, count) in (0..=u16::MAX).zip(spellings) {
            let bytes = spelling.to_le_bytes();
            let key = lens.key(bytes.get(..width).unwrap_or_default());
            if let Some(sum) = table.get_mut(key.digit(0)) {
                *sum = sum.saturating_add(count);
            }
        }
        let mut all = Summary::default();
        for (digit, count) in table
            .iter_mut()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            let key = L::Key::narrow(u128::try_from(digit).unwrap_or(0));
            let value = lens.value(&lens.number(key).bytes);
            all = all.merge(Summary::repeated(value, *count));
            if !value.is_finite() {
                *count = 0;
            }
        }
        all.digits = Some(table);
        Ok(all)
    }

    /// The result for one value that occurs `count` times.
    pub(super) fn repeated(value: f64, count: u64) -> Summary {
        let mut survey = Summary::default();
        if value.is_finite() {
            survey.finite = count;
            survey.moments = Moments::repeated(value, count);
            survey.signs = Signs {
                zeros: if value == 0.0 { count } else { 0 },
                negative: if value < 0.0 { count } else { 0 },
            };
        } else {
            survey.odd(value, count);
        }
        survey
    }

    /// Counts a value that is not finite.
    fn odd(&mut self, value: f64, count: u64) {
        let counter = if value.is_nan() {
            &mut self.nan
        } else if value > 0.0 {
            &mut self.positive_infinite
        } else {
            &mut self.negative_infinite
        };
        *counter = counter.saturating_add(count);
    }

    /// The union of both; the digits are dropped.
    pub(super) fn merge(self, other: Summary) -> Summary {
        let signs = Signs {
            zeros: self.signs.zeros.saturating_add(other.signs.zeros),
            negative: self.signs.negative.saturating_add(other.signs.negative),
        };
        Summary {
            nan: self.nan.saturating_add(other.nan),
            positive_infinite: self
                .positive_infinite
                .saturating_add(other.positive_infinite),
            negative_infinite: self
                .negative_infinite
                .saturating_add(other.negative_infinite),
            finite: self.finite.saturating_add(other.finite),
            signs,
            moments: self.moments.merge(other.moments),
            digits: None,
        }
    }
}

/// The number of values with each digit, in two tables used alternately: repeated digits then do
/// not wait for the previous increment.
struct Counts {
    even: Box<[u64; DIGITS]>,
    odd: Box<[u64; DIGITS]>,
}

impl Counts {
    fn none() -> Result<Counts> {
        Ok(Counts {
            even: table_of(0)?,
            odd: table_of(0)?,
        })
    }

    #[inline(always)]
    fn add(&mut self, pair: [usize; 2]) {
        let [first, second] = pair;
        // The compiler sees that no digit exceeds the tables.
        if let Some(count) = self.even.get_mut(first & 0xffff) {
            *count = count.wrapping_add(1);
        }
        if let Some(count) = self.odd.get_mut(second & 0xffff) {
            *count = count.wrapping_add(1);
        }
    }

    #[inline(always)]
    fn add_one(&mut self, digit: usize) {
        if let Some(count) = self.even.get_mut(digit & 0xffff) {
            *count = count.wrapping_add(1);
        }
    }

    /// Counts first digits.
    #[inline(always)]
    fn add_keys(&mut self, keys: &[impl Key]) {
        let (pairs, rest) = keys.as_chunks::<2>();
        for pair in pairs {
            self.add(pair.map(|key| key.digit(0)));
        }
        rest.iter().for_each(|key| self.add_one(key.digit(0)));
    }

    fn table(self) -> Table {
        let mut sums = self.even;
        for (sum, odd) in sums.iter_mut().zip(self.odd.iter()) {
            *sum = sum.saturating_add(*odd);
        }
        let sums: Box<[u64]> = sums;
        sums.into_vec()
    }
}

/// Counts the frequency of all elements of one or two bytes.
struct Spellings {
    width: usize,
    counts: Counts,
}

impl Tally for Spellings {
    type Part = ();

    fn piece(&mut self, elements: &[u8]) {
        let two = |two: [u8; 2]| usize::from(u16::from_le_bytes(two));
        if self.width == 1 {
            let (pairs, rest) = elements.as_chunks::<2>();
            for pair in pairs {
                self.counts.add(pair.map(usize::from));
            }
            rest.iter()
                .for_each(|byte| self.counts.add_one(usize::from(*byte)));
            return;
        }
        let (fours, rest) = elements.as_chunks::<8>();
        for [a, b, c, d, e, f, g, h] in fours {
            self.counts.add([two([*a, *b]), two([*c, *d])]);
            self.counts.add([two([*e, *f]), two([*g, *h])]);
        }
        for element in rest.as_chunks::<2>().0 {
            self.counts.add_one(two(*element));
        }
    }

    fn part(&mut self) {}
}

struct Surveyor<'a, L: ElementOps> {
    lens: &'a L,
    values: Vec<f64>,
    keys: Vec<L::Key>,
    digits: Option<Counts>,
    survey: Summary,
}

impl<L: ElementOps> InBlocks for Surveyor<'_, L> {
    #[inline(always)]
    fn block(&mut self, elements: &[u8]) {
        let values = &mut self.values;
        self.lens.values(elements, values);
        if self.digits.is_some() {
            self.lens.keys(elements, &mut self.keys);
        }
        let is_finite = |all: bool, value: &f64| all & value.is_finite();
        if !values.iter().fold(true, is_finite) {
            let mut places = values.iter();
            let keeps = |_: &L::Key| places.next().is_some_and(|value| value.is_finite());
            self.keys.retain(keeps);
            for value in values.iter().filter(|value| !value.is_finite()) {
                self.survey.odd(*value, 1);
            }
            values.retain(|value| value.is_finite());
        }
        if let Some(digits) = &mut self.digits {
            digits.add_keys(&self.keys);
        }
        let (moments, signs) = Moments::of(values);
        let block = Summary {
            finite: to_u64(values.len()),
            signs,
            moments,
            ..Summary::default()
        };
        self.survey = std::mem::take(&mut self.survey).merge(block);
    }
}

impl<L: ElementOps> Tally for Surveyor<'_, L> {
    type Part = Summary;

    fn piece(&mut self, elements: &[u8]) {
        in_blocks(self, elements, self.lens.width());
    }

    fn part(&mut self) -> Summary {
        std::mem::take(&mut self.survey)
    }
}
