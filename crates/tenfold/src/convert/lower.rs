//! Brings a bundle into the form that a format holds, lazily, and says what that changes.
//!
//! The order and the byte order of dense values change freely. Everything else that changes is a
//! [`Loss`]: *said* where all values survive, *refused* where they do not. What nothing here can
//! bring about stays as it is, and [`losses`](super::losses) finds it afterwards.

use super::dims;
use crate::bundle::Bundle;
use crate::error::{Aspect, Loss, Result, Tier};
use crate::format::{Info, Names, StorageKind, WriteOptions};
use crate::key::Key;
use crate::meta::Meta;
use crate::number::{DType, Kind, Overflow, is_exact};
use crate::tensor::{Address, Order, Storage, Symmetry, Tensor};

/// Gives the bundle as `info`'s format holds it, and what changes on the way.
pub(super) fn lower(
    bundle: &Bundle,
    info: &Info,
    how: &WriteOptions,
) -> Result<(Bundle, Vec<Loss>)> {
    let mut changes = Vec::new();
    let mut lowered = Bundle::new();
    lowered.hints = bundle.hints.clone();
    lowered.meta = lower_meta(bundle, info, &mut changes);
    let names = KeyNames::of(bundle, info, how);
    for (key, tensor) in bundle.entries() {
        let mut step = Step {
            key,
            info,
            how,
            changes: &mut changes,
        };
        let tensor = step.lower(tensor)?;
        lowered.push(names.name(key, &mut changes), tensor);
    }
    for note in bundle.notes() {
        lowered.note(note.clone());
    }
    Ok((lowered, changes))
}

/// Metadata of the file: a format without any keeps what is its own.
fn lower_meta(bundle: &Bundle, info: &Info, changes: &mut Vec<Loss>) -> Meta {
    let own = format!("{}:", info.name);
    if info.holds.meta.file {
        return bundle.meta.clone();
    }
    let (kept, lost): (Vec<_>, Vec<_>) = bundle
        .meta
        .iter()
        .partition(|(name, _)| name.starts_with(&own));
    if !lost.is_empty() {
        let names: Vec<&str> = lost.iter().map(|(name, _)| *name).collect();
        // Where there is nothing else in a file, this is what somebody wanted to keep.
        let tier = if bundle.entries().is_empty() {
            Tier::Refused
        } else {
            Tier::Said
        };
        let detail = format!("file metadata {} is dropped", names.join(", "));
        changes.push(Loss {
            key: None,
            aspect: Aspect::Metadata,
            detail,
            tier,
        });
    }
    kept.into_iter()
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect()
}

/// How the tensors of a bundle are called in the target.
struct KeyNames<'a> {
    names: Names,
    is_tree: bool,
    is_alone: bool,
    stem: &'a str,
}

impl<'a> KeyNames<'a> {
    fn of(bundle: &Bundle, info: &Info, how: &'a WriteOptions) -> Self {
        let entries = bundle.entries();
        KeyNames {
            names: info.holds.names,
            is_tree: entries
                .iter()
                .any(|(key, _)| key.path.len() > 1 || key.state.is_some()),
            is_alone: entries.len() == 1,
            stem: how.stem.as_deref().unwrap_or("tensor"),
        }
    }

    fn name(&self, key: &Key, changes: &mut Vec<Loss>) -> Key {
        let mut said = |aspect, detail: String| {
            changes.push(Loss {
                key: Some(key.clone()),
                aspect,
                detail,
                tier: Tier::Said,
            });
        };
        match self.names {
            Names::One if self.is_alone && !key.is_empty() => {
                said(Aspect::Keys, "the tensor loses its name".into());
                Key::root()
            }
            Names::Flat if key.is_empty() => {
                said(
                    Aspect::Invented,
                    format!("the tensor is called {:?}", self.stem),
                );
                Key::flat(self.stem)
            }
            Names::Flat if self.is_tree => {
                let name = key.to_string();
                match &key.state {
                    Some(_) => said(
                        Aspect::State,
                        format!("the statistic becomes a tensor {name:?}"),
                    ),
                    None if key.flat_name() == Some(&name) => {}
                    None => said(Aspect::Keys, format!("the path becomes a name {name:?}")),
                }
                Key::flat(name)
            }
            Names::One | Names::Flat | Names::Tree => key.clone(),
        }
    }
}

/// The way of one tensor into the target.
pub(super) struct Step<'a> {
    key: &'a Key,
    pub(super) info: &'a Info,
    pub(super) how: &'a WriteOptions,
    changes: &'a mut Vec<Loss>,
}

