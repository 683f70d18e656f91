//! Selection of the tensors to compress, and of those to keep.

use tenfold::ops::{demand_all, matches, nearest};
use tenfold::{
    Arity, Aspect, Bytes, Error, Info, Key, Kind, Loss, Names, Numbers, Spool, Storage, Tensor,
    Tier,
};
use tenfold_train::Error as TrainError;

use super::super::output::Content;
use super::work::{Made, Work};
use super::{options, tolerance_text, work};
use crate::args::Choice;
use crate::before::{OriginalLayout, mark_permuted, named_like, unmark};
use crate::commands::Compress;
use crate::error::Failure;
use crate::render::{bytes_text, shown_name};
use crate::terminal::growth_text;

/// The outcome for one tensor.
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) name: String,
    /// Kept unchanged.
    pub(super) tensor: Tensor,
    pub(super) fate: Fate,
}

pub(super) enum Fate {
    Made(Box<Made>),
    /// The reason for keeping it.
    Kept(String),
}

impl Entry {
    pub(super) fn made(&self) -> Option<&Made> {
        match &self.fate {
            Fate::Made(made) => Some(made),
            Fate::Kept(_) => None,
        }
    }

    /// Bytes of its values in the input.
    pub(super) fn before(&self) -> u64 {
        self.tensor.storage().stored_len()
    }

    /// Bytes of its values in the output.
    pub(super) fn after(&self) -> u64 {
        self.made()
            .map_or(self.before(), |made| made.report.train_len)
    }
}

/// Validates the flags; narrows to the selected tensor if only one fits.
pub(super) fn choose(content: &mut Content, args: &Compress, is_one: bool) -> Result<(), Failure> {
    let choice = &args.selection.choice;
    let names = content.info.names_of(&content.bundle)?;
    let about = |failure: Failure| match &content.file {
        Some(file) => failure.about(file),
        None => failure,
    };
    demand_all(choice.only.iter().chain(&choice.exclude), &names)
        .map_err(|error| about(error.into()))?;
    let shape = &args.reshaping;
    let places = names.iter().enumerate();
    let chosen = places.filter(|(_, name)| is_chosen(choice, name));
    let chosen: Vec<usize> = chosen.map(|(place, _)| place).collect();
    match chosen.as_slice() {
        [place] if is_one => content.bundle.keep(*place),
        _ if !is_one
            && (shape.reshape.is_none() && shape.qubits.is_none() || chosen.len() == 1) => {}
        [] => return Err(about(Failure::usage("there is no tensor to compress"))),
        many => {
            let (count, some) = (many.len(), nearest("", &names));
            let why = if is_one {
                "a .blz file or a sweep is of one tensor"
            } else {
                "--reshape and --qubits are for one tensor"
            };
            let elsewhere = if is_one {
                "; a .zt file holds them all"
            } else {
                "; --only chooses too"
            };
            let file = content
                .file
                .as_deref()
                .unwrap_or_else(|| std::path::Path::new("FILE"));
            let file = file.display();
            return Err(Failure::usage(format!(
                "{why}, and there are {count}: name one, as in {file}:KEY, of {some}{elsewhere}"
            )));
        }
    }
    Ok(())
}

/// Permutes the dimensions as `--permute` asks.
pub(super) fn permute(content: &mut Content, args: &Compress) -> Result<(), Error> {
    let names = content.info.names_of(&content.bundle)?;
    let globs = args.permute.iter().filter_map(|meant| meant.glob.as_ref());
    demand_all(globs, &names)?;
    for ((_, tensor), name) in content.bundle.entries_mut().zip(&names) {
        let is_meant = |glob: &String| matches(glob, name);
        let mut orders = args.permute.iter();
        let order = orders.rfind(|meant| meant.glob.as_ref().is_none_or(is_meant));
        if let Some(order) = order.filter(|_| is_chosen(&args.selection.choice, name)) {
            let axes = tensor.axes(&order.what)?;
            *tensor = tensor.permute(&axes, &args.reading.limits.0)?;
            mark_permuted(tensor, &axes);
        }
    }
    Ok(())
}

