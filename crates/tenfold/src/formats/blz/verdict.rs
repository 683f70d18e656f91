//! Reads `BLZ2`: a train with the certificate of how it was made.
#![deny(clippy::arithmetic_side_effects)]

use super::read::{cores, dtype, ranks, sizes};
use super::{DIGEST_LEN, MAGIC_2, NAME, VERSION, hint};
use crate::bundle::Bundle;
use crate::bytes::{Algorithm, Digest, Endian::Little, Scan, Source, wide};
use crate::error::{Error, Result};
use crate::format::{Mode, ReadOptions};
use crate::meta::{Meta, Value};
use crate::note::{Note, NoteKind};
use crate::tensor::{Dim, Storage, Tensor};

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let end = source.len().saturating_sub(wide(DIGEST_LEN));
    let mut scan = Scan::part(source, NAME, 0..end);
    scan.skip(wide(MAGIC_2.len()))?;
    let version = scan.u8()?;
    if version != VERSION {
        let what = format!("BLZ2 version {version}");
        return Err(Error::Unsupported { format: NAME, what });
    }
    let dtype = dtype(&mut scan)?;
    let at = scan.at();
    let ndim = scan.u8()?;
    if ndim == 0 {
        return scan.fail_at(at, "ndim is 0, a train has dimensions");
    }
    how.limits.check_ndim(ndim.into())?;
    let at = scan.at();
    let kind = scan.u8()?;
    if kind > 2 {
        return scan.fail_at(at, format!("kind is {kind}, 0 to 2 are known"));
    }
    let mut notes = Vec::new();
    let certificate = Certificate::read(&mut scan, ndim, how.mode, &mut notes)?;
    let sizes = sizes(&mut scan, ndim)?;
    if kind != COMPRESSED {
        scan.end()?;
        let verdict = if kind == 0 { "declined" } else { "undecided" };
        let what = format!("a BLZ2 file that is {verdict}: it keeps a verdict and no cores");
        return Err(Error::Unsupported { format: NAME, what });
    }
    let ranks = ranks(&mut scan, ndim)?;
    let mut cores = cores(&mut scan, source, dtype, &sizes, &ranks)?;
    scan.end()?;
    let bytes = cores
        .iter()
        .fold(0, |sum: u64, core| sum.saturating_add(core.bytes.len()));
    let values = bytes.checked_div(wide(dtype.width())).unwrap_or(0);
    certificate.check(&scan, values, bytes)?;

    let mut expected = [0; DIGEST_LEN];
    source.read_at(end, &mut expected)?;
    // It covers the whole file; whoever reads all cores reads the first.
    if let Some(first) = cores.first_mut() {
        let digest = Digest {
            algorithm: Algorithm::Sha256,
            expected: expected.to_vec(),
            over: Some(0..end),
        };
        first.bytes = first.bytes.clone().with_digest(Some(digest));
    }
    let dims = sizes.into_iter().map(Dim::indexed).collect();
    let mut tensor = Tensor::new(dims, dtype, vec![], Storage::Train { ranks, cores })?;
    tensor.meta = certificate.meta;
    let mut bundle = Bundle::of(tensor);
    bundle.hints.set(hint::VERSION, "2");
    notes.into_iter().for_each(|note| bundle.note(note));
    Ok(bundle)
}

const COMPRESSED: u8 = 1;

/// What a file says of the compression it is the result of.
struct Certificate {
    meta: Meta,
    /// How many values the cores have, and where that stands.
    values: (u64, u64),
    /// How many bytes.
    bytes: (u64, u64),
}

impl Certificate {
    fn read(scan: &mut Scan, ndim: u8, mode: Mode, notes: &mut Vec<Note>) -> Result<Certificate> {
        let mut meta = Meta::new();
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                meta.set(format!("{NAME}:{name}"), value);
            }
        };
        set("relative_tolerance", Some(float(scan)?));
        let most = i64::from_le_bytes(scan.array()?);
        set("max_rank", u64::try_from(most).ok().map(Value::from));
        let values = (scan.at(), scan.u64(Little)?);
        set("dense_bytes", Some(scan.u64(Little)?.into()));
        let bytes = (scan.at(), scan.u64(Little)?);
        set("ratio", Some(float(scan)?));
        set("absolute_bound", Some(float(scan)?));
        set("relative_bound", Some(float(scan)?));
        set("measured_relative_error", given(float(scan)?));
        set("tail_at_cap", given(float(scan)?));
        for name in ["cap_cut", "cap_tolerance_rank", "cap_rank"] {
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
        set("cuts", (!cuts.is_empty()).then_some(Value::List(cuts)));
        Ok(Certificate {
            meta,
            values,
            bytes,
        })
    }

    /// Checks that it speaks of these cores.
    fn check(&self, scan: &Scan, values: u64, bytes: u64) -> Result<()> {
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

/// What was done between two dimensions.
fn cut(scan: &mut Scan, mode: Mode, notes: &mut Vec<Note>) -> Result<Value> {
    let mut pairs = Vec::new();
    for name in ["cut", "tolerance_rank", "rank", "singular_values"] {
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

/// A number that may be missing, which is said by NaN.
fn given(value: Value) -> Option<Value> {
    match value {
        Value::Float { bits, .. } if f64::from_bits(bits).is_nan() => None,
        value => Some(value),
    }
}
