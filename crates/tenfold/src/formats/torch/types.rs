//! The element types of PyTorch.

use crate::dtype::{DType, Number};

/// An element type.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Type {
    /// Its name in the module `torch`.
    pub(super) name: &'static str,
    /// The class of its storages, if it has one.
    storage: &'static str,
    pub(super) kind: Kind,
}

/// The type of elements in the model.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Numbers.
    Known(DType),
    /// Bytes without a type in the model, by the name in safetensors; with the number of cells per
    /// byte.
    Opaque(&'static str, u64),
    /// Another type, of this width.
    Foreign(u64),
}

impl Kind {
    /// The width of an element in bytes.
    pub(super) fn width(&self) -> u64 {
        match self {
            Kind::Known(dtype) => crate::bytes::to_u64(dtype.width()),
            Kind::Opaque(..) => 1,
            Kind::Foreign(width) => *width,
        }
    }
}

const fn real(name: &'static str, storage: &'static str, number: Number) -> Type {
    let kind = Kind::Known(DType::real(number));
    Type {
        name,
        storage,
        kind,
    }
}

const fn complex(name: &'static str, storage: &'static str, number: Number) -> Type {
    let kind = Kind::Known(DType::complex(number));
    Type {
        name,
        storage,
        kind,
    }
}

const fn other(name: &'static str, storage: &'static str, kind: Kind) -> Type {
    Type {
        name,
        storage,
        kind,
    }
}

static TYPES: &[Type] = &[
    real("float64", "DoubleStorage", Number::F64),
    real("float32", "FloatStorage", Number::F32),
    real("float16", "HalfStorage", Number::F16),
    real("bfloat16", "BFloat16Storage", Number::Bf16),
    real("int64", "LongStorage", Number::I64),
    real("int32", "IntStorage", Number::I32),
    real("int16", "ShortStorage", Number::I16),
    real("int8", "CharStorage", Number::I8),
    real("uint8", "ByteStorage", Number::U8),
    real("uint16", "", Number::U16),
    real("uint32", "", Number::U32),
    real("uint64", "", Number::U64),
    real("bool", "BoolStorage", Number::Bool),
    complex("complex32", "", Number::F16),
    complex("complex64", "ComplexFloatStorage", Number::F32),
    complex("complex128", "ComplexDoubleStorage", Number::F64),
    other("float8_e4m3fn", "", Kind::Opaque("F8_E4M3", 1)),
    other("float8_e5m2", "", Kind::Opaque("F8_E5M2", 1)),
    other("float8_e4m3fnuz", "", Kind::Opaque("F8_E4M3FNUZ", 1)),
    other("float8_e5m2fnuz", "", Kind::Opaque("F8_E5M2FNUZ", 1)),
    other("float8_e8m0fnu", "", Kind::Opaque("F8_E8M0", 1)),
    other("float4_e2m1fn_x2", "", Kind::Opaque("F4", 2)),
    other("quint8", "QUInt8Storage", Kind::Foreign(1)),
    other("qint8", "QInt8Storage", Kind::Foreign(1)),
    other("qint32", "QInt32Storage", Kind::Foreign(4)),
    other("quint4x2", "QUInt4x2Storage", Kind::Foreign(1)),
    other("quint2x4", "QUInt2x4Storage", Kind::Foreign(1)),
];

/// Untyped bytes, which a storage may have.
pub(super) static BYTES: Type = other("bytes", "UntypedStorage", Kind::Foreign(1));

impl Type {
    /// The type of an untyped storage that no tensor refines.
    pub(super) const UINT8: Type = real("uint8", "ByteStorage", Number::U8);

    /// The type named `torch.NAME`.
    pub(super) fn named(module: &str, name: &str) -> Option<&'static Type> {
        let mut all = TYPES.iter().filter(|_| module == "torch");
        all.find(|known| known.name == name)
    }

    /// The element type of a storage class.
    pub(super) fn of_storage(module: &str, class: &str) -> Option<&'static Type> {
        if !matches!(module, "torch" | "torch.cuda" | "torch.storage") || class.is_empty() {
            return None;
        }
        let mut all = TYPES.iter().chain([&BYTES]);
        all.find(|known| known.storage == class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_in_their_module_alone() {
        let half = Type::named("torch", "float16").unwrap();
        assert_eq!(half.kind, Kind::Known("f16".parse().unwrap()));
        assert_eq!(Type::named("numpy", "float16"), None);
        assert_eq!(Type::of_storage("torch", "HalfStorage"), Some(half));
        assert_eq!(Type::of_storage("torch", ""), None);
        assert_eq!(Type::of_storage("os", "HalfStorage"), None);
    }
}