fn is_chosen(choice: &Choice, name: &str) -> bool {
    let any = |globs: &[String]| globs.iter().any(|glob| matches(glob, name));
    (choice.only.is_empty() || any(&choice.only)) && !any(&choice.exclude)
}

/// Replaces tensors by trains. A single tensor that cannot be compressed is an error, as is any
/// tensor of a file that holds one train; of several in one file, those that fail or would grow are
/// kept.
pub(super) fn carry_out(
    work: &Work,
    content: &mut Content,
    target: &Info,
) -> Result<Vec<Entry>, Failure> {
    let info = content.info;
    let count = content.bundle.entries().len();
    let is_lone = count == 1 || target.holds.names == Names::One;
    let (mut entries, mut said) = (Vec::new(), Vec::new());
    for (key, tensor) in content.bundle.entries_mut() {
        let name = shown_name(info, key);
        let made = if is_lone {
            alone(work, tensor).map(|made| Fate::Made(Box::new(made)))
        } else {
            among(work, tensor, &name)
        };
        let fate = match count {
            1 => made?,
            _ => made.map_err(|failure| failure.about(std::path::Path::new(&name)))?,
        };
        let own = tensor.clone();
        if let Fate::Made(made) = &fate {
            *tensor = train_tensor(&own, made, target, is_lone)?;
            let count = own.symmetries().len();
            said.extend((count > 0).then(|| Loss {
                key: Some(key.clone()),
                aspect: Aspect::Symmetry,
                detail: format!("symmetries no longer declared: {count}"),
                tier: Tier::Said,
            }));
        }
        entries.push(Entry {
            key: key.clone(),
            name,
            tensor: own,
            fate,
        });
    }
    content.said.extend(said);
    for (_, tensor) in content.bundle.entries_mut() {
        unmark(tensor);
    }
    if !is_lone && entries.iter().all(|entry| entry.made().is_none()) {
        let why = match work.nearness.eps {
            Some(eps) => format!("no tensor gets smaller at --eps {}", tolerance_text(eps)),
            None => "no tensor gets smaller".into(),
        };
        let chosen = entries
            .iter()
            .filter(|entry| is_chosen(work.choice, &entry.name));
        let reasons = reasons_text(chosen);
        return Err(Failure::refused(&format!("{why}{reasons}")));
    }
    Ok(entries)
}

/// The reasons for keeping tensors, each once: that one is too small says nothing about another
/// that has a NaN.
fn reasons_text<'a>(entries: impl Iterator<Item = &'a Entry>) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for entry in entries {
        let Fate::Kept(reason) = &entry.fate else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(&entry.name),
            None => reasons.push((reason, vec![&entry.name])),
        }
    }
    let texts: Vec<String> = { reasons.iter() }
        .map(|(reason, names)| match names.as_slice() {
            [name] => format!("{name} is kept, {reason}"),
            [first, second, _, rest @ ..] if rest.len() > 1 => {
                let more = rest.len() + 1;
                format!("{first}, {second} and {more} more are kept, {reason}")
            }
            names => format!("{} are kept, {reason}", names.join(", ")),
        })
        .collect();
    if texts.is_empty() {
        String::new()
    } else {
        format!(": {}", texts.join("; "))
    }
}

/// The only tensor.
fn alone(work: &Work, tensor: &Tensor) -> Result<Made, Failure> {
    let mut options = options(work.nearness)?;
    let before = tensor.storage().stored_len();
    if !work.may_grow {
        options = options.smaller_than(before);
    }
    let prepared = work.prepare(tensor)?;
    let made = work.compress(&prepared, &options)?;
    if made.report.train_len >= before && !work.may_grow {
        return Err(work::too_large(before, &made));
    }
    Ok(made)
}

