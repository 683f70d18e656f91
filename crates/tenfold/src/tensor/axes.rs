//! Dimensions and symmetries by name, number or letter.

use super::Tensor;
use super::symmetry::Symmetry;
use crate::error::{Error, Result};

impl Tensor {
    /// Index of the dimension that `word` refers to: by its name, its number from 0, or a letter
    /// `a`, `b`, `c`, … if no dimension has a name.
    #[must_use]
    pub fn axis(&self, word: &str) -> Option<usize> {
        let dims = self.dims();
        let is_called = |place: &usize| {
            let dim = dims.get(*place);
            dim.is_some_and(|dim| dim.name.as_deref() == Some(word))
        };
        let by_name = (0..dims.len()).find(is_called);
        let by_number = || word.parse().ok().filter(|place| *place < dims.len());
        let by_letter = || {
            let is_free = dims.iter().all(|dim| dim.name.is_none());
            let mut letters = ('a'..='z').take(dims.len()).map(String::from);
            is_free.then(|| letters.position(|letter| letter == word))?
        };
        by_name.or_else(by_number).or_else(by_letter)
    }

    /// An order of all dimensions, such as `0,2,1`, `x,z,y` or `acb`: names or numbers separated by
    /// commas, or one letter each.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a word refers to no dimension, or not every dimension occurs once.
    pub fn axes(&self, text: &str) -> Result<Vec<usize>> {
        let words: Vec<String> = if text.contains(',') || self.axis(text).is_some() {
            text.split(',').map(|word| word.trim().to_owned()).collect()
        } else {
            text.chars().map(String::from).collect()
        };
        let mut axes = Vec::with_capacity(words.len());
        for word in &words {
            let axis = self.axis(word).ok_or_else(|| self.no_dim(word))?;
            if axes.contains(&axis) {
                let why = format!("{text:?} names a dimension twice: {word}");
                return Err(Error::invalid(why));
            }
            axes.push(axis);
        }
        if axes.len() != self.dims().len() {
            let (n, ndim) = (axes.len(), self.dims().len());
            let why = format!("{text:?} names {n} of {ndim} dimensions");
            return Err(Error::invalid(why));
        }
        Ok(axes)
    }

    /// Parses a symmetry such as `bacd`, `-1,0` or `ba*`: an order of the dimensions, with a
    /// leading `-` for antisymmetry and a trailing `*` for conjugation.
    ///
    /// # Errors
    /// As [`Tensor::axes`].
    pub fn symmetry(&self, text: &str) -> Result<Symmetry> {
        let (sign, rest) = match text.strip_prefix('-') {
            Some(rest) => ("-", rest),
            None => ("", text),
        };
        let (order, star) = match rest.strip_suffix('*') {
            Some(order) => (order, "*"),
            None => (rest, ""),
        };
        Ok(Symmetry {
            permutation: self.axes(order)?,
            operation: format!("{sign}x{star}"),
            packed: false,
        })
    }

    /// The text that [`Tensor::symmetry`] parses to this symmetry: letters if no dimension has a
    /// name, else names, or numbers if some have none.
    #[must_use]
    pub fn symmetry_text(&self, symmetry: &Symmetry) -> String {
        let dims = self.dims();
        let has_letters = dims.len() <= 26 && dims.iter().all(|dim| dim.name.is_none());
        let has_names = dims.iter().all(|dim| dim.name.is_some());
        let word = |place: &usize| -> String {
            let letter = ('a'..='z').nth(*place).filter(|_| has_letters);
            let name = dims.get(*place).and_then(|dim| dim.name.clone());
            let name = letter.map(String::from).or(name.filter(|_| has_names));
            name.unwrap_or_else(|| place.to_string())
        };
        let words: Vec<String> = symmetry.permutation.iter().map(word).collect();
        let order = words.join(if has_letters { "" } else { "," });
        symmetry.operation.replacen('x', &order, 1)
    }

    pub(crate) fn no_dim(&self, word: &str) -> Error {
        let ndim = self.dims().len();
        let names: Vec<&str> = (self.dims().iter())
            .filter_map(|dim| dim.name.as_deref())
            .collect();
        let known = match names.as_slice() {
            [] => format!("there are {ndim}, from 0"),
            names => format!("they are called {}", names.join(", ")),
        };
        Error::invalid(format!("no dimension is {word:?}; {known}"))
    }
}
