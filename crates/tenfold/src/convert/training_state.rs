//! Removal of training state from a model: statistics, and what a training run stores in a
//! checkpoint.

use std::collections::{BTreeMap, HashSet};

use super::fit_names::said;
use crate::bundle::Bundle;
use crate::format::FROM_TORCH;
use crate::key::Key;
use crate::loss::{Aspect, Loss};
use crate::meta::{Meta, Value};

/// Configs of an optimizer.
const CONFIGS: &[&str] = &["primitiv:uint_configs", "primitiv:float_configs"];
/// The report of a statistic that is not written.
const LEFT_OUT: &str = "the statistic is left out";
/// The key that identifies the state of a PyTorch optimizer, beside its `state`.
const GROUPS: &str = "param_groups";
const STATE: &str = "state";

/// A bundle without statistics, configs and, for a PyTorch checkpoint, the state of optimizers,
/// schedulers, gradient scalers and random number generators; the removed parts are added to
/// `changes`.
#[must_use]
pub fn without_state(bundle: &Bundle, changes: &mut Vec<Loss>) -> Bundle {
    let mut kept = bundle.clone();
    kept.retain(|key| key.state.is_none());
    for (key, _) in bundle.entries() {
        if key.state.is_some() {
            changes.push(said(Some(key), Aspect::State, LEFT_OUT.into()));
        }
    }
    let (configs, others): (Vec<_>, Vec<_>) =
        { bundle.meta.iter() }.partition(|(name, _)| CONFIGS.contains(name));
    if !configs.is_empty() {
        let names: Vec<&str> = configs.iter().map(|(name, _)| *name).collect();
        let detail = format!("configs are left out: {}", names.join(", "));
        changes.push(said(None, Aspect::State, detail));
    }
    kept.meta = of_pairs(others);
    if bundle.hints.get(FROM_TORCH).is_some() {
        leave_out_training(&mut kept, changes);
    }
    kept
}

/// The statistics among `before` that a selection of tensors has removed from `bundle` although
/// their owners are still there.
#[must_use]
pub fn statistics_left_out(before: &[Key], bundle: &Bundle) -> Vec<Loss> {
    if before.is_empty() {
        return Vec::new();
    }
    let kept: HashSet<&Key> = bundle.entries().iter().map(|(key, _)| key).collect();
    let statistics = before.iter().filter(|key| key.state.is_some());
    let left = statistics.filter(|key| !kept.contains(key) && kept.contains(&key.owner()));
    left.map(|key| said(Some(key), Aspect::State, LEFT_OUT.into()))
        .collect()
}

fn of_pairs(pairs: Vec<(&str, &Value)>) -> Meta {
    let pairs = pairs.into_iter();
    pairs
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect()
}

/// Removes the dicts of a checkpoint that are training state.
fn leave_out_training(bundle: &mut Bundle, changes: &mut Vec<Loss>) {
    let mut dicts = optimizers(bundle);
    let top = bundle
        .entries()
        .iter()
        .filter_map(|(key, _)| key.path().first());
    let names = top
        .map(String::as_str)
        .chain(bundle.meta.iter().map(|(name, _)| name));
    for name in names.filter(|name| is_state(name)) {
        dicts.entry(vec![name.to_owned()]).or_insert(0);
    }
    if is_optimizer(bundle) {
        dicts.extend([STATE, GROUPS].map(|name| (vec![name.to_owned()], 0)));
    }
    if dicts.is_empty() {
        let detail = "no state of a training run is recognized: every tensor stays".into();
        changes.push(said(None, Aspect::State, detail));
        return;
    }
    let mut left = 0_u64;
    for (key, _) in bundle.entries() {
        let mut around = dicts.iter_mut();
        match around.find(|(dict, _)| key.path().starts_with(dict)) {
            Some((_, count)) => *count = u64::saturating_add(*count, 1),
            None => left = left.saturating_add(1),
        }
    }
    if left == 0 && !bundle.entries().is_empty() {
        let detail = "all of it is the state of a training run: every tensor stays".into();
        changes.push(said(None, Aspect::State, detail));
        return;
    }
    bundle.retain(|key| !dicts.keys().any(|dict| key.path().starts_with(dict)));
    let listed = dicts.iter().map(|(dict, count)| {
        let name = Key::tree(dict.clone());
        match count {
            0 => name.to_string(),
            1 => format!("{name} (1 tensor)"),
            count => format!("{name} ({count} tensors)"),
        }
    });
    let listed: Vec<String> = listed.collect();
    let detail = format!("left out of the training run: {}", listed.join(", "));
    changes.push(said(None, Aspect::State, detail));
    for dict in dicts.keys() {
        remove(&mut bundle.meta, dict);
    }
}