/// One of many tensors.
fn among(work: &Work, tensor: &Tensor, name: &str) -> Result<Fate, Failure> {
    if let Some(reason) = reason_to_keep(work, tensor, name) {
        return Ok(Fate::Kept(reason));
    }
    let before = tensor.storage().stored_len();
    let options = options(work.nearness)?.smaller_than(before);
    let made = work
        .prepare(tensor)
        .and_then(|prepared| work.compress(&prepared, &options));
    let made = match made {
        Ok(made) => made,
        Err(TrainError::Invalid(why) | TrainError::Tensor(Error::Invalid(why))) => {
            return Ok(Fate::Kept(why));
        }
        Err(TrainError::NotFinite { index, value }) => {
            return Ok(Fate::Kept(format!("cell {index:?} is {value}")));
        }
        Err(why @ (TrainError::RankLimit(_) | TrainError::Memory { .. })) => {
            return Ok(Fate::Kept(why.to_string()));
        }
        Err(TrainError::NotSmaller { least, .. }) => {
            let (now, then) = (bytes_text(before), bytes_text(least));
            return Ok(Fate::Kept(format!(
                "any train takes {then} or more, {now} now"
            )));
        }
        Err(other) => return Err(other.into()),
    };
    let after = made.report.train_len;
    Ok(if after < before {
        Fate::Made(Box::new(made))
    } else {
        Fate::Kept(format!("a train would be {}", growth_text(before, after)))
    })
}

/// The reason for not even trying a tensor.
fn reason_to_keep(work: &Work, tensor: &Tensor, name: &str) -> Option<String> {
    let is_named = !work.choice.only.is_empty();
    let is_float = tensor.dtype().number.kind() == Kind::Float;
    let arity = tensor.dtype().arity;
    let ndim = tensor.dims().len();
    let reason = match tensor.storage() {
        _ if !is_chosen(work.choice, name) => "not chosen",
        Storage::Train { .. } => "a train already",
        Storage::Opaque { .. } if tensor.is_quantized() => "quantised, unless --dequantize",
        Storage::Opaque { .. } => "its layout is not understood",
        _ if tensor.n_mapped() > 0 => "it has labels",
        _ if !matches!(arity, Arity::Real | Arity::Complex) => "neither real nor complex",
        _ if !is_float && !is_named => "whole numbers, unless --only names it",
        _ if tensor.cells() == Some(0) => "it has no cells",
        _ if ndim == 0 => "a single number",
        _ if ndim == 1 && !work.reshaping.qtt => "one dimension, unless --qtt splits it",
        _ => return None,
    };
    Some(reason.into())
}

/// A train as a tensor to write, with the metadata of its source.
fn train_tensor(
    own: &Tensor,
    made: &Made,
    target: &Info,
    is_lone: bool,
) -> Result<Tensor, Failure> {
    let mut train = made.train.to_tensor()?;
    if !is_lone {
        train = put_aside(&train)?;
    }
    if own.indexed_sizes() == train.indexed_sizes() {
        train = named_like(&train, own.dims())?;
    }
    train.meta = own.meta.clone();
    if target.holds.meta.tensor {
        OriginalLayout::of(own).note(&mut train, made.report.relative_error());
    }
    Ok(train)
}

/// The same train with its cores in memory while they are few, otherwise in a temporary file: there
/// may be one for every tensor.
fn put_aside(train: &Tensor) -> Result<Tensor, Error> {
    let Storage::Train { ranks, cores } = train.storage() else {
        return Ok(train.clone());
    };
    let aside = |core: &Numbers| {
        let mut spool = Spool::new();
        core.bytes
            .for_each(1 << 20, &mut |piece| spool.write(piece))?;
        Ok(Numbers {
            bytes: Bytes::whole(spool.finish()?),
            ..core.clone()
        })
    };
    let cores = cores.iter().map(aside).collect::<Result<_, Error>>()?;
    let ranks = ranks.clone();
    let storage = Storage::Train { ranks, cores };
    Tensor::new(train.dims().to_vec(), train.dtype(), vec![], storage)
}
