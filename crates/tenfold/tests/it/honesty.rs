//! A conversion says what it changes, and changes nothing else.
//!
//! For every generated bundle and every target: if nothing is said, the same comes back; if
//! something is said, or refused and then permitted, only that differs.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tenfold::{
    Allow, Aspect, Bundle, Bytes, Cell, Dim, Endian, Error, Format, Key, Limits, Loss, Meta, Mode,
    Number, Numbers, Order, ReadOptions, SidecarSlot, Size, Storage, Symmetry, Tensor, Tier,
    WriteOptions,
};

use crate::generate::{Tape, bundle, decorate};
use crate::meaning::{Content, little_endian, meaning};
use crate::support::{finish, targets, told, verify, versions};

/// What is left of a tensor when some aspects do not count.
#[derive(Debug, PartialEq, PartialOrd)]
struct Seen {
    key: Option<Key>,
    names: Option<Vec<Option<String>>>,
    sizes: Vec<Option<u64>>,
    dtype: String,
    kind: Option<&'static str>,
    values: Values,
    symmetries: Option<String>,
    meta: Option<String>,
}

#[derive(Debug, PartialEq, PartialOrd)]
enum Values {
    /// As they are kept, in words.
    Kept(String),
    /// All logical values, row-major, as bytes.
    Dense(Vec<u8>),
    /// All logical values as the bits of doubles; all NaNs are one.
    Numbers(Vec<u64>),
}

type Aspects = BTreeSet<Aspect>;

fn seen(key: &Key, tensor: &Tensor, ignore: &Aspects) -> Seen {
    if tensor.n_mapped() > 0 && ignore.contains(&Aspect::Labels) {
        return seen(key, &placed(tensor), ignore);
    }
    let ignores = |aspects: &[Aspect]| aspects.iter().any(|aspect| ignore.contains(aspect));
    if ignores(&[Aspect::Opaque])
        && let Some(bytes) = plain_bytes(tensor)
    {
        return Seen {
            key: (!ignores(&[Aspect::Keys, Aspect::State, Aspect::Invented])).then(|| key.clone()),
            names: None,
            sizes: vec![],
            dtype: "bytes".into(),
            kind: match tensor.storage() {
                Storage::Opaque { .. } | Storage::Dense { .. } => None,
                other => (!ignores(&[Aspect::Sparsity])).then(|| other.as_str()),
            },
            values: Values::Dense(bytes),
            symmetries: None,
            meta: (!ignores(&[Aspect::Metadata])).then(|| shown(&tensor.meta)),
        };
    }
    let order = order(tensor, ignore);
    let mut dims: Vec<_> = order.iter().map(|axis| &tensor.dims()[*axis]).collect();
    // Sizes of 1 at the end come and go where the shape is said to change.
    if ignore.contains(&Aspect::Shape) {
        let is_one = |dim: &Dim| dim.indexed_size() == Some(1);
        let batch = dims.pop_if(|dim| dim.name.as_deref() == Some("batch"));
        while dims.pop_if(|dim| is_one(dim)).is_some() {}
        dims.extend(batch.filter(|batch| !is_one(batch)));
    }
    let is_number = ignores(&[Aspect::Number, Aspect::Precision]);
    let is_kept = !ignores(&[
        Aspect::Sparsity,
        Aspect::Symmetry,
        Aspect::Train,
        Aspect::DimOrder,
    ]);
    // Nobody can tell the values of bytes that are not understood.
    let is_opaque = matches!(tensor.storage(), Storage::Opaque { .. });
    let content = meaning(tensor).content;
    let values = if let (Content::Labelled(blocks), true) = (&content, is_number) {
        let blocks = blocks.iter();
        let numbers = blocks.map(|(labels, bytes)| (labels, doubles(tensor, bytes, ignore)));
        Values::Kept(format!("{:?}", numbers.collect::<Vec<_>>()))
    } else if is_kept && !is_number || tensor.n_mapped() > 0 || is_opaque {
        Values::Kept(kept(&content))
    } else {
        let bytes = transposed(tensor, &order);
        if is_number {
            Values::Numbers(doubles(tensor, &bytes, ignore))
        } else {
            Values::Dense(bytes)
        }
    };
    Seen {
        key: (!ignores(&[Aspect::Keys, Aspect::State, Aspect::Invented])).then(|| key.clone()),
        names: (!ignores(&[Aspect::DimNames, Aspect::Invented])).then(|| names(&dims)),
        sizes: dims.iter().map(|dim| dim.indexed_size()).collect(),
        dtype: if is_number {
            String::new()
        } else {
            tensor.dtype().to_string()
        },
        kind: (!ignores(&[Aspect::Sparsity, Aspect::Train])).then(|| tensor.storage().as_str()),
        values,
        symmetries: (!ignores(&[Aspect::Symmetry])).then(|| symmetries(tensor.symmetries())),
        meta: (!ignores(&[Aspect::Metadata])).then(|| shown(&tensor.meta)),
    }
}