impl Step<'_> {
    pub(super) fn change(&mut self, tier: Tier, aspect: Aspect, detail: impl Into<String>) {
        let (key, detail) = (Some(self.key.clone()), detail.into());
        self.changes.push(Loss {
            key,
            aspect,
            detail,
            tier,
        });
    }

    fn lower(&mut self, tensor: &Tensor) -> Result<Tensor> {
        let tensor = self.in_kind(tensor)?;
        let tensor = self.in_number(tensor)?;
        let tensor = dims::lower(self, tensor)?;
        let mut tensor = self.in_order(tensor)?;
        if !self.info.holds.meta.tensor && !tensor.meta.is_empty() {
            let names: Vec<&str> = tensor.meta.iter().map(|(name, _)| name).collect();
            self.change(
                Tier::Said,
                Aspect::Metadata,
                format!("metadata {} is dropped", names.join(", ")),
            );
            tensor.meta = Meta::new();
        }
        Ok(tensor)
    }

    /// Makes dense what the target has no other way to keep, and drops symmetries it has no word
    /// for.
    fn in_kind(&mut self, tensor: &Tensor) -> Result<Tensor> {
        let has = |kind| self.info.holds.kinds.contains(&kind);
        let symmetry = !tensor.symmetries().is_empty() && !self.info.holds.symmetry;
        let is_dense = has(StorageKind::Dense);
        match tensor.storage() {
            Storage::Train { ranks, .. } if !has(StorageKind::Train) && is_dense => {
                let most = ranks.iter().max().copied().unwrap_or(1);
                let detail = format!("a tensor train of rank {most} is expanded");
                self.change(Tier::Refused, Aspect::Train, detail);
                self.made_dense(tensor)
            }
            Storage::Sparse { address, .. }
                if !matches!(address, Address::Labels)
                    && is_dense
                    && (!has(StorageKind::Sparse) || symmetry && tensor.is_packed()) =>
            {
                self.say_symmetry(tensor, symmetry);
                self.say_density(tensor);
                self.made_dense(tensor)
            }
            Storage::Sparse {
                address: Address::Labels,
                ..
            } if !has(StorageKind::Labelled) && is_dense => {
                let placed = tensor.placed(&self.how.limits)?;
                let sizes: Vec<String> = placed.sizes.iter().map(u64::to_string).collect();
                let detail = format!(
                    "labels become positions ({}), absent blocks zeros ({})",
                    sizes.join(" × "),
                    placed.absent
                );
                self.change(Tier::Refused, Aspect::Labels, detail);
                Ok(placed.tensor)
            }
            Storage::Dense { .. } if symmetry && tensor.is_packed() => {
                self.say_symmetry(tensor, symmetry);
                self.made_dense(tensor)
            }
            _ if symmetry => {
                self.say_symmetry(tensor, symmetry);
                rebuilt(tensor, tensor.dtype(), vec![], tensor.storage().clone())
            }
            _ => Ok(tensor.clone()),
        }
    }

    fn say_symmetry(&mut self, tensor: &Tensor, is_lost: bool) {
        if is_lost {
            let what = if tensor.is_packed() {
                "unpacked"
            } else {
                "no longer declared"
            };
            let count = tensor.symmetries().len();
            self.change(
                Tier::Said,
                Aspect::Symmetry,
                format!("symmetries {what}: {count}"),
            );
        }
    }

    /// A sparse tensor is made dense as long as that does not blow it up.
    fn say_density(&mut self, tensor: &Tensor) {
        const FINE: u128 = 1 << 30;
        let width = crate::bytes::wide(tensor.dtype().width());
        let dense = tensor
            .cells()
            .unwrap_or(u128::MAX)
            .saturating_mul(width.into());
        let stored = u128::from(tensor.storage().stored_len());
        let tier = if dense <= FINE.max(stored.saturating_mul(10)) {
            Tier::Said
        } else {
            Tier::Refused
        };
        let detail = format!(
            "{} explicit cells become {dense} bytes of dense values",
            tensor.stored()
        );
        self.change(tier, Aspect::Sparsity, detail);
    }

    fn made_dense(&self, tensor: &Tensor) -> Result<Tensor> {
        let values = tensor.dense(Order::Row, &self.how.limits)?;
        let kept: Vec<Symmetry> = match self.info.holds.symmetry {
            true => tensor.symmetries().to_vec(),
            false => vec![],
        };
        rebuilt(
            tensor,
            tensor.dtype(),
            kept,
            Storage::Dense {
                order: Order::Row,
                values,
            },
        )
    }

    /// Takes the narrowest number type that the target has and that holds every value; where there
    /// is none, the one that comes nearest.
    fn in_number(&mut self, tensor: Tensor) -> Result<Tensor> {
        let numbers = self.info.holds.numbers;
        let own = tensor.dtype().number;
        let can_be_cast = !matches!(tensor.storage(), Storage::Opaque { .. });
        if numbers.contains(&own) || !can_be_cast {
            return Ok(tensor);
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
            (None, None) => return Ok(tensor),
        };
        let verb = if tier == Tier::Said {
            "becomes"
        } else {
            "is rounded to"
        };
        self.change(tier, aspect, format!("{own} {verb} {to}"));
        tensor.cast(to, Overflow::Saturates, &self.how.limits)
    }

    fn in_order(&mut self, tensor: Tensor) -> Result<Tensor> {
        let Storage::Dense { order, .. } = tensor.storage() else {
            return Ok(tensor);
        };
        let wanted = match self.info.holds.orders {
            orders if orders.contains(order) || tensor.is_packed() => return Ok(tensor),
            [first, ..] => *first,
            [] => return Ok(tensor),
        };
        let values = tensor.dense(wanted, &self.how.limits)?;
        let storage = Storage::Dense {
            order: wanted,
            values,
        };
        rebuilt(
            &tensor,
            tensor.dtype(),
            tensor.symmetries().to_vec(),
            storage,
        )
    }
}

/// A tensor with other values or symmetries, and the same dimensions and metadata.
pub(super) fn rebuilt(
    tensor: &Tensor,
    dtype: DType,
    symmetries: Vec<Symmetry>,
    storage: Storage,
) -> Result<Tensor> {
    let rebuilt = Tensor::new(tensor.dims().to_vec(), dtype, symmetries, storage)?;
    Ok(rebuilt.described_like(tensor))
}
