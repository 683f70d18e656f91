//! Zstandard at level 3: a zTensor file written and read, and the library alone on two threads.

use std::path::{Path, PathBuf};

use tenfold::{Bundle, Endian, Key, Limits, Order, WriteOptions};

use crate::{Answer, Outcome, memory, timed};

const LEVEL: i32 = 3;
/// What the library is given at a time by each of two threads, for reading as for writing.
const FRAME: usize = 16 << 20;

/// Answers `write VERSION`, `read VERSION`, and `library-write`, `library-read`, with the length of the file.
pub fn start(words: &[&str]) -> Outcome<Answer> {
    let [file, dtype, folder] = words else {
        return Err("zstd FILE DTYPE FOLDER".into());
    };
    let folder = PathBuf::from(folder);
    let values = std::fs::read(file)?;
    let count = values.len() as u64 / memory::number(dtype)?.width() as u64;
    let tensor = memory::tensor(file, dtype, &[count], Order::Row, Endian::Little)?;
    let mut bundle = Bundle::new();
    bundle.push(Key::flat("values"), tensor);
    let mut out = vec![1; values.len()];
    Ok(Box::new(move |words| {
        let library = folder.join("library.zst");
        let own = |version: &str| folder.join(format!("ours-{version}.zt"));
        let (seconds, path) = match words {
            ["write", version] => {
                let path = own(version);
                timed(|| write(&bundle, version, &path).map(|()| path.clone()))?
            }
            ["read", version] => {
                let path = own(version);
                timed(|| {
                    let opened = tenfold::open(&path)?;
                    let (_, tensor) = opened.bundle.entries().first().ok_or("no tensor")?;
                    tensor.read_into(Order::Row, &Limits::default(), &mut out)?;
                    Ok(path.clone())
                })?
            }
            ["library-write"] => timed(|| {
                let frames = compressed(&values)?;
                std::fs::write(&library, frames.concat())?;
                Ok(library.clone())
            })?,
            ["library-read"] => timed(|| {
                let stored = std::fs::read(&library)?;
                decoded(&stored, &mut out)?;
                Ok(library.clone())
            })?,
            _ => return Err("write, read, library-write or library-read".into()),
        };
        if out != values && words.iter().any(|word| word.contains("read")) {
            return Err("other values came back".into());
        }
        Ok((seconds, std::fs::metadata(path)?.len().to_string()))
    }))
}

fn write(bundle: &Bundle, version: &str, path: &Path) -> Outcome<()> {
    let format = tenfold::by_name("ztensor").ok_or("a format that is gone")?;
    let mut how = WriteOptions {
        version: Some(version.into()),
        skip_sync: true,
        ..WriteOptions::default()
    };
    how.options.set("compress", "zstd");
    tenfold::save(bundle, path, format, &how, true)?;
    Ok(())
}

/// Every other frame on a thread of its own.
fn compressed(values: &[u8]) -> Outcome<Vec<Vec<u8>>> {
    let half = values.len().div_ceil(FRAME).div_ceil(2) * FRAME;
    let frames = |part: &[u8]| -> std::io::Result<Vec<Vec<u8>>> {
        let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
        { part.chunks(FRAME) }
            .map(|frame| compressor.compress(frame))
            .collect()
    };
    let (first, second) = values.split_at(half.min(values.len()));
    let (first, second) = std::thread::scope(|scope| {
        let second = scope.spawn(|| frames(second));
        (frames(first), second.join())
    });
    let mut first = first?;
    first.extend(second.map_err(|_| "a thread stopped")??);
    Ok(first)
}

fn decoded(stored: &[u8], out: &mut [u8]) -> Outcome<()> {
    let mut rest = stored;
    let mut frames = Vec::new();
    for room in out.chunks_mut(FRAME) {
        let len = zstd::zstd_safe::find_frame_compressed_size(rest).map_err(|_| "no frame")?;
        let (frame, later) = rest.split_at(len);
        frames.push((frame, room));
        rest = later;
    }
    let half = frames.len().div_ceil(2);
    let second = frames.split_off(half);
    let decode = |frames: Vec<(&[u8], &mut [u8])>| -> std::io::Result<()> {
        let mut decompressor = zstd::bulk::Decompressor::new()?;
        for (frame, room) in frames {
            decompressor.decompress_to_buffer(frame, room)?;
        }
        Ok(())
    };
    let (first, second) = std::thread::scope(|scope| {
        let second = scope.spawn(|| decode(second));
        (decode(frames), second.join())
    });
    first?;
    Ok(second.map_err(|_| "a thread stopped")??)
}