/// The bytes of a tensor that is nothing but bytes, understood or not.
fn plain_bytes(tensor: &Tensor) -> Option<Vec<u8>> {
    let is_byte = |number: Number| number == Number::U8;
    match tensor.storage() {
        Storage::Opaque { parts, .. } => match parts.as_slice() {
            [(_, values)] if is_byte(values.number) => Some(values.bytes.to_vec().unwrap()),
            _ => None,
        },
        _ if tensor.dims().len() != 1 || tensor.n_mapped() > 0 => None,
        _ => (tensor.dtype() == "u8".parse().unwrap()).then(|| transposed(tensor, &[0])),
    }
}

/// A labelled tensor with positions for labels, block by block.
fn placed(tensor: &Tensor) -> Tensor {
    let mut labels: Vec<Vec<String>> = vec![Vec::new(); tensor.n_mapped()];
    let mut blocks = Vec::new();
    tensor
        .for_each_cell(&Limits::default(), &mut |cell| {
            let Cell::Labelled {
                labels: own,
                values,
            } = cell
            else {
                panic!("no labels")
            };
            for (known, label) in labels.iter_mut().zip(own) {
                if !known.contains(label) {
                    known.push(label.clone());
                }
            }
            blocks.push((own.to_vec(), little_endian(&values)));
            Ok(())
        })
        .unwrap();
    let count: usize = labels.iter().map(Vec::len).product();
    let cells: u64 = tensor.indexed_sizes().iter().product();
    let width = cells as usize * tensor.dtype().width();
    let mut all = vec![0; count * width];
    for (own, values) in blocks {
        let place = own.iter().zip(&labels).fold(0, |sum, (label, known)| {
            sum * known.len() + known.iter().position(|other| other == label).unwrap()
        });
        all[place * width..(place + 1) * width].copy_from_slice(&values);
    }
    let mut sizes = labels.iter().map(|known| known.len() as u64);
    let dims = tensor.dims().iter().map(|dim| match dim.indexed_size() {
        Some(_) => dim.clone(),
        None => Dim {
            name: dim.name.clone(),
            size: Size::Indexed(sizes.next().unwrap()),
        },
    });
    let values = Numbers {
        number: tensor.dtype().number,
        endian: Endian::Little,
        bytes: Bytes::memory(all),
    };
    let storage = Storage::Dense {
        order: Order::Row,
        values,
    };
    let mut placed = Tensor::new(dims.collect(), tensor.dtype(), vec![], storage).unwrap();
    placed.meta = tensor.meta.clone();
    placed
}

fn kept(content: &Content) -> String {
    format!("{content:?}")
}

fn symmetries(all: &[Symmetry]) -> String {
    format!("{all:?}")
}

fn shown(meta: &Meta) -> String {
    let mut values: Vec<String> = meta.iter().map(|pair| format!("{pair:?}")).collect();
    values.sort();
    values.join("\n")
}

/// The names of dimensions; a, b, c, … in order are no names.
fn names(dims: &[&tenfold::Dim]) -> Vec<Option<String>> {
    let letters = ('a'..).map(|letter| Some(letter.to_string()));
    let all: Vec<Option<String>> = dims.iter().map(|dim| dim.name.clone()).collect();
    if all.iter().cloned().eq(letters.take(all.len())) {
        vec![None; all.len()]
    } else {
        all
    }
}

