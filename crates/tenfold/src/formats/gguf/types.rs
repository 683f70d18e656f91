//! Types of tensors.

use std::borrow::Cow;

use crate::dtype::{Block, DType, Number};
use crate::tensor::{Storage, Tensor};

/// A type by its number in the file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Type {
    Plain(Number),
    Blocks(&'static Block),
    /// An unknown type, by its number: its values are kept as they are.
    Unknown(u32),
}

/// The prefix of the names of unknown types, followed by the number.
const UNKNOWN: &str = "ggml_type_";

/// The numbers of the plain types.
const PLAIN: [(u32, Number); 8] = [
    (0, Number::F32),
    (1, Number::F16),
    (24, Number::I8),
    (25, Number::I16),
    (26, Number::I32),
    (27, Number::I64),
    (28, Number::F64),
    (30, Number::Bf16),
];

/// The numbers of the quantized types.
const BLOCKS: [(u32, &str); 26] = [
    (2, "Q4_0"),
    (3, "Q4_1"),
    (6, "Q5_0"),
    (7, "Q5_1"),
    (8, "Q8_0"),
    (9, "Q8_1"),
    (10, "Q2_K"),
    (11, "Q3_K"),
    (12, "Q4_K"),
    (13, "Q5_K"),
    (14, "Q6_K"),
    (15, "Q8_K"),
    (16, "IQ2_XXS"),
    (17, "IQ2_XS"),
    (18, "IQ3_XXS"),
    (19, "IQ1_S"),
    (20, "IQ4_NL"),
    (21, "IQ3_S"),
    (22, "IQ2_S"),
    (23, "IQ4_XS"),
    (29, "IQ1_M"),
    (34, "TQ1_0"),
    (35, "TQ2_0"),
    (39, "MXFP4"),
    (40, "NVFP4"),
    (41, "Q1_0"),
];

impl Type {
    /// The type that a file gives this number.
    pub(super) fn numbered(wanted: u32) -> Type {
        if let Some((_, number)) = PLAIN.iter().find(|(code, _)| *code == wanted) {
            return Type::Plain(*number);
        }
        let found = BLOCKS.iter().find(|(code, _)| *code == wanted);
        match found.and_then(|(_, name)| Block::named(name)) {
            Some(block) => Type::Blocks(block),
            None => Type::Unknown(wanted),
        }
    }

    /// The type of a tensor, if there is one.
    pub(super) fn of(tensor: &Tensor) -> Option<Type> {
        match tensor.storage() {
            Storage::Opaque { layout, .. } => {
                if let Some(code) = unknown_code(layout) {
                    return Some(Type::Unknown(code));
                }
                let is_it = |(_, name): &&(u32, &str)| name == layout;
                let (_, name) = BLOCKS.iter().find(is_it)?;
                Some(Type::Blocks(Block::named(name)?))
            }
            _ => {
                let is_it = |(_, number): &&(u32, Number)| DType::real(*number) == tensor.dtype();
                let (_, number) = PLAIN.iter().find(is_it)?;
                Some(Type::Plain(*number))
            }
        }
    }

    /// Its number in the file.
    pub(super) fn code(self) -> Option<u32> {
        match self {
            Type::Plain(number) => {
                let found = PLAIN.iter().find(|(_, own)| *own == number);
                found.map(|(code, _)| *code)
            }
            Type::Blocks(block) => {
                let found = BLOCKS.iter().find(|(_, name)| *name == block.name);
                found.map(|(code, _)| *code)
            }
            Type::Unknown(code) => Some(code),
        }
    }

    pub(super) fn name(self) -> Cow<'static, str> {
        match self {
            Type::Plain(number) => number.as_str().into(),
            Type::Blocks(block) => block.name.into(),
            Type::Unknown(code) => match removed(code) {
                Some(name) => name.into(),
                None => format!("{UNKNOWN}{code}").into(),
            },
        }
    }

    /// The length of a tensor in bytes; `None` if its rows are no whole blocks, on overflow, or if
    /// the type is unknown.
    pub(super) fn len(self, sizes: &[u64]) -> Option<u64> {
        match self {
            Type::Plain(number) => {
                let width = u64::try_from(number.width()).ok()?;
                let mut sizes = sizes.iter();
                sizes.try_fold(width, |len, size| len.checked_mul(*size))
            }
            Type::Blocks(block) => block.len(sizes),
            Type::Unknown(_) => None,
        }
    }
}

/// Types that were removed from ggml.
const REMOVED: [(u32, &str); 8] = [
    (4, "Q4_2"),
    (5, "Q4_3"),
    (31, "Q4_0_4_4"),
    (32, "Q4_0_4_8"),
    (33, "Q4_0_8_8"),
    (36, "IQ4_NL_4_4"),
    (37, "IQ4_NL_4_8"),
    (38, "IQ4_NL_8_8"),
];

fn removed(wanted: u32) -> Option<&'static str> {
    let found = REMOVED.iter().find(|(code, _)| *code == wanted);
    found.map(|(_, name)| *name)
}

/// The number of an unknown type, by its name.
fn unknown_code(name: &str) -> Option<u32> {
    if let Some((code, _)) = REMOVED.iter().find(|(_, own)| *own == name) {
        return Some(*code);
    }
    let code = name.strip_prefix(UNKNOWN)?.parse().ok()?;
    match Type::numbered(code) {
        Type::Unknown(_) => Some(code),
        Type::Plain(_) | Type::Blocks(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_that_of_one_type() {
        let codes = PLAIN.iter().map(|own| own.0);
        for code in codes.chain(BLOCKS.iter().map(|own| own.0)) {
            let found = Type::numbered(code);
            assert!(!matches!(found, Type::Unknown(_)));
            assert_eq!(found.code(), Some(code));
            assert!(removed(code).is_none());
        }
    }

    #[test]
    fn a_type_that_is_not_known_keeps_its_number() {
        for (code, name) in [(4, "Q4_2"), (38, "IQ4_NL_8_8"), (42, "ggml_type_42")] {
            assert_eq!(Type::numbered(code).name(), name);
            assert_eq!(unknown_code(name), Some(code));
        }
        assert_eq!(unknown_code("ggml_type_2"), None);
        assert_eq!(unknown_code("ggml_type_x"), None);
    }
}
