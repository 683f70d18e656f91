//! Fits a bundle into a target format, lazily, and reports the changes.
//!
//! The order and the byte order of dense values change freely. Everything else that changes is a
//! [`Loss`]: *said* if all values survive, *refused* if they do not. What cannot be fitted here
//! stays unchanged, and [`losses`](super::losses) finds it afterwards.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::fit_names::{KeyNames, renamed, said};
use super::sidecar::train::{CoreNames, can_be_parted, core_name, parted};
use super::sidecar::value::meta_json;
use super::sidecar::write::{NAME, SidecarWriter, with_names};
use super::{fit_dims, fit_storage};
use crate::bundle::Bundle;
use crate::dtype::{DType, Kind, Number, Numbers, Overflow, is_exact};
use crate::error::{Error, Result};
use crate::format::{Format, Info, SidecarSlot, StorageKind, WriteOptions};
use crate::key::Key;
use crate::limits::Limits;
use crate::loss::{Aspect, Loss, Refusal, Tier};
use crate::meta::{Meta, Value};
use crate::note::{Note, NoteKind};
use crate::tensor::{Order, Storage, Symmetry, Tensor};

/// The bundle as the format holds it, and the changes on the way.
pub(crate) fn lower(
    bundle: &Bundle,
    format: &dyn Format,
    how: &WriteOptions,
) -> Result<(Bundle, Vec<Loss>)> {
    let bundle = &*with_names(bundle, format.info());
    let (lowered, changes) = lower_all(bundle, format, how)?;
    let proofs = bundle.meta.proofs();
    let mut entries = lowered.entries().iter();
    // A proof about the values does not apply to rounded ones, and only to a single tensor.
    let why = match entries.any(|(_, tensor)| tensor.is_rounded()) {
        true => "proven of values that are now cast",
        false if bundle.entries().len() > 1 => "proven of one tensor, of which nothing says which",
        false => return Ok((lowered, changes)),
    };
    if proofs.is_empty() {
        return Ok((lowered, changes));
    }
    let mut bundle = bundle.clone();
    for name in &proofs {
        bundle.meta.remove(name);
    }
    let (lowered, mut changes) = lower_all(&bundle, format, how)?;
    let names = proofs.join(", ");
    let detail = format!("file metadata {names} is dropped, {why}");
    changes.push(said(None, Aspect::Metadata, detail));
    Ok((lowered, changes))
}

fn lower_all(
    bundle: &Bundle,
    format: &dyn Format,
    how: &WriteOptions,
) -> Result<(Bundle, Vec<Loss>)> {
    let info = format.info();
    let mut changes = Vec::new();
    let bundle = &*renamed(bundle, format, &how.naming, &mut changes)?;
    let mut carrier = SidecarWriter::new(&info.holds, how.skip_carry, bundle.entries().len());
    let mut lowered = Bundle::new();
    lowered.reserve(bundle.entries().len())?;
    lowered.hints = bundle.hints.clone();
    lowered.meta = lower_meta(bundle, format, &mut carrier, &mut changes)?;
    add_meta(
        &mut lowered.meta,
        format.added_meta(bundle, how)?,
        &mut changes,
    );
    let names = KeyNames::of(bundle, format, how)?;
    let mut core_names = CoreNames::of(bundle, &names);
    let mut is_refused = false;
    let checksums = unknown_checksums(bundle);
    for (key, tensor) in bundle.entries() {
        let name = names.name(key, tensor);
        let suffix = can_be_parted(tensor, format).then(|| core_names.suffix(&name, tensor));
        let ndim = tensor.dims().len();
        match &suffix {
            Some(suffix) => carrier.next(&core_name(&name, suffix, 0), ndim)?,
            None => carrier.next(&name, ndim)?,
        }
        let mut step = Step {
            key,
            info,
            format,
            how,
            suffix,
            carrier: &mut carrier,
            changes: &mut changes,
        };
        let noted = checksums.get(key).copied();
        let tensor = match step.lower(tensor, noted) {
            // The other tensors may be refused as well.
            Err(Error::Refused(_)) => {
                is_refused = true;
                continue;
            }
            lowered => lowered?,
        };
        names.say(&mut step, key, &name);
        let Some(suffix) = step.suffix else {
            lowered.push(name, tensor);
            continue;
        };
        for (number, core) in parted(&tensor, format, &how.limits)?
            .into_iter()
            .enumerate()
        {
            let name = core_name(&name, &suffix, number);
            if number > 0 {
                carrier.next(&name, core.dims().len())?;
            }
            lowered.push(name, core);
        }
    }
    if is_refused {
        let losses = changes.into_iter();
        let losses = losses.filter(|loss| is_refusal(loss, how)).collect();
        return Err(Error::Refused(Refusal {
            format: info.name,
            losses,
        }));
    }
    carrier.finish(&mut lowered);
    for note in bundle.notes() {
        lowered.note(note.clone());
    }
    Ok((lowered, changes))
}

