//! The banner: the words of the first line.
#![deny(clippy::arithmetic_side_effects)]

use super::MAGIC;
use crate::dtype::{Arity, DType, Kind, Number};
use crate::error::{Error, Result};
use crate::tensor::{Storage, Symmetry, Tensor};
use crate::wire::text::{Field, Line};

/// The content of the first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Banner {
    pub(super) layout: Layout,
    pub(super) field: Kinds,
    pub(super) symmetry: Triangle,
}

/// The listing of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Explicit entries.
    Coordinate,
    /// All entries.
    Array,
}

/// The type of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kinds {
    Real,
    Integer,
    Unsigned,
    Complex,
    Pattern,
}

/// The symmetry by which entries follow from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Triangle {
    General,
    Symmetric,
    Skew,
    Hermitian,
}

/// A property with words in the first line.
pub(super) trait Word: Copy + PartialEq + 'static {
    /// All words with their meanings; of several for one meaning the first is written.
    const WORDS: &'static [(&'static str, Self)];

    fn of(field: &Field) -> Result<Self> {
        let is_it = |word: &str| field.text.eq_ignore_ascii_case(word.as_bytes());
        match Self::WORDS.iter().find(|(word, _)| is_it(word)) {
            Some((_, meaning)) => Ok(*meaning),
            None => {
                let words: Vec<&str> = Self::WORDS.iter().map(|(word, _)| *word).collect();
                Err(field.wrong(&format!("is not one of {}", words.join(", "))))
            }
        }
    }

    fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(_, meaning)| *meaning == self);
        found.map_or("", |(word, _)| word)
    }
}

impl Word for Layout {
    const WORDS: &'static [(&'static str, Layout)] =
        &[("coordinate", Layout::Coordinate), ("array", Layout::Array)];
}

impl Word for Kinds {
    const WORDS: &'static [(&'static str, Kinds)] = &[
        ("real", Kinds::Real),
        ("double", Kinds::Real),
        ("integer", Kinds::Integer),
        ("unsigned-integer", Kinds::Unsigned),
        ("complex", Kinds::Complex),
        ("pattern", Kinds::Pattern),
    ];
}

impl Word for Triangle {
    const WORDS: &'static [(&'static str, Triangle)] = &[
        ("general", Triangle::General),
        ("symmetric", Triangle::Symmetric),
        ("skew-symmetric", Triangle::Skew),
        ("hermitian", Triangle::Hermitian),
    ];
}

impl Banner {
    /// Reads the first line.
    pub(super) fn read(line: &Line) -> Result<Banner> {
        let mut fields = line.fields();
        let magic = fields.need("the banner %%MatrixMarket")?;
        if magic.at != line.at || !magic.text.eq_ignore_ascii_case(MAGIC) {
            return Err(Error::malformed(
                line.at,
                "the file does not begin with %%MatrixMarket",
            ));
        }
        let object = fields.need("the word matrix")?;
        if !object.text.eq_ignore_ascii_case(b"matrix") {
            return Err(object.wrong("is not matrix"));
        }
        let layout = Layout::of(&fields.need("the layout")?)?;
        let kind = fields.need("the field")?;
        let field = Kinds::of(&kind)?;
        if layout == Layout::Array && field == Kinds::Pattern {
            return Err(kind.wrong("has no values, which an array needs"));
        }
        let word = fields.need("the symmetry")?;
        let symmetry = Triangle::of(&word)?;
        fields.end()?;
        if !symmetry.fits(field) {
            return Err(word.wrong(&format!("is no symmetry of {} entries", field.word())));
        }
        Ok(Banner {
            layout,
            field,
            symmetry,
        })
    }

    /// The first line for a tensor that the format can hold.
    pub(super) fn of(tensor: &Tensor) -> Result<Banner> {
        let dtype = tensor.dtype();
        let none = || Error::invalid(format!("no matrix of {dtype}"));
        let symmetry = Banner::symmetry_of(tensor).ok_or_else(none)?;
        let layout = match tensor.storage() {
            Storage::Dense { .. } => Layout::Array,
            _ => Layout::Coordinate,
        };
        let all = Kinds::WORDS.iter().map(|(_, field)| *field);
        let field = { all }.find(|field| field.dtype() == dtype);
        Ok(Banner {
            layout,
            field: field.ok_or_else(none)?,
            symmetry,
        })
    }

    /// The word for the symmetries of a tensor; `None` if there is none.
    pub(super) fn symmetry_of(tensor: &Tensor) -> Option<Triangle> {
        let [symmetry] = tensor.symmetries() else {
            return tensor.symmetries().is_empty().then_some(Triangle::General);
        };
        if symmetry.permutation != [1, 0] || !symmetry.packed {
            return None;
        }
        let dtype = tensor.dtype();
        let has_sign = matches!(dtype.number.kind(), Kind::Signed | Kind::Float);
        match symmetry.operation.as_str() {
            "x" => Some(Triangle::Symmetric),
            "-x" if has_sign => Some(Triangle::Skew),
            "x*" if dtype.arity == Arity::Complex => Some(Triangle::Hermitian),
            _ => None,
        }
    }
}

impl Kinds {
    /// The element type.
    pub(super) fn dtype(self) -> DType {
        match self {
            Kinds::Real => DType::real(Number::F64),
            Kinds::Integer => DType::real(Number::I64),
            Kinds::Unsigned => DType::real(Number::U64),
            Kinds::Complex => DType::complex(Number::F64),
            Kinds::Pattern => DType::real(Number::Bool),
        }
    }
}

impl Triangle {
    /// Whether it is valid for entries of this type.
    fn fits(self, field: Kinds) -> bool {
        match self {
            Triangle::General | Triangle::Symmetric => true,
            Triangle::Skew => !matches!(field, Kinds::Unsigned | Kinds::Pattern),
            Triangle::Hermitian => field == Kinds::Complex,
        }
    }

    /// The symmetries of the tensor.
    pub(super) fn symmetries(self) -> Vec<Symmetry> {
        let operation = match self {
            Triangle::General => return Vec::new(),
            Triangle::Symmetric => "x",
            Triangle::Skew => "-x",
            Triangle::Hermitian => "x*",
        };
        vec![Symmetry {
            permutation: vec![1, 0],
            operation: operation.into(),
            packed: true,
        }]
    }

    /// Whether the entry at this position is stored.
    pub(super) fn stores(self, row: u64, column: u64) -> bool {
        match self {
            Triangle::General => true,
            Triangle::Symmetric | Triangle::Hermitian => row >= column,
            Triangle::Skew => row > column,
        }
    }

    /// The number of entries in an array.
    pub(super) fn count(self, rows: u64, columns: u64) -> u128 {
        let (rows, columns) = (u128::from(rows), u128::from(columns));
        let factor = match self {
            Triangle::General => return rows.saturating_mul(columns),
            Triangle::Symmetric | Triangle::Hermitian => columns.saturating_add(1),
            Triangle::Skew => columns.saturating_sub(1),
        };
        rows.saturating_mul(factor).wrapping_div(2)
    }
}
