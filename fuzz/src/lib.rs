//! What the fuzzer tries: every reader on its own, what lies below the readers, and what has to hold
//! whatever a file says.

#[path = "../../crates/tenfold/tests/shared/files.rs"]
#[expect(dead_code, reason = "tests need more of it")]
mod files;
#[path = "../../crates/tenfold/tests/shared/mended.rs"]
mod mended;

pub mod memory;
pub mod structure;

use tenfold::{
    Bundle, Format, Limits, Mode, Opened, IndexExpr, ReadOptions, SparseHashing, Tensor, WriteOptions,
};

/// Makes a target: what is done with the bytes, within the memory of one run, and the mutation that knows
/// what they are made of, if there is one.
#[macro_export]
macro_rules! target {
    ($data:ident => $run:expr) => {
        libfuzzer_sys::fuzz_target!(|$data: &[u8]| $crate::memory::watched(|| $run));
    };
    ($data:ident => $run:expr, $mutation:path) => {
        $crate::target!($data => $run);
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
            $crate::structure::next($mutation, data, size, most, seed)
        });
    };
}

/// What a tensor may expand to here, so that unpacking it stays quick.
const EXPANDED: u64 = 1 << 16;

fn how(mode: Mode) -> ReadOptions {
    let mut how = ReadOptions {
        mode,
        ..ReadOptions::default()
    };
    how.limits
        .set("decoded", EXPANDED)
        .expect("there is such a limit");
    how
}

fn open(format: &'static dyn Format, data: &[u8], mode: Mode) -> Option<Opened> {
    tenfold::read(&files::source(data.to_vec()), format, &how(mode)).ok()
}

fn writing() -> WriteOptions {
    WriteOptions {
        limits: how(Mode::Strict).limits,
        ..WriteOptions::default()
    }
}

/// Opens, checks, shows and rewrites a file as the format called `name`.
pub fn reads(name: &str, data: &[u8]) {
    let format = tenfold::by_name(name).expect("a format");
    if name == "raw" {
        return raw(format, data);
    }
    let mended = mended::described(data.to_vec()).filter(|_| name == "ztensor");
    let data = mended.as_deref().unwrap_or(data);
    let head = tenfold::Head::of(&files::source(data.to_vec()));
    let _ = head.and_then(|head| format.probe(&head));
    for mode in [Mode::Strict, Mode::Lenient] {
        if let Some(opened) = open(format, data, mode) {
            walk(&opened.bundle);
            let mut out = files::sink();
            let _ = tenfold::write_to(&opened.bundle, &mut out, format, &writing());
            return; // a lenient reader does the same
        }
    }
}

/// The first line says what the numbers are, as `--raw` does.
fn raw(format: &'static dyn Format, data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let (words, rest) = data.split_at(end);
    let Ok(words) = std::str::from_utf8(words) else {
        return;
    };
    let mut how = how(Mode::Strict);
    for word in words.split(',') {
        let Some((name, value)) = word.split_once('=') else {
            return;
        };
        how.options.set(name, value);
    }
    let source = files::source(rest.to_vec());
    if let Ok(opened) = tenfold::read(&source, format, &how) {
        walk(&opened.bundle);
    }
}

/// Reads all there is in every way there is.
fn walk(bundle: &Bundle) {
    let limits = how(Mode::Strict).limits;
    let _ = bundle.check(&limits);
    for (_, tensor) in bundle.entries() {
        let _ = tensor.for_each(1 << 12, &limits, &mut |_| Ok(()));
        let _ = tensor.for_each_cell(&limits, &mut |_| Ok(()));
    }
}

/// Asks of which format a file is, and reads it as that, decompressed where it is compressed.
pub fn detects(data: &[u8]) {
    let limits = how(Mode::Strict).limits;
    let Ok(source) = files::source(data.to_vec()).unpacked(&limits) else {
        return;
    };
    if let Ok(format) = tenfold::detect(&source, None) {
        let _ = tenfold::read(&source, format, &how(Mode::Strict));
    }
}

/// Reads the bytes as a gzip file of whatever they are.
pub fn gzip(data: &[u8]) {
    detects(&[structure::GZIP_HEAD, data].concat());
}

/// Reads the bytes as a YAML document, if they are text.
pub fn yaml(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        tenfold::fuzzing::yaml(text);
    }
}

/// Reads the bytes as the dictionary in the header of an npy file.
pub fn npy_literal(data: &[u8]) {
    let Ok(len) = u16::try_from(data.len()) else {
        return;
    };
    let head = [b"\x93NUMPY\x01\0".as_slice(), &len.to_le_bytes()].concat();
    reads("npy", &[&head, data, &[0; 64]].concat());
}

/// Reads the bytes as the type of a literal of Vespa, with nothing in it.
pub fn vespa_type(data: &[u8]) {
    reads("vespa-text", &[b"tensor", data, b":{}"].concat());
    reads("vespa-text", &[b"tensor", data, b":[]"].concat());
}