/// Whether the checkpoint itself, rather than a dict in it, has the form of an optimizer's state.
fn is_optimizer(bundle: &Bundle) -> bool {
    let mut keys = bundle.entries().iter().map(|(key, _)| key);
    let is_inside = |key: &Key| key.path().first().map(String::as_str) == Some(STATE);
    let has_state = bundle.meta.get(STATE).is_some() || keys.any(is_inside);
    let groups = bundle.meta.get(GROUPS).and_then(Value::as_list);
    has_state && groups.is_some()
}

/// Whether a checkpoint entry is training state by its name. Averaged weights are not.
fn is_state(name: &str) -> bool {
    let begins = |word: &str| name.starts_with(word);
    name == "scaler" || ["optimizer", "lr_scheduler", "rng"].into_iter().any(begins)
}

/// The paths of dicts in the form of an optimizer's state, each with a count of 0.
fn optimizers(bundle: &Bundle) -> BTreeMap<Vec<String>, u64> {
    let mut found = BTreeMap::new();
    for (name, value) in bundle.meta.iter() {
        search(bundle, &mut vec![name.to_owned()], value, &mut found);
    }
    found
}

/// Searches a metadata value for such dicts; its depth is bounded by the limits.
fn search(
    bundle: &Bundle,
    path: &mut Vec<String>,
    value: &Value,
    found: &mut BTreeMap<Vec<String>, u64>,
) {
    let Value::Map(pairs) = value else {
        return;
    };
    let has = |wanted: &str| pairs.iter().any(|(key, _)| key.as_text() == Some(wanted));
    let has_tensors = || {
        let is_inside = |key: &Key| {
            let rest = key.path().strip_prefix(path.as_slice());
            rest.is_some_and(|rest| rest.first().map(String::as_str) == Some(STATE))
        };
        bundle.entries().iter().any(|(key, _)| is_inside(key))
    };
    if has(GROUPS) && (has(STATE) || has_tensors()) {
        found.insert(path.clone(), 0);
        return;
    }
    for (key, value) in pairs {
        let Some(segment) = segment(key) else {
            continue;
        };
        path.push(segment);
        search(bundle, path, value, found);
        path.pop();
    }
}