/// The notes on checksums that could not be verified, by tensor.
fn unknown_checksums(bundle: &Bundle) -> HashMap<&Key, &str> {
    let notes = bundle.notes().iter();
    let notes = notes.filter(|note| note.kind == NoteKind::UnknownChecksum);
    notes
        .filter_map(|note| Some((note.key.as_ref()?, note.text.as_str())))
        .collect()
}

/// Whether a change lacks a permission that it needs.
fn is_refusal(loss: &Loss, how: &WriteOptions) -> bool {
    loss.tier == Tier::Refused && !how.allow.permits(loss.aspect)
}

/// Fits the metadata of the file: a format without user metadata keeps only its own.
fn lower_meta(
    bundle: &Bundle,
    format: &dyn Format,
    carrier: &mut SidecarWriter,
    changes: &mut Vec<Loss>,
) -> Result<Meta> {
    let info = format.info();
    let own = format!("{}:", info.name);
    let fits = |name: &str, value: &Value| {
        let mut alone = Bundle::new();
        alone.meta.set(name, value.clone());
        has_place(format, &alone, &[Aspect::Metadata])
    };
    let is_ours = |name: &str| info.holds.carries.is_for_file() && name == NAME;
    let is_kept = |name: &str, value: &Value| {
        if info.holds.meta.file {
            Ok(!is_ours(name) && fits(name, value)?)
        } else {
            Ok(name.starts_with(&own) && !format.lacks_own_meta(name))
        }
    };
    let (kept, lost) = parted_by(bundle.meta.iter(), is_kept)?;
    let mut change = |lost: &[(&str, &Value)], tier| {
        changes.push(Loss {
            key: None,
            aspect: Aspect::Metadata,
            detail: format!("file metadata {}", dropped(lost, tier)),
            tier,
        });
    };
    // In a file without tensors, metadata is the content that the user wants to keep.
    let tier = if bundle.entries().is_empty() {
        Tier::Refused
    } else {
        Tier::Said
    };
    if lost.is_empty() {
        return Ok(of_pairs(kept));
    }
    if carrier.add_file("file", meta_json(&lost)) {
        change(&lost, Tier::Carried);
        return Ok(of_pairs(kept));
    }
    // Large values (a tokenizer vocabulary) do not fit; the small ones are carried anyway.
    let is_short = |pair: &(&str, &Value)| meta_json(&[*pair]).to_string().len() < SHORT;
    let (short, long): (Vec<_>, Vec<_>) = lost.iter().copied().partition(is_short);
    if !short.is_empty() && !long.is_empty() && carrier.add_file("file", meta_json(&short)) {
        change(&short, Tier::Carried);
        change(&long, tier);
    } else {
        change(&lost, tier);
    }
    Ok(of_pairs(kept))
}

/// Metadata, by name.
type Pairs<'a> = Vec<(&'a str, &'a Value)>;

/// The metadata that is kept, and the rest.
fn parted_by<'a>(
    all: impl Iterator<Item = (&'a str, &'a Value)>,
    is_kept: impl Fn(&str, &Value) -> Result<bool>,
) -> Result<(Pairs<'a>, Pairs<'a>)> {
    let (mut kept, mut lost) = (Vec::new(), Vec::new());
    for (name, value) in all {
        let list = if is_kept(name, value)? {
            &mut kept
        } else {
            &mut lost
        };
        list.push((name, value));
    }
    Ok((kept, lost))
}

