//! Types that are laid over stored numbers.
#![deny(clippy::arithmetic_side_effects)]

use crate::dtype::{Arity, DType, Number};

/// A type that a part may have besides its stored numbers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) name: &'static str,
    /// The numbers that it is stored in.
    pub(super) over: Number,
    pub(super) means: Means,
}

/// What a type makes of its numbers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// Elements that the model knows.
    Elements(DType),
    /// Numbers of 8 bits or less that it has no word for: what they are called as a layout of bytes
    /// that are kept, and how many of them a byte has.
    Small { layout: &'static str, per_byte: u64 },
}

const fn elements(name: &'static str, over: Number, dtype: DType) -> Type {
    let means = Means::Elements(dtype);
    Type { name, over, means }
}

const fn small(name: &'static str, layout: &'static str, per_byte: u64) -> Type {
    Type {
        name,
        over: Number::U8,
        means: Means::Small { layout, per_byte },
    }
}

/// All registered types. The layouts are what safetensors calls the same numbers.
static TYPES: [Type; 9] = [
    elements("bool", Number::U8, DType::real(Number::Bool)),
    elements("complex64", Number::F32, DType::complex(Number::F32)),
    elements("complex128", Number::F64, DType::complex(Number::F64)),
    small("f8_e4m3fn", "F8_E4M3", 1),
    small("f8_e5m2", "F8_E5M2", 1),
    small("f8_e4m3fnuz", "F8_E4M3FNUZ", 1),
    small("f8_e5m2fnuz", "F8_E5M2FNUZ", 1),
    small("f8_e8m0", "F8_E8M0", 1),
    small("f4_e2m1", "F4", 2),
];

impl Type {
    pub(super) fn named(name: &str) -> Option<&'static Type> {
        TYPES.iter().find(|known| known.name == name)
    }

    /// The type whose bytes are kept under a layout.
    pub(super) fn of_layout(layout: &str) -> Option<&'static Type> {
        TYPES
            .iter()
            .find(|known| matches!(known.means, Means::Small { layout: own, .. } if own == layout))
    }

    /// The type that makes such elements of stored numbers, where one does.
    pub(super) fn of_elements(dtype: DType) -> Option<&'static Type> {
        TYPES
            .iter()
            .find(|known| known.means == Means::Elements(dtype))
    }
}

/// What the numbers of a part are.
pub(super) enum Element {
    /// Elements that the model knows.
    Known(DType),
    /// Small numbers that it has no word for.
    Small(&'static Type),
    /// Something else.
    Unknown,
}

impl Element {
    /// What a type makes of numbers; `None` if it is registered for others.
    pub(super) fn of(number: Number, name: Option<&str>) -> Option<Element> {
        let Some(name) = name else {
            return Some(Element::Known(DType::real(number)));
        };
        let Some(found) = Type::named(name) else {
            return Some(Element::Unknown);
        };
        (found.over == number).then_some(match found.means {
            Means::Elements(dtype) => Element::Known(dtype),
            Means::Small { .. } => Element::Small(found),
        })
    }
}

/// How numbers of such an element type are stored, and what type is laid over them; `None` if they
/// cannot be.
pub(super) fn stored_as(dtype: DType) -> Option<(Number, Option<&'static Type>)> {
    match Type::of_elements(dtype) {
        Some(found) => Some((found.over, Some(found))),
        None if dtype.arity == Arity::Real && is_stored(dtype.number) => Some((dtype.number, None)),
        None => None,
    }
}

/// Whether parts can have such numbers.
pub(super) fn is_stored(number: Number) -> bool {
    !matches!(
        number,
        Number::Bool | Number::U128 | Number::I128 | Number::F128
    )
}

/// The stored numbers that a short name such as `f32` stands for.
pub(super) fn stored(name: &str) -> Option<Number> {
    let mut all = Number::ALL.iter().copied();
    all.find(|number| is_stored(*number) && number.as_str() == name)
}
