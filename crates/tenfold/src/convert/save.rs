//! Writing a file so that it is there whole, or not at all.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind::{AlreadyExists, IsADirectory, NotFound};
use std::io::IsTerminal;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::companions::Drafts;
use super::draft::Draft;
use super::losses::losses_of;
use super::lower::lower;
use crate::bundle::Bundle;
use crate::bytes::{Gzip, PIECE, Sink, is_gzip_name, is_packed_name, measure_text, presence};
use crate::error::{Aspect, Error, Loss, Refusal, Result, Tier};
use crate::format::{Format, When, WriteOptions};
use crate::key::Key;
use crate::limits::Limits;
use crate::tensor::{Storage, Tensor};

/// Gives a bundle as `format` would hold it, lazily, and what it loses on the way, if all of that
/// is permitted: what [`save`] would do, before it is done.
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
    let all = changes.into_iter().chain(losses_of(&lowered, format));
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

/// Writes a bundle to `out`, if the format holds it or what it loses is permitted; gives what was
/// lost.
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

/// Whether a loss is none, or permitted.
fn is_permitted(loss: &Loss, how: &WriteOptions) -> bool {
    match loss.tier {
        Tier::Carried => true,
        Tier::Said => !how.strict || how.allow.permits(loss.aspect),
        Tier::Refused => how.allow.permits(loss.aspect),
        Tier::Impossible => false,
    }
}

/// What casts have changed in all tensors that were written.
fn rounding(lowered: &Bundle, said: &[Loss], limits: &Limits) -> Result<Option<Loss>> {
    let (mut numbers, mut changed, mut tensors) = (0_u64, 0_u64, 0_u64);
    let mut most: Option<(f64, &Key)> = None;
    for (key, tensor) in lowered.entries() {
        let casts = tensor.cast_changes(limits)?;
        for cast in casts.iter().filter(|cast| cast.changed > 0) {
            numbers = numbers.saturating_add(cast.numbers);
            changed = changed.saturating_add(cast.changed);
            tensors = tensors.saturating_add(1);
            // Of numbers that are not negative, NaN last: a NaN that became a number.
            if most.is_none_or(|(largest, _)| cast.largest.total_cmp(&largest).is_gt()) {
                most = Some((cast.largest, key));
            }
        }
    }
    let Some((largest, key)) = most else {
        return Ok(None);
    };
    // A permission was needed for what the format made of them, and none for what was asked for.
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
    let by = match largest.is_nan() {
        true => "NaN becomes a number".to_owned(),
        false => format!("by {} at most", measure_text(largest, 3)),
    };
    let detail = format!("{changed} of {numbers} values are rounded, {by}{place}");
    Ok(Some(Loss {
        key: None,
        aspect: Aspect::Precision,
        detail,
        tier,
    }))
}

/// Makes a refusal of a value that has no room, which is found only when it is read: it names the
/// first tensor that has one.
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
/// The file is written under no name, brought to the disk, and only then named: `path` is never a
/// part of a file, whatever happens. A file that is replaced hands on its permissions; one that is
/// read while it is replaced is read to its end. Of a link, what it points to is replaced.
///
/// What is no file, such as a pipe or a device, cannot be there whole or not at all: it is written
/// to as the bytes come. A file whose name ends in `.gz` is compressed.
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

