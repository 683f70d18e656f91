//! Split models: the metadata that numbers their files.

use super::KINDS;
use crate::bundle::Bundle;
use crate::format::Shard;
use crate::meta::{Meta, Value};

/// The number of this file, from 0.
const NUMBER: &str = "split.no";
/// The number of files.
const COUNT: &str = "split.count";
/// The number of tensors in all of them.
const TENSORS: &str = "split.tensors.count";
/// The values and the types that llama.cpp writes and requires.
const TYPES: [(&str, &str); 3] = [(NUMBER, "u16"), (COUNT, "u16"), (TENSORS, "i32")];

pub(super) fn shard(bundle: &Bundle) -> Option<Shard> {
    let number = |name: &str| bundle.meta.get(name).and_then(Value::as_u64);
    let (count, place) = (number(COUNT)?, number(NUMBER)?);
    (count > 1).then(|| Shard {
        number: place,
        count,
        n_tensors: number(TENSORS),
    })
}

/// Sets the values, or removes them. All files but the first have no others.
pub(super) fn mark(bundle: &mut Bundle, shard: Option<&Shard>) {
    let is_own = |name: &str| TYPES.iter().any(|(own, _)| *own == name);
    let keeps = shard.is_none_or(|shard| shard.number == 0);
    let kept = bundle
        .meta
        .iter()
        .filter(|(name, _)| keeps && !is_own(name));
    let kept = kept.map(|(name, value)| (name.to_owned(), value.clone()));
    bundle.meta = kept.collect::<Meta>();
    let types = bundle.hints.get(KINDS).and_then(Value::as_map);
    let types = types.unwrap_or_default().iter();
    let types = types.filter(|(name, _)| !name.as_text().is_some_and(is_own));
    let mut types: Vec<(Value, Value)> = types.cloned().collect();
    if let Some(shard) = shard {
        bundle.meta.set(NUMBER, shard.number);
        bundle.meta.set(COUNT, shard.count);
        if let Some(count) = shard.n_tensors {
            bundle.meta.set(TENSORS, count);
        }
        let own = TYPES.map(|(name, word)| (Value::Text(name.into()), Value::Text(word.into())));
        types.extend(own);
    }
    if types.is_empty() {
        bundle.hints.remove(KINDS);
    } else {
        bundle.hints.set(KINDS, Value::Map(types));
    }
}
