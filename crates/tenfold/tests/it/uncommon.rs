//! What few files have and few users ask for: options, certificates, parts of a set, calls in arrays of objects.
//! The bytes are made by hand, after the tables of the formats.

use tenfold::formats::blz::{Proven, certify, strip};
use tenfold::{
    Bundle, Dim, Duplicates, Error, Limits, Numbers, Order, ReadOptions, Result, Shard, Sink,
    Source, Storage, Tensor, WriteOptions,
};

use crate::support::{files, project, spelled};

fn read(name: &str, bytes: &[u8], how: &ReadOptions) -> Result<Bundle> {
    let source = Source::memory(bytes.to_vec());
    Ok(tenfold::read(&source, tenfold::by_name(name).unwrap(), how)?.bundle)
}

/// Options as on the command line; none for no words.
fn reading(words: &str) -> ReadOptions {
    let mut how = ReadOptions::default();
    if !words.is_empty() {
        how.options = spelled(words);
    }
    how
}

fn write(name: &str, bundle: &Bundle, version: Option<&str>, words: &str) -> Result<Vec<u8>> {
    let mut how = WriteOptions {
        version: version.map(str::to_owned),
        ..WriteOptions::default()
    };
    if !words.is_empty() {
        how.options = spelled(words);
    }
    let mut out = Sink::memory();
    tenfold::write_to(bundle, &mut out, tenfold::by_name(name).unwrap(), &how)?;
    Ok(out.finish()?.into_memory().unwrap())
}

/// A dense tensor of doubles.
fn dense(sizes: &[u64], values: &[f64]) -> Bundle {
    let dims = sizes.iter().copied().map(Dim::indexed).collect();
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers::from_vec(values),
    };
    Bundle::of(Tensor::new(dims, "f64".parse().unwrap(), vec![], storage).unwrap())
}

#[track_caller]
fn refused<T>(outcome: Result<T>, why: &str) {
    let Err(error) = outcome else {
        panic!("{why:?} was accepted");
    };
    let text = error.to_string();
    assert!(text.contains(why), "{text}");
}

#[test]
fn what_was_proven_of_a_train_is_its_certificate() {
    let numbers = [2_u64, 2, 1, 1, 1].map(u64::to_le_bytes).concat();
    let cores = [1.0_f64, 2.0, 3.0, 4.0].map(f64::to_le_bytes).concat();
    let file = [b"BLZ1\x01\x00\x02".as_slice(), &[0; 8], &numbers, &cores].concat();
    let mut bundle = read("blz", &file, &ReadOptions::default()).unwrap();
    let proven = Proven {
        tolerance: Some(0.25),
        max_rank: Some(7),
        absolute: 0.5,
        relative: 0.125,
        dense_bytes: 32,
    };
    certify(&mut bundle, &proven);
    let made = write("blz", &bundle, Some("2"), "").unwrap();
    let float = |at: usize| f64::from_le_bytes(made[at..at + 8].try_into().unwrap());
    let count = |at: usize| u64::from_le_bytes(made[at..at + 8].try_into().unwrap());
    assert_eq!(&made[..8], b"BLZ2\x01\x00\x02\x01");
    assert_eq!((float(8), count(16)), (0.25, 7));
    // Four values in 32 bytes of cores, for a tensor of 32 bytes.
    assert_eq!([24, 32, 40].map(count), [4, 32, 32]);
    assert_eq!([48, 56, 64].map(float), [1.0, 0.5, 0.125]);
    assert!(float(72).is_nan() && float(80).is_nan());
    assert_eq!(made[88..104], [[0xff; 12].as_slice(), &[0; 4]].concat());

    strip(&mut bundle);
    let bare = write("blz", &bundle, Some("2"), "").unwrap();
    assert!(f64::from_le_bytes(bare[8..16].try_into().unwrap()).is_nan());
    assert_eq!(bare[16..24], [0xff; 8]);
}

