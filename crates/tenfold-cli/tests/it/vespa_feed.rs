//! Documents of Vespa: their ids, what is done with them, and what else they have.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;

use tempfile::TempDir;

use crate::support::{Ran, npy, tenfold_in, tenfold_with};

/// Converts a text into a feed.
fn feed(text: &str, options: &str) -> Ran {
    let words = format!("convert - - --to vespa-feed {options}");
    tenfold_with(words.split_whitespace(), text.as_bytes().to_vec())
}

/// Converts a feed into another.
fn again(feed: &str, options: &str) -> Ran {
    let words = format!("convert - - --from vespa-feed --to vespa-feed {options}");
    tenfold_with(words.split_whitespace(), feed.as_bytes().to_vec())
}

fn singles(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// Rows of two numbers.
fn rows() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    npy(
        &folder,
        "emb.npy",
        "<f4",
        "(2, 2)",
        &singles(&[0.1, 1.0, -2.5, 3.0]),
    );
    folder
}

const CHUNKS: &str = "tensor<float>(chunk{},x[2]):{a:[1,2],b:[3,4]}";

#[test]
fn labels_become_ids_only_where_that_is_asked_for() {
    let refused = feed(CHUNKS, "");
    assert_eq!(refused.exit.code(), 3, "{refused}");
    assert!(refused.errors.contains("--opt id-dim=chunk"), "{refused}");
    let made = feed(CHUNKS, "--opt id-dim=chunk,operation=put");
    let lines = concat!(
        r#"{"put":"id:doc:doc::a","fields":{"tensor":{"type":"tensor<float>(x[2])","values":[1.0,2.0]}}}"#,
        "\n",
        r#"{"put":"id:doc:doc::b","fields":{"tensor":{"values":[3.0,4.0]}}}"#,
        "\n"
    );
    assert_eq!(made.text(), lines, "{made}");

    let two = "tensor(a{},b{},x[1]):{a:{q:[1]},c:{q:[2]}}";
    let refused = feed(two, "");
    assert!(refused.errors.contains("--opt id-dim=a|b"), "{refused}");
    let made = feed(two, "--opt id-dim=b");
    let line = concat!(
        r#"{"put":"id:doc:doc::q","fields":{"tensor":{"type":"tensor(a{},x[1])","#,
        r#""blocks":{"a":[1.0],"c":[2.0]}}}}"#,
        "\n"
    );
    assert_eq!(made.text(), line, "{made}");
    let refused = feed(two, "--opt id-dim=x");
    assert!(refused.errors.contains("x has no labels"), "{refused}");
}

#[test]
fn any_dimension_of_a_dense_tensor_can_be_that_of_the_documents() {
    let folder = rows();
    let words = "convert @/emb.npy - --to vespa-feed --dims x,doc --opt id-dim=doc,operation=put";
    let words: Vec<&str> = words.split(' ').collect();
    let made = tenfold_in(&folder, &words);
    let line = r#"{"put":"id:doc:doc::1","fields":{"tensor":{"values":[1.0,3.0]}}}"#;
    assert_eq!(made.text().lines().nth(1), Some(line), "{made}");
}

