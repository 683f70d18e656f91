//! What a file of integrals cannot hold.

use super::integrals::{Fold, Role};
use crate::bundle::Bundle;
use crate::error::{Aspect, Loss};
use crate::key::Key;
use crate::number::Arity;
use crate::tensor::{Storage, Tensor};

pub(super) fn quirks(bundle: &Bundle) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (key, tensor) in bundle.entries() {
        for_tensor(key, tensor, &mut losses);
    }
    for role in [Role::Two, Role::One] {
        let name = role.name();
        if bundle.get(name).is_none() {
            let detail = format!("no tensor has the name {name}");
            losses.push(Loss::impossible(None, Aspect::Count, detail));
        }
    }
    for_each_other(bundle, &mut losses);
    losses
}

/// What is wrong with one tensor alone.
fn for_tensor(key: &Key, tensor: &Tensor, losses: &mut Vec<Loss>) {
    let mut add = |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
    let ndim = tensor.dims().len();
    let Some(role) = Role::of_ndim(ndim) else {
        return add(
            Aspect::Shape,
            format!("{ndim} dimensions, none, 1, 2 or 4 fit"),
        );
    };
    let name = role.name();
    if key.flat_name() != Some(name) {
        let detail =
            format!("a tensor of {ndim} dimensions has the name {name}; --rename changes names");
        add(Aspect::Keys, detail);
    }
    let dtype = tensor.dtype();
    if !matches!(dtype.arity, Arity::Real | Arity::Complex) {
        return; // said already
    }
    let is_dense = matches!(tensor.storage(), Storage::Dense { .. });
    match role {
        Role::Core if !is_dense => add(
            Aspect::Sparsity,
            "a scalar with an address; --dense=core".into(),
        ),
        Role::Two | Role::One | Role::Energies if is_dense => {
            // One pattern names both, and not the scalar.
            let names = if ndim == 1 { name } else { "'???'" };
            let detail =
                format!("dense values; --sparse={names} keeps the cells that are not zero");
            add(Aspect::Shape, detail);
        }
        _ => {}
    }
    let wanted = Fold::usual(dtype)
        .symmetries(role, dtype)
        .unwrap_or_default();
    let found = tensor.symmetries();
    let is_same = found.len() == wanted.len() && wanted.iter().all(|one| found.contains(one));
    if !is_same {
        let detail = match (role, dtype.arity) {
            (Role::Energies | Role::Core, _) => "symmetries of what has none",
            (Role::One, Arity::Complex) => {
                "no packed symmetry; --pack 'one=ba*' --symmetry-tol 1e-12"
            }
            (Role::One, _) => "no packed symmetry; --pack one=ba --symmetry-tol 1e-12",
            (Role::Two, Arity::Complex) => {
                "not packed by all symmetries of integrals; --pack two=cdab --pack 'two=badc*' --symmetry-tol 1e-12"
            }
            (Role::Two, _) => {
                "not packed by all symmetries of integrals; --pack two=bacd --pack two=abdc --pack two=cdab --symmetry-tol 1e-12"
            }
        };
        add(Aspect::Symmetry, detail.into());
    }
}

/// Whether tensors fit each other.
fn for_each_other(bundle: &Bundle, losses: &mut Vec<Loss>) {
    let mut norb = None;
    let mut first = None;
    let says_nothing =
        |tensor: &Tensor| tensor.dtype().arity == Arity::Complex && tensor.stored() == 0;
    let mut entries = bundle.entries().iter().peekable();
    if entries.peek().is_some() && entries.all(|(_, tensor)| says_nothing(tensor)) {
        let detail = "complex elements, where no value says so";
        losses.push(Loss::impossible(None, Aspect::Number, detail));
    }
    for (key, tensor) in bundle.entries() {
        let mut add = |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
        let dtype = tensor.dtype();
        if *first.get_or_insert(dtype.arity) != dtype.arity {
            add(Aspect::Number, format!("elements of {dtype} beside others"));
        }
        for size in tensor.indexed_sizes() {
            let norb = *norb.get_or_insert(size);
            if norb != size {
                add(Aspect::Shape, format!("{size} orbitals beside {norb}"));
                break;
            }
        }
    }
}
