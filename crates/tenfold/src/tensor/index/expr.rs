//! Index expressions as in NumPy: `0:3, ::2, -1`.

use super::slice::Slice;
use crate::error::{Error, Result};
use crate::tensor::dim::Dim;

/// The index expression of one dimension.
///
/// ```
/// # use tenfold::IndexExpr;
/// let picks = IndexExpr::list("0:3, ::-2, -1")?;
/// assert_eq!(picks.last(), Some(&IndexExpr::Index(-1)));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexExpr {
    /// One index, negative if counted from the end. The dimension is dropped.
    Index(i128),
    /// `start:stop:step`, `start` and `stop` negative if counted from the end, clipped to the
    /// dimension.
    Range {
        /// The first index; by default the first in the direction of the step.
        start: Option<i128>,
        /// The index before which to stop; by default none.
        stop: Option<i128>,
        /// The step; never zero.
        step: i64,
    },
    /// `...`: all of the dimensions that the other expressions leave.
    Rest,
    /// `name=…`: a label, an index or a range of the dimension with this name.
    Named(String, String),
}

impl IndexExpr {
    /// All of one dimension.
    pub const ALL: IndexExpr = IndexExpr::Range {
        start: None,
        stop: None,
        step: 1,
    };

    /// Parses expressions separated by commas, with or without brackets around them.
    ///
    /// # Errors
    /// [`Error::Invalid`] if one of them cannot be parsed.
    pub fn list(text: &str) -> Result<Vec<IndexExpr>> {
        let text = text.trim();
        let inside = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        let text = inside.unwrap_or(text).trim();
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let text = text.strip_suffix(',').unwrap_or(text);
        text.split(',').map(|pick| one(pick.trim())).collect()
    }
}

fn one(text: &str) -> Result<IndexExpr> {
    if text == "..." || text == "…" {
        return Ok(IndexExpr::Rest);
    }
    if let Some((name, what)) = text.split_once('=') {
        return Ok(IndexExpr::Named(name.trim().into(), what.trim().into()));
    }
    by_position(text)
}

/// Parses an index or a range.
fn by_position(text: &str) -> Result<IndexExpr> {
    let wanted = || Error::invalid(format!("{text:?} is no index or slice, such as 0:3 or -1"));
    let number = |text: &str| text.parse::<i128>().map_err(|_| wanted());
    let maybe = |text: &str| match text.trim() {
        "" => Ok(None),
        text => number(text).map(Some),
    };
    let parts: Vec<&str> = text.split(':').collect();
    let (start, stop, step) = match parts.as_slice() {
        [index] => return number(index.trim()).map(IndexExpr::Index),
        [start, stop] => (maybe(start)?, maybe(stop)?, None),
        [start, stop, step] => (maybe(start)?, maybe(stop)?, maybe(step)?),
        _ => return Err(wanted()),
    };
    let step = match step {
        Some(0) => {
            return Err(Error::invalid(format!(
                "{text:?}: a step of 0 goes nowhere"
            )));
        }
        // Any step beyond all dimensions is equivalent.
        Some(step) => i64::try_from(step).unwrap_or(if step < 0 { -i64::MAX } else { i64::MAX }),
        None => 1,
    };
    Ok(IndexExpr::Range { start, stop, step })
}

/// A resolved index expression of one dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// One index; the dimension is dropped.
    Place(u64),
    /// A slice.
    Places(Slice),
    /// The blocks under one label; the dimension is dropped.
    Label(String),
    /// All labels.
    Labels,
}

impl Resolved {
    /// Whether the dimension is kept.
    pub(crate) fn stays(&self) -> bool {
        matches!(self, Resolved::Places(_) | Resolved::Labels)
    }

    /// Whether the dimension is kept in full.
    pub(crate) fn is_all(&self, dim: &Dim) -> bool {
        match self {
            Resolved::Places(slice) => dim.indexed_size().map(Slice::all) == Some(*slice),
            Resolved::Labels => true,
            Resolved::Place(_) | Resolved::Label(_) => false,
        }
    }

    /// The slice of an indexed dimension.
    pub(crate) fn slice(&self) -> Option<Slice> {
        match self {
            Resolved::Place(place) => Some(Slice::one(*place)),
            Resolved::Places(slice) => Some(*slice),
            Resolved::Label(_) | Resolved::Labels => None,
        }
    }
}