/// Takes a slice of a small tensor; each value that comes is the one at the place that NumPy's rules
/// give.
pub fn slices(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let sizes = [3_u64, 4, 5];
    let values: Vec<u32> = (0..60).collect();
    let dims = sizes.iter().map(|size| tenfold::Dim::indexed(*size));
    let storage = tenfold::Storage::Dense {
        order: tenfold::Order::Row,
        values: tenfold::Numbers::from_vec(&values),
    };
    let dtype = "u32".parse().expect("a type");
    let tensor = Tensor::new(dims.collect(), dtype, vec![], storage).expect("a tensor");
    let Ok(picks) = IndexExpr::list(text) else {
        return;
    };
    let Ok(part) = tensor.sliced(&picks, &Limits::default()) else {
        return;
    };
    if let Some(wanted) = wanted(&picks, &sizes) {
        let found: Vec<u32> = part.to_vec().expect("the values of a slice");
        assert_eq!(found, wanted, "{text}");
    }
}

/// The values of a slice of positions, one at a time; nothing where dimensions are named.
fn wanted(picks: &[IndexExpr], sizes: &[u64]) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for pick in picks {
        match pick {
            IndexExpr::Rest => {
                let left = sizes.len().checked_sub(picks.len() - 1)?;
                all.extend(std::iter::repeat_n(IndexExpr::ALL, left));
            }
            IndexExpr::Named(..) => return None,
            other => all.push(other.clone()),
        }
    }
    all.resize(sizes.len(), IndexExpr::ALL);
    let places: Vec<Vec<u64>> = all
        .iter()
        .zip(sizes)
        .map(|(pick, size)| places(pick, i128::from(*size)))
        .collect();
    let [first, second, third] = places.as_slice() else {
        return None;
    };
    let mut values = Vec::new();
    for i in first {
        for j in second {
            let row = (i * 4 + j) * 5;
            values.extend(third.iter().map(|k| u32::try_from(row + k).expect("small")));
        }
    }
    Some(values)
}

/// The places of one dimension that a pick takes, by walking along it.
fn places(pick: &IndexExpr, size: i128) -> Vec<u64> {
    let from_end = |place: i128| {
        if place < 0 {
            place.saturating_add(size)
        } else {
            place
        }
    };
    let (start, stop, step) = match pick {
        IndexExpr::Index(place) => {
            let place = from_end(*place);
            (place, place + 1, 1)
        }
        IndexExpr::Range { start, stop, step } => {
            let step = i128::from(*step);
            let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
            let end = |given: &Option<i128>, none: i128| {
                given.map_or(none, |place| from_end(place).clamp(low, high))
            };
            let (first, last) = if step > 0 { (low, high) } else { (high, low) };
            (end(start, first), end(stop, last), step)
        }
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    let mut place = start;
    while (step > 0 && place < stop) || (step < 0 && place > stop) {
        found.push(u64::try_from(place).expect("a place of the dimension"));
        place = place.saturating_add(step);
    }
    found
}

/// What every tensor says, under its name; nothing if one is damaged or too large.
fn meaning(bundle: &Bundle) -> Option<Vec<(String, String)>> {
    let limits = how(Mode::Strict).limits;
    bundle.check(&limits).ok()?;
    let hashes = tenfold::tensor_hashes(bundle, SparseHashing::Cells, &limits).ok()?;
    let names = bundle.entries().iter().map(|(key, _)| key.to_string());
    let mut all: Vec<_> = names
        .zip(hashes.iter().map(|hash| hash.to_string()))
        .collect();
    all.sort();
    Some(all)
}

/// Writes what was read as `to` says; if nothing is said to be lost, the same comes back.
fn comes_back(bundle: &Bundle, to: &'static dyn Format) {
    let mut out = files::sink();
    let Ok(said) = tenfold::write_to(bundle, &mut out, to, &writing()) else {
        return;
    };
    let Some(before) = meaning(bundle) else {
        return;
    };
    let (first, beside) = out.finish_with_files().expect("a sink in memory");
    let bytes = files::together(first, beside);
    let name = to.info().name;
    let how = how(Mode::Strict);
    let again = match tenfold::read(&files::source(bytes), to, &how) {
        Ok(again) => again,
        Err(tenfold::Error::Limit { .. }) => return,
        Err(error) => panic!("{name}: what was written cannot be read: {error}"),
    };
    if said.is_empty() {
        assert_eq!(Some(before), meaning(&again.bundle), "{name}");
    }
}

/// Reads a file as what it seems to be and writes it as the same format.
pub fn round_trips(data: &[u8]) {
    if let Ok(format) = tenfold::detect(&files::source(data.to_vec()), None)
        && let Some(opened) = open(format, data, Mode::Strict)
        && format.info().is_written()
    {
        comes_back(&opened.bundle, format);
    }
}

/// The first byte says into which format the rest is converted.
pub fn converts(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else {
        return;
    };
    let written: Vec<_> = { tenfold::formats::ALL.iter() }
        .filter(|format| format.info().is_written())
        .collect();
    let to = written[usize::from(*choice) % written.len()];
    if let Ok(format) = tenfold::detect(&files::source(data.to_vec()), None)
        && let Some(opened) = open(format, data, Mode::Strict)
    {
        comes_back(&opened.bundle, *to);
    }
}
