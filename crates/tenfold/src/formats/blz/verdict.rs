//! `BLZ2`: a train with the certificate of how it was made, or the verdict that there is none.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::Range;

use super::certificate::Certificate;
use super::read::{cores, dtype, ranks, sizes};
use super::{COMPRESSED, DIGEST_LEN, MAGIC_2, NAME, VERSION, hint};
use crate::bundle::Bundle;
use crate::bytes::{Algorithm, Bytes, Digest, Scan, Source, wide};
use crate::error::{Error, Result};
use crate::format::ReadOptions;
use crate::meta::Value;
use crate::note::{Note, NoteKind};
use crate::number::DType;
use crate::tensor::{Dim, Storage, Tensor};

const DECLINED: u8 = 0;
const UNDECIDED: u8 = 2;

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
        let values = bytes.checked_div(wide(dtype.width())).unwrap_or(0);
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
        bundle.meta = certificate.meta;
        without_train(&mut bundle, kind, dtype, sizes);
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

/// Says of what tensor no train was kept, and why.
fn without_train(bundle: &mut Bundle, kind: u8, dtype: DType, sizes: Vec<u64>) {
    let (verdict, why) = match kind {
        DECLINED => ("declined", "no train of it was small enough"),
        _ => ("undecided", "the ranks allowed exclude the tolerance"),
    };
    let text = format!("compression {verdict}, of {dtype} values in shape {sizes:?}: {why}");
    let sizes = sizes.into_iter().map(Value::from).collect();
    bundle.meta.set("blz:verdict", verdict);
    bundle.meta.set("blz:dtype", dtype.to_string().as_str());
    bundle.meta.set("blz:shape", Value::List(sizes));
    bundle.note(Note::new(NoteKind::Verdict, text));
}
