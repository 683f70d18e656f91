//! Losses: the parts of a bundle that a format cannot hold.

use hashbrown::HashSet;

use super::fit_names::n_owners;
use super::sidecar::write::NAME;
use crate::bundle::Bundle;
use crate::error::Result;
use crate::format::{
    Capabilities, DimNames, Format, Names, StorageKind, WriteOptions, elements_of, layout_not_held,
};
use crate::key::Key;
use crate::loss::{Aspect, Loss, Tier};
use crate::note::NoteKind;
use crate::tensor::{Address, Size, Storage, Tensor};

/// Lists everything that writing `bundle` as `format` would lose.
///
/// # Errors
/// Errors of reading values, for formats that can hold only some.
pub fn losses(bundle: &Bundle, format: &dyn Format) -> Result<Vec<Loss>> {
    let edition = format.edition(bundle, &WriteOptions::default());
    losses_of(bundle, edition.unwrap_or(format))
}

/// Lists everything that writing `bundle` in the version `format` would lose.
pub(crate) fn losses_of(bundle: &Bundle, format: &dyn Format) -> Result<Vec<Loss>> {
    let holds = &format.info().holds;
    let mut found = Vec::new();
    for_file(bundle, format, &mut found);
    if !(bundle.entries().is_empty() && format.needs_no_tensor(bundle)) {
        for_keys(bundle, holds, &mut found);
    }
    for (key, tensor) in bundle.entries() {
        let mut add = |aspect, detail: String| {
            found.push(Loss {
                tier: Tier::Impossible,
                key: Some(key.clone()),
                aspect,
                detail,
            });
        };
        let own = (bundle.entries().len() > 1).then(|| key.to_string());
        for_tensor(tensor, holds, own.as_deref(), &mut add);
    }
    found.extend(format.format_losses(bundle)?);
    Ok(found)
}

fn for_file(bundle: &Bundle, format: &dyn Format, found: &mut Vec<Loss>) {
    let info = format.info();
    let mut add = |tier, aspect, detail: String| {
        found.push(Loss {
            tier,
            key: None,
            aspect,
            detail,
        })
    };
    if !info.holds.meta.file {
        // Metadata under a format's own prefix is up to its writer.
        let own = format!("{}:", info.name);
        let names: Vec<&str> = bundle
            .meta
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !name.starts_with(&own))
            .filter(|name| !info.holds.carries.is_for_file() || *name != NAME)
            .collect();
        if !names.is_empty() {
            add(
                Tier::Impossible,
                Aspect::Metadata,
                format!("file metadata {}", names.join(", ")),
            );
        }
    }
    let notes = bundle.notes().iter();
    for note in notes.filter(|note| note.kind == NoteKind::Incomplete) {
        let detail = format!("{}; --alone takes what is there", note.text);
        add(Tier::Refused, Aspect::Skipped, detail);
    }
    let skipped = bundle
        .notes()
        .iter()
        .filter(|note| note.kind == NoteKind::Skipped)
        .count();
    if skipped > 0 {
        add(
            Tier::Refused,
            Aspect::Skipped,
            format!("tensors that could not be read: {skipped}"),
        );
    }
}

fn for_keys(bundle: &Bundle, holds: &Capabilities, found: &mut Vec<Loss>) {
    let entries = bundle.entries();
    let count = n_owners(bundle, holds);
    if holds.names == Names::One && count != 1 {
        let is_owner = |(key, _): &&(Key, Tensor)| key.state.is_none();
        let hint = match entries.iter().filter(is_owner).count() {
            _ if entries.is_empty() => "",
            1 => "; --no-state leaves the statistics out",
            _ => "; --only chooses one, --out-dir writes a file for each",
        };
        let detail = format!("{count} tensors where one is needed{hint}");
        found.push(Loss {
            tier: Tier::Impossible,
            key: None,
            aspect: Aspect::Count,
            detail,
        });
        // Their names are handled elsewhere.
        return;
    }
    let mut seen = HashSet::with_capacity(entries.len());
    for (key, _) in entries {
        let mut add = |tier, aspect, detail: &str| {
            found.push(Loss {
                tier,
                key: Some(key.clone()),
                aspect,
                detail: detail.into(),
            });
        };
        if key.state.is_some() && !holds.state {
            add(
                Tier::Impossible,
                Aspect::State,
                "a statistic of another tensor; --no-state leaves it out",
            );
            continue;
        }
        let fits = match holds.names {
            Names::One => key.path().is_empty(),
            Names::Flat => key.path().len() == 1,
            Names::Tree => true,
        };
        if !fits {
            add(Tier::Impossible, Aspect::Keys, wrong_key(holds.names, key));
        }
        if !seen.insert(key) {
            // A flat file can repeat a name; a tree has one place for it.
            let tier = if holds.names == Names::Flat {
                Tier::Refused
            } else {
                Tier::Impossible
            };
            add(tier, Aspect::Keys, "the name is used twice");
        }
    }
}