/// The dimensions in the order in which they are compared.
fn order(tensor: &Tensor, ignore: &Aspects) -> Vec<usize> {
    let mut axes: Vec<usize> = (0..tensor.dims().len()).collect();
    if ignore.contains(&Aspect::DimOrder) {
        // Dimensions without a name are called by their places.
        let name = |axis: &usize| tensor.dims()[*axis].name.clone();
        // Rows that get labels keep their place, whatever their dimension is called then.
        let fixed = usize::from(ignore.contains(&Aspect::Labels)).min(axes.len());
        axes[fixed..].sort_by_key(|axis| name(axis).unwrap_or_else(|| format!("d{axis:03}")));
    }
    axes
}

/// All logical values with the dimensions in another order, one by one.
fn transposed(tensor: &Tensor, order: &[usize]) -> Vec<u8> {
    let mut all = Vec::new();
    tensor
        .for_each(1000, &Limits::default(), &mut |piece| {
            all.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
    let width = tensor.dtype().width();
    let sizes = tensor.sizes().unwrap();
    let mut out = Vec::new();
    for cell in 0..all.len() / width {
        let mut rest = cell as u64;
        let mut index = vec![0; sizes.len()];
        for axis in order.iter().rev() {
            index[*axis] = rest % sizes[*axis];
            rest /= sizes[*axis];
        }
        let at = index
            .iter()
            .zip(&sizes)
            .fold(0, |sum, (place, size)| sum * size + place) as usize;
        out.extend_from_slice(&all[at * width..(at + 1) * width]);
    }
    out
}

fn doubles(tensor: &Tensor, bytes: &[u8], ignore: &Aspects) -> Vec<u64> {
    let number = tensor.dtype().number;
    let double = |bytes: &[u8]| {
        let value = number.to_f64(bytes);
        // Large integers and quads are compared as what they are rounded to, zeros without their sign.
        let value = if ignore.contains(&Aspect::Precision) {
            f64::from(value as f32) + 0.0
        } else {
            value
        };
        if value.is_nan() {
            f64::NAN.to_bits()
        } else {
            value.to_bits()
        }
    };
    bytes.chunks(number.width()).map(double).collect()
}

pub(crate) fn write(
    bundle: &Bundle,
    target: &dyn Format,
    allow: Allow,
) -> Result<(Vec<u8>, Vec<Loss>), Error> {
    let mut out = crate::files::sink();
    let mut how = WriteOptions {
        allow,
        ..WriteOptions::default()
    };
    for (option, setting) in [("nelec", "fcidump:NELEC"), ("ms2", "fcidump:MS2")] {
        if target.info().name == "fcidump" && bundle.meta.get(setting).is_none() {
            how.options.set(option, "2");
        }
    }
    let said = tenfold::write_to(bundle, &mut out, target, &how)?;
    Ok((finish(out)?, said))
}

/// All that is left of a bundle when some aspects do not count.
fn all_seen(bundle: &Bundle, ignore: &Aspects) -> (Vec<Seen>, Option<String>) {
    let entries = bundle.entries().iter();
    let mut all: Vec<Seen> = entries
        .map(|(key, tensor)| seen(key, tensor, ignore))
        .collect();
    all.sort_by(|first, second| first.partial_cmp(second).unwrap());
    let meta = (!ignore.contains(&Aspect::Metadata)).then(|| shown(&bundle.meta));
    (all, meta)
}

/// The same, without tensors that only one side has: integrals that nobody gave are read as zeros, and energies
/// of no orbitals have no line.
fn all_kept(
    bundle: &Bundle,
    ignore: &Aspects,
    has_no: &dyn Fn(&str) -> bool,
) -> (Vec<Seen>, Option<String>) {
    let mut bundle = bundle.clone();
    let lists = bundle.entries().iter();
    let lists = lists.filter(|(_, tensor)| tensor.dims().len() == 1);
    let lists: Vec<Key> = lists.map(|(key, _)| key.clone()).collect();
    bundle.retain(|key| match key.flat_name() {
        Some(name @ ("two" | "one")) => !has_no(name),
        _ => !has_no("energies") || !lists.contains(key),
    });
    all_seen(&bundle, ignore)
}

/// A bundle with what a feed calls its documents and their field as metadata, if `source` is a feed.
fn with_names(bundle: &Bundle, source: &Bundle) -> Bundle {
    let mut named = bundle.clone();
    for name in ["namespace", "schema", "field"].map(|name| format!("vespa-feed:{name}")) {
        if source.hints.text(&name).is_some()
            && let Some(text) = bundle.hints.text(&name)
        {
            named.meta.set(name, text);
        }
    }
    named
}

/// Takes values for those before where they are as near as packing may bring them.
fn forgive_packing(before: &[Seen], found: &mut [Seen]) {
    for (before, found) in before.iter().zip(found) {
        if let (Values::Numbers(before), Values::Numbers(found)) =
            (&before.values, &mut found.values)
        {
            let doubles = |bits: &[u64]| -> Vec<f64> {
                bits.iter().map(|bits| f64::from_bits(*bits)).collect()
            };
            let (one, other) = (doubles(before), doubles(found));
            // What is beyond a single counts as infinity here.
            let largest = one
                .iter()
                .fold(0.0_f64, |most, value| most.max(value.abs()));
            let is_near = |(one, other): (&f64, &f64)| {
                let rounded = 1e-6 * one.abs().max(other.abs());
                one.to_bits() == other.to_bits() || (one - other).abs() <= 1e-12 * largest + rounded
            };
            if one.len() == other.len() && one.iter().zip(&other).all(is_near) {
                found.clone_from(before);
            }
        }
    }
}

/// Aspects that are seen in the same place.
fn family(aspect: Aspect) -> Aspects {
    let names = [
        Aspect::Keys,
        Aspect::State,
        Aspect::Invented,
        Aspect::DimNames,
    ];
    let numbers = [Aspect::Number, Aspect::Precision];
    let of = |all: &[Aspect]| all.iter().copied().collect::<Aspects>();
    match aspect {
        _ if names.contains(&aspect) => of(&names),
        // A tensor may be expanded before its cells are listed.
        Aspect::Sparsity | Aspect::Train => of(&[
            Aspect::Sparsity,
            Aspect::Train,
            Aspect::Labels,
            Aspect::Opaque,
        ]),
        // The order of dimensions is seen in their names.
        Aspect::DimOrder => &of(&names) | &of(&[aspect]),
        _ if numbers.contains(&aspect) => of(&numbers),
        _ => of(&[aspect]),
    }
}

/// Whether there is a train of which no number holds some cells: there is nothing to compare then.
fn has_no_cells(bundle: &Bundle) -> bool {
    let limits = Limits::default();
    let is_beyond = |tensor: &Tensor| {
        let read = tensor.for_each(1000, &limits, &mut |_| Ok(()));
        matches!(tensor.storage(), Storage::Train { .. })
            && matches!(read, Err(Error::OutOfRange(_)))
    };
    let mut entries = bundle.entries().iter();
    entries.any(|(_, tensor)| is_beyond(tensor))
}

/// Converts and compares; gives whether anything was written.
pub(crate) fn is_honest(bundle: &Bundle, target: &dyn Format) -> Result<bool, TestCaseError> {
    if has_no_cells(bundle) {
        return Ok(false);
    }
    let name = target.info().name;
    let fail = |error: Error| TestCaseError::fail(format!("{name}: {error}"));
    let (bytes, mut said) = match write(bundle, target, Allow::Nothing) {
        Ok(written) => written,
        Err(Error::Refused(refusal)) => {
            prop_assert!(!refusal.losses.is_empty());
            match write(bundle, target, Allow::Everything) {
                Ok(written) => written,
                // A cell of a train that no double holds is none in any format.
                Err(Error::Refused(_) | Error::OutOfRange(_)) => return Ok(false),
                Err(error) => return Err(fail(error)),
            }
        }
        Err(Error::OutOfRange(_)) => return Ok(false),
        Err(error) => return Err(fail(error)),
    };
    let how = ReadOptions {
        mode: Mode::Lenient,
        options: told(&mut said),
        ..ReadOptions::default()
    };
    let after = verify(name, &bytes, &how).map_err(fail)?.bundle;
    if has_no_cells(&after) {
        return Ok(true);
    }
    // Zeros count as absent cells here, and letters as no names: what is said of them is seen by other
    // programs alone.
    let is_seen = |loss: &&Loss| {
        !loss.detail.contains("zeros=keep") && !loss.detail.starts_with("dimensions are called a")
    };
    let lost = said.iter().filter(|loss| loss.tier > Tier::Carried);
    let lost = lost.filter(is_seen);
    let ignore: Aspects = lost.map(|loss| loss.aspect).collect();
    let has_no = |name: &str| {
        let words = [
            format!("no integrals {name}:"),
            format!("{name} of no orbitals"),
        ];
        let is_said = |loss: &Loss| words.iter().any(|words| loss.detail.starts_with(words));
        said.iter().any(is_said)
    };
    let sides = |ignore: &Aspects| {
        let before = all_kept(&with_names(bundle, bundle), ignore, &has_no);
        let after = with_names(&after, bundle);
        (before, all_kept(&after, ignore, &has_no))
    };
    let (before, mut found) = sides(&ignore);
    if { said.iter() }.any(|loss| loss.detail.contains(" values change, by ")) {
        forgive_packing(&before.0, &mut found.0);
    }
    prop_assert!(before == found, "{name}, {said:?}\n{before:?}\n{found:?}");
    // What is said is true: with any of it back, something differs. Bytes that this library restores
    // are a loss to every other program; of a tensor that is not listed nothing is left.
    let is_unseen = [Aspect::Opaque, Aspect::Count];
    let is_seen = |aspect: &&Aspect| !is_unseen.contains(*aspect) && !has_no("energies");
    for aspect in ignore.iter().filter(is_seen) {
        // Of tensors that are taken for bytes, nothing else is compared.
        let own = &family(*aspect) | &Aspects::from([Aspect::Opaque]);
        let others: Aspects = ignore.difference(&own).copied().collect();
        let (before, found) = sides(&others);
        prop_assert!(
            before != found,
            "{name}, {aspect:?} is said for nothing: {said:?}\n{bundle:?}\n{found:?}"
        );
    }
    Ok(true)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_conversion_says_what_it_changes(tape in prop::collection::vec(any::<u8>(), 0..400)) {
        for source in versions() {
            let bundle = bundle(source, &mut Tape(&tape));
            let decorated = decorate(&bundle, &mut Tape(&tape));
            let is_sound = bundle.check(&Limits::default()).is_ok_and(|notes| notes.is_empty());
            for target in targets() {
                // Drawn values that break their own packed symmetry cannot be packed again.
                if !is_sound && target.info().holds.carries != SidecarSlot::No {
                    continue;
                }
                is_honest(&bundle, target)?;
                is_honest(&decorated, target)?;
            }
        }
    }
}

#[test]
fn values_that_do_not_fit_are_refused_and_rounded_when_permitted() {
    let values = tenfold::Numbers::from_vec(&[0.1_f64, 1e300]);
    let storage = Storage::Dense {
        order: tenfold::Order::Row,
        values,
    };
    let dims = vec![tenfold::Dim::indexed(2)];
    let tensor = Tensor::new(dims, "f64".parse().unwrap(), vec![], storage).unwrap();
    let bundle = Bundle::of(tensor);
    let primitiv = tenfold::by_name("primitiv").unwrap();
    let refused = write(&bundle, primitiv, Allow::Nothing)
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("precision  f64 is rounded to f32"),
        "{refused}"
    );
    assert!(
        refused.ends_with("To go ahead: --allow precision"),
        "{refused}"
    );
    let permitted = Allow::These(vec![Aspect::Precision]);
    let (bytes, said) = write(&bundle, primitiv, permitted).unwrap();
    let details: Vec<&str> = said.iter().map(|loss| loss.detail.as_str()).collect();
    assert_eq!(
        details,
        [
            "f64 is rounded to f32",
            "2 of 2 values are rounded, by inf at most"
        ]
    );
    let after = verify("primitiv", &bytes, &ReadOptions::default()).unwrap();
    let tensor = after.bundle.only().unwrap();
    assert_eq!(tensor.dtype().number, Number::F32);
    assert_eq!(tensor.to_vec::<f32>().unwrap(), [0.1_f32, f32::INFINITY]);
}
