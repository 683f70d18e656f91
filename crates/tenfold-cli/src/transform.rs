//! What `convert` does to tensors between reading and writing.

use tenfold::{Bundle, Error, Info, Key, Limits, Symmetry, Tensor, Tolerance};

use crate::args::{Convert, Meant, Transform};
use crate::failure::Failure;
use crate::render::shown_name;
use crate::select::{demand, matches, names};
use crate::streams::Streams;

/// Changes the tensors as the flags say; tells what is worth knowing.
pub(crate) fn apply(
    bundle: &mut Bundle,
    info: &Info,
    args: &Convert,
    streams: &mut Streams,
) -> Result<(), Failure> {
    let transform = &args.transform;
    let names = names(bundle, info);
    for glob in globs(transform) {
        demand(glob, &names)?;
    }
    for (key, tensor) in bundle.entries_mut() {
        let name = shown_name(info, key);
        let mut step = Step {
            name: &name,
            transform,
            limits: &args.reading.limits.0,
            said: Vec::new(),
        };
        *tensor = step
            .apply(tensor)
            .map_err(|error| about(key, &name, error))?;
        for line in step.said {
            streams.note(&args.input, &line_about(key, &name, &line));
        }
    }
    Ok(())
}

/// Every glob of every flag.
fn globs(transform: &Transform) -> impl Iterator<Item = &str> {
    let Transform {
        unpack,
        reshape,
        permute,
        dims,
        pack,
        symmetry_tol: _,
        round: _,
    } = transform;
    let reshape = reshape.iter().filter_map(|meant| meant.glob.as_deref());
    let permute = permute.iter().filter_map(|meant| meant.glob.as_deref());
    let dims = dims.iter().filter_map(|meant| meant.glob.as_deref());
    let pack = pack.iter().filter_map(|meant| meant.glob.as_deref());
    let given = unpack.as_deref().filter(|glob| *glob != "*");
    given
        .into_iter()
        .chain(reshape)
        .chain(permute)
        .chain(dims)
        .chain(pack)
}

fn line_about(key: &Key, name: &str, line: &str) -> String {
    match key.is_empty() {
        true => line.to_owned(),
        false => format!("{name}: {line}"),
    }
}

/// Says which tensor cannot be changed as was asked.
fn about(key: &Key, name: &str, error: Error) -> Failure {
    match error {
        Error::Invalid(why) => Failure::usage(line_about(key, name, &why)),
        other => other.into(),
    }
}

/// The way of one tensor.
struct Step<'a> {
    name: &'a str,
    transform: &'a Transform,
    limits: &'a Limits,
    said: Vec<String>,
}

impl Step<'_> {
    fn apply(&mut self, tensor: &Tensor) -> tenfold::Result<Tensor> {
        let Transform {
            unpack,
            reshape,
            permute,
            dims,
            ..
        } = self.transform;
        let mut tensor = tensor.clone();
        if self.is_meant(unpack.as_deref()) {
            tensor = tensor.unpacked(self.limits)?;
        }
        if let Some(sizes) = self.last(reshape) {
            tensor = tensor.reshape(sizes, self.limits)?;
        }
        if let Some(order) = self.last(permute) {
            tensor = tensor.permute(&tensor.axes(order)?, self.limits)?;
        }
        if let Some(names) = self.last(dims) {
            tensor = tensor.with_dim_names(names)?;
        }
        self.pack(tensor)
    }

    fn pack(&mut self, tensor: Tensor) -> tenfold::Result<Tensor> {
        let texts = self.transform.pack.iter();
        let texts = texts.filter(|meant| self.is_meant_by(meant));
        let symmetries = texts.map(|meant| tensor.symmetry(&meant.what));
        let symmetries: Vec<Symmetry> = symmetries.collect::<tenfold::Result<_>>()?;
        if symmetries.is_empty() {
            return Ok(tensor);
        }
        let tolerance = self
            .transform
            .symmetry_tol
            .map_or(Tolerance::Exact, Tolerance::Within);
        let packing = tensor.pack(&symmetries, tolerance, self.limits)?;
        if tolerance != Tolerance::Exact {
            let most = packing.deviation;
            self.said
                .push(format!("packing changes values by {most:e} at most"));
        }
        Ok(packing.tensor)
    }

    /// Whether a flag that may have a glob is given for this tensor.
    fn is_meant(&self, glob: Option<&str>) -> bool {
        glob.is_some_and(|glob| matches(glob, self.name))
    }

    fn is_meant_by<T>(&self, meant: &Meant<T>) -> bool {
        meant
            .glob
            .as_deref()
            .is_none_or(|glob| matches(glob, self.name))
    }

    /// The last word for this tensor.
    fn last<'b, T>(&self, words: &'b [Meant<T>]) -> Option<&'b T> {
        let meant = words.iter().rfind(|meant| self.is_meant_by(meant));
        meant.map(|meant| &meant.what)
    }
}