fn wrong_key(names: Names, key: &Key) -> &'static str {
    match names {
        Names::One => "the tensor would lose its name",
        Names::Flat if key.path().is_empty() => "the tensor has no name",
        Names::Flat => "a path would become one name",
        Names::Tree => "",
    }
}

/// Lists the losses of a tensor; `own` is its name if there are others, as options then need it.
fn for_tensor(
    tensor: &Tensor,
    holds: &Capabilities,
    own: Option<&str>,
    add: &mut dyn FnMut(Aspect, String),
) {
    let dtype = tensor.dtype();
    // An opaque tensor has no numbers that a format could lack.
    let has_numbers = !matches!(tensor.storage(), Storage::Opaque { .. });
    let is_held = holds.numbers.contains(&dtype.number) && holds.arities.contains(&dtype.arity);
    if has_numbers && !is_held {
        add(Aspect::Number, elements_of(dtype));
    }
    // Before the shape: converting the storage kind may change the shape.
    for_kind(tensor, holds, own.is_none(), add);
    let ndim = crate::bytes::to_u64(tensor.dims().len());
    if ndim < holds.ndim.0 || ndim > holds.ndim.1 {
        add(Aspect::Shape, wrong_ndim(tensor, holds.ndim, own));
    }
    for dim in tensor.dims() {
        let Some(size) = dim.indexed_size() else {
            continue;
        };
        if size < holds.size.0 || size > holds.size.1 {
            let (least, most) = holds.size;
            add(
                Aspect::Shape,
                format!("a size of {size}, between {least} and {most} fit"),
            );
        }
    }
    for_names(tensor, holds, add);
    if !tensor.symmetries().is_empty() && !holds.symmetry {
        add(
            Aspect::Symmetry,
            format!("{} symmetries", tensor.symmetries().len()),
        );
    }
    if !tensor.meta.is_empty() && !holds.meta.tensor {
        let names: Vec<&str> = tensor.meta.iter().map(|(name, _)| name).collect();
        add(Aspect::Metadata, format!("metadata {}", names.join(", ")));
    }
}

/// The error text for a wrong number of dimensions, with a shape that fits.
fn wrong_ndim(tensor: &Tensor, (least, most): (u64, u64), own: Option<&str>) -> String {
    let ndim = tensor.dims().len();
    let noun = if ndim == 1 { "dimension" } else { "dimensions" };
    let needed = if least == most {
        format!("{ndim} {noun} where {least} are needed")
    } else {
        format!("{ndim} {noun} where {least} to {most} are needed")
    };
    let is_opaque = matches!(tensor.storage(), Storage::Opaque { .. });
    let sizes = tensor.sizes().ok().filter(|_| !is_opaque);
    let Some(fitting) = sizes.and_then(|sizes| with_ndim(&sizes, (least, most))) else {
        return needed;
    };
    let fitting: Vec<String> = fitting.iter().map(u64::to_string).collect();
    let own = own.map_or_else(String::new, |name| format!("{name}="));
    format!("{needed}; --reshape {own}{} fits", fitting.join(","))
}

/// A shape with an allowed number of dimensions for the same cells: ones in front, or the first
/// dimensions merged.
fn with_ndim(sizes: &[u64], (least, most): (u64, u64)) -> Option<Vec<u64>> {
    let (least, most) = (usize::try_from(least).ok()?, usize::try_from(most).ok()?);
    let missing = least.saturating_sub(sizes.len());
    if missing > 0 {
        return Some([&vec![1; missing], sizes].concat());
    }
    let merged = sizes.len().checked_sub(most.checked_sub(1)?)?;
    let (first, rest) = sizes.split_at_checked(merged)?;
    let first = first
        .iter()
        .try_fold(1_u64, |all, size| all.checked_mul(*size));
    Some([&[first?], rest].concat())
}

