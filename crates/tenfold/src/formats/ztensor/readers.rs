//! The released programs that open a file, by its version and its content.

use super::hint;
use super::v0::{ENCODINGS, LAYOUTS};
use crate::bundle::Bundle;
use crate::dtype::Arity;
use crate::format::BIG;
use crate::key::Key;
use crate::meta::{Meta, Value};
use crate::tensor::{Storage, Tensor};

/// The programs that open a file of a version, with this content if it is given.
pub(super) fn of(version: &str, written: Option<&Bundle>) -> Option<String> {
    let content = Content(written);
    let readers = match version {
        "0.1" => of_0_1(&content),
        "1.2" => of_1_2(&content),
        "2" => "2.x".into(),
        _ => return None,
    };
    Some(readers)
}

fn of_0_1(content: &Content) -> String {
    if content.has(|_, tensor| tensor.hints.text(hint::DTYPE).is_some()) {
        return "that know its dtypes, which no released one does".into();
    }
    if content.has_value(&is_simple) {
        return NO_SIMPLE.into();
    }
    let is_big = content.has(|_, tensor| tensor.hints.text(hint::ENDIANNESS) == Some(BIG));
    let first = first_refuses(content);
    let mut readers = match (first, is_big) {
        (None, false) => "0.1 to 1.2".into(),
        (None, true) => "0.1, as later ones misread big-endian numbers".into(),
        (Some(why), false) => format!("1.2, as 0.1 {why}"),
        (Some(why), true) => {
            return format!(
                "that are not released: 0.1 {why}, and later ones misread big-endian numbers"
            );
        }
    };
    if content.has(|_, tensor| !matches!(tensor.storage(), Storage::Dense { .. })) {
        let link = if is_big { " and" } else { "," };
        readers += link;
        readers += " none of which reads the tensors that are not dense";
    }
    readers
}

/// The reason why the programs of 0.1 do not open a file that later ones do.
fn first_refuses(content: &Content) -> Option<&'static str> {
    let is_unknown =
        |known: &[&str], said: Option<&str>| said.is_some_and(|it| !known.contains(&it));
    if content.has(|_, tensor| is_unknown(ENCODINGS, tensor.hints.text(hint::ENCODING))) {
        Some("knows no such encoding")
    } else if content.has(|_, tensor| is_unknown(LAYOUTS, tensor.hints.text(hint::LAYOUT))) {
        Some("knows no such layout")
    } else if content.has(|key, _| key.flat_name().is_some_and(|name| name.contains('\0'))) {
        Some("ends at a name with a zero byte")
    } else if content.has_value(&|value| matches!(value, Value::Int(i) if *i < i64::MIN.into())) {
        Some("reads no integers below -2^63")
    } else {
        None
    }
}

fn of_1_2(content: &Content) -> String {
    if content.has_value(&is_simple) {
        NO_SIMPLE.into()
    } else if content.has(|_, tensor| matches!(tensor.storage(), Storage::Opaque { .. })) {
        "1.1 and 1.2, as far as they know its dtypes, formats and encodings".into()
    } else if content.has(|_, tensor| tensor.dtype().arity != Arity::Real) {
        "1.1 and 1.2, none of which reads the complex tensors".into()
    } else {
        "1.1 and 1.2".into()
    }
}

const NO_SIMPLE: &str = "that take CBOR simple values in metadata, which no released one does";

fn is_simple(value: &Value) -> bool {
    matches!(value, Value::Simple(_))
}

/// The written content, as far as it is known.
struct Content<'a>(Option<&'a Bundle>);

impl Content<'_> {
    fn has(&self, is_it: impl Fn(&Key, &Tensor) -> bool) -> bool {
        let mut entries = self.0.into_iter().flat_map(Bundle::entries);
        entries.any(|(key, tensor)| is_it(key, tensor))
    }

    /// Whether metadata, of the file or of a tensor, has such a value at any depth.
    fn has_value(&self, is_it: &dyn Fn(&Value) -> bool) -> bool {
        let any = |meta: &Meta| meta.iter().any(|(_, value)| value.contains(is_it));
        self.0.is_some_and(|bundle| any(&bundle.meta)) || self.has(|_, tensor| any(&tensor.meta))
    }
}
