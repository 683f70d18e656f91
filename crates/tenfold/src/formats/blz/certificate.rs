//! The certificate of a `BLZ2` file about its compression: metadata of the file, under the format's
//! own prefix.
#![deny(clippy::arithmetic_side_effects)]

use super::v2;
use crate::bundle::Bundle;
use crate::bytes::Endian::Little;
use crate::bytes::{Scan, to_u64};
use crate::error::{Error, Result};
use crate::format::Mode;
use crate::io::Sink;
use crate::loss::{Aspect, Loss, Tier};
use crate::meta::{Meta, Value};
use crate::note::{Note, NoteKind};
use crate::tensor::{Tensor, product};

const TOLERANCE: &str = "blz:relative_tolerance";
const MAX_RANK: &str = "blz:max_rank";
const DENSE_BYTES: &str = "blz:dense_bytes";
const RATIO: &str = "blz:ratio";
const ABSOLUTE: &str = "blz:absolute_bound";
const RELATIVE: &str = "blz:relative_bound";
const MEASURED: &str = "blz:measured_relative_error";
const TAIL: &str = "blz:tail_at_cap";
const CAPS: [&str; 3] = ["blz:cap_cut", "blz:cap_tolerance_rank", "blz:cap_rank"];
const CUTS: &str = "blz:cuts";
const FLOATS: [&str; 6] = [TOLERANCE, RATIO, ABSOLUTE, RELATIVE, MEASURED, TAIL];
/// The integer fields of a cut.
const OF_CUT: [&str; 4] = ["cut", "tolerance_rank", "rank", "singular_values"];

/// The proven properties of a compression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proven {
    /// The requested tolerance, relative to the norm; `None` if it was of another kind.
    pub tolerance: Option<f64>,
    /// The largest rank allowed.
    pub max_rank: Option<u64>,
    /// An upper bound of the error's norm.
    pub absolute: f64,
    /// The same, relative to the norm of the tensor.
    pub relative: f64,
    /// Length of the tensor in bytes, as doubles or pairs of them.
    pub dense_bytes: u64,
}

/// Adds the certificate of a train to its bundle; `--to blz@2` writes it.
pub fn certify(bundle: &mut Bundle, proven: &Proven) {
    let meta = &mut bundle.meta;
    if let Some(tolerance) = proven.tolerance {
        meta.set(TOLERANCE, of_float(tolerance));
    }
    if let Some(rank) = proven.max_rank {
        meta.set(MAX_RANK, rank);
    }
    meta.set(DENSE_BYTES, proven.dense_bytes);
    meta.set(ABSOLUTE, of_float(proven.absolute));
    meta.set(RELATIVE, of_float(proven.relative));
}

/// Removes the certificate from a bundle whose train was replaced by another.
pub fn strip(bundle: &mut Bundle) {
    for name in bundle.meta.proofs() {
        bundle.meta.remove(&name);
    }
}

/// Losses of a certificate that does not apply to the tensor in the bundle.
pub(super) fn format_losses(bundle: &Bundle) -> Vec<Loss> {
    let mut losses = Vec::new();
    let is_verdict = v2::Verdict::of(bundle).is_some();
    for name in bundle.meta.proofs() {
        let value = bundle.meta.get(&name);
        if is_verdict && v2::NAMES.contains(&name.as_str()) {
            continue;
        }
        if !value.is_some_and(|value| is_field(&name, value)) {
            let detail = format!("file metadata {name}, for which a certificate has no field");
            losses.push(Loss::impossible(None, Aspect::Metadata, detail));
        }
    }
    if losses.is_empty()
        && bundle
            .only()
            .is_ok_and(|tensor| !is_of(&bundle.meta, tensor))
    {
        losses.extend(unsaid(
            bundle,
            " is dropped, proven of a tensor of another size",
        ));
    }
    losses
}

/// The loss of a certificate.
pub(super) fn unsaid(bundle: &Bundle, why: &str) -> Option<Loss> {
    let names = bundle.meta.proofs();
    (!names.is_empty()).then(|| Loss {
        key: None,
        aspect: Aspect::Metadata,
        detail: format!("file metadata {}{why}", names.join(", ")),
        tier: Tier::Said,
    })
}

/// Whether a certificate has a field for a value of this name.
fn is_field(name: &str, value: &Value) -> bool {
    let is_below = |most: u64| value.as_u64().is_some_and(|number| number <= most);
    match name {
        MAX_RANK => is_below(i64::MAX.unsigned_abs()),
        DENSE_BYTES => is_below(u64::MAX),
        CUTS => value.as_list().is_some_and(|cuts| cuts.iter().all(is_cut)),
        name if FLOATS.contains(&name) => matches!(value, Value::Float { width: 64, .. }),
        name if CAPS.contains(&name) => is_below(i32::MAX.unsigned_abs().into()),
        _ => false,
    }
}

