//! `tenfold tt info`: ranks and singular values of trains.

use std::path::Path;

use tenfold::{DType, Info, Key, Number, Result, Tensor};

use super::super::{Outcome, each_file};
use super::{Trains, ranks};
use crate::args::Files;
use crate::exit::Exit;
use crate::render::{Json, bytes_text, describe, element, shown_name};
use crate::terminal::{
    Out, Row, Streams, Table, dense_len, plain, ranks_text, ratio, ratio_text, shape_text,
};

/// The properties of a train.
struct Built<'a> {
    key: &'a Key,
    tensor: &'a Tensor,
    norm: f64,
    spectra: Vec<Vec<f64>>,
}

pub(super) fn run(args: &Files, streams: &mut Streams) -> Outcome {
    each_file(&args.files, streams, |file, streams| {
        let trains = Trains::open(file, &args.reading, streams)?;
        let mut built = Vec::new();
        for (key, tensor, train) in &trains.found {
            let (norm, spectra) = match train {
                Some(train) => (train.norm()?, train.spectra()?),
                // A zero tensor has norm 0 and no singular values.
                None => (0.0, vec![Vec::new(); tensor.dims().len().saturating_sub(1)]),
            };
            built.push(Built {
                key,
                tensor,
                norm,
                spectra,
            });
        }
        if args.json {
            print_json(file, trains.info, &built, &mut streams.out)?
        } else {
            print(file, trains.info, &built, &mut streams.out)?
        }
        Ok(Exit::Fine)
    })
}

impl Built<'_> {
    /// Bytes of the cores.
    fn len(&self) -> u64 {
        self.tensor.storage().stored_len()
    }

    /// Number of elements in the cores.
    fn count(&self) -> u64 {
        self.tensor.stored()
    }

    /// The rank of every bond between dimensions, and the largest that the sizes around it allow.
    fn bonds(&self) -> Vec<(u64, u128)> {
        let sizes = self.tensor.sizes().unwrap_or_default();
        let product = |sizes: &[u64]| {
            let sizes = sizes.iter().map(|size| u128::from(*size));
            sizes.fold(1, u128::saturating_mul)
        };
        let inner = ranks(self.tensor).iter().enumerate().skip(1);
        let inner = inner.take(sizes.len().saturating_sub(1));
        let bonds = inner.map(|(bond, rank)| {
            let (left, right) = sizes.split_at_checked(bond).unwrap_or((&sizes, &[]));
            (*rank, product(left).min(product(right)))
        });
        bonds.collect()
    }
}

fn print(file: &Path, info: &Info, built: &[Built], out: &mut Out) -> Result<()> {
    for built in built {
        let name = shown_name(info, built.key);
        let mut head = file.display().to_string();
        if !name.is_empty() {
            head.push_str(&format!(":{name}"));
        }
        let (dtype, shape) = (built.tensor.dtype(), shape_text(built.tensor));
        out.text(&format!("{}\n", plain(&format!("{head}: {dtype} {shape}"))))?;
        let mut table = Table::default();
        let mut line = |name: &str, text: String| table.push(Row::new([name.to_owned(), text]));
        line("ranks", ranks_text(ranks(built.tensor), 40));
        line("numbers", built.count().to_string());
        let (len, dense) = (built.len(), dense_len(built.tensor));
        let (small, large) = (bytes_text(len), bytes_text(dense));
        let ratio = ratio_text(dense, len);
        line("size", format!("{small}, expanded {large}: {ratio}"));
        line("norm", short(built.norm));
        table.print("  ", out)?;
        out.text("\n")?;
        spectra(built).print("  ", out)?;
    }
    Ok(())
}

/// Rounded to a readable number of digits.
fn short(value: f64) -> String {
    element(DType::real(Number::F64), &value.to_le_bytes())
}

/// The singular values at every bond: the largest, the smallest, and their number.
fn spectra(built: &Built) -> Table {
    let mut table = Table::new(&["bond", "rank", "at most", "largest", "smallest"]);
    let bonds = built.bonds().into_iter().zip(&built.spectra);
    for (place, ((rank, most), values)) in bonds.enumerate() {
        let ends = [values.first(), values.last()];
        let [largest, smallest] = ends.map(|value| value.copied().map_or("-".into(), short));
        table.push(Row::new([
            (place + 1).to_string(),
            rank.to_string(),
            most.to_string(),
            largest,
            smallest,
        ]));
    }
    table
}

fn print_json(file: &Path, info: &Info, built: &[Built], out: &mut Out) -> Result<()> {
    let mut json = Json::new(out);
    json.object(|json| {
        json.name("schema")?.text("tenfold.tt-info/1")?;
        json.name("file")?.text(&file.to_string_lossy())?;
        json.name("format")?.text(info.name)?;
        json.name("trains")?.list(|json| {
            built.iter().try_for_each(|built| {
                json.object(|json| {
                    describe(json, info, built.key, built.tensor)?;
                    json.name("ranks")?.numbers(ranks(built.tensor))?;
                    json.name("numbers")?.number(built.count())?;
                    json.name("bytes")?.number(built.len())?;
                    match dense_len(built.tensor) {
                        u128::MAX => json.name("ratio")?.raw("null")?,
                        dense => json.name("ratio")?.float(ratio(dense, built.len()))?,
                    }
                    json.name("norm")?.float(built.norm)?;
                    json.name("spectra")?.list(|json| {
                        built.spectra.iter().try_for_each(|values| {
                            json.list(|json| values.iter().try_for_each(|value| json.float(*value)))
                        })
                    })
                })
            })
        })
    })?;
    json.end_line()
}