#[test]
fn updates_assign_to_a_field_and_puts_are_reported() {
    let folder = rows();
    let to = ["convert", "@/emb.npy", "-", "--to", "vespa-feed"];
    let put = tenfold_in(&folder, &to);
    assert!(put.errors.contains("put replaces whole documents"), "{put}");
    let made = tenfold_in(&folder, &[&to[..], &["--opt", "operation=update"]].concat());
    assert!(!made.errors.contains("replaces"), "{made}");
    let first = concat!(
        r#"{"update":"id:doc:doc::0","fields":{"tensor":{"assign":"#,
        r#"{"type":"tensor<float>(a[2])","values":[0.1,1.0]}}}}"#
    );
    assert_eq!(made.text().lines().next(), Some(first), "{made}");
    // They stay updates, and can become puts.
    assert_eq!(again(&made.text(), "").text(), made.text());
    let turned = again(&made.text(), "--opt operation=put");
    assert_eq!(turned.text(), put.text(), "{turned}");
    assert_eq!(again(&put.text(), "").errors, "");

    let other =
        r#"{"update":"id:n:s::a","fields":{"t":{"modify":{"operation":"add","cells":{}}}}}"#;
    let refused = again(other, "--opt type=tensor(x{})");
    assert!(refused.errors.contains("does not just assign"), "{refused}");
    let removed = again(r#"{"remove":"id:n:s::a"}"#, "--opt type=tensor(x{})");
    assert!(removed.errors.contains("to remove"), "{removed}");
}

#[test]
fn other_fields_ride_along() {
    let puts = concat!(
        r#"{"put":"id:n:s::a","condition":"s.x==1","fields":{"title":"a \"hat\"","t":{"type":"tensor(x[1])","values":[1.0]},"n":[1, {"m":2}]}}"#,
        "\n",
        r#"{"put":"id:n:s::b","fields":{"t":{"values":[2.0]}}}"#,
        "\n"
    );
    let kept = concat!(
        r#"{"put":"id:n:s::a","condition":"s.x==1","fields":{"title":"a \"hat\"","n":[1, {"m":2}],"t":{"type":"tensor(x[1])","values":[1.0]}}}"#,
        "\n",
        r#"{"put":"id:n:s::b","fields":{"t":{"values":[2.0]}}}"#,
        "\n"
    );
    assert_eq!(again(puts, "--opt field=t").text(), kept);
    assert_eq!(again(kept, "--opt field=t").text(), kept);
    let dropped = again(puts, "--opt field=t,others=drop");
    assert!(!dropped.text().contains("title"), "{dropped}");
    // What they take is bounded.
    let long = puts.replace("hat", &"x".repeat(2_000_000));
    let refused = again(&long, "--opt field=t --max-structure 1MiB");
    assert!(
        refused.errors.contains("--opt others=drop"),
        "{}",
        refused.errors
    );
    // Through a file that has metadata, too.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.jsonl"), puts).unwrap();
    let words = "convert @/in.jsonl @/t.zt --to ztensor@2 --opt field=t";
    let words: Vec<&str> = words.split(' ').collect();
    assert_eq!(tenfold_in(&folder, &words).exit.code(), 0);
    let words = "convert @/t.zt - --to vespa-feed --opt schema=s,namespace=n,field=t,operation=put";
    let words: Vec<&str> = words.split(' ').collect();
    let back = tenfold_in(&folder, &words);
    assert_eq!(back.text(), kept, "{back}");

    // Those of documents that are no rows any more are reported.
    fs::write(folder.path().join("sliced.jsonl"), puts).unwrap();
    let words = "convert @/sliced.jsonl[id=b] - --to vespa-feed --opt field=t";
    let words: Vec<&str> = words.split(' ').collect();
    let sliced = tenfold_in(&folder, &words);
    assert!(
        sliced.errors.contains("not written are left out: 1"),
        "{sliced}"
    );

    let update = concat!(
        r#"{"update":"id:n:s::a","create":true,"fields":{"title":{"assign":"x"},"n":{"increment":1},"t":{"assign":{"type":"tensor(x[1])","values":[1.0]}}}}"#,
        "\n"
    );
    let kept = again(update, "--opt field=t");
    assert!(kept.text().contains(r#""create":true"#), "{kept}");
    assert!(kept.text().contains(r#""title":{"assign":"x"}"#), "{kept}");
    assert!(kept.text().contains(r#""n":{"increment":1}"#), "{kept}");
    let refused = again(update, "--opt field=t,operation=put");
    assert!(refused.errors.contains("--opt others=drop"), "{refused}");
    let put = again(update, "--opt field=t,operation=put,others=drop");
    assert_eq!(put.exit.code(), 0, "{put}");
}

#[test]
fn mapped_dimensions_of_the_type_get_numbers_for_labels() {
    let folder = tempfile::tempdir().unwrap();
    let values: Vec<f32> = (0_u8..24).map(f32::from).collect();
    npy(&folder, "chunks.npy", "<f4", "(2, 3, 4)", &singles(&values));
    let to = [
        "convert",
        "@/chunks.npy",
        "-",
        "--to",
        "vespa-feed",
        "--opt",
    ];
    let option = "operation=put,type=tensor<float>(chunk{},x[4])";
    let made = tenfold_in(&folder, &[&to[..], &[option]].concat());
    let second = concat!(
        r#"{"put":"id:doc:doc::1","fields":{"tensor":{"blocks":{"0":[12.0,13.0,14.0,15.0],"#,
        r#""1":[16.0,17.0,18.0,19.0],"2":[20.0,21.0,22.0,23.0]}}}}"#
    );
    assert_eq!(made.text().lines().nth(1), Some(second), "{made}");
    assert!(made.errors.contains("3 positions along chunk"), "{made}");
    // Dimensions that have the names of the type are found by these.
    let named = ["--dims", "x,chunk,doc"];
    let option = "operation=put,id-dim=doc,type=tensor<float>(chunk{},x[2])";
    let made = tenfold_in(&folder, &[&to[..], &[option], &named].concat());
    let first = r#"{"put":"id:doc:doc::0","fields":{"tensor":{"blocks":{"0":[0.0,12.0],"1":[4.0,16.0],"2":[8.0,20.0]}}}}"#;
    assert_eq!(made.text().lines().next(), Some(first), "{made}");
    // Labels that are given stay.
    fs::write(folder.path().join("chunks.txt"), "p\nq\nr\n").unwrap();
    fs::write(folder.path().join("ids.txt"), "hat\nshoe\n").unwrap();
    let labels = [
        "--dims",
        "doc,chunk,x",
        "--labels",
        "chunk=@@/chunks.txt",
        "--labels",
        "doc=@@/ids.txt",
    ];
    let option = "operation=put,id-dim=doc,type=tensor<float>(chunk{},x[4])";
    let made = tenfold_in(&folder, &[&to[..], &[option], &labels].concat());
    assert!(
        made.text()
            .contains(r#"doc::hat","fields":{"tensor":{"blocks":{"p":[0.0,1.0"#),
        "{made}"
    );
    // Other sizes are refused.
    let refused = tenfold_in(
        &folder,
        &[&to[..], &["type=tensor<float>(chunk{},x[5])"]].concat(),
    );
    assert!(
        refused.errors.contains("rows of 3 × 4 are not of type"),
        "{refused}"
    );
}

#[test]
fn signs_are_packed_into_bits() {
    let folder = tempfile::tempdir().unwrap();
    let row = [2.0, 0.0, -1.0, 0.0, 0.0, f32::NAN, 0.0, 1.0, 0.5];
    npy(&folder, "emb.npy", "<f4", "(1, 9)", &singles(&row));
    let to = ["convert", "@/emb.npy", "-", "--to", "vespa-feed", "--opt"];
    let made = tenfold_in(
        &folder,
        &[&to[..], &["binarize=int8,operation=put"]].concat(),
    );
    assert!(
        made.text()
            .contains(r#""type":"tensor<int8>(a[2])","values":[-127,-128]"#),
        "{made}"
    );
    assert!(made.errors.contains("9 values become 2 bytes"), "{made}");
    npy(&folder, "whole.npy", "<f4", "(1, 8)", &singles(&[1.0; 8]));
    let words = [
        &["convert", "@/whole.npy"],
        &to[2..],
        &["binarize=int8,operation=put"],
    ]
    .concat();
    let made = tenfold_in(&folder, &words);
    assert!(
        made.errors.contains("every 8 values become 1 byte,"),
        "{made}"
    );
    let typed = "binarize=int8,operation=put,type=tensor<int8>(x[2])";
    let made = tenfold_in(&folder, &[&to[..], &[typed]].concat());
    assert!(made.text().contains(r#"{"values":[-127,-128]}"#), "{made}");
    for other in ["type=tensor<float>(x[2])", "type=tensor<int8>(x[9])"] {
        let option = format!("binarize=int8,{other}");
        let refused = tenfold_in(&folder, &[&to[..], &[&option]].concat());
        assert_ne!(refused.exit.code(), 0, "{refused}");
    }
}

#[test]
fn plain_lines_of_embeddings_are_read() {
    let lines = concat!(
        r#"{"text":"a hat","id":"hat","embedding":[0.1,2]}"#,
        "\n",
        r#"{"id":7,"embedding":[3,-4.5],"text":null}"#,
        "\n"
    );
    let made = again(lines, "--opt field=embedding,id=id");
    let wanted = concat!(
        r#"{"put":"id:doc:doc::hat","fields":{"text":"a hat","embedding":{"type":"tensor(x[2])","values":[0.1,2.0]}}}"#,
        "\n",
        r#"{"put":"id:doc:doc::7","fields":{"text":null,"embedding":{"values":[3.0,-4.5]}}}"#,
        "\n"
    );
    assert_eq!(made.text(), wanted, "{made}");
    let typed = again(
        lines,
        "--opt field=embedding,id=id,others=drop,type=tensor<float>(x[2])",
    );
    let first = r#"{"put":"id:doc:doc::hat","fields":{"embedding":{"values":[0.1,2.0]}}}"#;
    assert_eq!(typed.text().lines().next(), Some(first), "{typed}");
    let refused = again("{\"id\":\"a\",\"embedding\":[1]}", "");
    assert!(
        refused.errors.contains("--opt field=embedding,id=id"),
        "{refused}"
    );
    let ragged = again(
        "{\"id\":1,\"e\":[1]}\n{\"id\":2,\"e\":[1,2]}",
        "--opt field=e,id=id",
    );
    assert_ne!(ragged.exit.code(), 0, "{ragged}");
    let nested = again(
        "{\"id\":1,\"e\":[[1,2],[3,4],[5,6]]}",
        "--opt field=e,id=id",
    );
    assert!(nested.text().contains("tensor(x[3],y[2])"), "{nested}");
}

#[test]
fn a_feed_keeps_its_names_through_other_formats() {
    let folder = tempfile::tempdir().unwrap();
    let line = concat!(
        r#"{"put":"id:shop:item::a","fields":{"embedding":{"type":"tensor<float>(x[2])","values":[1.0,2.0]}}}"#,
        "\n"
    );
    fs::write(folder.path().join("a.jsonl"), line).unwrap();
    for name in ["b.tens", "b.zt", "b.npz", "b.safetensors", "b.gguf"] {
        let name = format!("@/{name}");
        let there = [
            "convert",
            "@/a.jsonl",
            &name,
            "--allow",
            "labels",
            "--force",
        ];
        let ran = tenfold_in(&folder, &there);
        assert_eq!(ran.exit.code(), 0, "{ran}");
        let back = [
            "convert",
            &name,
            "-",
            "--to",
            "vespa-feed",
            "--opt",
            "operation=put",
        ];
        assert_eq!(tenfold_in(&folder, &back).text(), line, "{name}");
    }
    // Where there is no room for them, that is reported.
    for name in ["@/c.npy", "@/c.tbf"] {
        let ran = tenfold_in(
            &folder,
            &["convert", "@/a.jsonl", name, "--allow", "labels"],
        );
        let said = "vespa-feed:schema, vespa-feed:field, vespa-feed:operation is dropped";
        assert!(ran.exit.code() == 0 && ran.errors.contains(said), "{ran}");
    }
}

#[test]
fn chunks_and_documents_get_labels_as_the_documentation_says() {
    let folder = tempfile::tempdir().unwrap();
    npy(&folder, "a.npy", "<f4", "(2, 3, 1)", &singles(&[1.0; 6]));
    fs::write(folder.path().join("chunks"), "a\nb\nc\n").unwrap();
    fs::write(folder.path().join("ids"), "p\nq\n").unwrap();
    let words = [
        "convert",
        "@/a.npy",
        "-",
        "--to",
        "vespa-feed",
        "--opt",
        "type=tensor<float>(chunk{},x[1])",
        "--dims",
        "id,chunk,x",
        "--labels",
        "chunk=@@/chunks",
    ];
    let refused = tenfold_in(&folder, &words);
    assert!(
        refused
            .errors
            .contains("the dimension id has no labels, as others have"),
        "{refused}"
    );
    let ran = tenfold_in(&folder, &[&words[..], &["--labels", "id=@@/ids"]].concat());
    let first =
        r#"{"put":"id:doc:doc::p","fields":{"tensor":{"blocks":{"a":[1.0],"b":[1.0],"c":[1.0]}}}}"#;
    assert_eq!(ran.text().lines().next(), Some(first), "{ran}");
}

#[test]
fn updates_stay_updates_through_other_formats_and_mixtures_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let document = |operation: &str, id: &str, spec: &str| {
        let values = format!(r#"{{{spec}"values":[1.0,2.0]}}"#);
        let value = match operation {
            "put" => values,
            _ => format!(r#"{{"assign":{values}}}"#),
        };
        format!("{{\"{operation}\":\"id:shop:item::{id}\",\"fields\":{{\"e\":{value}}}}}\n")
    };
    let spec = r#""type":"tensor<float>(x[2])","#;
    let updates = document("update", "a", spec) + &document("update", "b", "");
    fs::write(folder.path().join("u.jsonl"), &updates).unwrap();
    for name in ["@/u.npz", "@/u.zt", "@/u.tens"] {
        let there = ["convert", "@/u.jsonl", name, "--allow", "labels"];
        let ran = tenfold_in(&folder, &there);
        assert_eq!(ran.exit.code(), 0, "{ran}");
        let ran = tenfold_in(&folder, &["convert", name, "-", "--to", "vespa-feed"]);
        assert_eq!(ran.text(), updates, "{name}: {ran}");
    }
    let mixed = document("put", "a", spec) + &document("update", "b", "");
    fs::write(folder.path().join("m.jsonl"), mixed).unwrap();
    let ran = tenfold_in(&folder, &["convert", "@/m.jsonl", "@/n.jsonl"]);
    let said = "one operation is written for all of them";
    assert!(ran.errors.contains(said), "{ran}");
}