fn for_names(tensor: &Tensor, holds: &Capabilities, add: &mut dyn FnMut(Aspect, String)) {
    // The name of a mapped dimension is handled along with its labels.
    let indexed = || {
        tensor
            .dims()
            .iter()
            .filter(|dim| dim.indexed_size().is_some())
    };
    let names = || indexed().filter_map(|dim| dim.name.as_deref());
    match holds.dim_names {
        DimNames::Required | DimNames::Any => {}
        DimNames::No => for_lost_names(&names().collect::<Vec<_>>(), add),
        DimNames::Batch => {
            let mut lost: Vec<&str> = names().collect();
            let last = tensor.dims().last().and_then(|dim| dim.name.as_deref());
            if last == Some("batch") {
                lost.pop();
            }
            for_lost_names(&lost, add);
        }
        DimNames::Letter => {
            let is_letter = |name: &str| {
                let mut letters = name.chars();
                let first = letters.next().map(u32::from);
                first.is_some_and(|code| code < 256) && letters.next().is_none()
            };
            for name in names().filter(|name| !is_letter(name)) {
                add(
                    Aspect::DimNames,
                    format!("the dimension name {name:?} is not one byte"),
                );
            }
        }
    }
}

fn for_lost_names(names: &[&str], add: &mut dyn FnMut(Aspect, String)) {
    if !names.is_empty() {
        let detail = format!("dimension names {}", names.join(", "));
        add(Aspect::DimNames, detail);
    }
}

fn for_kind(
    tensor: &Tensor,
    holds: &Capabilities,
    is_alone: bool,
    add: &mut dyn FnMut(Aspect, String),
) {
    let has = |kind| holds.kinds.contains(&kind);
    match tensor.storage() {
        Storage::Dense { .. } if !has(StorageKind::Dense) => {
            add(
                Aspect::Shape,
                format!("dense values{}", instead(holds, is_alone)),
            );
        }
        Storage::Sparse {
            address: Address::Labels,
            ..
        } if !has(StorageKind::Labelled) => {
            let mapped = tensor.dims().iter().filter(|dim| dim.size == Size::Mapped);
            let detail = format!(
                "{} mapped dimensions; --dense --allow labels makes positions of the labels",
                mapped.count()
            );
            add(Aspect::Labels, detail);
        }
        Storage::Sparse { address, .. }
            if !matches!(address, Address::Labels) && !has(StorageKind::Sparse) =>
        {
            let (cells, hint) = (tensor.stored(), instead(holds, is_alone));
            add(Aspect::Sparsity, format!("{cells} explicit cells{hint}"));
        }
        Storage::Train { .. } if !has(StorageKind::Train) => {
            add(Aspect::Train, "a tensor train; --dense expands it".into());
        }
        Storage::Opaque { layout, .. } if !has(StorageKind::Opaque) => {
            add(Aspect::Skipped, layout_not_held(layout));
        }
        _ => {}
    }
}

/// The option that leads to a format with other storage kinds. Trains are not split into several
/// tensors for a format that holds only one.
fn instead(holds: &Capabilities, is_alone: bool) -> &'static str {
    let has = |kind| holds.kinds.contains(&kind);
    if has(StorageKind::Train) && (is_alone || holds.names != Names::One) {
        "; --eps 1e-6 makes a train"
    } else if has(StorageKind::Sparse) {
        "; --sparse keeps the cells that are not zero"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Numbers;
    use crate::formats::primitiv::Primitiv;
    use crate::tensor::{Dim, Order};

    fn named(names: [&str; 2]) -> Bundle {
        let dims = names.map(|name| Dim::indexed(2).named(name)).to_vec();
        let storage = Storage::Dense {
            order: Order::Row,
            values: Numbers::from_vec(&[1_f32, 2.0, 3.0, 4.0]),
        };
        Bundle::of(Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap())
    }

    #[test]
    fn where_only_a_batch_has_a_name_it_is_kept_if_it_comes_last() {
        let details = |names| -> Vec<String> {
            let losses = losses(&named(names), &Primitiv).unwrap();
            losses.into_iter().map(|loss| loss.detail).collect()
        };
        assert_eq!(details(["x", "batch"]), ["dimension names x"]);
        assert_eq!(details(["batch", "y"]), ["dimension names batch, y"]);
        assert_eq!(details(["batch", "batch"]), ["dimension names batch"]);
    }
}
