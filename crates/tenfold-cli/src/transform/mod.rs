//! Transformations of tensors in `convert`.

mod labels;
mod step;

use std::path::Path;

use tenfold::ops::demand;
use tenfold::{Aspect, Bundle, Error, Info, Key};

use crate::commands::{Convert, PerTensor, Transform, allow};
use crate::error::Failure;
use crate::render::shown_name;
use crate::terminal::Streams;
use labels::Lists;
pub(crate) use labels::Wanted;
use step::Step;

/// Applies the flags to the tensors and prints notes about `file`. Returns the label lists to write
/// beside the output.
pub(crate) fn apply(
    bundle: &mut Bundle,
    info: &Info,
    args: &Convert,
    file: &Path,
    streams: &mut Streams,
) -> Result<Wanted, Failure> {
    let transform = &args.transform;
    let names = info.names_of(bundle)?;
    for glob in globs(transform) {
        demand(glob, &names)?;
    }
    demand_dims(bundle, transform)?;
    let lists = Lists::read(&transform.labels)?;
    let permitted = allow(&args.allow);
    let mut found: Vec<String> = Vec::new();
    let mut wanted = Wanted::default();
    for (key, tensor) in bundle.entries_mut() {
        let name = shown_name(info, key);
        let mut step = Step {
            key,
            name: &name,
            transform,
            lists: &lists,
            casts: &args.cast,
            allow: &permitted,
            may_drop_labels: permitted.permits(Aspect::Labels),
            may_replace: args.output.saving.force,
            limits: &args.reading.limits.0,
            found: Vec::new(),
            wanted: &mut wanted,
            said: Vec::new(),
        };
        let made = step.apply(tensor);
        *tensor = made.map_err(|error| about(key, &name, error))?;
        found.extend(step.found);
        for line in step.said {
            streams.note(file, &line_about(key, &name, &line));
        }
    }
    if changes_values(transform) {
        let dropped = bundle.drop_proofs("it is of the tensor before it was changed");
        dropped.iter().for_each(|text| streams.note(file, text));
    }
    let mut dims = transform.labels.iter().map(|(dim, _)| dim);
    match dims.find(|dim| !found.contains(dim)) {
        None => Ok(wanted),
        Some(dim) => Err(Failure::usage(format!("no tensor has a dimension {dim:?}"))),
    }
}

/// Whether the flags change values or their positions.
fn changes_values(transform: &Transform) -> bool {
    let Transform {
        fill,
        reshape,
        permute,
        part,
        symmetrize,
        labels,
        ..
    } = transform;
    let is_moved = !reshape.is_empty() || !permute.is_empty() || labels.iter().next().is_some();
    is_moved || !fill.is_empty() || !part.is_empty() || !symmetrize.is_empty()
}

/// Every glob of every flag.
fn globs(transform: &Transform) -> Vec<&str> {
    fn of<T>(words: &[PerTensor<T>]) -> impl Iterator<Item = &str> {
        words.iter().filter_map(|meant| meant.glob.as_deref())
    }
    let Transform {
        dense,
        fill,
        unpack,
        reshape,
        permute,
        dims,
        part,
        symmetrize,
        detect_symmetry,
        sparse,
        pack,
        ..
    } = transform;
    let plain = [dense, unpack, detect_symmetry, sparse]
        .into_iter()
        .flatten();
    let plain = plain.map(String::as_str).filter(|glob| *glob != "*");
    let others = of(fill).chain(of(reshape)).chain(of(permute));
    plain
        .chain(others)
        .chain(of(dims))
        .chain(of(part))
        .chain(of(symmetrize))
        .chain(of(pack))
        .collect()
}

/// Fails unless some tensor has all dimensions named by the label flags.
fn demand_dims(bundle: &Bundle, transform: &Transform) -> Result<(), Failure> {
    for (dim, _) in transform.labels_out.iter() {
        let is_mapped = |(_, tensor): &(Key, tenfold::Tensor)| {
            let dim = tensor.axis(dim).and_then(|axis| tensor.dims().get(axis));
            dim.is_some_and(|dim| dim.indexed_size().is_none())
        };
        if !bundle.entries().iter().any(is_mapped) {
            let why = format!("no tensor has labels along a dimension {dim:?}");
            return Err(Failure::usage(why));
        }
    }
    Ok(())
}

fn line_about(key: &Key, name: &str, line: &str) -> String {
    if key.is_empty() {
        line.to_owned()
    } else {
        format!("{name}: {line}")
    }
}

/// Names the tensor that cannot be changed as requested.
fn about(key: &Key, name: &str, error: Error) -> Failure {
    match error {
        Error::Invalid(why) => Failure::usage(line_about(key, name, &why)),
        Error::Refused(mut refusal) => {
            for loss in &mut refusal.losses {
                loss.key.get_or_insert_with(|| key.clone());
            }
            Error::from(refusal).into()
        }
        other => other.into(),
    }
}
