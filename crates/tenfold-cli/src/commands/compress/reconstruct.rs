//! `tenfold reconstruct`: trains expanded to dense tensors.

use std::path::Path;

use tenfold::ops::{cast_tensor, nearest};
use tenfold::{Bundle, Dim, Info, Key, Limits, Numbers, Order, Rounding, Storage, Tensor};
use tenfold_train::AnyTrain;

use crate::before::{OriginalLayout, named_like};
use crate::commands::output::line::{Line, writing};
use crate::commands::output::report::Summary;
use crate::commands::output::{Destination, WriteJob, report, target};
use crate::commands::tt::no_train;
use crate::commands::{Outcome, Reconstruct, allow};
use crate::error::Failure;
use crate::exit::Exit;
use crate::input;
use crate::render::shown_name;
use crate::terminal::{Meter, Streams, shape_text};

const SCHEMA: &str = "tenfold.reconstruct/1";

pub(crate) fn run(args: &Reconstruct, streams: &mut Streams) -> Outcome {
    let line = Line::part(&args.words, Some(&args.part), &args.saving, true)?;
    let destination = line.destination.as_ref().unwrap_or(&Destination::Stream);
    report::refuse_stream(args.json, destination)?;
    let usual = tenfold::by_name("npy");
    let format = target::choose(args.saving.to.as_ref(), destination, usual, &[])?;
    let (mut content, options) = line.open(&args.reading, Some(format.info()), streams)?;
    let like = match &args.like {
        Some(file) => Some(Like::open(file, args, streams)?),
        None => None,
    };
    let mut n_trains = 0_usize;
    let is_train = |tensor: &Tensor| matches!(tensor.storage(), Storage::Train { .. });
    let entries = content.bundle.entries().iter();
    let count = entries.filter(|(_, tensor)| is_train(tensor)).count();
    for (key, tensor) in content.bundle.entries_mut() {
        if !is_train(tensor) {
            continue;
        }
        n_trains += 1;
        let wanted = match &like {
            Some(like) => Some(like.find(key, content.info, count)?),
            None => None,
        };
        let made = expanded(args, tensor, wanted, format.info());
        *tensor = made.map_err(|failure| failure.of(content.info).about(&line.word))?;
        if OriginalLayout::of(tensor).dtype.number != tenfold::Number::F64 {
            let name = shown_name(content.info, key);
            let name = if name.is_empty() {
                name
            } else {
                format!("{name}: ")
            };
            let (dtype, shape) = (tensor.dtype(), shape_text(tensor));
            streams.note(&line.word, &format!("{name}expanded as {dtype} {shape}"));
        }
    }
    // A slice of a train may not be a train: its cells are computed anyway.
    if n_trains == 0 && line.reference.is_whole() {
        let failure = no_train(&content.bundle, "tenfold convert writes its tensors");
        return Err(failure.about(&line.word));
    }
    let (stem, allow) = (content.stem.clone(), allow(&args.allow));
    let how = writing(&args.saving, &args.reading, options, stem, allow);
    let job = WriteJob {
        content: &content,
        format,
        how: &how,
        force: args.saving.force,
    };
    let meter = Meter::start(streams, &how.progress);
    let written = job.write(destination, streams);
    drop(meter);
    if args.json {
        Summary {
            schema: SCHEMA,
            format,
            info: content.info,
            inputs: std::slice::from_ref(&line.word),
            destination,
        }
        .print(&job, written, streams)?
    } else {
        drop(written?)
    }
    Ok(Exit::Fine)
}

/// All cells of a train, lazily, in the requested, the stored or the natural layout.
fn expanded(
    args: &Reconstruct,
    train: &Tensor,
    wanted: Option<OriginalLayout>,
    target: &Info,
) -> Result<Tensor, Failure> {
    let limits: &Limits = &args.reading.limits.0;
    let mut described = train.clone();
    let remembered = OriginalLayout::recall(&mut described);
    let wanted = wanted.map(|wanted| wanted.in_order_of(remembered.as_ref()));
    if let (Some(wanted), None) = (&wanted, &remembered)
        && wanted.is_permutation_of(train)
    {
        let own = shape_text(train);
        let why = format!(
            "--like names a tensor of these sizes in another order than {own}: leave it out, and \
             tenfold convert --permute turns the cells back"
        );
        return Err(Failure::usage(why));
    }
    let before = wanted.or(remembered);
    let is_reshaped = before
        .as_ref()
        .is_some_and(|before| !before.is_shaped_like(train));
    // Cells are computed in the order of writing, unless the tensor is reshaped first.
    let order = if target.holds.orders.contains(&Order::Row) || is_reshaped {
        Order::Row
    } else {
        Order::Column
    };
    let mut cells = match train.cells() {
        Some(0) => without_cells(train, order)?,
        _ => AnyTrain::from_tensor(train)?.expanded(order, limits)?,
    };
    cells = named_like(&cells, train.dims())?;
    cells.meta = described.meta;
    let cast = args.cast;
    if let Some(mut before) = before {
        if before.dtype.arity != cells.dtype().arity {
            let (own, other) = (cells.dtype(), before.dtype);
            let why = format!("the cells are {own}, which --like cannot make {other}");
            return Err(Failure::usage(why));
        }
        if cast.is_some() {
            before.dtype.number = cells.dtype().number;
        }
        cells = before.restore(&cells, limits)?;
    }
    if let Some(number) = cast {
        let allow = allow(&args.allow);
        cells = cast_tensor(&cells, number, Rounding::NearestEven, &allow, limits)?;
    }
    Ok(cells)
}

/// The dense tensor for a train without cells.
fn without_cells(train: &Tensor, order: Order) -> Result<Tensor, Failure> {
    let values = Numbers {
        number: train.dtype().number,
        ..Numbers::from_vec::<f64>(&[])
    };
    let dims = train.sizes()?.into_iter().map(Dim::indexed).collect();
    let storage = Storage::Dense { order, values };
    Ok(Tensor::new(dims, train.dtype(), Vec::new(), storage)?)
}

/// The file with the original layouts of the tensors.
struct Like<'a> {
    file: &'a Path,
    bundle: Bundle,
    info: &'static Info,
}

impl Like<'_> {
    fn open<'a>(
        file: &'a Path,
        args: &Reconstruct,
        streams: &mut Streams,
    ) -> Result<Like<'a>, Failure> {
        let opened = input::open(file, &args.reading, streams);
        let (_, opened) = opened.map_err(|failure| failure.about(file))?;
        Ok(Like {
            file,
            bundle: opened.bundle,
            info: opened.format.info(),
        })
    }

    /// The original of the train `key`: the tensor of that name, or the only one.
    fn find(&self, key: &Key, info: &Info, n_trains: usize) -> Result<OriginalLayout, Failure> {
        let entries = self.bundle.entries();
        let same = entries.iter().find(|(own, _)| own == key);
        match (same, entries) {
            (Some((_, tensor)), _) => Ok(OriginalLayout::of(tensor)),
            (None, [(_, tensor)]) if n_trains == 1 => Ok(OriginalLayout::of(tensor)),
            _ => {
                let (name, file) = (shown_name(info, key), self.file.display());
                let there = nearest(&name, &self.info.names_of(&self.bundle)?);
                Err(Failure::usage(format!(
                    "{file} has no tensor called {name:?}; there are {there}"
                )))
            }
        }
    }
}
