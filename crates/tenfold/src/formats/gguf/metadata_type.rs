//! Types of metadata values.

use crate::meta::Value;

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Whole(Whole),
    F32,
    F64,
    Bool,
    Text,
    /// Items of one type; `None` for arrays of arrays of several types.
    Array(Option<Box<Kind>>),
}

/// The integer types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
}

/// The number of a type in a file, and its name.
const PLAIN: [(u32, &str, Kind); 12] = [
    (0, "u8", Kind::Whole(Whole::U8)),
    (1, "i8", Kind::Whole(Whole::I8)),
    (2, "u16", Kind::Whole(Whole::U16)),
    (3, "i16", Kind::Whole(Whole::I16)),
    (4, "u32", Kind::Whole(Whole::U32)),
    (5, "i32", Kind::Whole(Whole::I32)),
    (6, "f32", Kind::F32),
    (7, "bool", Kind::Bool),
    (8, "text", Kind::Text),
    (10, "u64", Kind::Whole(Whole::U64)),
    (11, "i64", Kind::Whole(Whole::I64)),
    (12, "f64", Kind::F64),
];

/// The number of the array type.
pub(super) const ARRAY: u32 = 9;

impl Whole {
    pub(super) fn width(self) -> usize {
        match self {
            Whole::U8 | Whole::I8 => 1,
            Whole::U16 | Whole::I16 => 2,
            Whole::U32 | Whole::I32 => 4,
            Whole::U64 | Whole::I64 => 8,
        }
    }

    pub(super) fn is_signed(self) -> bool {
        matches!(self, Whole::I8 | Whole::I16 | Whole::I32 | Whole::I64)
    }

    fn has_room(self, number: i128) -> bool {
        let bits = self.width().saturating_mul(8);
        let (least, most) = if self.is_signed() {
            (
                -1_i128 << bits.saturating_sub(1),
                1_i128 << bits.saturating_sub(1),
            )
        } else {
            (0, 1_i128 << bits)
        };
        (least..most).contains(&number)
    }
}

impl Kind {
    /// The plain type that a file gives this number.
    pub(super) fn numbered(wanted: u32) -> Option<Kind> {
        let found = PLAIN.iter().find(|(code, _, _)| *code == wanted);
        found.map(|(_, _, kind)| kind.clone())
    }

    /// Its number in a file.
    pub(super) fn code(&self) -> u32 {
        let found = PLAIN.iter().find(|(_, _, kind)| kind == self);
        found.map_or(ARRAY, |(code, _, _)| *code)
    }

    /// The width of its values in bytes, if it is fixed.
    pub(super) fn width(&self) -> Option<usize> {
        match self {
            Kind::Whole(whole) => Some(whole.width()),
            Kind::Bool => Some(1),
            Kind::F32 => Some(4),
            Kind::F64 => Some(8),
            Kind::Text | Kind::Array(_) => None,
        }
    }

    /// Its name, such as `u8` or `[[text`; those of arrays begin with a bracket.
    pub(super) fn word(&self) -> String {
        match self {
            Kind::Array(None) => "[".into(),
            Kind::Array(Some(items)) => format!("[{}", items.word()),
            plain => {
                let found = PLAIN.iter().find(|(_, _, kind)| kind == plain);
                found.map(|(_, word, _)| (*word).into()).unwrap_or_default()
            }
        }
    }

    /// The type of a name.
    pub(super) fn of_word(word: &str) -> Option<Kind> {
        let items = word.trim_start_matches('[');
        let depth = word.len().saturating_sub(items.len());
        let found = PLAIN.iter().find(|(_, name, _)| *name == items);
        let mut kind = found.map(|(_, _, kind)| kind.clone());
        if kind.is_none() && (!items.is_empty() || depth == 0) {
            return None;
        }
        for _ in 0..depth {
            kind = Some(Kind::Array(kind.map(Box::new)));
        }
        kind
    }