#[test]
fn an_array_of_objects_says_what_loading_it_would_call() {
    let pickle = b"\x80\x02cos\nsystem\nX\x02\0\0\0ls\x85R.";
    let how = ReadOptions {
        callables: true,
        ..ReadOptions::default()
    };
    let plain = "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }";
    let fields = "{'descr': [('a', '<f4'), ('b', '|O')], 'fortran_order': False, 'shape': (1,), }";
    for dictionary in [plain, fields] {
        // With its newline and the ten bytes before it a header has a multiple of 64.
        let header = format!("{dictionary:<117}\n");
        let file = [
            b"\x93NUMPY\x01\0\x76\0".as_slice(),
            header.as_bytes(),
            pickle,
        ]
        .concat();
        assert!(matches!(
            read("npy", &file, &ReadOptions::default()),
            Err(Error::Unsupported { .. })
        ));
        let bundle = read("npy", &file, &how).unwrap();
        let [called] = bundle.callables() else {
            panic!("{:?}", bundle.callables());
        };
        assert_eq!((called.name.as_str(), called.count), ("os.system", 1));
        assert!(!called.is_allowed);
    }
}

#[test]
fn arrays_of_objects_in_an_archive_are_asked_one_by_one() {
    let how = ReadOptions {
        callables: true,
        ..ReadOptions::default()
    };
    let mut found = Vec::new();
    for path in files(&project().join("corpus/npz/good")) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with("left_out_object") {
            let bytes = std::fs::read(&path).unwrap();
            let bundle = read("npz", &bytes, &how).unwrap();
            let calls = bundle.callables().iter().map(|called| called.name.clone());
            found.push((name, calls.collect::<Vec<_>>()));
        }
    }
    // What the scripts of the corpus put in: None, and a call, stored and deflated.
    let call = vec!["os.system".to_owned()];
    let wanted = [
        ("left_out_object.npz".to_owned(), vec![]),
        ("left_out_object_call.npz".to_owned(), call.clone()),
        ("left_out_object_call_deflated.npz".to_owned(), call),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn labels_of_decimal_digits_are_positions_where_that_is_asked_for() {
    let block = |label: &str, value: f64| {
        let len = u8::try_from(label.len()).unwrap();
        [&[len], label.as_bytes(), &value.to_be_bytes()].concat()
    };
    let file = [
        b"\x01\x01\x01x\x02".as_slice(),
        &block("2", 1.5),
        &block("0", 2.5),
    ]
    .concat();
    let values = |words: &str| -> Vec<f64> {
        let bundle = read("vespa", &file, &reading(words)).unwrap();
        bundle.only().unwrap().to_vec().unwrap()
    };
    assert_eq!(values("labels=decimal"), [2.5, 0.0, 1.5]);
    assert_eq!(values("labels=decimal,shape=4"), [2.5, 0.0, 1.5, 0.0]);
    let refuses = |words: &str, why: &str| refused(read("vespa", &file, &reading(words)), why);
    refuses("shape=4", "shape goes with labels=decimal");
    refuses("labels=decimal,shape=4y", "not sizes such as 3x4");
    refuses("labels=decimal,shape=2", "2");
}

#[test]
fn a_part_of_a_set_of_gguf_says_which_it_is() {
    let value = |key: &str, kind: u32, bytes: &[u8]| {
        let len = (key.len() as u64).to_le_bytes();
        [&len, key.as_bytes(), &kind.to_le_bytes(), bytes].concat()
    };
    let head = |values: u64| {
        let counts = [0_u64, values].map(u64::to_le_bytes).concat();
        [b"GGUF\x03\0\0\0".as_slice(), &counts].concat()
    };
    // The types that llama.cpp gives them: two u16, which is 2, and an i32, which is 5.
    let part = |number: u8, count: u8, tensors: u8| {
        [
            value("split.no", 2, &[number, 0]),
            value("split.count", 2, &[count, 0]),
            value("split.tensors.count", 5, &[tensors, 0, 0, 0]),
        ]
        .concat()
    };
    let name = value("general.name", 8, b"\x01\0\0\0\0\0\0\0m");
    let file = [head(4), name.clone(), part(1, 3, 9)].concat();
    let format = tenfold::by_name("gguf").unwrap();
    let mut bundle = read("gguf", &file, &ReadOptions::default()).unwrap();
    let shard = format.shard(&bundle).unwrap();
    assert_eq!(
        (shard.number, shard.count, shard.n_tensors),
        (1, 3, Some(9))
    );

    let first = Shard {
        number: 0,
        count: 2,
        n_tensors: Some(5),
    };
    let written = |bundle: &Bundle| write("gguf", bundle, None, "").unwrap();
    format.mark_shard(&mut bundle, Some(&first));
    let wanted = [head(4), name.clone(), part(0, 2, 5)].concat();
    assert!(written(&bundle).starts_with(&wanted));
    format.mark_shard(&mut bundle, None);
    assert!(written(&bundle).starts_with(&[head(1), name].concat()));
    assert!(format.shard(&bundle).is_none());
    // All files but the first have nothing but these.
    let second = Shard { number: 1, ..first };
    format.mark_shard(&mut bundle, Some(&second));
    assert!(written(&bundle).starts_with(&[head(3), part(1, 2, 5)].concat()));
}

#[test]
fn raw_numbers_are_written_as_they_are_asked_for() {
    let pair = dense(&[2], &[1.0, 2.0]);
    let numbers = [
        b"\0\0\0".as_slice(),
        &1_f64.to_be_bytes(),
        &2_f64.to_be_bytes(),
    ]
    .concat();
    let written = |words: &str| write("raw", &pair, None, words);
    assert_eq!(written("endian=big,offset=3").unwrap(), numbers);
    assert_eq!(written("shape=?").unwrap().len(), 16);
    refused(
        written("shape=3"),
        "the tensor is 2, and not of the shape 3",
    );
    refused(written("shape=2x?"), "not of the shape 2x?");
    refused(written("dtype=c64"), "cannot be cast to c64");
    refused(
        write("raw", &dense(&[], &[1.0]), None, "shape=1"),
        "a scalar",
    );
    assert_eq!(written("dtype=f64,order=F").unwrap().len(), 16);
}

#[test]
fn an_integral_that_is_listed_twice_is_resolved_by_a_rule() {
    let file = |lines: &str| format!("&FCI NORB=2,NELEC=2,MS2=0,\n&END\n{lines}").into_bytes();
    let resolved = |lines: &str, rule: Duplicates| -> Result<f64> {
        let how = ReadOptions {
            duplicates: Some(rule),
            ..ReadOptions::default()
        };
        let bundle = read("fcidump", &file(lines), &how)?;
        let entries = bundle.entries().iter();
        let mut named = entries.filter(|(key, _)| key.to_string() == "one");
        named.next().unwrap().1.cell(&[1, 0], &Limits::default())
    };
    let twice = " 0.5 2 1 0 0\n 0.25 2 1 0 0\n";
    assert_eq!(resolved(twice, Duplicates::Sum).unwrap(), 0.75);
    assert_eq!(resolved(twice, Duplicates::Last).unwrap(), 0.25);
    // (i|h|j) and (j|h|i) are one integral: two values of it cannot be parts of a sum.
    let mirrored = " 0.5 2 1 0 0\n 0.25 1 2 0 0\n";
    assert!(resolved(mirrored, Duplicates::Sum).is_err());
    assert_eq!(resolved(mirrored, Duplicates::Last).unwrap(), 0.25);
    let plain = read("fcidump", &file(twice), &ReadOptions::default());
    refused(plain, "listed");
}

#[test]
fn the_programs_that_open_a_ztensor_follow_from_its_content() {
    let format = tenfold::by_name("ztensor").unwrap();
    let of = |version: &str, file: &str| -> String {
        let path = project().join("corpus/ztensor/good").join(file);
        let bytes = std::fs::read(path).unwrap();
        let bundle = read("ztensor", &bytes, &ReadOptions::default()).unwrap();
        format.readers(version, Some(&bundle)).unwrap()
    };
    // What the released programs read: `oracles/ztensor-…`.
    assert_eq!(format.readers("0.1", None).unwrap(), "0.1 to 1.2");
    assert_eq!(of("0.1", "floats_little.zt"), "0.1 to 1.2");
    assert!(of("0.1", "floats_big.zt").contains("misread big-endian"));
    assert!(of("0.1", "dtype_unknown.zt").contains("no released one"));
    assert!(of("0.1", "sparsecoo.zt").contains("not dense"));
    assert!(of("0.1", "encoding_unknown.zt").contains("no such encoding"));
    assert!(of("0.1", "layout_unknown.zt").contains("no such layout"));
    assert_eq!(of("1.2", "v1_2_dense.zt"), "1.1 and 1.2");
    assert!(of("1.2", "v1_2_complex.zt").contains("complex"));
    assert!(of("1.2", "v1_2_dtype_unknown.zt").contains("as far as they know"));
    assert_eq!(of("2", "v2_dense.zt"), "2.x");
    assert!(format.readers("3", None).is_none());
}

#[test]
fn a_feed_is_written_as_its_type_says() {
    let matrix = dense(&[2, 2], &[1.0, 2.0, 3.0, -4.0]);
    let written = |words: &str| -> Result<String> {
        Ok(String::from_utf8(write("vespa-feed", &matrix, None, words)?).unwrap())
    };
    let mut how = WriteOptions::default();
    how.options.set("type", "tensor<float>(y[2])");
    how.options.set("field", "e");
    let mut out = Sink::memory();
    let feed = tenfold::by_name("vespa-feed").unwrap();
    let said = tenfold::write_to(&matrix, &mut out, feed, &how);
    let text = said.and_then(|_| out.finish());
    let text = String::from_utf8(text.unwrap().into_memory().unwrap()).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["put"], "id:doc:doc::0");
    // A type that was given is known where the feed goes.
    assert!(lines[0]["fields"]["e"]["type"].is_null());
    assert_eq!(lines[1]["fields"]["e"]["values"][1], -4.0);
    refused(written("type=tensor(y[3])"), "rows of 2 are not of type");
    refused(written("id-dim=z"), "z");
    let signs = written("binarize=int8").unwrap();
    // The signs + + and + -, the first of eight the most significant.
    let lines: Vec<serde_json::Value> = signs
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["fields"]["tensor"]["values"][0], -64.0);
    assert_eq!(lines[1]["fields"]["tensor"]["values"][0], -128.0);
    refused(
        written("binarize=int8,type=tensor(y[1])"),
        "makes cells of int8",
    );
}

