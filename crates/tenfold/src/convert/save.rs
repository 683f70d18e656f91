//! Saving a bundle as a file, if the format can hold it or its losses are permitted.

use std::path::Path;

use super::fit::lower;
use super::losses::losses_of;
use crate::bundle::Bundle;
use crate::bytes::PIECE;
use crate::error::{Error, Result};
use crate::format::{Format, When, WriteOptions};
use crate::io::{Sink, save_with};
use crate::key::Key;
use crate::limits::Limits;
use crate::loss::{Aspect, Loss, Refusal, Tier};
use crate::tensor::{Storage, Tensor};
use crate::units::measure_text;

/// The bundle as `format` would hold it, lazily, and the losses, if all of them are permitted: a
/// preview of [`save`].
///
/// # Errors
/// [`Error::Refused`] with everything the format cannot hold.
pub fn forecast(
    bundle: &Bundle,
    format: &dyn Format,
    how: &WriteOptions,
) -> Result<(Bundle, Vec<Loss>)> {
    let info = format.info();
    if !info.is_written() {
        return Err(info.only_reads());
    }
    how.options.check(info, When::Write)?;
    if let Some(version) = &how.version
        && !info.versions.contains(&version.as_str())
    {
        let known = info.versions.join(", ");
        let why = format!(
            "{} version {version} cannot be written; these can: {known}",
            info.name
        );
        return Err(Error::invalid(why));
    }
    let format = format.edition(bundle, how).unwrap_or(format);
    let (lowered, changes) = lower(bundle, format, how)?;
    let all = changes.into_iter().chain(losses_of(&lowered, format)?);
    let (said, losses): (Vec<Loss>, Vec<Loss>) = all.partition(|loss| is_permitted(loss, how));
    if !losses.is_empty() {
        return Err(Refusal {
            format: info.name,
            losses,
        }
        .into());
    }
    Ok((lowered, said))
}

/// Writes a bundle to `out`, if the format can hold it or its losses are permitted; returns the
/// losses.
///
/// # Errors
/// [`Error::Refused`] with everything the format cannot hold; nothing was written then.
pub fn write_to(
    bundle: &Bundle,
    out: &mut Sink,
    format: &dyn Format,
    how: &WriteOptions,
) -> Result<Vec<Loss>> {
    let (mut lowered, mut said) = forecast(bundle, format, how)?;
    for (_, tensor) in lowered.entries_mut() {
        *tensor = tensor.distinct(&how.limits)?;
    }
    let format = format.edition(bundle, how).unwrap_or(format);
    let parts = lowered.entries().iter();
    let parts = parts.flat_map(|(_, tensor)| tensor.storage().parts());
    how.progress
        .expect(parts.map(|part| part.bytes.len()).sum());
    out.report_to(how.progress.clone());
    { format.write(&lowered, out, how) }
        .map_err(|error| no_room(error, &lowered, format.info().name))?;
    let found = out.take_losses();
    if found.iter().any(|loss| !is_permitted(loss, how)) {
        return Err(Refusal {
            format: format.info().name,
            losses: found,
        }
        .into());
    }
    said.extend(found);
    said.extend(rounding(&lowered, &said, &how.limits)?);
    Ok(said)
}

/// Does all that [`save`] does, but keeps nothing of what is written; gives what would be lost. What only
/// shows while values are written, such as an option that makes no sense or a value without room, is found.
///
/// # Errors
/// As [`save`], but for what the target itself refuses.
pub fn dry_run(
    bundle: &Bundle,
    path: &Path,
    format: &dyn Format,
    how: &WriteOptions,
) -> Result<Vec<Loss>> {
    write_to(bundle, &mut Sink::discard(), format, &how.for_path(path))
}