    /// The default type of a value; `None` if it cannot be stored.
    pub(super) fn of(value: &Value) -> Option<Kind> {
        Some(match value {
            Value::Bool(_) => Kind::Bool,
            Value::Text(_) => Kind::Text,
            Value::Float { width: 32, .. } => Kind::F32,
            Value::Float { width: 64, .. } => Kind::F64,
            Value::Int(number) => {
                let mut wholes = [Whole::U32, Whole::I32, Whole::U64, Whole::I64].into_iter();
                Kind::Whole(wholes.find(|whole| whole.has_room(*number))?)
            }
            Value::List(items) => Kind::of_items(items)?,
            _ => return None,
        })
    }

    fn of_items(items: &[Value]) -> Option<Kind> {
        let wholes = [Whole::I32, Whole::U32, Whole::I64, Whole::U64].map(Kind::Whole);
        let plain = [Kind::Bool, Kind::Text, Kind::F32, Kind::F64];
        let mut all = wholes.into_iter().chain(plain);
        let fits_all = |kind: &Kind| items.iter().all(|item| kind.fits(item));
        if let Some(kind) = all.find(fits_all) {
            return Some(Kind::Array(Some(Box::new(kind))));
        }
        let mut kinds = items.iter().map(|item| match item {
            Value::List(_) => Kind::of(item),
            _ => None,
        });
        let first = kinds.next()??;
        let mut common = Some(first);
        for kind in kinds {
            let kind = kind?;
            common = common.filter(|common| *common == kind);
        }
        let common = common.unwrap_or(Kind::Array(None));
        Some(Kind::Array(Some(Box::new(common))))
    }

    /// Whether a value can be written as this type.
    pub(super) fn fits(&self, value: &Value) -> bool {
        match (self, value) {
            (Kind::Whole(whole), Value::Int(number)) => whole.has_room(*number),
            (Kind::F32, Value::Float { width: 32, .. })
            | (Kind::F64, Value::Float { width: 64, .. })
            | (Kind::Bool, Value::Bool(_))
            | (Kind::Text, Value::Text(_)) => true,
            (Kind::Array(None), Value::List(_)) => Kind::of(value).is_some(),
            (Kind::Array(Some(items)), Value::List(values)) => {
                values.iter().all(|value| items.fits(value))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_says_which_type_it_is_of() {
        for word in ["u8", "text", "[i32", "[[f64", "[", "[["] {
            assert_eq!(Kind::of_word(word).unwrap().word(), word);
        }
        for word in ["", "u7", "[u7", "u8["] {
            assert_eq!(Kind::of_word(word), None, "{word}");
        }
    }

    #[test]
    fn whole_numbers_get_the_types_that_programs_expect() {
        let of = |number: i128| Kind::of(&Value::Int(number)).map(|kind| kind.word());
        assert_eq!(of(0).unwrap(), "u32");
        assert_eq!(of(-1).unwrap(), "i32");
        assert_eq!(of(1 << 32).unwrap(), "u64");
        assert_eq!(of(-(1 << 40)).unwrap(), "i64");
        assert_eq!(of(1 << 64), None);
        let list = |numbers: &[i128]| {
            let items = numbers.iter().copied().map(Value::Int).collect();
            Kind::of(&Value::List(items)).map(|kind| kind.word())
        };
        assert_eq!(list(&[1, 2]).unwrap(), "[i32");
        assert_eq!(list(&[1, 1 << 31]).unwrap(), "[u32");
        assert_eq!(list(&[-1, 1 << 31]).unwrap(), "[i64");
        assert_eq!(list(&[-1, 1 << 63]), None);
    }

    #[test]
    fn arrays_of_arrays_may_differ_and_other_mixtures_may_not() {
        let numbers = Value::List(vec![Value::Int(1)]);
        let texts = Value::List(vec!["a".into()]);
        let word = |items: Vec<Value>| Kind::of(&Value::List(items)).map(|kind| kind.word());
        assert_eq!(
            word(vec![numbers.clone(), numbers.clone()]).unwrap(),
            "[[i32"
        );
        assert_eq!(word(vec![numbers.clone(), texts]).unwrap(), "[[");
        assert_eq!(word(vec![numbers, Value::Int(1)]), None);
        assert_eq!(word(vec![Value::Int(1), "a".into()]), None);
        assert_eq!(Kind::of(&Value::Null), None);
    }
}