#[test]
fn tens_0_9_is_a_header_and_bare_values() {
    let words =
        |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let header = |number_len: u32| {
        [
            b"TENS".as_slice(),
            &words(&[0x9000]),
            b"IEEE",
            &words(&[number_len, 1, 1, 0, 0]),
            // The length, the name a, no flags.
            &words(&[2, u32::from(b'a')]),
        ]
        .concat()
    };
    let doubles = [1_f64, 2.0].map(f64::to_le_bytes).concat();
    let file = [header(8), doubles].concat();
    let made = write("tens", &dense(&[2], &[1.0, 2.0]), Some("0.9"), "").unwrap();
    assert_eq!(made, file);
    // Its own programs take every number for a double; one that was another stays what it was.
    let singles = [1_f32, 2.0].map(f32::to_le_bytes).concat();
    let file = [header(4), singles].concat();
    let bundle = read("tens", &file, &ReadOptions::default()).unwrap();
    assert_eq!(write("tens", &bundle, Some("0.9"), "").unwrap(), file);
    assert_eq!(write("tens", &bundle, None, "").unwrap(), file);
}

/// A tensor of one 1.0, as primitiv writes it.
const ONE: &[u8] = b"\x91\xce\0\0\0\x01\xce\0\0\0\x01\xc4\x04\0\0\x80\x3f";

