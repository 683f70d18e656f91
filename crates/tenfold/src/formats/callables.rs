//! Callables of a pickle: the classes and functions that Python would call or import.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::BTreeMap;

use crate::bundle::Callable;
use crate::wire::pickle::{Item, Pickle};

/// Everything that a pickle calls, and everything it imports without permission, by name.
/// `is_allowed` tells whether PyTorch's `weights_only` allows a name of a module; that mode refuses
/// the opcodes `OBJ` and `INST` whatever they call.
pub(super) fn callables(pickle: &Pickle, is_allowed: impl Fn(&str, &str) -> bool) -> Vec<Callable> {
    let mut found: BTreeMap<String, Callable> = BTreeMap::new();
    let mut add = |id, at: Option<u64>, is_call: bool, is_old: bool| {
        let Some((module, name)) = pickle.global(id) else {
            return;
        };
        let is_allowed = is_allowed(module, name) && !is_old;
        if is_allowed && !is_call {
            return;
        }
        let name = format!("{module}.{name}");
        let known = found.entry(name.clone()).or_insert(Callable {
            name,
            at,
            count: 0,
            is_allowed,
        });
        known.is_allowed &= is_allowed;
        known.count = known.count.saturating_add(is_call.into());
    };
    for id in pickle.ids() {
        match pickle.item(id) {
            Item::Global(_) => add(id, pickle.at(id), false, false),
            Item::Object(object) => add(object.class, pickle.at(id), true, object.is_old),
            _ => {}
        }
    }
    found.into_values().collect()
}
