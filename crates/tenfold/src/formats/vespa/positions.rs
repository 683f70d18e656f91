//! Labels that are parsed as positions.

use crate::bundle::Bundle;
use crate::error::{Error, Result};
use crate::format::{OptionInfo, Options, ReadOptions, When};
use crate::tensor::{Numbering, Tensor};

/// The option for positions as labels.
pub(in crate::formats) const LABELS: OptionInfo = OptionInfo::new(
    "labels",
    When::Read,
    "decimal",
    "labels are positions in decimal digits: the tensor is sparse",
);

/// The option for sizes that do not follow from labels.
pub(in crate::formats) const SHAPE: OptionInfo = OptionInfo::new(
    "shape",
    When::Read,
    "100000x100000",
    "with labels=decimal, the sizes of all dimensions; as far as the labels reach unless given",
);

/// Makes the tensor sparse on the option `labels=decimal`.
pub(in crate::formats) fn in_place_of_labels(bundle: Bundle, how: &ReadOptions) -> Result<Bundle> {
    let is_decimal = how
        .options
        .choose(LABELS.name, &[("decimal", ())])?
        .is_some();
    let shape = how.options.get(SHAPE.name).map(sizes).transpose()?;
    if !is_decimal {
        return match shape {
            None => Ok(bundle),
            Some(_) => Err(Error::invalid("shape goes with labels=decimal")),
        };
    }
    let mut bundle = bundle;
    for (_, tensor) in bundle.entries_mut() {
        let numbering = Numbering::Decimal(shape.as_deref());
        *tensor = tensor.labels_to_positions(numbering, &how.limits)?;
    }
    Ok(bundle)
}

/// The options with which the labels that positions of cells became are positions again.
pub(in crate::formats) fn options_to_read(tensor: &Tensor) -> Options {
    let mut needed = Options::default();
    if let Some(sizes) = tensor.label_sizes() {
        needed.set(LABELS.name, "decimal");
        needed.set(SHAPE.name, sizes);
    }
    needed
}

/// Parses sizes such as `3x4`.
fn sizes(text: &str) -> Result<Vec<u64>> {
    let sizes = text.split('x').map(|size| size.trim().parse());
    let sizes: std::result::Result<Vec<u64>, _> = sizes.collect();
    sizes.map_err(|_| Error::invalid(format!("shape is {text:?}, not sizes such as 3x4")))
}
