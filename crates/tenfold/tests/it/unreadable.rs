//! Values that cannot be read when a format is asked what it cannot hold of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tenfold::{
    Address, Bundle, Bytes, Compute, Endian, Error, Number, Numbers, Order, ReadOptions, Result,
    Source, Storage, Tensor,
};

use crate::support::project;

/// Bytes of a device that fails from some time on.
struct Device {
    bytes: Vec<u8>,
    has_failed: Arc<AtomicBool>,
}

impl Compute for Device {
    fn len(&self) -> u64 {
        u64::try_from(self.bytes.len()).unwrap()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        if self.has_failed.load(Relaxed) {
            return Err(std::io::Error::from_raw_os_error(5).into());
        }
        let at = usize::try_from(at).unwrap();
        buffer.copy_from_slice(&self.bytes[at..at + buffer.len()]);
        Ok(())
    }

    fn depth(&self) -> u32 {
        0
    }
}

fn device(bytes: Vec<u8>) -> (Source, Arc<AtomicBool>) {
    let has_failed = Arc::new(AtomicBool::new(false));
    let device = Device {
        bytes,
        has_failed: has_failed.clone(),
    };
    (Source::computed(device), has_failed)
}

/// Asks what a format cannot hold, before and after reading fails.
fn ask(bundle: &Bundle, has_failed: &AtomicBool, target: &str) {
    let format = tenfold::by_name(target).unwrap();
    tenfold::losses(bundle, format).unwrap();
    has_failed.store(true, Relaxed);
    let asked = tenfold::losses(bundle, format);
    assert!(
        matches!(asked, Err(Error::Io { .. })),
        "{target}: {asked:?}"
    );
}

fn opened(format: &str, path: &str) -> (Bundle, Arc<AtomicBool>) {
    let bytes = std::fs::read(project().join("corpus").join(path)).unwrap();
    let (source, has_failed) = device(bytes);
    let format = tenfold::by_name(format).unwrap();
    let opened = tenfold::read(&source, format, &ReadOptions::default()).unwrap();
    (opened.bundle, has_failed)
}

#[test]
fn sparse_rows_of_an_old_file_that_cannot_be_read_are_no_other_layout() {
    let (bundle, has_failed) = opened("ztensor", "ztensor/good/sparsecsr.zt");
    let format = tenfold::by_name("ztensor").unwrap();
    assert!(tenfold::losses(&bundle, format).unwrap().is_empty());
    ask(&bundle, &has_failed, "ztensor");
}

#[test]
fn cells_that_cannot_be_read_are_not_without_odd_nans() {
    for target in ["vespa-text", "vespa-feed"] {
        let labels = if target == "vespa-text" { 1 } else { 2 };
        let dims = ["id", "x"].map(tenfold::Dim::mapped);
        let mut records = tenfold::RecordsBuilder::new(labels, 4);
        records.push(&vec!["a"; labels], &[0; 4]).unwrap();
        let values = Numbers {
            number: Number::F32,
            endian: Endian::Big,
            bytes: records.finish().unwrap(),
        };
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values,
        };
        let dims = dims[..labels].to_vec();
        let tensor = Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap();
        let vespa = tenfold::by_name("vespa").unwrap();
        let mut sink = tenfold::Sink::memory();
        tenfold::write_to(
            &Bundle::of(tensor),
            &mut sink,
            vespa,
            &tenfold::WriteOptions::default(),
        )
        .unwrap();
        let (source, has_failed) = device(sink.finish().unwrap().into_memory().unwrap());
        let bundle = tenfold::read(&source, vespa, &ReadOptions::default())
            .unwrap()
            .bundle;
        ask(&bundle, &has_failed, target);
    }
}

#[test]
fn cells_that_cannot_be_read_are_not_those_of_other_blocks() {
    let path = project().join("corpus/cc4s/good/spins.yaml");
    let bundle = tenfold::open(path).unwrap().bundle;
    let (key, tensor) = &bundle.entries()[0];
    let Storage::Sparse {
        address: Address::Linear(places),
        values,
        order,
    } = tensor.storage()
    else {
        panic!("blocks are single cells");
    };
    // The same cells in another order, in which they have to be compared one by one.
    let mut places: Vec<u64> = places.to_vec().unwrap();
    places.reverse();
    let bytes = places
        .iter()
        .flat_map(|place| place.to_le_bytes())
        .collect();
    let (source, has_failed) = device(bytes);
    let storage = Storage::Sparse {
        order: *order,
        address: Address::Linear(Numbers {
            number: Number::U64,
            endian: Endian::Little,
            bytes: Bytes::whole(source),
        }),
        values: values.clone(),
    };
    let mut other = Tensor::new(tensor.dims().to_vec(), tensor.dtype(), vec![], storage).unwrap();
    other.meta.clone_from(&tensor.meta);
    let mut bundle = Bundle::new();
    bundle.push(key.clone(), other);
    let format = tenfold::by_name("cc4s").unwrap();
    assert!(tenfold::losses(&bundle, format).unwrap().is_empty());
    ask(&bundle, &has_failed, "cc4s");
}
