//! The first pass over all values: what they are, how many of each sort, and their moments.

use super::chunks::{Chunks, Tally};
use super::lens::{Key, Lens};
use super::moments::{Moments, Signs};
use super::ranks::{DIGITS, FEW, Table, add};
use crate::error::Result;

/// What the first pass finds.
#[derive(Debug, Clone, Default)]
pub(super) struct Survey {
    pub(super) nan: u64,
    pub(super) positive_infinite: u64,
    pub(super) negative_infinite: u64,
    pub(super) finite: u64,
    pub(super) signs: Signs,
    pub(super) moments: Moments,
    /// How many finite values have each first digit, where that is worth knowing.
    pub(super) digits: Option<Table>,
}

impl Survey {
    /// Goes over all values.
    pub(super) fn of<L: Lens>(lens: &L, chunks: &Chunks) -> Result<Survey> {
        let is_large = chunks.count() > FEW;
        if is_large && L::Key::DIGITS == 1 {
            return Survey::of_digits(lens, chunks);
        }
        let (surveyors, parts) = chunks.pass(|| Surveyor {
            lens,
            values: vec![0.0; BLOCK],
            digits: is_large.then(|| [vec![0; DIGITS], vec![0; DIGITS]]),
            survey: Survey::default(),
        })?;
        let mut all = parts.into_iter().fold(Survey::default(), Survey::merge);
        all.digits = sum(surveyors.into_iter().filter_map(|found| found.digits));
        Ok(all)
    }

    /// Values of 16 bits at most: how often each comes says everything.
    fn of_digits<L: Lens>(lens: &L, chunks: &Chunks) -> Result<Survey> {
        let (counters, _) = chunks.pass(|| Counter {
            lens,
            digits: [vec![0; DIGITS], vec![0; DIGITS]],
        })?;
        let mut table = sum(counters.into_iter().map(|found| found.digits)).unwrap_or_default();
        let mut all = Survey::default();
        for (digit, count) in table
            .iter_mut()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            let key = L::Key::narrow(u128::try_from(digit).unwrap_or(0));
            let value = lens.value(&lens.number(key).bytes);
            all = all.merge(Survey::repeated(value, *count));
            if !value.is_finite() {
                *count = 0;
            }
        }
        all.digits = Some(table);
        Ok(all)
    }

    /// What there is to find about one value that comes `count` times.
    pub(super) fn repeated(value: f64, count: u64) -> Survey {
        let mut survey = Survey::default();
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

    /// What both found; the digits stay behind.
    pub(super) fn merge(self, other: Survey) -> Survey {
        let signs = Signs {
            zeros: self.signs.zeros.saturating_add(other.signs.zeros),
            negative: self.signs.negative.saturating_add(other.signs.negative),
        };
        Survey {
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

/// Two tables for every other value: the same digit twice in a row need not wait for itself.
type Pair = [Table; 2];

fn sum(pairs: impl Iterator<Item = Pair>) -> Option<Table> {
    pairs.flatten().reduce(add)
}

/// Counts first digits.
#[inline(always)]
fn count_digits<L: Lens>(lens: &L, elements: &[u8], [even, odd]: &mut Pair) {
    let width = lens.width();
    let count = |table: &mut Table, element: &[u8]| {
        if let Some(count) = table.get_mut(lens.key(element).digit(0)) {
            *count = count.wrapping_add(1);
        }
    };
    let pairs = elements.chunks_exact(width.saturating_mul(2));
    let rest = pairs.remainder();
    for pair in pairs {
        let (first, second) = pair.split_at(width);
        count(even, first);
        count(odd, second);
    }
    if !rest.is_empty() {
        count(even, rest);
    }
}

struct Counter<'a, L> {
    lens: &'a L,
    digits: Pair,
}

impl<L: Lens> Tally for Counter<'_, L> {
    type Part = ();

    fn piece(&mut self, elements: &[u8]) {
        count_digits(self.lens, elements, &mut self.digits);
    }

    fn part(&mut self) {}
}

/// How many values are looked at together: few enough to stay close to the core.
const BLOCK: usize = 2048;

struct Surveyor<'a, L> {
    lens: &'a L,
    values: Vec<f64>,
    digits: Option<Pair>,
    survey: Survey,
}

impl<L: Lens> Surveyor<'_, L> {
    fn block(&mut self, elements: &[u8]) {
        let width = self.lens.width();
        let mut is_finite = true;
        let mut n_values = 0;
        for (value, element) in self.values.iter_mut().zip(elements.chunks_exact(width)) {
            *value = self.lens.value(element);
            is_finite &= value.is_finite();
            n_values += 1;
        }
        let values = self.values.get_mut(..n_values).unwrap_or_default();
        let values = if is_finite {
            if let Some(digits) = &mut self.digits {
                count_digits(self.lens, elements, digits);
            }
            values
        } else {
            let mut kept = 0;
            for (place, element) in elements.chunks_exact(width).enumerate() {
                let value = values.get(place).copied().unwrap_or(0.0);
                if !value.is_finite() {
                    self.survey.odd(value, 1);
                    continue;
                }
                if let Some(digits) = &mut self.digits {
                    count_digits(self.lens, element, digits);
                }
                if let Some(slot) = values.get_mut(kept) {
                    *slot = value;
                }
                kept += 1;
            }
            values.get_mut(..kept).unwrap_or_default()
        };
        let (moments, signs) = Moments::of(values);
        let finite = u64::try_from(values.len()).unwrap_or(u64::MAX);
        let block = Survey {
            finite,
            signs,
            moments,
            ..Survey::default()
        };
        self.survey = std::mem::take(&mut self.survey).merge(block);
    }
}

impl<L: Lens> Tally for Surveyor<'_, L> {
    type Part = Survey;

    fn piece(&mut self, elements: &[u8]) {
        for block in elements.chunks(BLOCK.saturating_mul(self.lens.width())) {
            self.block(block);
        }
    }

    fn part(&mut self) -> Survey {
        std::mem::take(&mut self.survey)
    }
}
