//! What files carry as text is restored if it fits, and is never a reason not to read them.

use tenfold::{
    Bundle, Dim, Key, NoteKind, Numbers, Order, ReadOptions, Sink, Storage, Tensor, WriteOptions,
};

use crate::meaning::meanings;
use crate::support::{read, write};

fn matrix(values: [f32; 4]) -> Tensor {
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers::from_vec(&values),
    };
    let dims = vec![Dim::indexed(2); 2];
    Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap()
}

/// A file with the tensors `w` and `other`, of which the first has this text.
fn file(carried: &str, values: [f32; 4]) -> Vec<u8> {
    let mut bundle = Bundle::new();
    let mut tensor = matrix(values);
    // Written under a name as long as the true one, which the writer would see to.
    tensor.meta.set("tenfolx", carried);
    bundle.push(Key::flat("w"), tensor);
    bundle.push(Key::flat("other"), matrix([0.0; 4]));
    let mut bytes = write("ztensor", &bundle).unwrap();
    let at = bytes
        .windows(7)
        .position(|bytes| bytes == b"tenfolx")
        .unwrap();
    bytes[at..at + 7].copy_from_slice(b"tenfold");
    bytes
}

fn restored(fields: &str) -> Bundle {
    let text = format!(r#"{{"version":1,"name":"w","shape":[2,2],{fields}}}"#);
    let bytes = file(&text, [1.0, 2.0, 2.0, 3.0]);
    read("ztensor", &bytes, &ReadOptions::default())
        .unwrap()
        .bundle
}

#[test]
fn what_fits_is_restored() {
    let bundle = restored(
        r#""key":{"path":["enc","w"],"state":"m"},"dims":["x",null],"metadata":[["n",{"f32":"3f800000"}]],
        "symmetries":[{"permutation":[1,0],"operation":"x","packed":true}],"file":[["about",null]]"#,
    );
    assert!(bundle.notes().is_empty(), "{:?}", bundle.notes());
    let tensor = bundle.get("enc/w@m").unwrap();
    assert_eq!((tensor.stored(), tensor.is_packed()), (3, true));
    assert_eq!(tensor.to_vec::<f32>().unwrap(), [1.0, 2.0, 2.0, 3.0]);
    assert_eq!(tensor.dims()[0].name.as_deref(), Some("x"));
    assert_eq!(tensor.meta.get("n"), Some(&tenfold::Value::f32(1.0)));
    assert_eq!((tensor.meta.len(), bundle.meta.len()), (1, 1));

    let bundle =
        restored(r#""labels":{"dims":[["red","blue"]],"blocks":[1]},"dims":["brand","n"]"#);
    assert!(bundle.notes().is_empty(), "{:?}", bundle.notes());
    let tensor = bundle.get("w").unwrap();
    assert_eq!((tensor.stored(), tensor.n_mapped()), (1, 1));
}

#[test]
fn what_does_not_fit_is_noted_and_left_as_it_is() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_meta = format!(
        r#""metadata":[["n",{}1{}]]"#,
        "[".repeat(126),
        "]".repeat(126)
    );
    let whole = |fields: &str| format!(r#"{{"version":1,"name":"w","shape":[2,2],{fields}}}"#);
    let cases = [
        "".into(),
        "hello".into(),
        deep,
        "[]".into(),
        "{}".into(),
        r#"{"version":2,"shape":[2,2]}"#.into(),
        r#"{"version":"1","shape":[2,2]}"#.into(),
        r#"{"version":1}"#.into(),
        r#"{"version":1,"name":"w","shape":[4],"dims":["x"]}"#.into(),
        r#"{"version":1,"name":"w","shape":[2,3],"dims":["x","y"]}"#.into(),
        whole(r#""dims":["x"]"#),
        whole(r#""dims":["x",1]"#),
        whole(r#""dims":null"#),
        whole(r#""key":["w"]"#),
        whole(r#""key":{"path":[1]}"#),
        whole(r#""key":{"path":["w"],"state":1}"#),
        whole(r#""file":{"a":1}"#),
        whole(r#""metadata":[["a",1],["a",2]]"#),
        whole(r#""metadata":[["a",1.5]]"#),
        whole(&deep_meta),
        whole(r#""symmetries":{}"#),
        whole(r#""symmetries":[{"permutation":[1,0],"operation":"x"}]"#),
        whole(r#""symmetries":[{"permutation":[1,1],"operation":"x","packed":true}]"#),
        whole(r#""symmetries":[{"permutation":[1,2],"operation":"x","packed":true}]"#),
        whole(r#""symmetries":[{"permutation":[0],"operation":"x","packed":false}]"#),
        whole(r#""symmetries":[{"permutation":[1,0],"operation":"?","packed":true}]"#),
        whole(r#""symmetries":[{"permutation":[1,-1],"operation":"x","packed":true}]"#),
        whole(r#""labels":[]"#),
        whole(r#""labels":{"dims":[]}"#),
        whole(r#""labels":{"dims":[["a"]]}"#),
        whole(r#""labels":{"dims":[["a","a"]]}"#),
        whole(r#""labels":{"dims":[["a","b"]],"blocks":[2]}"#),
        whole(r#""labels":{"dims":[["a","b"],["a","b"],[]]}"#),
        whole(r#""key":{"path":["other"]}"#),
    ];
    for text in &cases {
        let bytes = file(text, [1.0, 2.0, 2.0, 3.0]);
        let bundle = read("ztensor", &bytes, &ReadOptions::default())
            .unwrap()
            .bundle;
        let kinds: Vec<NoteKind> = bundle.notes().iter().map(|note| note.kind).collect();
        assert_eq!(kinds, [NoteKind::NotRestored], "{text}");
        let tensor = bundle.get("w").unwrap();
        assert_eq!(tensor.to_vec::<f32>().unwrap(), [1.0, 2.0, 2.0, 3.0]);
        if !text.contains("other") {
            assert_eq!(tensor.meta.text("tenfold"), Some(text.as_str()));
            // It is the user's own now, and survives the next conversion.
            let again = write("ztensor", &bundle).unwrap();
            let again = read("ztensor", &again, &ReadOptions::default())
                .unwrap()
                .bundle;
            assert!(again.notes().is_empty());
            assert_eq!(meanings(&again), meanings(&bundle));
        }
    }
}

#[test]
fn a_tensor_that_somebody_renamed_keeps_its_name_and_the_rest() {
    let text =
        r#"{"version":1,"name":"was","shape":[2,2],"key":{"path":["a","b"]},"dims":["x","y"]}"#;
    let bytes = file(text, [0.0; 4]);
    let bundle = read("ztensor", &bytes, &ReadOptions::default())
        .unwrap()
        .bundle;
    let tensor = bundle.get("w").unwrap();
    assert_eq!(tensor.dims()[1].name.as_deref(), Some("y"));
}

#[test]
fn values_that_lost_their_symmetry_are_not_left_out_in_silence() {
    let text = r#"{"version":1,"name":"w","shape":[2,2],
        "symmetries":[{"permutation":[1,0],"operation":"x","packed":true}]}"#;
    let bytes = file(text, [1.0, 2.0, 5.0, 3.0]);
    let bundle = read("ztensor", &bytes, &ReadOptions::default())
        .unwrap()
        .bundle;
    let error = bundle.get("w").unwrap().to_vec::<f32>().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the cell [1, 0] does not have the symmetry"),
        "{error}"
    );
    let how = ReadOptions {
        skip_restore: true,
        ..ReadOptions::default()
    };
    let plain = read("ztensor", &bytes, &how).unwrap().bundle;
    assert_eq!(
        plain.get("w").unwrap().to_vec::<f32>().unwrap(),
        [1.0, 2.0, 5.0, 3.0]
    );
}

#[test]
fn default_names_the_order_of_keys_and_of_blocks_are_no_losses() {
    let mut bundle = Bundle::new();
    for key in ["z", "a"] {
        let mut tensor = matrix([0.0; 4]);
        let dims = ["a", "b"].map(|name| Dim::indexed(2).named(name)).to_vec();
        tensor = Tensor::new(dims, tensor.dtype(), vec![], tensor.storage().clone()).unwrap();
        bundle.push(Key::flat(key), tensor);
    }
    for target in ["ztensor", "primitiv"] {
        let mut out = Sink::memory();
        let format = tenfold::by_name(target).unwrap();
        let said = tenfold::write_to(&bundle, &mut out, format, &WriteOptions::default()).unwrap();
        assert!(said.is_empty(), "{target}: {said:?}");
    }
}

#[test]
fn labels_beyond_what_fits_a_text_are_refused_as_ever() {
    let mut records = tenfold::RecordsBuilder::new(1, 1);
    for number in 0..2000 {
        records.push(&[&format!("{number:0600}")], &[1]).unwrap();
    }
    let values = Numbers {
        number: tenfold::Number::I8,
        endian: tenfold::Endian::Little,
        bytes: records.finish().unwrap(),
    };
    let storage = Storage::Sparse {
        order: Order::Row,
        address: tenfold::Address::Labels,
        values,
    };
    let dims = vec![Dim::mapped("k")];
    let tensor = Tensor::new(dims, "i8".parse().unwrap(), vec![], storage).unwrap();
    let error = write("ztensor", &Bundle::of(tensor)).unwrap_err();
    assert!(error.to_string().contains("--allow labels"), "{error}");
}