/// Resolves index expressions: named items first, positional items fill the remaining dimensions,
/// the rest is `:`.
pub(crate) fn taken(picks: &[IndexExpr], dims: &[Dim]) -> Result<Vec<Resolved>> {
    let mut found: Vec<Option<Resolved>> = vec![None; dims.len()];
    for pick in picks {
        if let IndexExpr::Named(name, what) = pick {
            let place = by_name(name, dims)?;
            let (Some(slot), Some(dim)) = (found.get_mut(place), dims.get(place)) else {
                continue;
            };
            if slot.is_some() {
                return Err(Error::invalid(format!("{name} is picked twice")));
            }
            *slot = Some(match dim.indexed_size() {
                None => Resolved::Label(what.clone()),
                Some(_) => take(&by_position(what)?, place, dim)?,
            });
        }
    }
    let left: Vec<usize> = (0..dims.len())
        .filter(|place| found.get(*place).is_some_and(Option::is_none))
        .collect();
    for (place, pick) in left.iter().zip(spread(picks, left.len())?) {
        if let (Some(slot), Some(dim)) = (found.get_mut(*place), dims.get(*place)) {
            *slot = Some(take(&pick, *place, dim)?);
        }
    }
    Ok(found.into_iter().flatten().collect())
}

fn by_name(name: &str, dims: &[Dim]) -> Result<usize> {
    let is_it = |dim: &Dim| dim.name.as_deref() == Some(name);
    dims.iter().position(is_it).ok_or_else(|| {
        let names: Vec<&str> = dims.iter().filter_map(|dim| dim.name.as_deref()).collect();
        let known = match names.as_slice() {
            [] => "dimensions have no names here".into(),
            names => format!("there are {}", names.join(", ")),
        };
        Error::invalid(format!("no dimension is called {name:?}: {known}"))
    })
}

/// The positional items, one for each of `n_left` dimensions.
fn spread(picks: &[IndexExpr], n_left: usize) -> Result<Vec<IndexExpr>> {
    let places: Vec<&IndexExpr> = picks
        .iter()
        .filter(|pick| !matches!(pick, IndexExpr::Named(..)))
        .collect();
    let n_rests = places
        .iter()
        .filter(|pick| ***pick == IndexExpr::Rest)
        .count();
    if n_rests > 1 {
        return Err(Error::invalid("... can stand once"));
    }
    let n_given = places.len().saturating_sub(n_rests);
    let Some(missing) = n_left.checked_sub(n_given) else {
        let why = format!("{n_given} slices for {n_left} dimensions");
        return Err(Error::invalid(why));
    };
    let before = places.iter().take_while(|pick| ***pick != IndexExpr::Rest);
    let after = places
        .iter()
        .skip_while(|pick| ***pick != IndexExpr::Rest)
        .skip(1);
    let rest = std::iter::repeat_n(&IndexExpr::ALL, missing);
    Ok(before
        .copied()
        .chain(rest)
        .chain(after.copied())
        .cloned()
        .collect())
}

fn take(pick: &IndexExpr, place: usize, dim: &Dim) -> Result<Resolved> {
    let called = || match &dim.name {
        Some(name) => format!("dimension {place} ({name})"),
        None => format!("dimension {place}"),
    };
    let Some(size) = dim.indexed_size() else {
        return match pick {
            pick if *pick == IndexExpr::ALL => Ok(Resolved::Labels),
            _ => {
                let name = dim.name.as_deref().unwrap_or_default();
                let why = format!("{} has labels: take one with {name}=LABEL", called());
                Err(Error::invalid(why))
            }
        };
    };
    match pick {
        IndexExpr::Index(index) => {
            let from_start = if *index < 0 {
                index.checked_add(size.into())
            } else {
                Some(*index)
            };
            let found = from_start.and_then(|index| u64::try_from(index).ok());
            let found = found.filter(|index| *index < size).ok_or_else(|| {
                let why = format!(
                    "index {index} lies outside {}, whose size is {size}",
                    called()
                );
                Error::invalid(why)
            })?;
            Ok(Resolved::Place(found))
        }
        IndexExpr::Range { start, stop, step } => {
            Ok(Resolved::Places(clipped(*start, *stop, *step, size)))
        }
        IndexExpr::Rest | IndexExpr::Named(..) => Ok(Resolved::Places(Slice::all(size))),
    }
}

