//! Files whose checksums are compared: by tenfold, and by the crates of the checksums alone on two threads.

use std::path::PathBuf;

use sha2::Digest;
use tenfold::{Bundle, Endian, Key, Limits, Order, WriteOptions};

use crate::{Answer, Outcome, memory, timed};

/// Writes a file of as many tensors of the same length with a checksum each.
pub fn make(path: &str, values: &str, count: u64, kind: &str, version: &str) -> Outcome<()> {
    let whole = std::fs::metadata(values)?.len();
    let tensor = memory::tensor(values, "u8", &[whole], Order::Row, Endian::Little)?;
    let mut bundle = Bundle::new();
    for number in 0..count {
        let share = whole / count;
        let slices = [tenfold::Slice::range(number * share..(number + 1) * share)];
        let bytes = tensor.read_box_bytes(&slices, &Limits::default())?;
        let storage = tenfold::Storage::Dense {
            order: Order::Row,
            values: tenfold::Numbers::from_vec(&bytes),
        };
        let dims = vec![tenfold::Dim::indexed(share)];
        let part = tenfold::Tensor::new(dims, "u8".parse()?, vec![], storage)?;
        bundle.push(Key::flat(format!("part {number:03}")), part);
    }
    let format = tenfold::by_name("ztensor").ok_or("a format that is gone")?;
    let mut how = WriteOptions {
        version: Some(version.into()),
        skip_sync: true,
        ..WriteOptions::default()
    };
    how.options.set("checksum", kind);
    tenfold::save(&bundle, &PathBuf::from(path), format, &how, true)?;
    Ok(())
}

/// Answers `tenfold`, which compares all checksums of a file, and `library`, which computes those of as many runs of
/// the same bytes on two threads.
pub fn start(words: &[&str]) -> Outcome<Answer> {
    let [file, count, kind] = words else {
        return Err("checksum FILE COUNT KIND".into());
    };
    let (file, kind) = (PathBuf::from(file), kind.to_string());
    let count: usize = count.parse()?;
    Ok(Box::new(move |words| {
        let (seconds, seen) = timed(|| match words {
            ["tenfold"] => {
                let opened = tenfold::open(&file)?;
                opened.bundle.check(&Limits::default())?;
                Ok(0)
            }
            ["library"] => {
                let opened = std::fs::File::open(&file)?;
                // SAFETY: nobody changes the file while it is measured.
                let map = unsafe { memmap2::Mmap::map(&opened)? };
                Ok(library(&map, count, &kind))
            }
            _ => Err("tenfold or library".into()),
        })?;
        Ok((seconds, seen.to_string()))
    }))
}

/// The sums of so many runs, folded into one number; a lone run is cut in two where its sums combine.
fn library(bytes: &[u8], count: usize, kind: &str) -> u64 {
    let parts = match (count, kind) {
        (1, "crc32c") => memory::THREADS,
        _ => count,
    };
    let runs: Vec<&[u8]> = bytes.chunks(bytes.len().div_ceil(parts)).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..memory::THREADS)
            .map(|thread| {
                let own = runs.iter().skip(thread).step_by(memory::THREADS);
                scope.spawn(move || own.map(|run| sum(run, kind)).fold(0, |all, one| all ^ one))
            })
            .collect();
        let sums = threads.into_iter().map(|thread| thread.join().unwrap_or(0));
        sums.fold(0, |all, one| all ^ one)
    })
}

fn sum(run: &[u8], kind: &str) -> u64 {
    match kind {
        "crc32c" => crc32c::crc32c(run).into(),
        "sha256" => sha2::Sha256::digest(run)
            .first()
            .copied()
            .unwrap_or(0)
            .into(),
        _ => xxhash_rust::xxh3::xxh3_64(run),
    }
}