/// Whether a loss needs no permission, or has it.
fn is_permitted(loss: &Loss, how: &WriteOptions) -> bool {
    match loss.tier {
        Tier::Carried => true,
        Tier::Said => !how.strict || how.allow.permits(loss.aspect),
        Tier::Refused => how.allow.permits(loss.aspect),
        Tier::Impossible => false,
    }
}

/// The changes that casts made to all tensors that were written.
fn rounding(lowered: &Bundle, said: &[Loss], limits: &Limits) -> Result<Option<Loss>> {
    let (mut numbers, mut changed, mut tensors) = (0_u64, 0_u64, 0_u64);
    let mut most: Option<(f64, &Key)> = None;
    for (key, tensor) in lowered.entries() {
        let casts = tensor.cast_changes(limits)?;
        for cast in casts.iter().filter(|cast| cast.changed > 0) {
            numbers = numbers.saturating_add(cast.numbers);
            changed = changed.saturating_add(cast.changed);
            tensors = tensors.saturating_add(1);
            // Of non-negative numbers, NaN last: a NaN that became a number.
            if most.is_none_or(|(largest, _)| cast.largest.total_cmp(&largest).is_gt()) {
                most = Some((cast.largest, key));
            }
        }
    }
    let Some((largest, key)) = most else {
        return Ok(None);
    };
    // A permission was required for casts made by the format, and none for those that were
    // requested.
    let is_refused = |loss: &Loss| loss.aspect == Aspect::Precision && loss.tier == Tier::Refused;
    let tier = if said.iter().any(is_refused) {
        Tier::Refused
    } else {
        Tier::Said
    };
    let place = if key.is_empty() || tensors == 1 {
        String::new()
    } else {
        format!(" ({key})")
    };
    let by = if largest.is_nan() {
        "NaN becomes a number".to_owned()
    } else {
        format!("by {} at most", measure_text(largest, 3))
    };
    let detail = format!("{changed} of {numbers} values are rounded, {by}{place}");
    Ok(Some(Loss {
        key: None,
        aspect: Aspect::Precision,
        detail,
        tier,
    }))
}

/// Turns the error of a value out of range, found only on reading, into a refusal that names the
/// first such tensor.
fn no_room(error: Error, bundle: &Bundle, format: &'static str) -> Error {
    let Error::NoRoom { value, number } = error else {
        return error;
    };
    let has_none = |tensor: &Tensor| match tensor.storage() {
        Storage::Dense { values, .. } | Storage::Sparse { values, .. } => {
            let read = values.bytes.for_each(PIECE, &mut |_| Ok(()));
            matches!(read, Err(Error::NoRoom { .. }))
        }
        Storage::Train { .. } | Storage::Opaque { .. } => false,
    };
    let mut entries = bundle.entries().iter();
    let found = entries.find(|(_, tensor)| has_none(tensor));
    let loss = Loss {
        key: found.map(|(key, _)| key.clone()),
        aspect: Aspect::Precision,
        detail: format!("{value} has no room in {number}; permitted, it becomes the nearest"),
        tier: Tier::Refused,
    };
    let losses = vec![loss];
    Refusal { format, losses }.into()
}

/// Saves a bundle as the file `path`, which must not exist unless `replace` is set.
///
/// The file is written without a name, synced to disk, and only then named: `path` is never a
/// partial file, whatever happens. A replaced file passes on its permissions; one that is being
/// read while it is replaced can be read to its end. A link is kept, and its target replaced.
///
/// Pipes and devices cannot be replaced atomically: they are written to directly. A file whose name
/// ends in `.gz` is compressed.
///
/// # Errors
/// [`Error::Refused`] if the format cannot hold everything, [`Error::Io`] if the system fails.
pub fn save(
    bundle: &Bundle,
    path: &Path,
    format: &dyn Format,
    how: &WriteOptions,
    replace: bool,
) -> Result<Vec<Loss>> {
    let how = &how.for_path(path);
    save_with(path, replace, how.skip_sync, |out| {
        write_to(bundle, out, format, how)
    })
}