fn is_cut(cut: &Value) -> bool {
    let mut counts = OF_CUT
        .iter()
        .map(|name| cut.get(name).and_then(Value::as_u64));
    counts.all(|count| count.is_some_and(|count| u32::try_from(count).is_ok()))
        && matches!(cut.get("is_capped"), Some(Value::Bool(_)))
        && matches!(cut.get("delta"), Some(Value::Float { width: 64, .. }))
}

/// Whether a certificate applies to a tensor of this size.
fn is_of(meta: &Meta, tensor: &Tensor) -> bool {
    let said = meta.get(DENSE_BYTES).and_then(Value::as_u64);
    let own = dense_bytes(tensor);
    let cuts = meta.get(CUTS).and_then(Value::as_list);
    let n_cuts = cuts.map_or(0, <[Value]>::len);
    n_cuts < tensor.dims().len().max(1) && (said.is_none() || own.is_none() || said == own)
}

/// Length of all cells in bytes; `None` on overflow.
fn dense_bytes(tensor: &Tensor) -> Option<u64> {
    let mut factors = tensor.sizes().ok()?;
    factors.push(to_u64(tensor.dtype().width()));
    product(&factors).and_then(|len| u64::try_from(len).ok())
}

/// Writes the certificate of a train.
pub(super) fn write(bundle: &Bundle, tensor: &Tensor, bytes: u64, out: &mut Sink) -> Result<()> {
    let none = Meta::new();
    let meta = if is_of(&bundle.meta, tensor) {
        &bundle.meta
    } else {
        &none
    };
    let values = bytes
        .checked_div(to_u64(tensor.dtype().width()))
        .unwrap_or(0);
    write_fields(meta, (values, bytes), dense_bytes(tensor), out)
}

/// Length of the certified cores in bytes, if the certificate implies it.
pub(super) fn said_bytes(meta: &Meta) -> Option<u64> {
    let dense = meta.get(DENSE_BYTES).and_then(Value::as_u64)?;
    let Some(Value::Float { bits, .. }) = meta.get(RATIO) else {
        return None;
    };
    let said = f64::from_bits(*bits);
    // Found by comparing the ratio that it would have given.
    let digits = format!("{:.0}", ratio(dense, 1) / said);
    let bytes: u64 = digits.parse().ok()?;
    (ratio(dense, bytes).to_bits() == *bits).then_some(bytes)
}

/// Writes a certificate for so many values and bytes; unknown fields are NaN, or −1.
pub(super) fn write_fields(
    meta: &Meta,
    (values, bytes): (u64, u64),
    dense: Option<u64>,
    out: &mut Sink,
) -> Result<()> {
    let float = |name: &str| match meta.get(name) {
        Some(Value::Float { bits, .. }) => f64::from_bits(*bits),
        _ => f64::NAN,
    };
    let count = |name: &str| meta.get(name).and_then(Value::as_u64);
    let most = count(MAX_RANK).and_then(|rank| i64::try_from(rank).ok());
    let dense = count(DENSE_BYTES).or(dense).unwrap_or(u64::MAX);
    out.write(&float(TOLERANCE).to_le_bytes())?;
    out.write(&most.unwrap_or(-1).to_le_bytes())?;
    for number in [values, dense, bytes] {
        out.write(&number.to_le_bytes())?;
    }
    let ratio = match meta.get(RATIO) {
        Some(_) => float(RATIO),
        None => ratio(dense, bytes),
    };
    let floats = [ABSOLUTE, RELATIVE, MEASURED, TAIL].map(float);
    for number in std::iter::once(ratio).chain(floats) {
        out.write(&number.to_le_bytes())?;
    }
    for name in CAPS {
        let number = count(name).and_then(|number| i32::try_from(number).ok());
        out.write(&number.unwrap_or(-1).to_le_bytes())?;
    }
    let cuts = meta.get(CUTS).and_then(Value::as_list).unwrap_or_default();
    let n_cuts = u32::try_from(cuts.len()).map_err(|_| Error::invalid("too many cuts"))?;
    out.write(&n_cuts.to_le_bytes())?;
    cuts.iter().try_for_each(|cut| write_cut(cut, out))
}

fn write_cut(cut: &Value, out: &mut Sink) -> Result<()> {
    for name in OF_CUT {
        let count = cut.get(name).and_then(Value::as_u64).unwrap_or(0);
        let count = u32::try_from(count).map_err(|_| Error::invalid("a cut beyond 32 bits"))?;
        out.write(&count.to_le_bytes())?;
    }
    let is_capped = cut.get("is_capped") == Some(&Value::Bool(true));
    out.write(&[is_capped.into(), 0, 0, 0])?;
    let delta = match cut.get("delta") {
        Some(Value::Float { bits, .. }) => *bits,
        _ => f64::NAN.to_bits(),
    };
    out.write(&delta.to_le_bytes())
}

