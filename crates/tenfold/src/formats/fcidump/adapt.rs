//! Fits tensors and settings to a file of integrals.

use super::PREFIX;
use super::integrals::{Fold, Role};
use crate::bundle::Bundle;
use crate::bytes::{Bytes, Endian};
use crate::dtype::{Arity, DType, Kind, Number, Numbers};
use crate::error::{Error, Result};
use crate::format::{Adapted, Options, WriteOptions};
use crate::key::Key;
use crate::loss::{Aspect, Tier};
use crate::meta::Value;
use crate::tensor::{
    Address, Deviation, Order, SYMMETRY_TOLERANCE, Storage, Symmetry, Tensor, Tolerance,
};
use crate::units::measure_text;

/// The settings that programs require, each with the option that gives it.
pub(super) const ASKED_FOR: [(&str, &str); 2] = [("NELEC", "nelec"), ("MS2", "ms2")];

/// The name of a setting among the metadata.
pub(super) fn setting(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// The settings given by options.
pub(super) fn given(options: &Options) -> Result<Vec<(String, Value)>> {
    let given = ASKED_FOR
        .iter()
        .filter_map(|(name, option)| Some((name, option, options.get(option)?)));
    given
        .map(|(name, option, text)| {
            let number: i64 = text
                .parse()
                .map_err(|_| Error::invalid(format!("{option} is {text}, not a whole number")))?;
            Ok((setting(name), Value::Int(number.into())))
        })
        .collect()
}

/// The name of a tensor in a file of integrals: given by its order, if it is the only one of that
/// order.
pub(super) fn name(bundle: &Bundle, key: &Key, tensor: &Tensor) -> Option<Key> {
    let role = Role::of_ndim(order(tensor))?;
    let count = bundle.entries().len();
    // A file has no more tensors than this: with more, the search among all others is skipped.
    if key.state.is_some() && count > 1 || count > Role::ALL.len() {
        return None;
    }
    let alike = |(_, other): &&(Key, Tensor)| order(other) == order(tensor);
    let is_alone = bundle.entries().iter().filter(alike).count() == 1;
    is_alone.then(|| Key::flat(role.name()))
}

/// The number of dimensions of a tensor once its values are real or complex numbers.
fn order(tensor: &Tensor) -> usize {
    match tensor.storage() {
        Storage::Opaque { .. } => 1,
        _ => tensor.dims().len(),
    }
}

/// Stores the nonzero cells, one of every orbit.
pub(super) fn adapt(key: &Key, tensor: &Tensor, how: &WriteOptions) -> Result<Option<Adapted>> {
    if let Some(detail) = misfit(key, tensor) {
        let said = vec![(Tier::Impossible, Aspect::Shape, detail)];
        return Ok(Some((tensor.clone(), said)));
    }
    let Some((role, symmetries)) = integrals(tensor)? else {
        return Ok(None);
    };
    let limits = &how.limits;
    let is_dense = matches!(tensor.storage(), Storage::Dense { .. });
    let is_same = is_same(tensor.symmetries(), &symmetries);
    let is_unseen = role == Role::Energies && tensor.stored() == 0;
    if is_same && !is_dense && !is_unseen {
        return Ok(None);
    }
    let mut said = Vec::new();
    let cells = tensor.to_sparse(limits)?;
    let tolerance = Tolerance::Within(SYMMETRY_TOLERANCE);
    let packing = match cells.try_pack(&symmetries, tolerance, limits)? {
        Ok(packing) => packing,
        Err(worst) => {
            let detail = ways(key, tensor, role, &worst);
            return Ok(Some((
                tensor.clone(),
                vec![(Tier::Impossible, Aspect::Symmetry, detail)],
            )));
        }
    };
    if !is_same {
        let count = symmetries.len();
        let detail = format!("symmetries of integrals: {count}, and no others");
        said.push((Tier::Said, Aspect::Symmetry, detail));
    }
    if packing.changed > 0 {
        said.push((Tier::Said, Aspect::Precision, packing.changes()));
    }
    let (dims, dtype) = (tensor.dims().to_vec(), tensor.dtype());
    let all = tensor.cells().unwrap_or(u128::MAX);
    let is_lost = role == Role::Energies && cells.stored() == 0 && all > 0;
    let storage = if is_lost {
        first_cell(dtype)
    } else {
        packing.tensor.storage().clone()
    };
    if is_dense {
        let listed = if is_lost { 1 } else { cells.stored() };
        let detail = format!("{listed} of {all} cells are listed");
        said.push((Tier::Said, Aspect::Sparsity, detail));
    }
    let packed = Tensor::within(dims, dtype, symmetries, storage, limits)?;
    Ok(Some((packed.with_meta_of(tensor), said)))
}

/// An explicit zero: without a line the tensor would not be in the file.
fn first_cell(dtype: DType) -> Storage {
    Storage::Sparse {
        order: Order::Column,
        address: Address::Linear(Numbers::from_vec(&[0_u64])),
        values: Numbers {
            number: dtype.number,
            endian: Endian::Little,
            bytes: Bytes::memory(vec![0; dtype.width()]),
        },
    }
}

/// The reason why a tensor's sizes are none of integrals, and the option that makes a list of it.
fn misfit(key: &Key, tensor: &Tensor) -> Option<String> {
    let (ndim, sizes) = (tensor.dims().len(), tensor.indexed_sizes());
    let fault = if Role::of_ndim(ndim).is_none() {
        format!("{ndim} dimensions, none, 1, 2 or 4 fit")
    } else if is_even(&sizes) {
        return None;
    } else {
        format!("sizes {sizes:?} that differ")
    };
    let (own, count) = (own(key), tensor.cells().unwrap_or(u128::MAX));
    Some(format!(
        "{fault}; --reshape {own}{count} makes a list of it, which are energies then"
    ))
}

fn is_even(sizes: &[u64]) -> bool {
    sizes.windows(2).all(|pair| pair.first() == pair.last())
}

/// The prefix that restricts the value of an option to this tensor.
fn own(key: &Key) -> String {
    match key.flat_name() {
        _ if key.is_empty() => String::new(),
        Some(name) => format!("{name}="),
        None => format!("{key}="),
    }
}

/// The kind of integrals that a tensor can be, and their symmetries; `None` if it can be none, or
/// has no cells to choose from.
fn integrals(tensor: &Tensor) -> Result<Option<(Role, Vec<Symmetry>)>> {
    let dtype = tensor.dtype();
    let sizes = tensor.indexed_sizes();
    let has_cells = match tensor.storage() {
        Storage::Dense { .. } => true,
        Storage::Sparse { address, .. } => !matches!(address, Address::Labels),
        Storage::Train { .. } | Storage::Opaque { .. } => false,
    };
    let is_number = [DType::real(Number::F64), DType::complex(Number::F64)].contains(&dtype);
    match Role::of_ndim(tensor.dims().len()) {
        Some(role) if role != Role::Core && has_cells && is_number && is_even(&sizes) => {
            let symmetries = Fold::usual(dtype).symmetries(role, dtype)?;
            Ok(Some((role, symmetries)))
        }
        _ => Ok(None),
    }
}

/// Whether two lists have the same symmetries.
pub(super) fn is_same(found: &[Symmetry], wanted: &[Symmetry]) -> bool {
    found.len() == wanted.len() && wanted.iter().all(|one| found.contains(one))
}

/// Describes the violated symmetries of integrals, and the options that enforce them.
fn ways(key: &Key, tensor: &Tensor, role: Role, worst: &Deviation) -> String {
    let Deviation {
        apart,
        largest,
        index,
        ..
    } = worst;
    let own = own(key);
    let codes: &[&str] = match (role, tensor.dtype().arity) {
        (Role::Two, Arity::Complex) => &["cdab", "badc*"],
        (Role::Two, _) => &["bacd", "abdc", "cdab"],
        (_, Arity::Complex) => &["ba*"],
        _ => &["ba"],
    };
    let flags = |flag: &str| {
        let codes = codes.iter().map(|code| in_own_words(code, tensor));
        let all = codes.map(|code| {
            if code.contains(['*', ' ']) {
                format!("{flag} '{own}{code}'")
            } else {
                format!("{flag} {own}{code}")
            }
        });
        all.collect::<Vec<_>>().join(" ")
    };
    let is_dense = matches!(tensor.storage(), Storage::Dense { .. });
    let sparse = match own.trim_end_matches('=') {
        _ if !is_dense => String::new(),
        "" => "--sparse ".into(),
        name => format!("--sparse={name} "),
    };
    // Integers may have no mean, nor negatives.
    let was_integer = tensor.number_before_casts().kind() != Kind::Float;
    let cast = if was_integer {
        format!("--cast {own}f64 ")
    } else {
        String::new()
    };
    let mean = flags("--symmetrize");
    let mut text = format!(
        "cell {index:?} is off its image by {}, the largest value is {}; {cast}{mean} takes the mean",
        measure_text(*apart, 2),
        measure_text(*largest, 2),
    );
    if apart.is_finite() && *largest > 0.0 {
        // Rounded up, so that it suffices.
        let share = apart / largest * 1.1;
        let kept = flags("--pack");
        let share = measure_text(share, 2);
        text += &format!(", {cast}{sparse}{kept} --symmetry-tol {share} the first of each");
    }
    text
}

/// A symmetry such as `badc*`, in letters, as a text with the names of a tensor's dimensions.
fn in_own_words(code: &str, tensor: &Tensor) -> String {
    let (letters, star) = match code.strip_suffix('*') {
        Some(letters) => (letters, "*"),
        None => (code, ""),
    };
    let place = |letter: char| ('a'..='z').position(|other| other == letter);
    tensor.symmetry_text(&Symmetry {
        permutation: letters.chars().filter_map(place).collect(),
        operation: format!("x{star}"),
        packed: false,
    })
}

/// Whether every cell that is not written follows from one that is.
pub(super) fn is_packed(tensor: &Tensor) -> Result<bool> {
    Ok(match integrals(tensor)? {
        Some((_, symmetries)) => is_same(tensor.symmetries(), &symmetries),
        None => true,
    })
}
