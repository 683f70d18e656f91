//! Casts of selected tensors.

use super::select::{demand, matches};
use crate::bundle::Bundle;
use crate::dtype::{Number, Rounding};
use crate::error::{Error, Result};
use crate::format::{Allow, Info, cast_loss, overflow};
use crate::limits::Limits;
use crate::loss::{Aspect, Loss, Refusal, Tier};
use crate::tensor::Tensor;

/// The name of the target in a refusal.
const TYPE: &str = "the type asked for";

/// A rule for casting tensors to a number type.
#[derive(Debug, Clone)]
pub struct CastRule {
    /// The pattern for their names; all tensors if it is missing.
    pub glob: Option<String>,
    /// The number type.
    pub number: Number,
}

/// Casts tensors lazily, each by the last rule that matches its name. Rounding to the width of a
/// float is expected of a cast; truncation of fractions, and values out of range, need permission
/// to lose precision.
///
/// # Errors
/// [`Error::Refused`] without that permission, for values out of range when they are read;
/// [`Error::Invalid`] if a pattern matches no tensor.
pub fn cast(
    bundle: &mut Bundle,
    info: &Info,
    rules: &[CastRule],
    rounding: Rounding,
    allow: &Allow,
    limits: &Limits,
) -> Result<()> {
    let names = info.names_of(bundle)?;
    for glob in rules.iter().filter_map(|rule| rule.glob.as_deref()) {
        demand(glob, &names)?;
    }
    let mut refused: Option<Refusal> = None;
    for ((key, tensor), name) in bundle.entries_mut().zip(&names) {
        let is_meant =
            |rule: &&CastRule| rule.glob.as_deref().is_none_or(|glob| matches(glob, name));
        let Some(rule) = rules.iter().rfind(is_meant) else {
            continue;
        };
        match cast_tensor(tensor, rule.number, rounding, allow, limits) {
            Ok(cast) => *tensor = cast,
            Err(Error::Refused(mut refusal)) => {
                let losses = refusal.losses.iter_mut();
                losses.for_each(|loss| loss.key = Some(key.clone()));
                match &mut refused {
                    None => refused = Some(refusal),
                    Some(all) => all.losses.append(&mut refusal.losses),
                }
            }
            Err(error) => return Err(error),
        }
    }
    match refused {
        None => Ok(()),
        Some(refusal) => Err(refusal.into()),
    }
}

/// [`cast`] of one tensor.
///
/// # Errors
/// As [`cast`].
pub fn cast_tensor(
    tensor: &Tensor,
    number: Number,
    rounding: Rounding,
    allow: &Allow,
    limits: &Limits,
) -> Result<Tensor> {
    let is_permitted = allow.permits(Aspect::Precision);
    let (tier, aspect, detail) = cast_loss(tensor.dtype().number, number);
    if tier == Tier::Refused && !is_permitted {
        let loss = Loss {
            key: None,
            aspect,
            detail,
            tier,
        };
        return Err(Refusal {
            format: TYPE,
            losses: vec![loss],
        }
        .into());
    }
    tensor.cast_rounded(number, rounding, overflow(allow), limits)
}