/// A map key as a path segment.
fn segment(key: &Value) -> Option<String> {
    match key {
        Value::Text(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Removes the value at a path from metadata.
fn remove(meta: &mut Meta, path: &[String]) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    if rest.is_empty() {
        meta.remove(first);
    } else if let Some(value) = meta.get(first) {
        let mut value = value.clone();
        remove_inside(&mut value, rest);
        meta.set(first, value);
    }
}

fn remove_inside(value: &mut Value, path: &[String]) {
    let (Value::Map(pairs), Some((first, rest))) = (value, path.split_first()) else {
        return;
    };
    let is_it = |key: &Value| segment(key).as_ref() == Some(first);
    if rest.is_empty() {
        pairs.retain(|(key, _)| !is_it(key));
    } else if let Some((_, inner)) = pairs.iter_mut().find(|(key, _)| is_it(key)) {
        remove_inside(inner, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::fit::scalar;

    fn path(text: &str) -> Key {
        Key::tree(text.split('/').map(Into::into).collect())
    }

    fn map(pairs: Vec<(&str, Value)>) -> Value {
        let pairs = pairs.into_iter();
        Value::Map(pairs.map(|(name, value)| (name.into(), value)).collect())
    }

    fn checkpoint(names: &[&str], meta: Vec<(&str, Value)>) -> Bundle {
        let mut bundle = Bundle::new();
        for name in names {
            bundle.push(path(name), scalar().unwrap());
        }
        for (name, value) in meta {
            bundle.meta.set(name, value);
        }
        bundle.hints.set(FROM_TORCH, "zip");
        bundle
    }

    /// The names that remain, and the reported dicts.
    fn kept(bundle: &Bundle) -> (Vec<String>, Vec<String>) {
        let mut changes = Vec::new();
        let kept = without_state(bundle, &mut changes);
        let names = kept.entries().iter().map(|(key, _)| key.to_string());
        let names = names.chain(kept.meta.iter().map(|(name, _)| format!("meta {name}")));
        let said = changes.into_iter().map(|loss| {
            let key = loss.key.map_or_else(String::new, |key| key.to_string());
            format!("{key}: {}", loss.detail)
        });
        (names.collect(), said.collect())
    }

    #[test]
    fn dicts_of_the_form_of_an_optimizer_are_left_out_wherever_they_are() {
        let groups = || (GROUPS, Value::List(vec![]));
        let bundle = checkpoint(
            &["model/w", "gan/opt_g/state/0/exp_avg", "ema/w"],
            vec![
                (
                    "gan",
                    map(vec![
                        ("opt_g", map(vec![groups()])),
                        ("steps", 3_u64.into()),
                    ]),
                ),
                ("opt_d", map(vec![(STATE, map(vec![])), groups()])),
                ("epoch", 7_u64.into()),
            ],
        );
        let (names, said) = kept(&bundle);
        assert_eq!(names, ["model/w", "ema/w", "meta gan", "meta epoch"]);
        let wanted = ": left out of the training run: gan/opt_g (1 tensor), opt_d";
        assert_eq!(said, [wanted]);
    }

    #[test]
    fn entries_of_a_training_run_are_left_out_by_their_names() {
        let names = [
            "state_dict/w",
            "optimizer_states/0/state/0/exp_avg",
            "rng_state",
            "scaler/scale",
            "scaler_of_values",
        ];
        let bundle = checkpoint(&names, vec![("lr_schedulers", map(vec![]))]);
        let (names, said) = kept(&bundle);
        assert_eq!(names, ["state_dict/w", "scaler_of_values"]);
        let wanted = ": left out of the training run: lr_schedulers, optimizer_states (1 tensor), \
                      rng_state (1 tensor), scaler (1 tensor)";
        assert_eq!(said, [wanted]);
    }

    #[test]
    fn where_nothing_is_recognized_everything_stays_and_that_is_reported() {
        let bundle = checkpoint(&["w", "state/w"], vec![(GROUPS, Value::Null)]);
        let (names, said) = kept(&bundle);
        assert_eq!(names, ["w", "state/w", "meta param_groups"]);
        assert_eq!(
            said,
            [": no state of a training run is recognized: every tensor stays"]
        );
    }

    #[test]
    fn a_checkpoint_that_is_an_optimizer_stays_unless_there_is_something_else() {
        let groups = || vec![(GROUPS, Value::List(vec![]))];
        for names in [&["state/0/exp_avg"][..], &[]] {
            let mut bundle = checkpoint(names, groups());
            bundle.push(path("optimizer/w"), scalar().unwrap());
            let (kept, said) = kept(&bundle);
            assert_eq!(kept.len(), names.len() + 2);
            let wanted = ": all of it is the state of a training run: every tensor stays";
            assert_eq!(said, [wanted]);
        }
        let (kept, said) = kept(&checkpoint(&["state/0/exp_avg", "model/w"], groups()));
        assert_eq!(kept, ["model/w"]);
        let wanted = ": left out of the training run: param_groups, state (1 tensor)";
        assert_eq!(said, [wanted]);
    }
}