/// The ratio of the cells' length to the cores'; 1 if there are none.
fn ratio(dense: u64, bytes: u64) -> f64 {
    if bytes == 0 {
        return 1.0;
    }
    #[expect(
        clippy::as_conversions,
        reason = "a ratio needs no more digits than a double has"
    )]
    let (dense, bytes) = (dense as f64, bytes as f64);
    dense / bytes
}

/// A certificate as stored in a file.
pub(super) struct Certificate {
    pub(super) meta: Meta,
    /// The offset of the number of values in the cores, and that number.
    pub(super) values: (u64, u64),
    /// The same for their length in bytes.
    pub(super) bytes: (u64, u64),
}

impl Certificate {
    pub(super) fn read(
        scan: &mut Scan,
        ndim: u8,
        mode: Mode,
        notes: &mut Vec<Note>,
    ) -> Result<Certificate> {
        let mut meta = Meta::new();
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                meta.set(name, value);
            }
        };
        set(TOLERANCE, given(float(scan)?));
        let most = i64::from_le_bytes(scan.array()?);
        set(MAX_RANK, u64::try_from(most).ok().map(Value::from));
        let values = (scan.at(), scan.u64(Little)?);
        set(DENSE_BYTES, Some(scan.u64(Little)?.into()));
        let bytes = (scan.at(), scan.u64(Little)?);
        set(RATIO, given(float(scan)?));
        for name in [ABSOLUTE, RELATIVE, MEASURED, TAIL] {
            set(name, given(float(scan)?));
        }
        for name in CAPS {
            let number = i32::from_le_bytes(scan.array()?);
            set(name, u64::try_from(number).ok().map(Value::from));
        }
        let at = scan.at();
        let n_cuts = scan.u32(Little)?;
        if n_cuts >= ndim.into() {
            let why = format!("{n_cuts} cuts, a train of {ndim} dimensions has fewer");
            return scan.fail_at(at, why);
        }
        let cuts = (0..n_cuts).map(|_| cut(scan, mode, notes));
        let cuts: Vec<Value> = cuts.collect::<Result<_>>()?;
        set(CUTS, (!cuts.is_empty()).then_some(Value::List(cuts)));
        // One without a bound was written for lack of any: it follows from the cores.
        let says = [TOLERANCE, ABSOLUTE, RELATIVE, MEASURED, MAX_RANK, CUTS];
        if says.iter().all(|name| meta.get(name).is_none()) {
            meta = Meta::new();
        }
        Ok(Certificate {
            meta,
            values,
            bytes,
        })
    }

    /// Checks that it applies to these cores.
    pub(super) fn check(&self, scan: &Scan, values: u64, bytes: u64) -> Result<()> {
        let found = [
            (self.values, values, "values"),
            (self.bytes, bytes, "bytes"),
        ];
        for ((at, said), found, what) in found {
            if said != found {
                let why = format!("the certificate is for {said} {what}, the cores have {found}");
                return scan.fail_at(at, why);
            }
        }
        Ok(())
    }
}

/// The description of the cut between two dimensions.
fn cut(scan: &mut Scan, mode: Mode, notes: &mut Vec<Note>) -> Result<Value> {
    let mut pairs = Vec::new();
    for name in OF_CUT {
        pairs.push((name.into(), u64::from(scan.u32(Little)?).into()));
    }
    let at = scan.at();
    let flag: [u8; 4] = scan.array()?;
    if !matches!(flag, [0 | 1, 0, 0, 0]) {
        let text = "a flag is neither 0 nor 1, or is padded with more than zeros";
        match mode {
            Mode::Strict => return scan.fail_at(at, text),
            Mode::Lenient => notes.push(Note::new(NoteKind::Lenient, text).at(at)),
        }
    }
    let is_capped = flag.first().is_some_and(|flag| *flag != 0);
    pairs.push(("is_capped".into(), is_capped.into()));
    pairs.push(("delta".into(), float(scan)?));
    Ok(Value::Map(pairs))
}

fn float(scan: &mut Scan) -> Result<Value> {
    Ok(Value::Float {
        bits: scan.u64(Little)?,
        width: 64,
    })
}

fn of_float(number: f64) -> Value {
    Value::Float {
        bits: number.to_bits(),
        width: 64,
    }
}

/// A number that may be missing, which is stored as NaN.
fn given(value: Value) -> Option<Value> {
    match value {
        Value::Float { bits, .. } if f64::from_bits(bits).is_nan() => None,
        value => Some(value),
    }
}