/// Sets metadata that a format adds to a file.
fn add_meta(meta: &mut Meta, added: Vec<(String, Value)>, changes: &mut Vec<Loss>) {
    for (name, value) in added {
        let text = match &value {
            Value::Int(number) => number.to_string(),
            other => format!("{:?}", other.as_text().unwrap_or_default()),
        };
        let detail = match meta.get(&name) {
            Some(own) if *own == value => continue,
            Some(_) => format!("{name} becomes {text}"),
            None => format!("{name} {text} is added"),
        };
        changes.push(said(None, Aspect::Metadata, detail));
        meta.set(name, value);
    }
}

/// Metadata below this length is carried even if other metadata is too long.
const SHORT: usize = 4096;

/// The simplest tensor, for asking formats about their capabilities.
pub(crate) fn scalar() -> Option<Tensor> {
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers::from_vec(&[0_f32]),
    };
    Tensor::new(vec![], DType::real(Number::F32), vec![], storage).ok()
}

/// Whether a format reports no losses of its own for a bundle, within these aspects.
pub(crate) fn has_place(format: &dyn Format, bundle: &Bundle, aspects: &[Aspect]) -> Result<bool> {
    let losses = format.format_losses(bundle)?;
    Ok(losses.iter().all(|loss| !aspects.contains(&loss.aspect)))
}

fn of_pairs(pairs: Vec<(&str, &Value)>) -> Meta {
    let pairs = pairs.into_iter();
    pairs
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect()
}

/// The names of lost metadata, and their fate, as text.
fn dropped(lost: &[(&str, &Value)], tier: Tier) -> String {
    let names: Vec<&str> = lost.iter().map(|(name, _)| *name).collect();
    let verb = if tier == Tier::Carried {
        "carried"
    } else {
        "dropped"
    };
    format!("{} is {verb}", names.join(", "))
}

/// The fitting of one tensor.
pub(crate) struct Step<'a> {
    key: &'a Key,
    pub(crate) info: &'a Info,
    format: &'a dyn Format,
    pub(crate) how: &'a WriteOptions,
    /// The text between the name of a train and the numbers of its cores, if it is split into
    /// cores.
    pub(crate) suffix: Option<String>,
    carrier: &'a mut SidecarWriter,
    changes: &'a mut Vec<Loss>,
}

