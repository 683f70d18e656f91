//! Losses of a file of integrals.

use super::adapt::{ASKED_FOR, setting};
use super::integrals::Role;
use crate::bundle::Bundle;
use crate::dtype::Arity;
use crate::key::Key;
use crate::loss::{Aspect, Loss, Tier};
use crate::meta::Value;
use crate::tensor::{Storage, Tensor};

pub(super) fn format_losses(bundle: &Bundle) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (key, tensor) in bundle.entries() {
        for_tensor(key, tensor, &mut losses);
    }
    let mut say = |detail: String| {
        losses.push(Loss {
            key: None,
            aspect: Aspect::Count,
            detail,
            tier: Tier::Said,
        });
    };
    for role in [Role::Two, Role::One] {
        let name = role.name();
        if bundle.get(name).is_none() {
            say(format!(
                "no integrals {name}: a file without any is read as zeros"
            ));
        }
    }
    let energies = bundle.get(Role::Energies.name());
    if energies.is_some_and(|tensor| tensor.stored() == 0) {
        say("energies of no orbitals have no line".into());
    }
    for_settings(bundle, &mut losses);
    for_each_other(bundle, &mut losses);
    losses
}

/// Settings that programs require: `to_scf` of PySCF stops without them.
fn for_settings(bundle: &Bundle, losses: &mut Vec<Loss>) {
    let is_there = |name: &str| matches!(bundle.meta.get(&setting(name)), Some(Value::Int(_)));
    let missing = ASKED_FOR.iter().filter(|(name, _)| !is_there(name));
    let (names, options): (Vec<&str>, Vec<&str>) = missing.copied().unzip();
    if names.is_empty() {
        return;
    }
    let example = |option: &&str| match *option {
        "nelec" => "nelec=10",
        _ => "ms2=0",
    };
    let options: Vec<&str> = options.iter().map(example).collect();
    let detail = format!(
        "no {}, which programs ask for; --opt {} gives the number of electrons and twice their spin",
        names.join(" and no "),
        options.join(",")
    );
    losses.push(Loss::impossible(None, Aspect::Metadata, detail));
}

/// Losses of a single tensor.
fn for_tensor(key: &Key, tensor: &Tensor, losses: &mut Vec<Loss>) {
    let mut add = |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
    let ndim = tensor.dims().len();
    let Some(role) = Role::of_ndim(ndim) else {
        return; // reported with its own name
    };
    let name = role.name();
    if key.flat_name() != Some(name) {
        let detail = format!(
            "a tensor of {ndim} dimensions has the name {name}; --rename changes names, --out-dir writes a file for each"
        );
        add(Aspect::Keys, detail);
    }
    let dtype = tensor.dtype();
    if !matches!(dtype.arity, Arity::Real | Arity::Complex) {
        return; // said already
    }
    let is_dense = matches!(tensor.storage(), Storage::Dense { .. });
    if role == Role::Core && !is_dense {
        let detail = "a scalar with an address; --dense=core".into();
        add(Aspect::Sparsity, detail);
    }
}

/// Losses of tensors that do not fit each other.
fn for_each_other(bundle: &Bundle, losses: &mut Vec<Loss>) {
    let mut norb = None;
    let mut first = None;
    let says_nothing =
        |tensor: &Tensor| tensor.dtype().arity == Arity::Complex && tensor.stored() == 0;
    let mut entries = bundle.entries().iter().peekable();
    if entries.peek().is_some() && entries.all(|(_, tensor)| says_nothing(tensor)) {
        let detail = "complex elements, where no value says so; --part re makes them real";
        losses.push(Loss::impossible(None, Aspect::Number, detail));
    }
    for (key, tensor) in bundle.entries() {
        let mut add = |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
        let dtype = tensor.dtype();
        if *first.get_or_insert(dtype.arity) != dtype.arity {
            let detail = format!("elements of {dtype} beside others; --part re makes all real");
            add(Aspect::Number, detail);
        }
        let Some(size) = tensor.indexed_sizes().first().copied() else {
            continue;
        };
        let norb = *norb.get_or_insert(size);
        if norb != size {
            let detail = format!("{size} orbitals beside {norb}; --out-dir writes a file for each");
            add(Aspect::Shape, detail);
        }
    }
}
