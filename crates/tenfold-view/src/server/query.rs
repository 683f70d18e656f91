//! URL query parameters.

use std::ops::Range;

use axum::http::Uri;

use super::response::HttpError;
use crate::image::Region;

/// Names and values, in order.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn of(uri: &Uri) -> Query {
        let text = uri.query().unwrap_or_default();
        Query(
            form_urlencoded::parse(text.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// The first value of a name.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(its, _)| its == name);
        found.map(|(_, value)| value.as_str())
    }

    /// All values of a name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let pairs = self.0.iter().filter(move |(its, _)| its == name);
        pairs.map(|(_, value)| value.as_str())
    }

    /// An optional number.
    pub(super) fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, HttpError> {
        let read = |text: &str| {
            let wrong = |_| HttpError::asked(format!("{name} is no number that can be meant"));
            text.parse().map_err(wrong)
        };
        self.get(name).map(read).transpose()
    }

    /// A required number.
    pub(super) fn wanted<T: std::str::FromStr>(&self, name: &str) -> Result<T, HttpError> {
        self.number(name)?
            .ok_or_else(|| HttpError::asked(format!("{name} is missing")))
    }

    /// Two comma-separated numbers, such as a file and a tensor.
    pub(super) fn pair(&self, name: &str) -> Result<Option<(usize, usize)>, HttpError> {
        let read = |text: &str| {
            let (first, second) = text.split_once(',')?;
            Some((first.parse().ok()?, second.parse().ok()?))
        };
        match self.get(name) {
            None => Ok(None),
            Some(text) => match read(text) {
                Some(pair) => Ok(Some(pair)),
                None => Err(HttpError::asked(format!("{name} is FILE,TENSOR"))),
            },
        }
    }

    /// Positions along all dimensions, for each `at`.
    pub(super) fn places(&self) -> Result<Vec<Vec<u64>>, HttpError> {
        let wrong = |_| HttpError::asked("at is a place for every dimension, with commas between");
        let read = |text: &str| match text {
            "" => Ok(Vec::new()),
            text => text.split(',').map(str::parse).collect::<Result<_, _>>(),
        };
        self.all("at")
            .map(|text| read(text).map_err(wrong))
            .collect()
    }

    /// Whether the query contains a region.
    pub(super) fn has_region(&self) -> bool {
        ["rows", "cols", "at", "r0", "r1", "c0", "c1"]
            .iter()
            .any(|name| self.get(name).is_some())
    }

    /// The region; the full two axes if no ends are given.
    pub(super) fn region(&self, sizes: &[u64]) -> Result<Region, HttpError> {
        let rows: Option<usize> = self.number("rows")?;
        let columns: Option<usize> = self.number("cols")?;
        let range = |axis: Option<usize>, from: &str, to: &str| {
            let size = axis
                .and_then(|axis| sizes.get(axis))
                .map_or(1, |size| *size);
            let (from, to) = (self.number(from)?, self.number(to)?);
            Ok::<Range<u64>, HttpError>(from.unwrap_or(0)..to.unwrap_or(size))
        };
        let at = self.places()?.into_iter().next();
        let region = Region {
            rows,
            columns,
            at: at.unwrap_or_else(|| vec![0; sizes.len()]),
            down: range(rows, "r0", "r1")?,
            right: range(columns, "c0", "c1")?,
        };
        region.check(sizes)?;
        Ok(region)
    }
}
