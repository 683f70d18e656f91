//! Values as Vespa tensor literals: `tensor(x{},y[2]):{a:[1.0, 2.0]}`.

use tenfold::formats::vespa_text::VespaText;
use tenfold::{
    Allow, Aspect, Bundle, Cell, Dim, Error, Info, Limits, Loss, Result, Tensor, WriteOptions,
};

use crate::render::{is_dim_name, type_of};
use crate::terminal::Out;

/// Prints one line per tensor, once all are known to have a literal; returns the losses, such as
/// dimension names.
pub(super) fn print(
    info: &Info,
    bundle: &Bundle,
    limits: &Limits,
    out: &mut Out,
) -> Result<Vec<Loss>> {
    if bundle.entries().is_empty() {
        return Err(Error::Invalid(format!(
            "this {} file has no tensor",
            info.name
        )));
    }
    for (_, tensor) in bundle.entries() {
        tensor.compare_checksums()?;
        check(tensor)?;
        check_labels(tensor, limits)?;
    }
    // Cells stay the same: only their storage changes, which is not printed.
    let mut how = WriteOptions {
        allow: Allow::Everything,
        limits: limits.clone(),
        ..WriteOptions::default()
    };
    how.options.set("form", "literal");
    let mut invented = Vec::new();
    out.lend(|sink| {
        bundle.entries().iter().try_for_each(|(key, tensor)| {
            let alone = Bundle::of(tensor.clone());
            let said = tenfold::write_to(&alone, sink, &VespaText, &how)?;
            let said = { said.into_iter() }.filter(|loss| loss.aspect == Aspect::Invented);
            invented.extend(said.map(|loss| Loss {
                key: Some(key.clone()),
                ..loss
            }));
            Ok(())
        })
    })?;
    Ok(invented)
}

/// Fails if Vespa has no such type.
fn check(tensor: &Tensor) -> Result<()> {
    let names = tensor.dims().iter().filter_map(|dim| dim.name.as_deref());
    let odd = { names.into_iter() }.find(|name| !is_dim_name(name));
    let named: Vec<Dim> = { tensor.dims().iter() }
        .map(|dim| dim.clone().named("x"))
        .collect();
    let why = match odd {
        Some(name) => format!("a literal has no word for a dimension called {name:?}"),
        None if type_of(tensor.dtype(), &named).is_some() => return Ok(()),
        None => format!(
            "a literal has no word for {}: cast to f64, f32, bf16 or i8 first, as with convert --cast",
            tensor.dtype()
        ),
    };
    Err(Error::Invalid(why))
}

/// Fails if a label cannot be written: literals have no escapes.
fn check_labels(tensor: &Tensor, limits: &Limits) -> Result<()> {
    if tensor.n_mapped() == 0 {
        return Ok(());
    }
    let is_odd = |label: &str| {
        label.chars().any(char::is_control) || label.contains('\'') && label.contains('"')
    };
    tensor.for_each_cell(limits, &mut |cell| {
        let Cell::Labelled { labels, .. } = cell else {
            return Ok(());
        };
        match labels.iter().find(|label| is_odd(label)) {
            None => Ok(()),
            Some(label) => {
                let why = format!("a literal has no word for the label {label:?}");
                Err(Error::Invalid(why))
            }
        }
    })
}
