//! `BLZ2`: a train with the certificate of its compression, or the verdict that no train was kept.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::Range;

use super::certificate::Certificate;
use super::read::{cores, dtype, ranks, sizes};
use super::{
    COMPRESSED, DIGEST_LEN, DTYPE_COMPLEX, DTYPE_F64, MAGIC_2, NAME, VERSION, certificate, hint,
};
use crate::bundle::Bundle;
use crate::bytes::{Algorithm, Bytes, Digest, Scan, to_u64};
use crate::dtype::{DType, Number};
use crate::error::{Error, Result};
use crate::format::ReadOptions;
use crate::io::{Sink, Source};
use crate::meta::Value;
use crate::note::{Note, NoteKind};
use crate::tensor::{Dim, Storage, Tensor};

/// The metadata of a verdict.
pub(super) const NAMES: [&str; 3] = ["blz:verdict", "blz:dtype", "blz:shape"];
/// Hints: the number of values and bytes of the cores, where they do not follow from the ratio.
const COUNTS: [&str; 2] = ["blz:values", "blz:bytes"];
const DECLINED: u8 = 0;
const UNDECIDED: u8 = 2;

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let end = source.len().saturating_sub(to_u64(DIGEST_LEN));
    let mut scan = Scan::part(source, NAME, 0..end);
    scan.skip(to_u64(MAGIC_2.len()))?;
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
    if ![DECLINED, COMPRESSED, UNDECIDED].contains(&kind) {
        return scan.fail_at(at, format!("kind is {kind}, 0 to 2 are known"));
    }
    let mut notes = Vec::new();
    let certificate = Certificate::read(&mut scan, ndim, how.mode, &mut notes)?;
    let sizes = sizes(&mut scan, ndim)?;
    let mut bundle = Bundle::new();
    if kind == COMPRESSED {
        let ranks = ranks(&mut scan, ndim)?;
        let mut cores = cores(&mut scan, source, dtype, &sizes, &ranks)?;
        scan.end()?;
        let lens = cores.iter().map(|core| core.bytes.len());
        let bytes = lens.fold(0, u64::saturating_add);
        let values = bytes.checked_div(to_u64(dtype.width())).unwrap_or(0);
        certificate.check(&scan, values, bytes)?;
        // It covers the whole file; reading all cores reads the first.
        if let Some(first) = cores.first_mut() {
            let digest = digest(source, 0..end)?;
            first.bytes = first.bytes.clone().with_digest(Some(digest));
        }
        let dims = sizes.into_iter().map(Dim::indexed).collect();
        let storage = Storage::Train { ranks, cores };
        bundle = Bundle::of(Tensor::new(dims, dtype, vec![], storage)?);
        bundle.meta = certificate.meta;
    } else {
        scan.end()?;
        let whole = Bytes::run(source, 0..end)?;
        whole.with_digest(Some(digest(source, 0..end)?)).check()?;
        let counts = [
            (COUNTS[0], certificate.values),
            (COUNTS[1], certificate.bytes),
        ];
        bundle.meta = certificate.meta;
        without_train(&mut bundle, kind, dtype, sizes);
        let known = Verdict::of(&bundle).map(|verdict| verdict.counts(&bundle));
        for ((name, (_, said)), known) in counts.into_iter().zip(known.unwrap_or_default()) {
            if said != known {
                bundle.hints.set(name, said.to_string().as_str());
            }
        }
    }
    bundle.hints.set(hint::VERSION, "2");
    notes.into_iter().for_each(|note| bundle.note(note));
    Ok(bundle)
}

/// The checksum at the end of a file.
fn digest(source: &Source, over: Range<u64>) -> Result<Digest> {
    let mut expected = [0; DIGEST_LEN];
    source.read_at(over.end, &mut expected)?;
    Ok(Digest {
        algorithm: Algorithm::Sha256,
        expected: expected.to_vec(),
        over: Some(over),
    })
}

/// Describes the tensor of which no train was kept, and the reason.
fn without_train(bundle: &mut Bundle, kind: u8, dtype: DType, sizes: Vec<u64>) {
    let (verdict, why) = match kind {
        DECLINED => ("declined", "no train of it was small enough"),
        _ => ("undecided", "the ranks allowed exclude the tolerance"),
    };
    let text = format!("compression {verdict}, of {dtype} values in shape {sizes:?}: {why}");
    let sizes = sizes.into_iter().map(Value::from).collect();
    let [verdict_name, dtype_name, shape_name] = NAMES;
    bundle.meta.set(verdict_name, verdict);
    bundle.meta.set(dtype_name, dtype.to_string().as_str());
    bundle.meta.set(shape_name, Value::List(sizes));
    bundle.note(Note::new(NoteKind::Verdict, text));
}

/// The content of a file without a train: the tensor of which none was kept.
pub(super) struct Verdict {
    kind: u8,
    dtype: DType,
    sizes: Vec<u64>,
}

impl Verdict {
    /// The verdict of a bundle without tensors, if it has one.
    pub(super) fn of(bundle: &Bundle) -> Option<Verdict> {
        let [verdict, dtype, shape] = NAMES;
        if !bundle.entries().is_empty() {
            return None;
        }
        let sizes = bundle.meta.get(shape)?.as_list()?.iter();
        let sizes: Vec<u64> = sizes.map(Value::as_u64).collect::<Option<_>>()?;
        let dtype: DType = bundle.meta.text(dtype)?.parse().ok()?;
        let is_known = dtype.number == Number::F64 && dtype.arity.count() <= 2;
        let is_sound = is_known && (1..=255).contains(&sizes.len());
        Some(Verdict {
            kind: match bundle.meta.text(verdict)? {
                "declined" => DECLINED,
                "undecided" => UNDECIDED,
                _ => return None,
            },
            dtype,
            sizes,
        })
        .filter(|_| is_sound)
    }

    /// The number of values and bytes of the cores, as far as they follow from the ratio.
    fn counts(&self, bundle: &Bundle) -> [u64; 2] {
        let bytes = certificate::said_bytes(&bundle.meta).unwrap_or(0);
        let values = bytes.checked_div(to_u64(self.dtype.width()));
        [values.unwrap_or(0), bytes]
    }

    /// Writes the file.
    pub(super) fn write(&self, bundle: &Bundle, out: &mut Sink) -> Result<()> {
        let ndim = u8::try_from(self.sizes.len());
        let ndim = ndim.map_err(|_| Error::invalid("more than 255 dimensions"))?;
        let dtype = match self.dtype.arity.count() {
            1 => DTYPE_F64,
            _ => DTYPE_COMPLEX,
        };
        let [values, bytes] = self.counts(bundle);
        let hint = |name: &str| bundle.hints.text(name)?.parse::<u64>().ok();
        let counts = (
            hint(COUNTS[0]).unwrap_or(values),
            hint(COUNTS[1]).unwrap_or(bytes),
        );
        out.start_digest(Some(Algorithm::Sha256));
        out.write(MAGIC_2)?;
        out.write(&[VERSION, dtype, ndim, self.kind])?;
        certificate::write_fields(&bundle.meta, counts, None, out)?;
        let mut sizes = self.sizes.iter();
        sizes.try_for_each(|size| out.write(&size.to_le_bytes()))?;
        let digest = out.take_digest().unwrap_or_default();
        out.write(&digest)
    }
}
