//! Logical types over stored numbers.
#![deny(clippy::arithmetic_side_effects)]

use crate::dtype::{Arity, DType, Number};

/// A logical type of a part.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) name: &'static str,
    /// The stored number type.
    pub(super) over: Number,
    pub(super) means: Means,
}

/// The meaning of a type.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// Elements of a type that the model has.
    Elements(DType),
    /// Numbers of at most 8 bits that the model has no type for: the layout name under which they
    /// are kept as opaque bytes, and their number per byte.
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

/// All registered types. The layouts are named as in safetensors.
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

    /// The type that makes such elements of stored numbers, if there is one.
    pub(super) fn of_elements(dtype: DType) -> Option<&'static Type> {
        TYPES
            .iter()
            .find(|known| known.means == Means::Elements(dtype))
    }
}

/// The elements of a part.
pub(super) enum Element {
    /// Elements of a type that the model has.
    Known(DType),
    /// Small numbers that it has no type for.
    Small(&'static Type),
    /// Unknown.
    Unknown,
}

impl Element {
    /// The elements of a type over stored numbers; `None` if it is registered for others.
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

/// The stored numbers for an element type, and its logical type; `None` if it cannot be stored.
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

/// The stored number type of a short name such as `f32`.
pub(super) fn stored(name: &str) -> Option<Number> {
    let mut all = Number::ALL.iter().copied();
    all.find(|number| is_stored(*number) && number.as_str() == name)
}
