//! A slice of dense singles that lie in a file.

use memmap2::{Advice, MmapMut};
use tenfold::{Bytes, Dim, Endian, Limits, Number, Numbers, Order, IndexExpr, Source, Storage, Tensor};

use crate::{Answer, Outcome, memory, timed};

/// Answers `read` and `mapped` with the sum of the bits that came out.
pub fn start(words: &[&str]) -> Outcome<Answer> {
    let [file, at, sizes, slice] = words else {
        return Err("slice FILE AT SIZES SLICE".into());
    };
    let at: u64 = at.parse()?;
    let sizes = memory::sizes(sizes)?;
    let len = sizes.iter().product::<u64>() * 4;
    let (file, slice) = (file.to_string(), slice.to_string());
    Ok(Box::new(move |words| match words {
        [how @ ("read" | "mapped")] => {
            let (seconds, mut found) = timed(|| {
                let source = match *how {
                    "read" => Source::open(&file)?,
                    // SAFETY: nobody changes the files of a benchmark while it runs.
                    _ => unsafe { Source::map(&file)? },
                };
                let bytes = Bytes::whole(source).run_within(at..at + len);
                let values = Numbers {
                    number: Number::F32,
                    endian: Endian::Little,
                    bytes: bytes.ok_or("no such bytes")?,
                };
                let order = Order::Row;
                let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
                let storage = Storage::Dense { order, values };
                let tensor = Tensor::new(dims, "f32".parse()?, vec![], storage)?;
                let limits = Limits::default();
                let sliced = tensor.sliced(&IndexExpr::list(&slice)?, &limits)?;
                let len = sliced.sizes()?.iter().product::<u64>() * 4;
                let mut found = Room::new(usize::try_from(len)?)?;
                sliced.read_into(order, &limits, found.bytes())?;
                Ok(found)
            })?;
            let cells = found.bytes().as_chunks().0.iter().copied();
            let sum: u64 = cells.map(|cell| u64::from(u32::from_le_bytes(cell))).sum();
            Ok((seconds, sum.to_string()))
        }
        _ => Err("read or mapped".into()),
    }))
}

/// New memory: as NumPy has it, of the allocator, or large pages of the system's.
enum Room {
    Few(Vec<u8>),
    Many(MmapMut),
}

impl Room {
    fn new(len: usize) -> Outcome<Room> {
        if len < 4 << 20 {
            return Ok(Room::Few(vec![0; len]));
        }
        let map = MmapMut::map_anon(len)?;
        map.advise(Advice::HugePage)?;
        Ok(Room::Many(map))
    }

    fn bytes(&mut self) -> &mut [u8] {
        match self {
            Room::Few(bytes) => bytes,
            Room::Many(map) => map,
        }
    }
}