#[test]
fn a_name_that_is_too_long_is_refused_by_the_limit_of_texts() {
    let head = b"\xce\0\0\0\0\xce\0\0\0\x01\xce\0\0\x02\0";
    let file = [head, ONE, b"\xce\0\0\0\x01\xa4abcd", ONE].concat();
    let with_limit = |text: u64| {
        let mut how = ReadOptions::default();
        how.limits.set("text", text).unwrap();
        read("primitiv", &file, &how)
    };
    assert_eq!(with_limit(4).unwrap().entries().len(), 2);
    assert!(matches!(with_limit(3), Err(Error::Limit { .. })));
}

#[test]
fn salvage_says_how_many_parameters_are_gone() {
    let head = b"\xce\0\0\0\0\xce\0\0\0\x01\xce\0\0\x03\0\xce\0\0\0\x03";
    let file = [head, b"\x91\xa1a".as_slice(), ONE, b"\xce\0\0\0\0"].concat();
    let how = ReadOptions {
        salvage: true,
        ..ReadOptions::default()
    };
    let bundle = read("primitiv", &file, &how).unwrap();
    assert_eq!(bundle.entries().len(), 1);
    let notes: Vec<&str> = bundle
        .notes()
        .iter()
        .map(|note| note.text.as_str())
        .collect();
    assert!(
        notes
            .iter()
            .any(|note| note.contains("the last parameters, 2")),
        "{notes:?}"
    );
}

#[test]
fn bytes_are_empty_if_there_are_none() {
    assert!(tenfold::Bytes::memory(Vec::new()).is_empty());
    assert!(!tenfold::Bytes::memory(vec![0]).is_empty());
}
