//! The layout of values, as given by options.

use crate::bytes::Endian;
use crate::dtype::{DType, Number};
use crate::error::{Error, Result};
use crate::format::Options;
use crate::tensor::Order;

/// The layout of values in a file, as far as it was given.
pub(super) struct Layout {
    pub(super) dtype: Option<DType>,
    /// The sizes, of which one may be open.
    pub(super) shape: Option<Vec<Option<u64>>>,
    pub(super) order: Order,
    pub(super) endian: Endian,
    pub(super) offset: u64,
}

impl Layout {
    pub(super) fn of(options: &Options) -> Result<Layout> {
        let orders = [("C", Order::Row), ("F", Order::Column)];
        let endians = [("little", Endian::Little), ("big", Endian::Big)];
        Ok(Layout {
            dtype: options.get("dtype").map(dtype).transpose()?,
            shape: options.get("shape").map(shape).transpose()?,
            order: options.choose("order", &orders)?.unwrap_or(Order::Row),
            endian: options
                .choose("endian", &endians)?
                .unwrap_or(Endian::Little),
            offset: match options.get("offset") {
                None => 0,
                Some(text) => text.parse().map_err(|_| {
                    Error::invalid(format!("offset is {text}, not a number of bytes"))
                })?,
            },
        })
    }

    /// The options by which the written tensor is read again.
    pub(super) fn options(&self, dtype: DType, sizes: &[u64]) -> Vec<(&'static str, String)> {
        let mut options = vec![("dtype", dtype.to_string()), ("shape", shape_word(sizes))];
        if self.order == Order::Column && sizes.len() > 1 {
            options.push(("order", "F".into()));
        }
        if self.endian == Endian::Big && dtype.number.width() > 1 {
            options.push(("endian", "big".into()));
        }
        if self.offset > 0 {
            options.push(("offset", self.offset.to_string()));
        }
        options
    }

    /// The same as one text, without the size of a single dimension, which is implied.
    pub(super) fn words(&self, dtype: DType, sizes: &[u64]) -> String {
        let options = self.options(dtype, sizes).into_iter();
        let options = options.filter(|(name, _)| *name != "shape" || sizes.len() != 1);
        let words: Vec<String> = options
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        words.join(",")
    }
}

/// Sizes as a value of the option; a scalar has none.
pub(super) fn shape_word(sizes: &[u64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    sizes.join("x")
}

fn dtype(word: &str) -> Result<DType> {
    word.parse().map_err(|_| {
        let names: Vec<&str> = Number::ALL.iter().map(|number| number.as_str()).collect();
        let names = names.join(", ");
        Error::invalid(format!(
            "dtype is {word}, not one of {names}, c64, c128, c256, complex<f16> and the like"
        ))
    })
}

fn shape(word: &str) -> Result<Vec<Option<u64>>> {
    let wrong = || Error::invalid(format!("shape is {word}, not sizes such as 3x4 or 3x?"));
    if word.is_empty() {
        return Ok(Vec::new());
    }
    let size = |word: &str| match word.trim() {
        "-1" | "?" => Ok(None),
        number => number.parse().map(Some).map_err(|_| wrong()),
    };
    let sizes: Vec<Option<u64>> = word.split(['x', ',']).map(size).collect::<Result<_>>()?;
    match sizes.iter().filter(|size| size.is_none()).count() {
        0 | 1 => Ok(sizes),
        _ => Err(Error::invalid(format!(
            "shape is {word}, and only one size can be left open"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parted_by_crosses_or_commas_and_one_may_be_open() {
        for word in ["3x?x2", "3,-1,2", "3x -1 x2"] {
            assert_eq!(shape(word).unwrap(), [Some(3), None, Some(2)], "{word}");
        }
        assert!(shape("").unwrap().is_empty());
        for word in [
            "3x",
            "x",
            "-2",
            "3x?x?",
            "3 4",
            "1e3",
            "99999999999999999999",
        ] {
            assert!(shape(word).is_err(), "{word}");
        }
    }

    #[test]
    fn what_is_said_again_is_what_differs_from_the_usual() {
        let mut options = Options::default();
        for (name, value) in [("order", "F"), ("endian", "big"), ("offset", "16")] {
            options.set(name, value);
        }
        let layout = Layout::of(&options).unwrap();
        let words = layout.words("c64".parse().unwrap(), &[3, 4]);
        assert_eq!(words, "dtype=c64,shape=3x4,order=F,endian=big,offset=16");
        let words = layout.words(DType::real(Number::U8), &[7]);
        assert_eq!(words, "dtype=u8,offset=16");
        let layout = Layout::of(&Options::default()).unwrap();
        assert_eq!(
            layout.words(DType::real(Number::F64), &[]),
            "dtype=f64,shape="
        );
    }

    #[test]
    fn what_is_no_layout_is_refused_by_its_name() {
        for (name, value, why) in [
            ("order", "f", "order is f, not one of C, F"),
            (
                "endian",
                "middle",
                "endian is middle, not one of little, big",
            ),
            ("offset", "-4", "offset is -4, not a number of bytes"),
        ] {
            let mut options = Options::default();
            options.set(name, value);
            assert_eq!(Layout::of(&options).err().unwrap().to_string(), why);
        }
    }
}