/// A range clipped to a dimension by NumPy's rules.
fn clipped(start: Option<i128>, stop: Option<i128>, step: i64, size: u64) -> Slice {
    let size = i128::from(size);
    // A descending range ends before index 0, and begins at the last index at most.
    let (least, most) = if step > 0 {
        (0, size)
    } else {
        (-1, size.saturating_sub(1))
    };
    let clip = |at: i128| match at {
        at if at < 0 => at.saturating_add(size).max(least),
        at => at.min(most),
    };
    let (first, last) = if step > 0 {
        (least, most)
    } else {
        (most, least)
    };
    let start = start.map_or(first, clip);
    let stop = stop.map_or(last, clip);
    let far = if step > 0 {
        stop.saturating_sub(start)
    } else {
        start.saturating_sub(stop)
    };
    let stride = i128::from(step.unsigned_abs().max(1));
    let count = if far <= 0 {
        0
    } else {
        far.saturating_sub(1) / stride + 1
    };
    let slice = Slice {
        start: u64::try_from(start).unwrap_or(0),
        count: u64::try_from(count).unwrap_or(0),
        step,
    };
    match slice.count {
        0 => Slice::range(0..0),
        1 => Slice::one(slice.start),
        _ => slice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The indices of a range, computed by walking.
    fn walk(start: i128, stop: i128, step: i64, size: u64) -> Vec<u64> {
        let size = i128::from(size);
        let turned = |at: i128| if at < 0 { at + size } else { at };
        let mut found = Vec::new();
        let mut at = turned(start);
        // A walk may enter the dimension from before it; NumPy clips the start instead.
        at = if step > 0 {
            at.max(0)
        } else {
            at.min(size - 1)
        };
        let end = turned(stop);
        while if step > 0 { at < end } else { at > end } {
            if at < 0 || at >= size {
                break;
            }
            found.push(u64::try_from(at).unwrap());
            at += i128::from(step);
        }
        found
    }

    #[test]
    fn ranges_are_cut_off_as_numpy_does() {
        for size in 0..5 {
            for start in -7..8 {
                for stop in -7..8 {
                    for step in [-3, -2, -1, 1, 2, 3] {
                        let slice = clipped(Some(start), Some(stop), step, size);
                        let places: Vec<u64> = (0..slice.count)
                            .map(|item| slice.place(item).unwrap())
                            .collect();
                        assert_eq!(
                            places,
                            walk(start, stop, step, size),
                            "{start}:{stop}:{step} of {size}"
                        );
                        slice.check(size).unwrap();
                    }
                }
            }
        }
    }

    #[test]
    fn a_range_without_ends_is_the_whole_dimension_in_either_direction() {
        let places = |step, size| {
            let slice = clipped(None, None, step, size);
            (0..slice.count)
                .map(|item| slice.place(item).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(places(1, 3), [0, 1, 2]);
        assert_eq!(places(-1, 3), [2, 1, 0]);
        assert_eq!(places(-2, 4), [3, 1]);
        assert_eq!(places(i64::MAX, 4), [0]);
        assert_eq!(places(-1, 0), [0; 0]);
    }

    fn text(dims: &[Dim], text: &str) -> String {
        match IndexExpr::list(text).and_then(|picks| taken(&picks, dims)) {
            Ok(taken) => format!("{taken:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn picks_go_to_their_dimensions() {
        let dims = [2, 3, 4].map(Dim::indexed);
        let all = |text_of| text(&dims, text_of);
        assert_eq!(all("1"), all("[1, ...]"));
        assert_eq!(all("1"), all("1,:,:"));
        assert_eq!(all("...,-1"), all(":,:,3,"));
        assert_eq!(all("0,...,1:2"), all("0,:,1:2"));
        assert_eq!(all(""), all("..."));
        let named = [
            Dim::indexed(2).named("x"),
            Dim::indexed(3).named("y"),
            Dim::mapped("cat"),
        ];
        let all = |text_of| text(&named, text_of);
        assert_eq!(all("y=1, 0"), all("0, 1"));
        assert_eq!(all("y=::2"), all(":, ::2, :"));
        assert!(
            all("cat=a:b").contains("Label(\"a:b\")"),
            "{}",
            all("cat=a:b")
        );
    }

    #[test]
    fn what_is_no_pick_says_why() {
        let dims = [
            Dim::indexed(2).named("x"),
            Dim::indexed(3),
            Dim::mapped("cat"),
        ];
        for (pick, why) in [
            ("2", "index 2 lies outside dimension 0 (x), whose size is 2"),
            ("0,-4", "index -4 lies outside dimension 1, whose size is 3"),
            ("0:3:0", "\"0:3:0\": a step of 0 goes nowhere"),
            ("a", "\"a\" is no index or slice, such as 0:3 or -1"),
            ("0,,1", "\"\" is no index or slice, such as 0:3 or -1"),
            (
                "0:1:2:3",
                "\"0:1:2:3\" is no index or slice, such as 0:3 or -1",
            ),
            ("...,...", "... can stand once"),
            (":,:,:,:", "4 slices for 3 dimensions"),
            ("z=1", "no dimension is called \"z\": there are x, cat"),
            ("x=0,x=1", "x is picked twice"),
            (
                ":,:,0",
                "dimension 2 (cat) has labels: take one with cat=LABEL",
            ),
        ] {
            assert_eq!(text(&dims, pick), why);
        }
    }
}