/// Saves what `write` writes as the file `path`, in the way of [`save`].
///
/// # Errors
/// What `write` gives, and [`Error::Io`] if the system fails.
pub fn save_with<T>(
    path: &Path,
    replace: bool,
    skip_sync: bool,
    write: impl FnOnce(&mut Sink) -> Result<T>,
) -> Result<T> {
    // What is malformed is among what was read, not in the file that is written.
    let in_file = |error: Error| match error {
        Error::Io { .. } => error.in_file(path),
        other => other,
    };
    match Place::find(path, replace).map_err(in_file)? {
        Place::Stream(file) => {
            let mut out = Sink::stream(Box::new(file));
            let written = write(&mut out).map_err(in_file)?;
            out.finish().map_err(in_file)?;
            Ok(written)
        }
        Place::File(_) if is_packed_name(path) && !is_gzip_name(path) => {
            let name = path.display();
            let why = format!("{name}: a compressed file is written as .gz alone");
            Err(Error::invalid(why))
        }
        Place::File(place) => {
            let draft = Draft::create(&place).map_err(in_file)?;
            let file = draft.file.try_clone()?;
            let mut out = match is_gzip_name(path) {
                true => Sink::stream(Box::new(Gzip::new(file))),
                false => Sink::file(file).bound_for_disk(!skip_sync),
            };
            let beside = Drafts::default();
            out = beside.beside(out, path, replace);
            let written = write(&mut out).map_err(in_file)?;
            out.finish().map_err(in_file)?;
            // What the file speaks of is there before it is.
            beside.publish(replace, !skip_sync)?;
            publish(draft, path, replace, !skip_sync)?;
            Ok(written)
        }
    }
}

/// Gives a draft the name `path`.
pub(super) fn publish(draft: Draft, path: &Path, replace: bool, sync: bool) -> Result<()> {
    match draft.publish(replace, sync) {
        Err(Error::Io { source, .. }) if source.kind() == AlreadyExists => Err(taken(path)),
        other => other.map_err(|error| error.in_file(path)),
    }
}

/// Where a file is to go.
pub(super) enum Place {
    /// To a name in a folder.
    File(PathBuf),
    /// Straight into what is no file.
    Stream(File),
}

impl Place {
    pub(super) fn find(path: &Path, replace: bool) -> Result<Place> {
        let about = match path.metadata() {
            Err(error) if error.kind() == NotFound && is_link(path)? => {
                let why = format!("{} is a link to nothing", path.display());
                return Err(Error::invalid(why));
            }
            Err(error) if error.kind() == NotFound => return Ok(Place::File(path.into())),
            other => other?,
        };
        if about.is_dir() {
            return Err(std::io::Error::from(IsADirectory).into());
        }
        if is_own_stream(path) || !about.is_file() && !about.file_type().is_block_device() {
            return Place::stream(path);
        }
        if !replace {
            return Err(taken(path));
        }
        if about.file_type().is_block_device() {
            return Place::stream(path);
        }
        // A link stays, and the file it points to is replaced, in its own folder.
        let file = if is_link(path)? {
            path.canonicalize()?
        } else {
            path.into()
        };
        Ok(Place::File(file))
    }

    fn stream(path: &Path) -> Result<Place> {
        // At the end: a shell may have opened the same file to append to it.
        let file = OpenOptions::new().append(true).open(path)?;
        if file.is_terminal() {
            let name = path.display();
            let why = format!("{name} is a terminal, and these bytes are not for reading");
            return Err(Error::invalid(why));
        }
        Ok(Place::Stream(file))
    }
}

fn is_link(path: &Path) -> Result<bool> {
    let about = presence::link_metadata(path)?;
    Ok(about.is_some_and(|about| about.is_symlink()))
}

pub(super) fn taken(path: &Path) -> Error {
    let why = format!("{} exists already; --force replaces it", path.display());
    Error::invalid(why)
}

/// Whether a path is something else than a file, to which bytes are written as they come: a pipe, a
/// device, or a stream of this process by its name, such as `/dev/stdout`.
#[must_use]
pub fn is_stream(path: &Path) -> bool {
    let is_other = |about: std::fs::Metadata| !about.is_file() && !about.is_dir();
    is_own_stream(path) || path.metadata().is_ok_and(is_other)
}

/// Whether a path is another word for one of the streams that this process was given.
fn is_own_stream(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"];
    let streams = ["/dev/stdout", "/dev/stderr"];
    let is_in = |folder: &&str| path.parent() == Some(Path::new(folder));
    folders.iter().any(is_in) || streams.iter().any(|name| path == Path::new(name))
}