impl Step<'_> {
    pub(crate) fn change(&mut self, tier: Tier, aspect: Aspect, detail: impl Into<String>) {
        let (key, detail) = (Some(self.key.clone()), detail.into());
        self.changes.push(Loss {
            key,
            aspect,
            detail,
            tier,
        });
    }

    /// Carries a field about the tensor; false if that is not possible.
    pub(crate) fn carry(&mut self, name: &str, value: Json) -> bool {
        self.carrier.add(name, value)
    }

    /// Refuses tensors beyond a limit if they would be refused anyway: the missing permission is
    /// reported first.
    pub(crate) fn within_limits(&self, made: Result<Tensor>) -> Result<Tensor> {
        let own = |loss: &&Loss| loss.key.as_ref() == Some(self.key) && is_refusal(loss, self.how);
        match made {
            Err(Error::Limit { .. }) if self.changes.iter().any(|loss| own(&loss)) => {
                let losses = self.changes.iter().filter(own).cloned().collect();
                let format = self.info.name;
                Err(Error::Refused(Refusal { format, losses }))
            }
            made => made,
        }
    }

    /// Whether anything can be carried about the tensor.
    pub(crate) fn can_carry(&self) -> bool {
        self.carrier.is_on()
    }

    /// Another version of the format with a storage kind, such as `ztensor@2`.
    pub(crate) fn version_of(&self, kind: StorageKind) -> Option<String> {
        let others = self.format.versions().iter().rev();
        let info = others
            .map(|edition| edition.info())
            .find(|info| info.holds.kinds.contains(&kind))?;
        Some(format!("{}@{}", info.name, info.versions.first()?))
    }

    /// Reports a checksum of an unknown kind, unless it is written again.
    fn say_checksum(&mut self, from: &Tensor, to: &Tensor, noted: Option<&str>) -> Result<()> {
        let own = match from.storage() {
            Storage::Dense { values, .. } => values.bytes.unknown_digest(),
            other => { other.parts().into_iter() }.find_map(|part| part.bytes.unknown_digest()),
        };
        let own = own.map(|(_, checksum)| Note::unknown_checksum(checksum).text);
        let Some(text) = own.or_else(|| noted.map(str::to_owned)) else {
            return Ok(());
        };
        if !self.format.keeps_checksum(to, self.how)? {
            let detail = format!("{text}: it is dropped");
            self.change(Tier::Said, Aspect::Metadata, detail);
        }
        Ok(())
    }

    fn lower(&mut self, tensor: &Tensor, noted: Option<&str>) -> Result<Tensor> {
        let mut lowered = match fit_storage::lower(self, tensor)? {
            Some(lowered) => lowered,
            None => tensor.clone(),
        };
        // Each step returns a tensor only if it changes something: for many small tensors most of
        // the cost is moving them.
        type Way = fn(&mut Step<'_>, &Tensor) -> Result<Option<Tensor>>;
        let ways: [Way; 5] = [
            fit_storage::split,
            |step, tensor| step.in_number(tensor),
            |step, tensor| step.adapted(tensor),
            fit_dims::lower,
            |step, tensor| step.in_order(tensor),
        ];
        for way in ways {
            if let Some(next) = way(self, &lowered)? {
                lowered = next;
            }
        }
        if tensor.label_sizes().is_none() {
            fit_storage::say_labelled(self, &lowered);
        }
        if lowered.is_rounded() && lowered.meta.remove_proven_error() {
            let detail =
                "the error that was proven of the train is dropped: its values are now cast";
            self.change(Tier::Said, Aspect::Metadata, detail);
        }
        if let Some(meta) = self.in_meta(&lowered.meta)? {
            lowered.meta = meta;
        }
        self.say_checksum(tensor, &lowered, noted)?;
        Ok(lowered)
    }

    /// Applies the changes that only the target requires.
    fn adapted(&mut self, tensor: &Tensor) -> Result<Option<Tensor>> {
        let adapted = self.format.adapt(self.key, tensor, self.how);
        let Some((tensor, said)) = adapted.map_err(|error| error.of_tensor(self.key))? else {
            return Ok(None);
        };
        for (tier, aspect, detail) in said {
            self.change(tier, aspect, detail);
        }
        Ok(Some(tensor))
    }

    /// Keeps the metadata that the target can hold; what it cannot express at all is left for
    /// [`losses`](super::losses) to find. `None` if that is all of it.
    fn in_meta(&mut self, meta: &Meta) -> Result<Option<Meta>> {
        let holds = &self.info.holds;
        let is_ours = |name: &str| holds.carries == SidecarSlot::Tensor && name == NAME;
        let (kept, lost) = parted_by(meta.iter(), |name, value| {
            Ok(holds.meta.tensor && !is_ours(name) && self.fits(name, value)?)
        })?;
        if lost.is_empty() {
            return Ok(None);
        }
        let tier = if self.carry("metadata", meta_json(&lost)) {
            Tier::Carried
        } else {
            Tier::Said
        };
        let (left, lost): (Vec<_>, Vec<_>) = lost
            .into_iter()
            .partition(|(name, _)| tier == Tier::Said && holds.meta.tensor && !is_ours(name));
        if !lost.is_empty() {
            let detail = format!("metadata {}", dropped(&lost, tier));
            self.change(tier, Aspect::Metadata, detail);
        }
        Ok(Some(of_pairs(kept.into_iter().chain(left).collect())))
    }

    /// Whether the target can hold this metadata.
    fn fits(&self, name: &str, value: &Value) -> Result<bool> {
        let Some(mut scalar) = scalar() else {
            return Ok(false);
        };
        scalar.meta.set(name, value.clone());
        has_place(self.format, &Bundle::of(scalar), &[Aspect::Metadata])
    }

    /// Whether the target knows the layout of an opaque tensor.
    pub(crate) fn has_layout(&self, tensor: &Tensor) -> Result<bool> {
        let aspects = [Aspect::Skipped, Aspect::Shape];
        Ok(self.info.holds.kinds.contains(&StorageKind::Opaque)
            && has_place(self.format, &Bundle::of(tensor.clone()), &aspects)?)
    }

    /// Whether the target can hold the cells of a sparse tensor unchanged.
    pub(crate) fn has_cells(&self, tensor: &Tensor) -> Result<bool> {
        Ok(self.info.holds.kinds.contains(&StorageKind::Sparse)
            && has_place(
                self.format,
                &Bundle::of(tensor.clone()),
                &[Aspect::Sparsity],
            )?)
    }

    /// Whether the target accepts the names of a tensor's dimensions.
    pub(crate) fn has_dim_names(&self, tensor: &Tensor) -> Result<bool> {
        has_place(
            self.format,
            &Bundle::of(tensor.clone()),
            &[Aspect::DimNames],
        )
    }

    /// Whether the target can express the symmetries of a tensor.
    pub(crate) fn has_symmetries(&self, tensor: &Tensor) -> Result<bool> {
        Ok(self.info.holds.symmetry
            && has_place(
                self.format,
                &Bundle::of(tensor.clone()),
                &[Aspect::Symmetry],
            )?)
    }

    /// Casts to the narrowest number type of the target that holds every value; if there is none,
    /// to the one that comes closest.
    fn in_number(&mut self, tensor: &Tensor) -> Result<Option<Tensor>> {
        let numbers = self.format.numbers(tensor);
        let own = tensor.dtype().number;
        // Elements that the target cannot hold are refused as they are.
        let can_be_cast = !matches!(tensor.storage(), Storage::Opaque { .. })
            && self.info.holds.arities.contains(&tensor.dtype().arity);
        if numbers.contains(&own) || !can_be_cast {
            return Ok(None);
        }
        let exact = numbers
            .iter()
            .filter(|to| is_exact(own, **to))
            .min_by_key(|to| to.width());
        let nearest = numbers
            .iter()
            .filter(|to| to.kind() == Kind::Float)
            .max_by_key(|to| to.width());
        let (to, tier, aspect) = match (exact, nearest) {
            (Some(to), _) => (*to, Tier::Said, Aspect::Number),
            (None, Some(to)) => (*to, Tier::Refused, Aspect::Precision),
            (None, None) => return Ok(None),
        };
        let verb = if tier == Tier::Said {
            "becomes"
        } else {
            "is rounded to"
        };
        self.change(tier, aspect, format!("{own} {verb} {to}"));
        let cast = tensor.cast(to, Overflow::Saturates, &self.how.limits)?;
        Ok(Some(cast))
    }

    fn in_order(&mut self, tensor: &Tensor) -> Result<Option<Tensor>> {
        let Storage::Dense { order, .. } = tensor.storage() else {
            return Ok(None);
        };
        let wanted = match self.info.holds.orders {
            orders if orders.contains(order) || tensor.is_packed() => return Ok(None),
            [first, ..] => *first,
            [] => return Ok(None),
        };
        let values = tensor.dense(wanted, &self.how.limits)?;
        let storage = Storage::Dense {
            order: wanted,
            values,
        };
        let symmetries = tensor.symmetries().to_vec();
        rebuilt(
            tensor,
            tensor.dtype(),
            symmetries,
            storage,
            &self.how.limits,
        )
        .map(Some)
    }
}

/// A tensor with other values or symmetries, and the same dimensions and metadata.
pub(crate) fn rebuilt(
    tensor: &Tensor,
    dtype: DType,
    symmetries: Vec<Symmetry>,
    storage: Storage,
    limits: &Limits,
) -> Result<Tensor> {
    let dims = tensor.dims().to_vec();
    let rebuilt = Tensor::within(dims, dtype, symmetries, storage, limits)?;
    Ok(rebuilt.with_meta_of(tensor))
}
