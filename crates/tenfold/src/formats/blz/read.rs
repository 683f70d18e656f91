//! Reads `.blz` headers, in file order.
#![deny(clippy::arithmetic_side_effects)]

use super::{DTYPE_COMPLEX, DTYPE_F64, MAGIC, MAGIC_2, NAME, RESERVED, VERSION, v2};
use crate::bundle::Bundle;
use crate::bytes::Endian::Little;
use crate::bytes::{Bytes, Scan, to_u64};
use crate::dtype::{DType, Number, Numbers};
use crate::error::{Error, Result};
use crate::format::{Mode, ReadOptions};
use crate::io::Source;
use crate::note::{Note, NoteKind};
use crate::tensor::{Dim, Storage, Tensor, product};

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let mut scan = Scan::new(source, NAME);
    match scan.take(to_u64(MAGIC.len()))? {
        magic if magic == MAGIC => {}
        magic if magic == MAGIC_2 => return v2::read(source, how),
        _ => return scan.fail_at(0, "the magic is neither BLZ1 nor BLZ2"),
    }
    let version = scan.u8()?;
    if version != VERSION {
        return Err(Error::Unsupported {
            format: NAME,
            what: format!("version {version}"),
        });
    }
    let dtype = dtype(&mut scan)?;
    let ndim_at = scan.at();
    let ndim = scan.u8()?;
    let mut notes = Vec::new();
    if ndim < 2 {
        let text = format!("ndim is {ndim}, a train has at least 2 dimensions");
        match (how.mode, ndim) {
            (Mode::Lenient, 1) => notes.push(Note::new(NoteKind::Lenient, text).at(ndim_at)),
            (Mode::Strict, 1) => {
                return scan.fail_at(ndim_at, format!("{text}; --lenient reads it"));
            }
            _ => return scan.fail_at(ndim_at, text),
        }
    }
    how.limits.check_ndim(ndim.into())?;
    let reserved_at = scan.at();
    let reserved: [u8; RESERVED] = scan.array()?;
    if reserved != [0; RESERVED] {
        let text = "reserved bytes are not zero";
        match how.mode {
            Mode::Strict => return scan.fail_at(reserved_at, text),
            Mode::Lenient => notes.push(Note::new(NoteKind::Lenient, text).at(reserved_at)),
        }
    }
    let sizes = sizes(&mut scan, ndim)?;
    let ranks = ranks(&mut scan, ndim)?;
    let cores = cores(&mut scan, source, dtype, &sizes, &ranks)?;
    scan.end()?;

    let dims = sizes.into_iter().map(Dim::indexed).collect();
    let tensor = Tensor::new(dims, dtype, vec![], Storage::Train { ranks, cores })?;
    let mut bundle = Bundle::of(tensor);
    notes.into_iter().for_each(|note| bundle.note(note));
    Ok(bundle)
}

pub(super) fn dtype(scan: &mut Scan) -> Result<DType> {
    let at = scan.at();
    match scan.u8()? {
        DTYPE_F64 => Ok(DType::real(Number::F64)),
        DTYPE_COMPLEX => Ok(DType::complex(Number::F64)),
        tag => scan.fail_at(at, format!("dtype is {tag}, 0 and 1 are known")),
    }
}

pub(super) fn sizes(scan: &mut Scan, ndim: u8) -> Result<Vec<u64>> {
    (0..ndim).map(|_| scan.u64(Little)).collect()
}

pub(super) fn ranks(scan: &mut Scan, ndim: u8) -> Result<Vec<u64>> {
    let mut ranks = Vec::new();
    for bond in 0..=ndim {
        let at = scan.at();
        let rank = scan.u64(Little)?;
        if rank == 0 {
            return scan.fail_at(at, "a rank is 0");
        }
        if (bond == 0 || bond == ndim) && rank != 1 {
            return scan.fail_at(at, format!("an outer rank is {rank}, a train's are 1"));
        }
        ranks.push(rank);
    }
    Ok(ranks)
}

pub(super) fn cores(
    scan: &mut Scan,
    source: &Source,
    dtype: DType,
    sizes: &[u64],
    ranks: &[u64],
) -> Result<Vec<Numbers>> {
    let links = ranks.iter().zip(ranks.iter().skip(1));
    let mut cores = Vec::new();
    for (size, (rank, next)) in sizes.iter().zip(links) {
        let len = product(&[*rank, *size, *next, to_u64(dtype.width())])
            .and_then(|len| u64::try_from(len).ok());
        let Some(len) = len else {
            return scan.fail(format!(
                "a core of {rank}×{size}×{next} has 2^64 bytes or more"
            ));
        };
        let bytes = Bytes::run(source, scan.values(len)?)?;
        cores.push(Numbers {
            number: dtype.number,
            endian: Little,
            bytes,
        });
    }
    Ok(cores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::tensor::Slice;

    /// The page's example: a 2×3 matrix of rank 2.
    fn example() -> Vec<u8> {
        let mut file = b"BLZ1\x01\x00\x02".to_vec();
        file.extend([0; 8]);
        for number in [2_u64, 3, 1, 2, 1] {
            file.extend(number.to_le_bytes());
        }
        for number in [1.0, 2.0, 3.0, 4.0] {
            file.extend(f64::to_le_bytes(number));
        }
        for number in [1.0, 0.0, 2.0, 0.0, 1.0, -1.0] {
            file.extend(f64::to_le_bytes(number));
        }
        file
    }

    fn read_bytes(file: Vec<u8>) -> Result<Bundle> {
        read(&Source::memory(file), &ReadOptions::default())
    }

    #[test]
    fn the_example_of_the_page_multiplies_out() {
        let file = example();
        assert_eq!(file.len(), 135);
        let bundle = read_bytes(file).unwrap();
        let tensor = bundle.only().unwrap();
        // [[1, 2], [3, 4]] · [[1, 0, 2], [0, 1, -1]]
        assert_eq!(
            tensor.to_vec::<f64>().unwrap(),
            [1.0, 2.0, 0.0, 3.0, 4.0, 2.0]
        );
        assert_eq!(
            tensor.cell::<f64>(&[1, 2], &Limits::default()).unwrap(),
            2.0
        );
        let column = [Slice::all(2), Slice::one(1)];
        assert_eq!(
            tensor.read_box::<f64>(&column, &Limits::default()).unwrap(),
            [2.0, 4.0]
        );
    }

    #[test]
    fn a_cut_header_is_refused_at_the_byte_where_it_ends() {
        let error = read_bytes(b"BLZ1\x01\x00\xff\0\0\0\0\0\0\0\0".to_vec()).unwrap_err();
        let text = "not a valid blz file: 8 more bytes expected, 0 left (byte 15)";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn a_core_that_overflows_is_refused_before_anything_is_allocated() {
        let mut file = example();
        file[15..23].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(
            read_bytes(file)
                .unwrap_err()
                .to_string()
                .contains("(byte 55)")
        );
    }
}
