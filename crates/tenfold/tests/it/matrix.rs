//! Every format to every other: what comes of it, and that this is all that comes of it.

use std::collections::BTreeSet;

use tenfold::{Allow, Aspect, Bundle, Error, Format, Loss, Tier};

use crate::honesty::{is_honest, write};
use crate::meaning::meanings;
use crate::samples::{Sample, samples};
use crate::support::{read, targets, write as write_as};

type Aspects = BTreeSet<Aspect>;

/// What comes of a conversion.
#[derive(Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) carried: Aspects,
    pub(crate) said: Aspects,
    /// What has to be permitted.
    pub(crate) refused: Aspects,
    /// What cannot be, whatever is permitted.
    pub(crate) impossible: Aspects,
}

fn of_tier(losses: &[Loss], tier: Tier) -> Aspects {
    let alike = losses.iter().filter(|loss| loss.tier == tier);
    alike.map(|loss| loss.aspect).collect()
}

/// Converts a bundle, permitting just what has to be.
pub(crate) fn cell(bundle: &Bundle, target: &dyn Format) -> Cell {
    let refused = match write(bundle, target, Allow::Nothing) {
        Ok(_) => vec![],
        Err(Error::Refused(refusal)) => refusal.losses,
        Err(error) => panic!("{error}"),
    };
    let impossible = of_tier(&refused, Tier::Impossible);
    let refused = of_tier(&refused, Tier::Refused);
    let permitted = Allow::These(refused.iter().copied().collect());
    let written = write(bundle, target, permitted);
    let (carried, said) = match &written {
        Ok((_, losses)) => {
            assert!(impossible.is_empty());
            assert_eq!(of_tier(losses, Tier::Refused), refused);
            (of_tier(losses, Tier::Carried), of_tier(losses, Tier::Said))
        }
        Err(Error::Refused(_)) if !impossible.is_empty() => (Aspects::new(), Aspects::new()),
        Err(error) => panic!("what is named is not all that has to be permitted: {error}"),
    };
    Cell {
        carried,
        said,
        refused,
        impossible,
    }
}

/// The samples as their own formats give them back, where these are written.
pub(crate) fn sources() -> Vec<Sample> {
    let mut all = samples();
    let is_written = |name| tenfold::by_name(name).unwrap().info().is_written();
    for sample in all.iter_mut().filter(|sample| is_written(sample.format)) {
        let bytes = write_as(sample.format, &sample.bundle).unwrap();
        let found = read(sample.format, &bytes, &Default::default()).unwrap();
        assert_eq!(
            meanings(&sample.bundle),
            meanings(&found.bundle),
            "{}",
            sample.title
        );
        sample.bundle = found.bundle;
    }
    all
}

#[test]
fn every_format_goes_to_every_other_and_loses_what_is_said() {
    let mut n_cells = 0;
    for sample in sources() {
        for target in targets() {
            let made = cell(&sample.bundle, target);
            // Whatever is written differs in what is said, and in nothing else.
            let is_written = is_honest(&sample.bundle, target).unwrap();
            assert_eq!(is_written, made.impossible.is_empty(), "{}", sample.title);
            // A version of a format may hold what the others do not.
            let is_edition = matches!(target.info().versions, ["2"] | ["0.9"]);
            let own = target.info().name == sample.format && !is_edition;
            let is_exact = [&made.said, &made.refused, &made.impossible]
                .iter()
                .all(|aspects| aspects.is_empty());
            assert!(!own || is_exact && made.carried.is_empty(), "{made:?}");
            n_cells += 1;
        }
    }
    assert_eq!(n_cells, 24 * targets().len());
}

#[test]
fn every_format_has_a_sample() {
    let formats: BTreeSet<&str> = samples().iter().map(|sample| sample.format).collect();
    let all = tenfold::formats::ALL
        .iter()
        .map(|format| format.info().name);
    assert_eq!(formats, all.collect());
}
