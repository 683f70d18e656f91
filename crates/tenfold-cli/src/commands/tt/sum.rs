//! `tenfold tt add` and `tenfold tt sub`: sums and differences of trains.

use tenfold::Storage;
use tenfold_train::AnyTrain;

use super::super::Outcome;
use super::super::output::line::{Line, writing};
use super::super::output::{Destination, WriteJob, target};
use super::of_both;
use crate::before::named_like;
use crate::commands::{TtSum, allow};
use crate::error::Failure;
use crate::exit::Exit;
use crate::terminal::Streams;

pub(super) fn run(
    args: &TtSum,
    combine: fn(&AnyTrain, &AnyTrain) -> tenfold_train::Result<AnyTrain>,
    streams: &mut Streams,
) -> Outcome {
    let words: Vec<_> = std::iter::once(&args.a).chain(&args.out).cloned().collect();
    let line = Line::part(&words, None, &args.saving, true)?;
    let destination = line.destination.as_ref().unwrap_or(&Destination::Stream);
    let usual = tenfold::by_name("blz");
    let format = target::choose(args.saving.to.as_ref(), destination, usual, &[])?;
    destination.refuse_existing(args.saving.force)?;
    let (mut content, options) = line.open(&args.reading, Some(format.info()), streams)?;
    let entries = content.bundle.entries().iter().enumerate();
    let trains =
        entries.filter(|(_, (_, tensor))| matches!(tensor.storage(), Storage::Train { .. }));
    let places: Vec<usize> = trains.map(|(place, _)| place).collect();
    let [place] = places.as_slice() else {
        let count = places.len();
        let why = format!("one train is wanted and there are {count}: name one, as in FILE:KEY");
        return Err(Failure::usage(why).about(&line.word));
    };
    content.bundle.keep(*place);
    let other = super::only(&args.b, &args.reading, streams)?;
    for (_, tensor) in content.bundle.entries_mut() {
        let own = AnyTrain::from_tensor(tensor);
        let own = own.map_err(|error| Failure::from(error).about(&line.word))?;
        let both = combine(&own, &other).map_err(|error| of_both(error, &line.word, &args.b))?;
        *tensor = named_like(&both.to_tensor()?, tensor.dims())?;
    }
    // Metadata of the first train does not apply to the sum.
    tenfold::formats::blz::strip(&mut content.bundle);
    let stem = content.stem.clone();
    let how = writing(
        &args.saving,
        &args.reading,
        options,
        stem,
        allow(&args.allow),
    );
    let job = WriteJob {
        content: &content,
        format,
        how: &how,
        force: args.saving.force,
    };
    job.write(destination, streams)?;
    Ok(Exit::Fine)
}
